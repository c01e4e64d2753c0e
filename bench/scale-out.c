/* Hydra's tables and figures by simulated plans (doc/scale-out.md).
 *   make bench/scale-out && bench/scale-out
 * JSON lines, each of a table or figure; seconds are simulated.  Deterministic, within seconds.
 * Costs are in rotations at the top level: times .02, sums .02, a ciphertext's message .7, and all
 * fall by a fortieth a level; of each network the work beside bootstraps and polynomials is fitted
 * to Hydra's time on 64 cards. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"
#include "cluster/network.h"

enum { SMALL, MIDDLE, LARGE };

/* Hydra's table II: seconds on 1, 8 and 64 cards; those of FAB on 1 and 8. */
static const double hydra[DPI_NETWORKS][3] = {{41.29, 5.60, 1.49},
                                              {686.63, 86.79, 12.94},
                                              {462.44, 72.31, 13.81},
                                              {18004.83, 2382.18, 321.58}};
static const double fab[DPI_NETWORKS][2] = {
    {131.94, 18.89}, {2255.46, 287.27}, {1302.68, 208.54}, {51813.24, 6841.11}};

static const dpi_costs by_rotations = {.operation = {1, 1, .02, .02},
                                       .falling = .025,
                                       .bytes = .7,
                                       .bandwidth = 1,
                                       .stagewise = true,
                                       .copying = true};
static const double ciphertext_bytes = 20.6e6;
static const double none[60]; /* coefficients: they are no matter for time */
static const char *const rests[] = {"alone", "regrouped", "filled"};

static void must(dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "scale-out: %s\n", err->text);
    exit(1);
}

static void begin_line(const char *figure)
{
    (void)printf("{\"bench\": \"scale-out\", \"figure\": \"%s\", ", figure);
}

static void word(const char *name, const char *value)
{
    (void)printf("\"%s\": \"%s\", ", name, value);
}

/* ---- networks that are fitted ---- */

typedef struct fitted {
    dpi_costs costs;
    dpi_ways ways;
    double work[DPI_NETWORKS], one[DPI_NETWORKS]; /* in rotations: of the work, and of all */
} fitted;

static dpi_network_times on_cards(const fitted *f, size_t network, size_t cards, dpi_rest rest)
{
    const dpi_mapping m = {.cards = cards, .costs = &f->costs, .ways = &f->ways, .rest = rest};
    dpi_network_times t;
    dp_error err = {0};
    must(dpi_network_simulate(&dpi_networks[network], &m, f->work[network], &t, &err), &err);
    return t;
}

static void fit(fitted *f, const dpi_costs *costs)
{
    dp_error err = {0};
    f->costs = *costs;
    must(dpi_ways_find(15, costs, none, none, &f->ways, &err), &err);
    const dpi_mapping m = {.cards = 64, .costs = &f->costs, .ways = &f->ways};
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        must(dpi_network_fit(&dpi_networks[k], &m, hydra[k][SMALL] / hydra[k][LARGE], &f->work[k],
                             &err),
             &err);
        f->one[k] = on_cards(f, k, 1, DPI_REST_ALONE).total;
    }
}

/* Of a network, milliseconds of a rotation on one card. */
static double rotation_ms(const fitted *f, size_t k)
{
    return 1e3 * hydra[k][SMALL] / f->one[k];
}

static void table_2(const fitted *f)
{
    for (size_t k = 0; k < DPI_NETWORKS; k++) {
        const double ours = on_cards(f, k, 8, DPI_REST_ALONE).total / f->one[k] * hydra[k][SMALL];
        begin_line("table-2");
        word("network", dpi_networks[k].name);
        bench_number("hydra_one", hydra[k][SMALL]);
        bench_number("hydra_8", hydra[k][MIDDLE]);
        bench_number("hydra_64", hydra[k][LARGE]);
        bench_number("ours_8", ours);
        bench_number("ratio", ours / hydra[k][MIDDLE]);
        bench_number("by_ciphertexts", 1 - f->work[k] / f->one[k]);
        bench_number("rotation_ms", rotation_ms(f, k));
        bench_end_line();
    }
}

