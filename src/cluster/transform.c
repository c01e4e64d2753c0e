/* Baby steps everywhere, giant steps in turns. */
#include "cluster/transform.h"

#include <math.h>

#include "base/error.h"

static uint32_t turn(dpi_plan *p, uint32_t card, size_t by, uint32_t x)
{
    const dpi_step s = {.op = DPI_OP_ROTATE, .card = card, .argument = (uint32_t)by};
    return by == 0 ? x : dpi_plan_do(p, s, 1, &x);
}

static uint32_t add(dpi_plan *p, uint32_t card, uint32_t one, uint32_t other)
{
    const uint32_t in[] = {one, other};
    return dpi_plan_do(p, (dpi_step){.op = DPI_OP_ADD, .card = card}, 2, in);
}

/* The sum of a giant step, turned. */
static uint32_t giant_step(dpi_plan *p, uint32_t card, const dpi_spread_map *map, size_t j,
                           uint32_t plain, const uint32_t *turned)
{
    const size_t low = map->centred ? map->diagonals / 2 : 0, at = map->baby * j;
    uint32_t sum = 0;
    for (size_t i = 0; i < map->baby; i++) {
        const dpi_step s = {
            .op = DPI_OP_TIMES, .card = card, .argument = plain + (uint32_t)(at + i)};
        const uint32_t term = dpi_plan_do(p, s, 1, &turned[i]);
        sum = i == 0 ? term : add(p, card, sum, term);
    }
    return turn(p, card, (map->stride * at + map->places - map->stride * low) % map->places, sum);
}

/* What a card adds to the whole: the giant steps j, j + cards ... */
static uint32_t part_of(dpi_plan *p, uint32_t card, const dpi_spread_map *map, size_t j,
                        uint32_t cards, uint32_t plain, uint32_t x)
{
    uint32_t turned[DPI_SPREAD_BABY], sum = 0;
    for (size_t i = 0; i < map->baby; i++)
        turned[i] = turn(p, card, map->stride * i % map->places, x);
    for (size_t k = j; k < map->diagonals / map->baby; k += cards) {
        const uint32_t term = giant_step(p, card, map, k, plain, turned);
        sum = k == j ? term : add(p, card, sum, term);
    }
    return sum;
}

uint32_t dpi_plan_map(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_spread_map *map,
                      uint32_t x)
{
    uint32_t part[DPI_PLAN_CARDS];
    if (map->baby < 1 || map->baby > DPI_SPREAD_BABY || map->diagonals % map->baby != 0 ||
        cards < 1 || first + cards > p->cards || map->stride * map->diagonals > 2 * map->places)
        dpi_misuse(__func__, "a map has baby steps that divide its diagonals, and cards");
    const size_t giants = map->diagonals / map->baby;
    const uint32_t used = giants < cards ? (uint32_t)giants : cards;
    const uint32_t plain = dpi_plan_plains(p, map->diagonals);
    dpi_plan_broadcast(p, x, first, used);
    for (uint32_t j = 0; j < used; j++)
        part[j] = part_of(p, first + j, map, j, used, plain, x);
    const uint32_t sum = dpi_plan_sum(p, used, part);
    return dpi_plan_do(p, (dpi_step){.op = DPI_OP_RESCALE, .card = first}, 1, &sum);
}

uint32_t dpi_plan_dft(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_dft *dft, bool down,
                      uint32_t x)
{
    dpi_spread_map map[DPI_DFT_MATRICES];
    const size_t places = dft->radix[0] * dft->radix[1] * dft->radix[2];
    for (size_t i = 0, stride = places; i < DPI_DFT_MATRICES; i++) {
        stride /= dft->radix[i];
        map[i] = (dpi_spread_map){.places = places,
                                  .diagonals = (i == 0 ? 1 : 2) * dft->radix[i],
                                  .baby = dft->baby[i],
                                  .stride = stride,
                                  .centred = i > 0};
    }
    for (size_t i = 0; i < DPI_DFT_MATRICES; i++)
        x = dpi_plan_map(p, first, cards, &map[down ? DPI_DFT_MATRICES - 1 - i : i], x);
    return x;
}

