/* The tree: pairs of coefficients, and products with T_2, T_4 ... above them. */
#include "cluster/polynomial.h"

#include "base/error.h"

enum { POWERS = 8 };

typedef struct spread_tree {
    dpi_plan *p;
    uint32_t cards;
    uint32_t x;
    uint32_t power[POWERS][DPI_PLAN_CARDS]; /* T_(2^k) as a card has it */
} spread_tree;

static size_t depth_of(size_t degree)
{
    size_t d = 0;
    while ((size_t)1 << d <= degree)
        d++;
    return d;
}

size_t dpi_polynomial_cards(size_t degree, size_t cards)
{
    size_t used = 1;
    while (2 * used <= cards && 8 * used <= (size_t)1 << depth_of(degree))
        used *= 2;
    return used;
}

/* T_(2^k) on the cards that 2^(k - 1) divides, and whose it is on the others. */
static void make_power(spread_tree *t, size_t k)
{
    const uint32_t apart = (uint32_t)1 << (k - 1);
    for (uint32_t card = 0; card < t->cards; card++) {
        const uint32_t half = t->power[k - 1][card], in[] = {half, half};
        t->power[k][card] =
            card % apart == 0
                ? dpi_plan_do(t->p, (dpi_step){.op = DPI_OP_TWICE, .card = card}, 2, in)
                : t->power[k][card - card % apart];
    }
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
    const uint32_t factors[] = {high, t->power[k][other]};
    dpi_step s = {.op = DPI_OP_MULTIPLY, .card = other};
    const uint32_t product = dpi_plan_do(t->p, s, 2, factors);
    s.op = DPI_OP_RESCALE;
    const uint32_t scaled = dpi_plan_do(t->p, s, 1, &product), terms[] = {low, scaled};
    return dpi_plan_do(t->p, (dpi_step){.op = DPI_OP_ADD, .card = card}, 2, terms);
}

/* Of 2^d coefficients over `cards` cards from `card` on. */
static uint32_t evaluate(spread_tree *t, size_t d, double *a, uint32_t card, uint32_t cards)
{
    const size_t half = (size_t)1 << (d - 1);
    if (d == 1)
        return dpi_plan_do(t->p,
                           (dpi_step){.op = DPI_OP_COMBINE,
                                      .card = card,
                                      .argument = dpi_plan_numbers(t->p, 2, a)},
                           1, &t->x);
    const uint32_t other = card + cards / 2, below = cards > 1 ? cards / 2 : 1;
    divide(half, a);
    const uint32_t low = evaluate(t, d - 1, a, card, below);
    const uint32_t high = evaluate(t, d - 1, a + half, other, below);
    return put_together(t, low, high, d - 1, card, other);
}

uint32_t dpi_plan_polynomial(dpi_plan *p, size_t degree, const double *a, uint32_t x)
{
    double own[DPI_TREE_DEGREE + 1] = {0};
    spread_tree t = {.p = p, .cards = (uint32_t)dpi_polynomial_cards(degree, p->cards), .x = x};
    if (degree < 3 || degree > DPI_TREE_DEGREE)
        dpi_misuse(__func__, "the degree is 3 to DPI_TREE_DEGREE");
    for (size_t k = 0; k <= degree; k++)
        own[k] = a[k];
    for (uint32_t card = 0; card < t.cards; card++)
        t.power[0][card] = x;
    const size_t d = depth_of(degree);
    for (size_t k = 1; k < d; k++)
        make_power(&t, k);
    return evaluate(&t, d, own, 0, t.cards);
}
