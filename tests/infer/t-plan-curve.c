/* Accuracy over epsilon of made-up plans whose noise is known: a / mu, as one release of that size
 * over what the records tell. */
#include "infer/plan.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

enum { POINTS = 4 };
static const double a = 0.7, without = 0.3;

typedef struct made {
    dp_plan plan;
    dp_plan_number number;
    double noise[POINTS], sd[POINTS];
} made;

/* Noise a / mu at mu of .25, .5, 1 and 2; 1 is asked for. */
static void make(made *m)
{
    memset(m, 0, sizeof *m);
    m->number = (dp_plan_number){.prior_sd = 5, .sd = without};
    m->plan = (dp_plan){.numbers = &m->number,
                        .n = 1,
                        .records = 1000,
                        .delta = 1e-5,
                        .accounted = 1e-5,
                        .mu = 1,
                        .n_points = POINTS};
    for (int k = 0; k < POINTS; k++) {
        const double mu = ldexp(0.25, k);
        m->noise[k] = a / mu;
        m->sd[k] = without * sqrt(1 + m->noise[k] * m->noise[k]);
        m->plan.noises[k] = (dpi_plan_point){.mu = mu, .noise = &m->noise[k]};
        m->plan.points[k] =
            (dp_plan_point){.epsilon = dpi_plan_epsilon(&m->plan, mu), .sd_private = &m->sd[k]};
    }
}

static void noise_and_mu_are_inverse(void **state)
{
    made m;
    (void)state;
    make(&m);
    for (double mu = 0.1; mu < 5; mu *= 1.385) {
        assert_close(dpi_plan_noise(&m.plan, 0, mu), a / mu, 1e-12, 0);
        if (mu < 2)
            assert_close(dpi_plan_mu(&m.plan, 0, a / mu), mu, 1e-12, 0);
    }
    assert_true(isinf(dpi_plan_mu(&m.plan, 0, a / 2.1)));          /* beyond the greatest point */
    assert_close(dpi_plan_mu(&m.plan, 0, 1000), 0.0625, 1e-12, 0); /* a quarter of the least */
}

/* A single point that is luckier than a larger budget is not believed. */
static void noise_does_not_rise_with_the_budget(void **state)
{
    made m;
    (void)state;
    make(&m);
    m.noise[1] = 0.01;
    assert_close(dpi_plan_noise(&m.plan, 0, 0.5), a, 1e-12, 0);
    assert_close(dpi_plan_mu(&m.plan, 0, 0.5), 1.4, 1e-12, 0);
    m.noise[1] = NAN; /* nothing could be fitted */
    assert_close(dpi_plan_noise(&m.plan, 0, 0.5), 2 * a, 1e-12, 0);
    for (int k = 0; k < POINTS; k++)
        m.noise[k] = NAN;
    assert_true(isnan(dpi_plan_noise(&m.plan, 0, 1)));
    assert_true(isinf(dpi_plan_mu(&m.plan, 0, 1)));
}

static void standard_deviations_pass_through_the_points(void **state)
{
    made m;
    (void)state;
    make(&m);
    for (int k = 0; k < POINTS; k++)
        assert_close(dp_plan_sd(&m.plan, 0, m.plan.points[k].epsilon), m.sd[k], 1e-6, 0);
    const double least = m.plan.points[0].epsilon;
    assert_true(dp_plan_sd(&m.plan, 0, least / 2) > m.sd[0]);
    assert_close(dp_plan_sd(&m.plan, 0, least / 1000), 5, 1e-12, 0); /* the prior's */
    assert_true(isnan(dp_plan_sd(&m.plan, 0, 0)) && isnan(dp_plan_sd(&m.plan, 1, 1)));
}

/* sd^2 (1 + a^2 / r) / r = wanted^2 has one root r > 0. */
static void what_suffices_is_the_root(void **state)
{
    made m;
    dp_error err = {0};
    double epsilon, records;
    (void)state;
    make(&m);
    for (double wanted = 0.05; wanted < 2; wanted *= 1.618) {
        const double v = without * without, w = wanted * wanted;
        const double r = (v + sqrt(v * v + 4 * w * v * a * a)) / (2 * w);
        assert_ok(dp_plan_suffices(&m.plan, 0, wanted, &epsilon, &records, &err), err.text);
        assert_close(records, 1000 * r, 1e-6, 0);
        const double mu = wanted > without ? a / sqrt(w / v - 1) : INFINITY;
        if (mu > 2)
            assert_true(isinf(epsilon));
        else if (mu > 0.0625)
            assert_close(epsilon, dpi_plan_epsilon(&m.plan, mu), 1e-9, 0);
    }
    assert_fails(dp_plan_suffices(&m.plan, 1, 1, &epsilon, &records, &err), DP_EDOMAIN, &err,
                 "number 1");
    assert_fails(dp_plan_suffices(&m.plan, 0, 0, &epsilon, &records, &err), DP_EDOMAIN, &err,
                 "sd is 0");
    assert_true(isinf(epsilon) && isinf(records));
}

/* With a prior that knows nothing 2.49 sds; with one that knows all, nothing can be seen. */
static void what_can_be_seen_grows_with_what_the_prior_knows(void **state)
{
    made m;
    (void)state;
    make(&m);
    m.number.prior_sd = 1e6;
    assert_close(dp_plan_visible(&m.plan, 0, 0.3), 0.3 * 2.4864748605243863, 1e-9, 0);
    m.number.prior_sd = 0.6; /* w = .75 */
    assert_close(dp_plan_visible(&m.plan, 0, 0.3),
                 0.3 * (1.6448536269514722 + 0.8416212335729143 * sqrt(0.75)) / 0.75, 1e-12, 0);
    assert_true(isinf(dp_plan_visible(&m.plan, 0, 0.5)));
    assert_true(isinf(dp_plan_visible(&m.plan, 0, 0.61)));
    m.number.visible = NAN; /* a scale */
    assert_true(isnan(dp_plan_visible(&m.plan, 0, 0.3)));
    assert_true(isnan(dp_plan_visible(&m.plan, 1, 0.3)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_and_mu_are_inverse),
        cmocka_unit_test(noise_does_not_rise_with_the_budget),
        cmocka_unit_test(standard_deviations_pass_through_the_points),
        cmocka_unit_test(what_suffices_is_the_root),
        cmocka_unit_test(what_can_be_seen_grows_with_what_the_prior_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
