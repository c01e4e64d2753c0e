/* Hydra's networks as plans of their layers, and how long they take on 1 ... 64 cards. */
#ifndef DPI_CLUSTER_NETWORK_H
#define DPI_CLUSTER_NETWORK_H

#include "cluster/layer.h"

enum { DPI_NETWORK_LAYERS = 8, DPI_NETWORKS = 4 };

/* By the searches: transforms of 2^log_slots places, a sine of degree 59 with coefficients
 * sine[60] and two doublings, signs of sign[16]; both are borrowed.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_ways_find(size_t log_slots, const dpi_costs *costs, const double *sine,
                                      const double *sign, dpi_ways *ways, dp_error *err);

typedef struct dpi_network {
    const char *name;
    size_t n;
    dpi_spread_layer layer[DPI_NETWORK_LAYERS];
} dpi_network;

/* ResNet-18, ResNet-50 at 224 x 224, BERT-base at 128 x 768, OPT-6.7B at 200 x 4096. */
extern const dpi_network dpi_networks[DPI_NETWORKS];

typedef struct dpi_network_times {
    double total, stage[DPI_PROCEDURES];
    double silent, silent_stage[DPI_PROCEDURES]; /* did messages take no time */
} dpi_network_times;

/* Layers one after another, each simulated; `work` seconds of all of them on one card, in equal
 * shares.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_network_simulate(const dpi_network *net, const dpi_mapping *m,
                                             double work, dpi_network_times *times, dp_error *err);

/* The work with which one card takes `ratio` times as long as m's.  DP_EACCURACY there is none;
 * DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_network_fit(const dpi_network *net, const dpi_mapping *m, double ratio,
                                        double *work, dp_error *err);

#endif
