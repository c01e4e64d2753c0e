/* Optimisers.
 *
 *   sgd       theta += s_t g
 *   momentum  m = b m + g,  theta += s_t m
 *   adam      m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
 *             theta += s_t (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)   (Kingma and Ba 2015)
 *
 * s_t = step_size * schedule(t).  The average is of the iterates of the last steps (Polyak and
 * Juditsky 1992). */
#include "svi/optimizer.h"

#include <float.h>
#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"

static const double adam_epsilon = 1e-8;

dp_status dpi_optimizer_init(dpi_optimizer *o, dpi_arena *arena, size_t n, const dp_svi_opts *opts,
                             dp_error *err)
{
    *o = (dpi_optimizer){.n = n,
                         .steps = opts->steps,
                         .kind = opts->optimizer,
                         .schedule = opts->schedule,
                         .step_size = opts->step_size,
                         .momentum = opts->momentum,
                         .beta2 = opts->beta2};
    /* Rounded: 0.29 * 100 is a little less than 29. */
    o->average_from = opts->steps - (uint64_t)round(opts->average * (double)opts->steps);
    const double betas[2] = {o->momentum, o->beta2};
    for (int i = 0; i < 2; i++)
        o->settled[i] = (uint64_t)ceil(-60 / log2(betas[i]));
    double **blocks[] = {&o->theta, &o->first, &o->second, &o->mean};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        if ((*blocks[i] = dpi_arena_alloc(arena, n, sizeof(double))) == NULL)
            return dpi_fail_nomem(err);
    return DP_OK;
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

/* A part of the parameters and what belongs to them. */
typedef struct piece {
    size_t n;
    const double *gradient;
    double *theta, *first, *second, *mean;
} piece;

/* o->size holds the correction of the mean. */
DPI_LOOPS static void adam(const dpi_optimizer *o, const piece *p)
{
    const double b1 = o->momentum, b2 = o->beta2, rest1 = 1 - b1, rest2 = 1 - b2;
    const double size = o->size, correct = o->correct;
    const double *gradient = p->gradient;
    double *restrict first = p->first, *restrict second = p->second, *restrict theta = p->theta;
    for (size_t i = 0; i < p->n; i++) {
        double g = gradient[i];
        double mean = b1 * first[i] + rest1 * g, square = b2 * second[i] + rest2 * g * g;
        double root = sqrt(square * correct);
        first[i] = mean;
        second[i] = square;
        /* Above 1e154 the square overflows and Adam would stand still for ever, without a word. */
        theta[i] += root <= DBL_MAX ? size * mean / (root + adam_epsilon) : (double)NAN;
    }
}

static void momentum(const dpi_optimizer *o, const piece *p)
{
    double keep = o->kind == DP_MOMENTUM ? o->momentum : 0;
    for (size_t i = 0; i < p->n; i++) {
        p->first[i] = keep * p->first[i] + p->gradient[i];
        p->theta[i] += o->size * p->first[i];
    }
}

static void average(const dpi_optimizer *o, const piece *p)
{
    for (size_t i = 0; i < p->n; i++)
        p->mean[i] += o->weight * (p->theta[i] - p->mean[i]);
}

DPI_LOOPS static bool all_finite(size_t n, const double *x)
{
    uint64_t wrong = 0;
    for (size_t i = 0; i < n; i++)
        wrong |= fabs(x[i]) <= DBL_MAX ? 0 : 1;
    return wrong == 0;
}

/* Of the mean or the square; beside 1, beta^t below 2^-60 is nothing. */
static double correction(const dpi_optimizer *o, int which, double beta)
{
    return o->done < o->settled[which] ? 1 / (1 - pow(beta, (double)o->done + 1)) : 1;
}

void dpi_optimizer_begin(dpi_optimizer *o)
{
    o->size = scheduled(o);
    if (o->kind == DP_ADAM) {
        o->size *= correction(o, 0, o->momentum);
        o->correct = correction(o, 1, o->beta2);
    }
    o->weight = o->done < o->average_from ? 0 : 1 / (double)(o->done + 1 - o->average_from);
}

bool dpi_optimizer_move(const dpi_optimizer *o, size_t first, size_t n, const double *gradient)
{
    const piece p = {.n = n,
                     .gradient = gradient,
                     .theta = o->theta + first,
                     .first = o->first + first,
                     .second = o->second + first,
                     .mean = o->mean + first};
    if (o->kind == DP_ADAM)
        adam(o, &p);
    else
        momentum(o, &p);
    if (o->weight > 0)
        average(o, &p);
    return all_finite(n, p.theta);
}

void dpi_optimizer_end(dpi_optimizer *o)
{
    o->done++;
}

const double *dpi_optimizer_result(const dpi_optimizer *o)
{
    return o->done > o->average_from ? o->mean : o->theta;
}
