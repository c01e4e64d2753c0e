/* The posterior itself: its gradient, its moments where they are known, and what is said of it. */
#include "infer/exact.h"

#include <math.h>
#include <string.h>

#include <tacit/model.h>

#include "infer/mode.h"
#include "infer/posterior.h"
#include "model/loose.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 60, GROUPS = 4 };

typedef struct records {
    double x[N * 2], y[N];
    int32_t g[N];
} records;

/* Numbers of no pattern; the groups' means are 2 sin(g). */
static dp_dataset *make_data(records *r, size_t n)
{
    for (size_t i = 0; i < N; i++) {
        r->g[i] = (int32_t)(i * i % GROUPS);
        r->x[2 * i] = sin(3.7 * (double)i);
        r->x[2 * i + 1] = cos(1.3 * (double)(i * i));
        r->y[i] = 1 + r->x[2 * i] - 0.5 * r->x[2 * i + 1] + 2 * sin(r->g[i]) +
                  0.7 * sin(11.9 * (double)i + 1);
    }
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", 2, r->x);
    dp_dataset_real(data, "y", 1, r->y);
    dp_dataset_index(data, "g", r->g);
    return data;
}

/* Of everything that a posterior may have: a plate, its scale, a simplex, products of latents
 * before records are met, several observations. */
static dp_model *make_rich(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr x = dp_data(rows, "x", 2), g = dp_index(rows, "g", groups);
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(2));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal_v(dp_num(0), tau));
    dp_expr w = dp_sample(m, "w", 2, dp_normal(0, 3));
    dp_expr share = dp_sample(m, "share", 3, dp_dirichlet(2));
    dp_expr sigma = dp_sample(m, "sigma", 1, dp_gamma(2, 1));
    dp_expr slope = dp_mul(w, dp_exp(dp_slice(share, 0, 1)));
    dp_expr mean = dp_add(dp_dot(x, slope), dp_pick(b, g));
    dp_observe(rows, "y", dp_student_t_v(dp_num(4), mean, sigma));
    dp_observe(rows, "g", dp_categorical_logit(dp_concat(share, dp_slice(w, 0, 1))));
    return m;
}

static double at(dpi_evaluator *e, const double *z)
{
    double gradient[32];
    return dpi_evaluate(e, z, gradient);
}

/* The rich model's posterior, with all numbers of b but one in units of tau, or none. */
static void make_posterior(dpi_posterior *p, dpi_evaluator *e, const dp_model *m,
                           const dp_dataset *data, bool in_units)
{
    static const double mask[2][GROUPS] = {{0, 0, 0, 0}, {1, 0, 1, 1}};
    const double *loose[16] = {NULL};
    dp_error err = {0};
    assert_true(m->n_sites <= 16);
    for (size_t s = 0; s < m->n_sites; s++) {
        bool may = dpi_may_loosen(m, &m->sites[s]);
        assert_int_equal(may, strcmp(m->sites[s].name, "b") == 0);
        loose[s] = may ? mask[in_units] : NULL;
    }
    assert_ok(dpi_posterior_init(p, m, data, loose, NULL, &err), err.text);
    assert_ok(dpi_evaluator_init(e, p, &err), err.text);
}

static void free_posterior(dpi_posterior *p, dpi_evaluator *e)
{
    dpi_evaluator_free(e);
    dpi_posterior_free(p);
}

/* By differences, with members in units of their scale and as they are. */
static void the_gradient_is_that_of_the_density(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = make_rich();
    dpi_posterior p;
    dpi_evaluator e;
    double z[32], gradient[32];
    (void)state;
    for (int in_units = 0; in_units < 2; in_units++) {
        make_posterior(&p, &e, m, data, in_units);
        size_t d = p.objective.n_theta;
        assert_int_equal(d, 1 + GROUPS + 2 + 2 + 1);
        for (size_t i = 0; i < d; i++)
            z[i] = 0.4 * sin(2.3 * (double)i + 1);
        (void)dpi_evaluate(&e, z, gradient);
        for (size_t i = 0; i < d; i++) {
            double keep = z[i], h = 1e-5;
            z[i] = keep + h;
            double up = at(&e, z);
            z[i] = keep - h;
            double down = at(&e, z);
            z[i] = keep;
            assert_close(gradient[i], (up - down) / (2 * h), 1e-7, 1e-6);
        }
        free_posterior(&p, &e);
    }
    dp_model_free(m);
    dp_dataset_free(data);
}

/* In units of the scale the density has the volume of that: at the same place the two differ by
 * members times log tau. */
