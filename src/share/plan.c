/* From a sheet to steps. */
#include "share/plan.h"

#include <math.h>

#include "base/error.h"

enum {
    NARROW = 30,   /* bits of all stages that 32 hold: two more are those of differences */
    WIDE = 62,     /* that 64 hold */
    UNLIKELY = 24, /* a probabilistic shift fails for one number in 2^24 at most */
    LEFT = 8       /* bits that it must leave: rounding errors of earlier ones are small beside */
};

static dp_status refuse(size_t k, const dp_stage *s, const char *why, dp_error *err)
{
    return dpi_fail(err, DP_EUNSUPPORTED, "stage %zu (%s) %s", k, dp_stage_name(s->kind), why);
}

/* Appends a step, for which there is room. */
static dpi_plan_step *add_step(dpi_share_plan *plan, dpi_step_kind kind, const dp_stage *s,
                               size_t a, size_t b, size_t out)
{
    dpi_plan_step *step = &plan->step[plan->n_steps];
    *step = (dpi_plan_step){.kind = kind, .stage = s, .in = {a, b}, .out = out};
    plan->value[out].first = plan->n_steps;
    plan->value[a].last = plan->value[b].last = plan->n_steps++;
    return step;
}

static void need_planes(dpi_share_plan *plan, int n)
{
    if (n > plan->n_planes)
        plan->n_planes = n;
}

static void need_gathered(dpi_share_plan *plan, size_t numbers)
{
    if (numbers > plan->gathered)
        plan->gathered = numbers;
}

/* ---- stages ---- */

/* The relu that alone reads stage k, if it is one; 0 else. */
static size_t relu_after(const dpi_share_plan *plan, size_t k)
{
    for (size_t j = k + 1; j < dp_program_stages(plan->p); j++) {
        const dp_stage *s = dp_program_stage(plan->p, j);
        if (s->in[0] == (int)k || s->in[1] == (int)k)
            return s->kind == DP_STAGE_RELU && plan->value[k].readers == 1 ? j : 0;
    }
    return 0;
}

/* The shift that linear stage k does for the relu after it. */
static int early_shift(const dpi_share_plan *plan, size_t k)
{
    size_t relu = relu_after(plan, k);
    int bits = plan->value[k].bits;
    if (!plan->opts.probabilistic || plan->ring != DPI_RING_64 || relu == 0)
        return 0;
    int shift = dp_program_stage(plan->p, relu)->shift;
    return bits + UNLIKELY <= 64 && bits - shift >= LEFT ? shift : 0;
}

static void plan_linear(dpi_share_plan *plan, const dp_stage *s, size_t k, size_t *weights)
{
    dpi_plan_step *step = add_step(plan, DPI_STEP_LINEAR, s, (size_t)s->in[0], (size_t)s->in[0], k);
    step->weights = *weights;
    step->shift = early_shift(plan, k);
    plan->value[k].shifted = step->shift > 0;
    plan->value[k].bits -= step->shift > 0 ? step->shift - 1 : 0;
    *weights += s->n_weights + s->n_bias;
}

/* A mean's weight follows from the fractions: 2^g / window, rounded. */
static dp_status plan_mean(dpi_share_plan *plan, const dp_stage *s, size_t k, dp_error *err)
{
    size_t pixels = s->window.size[0] * s->window.size[1];
    int g = s->fraction - dp_program_stage(plan->p, (size_t)s->in[0])->fraction;
    if (g < 0 || g > 62)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "stage %zu (average pool) has a scale that no mean has", k);
    add_step(plan, DPI_STEP_MEAN, s, (size_t)s->in[0], (size_t)s->in[0], k)->weight =
        (uint64_t)nearbyint(ldexp(1, g) / (double)pixels);
    return DP_OK;
}

static void plan_relu(dpi_share_plan *plan, const dp_stage *s, size_t in, size_t out)
{
    const dpi_plan_value *v = &plan->value[in];
    dpi_plan_step *step = add_step(plan, DPI_STEP_RELU, s, in, in, out);
    dpi_relu_make(plan->ring, v->bits, v->shifted ? 0 : s->shift, &step->relu);
    need_planes(plan, step->relu.tree.n_planes);
}

static dp_status plan_table(dpi_share_plan *plan, const dp_stage *s, size_t k, dp_error *err)
{
    int bits = plan->value[s->in[0]].bits;
    if (dpi_table_bits(bits, s->shift) > WIDE)
        return refuse(k, s, "has a scale so far from its table's that no ring holds both", err);
    dpi_plan_step *step = add_step(plan, DPI_STEP_TABLE, s, (size_t)s->in[0], (size_t)s->in[0], k);
    dpi_table_make(plan->ring, bits, s->shift, s->kind == DP_STAGE_TANH, &step->table);
    need_planes(plan, DPI_TABLE_PLANES);
    need_planes(plan, step->table.low.tree.n_planes);
    need_planes(plan, step->table.high.tree.n_planes);
    return DP_OK;
}

