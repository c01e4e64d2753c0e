/* Work by shares, and ciphertexts over groups of cards. */
#include "cluster/layer.h"

#include <math.h>
#include <string.h>

#include "base/bits.h"
#include "base/error.h"

/* ---- ciphertexts over cards ---- */

dpi_place dpi_place_of(const dpi_mapping *m, uint32_t n, uint32_t i)
{
    const uint32_t cards = (uint32_t)m->cards, rounds = n / cards, left = n % cards;
    if (i < rounds * cards)
        return (dpi_place){.first = i / rounds, .cards = 1, .round = i % rounds};
    const bool alone = rounds > 0 && m->rest != DPI_REST_REGROUPED;
    return (dpi_place){.first = (i - rounds * cards) * cards / left,
                       .cards = alone ? 1 : (uint32_t)1 << (dpi_binary_digits(cards / left) - 1),
                       .round = rounds};
}

static uint32_t bootstrap(dpi_plan *p, const dpi_mapping *m, dpi_place at, uint32_t x)
{
    return dpi_plan_boot(p, at.first, at.cards, &m->ways->boot[dpi_binary_digits(at.cards) - 1], x);
}

static uint32_t signs(dpi_plan *p, const dpi_mapping *m, dpi_place at, uint32_t x)
{
    const dpi_polynomial_way *way = &m->ways->sign[dpi_binary_digits(at.cards) - 1];
    for (size_t k = 0; k < DPI_SIGNS; k++)
        x = dpi_plan_polynomial(p, at.first, way, 15, m->ways->a, x);
    return x;
}

/* Those of values[n] that are of a round, each by its cards. */
static void each(dpi_plan *p, const dpi_mapping *m, uint32_t n, uint32_t round,
                 uint32_t (*f)(dpi_plan *p, const dpi_mapping *m, dpi_place at, uint32_t x),
                 uint32_t *values)
{
    for (uint32_t i = 0; i < n; i++) {
        const dpi_place at = dpi_place_of(m, n, i);
        if (at.round == round)
            values[i] = f(p, m, at, values[i]);
    }
}

static void to_all(dpi_plan *p, const dpi_mapping *m, uint32_t n, uint32_t round,
                   const uint32_t *values)
{
    for (uint32_t i = 0; i < n; i++)
        if (dpi_place_of(m, n, i).round == round)
            dpi_plan_broadcast(p, values[i], dpi_plan_home(p, values[i]), (uint32_t)m->cards);
}

/* ---- layers ---- */

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* floor(c U / C) */
static uint32_t from_unit(uint32_t units, size_t c, size_t of)
{
    return (uint32_t)((uint64_t)units * c / of);
}

/* By shares: card c has the units from[c] ... from[c + 1] - 1, of which `early` of it, if that is
 * above 0, is there already, as before[c]. */
typedef struct shares {
    uint32_t units, from[DPI_PLAN_CARDS + 1];
    double seconds, early[DPI_PLAN_CARDS];
    uint32_t before[DPI_PLAN_CARDS];
    uint32_t n_in, in[DPI_PLAN_CARDS + 1]; /* what it is made of */
} shares;

static uint32_t part_of(dpi_plan *p, shares *w, uint32_t card, uint32_t units)
{
    const double seconds = w->seconds * units * (1 - w->early[card]);
    const dpi_step s = {
        .op = DPI_OP_WORK, .card = card, .level = DPI_WORK_LEVEL, .seconds = seconds};
    w->in[w->n_in] = w->before[card];
    return dpi_plan_do(p, s, w->n_in + (w->early[card] > 0 ? 1 : 0), w->in);
}

static void work(dpi_plan *p, shares *w, uint32_t n, uint32_t *values)
{
    uint32_t part[DPI_PLAN_CARDS];
    for (uint32_t o = 0; o < n; o++) {
        const uint32_t begin = from_unit(w->units, o, n), end = from_unit(w->units, o + 1, n);
        uint32_t parts = 0;
        for (uint32_t c = 0; c < p->cards; c++) {
            const uint32_t from = w->from[c] > begin ? w->from[c] : begin;
            const uint32_t to = least(w->from[c + 1], end);
            if (from < to)
                part[parts++] = part_of(p, w, c, to - from);
        }
        values[o] = dpi_plan_sum(p, parts, part);
    }
}

