/* Proven ranges against random programs: of all kinds of stages, with weights and inputs at their
 * ends, no number and no sum on the way leaves what was proven of it.
 *
 * Stages are computed anew from their definitions (doc/design/program.md) in long double, whose 64
 * bits hold every whole number that 63 bits hold, and every larger one nearly.  Where it has fewer,
 * as under memcheck, the test is skipped. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { PROGRAMS = 20000, STEPS = 7, MOST = 2048, STAGES = 24, RECORDS = 6 };

/* ---- random programs ---- */

static size_t below(uint64_t *state, size_t n)
{
    size_t k = (size_t)((next_number(state) + 1) / 2 * (double)n);
    return k < n ? k : n - 1;
}

/* Weights of one order of magnitude, a third of them at its ends, powers of two, or 0. */
static void draw_weights(uint64_t *state, size_t n, double *w)
{
    double most =
        ldexp(1 + (double)below(state, 2) * next_number(state) / 2, (int)below(state, 24) - 12);
    for (size_t i = 0; i < n; i++) {
        size_t kind = below(state, 9);
        w[i] = kind == 0 ? most : kind == 1 ? -most : kind == 2 ? 0 : most * next_number(state);
    }
}

static dp_window draw_window(uint64_t *state, const dp_stage *image)
{
    dp_window w = {.stride = {1 + below(state, 3), 1 + below(state, 3)}};
    for (int axis = 0; axis < 2; axis++) {
        w.size[axis] = 1 + below(state, image->shape[axis] < 3 ? image->shape[axis] : 3);
        w.padding[axis] = below(state, w.size[axis]);
    }
    return w;
}

static int add_linear(dp_program *p, uint64_t *state, int in, bool window)
{
    const dp_stage *a = dp_program_stage(p, (size_t)in);
    double w[4 * MOST], b[4];
    size_t out = 1 + below(state, 4);
    dp_window seen = draw_window(state, a);
    size_t n = window ? seen.size[0] * seen.size[1] * a->shape[2] : a->size;
    draw_weights(state, out * n, w);
    draw_weights(state, out, b);
    const double *bias = below(state, 3) == 0 ? NULL : b;
    return window ? dp_program_convolution(p, in, out, &seen, w, bias)
                  : dp_program_dense(p, in, out, w, bias);
}

/* The sum of the last stage and an earlier one of its size, at least itself. */
static int add_sum(dp_program *p, uint64_t *state, int in)
{
    int other = (int)below(state, (size_t)in + 1);
    if (dp_program_stage(p, (size_t)other)->size != dp_program_stage(p, (size_t)in)->size)
        other = in;
    return dp_program_add(p, other, in);
}

static int add_stage(dp_program *p, uint64_t *state, int in)
{
    const dp_window w = draw_window(state, dp_program_stage(p, (size_t)in));
    switch (below(state, 9)) {
    case 0:
    case 1:
        return add_linear(p, state, in, false);
    case 2:
    case 3:
        return add_linear(p, state, in, true);
    case 4:
        return dp_program_average_pool(p, in, &w);
    case 5:
        return dp_program_max_pool(p, in, &w);
    case 6:
        return dp_program_relu(p, in);
    case 7:
        return below(state, 3) == 0   ? dp_program_sigmoid(p, in)
               : below(state, 2) == 0 ? dp_program_tanh(p, in)
                                      : dp_program_square(p, in);
    default:
        return add_sum(p, state, in);
    }
}

/* NULL where no scale fits: then the message names a stage. */
static dp_program *draw_program(uint64_t *state)
{
    dp_error err = {0};
    const bool widest = below(state, 2) == 0;
    const dp_scale_opts opts = {.weight_bits = widest ? 30 : 2 + (int)below(state, 29),
                                .activation_bits = widest ? 30 : 2 + (int)below(state, 29)};
    double high = ldexp(1 + next_number(state) / 2, (int)below(state, 16) - 8);
    double low = below(state, 3) == 0 ? 0 : -high * (1 + next_number(state));
    dp_program *p = dp_program_new();
    int at = dp_program_image(p, 1 + below(state, 5), 1 + below(state, 5), 1 + below(state, 3), "x",
                              low, high);
    size_t steps = 1 + below(state, STEPS);
    for (size_t k = 0; k < steps; k++)
        at = add_stage(p, state, at);
    if (dp_program_fix(p, &opts, &err) == DP_OK)
        return p;
    assert_int_equal(err.status, DP_EDOMAIN);
    assert_non_null(strstr(err.text, "stage "));
    dp_program_free(p);
    return NULL;
}

/* ---- stages from their definitions ---- */

/* A sum that checks that it never leaves 63 bits. */
static void add_to(long double *sum, long double term)
{
    *sum += term;
    assert_true(fabsl(*sum) < 0x1p63L);
}

static int64_t shifted(long double v, int shift)
{
    return (int64_t)(shift == 0 ? v : floorl((v + ldexpl(1, shift - 1)) / ldexpl(1, shift)));
}

/* Number of the pixel at a stop and a place of the window, or -1 in the padding. */
static long pixel_of(const dp_stage *s, size_t stop, size_t place)
{
    const dp_window *w = &s->window;
    long row = (long)(stop / s->shape[1] * w->stride[0] + place / w->size[1]) - (long)w->padding[0];
    long column =
        (long)(stop % s->shape[1] * w->stride[1] + place % w->size[1]) - (long)w->padding[1];
    bool inside = row >= 0 && row < (long)w->image[0] && column >= 0 && column < (long)w->image[1];
    return inside ? row * (long)w->image[1] + column : -1;
}

