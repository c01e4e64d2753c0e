/* Everything goes into an FNV-1a hash of 64 bits, by its bytes (Fowler, Noll, Vo). */
#include "tests/fit/answers.h"

#include <stdlib.h>
#include <string.h>

#include "fit/fit.h"
#include "tests/lib/check.h"

enum { DRAWS = 3, MOST = 1 << 20 };

static void mix(uint64_t *h, const void *from, size_t n)
{
    const unsigned char *bytes = from;
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ bytes[i]) * UINT64_C(0x100000001b3);
}

static void mix_text(uint64_t *h, const char *text)
{
    mix(h, text != NULL ? text : "none", text != NULL ? strlen(text) + 1 : 5);
}

static void mix_result(uint64_t *h, dp_status status, dp_error *err, const double *values, size_t n)
{
    if (status != DP_OK)
        mix_text(h, err->text);
    else
        mix(h, values, n * sizeof *values);
    *err = (dp_error){0};
}

static void mix_statement(uint64_t *h, dp_fit *fit)
{
    dp_privacy p;
    size_t n;
    dp_fit_privacy(fit, &p);
    mix(h, &p.is_private, sizeof p.is_private);
    mix_text(h, p.why_not);
    mix_text(h, p.warning);
    mix_text(h, p.adjacency);
    const double reals[] = {p.epsilon, p.delta, p.sigma, p.clip, p.rate, p.eta};
    mix(h, reals, sizeof reals);
    mix(h, &p.steps, sizeof p.steps);
    mix(h, &p.epoch, sizeof p.epoch);
    mix(h, &p.sampling, sizeof p.sampling);
    const dp_fit_column *columns = dp_fit_columns(fit, &n);
    for (size_t k = 0; k < n; k++) {
        mix_text(h, columns[k].name);
        mix(h, &columns[k].size, sizeof columns[k].size);
        mix(h, &columns[k].groups, sizeof columns[k].groups);
        mix(h, &columns[k].kind, sizeof columns[k].kind);
        mix(h, &columns[k].most, sizeof columns[k].most);
    }
    mix(h, fit->parts.theta, fit->parts.n_theta * sizeof *fit->parts.theta);
    mix(h, fit->parts.draws, fit->parts.n_draws * fit->parts.draw_size * sizeof(double));
}

static void mix_report(uint64_t *h, const dp_fit *fit)
{
    size_t n;
    const dp_fit_phase *phases = dp_fit_phases(fit, &n);
    for (size_t k = 0; k < n; k++) {
        mix_text(h, phases[k].name);
        mix(h, &phases[k].releases, sizeof phases[k].releases);
        mix(h, &phases[k].sigma, sizeof phases[k].sigma);
        mix(h, &phases[k].clip, sizeof phases[k].clip);
    }
    const dp_diagnostic *diagnostics = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++) {
        mix_text(h, diagnostics[k].name);
        mix(h, &diagnostics[k].value, sizeof diagnostics[k].value);
        mix(h, &diagnostics[k].limit, sizeof diagnostics[k].limit);
        mix(h, &diagnostics[k].bad, sizeof diagnostics[k].bad);
        mix_text(h, diagnostics[k].words);
    }
    const dp_fit_quantity *quantities = dp_fit_quantities(fit, &n);
    for (size_t k = 0; k < n; k++) {
        mix_text(h, quantities[k].name);
        mix(h, &quantities[k].role, sizeof quantities[k].role);
        mix(h, &quantities[k].size, sizeof quantities[k].size);
        mix(h, &quantities[k].per_record, sizeof quantities[k].per_record);
    }
}

/* The value of an expression for each draw and record. */
static void mix_expression(uint64_t *h, const dp_fit *fit, dp_expr e, dp_given given,
                           double *values)
{
    dp_error err = {0};
    const dpi_node *node = dpi_get(&fit->model->graph, e.id);
    size_t n = DRAWS * dp_expr_size(e);
    if (node->shape.per_record)
        n *= dp_dataset_size(given.data);
    assert_true(n <= MOST);
    assert_ok(dp_rng_new(n + 7, &given.rng, &err), err.text);
    mix_result(h, dp_fit_evaluate(fit, e, &given, n, values, &err), &err, values, n);
    dp_rng_free(given.rng);
}

static void mix_column(uint64_t *h, const dp_fit *fit, const char *name, dp_given given,
                       double *values)
{
    dp_error err = {0};
    size_t n = dp_dataset_size(given.data) * dp_fit_size(fit, name);
    assert_ok(dp_rng_new(n + 5, &given.rng, &err), err.text);
    mix_result(h, dp_fit_predict(fit, name, &given, n, values, &err), &err, values, n);
    mix_result(h, dp_fit_simulate(fit, name, &given, DRAWS * n, values, &err), &err, values,
               DRAWS * n);
    dp_rng_free(given.rng);
}

static void mix_latent(uint64_t *h, const dp_fit *fit, const char *name, double *values)
{
    dp_error err = {0};
    size_t n = dp_fit_size(fit, name);
    dp_summary *summary = calloc(n, sizeof *summary);
    assert_non_null(summary);
    dp_status status = dp_fit_summary(fit, name, n, summary, &err);
    for (size_t i = 0; i < n; i++) {
        values[2 * i] = summary[i].mean;
        values[2 * i + 1] = summary[i].sd;
    }
    mix_result(h, status, &err, values, 2 * n);
    free(summary);
}

uint64_t answers_of(dp_fit *fit, const dp_dataset *data)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    double *values = calloc(MOST, sizeof *values), elbo;
    dp_error err = {0};
    dp_given given = {.data = data};
    dp_draws *draws;
    dp_rng *rng;
    assert_non_null(values);
    mix_statement(&h, fit);
    mix_report(&h, fit);
    assert_ok(dp_rng_new(71, &rng, &err), err.text);
    assert_ok(dp_fit_draw(fit, DRAWS, rng, &draws, &err), err.text);
    given.draws = draws;
    mix(&h, dp_draws_values(draws), DRAWS * dp_draws_size(draws) * sizeof *values);
    for (size_t k = 0; k < dp_draws_size(draws); k++)
        mix_text(&h, dp_draws_name(draws, k));
    for (size_t k = 0; k < fit->n_sites[0]; k++) {
        const char *name = fit->model->sites[k].name;
        dp_expr e = dp_fit_expr(fit, name);
        mix_text(&h, name);
        mix_expression(&h, fit, e, given, values);
        mix_expression(&h, fit, dp_sub(dp_square(e), dp_num(0.385)), given, values);
        mix_latent(&h, fit, name, values);
        if (fit->model->sites[k].kind == DPI_OBSERVED)
            mix_column(&h, fit, name, given, values);
    }
    given.rng = rng;
    size_t n = DRAWS * dp_dataset_size(data);
    mix_result(&h, dp_fit_log_density(fit, &given, n, values, &err), &err, values, n);
    mix_result(&h, dp_fit_elbo(fit, data, rng, &elbo, &err), &err, &elbo, 1);
    dp_draws_free(draws);
    dp_rng_free(rng);
    free(values);
    return h;
}
