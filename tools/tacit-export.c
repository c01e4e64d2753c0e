/* The command export: a fit for the tools of others, as NetCDF for ArviZ and as CSV for R and
 * whatever reads CmdStan's draws.
 *
 * It reads the fit, and records only where they are said to be public: what stands in an export
 * follows from what was released, and from these.  Equal questions have equal answers: draws are
 * those of dp_fit_draw from the same seed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/fit.h>

#include "tools/export.h"
#include "tools/modelling.h"
#include "tools/new-file.h"
#include "tools/tacit.h"

enum { GUIDE_DRAWS = 4000 }; /* where the fit keeps none; as many as fits keep by default */

typedef struct exporting {
    modelling m;
    dp_fit *fit;
    dp_schema *schema; /* the fit's; NULL where it tells none */
    dp_rng *rng;
    dp_draws *draws;
    dp_dataset *data; /* public records */
    export_all all;
} exporting;

static bool check(const settings *s, message *why)
{
    if (s->netcdf == NULL && s->csv == NULL)
        return complain(why, "in which form? give --netcdf FILE for ArviZ, or --csv FILE for R and "
                             "others");
    if (s->public_data != NULL && s->netcdf == NULL)
        return complain(why, "--public goes into groups of --netcdf; give that, too");
    if (s->netcdf != NULL && strcmp(s->netcdf, "-") == 0)
        return complain(why, "--netcdf: a file of NetCDF is not written to standard output; give "
                             "its name, as in --netcdf use.nc");
    if (s->query != NULL && s->public_data == NULL)
        return complain(why, "--query says which records of --public; give that, or leave it out");
    return true;
}

/* ---- draws ---- */

static bool count_draws(exporting *x, size_t *n)
{
    const double asked = x->m.said.draws;
    const size_t kept = dp_fit_kept(x->fit);
    if (isnan(asked)) {
        *n = kept > 0 ? kept : GUIDE_DRAWS;
        return true;
    }
    if (kept > 0 && asked > (double)kept) {
        (void)snprintf(x->m.err.text, sizeof x->m.err.text,
                       "--draws: the fit keeps %zu draws, and more would be the same again; ask "
                       "for at most so many",
                       kept);
        return false;
    }
    *n = asked < (double)MOST_DRAWN ? (size_t)asked : MOST_DRAWN;
    return true;
}

/* The prior is left out, and that is told, where it cannot be drawn from. */
static dp_status draw_prior(exporting *x, size_t n)
{
    dp_draws *prior;
    dp_error *err = &x->m.err;
    dp_status status = dp_fit_draw_prior(x->fit, n, x->rng, &prior, err);
    if (status == DP_EUNSUPPORTED) {
        (void)fprintf(stderr, "tacit export: no group prior: %s\n", err->text);
        *err = (dp_error){DP_OK, ""};
        return DP_OK;
    }
    if (status == DP_OK)
        status = draw_set_make(x->fit, prior, x->schema, x->m.said.all, &x->all.prior, err);
    dp_draws_free(prior);
    return status;
}

static dp_status draw(exporting *x)
{
    size_t n;
    dp_error *err = &x->m.err;
    if (!count_draws(x, &n))
        return DP_EDOMAIN;
    x->schema = dp_groups_schema(x->fit);
    dp_status status = dp_rng_new(1, &x->rng, err);
    if (status == DP_OK)
        status = dp_fit_draw(x->fit, n, x->rng, &x->draws, err);
    if (status == DP_OK)
        status = draw_set_make(x->fit, x->draws, x->schema, x->m.said.all, &x->all.posterior, err);
    if (status == DP_OK && x->m.said.netcdf != NULL)
        status = draw_prior(x, n);
    return status;
}

/* ---- public records ---- */

/* With their outcomes, where the file has all that the fit was made from. */
static dp_status read_public(exporting *x, bool *known)
{
    dp_table *table = NULL;
    modelling *m = &x->m;
    const char *path = m->said.public_data;
    dp_status status = modelling_read(m, path, DP_FORMULA_FIT, &table);
    *known = status != DP_ENAME;
    if (status == DP_ENAME) {
        m->err = (dp_error){DP_OK, ""};
        status = modelling_read(m, path, DP_FORMULA_PREDICT, &table);
    }
    if (status == DP_OK) {
        x->all.records.n = dp_table_rows(table);
        status = *known ? dp_formula_dataset(m->formula, table, &x->data, &m->err)
                        : dp_formula_new_records(m->formula, table, &x->data, &m->err);
    }
    dp_table_free(table);
    return status;
}

static dp_status make_room(exporting *x, bool known)
{
    export_records *r = &x->all.records;
    const size_t draws = x->all.posterior.n_draws, numbers = r->n * r->size;
    if (numbers == 0 || numbers > MOST_DRAWN / draws) {
        (void)snprintf(x->m.err.text, sizeof x->m.err.text,
                       "%zu draws of %zu records are more than the %d numbers that are held; ask "
                       "for fewer --draws, or give fewer records",
                       draws, r->n, MOST_DRAWN);
        return DP_EDOMAIN;
    }
    r->predicted = malloc(draws * numbers * sizeof *r->predicted);
    r->observed = known ? malloc(numbers * sizeof *r->observed) : NULL;
    return r->predicted != NULL && (!known || r->observed != NULL) ? DP_OK : DP_ENOMEM;
}

