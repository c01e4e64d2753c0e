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

static double weighed(size_t n, const double *a, const double *v, const uint32_t *in)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * v[in[k]];
    return sum;
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
            v[s->out] = 2 * v[in[0]] * v[in[1]] - (s->n_in > 2 ? v[in[2]] : 1);
        else if (s->op == DPI_OP_COMBINE)
            v[s->out] = a[0] + weighed(s->n_in, a + 1, v, in);
        else if (s->op == DPI_OP_MULTIPLY)
            v[s->out] = v[in[0]] * v[in[1]];
        else if (s->op == DPI_OP_ADD)
            v[s->out] = v[in[0]] + v[in[1]];
        else if (s->op == DPI_OP_RESCALE)
            v[s->out] = v[in[0]];
    }
    return v[result];
}

/* The plan of that way from card `first` on: products of the busiest card, and of all. */
static void count(size_t degree, const dpi_polynomial_way *way, uint32_t first, size_t of[2])
{
    dpi_plan p;
    double a[DPI_TREE_DEGREE + 1];
    size_t counts[DPI_COUNTS];
    for (size_t k = 0; k <= degree; k++)
        a[k] = sin(2.385 * (double)k + 1);
    dpi_plan_begin(&p, first + way->cards);
    const uint32_t x = dpi_plan_input(&p, 0);
    const uint32_t y = dpi_plan_polynomial(&p, first, way, degree, a, x);
    assert_int_equal(p.status, DP_OK);
    of[0] = 0;
    for (size_t card = 0; card < p.cards; card++) {
        dpi_plan_count(&p, card, counts);
        of[0] = counts[DPI_PRODUCTS] > of[0] ? counts[DPI_PRODUCTS] : of[0];
    }
    dpi_plan_count(&p, p.cards, counts);
    of[1] = counts[DPI_PRODUCTS];
    assert_int_equal(p.value[y].home, first);
    assert_close(value_of(&p, .3719, y), clenshaw(degree, a, .3719), 1e-10, 1e-10);
    dpi_plan_free(&p);
}

static void tree_of(size_t degree, size_t cards, size_t most, size_t total)
{
    const dpi_polynomial_way way = dpi_polynomial_tree(degree, cards);
    size_t of[2];
    count(degree, &way, 0, of);
    assert_int_equal(of[0], most);
    assert_int_equal(of[1], total);
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

static const dpi_costs costs = {
    .operation = {1, 1, .02, .02}, .bytes = .7, .bandwidth = 1, .copying = true};

/* Every way tells the same number, on cards from any first on. */
static void ways_agree(void **state)
{
    size_t of[2];
    (void)state;
    for (uint32_t leaf = 1; leaf <= DPI_TREE_LEAF; leaf++)
        for (uint32_t cards = 1; cards <= 64U >> leaf; cards *= 2)
            for (int shared = 0; shared < 2; shared++)
                count(59, &(dpi_polynomial_way){cards, leaf, shared}, cards % 3, of);
    count(59, &(dpi_polynomial_way){1, 3, false}, 0, of);
    assert_int_equal(of[0], 16); /* as src/fhe has */
    count(15, &(dpi_polynomial_way){1, 2, false}, 0, of);
    assert_int_equal(of[0], 7);
}

/* Algorithm 1 on as many cards as it takes of those. */
static double tree_seconds(size_t cards)
{
    const double a[60] = {0};
    const dpi_polynomial_way way = dpi_polynomial_tree(59, cards);
    dpi_times times;
    dp_error err = {0};
    dpi_plan p;
    dpi_plan_begin(&p, way.cards);
    p.copied = true;
    const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    dpi_plan_polynomial(&p, 0, &way, 59, a, x);
    assert_ok(dpi_simulate(&p, &costs, &times, &err), err.text);
    dpi_plan_free(&p);
    return times.total;
}

/* Pieces are better than pairs on up to 16 cards, and one card with them than two without. */
static void the_fastest_is_found(void **state)
{
    static const double speedup[] = {1, 1.32, 1.57, 1.57, 1.64, 1.70, 1.70};
    static const uint32_t leaf[] = {3, 3, 2, 2, 2, 1, 1}, used[] = {1, 2, 4, 4, 16, 32, 32};
    double one = 0, seconds;
    (void)state;
    for (size_t k = 0; k < 7; k++) {
        dpi_polynomial_way way;
        dp_error err = {0};
        assert_ok(dpi_polynomial_search(59, 1, (size_t)1 << k, &costs, &way, &seconds, &err),
                  err.text);
        one = k == 0 ? seconds : one;
        assert_int_equal(way.leaf, leaf[k]);
        assert_int_equal(way.cards, used[k]);
        assert_close(one / seconds, speedup[k], 0, .005);
        assert_true(seconds < tree_seconds((size_t)1 << k));
    }
    assert_true(one < tree_seconds(2));
}

static void too_many_cards(void *of)
{
    const double a[60] = {0};
    (void)dpi_plan_polynomial(of, 0, &(dpi_polynomial_way){.cards = 16, .leaf = 3}, 59, a, 0);
}

static void broken_calls_abort(void **state)
{
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 16);
    (void)dpi_plan_input(&p, 0);
    assert_aborts(too_many_cards, &p);
    dpi_plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_those_of_the_algorithm), cmocka_unit_test(ways_agree),
        cmocka_unit_test(the_fastest_is_found), cmocka_unit_test(broken_calls_abort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
