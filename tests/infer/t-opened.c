/* Releases that several owners make together: exact whatever the split, of the noise that is
 * accounted for, and the same for all. */
#include "infer/opened.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <tacit/infer.h>
#include <tacit/model.h>

#include "infer/budget.h"
#include "random/grid.h"
#include "random/noise.h"
#include "tests/infer/readers.h"
#include "tests/infer/table.h"
#include "tests/lib/check.h"

enum { MOST = 8, OPENINGS = TABLE_KEPT, NUMBERS = TABLE_NUMBERS, KEPT = 100 };

/* ---- fits ---- */

typedef struct owner {
    dp_model *model;
    reader_records records;
    dp_dataset *data;
    dp_fit_opts opts;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} owner;

static reader_records all;
static owner owners[MOST];
static table tables[3];
static double draws[MOST][KEPT * 64];

static void *run_owner(void *of)
{
    owner *o = of;
    o->status = dp_fit_private(o->model, o->data, &o->opts, &o->fit, &o->err);
    return NULL;
}

static void set_up(owner *o, const dp_owners *together, size_t first, size_t n)
{
    *o = (owner){.model = reader_named("poisson, two plates")->make()};
    reader_take(&all, first, n, &o->records);
    o->data = reader_data(&o->records, n);
    o->opts = (dp_fit_opts){.mode = DP_NO_PRIVACY, .draws = KEPT, .rounds = 2, .owners = together};
}

static void keep_draws(owner *o, double *to)
{
    dp_rng *rng = NULL;
    dp_draws *kept = NULL;
    assert_ok(o->status, o->err.text);
    assert_ok(dp_rng_new(1, &rng, &o->err), o->err.text);
    assert_ok(dp_fit_draw(o->fit, KEPT, rng, &kept, &o->err), o->err.text);
    assert_true(dp_draws_size(kept) <= 64);
    memset(to, 0, sizeof draws[0]);
    memcpy(to, dp_draws_values(kept), KEPT * dp_draws_size(kept) * sizeof *to);
    dp_draws_free(kept);
    dp_rng_free(rng);
}

static void tear_down(owner *o)
{
    dp_fit_free(o->fit);
    dp_dataset_free(o->data);
    dp_model_free(o->model);
}

