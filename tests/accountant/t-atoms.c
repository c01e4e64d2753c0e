/* One release of atoms: a closed form, the ends, and the errors that a pair names. */
#include "accountant/answers/atoms.h"

#include <math.h>

#include "tests/lib/check.h"

static dpi_bounds ask(const dpi_pair *pair, dpi_ask what, double given)
{
    dpi_bounds b;
    dpi_atoms_solve(pair, (dpi_question){what, given}, &b);
    return b;
}

/* Losses -a and a with masses 1 / (1 + e^a) and e^a / (1 + e^a): delta = (e^a - e^eps) / (1 +
 * e^a). */
static void a_coin_has_its_closed_form(void **state)
{
    (void)state;
    const double a = 1.37;
    dpi_atom atoms[] = {{-a, 1 / (1 + exp(a))}, {a, exp(a) / (1 + exp(a))}};
    dpi_pair pair = {.n_atoms = 2, .atom = atoms, .mass_error = 1e-15};
    for (double epsilon = 0; epsilon < 1.3; epsilon += 0.093) {
        double exact = (exp(a) - exp(epsilon)) / (1 + exp(a));
        dpi_bounds b = ask(&pair, DPI_ASK_DELTA, epsilon);
        assert_true(b.lower <= exact && exact <= b.upper);
        assert_close(b.lower, b.upper, 1e-13, 0);
        b = ask(&pair, DPI_ASK_EPSILON, exact);
        assert_true(b.lower <= epsilon && epsilon <= b.upper);
        assert_close(b.lower, b.upper, 0, 1e-13);
    }
    assert_true(ask(&pair, DPI_ASK_DELTA, 1.4).upper == 0);
    assert_true(ask(&pair, DPI_ASK_EPSILON, 0.9).upper == 0);
}

static void errors_of_the_pair_widen_the_bounds(void **state)
{
    (void)state;
    dpi_atom atoms[] = {{0.1, 0.6}, {0.7, 0.4}};
    dpi_pair pair = {.base = 0.3, .n_atoms = 2, .atom = atoms};
    dpi_bounds sharp = ask(&pair, DPI_ASK_DELTA, 0.2);
    assert_close(sharp.upper, 0.6 * -expm1(-0.2) + 0.4 * -expm1(-0.8), 1e-14, 0);
    pair.mass_error = 1e-3;
    dpi_bounds b = ask(&pair, DPI_ASK_DELTA, 0.2);
    assert_close(b.upper, sharp.upper * 1.001, 1e-12, 0);
    assert_close(b.lower, sharp.lower * 0.999, 1e-12, 0);
    pair.mass_error = 0;
    pair.offset_error = 0.01;
    b = ask(&pair, DPI_ASK_DELTA, 0.2);
    assert_close(b.upper, 0.6 * -expm1(-0.21) + 0.4 * -expm1(-0.81), 1e-12, 0);
    assert_close(b.lower, 0.6 * -expm1(-0.19) + 0.4 * -expm1(-0.79), 1e-12, 0);
    pair.offset_error = 0;
    pair.infinite = 0.02;
    pair.lost = 0.03;
    b = ask(&pair, DPI_ASK_DELTA, 0.2);
    assert_close(b.upper, sharp.upper + 0.05, 1e-14, 0);
    assert_close(b.lower, sharp.lower, 1e-14, 0);
    assert_true(ask(&pair, DPI_ASK_EPSILON, 0.04).upper == INFINITY);
    assert_true(ask(&pair, DPI_ASK_EPSILON, 0.04).lower < 1);
}

static void no_atoms_are_no_loss(void **state)
{
    (void)state;
    dpi_pair pair = {.infinite = 1e-9};
    assert_true(ask(&pair, DPI_ASK_EPSILON, 1e-8).upper == 0);
    assert_true(ask(&pair, DPI_ASK_EPSILON, 1e-10).upper == INFINITY);
    assert_close(ask(&pair, DPI_ASK_DELTA, 3).upper, 1e-9, 1e-12, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_coin_has_its_closed_form),
        cmocka_unit_test(errors_of_the_pair_widen_the_bounds),
        cmocka_unit_test(no_atoms_are_no_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
