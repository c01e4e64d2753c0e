/* The error bound of the kernels (grid.c), measured: the parts of their code, before rounding, compared
 * with the C library in long double. */
#include "random/grid.h"

#define KERNEL_NAME kernel_under_test
#define KERNEL_BYTES 16
#define KERNEL_TARGET
typedef double both __attribute__((vector_size(16)));
static both root(both x);
dpi_grid_make kernel_under_test;
#include "random/grid-kernel.h"

#include <math.h>
#include <sodium.h>

#include "tests/random/chi.h"

static both root(both x)
{
    return (both){sqrt(x[0]), sqrt(x[1])};
}

static dpi_stream stream;

/* z0 and z1 of the middle of what two words leave open. */
static long double box_muller(uint64_t w0, uint64_t w1, long double z[2])
{
    const long double pi = 3.14159265358979323846264338327950288L;
    /* 1 - u where u is near 1, both to 2^-64 of themselves. */
    long double low = (long double)(w1 & 1023) * 0x1p-10L + 0x1p-11L;
    long double gap = ((long double)~w0 + (1 - low)) * 0x1p-64L;
    long double log_u = gap < 0.25L ? log1pl(-gap) : logl(((long double)w0 + low) * 0x1p-64L);
    long double r = sqrtl(-2 * log_u);
    long double x = ((long double)(w1 >> 12) + 0.5L) * 0x1p-52L * pi / 2 - pi / 4;
    long double sign = w1 >> 11 & 1 ? -1 : 1;
    bool swap = (w1 >> 10 & 1) != 0;
    z[0] = sign * r * (swap ? sinl(x) : cosl(x));
    z[1] = sign * r * (swap ? cosl(x) : sinl(x));
    return r;
}

/* r cos x and r sin x as the kernels compute them, before signs. */
static double computed(uint64_t w0, uint64_t w1, double z[2])
{
    word high = {w0, w0}, low10 = {w1 & 0x3ff, w1 & 0x3ff}, angle = {w1 >> 12, w1 >> 12};
    real square = minus_two_log(high, low10), r = root(square);
    real x = (to_double(angle) - (0x1p51 - 0.5)) * (0x1p-52 * HALF_PI);
    z[0] = (r * cosine(x * x))[0];
    z[1] = (r * sine(x, x * x))[0];
    return square[0];
}

/* Shares of the bound that are used: at most one; below a tenth this would see nothing.  Words 0 are
 * thinned out towards 0 and towards 2^64, where the radius is large and small. */
static void the_error_stays_within_its_bound(void **state)
{
    (void)state;
    double most = 0;
    dpi_stream_start_seeded(&stream, 41, "test");
    for (int k = 0; k < 300000; k++) {
        uint64_t w0 = dpi_stream_u64(&stream), w1 = dpi_stream_u64(&stream) & ~UINT64_C(0xc00);
        w0 = k % 2 == 0 ? w0 >> k % 27 : ~(w0 >> k % 41);
        long double z[2], r = box_muller(w0, w1, z);
        double got[2], square = computed(w0, w1, got);
        if (square < DPI_GRID_LEAST || square > DPI_GRID_MOST)
            continue;
        for (int i = 0; i < 2; i++) {
            double bound = (double)(r * DPI_GRID_RELATIVE) + 0x1p-53;
            most = fmax(most, (double)fabsl(got[i] - z[i]) / bound);
        }
    }
    if (most > 1 || most < 0.1)
        fail_msg("%.3g of the bound was used", most);
}

static int setup(void **state)
{
    (void)state;
    return sodium_init() < 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_error_stays_within_its_bound)};
    return cmocka_run_group_tests(tests, setup, NULL);
}
