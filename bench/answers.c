/* How good the answers of private fits are: error against the exact posterior, coverage of true
 * values, and width of intervals, on simulated regressions and public data sets.
 *
 * One JSON line for each problem, epsilon and seed:
 *   error    mean over quantities of |private mean - exact mean| / exact sd; rms is the root of the
 *            mean square.  Over coefficients and scales, on radon over groups too; error_groups is
 *            over the groups' intercepts alone
 *   width    mean of private sd / exact sd
 *   cov50, cov90   share of the true values that are in the central intervals, for coefficients,
 *            scales (sigma, tau) and groups apart; simulated problems only
 *   spent    epsilon; flagged, bad: diagnostics that are bad; seconds on the wall and
 *            of the processor
 *   reference_error   largest Monte Carlo error of an exact mean, in sds (0: by quadrature)
 * A seed stands for a data set (where that is simulated) and for the noise; seeded runs are
 * repeatable and so not private.  bench/answers.py makes tables of the lines.
 *   make bench/answers && bench/answers [--problems linear,radon] [--epsilon 1,4,none] [--seeds 20]
 *                                       [--method private|svi] [--truth fixed|prior]
 *                                       [--exact all|none] ...
 *   none leaves the exact posteriors out, and with them errors and widths; problems are taken by
 *   how their names begin, or "linear-500." that one alone
 *   bench/answers null [...]            coin tosses, in which there is nothing to be found
 *   bench/answers cases [...]           hard cases: right, told of, or silent
 *   bench/answers formulas [...]        formulas beside what their budgets allow at best
 *   bench/answers reference [...]       the exact posteriors themselves */
#include "answers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers-formulas.h"
#include "bench.h"
#include "options.h"

enum { DRAWS = 8000 };

typedef struct settings {
    const char *problems, *epsilon, *truth, *exact;
    uint64_t seeds, first;
    double delta;
    problem_opts make;
    fit_ask fit;
} settings;

/* Sums over quantities of one kind. */
typedef struct tally {
    double count, error, square, width, true_count, in50, in90;
} tally;

typedef enum kind { KIND_COEFFICIENT = 0, KIND_SCALE, KIND_GROUP, KINDS } kind;

void *answers_alloc(size_t count, size_t size)
{
    void *p = calloc(count > 0 ? count : 1, size);
    if (p == NULL)
        bench_stop("answers", "out of memory");
    return p;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void answers_sort(size_t n, double *values)
{
    qsort(values, n, sizeof *values, by_size);
}

double answers_quantile(size_t n, const double *sorted, double q)
{
    double at = q * (double)(n - 1);
    size_t k = (size_t)at;
    return k + 1 < n ? sorted[k] + (at - (double)k) * (sorted[k + 1] - sorted[k]) : sorted[n - 1];
}

size_t answers_list(const char *text, double *values)
{
    size_t n = 0;
    while (n < ANSWERS_LIST && *text != 0) {
        char *end = NULL;
        bool none = strncmp(text, "none", 4) == 0;
        values[n++] = none ? INFINITY : strtod(text, &end);
        size_t length = none ? 4 : (size_t)(end - text);
        if (length == 0 || (text[length] != 0 && text[length] != ','))
            bench_stop(text, "is no list of numbers");
        text += length + (text[length] == ',');
    }
    return n;
}

bool answers_listed(const char *list, const char *name)
{
    for (size_t n; *list != 0; list += n + (list[n] == ',')) {
        n = strcspn(list, ",");
        bool whole = n > 0 && list[n - 1] == '.';
        size_t length = whole ? n - 1 : n;
        if (n > 0 && strncmp(list, name, length) == 0 && (!whole || name[length] == 0))
            return true;
    }
    return false;
}

static kind kind_of(const regression *r, size_t k)
{
    return k < r->p                             ? KIND_COEFFICIENT
           : k < regression_size(r) - r->groups ? KIND_SCALE
                                                : KIND_GROUP;
}

void answers_values(const regression *r, const dp_draws *draws, size_t k, size_t n_draws,
                    double *value)
{
    size_t n, size = dp_draws_size(draws), w = dp_draws_find(draws, "w", &n), at = w + k;
    bool sum = kind_of(r, k) == KIND_GROUP;
    if (sum)
        at = dp_draws_find(draws, "b", &n) + k - (regression_size(r) - r->groups);
    else if (k >= r->p)
        at = dp_draws_find(draws, regression_has_noise(r) && k == r->p ? "sigma" : "tau", &n);
    for (size_t i = 0; i < n_draws; i++) {
        const double *draw = dp_draws_values(draws) + i * size;
        value[i] = draw[at] + (sum ? draw[w] : 0);
    }
}

static void add(tally *t, double *value, double truth, const double exact[2])
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < DRAWS; i++)
        mean += value[i] / DRAWS;
    for (size_t i = 0; i < DRAWS; i++)
        square += (value[i] - mean) * (value[i] - mean) / DRAWS;
    double off = fabs(mean - exact[0]) / exact[1];
    t->count++, t->error += off, t->square += off * off, t->width += sqrt(square) / exact[1];
    if (isnan(truth))
        return;
    answers_sort(DRAWS, value);
    t->true_count++;
    t->in50 += truth >= answers_quantile(DRAWS, value, 0.25) &&
               truth <= answers_quantile(DRAWS, value, 0.75);
    t->in90 += truth >= answers_quantile(DRAWS, value, 0.05) &&
               truth <= answers_quantile(DRAWS, value, 0.95);
}

