/* Columns of a predictor: what its terms become, by the schema alone. */
#ifndef DPI_FORMULA_DESIGN_H
#define DPI_FORMULA_DESIGN_H

#include "formula/arithmetic.h"
#include "formula/terms.h"

enum { DPI_MOST_DESIGN = 4096 }; /* columns of a predictor, and effects of groups */

typedef enum dpi_variable_kind {
    DPI_VARIABLE_NUMBER = 0,
    DPI_VARIABLE_FACTOR,
    DPI_VARIABLE_POLYNOMIAL
} dpi_variable_kind;

/* A variable of a predictor, which is one column or several. */
typedef struct dpi_variable {
    dpi_variable_kind kind;
    const char *text;
    const dpi_tree *tree;    /* NUMBER, POLYNOMIAL: arithmetic */
    dpi_span range;          /* of it */
    const dp_column *factor; /* FACTOR */
    bool sum;                /* FACTOR: contrasts with the mean; else with the first level */
    size_t degree;           /* POLYNOMIAL */
    bool binary;             /* NUMBER: an INTEGER column of 0 and 1 */
    bool raw;                /* POLYNOMIAL: powers; else Legendre's polynomials on the range */
} dpi_variable;

/* One factor of a product: column j of a variable. */
typedef struct dpi_column_part {
    const dpi_variable *variable;
    bool full; /* a factor with a column for each of its levels, without contrasts */
    size_t j;
} dpi_column_part;

/* A column: a product, moved by its centre and divided by its scale. */
typedef struct dpi_design_column {
    const char *name; /* as in R, "age:urbanY" */
    const dpi_column_part *part;
    size_t n_parts;
    dpi_span range; /* of the product */
    double centre, scale;
} dpi_design_column;

typedef struct dpi_design {
    bool intercept;
    dpi_design_column *column; /* [n], without the intercept */
    size_t n, capacity;
} dpi_design;

/* Variables of a predictor, [p->n_variables] in the arena.  DP_ENAME, DP_EINVAL, DP_EDOMAIN with
 * the place; DP_ENOMEM. */
dp_status dpi_variables_make(const dpi_script *script, const dpi_code_book *book,
                             const dpi_predictor *p, dpi_arena *arena, dpi_variable **variables);

/* Columns of a list of terms.  `centred`: each number is moved so that the middle of its range is
 * 0, where there is an intercept.  DP_EINVAL too many, or a column that is the same for all;
 * DP_ENOMEM. */
dp_status dpi_design_make(const dpi_script *script, const dpi_predictor *p,
                          const dpi_term_list *terms, const dpi_variable *variables, bool centred,
                          dpi_arena *arena, dpi_design *design);

/* Whether all parts are factors, or numbers that are 0 or 1: such a column stays as it is. */
bool dpi_column_is_plain(const dpi_design_column *column);

/* Value of column j of a variable, from the number or the level that a record has there. */
double dpi_variable_value(const dpi_variable *v, bool full, size_t j, double number);

#endif
