/* What the fit of a plan releases and opens. */
#include "base/error.h"
#include "silo/plan.h"
#include "silo/rules.h"

/* So many that the guide's precisions are means of positive ones. */
double dpi_silo_damping(const dp_silo_opts *o)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(o->scheme);
    return scheme->averages && scheme->noisy ? 1 / (double)(o->n_owners > 0 ? o->n_owners : 1) : 0;
}

static dp_status open_nothing(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                              size_t n, uint64_t *values, dp_error *err)
{
    (void)context, (void)question, (void)n, (void)values;
    return dpi_fail(err, DP_ESTATE, "a plan opens nothing");
}

/* Of owners what is opened follows from their local steps alone. */
dp_status dpi_silo_plan_openings(const dp_silo_opts *o, const dp_model *model, size_t *n,
                                 dp_opening list[DP_OPENINGS], dp_error *err)
{
    const dp_owners owners = {.size = 1,
                              .honest = 1,
                              .seed = 1,
                              .most_records = 1,
                              .local_steps = o->local_steps,
                              .damping = dpi_silo_damping(o),
                              .open = open_nothing};
    const dp_fit_opts fit = {.mode = dpi_silo_scheme_named(o->scheme)->noisy ? DP_PRIVATE
                                                                             : DP_NO_PRIVACY,
                             .epsilon = o->epsilon,
                             .delta = o->delta,
                             .rounds = o->rounds,
                             .owners = o->local_steps > 0 ? &owners : NULL};
    return dp_fit_openings(model, &fit, n, list, err);
}
