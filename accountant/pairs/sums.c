/* Sums of t independent terms by repeated squaring, on a grid like floating-point numbers.
 *
 * Grid.  Knots are whole numbers of units above an origin: all of them up to BODY, then OCTAVE in
 * each doubling.  The unit is a power of 2 and everything stays below 2^52 units, so knots, sums of
 * knots and the shares of a point between its neighbours are exact in double.
 *
 * Upper law.  A point v between knots a < b is split, (b-v)/(b-a) onto a and the rest onto b.  With
 * G the knot chosen, E(G | v) = v: G is a mean-preserving spread of the point, sums of independent
 * spreads are spreads of the sum, and E phi(G) >= E phi(X) for every convex phi and the exact X.
 * Lower law.  Along with the mass of every knot goes E(X - G; G = knot).  E(X | G) has the same
 * masses, at the knots moved by moment / mass, and E phi(E(X | G)) <= E phi(X) by Jensen's
 * inequality.  The two differ from X in variance by about the same amount, on either side.
 *
 * Cuts.  Knots at both ends with next to no weight are dropped.  For phi >= 0 that lowers E phi(X),
 * as the lower law may.  For the upper one the weight goes into `lost`: with W = 1 or W = X /
 * total, phi(X) <= W, the weight of an event that one copy of a sum of k terms decides is p, or
 * (m + (total - k) p) / total, m the mean of the copy on the event; there are total / k copies.
 *
 * Errors.  Everything added and multiplied in masses is positive, so they have a relative error:
 * the factors' errors add up and a product adds (depth + 16) u, depth the longest chain of
 * additions, at most the number of knots of both.  t terms: about 2 t depth u.  Moments are sums of
 * both signs; the same error bounds them relative to the sum of absolute values, A.  With blur the
 * largest A / E(X; knot), that of a product is at most the larger blur of its factors plus the
 * largest spacing / E(X | knot): the first part of A / E(X; knot) is a mean of the factors', and a
 * point is moved by at most the spacing.  So E(X | knot) has the relative error 2 error (blur + 1).
 * The same holds for smear, where E(X | knot) + terms, which adds up over sums as well, replaces
 * E(X | knot).
 *
 * Cost: knots^2 / 2 a squaring.  The body is a plain convolution (a few thousand knots); FFT would
 * be faster and lose the relative accuracy of small masses, on which small deltas stand. */
#include "accountant/pairs/sums.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"

enum {
    BODY = DPI_SUMS_BODY,
    OCTAVE = DPI_SUMS_OCTAVE,
    KNOTS = DPI_SUMS_KNOTS,
    TOP = KNOTS - 1 - OCTAVE
};

static const double UNIT_ROUND = DBL_EPSILON / 2;
static const double EDGE = 0.16; /* the body's width is half the distance between the
                                          * quantiles here and at 1 minus this: a normal's sigma */

struct dpi_sums {
    dpi_sums_rule rule;
    double lost;
    double knot[KNOTS + 1];    /* in units; a guard at the end */
    double inverse[KNOTS + 1]; /* 1 / (knot[k + 1] - knot[k]) */
    double position[2 * BODY]; /* 0, 1, 2, ... */
    double flat[2 * BODY + 8]; /* convolution of the bodies */
    double flat_moment[2 * BODY + 8];
    double room[4][2 * KNOTS];
    dpi_sum_law term, now, next, coarse;
};

/* ---- the grid ---- */

static void set_knots(dpi_sums *s)
{
    for (size_t k = 0; k <= BODY; k++)
        s->knot[k] = (double)k;
    for (size_t k = BODY + 1; k <= KNOTS; k++) {
        size_t up = k - BODY;
        double start = ldexp(1, DPI_SUMS_LOG_BODY + (int)(up / OCTAVE));
        s->knot[k] = start * (1 + (double)(up % OCTAVE) / OCTAVE);
    }
    for (size_t k = 0; k < KNOTS; k++)
        s->inverse[k] = 1 / (s->knot[k + 1] - s->knot[k]);
    for (size_t v = 0; v < 2 * BODY; v++)
        s->position[v] = (double)v;
}

/* The knot at or below v >= 0 units.  Above the body exponent and leading digits of a double are
 * the number of the knot. */
