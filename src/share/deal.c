/* Components are the numbers of a ChaCha20 key stream, each ring with a nonce of its own, so that a
 * seed serves several rings; a number's place in the stream follows from `at`. */
#include "share/deal.h"

#include <string.h>

#include <sodium.h>

enum { BLOCK = 64, PIECE = 8192 /* bytes at a time: they stay in the cache */ };

/* Bytes first ... first + n - 1 of the ring's key stream. */
static void stream(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t first,
                   unsigned char *to, size_t n)
{
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = {(unsigned char)ring}, block[BLOCK];
    size_t before = (size_t)(first % BLOCK);
    if (before > 0) {
        size_t part = BLOCK - before < n ? BLOCK - before : n;
        memset(block, 0, sizeof block);
        (void)crypto_stream_chacha20_xor_ic(block, block, BLOCK, nonce, first / BLOCK, seed);
        memcpy(to, block + before, part);
        sodium_memzero(block, sizeof block);
        to += part;
        first += part;
        n -= part;
    }
    if (n == 0)
        return;
    memset(to, 0, n);
    (void)crypto_stream_chacha20_xor_ic(to, to, n, nonce, first / BLOCK, seed);
}

void dpi_deal_draw(dpi_ring ring, const unsigned char seed[DPI_DEAL_SEED], uint64_t at, size_t n,
                   void *out)
{
    size_t bytes = dpi_ring_bytes(ring);
    if (n > 0)
        stream(ring, seed, at * bytes, out, n * bytes);
}

/* ---- what is left ---- */

static void begin(dpi_ring ring, size_t n, const int64_t *x, void *out)
{
    uint32_t *narrow = out;
    if (ring != DPI_RING_32)
        memcpy(out, x, n * sizeof *x);
    for (size_t i = 0; ring == DPI_RING_32 && i < n; i++)
        narrow[i] = (uint32_t)(uint64_t)x[i];
}

static void subtract(dpi_ring ring, size_t n, const void *component, void *out)
{
    const uint64_t *c = component;
    const uint32_t *c32 = component;
    uint64_t *z = out;
    uint32_t *z32 = out;
    for (size_t i = 0; ring == DPI_RING_64 && i < n; i++)
        z[i] -= c[i];
    for (size_t i = 0; ring == DPI_RING_BITS && i < n; i++)
        z[i] ^= c[i];
    for (size_t i = 0; ring == DPI_RING_32 && i < n; i++)
        z32[i] -= c32[i];
}

void dpi_deal_split(dpi_ring ring, size_t parties, size_t full,
                    const unsigned char seed[][DPI_DEAL_SEED], uint64_t at, size_t n,
                    const int64_t *x, void *out)
{
    uint64_t drawn[PIECE / sizeof(uint64_t)];
    size_t bytes = dpi_ring_bytes(ring), step = PIECE / bytes;
    for (size_t first = 0; first < n; first += step) {
        size_t m = n - first < step ? n - first : step;
        unsigned char *to = (unsigned char *)out + first * bytes;
        begin(ring, m, x + first, to);
        for (size_t c = 0; c < parties; c++) {
            if (c == full)
                continue;
            dpi_deal_draw(ring, seed[c], at + first, m, drawn);
            subtract(ring, m, drawn, to);
        }
    }
    sodium_memzero(drawn, sizeof drawn);
}
