/* Mechanisms that tell all or nothing, which are taken out of a list before it is composed. */
#ifndef DPI_ACCOUNTANT_ANSWERS_RARE_H
#define DPI_ACCOUNTANT_ANSWERS_RARE_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/accountant.h>

#include "accountant/answers/composition.h"

typedef struct dpi_rare {
    dp_mechanism *rest; /* [n], those that are left; owned */
    size_t n;
    double least, most; /* bounds on the chance that one of those taken out has told all */
} dpi_rare;

/* Whether a list has any. */
bool dpi_rare_any(const dp_mechanism *list, size_t n);

/* Takes them out.  DP_EDOMAIN, DP_EMISMATCH a field of theirs; DP_ENOMEM.  All zero on errors. */
dp_status dpi_rare_take(const dp_mechanism *list, size_t n, dpi_rare *rare, dp_error *err);
void dpi_rare_free(dpi_rare *rare);

/* What is left of delta for the rest: for an upper bound on epsilon rounded down, else up; at most
 * 0 where nothing is left. */
double dpi_rare_left(const dpi_rare *rare, double delta, dpi_side side);

/* The whole delta, where the rest has `delta`: rounded up for an upper bound, else down. */
double dpi_rare_whole(const dpi_rare *rare, double delta, dpi_side side);

#endif
