/* Public questions beyond epsilon and delta: check, ask, and the worst value on every error. */
#include <math.h>

#include <tacit/accountant.h>

#include "accountant/answers/check.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/renyi.h"
#include "accountant/answers/tradeoff.h"
#include "base/error.h"

static const double WIDTH = 1e-3; /* when the caller gives none */

dp_status dp_account_tpr(const dp_mechanism *list, size_t n, double fpr, double width,
                         dp_interval *tpr, dp_error *err)
{
    *tpr = (dp_interval){0, 1, NAN, DP_WORSE_EITHER, "none", 0};
    dp_status status = dpi_check_list(list, n, err);
    if (status == DP_OK && !(fpr > 0 && fpr < 1))
        status = dpi_fail(err, DP_EDOMAIN,
                          "fpr is %g; give a false positive rate above 0 and below 1", fpr);
    if (status == DP_OK && !(width >= 0 && width < 1))
        status =
            dpi_fail(err, DP_EDOMAIN, "width is %g; give a number in [0, 1), 0 for 0.001", width);
    dpi_trade trade = {0};
    dp_interval found;
    if (status == DP_OK)
        status = dpi_trade_new(list, n, &trade, err);
    if (status == DP_OK)
        status = dpi_trade_tpr(&trade, fpr, width > 0 ? width : WIDTH, &found, err);
    if (status == DP_OK)
        *tpr = found;
    dpi_trade_free(&trade);
    return status;
}

dp_status dp_account_mu(const dp_mechanism *list, size_t n, double least_fpr, double *mu,
                        dp_error *err)
{
    *mu = INFINITY;
    dp_status status = dpi_check_list(list, n, err);
    if (status == DP_OK && !(least_fpr > 0 && least_fpr <= 0.5))
        status = dpi_fail(err, DP_EDOMAIN,
                          "least_fpr is %g; give a false positive rate above 0 and at most 1/2",
                          least_fpr);
    dpi_trade trade = {0};
    double found;
    if (status == DP_OK)
        status = dpi_trade_new(list, n, &trade, err);
    if (status == DP_OK)
        status = dpi_trade_mu(&trade, least_fpr, &found, err);
    if (status == DP_OK)
        *mu = found;
    dpi_trade_free(&trade);
    return status;
}

dp_status dp_account_renyi(const dp_mechanism *list, size_t n, double alpha, double *divergence,
                           dp_error *err)
{
    *divergence = INFINITY;
    dp_status status = dpi_check_list(list, n, err);
    if (status == DP_OK && !(alpha > 1 && alpha < INFINITY))
        status = dpi_fail(err, DP_EDOMAIN, "the order is %g; give a finite number above 1", alpha);
    double sum = 0;
    for (size_t i = 0; i < n && status == DP_OK; i++) {
        double one;
        status = dpi_renyi(&list[i], alpha, &one, err);
        sum += (double)list[i].steps * one;
    }
    if (status == DP_OK)
        *divergence = sum * (1 + 0x1p-52 * (4 + (double)n));
    return status;
}

double dp_posterior_belief(double epsilon, double prior)
{
    if (!(epsilon >= 0 && prior > 0 && prior < 1))
        return NAN;
    /* 1 / (1 + (1 - prior) / prior e^-epsilon), which does not overflow. */
    return 1 / (1 + (1 - prior) / prior * exp(-epsilon));
}
