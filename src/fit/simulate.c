/* Ancestral sampling: latents in the order of their declaration, each from its arguments' values,
 * then records.  After each latent the global side is run again; models have few sites. */
#include <tacit/simulate.h>

#include <math.h>

#include "exec/run.h"
#include "model/factor.h"
#include "model/proper.h"
#include "random/gsl.h"
#include "random/rng.h"

enum { CHUNK = 256 };

struct dp_simulator {
    const dp_model *model;
    size_t n_sites; /* of the model when this was made; what was added since is not simulated */
    dpi_run *run;
    size_t n;
    bool drawn;
    dpi_arena arena;
    double *arg[DPI_MAX_ARGS]; /* arguments of a site, of one record */
    double *value;             /* numbers of a site, of one record */
};

static dp_status check(const dp_model *model, dp_error *err)
{
    if (model->err.status != DP_OK)
        return dpi_fail(err, model->err.status, "%s", model->err.text);
    for (size_t i = 0; i < model->n_sites; i++)
        if (model->sites[i].kind == DPI_LATENT &&
            dpi_get(&model->graph, model->sites[i].value)->shape.per_record)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "latent '%s' belongs to each record; such models "
                            "cannot be simulated yet",
                            model->sites[i].name);
    return DP_OK;
}

static size_t size_of(const dp_model *model, dpi_id id)
{
    return dpi_shape_size(&dpi_get(&model->graph, id)->shape);
}

/* Room for the largest site, and the largest of each argument. */
static dp_status make_room(dp_simulator *s, dp_error *err)
{
    size_t value = 1, arg[DPI_MAX_ARGS] = {0};
    for (size_t i = 0; i < s->n_sites; i++) {
        const dpi_site *site = &s->model->sites[i];
        size_t size = site->kind == DPI_LATENT ? size_of(s->model, site->value) : 0;
        value = size > value ? size : value;
        for (int k = 0; site->family != NULL && k < site->family->n_args; k++) {
            size = size_of(s->model, site->arg[k]);
            arg[k] = size > arg[k] ? size : arg[k];
        }
    }
    s->value = dpi_arena_alloc(&s->arena, value, sizeof *s->value);
    for (int k = 0; k < DPI_MAX_ARGS; k++)
        if ((s->arg[k] = dpi_arena_alloc(&s->arena, arg[k], sizeof **s->arg)) == NULL)
            return dpi_fail_nomem(err);
    return s->value != NULL ? DP_OK : dpi_fail_nomem(err);
}

dp_status dp_simulator_new(const dp_model *model, const dp_dataset *data, dp_simulator **out,
                           dp_error *err)
{
    *out = NULL;
    dp_status status = check(model, err);
    if (status != DP_OK)
        return status;
    dp_simulator *s = dpi_alloc(1, sizeof *s);
    dpi_id *wanted = dpi_alloc(model->n_sites, (DPI_MAX_ARGS + 1) * sizeof *wanted);
    size_t n = 0;
    if (s == NULL || wanted == NULL) {
        dpi_free(s);
        dpi_free(wanted);
        return dpi_fail_nomem(err);
    }
    for (size_t i = 0; i < model->n_sites; i++) {
        const dpi_site *site = &model->sites[i];
        if (site->kind == DPI_LATENT || site->kind == DPI_PARAM)
            wanted[n++] = site->value;
        for (int k = 0; site->family != NULL && k < site->family->n_args; k++)
            wanted[n++] = site->arg[k];
    }
    s->model = model;
    s->n_sites = model->n_sites;
    status = make_room(s, err);
    s->n = data->n;
    dpi_run_spec spec = {
        .graph = &model->graph, .wanted = wanted, .n_wanted = n, .data = data, .chunk = CHUNK};
    if (status == DP_OK)
        status = dpi_run_new(&spec, &s->run, err);
    dpi_free(wanted);
    if (status != DP_OK) {
        dp_simulator_free(s);
        return status;
    }
    *out = s;
    return DP_OK;
}

void dp_simulator_free(dp_simulator *s)
{
    if (s == NULL)
        return;
    dpi_run_free(s->run);
    dpi_arena_free(&s->arena);
    dpi_free(s);
}

