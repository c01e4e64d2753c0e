/* The posterior that follows from a release: the exact prior, and a normal likelihood of what was
 * released.
 *
 * The release Y of what records add at c has, were theta true, the mean A'H (theta - c) and the
 * variance A'JA + v I: J that of the sum itself, v that of the noise in each coordinate.  With Q =
 * A A' and N = J + v Q^-1 the log likelihood is
 *
 *   lin'(theta - c) - (theta - c)'K (theta - c) / 2,   K = H N^-1 H,  lin = H N^-1 Q^-1 A Y.
 *
 * No inverse of H is taken, so directions that records say nothing of are harmless; and the prior,
 * of a group scale for one, stands as it is, so that noise is not taken for variance between
 * groups.  As v goes to 0 it is the usual quadratic likelihood. */
#ifndef DPI_INFER_SURROGATE_H
#define DPI_INFER_SURROGATE_H

#include "infer/doubt.h"
#include "infer/excess.h"
#include "infer/hmc.h"
#include "infer/metric.h"

typedef struct dpi_surrogate {
    const dpi_model_view *view;
    dpi_arena arena;
    dpi_run *run; /* of the prior */
    size_t d;
    double *centre, *linear; /* [d] */
    double *precision;       /* [d][d] K; 0: the prior alone */
    dpi_rows rows;           /* K as the target has it */
    double *kept_linear;     /* [d] of a likelihood that stands beside those that are set: at 0 */
    double *kept_precision;  /* [d][d] */
    dpi_excess excess;       /* the scale's coordinate is that of the scale as it looks */
    dpi_doubt doubt;         /* of H: then nothing else may be kept */
    double *away, *gradient; /* [d] scratch */
    double *tilt;            /* [d] scratch */
    dpi_loosening as;        /* how members of plates are drawn */
    double *there;           /* [d] scratch: what is drawn, tied */
} dpi_surrogate;

/* The prior alone.  DP_ENOMEM. */
dp_status dpi_surrogate_init(dpi_surrogate *s, const dpi_model_view *r,
                             dp_error *err) DP_MUST_CHECK;
void dpi_surrogate_free(dpi_surrogate *s);

/* The same posterior for another thread, with nothing kept.  DP_ENOMEM. */
dp_status dpi_surrogate_twin(const dpi_surrogate *s, dpi_surrogate *twin,
                             dp_error *err) DP_MUST_CHECK;

/* What was released. */
typedef struct dpi_released {
    const double *square, *back; /* [d][d] Q, and its inverse, of the metric (dpi_metric_back) */
    const double *centre;        /* [d] c */
    const double *score;         /* [d] Q^-1 A Y */
    const double *noise;         /* [d] v, by the number of theta */
    const double *slope;         /* [d][d] H */
    const double *variance;      /* [d][d] J */
    double doubt;                /* standard deviation of what is not known of H (doubt.h) */
    const double *lengths;       /* [d][d] W, read if there is any */
    size_t scale;                /* the latent that the outcomes' scale is made of, d: none */
    double records, bend, power, kept, ratio, spread; /* as in dpi_excess_of, where there is one */
} dpi_released;

/* Puts the likelihood in the place of the last one.  DP_EDOMAIN, DP_ENOMEM. */
dp_status dpi_surrogate_set(dpi_surrogate *s, const dpi_released *what,
                            dp_error *err) DP_MUST_CHECK;

/* From now on what is set is joined by `weight` times what is known now; 0: by nothing. */
void dpi_surrogate_keep(dpi_surrogate *s, double weight);

/* Which members are drawn in units of their scale: those of which the likelihood tells less than
 * the prior at z[d].  Targets and factors are of numbers as they are drawn, from now on. */
void dpi_surrogate_loosen(dpi_surrogate *s, const double *z);

/* z[d] as it is drawn, and back. */
void dpi_surrogate_drawn(const dpi_surrogate *s, double *z);
void dpi_surrogate_tied(const dpi_surrogate *s, double *z);

/* The log prior at z[d] as it is drawn, and its gradient[d]. */
double dpi_surrogate_prior(dpi_surrogate *s, const double *z, double *gradient);

/* The precision of the likelihood at z[d] as it is drawn, to first order. */
void dpi_surrogate_precision(dpi_surrogate *s, const double *z, double *precision /* [d][d] */);

/* The log posterior as it is now, as a target for dpi_hmc; borrows s. */
dpi_target dpi_surrogate_target(dpi_surrogate *s);

#endif
