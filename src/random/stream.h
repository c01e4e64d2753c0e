/* A stream of random bytes: ChaCha20 with the key erased as it goes.
 *
 * Both dp_rng and dp_noise hold one of these; every sampler of the library reads from one.  The
 * bytes depend on the key alone, not on how they are asked for.  One stream belongs to one thread.
 * A zeroed dpi_stream is an ended one: reading from it aborts (it never yields zeros). */
#ifndef DPI_RANDOM_STREAM_H
#define DPI_RANDOM_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum { DPI_STREAM_KEY = 32, DPI_STREAM_BUFFER = 4096 };

typedef struct dpi_stream {
    _Alignas(64) unsigned char buffer[DPI_STREAM_BUFFER]; /* a cache line's start, for speed */
    unsigned char key[DPI_STREAM_KEY];                    /* of the next buffer */
    size_t left; /* bytes not yet handed out, at the end of the buffer */
    bool keyed;  /* false before dpi_stream_start and after dpi_stream_end */
} dpi_stream;

/* Starts the stream of a key; dpi_sodium_start must have succeeded. */
void dpi_stream_start(dpi_stream *stream, const unsigned char key[DPI_STREAM_KEY]);

/* Starts the stream that belongs to a number under a purpose, by BLAKE2b.  Streams of different
 * seeds or different purposes are independent. */
void dpi_stream_start_seeded(dpi_stream *stream, uint64_t seed, const char *purpose);

/* Wipes key and buffer; NULL is allowed. */
void dpi_stream_end(dpi_stream *stream);

/* Replaces an empty buffer by the next one.  Aborts (dpi_misuse) on a stream that is not keyed. */
void dpi_stream_refill(dpi_stream *stream);

/* The next n bytes. */
void dpi_stream_bytes(dpi_stream *stream, size_t n, unsigned char *out /* [n] */);

/* Hands out the next *got bytes, 1 <= *got <= want, without copying them; want >= 1.  They are
 * valid until the stream is next used.  Calling it until all are read gives dpi_stream_bytes. */
const unsigned char *dpi_stream_view(dpi_stream *stream, size_t want, size_t *got);

/* Exactly uniform on 0 .. bound-1 (rejection, no remainder bias).  bound >= 1.  Takes 4 bytes a try
 * for bound <= 2^32, else 8; fewer than 2 tries on average. */
uint64_t dpi_stream_below(dpi_stream *stream, uint64_t bound);

/* n bytes exactly uniform on 0 .. bound-1, 1 <= bound <= 256, by rejection: what is rejected, and
 * so the time taken, tells nothing of the bytes that stay. */
void dpi_stream_bytes_below(dpi_stream *stream, unsigned bound, size_t n,
                            unsigned char *out /* [n] */);

/* Uniform on the multiples of 2^-53 strictly between 0 and 1; takes 8 bytes a try. */
double dpi_stream_uniform(dpi_stream *stream);

/* Little-endian loads: a stream means the same on every machine. */
static inline uint32_t dpi_load32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t dpi_load64(const unsigned char *p)
{
    return (uint64_t)dpi_load32(p) | (uint64_t)dpi_load32(p + 4) << 32;
}

/* The next n bytes, without copying them, valid until the stream is next used; or NULL, and the
 * stream is as it was, where they do not lie side by side in its buffer. */
static inline const unsigned char *dpi_stream_whole(dpi_stream *stream, size_t n)
{
    if (DPI_UNLIKELY(stream->left < n))
        return NULL;
    const unsigned char *bytes = stream->buffer + (DPI_STREAM_BUFFER - stream->left);
    stream->left -= n;
    return bytes;
}

/* The next byte. */
static inline unsigned char dpi_stream_u8(dpi_stream *stream)
{
    if (DPI_UNLIKELY(stream->left == 0))
        dpi_stream_refill(stream);
    return stream->buffer[DPI_STREAM_BUFFER - stream->left--];
}

/* The next 4 bytes, little endian. */
static inline uint32_t dpi_stream_u32(dpi_stream *stream)
{
    unsigned char bytes[4];
    if (DPI_LIKELY(stream->left >= sizeof bytes)) {
        stream->left -= sizeof bytes;
        return dpi_load32(stream->buffer + (DPI_STREAM_BUFFER - sizeof bytes) - stream->left);
    }
    dpi_stream_bytes(stream, sizeof bytes, bytes);
    return dpi_load32(bytes);
}

/* The next 8 bytes, little endian. */
static inline uint64_t dpi_stream_u64(dpi_stream *stream)
{
    unsigned char bytes[8];
    if (DPI_LIKELY(stream->left >= sizeof bytes)) {
        stream->left -= sizeof bytes;
        return dpi_load64(stream->buffer + (DPI_STREAM_BUFFER - sizeof bytes) - stream->left);
    }
    dpi_stream_bytes(stream, sizeof bytes, bytes);
    return dpi_load64(bytes);
}

#endif
