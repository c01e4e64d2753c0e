/* A stream of random bytes: ChaCha20 with the key erased as it goes.
 *
 * A buffer of 64 blocks is the keystream of ChaCha20 (RFC 8439 core, Bernstein's 64-bit counter and
 * nonce, both zero at the buffer's start) under the current key.  Its first 32 bytes become the
 * next key and are wiped from the buffer; the other 4064 bytes are handed out.  So
 *   - the block counter runs from 0 to 63 under every key: it cannot wrap;
 *   - who reads the memory of a process can repeat at most the last buffer of what was drawn
 *   before,
 *     not the noise of a whole run (Bernstein, "Fast-key-erasure random-number generators", 2017);
 *   - the bytes are a function of the first key alone, whatever sizes they are asked for in.
 * Distinguishing T buffers from random bytes is at most T times as easy as distinguishing one
 * ChaCha20 keystream of 4 KiB.
 *
 * A buffer costs one call of dpi_chacha (libsodium, or AVX-512) and 1/128 of it goes to the key. */
#include "random/stream.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/chacha.h"

void dpi_stream_start(dpi_stream *stream, const unsigned char key[DPI_STREAM_KEY])
{
    memcpy(stream->key, key, DPI_STREAM_KEY);
    stream->left = 0;
    stream->keyed = true;
}

void dpi_stream_start_seeded(dpi_stream *stream, uint64_t seed, const char *purpose)
{
    unsigned char number[8], key[DPI_STREAM_KEY];
    crypto_generichash_state hash;
    for (int i = 0; i < 8; i++)
        number[i] = (unsigned char)(seed >> 8 * i);
    (void)crypto_generichash_init(&hash, NULL, 0, sizeof key);
    (void)crypto_generichash_update(&hash, number, sizeof number);
    (void)crypto_generichash_update(&hash, (const unsigned char *)purpose, strlen(purpose));
    (void)crypto_generichash_final(&hash, key, sizeof key);
    dpi_stream_start(stream, key);
    sodium_memzero(key, sizeof key);
    sodium_memzero(&hash, sizeof hash);
}

void dpi_stream_end(dpi_stream *stream)
{
    if (stream != NULL)
        sodium_memzero(stream, sizeof *stream);
}

void dpi_stream_refill(dpi_stream *stream)
{
    if (!stream->keyed)
        dpi_misuse("dpi_stream_refill", "the stream has no key (ended, or copied into a fork)");
    dpi_chacha(stream->key, stream->buffer);
    memcpy(stream->key, stream->buffer, DPI_STREAM_KEY);
    sodium_memzero(stream->buffer, DPI_STREAM_KEY);
    stream->left = DPI_STREAM_BUFFER - DPI_STREAM_KEY;
}

const unsigned char *dpi_stream_view(dpi_stream *stream, size_t want, size_t *got)
{
    if (stream->left == 0)
        dpi_stream_refill(stream);
    const unsigned char *bytes = stream->buffer + (DPI_STREAM_BUFFER - stream->left);
    *got = want < stream->left ? want : stream->left;
    stream->left -= *got;
    return bytes;
}

void dpi_stream_bytes(dpi_stream *stream, size_t n, unsigned char *out)
{
    for (size_t got; n > 0; n -= got, out += got) {
        const unsigned char *bytes = dpi_stream_view(stream, n, &got);
        memcpy(out, bytes, got);
    }
}

/* Lemire 2019 ("Fast random integer generation in an interval"): floor(u * bound / 2^32) for a
 * uniform 32-bit u is exactly uniform once the 2^32 mod bound smallest products are rejected. */
static uint64_t below_32(dpi_stream *stream, uint64_t bound)
{
    uint64_t product = dpi_stream_u32(stream) * bound;
    if (DPI_UNLIKELY((product & UINT32_MAX) < bound)) {
        uint64_t rejected = ((uint64_t)1 << 32) % bound;
        while ((product & UINT32_MAX) < rejected)
            product = dpi_stream_u32(stream) * bound;
    }
    return product >> 32;
}

uint64_t dpi_stream_below(dpi_stream *stream, uint64_t bound)
{
    if (bound == 0)
        dpi_misuse("dpi_stream_below", "an empty range");
    if (bound <= (uint64_t)1 << 32)
        return below_32(stream, bound);
    uint64_t mask = bound - 1;
    for (int shift = 1; shift < 64; shift *= 2)
        mask |= mask >> shift;
    uint64_t draw;
    do
        draw = dpi_stream_u64(stream) & mask;
    while (draw >= bound);
    return draw;
}

void dpi_stream_bytes_below(dpi_stream *stream, unsigned bound, size_t n, unsigned char *out)
{
    if (bound == 0)
        dpi_misuse("dpi_stream_bytes_below", "an empty range");
    dpi_stream_bytes(stream, n, out);
    for (size_t i = 0; i < n; i++)
        while (DPI_UNLIKELY(out[i] >= bound))
            out[i] = dpi_stream_u8(stream);
}

double dpi_stream_uniform(dpi_stream *stream)
{
    uint64_t draw;
    do
        draw = dpi_stream_u64(stream) >> 11;
    while (DPI_UNLIKELY(draw == 0));
    return (double)draw * 0x1p-53;
}