void dpi_plan_work(dpi_plan *p, uint32_t n, uint32_t units, double seconds, uint32_t *values)
{
    shares w = {.units = units, .seconds = seconds};
    if (n < 1 || n > DPI_PLAN_CARDS || units < n)
        dpi_misuse(__func__, "work makes 1 to DPI_PLAN_CARDS ciphertexts, of a unit each at least");
    for (size_t c = 0; c <= p->cards; c++)
        w.from[c] = from_unit(units, c, p->cards);
    work(p, &w, n, values);
}

/* ---- cards that are left out of the last round ---- */

/* So many units that all cards are busy as long, `rest` of them with what the plan has. */
static void balance(const dpi_plan *p, const dpi_costs *costs, shares *w)
{
    double busy[DPI_PLAN_CARDS] = {0}, all = w->units * w->seconds, units = 0;
    for (size_t k = 0; k < p->n_steps; k++)
        if (p->step[k].op != DPI_OP_MESSAGE)
            busy[p->step[k].card] += dpi_step_seconds(&p->step[k], costs);
    for (size_t c = 0; c < p->cards; c++)
        all += busy[c];
    for (size_t c = 0; c < p->cards; c++) {
        w->from[c] = (uint32_t)llrint(units);
        units = fmin(units + fmax(all / (double)p->cards - busy[c], 0) / w->seconds, w->units);
    }
    w->from[p->cards] = w->units;
}

/* Cards without a ciphertext of the last round do of their share what needs those of the rounds
 * before it alone: as much of it as these are of all. */
static void work_early(dpi_plan *p, shares *w, uint32_t n, uint32_t ready, const bool *taken,
                       const uint32_t *values)
{
    for (uint32_t c = 0; c < p->cards; c++) {
        if (taken[c] || w->from[c] == w->from[c + 1])
            continue;
        w->early[c] = (double)ready / n;
        const dpi_step s = {.op = DPI_OP_WORK,
                            .card = c,
                            .level = DPI_WORK_LEVEL,
                            .seconds = w->seconds * (w->from[c + 1] - w->from[c]) * w->early[c]};
        w->before[c] = dpi_plan_do(p, s, ready, values);
    }
}

static void layer_filled(dpi_plan *p, const dpi_mapping *m, const dpi_spread_layer *layer,
                         double seconds, uint32_t *values)
{
    const uint32_t n = layer->ciphertexts, last = n / (uint32_t)m->cards;
    shares w = {.units = layer->units, .seconds = seconds, .n_in = n};
    bool taken[DPI_PLAN_CARDS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        const dpi_place at = dpi_place_of(m, n, i);
        taken[at.first] = taken[at.first] || at.round == last;
        values[i] = dpi_plan_do(p, (dpi_step){.op = DPI_OP_WORK, .card = at.first}, 0, NULL);
    }
    for (uint32_t round = 0; round <= last; round++) {
        each(p, m, n, round, bootstrap, values);
        each(p, m, n, round, signs, values);
        if (round < last)
            to_all(p, m, n, round, values);
    }
    balance(p, m->costs, &w);
    work_early(p, &w, n, n - n % (uint32_t)m->cards, taken, values);
    to_all(p, m, n, last, values);
    memcpy(w.in, values, n * sizeof *values);
    work(p, &w, n, values);
    for (uint32_t i = 0; i < n; i++)
        dpi_plan_send(p, values[i], dpi_plan_home(p, values[i]), dpi_place_of(m, n, i).first);
}

void dpi_plan_layer(dpi_plan *p, const dpi_mapping *m, const dpi_spread_layer *layer,
                    double unit_seconds, uint32_t *values)
{
    const uint32_t n = layer->ciphertexts, cards = (uint32_t)m->cards;
    const uint32_t rounds = (n + cards - 1) / cards;
    if (m->rest == DPI_REST_FILLED && rounds > 1 && n % cards != 0 && unit_seconds > 0) {
        layer_filled(p, m, layer, unit_seconds, values);
        return;
    }
    p->stage = DPI_STAGE_WORK;
    dpi_plan_work(p, n, layer->units, unit_seconds, values);
    p->stage = DPI_STAGE_BOOT;
    for (uint32_t round = 0; round < rounds; round++)
        each(p, m, n, round, bootstrap, values);
    p->stage = DPI_STAGE_SIGNS;
    for (uint32_t round = 0; round < rounds; round++) {
        each(p, m, n, round, signs, values);
        to_all(p, m, n, round, values);
    }
}
