/* Rows grouped into units. */
#define _DEFAULT_SOURCE
#include "data/unit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { MOST = 3000 };

static int32_t id[MOST];

static dp_dataset *grouped_by(size_t n, const int32_t *values)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_index(data, "id", values);
    dp_dataset_unit(data, "id");
    assert_null(dp_dataset_error(data));
    return data;
}

static dp_dataset *data_of(size_t n)
{
    return grouped_by(n, id);
}

/* Units in the order of first rows, found by looking at all rows before. */
static void check_against_search(size_t n)
{
    dp_error err = {0};
    dpi_arena arena = {0};
    dpi_units units;
    dp_dataset *data = data_of(n);
    size_t unit = 0, listed = 0, most = 0;
    assert_ok(dpi_units_init(&units, &arena, data, &err), err.text);
    for (size_t i = 0; i < n; i++) {
        size_t earlier = 0, rows = 0;
        while (id[earlier] != id[i])
            earlier++;
        if (earlier < i)
            continue;
        assert_int_equal(units.start[unit], listed);
        for (size_t j = i; j < n; j++)
            if (id[j] == id[i])
                assert_int_equal(units.row[listed + rows++], j);
        assert_int_equal(dpi_unit_rows(&units, unit), rows);
        most = rows > most ? rows : most;
        listed += rows;
        unit++;
    }
    assert_int_equal(units.n, unit);
    assert_int_equal(units.most, most);
    assert_int_equal(units.start[unit], n);
    dp_dataset_free(data);
    dpi_arena_free(&arena);
}

static void rows_with_one_value_are_one_unit(void **state)
{
    (void)state;
    uint64_t r = 5;
    const uint64_t kinds[] = {1, 2, 7, 200, 2999, UINT64_C(1) << 32};
    for (int k = 0; k < 6; k++) {
        for (size_t i = 0; i < MOST; i++) {
            r = r * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            uint32_t bits = (uint32_t)((r >> 32) % kinds[k]) * UINT32_C(2654435761);
            memcpy(&id[i], &bits, sizeof bits);
        }
        id[17] = id[16] = INT32_MIN; /* some pair at least */
        id[2] = INT32_MAX, id[3] = -1;
        check_against_search(k % 2 ? MOST : 100);
    }
}

static void rows_that_all_differ_are_left_alone(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_arena arena = {0};
    dpi_units units;
    for (int32_t i = 0; i < MOST; i++)
        id[i] = (i * 7919 - 12345) ^ 77;
    for (int column = 0; column < 2; column++) {
        dp_dataset *data = column ? data_of(MOST) : dp_dataset_new(MOST);
        assert_ok(dpi_units_init(&units, &arena, data, &err), err.text);
        assert_true(units.n == MOST && units.most == 1);
        assert_true((units.start == NULL) == !column && (units.row == NULL) == !column);
        for (size_t i = 0; column && i < MOST; i++)
            assert_true(units.row[i] == i && units.start[i + 1] == i + 1);
        assert_int_equal(dpi_unit_rows(&units, 5), 1);
        dp_dataset_free(data);
    }
    dpi_arena_free(&arena);
}

static void failing_memory_is_reported(void **state)
{
    (void)state;
    size_t k = 1;
    memset(id, 0, sizeof id);
    for (int failed = 1; failed; k++) {
        dp_error err = {0};
        dpi_arena arena = {0};
        dpi_units units;
        dp_dataset *data = data_of(MOST);
        faulty_fail(k);
        dp_status status = dpi_units_init(&units, &arena, data, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_dataset_free(data);
        dpi_arena_free(&arena);
        assert_int_equal(faulty_live(), 0);
    }
    assert_true(k > 5);
}

static void check_every_row_is_in_one_unit(const dp_dataset *data)
{
    dp_error err = {0};
    dpi_arena arena = {0};
    dpi_units units;
    unsigned char seen[MOST] = {0};
    assert_ok(dpi_units_init(&units, &arena, data, &err), err.text);
    for (size_t i = 0; units.start != NULL && i < MOST; i++) {
        assert_true(units.row[i] < MOST && !seen[units.row[i]]);
        seen[units.row[i]] = 1;
    }
    dpi_arena_free(&arena);
}

/* A column that lies in a file of others may change at any moment: here another process rewrites it
 * all the time.  The units are then those of nobody knows which values, but units they are. */
static void columns_may_change_meanwhile(void **state)
{
    (void)state;
    int32_t *shared = mmap(NULL, MOST * sizeof *shared, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(shared != MAP_FAILED);
    (void)fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        (void)alarm(10); /* should nobody kill it */
    for (uint32_t k = 0; child == 0; k++)
        ((volatile int32_t *)shared)[k % MOST] = (int32_t)(k * UINT32_C(2654435761));
    while (((volatile int32_t *)shared)[MOST - 1] == 0)
        (void)usleep(100);
    dp_dataset *data = grouped_by(MOST, shared);
    for (int k = 0; k < 500; k++)
        check_every_row_is_in_one_unit(data);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    dp_dataset_free(data);
    (void)munmap(shared, MOST * sizeof *shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_with_one_value_are_one_unit),
        cmocka_unit_test(rows_that_all_differ_are_left_alone),
        cmocka_unit_test(columns_may_change_meanwhile),
        cmocka_unit_test(failing_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
