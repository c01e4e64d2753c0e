/* A layer cut for threads that share nothing, each with all inputs or with its own window of them.
 *   make bench/serve-partition && bench/serve-partition [--program NAME] [--most N]
 * Outputs are split evenly, in their order (rows of an image stay together).  One JSON line for
 * each linear layer under Paillier's scheme with keys of 2048 bits and number of threads: inputs
 * that a thread takes at most, their bytes, and milliseconds of processor time of the slowest
 * thread, with whole inputs and with windows.  Each thread's part is computed for itself, one
 * after the other, so the figures are those of as many cores. A dense layer's outputs need all
 * inputs: it has no windows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "crypto/dense.h"
#include "loopback.h"
#include "options.h"

enum { KEY_BITS = 2048, LIMBS = KEY_BITS / 32, BYTES = KEY_BITS / 4 };

typedef struct cut_layer {
    dpi_serve_map map;
    unsigned weight_bits;
    dpi_paillier_public *key;
    mp_limb_t *c; /* all inputs */
} cut_layer;

/* A thread's part of a layer: outputs first ... last - 1. */
typedef struct cut_part {
    size_t first, last, inputs;
    size_t *begin;
    uint32_t *input, *weight;
    mp_limb_t *c;
} cut_part;

static void *room_of(size_t n, size_t size)
{
    void *made = calloc(n > 0 ? n : 1, size);
    if (made == NULL)
        exit(1);
    return made;
}

static uint32_t input_at(const cut_layer *l, size_t output, size_t term)
{
    return l->map.begin == NULL ? (uint32_t)term : l->map.input[l->map.begin[output] + term];
}

static size_t terms_of(const cut_layer *l, size_t output)
{
    return l->map.begin == NULL ? l->map.inputs : l->map.begin[output + 1] - l->map.begin[output];
}

/* Numbers the part's inputs anew, those alone that it needs, or all as they are. */
static cut_part cut(const cut_layer *l, size_t first, size_t last, bool windows)
{
    cut_part p = {.first = first, .last = last};
    size_t terms = 0, at = 0;
    uint32_t *place = room_of(l->map.inputs, sizeof *place);
    for (size_t o = first; o < last; o++)
        terms += terms_of(l, o);
    p.begin = room_of(last - first + 1, sizeof *p.begin);
    p.input = room_of(terms, sizeof *p.input);
    p.weight = room_of(terms, sizeof *p.weight);
    p.c = room_of(l->map.inputs, BYTES);
    for (size_t o = first; o < last; o++) {
        for (size_t t = 0; t < terms_of(l, o); t++, at++) {
            uint32_t i = input_at(l, o, t);
            if (place[i] == 0) {
                place[i] = (uint32_t)++p.inputs;
                memcpy(p.c + (p.inputs - 1) * LIMBS, l->c + (size_t)i * LIMBS, BYTES);
            }
            p.input[at] = windows ? place[i] - 1 : i;
            p.weight[at] = l->map.begin == NULL ? (uint32_t)(o * l->map.inputs + t)
                                                : l->map.weight[l->map.begin[o] + t];
        }
        p.begin[o - first + 1] = at;
    }
    if (!windows) {
        p.inputs = l->map.inputs;
        memcpy(p.c, l->c, l->map.inputs * BYTES);
    }
    free(place);
    return p;
}

/* Processor seconds of a part: inputs are taken and outputs computed, by one thread. */
static double compute(const cut_layer *l, const cut_part *p)
{
    dp_error err = {0};
    dpi_dense *dense;
    dpi_dense_inputs *inputs;
    const dpi_dense_layer layer = {.inputs = p->inputs,
                                   .outputs = p->last - p->first,
                                   .n_weights = l->map.n_weights,
                                   .weights = l->map.weights,
                                   .begin = p->begin,
                                   .input = p->input,
                                   .weight = p->weight,
                                   .bias = l->map.bias + p->first,
                                   .weight_bits = l->weight_bits};
    mp_limb_t *out = room_of(layer.outputs, BYTES);
    loopback_must(dpi_dense_new(&layer, DPI_DENSE_BEST, 0, &dense, &err), &err);
    double start = bench_processor();
    loopback_must(dpi_dense_take(dense, l->key, p->c, &inputs, &err), &err);
    loopback_must(dpi_dense_outputs(dense, inputs, NULL, 0, layer.outputs, out, &err), &err);
    double took = bench_processor() - start;
    dpi_dense_inputs_free(inputs);
    dpi_dense_free(dense);
    free(out);
    return took;
}

