/* Paillier's scheme and linear layers over its ciphertexts: one JSON line a kernel, microseconds,
 * by each back end that this machine has and, for comparison, by GMP's mpz_powm as the scheme is
 * defined.
 *   make bench/paillier && bench/paillier [BITS ...]
 * Encryption and decryption are a number of a batch of 64, layers a weight of 784 x 32, or of
 * 784 x 1 with all that comes before and after.  Times are of the processor, so that a loaded
 * machine disturbs them less; all kernels have one thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "crypto/narrow.h"

enum { BATCH = 64, READY = 128, INPUTS = 784, OUTPUTS = 32, LIMBS = DPI_LIMBS_MOST };

typedef struct task {
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    dpi_zeros *zeros;
    dpi_dense *dense;
    dpi_dense_inputs *inputs;
    dpi_narrow_desk *desk;
    const dpi_montgomery *m;
    uint64_t *eights;
    int64_t *x;
    mp_limb_t *c, *out, *step;
    size_t batch;
    mpz_t n, square, base, result;
    const int32_t *weights;
} task;

static void must(dp_status status)
{
    if (status != DP_OK) {
        (void)fprintf(stderr, "bench/paillier: %s\n", dp_status_text(status));
        exit(1);
    }
}

static double time_calls(size_t calls, void (*call)(void *of), void *of)
{
    double began = bench_processor();
    for (size_t i = 0; i < calls; i++)
        call(of);
    return bench_processor() - began;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bench_times measure(void (*call)(void *of), void *of)
{
    double time[BENCH_RUNS];
    size_t calls = 1;
    while (time_calls(calls, call, of) < 2e-3)
        calls *= 2;
    for (int r = 0; r < BENCH_RUNS; r++)
        time[r] = time_calls(calls, call, of) / (double)calls;
    qsort(time, BENCH_RUNS, sizeof *time, by_size);
    return (bench_times){time[BENCH_RUNS / 2], time[0], time[BENCH_RUNS - 1]};
}

static void multiply(void *of)
{
    const task *t = of;
    dpi_montgomery_multiply(t->m, DPI_LANES, t->eights, t->eights + dpi_montgomery_eight(t->m),
                            t->eights);
}

static void encrypt(void *of)
{
    const task *t = of;
    must(dpi_paillier_encrypt(t->key, t->batch, t->x, t->c, NULL));
}

static void decrypt(void *of)
{
    const task *t = of;
    must(dpi_paillier_decrypt(t->key, t->batch, t->c, INT64_MAX, t->x, NULL));
}

static void make_zeros(void *of)
{
    const task *t = of;
    must(dpi_paillier_encrypt_public(t->public, t->batch, NULL, t->out, NULL));
}

static void make_whole_zeros(void *of)
{
    const task *t = of;
    must(dpi_paillier_whole_zeros(t->public, t->batch, t->out, NULL));
}

/* What is left of an encryption when its zero and step were made ahead. */
static void add_steps(void *of)
{
    const task *t = of;
    dpi_paillier_add_steps(t->public, t->batch, t->x, t->step, t->out);
}

static void check_inputs(void *of)
{
    const task *t = of;
    must(dpi_paillier_check(t->public, INPUTS, t->c, NULL));
}

static void take_inputs(void *of)
{
    task *t = of;
    dpi_dense_inputs_free(t->inputs);
    must(dpi_dense_take(t->dense, t->public, t->c, &t->inputs, NULL));
}

static void evaluate(void *of)
{
    task *t = of;
    must(dpi_dense_outputs(t->dense, t->inputs, t->zeros, 0, OUTPUTS, t->out, NULL));
}

/* c^n, as in decryption and in r^n of the definition. */
static void power_plainly(void *of)
{
    task *t = of;
    mpz_powm(t->result, t->base, t->n, t->square);
}

static void weigh_plainly(void *of)
{
    task *t = of;
    mpz_t weight;
    mpz_init(weight);
    for (int i = 0; i < INPUTS; i++) {
        mpz_set_si(weight, t->weights[i]);
        mpz_powm(t->result, t->base, weight, t->square);
    }
    mpz_clear(weight);
}