static void plan_max(dpi_share_plan *plan, const dp_stage *s, size_t in, size_t out)
{
    size_t places = s->window.size[0] * s->window.size[1], half = places > 1 ? places / 2 : 1;
    size_t rows = plan->block / (half * s->shape[2]);
    dpi_plan_step *step = add_step(plan, DPI_STEP_MAX, s, in, in, out);
    dpi_carries_make(plan->ring, plan->value[in].bits + 2, 0, false, &step->tree);
    need_planes(plan, step->tree.n_planes);
    need_gathered(plan, places * (rows > 0 ? rows : 1) * s->shape[2]);
}

static void plan_add(dpi_share_plan *plan, const dp_stage *s, size_t k)
{
    dpi_plan_step *step = add_step(plan, DPI_STEP_ADD, s, (size_t)s->in[0], (size_t)s->in[1], k);
    step->lift[0] = s->lift[0];
    step->lift[1] = s->lift[1];
}

static void plan_argmax(dpi_share_plan *plan, size_t in, size_t out)
{
    dpi_plan_step *step = add_step(plan, DPI_STEP_ARGMAX, NULL, in, in, out);
    dpi_carries_make(plan->ring, plan->value[in].bits + 2, 0, false, &step->tree);
    need_planes(plan, step->tree.n_planes);
    need_gathered(plan, 2 * plan->value[in].size * plan->opts.batch);
    if (plan->block < plan->opts.batch)
        plan->block = plan->opts.batch;
}

static void plan_above(dpi_share_plan *plan, size_t in, size_t out)
{
    dpi_plan_step *step = add_step(plan, DPI_STEP_ABOVE, NULL, in, in, out);
    dpi_carries_make(plan->ring, plan->value[in].bits + 1, 0, false, &step->tree);
    need_planes(plan, step->tree.n_planes);
}

/* ---- the whole ---- */

/* A relu and a max pool may be done in either order, the relu being of fewer numbers when it is
 * last: the ANDs for one window decide.  The pool that alone reads relu k, or 0. */
static size_t pool_before(const dpi_share_plan *plan, size_t k)
{
    const dp_stage *s = dp_program_stage(plan->p, k), *pool = NULL;
    size_t j = k + 1;
    for (; j < dp_program_stages(plan->p) && pool == NULL; j++)
        if (dp_program_stage(plan->p, j)->in[0] == (int)k)
            pool = dp_program_stage(plan->p, j);
    if (pool == NULL || pool->kind != DP_STAGE_MAX_POOL || plan->value[k].readers != 1)
        return 0;
    const dpi_plan_value *in = &plan->value[s->in[0]];
    dpi_carries early, late;
    dpi_relu relu;
    dpi_relu_make(plan->ring, in->bits, in->shifted ? 0 : s->shift, &relu);
    dpi_carries_make(plan->ring, in->bits + 2, 0, false, &early);
    dpi_carries_make(plan->ring, plan->value[k].bits + 2, 0, false, &late);
    size_t pairs = pool->window.size[0] * pool->window.size[1] - 1;
    size_t first = pool->size * (pairs * (size_t)dpi_carries_ands(&early) +
                                 (size_t)dpi_carries_ands(&relu.tree));
    size_t second = pool->size * pairs * (size_t)dpi_carries_ands(&late) +
                    s->size * (size_t)dpi_carries_ands(&relu.tree);
    return first < second ? j - 1 : 0;
}

/* Pool j and relu k, the pool first: its numbers are value k, now of the pool's size. */
static void plan_pool_and_relu(dpi_share_plan *plan, size_t k, size_t j)
{
    const dp_stage *relu = dp_program_stage(plan->p, k), *pool = dp_program_stage(plan->p, j);
    plan->value[k].size = pool->size;
    plan->value[k].bits = plan->value[relu->in[0]].bits;
    plan->value[k].shifted = plan->value[relu->in[0]].shifted;
    plan_max(plan, pool, (size_t)relu->in[0], k);
    plan_relu(plan, relu, k, j);
}

static dp_status plan_stage(dpi_share_plan *plan, size_t k, size_t *weights, dp_error *err)
{
    const dp_stage *s = dp_program_stage(plan->p, k);
    size_t in = (size_t)s->in[0];
    switch (s->kind) {
    case DP_STAGE_DENSE:
    case DP_STAGE_CONVOLUTION:
        plan_linear(plan, s, k, weights);
        return DP_OK;
    case DP_STAGE_AVERAGE_POOL:
        return plan_mean(plan, s, k, err);
    case DP_STAGE_RELU:
        if (s->shift > dp_program_stage(plan->p, in)->bits)
            return refuse(k, s, "shifts more bits off than there are", err);
        plan->value[k].pool = pool_before(plan, k);
        if (plan->value[k].pool == 0)
            plan_relu(plan, s, in, k);
        return DP_OK;
    case DP_STAGE_SIGMOID:
    case DP_STAGE_TANH:
        return plan_table(plan, s, k, err);
    case DP_STAGE_MAX_POOL:
        if (plan->value[in].pool == k)
            plan_pool_and_relu(plan, in, k);
        else
            plan_max(plan, s, in, k);
        return DP_OK;
    case DP_STAGE_ADD:
        plan_add(plan, s, k);
        return DP_OK;
    case DP_STAGE_ARGMAX:
        plan_argmax(plan, in, k);
        return DP_OK;
    default:
        return refuse(k, s, "cannot be computed among several parties", err);
    }
}

