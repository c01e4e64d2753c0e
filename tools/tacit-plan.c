/* The command plan: what a fit could be expected to find, before anything is spent.
 *
 * It takes the words of tacit fit and opens neither the table nor the ledger that they name.
 * Predictors are invented from the schema, or come from a file that is declared public. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/plan.h>

#include "tools/invent.h"
#include "tools/json.h"
#include "tools/modelling.h"
#include "tools/tacit.h"

enum {
    MOST_INVENTED = 20000, /* records; of more, some come several times */
    LISTED = 12            /* most numbers of a latent that all have lines */
};

typedef struct forecast {
    modelling m;
    size_t records;
    dp_table *table;
    dp_dataset *data;
    dp_rng *rng;
    dp_plan *plan;
    const dp_plan_number *number; /* [n] */
    size_t n;
} forecast;

static bool check(forecast *f, message *why)
{
    const settings *s = &f->m.said;
    if (isnan(s->epsilon))
        return complain(why, "--epsilon is missing; it says how much privacy could be spent");
    if (isnan(s->delta))
        return complain(why, "--delta is missing; give one well below 1 / (number of records)");
    return true;
}

static dp_status find_columns(forecast *f)
{
    const settings *s = &f->m.said;
    dp_error *err = &f->m.err;
    size_t n;
    const dp_column *columns = dp_formula_columns(f->m.formula, DP_FORMULA_FIT, &n);
    dp_status status = DP_OK;
    if (s->public_data != NULL)
        status = modelling_read(&f->m, s->public_data, DP_FORMULA_FIT, &f->table);
    else {
        status = isnan(s->seed) ? dp_rng_new_random(&f->rng, NULL, err)
                                : dp_rng_new((uint64_t)s->seed, &f->rng, err);
        if (status == DP_OK)
            status =
                invent_table(columns, n, f->records < MOST_INVENTED ? f->records : MOST_INVENTED,
                             f->rng, &f->table, err);
    }
    return status == DP_OK ? dp_formula_dataset(f->m.formula, f->table, &f->data, err) : status;
}

static dp_status make_plan(forecast *f)
{
    const settings *s = &f->m.said;
    const dp_plan_opts o = {.fit = {.epsilon = s->epsilon,
                                    .delta = s->delta,
                                    .threads = isnan(s->threads) ? 1 : (size_t)s->threads,
                                    .seed = isnan(s->seed) ? 0 : (uint64_t)s->seed},
                            .records = f->records,
                            .simulations = isnan(s->simulations) ? 0 : (uint64_t)s->simulations};
    dp_status status = find_columns(f);
    if (status == DP_OK)
        status = dp_fit_plan(f->m.model, f->data, &o, &f->plan, &f->m.err);
    if (status == DP_OK)
        f->number = dp_plan_numbers(f->plan, &f->n);
    return status;
}

/* ---- telling ---- */

/* A latent's number by the name that people know, and its unit there. */
static double known_as(const forecast *f, const char *latent, char name[256])
{
    size_t n;
    const dp_formula_number *known = dp_formula_numbers(f->m.formula, &n);
    (void)snprintf(name, 256, "%s", latent);
    for (size_t k = 0; k < n; k++) {
        const size_t length = strlen(known[k].latent);
        if (strncmp(latent, known[k].latent, length) != 0 ||
            (latent[length] != '\0' && latent[length] != '['))
            continue;
        (void)snprintf(name, 256, "%s%s", known[k].name, latent + length);
        return known[k].unit;
    }
    return 1;
}

static void put_number(double x)
{
    if (isinf(x))
        (void)printf(" %10s", "none");
    else
        (void)printf(" %10.2g", x);
}

/* Of a large number the first two digits, and zeros. */
static void put_large(double x)
{
    const double step = x >= 100 ? pow(10, floor(log10(x)) - 1) : 0;
    if (isinf(x) || step == 0 || x >= 1e9)
        put_number(x);
    else
        (void)printf(" %10.0f", round(x / step) * step);
}

static void put_row(const forecast *f, const dp_plan_number *k)
{
    char name[256];
    const double unit = fabs(known_as(f, k->name, name));
    const double z90 = 1.6449; /* of the 95 % quantile of a normal distribution */
    (void)printf("%-28s", name);
    put_number(unit * k->sd);
    put_number(unit * k->sd_private);
    put_number(2 * z90 * unit * k->sd_private);
    put_number(k->error);
    put_number(k->epsilon);
    put_large(k->records);
    (void)putchar('\n');
}

