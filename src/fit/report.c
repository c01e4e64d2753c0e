/* Phases and diagnostics are what the program that made the fit says; here they are checked for
 * being sound numbers and texts of a line, which can be stored and printed. */
#include "fit/report.h"

#include <math.h>
#include <string.h>

/* ---- phases and diagnostics ---- */

/* A text of one line, at most so many bytes, that says something. */
static bool is_line(const char *text, size_t most)
{
    size_t n = 0;
    for (; text != NULL && text[n] != 0; n++)
        if (n == most || (unsigned char)text[n] < 0x20 || text[n] == 0x7f)
            return false;
    return n > 0;
}

static bool is_phase(const dp_fit_phase *p)
{
    return is_line(p->name, DPI_FIT_WORDS) && isfinite(p->sigma) && p->sigma >= 0 &&
           isfinite(p->clip) && p->clip >= 0;
}

static bool is_diagnostic(const dp_diagnostic *d)
{
    return is_line(d->name, DPI_FIT_WORDS) && is_line(d->words, DPI_FIT_WORDS) &&
           !isnan(d->value) && !isnan(d->limit);
}

static dp_status copy_phases(dp_fit *fit, const dpi_fit_parts *from, dp_error *err)
{
    dp_fit_phase *phases = dpi_arena_alloc(&fit->arena, from->n_phases, sizeof *phases);
    if (phases == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < from->n_phases; k++) {
        if (!is_phase(&from->phases[k]))
            return dpi_fail(err, DP_EINVAL,
                            "phase %zu (from 0) of the fit has no name of one line, or a noise or "
                            "clip norm that is none",
                            k);
        phases[k] = from->phases[k];
        phases[k].name = dpi_arena_strdup(&fit->arena, phases[k].name);
        if (phases[k].name == NULL)
            return dpi_fail_nomem(err);
    }
    fit->parts.phases = phases;
    return DP_OK;
}

static dp_status copy_diagnostics(dp_fit *fit, const dpi_fit_parts *from, dp_error *err)
{
    dp_diagnostic *all = dpi_arena_alloc(&fit->arena, from->n_diagnostics, sizeof *all);
    if (all == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < from->n_diagnostics; k++) {
        if (!is_diagnostic(&from->diagnostics[k]))
            return dpi_fail(err, DP_EINVAL,
                            "diagnostic %zu (from 0) of the fit has no name or words of one line "
                            "and at most %d bytes, or a value that is no number",
                            k, DPI_FIT_WORDS);
        all[k] = from->diagnostics[k];
        all[k].name = dpi_arena_strdup(&fit->arena, all[k].name);
        all[k].words = dpi_arena_strdup(&fit->arena, all[k].words);
        if (all[k].name == NULL || all[k].words == NULL)
            return dpi_fail_nomem(err);
    }
    fit->parts.diagnostics = all;
    return DP_OK;
}

dp_status dpi_report_copy(dp_fit *fit, const dpi_fit_parts *from, dp_error *err)
{
    dp_status status = copy_phases(fit, from, err);
    return status == DP_OK ? copy_diagnostics(fit, from, err) : status;
}

const dp_fit_phase *dp_fit_phases(const dp_fit *fit, size_t *n)
{
    *n = fit->parts.n_phases;
    return fit->parts.phases;
}

const dp_diagnostic *dp_fit_diagnostics(const dp_fit *fit, size_t *n)
{
    *n = fit->parts.n_diagnostics;
    return fit->parts.diagnostics;
}

/* ---- names ---- */

static bool is_of_model(const dp_fit *fit, const char *name)
{
    for (size_t i = 0; i < fit->n_sites[0]; i++)
        if (strcmp(fit->model->sites[i].name, name) == 0)
            return true;
    return false;
}

static dp_fit_quantity quantity_of(const dp_fit *fit, const dpi_site *site)
{
    const dpi_shape *shape = &dpi_get(&fit->model->graph, site->value)->shape;
    dp_fit_role role = site->kind == DPI_LATENT  ? DP_FIT_LATENT
                       : site->kind == DPI_PARAM ? DP_FIT_PARAMETER
                                                 : DP_FIT_DETERMINISTIC;
    return (dp_fit_quantity){.name = site->name,
                             .role = role,
                             .size = dpi_shape_size(shape),
                             .per_record = shape->per_record};
}

dp_status dpi_report_quantities(dp_fit *fit, dp_error *err)
{
    const dpi_objective *o = &fit->objective;
    fit->quantities =
        dpi_arena_alloc(&fit->arena, fit->n_sites[0] + o->n_blocks, sizeof *fit->quantities);
    if (fit->quantities == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < fit->n_sites[0]; i++)
        if (fit->model->sites[i].kind != DPI_OBSERVED)
            fit->quantities[fit->n_quantities++] = quantity_of(fit, &fit->model->sites[i]);
    for (size_t k = 0; k < o->n_blocks; k++)
        if (!is_of_model(fit, o->blocks[k].name))
            fit->quantities[fit->n_quantities++] = (dp_fit_quantity){.name = o->blocks[k].name,
                                                                     .role = DP_FIT_GUIDE_PARAMETER,
                                                                     .size = o->blocks[k].size};
    return DP_OK;
}

const dp_fit_quantity *dp_fit_quantities(const dp_fit *fit, size_t *n)
{
    *n = fit->n_quantities;
    return fit->quantities;
}
