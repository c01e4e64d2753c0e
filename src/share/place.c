/* Where values lie: at the first place that is free as long as they are needed. */
#include "share/plan.h"

enum { LINE = 16 /* numbers: 64 bytes of the smaller ring, also of several records */ };

/* Whether the value lies among the plan's own, and is needed at a step. */
static bool lives(const dpi_share_plan *plan, size_t v, size_t step)
{
    const dpi_plan_value *value = &plan->value[v];
    return v > 0 && v != plan->answer && value->first < step && value->last >= step;
}

static size_t end_of(const dpi_plan_value *v)
{
    return v->at + (v->size + LINE - 1) / LINE * LINE;
}

/* The value whose place a step's result may take: what it reads for the last time, of the same
 * size, number by number; 0 where there is none.  A sum begins with the operand that is shifted. */
static size_t written_over(const dpi_share_plan *plan, size_t step)
{
    const dpi_plan_step *s = &plan->step[step];
    size_t in = s->in[s->kind == DPI_STEP_ADD && s->lift[1] > 0];
    bool one = s->kind == DPI_STEP_RELU || s->kind == DPI_STEP_TABLE ||
               (s->kind == DPI_STEP_ADD && s->in[0] != s->in[1]);
    return one && plan->value[in].last == step ? in : 0;
}

/* The first free place for so many numbers at a step. */
static size_t first_free(const dpi_share_plan *plan, size_t step, dpi_plan_value wanted)
{
    wanted.at = 0;
    for (size_t v = 1; v < plan->n_values; v++) {
        const dpi_plan_value *other = &plan->value[v];
        if (lives(plan, v, step) && wanted.at < end_of(other) && other->at < end_of(&wanted)) {
            wanted.at = end_of(other);
            v = 0; /* from the beginning: places are in no order */
        }
    }
    return wanted.at;
}

void dpi_plan_place(dpi_share_plan *plan)
{
    for (size_t step = 0; step < plan->n_steps; step++) {
        dpi_plan_value *out = &plan->value[plan->step[step].out];
        size_t over = written_over(plan, step);
        if (out == &plan->value[plan->answer])
            continue;
        out->at = over > 0 ? plan->value[over].at : first_free(plan, step, *out);
        if (end_of(out) > plan->values)
            plan->values = end_of(out);
    }
}