static void print(const char *kernel, const char *backend, size_t bits, unsigned weight_bits,
                  double count, bench_times times)
{
    printf("{\"kernel\": \"paillier/%s\", \"backend\": \"%s\", \"bits\": %zu, ", kernel, backend,
           bits);
    if (weight_bits != 0)
        printf("\"weight_bits\": %u, ", weight_bits);
    printf("\"us_per_op\": %.4g, \"low\": %.4g, \"high\": %.4g, \"ops_per_second\": %.4g, ",
           1e6 * times.median / count, 1e6 * times.low / count, 1e6 * times.high / count,
           count / times.median);
    bench_end_line();
}

static void measure_layer(task *t, const char *name, size_t bits, unsigned weight_bits)
{
    int32_t *weights = calloc((size_t)INPUTS * OUTPUTS, sizeof *weights);
    uint64_t state = 1;
    for (size_t w = 0; weights != NULL && w < (size_t)INPUTS * OUTPUTS; w++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        weights[w] = (int32_t)((int64_t)state >> (63 - weight_bits)) | 1;
    }
    dpi_dense_layer layer = {.inputs = INPUTS,
                             .outputs = OUTPUTS,
                             .n_weights = (size_t)INPUTS * OUTPUTS,
                             .weights = weights,
                             .weight_bits = weight_bits};
    must(weights == NULL ? DP_ENOMEM : dpi_dense_new(&layer, DPI_DENSE_BEST, 0, &t->dense, NULL));
    t->weights = weights;
    if (name == NULL) {
        print("layer", "plain", bits, weight_bits, INPUTS, measure(weigh_plainly, t));
    } else {
        must(dpi_dense_take(t->dense, t->public, t->c, &t->inputs, NULL));
        print("layer", name, bits, weight_bits, INPUTS * OUTPUTS, measure(evaluate, t));
        print("inputs", name, bits, 0, INPUTS, measure(take_inputs, t));
        dpi_dense_inputs_free(t->inputs);
    }
    t->inputs = NULL;
    dpi_dense_free(t->dense);
    free(weights);
}

static void answer_one(void *of)
{
    const task *t = of;
    must(dpi_narrow_take(t->desk, 0, INPUTS, t->c, NULL));
    must(dpi_narrow_multiply(t->desk, 0, dpi_narrow_groups(t->desk), NULL));
    must(dpi_narrow_finish(t->desk, t->zeros, t->out, NULL));
}

static void measure_narrow(task *t, const char *name, size_t bits)
{
    static int32_t weights[INPUTS];
    for (int i = 0; i < INPUTS; i++)
        weights[i] = (i * 2741 % 8191) - 4095;
    const dpi_dense_layer layer = {
        .inputs = INPUTS, .outputs = 1, .n_weights = INPUTS, .weights = weights, .weight_bits = 12};
    dpi_narrow *narrow;
    must(dpi_narrow_new(&layer, 0, &narrow, NULL));
    must(dpi_narrow_desk_new(narrow, t->public, 1, &t->desk, NULL));
    must(dpi_zeros_fill(t->zeros, READY, NULL, NULL));
    print("one-output", name, bits, 12, INPUTS, measure(answer_one, t));
    dpi_narrow_desk_free(t->desk);
    dpi_narrow_free(narrow);
}

