/* What is exported of a fit, and the two forms that it takes. */
#ifndef TOOLS_EXPORT_H
#define TOOLS_EXPORT_H

#include <stdio.h>

#include "tools/draw-set.h"
#include "tools/options.h"

enum { MOST_NOTES = 24 };

/* A statement about the export: a text, perhaps of several lines, or a number. */
typedef struct export_note {
    const char *name, *text; /* text NULL: the number */
    double number;
} export_note;

/* Outcomes of public records. */
typedef struct export_records {
    const char *outcome;     /* NULL: there are none */
    size_t n, size;          /* records, numbers of each */
    const dp_column *levels; /* of which outcome k is number k; NULL where it is a number */
    double *predicted;       /* [draws][n][size] */
    double *observed;        /* [n][size]; NULL where the file does not tell */
} export_records;

typedef struct export_all {
    export_note note[MOST_NOTES];
    size_t n_notes;
    char created[40], *checks;
    draw_set posterior, prior; /* the prior is empty where nothing can be drawn from it */
    export_records records;
} export_all;

/* Says when, by what, of which fit, and what it cost.  Notes borrow from the fit.  False where
 * memory is out. */
bool export_take_notes(export_all *e, const dp_fit *fit);

/* Writes the posterior as CmdStan writes draws.  False where that cannot be. */
bool export_csv(const export_all *e, FILE *out);

/* Writes all as NetCDF-4 over the file at `path`, in the groups of ArviZ's InferenceData.  False
 * with a message where that cannot be, as in a build without NetCDF. */
bool export_netcdf(const export_all *e, const char *path, message *why);

/* Whether this build can. */
bool export_has_netcdf(message *why);

#endif
