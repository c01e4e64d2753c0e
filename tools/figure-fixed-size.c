/* Draws doc/figures/fixed-size.svg: what fixed-size batches cost, and what the account of Poisson
 * sampling with one record replaced says of them.  make figures writes it to standard output. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <tacit/accountant.h>

#include "tools/plot.h"

enum { N_POINTS = 25, N_CURVES = 3 };

/* The variational autoencoder of the d3p paper: batches of 128 of 60 000, 20 epochs, sigma 1.5. */
static const double SIGMA = 1.5, RATE = 128 / 60000.0, DELTA = 1 / 60000.0;
static const uint64_t STEPS = 9375;
static const double LEAST_DELTA = 1e-10, LARGEST_EPSILON = 3.5, LEAST_SIGMA = 1.25,
                    LARGEST_SIGMA = 4;

static const struct {
    const char *name, *colour;
    dp_sampling sampling;
    dp_adjacency adjacency;
} curves[N_CURVES] = {
    {"fixed size, replace one: [reached, proven]", "#1f5fa8", DP_SAMPLING_FIXED, DP_REPLACE_ONE},
    {"account of Poisson, replace one", "#c23b22", DP_SAMPLING_POISSON, DP_REPLACE_ONE},
    {"Poisson, add or remove one", "#777777", DP_SAMPLING_POISSON, DP_ADD_REMOVE}};

typedef struct line {
    double x[N_POINTS], low[N_POINTS], high[N_POINTS];
} line;

static void keep(line *l, int i, double x, dp_status status, const dp_interval *y,
                 const dp_error *err)
{
    if (status != DP_OK) {
        (void)fprintf(stderr, "at %g: %s\n", x, err->text);
        exit(1);
    }
    l->x[i] = x;
    l->low[i] = y->lower;
    l->high[i] = y->upper;
}

static dp_mechanism mechanism(int curve, double sigma)
{
    return (dp_mechanism){.sampling = curves[curve].sampling,
                          .adjacency = curves[curve].adjacency,
                          .sigma = sigma,
                          .rate = RATE,
                          .steps = STEPS};
}

static void compute(int curve, line *profile, line *cost)
{
    dp_error err = {0};
    dp_interval y;
    dp_mechanism m = mechanism(curve, SIGMA);
    dp_status status = dp_account_epsilon(&m, 1, LEAST_DELTA, 2e-3, &y, &err);
    double most = fmin(y.upper, LARGEST_EPSILON);
    for (int i = 0; i < N_POINTS; i++) {
        double share = (double)i / (N_POINTS - 1);
        double sigma = LEAST_SIGMA * pow(LARGEST_SIGMA / LEAST_SIGMA, share);
        m = mechanism(curve, SIGMA);
        if (status == DP_OK)
            status = dp_account_delta(&m, 1, most * share, 0.01, &y, &err);
        keep(profile, i, most * share, status, &y, &err);
        m = mechanism(curve, sigma);
        status = dp_account_epsilon(&m, 1, DELTA, 0.01, &y, &err);
        keep(cost, i, sigma, status, &y, &err);
    }
}

int main(void)
{
    static line profile[N_CURVES], cost[N_CURVES];
    plot_series left[N_CURVES], right[N_CURVES];
    for (int c = 0; c < N_CURVES; c++) {
        compute(c, &profile[c], &cost[c]);
        const line *l[] = {&profile[c], &cost[c]};
        plot_series *to[] = {&left[c], &right[c]};
        for (int k = 0; k < 2; k++)
            *to[k] = (plot_series){.name = curves[c].name,
                                   .colour = curves[c].colour,
                                   .x = l[k]->x,
                                   .low = curves[c].sampling == DP_SAMPLING_FIXED ? l[k]->low
                                                                                  : l[k]->high,
                                   .high = l[k]->high,
                                   .n = N_POINTS};
    }
    const plot_panel panels[] = {
        {.title = "Privacy profile, sigma 1.5",
         .x = {"epsilon", 0, LARGEST_EPSILON, false},
         .y = {"delta", LEAST_DELTA, 1, true},
         .series = left,
         .n = N_CURVES,
         .legend_right = true},
        {.title = "Epsilon at delta 1 / 60 000",
         .x = {"sigma (noise / clipping norm)", LEAST_SIGMA, LARGEST_SIGMA, false},
         .y = {"epsilon", 0, 4.5, false},
         .series = right,
         .n = N_CURVES,
         .legend_right = true}};
    plot_write(stdout, panels, 2);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