/* How many numbers from `from` on are of one latent: they differ in what stands in brackets. */
static size_t of_one_latent(const forecast *f, size_t from)
{
    const char *name = f->number[from].name;
    const size_t length = strcspn(name, "[");
    size_t n = 1;
    while (name[length] == '[' && from + n < f->n &&
           strncmp(f->number[from + n].name, name, length + 1) == 0)
        n++;
    return n;
}

/* Those of the least and the greatest error, where there are many. */
static void put_latent(const forecast *f, const dp_plan_number *first, size_t n)
{
    const dp_plan_number *least = first, *greatest = first;
    for (size_t k = 0; k < n; k++) {
        least = first[k].error < least->error ? &first[k] : least;
        greatest = first[k].error > greatest->error ? &first[k] : greatest;
    }
    for (size_t k = 0; k < n && n <= LISTED; k++)
        put_row(f, &first[k]);
    if (n <= LISTED)
        return;
    put_row(f, least);
    put_row(f, greatest);
    (void)printf("  of %zu such numbers, with the least and the greatest error\n", n);
}

static void tell(const forecast *f)
{
    const settings *s = &f->m.said;
    const double hopeless = dp_plan_hopeless(f->plan);
    (void)printf("%s\nfamily %s\nplan: epsilon %g at delta %g, %zu records; predictors %s%s\n\n",
                 dp_formula_text(f->m.formula), dp_formula_family(f->m.formula), s->epsilon,
                 s->delta, f->records,
                 s->public_data != NULL ? "of "
                                        : "invented, each value of the schema equally likely",
                 s->public_data != NULL ? s->public_data : "");
    (void)printf("%-28s %10s %10s %10s %10s %10s %10s\n", "", "sd", "private sd", "90 % width",
                 "error", "epsilon", "or records");
    for (size_t k = 0, n; k < f->n; k += n) {
        n = of_one_latent(f, k);
        put_latent(f, &f->number[k], n);
    }
    (void)printf(
        "\nsd, private sd: to be expected without and with privacy; width: of the interval "
        "from 5 %% to 95 %%.\nerror: that privacy adds to the mean, in sds; epsilon, or "
        "records: with which that would be about 1.\nNothing was spent, and no private "
        "record was read.\n");
    if (hopeless > 0)
        (void)printf("HOPELESS in %.0f %% of the simulations: the noise hides what so many records "
                     "tell; spend more, have more records, or ask a simpler question\n",
                     100 * hopeless);
}

static void tell_number(json *j, const forecast *f, const dp_plan_number *k)
{
    char name[256];
    const double unit = fabs(known_as(f, k->name, name));
    json_object(j, NULL);
    json_text(j, "name", name);
    json_number(j, "prior_sd", unit * k->prior_sd);
    json_number(j, "sd", unit * k->sd);
    json_number(j, "private_sd", unit * k->sd_private);
    json_number(j, "width_ratio", k->width);
    json_number(j, "noise", k->noise);
    json_number(j, "error", k->error);
    json_number(j, "covered", k->covered);
    json_number(j, "epsilon", k->epsilon);
    json_number(j, "records", k->records);
    json_end_object(j);
}

static void tell_json(const forecast *f)
{
    json j = json_begin(stdout);
    json_text(&j, "command", "plan");
    json_text(&j, "formula", dp_formula_text(f->m.formula));
    json_text(&j, "family", dp_formula_family(f->m.formula));
    json_number(&j, "epsilon", f->m.said.epsilon);
    json_number(&j, "delta", f->m.said.delta);
    json_count(&j, "records", f->records);
    json_text(&j, "public", f->m.said.public_data);
    json_number(&j, "hopeless", dp_plan_hopeless(f->plan));
    json_list(&j, "numbers");
    for (size_t k = 0; k < f->n; k++)
        tell_number(&j, f, &f->number[k]);
    json_end_list(&j);
    json_end(&j);
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
    dp_status status = make_plan(f);
    if (status != DP_OK) {
        (void)modelling_failed(&f->m, status);
        return EXIT_REFUSED;
    }
    if (s->json)
        tell_json(f);
    else
        tell(f);
    return EXIT_CERTIFIED;
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
    "--public gives better ones.",
    "tacit plan 'use ~ age + I(age^2) + urban + (1 | district)' --family bernoulli \\\n"
    "    --schema contraception.schema --epsilon 2 --delta 1e-4",
    run};