static dp_status simulate(exporting *x, bool known)
{
    export_records *r = &x->all.records;
    dp_error *err = &x->m.err;
    r->outcome = modelling_outcome(&x->m, x->fit, &r->levels);
    r->size = r->outcome != NULL ? dp_fit_size(x->fit, r->outcome) : 0;
    dp_status status = make_room(x, known);
    if (status != DP_OK)
        return status;
    const size_t n = r->n * r->size;
    const dp_given given = {.data = x->data, .draws = x->draws, .rng = x->rng},
                   alone = {.data = x->data, .rng = x->rng};
    status = dp_fit_simulate(x->fit, r->outcome, &given, x->all.posterior.n_draws * n, r->predicted,
                             err);
    if (status == DP_OK && known)
        status =
            dp_fit_evaluate(x->fit, dp_fit_expr(x->fit, r->outcome), &alone, n, r->observed, err);
    return status;
}

static int add_records(exporting *x)
{
    bool known = false;
    if (x->m.said.public_data == NULL)
        return EXIT_CERTIFIED;
    const int end = modelling_of_fit(&x->m, x->fit);
    if (end != EXIT_CERTIFIED)
        return end;
    dp_status status = read_public(x, &known);
    if (status == DP_OK)
        status = simulate(x, known);
    return modelling_failed(&x->m, status) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
}

/* ---- files ---- */

static bool write_netcdf(const exporting *x, message *why)
{
    new_file f;
    if (!new_file_begin(&f, x->m.said.netcdf, why))
        return false;
    if (export_netcdf(&x->all, f.name, why))
        return new_file_keep(&f, why);
    new_file_drop(&f);
    return false;
}

static bool write_csv(const exporting *x, message *why)
{
    new_file f;
    const char *path = x->m.said.csv;
    if (strcmp(path, "-") == 0)
        return export_csv(&x->all, stdout) || complain(why, "the draws cannot be written");
    if (!new_file_begin(&f, path, why))
        return false;
    FILE *out = fopen(f.name, "w");
    bool good = out != NULL && export_csv(&x->all, out);
    if (out != NULL)
        good = fclose(out) == 0 && good;
    if (good)
        return new_file_keep(&f, why);
    new_file_drop(&f);
    return complain(why, "%.300s cannot be written; is the disk full?", path);
}

static void tell(const exporting *x)
{
    const settings *s = &x->m.said;
    const export_records *r = &x->all.records;
    const size_t draws = x->all.posterior.n_draws, names = x->all.posterior.n;
    if (s->csv != NULL && strcmp(s->csv, "-") != 0)
        (void)printf("%s: %zu draws of %zu names\n", s->csv, draws, names);
    if (s->netcdf != NULL && (s->csv == NULL || strcmp(s->csv, "-") != 0))
        (void)printf("%s: %zu draws of %zu names; groups posterior%s%s\n", s->netcdf, draws, names,
                     x->all.prior.n > 0 ? ", prior" : "",
                     r->outcome == NULL    ? ""
                     : r->observed != NULL ? ", posterior_predictive, observed_data"
                                           : ", predictions");
}

static int export_fit(exporting *x, const char *path)
{
    message why = {""};
    const settings *s = &x->m.said;
    if (s->netcdf != NULL && !export_has_netcdf(&why))
        return modelling_refuse(&x->m, EXIT_REFUSED, why.text);
    dp_status status = dp_fit_load(path, &x->fit, &x->m.err);
    if (status == DP_OK)
        status = draw(x);
    if (status == DP_OK && !export_take_notes(&x->all, x->fit))
        status = DP_ENOMEM;
    if (modelling_failed(&x->m, status) != EXIT_CERTIFIED)
        return EXIT_REFUSED;
    const int end = add_records(x);
    if (end != EXIT_CERTIFIED)
        return end;
    if ((s->netcdf != NULL && !write_netcdf(x, &why)) || (s->csv != NULL && !write_csv(x, &why)))
        return modelling_refuse(&x->m, EXIT_REFUSED, why.text);
    tell(x);
    return EXIT_CERTIFIED;
}

static void end_export(exporting *x)
{
    draw_set_free(&x->all.posterior);
    draw_set_free(&x->all.prior);
    free(x->all.records.predicted);
    free(x->all.records.observed);
    free(x->all.checks);
    dp_dataset_free(x->data);
    dp_draws_free(x->draws);
    dp_rng_free(x->rng);
    dp_schema_free(x->schema);
    dp_fit_free(x->fit);
    modelling_close(&x->m);
}

static int run(const command *self, int argc, char **argv)
{
    exporting x = {.m = {.command = "export", .said = settings_none()}};
    message why = {""};
    const bool has_path = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    if (!options_parse(self->options, argc - has_path, argv + has_path, &x.m.said, &why))
        return modelling_refuse(&x.m, EXIT_USAGE, why.text);
    if (x.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!has_path)
        return modelling_refuse(&x.m, EXIT_USAGE,
                                "which fit? give its file, as in: tacit export use.fit --netcdf "
                                "use.nc");
    if (!check(&x.m.said, &why))
        return modelling_refuse(&x.m, EXIT_USAGE, why.text);
    const int end = export_fit(&x, argv[0]);
    end_export(&x);
    return end;
}

const command command_export = {
    "export",
    FOR_EXPORT,
    "a fit for ArviZ (NetCDF), and for R and others (CSV)",
    "Writes the draws of a fit, with what was spent and checked, as NetCDF in the schema of\n"
    "ArviZ's InferenceData, with draws from the prior, and as CSV in the manner of CmdStan.\n"
    "Files that are there are replaced.  It costs no privacy, and reads records only where\n"
    "--public says that they are public.  contrib/ has readers for R and Python.",
    "tacit export use.fit --netcdf use.nc --csv draws.csv",
    run};
