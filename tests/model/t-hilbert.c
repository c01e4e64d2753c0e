/* Gaussian processes by sines: the kernel that they have, what is refused, and a fit. */
#include <math.h>

#include "exec/value.h"
#include "model/model.h"
#include "tests/lib/check.h"
#include <tacit/fit.h>
#include <tacit/models.h>
#include <tacit/smooth.h>

enum { POINTS = 9, MOST = 100 };

static double kernel_at(dp_gp_kernel kernel, double r)
{
    double a = sqrt(kernel == DP_GP_MATERN_32 ? 3 : 5) * r;
    return kernel == DP_GP_SQUARED_EXPONENTIAL ? exp(-r * r / 2)
           : kernel == DP_GP_MATERN_32         ? (1 + a) * exp(-a)
                                               : (1 + a + a * a / 3) * exp(-a);
}

/* Sines at points over the range and beside it, and scales. */
static void run_parts(const dp_gp_opts *o, double length, const double *x, double *basis,
                      double *scales)
{
    dp_error err = {0};
    dpi_run *run;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr l = dp_mul(dp_num(length), dp_constant(m, 1, (const double[]){1}));
    dp_expr parts[] = {dp_hilbert_basis(dp_data(rows, "x", 1), o),
                       dp_hilbert_scales(dp_num(1.3), l, o)};
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_dataset *data = dp_dataset_new(POINTS);
    dp_dataset_real(data, "x", 1, x);
    const dpi_id wanted[] = {parts[0].id, parts[1].id};
    dpi_run_spec spec = {
        .graph = &m->graph, .wanted = wanted, .n_wanted = 2, .data = data, .chunk = POINTS};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    dpi_run_globals(run);
    dpi_run_records(run, POINTS, NULL, 0);
    dpi_run_read(run, wanted[0], 0, POINTS * o->functions, basis);
    dpi_run_read(run, wanted[1], 0, o->functions, scales);
    dpi_run_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* sum_j scale_j^2 phi_j(x) phi_j(x') against 1.3^2 k(|x - x'| / length); x from 2 to 12. */
static void check_kernel(dp_gp_opts o, double length, double within)
{
    static const double x[POINTS] = {2, 2.5, 4, 5.3, 7, 7.1, 9, 11.7, 12};
    static double basis[POINTS * MOST], scales[MOST];
    o.low = 2;
    o.high = 12;
    run_parts(&o, length, x, basis, scales);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t k = 0; k < POINTS; k++) {
            double sum = 0, r = fabs(x[i] - x[k]) / (10 * length);
            for (size_t j = 0; j < o.functions; j++)
                sum +=
                    scales[j] * scales[j] * basis[i * o.functions + j] * basis[k * o.functions + j];
            assert_close(sum, 1.69 * kernel_at(o.kernel, r), 0, 1.69 * within);
        }
}

static void covariances_are_the_kernel(void **state)
{
    (void)state;
    check_kernel((dp_gp_opts){.functions = 30}, 0.06, 0.01);
    check_kernel((dp_gp_opts){.functions = 30}, 0.15, 1e-3);
    check_kernel((dp_gp_opts){.functions = 30}, 0.3, 0.01);
    check_kernel((dp_gp_opts){.functions = 100, .boundary = 5}, 0.2, 1e-9);
    check_kernel((dp_gp_opts){.functions = 100, .kernel = DP_GP_MATERN_52}, 0.15, 2e-3);
    check_kernel((dp_gp_opts){.functions = 100, .kernel = DP_GP_MATERN_32}, 0.15, 6e-3);
}

static void beyond_the_range_is_its_end(void **state)
{
    (void)state;
    static const double x[POINTS] = {0, -1, -1e9, 1, 2, 1e9, 0.5, 0.5, 0.5};
    double basis[POINTS * 5], scales[5];
    const dp_gp_opts o = {.low = 0, .high = 1, .functions = 5};
    run_parts(&o, 0.2, x, basis, scales);
    for (size_t j = 0; j < 5; j++) {
        assert_close(basis[5 + j], basis[j], 0, 1e-15);
        assert_close(basis[10 + j], basis[j], 0, 1e-15);
        assert_close(basis[20 + j], basis[15 + j], 0, 1e-15);
        assert_close(basis[25 + j], basis[15 + j], 0, 1e-6);
    }
}

