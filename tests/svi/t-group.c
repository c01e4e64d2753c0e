/* Ranks of a group: what they exchange, that they are together what one process is, and that they
 * fail together. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/group.h"
#include "random/stream.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/ranks.h"

enum { RANKS = 3, ROWS = 900, SHARD = ROWS / RANKS };

static double y[ROWS];

/* ---- what they say to each other ---- */

static int talk(const dp_group *g, void *of)
{
    (void)of;
    dp_error err = {0};
    uint64_t words[2] = {UINT64_MAX - g->rank, 5 * g->rank};
    int64_t values[3] = {(int64_t)g->rank + 1, -((int64_t)1 << 61), 0};
    double real[2] = {g->rank == 0 ? 1e300 : 0.1, -0.25};
    int64_t room[2 * RANKS];
    if (dpi_group_share(g, 2, words, &err) != DP_OK || words[0] != UINT64_MAX || words[1] != 0)
        return 1;
    if (dpi_group_add(g, DP_OK, 1, values, &err) != DP_OK || values[0] != 6)
        return 2;
    if (dpi_group_add_real(g, DP_OK, 2, real, room, &err) != DP_OK || real[0] != 1e300 ||
        real[1] != -0.75)
        return 3;
    dp_status mine = g->rank == 1 ? DP_EDATA : DP_OK;
    if (dpi_group_add(g, mine, 1, values, &err) != (g->rank == 1 ? DP_EDATA : DP_ESTATE) ||
        values[0] != 0)
        return 4;
    err = (dp_error){0};
    if (dpi_group_add_real(g, mine, 2, real, room, &err) == DP_OK || !isnan(real[0]))
        return 5;
    err = (dp_error){0};
    return dpi_group_agree(g, DP_OK, &err) == DP_OK ? 0 : 6;
}

static void sums_words_and_failures_are_passed_on(void **state)
{
    (void)state;
    assert_int_equal(run_ranks(RANKS, talk, NULL), 0);
}

static int no_sum(void *context, size_t n, int64_t *values)
{
    (void)context;
    (void)n;
    (void)values;
    return 1;
}

static void groups_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const dp_group bad[] = {{0, 0, NULL, no_sum}, {2, 2, NULL, no_sum}, {0, 1, NULL, NULL}};
    for (int i = 0; i < 3; i++) {
        dp_error err = {0};
        assert_int_equal(dpi_group_check(&bad[i], &err), DP_EINVAL);
        assert_contains(err.text, "no place in a group");
    }
    dp_error err = {0};
    assert_int_equal(dpi_group_agree(&(dp_group){0, 1, NULL, no_sum}, DP_OK, &err), DP_EIO);
}

/* ---- runs ---- */

static void fill(bool whole_numbers)
{
    dpi_stream stream;
    dpi_stream_start_seeded(&stream, 1, "test");
    for (size_t i = 0; i < ROWS; i++)
        y[i] = whole_numbers ? (double)dpi_stream_below(&stream, 9) - 3
                             : 4 * dpi_stream_uniform(&stream) - 1;
}

/* What rank 1 does otherwise. */
typedef enum oddity { NONE, BAD_DATA, OTHER_OPTIONS, OTHER_START, OTHER_MODEL } oddity;

typedef struct plan {
    dp_svi_opts o;
    oddity odd;
    double w; /* of rank 0 */
} plan;

/* y ~ Normal(w, 1) with w a parameter: gradients are y - w. */
static dp_status fit(const plan *p, const dp_group *g, size_t first, size_t n, double *w,
                     dp_error *err)
{
    dp_svi *svi = NULL;
    dp_svi_opts o = p->o;
    oddity odd = g != NULL && g->rank == 1 ? p->odd : NONE;
    double own[ROWS], start = odd == OTHER_START ? 0.5 : 0;
    memcpy(own, y + first, n * sizeof *own);
    if (odd == BAD_DATA)
        own[3] = NAN;
    if (odd == OTHER_OPTIONS)
        o.step_size /= 2;
    o.group = g;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mean = dp_param(m, "w", 1, 0);
    dp_observe(rows, "y", dp_normal_v(mean, dp_num(odd == OTHER_MODEL ? 2 : 1)));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "y", 1, own);
    *w = NAN;
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, err);
    if (status == DP_OK)
        status = dp_svi_set(svi, "w", 1, &start, err);
    if (status == DP_OK)
        status = dp_svi_run(svi, NULL, err);
    if (status == DP_OK)
        status = dp_svi_get(svi, "w", 1, w, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return status;
}

static int fit_shard(const dp_group *g, void *of)
{
    plan *p = of;
    dp_error err = {0};
    double w;
    dp_status status = fit(p, g, g->rank * SHARD, SHARD, &w, &err);
    if (g->rank == 0)
        p->w = w;
    return (int)status;
}

/* No gradient is longer than the clip norm, and the noise's standard deviation is a power of
 * two. */
static dp_svi_opts options(uint64_t steps)
{
    return (dp_svi_opts){.sigma = 1,
                         .delta = 1e-6,
                         .clip = 16,
                         .steps = steps,
                         .optimizer = DP_SGD,
                         .schedule = DP_CONSTANT,
                         .step_size = 0x1p-12,
                         .seed = 7};
}

static double alone(const plan *p)
{
    dp_error err = {0};
    double w;
    assert_ok(fit(p, NULL, 0, ROWS, &w, &err), err.text);
    return w;
}

/* Sums of whole numbers are on the grid, so that shards give the very release of one process: one
 * noise, every record once, one rate. */