/* Bits that a stage needs, beside two more. */
static int stage_bits(const dpi_share_plan *plan, const dp_stage *s)
{
    bool table = s->kind == DP_STAGE_SIGMOID || s->kind == DP_STAGE_TANH;
    int inner =
        table ? dpi_table_bits(dp_program_stage(plan->p, (size_t)s->in[0])->bits, s->shift) : 0;
    return inner > s->bits ? inner : s->bits;
}

/* Sizes and bits of all values, and who reads them; and the ring that holds them. */
static void find_values(dpi_share_plan *plan)
{
    size_t n = dp_program_stages(plan->p);
    int most = 0;
    for (size_t k = 0; k < n; k++) {
        const dp_stage *s = dp_program_stage(plan->p, k);
        plan->value[k] = (dpi_plan_value){.size = s->size, .bits = s->bits > 0 ? s->bits : 1};
        most = stage_bits(plan, s) > most ? stage_bits(plan, s) : most;
        for (int i = 0; i < 2; i++)
            if (s->in[i] >= 0)
                plan->value[s->in[i]].readers++;
    }
    plan->ring = most <= NARROW ? DPI_RING_32 : DPI_RING_64;
    /* One unit more in a number that is multiplied can bring what is made of it beyond its
     * bound. */
    for (size_t k = 0; plan->opts.probabilistic && plan->ring == DPI_RING_64 && k < n; k++)
        plan->value[k].bits += plan->value[k].bits < 61;
    plan->answer = n - 1;
}

static dp_status plan_label(dpi_share_plan *plan, dp_error *err)
{
    size_t scores = plan->answer, n = plan->value[scores].size;
    if (dp_program_stage(plan->p, scores)->kind == DP_STAGE_ARGMAX)
        return DP_OK;
    if (dp_program_draws(plan->p) > 1)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a label of several posterior draws is made of their chances, which the "
                        "parties do not compute");
    plan->answer = plan->n_values - 1;
    plan->value[plan->answer] = (dpi_plan_value){.size = 1, .bits = 1};
    for (size_t left = n - 1; left > 1; left /= 2)
        plan->value[plan->answer].bits++;
    if (n > 1)
        plan_argmax(plan, scores, plan->answer);
    else
        plan_above(plan, scores, plan->answer);
    return DP_OK;
}

static dp_status plan_all(dpi_share_plan *plan, dp_error *err)
{
    size_t weights = 0;
    dp_status status = DP_OK;
    for (size_t k = 1; status == DP_OK && k < dp_program_stages(plan->p); k++)
        status = plan_stage(plan, k, &weights, err);
    if (status == DP_OK && plan->opts.label)
        status = plan_label(plan, err);
    if (status == DP_OK)
        dpi_plan_place(plan);
    return status;
}

dp_status dpi_share_plan_new(const dp_program *p, const dpi_share_opts *opts, dpi_share_plan **plan,
                             dp_error *err)
{
    *plan = NULL;
    dpi_share_plan *made = dpi_alloc(1, sizeof *made);
    if (made == NULL)
        return dpi_fail_nomem(err);
    made->p = p;
    made->opts = opts != NULL ? *opts : (dpi_share_opts){0};
    made->opts.batch = made->opts.batch > 0 ? made->opts.batch : 1;
    made->block = made->opts.block > 0 ? made->opts.block : DPI_BLOCK;
    made->n_planes = 1;
    made->n_values = dp_program_stages(p) + 1;
    made->step = dpi_arena_alloc(&made->arena, made->n_values, sizeof *made->step);
    made->value = dpi_arena_alloc(&made->arena, made->n_values, sizeof *made->value);
    dp_status status = DP_OK;
    if (made->step == NULL || made->value == NULL) {
        status = dpi_fail_nomem(err);
    } else {
        find_values(made);
        status = plan_all(made, err);
    }
    if (status != DP_OK) {
        dpi_share_plan_free(made);
        return status;
    }
    *plan = made;
    return DP_OK;
}

void dpi_share_plan_free(dpi_share_plan *plan)
{
    if (plan == NULL)
        return;
    dpi_arena_free(&plan->arena);
    dpi_free(plan);
}

dpi_ring dpi_share_plan_ring(const dpi_share_plan *plan)
{
    return plan->ring;
}

size_t dpi_share_answers(const dpi_share_plan *plan)
{
    return plan->value[plan->answer].size;
}

int dpi_share_answer_bits(const dpi_share_plan *plan)
{
    return plan->value[plan->answer].bits + 1;
}

uint32_t dpi_share_layers(const dpi_share_plan *plan)
{
    return (uint32_t)plan->n_steps;
}
