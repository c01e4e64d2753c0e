/* What is left of whole runs, and every letter that came in them, opened: nothing an owner holds
 * has a number of another owner's records.
 *
 * A number is searched at each byte as eight bytes: as it is in memory, in fixed point with 32 to
 * 52 bits behind the point, and as the first eight digits and point of its text.  Records are drawn
 * with 52 bits; of some 2^14 patterns a uniform megabyte has one by chance with probability
 * 2^-30. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "silo/post.h"
#include "silo/round.h"
#include "tests/lib/check.h"
#include "tests/silo/joint.h"

enum { NUMBERS = PLANS_RECORDS * (PLANS_X + 1), WAYS = 6, N = NUMBERS * WAYS, MOST = 1 << 24 };

static joint j;
static uint64_t patterns[PLANS_OWNERS][N]; /* of each owner's numbers, sorted */

/* ---- patterns ---- */

static uint64_t in_way(double v, int way)
{
    static const int bits[] = {32, 40, 48, 52};
    uint64_t out = 0;
    char text[40];
    if (way == 0)
        memcpy(&out, &v, sizeof out);
    else if (way <= 4)
        out = (uint64_t)llround(ldexp(v, bits[way - 1]));
    else {
        (void)snprintf(text, sizeof text, "%.17f", fabs(v));
        memcpy(&out, text, sizeof out);
    }
    return out;
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static double number_of(size_t k, size_t i)
{
    const size_t n = PLANS_RECORDS * PLANS_X;
    return i < n ? j.p.x[k][i] : j.p.y[k][i - n];
}

static void make_patterns(void)
{
    for (size_t k = 0; k < PLANS_OWNERS; k++) {
        for (size_t i = 0; i < N; i++)
            patterns[k][i] = in_way(number_of(k, i / WAYS), (int)(i % WAYS));
        qsort(patterns[k], N, sizeof patterns[k][0], by_size);
    }
}

/* ---- what is held ---- */

/* How often a file has a number of owner k's. */
static size_t count_in(const char *path, size_t k)
{
    static unsigned char bytes[MOST];
    size_t found = 0;
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return 0;
    const size_t n = fread(bytes, 1, MOST, f);
    (void)fclose(f);
    assert_true(n < MOST);
    for (size_t at = 0; at + sizeof(uint64_t) <= n; at++) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        found += bsearch(&word, patterns[k], N, sizeof word, by_size) != NULL;
    }
    return found;
}

/* The same of all that a folder has, or of a file. */
static size_t count_below(const char *path, size_t k)
{
    struct stat is;
    size_t found = 0;
    if (stat(path, &is) != 0)
        return 0;
    if (!S_ISDIR(is.st_mode))
        return count_in(path, k);
    DIR *d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char file[600];
        (void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            found += count_below(file, k);
    }
    (void)closedir(d);
    return found;
}

static const char *const held[] = {"state", "audit", "fit", "message", "got"};

/* What owner `at` holds of owner k's. */
static size_t count_at(size_t at, size_t k)
{
    size_t found = 0;
    for (size_t h = 0; h < sizeof held / sizeof *held; h++)
        found += count_below(joint_path(held[h], at), k);
    return found;
}

/* ---- runs ---- */

