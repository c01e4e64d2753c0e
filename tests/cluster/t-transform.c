/* Maps over cards are the maps, on numbers that nothing hides, and take what they should. */
#include "cluster/transform.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

enum { PLACES = 64, MOST = 1024 };

static double number(size_t i, size_t k)
{
    return sin(2.385 * (double)i + 1.17 * (double)k * (double)k);
}

static size_t low_of(const dpi_spread_map *map)
{
    return map->centred ? map->diagonals / 2 : 0;
}

/* Diagonal d of the map, turned as the plan has it. */
static double plain(const dpi_spread_map *map, size_t d, size_t place)
{
    const size_t giant = d / map->baby * map->baby;
    const size_t back = map->stride * (giant + map->places - low_of(map));
    return number((place + map->places * map->places - back) % map->places, d);
}

/* The steps of a map's plan on vectors. */
static void run(const dpi_plan *p, const dpi_spread_map *map, double v[][PLACES])
{
    assert_true(p->n_values <= MOST);
    for (size_t k = 0; k < p->n_steps; k++) {
        const dpi_step *s = &p->step[k];
        if (s->op == DPI_OP_MESSAGE)
            continue;
        const double *x = v[p->in[s->in]], *y = v[p->in[s->in + s->n_in - 1]];
        for (size_t i = 0; i < map->places; i++)
            v[s->out][i] = s->op == DPI_OP_ROTATE  ? x[(i + s->argument) % map->places]
                           : s->op == DPI_OP_ADD   ? x[i] + y[i]
                           : s->op == DPI_OP_TIMES ? x[i] * plain(map, s->argument, i)
                                                   : x[i];
    }
}

static void maps_are_the_sums_of_their_diagonals(void **state)
{
    static double v[MOST][PLACES];
    (void)state;
    for (uint32_t cards = 1; cards <= 16; cards *= 2)
        for (size_t baby = 1; baby <= 16; baby *= 2)
            for (int centred = 0; centred < 2; centred++) {
                const dpi_spread_map map = {PLACES, 16, baby, 4, centred};
                dpi_plan p;
                dpi_plan_begin(&p, cards + 1);
                const uint32_t x = dpi_plan_input(&p, 0), y = dpi_plan_map(&p, 1, cards, &map, x);
                assert_int_equal(p.status, DP_OK);
                for (size_t i = 0; i < PLACES; i++)
                    v[x][i] = number(i, 99);
                run(&p, &map, v);
                for (size_t i = 0; i < PLACES; i++) {
                    double sum = 0;
                    for (size_t d = 0; d < 16; d++)
                        sum += number(i, d) * v[x][(i + 4 * (d + PLACES - low_of(&map))) % PLACES];
                    assert_close(v[y][i], sum, 1e-12, 1e-12);
                }
                assert_int_equal(p.value[y].home, 1);
                assert_int_equal(p.value[y].level, 1);
                dpi_plan_free(&p);
            }
}

/* b - 1 baby steps, D / b - 1 giant ones, or D / b where none of them is by 0; D products, D - 1
 * sums. */
static void one_card_counts_as_told(void **state)
{
    const dpi_dft dft = {{32, 32, 32}, {4, 8, 8}, 0};
    size_t count[DPI_COUNTS];
    dpi_plan p;
    (void)state;
    for (int down = 0; down < 2; down++) {
        dpi_plan_begin(&p, 1);
        const uint32_t x = dpi_plan_input(&p, 0), y = dpi_plan_dft(&p, 0, 1, &dft, down, x);
        assert_int_equal(p.value[y].level, 3);
        dpi_plan_count(&p, 1, count);
        assert_int_equal(count[DPI_ROTATIONS], 3 + 7 + 2 * (7 + 7));
        assert_int_equal(count[DPI_TIMES], 32 + 2 * 64);
        assert_int_equal(count[DPI_SUMS], 31 + 2 * 63);
        assert_int_equal(dpi_plan_messages(&p), 0);
        dpi_plan_free(&p);
    }
}

/* On C cards, all of them with as many giant steps, one with none that is by 0: Hydra's equation,
 * without the baby step by 0. */
