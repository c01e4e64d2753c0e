/* What waiting for the disk costs a fit by noisy steps (doc/design/resume.md): one JSON line a way
 * of keeping its 545 releases, seconds of the clock, median of so many fits.
 *   make bench/journal && bench/journal [--folder F] [--fits N] [--only none|journal|ledger]
 *   strace -f -c -e trace=fsync,fdatasync bench/.libs/journal --only ledger --fits 1
 *   strace -f -o /dev/null -e trace=fsync,fdatasync \
 *     --inject=fsync,fdatasync:delay_exit=4000 bench/.libs/journal --fits 3
 * with LD_LIBRARY_PATH=.libs; the first counts syncs, the second makes each last 4 ms longer.
 * The files lie in a folder of their own in F (.), which is taken away at the end; seconds are
 * those of F's disk.  The model is a mixture of three in the plane, of 1000 points. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/tacit.h>

#include "bench.h"
#include "options.h"

enum { N = 1000, D = 2, K = 3, MOST_FITS = 99, MOST_PATH = 512 };

typedef struct files {
    char folder[MOST_PATH], journal[MOST_PATH], ledger[MOST_PATH];
} files;

static dp_error err;

static void check(dp_status status, const char *what)
{
    if (status != DP_OK)
        bench_stop(what, err.text);
}

static void make_folder(files *f, const char *in)
{
    (void)snprintf(f->folder, sizeof f->folder, "%.400s/journal-XXXXXX", in);
    if (mkdtemp(f->folder) == NULL)
        bench_stop("--folder", "no folder can be made there");
    (void)snprintf(f->journal, sizeof f->journal, "%.480s/journal", f->folder);
    (void)snprintf(f->ledger, sizeof f->ledger, "%.480s/ledger", f->folder);
}

static void draw_points(double x[N * D])
{
    dp_rng *rng;
    check(dp_rng_new(7, &rng, &err), "points");
    dp_rng_normal(rng, (size_t)N * D, x);
    for (size_t i = 0; i < (size_t)N * D; i++)
        x[i] = 3 * ((double)(i / D % K) - 1) + x[i];
    dp_rng_free(rng);
}

static dp_ledger *new_ledger(const files *f, const dp_dataset *data)
{
    const dp_budget budget = {.epsilon = 1.001, .delta = 1e-5, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = data};
    dp_ledger *ledger;
    check(dp_ledger_create(f->ledger, &ledger, &err), "ledger");
    check(dp_ledger_add_data(ledger, "points", &source, &budget, &err), "ledger");
    return ledger;
}

/* Seconds of one fit. */
static double fit_once(const dp_model *m, const dp_dataset *data, const files *f, bool keeps,
                       bool pays)
{
    dp_fit_opts o = {.epsilon = 1, .delta = 1e-5, .journal = keeps ? f->journal : NULL};
    dp_fit *fit;
    if (pays) {
        o.ledger = new_ledger(f, data);
        o.ledger_data = "points";
    }
    double from = bench_now();
    check(dp_fit_private(m, data, &o, &fit, &err), "fit");
    double seconds = bench_now() - from;
    dp_fit_free(fit);
    dp_ledger_close(o.ledger);
    (void)unlink(f->journal);
    (void)unlink(f->ledger);
    return seconds;
}

int main(int argc, char **argv)
{
    static const char *const ways[] = {"none", "journal", "ledger"};
    static double x[N * D], seconds[MOST_FITS];
    const dp_mixture_opts three = {.components = K, .dimensions = D};
    const char *folder = ".", *only = NULL;
    uint64_t fits = 5;
    const bench_option list[] = {{.name = "--folder", .text = &folder},
                                 {.name = "--fits", .count = &fits},
                                 {.name = "--only", .text = &only}};
    files f;
    dp_model *m;
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (fits == 0 || fits > MOST_FITS)
        bench_stop("--fits", "give 1 to 99");
    make_folder(&f, folder);
    draw_points(x);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, x);
    check(dp_gaussian_mixture(&three, &m, &err), "mixture");
    for (size_t way = 0; way < 3; way++) {
        if (only != NULL && strcmp(only, ways[way]) != 0)
            continue;
        for (uint64_t k = 0; k < fits; k++)
            seconds[k] = fit_once(m, data, &f, way > 0, way > 1);
        (void)printf("{\"kernel\": \"journal\", \"kept\": \"%s\", \"records\": %d, \"fits\": %d, ",
                     ways[way], N, (int)fits);
        bench_number("seconds", bench_median(seconds, fits));
        bench_end_line();
    }
    dp_dataset_free(data);
    dp_model_free(m);
    if (rmdir(f.folder) != 0)
        bench_stop(f.folder, "cannot be taken away");
    return 0;
}
