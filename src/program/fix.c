/* Scales: from real weights to integers of which it is proven that no stage overflows. */
#include <math.h>
#include <stdlib.h>

#include "program/program.h"

enum { WEIGHT_BITS = 12, ACTIVATION_BITS = 16, MOST_FRACTION = 100, LEAST_BITS = 2 };

/* The options with their defaults; false when they are none. */
static bool fill_options(const dp_scale_opts *opts, dp_scale_opts *full)
{
    *full = opts != NULL ? *opts : (dp_scale_opts){0};
    if (full->weight_bits == 0)
        full->weight_bits = WEIGHT_BITS;
    if (full->activation_bits == 0)
        full->activation_bits = ACTIVATION_BITS;
    if (full->most_bits == 0)
        full->most_bits = DPI_PROGRAM_MOST_BITS;
    return full->weight_bits >= LEAST_BITS && full->weight_bits <= DPI_PROGRAM_WEIGHT_BITS &&
           full->activation_bits >= LEAST_BITS &&
           full->activation_bits <= DPI_PROGRAM_WEIGHT_BITS && full->most_bits >= LEAST_BITS &&
           full->most_bits <= DPI_PROGRAM_MOST_BITS;
}

static dp_status fail_stage(const dp_program *p, size_t k, const char *what, dp_error *err)
{
    char words[DPI_STAGE_WORDS];
    return dpi_fail(err, DP_EDOMAIN, "%s %s", dpi_stage_words(p, k, words), what);
}

/* ---- scales ---- */

/* Integers of real weights: the largest has `bits` bits.  Sets the stage's fraction. */
static bool round_weights(dp_program *p, dp_stage *s, int bits)
{
    double most = 0;
    int32_t *w = dpi_arena_alloc(&p->arena, s->n_weights, sizeof *w);
    int64_t *b = dpi_arena_alloc(&p->arena, s->n_bias, sizeof *b);
    for (size_t i = 0; i < s->n_weights; i++)
        most = fmax(most, fabs(s->real_weights[i]));
    int own = most > 0 ? bits - dpi_exponent(most) : 0;
    if (nearbyint(ldexp(most, own)) >= ldexp(1, bits)) /* a power of two, or rounded to one */
        own--;
    s->fraction = p->stages[s->in[0]].fraction + own;
    for (size_t i = 0; w != NULL && i < s->n_weights; i++)
        w[i] = (int32_t)nearbyint(ldexp(s->real_weights[i], own));
    for (size_t i = 0; b != NULL && i < s->n_bias; i++) {
        double exact = ldexp(s->real_bias[i], s->fraction);
        if (!(fabs(exact) < ldexp(1, DPI_PROGRAM_MOST_BITS)))
            return false;
        b[i] = (int64_t)nearbyint(exact);
    }
    s->weights = w;
    s->weight_bits = bits;
    s->bias = b;
    if (w == NULL || b == NULL)
        (void)dpi_fail_nomem(&p->err);
    return true;
}

/* The weight of each pixel of a mean: 1 where the window has a power of two of them. */
static void average_weight(dp_program *p, dp_stage *s, int bits)
{
    int32_t *w = dpi_arena_alloc(&p->arena, 1, sizeof *w);
    double n = (double)(s->window.size[0] * s->window.size[1]);
    int own = dpi_exponent(n);
    if (ldexp(1, own) != n)
        own += bits - 1;
    s->fraction = p->stages[s->in[0]].fraction + own;
    if (w != NULL)
        w[0] = (int32_t)nearbyint(ldexp(1, own) / n);
    else
        (void)dpi_fail_nomem(&p->err);
    s->weights = w;
    s->weight_bits = w != NULL ? dpi_bits(w[0]) : 0;
    s->n_weights = 1;
}

static void align_operands(const dp_program *p, dp_stage *s)
{
    int a = p->stages[s->in[0]].fraction, b = p->stages[s->in[1]].fraction;
    s->fraction = a > b ? a : b;
    s->lift[0] = s->fraction - a;
    s->lift[1] = s->fraction - b;
}

