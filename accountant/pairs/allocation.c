/* One epoch of random allocation as a pair of atoms.
 *
 * Model.  An epoch has t steps; each record draws its step uniformly, by itself, and step i
 * releases g_i + N(0, sigma^2) where g_i, of norm at most 1 for each record, may depend on all that
 * was released before.  Whatever batches the other records are in, even if they were known, let v_i
 * be what the record in question would add in step i, and Q the law without it.  The likelihood
 * ratio is
 *     X' = (1/t) sum_i exp(|v_i| w_i / sigma^2 - |v_i|^2 / (2 sigma^2)),
 * and under Q the w_i are N(0, sigma^2), each independent of the past, which fixes v_i.  With the
 * Brownian motion that runs through w_i / sigma, each term is the exponential martingale stopped at
 * time |v_i|^2 / sigma^2 <= 1 / sigma^2: the expectation, given everything seen, of Y_i, the same
 * martingale at 1 / sigma^2, by independent increments.  The Y_i are independent,
 * Y = exp(s z - s^2 / 2) with s = 1 / sigma and z standard normal, so by Jensen's inequality
 *     E_Q phi(X') <= E_Q phi(X),  X = (1/t) sum_i Y_i,  for every convex phi,
 * with equality for a record that adds the same unit vector in every step.  Both directions are
 * such expectations: remove is E_Q (X - e^eps)_+, add is E_Q (1 - e^eps X)_+, and so they are, in
 * each of the factors, for products over epochs.  Hence one epoch is dominated by the pair dP/dQ =
 * X (remove) or its reverse (add), and upper and lower laws of the sum (sums.c) give upper and
 * lower pairs.
 *
 * Term.  Cell by cell, a and b its knots, the masses of Y weighted by (b-Y)/(b-a) and (Y-a)/(b-a),
 * and the first moments, by 6-point Gauss's rule in z: all terms positive.  On pieces of width h /
 * D, h <= 1/4, D = 1 + |z| + s, the integrand is bounded on the Bernstein ellipse 8/h as in mass.c:
 *     error <= 300 (1 + 27/h) (h/8)^12 < 3e-14 times the mass of the piece.
 * `slack` gathers that, and what rounding of y does to the weights, relative to every knot's mass.
 *
 * References: Chua, Ghazi, Harrison, Leeman, Kamath, Kumar, Manurangsi, Sinha and Zhang,
 * Balls-and-bins sampling for DP-SGD, AISTATS 2025 (this pair, tight); Feldman and Shenfeld,
 * Privacy amplification by random allocation, 2025; the same, Efficient privacy loss accounting for
 * subsampling and random allocation, 2026 (numerical laws of the sum); Shaked and Shanthikumar,
 * Stochastic Orders, 2007, ch. 3. */
#include "accountant/pairs/allocation.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "accountant/pairs/sums.h"
#include "base/alloc.h"
#include "base/error.h"

static const uint64_t MOST_STEPS = 1000000;
static const double REACH = 12;          /* |z| and |z - s| looked at: P beyond is 2e-33 */
static const double COARSE = 1.0 / 64;   /* unit of the grid relative to the body's width */
static const double LOW_FINE = 1.0 / 64; /* and to the lowest sum that matters when adding */
static const double QUADRATURE = 1e-13;
static const double LEAST = 1e-22;
static const double GAIN = 15;        /* adding: X above e^15 may count as less */
static const double DEEPEST = 0x1p50; /* most units in a term */

enum { POINTS = 6 };
static const double node[POINTS] = {0.03376524289842398885, 0.16939530676686773147,
                                    0.38069040695840156152, 0.61930959304159849399,
                                    0.83060469323313224077, 0.96623475710157602503};
static const double gauss[POINTS] = {0.08566224618958517834, 0.18038078652406930313,
                                     0.23395696728634551853, 0.23395696728634551853,
                                     0.18038078652406930313, 0.08566224618958517834};

/* ---- the law of one term ---- */

typedef struct law_filler {
    const dpi_sums *sums;
    dpi_sum_law *law;
    double s;      /* 1 / sigma */
    double *slack; /* [DPI_SUMS_KNOTS] bound on the error of mass */
} law_filler;

