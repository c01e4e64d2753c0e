/* Gaussian noise on the integers, on an integer that a record moves by at most 1:
 *     discrete   a_k = e^(-k^2 / 2 sigma^2) / Z  (Canonne, Kamath and Steinke, NeurIPS 2020);
 *     rounded    a_k = Phi((k + 1/2) / sigma) - Phi((k - 1/2) / sigma).
 * With b_k = a_(k-1) and each record sampled with probability q, P = (1-q) a + q b and Q = a
 * (remove; add is the reverse).  y_k = log b_k / a_k rises with k (a is log-concave), and
 *     L_k = log(1 - q + q e^y_k) = base + log1p(g (e^(y_k - y_0) - 1)),
 *     base = L_0,   g = q e^y_0 / (1 - q + q e^y_0),
 * in sums of positive terms where log1p would cancel.  At q = 1 both directions are the same up to
 * reflection; add's form puts the heaviest atom at base.
 *
 * Z = sigma sqrt(2 pi) (1 + 2 e^(-2 pi^2 sigma^2) + ...) by Poisson's summation; below sigma = 1 it
 * is summed as it stands.  Cells of the rounded law: a_k = phi_sigma(k) I_k,
 *     I_k = 2 int_0^(1/2) e^(-t^2 / 2 sigma^2) cosh(k t / sigma^2) dt,
 * by Gauss's rule while the integrand is smooth; y_k is then (2k-1) / 2 sigma^2 + log I_(k-1) - log
 * I_k.  Else as a difference of tails, the second at most e^-3 of the first.
 *
 * Ends.  Atoms with |k| > 17 sigma + 2 or with less than NEGLIGIBLE mass are left out: P puts at
 * most 2 sigma sqrt(2 pi) Phi(-17) + 2 (17 sigma + 3) NEGLIGIBLE < sigma 1e-63 + 1e-69 on them.  An
 * upper bound counts that as a loss of +INFINITY, a lower one leaves it out.
 *
 * Rounding (u = 2^-53).  Exponents are at most 17^2 / 2 + 20 = 165 with relative error 3u: masses
 * err by 700 u (rounded: tails, at most 1600 u).  y errs by 4u of its size and, for the rounded
 * law, by 16 u where the cells are integrals and 4 z^2 u <= 1600 u for each tail (the argument z of
 * erfc is off by 2u).  Offsets move by at most twice that times min(1, |offset|), and by 4u of
 * their size. */
#include "accountant/pairs/make.h"

#include <float.h>
#include <gsl/gsl_sf_erf.h>
#include <math.h>
#include <stdbool.h>

#include "accountant/pairs/normal.h"
#include "base/alloc.h"
#include "base/error.h"

static const double NEGLIGIBLE = 1e-70;
static const double SMOOTH = 2; /* exponents up to which Gauss's rule of 10 points is exact */

/* Positive halves of Gauss-Legendre on [-1, 1]: 10 points, and 4 where exponents stay below
 * EASY. */
static const double EASY = 0.02;
static const double node[] = {0.14887433898163121088, 0.43339539412924719080,
                              0.67940956829902440623, 0.86506336668898451073,
                              0.97390652851717172008};
static const double weight[] = {0.29552422471475287017, 0.26926671930999635509,
                                0.21908636251598204400, 0.14945134915058059315,
                                0.06667134430868813759};
static const double node_4[] = {0.33998104358485626480, 0.86113631159405257522};
static const double weight_4[] = {0.65214515486254614263, 0.34785484513745385737};

typedef struct law {
    double sigma, log_z;
    bool rounded;
    double *cell; /* rounded: [reach + 3], log I_k where that is smooth, else log a_k; owned */
} law;

static double largest_exponent(const law *a, double k)
{
    return (fabs(k) / 2 + 0.125) / (a->sigma * a->sigma);
}

static bool smooth(const law *a, double k)
{
    return largest_exponent(a, k) <= SMOOTH;
}

/* log I_k. */
static double log_cell(const law *a, double k)
{
    double excess = 0, v = a->sigma * a->sigma;
    bool easy = largest_exponent(a, k) <= EASY;
    int n = easy ? 4 : 10;
    for (int i = 0; i < n; i++) {
        double x = easy ? node_4[i / 2] : node[i / 2], w = easy ? weight_4[i / 2] : weight[i / 2];
        double t = 0.25 * (i % 2 ? 1 - x : 1 + x);
        double c = sinh(k * t / (2 * v));
        double up = 2 * c * c, down = expm1(-t * t / (2 * v)); /* cosh - 1, e^.. - 1 */
        excess += 0.5 * w * (up + down + up * down);
    }
    return log1p(excess);
}

/* log of a tail of the normal law. */
static double log_tail(double z)
{
    gsl_sf_result r = {0};
    (void)gsl_sf_log_erfc_e(z * M_SQRT1_2, &r);
    return r.val - M_LN2;
}

/* log a_k where cells are not smooth. */
static double log_steep(const law *a, double k)
{
    if (k == 0)
        return log(erf(M_SQRT1_2 / (2 * a->sigma)));
    double near = log_tail((k - 0.5) / a->sigma), far = log_tail((k + 0.5) / a->sigma);
    return near + log1p(-exp(far - near));
}

