/* Draws from the prior of a fit's model against its moments, what refuses them, and failures.  The
 * seed is fixed; limits are 6.2 standard errors, 6e-10 for one comparison. */
#include <math.h>

#include "tests/fit/scene.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { DRAWS = 5000, GROUPS = 3 };

static const double z = 6.2;

/* s ~ LogNormal(0.3, 0.5), a_k ~ N(2, s), q ~ Dirichlet(1, 1, 1). */
static dp_model *family_tree(void)
{
    dp_model *m = dp_model_new();
    if (m == NULL)
        return NULL;
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr s = dp_sample(m, "s", 1, dp_log_normal(0.3, 0.5)),
            a = dp_sample_in(groups, "a", 1, dp_normal_v(dp_num(2), s)),
            q = dp_sample(m, "q", 3, dp_dirichlet(1));
    (void)dp_deterministic(m, "a twice", dp_scale(2, a));
    dp_observe(rows, "y",
               dp_normal_v(dp_add(dp_sum(q), dp_pick(a, dp_index(rows, "g", groups))), s));
    return m;
}

/* The posterior is elsewhere. */
static dp_fit *begin(dp_model *m, size_t n)
{
    const given_block at[] = {{"s.loc", {3}}, {"s.log_scale", {-4}}, {"a.loc", {50, 60, 70}}};
    dp_error err = {0};
    dp_fit *fit;
    assert_ok(make_fit(m, NULL, DP_FORM_LATENTS, at, n, &fit, &err), err.text);
    return fit;
}

static dp_draws *take(const dp_fit *fit, size_t n, uint64_t seed)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    assert_ok(dp_fit_draw_prior(fit, n, rng, &draws, &err), err.text);
    dp_rng_free(rng);
    return draws;
}

static void draws_have_the_prior_s_law(void **state)
{
    (void)state;
    dp_fit *fit = begin(family_tree(), 3);
    dp_draws *draws = take(fit, DRAWS, 11);
    double log_s = 0, square_s = 0, mean = 0, square = 0, cross = 0, q = 0;
    size_t n, s = dp_draws_find(draws, "s", &n), a = dp_draws_find(draws, "a", &n);
    assert_int_equal(n, GROUPS);
    const size_t first = dp_draws_find(draws, "q", &n);
    assert_int_equal(dp_draws_size(draws), 1 + GROUPS + 3);
    assert_int_equal(dp_draws_count(draws), DRAWS);
    for (size_t d = 0; d < DRAWS; d++) {
        const double *x = dp_draws_values(draws) + d * dp_draws_size(draws);
        const double unit = (log(x[s]) - 0.3) / 0.5, of_group = (x[a + 1] - 2) / x[s];
        log_s += unit / DRAWS;
        square_s += unit * unit / DRAWS;
        mean += of_group / DRAWS;
        square += of_group * of_group / DRAWS;
        cross += of_group * (x[a + 2] - 2) / x[s] / DRAWS;
        q += x[first + 2] / DRAWS;
        assert_close(x[first] + x[first + 1] + x[first + 2], 1, 0, 1e-12);
    }
    assert_close(log_s, 0, 0, z / sqrt(DRAWS));
    assert_close(square_s, 1, 0, z * sqrt(2.0 / DRAWS));
    assert_close(mean, 0, 0, z / sqrt(DRAWS));
    assert_close(square, 1, 0, z * sqrt(2.0 / DRAWS));
    assert_close(cross, 0, 0, z / sqrt(DRAWS));
    assert_close(q, 1 / 3.0, 0, z * sqrt(1 / 18.0 / DRAWS)); /* the variance of Beta(1, 2) */
    dp_draws_free(draws);
    dp_fit_free(fit);
}

