/* Models of the guide that write their densities out say what they should: beside sums over all
 * values of what is not seen, and beside covariances. */
#include <math.h>
#include <string.h>

#include "tests/language/guide.h"
#include "tests/lib/check.h"

enum { N = 6 };
static const double pi = 3.14159265358979323846;

typedef struct scene {
    dp_fit *fit;
    dp_dataset *data;
    double density[N];
} scene;

static double number(size_t i)
{
    return sin(3.1 * (double)i + 0.4) * 1.3;
}

static double normal(double x, double loc, double scale)
{
    const double z = (x - loc) / scale;
    return exp(-0.5 * z * z) / (scale * sqrt(2 * pi));
}

static const guide_model *named(const char *name)
{
    for (size_t k = 0; k < n_guide_discrete; k++)
        if (strcmp(guide_discrete[k].name, name) == 0)
            return &guide_discrete[k];
    for (size_t k = 0; k < n_guide_dynamics; k++)
        if (strcmp(guide_dynamics[k].name, name) == 0)
            return &guide_dynamics[k];
    fail_msg("the guide has no model %s", name);
    return NULL;
}

/* A few steps from the start, and the log densities of the records there. */
static scene fit_of(const char *name, dp_dataset *data)
{
    scene s = {.data = data};
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = dp_model_new();
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 5, .seed = 1};
    const dp_given given = {.data = data};
    named(name)->write(m);
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    dp_model_free(m);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &s.fit, &err), err.text);
    dp_svi_free(svi);
    assert_ok(dp_fit_log_density(s.fit, &given, N, s.density, &err), err.text);
    return s;
}

static void value(const scene *s, const char *name, size_t n, double *values)
{
    dp_error err = {0};
    assert_ok(dp_fit_evaluate(s->fit, dp_fit_expr(s->fit, name), NULL, n, values, &err), err.text);
}

static void leave(scene *s)
{
    dp_fit_free(s->fit);
    dp_dataset_free(s->data);
}

/* ---- sums over what is not seen ---- */

static void a_change_may_come_after_each_time(void **state)
{
    (void)state;
    double y[N][T], early, late;
    for (int i = 0; i < N; i++)
        for (int t = 0; t < T; t++)
            y[i][t] = (i * 5 + t * t) % 4;
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", T, &y[0][0]);
    scene s = fit_of("change_point", data);
    value(&s, "early", 1, &early);
    value(&s, "late", 1, &late);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int last = 0; last < T; last++) {
            double p = 1. / T;
            for (int t = 0; t < T; t++) {
                const double rate = t <= last ? early : late;
                p *= exp(-rate) * pow(rate, y[i][t]) / tgamma(y[i][t] + 1);
            }
            sum += p;
        }
        assert_close(s.density[i], log(sum), 1e-11, 0);
    }
    leave(&s);
}

/* The chance of a history: an animal that is seen for the first time at 0 dies before one of the
 * times after that at which it was last seen, or lives on. */
static void histories_end_by_death_or_later(void **state)
{
    (void)state;
    double y[N][T], phi, p;
    for (int i = 0; i < N; i++)
        for (int t = 0; t < T; t++)
            y[i][t] = t <= i && (i * 3 + t) % 4 != 1;
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "seen", T, &y[0][0]);
    scene s = fit_of("capture_recapture", data);
    value(&s, "phi", 1, &phi);
    value(&s, "p", 1, &p);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int times = 1; times <= T; times++) { /* at which it is alive */
            double one = pow(phi, times - 1) * (times < T ? 1 - phi : 1);
            for (int t = 0; t < T; t++)
                one *= t < times ? (y[i][t] > 0 ? p : 1 - p) : (y[i][t] > 0 ? 0 : 1);
            sum += one;
        }
        assert_close(s.density[i], log(sum), 1e-11, 0);
    }
    leave(&s);
}

static void groups_are_of_one_kind(void **state)
{
    (void)state;
    double y[N][ITEMS], w[K], mu[K];
    for (int i = 0; i < N * ITEMS; i++)
        (&y[0][0])[i] = number((size_t)i);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", ITEMS, &y[0][0]);
    scene s = fit_of("kinds_of_groups", data);
    value(&s, "w", K, w);
    value(&s, "mu", K, mu);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++) {
            double one = w[k];
            for (int j = 0; j < ITEMS; j++)
                one *= normal(y[i][j], mu[k], 1);
            sum += one;
        }
        assert_close(s.density[i], log(sum), 1e-11, 0);
    }
    leave(&s);
}

