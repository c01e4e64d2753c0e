/* One fit, by the way that was asked for, with what it spent, flagged and took. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "answers.h"
#include "bench.h"

#ifdef __has_include
#if __has_include(<tacit/infer.h>)
#include <tacit/infer.h>
#define HAS_INFER 1
#endif
#endif

typedef dp_status fit_way(const dp_model *m, const dp_dataset *data, const fit_ask *ask,
                          dp_fit **fit, dp_error *err);

#ifdef HAS_INFER
static dp_status automatic(const dp_model *m, const dp_dataset *data, const fit_ask *ask,
                           dp_fit **fit, dp_error *err)
{
    dp_fit_opts o = {.seed = ask->seed,
                     .threads = ask->threads,
                     .rounds = ask->rounds,
                     .clip = ask->clip,
                     .hopeless_allowed = !ask->hopeless_refused};
    o.mode = isfinite(ask->epsilon) ? DP_PRIVATE : DP_NO_PRIVACY;
    if (o.mode == DP_PRIVATE)
        o.epsilon = ask->epsilon, o.delta = ask->delta;
    return dp_fit_private(m, data, &o, fit, err);
}
#endif

static void read_diagnostics(fit_answer *answer)
{
    size_t n;
    const dp_diagnostic *list = dp_fit_diagnostics(answer->fit, &n);
    for (size_t k = 0; k < n; k++)
        if (list[k].bad) {
            size_t at = strlen(answer->names);
            (void)snprintf(answer->names + at, sizeof answer->names - at, "%s%s",
                           answer->flagged > 0 ? " " : "", list[k].name);
            answer->flagged++;
        }
}

/* The loop with its defaults, as by the book: 1000 steps of Adam on all records, clip norm 1. */
static dp_status mean_field(const dp_model *m, const dp_dataset *data, const fit_ask *ask,
                            dp_fit **fit, dp_error *err)
{
    dp_svi *svi;
    dp_svi_opts o = {.sampling = DP_SAMPLING_FULL, .seed = ask->seed, .threads = ask->threads};
    if (isfinite(ask->epsilon))
        o.clip = 1, o.epsilon = ask->epsilon, o.delta = ask->delta;
    else
        o.mode = DP_NO_PRIVACY;
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, err);
    if (status != DP_OK)
        return status;
    status = dp_svi_run(svi, NULL, err);
    if (status == DP_OK)
        status = dp_svi_finish(svi, fit, err);
    dp_svi_free(svi);
    return status;
}

static const struct {
    const char *name;
    fit_way *way;
} ways[] = {
#ifdef HAS_INFER
    {"private", automatic},
#endif
    {"svi", mean_field}};

static fit_way *find(const char *method)
{
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
        if (strcmp(ways[k].name, method) == 0)
            return ways[k].way;
    return NULL;
}

bool fit_knows(const char *method)
{
    return find(method) != NULL;
}

const char *fit_default(void)
{
    return fit_knows("private") ? "private" : "svi";
}

dp_status fit_run(const dp_model *m, const dp_dataset *data, const fit_ask *ask, fit_answer *answer,
                  dp_error *err)
{
    dp_privacy privacy;
    double wall = bench_now();
    clock_t cpu = clock();
    *answer = (fit_answer){.spent = NAN};
    dp_status status = find(ask->method)(m, data, ask, &answer->fit, err);
    answer->wall = bench_now() - wall;
    answer->cpu = (double)(clock() - cpu) / CLOCKS_PER_SEC;
    if (status != DP_OK)
        return status;
    dp_fit_privacy(answer->fit, &privacy);
    answer->spent = privacy.epsilon;
    read_diagnostics(answer);
    return DP_OK;
}