static void figure_9(const fitted *f)
{
    for (size_t k = 0; k < DPI_NETWORKS; k++)
        for (size_t cards = 1; cards <= 64; cards *= 2) {
            const dpi_network_times one = on_cards(f, k, 1, DPI_REST_ALONE);
            const dpi_network_times t = on_cards(f, k, cards, DPI_REST_ALONE);
            begin_line("figure-9");
            word("network", dpi_networks[k].name);
            bench_number("cards", (double)cards);
            bench_number("speedup", one.total / t.total);
            bench_number("work", one.stage[DPI_STAGE_WORK] / t.stage[DPI_STAGE_WORK]);
            bench_number("boot", one.stage[DPI_STAGE_BOOT] / t.stage[DPI_STAGE_BOOT]);
            bench_number("signs", one.stage[DPI_STAGE_SIGNS] / t.stage[DPI_STAGE_SIGNS]);
            bench_number("messages", 1 - t.silent / t.total);
            bench_end_line();
        }
}

static void last_rounds(const fitted *f)
{
    for (size_t k = 0; k < DPI_NETWORKS; k++)
        for (size_t cards = 4; cards <= 16; cards *= 2)
            for (int rest = 0; rest < 3; rest++) {
                const double t = on_cards(f, k, cards, (dpi_rest)rest).total;
                begin_line("last-rounds");
                word("network", dpi_networks[k].name);
                bench_number("cards", (double)cards);
                word("rest", rests[rest]);
                bench_number("speedup", f->one[k] / t);
                bench_number("of_alone", t / on_cards(f, k, cards, DPI_REST_ALONE).total);
                bench_end_line();
            }
}

/* ---- procedures alone ---- */

/* Work that makes n ciphertexts, which all cards get. */
static double work_seconds(size_t cards, uint32_t n, uint32_t units, double unit,
                           const dpi_costs *costs)
{
    uint32_t values[DPI_PLAN_CARDS];
    dpi_plan p;
    dpi_times t;
    dp_error err = {0};
    dpi_plan_begin(&p, cards);
    p.copied = costs->copying;
    dpi_plan_work(&p, n, units, unit, values);
    for (uint32_t i = 0; i < n; i++)
        dpi_plan_broadcast(&p, values[i], dpi_plan_home(&p, values[i]), (uint32_t)cards);
    must(dpi_simulate(&p, costs, &t, &err), &err);
    dpi_plan_free(&p);
    return t.total;
}

typedef struct spread_procedure {
    const char *name;
    uint32_t ciphertexts, units;
    double rotations, times; /* of a unit, by Hydra's table I */
} spread_procedure;

static const spread_procedure procedures[] = {{"Pooling", 8, 64, 2, 1}, {"FC", 1, 1511, 1, 1}};

static double unit_seconds(const spread_procedure *s, const dpi_costs *c)
{
    return (s->rotations * c->operation[DPI_ROTATIONS] + s->times * c->operation[DPI_TIMES]) *
           (1 - c->falling * DPI_WORK_LEVEL);
}

static double procedure_seconds(const spread_procedure *s, size_t cards, const dpi_costs *costs,
                                bool silent)
{
    dpi_costs c = *costs;
    c.latency *= !silent;
    c.bytes *= !silent;
    return work_seconds(cards, s->ciphertexts, s->units, unit_seconds(s, costs), &c);
}

static void speedups(const char *name, const char *network, double of_8, double of_64)
{
    begin_line("figure-6");
    word("procedure", name);
    word("network", network);
    bench_number("on_8", of_8);
    bench_number("on_64", of_64);
    bench_end_line();
}

