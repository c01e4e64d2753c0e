/* Building: shapes are checked as stages are added, and the first error sticks. */
#include <math.h>
#include <string.h>

#include "program/program.h"

static bool ready(dp_program *p)
{
    if (p->err.status == DP_OK && p->fixed)
        (void)dpi_fail(&p->err, DP_ESTATE, "the program is fixed; its stages change no more");
    return p->err.status == DP_OK;
}

static int fail(dp_program *p, const char *kind, const char *what)
{
    (void)dpi_fail(&p->err, DP_ESHAPE, "stage %zu (%s): %s", p->n_stages, kind, what);
    return -1;
}

/* How many stages a kind reads. */
static int operands(dp_stage_kind kind)
{
    return kind == DP_STAGE_INPUT ? 0 : kind == DP_STAGE_ADD ? 2 : 1;
}

static const char *check_operands(const dp_program *p, const dp_stage *s)
{
    for (int i = 0; i < 2; i++) {
        bool there = i < operands(s->kind);
        if (there && (s->in[i] < 0 || (size_t)s->in[i] >= p->n_stages))
            return "it reads a stage that there is not; give the number of an earlier one";
        if (!there && s->in[i] != -1)
            return "it reads more stages than it takes";
        if (there && p->stages[s->in[i]].kind == DP_STAGE_ARGMAX)
            return "nothing is computed from an argmax; let it be the last stage";
    }
    if ((s->kind == DP_STAGE_INPUT) != (p->n_stages == 0))
        return "the first stage, and no other, is the input";
    return NULL;
}

/* ---- shapes ---- */

static size_t stops(const dp_window *w, int axis)
{
    return (w->image[axis] + 2 * w->padding[axis] - w->size[axis]) / w->stride[axis] + 1;
}

size_t dp_window_pixel(const dp_window *w, size_t stop, size_t k)
{
    size_t across = stops(w, 1);
    size_t row = stop / across * w->stride[0] + k / w->size[1];
    size_t column = stop % across * w->stride[1] + k % w->size[1];
    if (row < w->padding[0] || row - w->padding[0] >= w->image[0] || column < w->padding[1] ||
        column - w->padding[1] >= w->image[1])
        return SIZE_MAX;
    return (row - w->padding[0]) * w->image[1] + column - w->padding[1];
}

/* The window over the image of a stage. */
static const char *place_window(const dp_stage *image, dp_window *w)
{
    for (int axis = 0; axis < 2; axis++) {
        w->image[axis] = image->shape[axis];
        if (w->stride[axis] == 0)
            w->stride[axis] = 1;
        if (w->size[axis] == 0 || w->padding[axis] >= w->size[axis] ||
            w->size[axis] > DPI_WINDOW_SIDE || w->stride[axis] > DPI_PROGRAM_SIZE)
            return "a window has 1 to 4096 pixels along a side, and less padding than these";
        if (w->size[axis] > w->image[axis] + 2 * w->padding[axis])
            return "the window is larger than the image with its padding";
    }
    return NULL;
}

static bool windowed(dp_stage_kind kind)
{
    return kind == DP_STAGE_CONVOLUTION || kind == DP_STAGE_AVERAGE_POOL ||
           kind == DP_STAGE_MAX_POOL;
}

static void take_shape(dp_stage *s, size_t rows, size_t columns, size_t channels)
{
    s->shape[0] = rows;
    s->shape[1] = columns;
    s->shape[2] = channels;
}

/* Sets shape and numbers of weights from what the stage reads. */
static const char *find_shape(const dp_program *p, dp_stage *s)
{
    const dp_stage *a = s->in[0] >= 0 ? &p->stages[s->in[0]] : NULL;
    if (windowed(s->kind)) {
        const char *misfit = place_window(a, &s->window);
        if (misfit != NULL)
            return misfit;
        take_shape(s, stops(&s->window, 0), stops(&s->window, 1),
                   s->kind == DP_STAGE_CONVOLUTION ? s->n_bias : a->shape[2]);
        if (s->kind == DP_STAGE_CONVOLUTION)
            s->n_weights = s->window.size[0] * s->window.size[1] * a->shape[2];
    } else if (s->kind == DP_STAGE_DENSE) {
        take_shape(s, 1, 1, s->n_bias);
        s->n_weights = a->size;
    } else if (s->kind == DP_STAGE_ARGMAX) {
        take_shape(s, 1, 1, 1);
    } else if (s->kind != DP_STAGE_INPUT) {
        memcpy(s->shape, a->shape, sizeof s->shape);
    }
    if (s->kind == DP_STAGE_ADD && p->stages[s->in[1]].size != a->size)
        return "it adds arrays of different lengths";
    return NULL;
}

