/* Guides written by hand, fitted without privacy to models whose posterior is known in closed form:
 * linear regression with a known error, y ~ N(x0 u + x1 v, 1), u, v ~ N(0, 2), correlated
 * predictors. */
#include <tacit/fit.h>

#include <math.h>

#include "tests/lib/check.h"

enum { N = 60, GROUPS = 4 };

static double x[N][2], y[N];

/* The exact posterior: precision P = X'X + I / 4, covariance P^-1, mean P^-1 X'y. */
typedef struct exact {
    double precision[2], mean[2], sd[2], correlation;
} exact;

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

static void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        x[i][0] = spread(3 * i);
        x[i][1] = 0.8 * x[i][0] + 0.3 * spread(3 * i + 1);
        y[i] = 0.7 * x[i][0] - 0.4 * x[i][1] + spread(3 * i + 2);
    }
}

static exact posterior_by_algebra(void)
{
    double p[2][2] = {{0.25, 0}, {0, 0.25}}, xy[2] = {0};
    for (size_t i = 0; i < N; i++)
        for (int j = 0; j < 2; j++) {
            xy[j] += x[i][j] * y[i];
            for (int k = 0; k < 2; k++)
                p[j][k] += x[i][j] * x[i][k];
        }
    double determinant = p[0][0] * p[1][1] - p[0][1] * p[1][0];
    return (exact){
        .precision = {p[0][0], p[1][1]},
        .mean = {(p[1][1] * xy[0] - p[0][1] * xy[1]) / determinant,
                 (p[0][0] * xy[1] - p[0][1] * xy[0]) / determinant},
        .sd = {sqrt(p[1][1] / determinant), sqrt(p[0][0] / determinant)},
        .correlation = -p[0][1] / sqrt(p[0][0] * p[1][1]),
    };
}

static dp_model *regression(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr data = dp_data(rows, "x", 2);
    dp_expr u = dp_sample(m, "u", 1, dp_normal(0, 2)), v = dp_sample(m, "v", 1, dp_normal(0, 2));
    dp_observe(rows, "y", dp_normal_v(dp_dot(data, dp_concat(u, v)), dp_num(1)));
    return m;
}

/* u ~ N(u_loc, e^u_scale), v ~ N(v_loc + slope u, e^v_scale): every normal in the plane. */
static dp_model *correlated(const dp_model *m)
{
    dp_model *guide = dp_guide_new(m);
    dp_expr u_scale = dp_exp(dp_param(guide, "u_scale", 1, -2)),
            v_scale = dp_exp(dp_param(guide, "v_scale", 1, -2));
    dp_expr u = dp_sample(guide, "u", 1, dp_normal_v(dp_param(guide, "u_loc", 1, 0), u_scale));
    dp_expr v_loc =
        dp_add(dp_param(guide, "v_loc", 1, 0), dp_mul(dp_param(guide, "slope", 1, 0), u));
    (void)dp_sample(guide, "v", 1, dp_normal_v(v_loc, v_scale));
    return guide;
}

typedef struct fitted {
    dp_model *m, *guide;
    dp_dataset *data;
    dp_svi *svi;
    dp_fit *fit;
} fitted;

static fitted fit(dp_model *m, dp_model *guide, dp_form form)
{
    dp_error err = {0};
    fitted f = {.m = m, .guide = guide, .data = dp_dataset_new(N)};
    dp_svi_opts opts = {
        .mode = DP_NO_PRIVACY, .form = form, .steps = 4000, .average = 0.5, .seed = 7};
    dp_dataset_real(f.data, "x", 2, x[0]);
    dp_dataset_real(f.data, "y", 1, y);
    assert_ok(dp_svi_new(m, guide, f.data, &opts, &f.svi, &err), err.text);
    assert_ok(dp_svi_run(f.svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(f.svi, &f.fit, &err), err.text);
    return f;
}

static void end(fitted *f)
{
    dp_fit_free(f->fit);
    dp_svi_free(f->svi);
    dp_dataset_free(f->data);
    dp_model_free(f->guide);
    dp_model_free(f->m);
}

static dp_summary summary_of(const fitted *f, const char *name)
{
    dp_error err = {0};
    dp_summary s;
    assert_ok(dp_fit_summary(f->fit, name, 1, &s, &err), err.text);
    return s;
}

static double parameter(const fitted *f, const char *name)
{
    dp_error err = {0};
    double value;
    assert_ok(dp_svi_get(f->svi, name, 1, &value, &err), err.text);
    return value;
}

/* Correlation of u and v in draws from the fitted guide. */
static double drawn_correlation(const fitted *f, size_t draws)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_draws *drawn;
    size_t one;
    double s[2] = {0}, ss[3] = {0}, n = (double)draws;
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    assert_ok(dp_fit_draw(f->fit, draws, rng, &drawn, &err), err.text);
    for (size_t i = 0; i < draws; i++) {
        const double *row = dp_draws_values(drawn) + i * dp_draws_size(drawn);
        double u = row[dp_draws_find(drawn, "u", &one)], v = row[dp_draws_find(drawn, "v", &one)];
        s[0] += u, s[1] += v;
        ss[0] += u * u, ss[1] += v * v, ss[2] += u * v;
    }
    dp_draws_free(drawn);
    dp_rng_free(rng);
    return (ss[2] - s[0] * s[1] / n) / sqrt((ss[0] - s[0] * s[0] / n) * (ss[1] - s[1] * s[1] / n));
}

