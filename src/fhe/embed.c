/* A radix-2 transform over the orbit of 5.
 *
 * With v(Y) = sum_k (re_k + i im_k) Y^k, Y = X^(n / (2 places)), X^(n / 2) = i at the points of
 * the orbit, since 5^j = 1 mod 4.  So places are the values of a polynomial with complex
 * coefficients at w^(5^j), w of order 4 places.  Halves of it, even and odd k, have values at the
 * squares, the orbit of the next smaller size: v(y) = even(y^2) + y odd(y^2), and for
 * j + places / 2 the point is -y. */
#include "fhe/embed.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

dp_status dpi_embedding_new(size_t n, dpi_embedding **to, dp_error *err)
{
    dpi_embedding *e = *to = dpi_alloc(1, sizeof *e);
    if (e == NULL)
        return dpi_fail_nomem(err);
    *e = (dpi_embedding){
        .n = n,
        .root = {dpi_alloc(2 * n, sizeof(double)), dpi_alloc(2 * n, sizeof(double))},
        .turn = dpi_alloc(n / 2, sizeof *e->turn)};
    if (e->root[0] == NULL || e->root[1] == NULL || e->turn == NULL) {
        dpi_embedding_free(e);
        *to = NULL;
        return dpi_fail_nomem(err);
    }
    for (size_t k = 0; k < 2 * n; k++) {
        e->root[0][k] = cos(M_PI * (double)k / (double)n);
        e->root[1][k] = sin(M_PI * (double)k / (double)n);
    }
    uint64_t power = 1;
    for (size_t j = 0; j < n / 2; j++, power = power * 5 % (2 * n))
        e->turn[j] = (uint32_t)power;
    return DP_OK;
}

void dpi_embedding_free(dpi_embedding *e)
{
    if (e == NULL)
        return;
    dpi_free(e->root[0]);
    dpi_free(e->root[1]);
    dpi_free(e->turn);
    dpi_free(e);
}

static void reverse(size_t n, double *a)
{
    for (size_t i = 1, j = 0; i < n; i++) {
        size_t bit = n / 2;
        for (; (j & bit) != 0; bit /= 2)
            j ^= bit;
        j ^= bit;
        if (i < j) {
            const double kept = a[i];
            a[i] = a[j];
            a[j] = kept;
        }
    }
}

/* The point of place j among `size`: zeta^k. */
static size_t point(const dpi_embedding *e, size_t size, size_t j)
{
    const size_t order = 4 * size;
    return e->turn[j] % order * (2 * e->n / order);
}

void dpi_embedding_forward(const dpi_embedding *e, size_t places, double *re, double *im)
{
    reverse(places, re);
    reverse(places, im);
    for (size_t size = 2; size <= places; size *= 2)
        for (size_t j = 0; j < size / 2; j++) {
            const size_t k = point(e, size, j);
            const double c = e->root[0][k], s = e->root[1][k];
            for (size_t i = j; i < places; i += size) {
                const size_t o = i + size / 2;
                const double x = c * re[o] - s * im[o], y = c * im[o] + s * re[o];
                re[o] = re[i] - x;
                im[o] = im[i] - y;
                re[i] += x;
                im[i] += y;
            }
        }
}

void dpi_embedding_inverse(const dpi_embedding *e, size_t places, double *re, double *im)
{
    for (size_t size = places; size >= 2; size /= 2)
        for (size_t j = 0; j < size / 2; j++) {
            const size_t k = point(e, size, j);
            const double c = e->root[0][k], s = e->root[1][k];
            for (size_t i = j; i < places; i += size) {
                const size_t o = i + size / 2;
                const double x = re[i] - re[o], y = im[i] - im[o];
                re[i] += re[o];
                im[i] += im[o];
                re[o] = c * x + s * y;
                im[o] = c * y - s * x;
            }
        }
    reverse(places, re);
    reverse(places, im);
    for (size_t i = 0; i < places; i++) {
        re[i] /= (double)places;
        im[i] /= (double)places;
    }
}
