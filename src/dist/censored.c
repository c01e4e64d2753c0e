/* Censoring: a record says what its outcome was, or on which side of a number, or between which
 * numbers it lies:
 *
 *    0  it was y       log f(y)
 *    1  above y        log P(X > y)
 *   -1  y or below     log P(X <= y)
 *    2  between        log P(y < X <= upper)
 *
 * All are made and one is kept (op-keep.c), so that what the others are, infinite or not a number,
 * has no part in the value or in a derivative: upper may be anything where it is not meant. */
#include "dist/form.h"

#include <math.h>

static const char *refuses(const dpi_family *base)
{
    if (base->form != NULL && dpi_is_transparent(base->form))
        return "weights and missing outcomes go around a censored distribution, not into it";
    if (!dpi_has_tails(base))
        return "it has no distribution function here; dp_normal, for one, does";
    return NULL;
}

static dpi_id of_side(dpi_graph *g, double sign, dpi_id side, double beyond)
{
    dpi_id moved = dpi_sub(g, dpi_scale(g, sign, side), dpi_constant(g, beyond));
    return dpi_unary(g, &dpi_op_relu, moved);
}

/* 1 for what was seen itself, of sides -1, 0, 1 and 2. */
static dpi_id of_seen(dpi_graph *g, dpi_id side)
{
    dpi_id size = dpi_unary(g, &dpi_op_abs, side);
    return dpi_unary(g, &dpi_op_relu, dpi_sub(g, dpi_constant(g, 1), size));
}

static dpi_id kept(dpi_graph *g, dpi_id where, dpi_id term)
{
    return dpi_keep(g, term, (dpi_mask){where, false});
}

/* The terms but that between two numbers; `above` is 1 for what is above y. */
static dpi_id one_sided(const dpi_family *base, dpi_graph *g, dpi_id x, const dpi_id arg[],
                        dpi_id side, dpi_id above)
{
    dpi_id seen = kept(g, of_seen(g, side), dpi_family_log_density(base, g, x, arg));
    dpi_id right = kept(g, above, dpi_family_log_survival(base, g, x, arg));
    dpi_id left = kept(g, of_side(g, -1, side, 0), dpi_family_log_cdf(base, g, x, arg));
    return dpi_add(g, dpi_add(g, seen, right), left);
}

static dpi_id log_density(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return one_sided(row->base, g, x, arg + 1, arg[0], of_side(g, 1, arg[0], 0));
}

static dpi_id log_density_between(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    dpi_id both = of_side(g, 1, arg[0], 1);
    dpi_id above = dpi_sub(g, of_side(g, 1, arg[0], 0), dpi_scale(g, 2, both));
    dpi_id between = kept(g, both, dpi_log_between(g, row->base, x, arg[1], arg + 2));
    return dpi_add(g, one_sided(row->base, g, x, arg + 2, arg[0], above), between);
}

/* Outcomes above low and, unless high is infinite, up to there: by the tail in which both keep
 * their digits. */
static void hide(const dpi_family *row, double low, double high, const double *const arg[],
                 dpi_veil *veil)
{
    const dpi_family *base = row->base;
    arg += row->form->n_args;
    veil->seen = false;
    veil->from_above = low > -INFINITY && !(dpi_log_cdf_at(base, low, arg) < log(0.5));
    if (veil->from_above) {
        veil->low = high < INFINITY ? exp(dpi_log_survival_at(base, high, arg)) : 0;
        veil->high = exp(dpi_log_survival_at(base, low, arg));
    } else {
        veil->low = low > -INFINITY ? exp(dpi_log_cdf_at(base, low, arg)) : 0;
        veil->high = high < INFINITY ? exp(dpi_log_cdf_at(base, high, arg)) : 1;
    }
}

static void veil_of(const dpi_family *row, double y, const double *const arg[], dpi_veil *veil)
{
    const double side = *arg[0];
    if (side == 1)
        hide(row, y, INFINITY, arg, veil);
    else if (side == -1)
        hide(row, -INFINITY, y, arg, veil);
    else if (side == 2)
        hide(row, y, *arg[1], arg, veil);
}

const dpi_form dpi_censored = {
    .code = DPI_CENSORED,
    .name = "censored",
    .formula = "log f(x), log P(X > x) or log P(X <= x), f and P of the base, as censoring says",
    .n_args = 1,
    .arg_name = {"censoring"},
    .arg_domain = {DPI_SIDE},
    .observed = true,
    .refuses = refuses,
    .log_density = log_density,
    .mean = dpi_base_mean,
    .veil = veil_of,
};

const dpi_form dpi_interval_censored = {
    .code = DPI_INTERVAL_CENSORED,
    .name = "interval censored",
    .formula = "log f(x), log P(X > x), log P(X <= x) or log P(x < X <= upper), f and P of the "
               "base, as censoring says",
    .n_args = 2,
    .arg_name = {"censoring", "upper"},
    .arg_domain = {DPI_SIDE_OR_BOTH, DPI_ANY},
    .observed = true,
    .refuses = refuses,
    .log_density = log_density_between,
    .mean = dpi_base_mean,
    .veil = veil_of,
};
