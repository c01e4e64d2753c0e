/* One transition of the no-U-turn sampler (Hoffman and Gelman 2014, JMLR 15, 1593), with points of
 * a trajectory drawn by their weights and the U-turn told by sums of momenta (Betancourt 2017,
 * arXiv:1701.02434, appendix A.3 and A.4).
 *
 * With z = origin + L x, momenta p ~ N(0, I) and H(x, p) = |p|^2 / 2 - log density, a trajectory is
 * a row of leapfrog steps to both sides of where it starts:
 *
 *   p += e/2 slope(x),  x += e p,  p += e/2 slope(x),     slope(x) = L^T gradient(z)
 *
 * To move in x with unit masses is to move in z with the inverse mass matrix L L^T, so that the
 * factor is met nowhere but in `pull`, dpi_nuts_place and dpi_nuts_evaluate, n^2 operations
 * together.
 *
 * A trajectory doubles, before or after, until it bends back.  A row of points bends back when the
 * sum of its momenta has no positive product with its first or with its last.  It is asked of the
 * whole trajectory, and within the new half of each row that the doubling of a doubling would have
 * made: 2^k points from a multiple of 2^k on.  It is also asked of one half of a row with the
 * nearest point of the other: of N points a step e apart on a circle, a half of them does not bend
 * when N e < 2 pi + 2 e, and the whole does not when N e > 2 pi.  (A row of two needs no such
 * question.)
 *
 * New halves are walked in order, not by recursion.  For the row that ends at point i there are at
 * hand, in n (depth + 1) numbers each:
 *
 *   starts[b]  the momentum of the last point with b bits set in its number: for the row of 2^k
 *              that ends at i, and k low bits of i are set, its first point has the bits of i less
 *              k, and each later one more than that
 *   before[b]  the sum of the momenta before that point
 *   lasts[k]   the momentum of the last point whose k low bits are set and the next is not: the end
 *              of the first half of a row of 2^(k + 1)
 *
 * A point of the new half is drawn by its weight exp(H_0 - H) as they come; the trajectory takes it
 * for its own with probability min(1, weight of the new half / weight before), which favours what
 * is far and leaves the target invariant.  The transition leaves it invariant whatever the gradient
 * computes: one that is wrong costs acceptance, not truth. */
#include "infer/nuts.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "num/linalg.h"

/* A trajectory whose energy has grown by that is of no use and is given up. */
static const double most_energy = 1000;

/* ---- room ---- */

static bool room(double **block, size_t n, size_t rows, dpi_arena *arena)
{
    size_t size;
    return dpi_mul(n, rows, &size) &&
           (*block = dpi_arena_alloc(arena, size, sizeof **block)) != NULL;
}

bool dpi_hmc_point_init(dpi_hmc_point *point, size_t n, dpi_arena *arena)
{
    point->log_density = -INFINITY;
    return room(&point->x, n, 1, arena) && room(&point->momentum, n, 1, arena) &&
           room(&point->slope, n, 1, arena);
}

bool dpi_nuts_init(dpi_nuts *nuts, const dpi_target *target, int depth, dpi_arena *arena)
{
    *nuts = (dpi_nuts){.target = target, .in = {.n = target->n, .plain = true}, .depth = depth};
    double **vectors[] = {&nuts->z,    &nuts->gradient, &nuts->sum,
                          &nuts->half, &nuts->joint,    &nuts->first};
    double **rows[] = {&nuts->starts, &nuts->before, &nuts->lasts};
    dpi_hmc_point *points[] = {&nuts->ends[0], &nuts->ends[1], &nuts->one};
    bool made = dpi_rows_init(&nuts->in.lower, target->n, DPI_ROWS_LOWER, arena) &&
                dpi_rows_init(&nuts->in.across, target->n, DPI_ROWS_UPPER, arena);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        made = made && room(vectors[i], target->n, 1, arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        made = made && room(rows[i], target->n, (size_t)depth + 1, arena);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        made = made && dpi_hmc_point_init(points[i], target->n, arena);
    return made;
}

/* ---- the target in the sampler's coordinates ---- */

DPI_LOOPS static void add(size_t n, double factor, const double *a, double *sum)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += factor * a[i];
}

static void copy(size_t n, const double *from, double *to)
{
    memcpy(to, from, n * sizeof *to);
}

void dpi_nuts_whiten(dpi_nuts *nuts, const double *factor)
{
    nuts->in.plain = false;
    nuts->in.factor = factor;
    dpi_rows_set(&nuts->in.lower, factor);
    dpi_rows_set_across(&nuts->in.across, factor);
}

void dpi_nuts_place(const dpi_nuts *nuts, const double *x, double *z)
{
    const dpi_whitening *in = &nuts->in;
    if (in->plain)
        copy(in->n, x, z);
    else
        dpi_rows_combine(&in->across, x, z);
    add(in->n, 1, in->origin, z);
}

