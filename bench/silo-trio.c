/* A step of a regression by three parties that are processes, with TLS over loopback between them.
 *   make bench/silo-trio
 *   bench/silo-trio [linear|logistic rows columns [z]]     (the table of doc/design/silo-trio.md)
 * One JSON line each: milliseconds of the wall's clock a step, as party 1 sees it, and of each
 * party's processor, median and least of 60 steps after the first ten; bytes and messages that each
 * party sends in a step, its notices of noise and openings with them; and what comes before the
 * first step.  z 0: without noise.  Party 0 has the first half of the columns, party 1 the others
 * and outcomes; party 2 helps. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "processes.h"
#include "silo/trio.h"

enum { STEPS = 70, FIRST = 10, ROLES = DPI_TRIO_ROLES };

/* What a party writes for the program that has started it. */
typedef struct bench_party {
    double began, wall[STEPS], used[STEPS];
    dpi_mesh_traffic traffic;
} bench_party;

typedef struct bench_case {
    dpi_silo_trio_terms terms;
    bench_party *party; /* [ROLES] in common */
} bench_case;

typedef struct bench_clock {
    bench_party *at;
    size_t n;
} bench_clock;

static void note(void *of, uint64_t step, size_t d, const int64_t *h)
{
    bench_clock *c = of;
    (void)step;
    (void)d;
    (void)h;
    c->at->wall[c->n] = bench_now();
    c->at->used[c->n++] = bench_processor();
}

static double *numbers(size_t n, double most)
{
    double *x = calloc(n > 0 ? n : 1, sizeof *x);
    processes_must(x != NULL, "out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = ((double)(i * 7919 % 32768) / 16384 - 1) * most;
    return x;
}

static void body(dpi_party *p, void *user)
{
    const bench_case *c = user;
    const dpi_silo_trio_terms *t = &c->terms;
    const size_t d = t->columns[p->role], all = t->columns[0] + t->columns[1];
    dpi_silo_trio_grid grid;
    dp_noise *noise = NULL;
    dp_error err = {DP_OK, ""};
    bench_clock clock = {.at = &c->party[p->role]};
    double *x = numbers(t->rows * d, .5 / (double)(d + 1)), *y = numbers(t->rows, 1);
    double *w = numbers(all, 0);
    for (size_t i = 0; t->logistic && i < t->rows; i++)
        y[i] = i % 3 == 0;
    processes_must(dpi_silo_trio_grid_make(t, &grid, &err) == DP_OK, err.text);
    processes_must(dp_noise_new(&noise, &err) == DP_OK, err.text);
    const dpi_silo_trio_opts o = {.terms = t,
                                  .grid = &grid,
                                  .party = p,
                                  .x = d > 0 ? x : NULL,
                                  .y = p->role == t->outcome ? y : NULL,
                                  .noise = noise,
                                  .told = note,
                                  .of = &clock};
    clock.at->began = bench_now();
    processes_must(dpi_silo_trio_steps(&o, w, &err) == DP_OK, err.text);
    clock.at->traffic = dpi_mesh_counts(p->mesh);
    dp_noise_free(noise);
    free(x);
    free(y);
    free(w);
}

static double least_and_median(const double *at, double *least)
{
    double steps[STEPS - FIRST];
    for (size_t k = FIRST; k < STEPS; k++)
        steps[k - FIRST] = at[k] - at[k - 1];
    const double median = bench_median(steps, STEPS - FIRST);
    *least = steps[0];
    return median;
}

/* Of all steps, gifts of rows taken out. */
static void tell_traffic(const bench_case *c)
{
    const dpi_silo_trio_terms *t = &c->terms;
    for (size_t r = 0; r < ROLES; r++) {
        const dpi_mesh_traffic *m = &c->party[r].traffic;
        const double given = sizeof(uint64_t) * (double)t->rows *
                             (r == 0   ? 2 * (double)t->columns[0]
                              : r == 1 ? (double)t->columns[1] + 1
                                       : 0);
        double bytes = -given;
        char name[32];
        for (size_t to = 0; to < ROLES; to++)
            bytes += (double)(m->prepared[to] + m->online[to]);
        (void)snprintf(name, sizeof name, "party_%zu_step_bytes", r);
        bench_number(name, bytes / STEPS);
    }
    bench_number("turns_a_step", (double)c->party[1].traffic.turns / STEPS);
}

static void run(bool logistic, size_t rows, size_t columns, double z)
{
    bench_case c = {.terms = {.logistic = logistic,
                              .rows = rows,
                              .outcome = 1,
                              .columns = {columns / 2, columns - columns / 2, 0},
                              .row_most = {1, 1, 0},
                              .outcome_most = 1,
                              .residual_most = 1,
                              .steps = STEPS,
                              .step = .5,
                              .z = z},
                    .party = processes_shared(ROLES * sizeof(bench_party))};
    double least;
    processes_run(&dpi_trio, body, &c);
    printf("{\"bench\": \"silo-trio\", \"kind\": \"%s\", \"rows\": %zu, \"columns\": %zu, "
           "\"z\": %g, ",
           logistic ? "logistic" : "linear", rows, columns, z);
    bench_number("step_ms", 1e3 * least_and_median(c.party[1].wall, &least));
    bench_number("step_low", 1e3 * least);
    for (size_t r = 0; r < ROLES; r++) {
        char name[32];
        (void)snprintf(name, sizeof name, "party_%zu_ms", r);
        bench_number(name, 1e3 * least_and_median(c.party[r].used, &least));
    }
    tell_traffic(&c);
    bench_number("begin_ms", 1e3 * (c.party[1].wall[0] - c.party[1].began));
    bench_end_line();
}

int main(int argc, char **argv)
{
    static const size_t shapes[][2] = {{128, 784}, {569, 30}};
    if (argc > 3) {
        run(strcmp(argv[1], "logistic") == 0, strtoul(argv[2], NULL, 10),
            strtoul(argv[3], NULL, 10), argc > 4 ? strtod(argv[4], NULL) : 0);
        return 0;
    }
    for (size_t k = 0; k < 8; k++)
        run(k / 4 == 1, shapes[k / 2 % 2][0], shapes[k / 2 % 2][1], k % 2 == 1 ? 9.6 : 0);
    return 0;
}
