/* What gates cost among parties that are processes, with TLS over loopback between them:
 *   make bench/share && bench/share [--protocol trio|quad] [--what NAME] [--calls N]
 * One JSON line for each protocol and gate: 10^6 numbers (AND: bits) a second of the wall's clock,
 * in the median and the best of 11 runs, each of `calls` calls on `numbers` numbers (words of 64
 * bits) and of what is compared at its end; ns_processor, of all parties together for a number
 * (median); bytes that all send for a number, without TLS's and the frames'.
 *
 * Gates: AND of words; products of 64 and 32 bits; a relu over all bits of the ring; and a relu as
 * layers have it, of 40 bits with a shift of 22 (64), of 28 with 14 (32).  What the first numbers
 * of the last run come to is put together and compared with what it should be.  Dealing is in the
 * time: all phases together. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "processes.h"
#include "share/deal.h"
#include "share/relu.h"

enum { CHECKED = 1 << 10, WORD = 64, CASES = 7, LONG = 1 << 20, SHORT = 1 << 18 };

/* numbers: of a call, words of bits; bits and shift: of a relu, bits 0: a product. */
typedef struct gate {
    const char *name;
    dpi_ring ring;
    size_t numbers;
    int bits, shift;
} gate;

static const gate gates[CASES] = {
    {"and", DPI_RING_BITS, LONG, 0, 0},           {"product-64", DPI_RING_64, LONG, 0, 0},
    {"product-32", DPI_RING_32, LONG, 0, 0},      {"relu-64", DPI_RING_64, SHORT, 63, 0},
    {"relu-32", DPI_RING_32, SHORT, 31, 0},       {"relu-64-shift", DPI_RING_64, SHORT, 40, 22},
    {"relu-32-shift", DPI_RING_32, SHORT, 28, 14}};

/* What roles write for the program that has started them. */
typedef struct seen {
    double begun[BENCH_RUNS], ended[BENCH_RUNS], used[BENCH_RUNS];
    dpi_mesh_traffic traffic;
    bool tells;
    uint64_t piece[CHECKED];
} seen;

typedef struct board {
    pthread_barrier_t barrier;
    uint64_t calls;
    const char *what; /* "": all */
    seen role[CASES][DPI_SHARE_PARTIES];
} board;

/* ---- numbers ---- */