static inline size_t cell(double v)
{
    uint64_t bits;
    if (v < BODY)
        return (size_t)v;
    memcpy(&bits, &v, sizeof bits);
    bits >>= DBL_MANT_DIG - 1 - DPI_SUMS_LOG_OCTAVE;
    bits -= (uint64_t)(DBL_MAX_EXP - 1 + DPI_SUMS_LOG_BODY) << DPI_SUMS_LOG_OCTAVE;
    return BODY + (size_t)bits;
}

static void law_at(dpi_sum_law *law, double *room)
{
    *law = (dpi_sum_law){.unit = 1, .mass = room, .moment = room + KNOTS};
}

static void law_clear(dpi_sum_law *law)
{
    memset(law->mass, 0, 2 * KNOTS * sizeof *law->mass);
    law->first = 0;
    law->end = KNOTS;
}

/* Leaves out empty knots at both ends. */
static void law_trim(dpi_sum_law *law)
{
    while (law->end > law->first && law->mass[law->end - 1] == 0)
        law->end--;
    while (law->first < law->end && law->mass[law->first] == 0)
        law->first++;
}

dpi_sums *dpi_sums_new(const dpi_sums_rule *rule)
{
    dpi_sums *s = dpi_alloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->rule = *rule;
    set_knots(s);
    law_at(&s->term, s->room[0]);
    law_at(&s->now, s->room[1]);
    law_at(&s->next, s->room[2]);
    law_at(&s->coarse, s->room[3]);
    s->term.terms = 1;
    return s;
}

void dpi_sums_free(dpi_sums *s)
{
    dpi_free(s);
}

dpi_sum_law *dpi_sums_term(dpi_sums *s)
{
    return &s->term;
}

double dpi_sum_law_knot(const dpi_sums *s, const dpi_sum_law *law, size_t k)
{
    return law->origin + law->unit * s->knot[k];
}

double dpi_sums_weight(const dpi_sums *s, double terms, double p, double m)
{
    double total = s->rule.total;
    double copies = total / terms;
    return copies * (s->rule.by_size ? (m + (total - terms) * p) / total : p) * (1 + 1e-6);
}

double dpi_sums_lost(const dpi_sums *s)
{
    return s->lost;
}

/* ---- placing points on a grid ---- */

/* Where points go: one at v units lands at (v - shift) * shrink. */
typedef struct target {
    const dpi_sums *sums;
    dpi_sum_law *to;
    double shift, shrink;
} target;

/* A row of points. */
typedef struct points {
    const double *mass, *moment; /* of points j = from ... end - 1 */
    const double *position;      /* in units */
    size_t from, end;
} points;

/* Adds the row times a point of mass m > 0 and moment d at v units.  Its points rise, and those
 * that share a cell are summed before they are added to its two knots: low and high are their
 * shares of the mass, low_moment and high_moment of the moments about those knots.  Inlined twice:
 * without moments it takes half the time. */
static inline void add_points(const target *t, double v, double m, double d, points row,
                              bool moments)
{
    const dpi_sums *s = t->sums;
    double unit = t->to->unit, next = -1, at = 0, inverse = 0;
    double low = 0, high = 0, low_moment = 0, high_moment = 0;
    size_t k = 0;
    for (size_t j = row.from; j < row.end; j++) {
        double x = (v + row.position[j] - t->shift) * t->shrink;
        if (x >= next) {
            t->to->mass[k] += low;
            t->to->mass[k + 1] += high;
            t->to->moment[k] += low_moment;
            t->to->moment[k + 1] += high_moment;
            low = high = low_moment = high_moment = 0;
            k = cell(x);
            at = s->knot[k];
            next = s->knot[k + 1];
            inverse = s->inverse[k];
        }
        double share = (x - at) * inverse;
        double mass = m * row.mass[j];
        low += (1 - share) * mass;
        high += share * mass;
        if (!moments)
            continue;
        double moment = m * row.moment[j] + d * row.mass[j];
        low_moment += (1 - share) * (mass * (x - at) * unit + moment);
        high_moment += share * (mass * (x - next) * unit + moment);
    }
    t->to->mass[k] += low;
    t->to->mass[k + 1] += high;
    t->to->moment[k] += low_moment;
    t->to->moment[k + 1] += high_moment;
}

static void add_row(const target *t, double v, double m, double d, points row)
{
    if (t->sums->rule.moments)
        add_points(t, v, m, d, row, true);
    else
        add_points(t, v, m, d, row, false);
}

