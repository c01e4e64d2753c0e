/* How near fits without privacy come to reference posteriors: posteriordb's, of which the folder
 * has data and summaries.
 *
 *   make bench/posteriordb && bench/posteriordb --data FOLDER [--only PART OF A NAME] [--table 1]
 *
 * A JSON line a parameter: mean and sd of the reference and ours, the difference of the means in
 * reference sds, the ratio of the sds; then a line of the whole posterior with the largest of both
 * and the processor's seconds that the fit took.  With --table 1 rows of a table for people
 * instead. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/infer.h>

#include "bench.h"
#include "options.h"
#include "posteriordb.h"

/* What is asked of a fit, and what counts as met. */
static const double most_off = 0.2, most_ratio = 1.15;

struct posterior_text {
    char *text;
};

static void *allocate(size_t n, size_t size)
{
    void *block = calloc(n, size);
    if (block == NULL)
        bench_stop("posteriordb", "out of memory");
    return block;
}

static char *read_file(const char *folder, const char *posterior, const char *name)
{
    enum { LARGEST = 1 << 22 };
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/%s", folder, posterior, name);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    char *text = allocate(LARGEST, 1);
    size_t size = fread(text, 1, LARGEST - 1, in);
    (void)fclose(in);
    text[size] = 0;
    return text;
}

/* ---- data.json ---- */

static const char *find_field(const posterior_text *of, const char *name)
{
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\"", name);
    const char *at = strstr(of->text, key);
    if (at == NULL)
        bench_stop(name, "no such field in the posterior's data");
    at += strlen(key);
    return at + strspn(at, " :");
}

double posterior_number(const posterior_text *of, const char *name)
{
    return strtod(find_field(of, name), NULL);
}

/* All numbers up to the bracket that closes the first one. */
double *posterior_numbers(const posterior_text *of, const char *name, size_t *n)
{
    const char *at = find_field(of, name);
    size_t count = 0, room = 1;
    for (const char *c = at; *c != 0 && *c != ':'; c++)
        room += *c == ',';
    double *values = allocate(room, sizeof *values);
    int depth = 0;
    do {
        at += strspn(at, " \n\t,");
        if (*at == '[' || *at == ']')
            depth += *at++ == '[' ? 1 : -1;
        else {
            char *end;
            values[count++] = strtod(at, &end);
            if (end == at)
                bench_stop(name, "is no array of numbers");
            at = end;
        }
    } while (depth > 0);
    if (n != NULL)
        *n = count;
    return values;
}

int32_t *posterior_groups(const posterior_text *of, const char *name, size_t *n)
{
    size_t count;
    double *values = posterior_numbers(of, name, &count);
    int32_t *groups = allocate(count, sizeof *groups);
    for (size_t i = 0; i < count; i++)
        groups[i] = (int32_t)values[i] - 1;
    if (n != NULL)
        *n = count;
    return groups;
}

/* ---- the reference ---- */

typedef struct reference {
    char name[64];
    size_t number; /* of the value of that name */
    double mean, sd;
} reference;

/* A line "beta[2],mean,sd,..."; false at the end. */
static bool next_reference(char **at, reference *r)
{
    char *end = strchr(*at, '\n'), *comma = strchr(*at, ','), *bracket = strchr(*at, '[');
    if (**at == 0 || end == NULL || comma == NULL || comma > end)
        return false;
    char *stop = bracket != NULL && bracket < comma ? bracket : comma;
    (void)snprintf(r->name, sizeof r->name, "%.*s", (int)(stop - *at), *at);
    r->number = stop == bracket ? strtoul(bracket + 1, NULL, 10) - 1 : 0;
    r->mean = strtod(comma + 1, &comma);
    r->sd = strtod(comma + 1, NULL);
    *at = end + 1;
    return true;
}

/* ---- a fit ---- */

typedef struct outcome {
    double off, ratio; /* the largest, the ratio being taken above 1 */
    const char *worst_off, *worst_ratio;
    char names[2][80];
    size_t parameters, missed;
} outcome;

/* Mean and standard deviation of a number of a value, over all kept draws. */
static void summarise(dp_fit *fit, const dp_draws *draws, const reference *r, double *mean,
                      double *sd)
{
    dp_error err = {0};
    dp_expr e = dp_fit_expr(fit, r->name);
    size_t size = dp_expr_size(e), n = dp_draws_count(draws);
    if (size <= r->number)
        bench_stop(r->name, "the model has no such number");
    double *values = allocate(n * size, sizeof *values), sum = 0, squares = 0;
    const dp_given given = {.draws = draws};
    if (dp_fit_evaluate(fit, e, &given, n * size, values, &err) != DP_OK)
        bench_stop(r->name, err.text);
    for (size_t k = 0; k < n; k++)
        sum += values[k * size + r->number];
    *mean = sum / (double)n;
    for (size_t k = 0; k < n; k++)
        squares += (values[k * size + r->number] - *mean) * (values[k * size + r->number] - *mean);
    *sd = sqrt(squares / (double)(n - 1));
    free(values);
}

