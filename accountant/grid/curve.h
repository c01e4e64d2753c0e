/* The composed privacy loss on a grid, and what is read off it. */
#ifndef DPI_ACCOUNTANT_GRID_CURVE_H
#define DPI_ACCOUNTANT_GRID_CURVE_H

#include <stdbool.h>

#include <tacit/status.h>

#include "accountant/grid/mass.h"
#include "accountant/grid/saddle.h"

typedef enum dpi_ask { DPI_ASK_EPSILON, DPI_ASK_DELTA } dpi_ask;

/* One question: epsilon at a delta, or delta at an epsilon. */
typedef struct dpi_question {
    dpi_ask ask;
    double given;
} dpi_question;

/* Tilted masses of the composed loss, ready to be read from the top. */
typedef struct dpi_curve {
    const double *mass; /* [grid.size], circular */
    dpi_knots grid;
    dpi_side side;
    int64_t high;        /* highest knot */
    double log_scale;    /* sum of times * K */
    double log_tail_sum; /* the same at the tail's tilt */
    double noise;        /* bound on the error of each mass */
    double cut;          /* mass with infinite loss */
    double tail;         /* bound on the mass above the window */
    double alias;        /* bound on what wrapping around adds to delta, where it is read */
    double start;        /* base of the upper curve, that log_tail_sum refers to */
    double base;         /* loss of knot 0 */
    double base_size;    /* sum of the sizes of what it is a sum of */
    double top, least;   /* highest and lowest knot of the composition */
    double normal_mu;    /* of a Gaussian release that stands beside it (blend.c); 0 for none */
    double log_normal;   /* its cumulant at the tail's tilt */
    double around;       /* epsilon that was planned for */
    double gap;          /* sum of times * gap (mass.h) */
    double log_slack;    /* rounding, in log delta */
    double loss_slack;   /* rounding, in epsilon */
} dpi_curve;

/* Where reading stopped. */
typedef struct dpi_reading {
    bool reached;   /* the answer lies in the window */
    double epsilon; /* without loss_slack */
    double delta;   /* without log_slack */
    double slope;   /* -d log delta / d epsilon */
    double noise;   /* part of delta due to the masses' error */
    double local;   /* mass on the knots around epsilon / delta */
} dpi_reading;

/* Composes on the grid: data has room for grid->size + 2, all 0 at first, and holds the masses of
 * the curve. */
dp_status dpi_compose_upper(const dpi_loss_law *law, const dpi_knots *grid, double log_cut,
                            double *data, dpi_curve *curve, dp_error *err);

/* The same from below, for the window of `upper`; work[grid->size] is scratch. */
dp_status dpi_compose_lower(const dpi_loss_law *law, const dpi_curve *upper, double log_cut,
                            double *data, double *work, dpi_curve *curve, dp_error *err);

/* Tilted mass at knot k, the bound on its error included.  What is not a number stays so, and every
 * bound that is made of it tells nothing. */
double dpi_mass_at(const dpi_curve *curve, int64_t k);

/* Reads from the top of the window down to the query, or to the bottom. */
dpi_reading dpi_read(const dpi_curve *curve, dpi_question query);

/* The answer of an upper curve with all roundings counted.  *reading [out]. */
double dpi_upper_answer(const dpi_curve *curve, dpi_question query, dpi_reading *reading);

/* The answer of a lower curve, 0 when nothing is proved.  What wraps around is bounded at the loss
 * `near` and above: an epsilon below it is not found; -INFINITY: anywhere in the window. */
double dpi_lower_answer(dpi_curve *curve, dpi_question query, double near);

#endif
