#include "tests/share/programs.h"

#include <stdlib.h>

enum { STAGES = 40, WEIGHTS = 1 << 16 };

typedef struct sketch {
    dp_program *p;
    uint64_t *state;
    int last; /* stage */
    size_t shape[STAGES][3];
    double room[WEIGHTS];
} sketch;

static size_t below(sketch *d, size_t n)
{
    return (size_t)(rows_next(d->state) % n);
}

static double real(sketch *d)
{
    return ((double)(rows_next(d->state) >> 11) * 0x1p-53 - 0.5) * 2;
}

static const double *reals(sketch *d, size_t n)
{
    assert_true(n <= WEIGHTS);
    for (size_t i = 0; i < n; i++)
        d->room[i] = below(d, 4) == 0 ? 0 : real(d);
    return d->room;
}

static void note(sketch *d, int stage, size_t rows, size_t columns, size_t channels)
{
    assert_true(stage > d->last && stage < STAGES);
    d->last = stage;
    d->shape[stage][0] = rows;
    d->shape[stage][1] = columns;
    d->shape[stage][2] = channels;
}

static void note_same(sketch *d, int stage)
{
    const size_t *s = d->shape[d->last];
    note(d, stage, s[0], s[1], s[2]);
}

/* A window that fits the last image. */
static dp_window window_of(sketch *d, size_t stops[2])
{
    dp_window w = {.padding = {0}};
    for (int axis = 0; axis < 2; axis++) {
        w.image[axis] = d->shape[d->last][axis];
        w.size[axis] = 1 + below(d, w.image[axis] < 3 ? w.image[axis] : 3);
        w.stride[axis] = 1 + below(d, 2);
        w.padding[axis] = below(d, w.size[axis]);
        stops[axis] = (w.image[axis] + 2 * w.padding[axis] - w.size[axis]) / w.stride[axis] + 1;
    }
    return w;
}

static void add_window(sketch *d, size_t kind)
{
    size_t stops[2], channels = d->shape[d->last][2], out = 1 + below(d, 4);
    dp_window w = window_of(d, stops);
    int stage;
    if (kind == 0) {
        const double *weights = reals(d, out * w.size[0] * w.size[1] * channels + out);
        stage = dp_program_convolution(d->p, d->last, out, &w, weights + out, weights);
    } else {
        out = channels;
        stage = kind == 1 ? dp_program_average_pool(d->p, d->last, &w)
                          : dp_program_max_pool(d->p, d->last, &w);
    }
    note(d, stage, stops[0], stops[1], out);
}

static size_t size_of(const sketch *d, int stage)
{
    return d->shape[stage][0] * d->shape[stage][1] * d->shape[stage][2];
}

/* With an earlier stage of the same length, if there is one; the shape is that of the first. */
static void add_sum(sketch *d)
{
    int with = (int)below(d, (size_t)d->last + 1);
    while (size_of(d, with) != size_of(d, d->last))
        with++;
    const bool last_first = below(d, 2) == 0;
    const size_t *s = d->shape[last_first ? d->last : with];
    note(d, last_first ? dp_program_add(d->p, d->last, with) : dp_program_add(d->p, with, d->last),
         s[0], s[1], s[2]);
}

static void add_dense(sketch *d)
{
    size_t out = 1 + below(d, 12), in = size_of(d, d->last);
    const double *weights = reals(d, out * in + out);
    note(d, dp_program_dense(d->p, d->last, out, weights + out, weights), 1, 1, out);
}

static void add_stage(sketch *d)
{
    size_t kind = below(d, 9);
    if (kind < 3)
        add_window(d, kind);
    else if (kind == 3)
        add_sum(d);
    else if (kind == 4)
        add_dense(d);
    else if (kind == 5) { /* as networks have it */
        note_same(d, dp_program_relu(d->p, d->last));
        add_window(d, 2);
    } else if (kind == 8) {
        note_same(d, below(d, 2) == 0 ? dp_program_sigmoid(d->p, d->last)
                                      : dp_program_tanh(d->p, d->last));
    } else
        note_same(d, dp_program_relu(d->p, d->last));
}

dp_program *programs_draw(uint64_t *state, int most_bits, bool argmax)
{
    sketch *d = calloc(1, sizeof *d);
    assert_non_null(d);
    d->p = dp_program_new();
    d->state = state;
    assert_non_null(d->p);
    d->last = -1;
    size_t rows = 1 + below(d, 7), columns = 1 + below(d, 7), channels = 1 + below(d, 3);
    note(d, dp_program_image(d->p, rows, columns, channels, "x", -1, 1), rows, columns, channels);
    for (size_t n = 1 + below(d, 7); n > 0; n--)
        add_stage(d);
    if (argmax) {
        add_dense(d);
        note(d, dp_program_argmax(d->p, d->last), 1, 1, 1);
    }
    dp_program *p = d->p;
    const dp_scale_opts scales = {.weight_bits = 2 + (int)below(d, 14),
                                  .activation_bits = 2 + (int)below(d, 20),
                                  .most_bits = most_bits};
    free(d);
    if (dp_program_fix(p, &scales, NULL) == DP_OK)
        return p;
    dp_program_free(p);
    return NULL;
}

int64_t *programs_records(const dp_program *p, size_t n, uint64_t *state)
{
    size_t inputs = dp_program_inputs(p);
    double *x = calloc(n * inputs, sizeof *x);
    int64_t *v = calloc(n * inputs, sizeof *v);
    assert_non_null(x);
    assert_non_null(v);
    for (size_t i = 0; i < n * inputs; i++) {
        uint64_t kind = rows_next(state);
        x[i] = kind % 4 == 0 ? 1 : kind % 4 == 1 ? -1 : (double)(int64_t)rows_next(state) * 0x1p-63;
    }
    dp_error err = {DP_OK, ""};
    assert_ok(dp_program_encode(p, n, x, v, &err), err.text);
    free(x);
    return v;
}
