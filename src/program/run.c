/* The two executors in the clear: reals, and the integers that every protocol must arrive at. */
#include <math.h>
#include <string.h>

#include "program/program.h"

#define NUMBER double
#define NAME(f) real_##f
#define WEIGHTS real_weights
#define BIAS real_bias
#include "program/run-stage.h"
#undef NUMBER
#undef NAME
#undef WEIGHTS
#undef BIAS

#define NUMBER int64_t
#define NAME(f) exact_##f
#define WEIGHTS weights
#define BIAS bias
#include "program/run-stage.h"
#undef NUMBER
#undef NAME
#undef WEIGHTS
#undef BIAS

/* ---- one stage ---- */

static double window_size(const dp_stage *s)
{
    return (double)(s->window.size[0] * s->window.size[1]);
}

static void run_real(const dp_stage *s, size_t n_in, const double *a, const double *b, double *y)
{
    switch (s->kind) {
    case DP_STAGE_DENSE:
        real_dense(s, a, y);
        break;
    case DP_STAGE_CONVOLUTION:
        real_convolution(s, a, y);
        break;
    case DP_STAGE_AVERAGE_POOL:
        real_sum_pool(s, 1 / window_size(s), a, y);
        break;
    case DP_STAGE_MAX_POOL:
        real_max_pool(s, a, y);
        break;
    case DP_STAGE_ARGMAX:
        y[0] = real_largest(n_in, a);
        break;
    default:
        for (size_t i = 0; i < s->size; i++)
            y[i] = s->kind == DP_STAGE_RELU      ? fmax(a[i], 0)
                   : s->kind == DP_STAGE_SIGMOID ? 1 / (1 + exp(-a[i]))
                   : s->kind == DP_STAGE_TANH    ? tanh(a[i])
                   : s->kind == DP_STAGE_SQUARE  ? a[i] * a[i]
                                                 : a[i] + b[i];
    }
}

int64_t dpi_to_knots(int64_t x, int shift)
{
    const int64_t most = (int64_t)1 << 20;
    x = shift >= 0 ? dpi_round_shift(x, shift) : x;
    x = x > most ? most : x < -most ? -most : x;
    if (shift < 0)
        x *= (int64_t)1 << -shift;
    return x > most ? most : x < -most ? -most : x;
}

enum { PIECES = 64, KNOT = 256 /* distance of two knots: 1/4 */, REACH = PIECES / 2 * KNOT };

/* s(-8), s(-7.75), ..., s(8) times 2^14, rounded. */
static const int16_t sigmoid_at[PIECES + 1] = {
#include "program/sigmoid-table.h"
};

int64_t dpi_sigmoid_table(int64_t x)
{
    if (x < -REACH)
        return sigmoid_at[0];
    if (x >= REACH)
        return sigmoid_at[PIECES];
    int64_t up = x + REACH, k = up / KNOT, within = up % KNOT;
    return sigmoid_at[k] + dpi_round_shift((sigmoid_at[k + 1] - sigmoid_at[k]) * within, 8);
}

static int64_t exact_element(const dp_stage *s, int64_t a, int64_t b)
{
    switch (s->kind) {
    case DP_STAGE_RELU:
        return dpi_round_shift(a > 0 ? a : 0, s->shift);
    case DP_STAGE_SQUARE:
        return dpi_round_shift(a, s->shift) * dpi_round_shift(a, s->shift);
    case DP_STAGE_SIGMOID:
        return dpi_sigmoid_table(dpi_to_knots(a, s->shift));
    case DP_STAGE_TANH: /* 2 s(2x) - 1; the shift is one less than the sigmoid's */
        return 2 * dpi_sigmoid_table(dpi_to_knots(a, s->shift)) - (1 << DPI_TABLE_FRACTION);
    default:
        return a * ((int64_t)1 << s->lift[0]) + b * ((int64_t)1 << s->lift[1]);
    }
}

void dpi_stage_run(const dp_program *p, size_t k, const int64_t *a, const int64_t *b, int64_t *y)
{
    const dp_stage *s = &p->stages[k];
    switch (s->kind) {
    case DP_STAGE_DENSE:
        exact_dense(s, a, y);
        break;
    case DP_STAGE_CONVOLUTION:
        exact_convolution(s, a, y);
        break;
    case DP_STAGE_AVERAGE_POOL:
        exact_sum_pool(s, s->weights[0], a, y);
        break;
    case DP_STAGE_MAX_POOL:
        exact_max_pool(s, a, y);
        break;
    case DP_STAGE_ARGMAX:
        y[0] = exact_largest(p->stages[s->in[0]].size, a);
        break;
    default:
        for (size_t i = 0; i < s->size; i++)
            y[i] = exact_element(s, a[i], b != NULL ? b[i] : 0);
    }
}

int64_t dp_stage_element(const dp_program *p, size_t k, int64_t v)
{
    const dp_stage *s = dp_program_stage(p, k);
    if (!p->fixed || (s->kind != DP_STAGE_RELU && s->kind != DP_STAGE_SIGMOID &&
                      s->kind != DP_STAGE_TANH && s->kind != DP_STAGE_SQUARE))
        dpi_misuse("dp_stage_element", "the stage is no function of single numbers");
    return exact_element(s, v, 0);
}

