/* T-shirts or shirts: classes 0 and 6 of Fashion-MNIST, told apart by two owners of columns, of
 * whom one has the upper halves of the images, 392 pixels, the other the lower ones and the labels.
 *   make bench/silo-shirts
 *   bench/silo-shirts DATA SCHEME STEPS [ROWS [FITS]]      (12000 1; DATA as in examples/images.h)
 * SCHEME columns+dp has epsilon 3 at delta 1e-5, columns no noise; a step is what rows cannot
 * outrun, and bounds are those that `tacit silo` has for columns from 0 to 1.  Beside it the same
 * steps are taken at one place, with one share of noise in place of two.  SCHEME logistic is the
 * logistic loss itself at one place, in place of its second order around 0.
 * One JSON line: shares of test images that are told right, mean and standard deviation over FITS;
 * without noise how far coefficients are from those at one place; seconds of the clock and of
 * processor of both owners, and bytes of all letters of a fit. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/silo.h>
#include <tacit/tacit.h>

#include "bench.h"
#include "examples/images.h"

enum { HALF = 392, D = 2 * HALF + 1, UPPER = HALF, LOWER = HALF + 1, PATH = 300, MOST_FITS = 100 };
static const size_t width[2] = {UPPER, LOWER}, from[2] = {0, UPPER};
static const double epsilon = 3, delta = 1e-5;

typedef struct table {
    size_t n;
    double *x, *y; /* [n][D] pixels from 0 to 1 and a one, [n] 0 or 1 */
} table;

static void must(dp_status status, const char *what, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "silo-shirts: %s: %s\n", what, err->text);
    exit(1);
}

/* The first of them that are of the two classes. */
static table shirts(const unsigned char *pixels, const int32_t *labels, size_t n, size_t most)
{
    table t = {0, calloc(most * D, sizeof *t.x), calloc(most, sizeof *t.y)};
    if (t.x == NULL || t.y == NULL)
        abort();
    for (size_t i = 0; i < n && t.n < most; i++) {
        if (labels[i] != 0 && labels[i] != 6)
            continue;
        double *x = t.x + t.n * D;
        for (size_t j = 0; j + 1 < D; j++)
            x[j] = pixels[i * (D - 1) + j] / 255.;
        x[D - 1] = 1;
        t.y[t.n++] = labels[i] == 6;
    }
    return t;
}

static double dot(size_t d, const double *a, const double *b)
{
    double sum = 0;
    for (size_t j = 0; j < d; j++)
        sum += a[j] * b[j];
    return sum;
}

static double right(const table *t, const double *w)
{
    size_t good = 0;
    for (size_t i = 0; i < t->n; i++)
        good += (dot(D, t->x + i * D, w) > 0) == (t->y[i] == 1);
    return (double)good / (double)t->n;
}

/* ---- at one place ---- */

static double cut(double x, double most)
{
    return fmax(-most, fmin(most, x));
}

/* The rows as the plan shortens them. */
static double *shortened(const table *t, const dp_silo_columns *c, bool noisy)
{
    double *x = malloc(t->n * D * sizeof *x);
    if (x == NULL)
        abort();
    memcpy(x, t->x, t->n * D * sizeof *x);
    for (size_t i = 0; i < t->n && noisy; i++)
        for (size_t k = 0; k < 2; k++) {
            double *part = x + i * D + from[k], norm = sqrt(dot(width[k], part, part));
            for (size_t j = 0; j < width[k] && norm > c->row_most[k]; j++)
                part[j] *= c->row_most[k] / norm;
        }
    return x;
}

/* The steps of the plan, with noise of this standard deviation in each sum; exact: of the logistic
 * loss itself. */
static void alone(const table *t, const dp_silo_columns *c, double noise, bool exact, uint64_t seed,
                  double *w)
{
    double *x = shortened(t, c, noise > 0), g[D];
    dp_rng *rng;
    dp_error err = {0};
    must(dp_rng_new(seed, &rng, &err), "draws", &err);
    memset(w, 0, D * sizeof *w);
    for (uint64_t step = 0; step < c->steps; step++) {
        dp_rng_normal(rng, D, g);
        for (size_t j = 0; j < D; j++)
            g[j] *= noise;
        for (size_t i = 0; i < t->n; i++) {
            double *row = x + i * D, a = dot(UPPER, row, w), b = dot(LOWER, row + UPPER, w + UPPER);
            double r = exact ? 1 / (1 + exp(-a - b)) - t->y[i] : a / 4 + (b / 4 + .5 - t->y[i]);
            if (noise > 0)
                r = cut(a / 4, c->addend_most[0]) + cut(b / 4 + .5 - t->y[i], c->addend_most[1]);
            for (size_t j = 0; j < D; j++)
                g[j] += r * row[j];
        }
        for (size_t j = 0; j < D; j++)
            w[j] -= c->step * g[j] / (double)t->n;
    }
    dp_rng_free(rng);
    free(x);
}

