/* Use of contraception in Bangladesh, 1988: a private hierarchical logistic regression.
 *
 *   P(use) = logit^-1(w . x + b[district]),  w_j ~ N(0, 2.5 / scale_j),  b_k ~ N(0, tau),  tau ~
 *   HalfNormal(1)
 *
 * x = 1, age / 10, its square, urban, living children 1, 2, 3 or more (age is centred in the data).
 * Each predictor is divided by its public bound, so that no record is longer than sqrt(6) with its
 * district, and the clip norm is a little over half of that.  Geometry, constants and what they
 * were chosen against: doc/design/contraception.md. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacit/fit.h>
#include <tacit/table.h>

enum { D = 7, DISTRICTS = 60, MISSING_DISTRICT = 54, N_EFFECTS = D + 1 };

static const char *const names[N_EFFECTS] = {"intercept", "age",       "age2",      "urban",
                                             "children1", "children2", "children3", "district_sd"};
static const double bound[D] = {1, 2, 4, 1, 1, 1, 1}; /* public: |age| <= 20 years */

typedef struct women {
    size_t n;
    double *x; /* [n][D] */
    double *use;
    int32_t *district;
} women;

typedef struct settings {
    const char *path;
    double epsilon, delta;
    bool no_privacy, json;
    uint64_t seed; /* 0: none */
} settings;

typedef struct fitted {
    dp_privacy privacy;
    dp_summary effect[N_EFFECTS], district[DISTRICTS];
    double seconds;
} fitted;

static void stop(const char *what, const char *why)
{
    (void)fprintf(stderr, "contraception: %s: %s\n", what, why);
    exit(1);
}

static void read_women(const char *path, women *w)
{
    static const char *const yes_no[] = {"N", "Y"}, *const children[] = {"0", "1", "2", "3+"};
    const dp_column columns[] = {
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20},
        {.name = "urban", .kind = DP_COLUMN_LEVEL, .levels = yes_no, .n_levels = 2},
        {.name = "livch", .kind = DP_COLUMN_LEVEL, .levels = children, .n_levels = 4},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61}};
    dp_table *table;
    dp_error err = {0};
    if (dp_table_read_csv(path, NULL, 5, columns, &table, &err) != DP_OK)
        stop("--data", err.text);
    const double *age = dp_table_real(table, "age");
    const int32_t *use = dp_table_level(table, "use"), *urban = dp_table_level(table, "urban");
    const int32_t *livch = dp_table_level(table, "livch"),
                  *place = dp_table_level(table, "district");
    w->n = dp_table_rows(table);
    w->x = calloc(w->n * D, sizeof *w->x);
    w->use = calloc(w->n, sizeof *w->use);
    w->district = calloc(w->n, sizeof *w->district);
    if (w->x == NULL || w->use == NULL || w->district == NULL)
        stop(path, "out of memory");
    for (size_t i = 0; i < w->n; i++) {
        double a = age[i] / 10, *x = w->x + i * D;
        if (place[i] + 1 == MISSING_DISTRICT)
            stop(path, "there is no district 54");
        w->district[i] = place[i] - (place[i] + 1 > MISSING_DISTRICT);
        w->use[i] = use[i];
        x[0] = 1;
        x[1] = a / bound[1];
        x[2] = a * a / bound[2];
        x[3] = urban[i];
        if (livch[i] > 0)
            x[3 + livch[i]] = 1;
    }
    dp_table_free(table);
}

static void contraception(dp_model *m)
{
    double prior[D];
    for (int j = 0; j < D; j++)
        prior[j] = 2.5 * bound[j];
    dp_plate rows = dp_unit_plate(m, "women"); /* one woman is one unit of privacy */
    dp_plate districts = dp_plate_new(m, "districts", DISTRICTS);
    dp_expr x = dp_data(rows, "x", D), g = dp_index(rows, "district", districts);
    dp_expr w = dp_sample(m, "w", D, dp_normal_v(dp_num(0), dp_constant(m, D, prior)));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(districts, "b", 1, dp_normal_v(dp_num(0), tau));
    dp_observe(rows, "use", dp_bernoulli_logit(dp_add(dp_dot(x, w), dp_pick(b, g))));
}