/* x of z = origin + L x. */
static void find_place(const dpi_whitening *in, const double *z, double *x)
{
    for (size_t i = 0; i < in->n; i++)
        x[i] = z[i] - in->origin[i];
    for (size_t i = 0; i < in->n && !in->plain; i++) {
        const double *row = in->factor + i * in->n;
        x[i] = (x[i] - dpi_dot(i, row, x)) / row[i];
    }
}

/* slope = L^T gradient. */
static void pull(const dpi_whitening *in, const double *gradient, double *slope)
{
    if (in->plain)
        copy(in->n, gradient, slope);
    else
        dpi_rows_combine(&in->lower, gradient, slope);
}

bool dpi_nuts_evaluate(dpi_nuts *nuts, dpi_hmc_point *point)
{
    dpi_nuts_place(nuts, point->x, nuts->z);
    nuts->gradients++;
    point->log_density = nuts->target->log_density(nuts->target->of, nuts->z, nuts->gradient);
    bool inside = isfinite(point->log_density);
    if (inside)
        pull(&nuts->in, nuts->gradient, point->slope);
    for (size_t i = 0; inside && i < nuts->in.n; i++)
        inside = isfinite(point->slope[i]);
    if (!inside)
        point->log_density = -INFINITY;
    return inside;
}

static double energy_of(size_t n, const dpi_hmc_point *at)
{
    return dpi_dot(n, at->momentum, at->momentum) / 2 - at->log_density;
}

/* Gives how much the energy is below that of the start; -INFINITY outside. */
static double leap(dpi_nuts *nuts, dpi_hmc_point *at, double step)
{
    const size_t n = nuts->in.n;
    add(n, step / 2, at->slope, at->momentum);
    add(n, step, at->momentum, at->x);
    if (!dpi_nuts_evaluate(nuts, at))
        return -INFINITY;
    add(n, step / 2, at->slope, at->momentum);
    double gain = nuts->energy - energy_of(n, at);
    return isnan(gain) ? -INFINITY : gain;
}

/* ---- U-turns ---- */

/* Whether a row bends back that begins with momentum a and ends with b; the sum of its momenta is
 * upto - from + beside, of which the last two may be NULL. */
static bool bends(size_t n, const double *ends[2], const double *upto, const double *from,
                  const double *beside)
{
    double product[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        double sum = upto[i];
        sum -= from != NULL ? from[i] : 0;
        sum += beside != NULL ? beside[i] : 0;
        product[0] += ends[0][i] * sum;
        product[1] += ends[1][i] * sum;
    }
    return !(product[0] > 0 && product[1] > 0);
}

static size_t bits_set(size_t i)
{
    size_t n = 0;
    for (; i != 0; i &= i - 1)
        n++;
    return n;
}

static size_t low_bits_set(size_t i)
{
    return (size_t)dpi_lowest_bit(~(unsigned long long)i);
}

/* The row of 2^k points of the new half that begins with that in `slot` and ends with momentum
 * p. */
static bool row_bends(const dpi_nuts *nuts, size_t slot, size_t k, const double *p)
{
    const size_t n = nuts->in.n;
    const double *begin = nuts->starts + slot * n, *begin_sum = nuts->before + slot * n;
    const double *middle = begin + n, *middle_sum = begin_sum + n; /* the second half begins */
    const double *last = nuts->lasts + (k - 1) * n;                /* the first one ends */
    if (bends(n, (const double *[]){begin, p}, nuts->half, begin_sum, NULL))
        return true;
    return k > 1 && (bends(n, (const double *[]){begin, middle}, middle_sum, begin_sum, middle) ||
                     bends(n, (const double *[]){last, p}, nuts->half, middle_sum, last));
}

/* Takes point i of the new half to it; true when a row that ends there bends back. */
static bool bends_within(dpi_nuts *nuts, size_t i, const double *p)
{
    const size_t n = nuts->in.n, bits = bits_set(i), low = low_bits_set(i);
    copy(n, p, nuts->starts + bits * n);
    copy(n, nuts->half, nuts->before + bits * n);
    add(n, 1, p, nuts->half);
    copy(n, p, nuts->lasts + low * n);
    for (size_t k = 1; k <= low; k++)
        if (row_bends(nuts, bits - k, k, p))
            return true;
    return false;
}

/* After the new half has come to the trajectory's side `side`. */
static bool whole_bends(dpi_nuts *nuts, int side)
{
    const size_t n = nuts->in.n;
    const double *far = nuts->ends[1 - side].momentum, *end = nuts->ends[side].momentum;
    bool bent = bends(n, (const double *[]){far, nuts->first}, nuts->sum, NULL, nuts->first) ||
                bends(n, (const double *[]){nuts->joint, end}, nuts->half, NULL, nuts->joint);
    add(n, 1, nuts->half, nuts->sum);
    return bent || bends(n, (const double *[]){far, end}, nuts->sum, NULL, NULL);
}

