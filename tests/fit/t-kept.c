/* Fits that keep draws: what they give back, summarise and compute, and what they refuse. */
#include <math.h>
#include <string.h>

#include "tests/fit/scene.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { KEPT = 7, SIZE = 9, RECORDS = 3 };

/* A latent of every support; the last is three weights. */
static dp_model *every_support(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", 2);
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_gamma(2, 1)),
            p = dp_sample(m, "p", 1, dp_beta(2, 2)), u = dp_sample(m, "u", 1, dp_uniform(-2, 5)),
            a = dp_sample_in(groups, "a", 1, dp_normal(0, 1)),
            q = dp_sample(m, "q", 3, dp_dirichlet(1)), b = dp_param(m, "b", 1, 0);
    dp_expr sum = dp_add(dp_add(w, dp_add(s, p)), dp_add(u, dp_sum(q)));
    sum = dp_add(dp_add(sum, b), dp_pick(a, dp_index(rows, "g", groups)));
    dp_observe(rows, "y", dp_normal_v(sum, s));
    return m;
}

/* [w, s, p, u, a[0], a[1], q[0], q[1], q[2]] */
static const double drawn[KEPT][SIZE] = {
    {0.385, 1.2, 0.5, -1.9, 0.1, -0.2, 0.2, 0.3, 0.5},
    {-2.385, 0.7, 0.25, 4.9, 0.3, 0.6, 0.1, 0.8, 0.1},
    {1.71, 2.9, 0.9, 0.3, -1.1, 1.4, 0.6, 0.3, 0.1},
    {0.02, 0.1, 0.01, 1.3, 2.2, -3.1, 0.25, 0.25, 0.5},
    {-0.4, 1e-9, 0.77, 5, 0.8, 0.9, 0.4, 0.35, 0.25},
    {3.3, 14.5, 0.62, -2, -0.6, 0.4, 0.05, 0.9, 0.05},
    {-1.13, 0.33, 0.33, 2.7, 1.9, -0.7, 0.7, 0.1, 0.2},
};

static const given_block reached[] = {{"w.loc", {0.7}}, {"w.log_scale", {-2}}, {"b", {0.25}}};

static dp_status keep(size_t n, size_t size, const double *draws, dp_fit **fit, dp_error *err)
{
    dpi_fit_parts parts = {
        .model = every_support(), .draws = draws, .n_draws = n, .draw_size = size};
    return make_fit_of(&parts, reached, sizeof reached / sizeof *reached, fit, err);
}

static dp_fit *keeping(void)
{
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(keep(KEPT, SIZE, *drawn, &fit, &err), err.text);
    return fit;
}

static dp_draws *take(const dp_fit *fit, size_t n, uint64_t seed)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, n, rng, &draws, &err), err.text);
    dp_rng_free(rng);
    return draws;
}

/* Which kept draw draw i is. */
static size_t which(const dp_draws *draws, size_t i)
{
    for (size_t k = 0; k < KEPT; k++)
        if (memcmp(dp_draws_values(draws) + i * SIZE, drawn[k], sizeof drawn[k]) == 0)
            return k;
    fail_msg("draw %zu is not one that was kept", i);
    return KEPT;
}

/* ---- draws ---- */

static void names_and_places_are_those_of_any_draws(void **state)
{
    (void)state;
    const char *const names[] = {"w", "s", "p", "u", "a[0]", "a[1]", "q[0]", "q[1]", "q[2]"};
    size_t n;
    dp_fit *fit = keeping();
    dp_draws *draws = take(fit, 3, 5);
    assert_int_equal(dp_fit_kept(fit), KEPT);
    dp_fit_free(fit);
    assert_int_equal(dp_draws_count(draws), 3);
    assert_int_equal(dp_draws_size(draws), SIZE);
    for (size_t k = 0; k < SIZE; k++)
        assert_string_equal(dp_draws_name(draws, k), names[k]);
    assert_int_equal(dp_draws_find(draws, "q", &n), 6);
    assert_int_equal(n, 3);
    dp_draws_free(draws);
}

