/* What a fit by the loop says of itself. */
#ifndef DPI_INFER_LOOP_REPORT_H
#define DPI_INFER_LOOP_REPORT_H

#include "fit/fit.h"

typedef struct dpi_loop_found {
    const char *why; /* the rounds do not take the model */
    bool noisy;
    double drift; /* of the guide's means at the end, in its standard deviations; NaN: none */
    double delta; /* times the number of records, from below */
    bool factors; /* of owners who open factors */
    uint64_t local_steps; /* that owners took by themselves between two openings; 0: none */
} dpi_loop_found;

enum { DPI_LOOP_LINES = 4 };

typedef struct dpi_loop_report {
    char words[DPI_LOOP_LINES][DPI_FIT_WORDS + 1];
    dp_diagnostic list[DPI_LOOP_LINES];
    size_t n;
} dpi_loop_report;

/* Fills the report, whose list points into it: one bad line always, of the method. */
void dpi_loop_say(const dpi_loop_found *found, dpi_loop_report *to);

#endif
