/* Bytes in one form. */
#include "base/bytes.h"

#include <string.h>

#include "base/name.h"

enum { FIRST_ROOM = 1024 };

static bool make_room(dpi_bytes *b, size_t more)
{
    size_t room = b->room == 0 ? FIRST_ROOM : b->room;
    while (room - b->n < more) {
        if (!dpi_mul(room, 2, &room))
            return false;
    }
    if (room == b->room)
        return true;
    unsigned char *at = dpi_alloc(room, 1);
    if (at == NULL)
        return false;
    if (b->n > 0)
        memcpy(at, b->at, b->n);
    dpi_free(b->at);
    b->at = at;
    b->room = room;
    return true;
}

void dpi_bytes_add(dpi_bytes *b, const void *from, size_t n)
{
    if (b->failed || !make_room(b, n)) {
        b->failed = true;
        return;
    }
    if (from != NULL && n > 0)
        memcpy(b->at + b->n, from, n);
    else
        memset(b->at + b->n, 0, n);
    b->n += n;
}

void dpi_bytes_align(dpi_bytes *b, size_t to)
{
    if (b->n % to != 0)
        dpi_bytes_add(b, NULL, to - b->n % to);
}

void dpi_bytes_number(dpi_bytes *b, uint64_t number)
{
    unsigned char bytes[8];
    dpi_put_number(bytes, number);
    dpi_bytes_add(b, bytes, sizeof bytes);
}

void dpi_bytes_real(dpi_bytes *b, double value)
{
    dpi_bytes_number(b, dpi_bits_of(value));
}

void dpi_bytes_text(dpi_bytes *b, const char *text)
{
    size_t length = text != NULL ? strlen(text) : 0;
    dpi_bytes_number(b, text != NULL ? length : UINT64_MAX);
    dpi_bytes_add(b, text, length);
    dpi_bytes_align(b, 8);
}

void dpi_bytes_free(dpi_bytes *b)
{
    dpi_free(b->at);
    *b = (dpi_bytes){0};
}

const unsigned char *dpi_read_bytes(dpi_reader *r, size_t n)
{
    const unsigned char *at = r->at;
    if (r->bad || n > r->left) {
        r->bad = true;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return at;
}

uint64_t dpi_read_number(dpi_reader *r)
{
    const unsigned char *at = dpi_read_bytes(r, 8);
    return at == NULL ? 0 : dpi_get_number(at);
}

double dpi_read_real(dpi_reader *r)
{
    return dpi_of_bits(dpi_read_number(r));
}

size_t dpi_read_count(dpi_reader *r, size_t most)
{
    uint64_t number = dpi_read_number(r);
    if (number > most) {
        r->bad = true;
        return 0;
    }
    return (size_t)number;
}

bool dpi_read_reals(dpi_reader *r, dpi_arena *arena, size_t n, double **values)
{
    *values = NULL;
    if (r->bad || n > r->left / 8) {
        r->bad = true;
        return true;
    }
    *values = dpi_arena_alloc(arena, n, sizeof **values);
    for (size_t i = 0; *values != NULL && i < n; i++)
        (*values)[i] = dpi_read_real(r);
    return *values != NULL;
}

static bool all_zeros(const unsigned char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (at[i] != 0)
            return false;
    return true;
}

bool dpi_read_text(dpi_reader *r, dpi_arena *arena, bool nullable, const char **text)
{
    uint64_t length = dpi_read_number(r);
    *text = NULL;
    if (nullable && length == UINT64_MAX)
        return true;
    size_t padding = (size_t)((8 - length % 8) % 8);
    const unsigned char *at = length <= r->left ? dpi_read_bytes(r, (size_t)length) : NULL;
    const unsigned char *end = at != NULL ? dpi_read_bytes(r, padding) : NULL;
    bool sound = end != NULL && all_zeros(end, padding);
    for (size_t i = 0; sound && i < length; i++)
        sound = !dpi_is_control((const char *)at + i, (size_t)length - i);
    r->bad = r->bad || !sound;
    if (!sound)
        return true;
    char *copy = dpi_arena_alloc(arena, (size_t)length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, at, (size_t)length);
    *text = copy;
    return copy != NULL;
}

uint64_t dpi_bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

double dpi_of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
