/* Time of CKKS' operations, one thread.
 *   make bench/ckks && bench/ckks [LOG_N DEPTH ALPHA SPECIAL SCALE_BITS]
 *   bench/ckks boot LOG_N USABLE SCALE_BITS STAGES    bootstrapping, in one round and in two, RUNS
 *                                                     times each; 2^15 and less: a toy
 *   bench/ckks threads LOG_N DEPTH ALPHA SPECIAL SCALE_BITS THREADS    by the clock, one and several
 * JSON lines, milliseconds of processor, the least of RUNS (11): at the top level of the context,
 * of which the first line says what it is; without arguments the contexts of doc/design/ckks.md. */
#define _XOPEN_SOURCE 700
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bench.h"
#include "fhe/boot.h"
#include "fhe/ckks.h"

enum { RUNS = 11 };

typedef struct scene {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_ckks_public *public;
    dpi_ckks_switch *square, *turn[8];
    dpi_ckks_plain plain;
    dpi_ckks_cipher x, y, to[8];
    dpi_rlwe_stream random;
    double *re;
} scene;

static void must(dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "ckks: %s\n", err->text);
    exit(1);
}

typedef void operation(scene *s);

static void encode(scene *s)
{
    dp_error err = {0};
    must(dpi_ckks_encode(s->c, dpi_ckks_depth(s->c), 0, dpi_ckks_n(s->c) / 2, s->re, NULL, s->room,
                         &s->plain, &err),
         &err);
}

static void encrypt(scene *s)
{
    dpi_ckks_encrypt(s->secret, &s->plain, &s->random, s->room, &s->x);
}

static void encrypt_public(scene *s)
{
    dpi_ckks_encrypt_public(s->public, &s->plain, &s->random, s->room, &s->y);
}

static void decrypt(scene *s)
{
    static double re[1 << 15];
    dpi_ckks_decrypt(s->secret, &s->x, &s->plain);
    dpi_ckks_decode(s->c, &s->plain, dpi_ckks_n(s->c) / 2, s->room, re, NULL);
}

static void add(scene *s)
{
    dpi_ckks_add(s->c, &s->x, &s->y, &s->to[0]);
}

static void multiply_plain(scene *s)
{
    dpi_ckks_multiply_plain(s->c, &s->x, &s->plain, &s->to[0]);
}

static void multiply(scene *s)
{
    dpi_ckks_multiply(s->c, &s->x, &s->y, s->square, s->room, &s->to[0]);
}

static void rotate(scene *s)
{
    dpi_ckks_rotate(s->c, &s->x, s->turn[0], s->room, &s->to[0]);
}

static void rotate_eight(scene *s)
{
    const dpi_ckks_switch *k[8];
    dpi_ckks_cipher *to[8];
    for (int i = 0; i < 8; i++) {
        k[i] = s->turn[i];
        to[i] = &s->to[i];
    }
    dpi_ckks_rotate_all(s->c, &s->x, 8, k, s->room, to);
}

/* Of a product, which is as quick to make as to copy. */
static void rescale(scene *s)
{
    s->to[1].level = dpi_ckks_depth(s->c);
    s->to[1].scale = pow(dpi_ckks_scale(s->c, s->to[1].level), 2);
    dpi_ckks_rescale(s->c, s->room, &s->to[1]);
}

static double least_of(scene *s, operation *f)
{
    double least = 0;
    for (int r = 0; r < RUNS; r++) {
        const double from = bench_processor();
        f(s);
        const double took = bench_processor() - from;
        least = r == 0 || took < least ? took : least;
    }
    return 1000 * least;
}

static void begin(scene *s, const dpi_ckks_spec *spec)
{
    const unsigned char seed[DPI_RLWE_SEED] = {1};
    dp_error err = {0};
    dpi_rlwe_start(&s->random, seed, "bench");
    must(dpi_ckks_new(spec, &s->c, &err), &err);
    must(dpi_ckks_room_new(s->c, &s->room, &err), &err);
    must(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), &err);
    must(dpi_ckks_public_new(s->secret, &s->random, &s->public, &err), &err);
    must(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err), &err);
    must(dpi_ckks_plain_new(s->c, spec->depth, &s->plain, &err), &err);
    must(dpi_ckks_cipher_new(s->c, spec->depth, &s->x, &err), &err);
    must(dpi_ckks_cipher_new(s->c, spec->depth, &s->y, &err), &err);
    for (int i = 0; i < 8; i++) {
        must(dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, i + 1), &s->random, &s->turn[i],
                                 &err),
             &err);
        must(dpi_ckks_cipher_new(s->c, spec->depth, &s->to[i], &err), &err);
    }
    s->re = calloc(dpi_ckks_n(s->c), sizeof *s->re);
    if (s->re == NULL)
        abort();
    for (size_t k = 0; k < dpi_ckks_n(s->c) / 2; k++)
        s->re[k] = (double)(k % 17) / 17;
}

