/* Standard normal numbers of a computed scale, in coordinates that do not depend on it: which they
 * are, that the density stays the same, and that what records tell is found. */
#include "infer/recorded.h"

#include <math.h>
#include <string.h>

#include <tacit/infer.h>
#include <tacit/model.h>

#include "infer/mode.h"
#include "model/loose.h"
#include "num/linalg.h"
#include "num/matrix.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 40, K = 4, D = 2 + K };
static const double noise = 0.7;

typedef struct records {
    double x[N * K], y[N];
} records;

static dp_dataset *make_data(records *r)
{
    for (size_t i = 0; i < N; i++) {
        r->y[i] = 1 + sin(0.4 * (double)i) + 0.5 * sin(11.9 * (double)i + 1);
        for (size_t j = 0; j < K; j++)
            r->x[i * K + j] = sin(0.1 * (double)((j + 1) * i) + 0.3);
    }
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", K, r->x);
    dp_dataset_real(data, "y", 1, r->y);
    return data;
}

typedef enum form { SOUND, READ_TWICE, NOT_STANDARD, SCALE_BEHIND, SCALE_FIXED, N_FORMS } form;

/* y ~ N(sum_j x_j s_j z_j, noise), s_j = sd e^(-j^2 length): latents sd, length, z. */
static dp_model *make_model(form f)
{
    static const double squares[K] = {0, -1, -4, -9};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr x = dp_data(rows, "x", K), sd = dp_sample(m, "sd", 1, dp_half_normal(2));
    dp_expr length = dp_sample(m, "length", 1, dp_log_normal(-1, 0.5)), z = {0};
    if (f == SCALE_BEHIND)
        z = dp_sample(m, "z", K, dp_normal(0, 1));
    dp_expr s = dp_mul(sd, dp_exp(dp_mul(length, dp_constant(m, K, squares))));
    if (f == SCALE_FIXED)
        s = dp_constant(m, K, squares);
    if (f != SCALE_BEHIND)
        z = dp_sample(m, "z", K, f == NOT_STANDARD ? dp_normal(0, 2) : dp_normal(0, 1));
    dp_expr mean = dp_dot(x, dp_mul(s, z));
    if (f == READ_TWICE)
        mean = dp_add(mean, dp_sum(z));
    dp_observe(rows, "y", dp_normal_v(mean, dp_num(noise)));
    return m;
}

static void scales_are_found_where_they_are_all_that_is_read(void **state)
{
    (void)state;
    for (form f = SOUND; f < N_FORMS; f++) {
        dp_model *m = make_model(f);
        assert_ok(dp_model_status(m), dp_model_error(m));
        size_t found = 0;
        for (size_t s = 0; s < m->n_sites; s++)
            found += dpi_scale_of(m, &m->sites[s]) != DPI_NONE;
        assert_int_equal(found, f == SOUND);
        dp_model_free(m);
    }
}

typedef struct scene {
    records r;
    dp_dataset *data;
    dp_model *m;
    dpi_arena arena;
    dpi_posterior p[2]; /* as it is, and with what records tell */
    dpi_evaluator e[2];
    dpi_recorded told[8];
    double curvature[D * D];
} scene;

static const double *const nothing_loose[8] = {NULL};
static const double top[D] = {0.2, -0.9, 0.7, -0.3, 0.4, 0.1};

static void start(scene *s)
{
    dp_error err = {0};
    double spread[D], room[3 * D];
    memset(s, 0, sizeof *s);
    s->data = make_data(&s->r);
    s->m = make_model(SOUND);
    assert_true(s->m->n_sites <= 8);
    assert_ok(dpi_posterior_init(&s->p[0], s->m, s->data, nothing_loose, NULL, &err), err.text);
    assert_ok(dpi_evaluator_init(&s->e[0], &s->p[0], &err), err.text);
    dpi_target target = dpi_evaluator_target(&s->e[0]);
    assert_int_equal(target.n, D);
    for (size_t i = 0; i < D; i++)
        spread[i] = 1;
    dpi_recorded_spread(&s->e[0], top, spread);
    assert_true(dpi_curvature(&target, top, spread, room, s->curvature));
    assert_ok(dpi_recorded_find(&s->e[0], s->m, top, s->curvature, &s->arena, s->told, &err),
              err.text);
    assert_ok(dpi_posterior_init(&s->p[1], s->m, s->data, nothing_loose, s->told, &err), err.text);
    assert_ok(dpi_evaluator_init(&s->e[1], &s->p[1], &err), err.text);
}

static void finish(scene *s)
{
    for (int k = 0; k < 2; k++) {
        dpi_evaluator_free(&s->e[k]);
        dpi_posterior_free(&s->p[k]);
    }
    dpi_arena_free(&s->arena);
    dp_model_free(s->m);
    dp_dataset_free(s->data);
}

