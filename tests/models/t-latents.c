/* Models whose latents of records are summed or integrated out: their densities by hand, and what
 * they find in records that are drawn from a known truth. */
#include <math.h>

#include "tests/lib/check.h"
#include "tests/models/world.h"

static const double pi = 3.14159265358979323846;
static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 700, .average = 0.25, .seed = 2};

static void log_densities(const dp_fit *fit, const dp_dataset *data, size_t n, double found[])
{
    dp_error err = {0};
    const dp_given given = {.data = data};
    assert_ok(dp_fit_log_density(fit, &given, n, found, &err), err.text);
}

/* ---- annotators ---- */

enum { ITEMS = 800, J = 4, K = 3 };
static const double prevalence[K] = {0.5, 0.3, 0.2}, right[J] = {0.9, 0.8, 0.7, 0.6};
static double drawn[ITEMS][1 + J], has_label[ITEMS][J];
static int32_t label[J][ITEMS], class_of[ITEMS];

/* An annotator who errs takes the next class, or the one after it. */
static dp_dataset *labels(void)
{
    static const char *const names[J] = {"label0", "label1", "label2", "label3"};
    world_uniform(5, ITEMS * (1 + J), &drawn[0][0]);
    dp_dataset *data = dp_dataset_new(ITEMS);
    for (int i = 0; i < ITEMS; i++) {
        const double u = drawn[i][0];
        class_of[i] = u < prevalence[0] ? 0 : u < prevalence[0] + prevalence[1] ? 1 : 2;
        for (int j = 0; j < J; j++) {
            const double v = drawn[i][1 + j], wrong = 1 - right[j];
            const int32_t off = v < right[j] ? 0 : v < right[j] + 0.7 * wrong ? 1 : 2;
            label[j][i] = (class_of[i] + off) % K;
            has_label[i][j] = (i + 3 * j) % 5 != 0;
        }
    }
    for (int j = 0; j < J; j++)
        dp_dataset_index(data, names[j], label[j]);
    dp_dataset_real(data, "seen", J, &has_label[0][0]);
    return data;
}