/* Fits over records that are split after each of `ends`; draws[k] are those of owner k. */
static void fit_together(table *t, size_t n, const size_t *ends, bool noisy)
{
    pthread_t thread[MOST];
    const dp_owners together = {.size = n,
                                .honest = 1,
                                .seed = 7,
                                .most_records = READER_RECORDS,
                                .context = t,
                                .open = table_open};
    table_begin(t, n);
    for (size_t k = 0; k < n; k++) {
        size_t first = k > 0 ? ends[k - 1] : 0;
        set_up(&owners[k], &together, first, ends[k] - first);
        if (noisy) {
            owners[k].opts.mode = DP_PRIVATE;
            owners[k].opts.epsilon = 4;
            owners[k].opts.delta = 1e-5;
            owners[k].opts.seed = 11 + k;
            owners[k].opts.hopeless_allowed = true;
        }
        assert_int_equal(pthread_create(&thread[k], NULL, run_owner, &owners[k]), 0);
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    for (size_t k = 0; k < n; k++) {
        keep_draws(&owners[k], draws[k]);
        assert_memory_equal(draws[k], draws[0], sizeof draws[0]);
        tear_down(&owners[k]);
    }
    table_end(t);
}

static void sums_are_the_same_however_records_are_split(void **state)
{
    static const size_t splits[][MOST] = {{600},           {1, 600},
                                          {300, 600},      {2, 123, 600},
                                          {200, 401, 600}, {10, 11, 12, 300, 301, 555, 599, 600}};
    static const size_t n[] = {1, 2, 2, 3, 3, 8};
    static double alone[KEPT * 64];
    (void)state;
    reader_draw(&all, 3);
    fit_together(&tables[0], n[0], splits[0], false);
    memcpy(alone, draws[0], sizeof alone);
    assert_true(tables[0].times >= 10 && tables[0].times <= OPENINGS);
    for (size_t s = 1; s < sizeof n / sizeof *n; s++) {
        fit_together(&tables[1], n[s], splits[s], false);
        assert_false(tables[1].differ);
        assert_int_equal(tables[1].times, tables[0].times);
        assert_memory_equal(tables[1].opened, tables[0].opened, sizeof tables[0].opened);
        assert_memory_equal(draws[0], alone, sizeof alone);
    }
}

/* One process with all records, that adds the shares of the others itself. */
typedef struct central {
    table *t;
    dp_noise *share[MOST];
    size_t shares;
} central;

static dp_status open_alone(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                            size_t n, uint64_t *values, dp_error *err)
{
    central *c = context;
    static int64_t noise[NUMBERS];
    for (size_t k = 0; k < c->shares; k++) {
        dpi_stream *stream;
        assert_ok(dpi_noise_stream(c->share[k], &stream, err), err->text);
        dpi_stream_grid(stream, n, noise);
        for (size_t e = 0; e < n; e++)
            values[e] += (uint64_t)noise[e];
    }
    return table_open(c->t, question, n, values, err);
}

static void with_noise_all_is_as_one_process_has_it(void **state)
{
    static const size_t split[] = {150, 420, 600};
    static double apart[KEPT * 64];
    central c = {.t = &tables[1], .shares = 2};
    const dp_owners alone = {.size = 3,
                             .honest = 1,
                             .seed = 7,
                             .most_records = READER_RECORDS,
                             .context = &c,
                             .open = open_alone};
    dp_error err = {0};
    (void)state;
    reader_draw(&all, 3);
    fit_together(&tables[0], 3, split, true);
    memcpy(apart, draws[0], sizeof apart);
    table_begin(&tables[1], 1);
    for (size_t k = 0; k < c.shares; k++)
        assert_ok(dp_noise_new_seeded(12 + k, &c.share[k], &err), err.text);
    set_up(&owners[0], &alone, 0, 600);
    owners[0].opts = (dp_fit_opts){.epsilon = 4,
                                   .delta = 1e-5,
                                   .seed = 11,
                                   .draws = KEPT,
                                   .rounds = 2,
                                   .hopeless_allowed = true,
                                   .owners = &alone};
    (void)run_owner(&owners[0]);
    keep_draws(&owners[0], draws[0]);
    assert_memory_equal(tables[1].opened, tables[0].opened, sizeof tables[0].opened);
    assert_memory_equal(draws[0], apart, sizeof apart);
    for (size_t k = 0; k < c.shares; k++)
        dp_noise_free(c.share[k]);
    tear_down(&owners[0]);
    table_end(&tables[1]);
}

/* ---- the noise ---- */

static void add_nothing(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    (void)of;
    (void)record;
    (void)room;
    (void)sum;
}

static dp_status keep_own(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    uint64_t *sum = context;
    (void)question;
    (void)err;
    for (size_t e = 0; e < n; e++)
        sum[e] += values[e];
    return DP_OK;
}

/* The opened noise of `shares` of three owners, in steps; of seeds from `seed` on. */
static void open_noise(uint64_t seed, size_t shares, uint64_t *sum)
{
    static reading r;
    static double out[NUMBERS];
    static reader_records records;
    const dp_owners together = {
        .size = 3, .honest = 1, .seed = 1, .most_records = 100, .context = sum, .open = keep_own};
    const dpi_pass pass = {.add = add_nothing, .n = NUMBERS, .sigma = 5, .shares = 3};
    dp_error err = {0};
    memset(sum, 0, NUMBERS * sizeof *sum);
    reader_draw(&records, 1);
    reading_make(&r, reader_named("normal"));
    dp_dataset *data = reader_data(&records, 20);
    for (size_t k = 0; k < shares; k++) {
        dpi_scan scan;
        dp_noise *noise = NULL;
        assert_ok(dp_noise_new_seeded(seed + k, &noise, &err), err.text);
        const dpi_scan_spec spec = {
            .view = &r.view, .data = data, .most = NUMBERS, .noise = noise, .owners = &together};
        assert_ok(dpi_scan_init(&scan, &spec, &err), err.text);
        assert_ok(dpi_scan_run(&scan, r.theta, &pass, out, &err), err.text);
        dpi_scan_free(&scan);
        dp_noise_free(noise);
    }
    dp_dataset_free(data);
    reading_free(&r);
}

enum { BINS = 64, BLOCKS = 8 };

/* Chi-square of 2^17 numbers against a normal law of variance 3 2^64, in bins of equal chance, and
 * the ratio of variances. */
static void measure(uint64_t seed, size_t shares, double *chi, double *variance)
{
    static uint64_t sum[NUMBERS];
    double counts[BINS] = {0}, squares = 0, n = BLOCKS * (double)NUMBERS;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        open_noise(seed + 100 * b, shares, sum);
        for (size_t e = 0; e < NUMBERS; e++) {
            double z = (double)(int64_t)sum[e] / (0x1p32 * sqrt(3));
            counts[(size_t)fmin(BINS * gsl_cdf_ugaussian_P(z), BINS - 1)]++;
            squares += z * z;
        }
    }
    *chi = 0;
    for (int k = 0; k < BINS; k++)
        *chi += (counts[k] - n / BINS) * (counts[k] - n / BINS) / (n / BINS);
    *variance = squares / n;
}

