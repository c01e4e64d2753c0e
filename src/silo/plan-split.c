/* Plans of split learning. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "silo/columns-sum.h"
#include "silo/plan.h"
#include "silo/print.h"
#include "silo/rules.h"

enum { MOST_CUT = 60, MOST_PARAMETERS = 1 << 23 };

bool dpi_silo_plan_is_split(const dp_silo_plan *p)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(p->opts.scheme);
    return p->opts.columns != NULL && scheme != NULL && scheme->single;
}

/* What each has is said of the columns of a schema, or of those of a model. */
bool dpi_silo_plan_is_cut(const dp_silo_plan *p)
{
    return dpi_silo_plan_is_split(p) && p->opts.source == NULL && p->columns.held[0] != NULL;
}

void dpi_silo_split_terms(const dp_silo_plan *p, dpi_split_terms *t)
{
    const dp_silo_columns *c = &p->columns;
    *t = (dpi_split_terms){.steps = c->steps,
                           .seed = p->opts.seed,
                           .batch = c->batch,
                           .step = c->step,
                           .ridge = c->ridge,
                           .momentum = c->momentum};
}

void dpi_silo_split_say(const dp_silo_plan *p, dpi_bytes *to)
{
    const dp_silo_columns *c = &p->columns;
    dpi_silo_say(to, "cut = %zu %zu %.17g%s%s\n", c->width, c->batch, c->momentum,
                 c->cut != NULL ? " " : "", c->cut != NULL ? c->cut : "");
}

static dp_status check_cut(const dp_silo_plan *p, dp_error *err)
{
    const dp_silo_columns *c = &p->columns;
    if (c->cut != NULL && (!dpi_silo_plan_is_cut(p) || !dpi_silo_is_text(c->cut, MOST_CUT)))
        return dpi_fail(err, DP_EINVAL,
                        "what is cut is a value that a model names, of at most %d bytes",
                        (int)MOST_CUT);
    return c->width >= 1 && c->width <= DP_SPLIT_WIDTH
               ? DP_OK
               : dpi_fail(err, DP_EDOMAIN, "%zu numbers of a record are told at the cut", c->width);
}

dp_status dpi_silo_split_check(const dp_silo_plan *p, dp_error *err)
{
    const dp_silo_columns *c = &p->columns;
    const bool of_model = dpi_silo_plan_is_cut(p);
    if (c->batch > DPI_COLUMNS_ROWS || !(c->momentum >= 0 && c->momentum < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "steps of %zu rows with momentum %g; there are at most %d rows, and "
                        "momentum is 0 or more and below 1",
                        c->batch, c->momentum, (int)DPI_COLUMNS_ROWS);
    for (int k = 0; k < 2; k++) {
        const size_t most = of_model ? MOST_PARAMETERS : DPI_COLUMNS_SUM_MOST;
        if (c->row_most[k] != 0 || c->addend_most[k] != 0)
            return dpi_fail(err, DP_EINVAL,
                            "scheme split neither shortens rows nor cuts addends; leave these "
                            "bounds out");
        if (c->columns[k] < (of_model ? 0 : 1) || c->columns[k] > most)
            return dpi_fail(err, DP_EDOMAIN, "owner %d has %zu numbers to fit; at most %zu", k + 1,
                            c->columns[k], most);
    }
    return check_cut(p, err);
}

/* Of a model what its cut comes to; of a regression a score. */
dp_status dpi_silo_split_sizes(dp_silo_plan *p, const dp_model *model, dp_error *err)
{
    dp_silo_columns *c = &p->columns;
    dp_split *half;
    c->width = 1;
    if ((model != NULL) != dpi_silo_plan_is_cut(p))
        return dpi_fail(err, DP_EINVAL,
                        "split learning of a model goes with what each owner has of its columns, "
                        "and without a formula; give both, or neither");
    if (model == NULL)
        return DP_OK;
    const dp_split_opts spec = {.model = model, .cut = c->cut, .held = {c->held[0], c->held[1]}};
    dp_status status = dp_split_new(&spec, 0, NULL, &half, err);
    if (status != DP_OK)
        return status;
    c->width = dp_split_width(half);
    c->outcome = dp_split_outcome(half);
    c->logistic = false;
    for (size_t k = 0; k < DP_SPLIT_SIDES; k++)
        c->columns[k] = dp_split_numbers(half, k);
    dp_split_free(half);
    dp_model_hash(model, p->model);
    return DP_OK;
}
