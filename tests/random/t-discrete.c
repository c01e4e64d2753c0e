#include "random/discrete.h"

#include <math.h>
#include <sodium.h>
#include <tacit/random.h>

#include "tests/random/chi.h"

enum { DRAWS = 60000, CELLS = 41 };

/* Chi-square over cells of `width` integers around zero, the outermost ones with all beyond. */
static void check_law(double sigma, int width)
{
    static int64_t drawn[DRAWS];
    size_t count[CELLS] = {0};
    double mass[CELLS] = {0}, sum = 0;
    dp_error err = {0};
    dp_noise *noise;
    assert_ok(dp_noise_new_seeded(61, &noise, &err), err.text);
    assert_ok(dp_noise_discrete_gaussian(noise, DRAWS, sigma, drawn, &err), err.text);
    dp_noise_free(noise);
    int64_t reach = (int64_t)(40 * sigma) + 10, half = (int64_t)CELLS * width / 2;
    for (int64_t x = -reach; x <= reach; x++) {
        int64_t cell = x < -half ? 0 : x > half ? CELLS - 1 : (x + half) / width;
        double p = exp(-0.5 * ((double)x / sigma) * ((double)x / sigma));
        mass[cell < CELLS ? cell : CELLS - 1] += p;
        sum += p;
    }
    for (int i = 0; i < DRAWS; i++) {
        int64_t x = drawn[i], cell = x < -half ? 0 : x > half ? CELLS - 1 : (x + half) / width;
        count[cell < CELLS ? cell : CELLS - 1]++;
    }
    double chi = 0, degrees = -1;
    for (int c = 0; c < CELLS; c++) {
        double expected = DRAWS * mass[c] / sum;
        if (expected < 5) {
            assert_true((double)count[c] < 60);
            continue;
        }
        chi += ((double)count[c] - expected) * ((double)count[c] - expected) / expected;
        degrees++;
    }
    assert_plausible(chi_p(chi, fmax(degrees, 1)));
}

static void integers_have_the_weight_of_a_gaussian(void **state)
{
    (void)state;
    check_law(0.5, 1);
    check_law(1, 1);
    check_law(3.7, 1);
    check_law(40.3, 11);
}

static void deviations_out_of_range_are_refused(void **state)
{
    (void)state;
    const double bad[] = {0, -1, NAN, INFINITY, 0x1p-7, 0x1p21};
    dp_noise *noise;
    dp_error err = {0};
    assert_ok(dp_noise_new_seeded(62, &noise, &err), err.text);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        int64_t x[2] = {7, 7};
        assert_int_equal(dp_noise_discrete_gaussian(noise, 2, bad[k], x, &err), DP_EDOMAIN);
        assert_true(x[0] == INT64_MIN && x[1] == INT64_MIN);
    }
    int64_t x[3];
    assert_ok(dp_noise_discrete_gaussian(noise, 3, 0x1p-6, x, &err), err.text);
    assert_true(x[0] == 0 && x[1] == 0 && x[2] == 0);
    assert_ok(dp_noise_discrete_gaussian(noise, 3, 0x1p20, x, &err), err.text);
    dp_noise_free(noise);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_the_weight_of_a_gaussian),
        cmocka_unit_test(deviations_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