/* The family holds the posterior, so that the fit reaches it. */
static void a_correlated_guide_reaches_the_exact_posterior(void **state)
{
    (void)state;
    exact e = posterior_by_algebra();
    assert_true(e.correlation < -0.8);
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        dp_model *m = regression();
        fitted f = fit(m, correlated(m), (dp_form)form);
        dp_summary u = summary_of(&f, "u"), v = summary_of(&f, "v");
        assert_close(u.mean, e.mean[0], 0, 0.03 * e.sd[0]);
        assert_close(v.mean, e.mean[1], 0, 0.03 * e.sd[1]);
        assert_close(u.sd, e.sd[0], 0.05, 0);
        assert_close(v.sd, e.sd[1], 0.05, 0);
        assert_close(v.q95 - v.q05, 2 * 1.6448536 * e.sd[1], 0.06, 0);
        double along = parameter(&f, "slope") * exp(parameter(&f, "u_scale"));
        double correlation = along / hypot(along, exp(parameter(&f, "v_scale")));
        assert_close(correlation, e.correlation, 0, 0.02);
        /* 6.2 standard errors (1 - r^2) / sqrt(n) of 5000 draws beside it */
        assert_close(drawn_correlation(&f, 5000), correlation, 0, 0.04);
        end(&f);
    }
}

/* The normal of independent coordinates that is nearest in Kullback and Leibler's sense has the
 * mean and 1 / sqrt(P_jj) for standard deviation (Bishop 2006, section 10.1.2): too small by
 * sqrt(1 - r^2). */
static void a_mean_field_guide_is_too_sure_by_the_known_factor(void **state)
{
    (void)state;
    const char *const names[] = {"u", "v"};
    exact e = posterior_by_algebra();
    fitted f = fit(regression(), NULL, DP_FORM_LATENTS);
    for (int k = 0; k < 2; k++) {
        dp_summary s = summary_of(&f, names[k]);
        assert_close(s.mean, e.mean[k], 0, 0.05 * e.sd[k]);
        assert_close(s.sd, 1 / sqrt(e.precision[k]), 0.03, 0);
        assert_close(s.sd, e.sd[k] * sqrt(1 - e.correlation * e.correlation), 0.03, 0);
    }
    assert_close(drawn_correlation(&f, 5000), 0, 0, 6.2 / sqrt(5000));
    end(&f);
}

/* y ~ N(z, 1), z ~ N(w x0, 1) for each record, w ~ N(0, 2).  Given w and y, z is
 * N((w x0 + y) / 2, sqrt(1/2)); the guide may learn that from data that it shares with the
 * model. */
static void a_latent_of_each_record_is_learnt_from_its_data(void **state)
{
    (void)state;
    double xx = 0.25, xy = 0;
    for (size_t i = 0; i < N; i++) {
        xx += x[i][0] * x[i][0] / 2;
        xy += x[i][0] * y[i] / 2;
    }
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr first = dp_slice(dp_data(rows, "x", 2), 0, 1),
            w = dp_sample(m, "w", 1, dp_normal(0, 2));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal_v(dp_mul(w, first), dp_num(1)));
    dp_observe(rows, "y", dp_normal_v(z, dp_num(1)));
    dp_model *guide = dp_guide_new(m);
    rows = dp_unit_plate(guide, "rows");
    dp_expr scale = dp_exp(dp_param(guide, "w_scale", 1, -2));
    w = dp_sample(guide, "w", 1, dp_normal_v(dp_param(guide, "w_loc", 1, 0), scale));
    first = dp_slice(dp_data(rows, "x", 2), 0, 1);
    dp_expr a = dp_param(guide, "a", 1, 0), b = dp_param(guide, "b", 1, 0);
    dp_expr loc = dp_add(dp_mul(a, dp_mul(w, first)), dp_mul(b, dp_data(rows, "y", 1)));
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(loc, dp_exp(dp_param(guide, "z_scale", 1, -2))));
    fitted f = fit(m, guide, DP_FORM_LATENTS);
    dp_summary s = summary_of(&f, "w");
    assert_close(parameter(&f, "a"), 0.5, 0, 0.05);
    assert_close(parameter(&f, "b"), 0.5, 0, 0.05);
    assert_close(exp(parameter(&f, "z_scale")), sqrt(0.5), 0.03, 0);
    assert_close(s.mean, xy / xx, 0, 0.1 / sqrt(xx));
    assert_close(s.sd, 1 / sqrt(xx), 0.05, 0);
    assert_int_equal(dp_fit_summary(f.fit, "z", 1, &s, NULL), DP_ENAME);
    end(&f);
}

