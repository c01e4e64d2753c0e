/* What is learnt of a covariance, from draws of a known one. */
#include "infer/whiten.h"

#include <math.h>
#include <stdlib.h>

#include <tacit/random.h>

#include "tests/lib/check.h"

/* Draws x = scale_i (u_i + tie u_0) with lasting `stay` from one to the next; learns from them. */
static void learn(size_t chains, size_t draws, size_t n, double tie, double stay, double *factor)
{
    dp_error err = {0};
    dp_rng *rng;
    double *x = calloc(chains * draws * n, sizeof *x), *scratch = calloc(n * n, sizeof *scratch);
    assert_non_null(x);
    assert_non_null(scratch);
    assert_ok(dp_rng_new(2, &rng, &err), err.text);
    dp_rng_normal(rng, chains * draws * n, x);
    for (size_t t = 1; t < chains * draws; t++)
        for (size_t i = 0; t % draws > 0 && i < n; i++)
            x[t * n + i] = stay * x[(t - 1) * n + i] + sqrt(1 - stay * stay) * x[t * n + i];
    for (size_t t = 0; t < chains * draws; t++) {
        for (size_t i = n - 1; i > 0; i--)
            x[t * n + i] = pow(10, (double)(i % 3)) * (x[t * n + i] + tie * x[t * n]);
        for (size_t i = 0; i < n; i++)
            x[t * n + i] += 1000 * (double)(t / draws); /* chains apart */
    }
    dpi_whiten_learn(&(dpi_hmc_window){chains, draws, n, x}, scratch, factor);
    dp_rng_free(rng);
    free(x);
    free(scratch);
}

static double covariance(size_t n, const double *factor, size_t i, size_t j)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += factor[i * n + k] * factor[j * n + k];
    return sum;
}

/* 10000 draws: 6.2 standard errors are 9 % of a variance.  The factor before is that of z. */
static void the_covariance_is_that_within_chains(void **state)
{
    (void)state;
    enum { N = 5 };
    double factor[N * N] = {2, 0, 0, 0, 0, 1}; /* and below, ones on the diagonal */
    for (size_t i = 1; i < N; i++)
        factor[i * N + i] = 1;
    learn(4, 2500, N, 0.7, 0, factor);
    double before[N][N] = {{2}, {1, 1}, {0, 0, 1}, {0, 0, 0, 1}, {0, 0, 0, 0, 1}};
    double tie[N] = {1, 0.7, 0.7, 0.7, 0.7}, x[N][N], z[N][N] = {{0}};
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            x[i][j] = pow(10, (double)(i % 3 + j % 3)) * (tie[i] * tie[j] + (i == j && i > 0));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++)
                for (size_t l = 0; l < N; l++)
                    z[i][j] += before[i][k] * x[k][l] * before[j][l];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            assert_close(covariance(N, factor, i, j), z[i][j], 0, 0.09 * sqrt(z[i][i] * z[j][j]));
            assert_true(j <= i || factor[i * N + j] == 0);
        }
}

/* The more so the fewer they are; draws that follow each other closely are few. */
static void few_draws_are_shrunk_to_what_was_known(void **state)
{
    (void)state;
    enum { N = 40 };
    const struct {
        size_t draws;
        double tie, stay, least, most; /* of the largest correlation that is left */
    } cases[] = {
        {20, 0, 0, 0, 0.2}, {20, 0, 0.9, 0, 0.25}, {20, 3, 0, 0.8, 1}, {2000, 0, 0, 0, 0.1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double *factor = calloc(N * N, sizeof *factor), most = 0;
        assert_non_null(factor);
        for (size_t i = 0; i < N; i++)
            factor[i * N + i] = 1;
        learn(1, cases[c].draws, N, cases[c].tie, cases[c].stay, factor);
        for (size_t i = 1; i < N; i++) {
            assert_true(factor[i * N + i] > 0.02 * pow(10, (double)(i % 3)));
            for (size_t j = 1; j < i; j++)
                most =
                    fmax(most, fabs(covariance(N, factor, i, j)) /
                                   sqrt(covariance(N, factor, i, i) * covariance(N, factor, j, j)));
        }
        if (!(most >= cases[c].least && most <= cases[c].most))
            print_error("case %zu: %g\n", c, most);
        assert_true(most >= cases[c].least && most <= cases[c].most);
        free(factor);
    }
}

static void what_has_not_moved_keeps_its_scale(void **state)
{
    (void)state;
    double x[10] = {0}, scratch[4], factor[4] = {3, 0, 1, 2};
    for (size_t t = 0; t < 5; t++)
        x[2 * t + 1] = (double)(t % 2);
    dpi_whiten_learn(&(dpi_hmc_window){1, 5, 2, x}, scratch, factor);
    assert_true(factor[0] == 3 && factor[2] == 1 && factor[1] == 0);
    assert_close(factor[3], 2 * sqrt(0.3), 1e-14, 0);
    dpi_whiten_learn(&(dpi_hmc_window){1, 3, 2, x}, scratch, factor); /* too few to say anything */
    assert_close(factor[3], 2 * sqrt(0.3), 1e-14, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_covariance_is_that_within_chains),
        cmocka_unit_test(few_draws_are_shrunk_to_what_was_known),
        cmocka_unit_test(what_has_not_moved_keeps_its_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
