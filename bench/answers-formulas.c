/* How good the answers to formulas are: bench/answers formulas.
 *
 * Formulas of tests/formula/reference.csv as `tacit fit` fits them, with a schema, epsilon and
 * delta alone, to data sets of which the truth is known (answers-invent.c).  One JSON line for each
 * formula, seed and epsilon, over the numbers that R's packages estimate:
 *   first    posterior mean of the first of them
 *   error    mean distance of the private posterior means from the exact ones, in exact sds
 *   best     what an ideal mechanism would reach (answers-best.c)
 *   width    mean of private sd / exact sd
 *   covered, of            true coefficients (b_) within 5 % ... 95 %, of how many
 *   covered_own, of_own    the same of the family's own parameters, such as sigma
 *   covered_groups, ...    the same of standard deviations and correlations of groups
 *   worst    the number that is farthest off, by how many of the answer's sds
 *   scales   of each standard deviation of groups the truth, mean, sd, 5 % and 95 %
 *   bad      checks that are bad; failed: the message of a fit that was refused
 * "loop": the model was fitted by the loop, which has no such aim.
 *   make bench/answers && bench/answers formulas --data FOLDER [--source ..] [--cases 1,42]
 *                         [--epsilon 1,2,4] [--seeds 20] [--first 0] [--n 2000] [--write PATH]
 *                         [--exact rounds|chains|none] [--groups as-they-are|shuffled]
 * Exact posteriors are by rounds without noise, which take as long as a private fit, or by Markov
 * chains, which take up to a hundred times as long; none leaves out what is measured against them,
 * and has true values from chains.  Shuffled groups have their sizes dealt anew for each data set.
 * --write keeps the last data set as PATH.csv and PATH.schema.  bench/formulas.py makes tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers-formulas.h"
#include "bench.h"
#include "options.h"

enum { MOST_CASES = 64, DRAWS = FORMULA_DRAWS };

typedef struct formulas_ask {
    const char *cases, *epsilon, *write, *exact, *groups;
    uint64_t seeds, first;
    double delta;
    formula_opts make;
} formulas_ask;

/* Means, sds and 5 and 95 % of the named numbers. */
typedef struct marginals {
    double mean[FORMULA_NAMES], sd[FORMULA_NAMES], low[FORMULA_NAMES], high[FORMULA_NAMES];
} marginals;

/* A data set with its truth and its exact posterior, where that was asked for. */
typedef struct invented {
    frame rows;
    dp_dataset *records;
    double truth[FORMULA_NAMES];
    bool has_exact;
    marginals exact;
    influence influence;
} invented;

static void find_marginals(const formula_case *c, dp_fit *fit, marginals *m)
{
    dp_rng *rng;
    dp_draws *draws;
    dp_error err = {0};
    double *values = answers_alloc(c->n_names * DRAWS, sizeof *values);
    if (dp_rng_new(3, &rng, &err) != DP_OK || dp_fit_draw(fit, DRAWS, rng, &draws, &err) != DP_OK)
        bench_stop(c->formula, err.text);
    formula_values(c, fit, draws, values);
    for (size_t k = 0; k < c->n_names; k++) {
        double *v = values + k * DRAWS;
        formula_spread(v, &m->mean[k], &m->sd[k]);
        answers_sort(DRAWS, v);
        m->low[k] = answers_quantile(DRAWS, v, 0.05);
        m->high[k] = answers_quantile(DRAWS, v, 0.95);
    }
    free(values);
    dp_draws_free(draws), dp_rng_free(rng);
}

static void invent(const formula_case *c, const formula_opts *o, uint64_t seed, invented *d)
{
    formula_invent(c, o, seed, &d->rows, d->truth);
    d->records = formula_records(c, &d->rows);
    if (!d->has_exact)
        return;
    dp_fit *exact = formula_exact(c, o, d->records, seed + 1);
    find_marginals(c, exact, &d->exact);
    influence_of(c, exact, d->records, d->rows.n, &d->influence);
    dp_fit_free(exact);
}

static void invented_free(invented *d)
{
    frame_free(&d->rows);
    if (d->has_exact)
        influence_free(&d->influence);
    dp_dataset_free(d->records);
}

static void print_coverage(const formula_case *c, const invented *d, const marginals *m)
{
    static const char *const names[] = {"covered", "covered_own", "covered_groups"},
                             *const of[] = {"of", "of_own", "of_groups"};
    size_t in[3] = {0}, all[3] = {0};
    for (size_t k = 0; k < c->n_names; k++) {
        const char *name = c->names[k];
        bool group = strncmp(name, "sd_", 3) == 0 || strncmp(name, "cor_", 4) == 0;
        int kind = group ? 2 : strncmp(name, "b_", 2) != 0;
        all[kind]++;
        in[kind] += d->truth[k] >= m->low[k] && d->truth[k] <= m->high[k];
    }
    if (strstr(c->formula, "weights(") != NULL) /* no law of outcomes has the weighted posterior */
        return;
    for (int kind = 0; kind < 3; kind++)
        if (all[kind] > 0)
            (void)printf("\"%s\": %zu, \"%s\": %zu, ", names[kind], in[kind], of[kind], all[kind]);
}

static void print_scales(const formula_case *c, const invented *d, const marginals *m)
{
    const char *before = "\"scales\": {";
    for (size_t k = 0; k < c->n_names; k++)
        if (strncmp(c->names[k], "sd_", 3) == 0) {
            (void)printf("%s\"%s\": [%.6g, %.6g, %.6g, %.6g, %.6g]", before, c->names[k],
                         d->truth[k], m->mean[k], m->sd[k], m->low[k], m->high[k]);
            before = ", ";
        }
    if (*before == ',')
        (void)printf("}, ");
}