static void end(scene *s)
{
    for (int i = 0; i < 8; i++) {
        dpi_ckks_switch_free(s->turn[i]);
        dpi_ckks_cipher_free(&s->to[i]);
    }
    dpi_ckks_plain_free(&s->plain);
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_switch_free(s->square);
    dpi_ckks_public_free(s->public);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
    free(s->re);
}

static void measure(const dpi_ckks_spec *spec)
{
    static const struct {
        const char *name;
        operation *f;
    } all[] = {{"encode", encode},     {"encrypt", encrypt}, {"encrypt_public", encrypt_public},
               {"decrypt", decrypt},   {"add", add},         {"multiply_plain", multiply_plain},
               {"multiply", multiply}, {"rotate", rotate},   {"rotate_eight", rotate_eight},
               {"rescale", rescale}};
    static scene s;
    begin(&s, spec);
    (void)printf(
        "{\"bench\": \"ckks\", \"log_n\": %d, \"primes\": %zu, \"special\": %zu, \"alpha\": %zu, "
        "\"kernel\": \"%s\", ",
        spec->log_n, spec->depth + 1, spec->special, spec->alpha, dpi_ntt_best()->name);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        bench_number(all[k].name, least_of(&s, all[k].f));
    bench_end_line();
    end(&s);
}

/* ---- threads ---- */

static void multiply_rescale(scene *s)
{
    multiply(s);
    dpi_ckks_rescale(s->c, s->room, &s->to[0]);
}

/* By the clock, turn about: what else the machine does takes from both. */
static void measure_threads(const dpi_ckks_spec *spec, size_t threads)
{
    static const struct {
        const char *name[2];
        operation *f;
    } all[] = {{{"rotate_one", "rotate"}, rotate},
               {{"rotate_eight_one", "rotate_eight"}, rotate_eight},
               {{"multiply_rescale_one", "multiply_rescale"}, multiply_rescale}};
    static scene s;
    dpi_pool *pool;
    dp_error err = {0};
    begin(&s, spec);
    encode(&s);
    encrypt(&s);
    encrypt_public(&s);
    must(dpi_pool_new(threads, &pool, &err), &err);
    (void)printf("{\"bench\": \"ckks-threads\", \"log_n\": %d, \"primes\": %zu, \"special\": %zu, "
                 "\"alpha\": %zu, \"kernel\": \"%s\", \"threads\": %zu, ",
                 spec->log_n, spec->depth + 1, spec->special, spec->alpha, dpi_ntt_best()->name,
                 threads);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        double least[2] = {HUGE_VAL, HUGE_VAL};
        for (int r = 0; r < 2 * RUNS; r++) {
            must(dpi_ckks_room_share(s.room, r % 2 ? pool : NULL, threads, &err), &err);
            const double from = bench_now();
            all[k].f(&s);
            least[r % 2] = fmin(least[r % 2], bench_now() - from);
        }
        for (int several = 0; several < 2; several++)
            bench_number(all[k].name[several], 1000 * least[several]);
    }
    bench_end_line();
    end(&s);
    dpi_pool_free(pool);
}

/* ---- bootstrapping ---- */

typedef struct lift {
    scene s;
    dpi_ckks_boot *boot;
    dpi_ckks_boot_keys *keys;
} lift;

static double begin_boot(lift *l, const dpi_ckks_boot_spec *spec)
{
    const unsigned char seed[DPI_RLWE_SEED] = {2};
    const size_t top = spec->below.depth + spec->above.squares + spec->above.plains;
    scene *s = &l->s;
    dp_error err = {0};
    dpi_rlwe_start(&s->random, seed, "bench");
    must(dpi_ckks_new_above(&spec->below, &spec->above, &s->c, &err), &err);
    must(dpi_ckks_room_new(s->c, &s->room, &err), &err);
    must(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), &err);
    must(dpi_ckks_boot_new(s->c, 1, s->room, &l->boot, &err), &err);
    const double from = bench_processor();
    must(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err), &err);
    must(dpi_ckks_boot_keys_new(l->boot, s->secret, &s->random, &l->keys, &err), &err);
    const double keys = bench_processor() - from;
    must(dpi_ckks_plain_new(s->c, spec->below.depth, &s->plain, &err), &err);
    must(dpi_ckks_cipher_new(s->c, top, &s->x, &err), &err);
    must(dpi_ckks_cipher_new(s->c, top, &s->y, &err), &err);
    s->re = calloc(dpi_ckks_n(s->c) / 2, sizeof *s->re);
    if (s->re == NULL)
        abort();
    for (size_t k = 0; k < dpi_ckks_n(s->c) / 2; k++)
        s->re[k] = 1 - (double)(k % 33) / 16;
    return keys;
}

