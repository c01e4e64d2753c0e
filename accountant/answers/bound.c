/* Both directions, both sides, both engines.
 *
 * Neither direction dominates the other in general, and worst cases need not compose to worst cases
 * (Lebeda et al., 2024): each direction is composed on its own and the larger figure counts.  Where
 * records are replaced the two directions are one.  The contour, which is quick, tells which
 * direction is likely to be the worse one; the other is then bounded only as finely as is needed to
 * be sure of that.
 *
 * An interval is [largest lower bound, largest upper bound] over the directions.  Where the pair
 * that dominates and the pair that is realised differ (dpi_side), each bound comes from its own
 * pair.  The contour's figure must lie in the interval of its pair, or nothing is answered. */
#include "accountant/answers/bound.h"

#include <float.h>
#include <math.h>

#include "accountant/answers/atoms.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/gaussian.h"
#include "accountant/contour/contour.h"
#include "base/error.h"

static const double WIDTH = 2e-5;     /* relative excess that dp_epsilon aims at */
static const double COARSEST = 0.05;  /* for a direction that does not matter */
static const double AGREEMENT = 1e-8; /* relative error that the contour may have */

static double worst(dpi_question query)
{
    return query.ask == DPI_ASK_EPSILON ? INFINITY : 1;
}

/* Closed form of Gaussian releases without sampling, on both sides. */
static dp_status closed_form(double mu, dpi_question query, const dpi_wish *wish, dpi_bounds *b,
                             dp_error *err)
{
    double up = mu * (1 + 0x1p-50), down = mu * (1 - 0x1p-50), slack = 0x1p-44;
    if (query.ask == DPI_ASK_DELTA) {
        double log_up = dpi_gaussian_log_delta(up, query.given, DPI_UPPER);
        double log_down = dpi_gaussian_log_delta(down, query.given, DPI_LOWER);
        b->upper = fmin(1, fmax(exp(log_up) * (1 + 4 * slack), DPI_LEAST_DELTA));
        b->lower = exp(log_down) * (1 - 4 * slack);
    } else {
        b->upper = dpi_gaussian_epsilon(up, log(query.given) - slack, DPI_UPPER);
        b->lower = dpi_gaussian_epsilon(down, log(query.given) + slack, DPI_LOWER);
    }
    if (!(b->upper < INFINITY))
        return dpi_fail(err, DP_EACCURACY, "no finite epsilon is found for mu = %g", mu);
    if (wish->interval > 0 && b->upper > DPI_LEAST_DELTA &&
        b->upper - b->lower > wish->interval * b->upper)
        return dpi_fail(err, DP_EACCURACY,
                        "the closed form is known to lie in [%.17g, %.17g] only; ask for a greater "
                        "width",
                        b->lower, b->upper);
    return DP_OK;
}

static dp_status contour(const dpi_composition *c, dpi_question query, double *answer,
                         dp_error *err)
{
    *answer = NAN;
    if (query.ask == DPI_ASK_EPSILON)
        return dpi_contour_epsilon(c->term, c->n, log(query.given), answer, err);
    double log_delta;
    dp_status status = dpi_contour_log_delta(c->term, c->n, query.given, &log_delta, err);
    if (status == DP_OK)
        *answer = exp(log_delta);
    return status;
}

/* The contour where it applies, else NaN; only memory is worth an error. */
static dp_status glance(const dpi_composition *c, dpi_question query, double *answer, dp_error *err)
{
    dp_error ignored = {.status = DP_OK};
    dp_status status = contour(c, query, answer, &ignored);
    if (status == DP_ENOMEM)
        return dpi_fail_nomem(err);
    if (status != DP_OK)
        *answer = NAN;
    return DP_OK;
}

static dp_status bounds_of(const dpi_composition *c, dpi_question query, const dpi_wish *wish,
                           dpi_bounds *b, dp_error *err)
{
    if (c->normal_mu > 0)
        return closed_form(c->normal_mu, query, wish, b, err);
    /* One release of atoms is a plain sum, where a grid would have to resolve every atom. */
    if (c->n == 1 && c->term[0].times == 1 && c->pair[0].n_pieces == 0) {
        dpi_atoms_solve(&c->pair[0], query, b);
        return DP_OK;
    }
    return dpi_grid_solve(c->term, c->n, query, wish, b, err);
}

