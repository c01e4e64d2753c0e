/* Streams are ChaCha20 under keys that are used once, so that the nonce is zero. */
#include "silo/masks.h"

#include <sodium.h>

enum { PIECE = 1024 };

/* Words first ... first + n - 1 of the stream, n <= PIECE; first a multiple of 8. */
static void stream(const unsigned char key[DPI_MASK_KEY], size_t first, size_t n, uint64_t *words)
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    unsigned char *bytes = (unsigned char *)words;
    for (size_t b = 0; b < n * sizeof *words; b++)
        bytes[b] = 0;
    (void)crypto_stream_chacha20_xor_ic(bytes, bytes, n * sizeof *words, nonce, first / 8, key);
}

/* A word as all machines read it. */
static uint64_t word(const uint64_t *words, size_t j)
{
    const unsigned char *b = (const unsigned char *)(words + j);
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

void dpi_mask_add(const unsigned char key[DPI_MASK_KEY], bool minus, size_t n, uint64_t *x)
{
    uint64_t words[PIECE];
    for (size_t first = 0; first < n; first += PIECE) {
        size_t some = n - first < PIECE ? n - first : PIECE;
        stream(key, first, some, words);
        for (size_t j = 0; j < some; j++)
            x[first + j] += minus ? -word(words, j) : word(words, j);
    }
    sodium_memzero(words, sizeof words);
}

uint64_t dpi_mask_check(const unsigned char key[DPI_MASK_KEY], size_t n, const uint64_t *x)
{
    uint64_t words[PIECE], sum = 0;
    for (size_t first = 0; first < n; first += PIECE) {
        size_t some = n - first < PIECE ? n - first : PIECE;
        stream(key, first, some, words);
        for (size_t j = 0; j < some; j++)
            sum += (word(words, j) | 1) * x[first + j];
    }
    return sum;
}
