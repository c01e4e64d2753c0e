/* Split learning of images: one owner has them and the other the labels, in processes that share a
 * folder and nothing else; or both sides of the same cut in one process, without letters.
 *   make bench/silo-split
 *   bench/silo-split DATA MODEL apart|here IMAGES STEPS BATCH STEP MOMENTUM
 * DATA is as in examples/images.h, MODEL logistic or cnn; the first IMAGES are fitted by STEPS
 * steps of BATCH images each (0: all).  One JSON line: numbers of a record at the cut, the share of
 * test images that are told right, how far the parameters of the two are apart at the most, by the
 * greatest of them (of "apart": from a run of "here" after it), seconds of the clock and of
 * processor of all processes, and bytes of letters. */
#define _XOPEN_SOURCE 700
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
#include <tacit/split.h>
#include <tacit/tacit.h>

#include "bench.h"
#include "bench/networks.h"

enum { PATH = 300, ID = 24 };

static const char *const owners[] = {"images", "labels"};
static const char allowing[] =
    "schemes = split\nepsilon = 0\ndelta = 0\nowners = 2\nno-noise = yes\n"
    "link-ids = yes\ntell-coefficients = yes\nsingle-records = yes\n";

static dp_silo_columns terms = {.ids = "images", .held = {"x", "y"}, .told = true};
static uint64_t seed = 1;

static void must(dp_status status, const char *what, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "silo-split: %s: %s\n", what, err->text);
    exit(1);
}

static void *room(size_t n, size_t size)
{
    void *made = calloc(n + 1, size);
    if (made == NULL)
        abort();
    return made;
}

/* One owner's columns of the first n images. */
static dp_dataset *take(const images *s, size_t n, int owner)
{
    dp_dataset *data = dp_dataset_new(n);
    if (owner == 0)
        dp_dataset_bytes(data, "x", s->pixels, s->pixels == 64 ? 16 : 255, s->train);
    else
        dp_dataset_index(data, "y", s->labels);
    return data;
}

/* ---- in two processes ---- */

/* One owner's process; it does not return. */
static void act(const dp_silo_plan *plan, const dp_model *m, const images *s, size_t n,
                dp_silo_key *key, int me)
{
    char(*text)[ID] = room(n, sizeof *text);
    const char **ids = room(n, sizeof *ids);
    dp_error err = {0};
    dp_fit *fit = NULL;
    size_t common;
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(text[i], sizeof text[i], "%zu", i);
        ids[i] = text[i];
    }
    const dp_silo_columns_data mine = {.rows = n, .ids = ids, .model = m, .data = take(s, n, me)};
    const dp_silo_run_opts o = {.key = key, .mailbox = "letters", .policy = "policy", .fit = &fit};
    double *w = room(dp_silo_plan_opts(plan)->columns->columns[me], sizeof *w);
    must(dp_silo_run_columns(plan, &mine, &o, &common, w, &err), owners[me], &err);
    if (me == 0)
        must(dp_fit_save(fit, "fit", &err), "fit", &err);
    _exit(0);
}

static dp_silo_plan *agree(const dp_model *m, size_t n, dp_silo_key *keys[2])
{
    dp_silo_owner owner[2];
    dp_silo_plan *plan;
    dp_error err = {0};
    for (int k = 0; k < 2; k++) {
        must(dp_silo_key_new(owners[k], &keys[k], &err), "key", &err);
        owner[k] = (dp_silo_owner){owners[k], dp_silo_key_public(keys[k])};
    }
    const dp_silo_opts o = {.name = "split",
                            .scheme = "split",
                            .model = m,
                            .columns = &terms,
                            .n_owners = 2,
                            .owners = owner,
                            .most_records = n,
                            .seed = seed};
    must(dp_silo_plan_new(&o, &plan, &err), "plan", &err);
    for (int k = 0; k < 2; k++)
        must(dp_silo_plan_sign(plan, keys[k], &err), "sign", &err);
    terms.width = dp_silo_plan_opts(plan)->columns->width;
    return plan;
}

