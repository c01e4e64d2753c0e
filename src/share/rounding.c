/* How far a probabilistic plan's numbers may be off those of dp_program_run_exact.
 *
 * Stage by stage, the most that any of its numbers is off, E, from those of the stages that it
 * reads.  A linear stage has E' = E max over outputs of sum |w|.  A shift by s that rounds by
 * chance makes of v' the integer below or above v' / 2^s, where the exact one is v / 2^s to the
 * nearest: E' < E / 2^s + 3/2.  Other shifts, of both numbers alike: E' <= E / 2^s rounded up.  A
 * table's slope is 1 at most, and it looks at numbers to the nearest knot.
 *
 * A plan has one bit more than the exact numbers need, so that E <= 2^bits keeps everything within
 * what comparisons see: such a program is right but for what is wrong altogether. */
#include <math.h>

#include "base/alloc.h"
#include "base/error.h"
#include "share/plan.h"

enum { KNOTS = 10 }; /* fraction of a table's knots */

/* Most of sum |w| of an output. */
static double most_weight(const dp_stage *s)
{
    const size_t terms = s->n_weights / s->n_bias;
    double most = 0;
    for (size_t o = 0; o < s->n_bias; o++) {
        double sum = 0;
        for (size_t i = 0; i < terms; i++)
            sum += fabs((double)s->weights[o * terms + i]);
        most = fmax(most, sum);
    }
    return most;
}

/* Of a relu: its shift is done before it, or with it. */
static double of_relu(const dpi_share_plan *plan, const dp_stage *s, double e)
{
    return plan->value[s->in[0]].shifted ? floor(ldexp(e, -s->shift) + 1.5)
                                         : ceil(ldexp(e, -s->shift));
}

static double of_mean(const dpi_share_plan *plan, const dp_stage *s, double e)
{
    const double pixels = (double)(s->window.size[0] * s->window.size[1]);
    const int g = s->fraction - dp_program_stage(plan->p, (size_t)s->in[0])->fraction;
    return e * pixels * nearbyint(ldexp(1, g) / pixels);
}

static double of_table(const dpi_share_plan *plan, const dp_stage *s, double e)
{
    const int from = dp_program_stage(plan->p, (size_t)s->in[0])->fraction;
    return e > 0 ? ceil(ldexp(e, s->fraction - from)) + ldexp(2, s->fraction - KNOTS) + 4 : 0;
}

static double of_stage(const dpi_share_plan *plan, const dp_stage *s, double a, double b)
{
    switch (s->kind) {
    case DP_STAGE_DENSE:
    case DP_STAGE_CONVOLUTION:
        return a > 0 ? a * most_weight(s) : 0;
    case DP_STAGE_RELU:
        return of_relu(plan, s, a);
    case DP_STAGE_AVERAGE_POOL:
        return of_mean(plan, s, a);
    case DP_STAGE_SIGMOID:
    case DP_STAGE_TANH:
        return of_table(plan, s, a);
    case DP_STAGE_ADD:
        return ldexp(a, s->lift[0]) + ldexp(b, s->lift[1]);
    case DP_STAGE_ARGMAX:
        return a > 0 ? (double)(dp_program_stage(plan->p, (size_t)s->in[0])->size - 1) : 0;
    default:
        return a;
    }
}

dp_status dpi_share_rounding(const dpi_share_plan *plan, double *most, dp_error *err)
{
    const size_t n = dp_program_stages(plan->p);
    bool rounds = false;
    *most = NAN;
    double *e = dpi_alloc(n, sizeof *e); /* of zeros */
    if (e == NULL)
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    for (size_t k = 1; status == DP_OK && k < n; k++) {
        const dp_stage *s = dp_program_stage(plan->p, k);
        e[k] = of_stage(plan, s, e[s->in[0]], s->in[1] >= 0 ? e[s->in[1]] : 0);
        rounds = rounds || (s->kind == DP_STAGE_RELU && plan->value[s->in[0]].shifted);
        if (e[k] > ldexp(1, s->bits))
            status = dpi_fail(err, DP_EUNSUPPORTED,
                              "stage %zu (%s) may be off by more than itself where shifts round by "
                              "chance; share it without --probabilistic",
                              k, dp_stage_name(s->kind));
    }
    if (status == DP_OK && !rounds)
        status = dpi_fail(err, DP_EUNSUPPORTED,
                          "no shift of the program can round by chance: it has none, or its "
                          "numbers are of 32 bits; share it without --probabilistic");
    if (status == DP_OK)
        *most = e[n - 1];
    dpi_free(e);
    return status;
}
