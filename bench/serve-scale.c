/* PP-Stream's tables of scales (ICDE 2024), for models that Tacit trains: accuracy with weights of
 * f = 0 ... 6 decimals, the f that its rule takes, and what a query costs with weights as large as
 * 10^f makes them.
 *   make bench/serve-scale && bench/serve-scale [--data ../shared/data] [--model NAME]
 *     [--queries N] [--threads N] [--train N] [--keep FOLDER]
 * One JSON line for each model without privacy and each f: the accuracy on the test set of real
 * numbers whose weights and biases are rounded to f decimals (of the unrounded ones in `accuracy`),
 * the f that the rule takes from the training set (or its first --train records), the bits of the
 * largest weight times 10^f, the accuracy of integers with so many bits in each stage, and, where
 * --queries is given, milliseconds of a query by both protocols: median and least of as many
 * queries in each of two sessions, one while f grows and one while it shrinks, 1 s apart, in which
 * zeros are made ahead, nothing else; and the median of the processor time of both sides, which
 * other work on the machine changes less; null where the protocol cannot hold such numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "bench.h"
#include "options.h"
#include "served.h"

enum {
    SCALES = DP_PROGRAM_DECIMALS + 1,
    MOST_QUERIES = 100,
    PAUSE_S = 1,
    PROTOCOLS = 2,
    LAST_FOLD = 4
};

typedef struct settings {
    const char *folder, *only, *keep;
    uint64_t queries, threads, train;
} settings;

/* A program with one scale. */
typedef struct scaled {
    dp_program *p;
    int weight_bits;
    double decimal, exact; /* accuracies */
    size_t n_times[PROTOCOLS];
    double times[PROTOCOLS][2 * MOST_QUERIES], work[PROTOCOLS][2 * MOST_QUERIES];
} scaled;

static double accuracy_of_decimals(const dp_program *p, int f, const dp_labelled *r)
{
    double share;
    dp_error err = {0};
    served_must(dp_program_accuracy(p, f, r, &share, &err), "accuracy", &err);
    return share;
}

static double accuracy_of_integers(const dp_program *p, const dp_labelled *r)
{
    const size_t inputs = dp_program_inputs(p), m = dp_program_outputs(p);
    int64_t *v = served_room(r->n * inputs, sizeof *v), *y = served_room(r->n * m, sizeof *y);
    size_t right = 0;
    dp_error err = {0};
    served_must(dp_program_encode(p, r->n, r->x, v, &err), "integers", &err);
    served_must(dp_program_run_exact(p, r->n, v, y, &err), "integers", &err);
    for (size_t i = 0; i < r->n; i++)
        right += served_class_of_integers(m, y + i * m) == r->label[i];
    free(v), free(y);
    return (double)right / (double)r->n;
}

static void make_scaled(const served_fit *fit, const served_data *d, int f, const dp_labelled *test,
                        scaled *s)
{
    dp_error err = {0};
    s->p = served_lower(fit, d);
    s->weight_bits = dp_program_decimal_bits(s->p, f);
    s->decimal = accuracy_of_decimals(s->p, f, test);
    const dp_scale_opts o = {.weight_bits = s->weight_bits};
    served_must(dp_program_fix(s->p, &o, &err), "scales", &err);
    s->exact = accuracy_of_integers(s->p, test);
}

/* ---- times ---- */

static void ask(scaled *s, dp_serve_protocol protocol, dp_serve_mode mode, const double *x,
                const settings *o)
{
    const struct timespec pause = {PAUSE_S, 0};
    int64_t *y = served_room(dp_program_outputs(s->p), sizeof *y);
    served_session *session = served_open(s->p, protocol, mode, o->threads, 1);
    for (size_t r = 0; session != NULL && r < o->queries; r++) {
        (void)nanosleep(&pause, NULL);
        const double from = bench_now(), worked = bench_processor();
        served_ask(session, x, y);
        s->work[protocol][s->n_times[protocol]] = 1e3 * (bench_processor() - worked);
        s->times[protocol][s->n_times[protocol]++] = 1e3 * (bench_now() - from);
    }
    if (session != NULL)
        served_close(session);
    free(y);
}