/* Draws the `size` numbers of a site for record r of the chunk (0 for a global site). */
static void draw_site(dp_simulator *s, const dpi_site *site, gsl_rng *rng, size_t r, size_t size,
                      double *out)
{
    const double *arg[DPI_MAX_ARGS] = {NULL};
    size_t arg_size[DPI_MAX_ARGS] = {0};
    for (int k = 0; k < site->family->n_args; k++) {
        const dpi_shape *of_arg = &dpi_get(&s->model->graph, site->arg[k])->shape;
        arg_size[k] = dpi_shape_size(of_arg);
        dpi_run_read(s->run, site->arg[k], of_arg->per_record ? r * arg_size[k] : 0, arg_size[k],
                     s->arg[k]);
        arg[k] = s->arg[k];
    }
    const dpi_shape *shape = &dpi_get(&s->model->graph, site->value)->shape;
    size_t row = dpi_value_size(site->family, shape);
    dpi_draw_site(site->family, rng, arg, arg_size, size, row, out);
}

static size_t site_size(const dp_simulator *s, const dpi_site *site)
{
    return dpi_shape_size(&dpi_get(&s->model->graph, site->value)->shape);
}

/* The site of that name, or NULL. */
static const dpi_site *find_site(const dp_simulator *s, const char *name)
{
    const dpi_site *site = dpi_find_site(s->model, name);
    return site != NULL && (size_t)(site - s->model->sites) < s->n_sites ? site : NULL;
}

dp_status dp_simulate_prior(dp_simulator *s, dp_rng *rng, dp_error *err)
{
    gsl_rng source = dpi_rng_gsl(rng);
    s->drawn = false; /* until all is */
    dp_status status = dpi_need_proper(s->model, "nothing can be drawn from", err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < s->n_sites; i++) {
        const dpi_site *site = &s->model->sites[i];
        if (site->kind == DPI_PARAM)
            return dpi_fail(err, DP_EUNSUPPORTED, "parameter '%s' has no prior to draw from",
                            site->name);
        if (site->kind != DPI_LATENT)
            continue;
        dpi_run_globals(s->run);
        draw_site(s, site, &source, 0, site_size(s, site), s->value);
        dpi_run_write(s->run, site->value, 0, site_size(s, site), s->value);
    }
    dpi_run_globals(s->run);
    s->drawn = true;
    return DP_OK;
}

dp_status dp_simulated(const dp_simulator *s, const char *name, size_t n, double *values,
                       dp_error *err)
{
    const dpi_site *site = find_site(s, name);
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    if (site == NULL || site->kind != DPI_LATENT)
        return dpi_fail(err, DP_ENAME, "the model has no latent '%s'", name);
    if (site_size(s, site) != n)
        return dpi_fail(err, DP_ESHAPE, "latent '%s' has %zu numbers, not %zu", name,
                        site_size(s, site), n);
    if (!s->drawn)
        return dpi_fail(err, DP_ESTATE, "nothing is drawn yet; call dp_simulate_prior first");
    dpi_run_read(s->run, site->value, 0, n, values);
    return DP_OK;
}

dp_status dp_simulate_records(dp_simulator *s, const char *name, dp_rng *rng, size_t n,
                              double *values, dp_error *err)
{
    const dpi_site *site = find_site(s, name);
    for (size_t i = 0; i < n; i++)
        values[i] = NAN;
    dp_status status = dpi_check_drawn(s->model, s->n_sites, name, err);
    if (status != DP_OK)
        return status;
    if (site == NULL || site->kind != DPI_OBSERVED)
        return dpi_fail(err, DP_ENAME, "the model observes no column '%s'", name);
    size_t size = site_size(s, site);
    if (n != s->n * size)
        return dpi_fail(err, DP_ESHAPE, "column '%s' has %zu x %zu numbers, not %zu", name, s->n,
                        size, n);
    if (!s->drawn)
        return dpi_fail(err, DP_ESTATE, "latents are not drawn yet; call dp_simulate_prior first");
    gsl_rng source = dpi_rng_gsl(rng);
    for (size_t first = 0; first < s->n; first += CHUNK) {
        size_t m = s->n - first < CHUNK ? s->n - first : CHUNK;
        dpi_run_draw(s->run, 0, m, dpi_rng_stream(rng));
        dpi_run_records(s->run, m, NULL, first);
        for (size_t r = 0; r < m; r++)
            draw_site(s, site, &source, r, size, values + (first + r) * size);
    }
    return DP_OK;
}
