#include "random/gsl.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "tests/random/chi.h"

static dp_rng *rng;

static int setup(void **state)
{
    (void)state;
    return dp_rng_new(61, &rng, NULL) != DP_OK;
}

static int teardown(void **state)
{
    (void)state;
    dp_rng_free(rng);
    return 0;
}

static void numbers_are_those_of_the_source(void **state)
{
    (void)state;
    gsl_rng gsl = dpi_rng_gsl(rng);
    double u;
    dpi_rng_reseed(rng, 1);
    double from_gsl = gsl_rng_uniform(&gsl);
    unsigned long word = gsl_rng_get(&gsl);
    gsl_rng_set(&gsl, 1);
    dp_rng_uniform(rng, 1, &u);
    assert_true(u == from_gsl);
    assert_true(word == (unsigned long)dpi_stream_u64(dpi_rng_stream(rng)));
    assert_string_equal(gsl_rng_name(&gsl), "tacit");
    assert_int_equal(gsl_rng_size(&gsl), 0);
}

static void continuous_variates_have_their_distributions(void **state)
{
    (void)state;
    gsl_rng gsl = dpi_rng_gsl(rng);
    size_t gamma[100] = {0}, beta[100] = {0}, normal[100] = {0}, t[100] = {0};
    dpi_rng_reseed(rng, 62);
    for (int i = 0; i < 200000; i++) {
        gamma[(int)(gsl_cdf_gamma_P(gsl_ran_gamma(&gsl, 0.7, 2.1), 0.7, 2.1) * 100)]++;
        beta[(int)(gsl_cdf_beta_P(gsl_ran_beta(&gsl, 2.3, 0.9), 2.3, 0.9) * 100)]++;
        normal[(int)(gsl_cdf_ugaussian_P(gsl_ran_gaussian_ziggurat(&gsl, 1)) * 100)]++;
        t[(int)(gsl_cdf_tdist_P(gsl_ran_tdist(&gsl, 3.2), 3.2) * 100)]++;
    }
    assert_plausible(chi_square_p(100, gamma, NULL));
    assert_plausible(chi_square_p(100, beta, NULL));
    assert_plausible(chi_square_p(100, normal, NULL));
    assert_plausible(chi_square_p(100, t, NULL));
}

static void discrete_variates_have_their_distributions(void **state)
{
    (void)state;
    gsl_rng gsl = dpi_rng_gsl(rng);
    size_t poisson[12] = {0}, binomial[8] = {0}, integer[7] = {0};
    double poisson_p[12], binomial_p[8];
    dpi_rng_reseed(rng, 63);
    for (int i = 0; i < 200000; i++) {
        unsigned k = gsl_ran_poisson(&gsl, 3.1);
        poisson[k > 11 ? 11 : k]++;
        binomial[gsl_ran_binomial(&gsl, 0.4, 7)]++;
        integer[gsl_rng_uniform_int(&gsl, 7)]++;
    }
    for (unsigned k = 0; k < 12; k++)
        poisson_p[k] = k < 11 ? gsl_ran_poisson_pdf(k, 3.1) : gsl_cdf_poisson_Q(10, 3.1);
    for (unsigned k = 0; k < 8; k++)
        binomial_p[k] = gsl_ran_binomial_pdf(k, 0.4, 7);
    assert_plausible(chi_square_p(12, poisson, poisson_p));
    assert_plausible(chi_square_p(8, binomial, binomial_p));
    assert_plausible(chi_square_p(7, integer, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_source),
        cmocka_unit_test(continuous_variates_have_their_distributions),
        cmocka_unit_test(discrete_variates_have_their_distributions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
