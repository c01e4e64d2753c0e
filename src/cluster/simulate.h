/* How long a plan takes: each step begins when all that it waits for is there.
 *
 * A card computes one step at a time, sends one message and gets one at a time, each in the order
 * of the plan; computing goes on while messages do.  So the end of a step is the largest of a few
 * ends plus its own time, and one pass over the steps tells all of them: nothing is
 * approximated, and there is no queue of events. */
#ifndef DPI_CLUSTER_SIMULATE_H
#define DPI_CLUSTER_SIMULATE_H

#include "cluster/plan.h"

enum { DPI_STAGES = 8 };

/* How messages go.  SWITCH: from card to card.  HOST: up to the card's host, over the network of
 * the hosts, down to the card, each behind the other; hosts have `per_host` cards, and one line. */
typedef enum dpi_route { DPI_ROUTE_SWITCH, DPI_ROUTE_HOST } dpi_route;

typedef struct dpi_costs {
    double operation[DPI_COUNTS]; /* seconds at the top level */
    double falling;               /* of it at level l: 1 - falling l */
    double bytes;                 /* of a value, at the top level */
    double latency, bandwidth;    /* of the network: seconds, bytes a second; 0: at once */
    dpi_route route;
    size_t per_host;
    double lane;    /* bytes a second between a card and its host */
    bool stagewise; /* no step begins before the stages before its own are over, on all cards */
    bool copying;   /* the switch copies: messages of a value from a card that follow each other in
                     * the plan go out of it once, when the ways to all are free */
} dpi_costs;

typedef struct dpi_times {
    double total;                   /* seconds */
    double busy[DPI_PLAN_CARDS];    /* each card's computing */
    double sending[DPI_PLAN_CARDS]; /* and what goes out of it and comes to it, the more */
    double stage[DPI_STAGES]; /* by how much steps of it, modulo DPI_STAGES, put the end off */
} dpi_times;

/* Seconds that a step computes. */
double dpi_step_seconds(const dpi_step *s, const dpi_costs *costs);

/* DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_simulate(const dpi_plan *p, const dpi_costs *costs, dpi_times *times,
                                     dp_error *err);

#endif