static void measure_all(task *t, const char *name, size_t bits)
{
    must(dpi_paillier_encrypt(t->key, INPUTS, t->x, t->c, NULL));
    t->batch = BATCH;
    print("multiply", name, bits, 0, DPI_LANES, measure(multiply, t));
    print("encrypt", name, bits, 0, BATCH, measure(encrypt, t));
    print("decrypt", name, bits, 0, BATCH, measure(decrypt, t));
    print("zeros", name, bits, 0, BATCH, measure(make_zeros, t));
    print("whole zeros", name, bits, 0, BATCH, measure(make_whole_zeros, t));
    dpi_paillier_make_steps(t->public, BATCH, t->out, t->step);
    print("encrypt-ahead", name, bits, 0, BATCH, measure(add_steps, t));
    print("check", name, bits, 0, INPUTS, measure(check_inputs, t));
    t->batch = 1;
    print("encrypt-one", name, bits, 0, 1, measure(encrypt, t));
    print("decrypt-one", name, bits, 0, 1, measure(decrypt, t));
    measure_layer(t, name, bits, 12);
    measure_layer(t, name, bits, 17);
    measure_narrow(t, name, bits);
}

static void measure_plainly(task *t, size_t bits)
{
    size_t limbs;
    const mp_limb_t *n = dpi_paillier_modulus(t->key, &limbs);
    mpz_inits(t->n, t->square, t->base, t->result, NULL);
    mpz_import(t->n, limbs, -1, sizeof *n, 0, 0, n);
    mpz_mul(t->square, t->n, t->n);
    mpz_import(t->base, 2 * limbs, -1, sizeof *n, 0, 0, t->c);
    print("power", "plain", bits, 0, 1, measure(power_plainly, t));
    measure_layer(t, NULL, bits, 12);
    measure_layer(t, NULL, bits, 17);
    mpz_clears(t->n, t->square, t->base, t->result, NULL);
}

static void measure_backend(const dpi_montgomery_backend *backend, size_t bits, bool plainly)
{
    dpi_paillier_options options = {.bits = bits, .backend = backend};
    unsigned char bytes[9 * LIMBS * 8];
    static int64_t x[INPUTS];
    task t = {.x = x};
    double began = bench_processor();
    must(dpi_paillier_generate(&options, &t.key, NULL));
    double generated = bench_processor() - began;
    dpi_paillier_write_public(t.key, bytes);
    began = bench_processor();
    must(dpi_paillier_read_public(&options, dpi_paillier_public_bytes(bits), bytes, &t.public,
                                  NULL));
    double read = bench_processor() - began;
    print("generate", backend->name, bits, 0, 1, (bench_times){generated, generated, generated});
    print("read", backend->name, bits, 0, 1, (bench_times){read, read, read});
    must(dpi_zeros_new(t.public, DPI_ZEROS_SHORT, READY, &t.zeros, NULL));
    t.m = dpi_paillier_public_ring(t.public);
    t.eights = dpi_montgomery_alloc(t.m, 2);
    t.c = calloc(INPUTS, LIMBS * sizeof *t.c);
    t.out = calloc(BATCH, LIMBS * sizeof *t.out);
    t.step = calloc(BATCH, LIMBS * sizeof *t.step);
    must(t.eights == NULL || t.c == NULL || t.out == NULL || t.step == NULL ? DP_ENOMEM : DP_OK);
    memcpy(t.eights, t.m->square, dpi_montgomery_eight(t.m) * sizeof *t.eights);
    memcpy(t.eights + dpi_montgomery_eight(t.m), t.m->square,
           dpi_montgomery_eight(t.m) * sizeof *t.eights);
    measure_all(&t, backend->name, bits);
    if (plainly)
        measure_plainly(&t, bits);
    dpi_montgomery_release(t.m, t.eights);
    free(t.c);
    free(t.out);
    free(t.step);
    dpi_zeros_free(t.zeros);
    dpi_paillier_public_free(t.public);
    dpi_paillier_free(t.key);
}

int main(int argc, char **argv)
{
    static const char *usual[] = {"", "2048", "3072"};
    const char *const *sizes = argc > 1 ? (const char *const *)argv : usual;
    int n = argc > 1 ? argc : 3;
    for (int i = 1; i < n; i++) {
        size_t bits = strtoull(sizes[i], NULL, 10);
        measure_backend(&dpi_montgomery_gmp, bits, true);
        if (dpi_montgomery_ifma.usable())
            measure_backend(&dpi_montgomery_ifma, bits, false);
    }
    return 0;
}