/* Compositions of a list in both directions; the second is unused where one serves both. */
typedef struct both {
    dpi_composition way[2];
    double glance[2]; /* contour's figures, or NaN */
    int n;
    int first; /* the one that is likely to be worse */
} both;

static void both_free(both *b)
{
    for (int i = 0; i < b->n; i++)
        dpi_composition_free(&b->way[i]);
}

static dp_status both_new(const dp_mechanism *list, size_t n, dpi_side side, dpi_question query,
                          both *b, dp_error *err)
{
    *b = (both){.n = dpi_composition_directions(list)};
    dp_status status = DP_OK;
    for (int i = 0; i < b->n && status == DP_OK; i++) {
        status = dpi_composition_new(list, n, i == 0 ? DPI_REMOVE : DPI_ADD, side, &b->way[i], err);
        if (status == DP_OK)
            status = glance(&b->way[i], query, &b->glance[i], err);
    }
    if (status != DP_OK)
        both_free(b);
    b->first = b->n == 2 && b->glance[1] > b->glance[0] * (1 + AGREEMENT);
    return status;
}

/* Width that is likely to keep the other direction's bound below what the first gave. */
static double width_for_other(const both *b, dpi_question query, const dpi_wish *wish, double found)
{
    double guess = b->glance[1 - b->first];
    if (!(guess == guess))
        return COARSEST;
    if (query.ask == DPI_ASK_DELTA || guess >= found)
        return wish->width;
    double room = 0.25 * (found - guess) / fmax(guess, 1e-3 * found);
    return fmin(fmax(room, wish->width), COARSEST);
}

/* Adds the other direction to what the first gave: its upper bound as fine as it needs to be, and
 * its lower one where the interval would be too wide without. */
static dp_status add_other(const both *b, dpi_question query, const dpi_wish *wish,
                           dpi_bounds *found, int *worse, dp_error *err)
{
    const dpi_composition *c = &b->way[1 - b->first];
    dpi_bounds other = {0};
    dpi_wish inner = {.enough = found->upper, .hint = b->glance[1 - b->first]};
    inner.width = width_for_other(b, query, wish, found->upper);
    dp_status status = bounds_of(c, query, &inner, &other, err);
    bool matters = status == DP_OK && other.upper > found->upper;
    if (matters && inner.width > wish->width) {
        inner.width = wish->width;
        status = bounds_of(c, query, &inner, &other, err);
        matters = status == DP_OK && other.upper > found->upper;
    }
    if (matters && other.upper - found->lower > wish->interval * other.upper &&
        wish->interval > 0) {
        dpi_wish both_sides = *wish;
        both_sides.hint = inner.hint;
        status = bounds_of(c, query, &both_sides, &other, err);
        found->lower = fmax(found->lower, other.lower);
    }
    if (status != DP_OK || !(other.upper > found->upper))
        return status;
    *worse = 1 - b->first;
    found->upper = other.upper;
    found->points = other.points > found->points ? other.points : found->points;
    return DP_OK;
}

/* Bounds over both directions; *worse [out] the index of the one that decides. */
static dp_status bound_both(const both *b, dpi_question query, const dpi_wish *wish,
                            dpi_bounds *found, int *worse, dp_error *err)
{
    dpi_wish first = *wish;
    first.hint = b->glance[b->first];
    *worse = b->first;
    dp_status status = bounds_of(&b->way[b->first], query, &first, found, err);
    if (status == DP_OK && b->n == 2)
        status = add_other(b, query, wish, found, worse, err);
    return status;
}

dp_status dpi_bound_upper(const dp_mechanism *list, size_t n, dpi_question query, double *answer,
                          dp_error *err)
{
    both b;
    dpi_bounds found = {0};
    int worse;
    dpi_wish wish = {.width = WIDTH, .enough = -1};
    *answer = worst(query);
    dp_status status = both_new(list, n, DPI_UPPER, query, &b, err);
    if (status != DP_OK)
        return status;
    status = bound_both(&b, query, &wish, &found, &worse, err);
    if (status == DP_OK)
        *answer = fmin(found.upper, worst(query));
    both_free(&b);
    return status;
}

