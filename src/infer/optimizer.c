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

#include <gsl/gsl_math.h>
#include <math.h>
#include <string.h>

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

static void adam(dpi_optimizer *o, const double *gradient, double size)
{
    double t = (double)o->done + 1, b1 = o->momentum, b2 = o->beta2;
    double correct1 = 1 / (1 - pow(b1, t)), correct2 = 1 / (1 - pow(b2, t));
    for (size_t i = 0; i < o->n; i++) {
        double g = gradient[i];
        o->first[i] = b1 * o->first[i] + (1 - b1) * g;
        o->second[i] = b2 * o->second[i] + (1 - b2) * g * g;
        double root = sqrt(o->second[i] * correct2);
        /* Above 1e154 the square overflows and Adam would stand still for ever, without a word. */
        o->theta[i] +=
            isfinite(root) ? size * (o->first[i] * correct1) / (root + adam_epsilon) : (double)NAN;
    }
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