static dp_fit *together(const dp_model *m, const images *s, size_t n)
{
    dp_silo_key *keys[2];
    dp_silo_plan *plan = agree(m, n, keys);
    dp_fit *fit;
    dp_error err = {0};
    int end;
    FILE *f = fopen("policy", "w");
    if (f == NULL || fputs(allowing, f) < 0 || fclose(f) != 0)
        abort();
    for (int k = 0; k < 2; k++)
        if (fork() == 0)
            act(plan, m, s, n, keys[k], k);
    for (int k = 0; k < 2; k++)
        if (wait(&end) < 0 || end != 0)
            exit(1);
    must(dp_fit_load("fit", &fit, &err), "fit", &err);
    dp_silo_plan_free(plan);
    return fit;
}

/* ---- in one ---- */

/* Rows of the pass that a step belongs to, in an order drawn for it.  Two owners have another one,
 * as it follows from ids under a key of theirs; with all rows in each step it does not matter. */
static void draw_order(size_t n, dp_rng *rng, size_t *order)
{
    dp_error err = {0};
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    for (size_t i = n; i > 1; i--) {
        uint64_t k;
        must(dp_rng_below(rng, i, 1, &k, &err), "rows", &err);
        const size_t last = order[i - 1];
        order[i - 1] = order[k];
        order[k] = last;
    }
}

typedef struct side {
    dp_split *half;
    size_t n;
    double *theta, *gradient, *velocity;
} side;

static void advance(side *s, size_t m)
{
    for (size_t j = 0; j < s->n; j++) {
        s->velocity[j] = terms.momentum * s->velocity[j] - s->gradient[j] / (double)m;
        s->theta[j] -= terms.step * s->velocity[j];
    }
    dp_split_set(s->half, s->theta);
}

static dp_fit *here(const dp_model *m, const images *s, size_t n)
{
    const dp_split_opts o = {.model = m, .held = {"x", "y"}};
    const size_t batch = terms.batch == 0 || terms.batch > n ? n : terms.batch;
    side both[2];
    dp_rng *rng;
    dp_fit *fit;
    dp_error err = {0};
    must(dp_rng_new(seed, &rng, &err), "rng", &err);
    for (size_t k = 0; k < 2; k++) {
        must(dp_split_new(&o, k, take(s, n, (int)k), &both[k].half, &err), "cut", &err);
        both[k].n = dp_split_numbers(both[k].half, k);
        both[k].theta = room(both[k].n, sizeof(double));
        both[k].gradient = room(both[k].n, sizeof(double));
        both[k].velocity = room(both[k].n, sizeof(double));
        must(dp_split_start(both[k].half, both[k].theta, &err), "start", &err);
        dp_split_set(both[k].half, both[k].theta);
    }
    terms.width = dp_split_width(both[0].half);
    size_t *order = room(n, sizeof *order);
    double *e = room(batch * terms.width, sizeof *e), *a = room(batch * terms.width, sizeof *a);
    for (uint64_t t = 0; t < terms.steps; t++) {
        const size_t first = (size_t)t % ((n + batch - 1) / batch) * batch;
        const size_t rows = first + batch <= n ? batch : n - first;
        if (first == 0)
            draw_order(n, rng, order);
        dp_split_embed(both[0].half, rows, order + first, e);
        dp_split_adjoint(both[1].half, rows, order + first, e, a, both[1].gradient);
        dp_split_pull_back(both[0].half, rows, order + first, a, both[0].gradient);
        for (size_t k = 0; k < 2; k++)
            advance(&both[k], rows);
    }
    must(dp_split_fit(both[0].half, both[0].theta, both[1].theta, &fit, &err), "fit", &err);
    dp_rng_free(rng);
    return fit;
}

/* ---- the whole ---- */

static double letters(void)
{
    double bytes = 0;
    DIR *d = opendir("letters");
    struct stat at;
    char path[PATH];
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        (void)snprintf(path, sizeof path, "letters/%.255s", e->d_name);
        if (e->d_name[0] != '.' && stat(path, &at) == 0)
            bytes += (double)at.st_size;
        (void)unlink(path);
    }
    if (d != NULL)
        (void)closedir(d);
    return bytes;
}

