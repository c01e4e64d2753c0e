/* What this machine can do at most, for shares of it (bench/performance.py): one JSON line.
 *
 *   make bench/limits && bench/limits [THREADS]
 *
 *   single_gflops, double_gflops  products of 768 x 768 matrices by OpenBLAS, which stay in a cache
 *   gigabytes                     a second, read and written: a = b + 2 c of arrays of 64 MB
 *   random_gigabytes              a second, of the stream that noise is made of
 *
 * The best of ROUNDS by the clock. */
#define _POSIX_C_SOURCE 200809L
#include <cblas.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "random/stream.h"

enum { ROUNDS = 9, MOST_THREADS = 64, SIDE = 768, LONG = 8 << 20 };

typedef struct worker {
    double *a, *b, *c; /* [LONG] */
} worker;

typedef void work(worker *w);

static void fail(const char *what)
{
    (void)fprintf(stderr, "limits: %s\n", what);
    exit(1);
}

static void move(worker *w)
{
    for (size_t i = 0; i < LONG; i++)
        w->a[i] = w->b[i] + 2 * w->c[i];
}

static void draw(worker *w)
{
    static const unsigned char key[DPI_STREAM_KEY] = {1};
    dpi_stream stream;
    dpi_stream_start(&stream, key);
    dpi_stream_bytes(&stream, LONG, (unsigned char *)w->a);
    dpi_stream_end(&stream);
}

static void multiply_single(worker *w)
{
    const float *a = (const void *)w->a, *b = (const void *)w->b;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, a, SIDE, b, SIDE, 0,
                (void *)w->c, SIDE);
}

static void multiply_double(worker *w)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, SIDE, SIDE, SIDE, 1, w->a, SIDE, w->b,
                SIDE, 0, w->c, SIDE);
}

typedef struct start {
    work *f;
    worker *w;
} start;

static void *enter(void *of)
{
    const start *s = of;
    s->f(s->w);
    return NULL;
}

/* Seconds that all threads take for it, at best. */
static double least(work *f, worker *w, size_t threads)
{
    double best = 0;
    for (int r = 0; r < ROUNDS; r++) {
        pthread_t thread[MOST_THREADS];
        start s[MOST_THREADS];
        const double from = bench_now();
        for (size_t k = 0; k < threads; k++) {
            s[k] = (start){f, &w[k]};
            if (k > 0 && pthread_create(&thread[k], NULL, enter, &s[k]) != 0)
                fail("no thread can be started");
        }
        f(w);
        for (size_t k = 1; k < threads; k++)
            (void)pthread_join(thread[k], NULL);
        const double took = bench_now() - from;
        best = r == 0 || took < best ? took : best;
    }
    return best;
}

static void begin(worker *w)
{
    double **all[] = {&w->a, &w->b, &w->c};
    for (size_t k = 0; k < 3; k++) {
        if ((*all[k] = malloc(LONG * sizeof **all[k])) == NULL)
            fail("out of memory");
        for (size_t i = 0; i < LONG; i++)
            (*all[k])[i] = .5 + (double)(i % 7);
    }
}

int main(int argc, char **argv)
{
    static worker w[MOST_THREADS];
    const size_t threads = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    const double flops = 2e-9 * SIDE * SIDE * SIDE, count = (double)threads;
    if (threads < 1 || threads > MOST_THREADS)
        fail("usage: limits [THREADS, 1 ... 64]");
    for (size_t k = 0; k < threads; k++)
        begin(&w[k]);
    openblas_set_num_threads((int)threads);
    (void)printf("{\"bench\": \"limits\", \"threads\": %zu, ", threads);
    bench_number("single_gflops", flops / least(multiply_single, w, 1));
    bench_number("double_gflops", flops / least(multiply_double, w, 1));
    bench_number("gigabytes", 3e-9 * LONG * sizeof(double) * count / least(move, w, threads));
    bench_number("random_gigabytes", 1e-9 * LONG * count / least(draw, w, threads)); /* spoils a */
    bench_end_line();
    for (size_t k = 0; k < threads; k++) {
        free(w[k].a);
        free(w[k].b);
        free(w[k].c);
    }
}