/* ---- owners ---- */

static dp_silo_key *keys[2];

static dp_silo_plan *agree(const dp_silo_columns *c, const char *scheme, bool noisy)
{
    static const char *const names[] = {"upper", "lower"};
    dp_silo_owner owners[2];
    dp_silo_plan *plan;
    dp_error err = {0};
    for (size_t k = 0; k < 2; k++) {
        if (keys[k] == NULL)
            must(dp_silo_key_new(names[k], &keys[k], &err), "key", &err);
        owners[k] = (dp_silo_owner){names[k], dp_silo_key_public(keys[k])};
    }
    const dp_silo_opts o = {.name = "shirts",
                            .scheme = scheme,
                            .columns = c,
                            .n_owners = 2,
                            .owners = owners,
                            .epsilon = noisy ? epsilon : 0,
                            .delta = noisy ? delta : 0};
    must(dp_silo_plan_new(&o, &plan, &err), "plan", &err);
    for (size_t k = 0; k < 2; k++)
        must(dp_silo_plan_sign(plan, keys[k], &err), "sign", &err);
    return plan;
}

/* One owner's process, in a folder of this fit; it does not return. */
static void act(const dp_silo_plan *plan, const table *t, size_t k)
{
    char state[32], (*ids)[32] = calloc(t->n, sizeof *ids);
    const char **who = calloc(t->n, sizeof *who);
    double *x = calloc(t->n * width[k], sizeof *x), w[D];
    dp_error err = {0};
    size_t common;
    if (ids == NULL || who == NULL || x == NULL)
        abort();
    for (size_t i = 0; i < t->n; i++) {
        (void)snprintf(ids[i], sizeof ids[i], "%zu", i);
        who[i] = ids[i];
        memcpy(x + i * width[k], t->x + i * D + from[k], width[k] * sizeof *x);
    }
    (void)snprintf(state, sizeof state, "state-%zu", k);
    const dp_silo_columns_data mine = {
        .rows = t->n, .ids = who, .x = x, .y = k == 1 ? t->y : NULL};
    const dp_silo_run_opts o = {.key = keys[k], .mailbox = "letters", .state = state};
    must(dp_silo_run_columns(plan, &mine, &o, &common, w, &err), state, &err);
    FILE *f = fopen(k == 0 ? "upper" : "lower", "wb");
    if (f == NULL || fwrite(w, sizeof *w, width[k], f) != width[k] || fclose(f) != 0)
        _exit(1);
    _exit(0);
}

static void together(const dp_silo_plan *plan, const table *t, double *w)
{
    for (size_t k = 0; k < 2; k++)
        if (fork() == 0)
            act(plan, t, k);
    for (size_t k = 0; k < 2; k++) {
        int end = 1;
        if (wait(&end) < 0 || end != 0)
            exit(1);
    }
    for (size_t k = 0; k < 2; k++) {
        FILE *f = fopen(k == 0 ? "upper" : "lower", "rb");
        if (f == NULL || fread(w + from[k], sizeof *w, width[k], f) != width[k])
            exit(1);
        (void)fclose(f);
    }
}

/* Bytes of the files in a folder, which are taken away with it. */
static double clear(const char *folder)
{
    double bytes = 0;
    DIR *d = opendir(folder);
    struct stat at;
    char path[2 * PATH];
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof path, "%s/%.255s", folder, e->d_name);
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || lstat(path, &at) != 0)
            continue;
        bytes += S_ISDIR(at.st_mode) ? clear(path) : (double)at.st_size;
        (void)unlink(path);
    }
    if (d != NULL)
        (void)closedir(d);
    (void)rmdir(folder);
    return bytes;
}

/* ---- ---- */

