/* Threads for stages, beside all that there are to choose from on small tasks. */
#include <math.h>
#include <string.h>

#include "serve/allot.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { TASKS = 400, MOST_STAGES = 5, MOST_HOSTS = 3, MOST_ROOM = 6 };

typedef struct drawn {
    double time[MOST_STAGES];
    unsigned char kind[MOST_STAGES];
    size_t room[MOST_HOSTS];
    dpi_allot_task task;
} drawn;

static size_t below(uint64_t *numbers, size_t n)
{
    return (size_t)((next_number(numbers) + 1) / 2 * (double)n);
}

/* Times are whole, so that ties come up. */
static void draw(uint64_t *numbers, drawn *d)
{
    *d = (drawn){.task = {.stages = 1 + below(numbers, MOST_STAGES),
                          .hosts = 1 + below(numbers, MOST_HOSTS)}};
    for (size_t i = 0; i < d->task.stages; i++) {
        d->time[i] = (double)below(numbers, 30);
        d->kind[i] = (unsigned char)below(numbers, 2);
    }
    for (size_t j = 0; j < d->task.hosts; j++)
        d->room[j] = below(numbers, MOST_ROOM + 1);
    d->task.time = d->time;
    d->task.kind = below(numbers, 2) == 0 ? NULL : d->kind;
    d->task.room = d->room;
}

/* Whether what stands in `made` is an allotment. */
static bool is_one(const dpi_allot_task *t, const dpi_allotment *made)
{
    for (size_t j = 0; j < t->hosts; j++) {
        size_t used = 0;
        unsigned kinds = 0;
        for (size_t i = 0; i < t->stages; i++)
            if (made->host[i] == j) {
                used += made->threads[i];
                kinds |= 1u << (t->kind != NULL ? t->kind[i] : 0);
            }
        if (used > t->room[j] || kinds == 3)
            return false;
    }
    for (size_t i = 0; i < t->stages; i++)
        if (made->threads[i] < 1 || made->host[i] >= t->hosts)
            return false;
    return true;
}

/* The smallest of each measure over every choice of threads and hosts; INFINITY: there is none. */
static void try_all(const dpi_allot_task *t, size_t i, dpi_allotment *made, double *slowest,
                    double *spread, double *slowest_of_spread)
{
    if (i == t->stages) {
        if (!is_one(t, made))
            return;
        dpi_allot_measure(t, made);
        *slowest = fmin(*slowest, made->slowest);
        if (made->spread < *spread ||
            (made->spread == *spread && made->slowest < *slowest_of_spread))
            *slowest_of_spread = made->slowest;
        *spread = fmin(*spread, made->spread);
        return;
    }
    for (made->host[i] = 0; made->host[i] < t->hosts; made->host[i]++)
        for (made->threads[i] = 1; made->threads[i] <= t->room[made->host[i]]; made->threads[i]++)
            try_all(t, i + 1, made, slowest, spread, slowest_of_spread);
}

/* What rounding shares of the threads gives on one host; INFINITY where they are too few. */
static double by_shares(const dpi_allot_task *t)
{
    double sum = 0, slowest = 0;
    for (size_t i = 0; i < t->stages; i++)
        sum += t->time[i];
    for (size_t i = 0; i < t->stages; i++) {
        double spare = (double)t->room[0] - (double)t->stages;
        double k = 1 + floor(sum > 0 ? spare * t->time[i] / sum : 0);
        slowest = fmax(slowest, t->time[i] / k);
    }
    return t->room[0] < t->stages ? INFINITY : slowest;
}

static void no_allotment_is_faster(void **state)
{
    (void)state;
    uint64_t numbers = 41;
    int possible = 0, impossible = 0, several = 0, worse_by_shares = 0, less_by_even = 0;
    for (int r = 0; r < TASKS; r++) {
        drawn d;
        dp_error err = {0};
        dpi_allotment made, even, any = {.slowest = 0};
        double slowest = INFINITY, spread = INFINITY, with = INFINITY;
        draw(&numbers, &d);
        try_all(&d.task, 0, &any, &slowest, &spread, &with);
        if (slowest == INFINITY) {
            impossible++;
            assert_fails(dpi_allot(&d.task, &made, &err), DP_EUNSUPPORTED, &err, "no room");
            assert_int_equal(made.threads[0], 0);
            assert_fails(dpi_allot_even(&d.task, &made, &err), DP_EUNSUPPORTED, &err, "no room");
            continue;
        }
        assert_ok(dpi_allot(&d.task, &made, &err), err.text);
        assert_ok(dpi_allot_even(&d.task, &even, &err), err.text);
        assert_true(is_one(&d.task, &made) && is_one(&d.task, &even));
        assert_true(made.slowest == slowest);
        assert_close(even.spread, spread, 1e-12, 1e-12);
        assert_true(even.slowest <= with || even.spread < spread);
        possible++;
        several += d.task.hosts > 1;
        worse_by_shares += d.task.hosts == 1 && d.task.kind == NULL && by_shares(&d.task) > slowest;
        less_by_even += even.slowest > slowest;
    }
    /* The tasks are no easy ones: other ways to choose fail on many of them. */
    assert_true(possible > 100 && impossible > 50 && several > 40);
    assert_true(worse_by_shares > 5 && less_by_even > 20);
}

