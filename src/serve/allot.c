/* The least slowest stage.
 *
 * It is time[i] / k for some stage i and number k, and hosts that have room for a bottleneck have
 * room for any longer one: so a binary search over these numbers is exact.  For a bottleneck t each
 * stage needs the fewest threads k with time / k <= t, and whether those fit is a packing. */
#include "serve/allot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { MOST_ROOM = 1 << 12 };

dp_status dpi_allot_check(const dpi_allot_task *task, dp_error *err)
{
    if (task->stages < 1 || task->stages > DPI_ALLOT_STAGES || task->hosts < 1 ||
        task->hosts > DPI_ALLOT_HOSTS)
        return dpi_fail(err, DP_EINVAL, "there are 1 to %d stages and 1 to %d hosts",
                        DPI_ALLOT_STAGES, DPI_ALLOT_HOSTS);
    for (size_t i = 0; i < task->stages; i++)
        if (!(task->time[i] >= 0) || !isfinite(task->time[i]) ||
            (task->kind != NULL && task->kind[i] > 1))
            return dpi_fail(err, DP_EINVAL,
                            "stage %zu needs a time that is finite and not negative, and kind 0 "
                            "or 1",
                            i);
    for (size_t j = 0; j < task->hosts; j++)
        if (task->room[j] > MOST_ROOM)
            return dpi_fail(err, DP_EINVAL, "host %zu has more than 4096 threads", j);
    if (task->hosts > 1 && task->stages > DPI_ALLOT_PACKED)
        return dpi_fail(err, DP_EUNSUPPORTED, "more than %d stages are for one host alone",
                        DPI_ALLOT_PACKED);
    return DP_OK;
}

void dpi_allot_measure(const dpi_allot_task *task, dpi_allotment *made)
{
    made->slowest = made->total = made->spread = 0;
    for (size_t i = 0; i < task->stages; i++) {
        double own = task->time[i] / (double)made->threads[i];
        made->slowest = fmax(made->slowest, own);
        made->total += own;
        for (size_t j = 0; j < i; j++)
            made->spread += fabs(own - task->time[j] / (double)made->threads[j]);
    }
}

static size_t largest_room(const dpi_allot_task *task)
{
    size_t most = 0;
    for (size_t j = 0; j < task->hosts; j++)
        most = task->room[j] > most ? task->room[j] : most;
    return most;
}

/* The fewest threads with time / k <= t by this very division; more than `most` where there are
 * none. */
static size_t threads_for(double time, double t, size_t most)
{
    double about = t > 0 ? ceil(time / t) : time > 0 ? INFINITY : 1;
    if (about > (double)most + 1)
        return most + 1;
    size_t k = about < 1 ? 1 : (size_t)about;
    while (k > 1 && time / (double)(k - 1) <= t)
        k--;
    while (k <= most && time / (double)k > t)
        k++;
    return k;
}

static dp_status try_bottleneck(const dpi_allot_task *task, double t, dpi_allotment *made,
                                bool *fits, dp_error *err)
{
    size_t most = largest_room(task), room = 0, sum = 0;
    bool each = true;
    for (size_t j = 0; j < task->hosts; j++)
        room += task->room[j];
    for (size_t i = 0; i < task->stages; i++) {
        made->threads[i] = threads_for(task->time[i], t, most);
        each = each && made->threads[i] <= most;
        sum += made->threads[i];
    }
    *fits = false;
    return each && sum <= room ? dpi_allot_pack(task, made->threads, made->host, fits, err) : DP_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All numbers that the bottleneck may be, in order. */
static double *candidates(const dpi_allot_task *task, size_t *n)
{
    size_t most = largest_room(task), bytes;
    *n = task->stages * most;
    double *t = dpi_mul(*n, sizeof *t, &bytes) ? dpi_alloc(*n, sizeof *t) : NULL;
    for (size_t i = 0; t != NULL && i < *n; i++)
        t[i] = task->time[i / most] / (double)(i % most + 1);
    if (t != NULL)
        qsort(t, *n, sizeof *t, ascending);
    return t;
}

/* Threads that are left on a stage's host go, one by one, to whom each saves most: the best there
 * is, since what one more saves gets less with each. */
static void give_rest(const dpi_allot_task *task, dpi_allotment *made)
{
    for (size_t j = 0; j < task->hosts; j++) {
        size_t left = task->room[j];
        for (size_t i = 0; i < task->stages; i++)
            left -= made->host[i] == j ? made->threads[i] : 0;
        while (left-- > 0) {
            size_t best = DPI_ALLOT_STAGES;
            double most = 0;
            for (size_t i = 0; i < task->stages; i++) {
                double k = (double)made->threads[i], saves = task->time[i] / k / (k + 1);
                if (made->host[i] == j && saves > most) {
                    most = saves;
                    best = i;
                }
            }
            if (best == DPI_ALLOT_STAGES)
                break;
            made->threads[best]++;
        }
    }
}

dp_status dpi_allot(const dpi_allot_task *task, dpi_allotment *made, dp_error *err)
{
    size_t n = 0, low = 0;
    bool fits = false;
    memset(made, 0, sizeof *made);
    dp_status status = dpi_allot_check(task, err);
    if (status != DP_OK)
        return status;
    double *t = candidates(task, &n);
    if (t == NULL)
        return dpi_fail_nomem(err);
    size_t high = n; /* the first number that is enough is low ... high; n: none is */
    while (status == DP_OK && low < high) {
        size_t middle = low + (high - low) / 2;
        status = try_bottleneck(task, t[middle], made, &fits, err);
        if (fits)
            high = middle;
        else
            low = middle + 1;
    }
    if (status == DP_OK && low == n)
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "the hosts have no room for %zu stages with a thread each", task->stages);
    else if (status == DP_OK)
        status = try_bottleneck(task, t[low], made, &fits, err);
    dpi_free(t);
    if (status == DP_OK) {
        give_rest(task, made);
        dpi_allot_measure(task, made);
    } else {
        memset(made, 0, sizeof *made);
    }
    return status;
}
