/* Densities whose moments and distribution functions are known, and runs of the sampler on them. */
#ifndef TESTS_INFER_DENSITIES_H
#define TESTS_INFER_DENSITIES_H

#include <stdbool.h>

#include "infer/hmc.h"

enum { DENSITY_N = 3 };

/* z = mean + root u, u white. */
extern const double density_mean[DENSITY_N], density_root[DENSITY_N][DENSITY_N];
double density_variance(int i);

/* What the normal one is told: the gradient's factor; and what it has seen of memory. */
typedef struct density_told {
    double slope; /* 1: the gradient is right */
    size_t calls, bytes, settled;
    bool grew;
} density_told;

double density_normal(void *of, const double *z, double *gradient);

/* Two independent coordinates, Student with 5 degrees of freedom; slopes times *of, a double. */
double density_student(void *of, const double *z, double *gradient);

/* z0 ~ N(0, 1), z1 given z0 ~ N(0, e^z0). */
double density_funnel(void *of, const double *z, double *gradient);

/* Gamma(2.5, rate 3) of which z0 is the logarithm; beta(2, 3), of which z1 is the log odds. */
double density_bounded(void *of, const double *z, double *gradient);

/* A normal number of which only z > 0 is inside; *of, a double, is the log density elsewhere. */
double density_half(void *of, const double *z, double *gradient);

/* Two normal densities of standard deviation 1 at -20 and 20. */
double density_two_modes(void *of, const double *z, double *gradient);

/* White, of twenty coordinates; the gradient times *of, a double. */
double density_white(void *of, const double *z, double *gradient);

double *hmc_room(size_t size);
dp_rng *hmc_rng(uint64_t seed);

/* Draws by the sampler, freed by the caller; starts 0 or those given. */
double *hmc_run(dpi_target target, dpi_hmc_opts opts, uint64_t seed, dpi_hmc_report *report);

#endif