static double now(void)
{
    struct timespec t;
    (void)timespec_get(&t, TIME_UTC);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fit(const women *data, const settings *ask, bool private, fitted *result)
{
    dp_error err = {0};
    dp_model *m = dp_model_new();
    dp_dataset *records = dp_dataset_new(data->n);
    dp_svi *svi;
    dp_fit *fit;
    double started = now();
    if (m == NULL || records == NULL)
        stop("fit", "out of memory or no records");
    contraception(m);
    dp_dataset_real(records, "x", D, data->x);
    dp_dataset_real(records, "use", 1, data->use);
    dp_dataset_index(records, "district", data->district);
    dp_svi_opts o = {.steps = 1500,
                     .schedule = DP_CONSTANT,
                     .step_size = 0.02,
                     .average = 0.75,
                     .seed = ask->seed};
    if (private) {
        o.clip = 0.57 * sqrt(6);
        o.delta = ask->delta;
        if (dp_approximate_sigma(ask->epsilon, ask->delta, 1, o.steps, DP_SAMPLING_FULL, &o.sigma,
                                 &err))
            stop("privacy", err.text);
    } else {
        o.mode = DP_NO_PRIVACY;
        o.steps = 3000;
        o.schedule = DP_LINEAR_DECAY;
        o.average = 0.25;
    }
    if (dp_svi_new(m, NULL, records, &o, &svi, &err) || dp_svi_run(svi, NULL, &err) ||
        dp_svi_privacy(svi, &result->privacy, &err) || dp_svi_finish(svi, &fit, &err) ||
        dp_fit_summary(fit, "w", D, result->effect, &err) ||
        dp_fit_summary(fit, "tau", 1, &result->effect[D], &err) ||
        dp_fit_summary(fit, "b", DISTRICTS, result->district, &err))
        stop("fit", err.text);
    for (int j = 0; j < D; j++) {
        dp_summary *s = &result->effect[j];
        *s = (dp_summary){s->mean / bound[j], s->sd / bound[j], s->q05 / bound[j],
                          s->q50 / bound[j], s->q95 / bound[j]};
    }
    result->seconds = now() - started;
    dp_fit_free(fit);
    dp_svi_free(svi);
    dp_dataset_free(records);
    dp_model_free(m);
}

static void print_json(const fitted *f)
{
    if (isfinite(f->privacy.epsilon))
        (void)printf("{\"epsilon\": %.6g, \"delta\": %.6g, ", f->privacy.epsilon, f->privacy.delta);
    else
        (void)printf("{\"epsilon\": null, \"delta\": null, ");
    (void)printf(
        "\"private\": %s, \"eta\": %.3g, \"seconds\": %.3f, \"steps\": %llu, \"parameters\": [",
        f->privacy.is_private ? "true" : "false", f->privacy.eta, f->seconds,
        (unsigned long long)f->privacy.steps);
    for (int j = 0; j < N_EFFECTS; j++) {
        const dp_summary *s = &f->effect[j];
        (void)printf(
            "%s{\"name\": \"%s\", \"mean\": %.6g, \"sd\": %.6g, \"q05\": %.6g, \"q95\": %.6g}",
            j > 0 ? ", " : "", names[j], s->mean, s->sd, s->q05, s->q95);
    }
    (void)printf("]}\n");
}

static void print_districts(const fitted *f)
{
    bool shown[DISTRICTS] = {false};
    (void)printf("\nDistricts with the largest effects (log odds):\n");
    for (int rank = 0; rank < 5; rank++) {
        int top = 0;
        for (int k = 1; k < DISTRICTS; k++)
            if (shown[top] ||
                (!shown[k] && fabs(f->district[k].mean) > fabs(f->district[top].mean)))
                top = k;
        shown[top] = true;
        (void)printf("  district %2d  %+.2f (sd %.2f)\n", top + 1 + (top + 1 >= MISSING_DISTRICT),
                     f->district[top].mean, f->district[top].sd);
    }
}

static void print_table(const fitted *f, const fitted *plain, size_t n)
{
    (void)printf("Contraceptive use, %zu women in %d districts, Bangladesh 1988\n", n, DISTRICTS);
    if (f->privacy.is_private)
        (void)printf(
            "spent: epsilon %.4g at delta %.3g (%s; %llu steps, noise %.4g x clip %.3g, eta "
            "%.2g)\n",
            f->privacy.epsilon, f->privacy.delta, f->privacy.adjacency,
            (unsigned long long)f->privacy.steps, f->privacy.sigma, f->privacy.clip,
            f->privacy.eta);
    else
        (void)printf("NOT PRIVATE: %s\n", f->privacy.why_not);
    (void)printf("time: %.2f s\n\n%-12s %8s %7s %18s   without privacy: %s %7s\n", f->seconds, "",
                 "mean", "sd", "90 % interval", "mean", "sd");
    for (int j = 0; j < N_EFFECTS; j++) {
        const dp_summary *s = &f->effect[j], *p = &plain->effect[j];
        (void)printf("%-12s %8.3f %7.3f   [%6.3f, %6.3f]          %10.3f %8.3f\n", names[j],
                     s->mean, s->sd, s->q05, s->q95, p->mean, p->sd);
    }
    print_districts(f);
    (void)printf(
        "\nThe fit without privacy is shown because this data set is public.  Standard deviations "
        "are\n"
        "those of a mean-field guide: they leave out correlations and the noise of privacy.\n");
}

static const char usage[] =
    "usage: contraception [options]\n"
    "Fits a hierarchical logistic regression under differential privacy and compares it with the\n"
    "same fit without privacy.\n"
    "  --epsilon E    privacy to spend, above 0 (default 4)\n"
    "  --delta D      between 0 and 1, below 1 / (number of women) (default 1e-4)\n"
    "  --no-privacy   only the fit without privacy; epsilon and delta do not matter then\n"
    "  --seed N       a repeatable run, for tests: not private\n"
    "  --json         print one JSON object: epsilon, delta, private, seconds, steps, parameters\n"
    "  --data FILE    the survey (default examples/data/contraception.csv)\n"
    "  --help         print this\n";

static double number(const char *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0)
        stop(option, "needs a number; --help lists the options");
    return value;
}

