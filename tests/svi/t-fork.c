/* Runs in a process that forks: what the child may do, also where both are number 1 of their PID
 * namespaces, as the first programs of containers are, and where the run has threads, which a child
 * has not. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "svi/svi.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/lib/spaces.h"
#include "tests/svi/bench.h"

typedef struct family {
    bench *b;
    dp_svi *svi;
} family;

/* On two threads: chunks of one record. */
static dp_status start_on_threads(const bench *b, dp_svi **svi)
{
    dp_svi_opts o = b->opts;
    o.threads = 2;
    const dpi_svi_spec spec = {.model = b->model, .data = b->data, .opts = &o, .chunk = 1};
    return dpi_svi_new(&spec, svi, NULL);
}

/* What a child may do with its parent's run: 1, 2, 4, 8 for a step, settling, saving and a
 * reservation of its own with the parent's connection. */
static int try_everything(void *of)
{
    const family *f = of;
    dp_svi *other;
    int allowed = dp_svi_step(f->svi, NULL) == DP_OK;
    allowed |= (dp_svi_settle(f->svi, NULL) == DP_OK) << 1;
    allowed |= (dp_svi_save(f->svi, folder_path("child"), NULL) == DP_OK) << 2;
    allowed |= (start_on_threads(f->b, &other) == DP_OK) << 3;
    dp_svi_free(f->svi);
    dp_ledger_close(f->b->ledger);
    return allowed;
}

static bool takes(dp_svi *svi, int steps)
{
    bool good = true;
    for (int i = 0; i < steps && good; i++)
        good = dp_svi_step(svi, NULL) == DP_OK;
    return good;
}

/* 0 when the parent, number 1, takes its steps, and its child none: right after the reservation and
 * within a lease. */
static int spend_as_first(void *of)
{
    (void)of;
    bench b = set_up(&plain, 2);
    family f = {.b = &b};
    if (start_on_threads(&b, &f.svi) != DP_OK || f.svi->sum.pool == NULL || !takes(f.svi, 5))
        return 16;
    int reserved = spaces_fork_as_first(try_everything, &f);
    if (reserved != 0)
        return reserved < 0 ? 64 : reserved;
    if (dp_svi_save(f.svi, folder_path("run"), NULL) != DP_OK || !takes(f.svi, 2))
        return 32;
    return reserved | !takes(f.svi, 93);
}

static int child_first(int how)
{
    if (how == -1) {
        print_message("# no PID namespaces are permitted here\n");
        skip();
    }
    return how;
}

static void a_child_may_not_spend_though_both_are_number_one(void **state)
{
    (void)state;
    assert_int_equal(child_first(spaces_run_as_first(spend_as_first, NULL)), 0);
}

static int step_alone(void *of)
{
    const family *f = of;
    return dp_svi_step(f->svi, NULL) == DP_OK ? 0 : 1;
}

/* The child's step is refused when an epoch of its parent's has begun, else done without
 * threads. */
static int step_as_first(void *of)
{
    const dp_svi_opts *opts = of;
    bench b = set_up(opts, 0);
    family f = {.b = &b};
    if (start_on_threads(&b, &f.svi) != DP_OK || f.svi->sum.pool == NULL || !takes(f.svi, 3))
        return 16;
    int alone = spaces_fork_as_first(step_alone, &f);
    return alone < 0 ? 64 : !takes(f.svi, 1) << 1 | alone;
}

static void a_child_without_the_threads_works_alone(void **state)
{
    (void)state;
    dp_svi_opts o = plain;
    assert_int_equal(child_first(spaces_run_as_first(step_as_first, &o)), 0);
}

static void a_child_may_not_finish_an_epoch_though_both_are_number_one(void **state)
{
    (void)state;
    dp_svi_opts o = {.epsilon = 1,
                     .delta = 1e-6,
                     .clip = 1,
                     .steps = 20,
                     .sampling = DP_SAMPLING_ALLOCATION,
                     .epoch = 10};
    assert_int_equal(child_first(spaces_run_as_first(step_as_first, &o)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_may_not_spend_though_both_are_number_one),
        cmocka_unit_test(a_child_without_the_threads_works_alone),
        cmocka_unit_test(a_child_may_not_finish_an_epoch_though_both_are_number_one),
    };
    return cmocka_run_group_tests_name("fork", tests, folder_make, folder_remove);
}
