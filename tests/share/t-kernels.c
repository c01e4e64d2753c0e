#define _DEFAULT_SOURCE
#include "share/kernels.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <tacit/program.h>

#include "share/kernels-parts.h"
#include "tests/lib/check.h"

enum { PAIRS = 3 };

static uint64_t next_word(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15;
    uint64_t v = (*seed ^ *seed >> 30) * 0xbf58476d1ce4e5b9;
    v = (v ^ v >> 27) * 0x94d049bb133111eb;
    return v ^ v >> 31;
}

/* ---- memory that ends where a page ends that nobody may touch ---- */

typedef struct space {
    unsigned char *page, *at;
    size_t bytes, all;
} space;

static space space_of(size_t bytes)
{
    const size_t page = 4096;
    space s = {.bytes = bytes, .all = (bytes + page - 1) / page * page + page};
    s.page = mmap(NULL, s.all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(s.page != MAP_FAILED);
    assert_int_equal(mprotect(s.page + s.all - page, page, PROT_NONE), 0);
    s.at = s.page + s.all - page - bytes;
    return s;
}

static void leave(space s)
{
    assert_int_equal(munmap(s.page, s.all), 0);
}

/* What numbers are drawn from: all, or only such as carry far. */
typedef enum values { RANDOM, EXTREME } values;

static space numbers(dpi_ring ring, size_t n, values which, uint64_t *seed)
{
    const uint64_t extreme[] = {UINT64_MAX, (uint64_t)1 << 63, 0x80000000, 0xffffffff00000000};
    space s = space_of(n * dpi_ring_bytes(ring));
    for (size_t i = 0; i < n; i++) {
        uint64_t v = next_word(seed);
        if (which == EXTREME)
            v = extreme[v % 4];
        memcpy(s.at + i * dpi_ring_bytes(ring), &v, dpi_ring_bytes(ring)); /* little-endian */
    }
    return s;
}

/* ---- layers ---- */

typedef struct shape {
    size_t records, outputs, channels;
    dp_window w; /* of size 0: a dense layer of `channels` terms */
} shape;

static dpi_linear layer_of(const shape *s)
{
    dpi_linear l = {.records = s->records, .outputs = s->outputs, .terms = s->channels};
    l.inputs = s->channels;
    l.stops = 1;
    if (s->w.size[0] == 0)
        return l;
    l.window = &s->w;
    l.terms *= s->w.size[0] * s->w.size[1];
    l.inputs *= s->w.image[0] * s->w.image[1];
    for (int axis = 0; axis < 2; axis++)
        l.stops *=
            (s->w.image[axis] + 2 * s->w.padding[axis] - s->w.size[axis]) / s->w.stride[axis] + 1;
    return l;
}

/* Where a row has its term k; SIZE_MAX in the padding. */
static size_t place_of(const dpi_linear *l, size_t row, size_t k)
{
    const size_t record = row / l->stops;
    if (l->window == NULL)
        return row * l->inputs + k;
    const size_t channels = l->terms / (l->window->size[0] * l->window->size[1]);
    const size_t pixel = dp_window_pixel(l->window, row % l->stops, k / channels);
    return pixel == SIZE_MAX ? SIZE_MAX : record * l->inputs + pixel * channels + k % channels;
}

static uint64_t number(dpi_ring ring, const void *x, size_t i)
{
    return ring == DPI_RING_64 ? ((const uint64_t *)x)[i] : ((const uint32_t *)x)[i];
}

/* From the definition. */
static void add_plainly(const dpi_layer *y, const size_t *places, void *z)
{
    const dpi_linear *l = y->l;
    for (size_t row = y->first; row < y->last; row++)
        for (size_t o = 0; o < l->outputs; o++) {
            uint64_t sum = 0;
            for (size_t p = 0; p < y->n_pairs; p++)
                for (size_t k = 0; k < l->terms; k++) {
                    const size_t at = places[row * l->terms + k];
                    if (at != SIZE_MAX)
                        sum += number(y->ring, y->pair[p].x, at) *
                               number(y->ring, y->pair[p].w, o * l->terms + k);
                }
            const size_t to = (row - y->first) * l->outputs + o;
            if (y->ring == DPI_RING_64)
                ((uint64_t *)z)[to] += sum;
            else
                ((uint32_t *)z)[to] += (uint32_t)sum;
        }
}

/* Both ways of every kernel that runs here, and the call that chooses, on some rows. */
static void check_rows(dpi_layer y, const size_t *places, values which, uint64_t *seed)
{
    const size_t n = (y.last - y.first) * y.l->outputs, bytes = n * dpi_ring_bytes(y.ring);
    space before = numbers(y.ring, n, which, seed), expected = space_of(bytes), z = space_of(bytes);
    space room = space_of(dpi_linear_room(y.ring, y.l, y.n_pairs));
    y.z = z.at;
    memcpy(expected.at, before.at, bytes);
    add_plainly(&y, places, expected.at);
    memcpy(z.at, before.at, bytes);
    dpi_linear_run(y.ring, y.l, y.n_pairs, y.pair, y.first, y.last, z.at, room.at);
    assert_memory_equal(z.at, expected.at, bytes);
    y.room = room.at + (DPI_TILE_BYTES - (uintptr_t)room.at % DPI_TILE_BYTES) % DPI_TILE_BYTES;
    for (size_t k = 0; k < dpi_n_tile_kernels; k++) {
        y.kernel = &dpi_tile_kernels[k];
        if (!y.kernel->works())
            continue;
        for (dpi_layer_way way = DPI_LAYER_BEST; way <= DPI_LAYER_PANELS; way++) {
            if (way == DPI_LAYER_PANELS && y.kernel->width[y.ring] == 0)
                continue;
            memcpy(z.at, before.at, bytes);
            memset(room.at, 0xa5, room.bytes);
            dpi_layer_run(&y, way);
            assert_memory_equal(z.at, expected.at, bytes);
        }
    }
    leave(before);
    leave(expected);
    leave(z);
    leave(room);
}

static void check_shape(dpi_ring ring, const shape *s, size_t n_pairs, values which, uint64_t *seed)
{
    const dpi_linear l = layer_of(s);
    const size_t rows = l.records * l.stops;
    dpi_linear_pair pair[PAIRS];
    space x[PAIRS], w[PAIRS];
    size_t *places = malloc((rows * l.terms + 1) * sizeof *places);
    assert_non_null(places);
    for (size_t row = 0; row < rows; row++)
        for (size_t k = 0; k < l.terms; k++)
            places[row * l.terms + k] = place_of(&l, row, k);
    for (size_t p = 0; p < n_pairs; p++) {
        x[p] = numbers(ring, l.records * l.inputs, which, seed);
        w[p] = numbers(ring, l.outputs * l.terms, which, seed);
        pair[p] = (dpi_linear_pair){x[p].at, w[p].at};
    }
    const dpi_layer y = {.ring = ring, .l = &l, .n_pairs = n_pairs, .pair = pair};
    const size_t a = next_word(seed) % rows, b = next_word(seed) % rows;
    const size_t from[] = {0, a < b ? a : b, 0}, to[] = {rows, (a < b ? b : a) + 1, 0};
    for (int i = 0; i < 3; i++) {
        dpi_layer some = y;
        some.first = from[i];
        some.last = to[i];
        check_rows(some, places, which, seed);
    }
    for (size_t p = 0; p < n_pairs; p++) {
        leave(x[p]);
        leave(w[p]);
    }
    free(places);
}

static void check_everywhere(const shape *s, uint64_t *seed)
{
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
        for (size_t n_pairs = 1; n_pairs <= PAIRS; n_pairs++) {
            check_shape(ring, s, n_pairs, RANDOM, seed);
            check_shape(ring, s, n_pairs, EXTREME, seed);
        }
}

static void dense_layers_are_sums_of_products(void **state)
{
    (void)state;
    uint64_t seed = 1;
    const size_t sizes[] = {1, 3, 8, 17, 63, 64, 65};
    for (size_t i = 0; i < 7; i++)
        for (size_t j = 0; j < 7; j++) {
            const shape s = {sizes[i], sizes[j], 1 + next_word(&seed) % 70, {{0}, {0}, {0}, {0}}};
            check_everywhere(&s, &seed);
        }
    /* Deeper than what is summed at a time, with and without a rest, and more rows than a block. */
    const shape deep[] = {{1, 5, 1000, {{0}, {0}, {0}, {0}}},
                          {9, 17, 1024, {{0}, {0}, {0}, {0}}},
                          {3, 2, 2061, {{0}, {0}, {0}, {0}}},
                          {131, 4, 513, {{0}, {0}, {0}, {0}}}};
    for (size_t i = 0; i < 4; i++)
        check_everywhere(&deep[i], &seed);
}

static void convolutions_are_sums_over_windows(void **state)
{
    (void)state;
    uint64_t seed = 2;
    const shape s[] = {{2, 6, 1, {{12, 12}, {5, 5}, {1, 1}, {0, 0}}},
                       {1, 16, 6, {{8, 8}, {5, 5}, {1, 1}, {2, 2}}},
                       {3, 10, 64, {{2, 2}, {3, 3}, {1, 1}, {1, 1}}},
                       {1, 20, 3, {{9, 7}, {3, 2}, {2, 3}, {2, 1}}},
                       {2, 3, 5, {{4, 4}, {1, 1}, {2, 2}, {0, 0}}},
                       {2, 3, 2, {{1, 1}, {3, 3}, {1, 1}, {2, 2}}},
                       {5, 8, 40, {{3, 3}, {3, 3}, {1, 1}, {0, 0}}},
                       {1, 2, 1200, {{3, 3}, {2, 2}, {1, 1}, {1, 0}}}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        check_everywhere(&s[i], &seed);
    for (int i = 0; i < 60; i++) {
        shape r = {1 + next_word(&seed) % 4,
                   1 + next_word(&seed) % 34,
                   1 + next_word(&seed) % 9,
                   {{0}, {0}, {0}, {0}}};
        for (int axis = 0; axis < 2; axis++) {
            r.w.size[axis] = 1 + next_word(&seed) % 4;
            r.w.padding[axis] = next_word(&seed) % r.w.size[axis];
            r.w.stride[axis] = 1 + next_word(&seed) % 3;
            r.w.image[axis] = r.w.size[axis] + next_word(&seed) % 6;
        }
        check_everywhere(&r, &seed);
    }
}

/* Images that a band has no room for are copied some lines at a time. */
static void large_images_are_taken_in_bands(void **state)
{
    (void)state;
    uint64_t seed = 3;
    const shape s[] = {{1, 3, 24, {{40, 44}, {3, 3}, {1, 1}, {1, 1}}},
                       {2, 2, 16, {{90, 30}, {5, 2}, {3, 1}, {4, 1}}},
                       {1, 1, 300, {{5, 60}, {2, 2}, {1, 1}, {0, 1}}}};
    for (size_t i = 0; i < sizeof s / sizeof *s; i++) {
        check_shape(DPI_RING_64, &s[i], 2, RANDOM, &seed);
        check_shape(DPI_RING_32, &s[i], 1, RANDOM, &seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dense_layers_are_sums_of_products),
        cmocka_unit_test(convolutions_are_sums_over_windows),
        cmocka_unit_test(large_images_are_taken_in_bands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