static int64_t windowed(const dp_stage *s, const int64_t *a, size_t i)
{
    size_t channel = i % s->shape[2], stop = i / s->shape[2];
    size_t places = s->window.size[0] * s->window.size[1];
    bool most = s->kind == DP_STAGE_MAX_POOL, mean = s->kind == DP_STAGE_AVERAGE_POOL;
    size_t from = most || mean ? s->shape[2] : s->n_weights / s->n_bias / places; /* channels */
    long double sum = most ? -INFINITY : mean ? 0 : (long double)s->bias[channel];
    for (size_t k = 0; k < places; k++) {
        long pixel = pixel_of(s, stop, k);
        const int64_t *x = a + (size_t)pixel * from;
        if (pixel < 0)
            continue;
        if (most)
            sum = fmaxl(sum, (long double)x[channel]);
        else if (mean)
            add_to(&sum, (long double)x[channel]);
        for (size_t c = 0; !most && !mean && c < from; c++)
            add_to(&sum, (long double)s->weights[(channel * places + k) * from + c] * x[c]);
    }
    return (int64_t)(mean ? sum * s->weights[0] : sum);
}

static int64_t dense(const dp_stage *s, const int64_t *a, size_t o)
{
    size_t n = s->n_weights / s->n_bias;
    long double sum = (long double)s->bias[o];
    for (size_t i = 0; i < n; i++)
        add_to(&sum, (long double)s->weights[o * n + i] * a[i]);
    return (int64_t)sum;
}

static int64_t number_of(const dp_stage *s, const int64_t *a, const int64_t *b, size_t i)
{
    long double sum = 0;
    switch (s->kind) {
    case DP_STAGE_DENSE:
        return dense(s, a, i);
    case DP_STAGE_RELU:
        return shifted(a[i] > 0 ? (long double)a[i] : 0, s->shift);
    case DP_STAGE_SQUARE:
        return shifted((long double)a[i], s->shift) * shifted((long double)a[i], s->shift);
    case DP_STAGE_SIGMOID:
        return dpi_sigmoid_table(dpi_to_knots(a[i], s->shift));
    case DP_STAGE_TANH:
        return 2 * dpi_sigmoid_table(dpi_to_knots(a[i], s->shift)) - (1 << DPI_TABLE_FRACTION);
    case DP_STAGE_ADD:
        add_to(&sum, ldexpl((long double)a[i], s->lift[0]));
        add_to(&sum, ldexpl((long double)b[i], s->lift[1]));
        return (int64_t)sum;
    default:
        return windowed(s, a, i);
    }
}

/* ---- records ---- */

/* All low, all high, each at one of its ends, and anywhere between. */
static void draw_record(const dp_program *p, uint64_t *state, int record, int64_t *v)
{
    for (size_t i = 0; i < dp_program_inputs(p); i++) {
        int64_t low = p->low[0][i], high = p->high[0][i];
        bool up = record == 1 || (record > 1 && next_number(state) > 0);
        v[i] = up ? high : low;
        if (record == RECORDS - 1)
            v[i] = low + (int64_t)((next_number(state) + 1) / 2 * (double)(high - low));
    }
}

/* The most bits of a number; all are what they should be. */
static int check_record(const dp_program *p, uint64_t *state, int record)
{
    static int64_t value[STAGES][MOST];
    int most = 0;
    draw_record(p, state, record, value[0]);
    for (size_t k = 1; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        const int64_t *a = value[s->in[0]], *b = s->in[1] < 0 ? NULL : value[s->in[1]];
        dp_stage_run_exact(p, k, a, b, value[k]);
        for (size_t i = 0; i < s->size; i++) {
            int64_t v = value[k][i];
            assert_int_equal(v, number_of(s, a, b, i));
            assert_true(v >= p->low[k][i] && v <= p->high[k][i]);
            assert_true(dpi_bits(v) <= s->bits && s->bits <= DPI_PROGRAM_MOST_BITS);
            most = dpi_bits(v) > most ? dpi_bits(v) : most;
        }
    }
    return most;
}

static bool is_wide_enough(void)
{
    volatile long double odd = 0x1p63L;
    odd += 1;
    return odd != 0x1p63L;
}

static void no_number_leaves_its_range(void **state)
{
    (void)state;
    if (!is_wide_enough())
        skip();
    uint64_t numbers = 23;
    int fixed = 0, refused = 0, wide = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        int most = 0;
        dp_program *p = draw_program(&numbers);
        fixed += p != NULL;
        refused += p == NULL;
        for (int record = 0; p != NULL && record < RECORDS; record++) {
            int bits = check_record(p, &numbers, record);
            most = bits > most ? bits : most;
        }
        wide += most >= 60;
        dp_program_free(p);
    }
    print_message("%d fixed, %d refused, %d near 62 bits\n", fixed, refused, wide);
    /* Both sides of the edge are visited, and the edge itself. */
    assert_true(fixed > PROGRAMS / 2 && refused > PROGRAMS / 20 && wide > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_number_leaves_its_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
