/* What a budget can be expected to do, from public sizes alone: the formulas of clip.h, and
 * simulations (dp_fit_plan, tacit/infer.h). */
#ifndef DPI_INFER_PLAN_H
#define DPI_INFER_PLAN_H

#include "base/alloc.h"
#include "infer/budget.h"

struct dp_plan {
    dpi_arena arena;
    dp_plan_number *numbers;     /* [n] */
    size_t n, n_latents, *sizes; /* sizes: [n_latents] numbers of each */
    size_t records, simulations, fitted, hopeless;
    double epsilon, delta;
};

/* Noise of privacy in posterior means, in standard deviations of the posterior without it, for n
 * records in a metric in which a record tells of `dims` numbers, of which the prior tells next to
 * nothing: s C / (m sqrt n) with the best C (clip.h), s of the main rounds that count.  The least
 * that can be hoped for: fits, whose metric is not so good, have up to twice as much. */
double dpi_plan_noise(double dims, double n, const dpi_budget *b);

/* By how many standard deviations of its noise the first matrix of what n records tell would stand
 * out, p dense coordinates being told of alike: records have the norm sqrt(p) and are clipped to
 * twice that, so that the trace is n p and its noise 2 s p. */
double dpi_plan_signal(double p, double n, const dpi_budget *b);

/* Whether dp_fit_private would most likely refuse: the signal is below 2, where it draws the line
 * too, and a metric that is not so good makes it less. */
bool dpi_plan_is_hopeless(double p, double n, const dpi_budget *b);

#endif
