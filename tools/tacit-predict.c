/* The command predict: what a fit of a formula expects of new records.
 *
 * The fit tells its formula and schema, by which the new records are read and made ready; their
 * outcomes are neither needed nor looked at.  Of each record the expected outcome is computed at
 * every draw of the posterior, so that its interval is that of the posterior, the noise of privacy
 * included where the fit's draws include it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/fit.h>

#include "tools/json.h"
#include "tools/modelling.h"
#include "tools/spread.h"
#include "tools/tacit.h"

enum {
    DRAWS = 1000,      /* of a summary; fewer of many records, */
    LEAST_DRAWS = 200, /* but so many */
    MOST_VALUES = 1 << 26
};

typedef struct prediction {
    modelling m;
    dp_fit *fit;
    dp_dataset *data;
    dp_draws *draws;
    dp_rng *rng;
    const char *outcome;
    size_t records, n_draws, size; /* expected values of a record */
    size_t first_level;            /* of which the first value is the chance */
    const dp_column *levels;       /* of the outcome; NULL where it is a number */
    double *values;                /* [n_draws][records][size] */
} prediction;

/* ---- reading ---- */

static int load(prediction *p, const char *path)
{
    modelling *m = &p->m;
    size_t n;
    dp_status status = dp_fit_load(path, &p->fit, &m->err);
    if (status != DP_OK) {
        (void)modelling_failed(m, status);
        return EXIT_REFUSED;
    }
    const int end = modelling_of_fit(m, p->fit);
    if (end != EXIT_CERTIFIED)
        return end;
    (void)dp_formula_columns(m->formula, DP_FORMULA_PREDICT, &n);
    if (n == 0)
        return modelling_refuse(m, EXIT_REFUSED,
                                "the formula reads no column of new records, of which all are "
                                "alike; tacit summary tells what the fit says");
    return EXIT_CERTIFIED;
}

static dp_status read_records(prediction *p)
{
    dp_table *table = NULL;
    dp_status status = modelling_read(&p->m, p->m.said.data, DP_FORMULA_PREDICT, &table);
    if (status == DP_OK) {
        p->records = dp_table_rows(table);
        status = dp_formula_new_records(p->m.formula, table, &p->data, &p->m.err);
    }
    dp_table_free(table);
    return status;
}

/* The outcome's column, and the levels of which chances are predicted. */
static void find_outcome(prediction *p)
{
    const bool binary = strncmp(dp_formula_family(p->m.formula), "bernoulli", 9) == 0;
    p->outcome = modelling_outcome(&p->m, p->fit, &p->levels);
    p->first_level = binary ? 1 : 0;
}

/* ---- computing ---- */

/* Whether each value of a record has its level: a file can tell a formula and a schema that are not
 * those of its model. */
static bool levels_agree(const prediction *p)
{
    const dp_column *c = p->levels;
    const size_t named = c == NULL                    ? 0
                         : c->kind == DP_COLUMN_LEVEL ? c->n_levels
                                                      : (size_t)(c->high - c->low) + 1;
    return c == NULL || p->first_level + p->size == named;
}

static dp_status not_its_own(prediction *p)
{
    (void)snprintf(p->m.err.text, sizeof p->m.err.text,
                   "the formula and the schema that this fit tells are not those of its model; "
                   "take the file as tacit fit wrote it");
    return DP_EDATA;
}

/* Draws that there is room for; false, with a message, where there is none for enough. */
static bool count_draws(prediction *p)
{
    const settings *s = &p->m.said;
    const double each = (double)p->records * (double)p->size, room = MOST_VALUES / each;
    double wanted = isnan(s->draws) ? DRAWS : s->draws;
    if (isnan(s->draws) && wanted > room)
        wanted = fmax(floor(room), LEAST_DRAWS);
    p->n_draws = (size_t)wanted;
    if (wanted <= room)
        return true;
    (void)snprintf(p->m.err.text, sizeof p->m.err.text,
                   "%.0f draws of %zu records are more numbers than the %d that are held; give "
                   "fewer records at a time%s",
                   wanted, p->records, MOST_VALUES, isnan(s->draws) ? "" : ", or fewer --draws");
    return false;
}

static dp_status compute(prediction *p)
{
    dp_error *err = &p->m.err;
    if (p->outcome == NULL)
        return not_its_own(p);
    dp_expr mean = dp_fit_mean(p->fit, p->outcome);
    const dp_given none = {.data = p->data};
    p->size = dp_expr_size(mean);
    if (p->size == 0) /* says why there is no mean */
        return dp_fit_evaluate(p->fit, mean, &none, 0, NULL, err);
    if (!levels_agree(p))
        return not_its_own(p);
    if (!count_draws(p))
        return DP_EDOMAIN;
    size_t n = p->n_draws * p->records * p->size;
    p->values = malloc(n * sizeof *p->values);
    if (p->values == NULL)
        return DP_ENOMEM;
    dp_status status = dp_rng_new(1, &p->rng, err);
    if (status == DP_OK)
        status = dp_fit_draw(p->fit, p->n_draws, p->rng, &p->draws, err);
    const dp_given given = {.data = p->data, .draws = p->draws};
    return status == DP_OK ? dp_fit_evaluate(p->fit, mean, &given, n, p->values, err) : status;
}

/* ---- telling ---- */

static double value_of(const prediction *p, size_t draw, size_t record, size_t k)
{
    return p->values[(draw * p->records + record) * p->size + k];
}

