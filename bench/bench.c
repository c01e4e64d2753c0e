/* Clock, repetition and provenance of benchmarks; bench/built.h is written by make. */
#define _POSIX_C_SOURCE 200809L
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/built.h"

static const double run_seconds = 2e-3;

static double read_clock(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double bench_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double bench_processor(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

static double time_calls(size_t calls, void (*call)(void *of), void *of)
{
    double started = bench_now();
    for (size_t i = 0; i < calls; i++)
        call(of);
    return bench_now() - started;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(double *x, size_t n)
{
    qsort(x, n, sizeof *x, by_size);
    return x[n / 2];
}

bench_times bench_measure(void (*call)(void *of), void *of)
{
    double time[BENCH_RUNS];
    size_t calls = 1;
    while (time_calls(calls, call, of) < run_seconds)
        calls *= 2;
    for (int r = 0; r < BENCH_RUNS; r++)
        time[r] = time_calls(calls, call, of) / (double)calls;
    qsort(time, BENCH_RUNS, sizeof *time, by_size);
    return (bench_times){time[BENCH_RUNS / 2], time[0], time[BENCH_RUNS - 1]};
}

/* The first "model name" of Linux' list of processors. */
static const char *cpu_name(char *line, int size)
{
    FILE *list = fopen("/proc/cpuinfo", "r");
    const char *name = NULL;
    while (list != NULL && name == NULL && fgets(line, size, list) != NULL)
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':') != NULL)
            name = strchr(line, ':') + 1;
    if (list != NULL)
        (void)fclose(list);
    if (name == NULL)
        return "unknown";
    line[strcspn(line, "\n\"\\")] = 0;
    return name + strspn(name, " ");
}

void bench_number(const char *name, double value)
{
    if (isfinite(value))
        (void)printf("\"%s\": %.6g, ", name, value);
    else
        (void)printf("\"%s\": null, ", name);
}

void bench_end_line(void)
{
    char line[256];
    (void)printf("\"commit\": \"%s\", \"cpu\": \"%s\", \"flags\": \"%s\"}\n", BENCH_COMMIT,
                 cpu_name(line, sizeof line), BENCH_FLAGS);
    (void)fflush(stdout);
}