/* Seeds are fixed; with others each would fail once in 10^9. */
static void the_opened_noise_has_the_law_that_is_accounted_for(void **state)
{
    double chi, variance, limit = gsl_cdf_chisq_Qinv(1e-9, BINS - 1);
    double sd = sqrt(2 / (BLOCKS * (double)NUMBERS));
    (void)state;
    measure(1000, 3, &chi, &variance);
    assert_true(chi < limit);
    assert_true(fabs(variance - 1) < 6.2 * sd);
    measure(2000, 2, &chi, &variance); /* a share was forgotten */
    assert_true(chi > limit);
    assert_true(fabs(variance - 1) > 6.2 * sd);
}

static void the_budget_is_against_who_knows_the_other_shares(void **state)
{
    const dp_owners together = {
        .size = 5, .honest = 2, .seed = 1, .most_records = 1, .open = keep_own};
    dp_fit_opts opts = {.epsilon = 1, .delta = 1e-6};
    dpi_budget alone, of_five;
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_budget_init(&alone, &opts, &err), err.text);
    opts.owners = &together;
    assert_ok(dpi_budget_init(&of_five, &opts, &err), err.text);
    assert_true(of_five.epsilon == alone.epsilon);
    for (int k = 0; k < DPI_N_STAGES; k++) {
        dpi_pass pass = {.n = 100, .sigma = of_five.sigmas[k], .shares = 5};
        double unit = dpi_scan_steps(&pass); /* of which a record adds the share at most */
        assert_true(of_five.list[k].sigma == alone.list[k].sigma);
        assert_true(of_five.made[k].sigma == of_five.sigmas[k]);
        assert_true(sqrt(2) * 0x1p32 >= of_five.list[k].sigma * unit);
        assert_true(sqrt(2) * 0x1p32 < of_five.list[k].sigma * unit * (1 + 1e-9));
        assert_true(dpi_scan_share(&pass) * unit + sqrt(100) / 2 < unit);
    }
}