static void ask_all(scaled *s, dp_serve_mode mode, const double *x, const settings *o)
{
    for (int protocol = 0; protocol < PROTOCOLS && o->queries > 0; protocol++)
        for (int k = 0; k < 2 * SCALES; k++) {
            const int f = k < SCALES ? k : 2 * SCALES - 1 - k;
            ask(&s[f], (dp_serve_protocol)protocol, mode, x, o);
        }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of n times, which are sorted; NaN where there are none. */
static double median(size_t n, double *times)
{
    qsort(times, n, sizeof *times, ascending);
    return n > 0 ? times[n / 2] : NAN;
}

static void print_times(scaled *s, dp_serve_protocol protocol)
{
    static const char *const names[] = {"paillier", "lattice"};
    const size_t n = s->n_times[protocol];
    char name[40];
    (void)snprintf(name, sizeof name, "%s_ms", names[protocol]);
    bench_number(name, median(n, s->times[protocol]));
    (void)snprintf(name, sizeof name, "%s_ms_low", names[protocol]);
    bench_number(name, n > 0 ? s->times[protocol][0] : NAN);
    (void)snprintf(name, sizeof name, "%s_work_ms", names[protocol]);
    bench_number(name, median(n, s->work[protocol]));
}

/* ---- a model ---- */

static int chosen(const dp_program *p, const served_set *train, const settings *o)
{
    double *x = served_inputs(p, train);
    const size_t n = o->train > 0 && o->train < train->n ? o->train : train->n;
    const dp_labelled r = {n, x, train->label};
    int f;
    dp_error err = {0};
    served_must(dp_program_decimals(p, &r, &f, &err), "search", &err);
    free(x);
    return f;
}

static void measure(const served_model *m, const served_data *d, const settings *o)
{
    static scaled s[SCALES];
    served_fit fit = served_train(m, d, INFINITY, 0, o->keep);
    dp_program *p = served_lower(&fit, d);
    double *x = served_inputs(p, &d->test);
    const dp_labelled test = {d->test.n, x, d->test.label};
    const double real = accuracy_of_decimals(p, -1, &test);
    const int f_chosen = chosen(p, &d->train, o);
    memset(s, 0, sizeof s);
    for (int f = 0; f < SCALES; f++)
        make_scaled(&fit, d, f, &test, &s[f]);
    ask_all(s, m->mode, x, o);
    for (int f = 0; f < SCALES; f++) {
        (void)printf("{\"model\": \"%s\", ", m->name);
        bench_number("decimals", f);
        bench_number("chosen", f_chosen);
        bench_number("chosen_by", o->train > 0 ? (double)o->train : (double)d->train.n);
        bench_number("accuracy", real);
        bench_number("accuracy_decimals", s[f].decimal);
        bench_number("weight_bits", s[f].weight_bits);
        bench_number("accuracy_exact", s[f].exact);
        bench_number("bits", dp_program_bits(s[f].p));
        print_times(&s[f], DP_SERVE_PAILLIER);
        print_times(&s[f], DP_SERVE_LATTICE);
        bench_number("threads", (double)o->threads);
        bench_end_line();
        (void)fflush(stdout);
        dp_program_free(s[f].p);
    }
    free(x);
    dp_program_free(p);
    dp_fit_free(fit.fit);
}

int main(int argc, char **argv)
{
    settings o = {.folder = "../shared/data", .threads = 2};
    const bench_option list[] = {
        {.name = "--data", .text = &o.folder},      {.name = "--model", .text = &o.only},
        {.name = "--queries", .count = &o.queries}, {.name = "--threads", .count = &o.threads},
        {.name = "--train", .count = &o.train},     {.name = "--keep", .text = &o.keep}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    struct stat there;
    size_t n;
    const served_model *m = served_models(&n);
    served_data d = {0};
    const char *of = "";
    if (stat(o.folder, &there) != 0)
        bench_stop(o.folder, "is not there: the data sets are not part of the distribution");
    if (o.queries > MOST_QUERIES)
        bench_stop("--queries", "is at most 100");
    for (size_t k = 0; k < n; k++) {
        if (o.only != NULL && strcmp(o.only, m[k].name) != 0)
            continue;
        if (strcmp(of, m[k].data) != 0) {
            served_free(&d);
            served_read(o.folder, of = m[k].data, LAST_FOLD, &d);
        }
        measure(&m[k], &d, &o);
    }
    served_free(&d);
    return 0;
}
