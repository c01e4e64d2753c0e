/* Nodes of quick bins against long double. */
#include "accountant/grid/quick.h"

#include <math.h>

#include "accountant/pairs/make.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static const double sigmas[] = {0.31, 1.07, 7.3}, rates[] = {1.3e-7, 0.021, 0.63};

typedef struct truth {
    long double excess, density; /* at x; without the tilt */
} truth;

static truth truth_at(const dpi_piece *piece, double q, long double x)
{
    const long double s = piece->sigma, odds = q / (1 - (long double)q);
    const long double r = odds * expl((2 * x - 1) / (2 * s * s));
    const long double plain = expl(-x * x / (2 * s * s)) / (s * sqrtl(2 * acosl(-1)));
    return (truth){log1pl(r), plain * (piece->sign > 0 ? (1 + r) * (1 - (long double)q) : 1)};
}

/* One stretch from an edge on; counts it where it is quick. */
static int look(const dpi_piece *piece, double q, double excess, double h)
{
    dpi_abscissa nodes[DPI_MAX_NODES];
    const double tilt = 0.37;
    const dpi_edge edge = dpi_edge_at(piece, excess);
    const double width = h / piece->ops->roughness(piece, edge.x), end = edge.x + width;
    const int n = dpi_quick_nodes(piece, edge, end, tilt, nodes);
    const double low = fmin(edge.x, -1), high = fmax(end, 1);
    const double off = DPI_QUICK_ERROR * piece->ops->excess_error(piece, low, high);
    const double spread = piece->ops->density_error(piece, low, high) + off + 1e-14;
    const dpi_gauss_rule rule =
        dpi_gauss_rule_for((end - edge.x) * piece->ops->roughness(piece, edge.x));
    assert_true(n == 0 || n == rule.n);
    for (int i = 0; i < n; i++) {
        const long double w = (long double)(end - edge.x) * (long double)rule.node[i];
        const truth t = truth_at(piece, q, edge.x + w);
        const long double d = -log1pl(-(long double)nodes[i].offset);
        assert_true(fabsl(d - (t.excess - excess)) <= off);
        const long double mass =
            (long double)(end - edge.x) * rule.weight[i] * t.density * expl(tilt);
        assert_true(mass < 1e-280L || fabsl(nodes[i].mass / mass - 1) <= spread);
    }
    return n > 0;
}

static void nodes_are_those_of_long_double(void **state)
{
    (void)state;
    int quick = 0;
    for (size_t k = 0; k < 18; k++) {
        const double q = rates[k / 2 % 3], sigma = sigmas[k / 6];
        const dpi_pair pair = dpi_pair_gaussian(sigma, q, k % 2 ? DPI_ADD : DPI_REMOVE);
        for (double s = 1e-6; s < 29; s *= 2.3)
            for (double h = 1e-5; h < 1.0 / 32; h *= 3.1)
                quick += look(&pair.piece[0], q, s, h);
    }
    assert_int_equal(quick, 18 * 21 * 8);
}

/* Wide stretches, edges that are none, large losses and other families are left to libm. */
static void what_it_does_not_cover_is_left(void **state)
{
    (void)state;
    const dpi_pair pair = dpi_pair_gaussian(1.07, 0.021, DPI_REMOVE);
    const dpi_piece *piece = &pair.piece[0];
    assert_false(look(piece, 0.021, 0.1, 1.01 / 32));
    assert_false(look(piece, 0.021, 30.5, 0.01));
    assert_true(dpi_edge_at(piece, 0).x == -INFINITY && dpi_edge_at(piece, 0).odds == 0);
    assert_true(dpi_edge_at(piece, -0.2).x == -INFINITY);
    dpi_pair laplace;
    dp_error err = {0};
    assert_ok(dpi_make_laplace(1.07, 0.021, DPI_REMOVE, &laplace, &err), err.text);
    for (size_t i = 0; i < laplace.n_pieces; i++)
        assert_true(dpi_edge_at(&laplace.piece[i], 0.1).odds == 0);
    dpi_pair_free(&laplace);
}

/* Relative error of f at x in units of 2^-53. */
static long double units(double (*f)(double), long double (*exact)(long double), double x)
{
    const long double y = exact(x);
    return y == 0 ? 0 : fabsl((f(x) - y) / y) * 0x1p53L;
}

/* The bounds count 2u for each (doc/design/accountant.md): an ulp. */
static void the_math_library_is_within_two_units(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    uint64_t seed = 17;
    for (int i = 0; i < 200000; i++) {
        const double t = next_number(&seed), small = t * exp2(-30 * fabs(next_number(&seed)));
        assert_true(units(exp, expl, 700 * t) <= 2 && units(exp, expl, small) <= 2);
        assert_true(units(expm1, expm1l, 30 * t) <= 2 && units(expm1, expm1l, small) <= 2);
        assert_true(units(log, logl, exp2(1000 * t)) <= 2 && units(log, logl, 1 + small / 2) <= 2);
        assert_true(units(log1p, log1pl, exp2(60 * t)) <= 2);
        assert_true(units(log1p, log1pl, small / 2) <= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_math_library_is_within_two_units),
        cmocka_unit_test(nodes_are_those_of_long_double),
        cmocka_unit_test(what_it_does_not_cover_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
