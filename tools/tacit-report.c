/* The command report: a fit as one page of HTML, for who decides whether it may be published and
 * for who reads it.
 *
 * The page is made in memory and written whole or not at all.  A report can be made again, so that
 * one that is there is replaced; anything else is not, as it may be a fit that was paid for. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/report.h"
#include "tools/tacit.h"

/* ---- what the fit tells ---- */

static void read_formula(report_page *r)
{
    modelling *m = &r->m;
    size_t n;
    const dp_column *columns = dp_schema_columns(m->schema, &n);
    dp_formula_opts o = {.family = r->source->family,
                         .columns = columns,
                         .n_columns = n,
                         .priors = m->prior,
                         .n_priors = m->n_priors};
    dp_status status = dp_formula_parse(r->source->formula, &o, &m->formula, &m->err);
    r->priors_known = status == DP_OK;
    if (status != DP_OK && m->n_priors > 0) { /* they are for people */
        o.n_priors = 0;
        status = dp_formula_parse(r->source->formula, &o, &m->formula, &m->err);
    }
    if (status != DP_OK)
        (void)complain(&r->source_fault, "%s", m->err.text);
    m->err = (dp_error){DP_OK, ""};
}

static void read_source(report_page *r)
{
    modelling *m = &r->m;
    message why = {""};
    r->source = dp_fit_get_source(r->fit);
    if (r->source == NULL)
        return;
    m->said.priors = r->source->priors;
    if (!modelling_priors(m, &why))
        m->n_priors = 0;
    const bool lost = why.text[0] != '\0';
    if (dp_schema_parse(r->source->schema, strlen(r->source->schema), "the fit's schema",
                        &m->schema, &m->err) != DP_OK)
        (void)complain(&r->source_fault, "%s", m->err.text);
    else
        read_formula(r);
    r->priors_known = r->priors_known && !lost;
}

/* The outcome, where there is one, and the levels whose chances are expected. */
static void find_outcome(report_page *r)
{
    size_t n, observed = 0;
    const dp_fit_column *c = dp_fit_columns(r->fit, &n);
    for (size_t k = 0; k < n; k++)
        if (c[k].observed) {
            r->outcome = c[k].name;
            observed++;
        }
    if (observed != 1)
        r->outcome = NULL;
    if (r->m.formula == NULL || r->outcome == NULL)
        return;
    const char *family = dp_formula_family(r->m.formula);
    const bool binary = strncmp(family, "bernoulli", 9) == 0;
    const dp_column *columns = dp_schema_columns(r->m.schema, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(columns[k].name, r->outcome) == 0 &&
            (binary || strncmp(family, "categorical", 11) == 0 ||
             strncmp(family, "cumulative", 10) == 0))
            r->levels = &columns[k];
    r->first_level = binary ? 1 : 0;
}

/* ---- where it goes ---- */

/* Whether the file is a report, or is not there. */
static bool is_replaceable(const char *path)
{
    static const char mark[] = "<!DOCTYPE html>\n<!-- tacit report -->\n";
    char start[sizeof mark] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return errno == ENOENT;
    const size_t n = fread(start, 1, sizeof mark - 1, file);
    (void)fclose(file);
    return n == sizeof mark - 1 && memcmp(start, mark, n) == 0;
}

static bool check(const report_page *r, message *why)
{
    const settings *s = &r->m.said;
    if (s->out == NULL)
        return complain(why, "where to? give --out, as in: tacit report use.fit --out report.html");
    if (strlen(s->out) + 8 > PATH_MAX)
        return complain(why, "--out is too long a path; give a shorter one");
    if (s->format >= 0 && s->pictures == NULL)
        return complain(why, "--format is of --pictures; give a folder for them, or leave it out");
    if (s->query != NULL && s->public_data == NULL)
        return complain(why, "--query says which records of --public; give that, or leave it out");
    return true;
}

static bool make_folder(const char *path, message *why)
{
    struct stat s;
    if (path == NULL || mkdir(path, 0777) == 0)
        return true;
    if (errno == EEXIST && stat(path, &s) == 0 && S_ISDIR(s.st_mode))
        return true;
    return complain(why, "--pictures: the folder %.300s cannot be made (%s); give another place",
                    path, errno == EEXIST ? "it is a file" : strerror(errno));
}

