/* What the releases say of the answer, in words; it costs nothing. */
#ifndef DPI_INFER_DIAGNOSE_H
#define DPI_INFER_DIAGNOSE_H

#include "infer/rounds.h"

enum { DPI_DIAGNOSES = 5, DPI_DIAGNOSIS_WORDS = 320 };

/* Room for words that hold numbers. */
typedef struct dpi_diagnosis {
    char words[DPI_DIAGNOSES][DPI_DIAGNOSIS_WORDS];
} dpi_diagnosis;

/* Fills list[]; returns how many. */
size_t dpi_diagnose(const dpi_rounds *r, dpi_diagnosis *room, dp_diagnostic *list);

#endif
