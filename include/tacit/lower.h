/* Programs of fitted models: what tacit/program.h serves, made from a fit.
 *
 * An observed column is answered by the argument of its distribution that its mean follows from
 * (logit of a chance, log of a rate, location, logits of classes), as a function of the record's
 * columns.  Latents and parameters of the model are fixed, and become weights. */
#ifndef TACIT_LOWER_H
#define TACIT_LOWER_H

#include <tacit/fit.h>
#include <tacit/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bounds of number `element` of a real column, low < high. */
typedef struct dp_column_bounds {
    const char *column;
    size_t element;
    double low, high;
} dp_column_bounds;

typedef struct dp_lower_opts {
    size_t draws;     /* 0: latents at their posterior means; else so many posterior draws, whose
                   * answers stand side by side and give a predictive mean and spread */
    uint64_t seed;    /* of these draws */
    double low, high; /* of every real number that `bounds` does not name; both 0:
                                     * there are no others */
    const dp_column_bounds *bounds; /* [n_bounds]; public, like a schema's ranges */
    size_t n_bounds;
} dp_lower_opts;

/* The program, not fixed yet, of an observed column or of a value of records (dp_deterministic).
 * Its input has the numbers of the real columns that the answer depends on, an indicator for each
 * group of a column of group numbers, and products of these where the model multiplies them; each
 * says what it is (dp_program_number_at).
 *   *p  [out] freed with dp_program_free; NULL on error
 * DP_ENAME no such column or value; DP_EINVAL a number has no bounds, which names it;
 * DP_EUNSUPPORTED a family that has no such argument, latents of records, or an operation that no
 * stage is made of (logarithm of a column, say), with the reason; DP_ENOMEM. */
DP_API dp_status dp_program_of_fit(const dp_fit *fit, const char *name, const dp_lower_opts *opts,
                                   dp_program **p, dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