static double processor_of_children(void)
{
    struct rusage u;
    (void)getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void tell(const char *name, size_t n, const double *share)
{
    char deviation[64];
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += share[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        squares += (share[i] - sum) * (share[i] - sum);
    (void)snprintf(deviation, sizeof deviation, "%s sd", name);
    bench_number(name, sum);
    bench_number(deviation, n > 1 ? sqrt(squares / (double)(n - 1)) : 0);
}

/* FITS of them, each in a folder of its own below this one. */
static void fits(const char *scheme, const dp_silo_columns *c, size_t n, const table *t,
                 const table *test)
{
    const bool noisy = strcmp(scheme, "columns+dp") == 0;
    double ours[MOST_FITS], theirs[MOST_FITS], w[D], at_one[D], clock = 0, bytes = 0, off = 0;
    char folder[32];
    for (size_t i = 0; i < n; i++) {
        double z = 0;
        dp_silo_plan *plan = agree(c, scheme, noisy);
        const char *opening = strstr(dp_silo_plan_text(plan), "\nopening = ");
        if (opening == NULL || sscanf(opening, "\nopening = %*u %*u %lf", &z) != 1)
            abort();
        (void)snprintf(folder, sizeof folder, "fit-%zu", i);
        if (mkdir(folder, 0700) != 0 || chdir(folder) != 0 || mkdir("letters", 0700) != 0)
            exit(1);
        const double begun = bench_now();
        together(plan, t, w);
        clock += (bench_now() - begun) / (double)n;
        bytes += clear("letters") / (double)n;
        if (chdir("..") != 0)
            exit(1);
        (void)clear(folder);
        alone(t, c,
              z * hypot(c->row_most[0], c->row_most[1]) * (c->addend_most[0] + c->addend_most[1]),
              false, i + 1, at_one);
        ours[i] = right(test, w);
        theirs[i] = right(test, at_one);
        for (size_t j = 0; j < D; j++)
            off = fmax(off, fabs(w[j] - at_one[j]));
        dp_silo_plan_free(plan);
    }
    tell("right", n, ours);
    tell("at one place", n, theirs);
    if (!noisy)
        bench_number("off", off);
    bench_number("clock_s", clock);
    bench_number("processor_s", processor_of_children() / (double)n);
    bench_number("letters_bytes", bytes);
}

int main(int argc, char **argv)
{
    images s;
    dp_error err = {0};
    char folder[PATH];
    const char *temporary = getenv("TMPDIR");
    if (argc < 4)
        return (void)fprintf(stderr, "silo-shirts DATA SCHEME STEPS [ROWS [FITS]]\n"), 2;
    const size_t most = argc > 4 ? strtoul(argv[4], NULL, 10) : 12000,
                 n = argc > 5 ? strtoul(argv[5], NULL, 10) : 1;
    must(images_read(argv[1], true, &s, &err), argv[1], &err);
    if (s.pixels != D - 1 || most < 2 || n < 1 || n > MOST_FITS)
        return (void)fprintf(stderr, "silo-shirts: images of 784 pixels, rows, fits\n"), 2;
    const table t = shirts(s.train, s.labels, s.n, most),
                test = shirts(s.test, s.test_labels, s.n_test, s.n_test);
    const bool noisy = strcmp(argv[2], "columns+dp") == 0;
    const double norm = noisy ? sqrt(HALF) / 2 : sqrt(HALF) * (1 + 1e-9);
    const dp_silo_columns c = {.logistic = true,
                               .outcome = 1,
                               .columns = {UPPER, LOWER},
                               .row_most = {norm, sqrt(norm * norm + 1)},
                               .addend_most = {noisy ? .5 : 16, noisy ? 1 : 16},
                               .steps = strtoull(argv[3], NULL, 10),
                               .step = 6 / (2 * norm * norm + 1),
                               .ids = "images"};
    (void)snprintf(folder, sizeof folder, "%.200s/silo-shirts-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0)
        return perror(folder), 1;
    (void)printf("{\"bench\": \"silo-shirts\", \"scheme\": \"%s\", \"steps\": %llu, \"rows\": %zu, "
                 "\"fits\": %zu, ",
                 argv[2], (unsigned long long)c.steps, t.n, n);
    (void)fflush(stdout);
    if (strcmp(argv[2], "logistic") == 0) {
        double w[D];
        alone(&t, &c, 0, true, 1, w);
        bench_number("at one place", right(&test, w));
    } else {
        fits(argv[2], &c, n, &t, &test);
    }
    bench_end_line();
    (void)clear(folder);
    for (size_t k = 0; k < 2; k++)
        dp_silo_key_free(keys[k]);
    images_free(&s);
    free(t.x), free(t.y), free(test.x), free(test.y);
    return 0;
}
