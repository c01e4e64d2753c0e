/* Log densities as expressions and as terms of a record's log density: their values, that a factor
 * is as good as the observation that it writes out, what is kept of it, and what is refused. */
#include <tacit/tacit.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/store.h"
#include "tests/lib/check.h"
#include "tests/model/operands.h"

enum { ROWS = 40, STEPS = 20 };

/* ---- values ---- */

static const double pi = 3.14159265358979323846;

static double normal(double x, double loc, double scale)
{
    const double z = (x - loc) / scale;
    return -0.5 * z * z - log(scale) - 0.5 * log(2 * pi);
}

static void densities_are_those_of_their_families(void **state)
{
    (void)state;
    scene q = begin();
    double of_x[N * 3], of_v[3], of_mixture[N], of_row[1], of_half[N];
    for (int i = 0; i < N; i++) {
        double sum = 0;
        for (int j = 0; j < 3; j++) {
            of_x[i * 3 + j] = normal(x_is[i][j], v_is[j], 1.7);
            sum += (j + 1) / 6. * exp(normal(x_is[i][1], v_is[j], 1.7));
        }
        of_mixture[i] = log(sum);
    }
    for (int j = 0; j < 3; j++)
        of_v[j] = v_is[j] * 2 - exp(v_is[j]) - log(2);
    assert_value_within(&q, dp_log_density(dp_normal_v(q.v, dp_abs(q.s)), q.x), N * 3, of_x, 1e-14);
    assert_value_within(&q, dp_log_density(dp_poisson_log(q.v), dp_num(2)), 3, of_v, 1e-14);
    const double weights[3] = {1, 2, 3}, row[3] = {0.2, 0.3, 0.5};
    dp_dist mixture = dp_mixture(dp_constant(q.m, 3, weights), dp_normal_v(q.v, dp_abs(q.s)));
    assert_value_within(&q, dp_log_density(mixture, dp_slice(q.x, 1, 1)), N, of_mixture, 1e-14);
    /* Between its mean and infinity a normal number has twice the density. */
    for (int i = 0; i < N; i++)
        of_half[i] = normal(fabs(x_is[i][0]), 0, 1.7) + log(2);
    dp_dist half = dp_truncated(dp_normal_v(dp_num(0), dp_abs(q.s)), 0, INFINITY);
    assert_value_within(&q, dp_log_density(half, dp_abs(dp_slice(q.x, 0, 1))), N, of_half, 1e-14);
    of_row[0] = log(2) + log(0.2 * 0.3 * 0.5) + log(60);
    dp_expr of_simplex = dp_log_density(dp_dirichlet_v(dp_constant(q.m, 3, (double[]){2, 2, 2})),
                                        dp_constant(q.m, 3, row));
    assert_value_within(&q, of_simplex, 1, of_row, 1e-14);
    dp_model_free(q.m);
}

/* One distribution or several side by side, one category or several of a record. */
static void categories_are_read_from_rows_of_logits(void **state)
{
    (void)state;
    scene q = begin();
    double log_p[2][3], one[N], two[N * 2], words[N * 3], both[N * 3 * 2], of_v[3];
    double whole = log(exp(v_is[0]) + exp(v_is[1]) + exp(v_is[2]));
    for (int k = 0; k < 3; k++)
        of_v[k] = v_is[k] - whole;
    for (int m = 0; m < 2; m++) {
        const double *w = W_is + 3 * m;
        whole = log(exp(w[0]) + exp(w[1]) + exp(w[2]));
        for (int k = 0; k < 3; k++)
            log_p[m][k] = w[k] - whole;
    }
    for (int i = 0; i < N; i++) {
        one[i] = of_v[g_is[i]];
        for (int m = 0; m < 2; m++)
            two[i * 2 + m] = log_p[m][g_is[i]];
        for (int j = 0; j < 3; j++) {
            words[i * 3 + j] = of_v[words_are[i][j]];
            for (int m = 0; m < 2; m++)
                both[(i * 3 + j) * 2 + m] = log_p[m][words_are[i][j]];
        }
    }
    assert_value_within(&q, dp_log_density(dp_categorical_logit(q.v), q.g), N, one, 1e-14);
    assert_value_within(&q, dp_log_density(dp_categorical_logit(q.W), q.g), N * 2, two, 1e-14);
    assert_value_within(&q, dp_log_density(dp_categorical_logit(q.v), q.words), N * 3, words,
                        1e-14);
    assert_value_within(&q, dp_log_density(dp_categorical_logit(q.W), q.words), N * 6, both, 1e-14);
    dp_model_free(q.m);
}