static void what_is_opened_is_told_before(void **state)
{
    static const size_t all_here[] = {600};
    dp_opening list[DP_OPENINGS];
    size_t n;
    owner o;
    dp_error err = {0};
    uint64_t times = 0;
    (void)state;
    reader_draw(&all, 3);
    fit_together(&tables[0], 1, all_here, true);
    set_up(&o, NULL, 0, 600);
    o.opts.mode = DP_PRIVATE;
    o.opts.epsilon = 4;
    o.opts.delta = 1e-5;
    assert_ok(dp_fit_openings(o.model, &o.opts, &n, list, &err), err.text);
    for (size_t k = 0; k < n; k++) {
        uint64_t of_size = 0, told = 0;
        for (size_t e = 0; e < tables[0].times; e++)
            of_size += tables[0].n[e] == list[k].numbers;
        for (size_t e = 0; e < n; e++)
            told += list[e].numbers == list[k].numbers ? list[e].times : 0;
        assert_int_equal(of_size, told);
        assert_true(list[k].sigma > 1);
        times += list[k].times;
    }
    assert_int_equal(times, tables[0].times);
    o.opts = (dp_fit_opts){.mode = DP_NO_PRIVACY};
    assert_ok(dp_fit_openings(o.model, &o.opts, &n, list, &err), err.text);
    assert_true(n > 0 && list[0].sigma == 0);
    tear_down(&o);
    o = (owner){.model = reader_named("bernoulli")->make()};
    (void)dp_sample(o.model, "w", 1, dp_normal(0, 1)); /* a name that there is */
    assert_fails(dp_fit_openings(o.model, &o.opts, &n, list, &err), DP_ENAME, &err, "w");
    assert_int_equal(n, 0);
    tear_down(&o);
}

/* ---- refusals ---- */

static void refuses(const dp_owners *together, const dp_fit_opts *more, dp_status status,
                    const char *why)
{
    owner o;
    set_up(&o, together, 0, 200);
    if (more != NULL)
        o.opts = *more;
    o.opts.owners = together;
    (void)run_owner(&o);
    assert_fails(o.status, status, &o.err, why);
    assert_null(o.fit);
    tear_down(&o);
}

static dp_status fails(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       uint64_t *values, dp_error *err)
{
    (void)context;
    (void)question;
    (void)n;
    (void)values;
    (void)snprintf(err->text, sizeof err->text, "south is not heard");
    return err->status = DP_ETIMEOUT;
}

static dp_status share_of_one(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                              size_t n, const uint64_t *values, unsigned char key[DP_OWNERS_KEY],
                              dp_error *err)
{
    (void)context;
    (void)question;
    (void)n;
    (void)values;
    (void)key;
    (void)snprintf(err->text, sizeof err->text, "no secret is here");
    return err->status = DP_ESTATE;
}

static void what_cannot_be_is_refused(void **state)
{
    const dp_owners good = {.size = 2, .honest = 1, .seed = 7, .most_records = 600, .open = fails};
    dp_owners bad = good;
    (void)state;
    reader_draw(&all, 3);
    refuses(&good, NULL, DP_ETIMEOUT, "south");
    bad.size = 0;
    refuses(&bad, NULL, DP_EINVAL, "owners");
    bad = good, bad.honest = 3;
    refuses(&bad, NULL, DP_EINVAL, "shares");
    bad = good, bad.honest = 0;
    refuses(&bad, NULL, DP_EINVAL, "shares");
    bad = good, bad.seed = 0;
    refuses(&bad, NULL, DP_EINVAL, "seed");
    bad = good, bad.open = NULL;
    refuses(&bad, NULL, DP_EINVAL, "open");
    bad = good, bad.most_records = 199;
    refuses(&bad, NULL, DP_EDATA, "more records");
    bad = good, bad.size = 64, bad.honest = 64, bad.most_records = 1 << 26;
    refuses(&bad, &(dp_fit_opts){.epsilon = 30, .delta = 1e-5}, DP_EUNSUPPORTED, "64 bits");
    bad = good, bad.share = share_of_one;
    refuses(&bad, &(dp_fit_opts){.epsilon = 4, .delta = 1e-5}, DP_ESTATE, "no secret");
    refuses(&bad, &(dp_fit_opts){.epsilon = 4, .delta = 1e-5, .seed = 3}, DP_EINVAL, "own keys");
    refuses(&good, &(dp_fit_opts){.mode = DP_NO_PRIVACY, .method = DP_METHOD_EXACT}, DP_EINVAL,
            "DP_METHOD_EXACT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_the_same_however_records_are_split),
        cmocka_unit_test(with_noise_all_is_as_one_process_has_it),
        cmocka_unit_test(the_opened_noise_has_the_law_that_is_accounted_for),
        cmocka_unit_test(the_budget_is_against_who_knows_the_other_shares),
        cmocka_unit_test(what_is_opened_is_told_before),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
