/* A plan's program, split and checked. */
#include "silo/describe.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "silo/joint.h"
#include "silo/print.h"
#include "silo/split.h"
#include "silo/trio-rows.h"

static const dp_silo_scheme told[] = {
#define OF_ROWS(c, name, noisy, averages, about)                                                   \
    {name, about, noisy, false, averages, false, false},
#define OF_COLUMNS(c, name, noisy, single, about) {name, about, noisy, true, false, false, single},
#define OF_SHARES(c, name, noisy, about) {name, about, noisy, false, false, true, false},
    DPI_SILO_SCHEME_LIST(OF_ROWS) DPI_SILO_COLUMN_SCHEME_LIST(OF_COLUMNS)
        DPI_SILO_TRIO_SCHEME_LIST(OF_SHARES)
#undef OF_SHARES
#undef OF_COLUMNS
#undef OF_ROWS
};

const dp_silo_scheme *dp_silo_schemes(size_t *n)
{
    *n = sizeof told / sizeof *told;
    return told;
}

/* What a plan comes to. */
typedef struct worked_out {
    dpi_silo_program program;
    const dpi_silo_scheme *scheme;
    dpi_silo_part parts[DPI_SILO_PARTIES];
    size_t n_views;
    dpi_silo_view *views;
} worked_out;

static dp_status make_program(const dp_silo_plan *plan, dpi_silo_program *p, dp_error *err)
{
    const dp_silo_opts *o = &plan->opts;
    dpi_silo_parties who = {.n = (uint16_t)o->n_owners,
                            .colluders = o->colluders,
                            .dropouts = o->dropouts,
                            .most_records = o->most_records};
    memcpy(who.names, plan->names, sizeof plan->names);
    if (dpi_silo_plan_is_split(plan)) {
        who.aggregator = (uint16_t)o->columns->outcome;
        return dpi_silo_joint_split(p, &who, o->columns->steps, plan->openings[0].numbers, err);
    }
    if (o->columns != NULL) {
        const dpi_joint_columns c = {.times = o->columns->steps,
                                     .numbers = plan->openings[0].numbers,
                                     .z = plan->openings[0].sigma,
                                     .apart = exp2(-dpi_columns_bits(o->columns->steps)),
                                     .delta = o->delta};
        return dpi_silo_joint_columns(p, &who, &c, err);
    }
    if (o->trio != NULL) {
        const dpi_joint_shares c = {.by_rows = dpi_silo_trio_in_rows(&plan->trio),
                                    .told = o->trio->told,
                                    .times = plan->openings[0].times,
                                    .numbers = plan->openings[0].numbers,
                                    .z = plan->openings[0].sigma,
                                    .delta = o->delta};
        who.helpers = dpi_silo_three_helpers(plan);
        return dpi_silo_joint_shares(p, &who, &c, err);
    }
    const dpi_joint_kind kind = dpi_silo_joint_kind(dpi_silo_scheme_named(o->scheme));
    return dpi_silo_joint(p, &who, kind, o->delta, plan->n_openings, plan->openings, err);
}

static dp_status work_out(const dp_silo_plan *plan, dpi_arena *arena, worked_out **to,
                          dp_error *err)
{
    worked_out *w = *to = dpi_arena_alloc(arena, 1, sizeof *w);
    if (w == NULL)
        return dpi_fail_nomem(err);
    w->scheme = dpi_silo_scheme_named(plan->opts.scheme);
    dp_status status = make_program(plan, &w->program, err);
    if (status == DP_OK)
        status = dpi_silo_split(&w->program, w->scheme, arena, w->parts, err);
    return status == DP_OK ? dpi_silo_check(&w->program, w->scheme, w->parts, arena, &w->n_views,
                                            &w->views, err)
                           : status;
}

/* What of each record is told, how often, and against whom nothing holds. */
static void say_split(const dp_silo_plan *plan, dpi_bytes *to)
{
    const dp_silo_columns *c = &plan->columns;
    const char *asks = plan->names[c->outcome], *sends = plan->names[1 - c->outcome];
    if (!dpi_silo_plan_is_split(plan))
        return;
    dpi_silo_say(to,
                 "of single records\n  %s sees %zu number%s of each record of a step, of what %s "
                 "has of it, and %s as many of what %s has: ",
                 asks, c->width, c->width == 1 ? "" : "s", sends, sends, asks);
    if (c->batch == 0)
        dpi_silo_say(to, "a step is of all records\n");
    else
        dpi_silo_say(to, "a step is of at most %zu records\n", c->batch);
    dpi_silo_say(to, "  who does not keep to the protocol may choose what is asked, and read "
                     "records: each trusts the other to follow the plan\n");
}

/* What stands behind the program of columns: its epsilon holds of what is done, and not of what
 * somebody might do instead. */
static void say_columns(const dp_silo_plan *plan, dpi_bytes *to)
{
    const dp_silo_opts *o = &plan->opts;
    if (o->columns == NULL)
        return;
    dpi_silo_say(to, "before the first step, by 4 letters more of each\n  each learns how many ids "
                     "the other has, and which of its own are common: no epsilon covers it\n");
    if (o->columns->told)
        dpi_silo_say(to, "told at the end, by one letter more of each\n  each tells the other its "
                         "coefficients, which follow from what it has opened\n");
    if (o->epsilon > 0)
        dpi_silo_say(to,
                     "spent\n  epsilon %.6g at delta %.3g, of a record in place of another at both "
                     "owners: against an owner who keeps to the protocol, and no other\n",
                     o->epsilon, o->delta);
}