/* Sums over the piece [z, z + width] of cell k. */
static void add_piece(law_filler *f, size_t k, double z, double width)
{
    double a = dpi_sum_law_knot(f->sums, f->law, k), b = dpi_sum_law_knot(f->sums, f->law, k + 1);
    double scale = width * M_2_SQRTPI * M_SQRT1_2 / 2;
    for (int i = 0; i < POINTS; i++) {
        double x = z + width * node[i], exponent = f->s * x - f->s * f->s / 2;
        double m = scale * gauss[i] * exp(-x * x / 2), y = exp(exponent);
        double high = fmin(fmax((y - a) / (b - a), 0), 1), low = 1 - high;
        double slack = m * (2 * QUADRATURE +
                            4 * DBL_EPSILON * (fabs(exponent) + f->s * fabs(x) + 2) * y / (b - a));
        f->law->mass[k] += m * low;
        f->law->mass[k + 1] += m * high;
        f->law->moment[k] += m * low * (y - a);
        f->law->moment[k + 1] += m * high * (y - b);
        f->slack[k] += slack;
        f->slack[k + 1] += slack;
    }
}

static double excess_at(const law_filler *f, double y)
{
    return y > 0 ? log(y) / f->s + f->s / 2 : -INFINITY;
}

/* All cells from that of z = low to that of z = high, whole. */
static void fill(law_filler *f, double low, double high)
{
    dpi_sum_law *law = f->law;
    double z = law->origin > 0 ? excess_at(f, law->origin) : low;
    for (size_t k = 0; k < DPI_SUMS_KNOTS - 1 && z < high; k++) {
        double end = excess_at(f, dpi_sum_law_knot(f->sums, law, k + 1));
        while (z < end) {
            double step = 0.25 / (1 + fabs(z) + f->s);
            bool last = end - z <= step;
            add_piece(f, k, z, last ? end - z : step);
            z = last ? end : z + step;
        }
        law->end = k + 2;
    }
    for (size_t k = 0; k < law->end; k++)
        if (law->mass[k] > 0)
            law->error = fmax(law->error, f->slack[k] / law->mass[k]);
    law->error += 256 * DBL_EPSILON;
}

/* P(N(0,1) > x), rounded up. */
static double beyond(double x)
{
    return 0.5 * erfc(x * M_SQRT1_2) * (1 + 1e-9);
}

/* When adding, only sums of t terms that are as small as this matter: were all terms equal to it,
 * the chance would be `least`. */
static double lowest_term(double s, double t, double least)
{
    double low = -REACH, high = s / 2;
    while (high - low > 1e-3) {
        double middle = (low + high) / 2;
        if (t * log(beyond(-middle)) > log(least))
            high = middle;
        else
            low = middle;
    }
    return exp(s * low - s * s / 2);
}

/* ---- atoms ---- */

static int by_offset(const void *a, const void *b)
{
    double x = ((const dpi_atom *)a)->offset, y = ((const dpi_atom *)b)->offset;
    return (x > y) - (x < y);
}

/* Sorts, and adds up atoms at the same place. */
static size_t merge(dpi_atom *atom, size_t n)
{
    size_t kept = 0;
    qsort(atom, n, sizeof *atom, by_offset);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && atom[kept - 1].offset == atom[i].offset)
            atom[kept - 1].mass += atom[i].mass;
        else
            atom[kept++] = atom[i];
    }
    return kept;
}

/* Reads the pair off the law of the sum; atom has room for its knots. */
static void make_atoms(const dpi_sums *sums, const dpi_sum_law *law, dpi_direction direction,
                       dpi_side side, dpi_pair *pair)
{
    double t = law->terms, smallest = INFINITY;
    for (size_t k = law->first; k < law->end; k++) {
        double m = law->mass[k], sum = dpi_sum_law_knot(sums, law, k);
        if (m == 0)
            continue;
        if (side == DPI_LOWER)
            sum += law->moment[k] / m;
        double x = sum / t;
        if (x > 0)
            smallest = fmin(smallest, x);
        if (direction == DPI_ADD && side == DPI_UPPER && x == 0)
            pair->infinite += m * (1 + law->error) * (1 + DBL_EPSILON);
        else if (x > 0)
            pair->atom[pair->n_atoms++] = direction == DPI_ADD
                                              ? (dpi_atom){.offset = -log(x), .mass = m}
                                              : (dpi_atom){.offset = log(x), .mass = m * x};
    }
    pair->n_atoms = merge(pair->atom, pair->n_atoms);
    double blur = fmin(law->blur, law->smear * (1 + 1 / smallest));
    double mean_error = side == DPI_LOWER ? 2 * law->error * (blur + 1) : 0;
    pair->mass_error = law->error + mean_error + 64 * DBL_EPSILON;
    pair->offset_error = mean_error * (1 + mean_error) + 256 * DBL_EPSILON;
}

