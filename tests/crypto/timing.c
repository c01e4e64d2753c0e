#define _POSIX_C_SOURCE 200809L
#include "tests/crypto/timing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "tests/lib/numbers.h"

typedef struct sample {
    double time;
    int group;
} sample;

static double processor(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int by_time(const void *a, const void *b)
{
    const sample *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

/* Welch's t of the first n, and what would be seen. */
static timing_result compare(const sample *s, size_t n)
{
    double count[2] = {0}, mean[2] = {0}, square[2] = {0};
    for (size_t i = 0; i < n; i++) { /* Welford's recurrence */
        double *m = &mean[s[i].group], less = s[i].time - *m;
        *m += less / ++count[s[i].group];
        square[s[i].group] += less * (s[i].time - *m);
    }
    double error =
        sqrt(square[0] / (count[0] - 1) / count[0] + square[1] / (count[1] - 1) / count[1]);
    return (timing_result){.t = fabs(mean[0] - mean[1]) / error,
                           .mean = (mean[0] + mean[1]) / 2,
                           .seen = TIMING_CERTAIN * error};
}

/* The comparison that ends early. */
static void leak(const timing_case *c, size_t steps)
{
    volatile bool same = c->is_fixed(c->of);
    for (volatile size_t i = 0; i < steps && same; i++)
        continue;
}

static double time_one(const timing_case *c, int group, size_t number, size_t steps)
{
    c->prepare(c->of, group, number);
    double began = processor();
    c->run(c->of);
    if (steps > 0)
        leak(c, steps);
    return processor() - began;
}

timing_result timing_measure(const timing_case *c, size_t samples, size_t steps)
{
    static const double quantiles[] = {.25, .5, .75, .9, .99, 1};
    sample *s = calloc(samples, sizeof *s);
    uint64_t order = 11, which = 12;
    timing_result worst = {.t = -1};
    if (s == NULL)
        abort();
    for (size_t i = 0; i < samples; i++) {
        size_t number = (size_t)((next_number(&which) + 1) / 2 * (double)c->inputs);
        s[i].group = next_number(&order) < 0;
        s[i].time = time_one(c, s[i].group, number < c->inputs ? number : 0, steps);
    }
    qsort(s, samples, sizeof *s, by_time);
    for (size_t k = 0; k < sizeof quantiles / sizeof *quantiles; k++) {
        timing_result r = compare(s, (size_t)(quantiles[k] * (double)samples));
        if (r.t > worst.t)
            worst = r;
    }
    free(s);
    return worst;
}

enum { TRIED = 9, STEPS = 10000000 };

size_t timing_samples(const timing_case *c, double seconds, size_t least)
{
    double began = processor();
    for (int i = 0; i < TRIED; i++)
        (void)time_one(c, i % 2, 0, 0);
    double most = seconds * TRIED / (processor() - began);
    return most > (double)least ? (size_t)most : least;
}

size_t timing_steps(const timing_case *c, double share)
{
    double least = INFINITY, began = processor();
    for (volatile size_t i = 0; i < STEPS; i++)
        continue;
    double step = (processor() - began) / STEPS;
    for (int i = 0; i < TRIED; i++)
        least = fmin(least, time_one(c, i % 2, 0, 0));
    return 1 + (size_t)(share * least / step);
}