/* The first of three that has no records. */
static const char *helper_of(const dp_silo_plan *plan)
{
    size_t k = 0;
    while (k + 1 < DP_SILO_TRIO && (dpi_silo_three_helpers(plan) >> k & 1) == 0)
        k++;
    return plan->names[k];
}

/* The same of three parties, any two of whom are one too many. */
static void say_three(const dp_silo_plan *plan, dpi_bytes *to)
{
    const dp_silo_opts *o = &plan->opts;
    if (o->trio == NULL)
        return;
    if (o->trio->ids != NULL && dpi_silo_three_helpers(plan) != 0)
        dpi_silo_say(to,
                     "before the first step\n  each owner learns how many ids the other has, "
                     "and which of its own are common; %s, who helps, how many are: no epsilon "
                     "covers it\n",
                     helper_of(plan));
    else if (o->trio->ids != NULL)
        dpi_silo_say(to, "before the first step\n  each two owners learn whether they have the "
                         "same ids in the same order: no epsilon covers it\n");
    dpi_silo_say(to,
                 "how many rows there are\n  is known to all three\n"
                 "any two of the three together\n  have all rows and outcomes, of all owners\n"
                 "who does not keep to the protocol\n  is not found, and may learn more than is "
                 "opened: each trusts all others to follow the plan\n");
    if (o->epsilon > 0)
        dpi_silo_say(to,
                     "spent\n  epsilon %.6g at delta %.3g, of a record in place of another at %s: "
                     "against one of the three who keeps to the protocol, and no other\n",
                     o->epsilon, o->delta,
                     dpi_silo_trio_in_rows(&plan->trio) ? "its owner" : "all owners");
}

/* What a walk is. */
static void say_steps(const dp_silo_plan *plan, dpi_bytes *to)
{
    const unsigned long long steps = plan->opts.local_steps;
    const dp_silo_opts *o = &plan->opts;
    if (steps > 0 && dpi_silo_damping(o) > 0)
        dpi_silo_say(
            to,
            "before each opening\n  each owner takes at most %llu step%s on its records alone, "
            "with "
            "the others' factors beside the prior; what they change is taken by 1 / %zu\n"
            "spent\n  epsilon %.6g at delta %.3g of each record, by noise of its owner alone: "
            "against all others together; who has records at several owners spends at each\n",
            steps, steps == 1 ? "" : "s", o->n_owners, o->epsilon, o->delta);
    else if (steps > 0)
        dpi_silo_say(
            to,
            "before each opening but the first, which is of how many records there are\n"
            "  each owner takes at most %llu step%s on its records alone: what is opened tells of "
            "single records, and no epsilon covers it\n",
            steps, steps == 1 ? "" : "s");
}

/* Without noise nothing bounds what an answer tells, so it matters who chooses the questions: who
 * is believed about the last sum chooses the next. */
static void say_questions(const dp_silo_plan *plan, const dpi_silo_scheme *scheme, dpi_bytes *to)
{
    if (scheme->noisy || scheme->by_columns || scheme->shared || plan->opts.n_owners < 2)
        return;
    dpi_silo_say(to,
                 "what is asked\n  follows from what was opened before: %s, who adds up, may tell "
                 "false sums, and so choose at which parameters records are asked, and read single "
                 "records; owners who send wrong numbers may come near to that: each trusts all "
                 "others to follow the plan\n",
                 plan->names[0]);
}

/* Against whom a key holds. */
static void say_key(const dp_silo_plan *plan, const dpi_silo_part *part, dpi_bytes *to)
{
    if (dpi_silo_has_key(part))
        dpi_silo_say(to,
                     "the key\n  holds against owners who keep to the protocol: %s, who adds up, "
                     "together with one other who does not reads all that the others have sent\n",
                     plan->names[0]);
}

dp_status dpi_silo_describe(const dp_silo_plan *plan, dpi_bytes *text, dp_error *err)
{
    dpi_arena arena = {NULL};
    worked_out *w;
    dp_status status = work_out(plan, &arena, &w, err);
    if (status == DP_OK)
        dpi_silo_print(&w->program, w->parts, w->n_views, w->views, text);
    if (status == DP_OK)
        say_split(plan, text);
    if (status == DP_OK)
        say_columns(plan, text);
    if (status == DP_OK)
        say_three(plan, text);
    if (status == DP_OK)
        say_steps(plan, text);
    if (status == DP_OK)
        say_questions(plan, w->scheme, text);
    if (status == DP_OK)
        say_key(plan, &w->parts[0], text);
    dpi_arena_free(&arena);
    return status;
}

dp_status dpi_silo_part_of(const dp_silo_plan *plan, size_t k, dpi_arena *arena,
                           dpi_silo_part *part, dp_error *err)
{
    worked_out *w;
    dp_status status = work_out(plan, arena, &w, err);
    if (status == DP_OK)
        *part = w->parts[k];
    return status;
}

dp_status dp_silo_plan_spent(const dp_silo_plan *plan, size_t known, double *epsilon, dp_error *err)
{
    dpi_silo_program *p = dpi_alloc(1, sizeof *p);
    *epsilon = INFINITY;
    if (p == NULL)
        return dpi_fail_nomem(err);
    dp_status status = make_program(plan, p, err);
    if (status == DP_OK && p->delta > 0)
        status = dpi_silo_epsilon(p, known, epsilon, err);
    dpi_free(p);
    return status;
}