/* Seed 0 is a seed here; to the library it would be none. */
static uint64_t seed_number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != 0)
        stop("--seed", "needs a whole number from 0 up; --help lists the options");
    return value != 0 ? value : UINT64_MAX;
}

static settings parse(int argc, char **argv)
{
    settings s = {.path = "examples/data/contraception.csv", .epsilon = 4, .delta = 1e-4};
    for (int i = 1; i < argc; i++) {
        const char *option = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        bool takes_value = true;
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            (void)fputs(usage, stdout);
            exit(0);
        } else if (strcmp(option, "--no-privacy") == 0) {
            s.no_privacy = true, takes_value = false;
        } else if (strcmp(option, "--json") == 0) {
            s.json = true, takes_value = false;
        } else if (value == NULL) {
            stop(option, "not an option, or its value is missing; --help lists the options");
        } else if (strcmp(option, "--epsilon") == 0) {
            s.epsilon = number(option, value);
        } else if (strcmp(option, "--delta") == 0) {
            s.delta = number(option, value);
        } else if (strcmp(option, "--seed") == 0) {
            s.seed = seed_number(value);
        } else if (strcmp(option, "--data") == 0) {
            s.path = value;
        } else {
            stop(option, "not an option; --help lists the options");
        }
        i += takes_value;
    }
    return s;
}

int main(int argc, char **argv)
{
    settings ask = parse(argc, argv);
    women data;
    fitted result, plain;
    read_women(ask.path, &data);
    fit(&data, &ask, !ask.no_privacy, &result);
    if (result.privacy.warning != NULL)
        (void)fprintf(stderr, "contraception: warning: %s\n", result.privacy.warning);
    if (ask.json) {
        print_json(&result);
    } else {
        fit(&data, &ask, false, &plain);
        print_table(&result, &plain, data.n);
    }
    free(data.x);
    free(data.use);
    free(data.district);
    return 0;
}
