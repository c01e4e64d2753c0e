/* Draws against moments.  Seeds are fixed, so a passing test does not fail later; the limits are
 * 6.2 standard errors, 6e-10 for one comparison. */
#include <tacit/simulate.h>

#include <math.h>
#include <stdio.h>

#include "tests/lib/check.h"

enum { N = 4000, DRAWS = 20000 };

static double x[N], y[N];

typedef struct world {
    dp_model *m;
    dp_dataset *data;
    dp_simulator *sim;
    dp_rng *rng;
    dp_error err;
} world;

/* s ~ LogNormal(0, 0.5), w ~ N(1, s), y ~ N(w x, 2). */
static void start(world *u)
{
    *u = (world){.m = dp_model_new(), .data = dp_dataset_new(N)};
    for (size_t i = 0; i < N; i++)
        x[i] = (double)(i % 2);
    dp_plate rows = dp_unit_plate(u->m, "rows");
    dp_expr s = dp_sample(u->m, "s", 1, dp_log_normal(0, 0.5));
    dp_expr w = dp_sample(u->m, "w", 1, dp_normal_v(dp_num(1), s));
    dp_observe(rows, "y", dp_normal_v(dp_mul(w, dp_data(rows, "x", 1)), dp_num(2)));
    dp_dataset_real(u->data, "x", 1, x);
    assert_ok(dp_simulator_new(u->m, u->data, &u->sim, &u->err), u->err.text);
    assert_ok(dp_rng_new(11, &u->rng, &u->err), u->err.text);
}

static void end(world *u)
{
    dp_simulator_free(u->sim);
    dp_rng_free(u->rng);
    dp_dataset_free(u->data);
    dp_model_free(u->m);
}

static void prior_draws_follow_the_model(void **state)
{
    (void)state;
    world u;
    double mean = 0, square = 0, log_s = 0;
    start(&u);
    for (int i = 0; i < DRAWS; i++) {
        double w, s;
        assert_ok(dp_simulate_prior(u.sim, u.rng, &u.err), u.err.text);
        assert_ok(dp_simulated(u.sim, "w", 1, &w, &u.err), u.err.text);
        assert_ok(dp_simulated(u.sim, "s", 1, &s, &u.err), u.err.text);
        mean += w / DRAWS;
        square += (w - 1) / s * ((w - 1) / s) / DRAWS;
        log_s += log(s) / DRAWS;
    }
    assert_close(mean, 1, 0, 6.2 * sqrt(exp(0.5) / DRAWS));
    assert_close(square, 1, 0, 6.2 * sqrt(2.0 / DRAWS));
    assert_close(log_s, 0, 0, 6.2 * 0.5 / sqrt(DRAWS));
    end(&u);
}

static void records_follow_the_latents(void **state)
{
    (void)state;
    world u;
    double w, sum[2] = {0};
    start(&u);
    assert_int_equal(dp_simulate_records(u.sim, "y", u.rng, N, y, NULL), DP_ESTATE);
    assert_true(isnan(y[0]));
    assert_ok(dp_simulate_prior(u.sim, u.rng, &u.err), u.err.text);
    assert_ok(dp_simulated(u.sim, "w", 1, &w, &u.err), u.err.text);
    assert_ok(dp_simulate_records(u.sim, "y", u.rng, N, y, &u.err), u.err.text);
    for (size_t i = 0; i < N; i++)
        sum[i % 2] += y[i] / (N / 2);
    assert_close(sum[0], 0, 0, 6.2 * 2 / sqrt(N / 2));
    assert_close(sum[1], w, 0, 6.2 * 2 / sqrt(N / 2));
    end(&u);
}

static void unknown_names_and_sizes_are_errors(void **state)
{
    (void)state;
    world u;
    double value[2];
    start(&u);
    assert_int_equal(dp_simulated(u.sim, "v", 1, value, NULL), DP_ENAME);
    assert_int_equal(dp_simulated(u.sim, "w", 2, value, NULL), DP_ESHAPE);
    assert_int_equal(dp_simulated(u.sim, "w", 1, value, NULL), DP_ESTATE);
    assert_int_equal(dp_simulate_records(u.sim, "w", u.rng, N, y, NULL), DP_ENAME);
    assert_int_equal(dp_simulate_records(u.sim, "y", u.rng, 3, y, NULL), DP_ESHAPE);
    end(&u);
}

/* The simulator is of the model as it was. */
static void a_model_that_grows_is_simulated_as_it_was(void **state)
{
    (void)state;
    world u;
    double w;
    start(&u);
    assert_ok(dp_simulate_prior(u.sim, u.rng, &u.err), u.err.text);
    for (int i = 0; i < 50; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "later%d", i);
        (void)dp_sample(u.m, name, 1, dp_normal(0, 1));
    }
    assert_ok(dp_simulate_prior(u.sim, u.rng, &u.err), u.err.text);
    assert_ok(dp_simulated(u.sim, "w", 1, &w, &u.err), u.err.text);
    assert_true(isfinite(w));
    assert_int_equal(dp_simulated(u.sim, "later3", 1, &w, NULL), DP_ENAME);
    end(&u);
}

/* e^800 trials' odds, or a scale of infinity: a draw that cannot be is no number, and comes
 * back. */
static void values_that_overflow_give_no_number(void **state)
{
    (void)state;
    world u = {.m = dp_model_new(), .data = dp_dataset_new(2)};
    double w, seen[2];
    dp_plate rows = dp_unit_plate(u.m, "rows");
    dp_expr big = dp_exp(dp_sample(u.m, "a", 1, dp_normal(800, 1)));
    dp_expr none = dp_sub(big, big);
    (void)dp_sample(u.m, "w", 1, dp_normal_v(dp_num(0), big));
    dp_observe(rows, "y", dp_binomial_logit(dp_num(100), none));
    assert_ok(dp_simulator_new(u.m, u.data, &u.sim, &u.err), u.err.text);
    assert_ok(dp_rng_new(11, &u.rng, &u.err), u.err.text);
    assert_ok(dp_simulate_prior(u.sim, u.rng, &u.err), u.err.text);
    assert_ok(dp_simulated(u.sim, "w", 1, &w, &u.err), u.err.text);
    assert_true(isnan(w));
    assert_ok(dp_simulate_records(u.sim, "y", u.rng, 2, seen, &u.err), u.err.text);
    assert_true(isnan(seen[0]) && isnan(seen[1]));
    end(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prior_draws_follow_the_model),
        cmocka_unit_test(records_follow_the_latents),
        cmocka_unit_test(unknown_names_and_sizes_are_errors),
        cmocka_unit_test(a_model_that_grows_is_simulated_as_it_was),
        cmocka_unit_test(values_that_overflow_give_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
