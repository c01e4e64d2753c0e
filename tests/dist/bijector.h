/* Bijectors onto rows of numbers, run at given numbers, and their Jacobians by differences. */
#ifndef TESTS_DIST_BIJECTOR_H
#define TESTS_DIST_BIJECTOR_H

#include "dist/support.h"
#include "exec/value.h"
#include "tests/lib/check.h"

enum { MOST_FREE = 10 };

typedef struct bijector {
    dpi_arena arena;
    dp_error err;
    dpi_graph g;
    dpi_id z, x, log_jacobian;
    size_t n_free; /* numbers of z of one value */
    dpi_run *run;
} bijector;

/* Of `rows` values, each a row of k numbers; or of one matrix [k][k]. */
void bijector_open(bijector *b, dpi_support_kind kind, size_t rows, size_t k);
void bijector_close(bijector *b);

/* x at all numbers of z. */
const double *bijector_at(bijector *b, const double *z);

/* log |dx/dz| at z of one value against that of extrapolated differences of x's numbers at[n_free];
 * and the way back from x to z, where `off` is what rounding of x leaves of it. */
void bijector_check(dpi_support_kind kind, size_t k, const size_t *at, const double *z, double off);

/* Likewise where those numbers of x are a part of it, along which log |dx/dz| is `more` larger. */
void bijector_check_part(dpi_support_kind kind, size_t k, const size_t *at, const double *z,
                         double off, double more);

#endif
