/* Speed of the arithmetic that sharing does on whole arrays: linear layers modulo 2^64 and 2^32,
 * planes of bits.
 *   make bench/share-kernels && bench/share-kernels
 * One JSON line each, of one thread in processor time: microseconds a call, 10^9 products of
 * numbers a second, and for layers what share that is of what the multiplier does with numbers in
 * registers (of the widest vectors; "multiplier" lines).  Layers are computed both ways; "chosen"
 * is what serving takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "share/kernels-parts.h"
#include "tacit/model.h"

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* As bench_measure, in processor time: others use the machine too. */
static bench_times measure(void (*call)(void *of), void *of)
{
    double time[BENCH_RUNS];
    size_t calls = 1;
    for (double spent = 0; spent < 2e-3; calls *= 2) {
        spent = -bench_processor();
        for (size_t i = 0; i < calls; i++)
            call(of);
        spent += bench_processor();
    }
    for (int r = 0; r < BENCH_RUNS; r++) {
        time[r] = -bench_processor();
        for (size_t i = 0; i < calls; i++)
            call(of);
        time[r] = (time[r] + bench_processor()) / (double)calls;
    }
    qsort(time, BENCH_RUNS, sizeof *time, ascending);
    return (bench_times){time[BENCH_RUNS / 2], time[0], time[BENCH_RUNS - 1]};
}

static void *room_for(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p == NULL) {
        (void)fprintf(stderr, "bench/share-kernels: out of memory\n");
        exit(1);
    }
    memset(p, 0x5a, bytes);
    return p;
}

static double products_a_second[2]; /* of the multiplier, by ring; 0: unknown */

#if defined(__x86_64__)
enum { ROUNDS = 1000, CHAINS = 8 };
#define MULTIPLIER(name, type)                                                                     \
    __attribute__((target("avx512f,avx512dq"))) static void name(void *of)                         \
    {                                                                                              \
        typedef type vector __attribute__((vector_size(64)));                                      \
        vector *to = of, a[CHAINS], b = to[0];                                                     \
        memcpy(a, to, sizeof a);                                                                   \
        for (int i = 0; i < ROUNDS; i++)                                                           \
            _Pragma("GCC unroll 8") for (int j = 0; j < CHAINS; j++) a[j] *= b;                    \
        memcpy(to, a, sizeof a);                                                                   \
    }
MULTIPLIER(multiply_64, uint64_t)
MULTIPLIER(multiply_32, uint32_t)

static void measure_multiplier(dpi_ring ring)
{
    if (!__builtin_cpu_supports("avx512dq"))
        return;
    void *a = room_for((size_t)CHAINS * 64);
    const bench_times t = measure(ring == DPI_RING_64 ? multiply_64 : multiply_32, a);
    products_a_second[ring] = ROUNDS * CHAINS * (64.0 / (double)dpi_ring_bytes(ring)) / t.low;
    printf("{\"bench\": \"share-kernels\", \"what\": \"multiplier\", \"bits\": %d, ",
           dpi_ring_bits(ring));
    bench_number("gproducts", products_a_second[ring] * 1e-9);
    bench_end_line();
    free(a);
}
#endif

/* ---- layers ---- */