static double log_mass(const law *a, double k)
{
    double plain = -k * k / (2 * a->sigma * a->sigma) - a->log_z;
    if (!a->rounded)
        return plain;
    double cell = a->cell[(size_t)fabs(k)];
    return smooth(a, k) ? plain + cell : cell;
}

/* y_k = log a_(k-1) / a_k. */
static double log_ratio(const law *a, double k)
{
    double plain = (2 * k - 1) / (2 * a->sigma * a->sigma);
    if (!a->rounded)
        return plain;
    if (smooth(a, k) && smooth(a, k - 1))
        return plain + a->cell[(size_t)fabs(k - 1)] - a->cell[(size_t)fabs(k)];
    return log_mass(a, k - 1) - log_mass(a, k);
}

static double normaliser(const law *a)
{
    double v = a->sigma * a->sigma, sum = 1, smooth_sum = a->sigma * sqrt(2 * M_PI);
    if (a->rounded)
        return smooth_sum;
    if (a->sigma >= 1)
        return smooth_sum * (1 + 2 * exp(-2 * M_PI * M_PI * v));
    for (int k = 1; k <= 40; k++)
        sum += 2 * exp(-k * k / (2 * v));
    return sum;
}

/* False when memory is out. */
static bool law_new(const dp_mechanism *m, double reach, law *a)
{
    *a = (law){.sigma = m->sigma, .rounded = m->noise == DP_NOISE_ROUNDED_GAUSSIAN};
    a->log_z = log(normaliser(a));
    if (!a->rounded)
        return true;
    a->cell = dpi_alloc((size_t)reach + 3, sizeof *a->cell);
    for (double k = 0; a->cell != NULL && k < reach + 3; k++)
        a->cell[(size_t)k] = smooth(a, k) ? log_cell(a, k) : log_steep(a, k);
    return a->cell != NULL;
}

/* The loss of atoms in one direction. */
typedef struct losses {
    law a;
    double q, y0, g, rest, base; /* rest = 1 - g; base of remove */
} losses;

static losses losses_of(const law *a, double q)
{
    losses l = {.a = *a, .q = q};
    l.y0 = log_ratio(a, 0);
    double decay = exp(l.y0), sum = 1 - q + q * decay, drop = q * expm1(l.y0);
    l.g = q * decay / sum;
    l.rest = (1 - q) / sum;
    l.base = q == 1 ? l.y0 : drop > -0.5 ? log1p(drop) : log(sum);
    return l;
}

/* L_k - L_0. */
static double offset_at(const losses *l, double k)
{
    double d = log_ratio(&l->a, k) - l->y0;
    if (k == 0 || l->q == 1)
        return k == 0 ? 0 : d;
    if (d > 600)
        return d + log(l->g);
    double v = l->g * expm1(d);
    return v > -0.5 ? log1p(v) : log(l->rest + l->g * exp(d));
}

/* Appends an atom; one at the same loss as the last is added to it. */
static void append(dpi_pair *pair, double offset, double mass)
{
    dpi_atom *last = pair->n_atoms > 0 ? &pair->atom[pair->n_atoms - 1] : NULL;
    if (last != NULL && offset <= last->offset)
        last->mass += mass;
    else
        pair->atom[pair->n_atoms++] = (dpi_atom){offset, mass};
}

static void fill(dpi_pair *pair, const losses *l, bool remove, double reach)
{
    double widest = 0, largest = 0;
    for (double i = -reach; i <= reach + 1; i++) {
        double k = remove ? i : 1 - i; /* rising losses */
        double mass = exp(log_mass(&l->a, k));
        if (remove)
            mass = (1 - l->q) * mass + l->q * exp(log_mass(&l->a, k - 1));
        if (mass < NEGLIGIBLE)
            continue;
        double offset = offset_at(l, k);
        append(pair, remove ? offset : -offset, mass);
        widest = fmax(widest, (2 * fabs(k) + 1) / (2 * l->a.sigma * l->a.sigma));
        largest = fmax(largest, fabs(offset));
    }
    bool coarse = l->a.rounded && !(smooth(&l->a, reach + 1) && smooth(&l->a, reach));
    double ratio_error = l->a.rounded ? (coarse ? 3200 : 64) : 0;
    pair->offset_error =
        DPI_UNIT *
        (2 * (8 * widest + 8 * fabs(l->y0) + ratio_error + 24) * fmin(1, largest) + 4 * largest);
    pair->mass_error = DPI_UNIT * (coarse ? 3200 : 1000);
}

dp_status dpi_make_lattice(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                           dpi_pair *pair, dp_error *err)
{
    bool remove = direction == DPI_REMOVE && m->rate < 1;
    double reach = ceil(17 * m->sigma) + 2;
    law a;
    *pair = (dpi_pair){0};
    if (law_new(m, reach, &a))
        pair->atom = dpi_alloc((size_t)(2 * reach + 2), sizeof *pair->atom);
    if (pair->atom == NULL) {
        dpi_free(a.cell);
        return dpi_fail_nomem(err);
    }
    losses l = losses_of(&a, m->rate);
    pair->base = remove ? l.base : -l.base;
    fill(pair, &l, remove, reach);
    pair->infinite = side == DPI_UPPER ? m->sigma * 1e-63 + 1e-68 : 0;
    dpi_free(a.cell);
    return DP_OK;
}
