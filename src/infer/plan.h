/* What a budget can be expected to do, from public sizes alone: simulations (dp_fit_plan,
 * tacit/plan.h). */
#ifndef DPI_INFER_PLAN_H
#define DPI_INFER_PLAN_H

#include <tacit/plan.h>

#include "base/alloc.h"
#include "infer/budget.h"

enum {
    DPI_PLAN_AROUND = 5, /* halvings and doublings of epsilon, at most */
    DPI_PLAN_REFINED = 2 /* budgets beside those, for wishes */
};
enum { DPI_PLAN_POINTS = 1 + 2 * DPI_PLAN_AROUND + DPI_PLAN_REFINED };

/* What fits with one budget show: the noise of each number, in its sds without privacy. */
typedef struct dpi_plan_point {
    double mu;     /* 1 / sigma of a Gaussian mechanism that costs as much */
    double *noise; /* [n]; NaN where nothing could be fitted */
} dpi_plan_point;

struct dp_plan {
    dpi_arena arena;
    dp_plan_number *numbers;     /* [n] */
    size_t n, n_latents, *sizes; /* sizes: [n_latents] numbers of each */
    size_t records, simulations, fitted, hopeless;
    double epsilon, delta, accounted; /* accounted: delta that the accountant is given */
    double mu, granted;               /* mu: of epsilon */
    dp_plan_point points[DPI_PLAN_POINTS];
    dpi_plan_point noises[DPI_PLAN_POINTS]; /* of the same budgets, by rising mu */
    size_t n_points;
    dp_plan_cost cost;
};

/* Noise of number e with a budget of mu; NaN where no point has it. */
double dpi_plan_noise(const dp_plan *plan, size_t e, double mu);

/* The least mu with which number e has that noise or less; +INFINITY beyond the greatest point. */
double dpi_plan_mu(const dp_plan *plan, size_t e, double noise);

/* Upper bound of the epsilon that mu costs; +INFINITY where there is none. */
double dpi_plan_epsilon(const dp_plan *plan, double mu);

#endif