/* y ~ N(a[g] + x0, s), a_k ~ N(mu, 1) in a plate, s > 0. */
static dp_model *grouped(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 2)), s = dp_sample(m, "s", 1, dp_gamma(2, 1));
    dp_expr a = dp_sample_in(groups, "a", 2, dp_normal_v(mu, dp_num(1)));
    dp_expr row = dp_pick(a, dp_index(rows, "g", groups));
    dp_observe(rows, "y", dp_normal_v(dp_dot(row, dp_data(rows, "x", 2)), s));
    return m;
}

/* The mean-field guide of that model, in its own words. */
static dp_model *grouped_guide(const dp_model *m)
{
    const double start = log(0.1);
    dp_model *guide = dp_guide_new(m);
    dp_plate groups = dp_plate_new(guide, "groups", GROUPS);
    dp_expr loc = dp_param(guide, "mu.loc", 1, 0);
    (void)dp_sample(guide, "mu", 1,
                    dp_normal_v(loc, dp_exp(dp_param(guide, "mu.log_scale", 1, start))));
    loc = dp_param(guide, "s.loc", 1, 0);
    (void)dp_sample(guide, "s", 1,
                    dp_log_normal_v(loc, dp_exp(dp_param(guide, "s.log_scale", 1, start))));
    loc = dp_param_in(groups, "a.loc", 2, 0);
    (void)dp_sample_in(groups, "a", 2,
                       dp_normal_v(loc, dp_exp(dp_param_in(groups, "a.log_scale", 2, start))));
    return guide;
}

/* The automatic guide takes its entropy in closed form, the written one by its density at the draw:
 * the gradients are the same, so that clipped and noisy runs of one seed go the same way. */
static void a_written_mean_field_guide_is_the_automatic_one(void **state)
{
    (void)state;
    static const char *const names[] = {"mu.loc",      "mu.log_scale", "s.loc",
                                        "s.log_scale", "a.loc",        "a.log_scale"};
    static int32_t group[N];
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
        double found[2][6][2 * GROUPS] = {{{0}}};
        for (int by_hand = 0; by_hand < 2; by_hand++) {
            dp_error err = {0};
            dp_svi_opts opts = {.mode = DP_WITHOUT_GUARANTEE,
                                .form = (dp_form)form,
                                .clip = 2,
                                .sigma = 0.5,
                                .steps = 60,
                                .seed = 11};
            fitted f = {.m = grouped(), .data = dp_dataset_new(N)};
            f.guide = by_hand ? grouped_guide(f.m) : NULL;
            for (size_t i = 0; i < N; i++)
                group[i] = (int32_t)(i % GROUPS);
            dp_dataset_real(f.data, "x", 2, x[0]);
            dp_dataset_real(f.data, "y", 1, y);
            dp_dataset_index(f.data, "g", group);
            assert_ok(dp_svi_new(f.m, f.guide, f.data, &opts, &f.svi, &err), err.text);
            assert_ok(dp_svi_run(f.svi, NULL, &err), err.text);
            for (int k = 0; k < 6; k++)
                assert_ok(
                    dp_svi_get(f.svi, names[k], k < 4 ? 1 : 2 * GROUPS, found[by_hand][k], &err),
                    err.text);
            end(&f);
        }
        assert_true(fabs(found[0][0][0]) > 1e-3);
        for (int k = 0; k < 6; k++)
            for (int e = 0; e < 2 * GROUPS; e++)
                assert_close(found[1][k][e], found[0][k][e], 1e-8, 1e-9);
    }
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correlated_guide_reaches_the_exact_posterior),
        cmocka_unit_test(a_mean_field_guide_is_too_sure_by_the_known_factor),
        cmocka_unit_test(a_latent_of_each_record_is_learnt_from_its_data),
        cmocka_unit_test(a_written_mean_field_guide_is_the_automatic_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