static void what_is_computed_of_latents_is_computed_of_such_draws(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit = begin(family_tree(), 3);
    dp_draws *draws = take(fit, 4, 11), *again = take(fit, 4, 11);
    double twice[4 * GROUPS];
    const dp_given given = {.draws = draws};
    size_t n, a = dp_draws_find(draws, "a", &n);
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "a twice"), &given, 4 * GROUPS, twice, &err),
              err.text);
    for (size_t d = 0; d < 4; d++)
        for (size_t k = 0; k < GROUPS; k++)
            assert_true(twice[d * GROUPS + k] ==
                        2 * dp_draws_values(draws)[d * dp_draws_size(draws) + a + k]);
    assert_memory_equal(dp_draws_values(draws), dp_draws_values(again),
                        4 * dp_draws_size(draws) * sizeof(double));
    dp_draws_free(draws);
    dp_draws_free(again);
    dp_fit_free(fit);
}

/* They are of each record, and there are none here. */
static void latents_of_records_are_left_out(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    size_t n;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr u = dp_sample(m, "u", 1, dp_normal(0, 1)),
            own = dp_sample_in(rows, "own", 1, dp_normal_v(u, dp_num(1)));
    (void)dp_sample(m, "v", 1, dp_normal_v(dp_mul(dp_num(1000), u), dp_num(1e-3)));
    dp_observe(rows, "y", dp_normal_v(own, dp_num(1)));
    dp_model *guide = dp_guide_new(m);
    (void)dp_sample(guide, "u", 1, dp_normal(7, 1));
    (void)dp_sample(guide, "v", 1, dp_normal(7, 1));
    rows = dp_unit_plate(guide, "rows");
    (void)dp_sample_in(rows, "own", 1, dp_normal_v(dp_param(guide, "p", 1, 0), dp_num(1)));
    assert_ok(make_fit(m, guide, DP_FORM_LATENTS, NULL, 0, &fit, &err), err.text);
    dp_draws *draws = take(fit, 20, 3);
    assert_int_equal(dp_draws_size(draws), 2);
    (void)dp_draws_find(draws, "own", &n);
    assert_int_equal(n, 0);
    for (size_t d = 0; d < 20; d++) /* each draw is joint */
        assert_close(dp_draws_values(draws)[2 * d + 1], 1000 * dp_draws_values(draws)[2 * d], 0,
                     .1);
    dp_draws_free(draws);
    dp_fit_free(fit);
}

static void refused(dp_model *m, size_t n, dp_status status, const char *says)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *draws = NULL;
    dp_fit *fit = begin(m, 0);
    assert_ok(dp_rng_new(1, &rng, &err), err.text);
    assert_int_equal(dp_fit_draw_prior(fit, n, rng, &draws, &err), status);
    assert_null(draws);
    assert_contains(err.text, says);
    dp_rng_free(rng);
    dp_fit_free(fit);
}

static void what_has_no_prior_is_refused(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_bernoulli_logit(dp_param(m, "b", 1, 0)));
    refused(m, 1, DP_EUNSUPPORTED, "parameter 'b' has no prior");
    m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_bernoulli_logit(dp_sample(m, "w", 1, dp_flat())));
    refused(m, 1, DP_EUNSUPPORTED, "latent 'w' has no proper prior");
    refused(family_tree(), 0, DP_EINVAL, "no draws are asked for");
    refused(family_tree(), SIZE_MAX, DP_ENOMEM, "memory");
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    dp_fit *fit = begin(family_tree(), 3);
    dp_rng *rng;
    assert_ok(dp_rng_new(8, &rng, NULL), "rng");
    const size_t before = faulty_live();
    for (size_t k = 1, failed = 1; failed; k++) {
        dp_error err = {0};
        dp_draws *draws = NULL;
        faulty_fail(k);
        const dp_status status = dp_fit_draw_prior(fit, 2, rng, &draws, &err);
        failed = (size_t)faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(draws == NULL, failed);
        dp_draws_free(draws);
        assert_int_equal(faulty_live(), before);
    }
    dp_rng_free(rng);
    dp_fit_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_prior_s_law),
        cmocka_unit_test(what_is_computed_of_latents_is_computed_of_such_draws),
        cmocka_unit_test(latents_of_records_are_left_out),
        cmocka_unit_test(what_has_no_prior_is_refused),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
