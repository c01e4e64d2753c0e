/* Trade-off curve and privacy profile, every point a certified interval. */
#include "tools/curves.h"

#include <math.h>

#include "tools/plot.h"

enum { N_RATES = 19, N_LOSSES = 25 };
static const double LEAST_RATE = 1e-4, LEAST_DELTA = 1e-10;
static const double WIDTH = 0.01; /* finer than a line is thick */

typedef struct curve {
    double x[N_LOSSES], low[N_LOSSES], high[N_LOSSES];
} curve;

/* True positive rates at false positive rates from LEAST_RATE to 1. */
static dp_status trade_off(const dp_mechanism *list, size_t n, curve *c, dp_error *err)
{
    for (int i = 0; i < N_RATES; i++) {
        dp_interval tpr = {1, 1, 1, DP_WORSE_EITHER, NULL, 0};
        c->x[i] = pow(LEAST_RATE, 1 - (double)i / (N_RATES - 1));
        dp_status status =
            i == N_RATES - 1 ? DP_OK : dp_account_tpr(list, n, c->x[i], WIDTH, &tpr, err);
        if (status != DP_OK)
            return status;
        c->low[i] = tpr.lower;
        c->high[i] = tpr.upper;
    }
    return DP_OK;
}

/* Delta at epsilons from 0 to where it is about LEAST_DELTA. */
static dp_status profile(const dp_mechanism *list, size_t n, curve *c, dp_error *err)
{
    dp_interval most;
    dp_status status = dp_account_epsilon(list, n, LEAST_DELTA, 2e-3, &most, err);
    for (int i = 0; i < N_LOSSES && status == DP_OK; i++) {
        dp_interval delta;
        c->x[i] = most.upper * i / (N_LOSSES - 1);
        status = dp_account_delta(list, n, c->x[i], WIDTH, &delta, err);
        c->low[i] = delta.lower;
        c->high[i] = delta.upper;
    }
    return status;
}

static void draw(FILE *out, const curve *rates, const curve *losses)
{
    const double chance[2] = {LEAST_RATE, 1};
    const plot_series rate_series[] = {
        {"any attacker: at most this", "#1f5fa8", rates->x, rates->low, rates->high, N_RATES},
        {"guessing", "#999999", chance, chance, chance, 2}};
    const plot_series loss_series[] = {
        {"delta at epsilon", "#1f5fa8", losses->x, losses->low, losses->high, N_LOSSES}};
    double most = losses->x[N_LOSSES - 1];
    const plot_panel panels[] = {{.title = "Trade-off curve",
                                  .x = {"false positive rate", LEAST_RATE, 1, true},
                                  .y = {"true positive rate", LEAST_RATE, 1, true},
                                  .series = rate_series,
                                  .n = 2,
                                  .legend_right = true,
                                  .legend_low = true},
                                 {.title = "Privacy profile",
                                  .x = {"epsilon", 0, most > 0 ? most : 1, false},
                                  .y = {"delta", LEAST_DELTA, 1, true},
                                  .series = loss_series,
                                  .n = 1,
                                  .legend_right = true}};
    plot_write(out, panels, 2);
}

bool curves_draw(const char *path, const dp_mechanism *list, size_t n, message *why)
{
    curve rates, losses;
    dp_error err = {0};
    if (trade_off(list, n, &rates, &err) != DP_OK || profile(list, n, &losses, &err) != DP_OK)
        return complain(why, "--plot is '%.200s', and the curves cannot be certified: %s", path,
                        err.text);
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return complain(why, "--plot is '%.200s', and that file cannot be made; name one that can",
                        path);
    draw(out, &rates, &losses);
    bool good = !ferror(out);
    if (fclose(out) != 0 || !good)
        return complain(why, "--plot is '%.200s', and writing it failed; is the disk full?", path);
    return true;
}
