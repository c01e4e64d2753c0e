/* Plans of a regression over columns. */
#include <math.h>
#include <sodium.h>
#include <string.h>

#include <tacit/accountant.h>

#include "base/error.h"
#include "silo/columns-sum.h"
#include "silo/plan.h"
#include "silo/print.h"

enum { MOST_IDS = 60, MOST_STEPS = 100000 };

static const char phase[] = "gradients";

void dpi_silo_columns_terms(const dp_silo_plan *p, dpi_columns_terms *t)
{
    const dp_silo_columns *c = &p->columns;
    *t = (dpi_columns_terms){.logistic = c->logistic,
                             .outcome = c->outcome,
                             .steps = c->steps,
                             .step = c->step,
                             .ridge = c->ridge,
                             .z = p->openings[0].sigma};
    memcpy(t->columns, c->columns, sizeof t->columns);
    memcpy(t->row_most, c->row_most, sizeof t->row_most);
    memcpy(t->addend_most, c->addend_most, sizeof t->addend_most);
}

void dpi_silo_columns_say(const dp_silo_plan *p, dpi_bytes *to)
{
    const dp_silo_columns *c = &p->columns;
    dpi_silo_say(to, "regression = %s %zu %llu %.17g %.17g\n", c->logistic ? "logistic" : "linear",
                 c->outcome, (unsigned long long)c->steps, c->step, c->ridge);
    for (int k = 0; k < 2; k++)
        dpi_silo_say(to, "block = %zu %.17g %.17g\n", c->columns[k], c->row_most[k],
                     c->addend_most[k]);
    if (dpi_silo_plan_is_split(p))
        dpi_silo_split_say(p, to);
    dpi_silo_say(to, "ids = %s\n", c->ids);
    for (int k = 0; k < 2 && c->held[k] != NULL; k++) {
        dpi_silo_say(to, "held = ");
        dpi_bytes_add(to, c->held[k], strlen(c->held[k]));
        dpi_bytes_add(to, "\n", 1);
    }
    if (c->told)
        dpi_silo_say(to, "told = coefficients\n");
}

/* ---- checks ---- */

static bool is_positive(double v)
{
    return v > 0 && isfinite(v);
}

static bool is_ids(const char *text)
{
    const size_t n = text != NULL ? strnlen(text, MOST_IDS + 1) : 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return n >= 1 && n <= MOST_IDS;
}

static dp_status check_numbers(const dp_silo_plan *p, dp_error *err)
{
    const dp_silo_columns *c = &p->columns;
    if (c->outcome > 1 || !is_ids(c->ids))
        return dpi_fail(
            err, DP_EINVAL,
            "of columns, outcomes are at owner 0 or 1, and what ids are of is said in 1 "
            "to %d printable characters",
            (int)MOST_IDS);
    if (c->steps < 1 || c->steps > MOST_STEPS || !is_positive(c->step) || !(c->ridge >= 0) ||
        !isfinite(c->ridge))
        return dpi_fail(err, DP_EDOMAIN,
                        "%llu steps of %g with a ridge of %g; there are 1 to %d, a step is above 0 "
                        "and a ridge 0 or more",
                        (unsigned long long)c->steps, c->step, c->ridge, (int)MOST_STEPS);
    if (dpi_silo_plan_is_split(p))
        return dpi_silo_split_check(p, err);
    if (c->batch != 0 || c->momentum != 0 || c->cut != NULL || c->width != 0)
        return dpi_fail(err, DP_EINVAL,
                        "batches, momentum and a cut are of scheme split; leave them out");
    for (int k = 0; k < 2; k++)
        if (c->columns[k] < 1 || c->columns[k] > DPI_COLUMNS_SUM_MOST ||
            !is_positive(c->row_most[k]) || !is_positive(c->addend_most[k]))
            return dpi_fail(err, DP_EDOMAIN,
                            "owner %d has %zu columns, rows of norm up to %g and addends up to %g; "
                            "there are 1 to %d columns, and both bounds are above 0",
                            k + 1, c->columns[k], c->row_most[k], c->addend_most[k],
                            (int)DPI_COLUMNS_SUM_MOST);
    return DP_OK;
}

