/* Trade-off curves: true against false positive rates of membership tests, from privacy
 * profiles. */
#ifndef DPI_ACCOUNTANT_ANSWERS_TRADEOFF_H
#define DPI_ACCOUNTANT_ANSWERS_TRADEOFF_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/answers/composition.h"

/* A list of mechanisms for both directions and both sides. */
typedef struct dpi_trade {
    dpi_composition of[2][2]; /* [direction][side]; both sides in DPI_UPPER when `one_sided` */
    bool one_sided;           /* one pair serves both bounds */
    double normal_mu;         /* > 0: a Gaussian without sampling, N(0, 1) against N(mu, 1) */
} dpi_trade;

/* The list has been checked.  All zero on errors; dpi_trade_free in any case. */
dp_status dpi_trade_new(const dp_mechanism *list, size_t n, dpi_trade *trade, dp_error *err);
void dpi_trade_free(dpi_trade *trade);

/* Interval for the greatest true positive rate at fpr, (0, 1), as dp_account_tpr; width > 0. */
dp_status dpi_trade_tpr(const dpi_trade *trade, double fpr, double width, dp_interval *tpr,
                        dp_error *err);

/* Lines t = height + slope a above all tests (a false, t true positive rate): those of certified
 * points of the symmetrised profile, and their reflections (a, t) -> (1 - t, 1 - a), by falling
 * slope. */
enum { DPI_TRADE_LINES = 33 };
typedef struct dpi_trade_lines {
    double slope[2 * DPI_TRADE_LINES - 1], height[2 * DPI_TRADE_LINES - 1];
    double normal_mu; /* > 0: no lines, the curve itself is known */
} dpi_trade_lines;

/* Lines for rates from least_fpr on.  A point that has no account gives a line of height 1, which
 * is above all tests, too; DP_EACCURACY is returned then, and all lines can be used. */
dp_status dpi_trade_lines_new(const dpi_trade *trade, double least_fpr, dpi_trade_lines *lines,
                              dp_error *err);

/* Least height of the lines at fpr in (0, 1), rounded up: no test has a greater true positive rate.
 * About a hundredth above the curve at most. */
double dpi_trade_lines_at(const dpi_trade_lines *lines, double fpr);

/* As dp_account_mu, least_fpr in (0, 1/2]. */
dp_status dpi_trade_mu(const dpi_trade *trade, double least_fpr, double *mu, dp_error *err);

#endif