/* ---- loops ---- */

/* A series of a local level is normal, with covariance 10 + q^2 min(s, t) and r^2 more on the
 * diagonal; its density by elimination. */
static void the_filter_is_the_whole_covariance(void **state)
{
    (void)state;
    double y[N][T], q, r;
    for (int i = 0; i < N * T; i++)
        (&y[0][0])[i] = number((size_t)i);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", T, &y[0][0]);
    scene s = fit_of("local_level", data);
    value(&s, "q", 1, &q);
    value(&s, "r", 1, &r);
    for (int i = 0; i < N; i++) {
        double c[T][T], z[T], log_density = 0;
        for (int a = 0; a < T; a++) {
            z[a] = y[i][a];
            for (int b = 0; b < T; b++)
                c[a][b] = 10 + q * q * (a < b ? a : b) + (a == b ? r * r : 0);
        }
        for (int a = 0; a < T; a++) {
            log_density += log(normal(z[a], 0, sqrt(c[a][a])));
            for (int b = a + 1; b < T; b++) {
                const double times = c[b][a] / c[a][a];
                z[b] -= times * z[a];
                for (int d = a; d < T; d++)
                    c[b][d] -= times * c[a][d];
            }
        }
        assert_close(s.density[i], log_density, 1e-11, 0);
    }
    leave(&s);
}

/* y = most / (1 + (most / start - 1) e^(-rate t)); the rule's error is of the order of the step to
 * the fourth. */
static void growth_is_that_of_the_equation(void **state)
{
    (void)state;
    double y[N][T], start[N], rate, most, sd;
    for (int i = 0; i < N; i++) {
        start[i] = 0.2 + 0.1 * i;
        for (int t = 0; t < T; t++)
            y[i][t] = 0.5 + 0.3 * number((size_t)(i * T + t));
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "y", T, &y[0][0]);
    dp_dataset_real(data, "start", 1, start);
    scene s = fit_of("logistic_growth", data);
    value(&s, "rate", 1, &rate);
    value(&s, "most", 1, &most);
    value(&s, "s", 1, &sd);
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int t = 0; t < T; t++) {
            const double grown = exp(-rate * 0.25 * (t + 1));
            sum += log(normal(y[i][t], most / (1 + (most / start[i] - 1) * grown), sd));
        }
        assert_close(s.density[i], sum, 0, 1e-3);
    }
    leave(&s);
}

/* With the predictor both numbers have a density, without it y has that of an integral over x. */
static void a_missing_predictor_is_integrated_out(void **state)
{
    (void)state;
    double x[N], y[N], known[N], a, b, mu, sd, tau;
    for (int i = 0; i < N; i++) {
        x[i] = number((size_t)i);
        y[i] = number((size_t)i + 50);
        known[i] = i % 2;
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_real(data, "known", 1, known);
    scene s = fit_of("missing_predictor", data);
    value(&s, "a", 1, &a);
    value(&s, "b", 1, &b);
    value(&s, "mu", 1, &mu);
    value(&s, "s", 1, &sd);
    value(&s, "tau", 1, &tau);
    for (int i = 0; i < N; i++) {
        double p = normal(x[i], mu, tau) * normal(y[i], a + b * x[i], sd);
        const double step = tau / 50;
        if (known[i] == 0) {
            p = 0;
            for (int k = -500; k <= 500; k++)
                p += step * normal(k * step, 0, tau) * normal(y[i], a + b * (mu + k * step), sd);
        }
        assert_close(s.density[i], log(p), 1e-10, 0);
    }
    leave(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_may_come_after_each_time),
        cmocka_unit_test(histories_end_by_death_or_later),
        cmocka_unit_test(groups_are_of_one_kind),
        cmocka_unit_test(the_filter_is_the_whole_covariance),
        cmocka_unit_test(growth_is_that_of_the_equation),
        cmocka_unit_test(a_missing_predictor_is_integrated_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