void dp_stage_run_exact(const dp_program *p, size_t k, const int64_t *a, const int64_t *b,
                        int64_t *y)
{
    const dp_stage *s = dp_program_stage(p, k);
    bool weighted = s->n_bias > 0 || s->kind == DP_STAGE_AVERAGE_POOL;
    if (!p->fixed || s->kind == DP_STAGE_INPUT || (weighted && s->weights == NULL))
        dpi_misuse("dp_stage_run_exact", "the stage has no integers to run with");
    dpi_stage_run(p, k, a, b, y);
}

/* ---- programs ---- */

/* Where in one block the values of each stage begin; *n numbers in all.  NULL: no memory. */
static size_t *lay_out(const dp_program *p, size_t *n)
{
    size_t *at = dpi_alloc(p->n_stages, sizeof *at);
    *n = 0;
    for (size_t k = 0; at != NULL && k < p->n_stages; k++) {
        at[k] = *n;
        *n += p->stages[k].size;
    }
    return at;
}

static dp_status check_runs(const dp_program *p, dp_error *err)
{
    if (p->fixed && !p->sheet)
        return DP_OK;
    return dpi_fail(err, DP_ESTATE,
                    p->sheet ? "the sheet of a program has no weights; ask its provider"
                             : "fix the program first, by dp_program_fix");
}

dp_status dp_program_run(const dp_program *p, size_t n, const double *x, double *y, dp_error *err)
{
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p), room = 0;
    for (size_t i = 0; i < n * outputs; i++)
        y[i] = NAN;
    dp_status status = check_runs(p, err);
    if (status != DP_OK)
        return status;
    size_t *at = lay_out(p, &room);
    double *value = at != NULL ? dpi_alloc(room, sizeof *value) : NULL;
    if (value == NULL)
        status = dpi_fail_nomem(err);
    for (size_t r = 0; status == DP_OK && r < n; r++) {
        memcpy(value, x + r * inputs, inputs * sizeof *value);
        for (size_t k = 1; k < p->n_stages; k++) {
            const dp_stage *s = &p->stages[k];
            run_real(s, p->stages[s->in[0]].size, value + at[s->in[0]],
                     s->in[1] >= 0 ? value + at[s->in[1]] : NULL, value + at[k]);
        }
        memcpy(y + r * outputs, value + room - outputs, outputs * sizeof *y);
    }
    dpi_free(value);
    dpi_free(at);
    return status;
}

static dp_status check_input(const dp_program *p, const int64_t *v, dp_error *err)
{
    for (size_t i = 0; i < p->stages[0].size; i++) {
        if (v[i] < p->low[0][i] || v[i] > p->high[0][i])
            return dpi_fail(err, DP_EDOMAIN,
                            "number %zu of the input is outside the bounds that the program "
                            "declares; make the integers by dp_program_encode",
                            i);
    }
    return DP_OK;
}

dp_status dp_program_run_exact(const dp_program *p, size_t n, const int64_t *x, int64_t *y,
                               dp_error *err)
{
    size_t inputs = dp_program_inputs(p), outputs = dp_program_outputs(p), room = 0;
    memset(y, 0, n * outputs * sizeof *y);
    dp_status status = check_runs(p, err);
    for (size_t r = 0; status == DP_OK && r < n; r++)
        status = check_input(p, x + r * inputs, err);
    if (status != DP_OK)
        return status;
    size_t *at = lay_out(p, &room);
    int64_t *value = at != NULL ? dpi_alloc(room, sizeof *value) : NULL;
    if (value == NULL)
        status = dpi_fail_nomem(err);
    for (size_t r = 0; status == DP_OK && r < n; r++) {
        memcpy(value, x + r * inputs, inputs * sizeof *value);
        for (size_t k = 1; k < p->n_stages; k++) {
            const dp_stage *s = &p->stages[k];
            dpi_stage_run(p, k, value + at[s->in[0]], s->in[1] >= 0 ? value + at[s->in[1]] : NULL,
                          value + at[k]);
        }
        memcpy(y + r * outputs, value + room - outputs, outputs * sizeof *y);
    }
    dpi_free(value);
    dpi_free(at);
    return status;
}

/* What numbers of the input are multiplied by, and what they then stay below: powers of two, so
 * that both products and bounds are exact. */
typedef struct encoding {
    double scale, below;
} encoding;

/* Of a sheet from somebody else the bounds need not fit the bits. */
static bool encode(encoding e, const dp_program_number *bounds, double x, int64_t *v)
{
    const double scaled = nearbyint(x * e.scale);
    if (!(fabs(scaled) < e.below && x >= bounds->low && x <= bounds->high))
        return false;
    *v = (int64_t)scaled;
    return true;
}

dp_status dp_program_encode(const dp_program *p, size_t n, const double *x, int64_t *v,
                            dp_error *err)
{
    size_t inputs = dp_program_inputs(p);
    memset(v, 0, n * inputs * sizeof *v);
    if (!p->fixed)
        return dpi_fail(err, DP_ESTATE, "fix the program first, by dp_program_fix");
    const encoding e = {ldexp(1, p->stages[0].fraction), ldexp(1, p->stages[0].bits)};
    for (size_t i = 0, k = 0; i < n * inputs; i++, k = k + 1 < inputs ? k + 1 : 0) {
        if (encode(e, p->numbers != NULL ? &p->numbers[k] : &p->common, x[i], &v[i]))
            continue;
        const dp_program_number number = dp_program_number_at(p, k);
        memset(v, 0, n * inputs * sizeof *v);
        return dpi_fail(err, DP_EDOMAIN,
                        "number %zu of column '%s' is not within %g ... %g, for which the program "
                        "was made",
                        number.factor[0].element, number.factor[0].column, number.low, number.high);
    }
    return DP_OK;
}