static void options_that_are_none_are_refused(void **state)
{
    (void)state;
    static const struct {
        dp_gp_opts opts;
        const char *says;
    } bad[] = {{{.low = 1, .high = 1}, "give a public range"},
               {{.low = NAN, .high = 1}, "give a public range"},
               {{.high = 1, .functions = 1}, "2 to 200 functions"},
               {{.high = 1, .functions = 201}, "2 to 200 functions"},
               {{.high = 1, .boundary = 1}, "the boundary is 1.1 to 10"},
               {{.high = 1, .boundary = NAN}, "the boundary is 1.1 to 10"},
               {{.high = 1, .sd_scale = -1}, "scales of priors are above 0"},
               {{.high = 1, .length = INFINITY}, "scales of priors are above 0"},
               {{.high = 1, .kernel = (dp_gp_kernel)3}, "one of dp_gp_kernel"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_model *m = dp_model_new();
        dp_expr x = dp_data(dp_unit_plate(m, "rows"), "x", 1);
        (void)dp_hilbert_gp(x, "f", &bad[i].opts);
        assert_int_equal(dp_model_status(m), DP_EDOMAIN);
        assert_contains(dp_model_error(m), bad[i].says);
        dp_model_free(m);
    }
    dp_model *m;
    dp_error err = {0};
    assert_int_equal(dp_gaussian_process(&(dp_gaussian_process_opts){{0}, 0, 0}, &m, &err),
                     DP_EDOMAIN);
    assert_null(m);
    m = dp_model_new();
    dp_expr x = dp_data(dp_unit_plate(m, "rows"), "x", 2);
    (void)dp_hilbert_gp(x, "f", &(dp_gp_opts){.high = 1});
    assert_int_equal(dp_model_status(m), DP_ESHAPE);
    dp_model_free(m);
}

/* ---- a fit ---- */

enum { SEEN = 100 };

/* The curve is found where there are records: its error is about 0.3 sqrt(8 / SEEN) = 0.09, as the
 * sum of some eight sines, and half of that between them. */
static void a_curve_is_found(void **state)
{
    (void)state;
    double x[SEEN], y[SEEN], noise[SEEN], at[5] = {-0.9, -0.4, 0, 0.35, 0.8}, found[5 * 200];
    dp_error err = {0};
    dp_rng *rng;
    dp_fit *fit;
    assert_ok(dp_rng_new(41, &rng, &err), err.text);
    dp_rng_normal(rng, SEEN, noise);
    for (size_t i = 0; i < SEEN; i++) {
        x[i] = -1 + 2 * ((double)i + 0.5) / SEEN;
        y[i] = sin(4 * x[i]) + 0.3 * noise[i];
    }
    dp_model *m;
    const dp_gaussian_process_opts opts = {.process = {.low = -1, .high = 1, .functions = 16}};
    assert_ok(dp_gaussian_process(&opts, &m, &err), err.text);
    dp_dataset *data = dp_dataset_new(SEEN);
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_svi *svi;
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                           .steps = 1500,
                           .step_size = 0.02,
                           .sampling = DP_SAMPLING_FULL,
                           .average = 0.3,
                           .seed = 1};
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    dp_summary told;
    assert_ok(dp_fit_summary(fit, "noise_sd", 1, &told, &err), err.text);
    assert_close(told.mean, 0.3, 0.35, 0);
    dp_draws *draws;
    assert_ok(dp_fit_draw(fit, 200, rng, &draws, &err), err.text);
    dp_dataset *grid = dp_dataset_new(5);
    dp_dataset_real(grid, "x", 1, at);
    const dp_given given = {.data = grid, .draws = draws};
    assert_ok(dp_fit_evaluate(fit, dp_fit_expr(fit, "mean"), &given, 5 * 200, found, &err),
              err.text);
    for (size_t k = 0; k < 5; k++) {
        double mean = 0, square = 0;
        for (size_t d = 0; d < 200; d++)
            mean += found[d * 5 + k] / 200;
        for (size_t d = 0; d < 200; d++)
            square += pow(found[d * 5 + k] - mean, 2) / 200;
        assert_close(mean, sin(4 * at[k]), 0, 0.3);
        assert_true(sqrt(square) < 0.3);
    }
    dp_dataset_free(grid);
    dp_draws_free(draws);
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
    dp_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_are_the_kernel),
        cmocka_unit_test(beyond_the_range_is_its_end),
        cmocka_unit_test(options_that_are_none_are_refused),
        cmocka_unit_test(a_curve_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
