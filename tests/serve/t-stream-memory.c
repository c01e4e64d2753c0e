/* Each allocation of allotting threads and of a line of workers fails in turn: the call says so and
 * keeps nothing, neither memory nor threads nor files. */
#include <stdio.h>
#include <unistd.h>

#include "serve/allot.h"
#include "serve/line.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static dp_status allot(dp_error *err)
{
    const double time[] = {3, 2, 1};
    const size_t room[] = {4, 3};
    const dpi_allot_task task = {.stages = 3, .time = time, .hosts = 2, .room = room};
    dpi_allotment made;
    dp_status status = dpi_allot(&task, &made, err);
    assert_true((status == DP_OK) == (made.threads[0] > 0));
    return status;
}

static dp_status do_nothing(void *user, size_t stage, size_t lane, dpi_pool *pool, size_t threads,
                            size_t *next, dp_error *err)
{
    (void)user, (void)stage, (void)lane, (void)pool, (void)threads, (void)err;
    *next = DPI_LINE_OUT;
    return DP_OK;
}

static dp_status line(dp_error *err)
{
    const size_t threads[] = {1, 3, 2};
    const dpi_line_opts opts = {.stages = 3, .lanes = 4, .threads = threads, .work = do_nothing};
    dpi_line *made;
    dp_status status = dpi_line_new(&opts, &made, err);
    assert_int_equal(status == DP_OK, made != NULL);
    dpi_line_free(made);
    return status;
}

static void fail_each(dp_status (*call)(dp_error *err), size_t least)
{
    const size_t live = faulty_live();
    const int file = dup(STDIN_FILENO);
    assert_true(file >= 0 && close(file) == 0);
    size_t failures = 0;
    for (size_t k = 1;; k++) {
        dp_error err = {DP_OK, ""};
        faulty_fail(k);
        dp_status status = call(&err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), live);
        const int next = dup(STDIN_FILENO); /* the lowest number that is free */
        assert_int_equal(next, file);
        (void)close(next);
        if (!failed) {
            assert_ok(status, err.text);
            break;
        }
        failures++;
        assert_int_equal(status, DP_ENOMEM);
    }
    assert_true(failures >= least);
}

static void allotting_says_that_memory_is_out(void **state)
{
    (void)state;
    fail_each(allot, 2);
}

static void lines_say_that_memory_is_out(void **state)
{
    (void)state;
    fail_each(line, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allotting_says_that_memory_is_out),
        cmocka_unit_test(lines_say_that_memory_is_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
