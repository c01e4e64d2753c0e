/* Factors of a posterior's covariance, where it is known in closed form and where it is not
 * normal. */
#include "infer/laplace.h"

#include <math.h>

#include <tacit/dist.h>
#include <tacit/model.h>

#include "tests/lib/check.h"

enum { MEMBERS = 5, MOST = 2 + MEMBERS };

typedef struct scene {
    dp_model *model;
    dpi_model_view view;
    dpi_surrogate posterior;
    double z[MOST], spread[MOST], factor[MOST * MOST];
} scene;

/* theta: mu, log tau or nothing, b[5]; K = 3 k on the members' diagonal and k beside it. */
static void make(scene *s, bool known, double k)
{
    dp_error err = {0};
    dp_model *m = s->model = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MEMBERS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 2));
    dp_expr tau = known ? dp_num(0.5) : dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(mu, tau));
    dp_observe(rows, "y", dp_normal_v(dp_pick(b, dp_index(rows, "g", groups)), dp_num(1)));
    assert_ok(dpi_model_view_init(&s->view, m, &err), err.text);
    assert_ok(dpi_surrogate_init(&s->posterior, &s->view, &err), err.text);
    size_t d = s->posterior.d, first = d - MEMBERS;
    assert_int_equal(d, known ? 6 : 7);
    for (size_t i = first; i < d; i++)
        for (size_t j = first; j < d; j++)
            s->posterior.precision[i * d + j] = i == j ? 3 * k : k;
    for (size_t i = 0; i < d; i++) {
        s->z[i] = i < first ? 0.1 : 0.1 + 0.3 * (double)i;
        s->spread[i] = 2;
    }
}

static void find(scene *s)
{
    dp_error err = {0};
    assert_ok(dpi_laplace_factor(&s->posterior, s->z, s->spread, s->factor, &err), err.text);
}

static void end(scene *s)
{
    dpi_surrogate_free(&s->posterior);
    dpi_model_view_free(&s->view);
    dp_model_free(s->model);
}

/* (factor factor')[i][j] */
static double covariance(const scene *s, size_t i, size_t j)
{
    double sum = 0;
    size_t d = s->posterior.d;
    for (size_t e = 0; e < d; e++)
        sum += s->factor[i * d + e] * s->factor[j * d + e];
    return sum;
}

/* Its precision is K, 4 (1 / tau^2) between each member and mu, and 1/4 of mu. */
static void a_normal_posterior_has_its_covariance(void **state)
{
    (void)state;
    scene s;
    make(&s, true, 1);
    find(&s);
    size_t d = s.posterior.d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0; /* precision times covariance */
            for (size_t e = 0; e < d; e++) {
                double prior = i == 0 && e == 0   ? 0.25 + 4 * MEMBERS
                               : i == 0 || e == 0 ? -4
                               : i == e           ? 4
                                                  : 0;
                sum += (s.posterior.precision[i * d + e] + prior) * covariance(&s, e, j);
            }
            assert_close(sum, i == j, 0, 1e-6);
        }
    end(&s);
}

/* With a scale the matrix of second derivatives is not positive: the scale goes by itself, with its
 * own precision 2 sum (b - mu)^2 / tau^2 + 2 tau^2, and the others as if it were known. */
static void a_scale_that_bends_the_wrong_way_goes_by_itself(void **state)
{
    (void)state;
    scene s;
    make(&s, false, 0.05);
    find(&s);
    double square = 0, tau = exp(s.z[1]);
    for (int k = 2; k < MOST; k++)
        square += (s.z[k] - s.z[0]) * (s.z[k] - s.z[0]);
    assert_close(covariance(&s, 1, 1), 1 / (2 * square / (tau * tau) + 2 * tau * tau), 1e-4, 0);
    for (size_t i = 0; i < MOST; i++)
        assert_true(i == 1 || fabs(covariance(&s, i, 1)) < 1e-12);
    double held = 1 / (tau * tau), all = 0.05 * 7; /* of K's rows */
    double mu = 1 / (0.25 + MEMBERS * held * all / (all + held));
    assert_close(covariance(&s, 0, 0), mu, 1e-4, 0);
    end(&s);
}

/* A density that is flat or worse at z leaves the prior's spread. */
static void what_the_prior_curves_wrongly_has_its_spread(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s;
    dp_model *m = s.model = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr far = dp_sample(m, "far", 1, dp_cauchy(0, 1));
    dp_observe(rows, "y", dp_normal_v(far, dp_num(1)));
    assert_ok(dpi_model_view_init(&s.view, m, &err), err.text);
    assert_ok(dpi_surrogate_init(&s.posterior, &s.view, &err), err.text);
    s.z[0] = 7;
    s.spread[0] = 1.5;
    find(&s);
    assert_close(s.factor[0], 1.5, 1e-12, 0);
    s.z[0] = 0.1; /* (2 - 2 z^2) / (1 + z^2)^2 */
    find(&s);
    assert_close(s.factor[0], 1.01 / sqrt(1.98), 1e-5, 0);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_normal_posterior_has_its_covariance),
        cmocka_unit_test(a_scale_that_bends_the_wrong_way_goes_by_itself),
        cmocka_unit_test(what_the_prior_curves_wrongly_has_its_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