/* ---- fits ---- */

typedef struct regression {
    dp_model *m;
    dp_plate rows;
    dp_expr x, w, eta;
} regression;

static regression set_up(void)
{
    regression s = {.m = dp_model_new()};
    s.rows = dp_unit_plate(s.m, "rows");
    s.x = dp_data(s.rows, "x", 2);
    s.w = dp_sample(s.m, "w", 2, dp_normal(0, 1));
    s.eta = dp_dot(s.x, s.w);
    return s;
}

/* The same model with y observed, or with its density written out. */
static dp_model *written(bool observed)
{
    regression s = set_up();
    dp_dist dist = dp_normal_v(s.eta, dp_num(0.7));
    if (observed)
        dp_observe(s.rows, "y", dist);
    else
        dp_factor(s.rows, "term", dp_log_density(dist, dp_data(s.rows, "y", 1)));
    return s.m;
}

static dp_dataset *records(void)
{
    static double x[ROWS][2], y[ROWS];
    for (int i = 0; i < 2 * ROWS; i++)
        (&x[0][0])[i] = (i * 37 % 19) / 9.5 - 1;
    for (int i = 0; i < ROWS; i++)
        y[i] = x[i][0] - 0.5 * x[i][1] + (i * 7 % 5) / 5.0 - 0.4;
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_real(data, "x", 2, &x[0][0]);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

static dp_fit *fit_of(bool observed)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_dataset *data = records();
    dp_model *m = written(observed);
    const dp_svi_opts opts = {
        .sigma = 2, .delta = 1e-3, .clip = 1, .steps = STEPS, .seed = 5, .step_size = 0.1};
    assert_ok(dp_svi_new(m, NULL, data, &opts, &svi, &err), err.text);
    dp_model_free(m);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(data);
    return fit;
}

static void a_factor_is_as_good_as_the_observation(void **state)
{
    (void)state;
    double loc[2][2], density[3][ROWS];
    dp_error err = {0};
    dp_dataset *data = records();
    const dp_given given = {.data = data};
    for (int observed = 0; observed < 2; observed++) {
        dp_fit *fit = fit_of(observed != 0);
        assert_ok(dp_fit_parameter(fit, "w.loc", 2, loc[observed], &err), err.text);
        assert_ok(dp_fit_log_density(fit, &given, ROWS, density[observed], &err), err.text);
        if (!observed) {
            dp_expr term = dp_fit_expr(fit, "term");
            assert_ok(dp_fit_evaluate(fit, term, &given, ROWS, density[2], &err), err.text);
        }
        dp_fit_free(fit);
    }
    assert_memory_equal(loc[0], loc[1], sizeof loc[0]);
    assert_memory_equal(density[0], density[1], sizeof density[0]);
    assert_memory_equal(density[0], density[2], sizeof density[0]);
    dp_dataset_free(data);
}