static dp_status check(double sigma, uint64_t t, dp_error *err)
{
    if (!(sigma >= DPI_ALLOCATION_LEAST_SIGMA && sigma <= DPI_ALLOCATION_MOST_SIGMA))
        return dpi_fail(err, DP_EACCURACY,
                        "sigma is %g; epochs of random allocation are accounted for sigma in "
                        "[%g, %g], take one within or Poisson sampling",
                        sigma, DPI_ALLOCATION_LEAST_SIGMA, DPI_ALLOCATION_MOST_SIGMA);
    if (t < 2 || t > MOST_STEPS)
        return dpi_fail(err, DP_EACCURACY,
                        "an epoch has %llu steps; random allocation is accounted for 2 to %llu, "
                        "take larger batches or Poisson sampling",
                        (unsigned long long)t, (unsigned long long)MOST_STEPS);
    return DP_OK;
}

/* Unit of the term's grid, and how far up in z it goes. */
typedef struct reach {
    double unit, high;
} reach;

static reach find_reach(double s, double t, const dpi_sums_rule *rule)
{
    reach r = {.high = REACH + s};
    double unit = fmin(rule->coarse * sinh(s) * exp(-s * s / 2), rule->unit_most);
    if (!rule->by_size)
        r.high = fmin(REACH, (log(t) + GAIN) / s + s / 2);
    int exponent;
    (void)frexp(fmax(unit, exp(s * r.high - s * s / 2) / DEEPEST), &exponent);
    r.unit = ldexp(1, exponent - 1);
    return r;
}

/* Fills the law of the term; returns the weight that is left out. */
static double make_term(dpi_sums *sums, double s, reach r, bool clip, double *slack)
{
    dpi_sum_law *law = dpi_sums_term(sums);
    double lowest = exp(-s * REACH - s * s / 2);
    law->unit = r.unit;
    law->origin = floor(lowest / r.unit) * r.unit;
    law_filler f = {.sums = sums, .law = law, .s = s, .slack = slack};
    fill(&f, -REACH, r.high);
    double low = beyond(REACH), high = beyond(r.high);
    if (clip) {
        law->mass[law->end - 1] += high;
        return dpi_sums_weight(sums, 1, low, lowest * low);
    }
    return dpi_sums_weight(sums, 1, low + high, lowest * low + beyond(r.high - s));
}

dp_status dpi_allocation_pair(double sigma, uint64_t t, dpi_direction direction, dpi_side side,
                              double least, dpi_pair *pair, dp_error *err)
{
    *pair = (dpi_pair){0};
    dp_status status = check(sigma, t, err);
    if (status != DP_OK)
        return status;
    double s = 1 / sigma, steps = (double)t;
    least = least > 0 ? least : LEAST;
    dpi_sums_rule rule = {.total = steps,
                          .moments = side == DPI_LOWER,
                          .by_size = direction == DPI_REMOVE,
                          .give_up = least / 128,
                          .coarse = COARSE,
                          .unit_most = INFINITY};
    if (direction == DPI_ADD)
        rule.unit_most = LOW_FINE * fmin(lowest_term(s, steps, least), 1);
    dpi_sums *sums = dpi_sums_new(&rule);
    double *slack = dpi_alloc(DPI_SUMS_KNOTS, sizeof *slack);
    pair->atom = dpi_alloc(DPI_SUMS_KNOTS, sizeof *pair->atom);
    if (sums == NULL || slack == NULL || pair->atom == NULL) {
        dpi_free(pair->atom);
        *pair = (dpi_pair){0};
        status = dpi_fail_nomem(err);
    } else {
        bool clip = direction == DPI_ADD && side == DPI_UPPER;
        double out = make_term(sums, s, find_reach(s, steps, &rule), clip, slack);
        make_atoms(sums, dpi_sums_run(sums), direction, side, pair);
        if (side == DPI_UPPER)
            pair->lost = out + dpi_sums_lost(sums);
    }
    dpi_free(slack);
    dpi_sums_free(sums);
    return status;
}
