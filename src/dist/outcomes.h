/* Nodes and masses that stand for the distribution of an outcome: sum_j mass_j f(y_j) is near
 * E f(Y) for smooth f by an error that falls exponentially with the number of nodes, and for f with
 * kinks, such as clipped scores, by the square of their distance. */
#ifndef DPI_DIST_OUTCOMES_H
#define DPI_DIST_OUTCOMES_H

#include <stddef.h>

/* Continuous laws have DPI_SMOOTH_OUTCOMES nodes; so many counts are told apart. */
enum { DPI_SMOOTH_OUTCOMES = 64, DPI_MOST_OUTCOMES = 128 };

/* Each of the following gives the number of nodes, at most DPI_MOST_OUTCOMES, and masses that sum
 * to 1 but for rounding. */

/* 0 with the chance that 1 / (1 + e^logit) is, and 1. */
size_t dpi_outcomes_binary(double logit, double y[], double mass[]);

/* Successes in `trials` trials whose log odds are logit; none beyond 2^53 trials. */
size_t dpi_outcomes_binomial(double trials, double logit, double y[], double mass[]);

/* A Poisson count; none where the mean is not finite. */
size_t dpi_outcomes_poisson(double mean, double y[], double mass[]);

/* A negative binomial count by its mean, with dispersion f > 0; none where the mean is not
 * finite. */
size_t dpi_outcomes_negative_binomial(double mean, double f, double y[], double mass[]);

/* Successes in `trials` trials whose chance is Beta with mean m and precision k; none beyond 2^53
 * trials. */
size_t dpi_outcomes_beta_binomial(double trials, double m, double k, double y[], double mass[]);

/* The standard normal law; its upper half, doubled. */
size_t dpi_outcomes_normal(double z[], double mass[]);
size_t dpi_outcomes_half_normal(double z[], double mass[]);

/* The standard exponential law, by n nodes. */
size_t dpi_outcomes_exponential(size_t n, double x[], double mass[]);

/* log(x / a) of a Gamma(a, 1) number x. */
size_t dpi_outcomes_log_gamma(double a, double u[], double mass[]);

/* log(x / (1 - x)) - log(a / b) of a Beta(a, b) number x. */
size_t dpi_outcomes_logit_beta(double a, double b, double u[], double mass[]);

/* The angle from the top of von Mises's law with concentration k > 0. */
size_t dpi_outcomes_circle(double k, double t[], double mass[]);

/* Student's t with df degrees of freedom; its upper half, doubled. */
size_t dpi_outcomes_student_t(double df, double z[], double mass[]);
size_t dpi_outcomes_half_student_t(double df, double z[], double mass[]);

#endif
