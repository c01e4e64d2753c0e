/* A second evaluator of graphs, in long double and straight from the formulas, kept slow on
 * purpose: every element is found by its own list of subscripts.  It shares no code with the
 * kernels or with the executor, and gives derivatives by differences. */
#ifndef TESTS_GRAPH_NAIVE_H
#define TESTS_GRAPH_NAIVE_H

#include "graph/gradient.h"
#include "graph/op.h"

typedef struct naive {
    const dpi_graph *g;
    size_t n;            /* records */
    long double **value; /* [n_nodes][n or 1][size]; NULL until used */
    size_t n_nodes;      /* how many nodes the table has room for */
} naive;

/* An evaluator of g, which may still grow, over n records. */
naive *naive_new(const dpi_graph *g, size_t n);
void naive_free(naive *e);

/* The values of a node, [n or 1][size]; inputs are set by writing to them. */
long double *naive_value(naive *e, dpi_id id);

/* Number of values of a node: size, or n * size. */
size_t naive_count(const naive *e, dpi_id id);

/* Computes what the node depends on, and the node. */
void naive_run(naive *e, dpi_id id);

/* d root / dt at t = 0 for inputs in[k] + t * direction[k], by central differences with steps h,
 * h/2 and h/4, extrapolated twice: slope[n or 1], and in error[n or 1] how far the last two levels
 * are apart.  The inputs are as before afterwards. */
void naive_slope(naive *e, dpi_id root, size_t n_in, const dpi_id *in,
                 const long double *const *direction, long double h, long double *slope,
                 long double *error);

/* False where long double has no more digits than double (under valgrind, for one): differences are
 * then too coarse to compare with. */
bool naive_is_sharp(void);

/* The derivative of order n of digamma for x > 0: recurrence up to 30, then the asymptotic
 * series. */
long double naive_polygamma(size_t order, long double x);
long double naive_rising(size_t order, long double a, long double b);

/* y of an operation that is a logarithm of a probability, and of erf and atan. */
long double naive_log_bessel(size_t order, long double a);
long double naive_tail(const dpi_node *node, long double a);
long double naive_beta_tail(size_t number, const long double at[3]);
long double naive_tail_of_two(const dpi_node *node, long double a, long double b);

#endif