static points row_of(const dpi_sums *s, const dpi_sum_law *law, size_t from, size_t end)
{
    return (points){law->mass, law->moment, s->knot, from, end};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- products ---- */

/* out[i + j] += a[i] b[j] over the bodies; four rows at a time. */
static void convolve(const double *a, size_t a_first, size_t a_end, const double *b, size_t b_first,
                     size_t b_end, double *out)
{
    size_t i = a_first;
    for (; i + 4 <= a_end && b_end - b_first >= 4; i += 4) {
        double a0 = a[i], a1 = a[i + 1], a2 = a[i + 2], a3 = a[i + 3];
        double *o = out + i;
        const double *e = b + b_end;
        size_t j = b_first;
        o[j] += a0 * b[j];
        o[j + 1] += a0 * b[j + 1] + a1 * b[j];
        o[j + 2] += a0 * b[j + 2] + a1 * b[j + 1] + a2 * b[j];
        for (j += 3; j < b_end; j++)
            o[j] += a0 * b[j] + a1 * b[j - 1] + a2 * b[j - 2] + a3 * b[j - 3];
        o[j] += a1 * e[-1] + a2 * e[-2] + a3 * e[-3];
        o[j + 1] += a2 * e[-1] + a3 * e[-2];
        o[j + 2] += a3 * e[-1];
    }
    for (; i < a_end; i++)
        for (size_t j = b_first; j < b_end; j++)
            out[i + j] += a[i] * b[j];
}

static void convolve_bodies(dpi_sums *s, const dpi_sum_law *a, const dpi_sum_law *b)
{
    size_t a_end = least(a->end, BODY), b_end = least(b->end, BODY);
    memset(s->flat, 0, sizeof s->flat);
    memset(s->flat_moment, 0, sizeof s->flat_moment);
    if (a->first >= a_end || b->first >= b_end)
        return;
    convolve(a->mass, a->first, a_end, b->mass, b->first, b_end, s->flat);
    if (!s->rule.moments)
        return;
    convolve(a->mass, a->first, a_end, b->moment, b->first, b_end, s->flat_moment);
    if (a != b)
        convolve(b->mass, b->first, b_end, a->moment, a->first, a_end, s->flat_moment);
    for (size_t v = 0; v < 2 * BODY && a == b; v++)
        s->flat_moment[v] *= 2;
}

/* Chooses the product's unit and origin from the convolution of the bodies, which is in units of
 * `unit`; returns the lowest position that is kept and counts what is below as lost. */
static size_t choose_grid(dpi_sums *s, double unit, dpi_sum_law *to)
{
    double p = 0, m = 0, edge[2] = {-1, -1}, gone = 0;
    size_t low = 0;
    for (size_t v = 0; v < 2 * BODY; v++) {
        p += s->flat[v];
        m += s->flat[v] * (to->origin + unit * (double)v);
        double weight = dpi_sums_weight(s, to->terms, p, m);
        if (v < BODY && low == v && weight <= s->rule.give_up) {
            low = v + 1;
            gone = weight;
        }
        if (edge[0] < 0 && p >= EDGE)
            edge[0] = (double)v;
        if (edge[1] < 0 && p >= 1 - EDGE)
            edge[1] = (double)v;
    }
    s->lost += gone;
    double most_unit =
        fmin(s->rule.unit_most * to->terms, s->rule.coarse * 0.5 * (edge[1] - edge[0]) * unit);
    to->unit = unit;
    while (edge[1] >= 0 && 2 * to->unit <= most_unit)
        to->unit *= 2;
    double lowest = to->origin + unit * (double)low;
    to->origin = fmax(floor(lowest / to->unit) * to->unit, 0);
    return low;
}

/* Drops knots from the top while their weight is allowed to go, and what is too far out for two of
 * them to have a sum on the grid. */
static void cut_top(dpi_sums *s, dpi_sum_law *law)
{
    double p = 0, m = 0, weight = 0;
    while (law->end > law->first) {
        size_t k = law->end - 1;
        p += law->mass[k];
        m += law->mass[k] * dpi_sum_law_knot(s, law, k);
        double next = dpi_sums_weight(s, law->terms, p, m);
        if (next > s->rule.give_up && k < TOP)
            break;
        weight = next;
        law->mass[k] = law->moment[k] = 0;
        law->end = k;
    }
    s->lost += weight;
}

/* Everything that leaves the bodies: a's tail with all of b, b's tail with a's body.  For a square
 * each pair counts twice, the diagonal once. */
static void add_tails(const target *t, const dpi_sum_law *a, const dpi_sum_law *b)
{
    const dpi_sums *s = t->sums;
    for (size_t i = most(a->first, BODY); i < a->end; i++) {
        double v = s->knot[i], m = a->mass[i], d = a->moment[i];
        if (m == 0)
            continue;
        if (a == b) {
            add_row(t, v, 2 * m, 2 * d, row_of(s, b, b->first, i));
            add_row(t, v, m, d, row_of(s, b, i, i + 1));
        } else {
            add_row(t, v, m, d, row_of(s, b, b->first, b->end));
        }
    }
    for (size_t i = most(b->first, BODY); i < b->end && a != b; i++)
        add_row(t, s->knot[i], b->mass[i], b->moment[i],
                row_of(s, a, a->first, least(a->end, BODY)));
}

/* Adds what the last placement did to the blur; drops knots whose mean is lost in rounding. */
static void add_blur(const dpi_sums *s, dpi_sum_law *law)
{
    double worst = 0, wide = 0;
    for (size_t k = law->first; k < law->end && s->rule.moments; k++) {
        if (law->mass[k] == 0)
            continue;
        double mean = dpi_sum_law_knot(s, law, k) + law->moment[k] / law->mass[k];
        double spacing = law->unit * (s->knot[k + 1] - s->knot[k]);
        if (mean > 0)
            worst = fmax(worst, spacing / mean);
        wide = fmax(wide, spacing / (fmax(mean, 0) + law->terms));
        if (mean < 0)
            law->mass[k] = law->moment[k] = 0;
    }
    law->blur += worst * (1 + 1e-3);
    law->smear += wide * (1 + 1e-3);
}

/* now = a * b for laws with the same unit, of which one is the present `now`. */
static void product(dpi_sums *s, const dpi_sum_law *a, const dpi_sum_law *b)
{
    dpi_sum_law *to = &s->next;
    law_clear(to);
    to->terms = a->terms + b->terms;
    to->origin = a->origin + b->origin;
    convolve_bodies(s, a, b);
    size_t low = choose_grid(s, a->unit, to);
    double origin = a->origin + b->origin;
    target t = {.sums = s,
                .to = to,
                .shift = (to->origin - origin) / a->unit,
                .shrink = a->unit / to->unit};
    add_row(&t, 0, 1, 0, (points){s->flat, s->flat_moment, s->position, low, 2 * BODY});
    add_tails(&t, a, b);
    law_trim(to);
    cut_top(s, to);
    double depth = (double)(a->end - a->first + b->end - b->first) + 16;
    to->error = a->error + b->error + depth * UNIT_ROUND;
    to->blur = fmax(a->blur, b->blur);
    to->smear = fmax(a->smear, b->smear);
    add_blur(s, to);
    dpi_sum_law done = s->next;
    s->next = s->now;
    s->now = done;
}

/* The term on the coarser grid of the sum so far. */
static const dpi_sum_law *term_like(dpi_sums *s, double unit)
{
    dpi_sum_law *from = &s->term, *to = &s->coarse;
    if (from->unit == unit)
        return from;
    law_clear(to);
    to->terms = 1;
    to->unit = unit;
    to->origin = floor(from->origin / unit) * unit;
    target t = {.sums = s,
                .to = to,
                .shift = (to->origin - from->origin) / from->unit,
                .shrink = from->unit / unit};
    add_row(&t, 0, 1, 0, row_of(s, from, from->first, from->end));
    law_trim(to);
    to->error = from->error + (double)(from->end - from->first + 16) * UNIT_ROUND;
    to->blur = from->blur;
    to->smear = from->smear;
    add_blur(s, to);
    return to;
}

const dpi_sum_law *dpi_sums_run(dpi_sums *s)
{
    law_trim(&s->term);
    cut_top(s, &s->term);
    s->term.blur = s->term.smear = 0;
    add_blur(s, &s->term);
    memcpy(s->now.mass, s->term.mass, 2 * KNOTS * sizeof *s->now.mass);
    double *mass = s->now.mass, *moment = s->now.moment;
    s->now = s->term;
    s->now.mass = mass;
    s->now.moment = moment;
    uint64_t total = (uint64_t)s->rule.total, bit = 1;
    while (bit <= total / 2)
        bit *= 2;
    for (bit /= 2; bit > 0; bit /= 2) {
        product(s, &s->now, &s->now);
        if (total & bit)
            product(s, &s->now, term_like(s, s->now.unit));
    }
    return &s->now;
}