/* What stands for the hash of a model: of the lines, and of formula and schema, each text with its
 * zero. */
dp_status dpi_silo_plan_hash_lines(dp_silo_plan *p,
                                   void (*say)(const dp_silo_plan *plan, dpi_bytes *to),
                                   dp_error *err)
{
    const dp_fit_source *s = p->opts.source;
    dpi_bytes lines = {NULL, 0, 0, false};
    say(p, &lines);
    if (s != NULL) {
        dpi_bytes_add(&lines, s->formula, strlen(s->formula) + 1);
        dpi_bytes_add(&lines, s->family, strlen(s->family) + 1);
        dpi_bytes_add(&lines, s->schema, strlen(s->schema) + 1);
    }
    if (!lines.failed)
        (void)crypto_generichash(p->model, sizeof p->model, lines.at, lines.n, NULL, 0);
    const bool failed = lines.failed;
    dpi_bytes_free(&lines);
    return failed ? dpi_fail_nomem(err) : DP_OK;
}

/* A formula, and the columns of its schema that each has, or neither. */
static dp_status check_held(const dp_silo_plan *p, dp_error *err)
{
    enum { MOST_HELD = 64 * 1024 };
    const dp_silo_columns *c = &p->columns;
    const bool has = p->opts.source != NULL || dpi_silo_plan_is_cut(p);
    if ((c->held[0] != NULL) != has || (c->held[1] != NULL) != has)
        return dpi_fail(err, DP_EINVAL,
                        "a formula over columns goes with what each owner has of its schema; give "
                        "both owners' columns and the formula, or none of them");
    for (int k = 0; k < 2 && has; k++)
        if (!dpi_silo_is_text(c->held[k], MOST_HELD))
            return dpi_fail(err, DP_EINVAL,
                            "what an owner has are names of columns with commas between, in one "
                            "line of at most 64 KiB");
    return p->opts.source == NULL || p->source.priors == NULL
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "a regression over columns has no priors; a ridge is in their place");
}

/* That there are integers for the noise, however many rows turn out to be common. */
static dp_status check_grids(const dp_silo_plan *p, dp_error *err)
{
    const uint64_t records = p->opts.most_records;
    dpi_columns_terms t;
    dpi_columns_grid g;
    dpi_silo_columns_terms(p, &t);
    dp_status status = dpi_columns_grid_make(&t, 1, &g, err);
    return status == DP_OK
               ? dpi_columns_grid_make(&t, records < DPI_COLUMNS_ROWS ? records : DPI_COLUMNS_ROWS,
                                       &g, err)
               : status;
}

static size_t numbers(const dp_silo_columns *c)
{
    return c->columns[0] + c->columns[1];
}

dp_status dpi_silo_columns_check(dp_silo_plan *p, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    if (o->n_owners != 2 || o->colluders != 1 || o->dropouts != 0)
        return dpi_fail(err, DP_EINVAL,
                        "columns are of two owners that are strangers to each other: two owners, "
                        "one colluder, no dropouts");
    if (o->rounds != 0 || o->draws != 0)
        return dpi_fail(err, DP_EINVAL, "a regression over columns has no rounds and no draws");
    dp_status status = check_held(p, err);
    if (status == DP_OK)
        status = check_numbers(p, err);
    if (status == DP_OK && !dpi_silo_plan_is_split(p))
        status = check_grids(p, err);
    if (status != DP_OK)
        return status;
    const dp_opening *e = &p->openings[0];
    if (p->n_openings != 1 || e->times != p->columns.steps || e->numbers != numbers(&p->columns) ||
        strcmp(e->phase, phase) != 0 || (o->epsilon > 0) != (e->sigma > 0))
        return dpi_fail(err, DP_EINVAL, "what is opened is not that of the regression");
    return dpi_silo_plan_is_cut(p) ? DP_OK /* the hash is of the model */
                                   : dpi_silo_plan_hash_lines(p, dpi_silo_columns_say, err);
}

