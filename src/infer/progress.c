/* The part of the work that is done, in time: what was done took t seconds, and what is left will
 * take as long for each release, and for each transition of the last chains as long as one of the
 * walks between releases took.  Before the first walk draws are taken for a fifth of the whole.
 * The clock tells of time alone, which whoever looks on has as well. */
#define _POSIX_C_SOURCE 200809L
#include "infer/progress.h"

#include <math.h>
#include <time.h>

#include "base/error.h"

static const double interval = 0.1;     /* seconds between calls while draws are made */
static const double first_guess = 0.25; /* of draws' time, beside that of releases */

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool is_watched(const dpi_progress *p)
{
    return p != NULL && p->watch != NULL;
}

void dpi_progress_init(dpi_progress *p, dp_fit_watch *watch, void *user)
{
    *p = (dpi_progress){.watch = watch, .user = user};
    p->began = watch != NULL ? now() : 0;
    p->at = (dp_fit_progress){.phase = "drawing", .epsilon = INFINITY};
}

dp_status dpi_progress_stopped(dp_error *err)
{
    return dpi_fail(err, DP_ESTOPPED, "the fit was stopped");
}

/* Calls the watch; true: stop. */
static bool tell(dpi_progress *p, double fraction, double time)
{
    p->at.fraction = fmin(fmax(fraction, p->at.fraction), 1);
    p->told = time;
    return p->watch(p->user, &p->at) != 0;
}

/* Of the releases that were made; what cannot be computed is not told. */
static double epsilon_of(const dpi_progress *p)
{
    dp_mechanism list[DPI_PROGRESS_PHASES];
    dp_interval spent = {.upper = 0};
    size_t n = 0;
    for (size_t k = 0; k < p->plan.n; k++)
        if (p->made[k] > 0) {
            list[n] = p->plan.list[k];
            list[n++].steps = p->made[k];
        }
    return n == 0 || dp_account_epsilon(list, n, p->plan.delta, 0, &spent, NULL) == DP_OK
               ? spent.upper
               : NAN;
}

dp_status dpi_progress_begin(dpi_progress *p, const dpi_progress_plan *plan, dp_error *err)
{
    if (!is_watched(p))
        return DP_OK;
    p->plan = *plan;
    p->at.kept = plan->kept;
    for (size_t k = 0; k < plan->n; k++)
        p->at.planned += plan->list[k].steps;
    p->at.phase = plan->n > 0 ? plan->names[0] : p->at.phase;
    p->at.epsilon = plan->n > 0 ? 0 : INFINITY;
    return tell(p, 0, now()) ? dpi_progress_stopped(err) : DP_OK;
}

/* Seconds of the draws at the end, as walks took. */
static double draws_ahead(const dpi_progress *p, double releases)
{
    if (p->plan.turns == 0)
        return 0;
    return p->walks > 0 ? p->walked / p->walks * (double)p->plan.turns : first_guess * releases;
}

dp_status dpi_progress_release(dpi_progress *p, size_t phase, dp_error *err)
{
    if (!is_watched(p))
        return DP_OK;
    if (phase < p->plan.n) {
        p->made[phase]++;
        p->at.made++;
        p->at.phase = p->plan.names[phase];
        p->at.epsilon = epsilon_of(p);
    }
    double time = now(), took = time - p->began;
    double all = took * (double)p->at.planned / fmax((double)p->at.made, 1);
    double whole = all + draws_ahead(p, all);
    return tell(p, p->at.planned > 0 && whole > 0 ? took / whole : 0, time)
               ? dpi_progress_stopped(err)
               : DP_OK;
}

void dpi_progress_begin_walk(dpi_progress *p)
{
    if (is_watched(p))
        p->walk_began = now();
}

void dpi_progress_end_walk(dpi_progress *p, size_t turns)
{
    if (!is_watched(p))
        return;
    p->walked += now() - p->walk_began;
    p->walks += (double)turns;
}

void dpi_progress_draw(dpi_progress *p)
{
    if (!is_watched(p))
        return;
    p->at.phase = "drawing";
    p->drawn_from = p->at.fraction;
}

bool dpi_progress_moved(dpi_progress *p, double part)
{
    if (!is_watched(p))
        return false;
    double time = now();
    if (time - p->told < interval)
        return false;
    return tell(p, p->drawn_from + (1 - p->drawn_from) * fmin(part, 1), time);
}
