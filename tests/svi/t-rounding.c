/* What rounding does to clipped sums: less than is left to it, over chunk sizes and, where the
 * program is run under other instruction sets (check-instructions), over these. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/svi/release.h"

static double distance(const double *a, const double *b)
{
    double sum = 0;
    for (size_t e = 0; e < RELEASE_SIZE; e++)
        sum += (a[e] - b[e]) * (a[e] - b[e]);
    return sqrt(sum);
}

/* A task of k units is off by k u k clip, so n units in tasks of at most c by c u n clip; the sum
 * of tasks by 2 u n clip (src/svi/svi.c). */
static void chunks_change_sums_by_less_than_is_proven(void **state)
{
    (void)state;
    const size_t chunks[] = {1, 64, 256, 1000, RELEASE_ROWS};
    const double clips[] = {0.1, 3, 1e6};
    for (int grouped = 0; grouped < 2; grouped++)
        for (int c = 0; c < 3; c++) {
            static double release[5][RELEASE_SIZE];
            double most = 0, scale = fmin(clips[c], 200); /* no unit's norm is larger */
            size_t units;
            for (int k = 0; k < 5; k++)
                release_of(chunks[k], grouped, clips[c], release[k], &units);
            for (int k = 0; k < 5; k++)
                for (int l = 0; l < k; l++) {
                    double bound = (double)(chunks[k] + chunks[l] + 4) * (DBL_EPSILON / 2) *
                                   (double)units * scale;
                    double off = distance(release[k], release[l]);
                    most = fmax(most, off);
                    if (!(off <= bound))
                        fail_msg("chunks of %zu and %zu, clip %g: %g, proven %g", chunks[k],
                                 chunks[l], clips[c], off, bound);
                }
            assert_true(most > 0); /* rounding was at work */
        }
}

/* With TACIT_RELEASE naming a file: the sums are written there, or compared with those that another
 * run has written, which must be nearer than what clipping leaves to rounding. */
static void instruction_sets_change_sums_by_less_than_is_left(void **state)
{
    (void)state;
    const char *path = getenv("TACIT_RELEASE");
    double release[2][RELEASE_SIZE], other[2][RELEASE_SIZE];
    size_t units;
    if (path == NULL)
        skip();
    for (int grouped = 0; grouped < 2; grouped++)
        release_of(256, grouped, 3, release[grouped], &units);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(release, sizeof release, 1, file), 1);
        assert_int_equal(fclose(file), 0);
        return;
    }
    assert_int_equal(fread(other, sizeof other, 1, file), 1);
    (void)fclose(file);
    for (int grouped = 0; grouped < 2; grouped++) {
        double off = distance(release[grouped], other[grouped]);
        print_message("# off by %g clips, 2^-16 = %g are left\n", off / 3, 0x1p-16);
        assert_true(off < 3 * 0x1p-16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_change_sums_by_less_than_is_proven),
        cmocka_unit_test(instruction_sets_change_sums_by_less_than_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
