/* Public data sets as problems, where their files are there: posteriors of posteriordb
 * (Magnusson et al., github.com/stan-dev/posteriordb), of which data.json is read, and the survey
 * of examples/contraception.c. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "options.h"
#include "women.h"

/* The text of <folder>/<posterior>/data.json, or NULL. */
static char *read_text(const char *folder, const char *posterior)
{
    enum { LARGEST = 1 << 22 };
    char path[1024];
    if (folder == NULL)
        return NULL;
    (void)snprintf(path, sizeof path, "%s/%s/data.json", folder, posterior);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    char *text = answers_alloc(LARGEST, 1);
    size_t size = fread(text, 1, LARGEST - 1, in);
    (void)fclose(in);
    text[size] = 0;
    return text;
}

/* The numbers of "name": [...], how many in *n. */
static double *read_array(const char *text, const char *name, size_t *n)
{
    char key[64];
    (void)snprintf(key, sizeof key, "\"%s\": [", name);
    const char *at = strstr(text, key);
    if (at == NULL)
        bench_stop(name, "no such column in the posterior's data");
    size_t commas = 0;
    at += strlen(key);
    for (const char *c = at; *c != 0 && *c != ']'; c++)
        commas += *c == ',';
    double *values = answers_alloc(commas + 1, sizeof *values);
    *n = commas + 1;
    for (size_t i = 0; i <= commas; i++) {
        char *end;
        values[i] = strtod(at, &end);
        at = end + (*end == ',');
    }
    return values;
}

/* A public data set: the columns that are read, and x and y of a record made of them.  Where the
 * published posterior has flat priors they are normal here, as wide as is said. */
enum { MOST_COLUMNS = 9 };
typedef struct published {
    const char *posterior;
    const char *columns[MOST_COLUMNS]; /* the outcome first */
    size_t p;
    answers_family family;
    double scale[MOST_COLUMNS + 2], noise_scale;
    double (*record)(const double *c, double *x); /* gives the outcome */
} published;

static bool load_published(const published *d, const problem_opts *o, regression *r)
{
    double *column[MOST_COLUMNS] = {NULL}, c[MOST_COLUMNS];
    size_t n_columns = 0;
    char *text = read_text(o->data, d->posterior);
    if (text == NULL)
        return false;
    *r = (regression){.p = d->p, .family = d->family, .noise_scale = d->noise_scale};
    for (; n_columns < MOST_COLUMNS && d->columns[n_columns] != NULL; n_columns++)
        column[n_columns] = read_array(text, d->columns[n_columns], &r->n);
    regression_allocate(r);
    for (size_t j = 0; j < d->p; j++)
        r->scale[j] = d->scale[j];
    for (size_t i = 0; i < r->n; i++) {
        for (size_t k = 0; k < n_columns; k++)
            c[k] = column[k][i];
        r->x[i * r->p] = 1;
        r->y[i] = d->record(c, r->x + i * r->p);
    }
    for (size_t k = 0; k < n_columns; k++)
        free(column[k]);
    free(text);
    return true;
}

static double one_predictor(const double *c, double *x)
{
    x[1] = c[1];
    return c[0];
}

static double wells_record(const double *c, double *x)
{
    x[1] = c[1] / 100;
    return c[0];
}

bool load_wells(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "wells_data-wells_dist100_model",
                                .columns = {"switched", "dist"},
                                .p = 2,
                                .family = ANSWERS_LOGISTIC,
                                .scale = {5, 5},
                                .record = wells_record};
    return load_published(&d, o, r);
}

bool load_nes_logit(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "nes_logit_data-nes_logit_model",
                                .columns = {"vote", "income"},
                                .p = 2,
                                .family = ANSWERS_LOGISTIC,
                                .scale = {5, 5},
                                .record = one_predictor};
    return load_published(&d, o, r);
}

bool load_kidiq(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "kidiq-kidscore_momiq",
                                .columns = {"kid_score", "mom_iq"},
                                .p = 2,
                                .scale = {500, 50},
                                .noise_scale = 100,
                                .record = one_predictor};
    return load_published(&d, o, r);
}

static double interaction_record(const double *c, double *x)
{
    x[1] = c[1], x[2] = c[2], x[3] = c[1] * c[2];
    return c[0];
}

bool load_kidiq_interaction(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "kidiq-kidscore_interaction",
                                .columns = {"kid_score", "mom_hs", "mom_iq"},
                                .p = 4,
                                .scale = {500, 500, 50, 50},
                                .noise_scale = 100,
                                .record = interaction_record};
    return load_published(&d, o, r);
}

