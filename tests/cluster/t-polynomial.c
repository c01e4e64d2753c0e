/* The tree over cards: products as Hydra's algorithm 1 has them, and its value. */
#include "cluster/polynomial.h"

#include <math.h>

#include "tests/lib/check.h"

enum { MOST = 4096 };

static double clenshaw(size_t degree, const double *a, double x)
{
    double one = 0, two = 0;
    for (size_t k = degree; k > 0; k--) {
        const double next = a[k] + 2 * x * one - two;
        two = one;
        one = next;
    }
    return a[0] + x * one - two;
}

/* The plan on numbers that nothing hides. */
static double value_of(const dpi_plan *p, double x, uint32_t result)
{
    static double v[MOST];
    v[0] = x;
    assert_true(p->n_values <= MOST);
    for (size_t k = 0; k < p->n_steps; k++) {
        const dpi_step *s = &p->step[k];
        const uint32_t *in = p->in + s->in;
        const double *a = p->number + s->argument;
        if (s->op == DPI_OP_TWICE)
            v[s->out] = 2 * v[in[0]] * v[in[1]] - 1;
        else if (s->op == DPI_OP_COMBINE)
            v[s->out] = a[0] + a[1] * v[in[0]];
        else if (s->op == DPI_OP_MULTIPLY)
            v[s->out] = v[in[0]] * v[in[1]];
        else if (s->op == DPI_OP_ADD)
            v[s->out] = v[in[0]] + v[in[1]];
        else if (s->op == DPI_OP_RESCALE)
            v[s->out] = v[in[0]];
    }
    return v[result];
}

static void tree_of(size_t degree, size_t cards, size_t most, size_t total)
{
    dpi_plan p;
    double a[DPI_TREE_DEGREE + 1];
    size_t count[DPI_COUNTS], busiest = 0;
    for (size_t k = 0; k <= degree; k++)
        a[k] = sin(2.385 * (double)k + 1);
    dpi_plan_begin(&p, cards);
    const uint32_t x = dpi_plan_input(&p, 0), y = dpi_plan_polynomial(&p, degree, a, x);
    assert_int_equal(p.status, DP_OK);
    for (size_t card = 0; card < cards; card++) {
        dpi_plan_count(&p, card, count);
        busiest = count[DPI_PRODUCTS] > busiest ? count[DPI_PRODUCTS] : busiest;
    }
    dpi_plan_count(&p, cards, count);
    assert_int_equal(busiest, most);
    assert_int_equal(count[DPI_PRODUCTS], total);
    assert_int_equal(p.value[y].home, 0);
    assert_close(value_of(&p, .3719, y), clenshaw(degree, a, .3719), 1e-10, 1e-10);
    dpi_plan_free(&p);
}

static void products_are_those_of_the_algorithm(void **state)
{
    (void)state;
    tree_of(59, 1, 36, 36);
    tree_of(59, 2, 20, 37);
    tree_of(59, 4, 12, 40);
    tree_of(59, 8, 8, 47);
    tree_of(59, 16, 6, 62);
    tree_of(15, 1, 10, 10);
    tree_of(15, 2, 6, 11);
    tree_of(15, 4, 4, 14);
    tree_of(15, 8, 4, 14); /* four cards are all that it takes */
    tree_of(7, 2, 3, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(products_are_those_of_the_algorithm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
