/* Flat priors: their density, a posterior that is known, and who refuses them. */
#include <tacit/plan.h>
#include <tacit/simulate.h>
#include <tacit/svi.h>

#include <math.h>
#include <string.h>

#include "infer/posterior.h"
#include "model/store.h"
#include "tests/lib/check.h"

enum { N = 12 };

static const double y[N] = {1.3, -0.4, 2.9, 0.7, 1.8, 3.1, -1.2, 0.2, 2.2, 1.1, 4.0, 0.9};

static dp_dataset *make_data(void)
{
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

/* y ~ N(mu, sigma), both flat. */
static dp_model *make_model(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr mu = dp_sample(m, "mu", 1, dp_flat());
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_flat_positive());
    dp_observe(rows, "y", dp_normal_v(mu, sigma));
    return m;
}

/* The sum of squares about a. */
static double squares(double a)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += (y[i] - a) * (y[i] - a);
    return sum;
}

static double mean_of_y(void)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += y[i] / N;
    return sum;
}

/* At mu and log sigma: the records' density, and log sigma, the Jacobian of sigma. */
static void the_density_is_that_of_records_and_of_the_jacobian(void **state)
{
    dp_dataset *data = make_data();
    dp_model *m = make_model();
    dpi_posterior p;
    dpi_evaluator e;
    dp_error err = {0};
    const double *loose[4] = {NULL};
    (void)state;
    assert_ok(dpi_posterior_init(&p, m, data, loose, NULL, &err), err.text);
    assert_ok(dpi_evaluator_init(&e, &p, &err), err.text);
    for (double mu = -3; mu < 4; mu += 1.7)
        for (double t = -2; t < 2; t += 0.9) {
            const double z[] = {mu, t}, s = exp(t);
            double slope[2], s2 = s * s;
            double density = -0.5 * squares(mu) / s2 - N * (t + 0.5 * log(2 * M_PI)) + t;
            assert_close(dpi_evaluate(&e, z, slope), density, 1e-12, 1e-12);
            assert_close(slope[0], N * (mean_of_y() - mu) / s2, 1e-12, 1e-11);
            assert_close(slope[1], squares(mu) / s2 - N + 1, 1e-12, 1e-11);
        }
    dpi_evaluator_free(&e);
    dpi_posterior_free(&p);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* With S the squares about the mean of y, 1 / sigma^2 is Gamma((N - 2) / 2, S / 2), and mu
 * Student's t with N - 2 degrees of freedom, of variance S / (N (N - 4)).  Of 40000 draws with at
 * least 4000 effective ones a mean is off by 5.998 standard errors with probability 2e-9 / 2, and
 * the seed is fixed.  Were sigma's Jacobian left out, its mean would be lower by more than two such
 * limits. */
static void a_normal_sample_has_its_known_posterior(void **state)
{
    dp_dataset *data = make_data();
    dp_model *m = make_model();
    dp_fit *fit;
    dp_error err = {0};
    dp_summary mu, sigma;
    double s = squares(mean_of_y()), sd = sqrt(s / (N * (N - 4.0)));
    double mean = sqrt(s / 2) * exp(lgamma((N - 3) / 2.0) - lgamma((N - 2) / 2.0));
    double without = sqrt(s / 2) * exp(lgamma((N - 2) / 2.0) - lgamma((N - 1) / 2.0));
    double spread = sqrt(s / (N - 4) - mean * mean), limit = 6 * spread / sqrt(4000);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 40000, .seed = 5};
    (void)state;
    assert_true(mean - without > 2 * limit);
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "mu", 1, &mu, &err), err.text);
    assert_ok(dp_fit_summary(fit, "sigma", 1, &sigma, &err), err.text);
    assert_close(mu.mean, mean_of_y(), 0, 6 * sd / sqrt(4000));
    assert_close(sigma.mean, mean, 0, limit);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* Members of a plate, each flat: N(mean of its four records, 1 / 4), with the limit from above. */
static void members_have_their_own_means(void **state)
{
    enum { GROUPS = 3, EACH = N / GROUPS };
    static const int32_t group[N] = {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2};
    dp_dataset *data = make_data();
    dp_model *m = dp_model_new();
    dp_fit *fit;
    dp_error err = {0};
    dp_summary b[GROUPS];
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 40000, .seed = 5};
    (void)state;
    dp_dataset_index(data, "g", group);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr own = dp_pick(dp_sample_in(groups, "b", 1, dp_flat()), dp_index(rows, "g", groups));
    dp_observe(rows, "y", dp_normal_v(own, dp_num(1)));
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "b", GROUPS, b, &err), err.text);
    for (size_t g = 0; g < GROUPS; g++) {
        double mean = 0, sd = 1 / sqrt(EACH);
        for (size_t i = g; i < N; i += GROUPS)
            mean += y[i] / EACH;
        assert_close(b[g].mean, mean, 0, 6 * sd / sqrt(4000));
        assert_close(b[g].sd, sd, 6 / sqrt(2 * 4000.0), 0);
    }
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

