/* With h = ceil(b / 2), degrees below 2^b take 2^h - 2 products for T_2 ... T_(2^h - 1), b - h for
 * T_(2^h) ... T_(2^(b - 1)), and as many as there are pieces, less one, to put them together.
 * T_k is ceil(log2 k) levels below x; pieces of degree below 2^h are h + 1 below, as numbers are
 * multiplied once; and each doubling of the degree takes one more: b + 1 in all. */
#include "fhe/polynomial.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

typedef struct evaluation {
    const dpi_ckks *c;
    const dpi_ckks_switch *square;
    dpi_ckks_room *room;
    size_t b, h, level;     /* of x */
    dpi_ckks_cipher *t;     /* [2^h + b - h]: T_k for k < 2^h, then T_(2^h), T_(2^(h + 1)) ... */
    dpi_ckks_cipher spare;  /* what is lowered for a product, or a sum */
    dpi_ckks_cipher *piece; /* [b - h + 1] room for one of each size */
} evaluation;

size_t dpi_ckks_polynomial_levels(size_t degree)
{
    return dpi_binary_digits(degree) + 1;
}

/* ---- coefficients ---- */

void dpi_ckks_chebyshev(double (*f)(double t), double low, double high, size_t degree, double *a)
{
    const size_t n = degree + 1;
    for (size_t k = 0; k < n; k++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) {
            const double angle = M_PI * ((double)i + .5) / (double)n;
            sum += f((low + high) / 2 + (high - low) / 2 * cos(angle)) * cos((double)k * angle);
        }
        a[k] = (k == 0 ? 1 : 2) * sum / (double)n;
    }
}

/* Clenshaw's recurrence. */
double dpi_ckks_polynomial_at(size_t degree, const double *a, double x)
{
    double one = 0, two = 0;
    for (size_t k = degree; k > 0; k--) {
        const double next = a[k] + 2 * x * one - two;
        two = one;
        one = next;
    }
    return a[0] + x * one - two;
}

/* p = q T_g + r for g <= degree < 2 g, by 2 T_g T_j = T_(g + j) + T_|g - j|: q[degree - g + 1] is
 * written, and a[g] becomes r. */
static void divide(size_t degree, size_t g, double *a, double *q)
{
    q[0] = a[g];
    for (size_t k = g + 1; k <= degree; k++) {
        q[k - g] = 2 * a[k];
        a[2 * g - k] -= a[k];
    }
}

/* ---- Chebyshev polynomials ---- */

/* spare = x at a level. */
static const dpi_ckks_cipher *at_level(evaluation *e, const dpi_ckks_cipher *x, size_t level)
{
    if (x->level == level)
        return x;
    dpi_ckks_copy(e->c, x, &e->spare);
    dpi_ckks_lower(e->c, level, e->room, &e->spare);
    return &e->spare;
}

/* to = 2 x y - less, or - 1 where that is NULL, a level below the lower of x and y. */
static void next(evaluation *e, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y,
                 const dpi_ckks_cipher *less, dpi_ckks_cipher *to)
{
    const size_t level = x->level < y->level ? x->level : y->level;
    const dpi_ckks_cipher *high = x->level > level ? x : y, *low = x->level > level ? y : x;
    dpi_ckks_multiply(e->c, at_level(e, high, level), low, e->square, e->room, to);
    dpi_ckks_add(e->c, to, to, to);
    dpi_ckks_rescale(e->c, e->room, to);
    if (less == NULL)
        dpi_ckks_add_number(e->c, -1, to);
    else
        dpi_ckks_subtract(e->c, to, at_level(e, less, to->level), to);
    to->size = 1; /* of places between -1 and 1 */
}

static size_t slot(const evaluation *e, size_t g)
{
    return ((size_t)1 << e->h) + dpi_binary_digits(g) - 1 - e->h;
}

static void make_all(evaluation *e, const dpi_ckks_cipher *x)
{
    const size_t m = (size_t)1 << e->h;
    dpi_ckks_copy(e->c, x, &e->t[1]);
    for (size_t k = 2; k < m; k++)
        next(e, &e->t[(k + 1) / 2], &e->t[k / 2], k % 2 == 0 ? NULL : &e->t[1], &e->t[k]);
    for (size_t g = m; g < (size_t)1 << e->b; g *= 2) {
        const dpi_ckks_cipher *half = g == m ? &e->t[g / 2] : &e->t[slot(e, g / 2)];
        next(e, half, half, NULL, &e->t[slot(e, g)]);
    }
}

/* ---- pieces ---- */

