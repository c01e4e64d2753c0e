/* Quadrature nodes of one step's privacy loss, for E_P e^(zL) at complex z. */
#ifndef DPI_ACCOUNTANT_CONTOUR_NODES_H
#define DPI_ACCOUNTANT_CONTOUR_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/pairs/pair.h"

/* Masses of P and losses.  Atoms come first; then each piece's nodes in the order of x.  On a line
 * that was moved into the complex plane both are complex, and serve e^(zL) with Im z >= 0 alone. */
typedef struct dpi_contour_nodes {
    size_t n, n_atoms;
    double *weight;                  /* [n], owned; sums to 1 - infinite */
    double *loss;                    /* [n], base included */
    double *weight_im, *loss_im;     /* [n]; 0 where nothing was moved, else loss_im >= 0 */
    double mean;                     /* E_P L (of finite losses) */
    double greatest;                 /* greatest loss; +INFINITY for normal_mu > 0 */
    double infinite;                 /* P-mass without a node: loss +INFINITY */
    double normal_mu;                /* > 0: no nodes, K(z) = mu^2 z (z + 1) / 2 */
    size_t n_lines;                  /* pieces integrated by the trapezoidal rule: */
    size_t line[DPI_MAX_PIECES + 1]; /* nodes line[i] ... line[i+1] - 1 */
    size_t capacity;
} dpi_contour_nodes;

/* How finely: P-mass of about e^log_cut is left out at either end of a piece; Gauss's panels serve
 * e^(zL) with |z| <= speed; trapezoidal rules take the piece's own step times 2^(-sharpness /
 * 2). */
typedef struct dpi_fineness {
    double log_cut;
    double speed;
    int sharpness;
    bool moved; /* lines run beside the real axis, for pairs that dpi_contour_movable says yes to */
} dpi_fineness;

/* DP_ENOMEM; DP_EACCURACY when more than 2^20 nodes are needed.  dpi_contour_nodes_free in any
 * case. */
dp_status dpi_contour_nodes_new(const dpi_pair *pair, const dpi_fineness *fineness,
                                dpi_contour_nodes *nodes, dp_error *err);
void dpi_contour_nodes_free(dpi_contour_nodes *nodes);

/* K(c) = log E_P e^(cL), its derivative and second derivative.  +INFINITY when it overflows.  Not
 * for nodes that were moved. */
double dpi_contour_cumulant(const dpi_contour_nodes *nodes, double c, double *mean,
                            double *variance);

/* Difference between the trapezoidal rule and the one with every second node, at z = c + iu, times
 * e^-log_total.  Its square estimates the error of the rule itself; 0 without such a piece. */
double dpi_contour_nodes_error(const dpi_contour_nodes *nodes, double c, double u,
                               double log_total);

/* All whole lines are those of a sampled Gaussian, whose continuation is known. */
bool dpi_contour_movable(const dpi_pair *pair);

enum { DPI_GAUSS_ORDER = 16 };

/* Nodes and weights of 16-point Gauss-Legendre on [x, x + width]. */
void dpi_gauss_panel(double x, double width, double node[DPI_GAUSS_ORDER],
                     double weight[DPI_GAUSS_ORDER]);

/* Width, at most `most`, of the panel that starts at x and runs to the right (way 1) or to the left
 * (way -1), for e^(zL) with |z| <= speed. */
double dpi_gauss_width(const dpi_piece *piece, double x, double most, double speed, int way);

#endif
