/* Steps of a run and steps of its entry.
 *
 * The ledger counts steps of mechanisms, which a run can have several of (steps with a loss, and
 * without); costs of the first t steps of a run are a list whose steps grow with t.  An object that
 * took over at step `from`, when `before` had been begun, has begun at its step t: before +
 * steps(t) - steps(from).
 *
 * Until it is saved the whole plan counts as begun, since nobody could go on after a crash.  From
 * then on there are leases, which grow or shrink so that there is one in 1 to 4 seconds. */
#define _POSIX_C_SOURCE 200809L
#include "svi/spend.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "graph/op.h"
#include "svi/cost.h"
#include "svi/svi.h"

enum { FIRST_LEASES = 64, COLUMNS_TEXT = 1000 };
static const double short_lease = 1, long_lease = 4;

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What has been begun when the run's first `steps` steps have been. */
static void begun_at(const dp_svi *s, uint64_t steps, uint64_t begun[DPI_SPEND_MOST])
{
    dp_mechanism from[DPI_SPEND_MOST], to[DPI_SPEND_MOST];
    (void)dpi_cost_list(&s->opts, s->spend.from, from);
    size_t n = dpi_cost_list(&s->opts, steps, to);
    for (size_t k = 0; k < n; k++)
        begun[k] = s->spend.before[k] + to[k].steps - from[k].steps;
}

/* ---- reserving ---- */

dp_status dpi_spend_columns(const dpi_graph *g, const dp_dataset *data, dpi_arena *arena,
                            dpi_purpose *what, dp_error *err)
{
    const char **names = dpi_arena_alloc(arena, data->n_columns + 1, sizeof *names);
    char *text = dpi_arena_alloc(arena, COLUMNS_TEXT + 1, 1);
    size_t n = 0, length = 0;
    if (names == NULL || text == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < data->n_columns; i++) {
        const dpi_column *column = &data->columns[i];
        bool read = data->unit != NULL && column->index == data->unit;
        if (read)
            what->spending.unit = column->name;
        for (size_t k = 0; k < g->n_nodes && !read; k++)
            read = dpi_is_column(&g->nodes[k]) && strcmp(g->nodes[k].name, column->name) == 0;
        if (!read)
            continue;
        names[n++] = column->name;
        if (length + strlen(column->name) + 3 < COLUMNS_TEXT)
            length += (size_t)snprintf(text + length, COLUMNS_TEXT - length, "%s%s",
                                       length > 0 ? ", " : "", column->name);
    }
    for (size_t i = 0; i < length;
         i++) /* names are the caller's, and the ledger takes plain text */
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            text[i] = '?';
    what->used = names;
    what->n_used = n;
    what->spending.columns = length > 0 ? text : NULL;
    return DP_OK;
}

static dp_status check_mode(const dp_svi_opts *opts, dp_error *err)
{
    if (opts->mode == DP_PRIVATE && opts->seed == 0)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "%s has no guarantee that a ledger could count; leave ledger NULL for public "
                    "data, or make the run private",
                    opts->seed != 0 ? "a seeded run" : "this mode");
}

static dp_status check_resume(const dp_svi_opts *opts, const dpi_checkpoint *c, dp_error *err)
{
    if (c->ledgered && opts->ledger == NULL)
        return dpi_fail(err, DP_EPRIVACY,
                        "this run was reserved in a ledger (entry %llu); open that ledger and give "
                        "it to dp_svi_resume",
                        (unsigned long long)c->entry);
    if (!c->ledgered && opts->ledger != NULL)
        return dpi_fail(err, DP_EPRIVACY,
                        "this run was started without a ledger, which cannot know what it has "
                        "spent; give NULL, or start a new run");
    if (c->ledgered &&
        memcmp(c->ledger, opts->ledger->identity, sizeof opts->ledger->identity) != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "this run was reserved in another ledger; give that one to dp_svi_resume");
    return DP_OK;
}

static dp_status take_over(dp_svi *s, const dpi_checkpoint *c, dpi_purpose *what, dp_error *err)
{
    dp_mechanism done[DPI_SPEND_MOST], all[DPI_SPEND_MOST];
    uint64_t known[DPI_SPEND_MOST], remaining[DPI_SPEND_MOST];
    (void)dpi_cost_list(&s->opts, c->done, done);
    size_t n = dpi_cost_list(&s->opts, s->opts.steps, all);
    for (size_t k = 0; k < n; k++) {
        known[k] = done[k].steps;
        remaining[k] = all[k].steps - done[k].steps;
    }
    what->spending.list = all;
    what->spending.n = n;
    const dpi_resumption entry = {.id = c->entry, .n = n, .done = known, .remaining = remaining};
    return dpi_reserve_again(s->opts.ledger, &entry, what, s->spend.before, &s->spend.reservation,
                             err);
}

static dp_status reserve(dp_svi *s, dpi_purpose *what, dp_error *err)
{
    dp_mechanism list[DPI_SPEND_MOST];
    size_t n = 0, all = dpi_cost_list(&s->opts, s->opts.steps, list);
    if (s->opts.ledger_data == NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a ledger is given and no ledger_data; name the data set as the ledger "
                        "knows it");
    for (size_t k = 0; k < all; k++)
        n += list[k].steps > 0;
    if (n < all)
        return dpi_fail(err, DP_EINVAL, "a mechanism of this run has no steps; take more steps");
    what->spending.data = s->opts.ledger_data;
    what->spending.label = s->opts.ledger_label;
    what->spending.list = list;
    what->spending.n = all;
    return dpi_reserve(s->opts.ledger, what, &s->spend.reservation, err);
}