static void units_of_the_scale_change_the_volume_alone(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = make_rich();
    dpi_posterior p[2];
    dpi_evaluator e[2];
    double z[32], tied[32], gradient[32];
    (void)state;
    for (int in_units = 0; in_units < 2; in_units++)
        make_posterior(&p[in_units], &e[in_units], m, data, in_units);
    for (size_t i = 0; i < p[0].objective.n_theta; i++)
        z[i] = 0.3 * cos((double)i);
    dpi_evaluator_tie(&e[1], z, tied);
    for (size_t k = 0; k < GROUPS; k++)
        assert_close(tied[1 + k], k == 1 ? z[2] : exp(z[0]) * z[1 + k], 1e-14, 0);
    assert_close(dpi_evaluate(&e[1], z, gradient) - dpi_evaluate(&e[0], tied, gradient),
                 (GROUPS - 1) * z[0], 0, 1e-10);
    for (int in_units = 0; in_units < 2; in_units++)
        free_posterior(&p[in_units], &e[in_units]);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* -(e^z - z), which is -10^130 where the climb begins, and -1 at its top, 0. */
static double steep(void *of, const double *z, double *gradient)
{
    (void)of;
    gradient[0] = 1 - exp(z[0]);
    return z[0] - exp(z[0]);
}

static void a_climb_from_far_below_reaches_the_top(void **state)
{
    const dpi_target target = {.n = 1, .log_density = steep};
    dp_error err = {0};
    double z = 300, top;
    (void)state;
    assert_ok(dpi_climb(&target, 1000, &z, &top, &err), err.text);
    assert_close(z, 0, 0, 1e-3);
    assert_close(top, -1, 0, 1e-6);
}

/* y ~ N(mu, 1.5), mu ~ N(1, 2): a normal posterior.  Of 40000 draws with at least 4000 effective
 * ones the mean is off by 5.998 standard errors or more with probability 2e-9 / 2, and the seed is
 * fixed. */
static void a_normal_posterior_has_its_moments(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = dp_model_new();
    dp_fit *fit;
    dp_error err = {0};
    dp_summary mu;
    double sum = 0, precision = 1 / 4.0 + N / 2.25;
    (void)state;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "y", dp_normal_v(dp_sample(m, "mu", 1, dp_normal(1, 2)), dp_num(1.5)));
    for (size_t i = 0; i < N; i++)
        sum += r.y[i];
    double mean = (1 / 4.0 + sum / 2.25) / precision, sd = 1 / sqrt(precision);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 40000, .seed = 5};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "mu", 1, &mu, &err), err.text);
    assert_close(mu.mean, mean, 0, 6 * sd / sqrt(4000));
    assert_close(mu.sd, sd, 6 / sqrt(2 * 4000.0), 0);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void any_number_of_threads_gives_the_same(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = make_rich();
    dp_summary b[2][GROUPS];
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const dp_fit_opts o = {
            .mode = DP_NO_PRIVACY, .draws = 400, .seed = 3, .threads = 1 + 2 * k};
        dp_fit *fit;
        dp_error err = {0};
        assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
        assert_ok(dp_fit_summary(fit, "b", GROUPS, b[k], &err), err.text);
        dp_fit_free(fit);
    }
    for (size_t g = 0; g < GROUPS; g++) {
        assert_true(b[0][g].mean == b[1][g].mean);
        assert_true(b[0][g].sd == b[1][g].sd);
    }
    dp_model_free(m);
    dp_dataset_free(data);
}

static const dp_diagnostic *find(const dp_fit *fit, const char *name)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(d[k].name, name) == 0)
            return &d[k];
    fail_msg("there is no check '%s'", name);
    return NULL;
}

/* y = |a| + noise leaves the sign of a open: two tops of one height. */
static void several_modes_are_told(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    (void)state;
    for (int two = 0; two < 2; two++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 3));
        dp_observe(rows, "y", dp_normal_v(two ? dp_square(a) : a, dp_num(0.2)));
        dp_fit *fit;
        dp_error err = {0};
        const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 400, .seed = 4};
        assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
        assert_int_equal(find(fit, "sampling")->bad, two);
        dp_fit_free(fit);
        dp_model_free(m);
    }
    dp_dataset_free(data);
}

/* a b is known to .002, a / b by the prior alone: a thin and long hyperbola with two branches. */
static void chains_that_move_slowly_are_told(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_cauchy(0, 1e3)),
            b = dp_sample(m, "b", 1, dp_cauchy(0, 1e3));
    dp_observe(rows, "y", dp_normal_v(dp_mul(a, b), dp_num(0.01)));
    dp_fit *fit;
    dp_error err = {0};
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 400, .seed = 4};
    (void)state;
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_true(find(fit, "sampling")->bad);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* Eight schools (Rubin 1981), whose spread tau is most probably small while the top of the density
 * has a large one, at which records tell most of each school.  The reference is posteriordb's, of
 * 10000 draws; of 400 effective ones the mean is off by six standard errors with probability
 * 2e-9. */