dp_status dpi_bound_contour(const dp_mechanism *list, size_t n, dpi_question query, double *answer,
                            dp_error *err)
{
    double figure = 0, one;
    dp_status status = DP_OK;
    int directions = dpi_composition_directions(list);
    *answer = NAN;
    for (int i = 0; i < directions && status == DP_OK; i++) {
        dpi_composition c;
        status = dpi_composition_new(list, n, i == 0 ? DPI_REMOVE : DPI_ADD, DPI_UPPER, &c, err);
        if (status != DP_OK)
            break;
        status = contour(&c, query, &one, err);
        figure = fmax(figure, one);
        dpi_composition_free(&c);
    }
    if (status == DP_OK)
        *answer = figure;
    return status;
}

/* The contour's figure for a pair of compositions: the larger one, NaN when either is missing. */
static double estimate_of(const both *b)
{
    if (b->n == 1)
        return b->glance[0];
    return b->glance[0] >= 0 && b->glance[1] >= 0 ? fmax(b->glance[0], b->glance[1]) : NAN;
}

static dp_status check_contour(double estimate, const dpi_bounds *b, bool has_lower, dp_error *err)
{
    if (!(estimate == estimate))
        return DP_OK;
    double slack = AGREEMENT * estimate + DPI_LEAST_DELTA;
    if (estimate <= b->upper + slack && (!has_lower || estimate >= b->lower - slack))
        return DP_OK;
    return dpi_fail(err, DP_EACCURACY,
                    "the engines disagree: the contour gives %.10g, the grid [%.10g, %.10g]; "
                    "please report this with the arguments",
                    estimate, has_lower ? b->lower : 0, b->upper);
}

/* One side: bounds, compared with the contour. */
static dp_status solve_side(const dp_mechanism *list, size_t n, dpi_side side, dpi_question query,
                            const dpi_wish *asked, dpi_bounds *found, dp_interval *answer,
                            dp_error *err)
{
    both b;
    int worse = 0;
    dpi_wish wish = *asked;
    dp_status status = both_new(list, n, side, query, &b, err);
    if (status != DP_OK)
        return status;
    status = bound_both(&b, query, &wish, found, &worse, err);
    if (status == DP_OK)
        status = check_contour(estimate_of(&b), found, wish.interval > 0, err);
    answer->estimate = estimate_of(&b);
    answer->worse = b.n == 1 ? DP_WORSE_EITHER : worse == 0 ? DP_WORSE_REMOVE : DP_WORSE_ADD;
    answer->grid = found->points > answer->grid ? found->points : answer->grid;
    if (b.way[0].normal_mu > 0)
        answer->method = "closed form";
    else
        answer->method = answer->estimate == answer->estimate ? "grid and contour" : "grid";
    both_free(&b);
    return status;
}

dp_status dpi_bound_interval(const dp_mechanism *list, size_t n, dpi_question query, double width,
                             dp_interval *answer, dp_error *err)
{
    dpi_bounds upper = {0}, lower = {0};
    dp_interval found = {0}, ignored = {0};
    *answer = (dp_interval){.upper = worst(query), .estimate = NAN, .method = "none"};
    bool gap = dpi_composition_has_gap(list, n);
    dpi_wish wish = {.width = 0.4 * width, .enough = -1, .interval = gap ? 0 : width};
    dp_status status = solve_side(list, n, DPI_UPPER, query, &wish, &upper, &found, err);
    lower = upper;
    /* Where the gap remains anyhow, a lower bound that is a little further down is worth having. */
    wish.interval = width;
    wish.best = true;
    if (status == DP_OK && gap)
        status = solve_side(list, n, DPI_LOWER, query, &wish, &lower, &ignored, err);
    if (status != DP_OK)
        return status;
    *answer = found;
    answer->lower = lower.lower;
    answer->upper = fmin(upper.upper, worst(query));
    return DP_OK;
}