typedef struct cut_result {
    size_t inputs; /* most of a thread */
    double slowest;
} cut_result;

static cut_result measure(const cut_layer *l, size_t threads, bool windows)
{
    cut_result r = {0};
    for (size_t k = 0; k < threads; k++) {
        size_t first = l->map.outputs * k / threads, last = l->map.outputs * (k + 1) / threads;
        cut_part p = cut(l, first, last, windows);
        double took = compute(l, &p);
        r.inputs = p.inputs > r.inputs ? p.inputs : r.inputs;
        r.slowest = took > r.slowest ? took : r.slowest;
        free(p.begin);
        free(p.input);
        free(p.weight);
        free(p.c);
    }
    return r;
}

static void tell(const char *name, size_t layer, const cut_layer *l, size_t threads)
{
    cut_result whole = measure(l, threads, false), windows = measure(l, threads, true);
    (void)printf("{\"program\": \"%s\", \"layer\": %zu, \"convolution\": %s, ", name, layer + 1,
                 l->map.begin != NULL ? "true" : "false");
    bench_number("threads", (double)threads);
    bench_number("inputs", (double)whole.inputs);
    bench_number("inputs_of_window", (double)windows.inputs);
    bench_number("bytes", (double)(whole.inputs * BYTES));
    bench_number("bytes_of_window", (double)(windows.inputs * BYTES));
    bench_number("ms", 1e3 * whole.slowest);
    bench_number("ms_of_window", 1e3 * windows.slowest);
    bench_number("change_percent", 100 * (windows.slowest / whole.slowest - 1));
    bench_end_line();
    (void)fflush(stdout);
}

static void measure_layers(const loopback_kind *kind, const dpi_paillier_key *key,
                           dpi_paillier_public *public, size_t most)
{
    static const size_t threads[] = {1, 2, 4, 8, 16, 25, 50};
    dp_error err = {0};
    dpi_serve_plan plan;
    dp_program *p = loopback_build(kind, NULL);
    loopback_must(dpi_serve_plan_make(p, dpi_serve_mode_of(kind->mode), &plan, &err), &err);
    for (size_t k = 0; k < plan.n_layers; k++) {
        const dp_stage *s = dp_program_stage(p, plan.layer[k].stage);
        cut_layer l = {.weight_bits = (unsigned)s->weight_bits, .key = public};
        loopback_must(dpi_serve_map_make(p, plan.layer[k].stage, &l.map, &err), &err);
        int64_t *values = room_of(l.map.inputs, sizeof *values);
        l.c = room_of(l.map.inputs, BYTES);
        for (size_t i = 0; i < l.map.inputs; i++)
            values[i] = (int64_t)(i * 37 % 251);
        loopback_must(dpi_paillier_encrypt(key, l.map.inputs, values, l.c, &err), &err);
        for (size_t t = 0; t < sizeof threads / sizeof *threads && threads[t] <= most; t++)
            if (l.map.outputs >= threads[t] && (l.map.begin != NULL || t == 0))
                tell(kind->name, k, &l, threads[t]);
        dpi_serve_map_free(&l.map);
        free(values);
        free(l.c);
    }
    dp_program_free(p);
}

int main(int argc, char **argv)
{
    uint64_t most = 50;
    const char *program = "";
    const bench_option list[] = {{.name = "--program", .text = &program},
                                 {.name = "--most", .count = &most}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    dp_error err = {0};
    size_t limbs;
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    const dpi_paillier_options options = {.bits = KEY_BITS};
    loopback_must(dpi_paillier_generate(&options, &key, &err), &err);
    const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
    loopback_must(dpi_paillier_public_new(&options, limbs, n, &public, &err), &err);
    for (const loopback_kind *k = loopback_kinds; k->name != NULL; k++)
        if (k->mode == DP_SERVE_PERMUTE && loopback_takes(k, program, false))
            measure_layers(k, key, public, most);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
    return 0;
}