/* Of a normal outcome they are X' X / noise^2 and X' y / noise^2. */
static void what_records_tell_is_found(void **state)
{
    static scene s;
    const dpi_recorded *told = NULL;
    (void)state;
    start(&s);
    for (size_t k = 0; k < s.m->n_sites; k++)
        told = s.told[k].precision != NULL ? &s.told[k] : told;
    assert_non_null(told);
    for (size_t i = 0; i < K; i++) {
        double pull = 0;
        for (size_t j = 0; j < K; j++) {
            double h = 0;
            for (size_t r = 0; r < N; r++)
                h += s.r.x[r * K + i] * s.r.x[r * K + j] / (noise * noise);
            assert_close(told->precision[i * K + j], h, 1e-5, 1e-4);
        }
        for (size_t r = 0; r < N; r++)
            pull += s.r.x[r * K + i] * s.r.y[r] / (noise * noise);
        assert_close(told->pull[i], pull, 1e-4, 1e-3);
    }
    finish(&s);
}

/* Numbers of no pattern around 0, other ones for each k. */
static void place(int k, double *x)
{
    for (size_t i = 0; i < D; i++)
        x[i] = sin(2.3 * (double)i + 1.7 * k);
}

/* Whatever the scale is, z are independent standard normal numbers of the new coordinates where the
 * outcome is normal: the slope there is minus themselves. */
static void coordinates_are_standard_whatever_the_scale(void **state)
{
    static scene s;
    double x[D], gradient[D];
    (void)state;
    start(&s);
    for (int k = 0; k < 10; k++) {
        place(k, x);
        (void)dpi_evaluate(&s.e[1], x, gradient);
        for (size_t i = 2; i < D; i++)
            assert_close(gradient[i], -x[i], 1e-3, 1e-3);
    }
    finish(&s);
}

static void the_gradient_is_that_of_the_density(void **state)
{
    static scene s;
    double x[D], gradient[D], other[D];
    (void)state;
    start(&s);
    for (int k = 0; k < 4; k++) {
        place(k, x);
        (void)dpi_evaluate(&s.e[1], x, gradient);
        for (size_t i = 0; i < D; i++) {
            double keep = x[i], h = 1e-5;
            x[i] = keep + h;
            double up = dpi_evaluate(&s.e[1], x, other);
            x[i] = keep - h;
            double down = dpi_evaluate(&s.e[1], x, other);
            x[i] = keep;
            assert_close(gradient[i], (up - down) / (2 * h), 1e-6, 1e-5);
        }
    }
    finish(&s);
}

/* log |dz / dx| of the map that dpi_evaluator_tie makes, by differences. */
static double volume_at(dpi_evaluator *e, double *x)
{
    double up[D], down[D], m[K * K], square[K * K], log_det = 0;
    for (size_t j = 0; j < K; j++) {
        double keep = x[2 + j], h = 1e-4;
        x[2 + j] = keep + h;
        dpi_evaluator_tie(e, x, up);
        x[2 + j] = keep - h;
        dpi_evaluator_tie(e, x, down);
        x[2 + j] = keep;
        for (size_t i = 0; i < K; i++)
            m[i * K + j] = (up[2 + i] - down[2 + i]) / (2 * h);
    }
    dpi_gemm_global(true, false, K, K, K, m, m, square);
    assert_int_equal(dpi_matrix_factor(K, square, square, NULL), DP_OK);
    for (size_t i = 0; i < K; i++)
        log_det += log(square[i * (K + 1)]);
    return log_det;
}

static void the_density_differs_by_the_volume_alone(void **state)
{
    static scene s;
    double x[D], z[D], gradient[D];
    dp_error err = {0};
    (void)state;
    start(&s);
    for (int k = 0; k < 4; k++) {
        place(k, x);
        dpi_evaluator_tie(&s.e[1], x, z);
        double off = dpi_evaluate(&s.e[1], x, gradient) - dpi_evaluate(&s.e[0], z, gradient);
        assert_close(off, volume_at(&s.e[1], x), 0, 1e-6);
        assert_ok(dpi_recorded_place(&s.e[0], s.m, s.told, z, &err), err.text);
        for (size_t i = 0; i < D; i++)
            assert_close(z[i], x[i], 1e-10, 1e-10);
    }
    finish(&s);
}

/* Scales that are 0 in places leave what they scale to its prior. */
static void a_scale_of_0_is_left_alone(void **state)
{
    static scene s;
    double z[D], gradient[D];
    dp_error err = {0};
    dpi_recorded told[8] = {{NULL, NULL}};
    (void)state;
    start(&s);
    memcpy(z, top, sizeof z);
    z[1] = 8; /* e^(-9 e^8) */
    double spread[D] = {1, 1};
    dpi_recorded_spread(&s.e[0], z, spread);
    for (size_t i = 0; i < D; i++)
        assert_close(spread[i], i < 3 ? 1 : 1e6, 1e-12, 0);
    assert_ok(dpi_recorded_find(&s.e[0], s.m, z, s.curvature, &s.arena, told, &err), err.text);
    for (size_t k = 0; k < s.m->n_sites; k++)
        for (size_t i = 1; told[k].precision != NULL && i < K; i++) {
            assert_true(told[k].pull[i] == 0);
            assert_true(fabs(told[k].precision[i * (K + 1)]) < 1e-12 * told[k].precision[0]);
        }
    z[1] = 8;
    assert_true(isfinite(dpi_evaluate(&s.e[1], z, gradient)));
    finish(&s);
}

