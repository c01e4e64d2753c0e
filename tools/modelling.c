/* Schema, formula and priors from options.  What is wrong here is told before any record is
 * read. */
#define _XOPEN_SOURCE 700
#include "tools/modelling.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/table-source.h"
#include "tools/tacit.h"

int modelling_refuse(const modelling *m, int status, const char *text)
{
    (void)fprintf(stderr, "tacit %s: %s\n", m->command, text);
    return status;
}

int modelling_failed(const modelling *m, dp_status status)
{
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    (void)modelling_refuse(m, 0, m->err.text[0] != '\0' ? m->err.text : dp_status_text(status));
    return status == DP_EINVAL || status == DP_EDOMAIN ? EXIT_USAGE : EXIT_REFUSED;
}

static char *trimmed(char *text)
{
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
    return text;
}

bool modelling_priors(modelling *m, message *why)
{
    char *left;
    if (m->said.priors == NULL)
        return true;
    if (strlen(m->said.priors) > MOST_PRIOR_TEXT)
        return complain(why, "--priors have more than %d bytes; give some to classes, as b or sd",
                        MOST_PRIOR_TEXT);
    m->priors = strdup(m->said.priors);
    for (char *c = m->priors; c != NULL && *c != '\0'; c++)
        *c = strchr("\t\r\n", *c) != NULL ? ' ' : *c;
    m->prior_text = m->priors != NULL ? strdup(m->priors) : NULL;
    if (m->prior_text == NULL)
        return complain(why, "out of memory");
    for (char *one = strtok_r(m->prior_text, ";", &left); one != NULL;
         one = strtok_r(NULL, ";", &left)) {
        char *equals = strchr(one, '=');
        if (*trimmed(one) == '\0')
            continue;
        if (equals == NULL)
            return complain(why,
                            "--priors: '%.60s' says no prior; write NAME = LAW, as in --priors "
                            "'b = normal(0, 1); sd = half_normal(1)'",
                            trimmed(one));
        if (m->n_priors == MOST_PRIORS)
            return complain(why, "--priors are more than %d; give some to classes, as b or sd",
                            MOST_PRIORS);
        *equals = '\0';
        m->prior[m->n_priors++] = (dp_formula_prior){trimmed(one), trimmed(equals + 1)};
    }
    return true;
}

static int read_formula(modelling *m)
{
    size_t n;
    const dp_column *columns = dp_schema_columns(m->schema, &n);
    const dp_formula_opts o = {.family = m->said.family,
                               .columns = columns,
                               .n_columns = n,
                               .priors = m->prior,
                               .n_priors = m->n_priors};
    dp_status status = dp_formula_parse(m->text, &o, &m->formula, &m->err);
    if (status == DP_OK)
        status = dp_formula_model(m->formula, &m->model, &m->err);
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    (void)modelling_failed(m, status);
    if (m->said.family == NULL)
        (void)modelling_refuse(m, 0,
                               "no --family is given, so that the outcome is taken as gaussian");
    return status == DP_ENOMEM ? EXIT_REFUSED : EXIT_USAGE;
}

int modelling_open(modelling *m)
{
    message why = {""};
    if (m->said.schema == NULL)
        return modelling_refuse(m, EXIT_USAGE,
                                "--schema is missing; it says what is public of the table: ranges, "
                                "levels, unit (doc/schema.md)");
    if (!modelling_priors(m, &why))
        return modelling_refuse(m, EXIT_USAGE, why.text);
    dp_status status = dp_schema_load(m->said.schema, &m->schema, &m->err);
    if (status != DP_OK) {
        (void)modelling_failed(m, status);
        return status == DP_EDATA ? EXIT_USAGE : EXIT_REFUSED;
    }
    return read_formula(m);
}

int modelling_of_fit(modelling *m, const dp_fit *fit)
{
    size_t n;
    const dp_fit_source *s = dp_fit_get_source(fit);
    if (s == NULL)
        return modelling_refuse(m, EXIT_REFUSED,
                                "this fit does not tell its formula, by which records are read; "
                                "take one of tacit fit, or dp_fit_predict in C");
    dp_status status =
        dp_schema_parse(s->schema, strlen(s->schema), "the fit's schema", &m->schema, &m->err);
    if (status == DP_OK) {
        const dp_column *columns = dp_schema_columns(m->schema, &n);
        const dp_formula_opts o = {.family = s->family, .columns = columns, .n_columns = n};
        status = dp_formula_parse(s->formula, &o, &m->formula, &m->err);
    }
    (void)modelling_failed(m, status);
    return status == DP_OK ? EXIT_CERTIFIED : EXIT_REFUSED;
}

int modelling_of_source(modelling *m, const dp_fit_source *source, const char *name)
{
    message why = {""};
    m->text = source->formula;
    m->said.family = source->family;
    m->said.priors = source->priors;
    if (!modelling_priors(m, &why))
        return modelling_refuse(m, EXIT_REFUSED, why.text);
    dp_status status =
        dp_schema_parse(source->schema, strlen(source->schema), name, &m->schema, &m->err);
    if (status == DP_OK)
        return read_formula(m) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
    (void)modelling_failed(m, status);
    return EXIT_REFUSED;
}

const char *modelling_outcome(const modelling *m, const dp_fit *fit, const dp_column **levels)
{
    size_t n;
    const char *outcome = NULL, *family = dp_formula_family(m->formula);
    const dp_fit_column *c = dp_fit_columns(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (c[k].observed)
            outcome = c[k].name;
    const dp_column *columns = dp_schema_columns(m->schema, &n);
    *levels = NULL;
    for (size_t k = 0; k < n && outcome != NULL; k++)
        if (strcmp(columns[k].name, outcome) == 0 &&
            (strncmp(family, "bernoulli", 9) == 0 || strncmp(family, "categorical", 11) == 0 ||
             strncmp(family, "cumulative", 10) == 0))
            *levels = &columns[k];
    return outcome;
}

void modelling_close(modelling *m)
{
    dp_model_free(m->model);
    dp_formula_free(m->formula);
    dp_schema_free(m->schema);
    free(m->prior_text);
    free(m->priors);
}

/* The folder that a file is in; false where its name is too long. */
static bool folder_of(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const size_t length = slash == NULL ? 0 : (size_t)(slash - path) + (slash == path);
    if (length >= PATH_MAX)
        return false;
    memcpy(folder, slash == NULL ? "." : path, slash == NULL ? 1 : length);
    folder[slash == NULL ? 1 : length] = '\0';
    return true;
}

dp_status modelling_read(modelling *m, const char *path, dp_formula_use use, dp_table **table)
{
    size_t n;
    char folder[PATH_MAX];
    const dp_column *columns = dp_formula_columns(m->formula, use, &n);
    dp_csv_options o = *dp_schema_csv(m->schema);
    o.threads = isnan(m->said.threads) ? 1 : (size_t)m->said.threads;
    o.scratch = m->said.scratch;
    if (o.scratch == NULL && !table_on_server(path) && folder_of(path, folder))
        o.scratch = folder;
    o.max_bytes = SIZE_MAX; /* a file of one's own may be large */
    o.max_rows = SIZE_MAX;
    o.drop_missing = o.drop_missing && use == DP_FORMULA_FIT; /* each new record has an answer */
    return table_read(path, m->said.query, &o, n, columns, table, &m->err);
}
