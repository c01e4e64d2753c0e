/* Which protocols a test of composites is run with. */
#ifndef TESTS_SHARE_ROWS_H
#define TESTS_SHARE_ROWS_H

#include "tests/share/scene.h"

/* Each protocol, with its phases together and apart. */
typedef struct rows_case {
    const dpi_share_row *row;
    bool apart;
} rows_case;
static const rows_case rows_all[] = {{&dpi_clear, false},
                                     {&dpi_trio, false},
                                     {&dpi_trio, true},
                                     {&dpi_quad, false},
                                     {&dpi_quad, true}};
enum { ROWS_ALL = sizeof rows_all / sizeof *rows_all };

/* Numbers that look drawn and follow from *state. */
static inline uint64_t rows_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t v = *state;
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* |x| < 2^bits: edges, powers of two and their neighbours, and numbers of all sizes. */
static inline int64_t rows_number(size_t i, int bits, uint64_t *state)
{
    const int64_t most = (int64_t)(((uint64_t)1 << bits) - 1);
    const int64_t edge[] = {0, 1, -1, most, -most, most / 2, -most / 2, most / 2 + 1};
    if (i < sizeof edge / sizeof *edge)
        return edge[i] > most ? most : edge[i];
    uint64_t v = rows_next(state), by = rows_next(state);
    uint64_t size = i % 3 == 0 ? ((uint64_t)1 << v % (unsigned)(bits + 1)) - 1 + by % 3
                               : v >> (64 - bits) >> (i % 3 == 1 ? 0 : by % (unsigned)bits);
    int64_t x = size > (uint64_t)most ? most : (int64_t)size;
    return (by >> 32) % 2 == 0 ? x : -x;
}

#endif
