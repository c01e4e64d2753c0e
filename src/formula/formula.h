/* What a formula is made of. */
#ifndef DPI_FORMULA_FORMULA_H
#define DPI_FORMULA_FORMULA_H

#include <tacit/formula.h>

#include "formula/family.h"
#include "formula/layout.h"
#include "formula/terms.h"

enum { DPI_MOST_PREDICTORS = 1 + DPI_MOST_PARAMETERS };

struct dp_formula {
    dpi_arena arena;
    dpi_script script; /* a copy of the text; no error */
    dpi_response response;
    const dpi_tree *outcome;                    /* arithmetic */
    const dpi_tree *trials, *censored, *weight; /* a name, or of trials a number; NULL: none */
    dpi_predictor
        *predictor[DPI_MOST_PREDICTORS]; /* of the mean, then of the family's parameters in
                                                    * its order; NULL: one number for all */
    const char *text, *family;

    bool laid_out; /* a schema was given */
    dpi_code_book book;
    dpi_outcome_layout laid_outcome;
    double most_weight;                     /* of weights(), from the schema */
    dpi_layout layout[DPI_MOST_PREDICTORS]; /* of predictors that are there */
    dp_formula_number *number;              /* [n_numbers] */
    size_t n_numbers, number_room;
    const dp_column *read[2]; /* [n_read[use]] of the book, by dp_formula_use */
    size_t n_read[2];
    const dpi_asked_prior *prior; /* [n_priors] */
    size_t n_priors;
};

/* Fills read and n_read; false when memory is out. */
bool dpi_formula_list_columns(dp_formula *f);

/* DP_ESTATE where the formula was read without a schema. */
dp_status dpi_formula_need_schema(const dp_formula *f, dp_error *err);

#endif