static void each_kept_draw_comes_once_before_any_comes_again(void **state)
{
    (void)state;
    const size_t counts[] = {1, KEPT - 1, KEPT, KEPT + 1, 4 * KEPT + 3};
    dp_fit *fit = keeping();
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        dp_draws *draws = take(fit, counts[c], c + 1);
        size_t seen[KEPT] = {0};
        for (size_t i = 0; i < counts[c]; i++)
            assert_int_equal(seen[which(draws, i)]++, i / KEPT);
        dp_draws_free(draws);
    }
    dp_fit_free(fit);
}

/* In every round each order is as likely as any: each of the 42 first pairs of a round, and of the
 * next, has chance 1 / 42.  Chi-squared of 41 degrees of freedom exceeds 128 with probability
 * 1e-10.  Rounds begin alike with chance 1 / 7, 600 times with standard deviation 22.7, of which
 * 6.2 are 6e-10. */
static void orders_are_random_in_every_round(void **state)
{
    (void)state;
    enum { TRIALS = 4200 };
    double count[2][KEPT][KEPT] = {{{0}}}, chi[2] = {0}, alike = 0;
    dp_error err = {0};
    dp_rng *rng;
    dp_fit *fit = keeping();
    assert_ok(dp_rng_new(71, &rng, &err), err.text);
    for (int t = 0; t < TRIALS; t++) {
        dp_draws *draws;
        assert_ok(dp_fit_draw(fit, KEPT + 2, rng, &draws, &err), err.text);
        for (size_t round = 0; round < 2; round++)
            count[round][which(draws, round * KEPT)][which(draws, round * KEPT + 1)]++;
        alike += which(draws, 0) == which(draws, KEPT);
        dp_draws_free(draws);
    }
    assert_close(alike, 600, 0, 6.2 * 22.7);
    for (int round = 0; round < 2; round++) {
        for (int a = 0; a < KEPT; a++)
            for (int b = 0; b < KEPT; b++)
                if (a != b)
                    chi[round] += pow(count[round][a][b] - 100, 2) / 100;
        assert_true(chi[round] < 128 && chi[round] > 5);
    }
    dp_rng_free(rng);
    dp_fit_free(fit);
}

static void equal_seeds_give_equal_draws(void **state)
{
    (void)state;
    dp_fit *fit = keeping();
    dp_draws *first = take(fit, 20, 8), *again = take(fit, 20, 8), *other = take(fit, 20, 9);
    assert_memory_equal(dp_draws_values(again), dp_draws_values(first), 20 * sizeof drawn[0]);
    assert_true(memcmp(dp_draws_values(other), dp_draws_values(first), 20 * sizeof drawn[0]) != 0);
    dp_draws_free(first);
    dp_draws_free(again);
    dp_draws_free(other);
    dp_fit_free(fit);
}

/* ---- summaries; by hand from the table ---- */

static void summaries_are_of_all_kept_draws(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_summary w, q[3];
    dp_fit *fit = keeping();
    assert_ok(dp_fit_summary(fit, "w", 1, &w, &err), err.text);
    /* w in order: -2.385 -1.13 -0.4 0.02 0.385 1.71 3.3; the i-th, from 0, at (i + 1/2) / 7. */
    double mean = (-2.385 - 1.13 - 0.4 + 0.02 + 0.385 + 1.71 + 3.3) / 7, square = 0;
    for (int i = 0; i < KEPT; i++)
        square += (drawn[i][0] - mean) * (drawn[i][0] - mean);
    assert_close(w.mean, mean, 1e-14, 0);
    assert_close(w.sd, sqrt(square / 6), 1e-14, 0);
    assert_close(w.q50, 0.02, 0, 1e-15);
    assert_true(w.q05 == -2.385 && w.q95 == 3.3); /* beyond the middle of the first seventh */
    assert_ok(dp_fit_summary(fit, "q", 3, q, &err), err.text);
    assert_close(q[0].q50, 0.25, 0, 1e-15);
    assert_close(q[1].q50, 0.3, 0, 1e-15);
    assert_close(q[2].q50, 0.2, 0, 1e-15);
    assert_close(q[0].mean + q[1].mean + q[2].mean, 1, 1e-14, 0);
    dp_fit_free(fit);
}

