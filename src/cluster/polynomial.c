/* The tree: pieces of coefficients, and products with T_2, T_4 ... above them. */
#include "cluster/polynomial.h"

#include <math.h>

#include "base/bits.h"
#include "base/error.h"

enum { POWERS = 8, BABIES = 1 << DPI_TREE_LEAF };

typedef struct spread_tree {
    dpi_plan *p;
    dpi_polynomial_way way;
    uint32_t first, x;
    bool has[DPI_PLAN_CARDS]; /* a card has its babies */
    uint32_t baby[DPI_PLAN_CARDS][BABIES];
    bool made[POWERS][DPI_PLAN_CARDS];
    uint32_t power[POWERS][DPI_PLAN_CARDS]; /* T_(2^k) as a card has it */
} spread_tree;

dpi_polynomial_way dpi_polynomial_tree(size_t degree, size_t cards)
{
    dpi_polynomial_way way = {.cards = 1, .leaf = 1, .shared = true};
    while (2 * way.cards <= cards && 8 * way.cards <= (size_t)1 << dpi_binary_digits(degree))
        way.cards *= 2;
    return way;
}

/* 2 t u - less, or - 1 where that is NULL; cards are counted from the first of the tree. */
static uint32_t twice(spread_tree *t, uint32_t card, uint32_t one, uint32_t other,
                      const uint32_t *less)
{
    const uint32_t in[] = {one, other, less == NULL ? 0 : *less};
    const dpi_step s = {.op = DPI_OP_TWICE, .card = t->first + card};
    return dpi_plan_do(t->p, s, less == NULL ? 2 : 3, in);
}

/* T_1 ... T_(2^leaf - 1) on a card, from 1 on. */
static const uint32_t *babies(spread_tree *t, uint32_t card)
{
    uint32_t *b = t->baby[card];
    b[1] = t->x;
    for (uint32_t k = 2; k < (uint32_t)1 << t->way.leaf && !t->has[card]; k++)
        b[k] = twice(t, card, b[(k + 1) / 2], b[k / 2], k % 2 == 0 ? NULL : &b[1]);
    t->has[card] = true;
    return b;
}

/* T_(2^k) as a card has it, on the way `shared` as the cards that 2^(k - leaf) divides make it. */
static uint32_t power(spread_tree *t, size_t k, uint32_t card)
{
    const uint32_t leaf = t->way.leaf, apart = (uint32_t)1 << (k > leaf ? k - leaf : 0);
    if (k < leaf)
        return babies(t, card)[(size_t)1 << k];
    if (t->way.shared && card % apart != 0)
        return power(t, k, card - card % apart);
    if (!t->made[k][card]) {
        const uint32_t half = power(t, k - 1, card);
        t->power[k][card] = twice(t, card, half, half, NULL);
        t->made[k][card] = true;
    }
    return t->power[k][card];
}

/* p = q T_g + r, by 2 T_g T_j = T_(g + j) + T_|g - j|: a[g ... 2 g - 1] becomes q, and
 * a[0 ... g - 1] r. */
static void divide(size_t g, double *a)
{
    for (size_t k = g + 1; k < 2 * g; k++) {
        a[2 * g - k] -= a[k];
        a[k] *= 2;
    }
}

/* low + T_g high, made where high is and added where low is. */
static uint32_t put_together(spread_tree *t, uint32_t low, uint32_t high, size_t k, uint32_t card,
                             uint32_t other)
{
    const uint32_t factors[] = {high, power(t, k, other)};
    dpi_step s = {.op = DPI_OP_MULTIPLY, .card = t->first + other};
    const uint32_t product = dpi_plan_do(t->p, s, 2, factors);
    s.op = DPI_OP_RESCALE;
    const uint32_t scaled = dpi_plan_do(t->p, s, 1, &product), terms[] = {low, scaled};
    return dpi_plan_do(t->p, (dpi_step){.op = DPI_OP_ADD, .card = t->first + card}, 2, terms);
}

/* Of 2^d coefficients over `cards` cards from `card` on. */
static uint32_t evaluate(spread_tree *t, size_t d, double *a, uint32_t card, uint32_t cards)
{
    const size_t half = (size_t)1 << (d - 1), all = (size_t)1 << d;
    if (d == t->way.leaf) {
        const dpi_step s = {.op = DPI_OP_COMBINE,
                            .card = t->first + card,
                            .argument = dpi_plan_numbers(t->p, all, a)};
        return dpi_plan_do(t->p, s, all - 1, babies(t, card) + 1);
    }
    const uint32_t other = card + cards / 2, below = cards > 1 ? cards / 2 : 1;
    divide(half, a);
    const uint32_t low = evaluate(t, d - 1, a, card, below);
    const uint32_t high = evaluate(t, d - 1, a + half, other, below);
    return put_together(t, low, high, d - 1, card, other);
}

uint32_t dpi_plan_polynomial(dpi_plan *p, uint32_t first, const dpi_polynomial_way *way,
                             size_t degree, const double *a, uint32_t x)
{
    double own[DPI_TREE_DEGREE + 1] = {0};
    spread_tree t = {.p = p, .way = *way, .first = first, .x = x};
    if (degree < 3 || degree > DPI_TREE_DEGREE)
        dpi_misuse(__func__, "the degree is 3 to DPI_TREE_DEGREE");
    const size_t d = dpi_binary_digits(degree);
    if (way->leaf < 1 || way->leaf > DPI_TREE_LEAF || way->leaf > d || way->cards < 1 ||
        way->cards > (uint32_t)1 << (d - way->leaf) || (way->cards & (way->cards - 1)) != 0)
        dpi_misuse(__func__, "pieces have 2 to 2^DPI_TREE_LEAF coefficients, and cards pieces");
    for (size_t k = 0; k <= degree; k++)
        own[k] = a[k];
    dpi_plan_broadcast(p, x, first, way->cards);
    for (size_t k = way->leaf; k < d && way->shared; k++)
        for (uint32_t card = 0; card < way->cards; card++)
            (void)power(&t, k, card);
    return evaluate(&t, d, own, 0, way->cards);
}

/* ---- which way ---- */

static dp_status seconds_of(const dpi_polynomial_way *way, size_t degree, size_t times,
                            const dpi_costs *costs, double *seconds, dp_error *err)
{
    const double a[DPI_TREE_DEGREE + 1] = {0};
    dpi_plan p;
    dpi_times took;
    dpi_plan_begin(&p, way->cards);
    p.copied = costs->copying;
    uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    for (size_t k = 0; k < times; k++)
        x = dpi_plan_polynomial(&p, 0, way, degree, a, x);
    const dp_status status = dpi_simulate(&p, costs, &took, err);
    *seconds = took.total;
    dpi_plan_free(&p);
    return status;
}

dp_status dpi_polynomial_search(size_t degree, size_t times, size_t cards, const dpi_costs *costs,
                                dpi_polynomial_way *way, double *seconds, dp_error *err)
{
    const size_t d = dpi_binary_digits(degree);
    *seconds = INFINITY;
    for (uint32_t leaf = 1; leaf <= DPI_TREE_LEAF && leaf <= d; leaf++)
        for (uint32_t n = 1; n <= cards && n <= (uint32_t)1 << (d - leaf); n *= 2)
            for (int shared = n > 1; shared >= 0; shared--) {
                const dpi_polynomial_way w = {.cards = n, .leaf = leaf, .shared = shared};
                double took;
                const dp_status status = seconds_of(&w, degree, times, costs, &took, err);
                if (status != DP_OK)
                    return status;
                if (took < *seconds) {
                    *seconds = took;
                    *way = w;
                }
            }
    return DP_OK;
}
