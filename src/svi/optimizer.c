/* Optimisers.
 *
 *   sgd       theta += s_t g
 *   momentum  m = b m + g,  theta += s_t m
 *   adam      m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
 *             theta += s_t (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)   (Kingma and Ba 2015)
 *   adagrad   v = v + g^2,  theta += s_t g / (sqrt(v) + 1e-8)   (Duchi, Hazan and Singer 2011)
 *
 * s_t = step_size * schedule(t).  The average is of the iterates of the last steps (Polyak and
 * Juditsky 1992).  A kind is a row of `rules`; what it remembers has names, by which checkpoints
 * and groups go. */
#include "svi/optimizer.h"

#include <float.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"

/* ---- kinds ---- */

/* Of the mean or the square; beside 1, beta^t below 2^-60 is nothing. */
static double correction(const dpi_optimizer *o, int which, double beta)
{
    const uint64_t moved = o->done - o->emptied;
    return moved < o->settled[which] ? 1 / (1 - pow(beta, (double)moved + 1)) : 1;
}

static void adam_begin(dpi_optimizer *o)
{
    o->size *= correction(o, 0, o->momentum);
    o->correct = correction(o, 1, o->beta2);
}

/* Of doubles, and where records are floats of these, whose roots and quotients cost less. */
#define MOVE_NUMBER double
#define MOVE_STATE state
#define MOVE_MOST DBL_MAX
#define MOVE_ROOT sqrt
#define MOVE_NAME(x) x
#include "svi/moves.h"
#define MOVE_NUMBER float
#define MOVE_STATE state_single
#define MOVE_MOST FLT_MAX
#define MOVE_ROOT sqrtf
#define MOVE_NAME(x) x##_single
#include "svi/moves.h"

static void sgd(const dpi_optimizer *o, const dpi_slice *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->theta[i] += o->size * p->gradient[i];
}

/* clang-format off */
static const dpi_rule rules[] = {
    {.optimizer = DP_ADAM, .sizes_itself = true,
     .state = {"mean of gradients", "mean of squares"}, .squares = {false, true},
     .begin = adam_begin, .move = adam, .move_single = adam_single},
    {.optimizer = DP_MOMENTUM,
     .state = {"momentum"}, .move = momentum, .move_single = momentum_single},
    {.optimizer = DP_SGD,
     .move = sgd, .move_single = sgd},
    {.optimizer = DP_ADAGRAD,
     .state = {"sum of squares"}, .squares = {true},
     .move = adagrad, .move_single = adagrad_single},
};
/* clang-format on */

const dpi_rule *dpi_rule_of(dp_optimizer optimizer)
{
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (rules[k].optimizer == optimizer)
            return &rules[k];
    return NULL;
}

/* ---- what it remembers ---- */

static size_t n_states(const dpi_rule *kind)
{
    size_t n = 0;
    while (n < DPI_OPTIMIZER_STATES && kind->state[n] != NULL)
        n++;
    return n;
}

size_t dpi_optimizer_names(dp_optimizer optimizer, const char *name[DPI_OPTIMIZER_VECTORS])
{
    const dpi_rule *kind = dpi_rule_of(optimizer);
    if (kind == NULL)
        return 0;
    size_t n = n_states(kind);
    name[0] = "parameters";
    name[1] = "average";
    for (size_t k = 0; k < n; k++)
        name[2 + k] = kind->state[k];
    return 2 + n;
}

/* What the kind remembers, number k. */
static dpi_state remembered(const dpi_optimizer *o, size_t k)
{
    return (dpi_state){o->kind->state[k], o->state[k], o->state_single[k]};
}

size_t dpi_optimizer_vectors(const dpi_optimizer *o, dpi_state list[DPI_OPTIMIZER_VECTORS])
{
    const char *name[DPI_OPTIMIZER_VECTORS];
    size_t n = dpi_optimizer_names(o->kind->optimizer, name);
    list[0] = (dpi_state){.name = name[0], .at = o->theta};
    list[1] = (dpi_state){.name = name[1], .at = o->mean};
    for (size_t k = 0; k + 2 < n; k++)
        list[k + 2] = remembered(o, k);
    return n;
}

double dpi_state_get(const dpi_state *s, size_t i)
{
    return s->at_single != NULL ? (double)s->at_single[i] : s->at[i];
}

void dpi_state_set(const dpi_state *s, size_t i, double x)
{
    if (s->at_single != NULL)
        s->at_single[i] = (float)x;
    else
        s->at[i] = x;
}

size_t dpi_state_bytes(const dpi_state *s)
{
    return s->at_single != NULL ? sizeof *s->at_single : sizeof *s->at;
}

/* ---- steps ---- */