static void figure_6(const fitted *f)
{
    static const char *const stages[DPI_PROCEDURES] = {"work", "boot", "signs"};
    for (size_t k = 0; k < DPI_NETWORKS; k++)
        for (size_t s = 0; s < DPI_PROCEDURES; s++) {
            const double one = on_cards(f, k, 1, DPI_REST_ALONE).stage[s];
            speedups(stages[s], dpi_networks[k].name,
                     one / on_cards(f, k, 8, DPI_REST_ALONE).stage[s],
                     one / on_cards(f, k, 64, DPI_REST_ALONE).stage[s]);
        }
    for (size_t s = 0; s < 2; s++) {
        const double one = procedure_seconds(&procedures[s], 1, &f->costs, false);
        speedups(procedures[s].name, "ResNet-18",
                 one / procedure_seconds(&procedures[s], 8, &f->costs, false),
                 one / procedure_seconds(&procedures[s], 64, &f->costs, false));
    }
}

/* ---- messages through hosts ---- */

/* Seconds; `own`: cards as fast as FAB's, else as Hydra's. */
static dpi_costs through_hosts(const fitted *f, size_t k, bool own)
{
    dpi_costs c = f->costs;
    for (size_t i = 0; i < DPI_COUNTS; i++)
        c.operation[i] *= (own ? fab[k][0] : hydra[k][SMALL]) / f->one[k];
    c.bytes = ciphertext_bytes;
    c.bandwidth = 1.25e9;
    c.route = DPI_ROUTE_HOST;
    c.per_host = 8;
    c.lane = 16e9;
    return c;
}

static void figure_8(const fitted *f)
{
    for (size_t k = 0; k < DPI_NETWORKS; k++)
        for (int own = 0; own < 2; own++)
            for (size_t cards = 8; cards <= 64; cards *= 8) {
                const dpi_costs c = through_hosts(f, k, own);
                const double rotation = c.operation[DPI_ROTATIONS];
                const dpi_mapping m = {.cards = cards, .costs = &c, .ways = &f->ways};
                dpi_network_times t;
                dp_error err = {0};
                must(dpi_network_simulate(&dpi_networks[k], &m, f->work[k] * rotation, &t, &err),
                     &err);
                begin_line("figure-8");
                word("network", dpi_networks[k].name);
                word("cards_of", own ? "FAB" : "Hydra");
                bench_number("cards", (double)cards);
                bench_number("speedup", f->one[k] * rotation / t.total);
                bench_number("of_switch",
                             t.total / rotation / on_cards(f, k, cards, DPI_REST_ALONE).total);
                bench_number("fab", cards == 8 ? fab[k][0] / fab[k][1] : NAN);
                bench_number("hydra", cards == 8 ? hydra[k][SMALL] / hydra[k][MIDDLE]
                                                 : hydra[k][SMALL] / hydra[k][LARGE]);
                bench_number("messages", 1 - t.silent / t.total);
                bench_number("messages_boot",
                             1 - t.silent_stage[DPI_STAGE_BOOT] / t.stage[DPI_STAGE_BOOT]);
                bench_number("messages_pooling",
                             1 - procedure_seconds(&procedures[0], cards, &c, true) /
                                     procedure_seconds(&procedures[0], cards, &c, false));
                bench_end_line();
            }
}

/* ---- table I ---- */

static uint32_t step(dpi_plan *p, dpi_card_op op, size_t n, const uint32_t *in)
{
    return dpi_plan_do(p, (dpi_step){.op = op, .argument = 1}, n, in);
}

static uint32_t turned_sum(dpi_plan *p, uint32_t x)
{
    const uint32_t in[] = {x, step(p, DPI_OP_ROTATE, 1, &x)};
    return step(p, DPI_OP_ADD, 2, in);
}

/* A kernel of 3 by 3: nine shifts with a plaintext each. */
static void convolution(dpi_plan *p, uint32_t x)
{
    (void)dpi_plan_map(p, 0, 1, &(dpi_spread_map){1 << 15, 9, 9, 1, false}, x);
}

/* The mean of 2 by 2, by two sums of shifts. */
static void pooling(dpi_plan *p, uint32_t x)
{
    x = turned_sum(p, turned_sum(p, x));
    (void)step(p, DPI_OP_TIMES, 1, &x);
}

/* 2048 diagonals by baby steps. */
static void matrix(dpi_plan *p, uint32_t x)
{
    (void)dpi_plan_map(p, 0, 1, &(dpi_spread_map){1 << 15, 2048, 32, 1, false}, x);
}

