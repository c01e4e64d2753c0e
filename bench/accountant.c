/* Speed of the accountant: one JSON line a case, milliseconds a call, median of 11 runs, one
 * thread.
 *   make bench/accountant && bench/accountant
 * Contour: both directions.  Certified: dp_account_epsilon at the default width of 1e-3; `grid` is
 * the number of points of its largest transform, the width was reached with no less by its own
 * plan.  Peak memory is that of the process until then. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <tacit/accountant.h>

#include "bench.h"

typedef struct job {
    const char *name;
    dp_mechanism m;
    double epsilon, delta;
    double answer;
    dp_interval interval;
} job;

static void need(dp_status status, const char *name, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "%s: %s\n", name, err->text);
    exit(1);
}

static void contour(void *of)
{
    job *j = of;
    dp_error err = {0};
    need(dp_contour_epsilon(&j->m, 1, j->delta, &j->answer, &err), j->name, &err);
}

static void certified(void *of)
{
    job *j = of;
    dp_error err = {0};
    need(dp_account_epsilon(&j->m, 1, j->delta, 0, &j->interval, &err), j->name, &err);
}

static void noise(void *of)
{
    job *j = of;
    dp_error err = {0};
    need(dp_approximate_sigma(j->epsilon, j->delta, j->m.rate, j->m.steps, j->m.sampling,
                              &j->answer, &err),
         j->name, &err);
}

static long peak_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : -1;
}

static void start_line(const char *kernel, const job *j, bench_times t)
{
    printf("{\"kernel\": \"accountant/%s\", \"case\": \"%s\", \"sigma\": %g, \"rate\": %.9g, "
           "\"steps\": %llu, \"delta\": %g, \"ms\": %.4g, \"ms_low\": %.4g, \"ms_high\": %.4g, "
           "\"peak_kib\": %ld, ",
           kernel, j->name, j->m.sigma, j->m.rate, (unsigned long long)j->m.steps, j->delta,
           1e3 * t.median, 1e3 * t.low, 1e3 * t.high, peak_kib());
}

static dp_mechanism poisson(double sigma, double rate, uint64_t steps)
{
    return (dp_mechanism){
        .sampling = DP_SAMPLING_POISSON, .sigma = sigma, .rate = rate, .steps = steps};
}

static void time_account(const char *name, dp_mechanism m, double delta)
{
    job j = {.name = name, .m = m, .delta = delta};
    start_line("contour", &j, bench_measure(contour, &j));
    printf("\"epsilon\": %.12g, ", j.answer);
    bench_end_line();
    start_line("certified", &j, bench_measure(certified, &j));
    printf("\"lower\": %.12g, \"upper\": %.12g, \"grid\": %zu, ", j.interval.lower,
           j.interval.upper, j.interval.grid);
    bench_end_line();
}

static void time_noise(const char *name, double epsilon, double delta, double rate, uint64_t steps)
{
    job j = {.name = name, .m = poisson(0, rate, steps), .epsilon = epsilon, .delta = delta};
    bench_times t = bench_measure(noise, &j);
    j.m.sigma = j.answer;
    start_line("sigma", &j, t);
    printf("\"epsilon\": %g, ", epsilon);
    bench_end_line();
}

int main(void)
{
    const double mnist = 128.0 / 60000;
    time_account("mnist", poisson(1.5, mnist, 9375), 1.0 / 60000);
    time_account("million", poisson(1, 1e-3, 1000000), 1e-7);
    time_account("mnist-1e-15", poisson(1.5, mnist, 9375), 1e-15);
    time_account("small-delta", poisson(1, 0.01, 1000), 1e-15);
    time_account("tiny-rate", poisson(1, 1e-5, 1000000), 1e-8);
    time_noise("mnist-0.1", 0.1, 1e-5, mnist, 9375);
    time_noise("mnist-1", 1, 1.0 / 60000, mnist, 9375);
    time_noise("mnist-8", 8, 1e-5, mnist, 9375);
    time_noise("gmm-1", 1, 1e-5, 0.01, 1000);
    time_noise("hlr-1", 1, 0.002, 0.1, 100000);
    time_noise("hlr-4", 4, 0.002, 0.02, 100000);
    return 0;
}