dp_status dpi_optimizer_init(dpi_optimizer *o, dpi_arena *arena, size_t n, const dp_svi_opts *opts,
                             dp_error *err)
{
    *o = (dpi_optimizer){.n = n,
                         .steps = opts->steps,
                         .single = opts->precision == DP_SINGLE,
                         .kind = dpi_rule_of(opts->optimizer),
                         .schedule = opts->schedule,
                         .step_size = opts->step_size,
                         .momentum = opts->momentum,
                         .beta2 = opts->beta2};
    /* Rounded: 0.29 * 100 is a little less than 29. */
    o->average_from = opts->steps - (uint64_t)round(opts->average * (double)opts->steps);
    const double betas[2] = {o->momentum, o->beta2};
    for (int i = 0; i < 2; i++)
        o->settled[i] = (uint64_t)ceil(-60 / log2(betas[i]));
    o->theta = dpi_arena_alloc(arena, n, sizeof *o->theta);
    o->mean = dpi_arena_alloc(arena, n, sizeof *o->mean);
    bool all = o->theta != NULL && o->mean != NULL;
    for (size_t k = 0; all && k < n_states(o->kind); k++)
        if (o->single)
            all = (o->state_single[k] = dpi_arena_alloc(arena, n, sizeof(float))) != NULL;
        else
            all = (o->state[k] = dpi_arena_alloc(arena, n, sizeof(double))) != NULL;
    return all ? DP_OK : dpi_fail_nomem(err);
}

static double scheduled(const dpi_optimizer *o)
{
    double share = (double)o->done / (double)o->steps; /* 0 at the first step */
    switch (o->schedule) {
    case DP_CONSTANT:
        return o->step_size;
    case DP_COSINE_DECAY:
        return o->step_size * 0.5 * (1 + cos(M_PI * share));
    case DP_LINEAR_DECAY:
    default:
        return o->step_size * (1 - share);
    }
}

static void average(const dpi_optimizer *o, size_t n, const double *theta, double *mean)
{
    for (size_t i = 0; i < n; i++)
        mean[i] += o->weight * (theta[i] - mean[i]);
}

DPI_LOOPS static bool all_finite(size_t n, const double *x)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong |= fabs(x[i]) <= DBL_MAX ? 0 : 1;
    return wrong == 0;
}

void dpi_optimizer_begin(dpi_optimizer *o)
{
    o->size = scheduled(o);
    if (o->kind->begin != NULL)
        o->kind->begin(o);
    o->weight =
        o->apart || o->done < o->average_from ? 0 : 1 / (double)(o->done + 1 - o->average_from);
}

bool dpi_optimizer_move(const dpi_optimizer *o, size_t first, size_t n, const double *gradient)
{
    dpi_slice p = {.n = n, .gradient = gradient, .theta = o->theta + first};
    for (size_t k = 0; k < n_states(o->kind); k++)
        if (o->single)
            p.state_single[k] = o->state_single[k] + first;
        else
            p.state[k] = o->state[k] + first;
    (o->single ? o->kind->move_single : o->kind->move)(o, &p);
    if (o->weight > 0)
        average(o, n, p.theta, o->mean + first);
    return all_finite(n, p.theta);
}

void dpi_optimizer_end(dpi_optimizer *o)
{
    o->done++;
}

void dpi_optimizer_forget(dpi_optimizer *o)
{
    for (size_t k = 0; k < n_states(o->kind); k++) {
        const dpi_state s = remembered(o, k);
        memset(o->single ? (void *)s.at_single : s.at, 0, o->n * dpi_state_bytes(&s));
    }
    o->emptied = o->done;
}

size_t dpi_optimizer_numbers(const dpi_optimizer *o)
{
    return (1 + n_states(o->kind)) * o->n;
}

void dpi_optimizer_tell(const dpi_optimizer *o, double *numbers)
{
    memcpy(numbers, o->theta, o->n * sizeof *numbers);
    for (size_t k = 0; k < n_states(o->kind); k++) {
        const dpi_state s = remembered(o, k);
        for (size_t i = 0; i < o->n; i++) {
            const double x = dpi_state_get(&s, i);
            numbers[(k + 1) * o->n + i] = o->kind->squares[k] ? sqrt(x) : x;
        }
    }
}

void dpi_optimizer_join(dpi_optimizer *o, uint64_t steps, const double *numbers)
{
    memcpy(o->theta, numbers, o->n * sizeof *numbers);
    for (size_t k = 0; k < n_states(o->kind); k++) {
        const dpi_state s = remembered(o, k);
        for (size_t i = 0; i < o->n; i++) {
            const double x = numbers[(k + 1) * o->n + i];
            dpi_state_set(&s, i, o->kind->squares[k] ? x * x : x);
        }
    }
    dpi_optimizer_average(o, steps, o->theta);
}

void dpi_optimizer_average(dpi_optimizer *o, uint64_t steps, const double *theta)
{
    const double averaged = o->done > o->average_from ? (double)(o->done - o->average_from) : 0;
    o->weight = averaged > 0 ? fmin((double)steps / averaged, 1) : 0;
    if (o->weight > 0)
        average(o, o->n, theta, o->mean);
}

const double *dpi_optimizer_result(const dpi_optimizer *o)
{
    return o->done > o->average_from ? o->mean : o->theta;
}