/* Sums over a grid, with weights. */
typedef struct moments {
    double total, length, mean[K], square[K];
} moments;

/* Of z given s = e^(log_sd - j^2 e^log_length) A = 1 + S X'X S / noise^2 and w = S X'y / noise^2;
 * the log of the density of the outcomes, but for a constant. */
static double condition(const records *r, double log_sd, double log_length, double *inverse,
                        double *mean)
{
    double a[K * K], w[K] = {0}, s[K], log_weight = 0;
    for (size_t j = 0; j < K; j++)
        s[j] = exp(log_sd - (double)(j * j) * exp(log_length)) / noise;
    for (size_t i = 0; i < K; i++)
        for (size_t j = 0; j < K; j++) {
            a[i * K + j] = i == j;
            for (size_t n = 0; n < N; n++)
                a[i * K + j] += s[i] * s[j] * r->x[n * K + i] * r->x[n * K + j];
        }
    for (size_t n = 0; n < N; n++)
        for (size_t i = 0; i < K; i++)
            w[i] += s[i] * r->x[n * K + i] * r->y[n] / noise;
    assert_int_equal(dpi_matrix_invert(K, a, inverse, NULL), DP_OK);
    assert_int_equal(dpi_matrix_factor(K, a, a, NULL), DP_OK);
    for (size_t i = 0; i < K; i++) {
        mean[i] = dpi_dot(K, inverse + i * K, w);
        log_weight += mean[i] * w[i] / 2 - log(a[i * (K + 1)]);
    }
    return log_weight;
}

/* By log sd from -6 to 2 and log length from -4.5 to 2.5: 7 prior standard deviations each way, and
 * beyond sd = 7 the half normal of scale 2 has 2e-4. */
static void add_up_grid(const records *r, moments *sum)
{
    enum { STEPS = 161 };
    for (int k = 0; k < STEPS * STEPS; k++) {
        double u = -6 + 8.0 * (k / STEPS) / (STEPS - 1), t = -7 + 14.0 * (k % STEPS) / (STEPS - 1);
        double inverse[K * K], mean[K], length = exp(-1 + t / 2);
        double told = condition(r, u, -1 + t / 2, inverse, mean);
        double weight = exp(told + u - exp(2 * u) / 8 - t * t / 2 - 40);
        sum->total += weight;
        sum->length += weight * length;
        for (size_t i = 0; i < K; i++) {
            sum->mean[i] += weight * mean[i];
            sum->square[i] += weight * (mean[i] * mean[i] + inverse[i * (K + 1)]);
        }
    }
}

/* At least 400 of 4000 draws count, whose mean is .05 standard deviations off: .35 are 7 of these,
 * 3e-12.  It is the same draws each time. */
static void the_fit_has_the_moments_of_a_grid(void **state)
{
    static scene s;
    moments sum = {0};
    dp_error err = {0};
    dp_fit *fit;
    dp_summary z[K], length;
    size_t n;
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .seed = 11};
    (void)state;
    start(&s);
    add_up_grid(&s.r, &sum);
    assert_ok(dp_fit_private(s.m, s.data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "z", K, z, &err), err.text);
    assert_ok(dp_fit_summary(fit, "length", 1, &length, &err), err.text);
    for (size_t i = 0; i < K; i++) {
        double mean = sum.mean[i] / sum.total;
        double sd = sqrt(sum.square[i] / sum.total - mean * mean);
        assert_close(z[i].mean, mean, 0, 0.35 * sd);
        assert_close(z[i].sd, sd, 0.3, 0);
    }
    assert_close(length.mean, sum.length / sum.total, 0, 0.35 * length.sd);
    const dp_diagnostic *d = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        assert_false(d[k].bad);
    dp_fit_free(fit);
    finish(&s);
}

static void every_failing_allocation_is_survived(void **state)
{
    static records r;
    dp_dataset *data = make_data(&r);
    dp_model *m = make_model(SOUND);
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .draws = 100, .seed = 1};
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
        cmocka_unit_test(scales_are_found_where_they_are_all_that_is_read),
        cmocka_unit_test(what_records_tell_is_found),
        cmocka_unit_test(coordinates_are_standard_whatever_the_scale),
        cmocka_unit_test(the_gradient_is_that_of_the_density),
        cmocka_unit_test(the_density_differs_by_the_volume_alone),
        cmocka_unit_test(a_scale_of_0_is_left_alone),
        cmocka_unit_test(the_fit_has_the_moments_of_a_grid),
        cmocka_unit_test(every_failing_allocation_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
