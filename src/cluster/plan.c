/* Steps are added one by one, and each is checked against what its card has. */
#include "cluster/plan.h"

#include <string.h>

#include "base/error.h"

void dpi_plan_begin(dpi_plan *p, size_t cards)
{
    if (cards < 1 || cards > DPI_PLAN_CARDS)
        dpi_misuse(__func__, "there are 1 to DPI_PLAN_CARDS cards");
    *p = (dpi_plan){.cards = cards};
}

void dpi_plan_free(dpi_plan *p)
{
    dpi_arena_free(&p->arena);
    *p = (dpi_plan){0};
}

/* Whether there is room for n more of an array. */
static bool grow(dpi_plan *p, void **array, size_t *room, size_t n, size_t size)
{
    if (p->status == DP_OK && !dpi_arena_grow(&p->arena, array, room, n, size))
        p->status = DP_ENOMEM;
    return p->status == DP_OK;
}

static uint64_t bit(uint32_t card)
{
    return (uint64_t)1 << card;
}

static uint32_t new_value(dpi_plan *p, dpi_card_value v)
{
    if (!grow(p, (void **)&p->value, &p->room[1], p->n_values + 1, sizeof *p->value))
        return 0;
    p->value[p->n_values] = v;
    return (uint32_t)p->n_values++;
}

uint32_t dpi_plan_input(dpi_plan *p, uint32_t level)
{
    const uint64_t all = p->cards == 64 ? UINT64_MAX : bit((uint32_t)p->cards) - 1;
    return new_value(p, (dpi_card_value){.at = all, .level = level});
}

static void add_step(dpi_plan *p, const dpi_step *s)
{
    if (grow(p, (void **)&p->step, &p->room[0], p->n_steps + 1, sizeof *p->step))
        p->step[p->n_steps++] = *s;
}

uint32_t dpi_plan_home(const dpi_plan *p, uint32_t value)
{
    return p->status == DP_OK ? p->value[value].home : 0;
}

void dpi_plan_send(dpi_plan *p, uint32_t value, uint32_t from, uint32_t to)
{
    if (p->status != DP_OK || (p->value[value].at & bit(to)) != 0)
        return;
    if ((p->value[value].at & bit(from)) == 0)
        dpi_misuse(__func__, "a card sends what it has not");
    const dpi_step s = {.op = DPI_OP_MESSAGE,
                        .card = from,
                        .to = to,
                        .out = value,
                        .level = p->value[value].level,
                        .stage = p->stage};
    add_step(p, &s);
    p->value[value].at |= bit(to);
}

/* What an operation of n inputs counts as: numbers are no plaintexts, and rescaling has no row. */
static void count_of(dpi_card_op op, size_t n, uint32_t count[DPI_COUNTS])
{
    count[DPI_ROTATIONS] += op == DPI_OP_ROTATE;
    count[DPI_PRODUCTS] += op == DPI_OP_MULTIPLY || op == DPI_OP_TWICE;
    count[DPI_TIMES] += op == DPI_OP_TIMES;
    count[DPI_SUMS] += op == DPI_OP_ADD ? 1 : op == DPI_OP_TWICE ? 2 : op == DPI_OP_COMBINE ? n : 0;
}

static bool goes_down(dpi_card_op op)
{
    return op == DPI_OP_RESCALE || op == DPI_OP_TWICE || op == DPI_OP_COMBINE;
}

uint32_t dpi_plan_do(dpi_plan *p, dpi_step s, size_t n, const uint32_t *in)
{
    if (!grow(p, (void **)&p->in, &p->room[2], p->n_in + n, sizeof *p->in))
        return 0;
    if (s.card >= p->cards)
        dpi_misuse(__func__, "there is no such card");
    for (size_t k = 0; k < n; k++) {
        const uint32_t level = p->value[in[k]].level;
        dpi_plan_send(p, in[k], p->value[in[k]].home, s.card);
        p->in[p->n_in + k] = in[k];
        s.level = level > s.level ? level : s.level;
    }
    count_of(s.op, n, s.count);
    if (s.op == DPI_OP_RAISE)
        s.level = 0;
    s.in = (uint32_t)p->n_in;
    s.n_in = (uint32_t)n;
    s.stage = p->stage;
    p->n_in += n;
    s.out = new_value(p, (dpi_card_value){.at = bit(s.card),
                                          .home = s.card,
                                          .level = s.level + (goes_down(s.op) ? 1 : 0)});
    add_step(p, &s);
    return s.out;
}

/* ---- patterns of messages ---- */

void dpi_plan_exchange(dpi_plan *p, uint32_t first, uint32_t n, const uint32_t *values)
{
    for (uint32_t apart = 1; apart < n; apart++)
        for (uint32_t i = 0; i < n; i++)
            dpi_plan_send(p, values[i], first + i, first + (i + apart) % n);
}

void dpi_plan_broadcast(dpi_plan *p, uint32_t value, uint32_t first, uint32_t n)
{
    const uint32_t cards = (uint32_t)p->cards;
    if (p->copied) {
        for (uint32_t i = 0; i < n; i++)
            dpi_plan_send(p, value, first, (first + i) % cards);
        return;
    }
    for (uint32_t have = 1; have < n; have *= 2)
        for (uint32_t i = 0; i < have && i + have < n; i++)
            dpi_plan_send(p, value, (first + i) % cards, (first + i + have) % cards);
}

uint32_t dpi_plan_sum(dpi_plan *p, uint32_t n, uint32_t *values)
{
    for (uint32_t apart = 1; apart < n && p->status == DP_OK; apart *= 2)
        for (uint32_t i = 0; i + apart < n; i += 2 * apart) {
            const uint32_t pair[] = {values[i], values[i + apart]};
            values[i] = dpi_plan_do(
                p, (dpi_step){.op = DPI_OP_ADD, .card = dpi_plan_home(p, values[i])}, 2, pair);
        }
    return values[0];
}

/* ---- what steps name ---- */

uint32_t dpi_plan_numbers(dpi_plan *p, size_t n, const double *a)
{
    const uint32_t at = (uint32_t)p->n_numbers;
    if (!grow(p, (void **)&p->number, &p->room[3], p->n_numbers + n, sizeof *p->number))
        return 0;
    memcpy(p->number + at, a, n * sizeof *a);
    p->n_numbers += n;
    return at;
}

uint32_t dpi_plan_plains(dpi_plan *p, size_t n)
{
    const uint32_t at = (uint32_t)p->n_plains;
    p->n_plains += n;
    return at;
}

void dpi_plan_count(const dpi_plan *p, size_t card, size_t count[DPI_COUNTS])
{
    memset(count, 0, DPI_COUNTS * sizeof *count);
    for (size_t k = 0; k < p->n_steps; k++)
        for (size_t j = 0; j < DPI_COUNTS; j++)
            if (card == p->cards || p->step[k].card == card)
                count[j] += p->step[k].count[j];
}

size_t dpi_plan_messages(const dpi_plan *p)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n_steps; k++)
        n += p->step[k].op == DPI_OP_MESSAGE;
    return n;
}