static void compare(const posterior_problem *p, const reference *r, double mean, double sd,
                    bool table, outcome *o)
{
    double off = fabs(mean - r->mean) / r->sd, ratio = fmax(sd / r->sd, r->sd / sd);
    char name[80];
    (void)snprintf(name, sizeof name, "%s[%zu]", r->name, r->number + 1);
    o->parameters++;
    o->missed += !(off <= most_off && ratio <= most_ratio);
    if (!(off <= o->off)) {
        o->off = off;
        memcpy(o->names[0], name, sizeof name);
    }
    if (!(ratio <= o->ratio)) {
        o->ratio = ratio;
        memcpy(o->names[1], name, sizeof name);
    }
    if (table)
        return;
    printf("{\"kernel\": \"posteriordb\", \"posterior\": \"%s\", \"parameter\": \"%s\", ",
           p->folder, name);
    bench_number("reference_mean", r->mean);
    bench_number("reference_sd", r->sd);
    bench_number("mean", mean);
    bench_number("sd", sd);
    bench_number("off", off);
    bench_number("sd_ratio", sd / r->sd);
    bench_end_line();
}

static void report(const posterior_problem *p, const dp_fit *fit, const outcome *o, double seconds,
                   bool table)
{
    size_t n, bad = 0;
    const dp_diagnostic *list = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++) {
        bad += list[k].bad;
        if (list[k].bad)
            (void)fprintf(stderr, "%s: %s\n", p->folder, list[k].words);
    }
    if (table) {
        printf("| %s | %zu | %zu | %.2f %s | %.2f %s | %zu | %.1f |\n", p->folder, o->parameters,
               o->missed, o->off, o->names[0], o->ratio, o->names[1], bad, seconds);
        return;
    }
    printf("{\"kernel\": \"posteriordb\", \"posterior\": \"%s\", \"parameters\": %zu, "
           "\"missed\": %zu, \"flagged\": %zu, ",
           p->folder, o->parameters, o->missed, bad);
    bench_number("worst_off", o->off);
    bench_number("worst_sd_ratio", o->ratio);
    bench_number("seconds", seconds);
    bench_end_line();
}

static void run(const char *folder, const posterior_problem *p, bool table)
{
    posterior_text data = {read_file(folder, p->folder, "data.json")};
    char *lines = read_file(folder, p->folder, "reference_summary.csv");
    if (lines == NULL)
        lines = read_file(folder, p->folder, "computed_summary.csv");
    if (data.text == NULL || lines == NULL) {
        (void)fprintf(stderr, "posteriordb: no data and summary of %s in %s\n", p->folder, folder);
        return;
    }
    dp_error err = {0};
    dp_fit *fit = NULL;
    dp_draws *draws = NULL;
    dp_rng *rng = NULL;
    dp_model *m = dp_model_new();
    dp_dataset *records = p->write(&data, m);
    const dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .seed = 1};
    double began = bench_processor();
    if (dp_model_status(m) != DP_OK)
        (void)fprintf(stderr, "%s: %s\n", p->folder, dp_model_error(m));
    else if (dp_fit_private(m, records, &opts, &fit, &err) != DP_OK)
        (void)fprintf(stderr, "%s: %s\n", p->folder, err.text);
    else if (dp_rng_new(1, &rng, &err) != DP_OK ||
             dp_fit_draw(fit, 4000, rng, &draws, &err) != DP_OK)
        bench_stop(p->folder, err.text);
    double seconds = bench_processor() - began;
    if (fit != NULL) {
        outcome o = {.ratio = 1};
        reference r;
        char *at = strchr(lines, '\n') + 1;
        while (next_reference(&at, &r)) {
            double mean, sd;
            summarise(fit, draws, &r, &mean, &sd);
            compare(p, &r, mean, sd, table, &o);
        }
        report(p, fit, &o, seconds, table);
    }
    dp_rng_free(rng);
    dp_draws_free(draws);
    dp_fit_free(fit);
    dp_dataset_free(records);
    dp_model_free(m);
    free(lines);
    free(data.text);
}

static void run_all(const posterior_problem *list, size_t n, const char *folder, const char *only,
                    bool table)
{
    for (size_t k = 0; k < n; k++)
        if (only == NULL || strstr(list[k].folder, only) != NULL)
            run(folder, &list[k], table);
}

int main(int argc, char **argv)
{
    const char *folder = NULL, *only = NULL;
    uint64_t table = 0;
    const bench_option list[] = {{.name = "--data", .text = &folder},
                                 {.name = "--only", .text = &only},
                                 {.name = "--table", .count = &table}};
    bench_options(argc, argv, sizeof list / sizeof list[0], list);
    if (folder == NULL)
        bench_stop("--data", "give the folder of the posteriors");
    if (table != 0)
        printf(
            "| posterior | numbers | missed | largest error, sds | largest ratio of sds | checks "
            "that are bad | s |\n|---|---|---|---|---|---|---|\n");
    run_all(posterior_regressions, n_posterior_regressions, folder, only, table != 0);
    run_all(posterior_structures, n_posterior_structures, folder, only, table != 0);
    return 0;
}
