/* The command plan: what a fit could be expected to find, before anything is spent.
 *
 * It takes the words of tacit fit and opens neither the table nor the ledger that they name.
 * Predictors are invented from the schema, or come from a file that is declared public. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/forecast.h"
#include "tools/invent.h"
#include "tools/picture.h"
#include "tools/tacit.h"

enum {
    MOST_INVENTED = 20000, /* records; of more, some come several times */
    AROUND = 3             /* halvings and doublings of epsilon in the picture */
};

static bool check(forecast *f, message *why)
{
    const settings *s = &f->m.said;
    if (isnan(s->epsilon))
        return complain(why, "--epsilon is missing; it says how much privacy could be spent");
    if (isnan(s->delta))
        return complain(why, "--delta is missing; give one well below 1 / (number of records)");
    picture_format format;
    if (s->picture != NULL && !picture_format_of(s->picture, &format))
        return complain(why,
                        "--picture: %.200s ends in neither .svg, .png nor .pdf; give a name "
                        "that does",
                        s->picture);
    return true;
}

/* The predictors, and how long it takes to read a record. */
static dp_status find_columns(forecast *f)
{
    const settings *s = &f->m.said;
    dp_error *err = &f->m.err;
    size_t n;
    const dp_column *columns = dp_formula_columns(f->m.formula, DP_FORMULA_FIT, &n);
    dp_status status = DP_OK;
    double begun = invent_now(), seconds;
    if (s->public_data != NULL) {
        status = modelling_read(&f->m, s->public_data, DP_FORMULA_FIT, &f->table);
        seconds = invent_now() - begun;
    } else {
        const size_t invented = f->records < MOST_INVENTED ? f->records : MOST_INVENTED;
        status = isnan(s->seed) ? dp_rng_new_random(&f->rng, NULL, err)
                                : dp_rng_new((uint64_t)s->seed, &f->rng, err);
        if (status == DP_OK)
            status = invent_table(columns, n, invented, f->rng, &f->table, &seconds, err);
    }
    if (status != DP_OK)
        return status;
    begun = invent_now();
    status = dp_formula_dataset(f->m.formula, f->table, &f->data, err);
    f->reading = (seconds + invent_now() - begun) / (double)dp_table_rows(f->table);
    return status;
}

/* Progress on a terminal: which fit of how many, and how long it may still take. */
typedef struct looker {
    double begun, last;
} looker;

static int look(void *user, const dp_fit_progress *at)
{
    looker *l = user;
    const double now = invent_now(), passed = now - l->begun;
    if (now - l->last < 0.2)
        return 0;
    l->last = now;
    (void)fprintf(stderr, "\rtacit plan: fit %llu of %llu", (unsigned long long)at->made + 1,
                  (unsigned long long)at->planned);
    if (at->fraction > 0.02)
        (void)fprintf(stderr, ", about %.0f s left", passed * (1 - at->fraction) / at->fraction);
    (void)fputs("\33[K", stderr);
    return 0;
}

static dp_status make_plan(forecast *f)
{
    const settings *s = &f->m.said;
    const bool terminal = isatty(STDERR_FILENO);
    looker watching = {.begun = invent_now()};
    const dp_plan_opts o = {.fit = {.epsilon = s->epsilon,
                                    .delta = s->delta,
                                    .threads = isnan(s->threads) ? 1 : (size_t)s->threads,
                                    .seed = isnan(s->seed) ? 0 : (uint64_t)s->seed,
                                    .watch = terminal ? look : NULL,
                                    .watch_user = &watching},
                            .records = f->records,
                            .simulations = isnan(s->simulations) ? 0 : (uint64_t)s->simulations,
                            .around = s->picture != NULL || f->n_wishes > 0 ? AROUND : 0,
                            .wishes = f->asked,
                            .n_wishes = f->n_wishes};
    dp_status status = find_columns(f);
    if (status == DP_OK)
        status = dp_fit_plan(f->m.model, f->data, &o, &f->plan, &f->m.err);
    if (terminal)
        (void)fputs("\r\33[K", stderr);
    if (status == DP_OK)
        f->number = dp_plan_numbers(f->plan, &f->n);
    return status;
}

static bool has_unit(const forecast *f)
{
    size_t n;
    const dp_column *columns = dp_formula_columns(f->m.formula, DP_FORMULA_FIT, &n);
    for (size_t k = 0; k < n; k++)
        if (columns[k].kind == DP_COLUMN_UNIT)
            return true;
    return false;
}

static int plan(forecast *f)
{
    const settings *s = &f->m.said;
    int end = modelling_open(&f->m);
    if (end != EXIT_CERTIFIED)
        return end;
    if (has_unit(f))
        return modelling_refuse(&f->m, EXIT_REFUSED,
                                "the schema has a unit, and plans are of single records; without "
                                "its line the plan is of as many records of as many people, the "
                                "best case");
    f->records = isnan(s->records) ? dp_schema_records(f->m.schema) : (size_t)s->records;
    if (f->records == 0)
        return modelling_refuse(&f->m, EXIT_USAGE,
                                "how many records will there be? give --records, or a line "
                                "'records = 1934' in the schema, where that is public");
    message why = {""};
    if (!forecast_read_wishes(f, &why))
        return modelling_refuse(&f->m, EXIT_USAGE, why.text);
    dp_status status = make_plan(f);
    if (status != DP_OK) {
        (void)modelling_failed(&f->m, status);
        return EXIT_REFUSED;
    }
    const bool drawn = s->picture == NULL || forecast_draw(f, &why);
    if (s->json)
        forecast_tell_json(f);
    else
        forecast_tell(f);
    return drawn ? EXIT_CERTIFIED : modelling_refuse(&f->m, EXIT_REFUSED, why.text);
}

static int run(const command *self, int argc, char **argv)
{
    forecast f = {.m = {.command = "plan", .said = settings_none()}};
    message why = {""};
    const bool has_text = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    f.m.text = has_text ? argv[0] : NULL;
    if (!options_parse(self->options, argc - has_text, argv + has_text, &f.m.said, &why))
        return modelling_refuse(&f.m, EXIT_USAGE, why.text);
    if (f.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!has_text)
        return modelling_refuse(&f.m, EXIT_USAGE,
                                "which model? give a formula, as in: tacit plan 'use ~ age + "
                                "urban' --schema ...");
    if (!check(&f, &why))
        return modelling_refuse(&f.m, EXIT_USAGE, why.text);
    int end = plan(&f);
    dp_plan_free(f.plan);
    dp_rng_free(f.rng);
    dp_dataset_free(f.data);
    dp_table_free(f.table);
    modelling_close(&f.m);
    return end;
}

const command command_plan = {
    "plan",
    FOR_FORECAST,
    "what a fit could find, before anything is spent",
    "Takes the words of tacit fit and tells how wide its intervals would be and how far privacy\n"
    "would move its answers, by fitting invented records with privacy and without.  The table\n"
    "and the ledger are not opened: nothing is spent.  Predictors are invented from the schema;\n"
    "--public gives better ones.  --width finds the epsilon for intervals of that width, and\n"
    "--picture draws accuracy over epsilon.",
    "tacit plan 'use ~ age + I(age^2) + urban + (1 | district)' --family bernoulli \\\n"
    "    --schema contraception.schema --epsilon 2 --delta 1e-4 --picture use.svg",
    run};