static void score(const regression *r, const reference *ref, const dp_fit *fit, uint64_t seed,
                  tally tallies[KINDS])
{
    dp_rng *rng;
    dp_draws *draws;
    dp_error err = {0};
    double *value = answers_alloc(DRAWS, sizeof *value);
    if (dp_rng_new(seed, &rng, &err) || dp_fit_draw(fit, DRAWS, rng, &draws, &err))
        bench_stop("score", err.text);
    for (size_t k = 0; k < regression_size(r); k++) {
        const double exact[2] = {ref->mean[k], ref->sd[k]};
        answers_values(r, draws, k, DRAWS, value);
        add(&tallies[kind_of(r, k)], value, r->truth[k], exact);
    }
    free(value);
    dp_draws_free(draws);
    dp_rng_free(rng);
}

static void plus(tally *t, const tally *more)
{
    t->count += more->count, t->error += more->error, t->square += more->square;
    t->width += more->width;
}

static void print_scores(const regression *r, const tally tallies[KINDS])
{
    static const char *const name50[] = {"cov50", "cov50_scales", "cov50_groups"};
    static const char *const name90[] = {"cov90", "cov90_scales", "cov90_groups"};
    const tally *groups = &tallies[KIND_GROUP];
    tally all = tallies[KIND_COEFFICIENT];
    plus(&all, &tallies[KIND_SCALE]);
    if (r->score_groups)
        plus(&all, groups);
    bench_number("error", all.error / all.count);
    bench_number("rms", sqrt(all.square / all.count));
    bench_number("width", all.width / all.count);
    if (groups->count > 0) {
        bench_number("error_groups", groups->error / groups->count);
        bench_number("width_groups", groups->width / groups->count);
    }
    for (int k = 0; k < KINDS; k++)
        if (tallies[k].true_count > 0) {
            bench_number(name50[k], tallies[k].in50 / tallies[k].true_count);
            bench_number(name90[k], tallies[k].in90 / tallies[k].true_count);
        }
}

void answers_text(const char *name, const char *text)
{
    (void)printf("\"%s\": \"", name);
    for (; *text != 0; text++)
        (void)putchar(*text == '"' || *text == '\\' || *text == '\n' ? ' ' : *text);
    (void)printf("\", ");
}

static void run_once(const settings *s, const char *name, const regression *r, const reference *ref,
                     const fit_ask *ask)
{
    dp_error err = {0};
    fit_answer answer;
    tally tallies[KINDS] = {{0}};
    dp_model *m = dp_model_new();
    if (m == NULL)
        bench_stop("answers", "out of memory");
    regression_model(r, m);
    dp_dataset *records = regression_records(r);
    dp_status status = fit_run(m, records, ask, &answer, &err);
    (void)printf("{\"kernel\": \"answers\", \"problem\": \"%s\", \"method\": \"%s\", ", name,
                 ask->method);
    (void)printf("\"truth\": \"%s\", \"n\": %zu, \"seed\": %llu, ", s->truth, r->n,
                 (unsigned long long)ask->seed);
    bench_number("epsilon", ask->epsilon);
    bench_number("delta", ask->delta);
    if (status == DP_OK) {
        score(r, ref, answer.fit, ask->seed, tallies);
        print_scores(r, tallies);
        bench_number("spent", answer.spent);
        (void)printf("\"flagged\": %zu, ", answer.flagged);
        answers_text("bad", answer.names);
        dp_fit_free(answer.fit);
    } else {
        answers_text("failed", err.text);
    }
    bench_number("seconds", answer.wall);
    bench_number("processor", answer.cpu);
    bench_number("reference_error", ref->error);
    bench_end_line();
    dp_dataset_free(records);
    dp_model_free(m);
}

static void print_reference(const char *name, const regression *r, const reference *ref)
{
    for (size_t k = 0; k < regression_size(r); k++) {
        (void)printf("{\"kernel\": \"answers-reference\", \"problem\": \"%s\", \"quantity\": %zu, ",
                     name, k);
        bench_number("truth", r->truth[k]);
        bench_number("mean", ref->mean[k]);
        bench_number("sd", ref->sd[k]);
        bench_number("reference_error", ref->error);
        bench_end_line();
    }
}

