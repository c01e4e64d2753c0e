/* What every benchmark shares: a clock, the median of repeated runs, and the end of a JSON line,
 * which says from what the figures are. */
#ifndef TACIT_BENCH_BENCH_H
#define TACIT_BENCH_BENCH_H

#include <stddef.h>

enum { BENCH_RUNS = 11 };

typedef struct bench_times {
    double median, low, high; /* seconds a call, of BENCH_RUNS runs */
} bench_times;

/* Seconds since some fixed moment. */
double bench_now(void);

/* Processor seconds of this program so far, of all its threads. */
double bench_processor(void);

/* The median of n numbers, which it sorts. */
double bench_median(double *x, size_t n);

/* Times call(of): as many calls a run as take about 2 ms together. */
bench_times bench_measure(void (*call)(void *of), void *of);

/* A field of a JSON line, "name": value, ; null where the value is not finite. */
void bench_number(const char *name, double value);

/* Ends a JSON line on stdout whose last field was followed by ", ": commit (with "-dirty" where the
 * tree had changes when the program was built), cpu, flags, and the closing brace. */
void bench_end_line(void);

#endif
