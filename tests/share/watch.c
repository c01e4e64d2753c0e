#include "tests/share/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "share/kernels.h"

enum {
    MOST_GATES = 160,
    RESULT = 1000 /* share of what comes out, which the next gate has */,
    WORD = 64,
    RUN_WORDS = WATCH_N / WORD
};

/* An array that a role has when a gate begins. */
typedef struct held {
    dpi_ring ring;
    size_t share, part, n;
    void *bytes;
} held;

/* A gate as a role does it: in which ring, with what, and how much was drawn and sent before. */
typedef struct gate_seen {
    dpi_ring ring;
    bool splits; /* to_bits: the next gate's second operand is u */
    size_t drawn[QUIET_SETS], sent[DPI_SHARE_PARTIES];
    size_t n_held;
    held *held;
} gate_seen;

/* Of the run that goes on. */
static struct {
    const dpi_share_row *row; /* whose gates are done */
    quiet_run quiet;
    uint64_t number;
    size_t n[DPI_SHARE_PARTIES];
    gate_seen gate[DPI_SHARE_PARTIES][MOST_GATES];
} present;

/* ---- in the parties' threads ---- */

static gate_seen *begin_gate(const dpi_party *p, dpi_ring ring)
{
    scene_must(present.n[p->role] < MOST_GATES, "more gates than there is room for");
    gate_seen *g = &present.gate[p->role][present.n[p->role]++];
    *g = (gate_seen){.ring = ring};
    for (size_t set = 0; set < QUIET_SETS; set++)
        g->drawn[set] = present.quiet.n_draws[p->role][set];
    for (size_t to = 0; to < DPI_SHARE_PARTIES; to++)
        g->sent[to] = present.quiet.n_messages[p->role][to];
    return g;
}

static void hold(const dpi_party *p, gate_seen *g, size_t share, dpi_ring ring, const dpi_share *x)
{
    const size_t bytes = x->n * dpi_ring_bytes(ring);
    for (size_t k = 0; k < p->row->parts[p->role]; k++) {
        g->held = realloc(g->held, (g->n_held + 1) * sizeof *g->held);
        scene_must(g->held != NULL, "out of memory");
        held *h = &g->held[g->n_held++];
        *h = (held){.ring = ring, .share = share, .part = k, .n = x->n, .bytes = malloc(bytes)};
        scene_must(h->bytes != NULL, "out of memory");
        memcpy(h->bytes, x->part[k], bytes);
    }
}

static void multiply(dpi_party *p, dpi_ring ring, const dpi_share *x, const dpi_share *y,
                     dpi_share *z)
{
    gate_seen *g = begin_gate(p, ring);
    hold(p, g, 0, ring, x);
    hold(p, g, 1, ring, y);
    present.row->multiply(p, ring, x, y, z);
    hold(p, g, RESULT, ring, z);
}

static void to_bits(dpi_party *p, dpi_ring ring, const dpi_share *x, size_t n_planes,
                    const int *plane, dpi_share *m, dpi_share *u)
{
    gate_seen *g = begin_gate(p, DPI_RING_BITS);
    g->splits = true;
    hold(p, g, 0, ring, x);
    present.row->to_bits(p, ring, x, n_planes, plane, m, u);
}

static void halves(dpi_party *p, dpi_ring ring, const dpi_share *x, int shift, dpi_share *z)
{
    gate_seen *g = begin_gate(p, ring);
    hold(p, g, 0, ring, x);
    present.row->halves(p, ring, x, shift, z);
    hold(p, g, RESULT, ring, z);
}

static void from_bits(dpi_party *p, dpi_ring ring, size_t k, const dpi_share bit[],
                      const uint64_t coefficient[], dpi_share *z)
{
    gate_seen *g = begin_gate(p, ring);
    for (size_t j = 0; j < k; j++)
        hold(p, g, j, DPI_RING_BITS, &bit[j]);
    present.row->from_bits(p, ring, k, bit, coefficient, z);
    hold(p, g, RESULT, ring, z);
}

static void inject(dpi_party *p, dpi_ring ring, const dpi_share *bit, const dpi_share *x,
                   dpi_share *z)
{
    gate_seen *g = begin_gate(p, ring);
    hold(p, g, 0, DPI_RING_BITS, bit);
    hold(p, g, 1, ring, x);
    present.row->inject(p, ring, bit, x, z);
    hold(p, g, RESULT, ring, z);
}