typedef struct shape {
    const char *name;
    size_t records, outputs, channels;
    dp_window w; /* of size 0: dense */
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

typedef struct job {
    dpi_layer y;
    dpi_layer_way way;
} job;

/* As serving calls it: so many rows at a time. */
static void run_layer(void *of)
{
    job *j = of;
    const dpi_linear *l = j->y.l;
    const size_t rows = l->records * l->stops, tile = DPI_SHARE_TILE / l->outputs;
    for (size_t i = 0; i < rows; i += tile) {
        j->y.first = i;
        j->y.last = rows - i < tile ? rows : i + tile;
        dpi_layer_run(&j->y, j->way);
    }
}

static void tell_layer(const shape *s, const job *j, const bench_times *t)
{
    static const char *const ways[] = {"chosen", "dots", "panels"};
    const dpi_linear *l = j->y.l;
    const double products =
        (double)(l->records * l->stops * l->terms) * (double)l->outputs * (double)j->y.n_pairs;
    printf("{\"bench\": \"share-kernels\", \"what\": \"%s\", \"bits\": %d, \"records\": %zu, "
           "\"pairs\": %zu, \"kernel\": \"%s\", \"way\": \"%s\", ",
           s->name, dpi_ring_bits(j->y.ring), l->records, j->y.n_pairs, j->y.kernel->name,
           ways[j->way]);
    bench_number("us", 1e6 * t->median);
    bench_number("low", 1e6 * t->low);
    bench_number("gproducts", 1e-9 * products / t->low);
    if (products_a_second[j->y.ring] > 0)
        bench_number("of_multiplier", products / t->low / products_a_second[j->y.ring]);
    bench_end_line();
    (void)fflush(stdout);
}

static void measure_layer(const shape *s, dpi_ring ring, size_t n_pairs, bool all)
{
    const dpi_linear l = layer_of(s);
    const size_t size = dpi_ring_bytes(ring);
    dpi_linear_pair pair[2];
    void *of_pair[4], *z = room_for((size_t)DPI_SHARE_TILE * size);
    void *room = room_for(dpi_linear_room(ring, &l, n_pairs));
    for (size_t p = 0; p < n_pairs; p++) {
        of_pair[2 * p] = room_for(l.records * l.inputs * size);
        of_pair[2 * p + 1] = room_for(l.outputs * l.terms * size);
        pair[p] = (dpi_linear_pair){of_pair[2 * p], of_pair[2 * p + 1]};
    }
    job j = {.y = {.ring = ring, .l = &l, .n_pairs = n_pairs, .pair = pair, .z = z, .room = room}};
    size_t k = 0;
    do {
        j.y.kernel = &dpi_tile_kernels[k];
        for (j.way = DPI_LAYER_BEST; j.way <= DPI_LAYER_PANELS && j.y.kernel->works(); j.way++) {
            if (j.way == DPI_LAYER_PANELS && j.y.kernel->width[ring] == 0)
                continue;
            const bench_times t = measure(run_layer, &j);
            tell_layer(s, &j, &t);
        }
    } while (++k < dpi_n_tile_kernels && (all || !dpi_tile_kernels[k - 1].works()));
    for (size_t p = 0; p < 2 * n_pairs; p++)
        free(of_pair[p]);
    free(z);
    free(room);
}

static void measure_layers(bool all)
{
    const dp_window none = {{0}, {0}, {0}, {0}};
    const shape s[] = {
        {"784 x 128", 1, 128, 784, none},
        {"784 x 128", 128, 128, 784, none},
        {"128 x 10", 128, 10, 128, none},
        {"28 x 28 x 1, 5 x 5, 16", 128, 16, 1, {{28, 28}, {5, 5}, {1, 1}, {0, 0}}},
        {"12 x 12 x 16, 5 x 5, 16", 128, 16, 16, {{12, 12}, {5, 5}, {1, 1}, {0, 0}}},
        {"28 x 28 x 1, 5 x 5, 6", 256, 6, 1, {{28, 28}, {5, 5}, {1, 1}, {2, 2}}},
        {"14 x 14 x 6, 5 x 5, 16", 256, 16, 6, {{14, 14}, {5, 5}, {1, 1}, {0, 0}}},
        {"400 x 120", 256, 120, 400, none},
        {"120 x 84", 256, 84, 120, none},
        {"32 x 32 x 3, 3 x 3, 64", 4, 64, 3, {{32, 32}, {3, 3}, {1, 1}, {1, 1}}},
        {"32 x 32 x 64, 3 x 3, 64", 1, 64, 64, {{32, 32}, {3, 3}, {1, 1}, {1, 1}}},
        {"8 x 8 x 256, 3 x 3, 256", 1, 256, 256, {{8, 8}, {3, 3}, {1, 1}, {1, 1}}},
        {"2 x 2 x 512, 3 x 3, 512", 1, 512, 512, {{2, 2}, {3, 3}, {1, 1}, {1, 1}}},
        {"2 x 2 x 512, 3 x 3, 512", 16, 512, 512, {{2, 2}, {3, 3}, {1, 1}, {1, 1}}},
    };
    for (size_t i = 0; i < sizeof s / sizeof *s; i++)
        for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
            for (size_t n_pairs = 1; n_pairs <= 2; n_pairs++)
                measure_layer(&s[i], ring, n_pairs, all);
}

/* ---- planes ---- */

enum { NUMBERS = 1 << 15, PLANES = 64 };

typedef struct bits {
    const dpi_planes_kernel *kernel;
    dpi_ring ring;
    size_t n_planes;
    void *x;
    uint64_t *planes;
    int plane[PLANES];
} bits;

static void planes_of(void *of)
{
    bits *b = of;
    dpi_planes_split(b->kernel, b->ring, NUMBERS, b->x, b->n_planes, b->plane, b->planes);
}

static void planes_to(void *of)
{
    bits *b = of;
    dpi_planes_join(b->kernel, b->ring, NUMBERS, b->n_planes, b->planes, b->x);
}

static void spread(void *of)
{
    bits *b = of;
    dpi_bits_spread(b->ring, NUMBERS, b->planes, b->x);
}

static void measure_bits(const char *name, void (*call)(void *of), bits *b)
{
    const bench_times t = measure(call, b);
    printf("{\"bench\": \"share-kernels\", \"what\": \"%s\", \"bits\": %d, \"planes\": %zu, "
           "\"kernel\": \"%s\", ",
           name, dpi_ring_bits(b->ring), b->n_planes, b->kernel != NULL ? b->kernel->name : "any");
    bench_number("ns_a_number", 1e9 * t.median / NUMBERS);
    bench_number("low", 1e9 * t.low / NUMBERS);
    bench_end_line();
}

static void measure_planes(dpi_ring ring)
{
    bits b = {.ring = ring, .n_planes = 1};
    b.x = room_for((size_t)NUMBERS * sizeof(uint64_t));
    b.planes = room_for((size_t)NUMBERS / 64 * PLANES * sizeof(uint64_t));
    for (int j = 0; j < PLANES; j++)
        b.plane[j] = j;
    measure_bits("bits as numbers", spread, &b);
    const size_t wanted[] = {(size_t)dpi_ring_bits(ring), 17};
    for (size_t k = 0; k < dpi_n_planes_kernels; k++)
        for (size_t i = 0; dpi_planes_kernels[k].works() && i < 2; i++) {
            b.kernel = &dpi_planes_kernels[k];
            b.n_planes = wanted[i];
            measure_bits("planes of numbers", planes_of, &b);
            measure_bits("numbers of planes", planes_to, &b);
        }
    free(b.x);
    free(b.planes);
}

int main(int argc, char **argv)
{
    const bool all = argc == 2 && strcmp(argv[1], "--all") == 0;
    if (argc > 1 && !all) {
        (void)fprintf(stderr, "usage: bench/share-kernels [--all]\n"
                              "  --all   layers by every kernel that runs here\n");
        return 2;
    }
#if defined(__x86_64__)
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
        measure_multiplier(ring);
#endif
    for (dpi_ring ring = DPI_RING_64; ring <= DPI_RING_32; ring++)
        measure_planes(ring);
    measure_layers(all);
    return 0;
}
