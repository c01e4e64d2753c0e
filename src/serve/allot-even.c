/* The least spread of times, by branch and bound: pairs of stages that have their threads only add
 * to it, so a beginning whose spread is not below the best one found leads nowhere. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "serve/allot.h"

typedef struct even_search {
    const dpi_allot_task *task;
    dpi_allotment *best;
    size_t threads[DPI_ALLOT_EVEN], room;
    dp_status status;
    dp_error *err;
} even_search;

/* What stage i adds to the spread of those before it. */
static double added(const even_search *s, size_t i)
{
    double own = s->task->time[i] / (double)s->threads[i], sum = 0;
    for (size_t j = 0; j < i; j++)
        sum += fabs(own - s->task->time[j] / (double)s->threads[j]);
    return sum;
}

static bool worse(const even_search *s, double spread, double slowest)
{
    return spread > s->best->spread || (spread == s->best->spread && slowest >= s->best->slowest);
}

static void take(even_search *s)
{
    dpi_allotment found = {.slowest = 0};
    bool fits = false;
    memcpy(found.threads, s->threads, s->task->stages * sizeof *s->threads);
    s->status = dpi_allot_pack(s->task, s->threads, found.host, &fits, s->err);
    dpi_allot_measure(s->task, &found);
    if (s->status == DP_OK && fits && !worse(s, found.spread, found.slowest))
        *s->best = found;
}

/* Stages i and on.  Sums are rounded, so a beginning as good as the best is followed. */
static void look(even_search *s, size_t i, size_t used, double spread, double slowest)
{
    size_t left = s->task->stages - i;
    if (left == 0) {
        take(s);
        return;
    }
    for (size_t k = 1; s->status == DP_OK && used + k + left - 1 <= s->room; k++) {
        s->threads[i] = k;
        double more = spread + added(s, i), own = s->task->time[i] / (double)k;
        if (more <= s->best->spread * (1 + 1e-12))
            look(s, i + 1, used + k, more, fmax(slowest, own));
    }
}

dp_status dpi_allot_even(const dpi_allot_task *task, dpi_allotment *made, dp_error *err)
{
    even_search s = {.task = task, .best = made, .err = err};
    dp_status status = dpi_allot(task, made, err); /* which shows that there is one */
    if (status != DP_OK)
        return status;
    if (task->stages > DPI_ALLOT_EVEN)
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "the least spread is searched for %d stages at most", DPI_ALLOT_EVEN);
    for (size_t j = 0; j < task->hosts; j++)
        s.room += task->room[j];
    if (status == DP_OK) {
        look(&s, 0, 0, 0, 0);
        status = s.status;
    }
    if (status != DP_OK)
        memset(made, 0, sizeof *made);
    return status;
}
