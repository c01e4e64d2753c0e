/* Intersection of ids of two owners on one thread, half of them common.
 *   make bench/silo-psi && bench/silo-psi [ids]      (100000 where nothing is said)
 * One JSON line: seconds of processor time a side for making points, raising the other's, and
 * matching, and bytes that a side sends. */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "silo/psi.h"

enum { TEXT = 24 };

static dpi_psi *make(size_t n, size_t from, double *seconds)
{
    char(*ids)[TEXT] = calloc(n, TEXT);
    const char **at = calloc(n, sizeof *at);
    dpi_psi *psi = NULL;
    const dpi_psi_opts opts = {.domain = "bench", .key = {1}, .threads = 1};
    for (size_t i = 0; ids != NULL && at != NULL && i < n; i++) {
        (void)snprintf(ids[i], TEXT, "%zu", from + i);
        at[i] = ids[i];
    }
    const double start = bench_processor();
    if (ids != NULL && at != NULL && dpi_psi_new(&opts, n, at, &psi, NULL) != DP_OK)
        psi = NULL;
    *seconds = bench_processor() - start;
    free(ids);
    free(at);
    return psi;
}

int main(int argc, char **argv)
{
    const size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000;
    double making, raising, matching, other;
    dpi_psi *a = make(n, 0, &making), *b = make(n, n / 2, &other);
    unsigned char *to_a = calloc(n + 1, DPI_PSI_POINT), *to_b = calloc(n + 1, DPI_PSI_POINT);
    size_t *rows = calloc(n + 1, sizeof *rows), count, common;
    unsigned char print[32];
    if (a == NULL || b == NULL || to_a == NULL || to_b == NULL || rows == NULL)
        return 1;
    double start = bench_processor();
    if (dpi_psi_raise(a, n, dpi_psi_points(b, &count), to_b, NULL) != DP_OK)
        return 1;
    raising = bench_processor() - start;
    if (dpi_psi_raise(b, n, dpi_psi_points(a, &count), to_a, NULL) != DP_OK)
        return 1;
    start = bench_processor();
    if (dpi_psi_match(a, to_a, &common, rows, print, NULL) != DP_OK || common != n - n / 2)
        return 1;
    matching = bench_processor() - start;
    printf("{\"bench\": \"silo-psi\", \"ids\": %zu, \"common\": %zu, ", n, common);
    bench_number("make_s", making);
    bench_number("raise_s", raising);
    bench_number("match_s", matching);
    bench_number("side_s", making + raising + matching);
    printf("\"sent_bytes\": %zu, ", 2 * n * DPI_PSI_POINT + 8 + 32);
    bench_end_line();
    dpi_psi_free(a);
    dpi_psi_free(b);
    free(to_a);
    free(to_b);
    free(rows);
    return 0;
}