/* Also how often a window looks at a number is bounded: it is what the stage costs. */
static const char *check_size(const dp_program *p, dp_stage *s)
{
    size_t all, seen = s->window.size[0] * s->window.size[1];
    bool fits = dpi_mul(s->shape[0], s->shape[1], &s->size) &&
                dpi_mul(s->size, s->shape[2], &s->size) && s->size <= DPI_PROGRAM_SIZE;
    if (!fits || s->size == 0)
        return "it has no numbers, or more than 2^24";
    if (!dpi_mul(s->size, seen, &seen) || seen > DPI_PROGRAM_WEIGHTS)
        return "its window looks at more than 2^28 numbers";
    if (!dpi_mul(s->n_weights, s->n_bias, &all) || all > DPI_PROGRAM_WEIGHTS - p->n_weights)
        return "the program has more than 2^28 weights";
    s->n_weights = all;
    return NULL;
}

/* ---- adding ---- */

static const char *copy_reals(dp_program *p, size_t n, const double *from, const double **to)
{
    double *copy = dpi_arena_alloc(&p->arena, n, sizeof *copy);
    for (size_t i = 0; copy != NULL && from != NULL && i < n; i++) {
        copy[i] = from[i];
        if (!isfinite(from[i]))
            return "a weight is not finite";
    }
    *to = copy;
    if (copy == NULL)
        (void)dpi_fail_nomem(&p->err);
    return NULL;
}

int dpi_program_add(dp_program *p, const dp_stage *draft, const double *weights, const double *bias)
{
    const char *kind = dp_stage_name(draft->kind);
    if (!ready(p))
        return -1;
    if (p->n_stages >= DPI_PROGRAM_STAGES)
        return fail(p, kind, "a program has at most 1000 stages");
    dp_stage s = *draft;
    const char *misfit = check_operands(p, &s);
    if (misfit == NULL)
        misfit = find_shape(p, &s);
    if (misfit == NULL)
        misfit = check_size(p, &s);
    if (misfit == NULL && s.n_bias > 0 && !p->sheet)
        misfit = copy_reals(p, s.n_weights, weights, &s.real_weights);
    if (misfit == NULL && s.n_bias > 0 && !p->sheet)
        misfit = copy_reals(p, s.n_bias, bias, &s.real_bias);
    if (misfit != NULL)
        return fail(p, kind, misfit);
    if (p->err.status != DP_OK || !dpi_arena_grow(&p->arena, (void **)&p->stages, &p->room,
                                                  p->n_stages + 1, sizeof *p->stages)) {
        (void)dpi_fail_nomem(&p->err);
        return -1;
    }
    p->n_weights += s.n_weights;
    p->stages[p->n_stages] = s;
    return (int)p->n_stages++;
}

static int add(dp_program *p, dp_stage_kind kind, int a, int b)
{
    const dp_stage draft = {.kind = kind, .in = {a, b}};
    return dpi_program_add(p, &draft, NULL, NULL);
}

int dp_program_image(dp_program *p, size_t rows, size_t columns, size_t channels, const char *name,
                     double low, double high)
{
    dp_stage draft = {.kind = DP_STAGE_INPUT, .in = {-1, -1}};
    const dp_program_number number = {
        .low = low, .high = high, .n_factors = 1, .factor = {{.column = name, .level = -1}}};
    take_shape(&draft, rows, columns, channels);
    int k = dpi_program_add(p, &draft, NULL, NULL);
    if (k == 0 && dpi_number_good(p, &number))
        dpi_number_copy(p, &number, &p->common);
    return p->err.status == DP_OK ? k : -1;
}

int dp_program_input(dp_program *p, size_t n, const char *name, double low, double high)
{
    return dp_program_image(p, 1, 1, n, name, low, high);
}

int dp_program_dense(dp_program *p, int in, size_t n_out, const double *weights, const double *bias)
{
    const dp_stage draft = {.kind = DP_STAGE_DENSE, .in = {in, -1}, .n_bias = n_out};
    return dpi_program_add(p, &draft, weights, bias);
}

