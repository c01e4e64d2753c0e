/* A network grows from an image, a vector, a sentence of word numbers and one more word; each step
 * makes a new value from an older one by a random layer, whose weight is one that was used before
 * where one fits and a coin says so.  Sizes are few, so that weights fit often.  Its result is a
 * number for each record. */
#include "tests/exec/network.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/lib/check.h"

enum { STEPS = 9, WORDS = 5 };

/* splitmix64 (Steele, Lea, Flood 2014). */
static size_t draw(network *n, size_t below)
{
    uint64_t z = (n->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

static dpi_shape shape_of(const network *n, dpi_id id)
{
    return dpi_get(&n->g, id)->shape;
}

static dpi_id input(network *n, const char *name, bool per_record, size_t rows, size_t columns)
{
    dpi_shape shape = {.per_record = per_record, .n_dims = rows > 0 ? 2 : columns > 0};
    shape.dim[0] = rows > 0 ? rows : columns;
    shape.dim[1] = rows > 0 ? columns : 0;
    return dpi_source(&n->g, &dpi_op_input, name, (dpi_attr){.shape = shape});
}

/* A weight [rows][columns], or [columns] for no rows: often one that is there. */
static dpi_id weight(network *n, size_t rows, size_t columns)
{
    size_t from = draw(n, n->n_weights + 1);
    for (size_t k = 0; k < n->n_weights && draw(n, 4) != 0; k++) {
        size_t at = (from + k) % n->n_weights;
        const dpi_shape shape = shape_of(n, n->weight[at]);
        if (shape.n_dims != (rows > 0 ? 2 : 1) || shape.dim[0] != (rows > 0 ? rows : columns) ||
            (rows > 0 && shape.dim[1] != columns))
            continue;
        n->shared += n->uses[at]++ == 1;
        return n->weight[at];
    }
    assert_true(n->n_weights < MOST_WEIGHTS);
    n->uses[n->n_weights] = 1;
    return n->weight[n->n_weights++] = input(n, "weight", false, rows, columns);
}

static void keep(network *n, dpi_id id)
{
    assert_ok(n->err.status, n->err.text);
    assert_true(n->n_values < MOST_VALUES);
    n->value[n->n_values++] = id;
}

static dpi_id product(network *n, dpi_id a, bool ta, dpi_id b, bool tb)
{
    return dpi_apply(&n->g, &dpi_op_matmul, a, b, &(dpi_attr){.transpose = {ta, tb}});
}

/* ---- layers ---- */

/* Rows of x by a matrix, plain or transposed. */
static dpi_id dense(network *n, dpi_id x)
{
    const dpi_shape shape = shape_of(n, x);
    size_t inner = shape.dim[shape.n_dims - 1];
    size_t out =
        draw(n, 4) == 0 ? WORDS : 2 + draw(n, 3); /* as an embedding that is used both ways */
    if (out == WORDS || draw(n, 3) == 0)
        return product(n, x, false, weight(n, out, inner), true);
    dpi_id w = weight(n, inner, out);
    if (draw(n, 3) == 0)
        w = dpi_unary(&n->g, &dpi_op_neg, w);
    return product(n, x, false, w, false);
}

/* Columns of x by a matrix from the left; x may stand transposed. */
static dpi_id mixing(network *n, dpi_id x)
{
    const dpi_shape shape = shape_of(n, x);
    bool turned = draw(n, 2);
    size_t inner = shape.dim[turned ? 1 : 0], out = 2 + draw(n, 3);
    if (draw(n, 2) == 0)
        return product(n, weight(n, inner, out), true, x, turned);
    return product(n, weight(n, out, inner), false, x, turned);
}

/* Columns of x by a matrix from the right. */
static dpi_id columns(network *n, dpi_id x)
{
    size_t inner = shape_of(n, x).dim[0], out = 2 + draw(n, 3);
    return product(n, x, true, weight(n, inner, out), false);
}

static dpi_id convolution(network *n, dpi_id x)
{
    const dpi_shape shape = shape_of(n, x);
    size_t pixels = shape.dim[0], channels = shape.n_dims == 2 ? shape.dim[1] : 1;
    dpi_attr attr = {.value = 0};
    dpi_window *w = &attr.window;
    w->image[0] = 1 + draw(n, pixels);
    while (pixels % w->image[0] != 0)
        w->image[0]--;
    w->image[1] = pixels / w->image[0];
    for (int k = 0; k < 2; k++) {
        w->size[k] = 1 + draw(n, w->image[k] < 3 ? w->image[k] : 3);
        w->stride[k] = 1 + draw(n, 2);
        w->padding[k] = draw(n, w->size[k]);
    }
    n->convolutions++;
    dpi_id patches = dpi_apply(&n->g, &dpi_op_patches, x, DPI_NONE, &attr);
    return product(n, patches, false, weight(n, w->size[0] * w->size[1] * channels, 1 + draw(n, 3)),
                   false);
}

/* Rows of a matrix with WORDS rows, for words or a word. */
static dpi_id gather(network *n, dpi_id words)
{
    n->gathers++;
    return dpi_apply(&n->g, &dpi_op_pick, weight(n, WORDS, 2 + draw(n, 3)), words, NULL);
}

static dpi_id bias(network *n, dpi_id x)
{
    const dpi_shape shape = shape_of(n, x);
    dpi_id b = weight(n, 0, shape.dim[shape.n_dims - 1]);
    return draw(n, 3) == 0 ? dpi_sub(&n->g, x, b) : dpi_add(&n->g, x, b);
}

/* The same layer of two values, one taken from the other. */
static dpi_id difference(network *n, dpi_id x)
{
    dpi_id w = weight(n, shape_of(n, x).dim[shape_of(n, x).n_dims - 1], 2 + draw(n, 3));
    dpi_id other = dpi_unary(&n->g, &dpi_op_tanh, x);
    return dpi_sub(&n->g, product(n, x, false, w, false), product(n, other, false, w, false));
}

static dpi_id layer(network *n, dpi_id x)
{
    const dpi_shape shape = shape_of(n, x);
    bool matrix = shape.n_dims == 2;
    switch (draw(n, 7)) {
    case 0:
        return matrix ? mixing(n, x) : dense(n, x);
    case 1:
        return matrix ? columns(n, x) : dense(n, x);
    case 2:
    case 3:
        return convolution(n, x);
    case 4:
        return difference(n, x);
    default:
        return dense(n, x);
    }
}

static dpi_id activation(network *n, dpi_id x)
{
    static const dpi_op *const ops[] = {&dpi_op_tanh, &dpi_op_softplus, &dpi_op_logistic,
                                        &dpi_op_normal_cdf};
    size_t number = draw(n, 4);
    dpi_id y = dpi_unary(&n->g, ops[number], x);
    return number < 3 ? y : dpi_times(&n->g, x, y); /* GELU */
}

void network_new(network *n, size_t number)
{
    *n = (network){.state = 2385 + number};
    dpi_graph_init(&n->g, &n->arena, &n->err);
    dpi_id words[2] = {input(n, "words", true, 0, 2 + draw(n, 5)), input(n, "words", true, 0, 0)};
    keep(n, input(n, "image", true, 2 * (2 + draw(n, 3)), 1 + draw(n, 2)));
    keep(n, input(n, "vector", true, 0, 2 + draw(n, 3)));
    for (size_t step = 0; step < STEPS; step++) {
        bool gathers = draw(n, 4) == 0;
        dpi_id y =
            gathers ? gather(n, words[draw(n, 2)]) : layer(n, n->value[draw(n, n->n_values)]);
        if (draw(n, 2) == 0)
            y = bias(n, y);
        keep(n, activation(n, y));
    }
    n->root = DPI_NONE;
    for (size_t k = 2; k < n->n_values; k++) {
        dpi_id term = dpi_scale(&n->g, 1 + 0.137 * (double)k, dpi_sum(&n->g, n->value[k]));
        n->root = n->root == DPI_NONE ? term : dpi_add(&n->g, n->root, term);
    }
    assert_ok(dpi_gradient(&n->g, n->root, n->n_weights, n->weight, n->part), n->err.text);
    for (size_t k = 0; k < n->n_weights; k++) {
        n->release += dpi_shape_size(&dpi_get(&n->g, n->weight[k])->shape);
        assert_true(n->part[k] != DPI_NONE);
    }
    n->n_parts = n->n_weights;
    assert_true(n->release <= MOST_RELEASE);
}

void network_free(network *n)
{
    dpi_arena_free(&n->arena);
}

dpi_run *network_run(const network *n, dpi_choice choice, bool single, size_t strip)
{
    dpi_run *run;
    dp_error err = {0};
    dpi_run_spec spec = {.graph = &n->g,
                         .wanted = n->weight,
                         .n_wanted = n->n_weights,
                         .parts = n->part,
                         .n_parts = n->n_parts,
                         .chunk = RECORDS,
                         .choice = choice,
                         .single = single,
                         .strip = strip};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (size_t i = 0, at = 3; i < n->g.n_nodes; i++) {
        const dpi_node *node = &n->g.nodes[i];
        double *value = dpi_run_value(run, (dpi_id)i);
        size_t size = dpi_shape_size(&node->shape) * (node->shape.per_record ? RECORDS : 1);
        for (size_t e = 0; node->op == &dpi_op_input && value != NULL && e < size; e++, at++) {
            double x = (double)at * 0.6180339887498949;
            x -= floor(x);
            value[e] = strcmp(node->name, "words") == 0 ? floor(x * WORDS) : (float)(1.6 * x - 0.8);
        }
    }
    dpi_run_globals(run);
    dpi_run_records(run, RECORDS, NULL, 0);
    return run;
}