static void shards_on_the_grid_are_one_process_to_the_bit(void **state)
{
    (void)state;
    fill(true);
    for (int mode = DP_PRIVATE; mode <= DP_NO_PRIVACY; mode++) {
        plan p = {.o = options(1)};
        p.o.mode = (dp_mode)mode;
        if (mode != DP_PRIVATE)
            p.o.delta = 0;
        if (mode == DP_NO_PRIVACY)
            p.o.sigma = p.o.clip = 0;
        double w = alone(&p);
        assert_int_equal(run_ranks(RANKS, fit_shard, &p), 0);
        assert_true(p.w == w && w != 0);
        p.o.threads = 2;
        assert_int_equal(run_ranks(RANKS, fit_shard, &p), 0);
        assert_true(p.w == w);
    }
}

/* Off the grid they differ by what R roundings to it are, here 3 of 2^-28 a step, times 2^-12. */
static void shards_off_the_grid_are_near_one_process(void **state)
{
    (void)state;
    enum { STEPS = 50 };
    fill(false);
    plan p = {.o = options(STEPS)};
    double w = alone(&p);
    assert_int_equal(run_ranks(RANKS, fit_shard, &p), 0);
    assert_true(fabs(p.w - w) < STEPS * RANKS * 0x1p-28 * 0x1p-12 && p.w != 0);
}

/* Each rank has a subset of its own.  With y = 1 everywhere, w = 0, and noise 2^-9 of a record, one
 * step of size 1 / ROWS at rate q moves w by (number of records) / (q ROWS): binomial, of the
 * whole.  Were the subsets of shards copies of each other, the variance would be three times as
 * large. */
static void subsets_of_shards_are_independent(void **state)
{
    (void)state;
    enum { RUNS = 150 };
    const double q = 0.25;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < ROWS; i++)
        y[i] = 1;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        plan p = {.o = options(1)};
        p.o.mode = DP_WITHOUT_GUARANTEE;
        p.o.delta = 0;
        p.o.sigma = 0x1p-13;
        p.o.sampling = DP_SAMPLING_POISSON;
        p.o.rate = q;
        p.o.step_size = 1.0 / ROWS;
        p.o.seed = seed;
        assert_int_equal(run_ranks(RANKS, fit_shard, &p), 0);
        double z = (p.w - 1) / sqrt((1 - q) / (q * ROWS));
        sum += z;
        squares += z * z;
    }
    /* Mean and mean square of RUNS standard normal numbers, to 6.2 standard deviations: together
     * they fail with probability below 2e-9 for fresh seeds; these are fixed. */
    assert_true(fabs(sum) < 6.2 * sqrt(RUNS));
    assert_true(fabs(squares - RUNS) < 6.2 * sqrt(2.0 * RUNS));
}

/* ---- failures ---- */

typedef struct failure {
    plan p;
    dp_status first, odd; /* what rank 0 and rank 1 are to say */
    const char *why;      /* in rank 1 */
} failure;

static int fail_together(const dp_group *g, void *of)
{
    const failure *f = of;
    dp_error err = {0};
    double w;
    dp_status status = fit(&f->p, g, g->rank * SHARD, SHARD, &w, &err);
    if (g->rank == 1)
        return status == f->odd && strstr(err.text, f->why) != NULL ? 0 : 1;
    return status == f->first && isnan(w) ? 0 : 2;
}

static void ranks_fail_together(void **state)
{
    (void)state;
    fill(true);
    const failure cases[] = {
        {{.o = options(3), .odd = BAD_DATA}, DP_ESTATE, DP_EDATA, "dp_check_data"},
        {{.o = options(3), .odd = OTHER_OPTIONS}, DP_ESTATE, DP_EMISMATCH, "rank 1 runs another"},
        {{.o = options(3), .odd = OTHER_START}, DP_ESTATE, DP_EMISMATCH, "rank 1 runs another"},
        {{.o = options(3), .odd = OTHER_MODEL}, DP_ESTATE, DP_EMISMATCH, "rank 1 runs another"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failure f = cases[i];
        assert_int_equal(run_ranks(RANKS, fail_together, &f), 0);
    }
}

static void what_shards_cannot_do_is_refused(void **state)
{
    (void)state;
    fill(true);
    failure f = {{.o = options(3)}, DP_EMISMATCH, DP_EMISMATCH, "of a shard"};
    f.p.o.sampling = DP_SAMPLING_FIXED;
    f.p.o.batch = 10;
    assert_int_equal(run_ranks(RANKS, fail_together, &f), 0);
    f = (failure){{.o = options(3)}, DP_EMISMATCH, DP_EMISMATCH, "d3p"};
    f.p.o.form = DP_FORM_PARAMETERS;
    assert_int_equal(run_ranks(RANKS, fail_together, &f), 0);
    f = (failure){{.o = options(3)}, DP_EUNSUPPORTED, DP_EUNSUPPORTED, "do not fit the grid"};
    f.p.o.mode = DP_WITHOUT_GUARANTEE;
    f.p.o.delta = 0;
    f.p.o.sigma = 1e-6;
    assert_int_equal(run_ranks(RANKS, fail_together, &f), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_words_and_failures_are_passed_on),
        cmocka_unit_test(groups_that_cannot_be_are_refused),
        cmocka_unit_test(shards_on_the_grid_are_one_process_to_the_bit),
        cmocka_unit_test(shards_off_the_grid_are_near_one_process),
        cmocka_unit_test(subsets_of_shards_are_independent),
        cmocka_unit_test(ranks_fail_together),
        cmocka_unit_test(what_shards_cannot_do_is_refused),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