dpi_share watch_give(dpi_party *p, dpi_ring ring, size_t n, int64_t v, uint64_t seed)
{
    int64_t *x = calloc(n, sizeof *x);
    scene_must(x != NULL, "out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = v;
    dpi_share share = scene_give(p, ring, n, x, seed << 32 | present.number);
    free(x);
    return share;
}

/* ---- columns ---- */

/* The next column of this run: of the first run it is made, in the others it is there. */
static watch_column *next_column(watch_view *v, const watch_column *like)
{
    if (present.number == 0) {
        v->column = realloc(v->column, (v->n + 1) * sizeof *v->column);
        assert_non_null(v->column);
        v->column[v->n] = calloc(1, sizeof **v->column);
        assert_non_null(v->column[v->n]);
        *v->column[v->n++] = *like;
    }
    assert_true(v->at < v->n);
    assert_true(v->column[v->at]->gate == like->gate && v->column[v->at]->bit == like->bit);
    return v->column[v->at++];
}

/* Arrays of WATCH_N elements, or of as many bits, one after the other. */
static void add_arrays(watch_view *v, watch_column like, dpi_ring ring, const void *bytes,
                       size_t n_bytes)
{
    const size_t bits = (size_t)dpi_ring_bits(ring), each = WATCH_N * bits / 8;
    uint64_t planes[WORD * RUN_WORDS];
    int all[WORD];
    for (int k = 0; k < WORD; k++)
        all[k] = k;
    assert_int_equal(n_bytes % each, 0);
    for (size_t a = 0; a < n_bytes / each; a++) {
        const unsigned char *at = (const unsigned char *)bytes + a * each;
        if (ring == DPI_RING_BITS)
            memcpy(planes, at, each);
        else
            dpi_planes_of(ring, WATCH_N, at, bits, all, planes);
        for (size_t k = 0; k < bits; k++) {
            like.array = a;
            like.bit = k;
            memcpy(next_column(v, &like)->word + present.number * RUN_WORDS, planes + k * RUN_WORDS,
                   sizeof(uint64_t) * RUN_WORDS);
        }
    }
}

static size_t end_of_draws(size_t role, size_t gate, size_t set)
{
    return gate + 1 < present.n[role] ? present.gate[role][gate + 1].drawn[set]
                                      : present.quiet.n_draws[role][set];
}

static size_t end_of_messages(size_t from, size_t gate, size_t to)
{
    return gate + 1 < present.n[from] ? present.gate[from][gate + 1].sent[to]
                                      : present.quiet.n_messages[from][to];
}

static void add_gate(watch_view *v, size_t role, size_t gate)
{
    const gate_seen *g = &present.gate[role][gate];
    for (size_t i = 0; i < g->n_held; i++) {
        const held *h = &g->held[i];
        const watch_column like = {.source = WATCH_HELD,
                                   .gate = gate + (h->share == RESULT),
                                   .share = h->share,
                                   .part = h->part,
                                   .of_masks = h->share == 1 && gate > 0 && g[-1].splits};
        add_arrays(v, like, h->ring, h->bytes, h->n * dpi_ring_bytes(h->ring));
    }
    for (size_t set = 0; set < QUIET_SETS; set++)
        for (size_t k = g->drawn[set]; k < end_of_draws(role, gate, set); k++) {
            const quiet_bytes *b = &present.quiet.draw[role][set][k];
            add_arrays(v, (watch_column){.source = WATCH_DRAWN, .gate = gate}, g->ring, b->bytes,
                       b->n);
        }
    for (size_t from = 0; from < present.row->parties; from++) {
        const gate_seen *of = &present.gate[from][gate];
        for (size_t k = of->sent[role]; from != role && k < end_of_messages(from, gate, role);
             k++) {
            const quiet_bytes *b = &present.quiet.message[from][role][k];
            add_arrays(v, (watch_column){.source = WATCH_TAKEN, .gate = gate}, g->ring, b->bytes,
                       b->n);
        }
    }
}

/* ---- runs ---- */

static void forget_gates(void)
{
    for (size_t role = 0; role < DPI_SHARE_PARTIES; role++) {
        for (size_t g = 0; g < present.n[role]; g++) {
            for (size_t i = 0; i < present.gate[role][g].n_held; i++)
                free(present.gate[role][g].held[i].bytes);
            free(present.gate[role][g].held);
        }
        present.n[role] = 0;
    }
}

/* Those of a set, as its first role draws them. */
static void list_draws_of(watch *w, dpi_roles set)
{
    const size_t role = (size_t)dpi_lowest_bit(set);
    for (size_t g = 0; g < present.n[role]; g++) {
        const gate_seen *of = &present.gate[role][g];
        const size_t each = WATCH_N * (size_t)dpi_ring_bits(of->ring) / 8;
        for (size_t k = of->drawn[set]; k < end_of_draws(role, g, set); k++)
            for (size_t at = 0; at < present.quiet.draw[role][set][k].n; at += each) {
                w->draw = realloc(w->draw, (w->n_draws + 1) * sizeof *w->draw);
                assert_non_null(w->draw);
                w->draw[w->n_draws++] = (quiet_draw){set, k, at, at + each};
            }
    }
}

static void list_draws(watch *w)
{
    for (size_t k = 0; k < w->row->n_sets; k++)
        list_draws_of(w, w->row->sets[k]);
}

void watch_run(watch *w)
{
    dpi_share_row row = *w->row;
    row.multiply = multiply;
    row.to_bits = to_bits;
    row.halves = halves;
    row.from_bits = from_bits;
    row.inject = inject;
    present.row = w->row;
    for (present.number = 0; present.number < WATCH_RUNS; present.number++) {
        present.quiet =
            (quiet_run){.row = &row, .body = w->body, .user = w->user, .seed = present.number + 1};
        memcpy(&present.quiet.without, &w->without, sizeof w->without);
        quiet_play(&present.quiet);
        for (size_t role = 0; role < row.parties; role++) {
            w->view[role].at = 0;
            for (size_t g = 0; g < present.n[role]; g++)
                add_gate(&w->view[role], role, g);
            assert_int_equal(w->view[role].at, w->view[role].n);
        }
        if (present.number == 0)
            list_draws(w);
        forget_gates();
        quiet_forget(&present.quiet);
    }
}

void watch_forget(watch *w)
{
    for (size_t role = 0; role < DPI_SHARE_PARTIES; role++) {
        for (size_t i = 0; i < w->view[role].n; i++)
            free(w->view[role].column[i]);
        free(w->view[role].column);
        w->view[role] = (watch_view){0};
    }
    free(w->draw);
    w->draw = NULL;
    w->n_draws = 0;
}
