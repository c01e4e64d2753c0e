/* Networks by their layers, and the one number that is fitted. */
#include "cluster/network.h"

#include <math.h>

#include "base/error.h"

/* Channels times height times width over 2^15, up to a power of two; of language models what
 * Hydra's table I has at the most, for softmax, two norms and an activation of each layer. */
const dpi_network dpi_networks[DPI_NETWORKS] = {
    {"ResNet-18", 5, {{1, 32, 384}, {4, 8, 384}, {4, 4, 384}, {4, 2, 384}, {4, 1, 384}}},
    {"ResNet-50",
     6,
     {{4, 32, 384}, {4, 16, 384}, {12, 8, 384}, {11, 4, 384}, {12, 2, 384}, {6, 1, 384}}},
    {"BERT-base", 1, {{48, 12, 98304}}},
    {"OPT-6.7B", 1, {{128, 18, 153600}}}};

/* ---- ways ---- */

dp_status dpi_ways_find(size_t log_slots, const dpi_costs *costs, const double *sine,
                        const double *sign, dpi_ways *ways, dp_error *err)
{
    double seconds;
    dp_status status = DP_OK;
    ways->a = sign;
    for (size_t k = 0; k < DPI_GROUPS && status == DP_OK; k++) {
        const size_t cards = (size_t)1 << k;
        dpi_spread_boot *b = &ways->boot[k];
        *b = (dpi_spread_boot){.degree = 59, .doublings = 2, .a = sine};
        status = dpi_dft_find(log_slots, cards, costs, &b->dft, err);
        if (status == DP_OK)
            status = dpi_polynomial_search(59, 1, cards, costs, &b->way, &seconds, err);
        if (status == DP_OK)
            status =
                dpi_polynomial_search(15, DPI_SIGNS, cards, costs, &ways->sign[k], &seconds, err);
    }
    return status;
}

/* ---- how long ---- */

static dp_status simulate_layer(const dpi_mapping *m, const dpi_spread_layer *layer, double seconds,
                                const dpi_costs *costs, dpi_times *times, dp_error *err)
{
    uint32_t values[DPI_PLAN_CARDS];
    dpi_plan p;
    dpi_plan_begin(&p, m->cards);
    p.copied = costs->copying;
    dpi_plan_layer(&p, m, layer, seconds / layer->units, values);
    const dp_status status = dpi_simulate(&p, costs, times, err);
    dpi_plan_free(&p);
    return status;
}

dp_status dpi_network_simulate(const dpi_network *net, const dpi_mapping *m, double work,
                               dpi_network_times *times, dp_error *err)
{
    dpi_costs silent = *m->costs;
    double layers = 0;
    dp_status status = DP_OK;
    silent.latency = silent.bytes = 0;
    *times = (dpi_network_times){0};
    for (size_t k = 0; k < net->n; k++)
        layers += net->layer[k].times;
    for (size_t k = 0; k < net->n && status == DP_OK; k++) {
        const dpi_spread_layer *layer = &net->layer[k];
        dpi_times t, quiet;
        status = simulate_layer(m, layer, work / layers, m->costs, &t, err);
        if (status == DP_OK)
            status = simulate_layer(m, layer, work / layers, &silent, &quiet, err);
        if (status != DP_OK)
            break;
        times->total += layer->times * t.total;
        times->silent += layer->times * quiet.total;
        for (size_t s = 0; s < DPI_PROCEDURES; s++) {
            times->stage[s] += layer->times * t.stage[s];
            times->silent_stage[s] += layer->times * quiet.stage[s];
        }
    }
    if (status != DP_OK)
        times->total = times->silent = INFINITY;
    return status;
}

/* One card's time less `ratio` times that of m's cards. */
static dp_status excess(const dpi_network *net, const dpi_mapping *m, double ratio, double work,
                        double *more, dp_error *err)
{
    dpi_network_times one, many;
    dpi_mapping single = *m;
    single.cards = 1;
    dp_status status = dpi_network_simulate(net, &single, work, &one, err);
    if (status == DP_OK)
        status = dpi_network_simulate(net, m, work, &many, err);
    *more = status == DP_OK ? one.total - ratio * many.total : NAN;
    return status;
}

/* Times are lines of the work, nearly: by secants. */
dp_status dpi_network_fit(const dpi_network *net, const dpi_mapping *m, double ratio, double *work,
                          dp_error *err)
{
    double w[2] = {0, 0}, more[2] = {0, 0};
    dpi_network_times one;
    dpi_mapping single = *m;
    single.cards = 1;
    dp_status status = dpi_network_simulate(net, &single, 0, &one, err);
    if (status == DP_OK)
        status = excess(net, m, ratio, w[0], &more[0], err);
    w[1] = one.total;
    for (int k = 0; k < 20 && status == DP_OK; k++) {
        status = excess(net, m, ratio, w[1], &more[1], err);
        if (status == DP_OK && fabs(more[1]) <= 1e-9 * (w[1] + one.total) && w[1] >= 0) {
            *work = w[1];
            return DP_OK;
        }
        const double next = w[1] - more[1] * (w[1] - w[0]) / (more[1] - more[0]);
        w[0] = w[1];
        more[0] = more[1];
        w[1] = next;
    }
    return status != DP_OK ? status
                           : dpi_fail(err, DP_EACCURACY,
                                      "no work of %s makes %zu cards %g times as fast as one",
                                      net->name, m->cards, ratio);
}