static void quantiles_between_draws_lie_on_straight_lines(void **state)
{
    (void)state;
    enum { MANY = 50 };
    static double many[MANY][SIZE];
    dp_error err = {0};
    dp_summary w;
    dp_fit *fit;
    for (int i = 0; i < MANY; i++) {
        memcpy(many[i], drawn[0], sizeof drawn[0]);
        many[i][0] = (i * 37 % MANY) * 0.1; /* 0, 0.1 ... 4.9 in some order */
    }
    assert_ok(keep(MANY, SIZE, *many, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "w", 1, &w, &err), err.text);
    assert_close(w.q05, 0.2, 1e-13, 0); /* place 0.05 * 50 - 1/2 = 2 */
    assert_close(w.q50, 2.45, 1e-13, 0);
    assert_close(w.q95, 4.7, 1e-13, 0);
    dp_fit_free(fit);
}

static void covariances_are_of_all_kept_draws(void **state)
{
    (void)state;
    dp_error err = {0};
    const char *const names[] = {"a", "w"};
    const int place[] = {4, 5, 0};
    double c[3][3], mean[3] = {0};
    dp_fit *fit = keeping();
    assert_ok(dp_fit_covariance(fit, 2, names, 3, *c, &err), err.text);
    for (int e = 0; e < 3; e++)
        for (int i = 0; i < KEPT; i++)
            mean[e] += drawn[i][place[e]] / KEPT;
    for (int e = 0; e < 3; e++)
        for (int f = 0; f < 3; f++) {
            double sum = 0;
            for (int i = 0; i < KEPT; i++)
                sum += (drawn[i][place[e]] - mean[e]) * (drawn[i][place[f]] - mean[f]);
            assert_close(c[e][f], sum / (KEPT - 1), 1e-13, 1e-15);
        }
    assert_int_equal(dp_fit_covariance(fit, 2, names, 2, *c, NULL), DP_ESHAPE);
    dp_summary none;
    assert_int_equal(dp_fit_summary(fit, "b", 1, &none, NULL), DP_ENAME);
    dp_fit_free(fit);
}

/* ---- what is made of draws ---- */

/* The mean of y given group 1 as the model writes it; 1 for the weights' sum, 0.25 for b. */
static double mean_of_group_1(const double *d)
{
    return d[0] + d[1] + d[2] + d[3] + d[5] + (d[6] + d[7] + d[8]) + 0.25;
}

static void predictions_and_densities_are_of_kept_draws(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_rng *rng;
    const int32_t g[RECORDS] = {1, 1, 1};
    const double y[RECORDS] = {0.2, -1.4, 3.1};
    double density[KEPT][RECORDS], predicted[RECORDS], made[KEPT][RECORDS], expected = 0;
    dp_fit *fit = keeping();
    dp_dataset *data = dp_dataset_new(RECORDS);
    dp_dataset_index(data, "g", g);
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    dp_draws *draws = take(fit, KEPT, 3);
    const dp_given given = {.data = data, .draws = draws, .rng = rng};
    assert_ok(dp_fit_log_density(fit, &given, KEPT * RECORDS, *density, &err), err.text);
    assert_ok(dp_fit_predict(fit, "y", &given, RECORDS, predicted, &err), err.text);
    assert_ok(dp_fit_simulate(fit, "y", &given, KEPT * RECORDS, *made, &err), err.text);
    for (size_t i = 0; i < KEPT; i++) {
        const double *d = drawn[which(draws, i)];
        double loc = mean_of_group_1(d), z = (y[1] - loc) / d[1];
        expected += loc / KEPT;
        assert_close(density[i][1], -z * z / 2 - log(d[1]) - log(2 * acos(-1)) / 2, 1e-12, 1e-12);
        assert_close(made[i][2], loc, 0, 8 * d[1]); /* 8 sd: 1e-15 */
    }
    assert_close(predicted[0], expected, 1e-13, 0);
    dp_rng_free(rng);
    dp_draws_free(draws);
    dp_dataset_free(data);
    dp_fit_free(fit);
}

static void parameters_and_centre_stay_the_guides(void **state)
{
    (void)state;
    dp_error err = {0};
    double w, loc;
    dp_fit *fit = keeping();
    assert_ok(dp_fit_parameter(fit, "w.loc", 1, &loc, &err), err.text);
    assert_true(loc == 0.7);
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "w"), NULL, 1, &w, &err), err.text);
    assert_true(w == 0.7);
    dp_fit_free(fit);
}

/* ---- what is refused ---- */