/* Of value k of a record; `room` has place for its draws. */
static dp_summary summarise(const prediction *p, size_t record, size_t k, double *room)
{
    for (size_t s = 0; s < p->n_draws; s++)
        room[s] = value_of(p, s, record, k);
    return spread_of(room, p->n_draws);
}

/* The level whose chance value k is; "" where there are none. */
static const char *level_of(const prediction *p, size_t k, char text[32])
{
    const size_t level = p->first_level + k;
    text[0] = '\0';
    if (p->levels == NULL)
        return text;
    if (p->levels->kind == DP_COLUMN_LEVEL)
        return p->levels->levels[level];
    (void)snprintf(text, 32, "%.0f", p->levels->low + (double)level);
    return text;
}

/* A field of CSV. */
static void put_field(const char *text)
{
    const bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (quoted)
        (void)putchar('"');
    for (; *text != '\0'; text++)
        (void)printf("%s%c", *text == '"' ? "\"" : "", *text);
    (void)printf("%s,", quoted ? "\"" : "");
}

/* The fields in front of a line's numbers. */
static void put_place(const prediction *p, size_t record, size_t k)
{
    char text[32];
    (void)printf("%zu,", record + 1);
    if (p->levels != NULL)
        put_field(level_of(p, k, text));
}

static void tell(const prediction *p, double *room)
{
    const bool draws = !isnan(p->m.said.draws);
    (void)printf("record,%s%s\n", p->levels != NULL ? "level," : "",
                 draws ? "draw,value" : "mean,sd,q05,q50,q95");
    for (size_t i = 0; i < p->records; i++)
        for (size_t k = 0; k < p->size; k++) {
            for (size_t s = 0; draws && s < p->n_draws; s++) {
                put_place(p, i, k);
                (void)printf("%zu,%.10g\n", s + 1, value_of(p, s, i, k));
            }
            if (draws)
                continue;
            const dp_summary sum = summarise(p, i, k, room);
            put_place(p, i, k);
            (void)printf("%.6g,%.6g,%.6g,%.6g,%.6g\n", sum.mean, sum.sd, sum.q05, sum.q50, sum.q95);
        }
}

static void tell_record(json *j, const prediction *p, size_t i, size_t k, double *room)
{
    char text[32];
    json_object(j, NULL);
    json_count(j, "record", i + 1);
    if (p->levels != NULL)
        json_text(j, "level", level_of(p, k, text));
    if (isnan(p->m.said.draws)) {
        const dp_summary sum = summarise(p, i, k, room);
        json_number(j, "mean", sum.mean);
        json_number(j, "sd", sum.sd);
        json_number(j, "q05", sum.q05);
        json_number(j, "q50", sum.q50);
        json_number(j, "q95", sum.q95);
    } else {
        json_list(j, "draws");
        for (size_t s = 0; s < p->n_draws; s++)
            json_number(j, NULL, value_of(p, s, i, k));
        json_end_list(j);
    }
    json_end_object(j);
}

static void tell_json(const prediction *p, double *room)
{
    json j = json_begin(stdout);
    json_text(&j, "command", "predict");
    json_text(&j, "formula", dp_formula_text(p->m.formula));
    json_text(&j, "family", dp_formula_family(p->m.formula));
    json_text(&j, "outcome", p->outcome);
    json_list(&j, "expected");
    for (size_t i = 0; i < p->records; i++)
        for (size_t k = 0; k < p->size; k++)
            tell_record(&j, p, i, k, room);
    json_end_list(&j);
    json_end(&j);
}

static int predict(prediction *p, const char *path)
{
    int end = load(p, path);
    if (end != EXIT_CERTIFIED)
        return end;
    find_outcome(p);
    dp_status status = read_records(p);
    if (status == DP_OK)
        status = compute(p);
    double *room = status == DP_OK ? malloc(p->n_draws * sizeof *room) : NULL;
    if (status == DP_OK && room == NULL)
        status = DP_ENOMEM;
    if (status != DP_OK)
        (void)modelling_failed(&p->m, status);
    else if (p->m.said.json)
        tell_json(p, room);
    else
        tell(p, room);
    free(room);
    return status == DP_OK ? EXIT_CERTIFIED : EXIT_REFUSED;
}

static int run(const command *self, int argc, char **argv)
{
    prediction p = {.m = {.command = "predict", .said = settings_none()}};
    message why = {""};
    const bool has_path = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    if (!options_parse(self->options, argc - has_path, argv + has_path, &p.m.said, &why))
        return modelling_refuse(&p.m, EXIT_USAGE, why.text);
    if (p.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!has_path || p.m.said.data == NULL)
        return modelling_refuse(&p.m, EXIT_USAGE,
                                has_path ? "which records? give --data FILE"
                                         : "which fit? give its file, as in: tacit predict use.fit "
                                           "--data new.csv");
    int end = predict(&p, argv[0]);
    free(p.values);
    dp_draws_free(p.draws);
    dp_rng_free(p.rng);
    dp_dataset_free(p.data);
    dp_fit_free(p.fit);
    modelling_close(&p.m);
    return end;
}

const command command_predict = {
    "predict",
    FOR_PREDICT,
    "what a fit expects of new records",
    "Reads new records by the formula and the schema that a fit of tacit fit tells, and prints\n"
    "as CSV the expected outcome of each, with its posterior standard deviation and quantiles:\n"
    "of levels the chance of each, of two that of the second.  Outcomes are not read.  It costs\n"
    "no privacy of the records that were fitted; what it prints is as private as the new\n"
    "records are.",
    "tacit predict use.fit --data new.csv",
    run};