/* ---- the fastest ---- */

static dp_status map_seconds(const dpi_spread_map *map, size_t cards, const dpi_costs *costs,
                             double *seconds, dp_error *err)
{
    dpi_plan p;
    dpi_times times;
    dpi_plan_begin(&p, cards);
    p.copied = costs->copying;
    const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    (void)dpi_plan_map(&p, 0, (uint32_t)cards, map, x);
    const dp_status status = dpi_simulate(&p, costs, &times, err);
    *seconds = times.total;
    dpi_plan_free(&p);
    return status;
}

typedef struct matrices {
    double seconds[2][DPI_SPREAD_LOG + 1]; /* of the first, and of the others; radix 2^k */
    size_t baby[2][DPI_SPREAD_LOG + 1];
} matrices;

static dp_status best_of(size_t others, size_t k, size_t cards, const dpi_costs *costs, matrices *m,
                         dp_error *err)
{
    const size_t diagonals = (size_t)1 << (k + others);
    m->seconds[others][k] = INFINITY;
    for (size_t b = 1; b <= diagonals; b *= 2) {
        /* Strides are no matter for time, but are not to meet by chance. */
        const dpi_spread_map map = {(size_t)1 << 20, diagonals, b, 1, others == 1};
        double seconds;
        const dp_status status = map_seconds(&map, cards, costs, &seconds, err);
        if (status != DP_OK)
            return status;
        if (seconds < m->seconds[others][k]) {
            m->seconds[others][k] = seconds;
            m->baby[others][k] = b;
        }
    }
    return DP_OK;
}

static void put_if_better(const matrices *m, const dpi_costs *costs, const size_t k[],
                          dpi_dft *best)
{
    dpi_dft d = {.seconds = 0};
    for (size_t i = 0; i < DPI_DFT_MATRICES; i++) {
        d.radix[i] = (size_t)1 << k[i];
        d.baby[i] = m->baby[i > 0][k[i]];
        d.seconds += (1 - costs->falling * (double)i) * m->seconds[i > 0][k[i]];
    }
    if (d.seconds < best->seconds)
        *best = d;
}

dp_status dpi_dft_find(size_t log_slots, size_t cards, const dpi_costs *costs, dpi_dft *dft,
                       dp_error *err)
{
    matrices m;
    dp_status status = DP_OK;
    if (log_slots < DPI_DFT_MATRICES || log_slots > (size_t)DPI_DFT_MATRICES * DPI_SPREAD_LOG)
        dpi_misuse(__func__, "a DFT of three matrices has 2^3 to 2^21 places");
    for (size_t k = 1; k <= DPI_SPREAD_LOG && status == DP_OK; k++)
        for (size_t others = 0; others < 2 && status == DP_OK; others++)
            status = best_of(others, k, cards, costs, &m, err);
    *dft = (dpi_dft){.seconds = INFINITY};
    for (size_t a = 1; a <= DPI_SPREAD_LOG && status == DP_OK; a++)
        for (size_t b = 1; b <= DPI_SPREAD_LOG && a + b < log_slots; b++)
            if (log_slots - a - b <= DPI_SPREAD_LOG)
                put_if_better(&m, costs, (const size_t[]){a, b, log_slots - a - b}, dft);
    return status;
}

/* ---- bootstrapping ---- */

uint32_t dpi_plan_boot(dpi_plan *p, uint32_t first, uint32_t cards, const dpi_spread_boot *boot,
                       uint32_t x)
{
    x = dpi_plan_do(p, (dpi_step){.op = DPI_OP_RAISE, .card = first}, 1, &x);
    x = dpi_plan_dft(p, first, cards, &boot->dft, false, x);
    x = dpi_plan_polynomial(p, first, &boot->way, boot->degree, boot->a, x);
    for (size_t k = 0; k < boot->doublings; k++) {
        const uint32_t in[] = {x, x};
        x = dpi_plan_do(p, (dpi_step){.op = DPI_OP_TWICE, .card = first}, 2, in);
    }
    return dpi_plan_dft(p, first, cards, &boot->dft, true, x);
}
