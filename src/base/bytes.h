/* Bytes that are written and read in one form: each number 8 bytes with the little end first, texts
 * with their length in front and zeros behind, up to a multiple of 8.
 *
 * What is written grows in memory; running out of it is remembered and asked for once, at the end.
 * A reader never goes beyond what it was given: from the first thing that is not all there it is
 * bad, and reads zeros. */
#ifndef DPI_BASE_BYTES_H
#define DPI_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/compiler.h"

typedef struct dpi_bytes {
    unsigned char *at;
    size_t n, room;
    bool failed; /* memory was out: what is there is not all */
} dpi_bytes;

/* Appends n bytes (from NULL: zeros). */
void dpi_bytes_add(dpi_bytes *b, const void *from, size_t n);

/* Appends zeros up to a multiple of `to`. */
void dpi_bytes_align(dpi_bytes *b, size_t to);

/* Appends a number, a real number, and a text (NULL: none), before which there is a multiple of 8
 * bytes. */
void dpi_bytes_number(dpi_bytes *b, uint64_t number);
void dpi_bytes_real(dpi_bytes *b, double value);
void dpi_bytes_text(dpi_bytes *b, const char *text);

/* Frees them; empty again. */
void dpi_bytes_free(dpi_bytes *b);

typedef struct dpi_reader {
    const unsigned char *at;
    size_t left;
    bool bad;
} dpi_reader;

/* The next n bytes, or NULL. */
const unsigned char *dpi_read_bytes(dpi_reader *r, size_t n);

uint64_t dpi_read_number(dpi_reader *r);
double dpi_read_real(dpi_reader *r);

/* A number below or at `most`; else bad, and 0. */
size_t dpi_read_count(dpi_reader *r, size_t most);

/* n real numbers, in the arena; NULL, and bad, where there are not so many.  False when memory is
 * out. */
bool dpi_read_reals(dpi_reader *r, dpi_arena *arena, size_t n, double **values);

/* A text, in the arena, without control characters; NULL, and bad, where there is none.  Where
 * nullable, UINT64_MAX in place of the length is NULL.  False when memory is out. */
bool dpi_read_text(dpi_reader *r, dpi_arena *arena, bool nullable, const char **text);

/* The 8 bytes of a number, and back: written so that compilers see one load or store in it, since
 * ciphertexts have tens of thousands. */
DPI_INLINE void dpi_put_number(unsigned char to[8], uint64_t number)
{
    to[0] = (unsigned char)number;
    to[1] = (unsigned char)(number >> 8);
    to[2] = (unsigned char)(number >> 16);
    to[3] = (unsigned char)(number >> 24);
    to[4] = (unsigned char)(number >> 32);
    to[5] = (unsigned char)(number >> 40);
    to[6] = (unsigned char)(number >> 48);
    to[7] = (unsigned char)(number >> 56);
}

DPI_INLINE uint64_t dpi_get_number(const unsigned char from[8])
{
    return (uint64_t)from[0] | (uint64_t)from[1] << 8 | (uint64_t)from[2] << 16 |
           (uint64_t)from[3] << 24 | (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
           (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

/* The bits of a real number, and back. */
uint64_t dpi_bits_of(double value);
double dpi_of_bits(uint64_t bits);

#endif