int dp_program_convolution(dp_program *p, int in, size_t n_out, const dp_window *window,
                           const double *weights, const double *bias)
{
    const dp_stage draft = {
        .kind = DP_STAGE_CONVOLUTION, .in = {in, -1}, .n_bias = n_out, .window = *window};
    return dpi_program_add(p, &draft, weights, bias);
}

static int pool(dp_program *p, dp_stage_kind kind, int in, const dp_window *window)
{
    const dp_stage draft = {.kind = kind, .in = {in, -1}, .window = *window};
    return dpi_program_add(p, &draft, NULL, NULL);
}

int dp_program_average_pool(dp_program *p, int in, const dp_window *window)
{
    return pool(p, DP_STAGE_AVERAGE_POOL, in, window);
}

int dp_program_max_pool(dp_program *p, int in, const dp_window *window)
{
    return pool(p, DP_STAGE_MAX_POOL, in, window);
}

int dp_program_relu(dp_program *p, int in)
{
    return add(p, DP_STAGE_RELU, in, -1);
}

int dp_program_sigmoid(dp_program *p, int in)
{
    return add(p, DP_STAGE_SIGMOID, in, -1);
}

int dp_program_tanh(dp_program *p, int in)
{
    return add(p, DP_STAGE_TANH, in, -1);
}

int dp_program_square(dp_program *p, int in)
{
    return add(p, DP_STAGE_SQUARE, in, -1);
}

int dp_program_add(dp_program *p, int a, int b)
{
    return add(p, DP_STAGE_ADD, a, b);
}

int dp_program_argmax(dp_program *p, int in)
{
    return add(p, DP_STAGE_ARGMAX, in, -1);
}

/* ---- the input's numbers and the answer ---- */

bool dpi_number_good(dp_program *p, const dp_program_number *number)
{
    const char *wrong = NULL;
    if (!(isfinite(number->low) && isfinite(number->high) && number->low <= number->high))
        wrong = "bounds are finite, and the lower is not above the upper";
    if (number->n_factors < 1 || number->n_factors > DP_PROGRAM_FACTORS)
        wrong = "it is a product of 1 to 4 factors";
    for (size_t i = 0; wrong == NULL && i < number->n_factors; i++)
        if (number->factor[i].column == NULL || number->factor[i].column[0] == '\0' ||
            number->factor[i].level < -1)
            wrong = "a factor has a column, and a level >= 0, or -1";
    if (wrong != NULL)
        (void)dpi_fail(&p->err, DP_EINVAL, "a number of the input: %s", wrong);
    return wrong == NULL;
}

void dpi_number_copy(dp_program *p, const dp_program_number *from, dp_program_number *to)
{
    *to = *from;
    for (size_t i = 0; i < from->n_factors; i++) {
        to->factor[i].column = dpi_arena_strdup(&p->arena, from->factor[i].column);
        if (to->factor[i].column == NULL)
            (void)dpi_fail_nomem(&p->err);
    }
}

static bool declare_all(dp_program *p)
{
    size_t n = dp_program_inputs(p);
    dp_program_number *all = dpi_arena_alloc(&p->arena, n, sizeof *all);
    for (size_t i = 0; all != NULL && i < n; i++)
        all[i] = dp_program_number_at(p, i);
    p->numbers = all;
    if (all == NULL)
        (void)dpi_fail_nomem(&p->err);
    return all != NULL;
}

void dp_program_declare(dp_program *p, size_t k, const dp_program_number *number)
{
    if (!ready(p) || !dpi_number_good(p, number))
        return;
    if (k >= dp_program_inputs(p)) {
        (void)dpi_fail(&p->err, DP_EINVAL, "number %zu is declared of an input of %zu", k,
                       dp_program_inputs(p));
        return;
    }
    if (p->numbers != NULL || declare_all(p))
        dpi_number_copy(p, number, &p->numbers[k]);
}

void dp_program_answer(dp_program *p, dp_link link, size_t draws)
{
    if (!ready(p))
        return;
    if ((unsigned)link > DP_LINK_SOFTMAX || draws < 1) {
        (void)dpi_fail(&p->err, DP_EINVAL, "an answer has a link and at least one draw");
        return;
    }
    p->link = link;
    p->draws = draws;
}