static void keep(size_t reader, const void *body, size_t n)
{
    FILE *f = fopen(joint_path("got", reader), "ab");
    if (f == NULL || fwrite(body, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static size_t self; /* of a process that has begun to open letters */

dp_status __real_dpi_post_open(const dpi_post_opts *opts, unsigned char run_secret[32],
                               dpi_post **post, dp_error *err);
dp_status __wrap_dpi_post_open(const dpi_post_opts *opts, unsigned char run_secret[32],
                               dpi_post **post, dp_error *err);
dp_status __wrap_dpi_post_open(const dpi_post_opts *opts, unsigned char run_secret[32],
                               dpi_post **post, dp_error *err)
{
    self = opts->party;
    return __real_dpi_post_open(opts, run_secret, post, err);
}

dp_status __real_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err);
dp_status __wrap_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err);
dp_status __wrap_dpi_post_receive(dpi_post *post, size_t from, uint64_t round, uint32_t attempt,
                                  const char *name, uint32_t wait_ms, size_t n, unsigned char *body,
                                  dp_error *err)
{
    dp_status status =
        __real_dpi_post_receive(post, from, round, attempt, name, wait_ms, n, body, err);
    if (status == DP_OK)
        keep(self, body, n);
    return status;
}

/* Whether owners put a number of theirs among those that they sum up. */
static bool leaks;

dp_status __real_dpi_silo_round_open(void *round, const unsigned char question[32], size_t n,
                                     uint64_t *values, dp_error *err);
dp_status __wrap_dpi_silo_round_open(void *round, const unsigned char question[32], size_t n,
                                     uint64_t *values, dp_error *err);
dp_status __wrap_dpi_silo_round_open(void *round, const unsigned char question[32], size_t n,
                                     uint64_t *values, dp_error *err)
{
    if (leaks && n > 1) /* the first may be a number of records, which is checked */
        values[n - 1] = in_way(number_of(self, 0), 1);
    return __real_dpi_silo_round_open(round, question, n, values, err);
}

static void begin(const char *scheme)
{
    static const joint_owner owners[PLANS_OWNERS] = {
        {.k = 0, .audited = true}, {.k = 1, .audited = true}, {.k = 2, .audited = true}};
    plans_make(&j.p);
    j.p.opts.scheme = scheme;
    if (strncmp(scheme, "fedavg", 6) == 0) {
        j.p.opts.epsilon = j.p.opts.delta = 0;
        j.p.opts.rounds = j.p.opts.draws = 0;
        j.p.opts.local_steps = 250;
    }
    joint_begin(&j);
    make_patterns();
    joint_run(&j, owners);
}

static void runs_leave_nothing_of_others(void **state)
{
    static const char *const schemes[] = {"fedavg", "fedavg+he", "secagg+dp"};
    (void)state;
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        begin(schemes[s]);
        for (size_t k = 0; k < PLANS_OWNERS; k++) {
            struct stat got;
            assert_int_equal(stat(joint_path("got", k), &got), 0);
            assert_true(got.st_size > 100);
            assert_int_equal(count_below(joint_path("mailbox", 0), k), 0);
            for (size_t at = 0; at < PLANS_OWNERS; at++)
                if (at != k && count_at(at, k) > 0)
                    fail_msg("%s: %s holds records of %s", schemes[s], j.p.owners[at].name,
                             j.p.owners[k].name);
        }
        joint_end(&j);
    }
}

/* Any number, in any way, at any byte of any file. */
static void what_leaks_is_found(void **state)
{
    size_t leaked = 0;
    (void)state;
    begin("secagg+dp");
    for (size_t i = 0; i < NUMBERS; i += 37)
        for (int way = 0; way < WAYS; way++) {
            const uint64_t word = in_way(number_of(0, i), way);
            keep(1, "odd", 1 + i % 3);
            keep(1, &word, sizeof word);
            assert_true(count_at(1, 0) >= ++leaked);
        }
    assert_int_equal(count_at(2, 0), 0);
    joint_end(&j);
}

/* In the clear who adds up sees it; under a key, and below masks, nobody does. */
static void what_is_summed_is_seen_in_the_clear_alone(void **state)
{
    static const char *const schemes[] = {"fedavg", "fedavg+he", "secagg+dp"};
    (void)state;
    leaks = true;
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        begin(schemes[s]);
        for (size_t k = 0; k < PLANS_OWNERS; k++)
            for (size_t at = 0; at < PLANS_OWNERS; at++)
                if (at != k)
                    assert_true((count_at(at, k) > 0) == (s == 0 && at == 0));
        joint_end(&j);
    }
    leaks = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_leave_nothing_of_others),
        cmocka_unit_test(what_leaks_is_found),
        cmocka_unit_test(what_is_summed_is_seen_in_the_clear_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