/* A data set at all epsilons. */
static void run_data(const settings *s, const char *name, const regression *r, const reference *ref,
                     uint64_t seed)
{
    double epsilon[ANSWERS_LIST];
    size_t n = answers_list(s->epsilon, epsilon);
    fit_ask ask = s->fit;
    ask.seed = seed + 1;
    for (size_t k = 0; k < n; k++) {
        ask.epsilon = epsilon[k];
        ask.delta = s->delta > 0 ? s->delta : pow((double)r->n, -1.1);
        run_once(s, name, r, ref, &ask);
    }
}

/* The problem's name, with what has been changed of it: "linear-500/n=3000". */
static void name_cell(const settings *s, const problem *p, size_t size, char *name)
{
    (void)snprintf(name, size, "%s", problem_name(p));
    if (s->make.n > 0 && problem_is_simulated(p))
        (void)snprintf(name + strlen(name), size - strlen(name), "/n=%llu",
                       (unsigned long long)s->make.n);
    if (s->make.correlation != 0.5 && problem_is_simulated(p))
        (void)snprintf(name + strlen(name), size - strlen(name), "/correlation=%g",
                       s->make.correlation);
    if (s->make.shift != 1e4 && strstr(problem_name(p), "raw") != NULL)
        (void)snprintf(name + strlen(name), size - strlen(name), "/shift=%g", s->make.shift);
}

static void run_problem(const settings *s, const problem *p, bool only_reference)
{
    char name[64];
    regression r;
    reference ref;
    name_cell(s, p, sizeof name, name);
    for (uint64_t k = 0; k < s->seeds; k++) {
        uint64_t seed = s->first + k;
        if (k == 0 || problem_is_simulated(p)) {
            if (!problem_make(p, &s->make, seed, &r)) {
                (void)fprintf(stderr, "%s: left out, its file is not there\n", name);
                return;
            }
            if (strcmp(s->exact, "none") == 0)
                reference_none(&r, &ref);
            else
                reference_of(&r, seed, &ref);
        }
        if (only_reference)
            print_reference(name, &r, &ref);
        else
            run_data(s, name, &r, &ref, seed);
        if (k + 1 == s->seeds || problem_is_simulated(p))
            reference_free(&ref), regression_free(&r);
    }
}

static settings parse(int argc, char **argv)
{
    settings s = {
        .problems = "linear,logistic,poisson,gamma,hierarchical,contraception,radon,wells,"
                    "nes,kidiq,earnings,log-earnings,mesquite",
        .epsilon = "1,4,none",
        .truth = "fixed",
        .exact = "all",
        .seeds = 20,
        .make = {.correlation = 0.5, .shift = 1e4, .survey = "examples/data/contraception.csv"},
        .fit = {.method = fit_default(), .threads = 1}};
    const bench_option list[] = {{.name = "--problems", .text = &s.problems},
                                 {.name = "--epsilon", .text = &s.epsilon},
                                 {.name = "--seeds", .count = &s.seeds},
                                 {.name = "--first", .count = &s.first},
                                 {.name = "--delta", .number = &s.delta},
                                 {.name = "--method", .text = &s.fit.method},
                                 {.name = "--threads", .count = &s.fit.threads},
                                 {.name = "--truth", .text = &s.truth},
                                 {.name = "--exact", .text = &s.exact},
                                 {.name = "--n", .count = &s.make.n},
                                 {.name = "--correlation", .number = &s.make.correlation},
                                 {.name = "--shift", .number = &s.make.shift},
                                 {.name = "--posteriordb", .text = &s.make.data},
                                 {.name = "--survey", .text = &s.make.survey}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    s.make.truth_of_prior = strcmp(s.truth, "prior") == 0;
    if (!s.make.truth_of_prior && strcmp(s.truth, "fixed") != 0)
        bench_stop(s.truth, "true values are fixed or of the prior");
    if (strcmp(s.exact, "all") != 0 && strcmp(s.exact, "none") != 0)
        bench_stop(s.exact, "exact posteriors are computed for all or none");
    if (!fit_knows(s.fit.method))
        bench_stop(s.fit.method, "no such method in this build");
    return s;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(int argc, char **argv);
    } others[] = {{"null", null_main}, {"cases", cases_main}, {"formulas", formulas_main}};
    for (size_t k = 0; argc > 1 && k < sizeof others / sizeof *others; k++)
        if (strcmp(argv[1], others[k].name) == 0) {
            others[k].run(argc - 1, argv + 1);
            return 0;
        }
    bool only_reference = argc > 1 && strcmp(argv[1], "reference") == 0;
    settings s = parse(argc - only_reference, argv + only_reference);
    for (size_t k = 0; problem_at(k) != NULL; k++)
        if (answers_listed(s.problems, problem_name(problem_at(k))))
            run_problem(&s, problem_at(k), only_reference);
    return 0;
}