/* Sets a stage's integers, but for bits; false where a scale is beyond all bounds. */
static bool set_scale(dp_program *p, dp_stage *s, const dp_scale_opts *opts)
{
    const dp_stage *a = &p->stages[s->in[0]];
    switch (s->kind) {
    case DP_STAGE_DENSE:
    case DP_STAGE_CONVOLUTION:
        if (!round_weights(p, s, opts->weight_bits))
            return false;
        break;
    case DP_STAGE_AVERAGE_POOL:
        average_weight(p, s, opts->weight_bits);
        break;
    case DP_STAGE_ADD:
        align_operands(p, s);
        break;
    case DP_STAGE_RELU:
    case DP_STAGE_SQUARE:
        s->shift = a->bits > opts->activation_bits ? a->bits - opts->activation_bits : 0;
        s->fraction = (a->fraction - s->shift) * (s->kind == DP_STAGE_SQUARE ? 2 : 1);
        break;
    case DP_STAGE_SIGMOID:
    case DP_STAGE_TANH:
        s->shift = a->fraction - DPI_KNOT_FRACTION - (s->kind == DP_STAGE_TANH);
        s->fraction = DPI_TABLE_FRACTION;
        break;
    case DP_STAGE_MAX_POOL:
        s->fraction = a->fraction;
        break;
    default:
        s->fraction = 0;
    }
    return abs(s->fraction) <= MOST_FRACTION && s->lift[0] <= DPI_PROGRAM_MOST_BITS &&
           s->lift[1] <= DPI_PROGRAM_MOST_BITS && s->shift <= DPI_PROGRAM_MOST_BITS &&
           s->shift >= -DPI_PROGRAM_WEIGHT_BITS;
}

/* ---- the proof ---- */

static void set_bits(dp_stage *s, const int64_t *low, const int64_t *high)
{
    s->bits = 0;
    for (size_t i = 0; i < s->size; i++) {
        int bits = dpi_bits(low[i]) > dpi_bits(high[i]) ? dpi_bits(low[i]) : dpi_bits(high[i]);
        s->bits = bits > s->bits ? bits : s->bits;
    }
}

static bool fix_input(dp_program *p, const dp_scale_opts *opts)
{
    dp_stage *s = &p->stages[0];
    double most = 0;
    for (size_t i = 0; i < s->size; i++) {
        dp_program_number number = dp_program_number_at(p, i);
        most = fmax(most, fmax(fabs(number.low), fabs(number.high)));
    }
    s->fraction = most > 0 ? opts->activation_bits - dpi_exponent(most) : 0;
    if (abs(s->fraction) > MOST_FRACTION)
        return false;
    for (size_t i = 0; i < s->size; i++) {
        dp_program_number number = dp_program_number_at(p, i);
        p->low[0][i] = (int64_t)nearbyint(ldexp(number.low, s->fraction));
        p->high[0][i] = (int64_t)nearbyint(ldexp(number.high, s->fraction));
    }
    return true;
}

/* Room for the bounds of every stage. */
static bool make_room(dp_program *p)
{
    p->low = dpi_arena_alloc(&p->arena, p->n_stages, sizeof *p->low);
    p->high = dpi_arena_alloc(&p->arena, p->n_stages, sizeof *p->high);
    for (size_t k = 0; p->low != NULL && p->high != NULL && k < p->n_stages; k++) {
        p->low[k] = dpi_arena_alloc(&p->arena, p->stages[k].size, sizeof **p->low);
        p->high[k] = dpi_arena_alloc(&p->arena, p->stages[k].size, sizeof **p->high);
        if (p->low[k] == NULL || p->high[k] == NULL)
            return false;
    }
    return p->low != NULL && p->high != NULL;
}

static dp_status fix_stage(dp_program *p, size_t k, const dp_scale_opts *opts, dp_error *err)
{
    dp_stage *s = &p->stages[k];
    if (k == 0 ? !fix_input(p, opts) : !set_scale(p, s, opts))
        return fail_stage(p, k,
                          "has numbers so large or small that no scale fits; rescale its weights "
                          "or the bounds of the input",
                          err);
    if (p->err.status != DP_OK)
        return dpi_fail(err, p->err.status, "%s", p->err.text);
    bool fits = k == 0 || dpi_program_range(p, k, p->low[k], p->high[k]);
    if (fits)
        set_bits(s, p->low[k], p->high[k]);
    if (fits && s->bits <= opts->most_bits)
        return DP_OK;
    return dpi_fail(err, DP_EDOMAIN,
                    "stage %zu (%s) can need more than %d bits; take fewer weight_bits or "
                    "activation_bits, or narrower bounds of the input",
                    k, dp_stage_name(s->kind), opts->most_bits);
}

dp_status dp_program_fix(dp_program *p, const dp_scale_opts *opts, dp_error *err)
{
    dp_scale_opts full;
    if (p->err.status != DP_OK)
        return dpi_fail(err, p->err.status, "%s", p->err.text);
    if (p->fixed || p->n_stages < 2)
        return dpi_fail(err, DP_ESTATE,
                        p->fixed ? "the program is fixed already"
                                 : "the program has no stage but the input");
    if (!fill_options(opts, &full))
        return dpi_fail(err, DP_EINVAL,
                        "weight_bits and activation_bits are 2 to 30, most_bits is 2 to 62");
    if (dp_program_outputs(p) % p->draws != 0)
        return dpi_fail(err, DP_EINVAL, "%zu outputs are not those of %zu draws",
                        dp_program_outputs(p), p->draws);
    if (!make_room(p))
        return dpi_fail_nomem(err);
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < p->n_stages; k++)
        status = fix_stage(p, k, &full, err);
    p->fixed = status == DP_OK;
    return status;
}