/* An inner product of 128 places, and a mask. */
static void inner(dpi_plan *p, uint32_t x)
{
    const uint32_t in[] = {x, x};
    x = step(p, DPI_OP_MULTIPLY, 2, in);
    for (int k = 0; k < 7; k++)
        x = turned_sum(p, x);
    (void)step(p, DPI_OP_TIMES, 1, &x);
}

static void degree_15(dpi_plan *p, uint32_t x)
{
    const dpi_polynomial_way way = {.cards = 1, .leaf = 2};
    (void)dpi_plan_polynomial(p, 0, &way, 15, none, x);
}

static void table_1(void)
{
    static const struct {
        const char *name;
        void (*make)(dpi_plan *p, uint32_t x);
        double units, hydra[DPI_COUNTS]; /* rotations, products, times, sums */
    } rows[] = {{"ConvBN", convolution, 1, {8, 0, 2, 7}},
                {"Pooling", pooling, 1, {2, 0, 1, 0}},
                {"FC, PCMM", matrix, 2048, {1, 0, 1, 0}},
                {"CCMM", inner, 1, {7, 1, 1, 6}},
                {"Non-linear", degree_15, 1, {0, 8, 0, 15}}};
    static const char *const names[] = {"rotations", "products", "times", "sums"};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t count[DPI_COUNTS];
        dpi_plan p;
        dpi_plan_begin(&p, 1);
        rows[r].make(&p, dpi_plan_input(&p, 0));
        dpi_plan_count(&p, 1, count);
        dpi_plan_free(&p);
        begin_line("table-1");
        word("procedure", rows[r].name);
        for (size_t k = 0; k < DPI_COUNTS; k++) {
            char name[32];
            bench_number(names[k], (double)count[k] / rows[r].units);
            (void)snprintf(name, sizeof name, "hydra_%s", names[k]);
            bench_number(name, rows[r].hydra[k]);
        }
        bench_end_line();
    }
}

/* ---- transforms and polynomials ---- */

static const dpi_dft table_v[4][3] = {
    {{{16, 16, 16}, {4, 4, 4}, 0}, {{16, 16, 16}, {1, 2, 2}, 0}, {{8, 4, 128}, {1, 1, 2}, 0}},
    {{{16, 16, 32}, {4, 4, 8}, 0}, {{32, 16, 16}, {2, 2, 2}, 0}, {{8, 8, 128}, {1, 1, 2}, 0}},
    {{{32, 16, 32}, {4, 4, 8}, 0}, {{32, 16, 32}, {2, 2, 2}, 0}, {{8, 16, 128}, {1, 1, 2}, 0}},
    {{{32, 32, 32}, {4, 8, 8}, 0}, {{32, 16, 64}, {2, 2, 4}, 0}, {{8, 32, 128}, {1, 1, 2}, 0}}};
static const dpi_dft_costs equation = {1, .02, .02, .7, .1};

static void split(const char *name, const dpi_dft *d)
{
    (void)printf("\"%s\": \"%zu,%zu,%zu;%zu,%zu,%zu\", ", name, d->radix[0], d->radix[1],
                 d->radix[2], d->baby[0], d->baby[1], d->baby[2]);
}

static void table_5(void)
{
    for (size_t row = 0; row < 4; row++)
        for (size_t column = 0; column < 3; column++) {
            const size_t cards = (size_t)1 << 3 * column;
            const dpi_dft found = dpi_dft_search(12 + row, cards, &equation);
            const double theirs = dpi_dft_seconds(&table_v[row][column], &equation, cards);
            begin_line("table-5");
            bench_number("log_slots", (double)(12 + row));
            bench_number("cards", (double)cards);
            split("ours", &found);
            split("hydra", &table_v[row][column]);
            bench_number("hydra_over_ours", theirs / found.seconds);
            bench_end_line();
        }
}

