/* Pairs of Gaussians, and what the contour says of lists of pairs; a failure fails the test. */
#ifndef TESTS_ACCOUNTANT_BY_CONTOUR_H
#define TESTS_ACCOUNTANT_BY_CONTOUR_H

#include "accountant/contour/contour.h"

/* Without sampling; with it, for q < 1. */
dpi_pair normal(double sigma);
dpi_pair gaussian(double sigma, double q, dpi_direction direction);

double epsilon_of(const dpi_pair_times *terms, size_t n, double delta);
double log_delta_of(const dpi_pair_times *terms, size_t n, double epsilon);

#endif