dp_status dpi_spend_open(dp_svi *s, const dpi_svi_spec *spec, dp_error *err)
{
    const dpi_checkpoint *c = spec->resume;
    dpi_spend *spend = &s->spend;
    dpi_purpose what = {.spending = {.records = spec->data},
                        .tells_size = s->opts.form == DP_FORM_PARAMETERS};
    dpi_arena arena = {NULL};
    unsigned char print[DPI_PRINT];
    char model[2 * DPI_PRINT + 1];
    dp_status status = c != NULL ? check_resume(&s->opts, c, err) : DP_OK;
    spend->resumed = c != NULL;
    spend->from = c != NULL ? c->done : 0;
    if (status != DP_OK || s->opts.ledger == NULL)
        return status;
    dpi_model_print(spec->model, print);
    what.model = sodium_bin2hex(model, sizeof model, print, sizeof print);
    status = check_mode(&s->opts, err);
    if (status == DP_OK)
        status = dpi_spend_columns(&s->objective.graph, spec->data, &arena, &what, err);
    if (status == DP_OK)
        status = c != NULL ? take_over(s, c, &what, err) : reserve(s, &what, err);
    dpi_arena_free(&arena);
    spend->ledger = s->opts.ledger;
    spend->leased = c != NULL ? c->done : s->opts.steps;
    spend->block = 1 + s->opts.steps / FIRST_LEASES;
    return status;
}

void dpi_spend_cancel(dp_svi *s)
{
    static const uint64_t none[DPI_SPEND_MOST];
    if (s->spend.reservation != NULL && !s->spend.resumed)
        (void)!dp_reservation_settle(s->spend.reservation, none, NULL);
}

/* ---- running ---- */

/* Epochs are counted as whole. */
static uint64_t rounded_up(const dp_svi *s, uint64_t steps)
{
    steps = dpi_sampling_mechanism(&s->opts, steps).steps;
    return steps < s->opts.steps ? steps : s->opts.steps;
}

static dp_status lease(dp_svi *s, uint64_t steps, dp_error *err)
{
    uint64_t begun[DPI_SPEND_MOST];
    steps = rounded_up(s, steps);
    begun_at(s, steps, begun);
    dp_status status = dpi_reservation_mark(s->spend.reservation, begun, err);
    if (status == DP_OK)
        s->spend.leased = steps;
    return status;
}

dp_status dpi_spend_step(dp_svi *s, dp_error *err)
{
    dpi_spend *spend = &s->spend;
    uint64_t done = s->optimizer.done;
    if (spend->closed)
        return dpi_fail(err, DP_ESTATE, "the run was settled after %llu steps; make a new one",
                        (unsigned long long)done);
    if (spend->reservation == NULL)
        return DP_OK;
    dp_status here = dpi_reservation_here(spend->reservation, err);
    if (here != DP_OK || done < spend->leased)
        return here;
    double time = now();
    if (spend->leased_at > 0 && time - spend->leased_at < short_lease)
        spend->block *= 2;
    else if (spend->leased_at > 0 && time - spend->leased_at > long_lease)
        spend->block = 1 + spend->block / 2;
    spend->leased_at = time;
    return lease(s, spend->block < s->opts.steps - done ? done + spend->block : s->opts.steps, err);
}

void dpi_spend_done(dp_svi *s)
{
    if (s->spend.reservation != NULL && s->optimizer.done >= s->opts.steps)
        (void)!dpi_reservation_finish(s->spend.reservation, NULL);
}

/* Steps begun.  One that failed is among them: of a group, another rank may have the release. */
static uint64_t reached(const dp_svi *s)
{
    return s->begun > s->optimizer.done ? s->begun : s->optimizer.done;
}

dp_status dpi_spend_save(dp_svi *s, dp_error *err)
{
    uint64_t begun[DPI_SPEND_MOST], done = s->optimizer.done;
    if (s->spend.reservation == NULL || done >= s->opts.steps)
        return DP_OK;
    s->spend.leased = done; /* before it is written: if that fails, a new lease is needed */
    begun_at(s, rounded_up(s, reached(s)), begun);
    return dpi_reservation_mark(s->spend.reservation, begun, err);
}

dp_status dp_svi_settle(dp_svi *s, dp_error *err)
{
    uint64_t begun[DPI_SPEND_MOST];
    if (s->spend.reservation == NULL)
        return dpi_fail(err, DP_ESTATE, "the run has no ledger, and nothing to settle");
    begun_at(s, reached(s), begun);
    dp_status status = dp_svi_done(s) ? dpi_reservation_finish(s->spend.reservation, err)
                                      : dp_reservation_settle(s->spend.reservation, begun, err);
    if (status == DP_OK)
        s->spend.closed = true;
    return status;
}

dp_status dpi_spend_epsilon(const dp_svi *s, double *epsilon, double *steps, dp_error *err)
{
    dp_mechanism all[DPI_SPEND_MOST], list[DPI_SPEND_MOST];
    uint64_t begun[DPI_SPEND_MOST];
    size_t n = 0, most = dpi_cost_list(&s->opts, s->opts.steps, all);
    dp_interval bounds;
    begun_at(s, s->optimizer.done, begun);
    *epsilon = *steps = 0;
    for (size_t k = 0; k < most; k++)
        if (begun[k] > 0) {
            *steps += (double)begun[k];
            list[n] = all[k];
            list[n++].steps = begun[k];
        }
    if (n == 0)
        return DP_OK;
    if (n == 1)
        return dp_epsilon(list, s->opts.delta, epsilon, err);
    dp_status status = dp_account_epsilon(list, n, s->opts.delta, 0, &bounds, err);
    *epsilon = bounds.upper;
    return status;
}