/* The largest error of what was bootstrapped. */
static double error_of(lift *l)
{
    static double re[1 << 15];
    scene *s = &l->s;
    double most = 0;
    dpi_ckks_decrypt(s->secret, &s->y, &s->plain);
    dpi_ckks_decode(s->c, &s->plain, dpi_ckks_n(s->c) / 2, s->room, re, NULL);
    for (size_t k = 0; k < dpi_ckks_n(s->c) / 2; k++)
        most = fmax(most, fabs(re[k] - s->re[k]));
    return most;
}

typedef dp_status rounds(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                         const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                         dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err);

static double least_boot(lift *l, rounds *apply)
{
    scene *s = &l->s;
    dp_error err = {0};
    double least = 0;
    for (int r = 0; r < RUNS; r++) {
        const double from = bench_processor();
        must(apply(l->boot, l->keys, &s->x, s->square, s->room, &s->y, &err), &err);
        const double took = bench_processor() - from;
        least = r == 0 || took < least ? took : least;
    }
    return least;
}

static void measure_boot(const dpi_ckks_boot_spec *spec, size_t stages)
{
    static rounds *const apply[] = {dpi_ckks_boot_apply, dpi_ckks_boot_apply_twice};
    static lift l;
    scene *s = &l.s;
    dp_error err = {0};
    const double keys = begin_boot(&l, spec);
    must(dpi_ckks_encode(s->c, stages, 0, dpi_ckks_n(s->c) / 2, s->re, NULL, s->room, &s->plain,
                         &err),
         &err);
    dpi_ckks_encrypt(s->secret, &s->plain, &s->random, s->room, &s->x);
    for (size_t k = 0; k < sizeof apply / sizeof *apply; k++) {
        const double least = least_boot(&l, apply[k]);
        (void)printf("{\"bench\": \"ckks-boot\", \"log_n\": %d, \"toy\": %s, \"usable\": %zu, "
                     "\"stages\": %zu, \"special\": %zu, \"kernel\": \"%s\", \"rounds\": %zu, ",
                     spec->below.log_n, spec->below.toy ? "true" : "false",
                     spec->below.depth - stages, stages, spec->below.special, dpi_ntt_best()->name,
                     k + 1);
        bench_number("log_qp", dpi_ckks_bits(s->c));
        bench_number("keys_seconds", keys);
        bench_number("keys_megabytes", (double)dpi_ckks_boot_keys_memory(l.keys) / 1e6);
        bench_number("seconds", least);
        bench_number("bits", -log2(error_of(&l)));
        bench_end_line();
    }
    exit(0); /* what is left goes with the process */
}

static void boot(char **argv)
{
    dpi_ckks_boot_spec spec;
    dp_error err = {0};
    const int log_n = atoi(argv[0]);
    const size_t stages = strtoul(argv[3], NULL, 10);
    must(dpi_ckks_boot_choose(log_n, strtoul(argv[1], NULL, 10), atoi(argv[2]), stages, log_n < 16,
                              &spec, &err),
         &err);
    measure_boot(&spec, stages);
}

static dpi_ckks_spec spec_of(char **argv)
{
    return (dpi_ckks_spec){.log_n = atoi(argv[0]),
                           .first_bits = 49,
                           .scale_bits = atoi(argv[4]),
                           .depth = strtoul(argv[1], NULL, 10),
                           .special = strtoul(argv[3], NULL, 10),
                           .alpha = strtoul(argv[2], NULL, 10),
                           .toy = true};
}

int main(int argc, char **argv)
{
    static const dpi_ckks_spec usual[] = {{13, 49, 33, 3, 1, 1, false},
                                          {14, 49, 40, 8, 1, 1, false},
                                          {15, 49, 40, 16, 3, 3, false},
                                          {16, 49, 40, 28, 10, 10, false}};
    if (argc == 6 && strcmp(argv[1], "boot") == 0)
        boot(argv + 2);
    if (argc == 8 && strcmp(argv[1], "threads") == 0) {
        const dpi_ckks_spec one = spec_of(argv + 2);
        measure_threads(&one, strtoul(argv[7], NULL, 10));
        return 0;
    }
    if (argc == 6) {
        const dpi_ckks_spec one = spec_of(argv + 1);
        measure(&one);
        return 0;
    }
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        measure(&usual[k]);
    return 0;
}
