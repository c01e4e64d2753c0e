/* Speed of lattice encryption: transforms, and layers of fitted networks with weights and inputs
 * of 17 bits (of 13 and 16 where they are written for each query), under the parameters of least
 * work and under those with 40 bits of circuit privacy.
 *   make bench/lattice && bench/lattice
 * One JSON line each: microseconds of processor time on one thread, median and least of 11 runs
 * ("low" is what a quiet machine gives), and bytes of both directions. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "crypto/lattice.h"
#include "crypto/ntt.h"

typedef struct transform {
    const dpi_ntt *t;
    uint64_t *a;
} transform;

static void forward(void *of)
{
    const transform *x = of;
    dpi_ntt_forward(x->t, x->a);
}

static void inverse(void *of)
{
    const transform *x = of;
    dpi_ntt_inverse(x->t, x->a);
}

static void multiply(void *of)
{
    const transform *x = of;
    x->t->kernel->multiply_add(x->t, x->a, x->a, x->a);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_calls(size_t calls, void (*call)(void *of), void *of)
{
    const double start = bench_processor();
    for (size_t i = 0; i < calls; i++)
        call(of);
    return bench_processor() - start;
}

/* As bench_measure, in processor time, which says more on a machine that others use too. */
static bench_times measure_processor(void (*call)(void *of), void *of)
{
    double time[BENCH_RUNS];
    size_t calls = 1;
    while (time_calls(calls, call, of) < 0.005)
        calls *= 2;
    for (int r = 0; r < BENCH_RUNS; r++)
        time[r] = time_calls(calls, call, of) / (double)calls;
    qsort(time, BENCH_RUNS, sizeof *time, ascending);
    return (bench_times){time[BENCH_RUNS / 2], time[0], time[BENCH_RUNS - 1]};
}

static void times(const char *name, bench_times t)
{
    printf("\"%s_us\": %.2f, \"%s_low\": %.2f, ", name, 1e6 * t.median, name, 1e6 * t.low);
}

static void transforms(const dpi_ntt_kernel *kernel, size_t n)
{
    static uint64_t a[1 << 16];
    dpi_ntt *t;
    if (!kernel->runs_here() ||
        dpi_ntt_new(n, dpi_modulus_find(50, 2 * n, 0), kernel, &t, NULL) != DP_OK)
        return;
    for (size_t j = 0; j < n; j++)
        a[j] = j * 0x9e3779b97f4a7c15ULL % t->m.q;
    transform x = {t, a};
    bench_times up = measure_processor(forward, &x), down = measure_processor(inverse, &x);
    bench_times product = measure_processor(multiply, &x);
    printf("{\"kernel\": \"ntt/%s\", \"n\": %zu, ", kernel->name, n);
    times("forward", up);
    times("inverse", down);
    times("multiply_add", product);
    bench_end_line();
    dpi_ntt_free(t);
}

typedef struct named_layer {
    const char *name;
    dpi_lattice_shape shape;
    size_t terms; /* > 0: so many weights of an output, which are written while it is answered, as
                   * in an order that is drawn for one query */
} named_layer;

/* The layers of three networks for digits, and of one for a table; convolutions as matrices. */
static const named_layer layers[] = {
    {"784x128", {784, 1, 1, 128, 1, 1, 1, 0, 65536}, 0},
    {"128x128", {128, 1, 1, 128, 1, 1, 1, 0, 65536}, 0},
    {"128x10", {128, 1, 1, 10, 1, 1, 1, 0, 65536}, 0},
    {"845x100", {845, 1, 1, 100, 1, 1, 1, 0, 65536}, 0},
    {"100x10", {100, 1, 1, 10, 1, 1, 1, 0, 65536}, 0},
    {"30x32", {30, 1, 1, 32, 1, 1, 1, 0, 65536}, 0},
    {"conv5@5x5s2p1,28x28", {1, 28, 28, 5, 5, 5, 2, 1, 65536}, 0},
    {"conv16@5x5,28x28", {1, 28, 28, 16, 5, 5, 1, 0, 65536}, 0},
    {"conv16@5x5,16x12x12", {16, 12, 12, 16, 5, 5, 1, 0, 65536}, 0},
    {"784x128,written", {784, 1, 1, 128, 1, 1, 1, 0, 4095}, 784},
    {"784x845,written,25", {784, 1, 1, 845, 1, 1, 1, 0, 4095}, 25},
    {"784x9216,written,25", {784, 1, 1, 9216, 1, 1, 1, 0, 4095}, 25},
    {"2304x1024,written,400", {2304, 1, 1, 1024, 1, 1, 1, 0, 4095}, 400},
};

typedef struct session {
    dpi_lattice_plan plan;
    dpi_bfv_secret *secret;
    dpi_bfv_cipher *key;
    const dpi_lattice_layer *layer;
    dpi_lattice_layer *fixed, written;
    dpi_rlwe_stream random;
    size_t terms, *at; /* [inputs], where terms > 0 */
    int64_t *x, *y;
    unsigned char *query, *answer;
    dp_status status; /* of what was timed */
} session;

static void write_factors(const void *user, size_t pack, int32_t *factors)
{
    const session *s = user;
    const dpi_lattice_plan *p = &s->plan;
    for (size_t m = 0; m < p->pack_filters && pack * p->pack_filters + m < p->outputs; m++) {
        int32_t *row = factors + dpi_lattice_output_at(p, m);
        for (size_t i = 0; i < s->terms; i++)
            row[s->at[(m * 389 + i) % p->inputs]] = (int32_t)(i * 2654435761U % 8191) - 4095;
    }
}

