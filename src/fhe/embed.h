/* The canonical embedding: places of a vector as values of a real polynomial modulo X^n + 1.
 *
 * Place j of n / 2 is the value at zeta^(5^j), zeta = exp(i pi / n); the values at the conjugates
 * are the conjugates.  Vectors of fewer places, a power of two, are repeated: the polynomial is one
 * in X^(n / (2 places)). */
#ifndef DPI_FHE_EMBED_H
#define DPI_FHE_EMBED_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/status.h>

typedef struct dpi_embedding {
    size_t n;
    double *root[2]; /* [2n] real and imaginary parts of zeta^k */
    uint32_t *turn;  /* [n / 2] 5^j mod 2n */
} dpi_embedding;

/* n a power of two of 4 .. 2^17.  DP_ENOMEM. */
DP_MUST_CHECK dp_status dpi_embedding_new(size_t n, dpi_embedding **e, dp_error *err);
void dpi_embedding_free(dpi_embedding *e);

/* Places to coefficients and back, in place of re[places] and im[places]: coefficient
 * k n / (2 places) is re[k], and n / 2 beyond it im[k]; all others are 0. */
void dpi_embedding_inverse(const dpi_embedding *e, size_t places, double *re, double *im);
void dpi_embedding_forward(const dpi_embedding *e, size_t places, double *re, double *im);

#endif