/* The greatest difference of parameters of two fits, by the greatest of them. */
static double difference(const dp_fit *one, const dp_fit *other)
{
    size_t n;
    const dp_fit_quantity *list = dp_fit_quantities(one, &n);
    double most = 0, size = 0;
    dp_error err = {0};
    for (size_t k = 0; k < n; k++) {
        if (list[k].role != DP_FIT_PARAMETER)
            continue;
        const size_t numbers = dp_fit_size(one, list[k].name);
        double *a = room(numbers, sizeof *a), *b = room(numbers, sizeof *b);
        must(dp_fit_parameter(one, list[k].name, numbers, a, &err), list[k].name, &err);
        must(dp_fit_parameter(other, list[k].name, numbers, b, &err), list[k].name, &err);
        for (size_t j = 0; j < numbers; j++) {
            most = fmax(most, fabs(a[j] - b[j]));
            size = fmax(size, fabs(b[j]));
        }
        free(a);
        free(b);
    }
    return most / size;
}

static double processor(void)
{
    struct rusage of_others;
    (void)getrusage(RUSAGE_CHILDREN, &of_others);
    return bench_processor() + (double)(of_others.ru_utime.tv_sec + of_others.ru_stime.tv_sec) +
           1e-6 * (double)(of_others.ru_utime.tv_usec + of_others.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
    images s;
    dp_error err = {0};
    char folder[PATH];
    const char *temporary = getenv("TMPDIR");
    if (argc != 9 || (strcmp(argv[3], "apart") != 0 && strcmp(argv[3], "here") != 0))
        return (void)fprintf(stderr, "silo-split DATA MODEL apart|here IMAGES STEPS BATCH STEP "
                                     "MOMENTUM\n"),
               2;
    const bool apart = strcmp(argv[3], "apart") == 0;
    must(images_read(argv[1], true, &s, &err), argv[1], &err);
    const size_t asked = strtoul(argv[4], NULL, 10), n = asked < s.n ? asked : s.n;
    terms.steps = strtoull(argv[5], NULL, 10);
    terms.batch = strtoul(argv[6], NULL, 10);
    terms.step = strtod(argv[7], NULL);
    terms.momentum = strtod(argv[8], NULL);
    (void)snprintf(folder, sizeof folder, "%.200s/silo-split-XXXXXX",
                   temporary != NULL ? temporary : "/tmp");
    if (mkdtemp(folder) == NULL || chdir(folder) != 0 || mkdir("letters", 0700) != 0)
        return perror(folder), 1;
    dp_model *m = network_new(argv[2], s.pixels);
    const double from = bench_now(), processor_from = processor();
    dp_fit *fit = apart ? together(m, &s, n) : here(m, &s, n);
    const double clock = bench_now() - from, processed = processor() - processor_from;
    dp_fit *central = apart ? here(m, &s, n) : NULL;
    (void)printf(
        "{\"bench\": \"silo-split\", \"model\": \"%s\", \"where\": \"%s\", \"images\": %zu, "
        "\"steps\": %llu, \"batch\": %zu, \"width\": %zu, ",
        argv[2], argv[3], n, (unsigned long long)terms.steps, terms.batch, terms.width);
    bench_number("right", network_right(fit, &s));
    if (apart) {
        bench_number("right_here", network_right(central, &s));
        bench_number("apart", difference(fit, central));
    }
    bench_number("clock_s", clock);
    bench_number("processor_s", processed);
    bench_number("letters_bytes", letters());
    bench_end_line();
    dp_fit_free(fit);
    dp_fit_free(central);
    dp_model_free(m);
    images_free(&s);
    for (int k = 0; k < 2; k++)
        (void)unlink(owners[k]);
    (void)unlink("policy");
    (void)unlink("fit");
    (void)rmdir("letters");
    (void)rmdir(folder);
    return 0;
}