/* Writes the page beside its place, then moves it there. */
static bool write_page(const char *path, const char *text, size_t n, message *why)
{
    char beside[PATH_MAX];
    (void)snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    const int handle = mkstemp(beside);
    FILE *file = handle >= 0 ? fdopen(handle, "wb") : NULL;
    bool good = file != NULL && fchmod(handle, 0644) == 0 && fwrite(text, 1, n, file) == n;
    if (file != NULL)
        good = fclose(file) == 0 && good;
    good = good && rename(beside, path) == 0;
    if (good)
        return true;
    const int error = errno;
    if (handle >= 0)
        (void)unlink(beside);
    return complain(why, "--out: %.300s cannot be written (%s); give another place", path,
                    strerror(error));
}

/* ---- the page ---- */

static void write_sections(report_page *r)
{
    report_begin(r);
    report_in_short(r);
    report_privacy(r);
    report_model(r);
    report_checks(r);
    report_coefficients(r);
    report_groups(r);
    report_effects(r);
    report_twins(r);
    report_releases(r);
    report_reproduce(r);
    report_numbers(r);
    report_end(r);
}

static bool make_page(report_page *r, message *why)
{
    char *text = NULL;
    size_t n = 0;
    r->page = open_memstream(&text, &n);
    if (r->page == NULL)
        return complain(why, "out of memory");
    write_sections(r);
    if (ferror(r->page))
        report_fail(r, "out of memory");
    if (fclose(r->page) != 0)
        report_fail(r, "out of memory");
    bool good = r->why.text[0] == '\0' || complain(why, "%s", r->why.text);
    good = good && write_page(r->m.said.out, text, n, why);
    free(text);
    return good;
}

static int make(report_page *r)
{
    message why = {""};
    if (!is_replaceable(r->m.said.out)) {
        (void)complain(&why, "--out: %.300s is there already and is no report; give another name",
                       r->m.said.out);
        return modelling_refuse(&r->m, EXIT_REFUSED, why.text);
    }
    if (dp_fit_load(r->path, &r->fit, &r->m.err) != DP_OK) {
        (void)modelling_failed(&r->m, r->m.err.status);
        return EXIT_REFUSED;
    }
    dp_fit_privacy(r->fit, &r->privacy);
    read_source(r);
    find_outcome(r);
    if (!make_folder(r->m.said.pictures, &why) || !make_page(r, &why))
        return modelling_refuse(&r->m, EXIT_REFUSED, why.text);
    return EXIT_CERTIFIED;
}

static int run(const command *self, int argc, char **argv)
{
    report_page r = {.m = {.command = "report", .said = settings_none()}};
    message why = {""};
    const bool has_path = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    if (!options_parse(self->options, argc - has_path, argv + has_path, &r.m.said, &why))
        return modelling_refuse(&r.m, EXIT_USAGE, why.text);
    if (r.m.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!has_path)
        return modelling_refuse(&r.m, EXIT_USAGE,
                                "which fit? give its file, as in: tacit report use.fit --out "
                                "report.html");
    if (!check(&r, &why))
        return modelling_refuse(&r.m, EXIT_USAGE, why.text);
    r.path = argv[0];
    r.format = r.m.said.format >= 0 ? (picture_format)r.m.said.format : PICTURE_SVG;
    const int end = make(&r);
    dp_fit_free(r.fit);
    modelling_close(&r.m);
    return end;
}

const command command_report = {
    "report",
    FOR_REPORT,
    "a fit as one page to be shown and printed",
    "Writes one page of HTML that needs nothing but itself: what was asked and spent and what\n"
    "that can give away, the model, the answer in pictures and numbers, effects of\n"
    "predictors, predictions, what was released, and how to make it again.  It is made from\n"
    "the fit alone, reads no private record, and costs nothing.  Pictures are drawn by\n"
    "gnuplot (Debian: apt-get install gnuplot-nox).",
    "tacit report use.fit --out report.html --pictures figures --format pdf",
    run};
