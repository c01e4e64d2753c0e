/* Optimisers.
 *
 *   sgd       theta += s_t g
 *   momentum  m = b m + g,  theta += s_t m
 *   adam      m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
 *             theta += s_t (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)   (Kingma and Ba 2015)
 *
 * s_t = step_size * schedule(t).  The average is of the iterates of the last steps (Polyak and
 * Juditsky 1992). */
#include "infer/optimizer.h"

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

/* size holds the correction of the mean, `correct` is that of the square. */
DPI_LOOPS static void adam_step(size_t n, const double *gradient, const double beta[2], double size,
                                double correct, double *restrict first, double *restrict second,
                                double *restrict theta)
{
    const double b1 = beta[0], b2 = beta[1], rest1 = 1 - b1, rest2 = 1 - b2;
    for (size_t i = 0; i < n; i++) {
        double g = gradient[i];
        double mean = b1 * first[i] + rest1 * g, square = b2 * second[i] + rest2 * g * g;
        double root = sqrt(square * correct);
        first[i] = mean;
        second[i] = square;
        /* Above 1e154 the square overflows and Adam would stand still for ever, without a word. */
        theta[i] += root <= DBL_MAX ? size * mean / (root + adam_epsilon) : (double)NAN;
    }
}

static void adam(dpi_optimizer *o, const double *gradient, double size)
{
    double t = (double)o->done + 1, beta[2] = {o->momentum, o->beta2};
    double correct1 = 1 / (1 - pow(beta[0], t)), correct2 = 1 / (1 - pow(beta[1], t));
    adam_step(o->n, gradient, beta, size * correct1, correct2, o->first, o->second, o->theta);
}

static void momentum(dpi_optimizer *o, const double *gradient, double size)
{
    double keep = o->kind == DP_MOMENTUM ? o->momentum : 0;
    for (size_t i = 0; i < o->n; i++) {
        o->first[i] = keep * o->first[i] + gradient[i];
        o->theta[i] += size * o->first[i];
    }
}

void dpi_optimizer_step(dpi_optimizer *o, const double *gradient)
{
    double size = scheduled(o);
    if (o->kind == DP_ADAM)
        adam(o, gradient, size);
    else
        momentum(o, gradient, size);
    o->done++;
    if (o->done <= o->average_from)
        return;
    double weight = 1 / (double)(o->done - o->average_from);
    for (size_t i = 0; i < o->n; i++)
        o->mean[i] += weight * (o->theta[i] - o->mean[i]);
}

const double *dpi_optimizer_result(const dpi_optimizer *o)
{
    return o->done > o->average_from ? o->mean : o->theta;
}