/* ---- the transition ---- */

/* log(e^a + e^b), a and b not both -INFINITY. */
static double log_add(double a, double b)
{
    return (a > b ? a : b) + log1p(exp(-fabs(a - b)));
}

/* True with probability e^log_chance. */
static bool happens(double log_chance, dp_rng *rng)
{
    double u;
    dp_rng_uniform(rng, 1, &u);
    return log(u) < log_chance;
}

static void take(size_t n, const dpi_hmc_point *from, dpi_hmc_point *to)
{
    copy(n, from->x, to->x);
    copy(n, from->slope, to->slope);
    to->log_density = from->log_density;
}

/* Walks 2^doubling points on from one end and draws a candidate; false when they diverge or
 * bend. */
static bool walk_half(dpi_nuts *nuts, int doubling, int side, dp_rng *rng)
{
    const size_t n = nuts->in.n;
    dpi_hmc_point *end = &nuts->ends[side];
    nuts->half_weight = -INFINITY;
    memset(nuts->half, 0, n * sizeof *nuts->half);
    copy(n, end->momentum, nuts->joint);
    for (size_t i = 0; i < (size_t)1 << doubling; i++) {
        double gain = leap(nuts, end, side == 0 ? -nuts->step : nuts->step);
        nuts->points++;
        nuts->acceptance += gain < 0 ? exp(gain) : 1;
        nuts->diverged = !(gain > -most_energy);
        if (nuts->diverged)
            return false;
        if (i == 0)
            copy(n, end->momentum, nuts->first);
        nuts->half_weight = log_add(nuts->half_weight, gain);
        if (happens(gain - nuts->half_weight, rng))
            take(n, end, &nuts->one);
        if (bends_within(nuts, i, end->momentum))
            return false;
    }
    return true;
}

static void begin(dpi_nuts *nuts, dpi_hmc_point *at, dp_rng *rng)
{
    const size_t n = nuts->in.n;
    dp_rng_normal(rng, n, at->momentum);
    for (int side = 0; side < 2; side++) {
        take(n, at, &nuts->ends[side]);
        copy(n, at->momentum, nuts->ends[side].momentum);
    }
    copy(n, at->momentum, nuts->sum);
    nuts->energy = energy_of(n, at);
    nuts->weight = 0;
    nuts->acceptance = 0;
    nuts->points = 0;
    nuts->diverged = false;
    nuts->cut = true;
}

void dpi_nuts_step(dpi_nuts *nuts, dpi_hmc_point *at, dp_rng *rng)
{
    begin(nuts, at, rng);
    for (int doubling = 0; doubling < nuts->depth && nuts->cut; doubling++) {
        int side = happens(log(0.5), rng);
        nuts->cut = walk_half(nuts, doubling, side, rng);
        if (!nuts->cut)
            break;
        if (happens(nuts->half_weight - nuts->weight, rng))
            take(nuts->in.n, &nuts->one, at);
        nuts->weight = log_add(nuts->weight, nuts->half_weight);
        nuts->cut = !whole_bends(nuts, side);
    }
    nuts->acceptance /= (double)nuts->points;
}

void dpi_nuts_rescale(dpi_nuts *nuts, dpi_hmc_point *at, dp_rng *rng)
{
    static const double widths[] = {0.1, 0.4, 1.6};
    const dpi_target *target = nuts->target;
    for (const dpi_scaling *s = target->scalings; s < target->scalings + target->n_scalings; s++) {
        double e, u;
        dp_rng_uniform(rng, 1, &u);
        dp_rng_normal(rng, 1, &e);
        double delta = widths[(size_t)(3 * u) % 3] * e;
        dpi_nuts_place(nuts, at->x, nuts->z);
        dpi_scaling_move(s, delta, nuts->z);
        find_place(&nuts->in, nuts->z, nuts->one.x);
        if (dpi_nuts_evaluate(nuts, &nuts->one) &&
            happens(nuts->one.log_density - at->log_density + (double)s->count * delta, rng))
            take(nuts->in.n, &nuts->one, at);
    }
}

double dpi_nuts_try(dpi_nuts *nuts, const dpi_hmc_point *at, double step, dp_rng *rng)
{
    dpi_hmc_point *end = &nuts->ends[1];
    take(nuts->in.n, at, end);
    dp_rng_normal(rng, nuts->in.n, end->momentum);
    nuts->energy = energy_of(nuts->in.n, end);
    return leap(nuts, end, step);
}