static void client_query(void *of)
{
    session *s = of;
    s->status |= dpi_lattice_query(&s->plan, s->secret, s->x, &s->random, s->query, NULL);
}

static void server_answer(void *of)
{
    session *s = of;
    s->status |= dpi_lattice_answer(s->layer, s->key, s->plan.query_bytes, s->query, NULL,
                                    &s->random, s->answer, NULL);
}

static void client_open(void *of)
{
    session *s = of;
    s->status |= dpi_lattice_open(&s->plan, s->secret, s->plan.answer_bytes, s->answer, s->y, NULL);
}

/* Weights that are transformed once. */
static dp_status set_layer(session *s)
{
    const dpi_lattice_shape *l = &s->plan.shape;
    const size_t n = l->filters * l->channels * l->kernel_height * l->kernel_width;
    int32_t *w = calloc(n, sizeof *w);
    if (w == NULL)
        return DP_ENOMEM;
    for (size_t i = 0; i < n; i++)
        w[i] = (int32_t)(i * 2654435761U % 131073) - 65536;
    dp_status status = dpi_lattice_layer_new(&s->plan, w, &s->fixed, NULL);
    s->layer = s->fixed;
    free(w);
    return status;
}

static dp_status set_written(session *s)
{
    s->at = malloc(s->plan.inputs * sizeof *s->at);
    if (s->at == NULL)
        return DP_ENOMEM;
    for (size_t i = 0; i < s->plan.inputs; i++)
        s->at[i] = dpi_lattice_input_at(&s->plan, i);
    s->written = (dpi_lattice_layer){.plan = &s->plan, .fill = write_factors, .user = s};
    s->layer = &s->written;
    return DP_OK;
}

static dp_status begin(const dpi_bfv *f, const named_layer *l, session *s)
{
    const dpi_lattice_shape *shape = &l->shape;
    unsigned char seed[DPI_RLWE_SEED];
    dp_status status = dpi_rlwe_seed(seed, NULL);
    dpi_rlwe_start(&s->random, seed, "bench");
    if (status == DP_OK)
        status = dpi_lattice_plan_make(f, shape, &s->plan, NULL);
    if (status == DP_OK)
        status = dpi_bfv_secret_new(f, &s->random, &s->secret, NULL);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(f, &s->key, NULL);
    if (status == DP_OK)
        status = dpi_bfv_encrypt(f, s->secret, NULL, &s->random, s->key, NULL);
    s->terms = l->terms;
    s->x = calloc(s->plan.inputs, sizeof *s->x);
    s->y = calloc(s->plan.outputs, sizeof *s->y);
    s->query = malloc(s->plan.query_bytes);
    s->answer = malloc(s->plan.answer_bytes);
    if (s->x == NULL || s->y == NULL || s->query == NULL || s->answer == NULL)
        status = DP_ENOMEM;
    for (size_t i = 0; i < s->plan.inputs && status == DP_OK; i++)
        s->x[i] = (int64_t)(i * 40503 % 131073) - 65536;
    if (status == DP_OK)
        status = l->terms > 0 ? set_written(s) : set_layer(s);
    return status;
}

static void end(session *s)
{
    dpi_lattice_layer_free(s->fixed);
    free(s->at);
    dpi_bfv_cipher_free(s->key);
    dpi_bfv_secret_free(s->secret);
    free(s->x);
    free(s->y);
    free(s->query);
    free(s->answer);
    dpi_rlwe_end(&s->random);
}

static dp_status measure(const named_layer *l, const dpi_bfv_spec *spec)
{
    session s = {0};
    dpi_bfv *f;
    dp_status status = dpi_bfv_new(spec, &f, NULL);
    if (status == DP_OK)
        status = begin(f, l, &s);
    if (status == DP_OK) {
        bench_times query = measure_processor(client_query, &s),
                    answer = measure_processor(server_answer, &s);
        bench_times opened = measure_processor(client_open, &s);
        status = s.status;
        printf("{\"layer\": \"%s\", \"n\": %zu, \"primes\": %d, \"prime_bits\": %d, "
               "\"queries\": %zu, \"answers\": %zu, \"bytes_up\": %zu, \"bytes_down\": %zu, "
               "\"privacy_bits\": %.1f, ",
               l->name, spec->n, spec->levels, spec->prime_bits, s.plan.queries, s.plan.answers,
               s.plan.query_bytes, s.plan.answer_bytes, s.plan.bits);
        times("query", query);
        times("answer", answer);
        times("open", opened);
        bench_end_line();
    }
    end(&s);
    dpi_bfv_free(f);
    return status;
}

int main(void)
{
    for (size_t n = 4096; n <= 65536; n *= 2) {
        transforms(&dpi_ntt_ifma, n);
        transforms(&dpi_ntt_avx2, n);
        transforms(&dpi_ntt_portable, n);
    }
    dp_status status = DP_OK;
    for (size_t i = 0; i < sizeof layers / sizeof *layers && status == DP_OK; i++) {
        const double most = layers[i].terms > 0 ? 32768 : 65536; /* of inputs */
        const int bits = dpi_lattice_plain_bits(&layers[i].shape, most, 0);
        dpi_bfv_spec spec = {4096, 2, 50, bits};
        status = measure(&layers[i], &spec);
        if (status == DP_OK)
            status = dpi_lattice_choose(1, &layers[i].shape, bits, 40, &spec, NULL);
        if (status == DP_OK)
            status = measure(&layers[i], &spec);
    }
    return status != DP_OK;
}