static void a_scale_that_is_small_away_from_the_top_is_drawn(void **state)
{
    enum { SCHOOLS = 8 };
    static const double y[SCHOOLS] = {28, 8, -3, 7, -1, 1, 18, 12};
    static const double sigma[SCHOOLS] = {15, 10, 16, 11, 9, 11, 10, 18};
    static const int32_t school[SCHOOLS] = {0, 1, 2, 3, 4, 5, 6, 7};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(SCHOOLS);
    dp_plate rows = dp_unit_plate(m, "rows"), schools = dp_plate_new(m, "schools", SCHOOLS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_cauchy(5));
    dp_expr theta = dp_sample_in(schools, "theta", 1, dp_normal_v(mu, tau));
    dp_expr mine = dp_pick(theta, dp_index(rows, "school", schools));
    dp_summary found;
    dp_fit *fit;
    dp_error err = {0};
    (void)state;
    dp_observe(rows, "y", dp_normal_v(mine, dp_data(rows, "sigma", 1)));
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_real(data, "sigma", 1, sigma);
    dp_dataset_index(data, "school", school);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 1};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_false(find(fit, "sampling")->bad);
    assert_false(find(fit, "divergences")->bad);
    assert_ok(dp_fit_summary(fit, "tau", 1, &found, &err), err.text);
    assert_close(found.mean, 3.602, 0, 6 * 3.2 / sqrt(400));
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

static void what_it_is_not_for_is_refused_by_name_or_left_to_others(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = dp_model_new();
    dp_fit *fit;
    dp_error err = {0};
    (void)state;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_param(m, "w", 2, 0);
    dp_observe(rows, "y", dp_normal_v(dp_dot(dp_data(rows, "x", 2), w), dp_num(1)));
    dp_fit_opts o = {.mode = DP_NO_PRIVACY, .method = DP_METHOD_EXACT, .seed = 4};
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EUNSUPPORTED, &err, "'w'");
    o.method = DP_METHOD_CHOSEN;
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_true(find(fit, "method")->bad);
    dp_fit_free(fit);
    o = (dp_fit_opts){.epsilon = 1, .delta = 1e-6, .method = DP_METHOD_EXACT};
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EPRIVACY, &err, "public");
    o = (dp_fit_opts){.mode = DP_NO_PRIVACY, .method = (dp_method)7};
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EINVAL, &err, "method");
    dp_model_free(m);
    dp_dataset_free(data);
}

/* One record leaves a ridge: with the mean at the outcome, scales to 0 are all as likely.  Chains
 * begin where the density is a number. */
static void one_record_and_two_have_an_answer(void **state)
{
    static records r;
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        dp_dataset *data = make_data(&r, n);
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 3));
        dp_expr s = dp_sample(m, "s", 1, dp_half_normal(1));
        dp_observe(rows, "y", dp_normal_v(a, s));
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 400, .seed = seed};
            dp_fit *fit = NULL;
            dp_error err = {0};
            assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
            assert_non_null(find(fit, "sampling"));
            dp_fit_free(fit);
        }
        dp_model_free(m);
        dp_dataset_free(data);
    }
}

static void no_records_are_told_of(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, 0);
    dp_model *m = make_rich();
    dp_fit *fit;
    dp_error err = {0};
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY};
    (void)state;
    assert_fails(dp_fit_private(m, data, &o, &fit, &err), DP_EDATA, &err, "no records");
    dp_model_free(m);
    dp_dataset_free(data);
}

/* A fit without privacy says so, and has no noise. */
static void says_that_it_is_not_private(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r, N);
    dp_model *m = make_rich();
    dp_fit *fit;
    dp_privacy p;
    dp_error err = {0};
    size_t n;
    (void)state;
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 400, .seed = 4};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    dp_fit_privacy(fit, &p);
    assert_false(p.is_private);
    assert_true(isinf(p.epsilon));
    (void)dp_fit_phases(fit, &n);
    assert_int_equal(n, 0);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

static void every_failing_allocation_is_survived(void **state)
{
    static records r;
    dp_model *m = dp_model_new();
    dp_dataset *data = make_data(&r, 8);
    dp_expr mu =
        dp_sample(m, "mu", 2, dp_normal_v(dp_num(0), dp_sample(m, "s", 1, dp_gamma(2, 1))));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_slice(mu, 0, 1), dp_num(1)));
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 100, .seed = 1, .threads = 2};
    size_t live = faulty_live();
    int failed = 1;
    (void)state;
    for (size_t k = 1; failed; k++) {
        dp_error err = {0};
        dp_fit *fit = NULL;
        faulty_fail(k);
        dp_status status = dp_fit_private(m, data, &o, &fit, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_true(status == DP_OK || (failed && status == DP_ENOMEM));
        dp_fit_free(fit);
        assert_int_equal(faulty_live(), live);
    }
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_that_of_the_density),
        cmocka_unit_test(units_of_the_scale_change_the_volume_alone),
        cmocka_unit_test(a_climb_from_far_below_reaches_the_top),
        cmocka_unit_test(a_normal_posterior_has_its_moments),
        cmocka_unit_test(any_number_of_threads_gives_the_same),
        cmocka_unit_test(several_modes_are_told),
        cmocka_unit_test(chains_that_move_slowly_are_told),
        cmocka_unit_test(a_scale_that_is_small_away_from_the_top_is_drawn),
        cmocka_unit_test(what_it_is_not_for_is_refused_by_name_or_left_to_others),
        cmocka_unit_test(one_record_and_two_have_an_answer),
        cmocka_unit_test(no_records_are_told_of),
        cmocka_unit_test(says_that_it_is_not_private),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
