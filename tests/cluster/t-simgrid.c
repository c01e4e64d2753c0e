/* Plans by another simulator: SimGrid runs each card's lists as processes of its own, which wait
 * for what they need, over hosts with a way in and a way out.  Ours tells the same times from one
 * pass over the steps.  Built where SimGrid is, and
 * not with sanitizers, which do not know its processes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simgrid/actor.h>
#include <simgrid/cond.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/mutex.h>

#include "cluster/network.h"

#include "tests/lib/check.h"

enum { CARDS = 8, CASES = 16, SPEED = 1000000000 };

/* Messages are not copied here, and nothing waits for stages. */
static const dpi_costs costs = {.operation = {.0024, .0024, .00005, .00005},
                                .falling = .025,
                                .bytes = 20.6e6,
                                .bandwidth = 12.5e9};
static const double none[60];

typedef struct one_case {
    const char *name;
    dpi_plan p;
    double ours, theirs;
} one_case;

static struct {
    one_case all[CASES];
    size_t n;
    const dpi_plan *p; /* the one that runs */
    bool *ready;       /* [values][cards] */
    sg_mutex_t lock;
    sg_cond_t changed;
} stage;

static bool *ready_at(uint32_t value, uint32_t card)
{
    return &stage.ready[value * stage.p->cards + card];
}

static void wait_for(uint32_t value, uint32_t card)
{
    sg_mutex_lock(stage.lock);
    while (!*ready_at(value, card))
        sg_cond_wait(stage.changed, stage.lock);
    sg_mutex_unlock(stage.lock);
}

static void now_ready(uint32_t value, uint32_t card)
{
    sg_mutex_lock(stage.lock);
    *ready_at(value, card) = true;
    sg_cond_notify_all(stage.changed);
    sg_mutex_unlock(stage.lock);
}

/* ---- what a card does: three lists, in the plan's order ---- */

static void computing(int argc, char *argv[])
{
    const uint32_t card = (uint32_t)atoi(argv[argc - 1]);
    for (size_t k = 0; k < stage.p->n_steps; k++) {
        const dpi_step *s = &stage.p->step[k];
        if (s->op == DPI_OP_MESSAGE || s->card != card)
            continue;
        for (uint32_t j = 0; j < s->n_in; j++)
            wait_for(stage.p->in[s->in + j], card);
        sg_actor_execute(dpi_step_seconds(s, &costs) * SPEED);
        now_ready(s->out, card);
    }
}

static sg_mailbox_t box(const dpi_step *s)
{
    char name[64];
    (void)snprintf(name, sizeof name, "%u to %u", s->card, s->to);
    return sg_mailbox_by_name(name);
}

static void sending(int argc, char *argv[])
{
    static char nothing;
    const uint32_t card = (uint32_t)atoi(argv[argc - 1]);
    for (size_t k = 0; k < stage.p->n_steps; k++) {
        const dpi_step *s = &stage.p->step[k];
        if (s->op != DPI_OP_MESSAGE || s->card != card)
            continue;
        wait_for(s->out, card);
        sg_mailbox_put(box(s), &nothing, lround(costs.bytes * (1 - costs.falling * s->level)));
    }
}

static void getting(int argc, char *argv[])
{
    const uint32_t card = (uint32_t)atoi(argv[argc - 1]);
    for (size_t k = 0; k < stage.p->n_steps; k++) {
        const dpi_step *s = &stage.p->step[k];
        if (s->op != DPI_OP_MESSAGE || s->to != card)
            continue;
        (void)sg_mailbox_get(box(s));
        now_ready(s->out, card);
    }
}

static void run_case(one_case *c)
{
    sg_actor_t actor[3 * CARDS];
    void (*const does[])(int, char *[]) = {computing, sending, getting};
    stage.p = &c->p;
    stage.ready = calloc(c->p.n_values * c->p.cards, sizeof *stage.ready);
    assert_non_null(stage.ready);
    for (uint32_t v = 0; v < c->p.n_values; v++)
        for (uint32_t card = 0; card < c->p.cards; card++)
            *ready_at(v, card) = true;
    for (size_t k = 0; k < c->p.n_steps; k++)
        for (uint32_t card = 0; card < c->p.cards; card++)
            *ready_at(c->p.step[k].out, card) = false;
    const double began = simgrid_get_clock();
    for (size_t i = 0; i < 3 * c->p.cards; i++) {
        char host[16], card[16];
        (void)snprintf(host, sizeof host, "card%zu", i / 3);
        (void)snprintf(card, sizeof card, "%zu", i / 3);
        char *argv[] = {card};
        actor[i] = sg_actor_create(host, sg_host_by_name(host), does[i % 3], 1, argv);
        sg_actor_ref(actor[i]);
    }
    for (size_t i = 0; i < 3 * c->p.cards; i++) {
        sg_actor_join(actor[i], -1);
        sg_actor_unref(actor[i]);
    }
    c->theirs = simgrid_get_clock() - began;
    free(stage.ready);
}

