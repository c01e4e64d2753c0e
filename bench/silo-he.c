/* What a sum under a key of all owners costs each of them, and who opens it.
 *   make bench/silo-he && bench/silo-he
 *   bench/silo-he [owners numbers]                        (3 7850 and 3 1000000 without)
 * A JSON line a sum: milliseconds, the median of runs, in all of which one thread does the work of
 * one side; bytes that a side sends to one other. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "crypto/threshold.h"

enum { MOST = 8, STEPS = 5 };

static const char *const step_names[STEPS] = {"key_ms", "encrypt_ms", "add_ms", "partial_ms",
                                              "open_ms"};

typedef struct everything {
    dpi_threshold *t;
    size_t owners, n;
    dpi_rlwe_stream random;
    dpi_threshold_share *share[MOST];
    dpi_threshold_key *key;
    unsigned char *public, *opened[MOST], *shared[MOST], *partial[MOST], digests[32 * MOST];
    uint64_t *words, *result;
    double at;
} everything;

/* Milliseconds of processor since the last call. */
static double lap(everything *x)
{
    const double now = bench_processor(), took = 1e3 * (now - x->at);
    x->at = now;
    return took;
}

/* One owner's part of the key, and the sum of all. */
static dp_status make_key(everything *x, double *ms, dp_error *err)
{
    const size_t size = dpi_threshold_public_size(x->t);
    dp_status status = dpi_threshold_key_new(x->t, &x->key, err);
    (void)lap(x);
    for (size_t k = 0; k < x->owners && status == DP_OK; k++) {
        status = dpi_threshold_share_new(x->t, k, &x->random, &x->share[k], x->public, err);
        if (status == DP_OK)
            status = dpi_threshold_key_add(x->t, x->key, k, size, x->public, err);
    }
    *ms = lap(x);
    return status;
}

/* A whole sum; times are of the first owner's work, and of who opens. */
static dp_status make_sum(everything *x, double ms[STEPS], dp_error *err)
{
    static const unsigned char context[DPI_THRESHOLD_HASH] = {1};
    const size_t size = dpi_threshold_shared_size(x->t, x->n);
    dpi_threshold_sum *sum[MOST] = {NULL};
    dp_status status = DP_OK;
    for (size_t k = x->owners; k-- > 0 && status == DP_OK;) {
        const dpi_threshold_parts parts = {x->opened[k], x->shared[k]};
        status = dpi_threshold_sum_new(x->t, x->share[k], context, x->n, &sum[k], err);
        (void)lap(x);
        if (status == DP_OK)
            status = dpi_threshold_encrypt(sum[k], x->key, x->words, &x->random, &parts, err);
        ms[1] = lap(x);
    }
    for (size_t k = x->owners; k-- > 0 && status == DP_OK;) {
        (void)lap(x);
        for (size_t j = 0; j < x->owners && status == DP_OK; j++)
            if (j != k)
                status = dpi_threshold_sum_add(sum[k], j, size, x->shared[j], err);
        if (status == DP_OK)
            status = dpi_threshold_digest(sum[k], x->digests + 32 * k, err);
        ms[2] = lap(x);
    }
    for (size_t k = x->owners; k-- > 0 && status == DP_OK;) {
        (void)lap(x);
        status = dpi_threshold_partial(sum[k], x->digests, x->partial[k], err);
        ms[3] = lap(x);
    }
    if (status == DP_OK)
        status = dpi_threshold_open(x->owners, (const unsigned char *const *)x->opened,
                                    (const unsigned char *const *)x->partial, x->n, x->result, err);
    ms[4] = lap(x);
    for (size_t j = 0; j < x->n && status == DP_OK; j++)
        if (x->result[j] != x->owners * x->words[j])
            status = DP_EDATA;
    for (size_t k = 0; k < x->owners; k++)
        dpi_threshold_sum_free(sum[k]);
    return status;
}

static dp_status start(everything *x, dp_error *err)
{
    const dpi_threshold_spec spec = {.owners = x->owners, .openings = 1 << 20, .seed = {1}};
    unsigned char seed[DPI_RLWE_SEED];
    dp_status status = dpi_rlwe_seed(seed, err);
    if (status == DP_OK)
        status = dpi_threshold_new(&spec, &x->t, err);
    if (status != DP_OK)
        return status;
    dpi_rlwe_start(&x->random, seed, "bench");
    x->public = malloc(dpi_threshold_public_size(x->t));
    x->words = malloc(x->n * sizeof *x->words);
    x->result = malloc(x->n * sizeof *x->result);
    bool all = x->public != NULL && x->words != NULL && x->result != NULL;
    for (size_t k = 0; k < x->owners; k++) {
        x->opened[k] = malloc(dpi_threshold_opened_size(x->n));
        x->shared[k] = malloc(dpi_threshold_shared_size(x->t, x->n));
        x->partial[k] = malloc(dpi_threshold_partial_size(x->n));
        all = all && x->opened[k] != NULL && x->shared[k] != NULL && x->partial[k] != NULL;
    }
    for (size_t j = 0; all && j < x->n; j++)
        x->words[j] = j * 0x9e3779b97f4a7c15;
    return all ? DP_OK : DP_ENOMEM;
}

static void end(everything *x)
{
    for (size_t k = 0; k < x->owners; k++) {
        dpi_threshold_share_free(x->share[k]);
        free(x->opened[k]);
        free(x->shared[k]);
        free(x->partial[k]);
    }
    free(x->public);
    free(x->words);
    free(x->result);
    dpi_threshold_key_free(x->key);
    dpi_threshold_free(x->t);
}

static void tell(const everything *x, double ms[STEPS][BENCH_RUNS])
{
    printf("{\"bench\": \"silo-he\", \"owners\": %zu, \"numbers\": %zu, \"kernel\": \"%s\", ",
           x->owners, x->n, x->t->f->ntt[0]->kernel->name);
    for (int s = 0; s < STEPS; s++)
        bench_number(step_names[s], bench_median(ms[s], s == 0 ? 1 : BENCH_RUNS));
    printf("\"key_bytes\": %zu, \"shared_bytes\": %zu, \"opened_bytes\": %zu, "
           "\"partial_bytes\": %zu, \"flood_bits\": %d, ",
           dpi_threshold_public_size(x->t), dpi_threshold_shared_size(x->t, x->n),
           dpi_threshold_opened_size(x->n), dpi_threshold_partial_size(x->n), x->t->flood);
    bench_number("privacy_bits", x->t->bits);
    bench_end_line();
}

static int bench(size_t owners, size_t numbers)
{
    static double ms[STEPS][BENCH_RUNS];
    everything x = {.owners = owners, .n = numbers};
    dp_error err = {0};
    dp_status status = start(&x, &err);
    if (status == DP_OK)
        status = make_key(&x, &ms[0][0], &err);
    for (int r = 0; r < BENCH_RUNS && status == DP_OK; r++) {
        double one[STEPS] = {0};
        status = make_sum(&x, one, &err);
        for (int s = 1; s < STEPS; s++)
            ms[s][r] = one[s];
    }
    if (status == DP_OK)
        tell(&x, ms);
    else
        (void)fprintf(stderr, "status %d: %s\n", (int)status, err.text);
    end(&x);
    return status != DP_OK;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return bench(3, 7850) || bench(3, 1000000);
    const size_t owners = strtoul(argv[1], NULL, 10), numbers = strtoul(argv[2], NULL, 10);
    return owners < 1 || owners > MOST || numbers < 1 || bench(owners, numbers);
}