/* PP-Stream's way of many: all stages on one host, bottleneck first, then what is left. */
static void threads_that_are_left_shorten_a_query(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_allotment made;
    const double time[] = {8, 3, 1};
    const size_t room[] = {7};
    const dpi_allot_task task = {.stages = 3, .time = time, .hosts = 1, .room = room};
    assert_ok(dpi_allot(&task, &made, &err), err.text);
    /* 8 / 4 = 2 needs 4, 2, 1 threads: all 7. */
    assert_int_equal(made.threads[0], 4);
    assert_int_equal(made.threads[1], 2);
    assert_int_equal(made.threads[2], 1);
    assert_close(made.slowest, 2, 0, 0);
    assert_close(made.total, 4.5, 1e-15, 0);
    assert_close(made.spread, .5 + 1 + .5, 1e-15, 0);

    /* The slowest takes 4 whatever the fourth thread does; a query takes 7 rather than 9. */
    const double alike[] = {4, 4, 1};
    const size_t four[] = {4};
    const dpi_allot_task spare = {.stages = 3, .time = alike, .hosts = 1, .room = four};
    assert_ok(dpi_allot(&spare, &made, &err), err.text);
    assert_close(made.slowest, 4, 0, 0);
    assert_close(made.total, 7, 0, 0);
}

/* Two hosts of 4: stages of 3 and 2 threads do not fit beside each other, and kinds never do. */
static void stages_are_not_split_over_hosts(void **state)
{
    (void)state;
    dp_error err = {0};
    bool fits;
    size_t host[4];
    const double time[] = {1, 1, 1, 1};
    const size_t room[] = {4, 4}, three[] = {3, 3, 2}, mixed[] = {2, 2, 2, 2};
    const unsigned char kind[] = {0, 1, 1, 0};
    dpi_allot_task task = {.stages = 3, .time = time, .hosts = 2, .room = room};
    assert_ok(dpi_allot_pack(&task, three, host, &fits, &err), err.text);
    assert_false(fits);
    task.stages = 4;
    task.kind = kind;
    assert_ok(dpi_allot_pack(&task, mixed, host, &fits, &err), err.text);
    assert_true(fits && host[0] == host[3] && host[1] == host[2] && host[0] != host[1]);
}

static void twenty_stages_on_eight_hosts_are_packed(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_allotment made;
    double time[DPI_ALLOT_PACKED];
    unsigned char kind[DPI_ALLOT_PACKED];
    size_t room[8];
    uint64_t numbers = 5;
    for (size_t i = 0; i < DPI_ALLOT_PACKED; i++) {
        time[i] = 1.001 + next_number(&numbers);
        kind[i] = i % 2;
    }
    for (size_t j = 0; j < 8; j++)
        room[j] = 8;
    const dpi_allot_task task = {
        .stages = DPI_ALLOT_PACKED, .time = time, .kind = kind, .hosts = 8, .room = room};
    assert_ok(dpi_allot(&task, &made, &err), err.text);
    assert_true(is_one(&task, &made));
    double sum = 0;
    for (size_t i = 0; i < DPI_ALLOT_PACKED; i++)
        sum += time[i];
    assert_true(made.slowest >= sum / 64 && made.slowest < 2 * sum / 64);
}

static void what_is_no_task_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_allotment made;
    double time[DPI_ALLOT_STAGES + 1] = {1, 1};
    const unsigned char kind[] = {0, 2};
    const size_t room[DPI_ALLOT_HOSTS + 1] = {100, 100}, vast[] = {5000};
    dpi_allot_task task = {.stages = 0, .time = time, .hosts = 1, .room = room};
    assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "stages");
    task.stages = DPI_ALLOT_STAGES + 1;
    assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "stages");
    task.stages = 2;
    task.hosts = DPI_ALLOT_HOSTS + 1;
    assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "hosts");
    task.hosts = 2;
    task.stages = DPI_ALLOT_PACKED + 1;
    assert_fails(dpi_allot(&task, &made, &err), DP_EUNSUPPORTED, &err, "one host alone");
    task.hosts = 1;
    task.stages = DPI_ALLOT_EVEN + 1;
    assert_fails(dpi_allot_even(&task, &made, &err), DP_EUNSUPPORTED, &err, "spread");
    task.stages = 2;
    task.kind = kind;
    assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "stage 1");
    task.kind = NULL;
    task.room = vast;
    assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "4096");
    task.room = room;
    for (int i = 0; i < 3; i++) {
        time[0] = i == 0 ? NAN : i == 1 ? INFINITY : -1;
        assert_fails(dpi_allot(&task, &made, &err), DP_EINVAL, &err, "stage 0");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_allotment_is_faster),
        cmocka_unit_test(threads_that_are_left_shorten_a_query),
        cmocka_unit_test(stages_are_not_split_over_hosts),
        cmocka_unit_test(twenty_stages_on_eight_hosts_are_packed),
        cmocka_unit_test(what_is_no_task_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
