/* With p = exp (1 + h_i), |h_i| <= h, on [-2 r, 0], sums of d are between m = d exp(-2 r) (1 - h)
 * and M = d (1 + h).  m is taken a sixteenth less, for errors of encryption.  With
 * alpha = 2 / (M - m) and beta = (M + m) / (M - m), u = alpha sum - beta is between -1 and 1, and
 * alpha p / (u + beta) the result: alpha is in the coefficients, and costs no level.  With an
 * inverse that is off by a share of i the result is off by a share of (1 + h) (1 + i) / (1 - h) - 1
 * at the most, and is at most 1.  Chebyshev's series of the inverse converges as
 * tanh(r / 2)^degree. */
#include "fhe/softmax.h"

#include <math.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"

enum { GRID = 1 << 12, LEAST_BITS = 4, MOST_BITS = 20 };

static const double most_r = 8;

static double inverse_of(double t)
{
    return 1 / t;
}

/* The largest share by which p is off from f.  Between so many points there is none larger by a
 * hundredth, as degrees are below 128. */
static double share_off(double (*f)(double t), double low, double high, size_t degree,
                        const double *a)
{
    double most = 0;
    for (size_t i = 0; i <= GRID; i++) {
        const double x = cos(M_PI * (double)i / GRID);
        const double t = (low + high) / 2 + (high - low) / 2 * x;
        most = fmax(most, fabs(dpi_ckks_polynomial_at(degree, a, x) / f(t) - 1));
    }
    return 1.01 * most;
}

/* By the least degree 2^k - 1; the share it is off by, infinite where none is enough. */
static double fit(double (*f)(double t), double low, double high, int bits, size_t *degree,
                  double *a)
{
    for (*degree = 3; *degree <= DPI_CKKS_DEGREE; *degree = 2 * *degree + 1) {
        dpi_ckks_chebyshev(f, low, high, *degree, a);
        const double off = share_off(f, low, high, *degree, a);
        if (off <= exp2(-bits))
            return off;
    }
    return INFINITY;
}

static dp_status check(size_t places, double r, int bits, dp_error *err)
{
    if (places < 2 || (places & (places - 1)) != 0 || places > (size_t)1 << (DPI_CKKS_MOST_LOG - 1))
        return dpi_fail(err, DP_EDOMAIN, "a softmax is of 2, 4 ... %d places, not of %zu",
                        1 << (DPI_CKKS_MOST_LOG - 1), places);
    if (!(r > 0 && r <= most_r))
        return dpi_fail(err, DP_EDOMAIN,
                        "a softmax is of numbers up to r above 0 and up to %g, not %g", most_r, r);
    if (bits < LEAST_BITS || bits > MOST_BITS)
        return dpi_fail(err, DP_EDOMAIN, "a softmax is near to %d ... %d bits, not %d", LEAST_BITS,
                        MOST_BITS, bits);
    return DP_OK;
}

dp_status dpi_ckks_softmax_make(size_t places, double r, int bits, dpi_ckks_softmax *s,
                                dp_error *err)
{
    const double d = (double)places;
    *s = (dpi_ckks_softmax){.places = places};
    const dp_status status = check(places, r, bits, err);
    if (status != DP_OK)
        return status;
    const double h = fit(exp, -2 * r, 0, bits + 2, &s->degree, s->a);
    const double low = d * exp(-2 * r) * (1 - h - .0625), high = d * (1 + h);
    const double alpha = 2 / (high - low);
    s->beta = alpha * (high + low) / 2;
    const double i =
        h < 1 ? fit(inverse_of, s->beta - 1, s->beta + 1, bits + 2, &s->inverse, s->b) : INFINITY;
    s->off = (1 + h) * (1 + i) / (1 - h) - 1;
    if (!(i < 1))
        return dpi_fail(err, DP_EACCURACY,
                        "no polynomials up to degree %d make a softmax of numbers up to %g near to "
                        "%d bits; take a smaller r, or fewer bits",
                        DPI_CKKS_DEGREE, r, bits);
    for (size_t k = 0; k <= s->degree; k++)
        s->a[k] *= alpha;
    s->most = alpha * (1 + h);
    return DP_OK;
}

size_t dpi_ckks_softmax_levels(const dpi_ckks_softmax *s)
{
    return dpi_ckks_polynomial_levels(s->degree) + dpi_ckks_polynomial_levels(s->inverse) + 1;
}

size_t dpi_ckks_softmax_turns(const dpi_ckks_softmax *s, int *steps)
{
    size_t n = 0;
    for (size_t by = 1; by < s->places; by *= 2, n++)
        if (steps != NULL)
            steps[n] = (int)by;
    return n;
}

void dpi_ckks_softmax_at(const dpi_ckks_softmax *s, const double *x, double *y)
{
    double u = -s->beta;
    for (size_t i = 0; i < s->places; i++)
        u += y[i] = dpi_ckks_polynomial_at(s->degree, s->a, x[i]);
    const double inverse = dpi_ckks_polynomial_at(s->inverse, s->b, u);
    for (size_t i = 0; i < s->places; i++)
        y[i] *= inverse;
}

/* ---- under encryption ---- */

/* u = the sum of e's places, less beta, at each; `turned` is room. */
static void add_up(const dpi_ckks *c, const dpi_ckks_softmax *s, const dpi_ckks_cipher *e,
                   const dpi_ckks_turns *turns, dpi_ckks_room *room, dpi_ckks_cipher *turned,
                   dpi_ckks_cipher *u)
{
    dpi_ckks_copy(c, e, u);
    for (size_t by = 1; by < s->places; by *= 2) {
        dpi_ckks_rotate(c, u, dpi_ckks_turns_key(turns, by), room, turned);
        dpi_ckks_add(c, u, turned, u);
    }
    dpi_ckks_add_number(c, -s->beta, u);
    u->size = 1;
}

dp_status dpi_ckks_softmax_apply(const dpi_ckks *c, const dpi_ckks_softmax *s,
                                 const dpi_ckks_cipher *x, const dpi_ckks_turns *turns,
                                 const dpi_ckks_switch *square, dpi_ckks_room *room,
                                 dpi_ckks_cipher *to, dp_error *err)
{
    dpi_ckks_cipher e = {0}, u = {0};
    if (x->level < dpi_ckks_softmax_levels(s))
        dpi_misuse(__func__, "a softmax takes more levels than there are");
    dp_status status = dpi_ckks_take(room, x->level, &e, err);
    if (status == DP_OK)
        status = dpi_ckks_take(room, x->level, &u, err);
    if (status == DP_OK)
        status = dpi_ckks_polynomial(c, s->degree, s->a, x, square, room, &e, err);
    if (status == DP_OK) {
        e.size = s->most;
        add_up(c, s, &e, turns, room, to, &u);
        status = dpi_ckks_polynomial(c, s->inverse, s->b, &u, square, room, to, err);
    }
    if (status == DP_OK) {
        dpi_ckks_lower(c, to->level, room, &e);
        dpi_ckks_multiply(c, to, &e, square, room, to);
        dpi_ckks_rescale(c, room, to);
        to->size = 1 + s->off;
    }
    dpi_ckks_give(room, &e);
    dpi_ckks_give(room, &u);
    return status;
}
