/* Latents of records, from the guide, the prior and columns; columns that are drawn; new records.
 *
 * Statistical limits are 6.2 standard errors, 6e-10 each, with fixed seeds. */
#include <math.h>
#include <string.h>

#include "tests/fit/records.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static void moments(const double *values, size_t n, double *mean, double *variance)
{
    *mean = *variance = 0;
    for (size_t i = 0; i < n; i++)
        *mean += values[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        *variance += (values[i] - *mean) * (values[i] - *mean) / (double)n;
}

static void latents_of_records_come_from_where_they_are_asked_for(void **state)
{
    (void)state;
    enum { DRAWS = 20 };
    static double found[DRAWS * N];
    double mean, variance;
    dp_error err = {0};
    dp_fit *fit = fit_with_latents(false);
    dp_draws *draws = test_draws(fit, DRAWS, 1);
    dp_dataset *data = test_records();
    dp_dataset_real(data, "z", 1, z_given);
    dp_rng *rng = test_source(2);
    dp_given given = {.data = data, .draws = draws, .rng = rng};
    dp_expr z = dp_fit_expr(fit, "z"), at = dp_fit_mean(fit, "y");
    /* The guide, given the record. */
    assert_ok(dp_fit_evaluate(fit, z, &given, DRAWS * N, found, &err), err.text);
    for (size_t i = 0; i < DRAWS * N; i++)
        found[i] = (found[i] - 0.5 * y[i % N] - 0.125) / exp(-1);
    moments(found, DRAWS * N, &mean, &variance);
    assert_close(mean, 0, 0, 6.2 / sqrt(DRAWS * N));
    assert_close(variance, 1, 0, 6.2 * sqrt(2.0 / (DRAWS * N)));
    /* Its means. */
    given.latents = DP_LATENTS_GUIDE_MEAN;
    given.rng = NULL;
    assert_ok(dp_fit_evaluate(fit, at, &given, DRAWS * N, found, &err), err.text);
    for (size_t i = 0; i < DRAWS * N; i++)
        assert_close(found[i], 1.5 * (0.5 * y[i % N] + 0.125), 1e-14, 1e-15);
    /* A column. */
    given.latents = DP_LATENTS_COLUMN;
    assert_ok(dp_fit_evaluate(fit, at, &given, DRAWS * N, found, &err), err.text);
    for (size_t i = 0; i < DRAWS * N; i++)
        assert_true(found[i] == 1.5 * z_given[i % N]);
    /* The prior, given the draw's mu. */
    given.latents = DP_LATENTS_PRIOR;
    given.rng = rng;
    assert_ok(dp_fit_evaluate(fit, z, &given, DRAWS * N, found, &err), err.text);
    for (size_t d = 0; d < DRAWS; d++)
        for (size_t i = 0; i < N; i++)
            found[d * N + i] = (found[d * N + i] - dp_draws_values(draws)[d]) / 2;
    moments(found, DRAWS * N, &mean, &variance);
    assert_close(mean, 0, 0, 6.2 / sqrt(DRAWS * N));
    assert_close(variance, 1, 0, 6.2 * sqrt(2.0 / (DRAWS * N)));
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

/* u ~ Normal(0, 1), v ~ Normal(2 u, 0.5), y ~ Normal(v, 0.1); the guide's u ~ Normal(own, 0.2),
 * v ~ Normal(3 u + y, 0.1).  What is asked for of v brings u with it. */
static void latents_that_depend_on_latents_are_drawn_in_their_order(void **state)
{
    (void)state;
    static double found[N], both[N];
    double mean, variance;
    const given_block known[] = {{"own", {0.75}}};
    dp_error err = {0};
    dp_fit *fit;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr u = dp_sample_in(rows, "u", 1, dp_normal(0, 1)),
            v = dp_sample_in(rows, "v", 1, dp_normal_v(dp_scale(2, u), dp_num(0.5)));
    dp_observe(rows, "y", dp_normal_v(v, dp_num(0.1)));
    dp_model *q = dp_guide_new(m);
    rows = dp_unit_plate(q, "rows");
    u = dp_sample_in(rows, "u", 1, dp_normal_v(dp_param(q, "own", 1, 0), dp_num(0.2)));
    v = dp_add(dp_scale(3, u), dp_data(rows, "y", 1));
    (void)dp_sample_in(rows, "v", 1, dp_normal_v(v, dp_num(0.1)));
    assert_ok(make_fit(m, q, DP_FORM_LATENTS, known, 1, &fit, &err), err.text);
    dp_dataset *data = test_records(), *bare = dp_dataset_new(N);
    dp_rng *rng = test_source(31);
    dp_given given = {.data = data, .rng = rng};
    dp_expr of_v = dp_fit_expr(fit, "v"), of_u = dp_fit_expr(fit, "u");
    dp_expr rest = dp_sub(of_v, dp_add(dp_scale(3, of_u), dp_fit_expr(fit, "y")));
    assert_ok(dp_fit_evaluate(fit, rest, &given, N, found, &err), err.text);
    moments(found, N, &mean, &variance);
    assert_close(mean, 0, 0, 6.2 * 0.1 / sqrt(N));
    assert_close(variance, 0.01, 6.2 * sqrt(2.0 / N), 0);
    given.latents = DP_LATENTS_GUIDE_MEAN;
    assert_ok(dp_fit_evaluate(fit, of_v, &given, N, found, &err), err.text);
    for (size_t i = 0; i < N; i++)
        assert_close(found[i], 3 * 0.75 + y[i], 1e-14, 1e-15);
    given = (dp_given){.data = bare, .rng = rng, .latents = DP_LATENTS_PRIOR};
    assert_ok(dp_fit_evaluate(fit, of_v, &given, N, found, &err), err.text);
    moments(found, N, &mean, &variance);
    assert_close(mean, 0, 0, 6.2 * sqrt(4.25 / N));
    assert_close(variance, 4.25, 6.2 * sqrt(2.0 / N), 0);
    rest = dp_sub(of_v, dp_scale(2, of_u));
    assert_ok(dp_fit_evaluate(fit, rest, &given, N, both, &err), err.text);
    moments(both, N, &mean, &variance);
    assert_close(variance, 0.25, 6.2 * sqrt(2.0 / N), 0);
    dp_rng_free(rng);
    dp_dataset_free(bare);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

static void what_is_drawn_repeats_with_its_seed(void **state)
{
    (void)state;
    static double first[2 * N], again[2 * N];
    dp_error err = {0};
    dp_fit *fit = fit_with_latents(false);
    dp_dataset *data = test_records();
    for (int k = 0; k < 2; k++) {
        dp_rng *rng = test_source(17);
        const dp_given given = {.data = data, .rng = rng};
        assert_ok(dp_fit_simulate(fit, NULL, &given, 2 * N, k == 0 ? first : again, &err),
                  err.text);
        dp_rng_free(rng);
    }
    assert_memory_equal(first, again, sizeof first);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

/* All observed columns of new records: y and v share a record's z.  Var y = slope^2 4 + 0.25, and
 * v is 1 where z is large, so that y goes with it. */
static void synthetic_records_need_no_columns_and_share_their_latents(void **state)
{
    (void)state;
    enum { MANY = 8000 };
    static double made[MANY][2], own[MANY];
    double mean, variance, with = 0, without = 0, ones = 0;
    dp_error err = {0};
    dp_fit *fit = fit_with_latents(false);
    dp_dataset *data = dp_dataset_new(MANY);
    dp_rng *rng = test_source(21);
    const dp_given given = {.data = data, .latents = DP_LATENTS_PRIOR, .rng = rng};
    assert_ok(dp_fit_simulate(fit, NULL, &given, 2 * MANY, *made, &err), err.text);
    for (size_t i = 0; i < MANY; i++) {
        own[i] = made[i][0];
        assert_true(made[i][1] == 0 || made[i][1] == 1);
        ones += made[i][1];
        *(made[i][1] > 0 ? &with : &without) += made[i][0];
    }
    moments(own, MANY, &mean, &variance);
    assert_close(mean, 1.5 * -3, 0, 6.2 * sqrt(9.25 / MANY)); /* mu at its centre */
    assert_close(variance, 9.25, 6.2 * sqrt(2.0 / MANY), 0);
    assert_true(ones > 500 && with / ones - without / (MANY - ones) > 2);
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

/* The guide reads v as drawn, and the density is of the same draw: at z = v / 2 + 1 / 8 both
 * outcomes have a density of their own, and no record has a mixture of them. */
static void a_drawn_column_is_drawn_once_for_model_and_guide(void **state)
{
    (void)state;
    static double found[N];
    size_t ones = 0;
    dp_error err = {0};
    dp_fit *fit = fit_with_latents(true);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_bernoulli(data, "v", 1, 4, odds);
    dp_rng *rng = test_source(4);
    dp_given given = {.data = data, .rng = rng, .latents = DP_LATENTS_GUIDE_MEAN};
    dp_expr z = dp_fit_expr(fit, "z"), v = dp_fit_expr(fit, "v");
    assert_ok(dp_fit_evaluate(fit, dp_sub(z, dp_scale(0.5, v)), &given, N, found, &err), err.text);
    for (size_t i = 0; i < N; i++)
        assert_close(found[i], 0.125, 1e-14, 0);
    assert_ok(dp_fit_evaluate(fit, v, &given, N, found, &err), err.text);
    for (size_t i = 0; i < N; i++)
        ones += found[i] == 1;
    assert_true(ones > N / 4 && ones < N - N / 4); /* half: 12 standard deviations */
    given.rng = NULL;
    assert_int_equal(dp_fit_evaluate(fit, v, &given, N, found, &err), DP_EINVAL);
    assert_contains(err.text, "dp_rng");
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    static double found[2 * N], made[2 * 2 * N];
    dp_fit *fit = fit_with_latents(false);
    dp_draws *draws = test_draws(fit, 2, 1);
    dp_dataset *data = test_records();
    dp_rng *rng = test_source(1);
    dp_expr mean = dp_fit_mean(fit, "y");
    size_t before = faulty_live();
    for (int call = 0; call < 4; call++)
        for (size_t k = 1;; k++) {
            dp_error err = {0};
            const dp_given given = {.data = data, .draws = call > 1 ? draws : NULL, .rng = rng};
            size_t n = call > 1 ? 2 * N : N;
            faulty_fail(k);
            dp_status status = call % 2 == 0 ? dp_fit_evaluate(fit, mean, &given, n, found, &err)
                               : call == 1   ? dp_fit_predict(fit, "y", &given, n, found, &err)
                                           : dp_fit_simulate(fit, NULL, &given, 2 * n, made, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(faulty_live(), before);
            assert_int_equal(isnan(call == 3 ? made[0] : found[0]), failed);
            if (!failed)
                break;
        }
    dp_rng_free(rng);
    dp_dataset_free(data);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

int main(void)
{
    test_fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latents_of_records_come_from_where_they_are_asked_for),
        cmocka_unit_test(latents_that_depend_on_latents_are_drawn_in_their_order),
        cmocka_unit_test(what_is_drawn_repeats_with_its_seed),
        cmocka_unit_test(synthetic_records_need_no_columns_and_share_their_latents),
        cmocka_unit_test(a_drawn_column_is_drawn_once_for_model_and_guide),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