static uint64_t scramble(uint64_t v)
{
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

/* Of a relu |x| < 2^bits; else any. */
static int64_t number(const gate *g, uint64_t which, size_t i)
{
    const uint64_t v = scramble(which << 32 | (i + 1));
    if (g->bits == 0)
        return (int64_t)v;
    const int64_t size = (int64_t)(v >> (WORD - g->bits));
    return v % 2 == 0 ? size : -size;
}

static int64_t result(const gate *g, size_t i)
{
    const int64_t x = number(g, 1, i), y = number(g, 2, i);
    if (g->bits > 0)
        return x <= 0 ? 0 : g->shift == 0 ? x : (x + (INT64_C(1) << (g->shift - 1))) >> g->shift;
    if (g->ring == DPI_RING_BITS)
        return x & y;
    const uint64_t product = (uint64_t)x * (uint64_t)y;
    return g->ring == DPI_RING_32 ? (int32_t)(uint32_t)product : (int64_t)product;
}

static void *block(size_t n, size_t size)
{
    void *at = calloc(n, size);
    processes_must(at != NULL, "out of memory");
    return at;
}

/* The role's part of the numbers of `which`. */
static dpi_share give(dpi_party *p, const gate *g, uint64_t which)
{
    unsigned char seed[DPI_SHARE_PARTIES][DPI_DEAL_SEED] = {{0}};
    void *component[DPI_SHARE_PARTIES] = {NULL};
    const size_t parties = p->row->parties, full = p->row->dealer, each = dpi_ring_bytes(g->ring);
    int64_t *x = block(g->numbers, sizeof *x);
    dpi_share share;
    processes_must(dpi_share_new(p, g->ring, g->numbers, &share, NULL) == DP_OK, "out of memory");
    for (size_t i = 0; i < g->numbers; i++)
        x[i] = number(g, which, i);
    for (size_t c = 0; c < parties; c++) {
        seed[c][0] = (unsigned char)(c + 1);
        seed[c][1] = (unsigned char)which;
        if (c != p->role)
            component[c] = block(g->numbers, each);
        if (c != p->role && c != full)
            dpi_deal_draw(g->ring, (const unsigned char *)seed[c], 0, g->numbers, component[c]);
    }
    if (component[full] != NULL)
        dpi_deal_split(g->ring, parties, full, (const unsigned char(*)[DPI_DEAL_SEED])seed, 0,
                       g->numbers, x, component[full]);
    p->row->adopt(p, g->ring, g->numbers, (const void *const *)component, &share);
    for (size_t c = 0; c < parties; c++)
        free(component[c]);
    free(x);
    return share;
}

/* ---- in a party ---- */

typedef struct work {
    const gate *g;
    dpi_share x, y, z;
    dpi_relu relu;
    dpi_blocks room; /* of a relu */
} work;

static void begin_work(dpi_party *p, const gate *g, work *w)
{
    *w = (work){.g = g};
    w->x = give(p, g, 1);
    processes_must(dpi_share_new(p, g->ring, g->numbers, &w->z, NULL) == DP_OK, "out of memory");
    if (g->bits == 0) {
        w->y = give(p, g, 2);
        return;
    }
    dpi_relu_make(g->ring, g->bits, g->shift, &w->relu);
    processes_must(dpi_blocks_new(p, g->ring, (size_t)w->relu.tree.n_planes, DPI_BLOCK, &w->room,
                                  NULL) == DP_OK,
                   "out of memory");
}

static void end_work(work *w)
{
    dpi_share_free(&w->x);
    dpi_share_free(&w->y);
    dpi_share_free(&w->z);
    dpi_blocks_free(&w->room);
}

static void run_calls(dpi_party *p, work *w, uint64_t calls, uint32_t *layer)
{
    for (uint64_t k = 0; k < calls; k++) {
        dpi_mesh_layer(p->mesh, ++*layer);
        if (w->g->bits > 0)
            dpi_relu_run(p, w->g->ring, &w->relu, &w->room, &w->x, &w->z);
        else
            p->row->multiply(p, w->g->ring, &w->x, &w->y, &w->z);
    }
    processes_must(dpi_mesh_verify(p->mesh) == DP_OK, dpi_mesh_error(p->mesh)->text);
}

/* What the calls since then have moved. */
static dpi_mesh_traffic since(const dpi_party *p, const dpi_mesh_traffic *before)
{
    dpi_mesh_traffic t = dpi_mesh_counts(p->mesh);
    for (size_t j = 0; j < DPI_SHARE_PARTIES; j++) {
        t.prepared[j] -= before->prepared[j];
        t.online[j] -= before->online[j];
    }
    return t;
}

static void tell(dpi_party *p, const work *w, seen *s)
{
    bool hash_only;
    const dpi_share first = dpi_share_from(w->g->ring, &w->z, 0, CHECKED);
    s->tells = p->row->piece(p, w->g->ring,
                             dpi_ring_bits(w->g->ring) == 1 ? WORD : dpi_ring_bits(w->g->ring),
                             &first, s->piece, &hash_only);
}

static void measure(dpi_party *p, board *b, size_t which, uint32_t *layer)
{
    seen *s = &b->role[which][p->role];
    work w;
    begin_work(p, &gates[which], &w);
    run_calls(p, &w, 1, layer);
    const dpi_mesh_traffic before = dpi_mesh_counts(p->mesh);
    for (size_t r = 0; r < BENCH_RUNS; r++) {
        (void)pthread_barrier_wait(&b->barrier);
        s->begun[r] = bench_now();
        s->used[r] = -bench_processor();
        run_calls(p, &w, b->calls, layer);
        s->used[r] += bench_processor();
        s->ended[r] = bench_now();
    }
    s->traffic = since(p, &before);
    tell(p, &w, s);
    end_work(&w);
}

static bool asked(const board *b, size_t which)
{
    return b->what[0] == '\0' || strcmp(b->what, gates[which].name) == 0;
}

static void play(dpi_party *p, void *user)
{
    board *b = user;
    uint32_t layer = 0;
    for (size_t k = 0; k < CASES; k++)
        if (asked(b, k))
            measure(p, b, k, &layer);
}

/* ---- lines ---- */

static void check(const dpi_share_row *row, const gate *g, const seen role[])
{
    const void *piece[DPI_SHARE_PARTIES] = {NULL};
    int64_t z[CHECKED];
    for (size_t r = 0; r < row->parties; r++)
        piece[r] = role[r].tells ? role[r].piece : NULL;
    const int bits = g->ring == DPI_RING_BITS ? WORD : dpi_ring_bits(g->ring);
    row->join(g->ring, bits, CHECKED, piece, z);
    for (size_t i = 0; i < CHECKED; i++)
        if (z[i] != result(g, i))
            bench_stop(g->name, "a wrong number");
}

static double wall(const seen role[], size_t parties, size_t run)
{
    double begun = role[0].begun[run], ended = role[0].ended[run];
    for (size_t r = 1; r < parties; r++) {
        begun = role[r].begun[run] < begun ? role[r].begun[run] : begun;
        ended = role[r].ended[run] > ended ? role[r].ended[run] : ended;
    }
    return ended - begun;
}

static void write_line(const dpi_share_row *row, const gate *g, const seen role[], uint64_t calls)
{
    const double numbers =
        (double)calls * (double)g->numbers * (g->ring == DPI_RING_BITS ? WORD : 1);
    double time[BENCH_RUNS], used[BENCH_RUNS] = {0}, bytes = 0;
    for (size_t run = 0; run < BENCH_RUNS; run++) {
        time[run] = wall(role, row->parties, run);
        for (size_t r = 0; r < row->parties; r++)
            used[run] += role[r].used[run];
    }
    for (size_t r = 0; r < row->parties; r++) {
        for (size_t j = 0; j < row->parties; j++)
            bytes += (double)(role[r].traffic.prepared[j] + role[r].traffic.online[j]);
    }
    const double middle = bench_median(time, BENCH_RUNS);
    (void)printf("{\"bench\": \"share\", \"protocol\": \"%s\", \"what\": \"%s\", ", row->name,
                 g->name);
    bench_number("millions", 1e-6 * numbers / middle);
    bench_number("millions_best", 1e-6 * numbers / time[0]);
    bench_number("ns_processor", 1e9 * bench_median(used, BENCH_RUNS) / numbers);
    bench_number("bytes", bytes / numbers / BENCH_RUNS);
    bench_number("numbers", (double)g->numbers);
    bench_number("calls", (double)calls);
    bench_end_line();
}

static void run_row(const dpi_share_row *row, board *b)
{
    pthread_barrierattr_t shared;
    processes_must(pthread_barrierattr_init(&shared) == 0 &&
                       pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) == 0 &&
                       pthread_barrier_init(&b->barrier, &shared, (unsigned)row->parties) == 0,
                   "no barrier between processes");
    processes_run(row, play, b);
    for (size_t k = 0; k < CASES; k++)
        if (asked(b, k)) {
            check(row, &gates[k], b->role[k]);
            write_line(row, &gates[k], b->role[k], b->calls);
        }
    (void)pthread_barrier_destroy(&b->barrier);
    (void)pthread_barrierattr_destroy(&shared);
}

int main(int argc, char **argv)
{
    const dpi_share_row *const rows[] = {&dpi_trio, &dpi_quad};
    const char *protocol = "", *what = "";
    uint64_t calls = 4;
    const bench_option list[] = {{.name = "--protocol", .text = &protocol},
                                 {.name = "--what", .text = &what},
                                 {.name = "--calls", .count = &calls}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (calls < 1)
        bench_stop("--calls", "is 1 or more");
    board *b = processes_shared(sizeof *b);
    b->calls = calls;
    b->what = what;
    for (size_t k = 0; k < 2; k++)
        if (protocol[0] == '\0' || strcmp(protocol, rows[k]->name) == 0)
            run_row(rows[k], b);
    return 0;
}