static void annotators_and_classes_are_found(void **state)
{
    (void)state;
    static double density[ITEMS], chance[ITEMS][K], confusion[J][K][K], w[K];
    static const char *const names[J] = {"confusion0", "confusion1", "confusion2", "confusion3"};
    dp_error err = {0};
    dp_model *m;
    int good = 0;
    const dp_dawid_skene_opts o = {.classes = K, .annotators = J, .gaps = true};
    dp_dataset *data = labels();
    assert_ok(dp_dawid_skene(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "prevalence", K, w);
    for (int j = 0; j < J; j++)
        world_value(fit, NULL, names[j], K * K, &confusion[j][0][0]);
    world_value(fit, data, "class_probability", ITEMS * K, &chance[0][0]);
    log_densities(fit, data, ITEMS, density);
    for (int i = 0; i < ITEMS; i++) {
        double part[K], sum = 0;
        for (int k = 0; k < K; k++) {
            part[k] = w[k];
            for (int j = 0; j < J; j++)
                part[k] *= has_label[i][j] > 0 ? confusion[j][k][label[j][i]] : 1;
            sum += part[k];
        }
        assert_close(density[i], log(sum), 1e-10, 1e-10);
        for (int k = 0; k < K; k++)
            assert_close(chance[i][k], part[k] / sum, 1e-10, 1e-13);
        good += chance[i][class_of[i]] > 0.5;
    }
    /* 130 labels of a class at least: a chance is known to 0.045, were the classes seen. */
    for (int j = 0; j < J; j++)
        for (int k = 0; k < K; k++)
            assert_close(confusion[j][k][k], right[j], 0, 6.2 * 0.06);
    for (int k = 0; k < K; k++)
        assert_close(w[k], prevalence[k], 0, 6.2 * 0.025);
    assert_true(good > 0.8 * ITEMS);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* ---- item response ---- */

enum { PERSONS = 500, QUESTIONS = 8 };
static double answer[PERSONS][QUESTIONS], ability[PERSONS], answered[PERSONS][QUESTIONS];

static double chance_of(double theta, double a, double b)
{
    return 1 / (1 + exp(-a * (theta - b)));
}

static double difficulty_of(int j)
{
    return -1.4 + 0.4 * j;
}

static double discrimination_of(int j, bool each)
{
    return each ? 0.7 + 0.2 * j : 1.2;
}

static dp_dataset *answers(bool each)
{
    world_normal(8, PERSONS, ability);
    world_uniform(9, PERSONS * QUESTIONS, &answer[0][0]);
    for (int i = 0; i < PERSONS; i++)
        for (int j = 0; j < QUESTIONS; j++) {
            const double p = chance_of(ability[i], discrimination_of(j, each), difficulty_of(j));
            answer[i][j] = answer[i][j] < p;
            answered[i][j] = (i + j) % 6 != 0;
        }
    dp_dataset *data = dp_dataset_new(PERSONS);
    dp_dataset_real(data, "y", QUESTIONS, &answer[0][0]);
    dp_dataset_real(data, "seen", QUESTIONS, &answered[0][0]);
    return data;
}

/* The chance of a person's answers, the mean of the ability and its second moment, on a grid that
 * is finer and wider than the model's. */
static void integrate(int i, const double *a, const double *b, double out[3])
{
    const double step = 0.02;
    out[0] = out[1] = out[2] = 0;
    for (int q = -450; q <= 450; q++) {
        const double theta = q * step;
        double p = step * exp(-0.5 * theta * theta) / sqrt(2 * pi);
        for (int j = 0; j < QUESTIONS; j++) {
            const double one = chance_of(theta, a[j], b[j]);
            if (answered[i][j] > 0)
                p *= answer[i][j] > 0 ? one : 1 - one;
        }
        out[0] += p;
        out[1] += p * theta;
        out[2] += p * theta * theta;
    }
}

static void items_are_found(bool each)
{
    static double density[PERSONS], mean[PERSONS], sd[PERSONS];
    double a[QUESTIONS], b[QUESTIONS];
    dp_error err = {0};
    dp_model *m;
    const dp_item_response_opts o = {.items = QUESTIONS, .each = each, .gaps = true};
    dp_dataset *data = answers(each);
    assert_ok(dp_item_response(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    world_value(fit, NULL, "difficulty", QUESTIONS, b);
    world_value(fit, NULL, "discrimination", each ? QUESTIONS : 1, a);
    for (int j = 1; j < QUESTIONS && !each; j++)
        a[j] = a[0];
    world_value(fit, data, "ability", PERSONS, mean);
    world_value(fit, data, "ability_sd", PERSONS, sd);
    log_densities(fit, data, PERSONS, density);
    for (int i = 0; i < PERSONS; i++) {
        double by_hand[3];
        integrate(i, a, b, by_hand);
        const double wanted = by_hand[1] / by_hand[0];
        assert_close(density[i], log(by_hand[0]), 1e-7, 0);
        assert_close(mean[i], wanted, 0, 1e-7);
        assert_close(sd[i], sqrt(by_hand[2] / by_hand[0] - wanted * wanted), 0, 1e-6);
    }
    /* 410 answers an item: about 0.12 in its log odds, and 0.15 in its discrimination. */
    for (int j = 0; j < QUESTIONS; j++) {
        assert_close(b[j], difficulty_of(j), 0, 6.2 * 0.15);
        assert_close(a[j], discrimination_of(j, each), 0, 6.2 * 0.15);
    }
    dp_fit_free(fit);
    dp_dataset_free(data);
}

static void difficulties_are_found(void **state)
{
    (void)state;
    items_are_found(false);
}

static void discriminations_are_found(void **state)
{
    (void)state;
    items_are_found(true);
}

/* ---- factors ---- */

enum { POINTS = 800, D = 5, F = 2 };
static const double loading[D][F] = {{1, 0}, {0.6, 0.8}, {-0.5, 0.7}, {0.8, -0.4}, {0, 0.9}},
                    level[D] = {0.5, -0.3, 0, 0.2, -0.6}, noise_sd[D] = {0.4, 0.5, 0.6, 0.5, 0.4};
static double point[POINTS][D], factor[POINTS][F];

static dp_dataset *points(void)
{
    world_normal(11, POINTS * F, &factor[0][0]);
    world_normal(12, POINTS * D, &point[0][0]);
    for (int i = 0; i < POINTS; i++)
        for (int j = 0; j < D; j++) {
            point[i][j] = level[j] + noise_sd[j] * point[i][j];
            for (int f = 0; f < F; f++)
                point[i][j] += loading[j][f] * factor[i][f];
        }
    dp_dataset *data = dp_dataset_new(POINTS);
    dp_dataset_real(data, "y", D, &point[0][0]);
    return data;
}

/* The inverse and the determinant of a small symmetric matrix, by elimination; a is destroyed. */
static double invert(size_t n, double a[D][D], double inverse[D][D])
{
    double det = 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            inverse[i][j] = i == j;
    for (size_t k = 0; k < n; k++) {
        const double pivot = a[k][k];
        det *= pivot;
        for (size_t j = 0; j < n; j++) {
            a[k][j] /= pivot;
            inverse[k][j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            const double times = i == k ? 0 : a[i][k];
            for (size_t j = 0; j < n; j++) {
                a[i][j] -= times * a[k][j];
                inverse[i][j] -= times * inverse[k][j];
            }
        }
    }
    return det;
}

/* What a fit says of the factors. */
typedef struct found {
    double L[D][F], mean[D], sd[D], precision[D][D], det;
} found;

static void said_of_factors(dp_fit *fit, found *s)
{
    double covariance[D][D];
    world_value(fit, NULL, "loadings", D * F, &s->L[0][0]);
    world_value(fit, NULL, "mean", D, s->mean);
    world_value(fit, NULL, "noise_sd", D, s->sd);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < D; j++) {
            covariance[i][j] = i == j ? s->sd[i] * s->sd[i] : 0;
            for (int f = 0; f < F; f++)
                covariance[i][j] += s->L[i][f] * s->L[j][f];
        }
    s->det = invert(D, covariance, s->precision);
}

static void assert_factors(dp_fit *fit, const dp_dataset *data, const found *s)
{
    static double density[POINTS], mean[POINTS][F];
    log_densities(fit, data, POINTS, density);
    world_value(fit, data, "factors", POINTS * F, &mean[0][0]);
    for (int i = 0; i < POINTS; i++) {
        double squares = 0, wanted[F] = {0};
        for (int j = 0; j < D; j++)
            for (int k = 0; k < D; k++) {
                const double one = s->precision[j][k] * (point[i][k] - s->mean[k]);
                squares += (point[i][j] - s->mean[j]) * one;
                for (int f = 0; f < F; f++)
                    wanted[f] += s->L[j][f] * one;
            }
        assert_close(density[i], -0.5 * (squares + log(s->det) + D * log(2 * pi)), 1e-10, 1e-10);
        for (int f = 0; f < F; f++)
            assert_close(mean[i][f], wanted[f], 1e-10, 1e-10);
    }
}

static void loadings_are_found(void **state)
{
    (void)state;
    found s;
    dp_error err = {0};
    dp_model *m;
    const dp_factor_analysis_opts o = {.observed = D, .factors = F};
    dp_dataset *data = points();
    assert_ok(dp_factor_analysis(&o, &m, &err), err.text);
    dp_fit *fit = world_fit(m, NULL, data, &plain);
    said_of_factors(fit, &s);
    assert_factors(fit, data, &s);
    /* 800 records: means to 0.04, loadings and noise to 0.05. */
    for (int j = 0; j < D; j++) {
        assert_close(s.mean[j], level[j], 0, 6.2 * 0.05);
        assert_close(s.sd[j], noise_sd[j], 0, 6.2 * 0.05);
        for (int f = 0; f < F; f++)
            assert_close(s.L[j][f], loading[j][f], 0, 6.2 * 0.06);
    }
    assert_close(s.L[0][1], 0, 0, 0);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* Every number of factors that there may be for few observed numbers is a model. */
static void small_analyses_are_models(void **state)
{
    (void)state;
    for (size_t d = 2; d < 6; d++)
        for (size_t f = 1; f < d; f++) {
            dp_error err = {0};
            dp_model *m;
            const dp_factor_analysis_opts o = {.observed = d, .factors = f};
            assert_ok(dp_factor_analysis(&o, &m, &err), err.text);
            dp_model_free(m);
        }
}

static void what_is_no_model_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_dawid_skene_opts one_class = {.classes = 1, .annotators = 2}, nobody = {.classes = 2};
    assert_fails(dp_dawid_skene(&one_class, &m, &err), DP_EINVAL, &err, "2 to 64 classes");
    assert_fails(dp_dawid_skene(&nobody, &m, &err), DP_EINVAL, &err, "1 to 1024 annotators");
    assert_null(m);
    const dp_item_response_opts none = {.items = 0}, bad = {.items = 2, .difficulty_scale = -1};
    assert_fails(dp_item_response(&none, &m, &err), DP_EINVAL, &err, "at least 1 item");
    assert_fails(dp_item_response(&bad, &m, &err), DP_EDOMAIN, &err, "item_response.c:");
    assert_null(m);
    const dp_factor_analysis_opts all = {.observed = 3, .factors = 3}, few = {.observed = 1};
    assert_fails(dp_factor_analysis(&all, &m, &err), DP_EINVAL, &err, "fewer than the observed");
    assert_fails(dp_factor_analysis(&few, &m, &err), DP_EINVAL, &err, "2 to 512");
    assert_null(m);
}

/* An item, an annotator and an answer alone: shapes of one. */
static void models_of_one_are_models(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_model *m;
    const dp_item_response_opts item = {.items = 1, .each = true, .gaps = true};
    assert_ok(dp_item_response(&item, &m, &err), err.text);
    dp_model_free(m);
    const dp_dawid_skene_opts annotator = {.classes = 2, .annotators = 1, .gaps = true};
    assert_ok(dp_dawid_skene(&annotator, &m, &err), err.text);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(annotators_and_classes_are_found),
        cmocka_unit_test(difficulties_are_found),
        cmocka_unit_test(discriminations_are_found),
        cmocka_unit_test(loadings_are_found),
        cmocka_unit_test(small_analyses_are_models),
        cmocka_unit_test(what_is_no_model_is_refused),
        cmocka_unit_test(models_of_one_are_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
