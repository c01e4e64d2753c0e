/* What is said of models whose shifts round by chance, from the plan that the parties make. */
#include <math.h>

#include "options.h"
#include "served.h"
#include "share/plan.h"

served_rounding served_rounding_of(const dp_program *p)
{
    const dpi_share_opts o = {.probabilistic = true};
    served_rounding r = {0};
    dpi_share_plan *plan;
    dp_error err = {0};
    served_must(dpi_share_plan_new(p, &o, &plan, &err), "plan", &err);
    served_must(dpi_share_rounding(plan, &r.most, &err), "plan", &err);
    for (size_t k = 0; k < plan->n_steps; k++) {
        const dpi_plan_step *step = &plan->step[k];
        if (step->kind != DPI_STEP_LINEAR || step->shift == 0)
            continue;
        r.shifted += (double)step->stage->size;
        r.wrong += (double)step->stage->size * ldexp(1, step->stage->bits - 64);
    }
    r.last_place = ldexp(1, -dp_program_stage(p, dp_program_stages(p) - 1)->fraction);
    dpi_share_plan_free(plan);
    return r;
}
