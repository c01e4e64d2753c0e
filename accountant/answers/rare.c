/* With probability p such a mechanism tells all of a record, and else nothing: P and Q have each an
 * outcome of mass p that the other has not, and one of mass 1 - p both.  With T the chance that one
 * of a list of them has told, 1 - prod (1 - p_k)^steps_k, and H that of the rest,
 *
 *     H_all(epsilon) = T + (1 - T) H(epsilon),   epsilon >= 0,
 *
 * since the outcomes are disjoint and independent of the rest.  So epsilon at delta is that of the
 * rest at (delta - T) / (1 - T), exactly.  Both directions and neighbours of either sort are
 * alike.  A pair of infinite loss would need a grid, which is coarser than a closed form. */
#include "accountant/answers/rare.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "num/linalg.h"

/* Relative, far above the rounding of a compensated sum of logarithms and of 1 - e^sum. */
static const double rounding = 0x1p-40;

static bool is_rare(const dp_mechanism *m)
{
    return m->noise == DP_NOISE_ALL_OR_NOTHING;
}

bool dpi_rare_any(const dp_mechanism *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_rare(&list[i]))
            return true;
    return false;
}

static dp_status check(const dp_mechanism *m, dp_error *err)
{
    if (!(m->sigma > 0 && m->sigma < 1) || m->steps == 0)
        return dpi_fail(err, DP_EDOMAIN,
                        "sigma is %g and steps is %llu; for what tells all or nothing give the "
                        "probability that it tells, above 0 and below 1, and how often, from 1 up",
                        m->sigma, (unsigned long long)m->steps);
    if (m->sampling != DP_SAMPLING_FULL || m->rate != 1 || m->epoch != 0 || m->records != 0 ||
        m->cap != 0 || m->rows > 1 || m->categories != 0 || m->jumps != NULL ||
        m->chances != NULL || m->n_jumps != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "what tells all or nothing has DP_SAMPLING_FULL, rate 1, and none of the "
                        "fields of other mechanisms");
    if ((int)m->adjacency < DP_ADJACENCY_OF_SAMPLING || m->adjacency > DP_REPLACE_ONE)
        return dpi_fail(err, DP_EDOMAIN, "adjacency is %d; name DP_ADD_REMOVE or DP_REPLACE_ONE",
                        (int)m->adjacency);
    return DP_OK;
}

dp_status dpi_rare_take(const dp_mechanism *list, size_t n, dpi_rare *rare, dp_error *err)
{
    double log_kept = 0, lost = 0;
    dp_status status = DP_OK;
    *rare = (dpi_rare){.rest = dpi_alloc(n, sizeof *list)};
    if (rare->rest == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < n && status == DP_OK; i++)
        if (!is_rare(&list[i]))
            rare->rest[rare->n++] = list[i];
        else if ((status = check(&list[i], err)) == DP_OK) {
            const double kept = (double)list[i].steps * log1p(-list[i].sigma);
            dpi_add_compensated(1, &kept, &log_kept, &lost);
        }
    const double told = -expm1(log_kept);
    rare->least = told * (1 - rounding);
    rare->most = fmin(1, told * (1 + rounding));
    if (status != DP_OK)
        dpi_rare_free(rare);
    return status;
}

void dpi_rare_free(dpi_rare *rare)
{
    dpi_free(rare->rest);
    *rare = (dpi_rare){0};
}

double dpi_rare_left(const dpi_rare *rare, double delta, dpi_side side)
{
    const double told = side == DPI_UPPER ? rare->most : rare->least;
    const double off = side == DPI_UPPER ? -0x1p-50 : 0x1p-50;
    return told < 1 ? (delta - told + off * delta) / (1 - told) * (1 + off) : -1;
}

double dpi_rare_whole(const dpi_rare *rare, double delta, dpi_side side)
{
    const double told = side == DPI_UPPER ? rare->most : rare->least;
    const double whole = told + (1 - told) * delta;
    return side == DPI_UPPER ? fmin(1, whole * (1 + 0x1p-50)) : whole * (1 - 0x1p-50);
}