static double boot_seconds(const fitted *f, size_t k)
{
    const dpi_spread_boot *boot = &f->ways.boot[k];
    dpi_plan p;
    dpi_times t;
    dp_error err = {0};
    dpi_plan_begin(&p, (size_t)1 << k);
    p.copied = true;
    const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    (void)dpi_plan_boot(&p, 0, 1U << k, boot, x);
    must(dpi_simulate(&p, &f->costs, &t, &err), &err);
    dpi_plan_free(&p);
    return t.total;
}

/* What one transform and one bootstrap gain on a group of cards. */
static void groups(const fitted *f)
{
    dpi_costs costs = f->costs;
    costs.falling = equation.falling;
    double first[2] = {0};
    for (size_t k = 0; k < DPI_GROUPS; k++) {
        const size_t cards = (size_t)1 << k;
        dpi_dft found;
        dp_error err = {0};
        must(dpi_dft_find(15, cards, &costs, &found, &err), &err);
        const double boot = boot_seconds(f, k);
        if (k == 0) {
            first[0] = found.seconds;
            first[1] = boot;
        }
        begin_line("groups");
        bench_number("cards", (double)cards);
        split("split", &found);
        bench_number("by_equation", dpi_dft_search(15, 1, &equation).seconds /
                                        dpi_dft_search(15, cards, &equation).seconds);
        bench_number("dft", first[0] / found.seconds);
        bench_number("boot", first[1] / boot);
        bench_end_line();
    }
}

static double tree_seconds(size_t cards, const dpi_costs *costs)
{
    const dpi_polynomial_way way = dpi_polynomial_tree(59, cards);
    dpi_plan p;
    dpi_times t;
    dp_error err = {0};
    dpi_plan_begin(&p, way.cards);
    p.copied = true;
    const uint32_t x = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_WORK}, 0, NULL);
    (void)dpi_plan_polynomial(&p, 0, &way, 59, none, x);
    must(dpi_simulate(&p, costs, &t, &err), &err);
    dpi_plan_free(&p);
    return t.total;
}

static void polynomials(const fitted *f)
{
    dpi_costs costs = f->costs;
    costs.falling = 0;
    for (size_t cards = 1; cards <= 64; cards *= 2) {
        dpi_polynomial_way way;
        double seconds;
        dp_error err = {0};
        must(dpi_polynomial_search(59, 1, cards, &costs, &way, &seconds, &err), &err);
        begin_line("polynomials");
        bench_number("cards", (double)cards);
        bench_number("algorithm_1", tree_seconds(cards, &costs));
        bench_number("fastest", seconds);
        bench_number("piece", (double)(1U << way.leaf));
        bench_number("cards_used", way.cards);
        bench_end_line();
    }
}

/* ---- what the figures depend on ---- */

static void other_costs(void)
{
    static const struct {
        const char *what;
        double falling, send, times;
    } rows[] = {{"as above", .025, .7, .02},          {"falling .02", .02, .7, .02},
                {"falling 1 / 36", 1. / 36, .7, .02}, {"messages .35", .025, .35, .02},
                {"messages 1.4", .025, 1.4, .02},     {"times and sums .05", .025, .7, .05}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dpi_costs c = by_rotations;
        fitted f;
        c.falling = rows[r].falling;
        c.bytes = rows[r].send;
        c.operation[DPI_TIMES] = c.operation[DPI_SUMS] = rows[r].times;
        fit(&f, &c);
        for (size_t k = 0; k < DPI_NETWORKS; k++) {
            const double ours =
                on_cards(&f, k, 8, DPI_REST_ALONE).total / f.one[k] * hydra[k][SMALL];
            begin_line("other-costs");
            word("costs", rows[r].what);
            word("network", dpi_networks[k].name);
            bench_number("ratio", ours / hydra[k][MIDDLE]);
            bench_number("by_ciphertexts", 1 - f.work[k] / f.one[k]);
            bench_number("rotation_ms", rotation_ms(&f, k));
            bench_end_line();
        }
    }
}

int main(void)
{
    fitted f;
    fit(&f, &by_rotations);
    table_1();
    table_2(&f);
    table_5();
    groups(&f);
    polynomials(&f);
    figure_6(&f);
    figure_8(&f);
    figure_9(&f);
    last_rounds(&f);
    other_costs();
    return 0;
}