/* ---- noise ---- */

static dp_mechanism releases(const dp_silo_plan *p, double z)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                          .rate = 1,
                          .steps = p->columns.steps,
                          .sigma = z,
                          .adjacency = DP_REPLACE_ONE};
}

/* What all answers of a run differ by from what noise makes of them, in total variation. */
static double all_apart(const dp_silo_plan *p)
{
    return (double)p->columns.steps * exp2(-dpi_columns_bits(p->columns.steps));
}

/* For a record in place of another, and what answers differ by (print.c), of which more than there
 * is is set aside; and what a ledger keeps back and counts of it, so that a budget of the plan's
 * epsilon and delta pays for the plan. */
static dp_status find_noise(const dp_silo_plan *p, double *z, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    const dp_mechanism m = releases(p, 1);
    if (!(o->epsilon > 0) || !(o->delta > 0 && o->delta < 1))
        return DP_OK; /* refused with the budget */
    const double apart = all_apart(p);
    const double aside = 4 * apart * (1 + exp(o->epsilon)) + 0x1p-20 * o->delta;
    if (!(aside < o->delta / 4))
        return dpi_fail(
            err, DP_EDOMAIN,
            "delta %g is too small for epsilon %g: answers differ by up to %g from what "
            "noise makes of them",
            o->delta, o->epsilon, apart);
    return dp_calibrate_sigma(&m, o->epsilon, o->delta - aside, 0, z, err);
}

dp_status dpi_silo_columns_openings(dp_silo_plan *p, const dp_model *model, dp_error *err)
{
    dp_status status =
        dpi_silo_plan_is_split(p) ? dpi_silo_split_sizes(p, model, err) : check_numbers(p, err);
    if (status != DP_OK)
        return status;
    p->n_openings = 1;
    p->openings[0] =
        (dp_opening){.phase = phase, .times = p->columns.steps, .numbers = numbers(&p->columns)};
    return dpi_silo_plan_is_split(p) ? DP_OK : find_noise(p, &p->openings[0].sigma, err);
}

/* ---- what a ledger counts ---- */

/* Of lines that part what is told of epsilon up to E from what is beyond, E from the plan's epsilon
 * up, the least is taken. */
static dp_status find_told(const dp_silo_plan *p, const dp_mechanism *m, double *told,
                           dp_error *err)
{
    enum { LINES = 64 };
    double apart_most;
    dp_status status = dp_delta(m, 0, &apart_most, err);
    *told = 1;
    for (int k = 0; k < LINES && status == DP_OK; k++) {
        const double e = p->opts.epsilon + .5 * k;
        double beyond;
        status = dp_delta(m, e, &beyond, err);
        const double t = (all_apart(p) * (1 + exp(e)) / (1 - apart_most) + beyond) * (1 + 0x1p-40);
        *told = t < *told ? t : *told;
    }
    return status;
}

dp_status dpi_silo_columns_spending(const dp_silo_plan *p, dp_mechanism list[DPI_COLUMNS_SPENDING],
                                    dp_error *err)
{
    double told = 1;
    list[0] = releases(p, p->openings[0].sigma);
    dp_status status = find_told(p, &list[0], &told, err);
    if (status == DP_OK && !(told > 0 && told < 1))
        status = dpi_fail(err, DP_EPRIVACY,
                          "no line parts what the noise covers from what answers may tell beside "
                          "it; plan for a smaller epsilon");
    list[1] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                             .rate = 1,
                             .steps = 1,
                             .sigma = told,
                             .noise = DP_NOISE_ALL_OR_NOTHING,
                             .adjacency = DP_REPLACE_ONE};
    return status;
}
