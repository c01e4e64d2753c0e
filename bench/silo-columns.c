/* A step's sums over encrypted columns: processor time of both sides on one thread.
 *   make bench/silo-columns && bench/silo-columns [rows columns]      (100 784 without)
 * One JSON line: milliseconds, least and median of 11 steps, and bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "silo/columns-sum.h"

int main(int argc, char **argv)
{
    const size_t n = argc > 2 ? strtoul(argv[1], NULL, 10) : 100;
    const size_t d = argc > 2 ? strtoul(argv[2], NULL, 10) : 784;
    dpi_columns_sum *owner, *other;
    dpi_rlwe_stream random;
    unsigned char seed[DPI_RLWE_SEED];
    dp_error err = {0};
    if (dpi_rlwe_seed(seed, &err) != DP_OK ||
        dpi_columns_sum_new(n, d, 1 << 15, 74, &owner, &err) != DP_OK ||
        dpi_columns_sum_new(n, d, 1 << 15, 74, &other, &err) != DP_OK) {
        (void)fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    int64_t *x = calloc(n * d, sizeof *x), *added = calloc(d, sizeof *added);
    int64_t *got = calloc(d, sizeof *got);
    int32_t *s = calloc(n, sizeof *s);
    unsigned char *offer = calloc(1, owner->offer_bytes);
    unsigned char *answer = calloc(1, owner->plan.answer_bytes);
    if (x == NULL || added == NULL || got == NULL || s == NULL || offer == NULL || answer == NULL)
        return 1;
    for (size_t i = 0; i < n * d; i++)
        x[i] = (int64_t)(i * 7919 % 32768) - 16384;
    for (size_t i = 0; i < n; i++)
        s[i] = (int32_t)(i * 104729 % 65536) - 32768;
    dpi_rlwe_start(&random, seed, "bench");
    double start = bench_processor();
    dp_status status = dpi_columns_sum_offer(owner, x, &random, offer, &err);
    const double offering = bench_processor() - start;
    start = bench_processor();
    if (status == DP_OK)
        status = dpi_columns_sum_take(other, owner->offer_bytes, offer, &err);
    const double taking = bench_processor() - start;
    double answering[BENCH_RUNS], opening[BENCH_RUNS];
    for (int k = 0; k < BENCH_RUNS && status == DP_OK; k++) {
        start = bench_processor();
        status = dpi_columns_sum_answer(other, s, added, &random, answer, &err);
        answering[k] = bench_processor() - start;
        start = bench_processor();
        if (status == DP_OK)
            status = dpi_columns_sum_open(owner, owner->plan.answer_bytes, answer, got, &err);
        opening[k] = bench_processor() - start;
    }
    if (status != DP_OK)
        return 1;
    printf("{\"bench\": \"silo-columns\", \"rows\": %zu, \"columns\": %zu, ", n, d);
    bench_number("offer_once_ms", 1e3 * offering);
    bench_number("take_once_ms", 1e3 * taking);
    bench_number("answer_ms", 1e3 * bench_median(answering, BENCH_RUNS));
    bench_number("answer_low", 1e3 * answering[0]);
    bench_number("open_ms", 1e3 * bench_median(opening, BENCH_RUNS));
    bench_number("open_low", 1e3 * opening[0]);
    bench_number("privacy_bits", owner->plan.bits);
    printf("\"offer_bytes\": %zu, \"answer_bytes\": %zu, ", owner->offer_bytes,
           owner->plan.answer_bytes);
    bench_end_line();
    dpi_columns_sum_free(owner);
    dpi_columns_sum_free(other);
    free(x);
    free(added);
    free(got);
    free(s);
    free(offer);
    free(answer);
    return 0;
}