/* Against the exact posterior. */
static void print_errors(const formula_case *c, const invented *d, const marginals *m)
{
    double error = 0, width = 0, most = -1, k_names = (double)c->n_names;
    size_t worst = 0;
    for (size_t k = 0; k < c->n_names; k++) {
        double off = fabs(m->mean[k] - d->exact.mean[k]);
        error += off / d->exact.sd[k] / k_names;
        width += m->sd[k] / d->exact.sd[k] / k_names;
        if (off / m->sd[k] > most)
            most = off / m->sd[k], worst = k;
    }
    bench_number("error", error);
    bench_number("width", width);
    answers_text("worst", c->names[worst]);
    bench_number("worst_off", (m->mean[worst] - d->exact.mean[worst]) / m->sd[worst]);
    bench_number("worst_width", m->sd[worst] / d->exact.sd[worst]);
}

static void print_scores(const formula_case *c, const invented *d, dp_fit *fit)
{
    marginals m;
    find_marginals(c, fit, &m);
    bench_number("first", m.mean[0]);
    print_coverage(c, d, &m);
    print_scales(c, d, &m);
    if (d->has_exact)
        print_errors(c, d, &m);
}

static void run_once(const formula_case *c, const invented *d, const fit_ask *ask)
{
    dp_error err = {0};
    fit_answer answer;
    dp_status status = fit_run(c->model, d->records, ask, &answer, &err);
    (void)printf("{\"kernel\": \"answers-formulas\", \"case\": %d, ", c->number);
    answers_text("data", c->data);
    answers_text("family", c->family);
    answers_text("formula", c->formula);
    (void)printf("\"n\": %zu, \"numbers\": %zu, \"seed\": %llu, ", d->rows.n, c->n_names,
                 (unsigned long long)ask->seed - 1);
    bench_number("epsilon", ask->epsilon);
    bench_number("delta", ask->delta);
    if (d->has_exact)
        bench_number("best", influence_best(&d->influence, ask->epsilon, ask->delta));
    if (status == DP_OK) {
        print_scores(c, d, answer.fit);
        (void)printf("\"loop\": %s, ", strstr(answer.names, "method") != NULL ? "true" : "false");
        answers_text("bad", answer.names);
        dp_fit_free(answer.fit);
    } else
        answers_text("failed", err.text);
    bench_number("processor", answer.cpu);
    bench_end_line();
}

static void run_case(const formulas_ask *ask, formula_case *c, uint64_t seed)
{
    double epsilon[ANSWERS_LIST];
    size_t n = answers_list(ask->epsilon, epsilon);
    invented d = {.has_exact = strcmp(ask->exact, "none") != 0};
    invent(c, &ask->make, seed, &d);
    for (size_t k = 0; k < n; k++) {
        fit_ask fit = {.method = "private",
                       .epsilon = epsilon[k],
                       .threads = 1,
                       .seed = seed + 1,
                       .hopeless_refused = true};
        fit.delta = ask->delta > 0 ? ask->delta : pow((double)d.rows.n, -1.1);
        run_once(c, &d, &fit);
    }
    if (*ask->write != 0)
        frame_write(&d.rows, ask->write);
    invented_free(&d);
}

/* Whether a list of numbers, empty for all, has this one. */
static bool has(const char *list, int number)
{
    double numbers[ANSWERS_LIST];
    size_t n = answers_list(list, numbers);
    bool found = n == 0;
    for (size_t k = 0; k < n; k++)
        found = found || (int)numbers[k] == number;
    return found;
}

/* Seeds one after the other, so that all formulas have as many when it is stopped. */
void formulas_main(int argc, char **argv)
{
    formulas_ask ask = {.cases = "",
                        .epsilon = "1,2,4",
                        .write = "",
                        .exact = "rounds",
                        .groups = "as-they-are",
                        .seeds = 20,
                        .make = {.data = ".", .source = ".", .n = 2000}};
    const bench_option list[] = {
        {.name = "--data", .text = &ask.make.data}, {.name = "--source", .text = &ask.make.source},
        {.name = "--cases", .text = &ask.cases},    {.name = "--epsilon", .text = &ask.epsilon},
        {.name = "--seeds", .count = &ask.seeds},   {.name = "--first", .count = &ask.first},
        {.name = "--n", .count = &ask.make.n},      {.name = "--delta", .number = &ask.delta},
        {.name = "--write", .text = &ask.write},    {.name = "--exact", .text = &ask.exact},
        {.name = "--groups", .text = &ask.groups}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    ask.make.method = strcmp(ask.exact, "rounds") == 0 ? DP_METHOD_ROUNDS : DP_METHOD_EXACT;
    ask.make.shuffled = strcmp(ask.groups, "shuffled") == 0;
    formula_case *cases = answers_alloc(MOST_CASES, sizeof *cases);
    size_t n = formula_cases(ask.make.source, MOST_CASES, cases);
    for (uint64_t seed = ask.first; seed < ask.first + ask.seeds; seed++)
        for (size_t k = 0; k < n; k++) {
            bool wanted = has(ask.cases, cases[k].number);
            if (wanted && seed == ask.first && !formula_open(&cases[k], &ask.make))
                (void)fprintf(stderr, "%s: left out, its data set is not there\n",
                              cases[k].formula);
            if (cases[k].base != NULL)
                run_case(&ask, &cases[k], seed);
        }
    for (size_t k = 0; k < n; k++)
        formula_close(&cases[k]);
    free(cases);
}
