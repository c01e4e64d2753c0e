/* Sections of what is kept beside parameters: draws of the posterior, and what the program that
 * made the fit says of its phases and checks.  None is there where there is nothing to say, so that
 * files without are as they were before these sections existed.
 *
 * Whether draws lie in their supports, and phases and diagnostics are sound, is looked at where
 * fits are made (kept.c, report.c). */
#include "base/error.h"
#include "fit/draws.h"
#include "fit/file-sections.h"

/* ---- draws ---- */

bool dpi_has_kept(const dp_fit *fit)
{
    return fit->kept != NULL;
}

/* What the numbers of the next section are called, for readers that do not know models. */
dp_status dpi_put_latents(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    const dp_draws *kept = fit->kept;
    dpi_bytes_number(out, kept->n);
    dpi_bytes_number(out, kept->size);
    dpi_bytes_number(out, kept->n_drawn);
    for (size_t k = 0; k < kept->n_drawn; k++) {
        const dpi_drawn *drawn = &kept->drawn[k];
        dpi_id value = dpi_find_site(fit->model, drawn->latent)->value;
        const dpi_shape *shape = &dpi_get(&fit->model->graph, value)->shape;
        dpi_bytes_text(out, drawn->latent);
        dpi_bytes_number(out, drawn->first);
        dpi_bytes_number(out, (uint64_t)shape->n_dims);
        for (int i = 0; i < shape->n_dims; i++)
            dpi_bytes_number(out, shape->dim[i]);
    }
    return DP_OK;
}

/* The model says the same of names and places, which is compared when the fit is written again. */
dp_status dpi_get_latents(dpi_fit_read *read, dp_error *err)
{
    (void)err;
    read->parts.n_draws = dpi_read_count(&read->r, SIZE_MAX);
    read->parts.draw_size = dpi_read_count(&read->r, SIZE_MAX);
    (void)dpi_read_bytes(&read->r, read->r.left);
    return DP_OK;
}

dp_status dpi_put_draws(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    for (size_t i = 0; i < fit->kept->n * fit->kept->size; i++)
        dpi_bytes_real(out, fit->kept->values[i]);
    return DP_OK;
}

dp_status dpi_get_draws(dpi_fit_read *read, dp_error *err)
{
    size_t n;
    double *draws = NULL;
    if (!dpi_mul(read->parts.n_draws, read->parts.draw_size, &n))
        read->r.bad = true;
    else if (!dpi_read_reals(&read->r, &read->arena, n, &draws))
        return dpi_fail_nomem(err);
    read->parts.draws = draws;
    return DP_OK;
}

/* ---- phases ---- */

bool dpi_has_phases(const dp_fit *fit)
{
    return fit->parts.n_phases > 0;
}

dp_status dpi_put_phases(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    dpi_bytes_number(out, fit->parts.n_phases);
    for (size_t k = 0; k < fit->parts.n_phases; k++) {
        const dp_fit_phase *phase = &fit->parts.phases[k];
        dpi_bytes_text(out, phase->name);
        dpi_bytes_number(out, phase->releases);
        dpi_bytes_real(out, phase->sigma);
        dpi_bytes_real(out, phase->clip);
    }
    return DP_OK;
}

dp_status dpi_get_phases(dpi_fit_read *read, dp_error *err)
{
    enum { LEAST = 5 * 8 }; /* bytes of a phase with a name */
    dpi_reader *r = &read->r;
    size_t n = dpi_read_count(r, r->left / LEAST);
    dp_fit_phase *phases = dpi_arena_alloc(&read->arena, n, sizeof *phases);
    if (phases == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < n && !r->bad; k++) {
        if (!dpi_read_text(r, &read->arena, false, &phases[k].name))
            return dpi_fail_nomem(err);
        phases[k].releases = dpi_read_number(r);
        phases[k].sigma = dpi_read_real(r);
        phases[k].clip = dpi_read_real(r);
    }
    read->parts.phases = phases;
    read->parts.n_phases = n;
    return DP_OK;
}

/* ---- diagnostics ---- */

bool dpi_has_diagnostics(const dp_fit *fit)
{
    return fit->parts.n_diagnostics > 0;
}

dp_status dpi_put_diagnostics(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    (void)err;
    dpi_bytes_number(out, fit->parts.n_diagnostics);
    for (size_t k = 0; k < fit->parts.n_diagnostics; k++) {
        const dp_diagnostic *d = &fit->parts.diagnostics[k];
        dpi_bytes_text(out, d->name);
        dpi_bytes_real(out, d->value);
        dpi_bytes_real(out, d->limit);
        dpi_bytes_number(out, d->bad);
        dpi_bytes_text(out, d->words);
    }
    return DP_OK;
}

dp_status dpi_get_diagnostics(dpi_fit_read *read, dp_error *err)
{
    enum { LEAST = 7 * 8 }; /* bytes of a diagnostic with a name and words */
    dpi_reader *r = &read->r;
    size_t n = dpi_read_count(r, r->left / LEAST);
    dp_diagnostic *all = dpi_arena_alloc(&read->arena, n, sizeof *all);
    if (all == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < n && !r->bad; k++) {
        bool room = dpi_read_text(r, &read->arena, false, &all[k].name);
        all[k].value = dpi_read_real(r);
        all[k].limit = dpi_read_real(r);
        all[k].bad = dpi_read_count(r, 1) != 0;
        if (!room || !dpi_read_text(r, &read->arena, false, &all[k].words))
            return dpi_fail_nomem(err);
    }
    read->parts.diagnostics = all;
    read->parts.n_diagnostics = n;
    return DP_OK;
}