static void refused(size_t place, double value, const char *says)
{
    double changed[KEPT][SIZE];
    dp_error err = {0};
    dp_fit *fit;
    memcpy(changed, drawn, sizeof drawn);
    changed[KEPT - 1][place] = value;
    assert_fails(keep(KEPT, SIZE, *changed, &fit, &err), DP_EDOMAIN, &err, says);
    assert_null(fit);
}

static void draws_outside_their_support_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < SIZE; k++) {
        refused(k, NAN, "draw 6 (from 0)");
        refused(k, INFINITY, "draw 6 (from 0)");
        refused(k, -INFINITY, "draw 6 (from 0)");
    }
    refused(1, 0, "s is not a number above 0");
    refused(1, -1e-300, "s is not a number above 0");
    refused(2, 0, "p is not a number strictly between 0 and 1");
    refused(2, 1, "p is not");
    refused(3, -2.0000001, "u is not a number between the given bounds");
    refused(3, 5.0000001, "u is not");
    refused(5, NAN, "a[1] is not a finite number");
    refused(8, 0.2001, "q[0] is not numbers above 0 that sum to 1");
    refused(7, 0, "q[0] is not");
}

static void draws_of_another_size_or_number_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    assert_fails(keep(KEPT, SIZE - 1, *drawn, &fit, &err), DP_EINVAL, &err, "9 numbers");
    assert_fails(keep(KEPT, SIZE + 1, *drawn, &fit, &err), DP_EINVAL, &err, "draws of 10");
    assert_fails(keep(KEPT, 0, *drawn, &fit, &err), DP_EINVAL, &err, "draws of 0");
    assert_fails(keep(1, SIZE, *drawn, &fit, &err), DP_EINVAL, &err, "at least two");
    assert_fails(keep(SIZE_MAX / 8, SIZE, *drawn, &fit, &err), DP_ENOMEM, &err, "memory");
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_bernoulli_logit(dp_param(m, "b", 1, 0)));
    dpi_fit_parts parts = {.model = m, .draws = *drawn, .n_draws = 2};
    assert_fails(make_fit_of(&parts, NULL, 0, &fit, &err), DP_EINVAL, &err, "0 numbers");
    assert_null(fit);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    dp_rng *rng;
    assert_ok(dp_rng_new(8, &rng, NULL), "rng");
    dp_fit *made = keeping();
    size_t before = faulty_live();
    for (int call = 0; call < 4; call++)
        for (size_t k = 1;; k++) {
            dp_error err = {0};
            dp_fit *fit = NULL;
            dp_draws *draws = NULL;
            dp_summary s;
            double c = 0;
            const char *const w = "w";
            dpi_fit_parts parts = {.model = call == 3 ? every_support() : NULL,
                                   .draws = *drawn,
                                   .n_draws = KEPT,
                                   .draw_size = SIZE};
            faulty_fail(k);
            dp_status status = call == 0   ? dp_fit_draw(made, 10, rng, &draws, &err)
                               : call == 1 ? dp_fit_summary(made, w, 1, &s, &err)
                               : call == 2 ? dp_fit_covariance(made, 1, &w, 1, &c, &err)
                                           : make_fit_of(&parts, NULL, 0, &fit, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(call == 0   ? draws == NULL
                             : call == 1 ? isnan(s.sd)
                             : call == 2 ? isnan(c)
                                         : fit == NULL,
                             status != DP_OK);
            dp_draws_free(draws);
            dp_fit_free(fit);
            assert_int_equal(faulty_live(), before);
            if (!failed)
                break;
        }
    dp_rng_free(rng);
    dp_fit_free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_places_are_those_of_any_draws),
        cmocka_unit_test(each_kept_draw_comes_once_before_any_comes_again),
        cmocka_unit_test(orders_are_random_in_every_round),
        cmocka_unit_test(equal_seeds_give_equal_draws),
        cmocka_unit_test(summaries_are_of_all_kept_draws),
        cmocka_unit_test(quantiles_between_draws_lie_on_straight_lines),
        cmocka_unit_test(covariances_are_of_all_kept_draws),
        cmocka_unit_test(predictions_and_densities_are_of_kept_draws),
        cmocka_unit_test(parameters_and_centre_stay_the_guides),
        cmocka_unit_test(draws_outside_their_support_are_refused),
        cmocka_unit_test(draws_of_another_size_or_number_are_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
