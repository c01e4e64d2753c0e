/* Plans of a regression by three parties on shares: the terms of tacit/silo-trio.h, of which name,
 * epsilon, delta and rows are the plan's. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "silo/plan.h"
#include "silo/print.h"
#include "silo/trio-rows.h"
#include "silo/trio-run.h"

static const char gradients[] = "gradients", coefficients[] = "coefficients";

/* By which noise may differ between processors, whose functions round apart; those that run a plan
 * compare it to the bit. */
static const double digits = 1e-9;

uint64_t dpi_silo_three_helpers(const dp_silo_plan *p)
{
    uint64_t helpers = 0;
    for (size_t k = 0; k < DP_SILO_TRIO; k++)
        if (!dpi_silo_trio_has(&p->trio, k))
            helpers |= (uint64_t)1 << k;
    return helpers;
}

void dpi_silo_three_say(const dp_silo_plan *p, dpi_bytes *to)
{
    const dp_silo_trio *c = &p->trio;
    bool any = false;
    dpi_silo_say(to, "three = %s %zu %llu %.17g %.17g\nmost = %.17g %.17g\n",
                 c->logistic ? "logistic" : "linear", c->outcome, (unsigned long long)c->steps,
                 c->step, c->ridge, c->outcome_most, c->residual_most);
    for (int k = 0; k < DP_SILO_TRIO; k++) {
        dpi_silo_say(to, "party = %zu %zu %.17g\n", c->columns[k], c->rows_of[k], c->row_most[k]);
        any = any || p->opts.trio_held[k] != NULL;
    }
    if (c->ids != NULL)
        dpi_silo_say(to, "ids = %s\n", c->ids);
    for (int k = 0; k < DP_SILO_TRIO && any; k++) {
        const char *held = p->opts.trio_held[k] != NULL ? p->opts.trio_held[k] : "-";
        dpi_silo_say(to, "held = ");
        dpi_bytes_add(to, held, strlen(held));
        dpi_bytes_add(to, "\n", 1);
    }
    if (c->told)
        dpi_silo_say(to, "told = coefficients\n");
}

/* The plan's name, epsilon, delta and rows are those of the terms. */
static void complete(dp_silo_plan *p)
{
    p->trio.name = p->opts.name;
    p->trio.epsilon = p->opts.epsilon;
    p->trio.delta = p->opts.delta;
    p->trio.rows = (size_t)p->opts.most_records;
}

/* A formula, and the columns of its schema of each that has records; or neither. */
static dp_status check_held(const dp_silo_plan *p, dp_error *err)
{
    enum { MOST_HELD = 64 * 1024 };
    const bool has = p->opts.source != NULL;
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        const char *held = p->opts.trio_held[k];
        if ((held != NULL) != (has && dpi_silo_trio_has(&p->trio, k)))
            return dpi_fail(
                err, DP_EINVAL,
                "a formula of three parties goes with what each that has records has of "
                "its schema; give the columns of those, and of no other, and the "
                "formula, or none of them");
        if (held != NULL && !dpi_silo_is_text(held, MOST_HELD))
            return dpi_fail(err, DP_EINVAL,
                            "what an owner has are names of columns with commas between, in one "
                            "line of at most 64 KiB");
        if (held != NULL && strcmp(held, "-") == 0)
            return dpi_fail(err, DP_EINVAL,
                            "an owner has the column '-' alone, and in a plan that says that it "
                            "has none; rename the column");
    }
    return !has || p->source.priors == NULL
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "a regression by three parties has no priors; a ridge is in their place");
}

/* What will be opened. */
static dp_status find_opening(const dp_silo_plan *p, dp_opening *o, dp_error *err)
{
    dpi_silo_trio_terms t;
    dpi_silo_trio_grid g;
    dp_status status = dpi_silo_trio_agree(&p->trio, &t, &g, err);
    if (status == DP_OK)
        *o = (dp_opening){.phase = t.z > 0 ? gradients : coefficients,
                          .times = t.z > 0 ? t.steps : 1,
                          .numbers = g.d,
                          .sigma = t.z};
    return status;
}

dp_status dpi_silo_three_openings(dp_silo_plan *p, dp_error *err)
{
    p->n_openings = 1;
    complete(p);
    return find_opening(p, &p->openings[0], err);
}

dp_status dpi_silo_three_check(dp_silo_plan *p, dp_error *err)
{
    const dp_silo_opts *o = &p->opts;
    const dp_opening *e = &p->openings[0];
    dp_opening made = {.phase = ""};
    if (o->n_owners != DP_SILO_TRIO || o->colluders != 1 || o->dropouts != 0)
        return dpi_fail(err, DP_EINVAL,
                        "shares are of three parties that are strangers to each other: three "
                        "owners, of whom some may help, one colluder, no dropouts");
    if (o->rounds != 0 || o->draws != 0)
        return dpi_fail(err, DP_EINVAL, "a regression by three parties has no rounds and no draws");
    complete(p);
    dp_status status = check_held(p, err);
    if (status == DP_OK)
        status = find_opening(p, &made, err);
    if (status != DP_OK)
        return status;
    if (p->n_openings != 1 || e->alone || e->times != made.times || e->numbers != made.numbers ||
        !(fabs(e->sigma - made.sigma) <= digits * made.sigma) || strcmp(e->phase, made.phase) != 0)
        return dpi_fail(err, DP_EINVAL, "what is opened is not that of the regression");
    return dpi_silo_plan_hash_lines(p, dpi_silo_three_say, err);
}
