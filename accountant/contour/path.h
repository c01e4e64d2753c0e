/* Where the inversion integral runs: tilt, period, frequencies, and nodes that are fine enough. */
#ifndef DPI_ACCOUNTANT_CONTOUR_PATH_H
#define DPI_ACCOUNTANT_CONTOUR_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "accountant/contour/contour.h"
#include "accountant/contour/nodes.h"
#include "accountant/contour/phase.h"

/* One term and what it is integrated with. */
typedef struct dpi_path_term {
    const dpi_pair *pair;
    double times;
    dpi_fineness fineness;
    dpi_contour_nodes nodes; /* for real tilts */
    dpi_fineness moved;
    dpi_contour_nodes wave; /* moved ones for the frequencies, when moved.moved */
    bool unmovable;         /* or the end of the range would be felt */
    dpi_tilted tilted;      /* at the path's tilt */
} dpi_path_term;

/* K and its derivatives at a tilt c, summed over the terms; epsilon is that whose saddle c is, and
 * log_delta the second-order estimate there. */
typedef struct dpi_tilt {
    double c, cumulant, mean, variance;
    double epsilon, log_delta;
} dpi_tilt;

typedef struct dpi_path {
    dpi_path_term *part; /* [n], owned */
    size_t n;
    double log_infinite; /* log of the mass of infinite losses; -INFINITY for none */
    double log_cut;      /* P-mass left out, all steps together */
    double greatest;     /* sum of the greatest losses */
    double epsilon;      /* planned for */
    double log_goal;     /* about log delta there */
    dpi_tilt at;
    double probe; /* tilt at which the nodes were checked */
    double h;     /* step in u */
    size_t count; /* frequencies 0, h, ..., (count - 1) h */
} dpi_path;

typedef enum dpi_goal { DPI_GOAL_LOG_DELTA, DPI_GOAL_EPSILON } dpi_goal;

dp_status dpi_path_new(const dpi_pair_times *terms, size_t n, dpi_path *path, dp_error *err);
void dpi_path_free(dpi_path *path);

/* Sets epsilon and log_goal, one of which is given, to a second-order estimate of the other (log
 * delta of finite losses). */
dp_status dpi_path_estimate(dpi_path *path, dpi_goal goal, double given, dp_error *err);

/* Plans for epsilon, where delta is about e^log_goal.  For an epsilon of at least `greatest` count
 * is 0: no finite loss is that large. */
dp_status dpi_path_plan(dpi_path *path, double epsilon, double log_goal, dp_error *err);

#endif
