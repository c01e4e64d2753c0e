/* A formula under a schema: what its predictors read, and what its outcome is. */
#ifndef DPI_FORMULA_LAYOUT_H
#define DPI_FORMULA_LAYOUT_H

#include "formula/design.h"
#include "formula/family.h"

enum { DPI_MOST_MEMBERS = 100 * 1000 * 1000 }; /* groups of one kind */

/* One predictor. */
typedef struct dpi_layout {
    dpi_variable *variable; /* [n_variables] */
    dpi_design design;
    dpi_design *effects; /* [n_groupings]: not centred */
    size_t *members;     /* [n_groupings]: groups of each kind */
    dpi_span *smooth;    /* [n_smooths]: of what they are functions of */
    double offset;       /* the middle of what is added; 0 where that has no end */
} dpi_layout;

/* The outcome.  A predictor's value p is one of a parameter centre + unit * p: the middle of the
 * range and a quarter of it where the outcome is a real number with the identity as its link; where
 * its logarithm is modelled, or that of its mean, 1 and the logarithm of an eighth of the range above
 * its lower end (of half for real numbers, of a 32nd for counts, which tell more the larger their
 * mean is taken to be: a fit comes up better than down); 0 and 1 otherwise. */
typedef struct dpi_outcome_layout {
    const dp_column *column; /* where it is a column; else NULL */
    dpi_span range;
    size_t categories; /* of levels; else 0 */
    double centre, unit;
    bool placed; /* centre and unit follow from the range */
    double size; /* a quarter of the range of a real number, under any link; else 1 */
} dpi_outcome_layout;

dp_status dpi_layout_make(const dpi_script *script, const dpi_code_book *book,
                          const dpi_predictor *p, dpi_arena *arena, dpi_layout *layout);

/* DP_EINVAL, DP_EDOMAIN where the schema lets it have values that the family has not. */
dp_status dpi_outcome_make(const dpi_script *script, const dpi_code_book *book,
                           const dpi_response *response, const dpi_tree *tree,
                           dpi_outcome_layout *outcome);

#endif