static bool is_bad(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(d[k].name, name) == 0)
            return d[k].bad;
    fail_msg("there is no check '%s'", name);
    return false;
}

/* Records tell the sum of two flat latents, and nothing of their difference. */
static void a_posterior_without_a_total_is_told(void **state)
{
    dp_dataset *data = make_data();
    dp_model *m = dp_model_new();
    dp_fit *fit;
    dp_error err = {0};
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 400, .seed = 5};
    (void)state;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_flat()), b = dp_sample(m, "b", 1, dp_flat());
    dp_observe(rows, "y", dp_normal_v(dp_add(a, b), dp_num(1)));
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_true(is_bad(fit, "sampling"));
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void fits_with_noise_refuse_them_by_name(void **state)
{
    static const char says[] = "latent 'mu' has no proper prior (flat)";
    dp_dataset *data = make_data();
    dp_model *m = make_model();
    dp_fit *fit;
    dp_plan *plan;
    dp_svi *svi;
    dp_error err = {0};
    (void)state;
    const dp_fit_opts noisy = {.epsilon = 1, .delta = 1e-6, .seed = 1};
    assert_fails(dp_fit_private(m, data, &noisy, &fit, &err), DP_EUNSUPPORTED, &err, says);
    assert_null(fit);
    assert_fails(dp_fit_private(m, data, &noisy, &fit, &err), DP_EUNSUPPORTED, &err,
                 "give it one, such as dp_normal(0, 10)");
    const dp_fit_opts rounds = {.mode = DP_NO_PRIVACY, .method = DP_METHOD_ROUNDS, .seed = 1};
    assert_fails(dp_fit_private(m, data, &rounds, &fit, &err), DP_EUNSUPPORTED, &err, says);
    const dp_plan_opts asked = {.fit = noisy, .records = 1000};
    assert_fails(dp_fit_plan(m, NULL, &asked, &plan, &err), DP_EUNSUPPORTED, &err, says);
    assert_null(plan);
    const dp_svi_opts steps = {.epsilon = 1, .delta = 1e-6, .steps = 2, .clip = 1, .seed = 1};
    assert_fails(dp_svi_new(m, NULL, data, &steps, &svi, &err), DP_EUNSUPPORTED, &err, says);
    assert_null(svi);
    const dp_svi_opts open = {.mode = DP_NO_PRIVACY, .steps = 2, .seed = 1};
    assert_ok(dp_svi_new(m, NULL, data, &open, &svi, &err), err.text);
    dp_svi_free(svi);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void what_draws_from_the_prior_refuses_them_by_name(void **state)
{
    dp_dataset *data = make_data();
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_simulator *sim;
    dp_rng *rng;
    dp_error err = {0};
    (void)state;
    dp_observe(rows, "y", dp_normal_v(dp_num(0), dp_sample(m, "s", 1, dp_flat_positive())));
    assert_ok(dp_simulator_new(m, data, &sim, &err), err.text);
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    assert_fails(dp_simulate_prior(sim, rng, &err), DP_EUNSUPPORTED, &err,
                 "latent 's' has no proper prior (flat_positive)");
    assert_fails(dp_simulate_prior(sim, rng, &err), DP_EUNSUPPORTED, &err,
                 "give it one, such as dp_half_normal(10)");
    dp_simulator_free(sim);
    dp_rng_free(rng);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void they_are_kept_in_files(void **state)
{
    dp_model *m = make_model(), *again;
    dpi_bytes bytes = {0};
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_model_store(m, &bytes, &err), err.text);
    assert_ok(dpi_model_restore(NULL, bytes.at, bytes.n, &again, &err), err.text);
    assert_ptr_equal(again->sites[0].family, &dpi_flat);
    assert_ptr_equal(again->sites[1].family, &dpi_flat_positive);
    dp_model_free(again);
    dpi_bytes_free(&bytes);
    dp_model_free(m);
}

static void one_that_no_record_reads_is_refused_by_name(void **state)
{
    dp_dataset *data = make_data();
    dp_model *m = make_model();
    dp_fit *fit;
    dp_error err = {0};
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 1};
    (void)state;
    (void)dp_sample(m, "idle", 1, dp_flat());
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EINVAL, &err, "'idle'");
    dp_model_free(m);
    m = make_model();
    (void)dp_sample(m, "still", 2, dp_flat_positive());
    dp_error positive = {0};
    assert_fails(dp_fit_private(m, data, &o, &fit, &positive), DP_EINVAL, &positive, "'still'");
    dp_model_free(m);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_density_is_that_of_records_and_of_the_jacobian),
        cmocka_unit_test(a_normal_sample_has_its_known_posterior),
        cmocka_unit_test(members_have_their_own_means),
        cmocka_unit_test(a_posterior_without_a_total_is_told),
        cmocka_unit_test(fits_with_noise_refuse_them_by_name),
        cmocka_unit_test(what_draws_from_the_prior_refuses_them_by_name),
        cmocka_unit_test(they_are_kept_in_files),
        cmocka_unit_test(one_that_no_record_reads_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
