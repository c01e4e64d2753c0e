/* A model that is cut in two, for split learning (Vepakomma et al. 2018, "Split learning for
 * health"): one owner has the columns that lead to a value of each record, the cut; the other has
 * outcomes, and columns beside them.
 *
 *   features   e = cut(theta_0, x)                  sends e, of each record
 *   outcomes   l = log p(y | e, theta_1, x_1)       answers with a = dl / de
 *   each       g = the sum over records of dl / dtheta, at features of d<a, e> / dtheta_0
 *
 * Which parameters are whose follows from the model: those that the cut is computed from, and the
 * others.  Both halves come to the gradient of the whole.  What is told is of single records and has
 * no noise: outcomes can be read from a, and columns be guessed or solved for from e.
 *
 * Nothing is sent here: dp_silo_run_columns runs it between two owners (scheme split), who can also
 * do so in any other way.  A half is for one thread. */
#ifndef TACIT_SPLIT_H
#define TACIT_SPLIT_H

#include <stddef.h>

#include <tacit/dataset.h>
#include <tacit/export.h>
#include <tacit/fit.h>
#include <tacit/model.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DP_SPLIT_SIDES = 2, DP_SPLIT_WIDTH = 65536 };

typedef struct dp_split_opts {
    const dp_model *model; /* of parameters alone: nothing in it has a distribution but outcomes */
    /* A value of records that the model names (dp_deterministic); NULL: the last one that has all
     * columns of who has no outcomes behind it, made with a parameter, and nothing else. */
    const char *cut;
    const char *held[DP_SPLIT_SIDES]; /* columns of the model that each owner has, commas between */
} dp_split_opts;

typedef struct dp_split dp_split;

/* The half of owner `side`, 0 or 1.  The model may be freed afterwards.
 *   data   its columns, which must stay until the half is freed; NULL: sizes are found out alone,
 *          and what computes is not called
 *   *half  [out] owned by the caller; NULL on error
 * DP_ENAME a column is nobody's or of both, or the model has none of that name, or computes no value
 * of the cut's; DP_EUNSUPPORTED latents, or outcomes at both owners; DP_EPRIVACY no value stands
 * between one owner's columns and the other's, so that columns would be sent as they are, or a
 * parameter is read on both sides; DP_ESHAPE, DP_EDATA columns that are not what the model needs;
 * DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_split_new(const dp_split_opts *halves, size_t side,
                                            const dp_dataset *data, dp_split **half, dp_error *err);
DP_API void dp_split_free(dp_split *half); /* NULL is allowed */

/* Numbers of a record at the cut, at most DP_SPLIT_WIDTH; parameters of an owner, perhaps 0; who has
 * outcomes. */
DP_API size_t dp_split_width(const dp_split *half);
DP_API size_t dp_split_numbers(const dp_split *half, size_t side);
DP_API size_t dp_split_outcome(const dp_split *half);

/* theta [out] [numbers of the side] where its parameters start.  DP_ENOMEM, DP_EENTROPY. */
DP_API DP_MUST_CHECK dp_status dp_split_start(const dp_split *half, double *theta, dp_error *err);

/* Goes on with these parameters of its side: theta[numbers]. */
DP_API void dp_split_set(dp_split *half, const double *theta);

/* Of records index[0..m-1] of the data, after dp_split_set.  Where features are: e [out] [m][width]
 * of each; and the gradient [out] [numbers] of its parameters from a[m][width].  Where outcomes are:
 * a [out] [m][width] and the gradient, from e.  Numbers of e and a must be finite.  A gradient is
 * not, where the squares of a record's overflow. */
DP_API void dp_split_embed(dp_split *half, size_t m, const size_t *index, double *e);
DP_API void dp_split_pull_back(dp_split *half, size_t m, const size_t *index, const double *a,
                               double *gradient);
DP_API void dp_split_adjoint(dp_split *half, size_t m, const size_t *index, const double *e,
                             double *a, double *gradient);

/* The whole model with the parameters of both sides, which has no privacy.
 *   own, others  parameters of this side and of the other
 *   *fit         [out] owned by the caller; NULL on error
 * DP_EDOMAIN one is not finite; DP_ENOMEM. */
DP_API DP_MUST_CHECK dp_status dp_split_fit(const dp_split *half, const double *own,
                                            const double *others, dp_fit **fit, dp_error *err);

#ifdef __cplusplus
}
#endif
#endif