/* Of degree below 2^h: numbers times T_k. */
static void combine(evaluation *e, size_t degree, const double *a, dpi_ckks_cipher *to)
{
    const dpi_ckks *c = e->c;
    const size_t level = e->level - e->h;
    dpi_ckks_zero_product(c, level, to);
    for (size_t k = 1; k <= degree; k++)
        if (a[k] != 0)
            dpi_ckks_multiply_add_number(c, at_level(e, &e->t[k], level), a[k], e->room, to);
    dpi_ckks_rescale(c, e->room, to);
    dpi_ckks_add_number(c, a[0], to);
}

/* to = the polynomial of degree below 2^(h + s), h + 1 + s levels below x. */
static void evaluate(evaluation *e, size_t s, size_t degree, double *a, dpi_ckks_cipher *to)
{
    double q[DPI_CKKS_DEGREE + 1];
    const size_t g = (size_t)1 << (e->h + s - 1), level = e->level - e->h - 1 - s;
    if (s == 0 || degree < g) {
        if (s == 0)
            combine(e, degree, a, to);
        else
            evaluate(e, s - 1, degree, a, to);
        dpi_ckks_lower(e->c, level, e->room, to);
        return;
    }
    divide(degree, g, a, q);
    evaluate(e, s - 1, degree - g, q, to);
    dpi_ckks_multiply(e->c, at_level(e, &e->t[slot(e, g)], to->level), to, e->square, e->room, to);
    dpi_ckks_rescale(e->c, e->room, to);
    evaluate(e, s - 1, g - 1, a, &e->piece[s]);
    dpi_ckks_lower(e->c, level, e->room, &e->piece[s]);
    dpi_ckks_add(e->c, to, &e->piece[s], to);
}

/* ---- the whole ---- */

static dp_status make_room(evaluation *e, dp_error *err)
{
    const size_t many = ((size_t)1 << e->h) + e->b - e->h, pieces = e->b - e->h + 1;
    e->t = dpi_alloc(many, sizeof *e->t);
    e->piece = dpi_alloc(pieces, sizeof *e->piece);
    if (e->t == NULL || e->piece == NULL)
        return dpi_fail_nomem(err);
    memset(e->t, 0, many * sizeof *e->t);
    memset(e->piece, 0, pieces * sizeof *e->piece);
    dp_status status = dpi_ckks_take(e->room, e->level, &e->spare, err);
    for (size_t k = 1; k < many && status == DP_OK; k++)
        status = dpi_ckks_take(e->room, e->level, &e->t[k], err);
    for (size_t k = 0; k < pieces && status == DP_OK; k++)
        status = dpi_ckks_take(e->room, e->level, &e->piece[k], err);
    return status;
}

static void free_room(evaluation *e)
{
    const size_t many = ((size_t)1 << e->h) + e->b - e->h, pieces = e->b - e->h + 1;
    for (size_t k = 0; e->t != NULL && k < many; k++)
        dpi_ckks_give(e->room, &e->t[k]);
    for (size_t k = 0; e->piece != NULL && k < pieces; k++)
        dpi_ckks_give(e->room, &e->piece[k]);
    dpi_ckks_give(e->room, &e->spare);
    dpi_free(e->t);
    dpi_free(e->piece);
}

/* Each of b - h <= 3 divisions may double them, and scales differ by a fiftieth: below 2^63 they
 * stay. */
static dp_status check(const dpi_ckks *c, size_t degree, const double *a, dp_error *err)
{
    for (size_t k = 0; k <= degree; k++)
        if (!(fabs(a[k]) * c->scale[c->levels - 1] < 0x1p59))
            return dpi_fail(err, DP_EDOMAIN,
                            "coefficient %zu of a polynomial is %g, which is none, "
                            "or too large for scales of 2^%d",
                            k, a[k], c->spec.scale_bits);
    return DP_OK;
}

dp_status dpi_ckks_polynomial(const dpi_ckks *c, size_t degree, const double *a,
                              const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                              dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err)
{
    evaluation e = {
        .c = c, .square = square, .room = room, .b = dpi_binary_digits(degree), .level = x->level};
    double own[DPI_CKKS_DEGREE + 1], size = 0;
    dpi_ckks_must_be_of(c, room->c);
    if (degree < 1 || degree > DPI_CKKS_DEGREE || x->level < dpi_ckks_polynomial_levels(degree))
        dpi_misuse(__func__, "the degree is 1 to DPI_CKKS_DEGREE, and takes levels");
    e.h = (e.b + 1) / 2;
    dp_status status = check(c, degree, a, err);
    if (status == DP_OK)
        status = make_room(&e, err);
    if (status == DP_OK) {
        memcpy(own, a, (degree + 1) * sizeof *a);
        make_all(&e, x);
        evaluate(&e, e.b - e.h, degree, own, to);
        for (size_t k = 0; k <= degree; k++)
            size += fabs(a[k]);
        to->size = size;
    }
    free_room(&e);
    return status;
}