/* The way of dp_fit_private that needs scores hands such a model to the loop, and says why. */
static void private_fits_go_by_the_loop(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_fit *fit;
    size_t n;
    bool told = false;
    dp_dataset *data = records();
    dp_model *m = written(false);
    const dp_fit_opts o = {.epsilon = 4, .delta = 1e-5, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        told = told || strstr(d[k].words, "'term'") != NULL;
    assert_true(told);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

/* Without privacy the posterior of both is drawn from, to the same numbers. */
static void public_fits_draw_from_the_posterior(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_summary w[2][2];
    dp_dataset *data = records();
    for (int observed = 0; observed < 2; observed++) {
        dp_fit *fit;
        dp_model *m = written(observed != 0);
        const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .method = DP_METHOD_EXACT, .seed = 3};
        assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
        assert_ok(dp_fit_summary(fit, "w", 2, w[observed], &err), err.text);
        dp_fit_free(fit);
        dp_model_free(m);
    }
    for (int j = 0; j < 2; j++) {
        assert_close(w[0][j].mean, w[1][j].mean, 1e-9, 0);
        assert_close(w[0][j].sd, w[1][j].sd, 1e-9, 0);
    }
    dp_dataset_free(data);
}

/* ---- what is kept and what is written ---- */

static void a_stored_model_has_its_factors(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m = written(false), *again;
    dpi_bytes first = {0}, second = {0};
    assert_ok(dpi_model_store(m, &first, &err), err.text);
    assert_ok(dpi_model_restore(NULL, first.at, first.n, &again, &err), err.text);
    assert_ok(dpi_model_store(again, &second, &err), err.text);
    assert_int_equal(first.n, second.n);
    assert_memory_equal(first.at, second.at, first.n);
    const dpi_site *site = dpi_find_site(again, "term");
    assert_non_null(site);
    assert_int_equal(site->kind, DPI_FACTOR);
    dpi_bytes_free(&first);
    dpi_bytes_free(&second);
    dp_model_free(again);
    dp_model_free(m);
}

static void a_description_names_them(void **state)
{
    (void)state;
    char text[256] = "";
    dp_model *m = written(false);
    FILE *to = tmpfile();
    assert_non_null(to);
    assert_int_equal(dp_model_describe(m, to), DP_OK);
    rewind(to);
    while (strncmp(text, "factor", 6) != 0)
        assert_non_null(fgets(text, sizeof text, to));
    assert_contains(text, "term");
    assert_contains(text, "t-factor.c:");
    fclose(to);
    dp_model_free(m);
}

/* ---- what is refused ---- */

static void draws_and_means_are_refused(void **state)
{
    (void)state;
    static double values[2 * ROWS];
    dp_error err = {0};
    dp_rng *rng;
    dp_svi *svi;
    dp_fit *fit;
    dp_simulator *s;
    dp_dataset *data = records();
    regression r = set_up();
    dp_observe(r.rows, "y", dp_normal_v(r.eta, dp_num(1)));
    dp_observe(r.rows, "z", dp_normal_v(r.eta, dp_num(1)));
    dp_factor(r.rows, "term", dp_mul(r.eta, dp_data(r.rows, "y", 1)));
    dp_dataset_real(data, "z", 1, values);
    const dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    assert_ok(dp_svi_new(r.m, NULL, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    assert_ok(dp_rng_new(7, &rng, &err), err.text);
    const dp_given given = {.data = data, .rng = rng};
    assert_fails(dp_fit_simulate(fit, "term", &given, ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "'term' is a factor");
    assert_fails(dp_fit_simulate(fit, NULL, &given, 2 * ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "has the factor 'term'");
    assert_fails(dp_fit_simulate(fit, "y", &given, ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "column 'y' is read by the factor 'term'");
    assert_true(isnan(values[0]));
    assert_fails(dp_fit_predict(fit, "term", &given, ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "dp_deterministic");
    assert_fails(dp_fit_predict(fit, "y", &given, ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "column 'y' is read by the factor 'term'");
    assert_ok(dp_fit_simulate(fit, "z", &given, ROWS, values, &err), err.text);
    assert_ok(dp_fit_predict(fit, "z", &given, ROWS, values, &err), err.text);
    assert_ok(dp_simulator_new(r.m, data, &s, &err), err.text);
    assert_ok(dp_simulate_prior(s, rng, &err), err.text);
    assert_fails(dp_simulate_records(s, "y", rng, ROWS, values, &err), DP_EUNSUPPORTED, &err,
                 "factor 'term'");
    assert_ok(dp_simulate_records(s, "z", rng, ROWS, values, &err), err.text);
    dp_simulator_free(s);
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_rng_free(rng);
    dp_model_free(r.m);
    dp_dataset_free(data);
}

static void refused(dp_model *m, dp_status status, const char *says)
{
    assert_string_equal(dp_status_name(dp_model_status(m)), dp_status_name(status));
    assert_contains(dp_model_error(m), says);
    dp_model_free(m);
}

static void factors_of_no_record_are_refused(void **state)
{
    (void)state;
    regression s = set_up();
    dp_factor(s.rows, "term", dp_sum(s.w));
    refused(s.m, DP_ESHAPE, "let it depend on a column");
    s = set_up();
    dp_factor(s.rows, "term", dp_num(3));
    refused(s.m, DP_ESHAPE, "factor 'term' is a number");
    s = set_up();
    dp_factor(s.rows, "term", s.x);
    refused(s.m, DP_ESHAPE, "dp_sum");
    s = set_up();
    dp_factor(s.rows, "w", s.eta);
    refused(s.m, DP_ENAME, "'w' was used at");
    s = set_up();
    dp_factor(dp_plate_new(s.m, "groups", 3), "term", s.eta);
    refused(s.m, DP_EINVAL, "dp_unit_plate");
    s = set_up();
    regression other = set_up();
    dp_factor(s.rows, "term", other.eta);
    dp_model_free(other.m);
    refused(s.m, DP_EINVAL, "another model");
    s = set_up();
    dp_factor(s.rows, "term", s.eta);
    dp_model *guide = dp_guide_new(s.m);
    dp_factor(dp_unit_plate(guide, "rows"), "other", dp_num(1));
    refused(guide, DP_EINVAL, "a guide has no factors");
    dp_model_free(s.m);
}

static void densities_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    scene q = begin();
    (void)dp_log_density(dp_categorical_logit(q.v), dp_slice(q.x, 0, 1));
    refused(q.m, DP_ESHAPE, "is no such column");
    q = begin();
    (void)dp_log_density(dp_categorical_logit(q.b), q.g);
    refused(q.m, DP_ESHAPE, "another number of groups");
    q = begin();
    (void)dp_log_density(dp_categorical_logit(q.s), q.g);
    refused(q.m, DP_ESHAPE, "the logits are a number");
    q = begin();
    (void)dp_log_density(dp_normal_v(q.v, dp_num(-1)), q.x);
    refused(q.m, DP_EDOMAIN, "scale of normal is -1");
    q = begin();
    (void)dp_log_density(dp_mixture(q.v, dp_normal(0, 1)), q.x);
    refused(q.m, DP_EDOMAIN, "must be a number above 0");
    q = begin();
    (void)dp_log_density(dp_mixture(dp_exp(q.s), dp_normal(0, 1)), q.x);
    refused(q.m, DP_ESHAPE, "do not fit together");
    q = begin();
    (void)dp_log_density((dp_dist){0}, q.x);
    refused(q.m, DP_EINVAL, "has no distribution");
    q = begin();
    (void)dp_log_density(dp_normal_v(q.v, dp_num(1)), q.a);
    assert_int_equal(dp_model_status(q.m), DP_OK);
    (void)dp_log_density(dp_normal_v(q.b, dp_num(1)), q.x);
    refused(q.m, DP_ESHAPE, "[3]");
}

/* Of rows of numbers, by a single number, and by arguments that do not tell how many there are. */
static void densities_of_rows_need_rows(void **state)
{
    (void)state;
    const char *const says[] = {"a value is K >= 2 numbers, so give x as [K]",
                                "give the last argument as [K]"};
    for (int k = 0; k < 10; k++) {
        scene q = begin();
        dp_expr one = dp_abs(q.s), many = dp_abs(q.v), n = dp_num(3), x = dp_slice(q.x, 0, 1);
        const dp_dist of[] = {dp_dirichlet_multinomial(n, one),
                              dp_dirichlet_multinomial(n, many),
                              dp_multinomial_logit(n, q.v),
                              dp_dirichlet_v(one),
                              dp_dirichlet_v(many),
                              dp_ordered(dp_normal(0, 1)),
                              dp_multivariate_normal_cholesky(q.s, dp_identity_matrix(q.m, 3)),
                              dp_gaussian_random_walk(q.s, one, one),
                              dp_dirichlet_multinomial(n, one),
                              dp_weighted(dp_multinomial_logit(n, q.s), one, 2)};
        (void)dp_log_density(of[k], k < 8 ? x : dp_abs(q.x));
        refused(q.m, DP_ESHAPE, says[k >= 8]);
    }
    scene q = begin();
    (void)dp_log_density(dp_dirichlet_multinomial(dp_num(3), dp_abs(q.v)), q.x);
    (void)dp_log_density(dp_ordered(dp_normal_v(q.s, dp_num(1))), q.x);
    assert_ok(dp_model_status(q.m), dp_model_error(q.m));
    dp_model_free(q.m);
}

static void of_numbers(void *of)
{
    (void)of;
    (void)dp_log_density(dp_normal(0, 1), dp_num(1));
}

static void plain_numbers_alone_are_misuse(void **state)
{
    (void)state;
    assert_aborts(of_numbers, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(densities_are_those_of_their_families),
        cmocka_unit_test(categories_are_read_from_rows_of_logits),
        cmocka_unit_test(a_factor_is_as_good_as_the_observation),
        cmocka_unit_test(private_fits_go_by_the_loop),
        cmocka_unit_test(public_fits_draw_from_the_posterior),
        cmocka_unit_test(a_stored_model_has_its_factors),
        cmocka_unit_test(a_description_names_them),
        cmocka_unit_test(draws_and_means_are_refused),
        cmocka_unit_test(factors_of_no_record_are_refused),
        cmocka_unit_test(densities_that_make_no_sense_are_refused),
        cmocka_unit_test(densities_of_rows_need_rows),
        cmocka_unit_test(plain_numbers_alone_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
