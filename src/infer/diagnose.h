/* What the releases say of the answer, in words; it costs nothing. */
#ifndef DPI_INFER_DIAGNOSE_H
#define DPI_INFER_DIAGNOSE_H

#include "infer/rounds.h"

enum { DPI_DIAGNOSES = 9, DPI_DIAGNOSIS_WORDS = 320 };

/* Room for words that hold numbers. */
typedef struct dpi_diagnosis {
    char words[DPI_DIAGNOSES][DPI_DIAGNOSIS_WORDS];
} dpi_diagnosis;

/* Fills list[DPI_DIAGNOSES]; *n [out] is how many.  guide: of each block of theta's numbers the
 * posterior's means and then the logarithms of its standard deviations, as a mean-field guide has
 * them.  DP_EDOMAIN where what was released is no number; DP_ENOMEM. */
dp_status dpi_diagnose(const dpi_rounds *r, const double *guide, dpi_diagnosis *room,
                       dp_diagnostic *list, size_t *n, dp_error *err) DP_MUST_CHECK;

#endif
