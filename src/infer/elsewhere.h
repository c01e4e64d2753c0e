/* What records tell of a linear predictor elsewhere, of what they tell here.
 *
 * Of outcomes whose information is phi(eta), eta = x'theta, all records together have
 * F(theta) = sum phi(eta) x x'.  From F at one place follows F at another if x, as records weigh by
 * phi(eta) there, is normal: a constant among the columns of x says what its mean and covariance
 * are.  It is a guess, and made of what was released. */
#ifndef DPI_INFER_ELSEWHERE_H
#define DPI_INFER_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/status.h>

typedef struct dpi_predictor_told {
    size_t n;        /* numbers of theta, and of x */
    size_t constant; /* the column of x that is 1 */
    double (*phi)(const void *of, double eta);
    const void *of;
} dpi_predictor_told;

/* Puts F(to) in the place of information[n][n], which is F(from), positive definite.  False, and
 * nothing is changed, where the way is too long for such a guess.  DP_ENOMEM. */
dp_status dpi_elsewhere(const dpi_predictor_told *l, const double *from, const double *to,
                        double *information, bool *known, dp_error *err) DP_MUST_CHECK;

#endif
