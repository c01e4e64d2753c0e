/* Speed of lattice encryption: one JSON line each, microseconds.
 *   make bench/lattice && bench/lattice */
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
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
    bench_times up = bench_measure(forward, &x), down = bench_measure(inverse, &x);
    bench_times product = bench_measure(multiply, &x);
    printf("{\"kernel\": \"ntt/%s\", \"n\": %zu, \"forward_us\": %.2f, \"inverse_us\": %.2f, "
           "\"multiply_add_us\": %.2f, \"runs\": %d, ",
           kernel->name, n, 1e6 * up.median, 1e6 * down.median, 1e6 * product.median, BENCH_RUNS);
    bench_end_line();
    dpi_ntt_free(t);
}

int main(void)
{
    for (size_t n = 4096; n <= 65536; n *= 2) {
        transforms(&dpi_ntt_ifma, n);
        transforms(&dpi_ntt_portable, n);
    }
    return 0;
}
