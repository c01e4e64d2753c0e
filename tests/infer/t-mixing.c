/* R-hat and effective sample size against ArviZ 0.17.1 (arviz.rhat with method "rank", arviz.ess
 * with method "bulk"), and by what they mean.  Where pairs
 * do not end before the last lag, which is none of these, ArviZ leaves out the last. */
#include "infer/mixing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <tacit/random.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

typedef struct scene {
    size_t chains, count;
    double rho, shift, scale;
    bool tie;
    double r_hat, ess; /* r_hat NAN: ArviZ has none for a single chain */
} scene;

/* clang-format off */
static const scene scenes[] = {
    {4, 100,  0.0, 0.0, 0.0, false, 1.016112327101, 408.807493},
    {4, 101,  0.2, 0.0, 0.0, false, 1.034144766120, 232.772562},
    {4, 201,  0.9, 0.0, 0.0, false, 1.103743952324,  40.875823},
    {2,  61,  0.5, 0.2, 0.0, false, 1.043383638728,  48.596167},
    {4, 401,  0.8, 0.0, 0.0, false, 1.007374274335, 211.137443},
    {3, 132,  0.4, 0.0, 0.0, false, 1.039964207235, 104.333083}, /* pairs rise */
    {3,  80,  0.3, 0.4, 0.0, false, 1.033501569935, 131.854527},
    {2,  60, -0.6, 0.0, 1.5, false, 1.118505627878, 249.501750}, /* tails alone differ */
    {4,  50,  0.5, 0.0, 0.0, true,  1.060702016919,  71.997295},
    {1,  40,  0.2, 0.0, 0.0, false, NAN,             24.469514},
};
/* clang-format on */

static double *room(size_t size)
{
    double *made = calloc(size, sizeof *made);
    assert_non_null(made);
    return made;
}

static double *draws_of(const scene *s)
{
    double *draws = room(s->chains * s->count);
    for (size_t c = 0; c < s->chains; c++) {
        double last = 0;
        for (size_t t = 0; t < s->count; t++) {
            last = s->rho * last + sin(2.1 * (double)c + 0.37 * (double)t * (double)t);
            double value = (last + s->shift * (double)c) * (1 + s->scale * (double)c);
            draws[c * s->count + t] = s->tie ? floor(4 * value) / 4 : value;
        }
    }
    return draws;
}

static void it_is_that_of_arviz(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        dp_error err = {0};
        dpi_mixing mixing;
        double *draws = draws_of(&scenes[i]);
        assert_ok(dpi_mixing_of(scenes[i].chains, scenes[i].count, 1, draws, &mixing, &err),
                  err.text);
        if (!isnan(scenes[i].r_hat))
            assert_close(mixing.r_hat, scenes[i].r_hat, 1e-9, 0);
        assert_close(mixing.ess, scenes[i].ess, 1e-6, 0);
        free(draws);
    }
}

/* An autoregression of coefficient rho has (1 - rho) / (1 + rho) effective draws for one. */
static void an_autoregression_has_the_size_that_theory_gives(void **state)
{
    (void)state;
    enum { CHAINS = 4, COUNT = 20000 };
    dp_error err = {0};
    dp_rng *rng;
    assert_ok(dp_rng_new(1, &rng, &err), err.text);
    double *draws = room(CHAINS * COUNT), rhos[] = {-0.5, 0, 0.5, 0.9};
    for (int i = 0; i < 4; i++) {
        dpi_mixing mixing;
        dp_rng_normal(rng, CHAINS * COUNT, draws);
        for (size_t t = 0; t < CHAINS * COUNT; t++)
            draws[t] = t % COUNT == 0
                           ? draws[t]
                           : rhos[i] * draws[t - 1] + sqrt(1 - rhos[i] * rhos[i]) * draws[t];
        assert_ok(dpi_mixing_of(CHAINS, COUNT, 1, draws, &mixing, &err), err.text);
        assert_close(mixing.ess, CHAINS * COUNT * (1 - rhos[i]) / (1 + rhos[i]), 0.25, 0);
        assert_true(mixing.r_hat < 1.01);
    }
    dp_rng_free(rng);
    free(draws);
}

static void the_worst_coordinate_counts(void **state)
{
    (void)state;
    enum { ALL = 4 * 50 };
    double both[ALL][2], *good = draws_of(&scenes[8]);
    dpi_mixing alone, mixing;
    dp_error err = {0};
    assert_ok(dpi_mixing_of(4, 50, 1, good, &alone, &err), err.text);
    for (int which = 0; which < 2; which++) {
        for (size_t t = 0; t < ALL; t++) {
            both[t][which] = good[t];
            both[t][1 - which] = good[t] + 3 * (double)(t / 50); /* chains apart */
        }
        assert_ok(dpi_mixing_of(4, 50, 2, both[0], &mixing, &err), err.text);
        assert_true(mixing.r_hat > 1.5 && mixing.ess < alone.ess / 2);
    }
    free(good);
}

static void where_nothing_can_be_said_it_says_the_worst(void **state)
{
    (void)state;
    double still[40] = {0};
    dp_error err = {0};
    dpi_mixing mixing = {1, 1};
    assert_ok(dpi_mixing_of(4, 10, 1, still, &mixing, &err), err.text);
    assert_true(mixing.r_hat == INFINITY && mixing.ess == 0);
    for (int i = 0; i < 40; i++)
        still[i] = sin(i);
    mixing = (dpi_mixing){1, 1};
    assert_ok(dpi_mixing_of(13, 3, 1, still, &mixing, &err), err.text);
    assert_true(mixing.r_hat == INFINITY && mixing.ess == 0);
    assert_ok(dpi_mixing_of(10, 4, 1, still, &mixing, &err), err.text);
    assert_true(mixing.r_hat < 2 && mixing.ess > 1);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    double *draws = draws_of(&scenes[0]);
    size_t before = faulty_live(), k = 0;
    for (bool failed = true; failed;) {
        dp_error err = {0};
        dpi_mixing mixing = {1, 1};
        faulty_fail(++k);
        dp_status status = dpi_mixing_of(4, 100, 1, draws, &mixing, &err);
        failed = faulty_failed();
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_true(!failed || (mixing.r_hat == INFINITY && mixing.ess == 0));
        assert_int_equal(faulty_live(), before);
    }
    faulty_fail(0);
    assert_true(k > 1);
    free(draws);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_that_of_arviz),
        cmocka_unit_test(an_autoregression_has_the_size_that_theory_gives),
        cmocka_unit_test(the_worst_coordinate_counts),
        cmocka_unit_test(where_nothing_can_be_said_it_says_the_worst),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