static double log_outcome(const double *c, double *x)
{
    x[1] = c[1];
    return log(c[0]);
}

bool load_log_earnings(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "earnings-logearn_height",
                                .columns = {"earn", "height"},
                                .p = 2,
                                .scale = {50, 5},
                                .noise_scale = 10,
                                .record = log_outcome};
    return load_published(&d, o, r);
}

bool load_earnings(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "earnings-earn_height",
                                .columns = {"earn", "height"},
                                .p = 2,
                                .scale = {1e6, 1e5},
                                .noise_scale = 1e6,
                                .record = one_predictor};
    return load_published(&d, o, r);
}

static double nes1980_record(const double *c, double *x)
{
    x[1] = c[1], x[2] = c[2];
    x[3] = c[3] == 2, x[4] = c[3] == 3, x[5] = c[3] == 4;
    x[6] = c[4], x[7] = c[5], x[8] = c[6];
    return c[0];
}

bool load_nes1980(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "nes1980-nes",
                                .columns = {"partyid7", "real_ideo", "race_adj", "age_discrete",
                                            "educ1", "gender", "income"},
                                .p = 9,
                                .scale = {50, 10, 10, 10, 10, 10, 10, 10, 10},
                                .noise_scale = 10,
                                .record = nes1980_record};
    return load_published(&d, o, r);
}

static double mesquite_record(const double *c, double *x)
{
    x[1] = log(c[1] * c[2] * c[3]);
    return log(c[0]);
}

bool load_mesquite(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "mesquite-logmesquite_logvolume",
                                .columns = {"weight", "diam1", "diam2", "canopy_height"},
                                .p = 2,
                                .scale = {20, 10},
                                .noise_scale = 5,
                                .record = mesquite_record};
    return load_published(&d, o, r);
}

/* 46 records and 8 parameters. */
static double mesquite_all_record(const double *c, double *x)
{
    for (int j = 1; j <= 5; j++)
        x[j] = log(c[j]);
    x[6] = c[6];
    return log(c[0]);
}

bool load_mesquite_all(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "mesquite-logmesquite_logvolume",
                                .columns = {"weight", "diam1", "diam2", "canopy_height",
                                            "total_height", "density", "group"},
                                .p = 7,
                                .scale = {20, 10, 10, 10, 10, 10, 10},
                                .noise_scale = 5,
                                .record = mesquite_all_record};
    return load_published(&d, o, r);
}

/* With the published priors; group intercepts count in the error, as mu + county do there. */
static double radon_record(const double *c, double *x)
{
    x[1] = c[1], x[2] = c[2];
    return c[0];
}

bool load_radon(const problem_opts *o, regression *r)
{
    static const published d = {.posterior = "radon_mn-radon_hierarchical_intercept_noncentered",
                                .columns = {"log_radon", "log_uppm", "floor_measure"},
                                .p = 3,
                                .scale = {10, 10, 10},
                                .noise_scale = 1,
                                .record = radon_record};
    if (!load_published(&d, o, r))
        return false;
    size_t n;
    char *text = read_text(o->data, d.posterior);
    double *county = read_array(text, "county_idx", &n);
    r->groups = 85, r->group_scale = 1, r->score_groups = true;
    for (size_t i = 0; i < n; i++)
        r->group[i] = (int32_t)county[i] - 1;
    free(r->truth);
    r->truth = answers_alloc(regression_size(r), sizeof *r->truth);
    for (size_t k = 0; k < regression_size(r); k++)
        r->truth[k] = NAN;
    free(county), free(text);
    return true;
}

/* Predictors divided by public bounds (women.h), priors multiplied by them: errors
 * and widths in sds are those of examples/contraception.c. */
bool load_contraception(const problem_opts *o, regression *r)
{
    women w;
    dp_error err = {0};
    if (women_read(o->survey, &w, &err) != DP_OK) {
        women_free(&w);
        return false;
    }
    *r = (regression){.n = w.n, .p = WOMEN_D, .groups = WOMEN_DISTRICTS, .group_scale = 1};
    r->family = ANSWERS_LOGISTIC;
    regression_allocate(r);
    for (size_t j = 0; j < WOMEN_D; j++)
        r->scale[j] = 2.5 * women_bound[j];
    memcpy(r->x, w.x, w.n * WOMEN_D * sizeof *r->x);
    memcpy(r->y, w.use, w.n * sizeof *r->y);
    memcpy(r->group, w.district, w.n * sizeof *r->group);
    women_free(&w);
    return true;
}