static void times_are_hydras_equation(void **state)
{
    const dpi_costs costs = {
        .operation = {1, 1, .02, .03}, .bytes = .7, .bandwidth = 1, .copying = true};
    (void)state;
    for (uint32_t cards = 2; cards <= 16; cards *= 2)
        for (size_t baby = 1; baby <= 4; baby *= 2) {
            const dpi_spread_map map = {1024, 64, baby, 8, true};
            const double b = (double)baby, giant = 64 / b / cards;
            dpi_times t;
            dpi_plan p;
            dp_error err = {0};
            dpi_plan_begin(&p, cards);
            p.copied = true;
            const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
            (void)dpi_plan_map(&p, 0, cards, &map, x);
            assert_ok(dpi_simulate(&p, &costs, &t, &err), err.text);
            assert_close(t.total,
                         b - 1 + giant * (b * .02 + (b - 1) * .03 + 1) + (giant - 1) * .03 +
                             log2(cards) * (.7 + .03) + .7,
                         1e-12, 0);
            dpi_plan_free(&p);
        }
}

static double dft_seconds(const dpi_dft *dft, uint32_t cards, const dpi_costs *costs)
{
    dpi_times t;
    dpi_plan p;
    dp_error err = {0};
    dpi_plan_begin(&p, cards);
    p.copied = costs->copying;
    const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    (void)dpi_plan_dft(&p, 0, cards, dft, false, x);
    assert_ok(dpi_simulate(&p, costs, &t, &err), err.text);
    dpi_plan_free(&p);
    return t.total;
}

/* What is found takes as long as it is said to, and no longer than what the equation finds; more
 * cards never take longer. */
static void the_fastest_is_found(void **state)
{
    static const double speedup[] = {1, 1.219, 1.639, 1.990, 2.308, 2.452, 2.637};
    const dpi_costs costs = {
        .operation = {1, 1, .02, .02}, .bytes = .7, .bandwidth = 1, .falling = .1, .copying = true};
    const dpi_dft_costs equation = {1, .02, .02, .7, .1};
    double one = 0;
    (void)state;
    for (size_t k = 0; k < 7; k++) {
        const uint32_t cards = (uint32_t)1 << k;
        const dpi_dft hydra = dpi_dft_search(15, cards, &equation);
        dpi_dft found;
        dp_error err = {0};
        assert_ok(dpi_dft_find(15, cards, &costs, &found, &err), err.text);
        assert_int_equal(found.radix[0] * found.radix[1] * found.radix[2], 1 << 15);
        assert_close(found.seconds, dft_seconds(&found, cards, &costs), 1e-9, 0);
        assert_true(found.seconds <= dft_seconds(&hydra, cards, &costs) * (1 + 1e-9));
        one = k == 0 ? found.seconds : one;
        assert_close(one / found.seconds, speedup[k], 0, .005);
    }
}

/* Bootstrapping on any cards has as many levels, and each ends where it began. */
static void bootstraps_are_three_parts(void **state)
{
    const double a[60] = {0};
    (void)state;
    for (uint32_t cards = 1; cards <= 4; cards *= 2) {
        const dpi_spread_boot boot = {.dft = {{32, 32, 32}, {4, 8, 8}, 0},
                                      .way = {cards, 3, true},
                                      .degree = 59,
                                      .doublings = 2,
                                      .a = a};
        size_t count[DPI_COUNTS];
        dpi_plan p;
        dpi_plan_begin(&p, cards + 2);
        const uint32_t x =
            dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK, .card = 0, .level = 30}, 0, NULL);
        const uint32_t y = dpi_plan_boot(&p, 2, cards, &boot, x);
        assert_int_equal(p.value[y].home, 2);
        assert_int_equal(p.value[y].level, 3 + 7 + 2 + 3);
        dpi_plan_count(&p, p.cards, count);
        assert_int_equal(count[DPI_TIMES], 2 * (32 + 64 + 64));
        if (cards == 1)
            assert_int_equal(count[DPI_PRODUCTS], 16 + 2);
        dpi_plan_free(&p);
    }
}

static void broken(void *of)
{
    dpi_plan_map(of, 0, 1, &(dpi_spread_map){64, 16, 3, 1, false}, 0);
}

static void broken_calls_abort(void **state)
{
    dpi_plan p;
    (void)state;
    dpi_plan_begin(&p, 1);
    (void)dpi_plan_input(&p, 0);
    assert_aborts(broken, &p);
    dpi_plan_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_are_the_sums_of_their_diagonals),
                                       cmocka_unit_test(one_card_counts_as_told),
                                       cmocka_unit_test(times_are_hydras_equation),
                                       cmocka_unit_test(the_fastest_is_found),
                                       cmocka_unit_test(bootstraps_are_three_parts),
                                       cmocka_unit_test(broken_calls_abort)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
