/* Privacy losses of single releases by direct formulas in long double: slow, and sharing no code
 * with the accountant. */
#ifndef TESTS_ACCOUNTANT_NAIVE_H
#define TESTS_ACCOUNTANT_NAIVE_H

#include <stdbool.h>

#include <tacit/accountant.h>

#include "accountant/pairs/pair.h"

/* Two normal mixtures with common sigma whose ratio is monotone. */
typedef struct naive_law {
    int n;
    long double weight[80], mean[80];
} naive_law;
typedef struct naive_pair {
    long double sigma;
    naive_law p, q;
} naive_pair;

/* P and Q of a Gaussian mechanism other than TRUNCATED and the upper bound of FIXED. */
naive_pair naive_normals(const dp_mechanism *m, dpi_direction direction);

long double naive_log_density(const naive_law *law, long double sigma, long double x);
long double naive_loss(const naive_pair *pair, long double x);

/* delta(epsilon) of one release, epsilon of any sign. */
long double naive_delta(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                        long double epsilon);

/* Mass of noise on the integers, not scaled to sum 1 for the discrete law. */
long double naive_lattice_mass(const dp_mechanism *m, long double k);

/* Pr(Bin(n, p) >= k), term by term. */
long double naive_binomial_tail(int n, long double p, int k);

#endif
