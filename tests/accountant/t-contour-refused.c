/* Where the contour goes and where it does not: atoms, few steps, what is not finite, no memory. */
#include <math.h>

#include "tests/accountant/by-contour.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static void refuses(dpi_pair_times term, const char *says)
{
    dp_error err = {0};
    double epsilon = NAN, log_delta = 1;
    assert_int_equal(dpi_contour_epsilon(&term, 1, log(1e-6), &epsilon, &err), DP_EACCURACY);
    assert_contains(err.text, says);
    assert_true(epsilon == INFINITY);
    assert_int_equal(dpi_contour_log_delta(&term, 1, 0.3, &log_delta, NULL), DP_EACCURACY);
    assert_true(isnan(log_delta));
}

/* Losses 0.3 and -0.3 alone: characteristic functions come back to 1 for ever. */
static void refuses_a_lattice(void **state)
{
    (void)state;
    double p = 1 / (1 + exp(-0.3));
    dpi_atom atoms[] = {{-0.3, 1 - p}, {0.3, p}};
    dpi_pair pair = {.n_atoms = 2, .atom = atoms};
    refuses((dpi_pair_times){&pair, 40}, "lattice");
    refuses((dpi_pair_times){&pair, 4000}, "lattice");
}

/* The same beside a Gaussian falls fast enough. */
static void a_lattice_beside_a_gaussian_is_smooth(void **state)
{
    (void)state;
    double p = 1 / (1 + exp(-0.3)), exact = 0;
    dpi_atom atoms[] = {{-0.3, 1 - p}, {0.3, p}};
    dpi_pair pair = {.n_atoms = 2, .atom = atoms}, smooth = normal(2);
    dpi_pair_times term[] = {{&pair, 2}, {&smooth, 1}};
    /* Mixture over the three sums of atoms. */
    double weight[] = {(1 - p) * (1 - p), 2 * p * (1 - p), p * p};
    for (int i = 0; i < 3; i++)
        exact += weight[i] * exp(log_delta_of(&term[1], 1, 0.7 - 0.6 * (i - 1)));
    assert_close(exp(log_delta_of(term, 2, 0.7)), exact, 1e-10, 0);
}

static void one_step_of_atoms_is_a_sum(void **state)
{
    (void)state;
    double p = 1 / (1 + exp(-0.3));
    dpi_atom atoms[] = {{-0.3, 1 - p}, {0.3, p}};
    dpi_pair pair = {.n_atoms = 2, .atom = atoms};
    assert_close(exp(log_delta_of(&(dpi_pair_times){&pair, 1}, 1, 0.1)), p * -expm1(-0.2), 1e-14,
                 0);
    assert_close(epsilon_of(&(dpi_pair_times){&pair, 1}, 1, p * -expm1(-0.2)), 0.1, 1e-12, 0);
}

static void refuses_few_steps_that_do_not_decay(void **state)
{
    (void)state;
    dpi_pair pair = gaussian(1, 1e-4, DPI_REMOVE);
    refuses((dpi_pair_times){&pair, 2}, "take the certified interval");
}

static void refuses_what_is_not_finite(void **state)
{
    (void)state;
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    dpi_pair pair = gaussian(1, 0.1, DPI_REMOVE);
    for (int i = 0; i < 3; i++)
        for (int steps = 1; steps < 100; steps += 98) {
            dpi_pair_times term = {&pair, steps};
            double log_delta = 1;
            dp_error err = {0};
            assert_int_equal(dpi_contour_log_delta(&term, 1, wrong[i], &log_delta, &err),
                             DP_EDOMAIN);
            assert_contains(err.text, "finite");
            assert_true(isnan(log_delta));
        }
}

static void reports_failing_memory(void **state)
{
    (void)state;
    dpi_pair pair = gaussian(1.5, 0.002, DPI_REMOVE);
    dpi_pair_times term = {&pair, 9375};
    dp_status status = DP_ENOMEM;
    for (size_t k = 1; k < 1000 && status != DP_OK; k++) {
        double epsilon = NAN, log_delta = 1;
        faulty_fail(k);
        status = dpi_contour_epsilon(&term, 1, -11, &epsilon, NULL);
        faulty_fail(k);
        dp_status other = dpi_contour_log_delta(&term, 1, 0.5, &log_delta, NULL);
        faulty_fail(0);
        assert_true(status == DP_OK || (status == DP_ENOMEM && epsilon == INFINITY));
        assert_true(other == DP_OK || (other == DP_ENOMEM && isnan(log_delta)));
        assert_int_equal(faulty_live(), 0);
    }
    assert_int_equal(status, DP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_lattice),
        cmocka_unit_test(a_lattice_beside_a_gaussian_is_smooth),
        cmocka_unit_test(one_step_of_atoms_is_a_sum),
        cmocka_unit_test(refuses_few_steps_that_do_not_decay),
        cmocka_unit_test(refuses_what_is_not_finite),
        cmocka_unit_test(reports_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
