/* What a variable of a term may be: a column, or a function of columns. */
#ifndef DPI_FORMULA_ATOM_H
#define DPI_FORMULA_ATOM_H

#include "formula/parse.h"

/* A function of one number. */
typedef struct dpi_function {
    const char *name;
    double (*value)(double x);
    double above; /* it is increasing, and there for x > above, or x >= above */
    bool at;      /* also at `above` itself */
} dpi_function;

/* The row of that name, or NULL. */
const dpi_function *dpi_function_find(const char *name);

/* What to write in place of a function of R that formulas have not, or have elsewhere; NULL where
 * nothing is known of one of that name. */
const char *dpi_function_instead(const char *name);

/* Whether the tree is arithmetic: numbers, columns, + - * / ^, I(), and functions of the table.
 * DP_EINVAL with the place where not. */
dp_status dpi_arithmetic_check(const dpi_script *script, const dpi_tree *tree);

/* Whether the tree is a variable: a column, a function of the table, I(), factor(), C() or poly(),
 * each with the arguments that it has.  DP_EINVAL, DP_EUNSUPPORTED with the place where not. */
dp_status dpi_atom_check(const dpi_script *script, const dpi_tree *tree);

/* The same for the special terms s(x, k = 10) and gp(x, k = 20). */
dp_status dpi_smooth_check(const dpi_script *script, const dpi_tree *tree);

/* How many functions such a term that was checked is made of. */
size_t dpi_smooth_size(const dpi_tree *tree);

/* The columns that they are: of s() without the constant, which the intercept is. */
size_t dpi_smooth_columns(const dpi_tree *tree);

/* The argument with that label, or, where arguments have none, at that place (from 0); NULL where
 * it is not there. */
const dpi_tree *dpi_argument(const dpi_tree *call, const char *label, size_t place);

/* A whole number that an argument gives, within low ... high; `otherwise` where it is not there.
 * DP_EINVAL with the place. */
dp_status dpi_argument_count(const dpi_script *script, const dpi_tree *call, const char *label,
                             const size_t limits[3], size_t *count);

/* TRUE or FALSE. */
bool dpi_is_true(const dpi_tree *argument);

#endif
