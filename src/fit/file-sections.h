/* The sections of a fit's file, a row each. */
#ifndef DPI_FIT_FILE_SECTIONS_H
#define DPI_FIT_FILE_SECTIONS_H

#include "base/bytes.h"
#include "fit/fit.h"

/* What is read, in an arena or, of the models, made. */
typedef struct dpi_fit_read {
    dpi_arena arena;
    dpi_reader r; /* of the section being read */
    dpi_fit_parts parts;
    dp_privacy privacy;
    dp_fit_source source;
    bool has_privacy, has_run;
} dpi_fit_read;

typedef struct dpi_fit_section {
    const char *name;
    bool (*is_there)(const dp_fit *fit);
    dp_status (*put)(const dp_fit *fit, dpi_bytes *out, dp_error *err);
    /* Reads from read->r.  What it leaves unread, or tries to read beyond the end, is an error of
     * the caller's. */
    dp_status (*get)(dpi_fit_read *read, dp_error *err);
} dpi_fit_section;

extern const dpi_fit_section dpi_fit_sections[];
extern const size_t dpi_n_fit_sections;

/* Rows that are there where a fit keeps draws, or tells of phases and diagnostics (file-kept.c). */
bool dpi_has_kept(const dp_fit *fit);
bool dpi_has_phases(const dp_fit *fit);
bool dpi_has_diagnostics(const dp_fit *fit);
dp_status dpi_put_latents(const dp_fit *fit, dpi_bytes *out, dp_error *err);
dp_status dpi_put_draws(const dp_fit *fit, dpi_bytes *out, dp_error *err);
dp_status dpi_put_phases(const dp_fit *fit, dpi_bytes *out, dp_error *err);
dp_status dpi_put_diagnostics(const dp_fit *fit, dpi_bytes *out, dp_error *err);
dp_status dpi_get_latents(dpi_fit_read *read, dp_error *err);
dp_status dpi_get_draws(dpi_fit_read *read, dp_error *err);
dp_status dpi_get_phases(dpi_fit_read *read, dp_error *err);
dp_status dpi_get_diagnostics(dpi_fit_read *read, dp_error *err);

/* The row that is there where the fit tells how it was asked for (source.c). */
bool dpi_has_source(const dp_fit *fit);
dp_status dpi_put_source(const dp_fit *fit, dpi_bytes *out, dp_error *err);
dp_status dpi_get_source(dpi_fit_read *read, dp_error *err);

/* DP_EDATA where the columns that were read are not those of the model and the guide. */
dp_status dpi_fit_check_columns(const dp_fit *fit, dp_error *err) DP_MUST_CHECK;

#endif