static void run_all(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    stage.lock = sg_mutex_init();
    stage.changed = sg_cond_init();
    for (size_t k = 0; k < stage.n; k++)
        run_case(&stage.all[k]);
}

/* ---- cases ---- */

static one_case *begin(const char *name, size_t cards)
{
    one_case *c = &stage.all[stage.n++];
    assert_true(stage.n <= CASES);
    c->name = name;
    dpi_plan_begin(&c->p, cards);
    return c;
}

static void add_kernels(uint32_t cards, double seconds)
{
    one_case *c = begin("kernels", cards);
    uint32_t made[CARDS];
    for (int round = 0; round < 8; round++) {
        for (uint32_t i = 0; i < cards; i++)
            made[i] = dpi_plan_do(
                &c->p, (dpi_step){.op = DPI_OP_WORK, .card = i, .seconds = seconds}, 0, NULL);
        dpi_plan_exchange(&c->p, 0, cards, made);
    }
}

static void add_layer(uint32_t cards, uint32_t n, dpi_rest rest, const dpi_ways *ways)
{
    one_case *c = begin("a layer", cards);
    uint32_t values[DPI_PLAN_CARDS];
    const dpi_mapping m = {.cards = cards, .costs = &costs, .ways = ways, .rest = rest};
    dpi_plan_layer(&c->p, &m, &(dpi_spread_layer){1, n, 384}, .002, values);
}

static void add_cases(void)
{
    static dpi_ways ways;
    dp_error err = {0};
    assert_ok(dpi_ways_find(15, &costs, none, none, &ways, &err), err.text);
    for (uint32_t cards = 2; cards <= CARDS; cards *= 2) {
        add_kernels(cards, .001);
        add_kernels(cards, .03);
        add_layer(cards, 1, DPI_REST_ALONE, &ways);
    }
    add_layer(CARDS, 4, DPI_REST_ALONE, &ways);
    add_layer(CARDS, 12, DPI_REST_ALONE, &ways);
    add_layer(CARDS, 12, DPI_REST_REGROUPED, &ways);
    add_layer(CARDS, 12, DPI_REST_FILLED, &ways);
}

static void write_platform(char *path)
{
    const int file = mkstemps(path, 4);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");
    assert_non_null(out);
    (void)fprintf(out,
                  "<?xml version='1.0'?>\n"
                  "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                  "<platform version=\"4.1\"><cluster id=\"cards\" prefix=\"card\" suffix=\"\" "
                  "radical=\"0-%d\" speed=\"1Gf\" bw=\"12.5GBps\" lat=\"0us\"/></platform>\n",
                  CARDS - 1);
    assert_int_equal(fclose(out), 0);
}

/* Whether all cases are as near as that; SimGrid has one simulation in a process. */
static bool agree(char *model, double rel)
{
    char path[] = "/tmp/tacit-cards-XXXXXX.xml", name[] = "t-simgrid";
    char cross[] = "--cfg=network/crosstraffic:0", quiet[] = "--log=root.thres:error";
    char *argv[] = {name, model, cross, quiet, NULL};
    int argc = 4;
    bool near = true;
    add_cases();
    simgrid_init(&argc, argv);
    write_platform(path);
    simgrid_load_platform(path);
    (void)unlink(path);
    (void)sg_actor_create("all", sg_host_by_name("card0"), run_all, 0, NULL);
    simgrid_run();
    for (size_t k = 0; k < stage.n; k++) {
        one_case *c = &stage.all[k];
        dpi_times t;
        dp_error err = {0};
        assert_ok(dpi_simulate(&c->p, &costs, &t, &err), err.text);
        (void)printf("# %s on %zu cards, %zu steps: %.6f s, SimGrid %.6f s\n", c->name, c->p.cards,
                     c->p.n_steps, t.total, c->theirs);
        near = near && fabs(t.total - c->theirs) <= rel * c->theirs;
        dpi_plan_free(&c->p);
    }
    return near;
}

static void in_a_process(char *model, double rel)
{
    int status;
    (void)fflush(stdout);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool near = agree(model, rel);
        (void)fflush(stdout);
        _exit(near ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Ways are as wide as they are said to be. */
static void simgrid_says_the_same(void **state)
{
    char model[] = "--cfg=network/model:CM02";
    (void)state;
    in_a_process(model, 1e-6);
}

/* Its usual model of TCP has 3 % less of the bandwidth, and latencies. */
static void tcp_is_near(void **state)
{
    char model[] = "--cfg=network/model:LV08";
    (void)state;
    in_a_process(model, .1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(simgrid_says_the_same),
                                       cmocka_unit_test(tcp_is_near)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
