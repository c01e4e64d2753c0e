/* Cuts: nodes that are stages of their own.
 *
 * A convolution is a product of patches and a global matrix, and what is then added to or
 * multiplied with each of its channels belongs to it. */
#include <math.h>
#include <string.h>

#include "program/lower.h"

/* ---- what is a cut ---- */

/* The operand that the record reaches, of an elementwise operation whose other one is global and no
 * larger than the channels; DPI_NONE of any other. */
static dpi_id channelwise(const dpi_lowering *l, const dpi_node *node)
{
    if (!node->op->broadcasts || node->op->n_inputs != 2)
        return DPI_NONE;
    int of = l->reached[node->in[0]] ? 0 : 1;
    const dpi_node *image = dpi_get(l->g, node->in[of]), *other = dpi_get(l->g, node->in[1 - of]);
    bool fits = !l->reached[node->in[1 - of]] && dpi_shape_same(&node->shape, &image->shape) &&
                other->shape.n_dims <= 1 && !other->shape.per_record;
    bool linear = dpi_lower_rules[node->op->id].kind != DPI_LOWER_NOT &&
                  dpi_lower_rules[node->op->id].kind != DPI_LOWER_CUT;
    return fits && linear && !(of == 1 && dpi_lower_rules[node->op->id].kind == DPI_LOWER_QUOTIENT)
               ? node->in[of]
               : DPI_NONE;
}

/* Whether the node is the product of patches and a global matrix, both as they are. */
static bool is_product_of_patches(const dpi_lowering *l, const dpi_node *node)
{
    if (dpi_lower_rules[node->op->id].kind != DPI_LOWER_MATRIX || node->attr.transpose[0] ||
        node->attr.transpose[1])
        return false;
    const dpi_node *patches = dpi_get(l->g, node->in[0]), *w = dpi_get(l->g, node->in[1]);
    return dpi_lower_rules[patches->op->id].kind == DPI_LOWER_PATCHES && l->reached[node->in[0]] &&
           !w->shape.per_record && w->shape.n_dims == 2;
}

dpi_id dpi_lower_convolution(const dpi_lowering *l, dpi_id id)
{
    while (id != DPI_NONE && l->reached[id] && !is_product_of_patches(l, dpi_get(l->g, id)))
        id = channelwise(l, dpi_get(l->g, id));
    return id != DPI_NONE && l->reached[id] ? id : DPI_NONE;
}

static dpi_lower_kind kind_of(const dpi_lowering *l, dpi_id id)
{
    return dpi_lower_rules[dpi_get(l->g, id)->op->id].kind;
}

/* The pool that a node is the mean of: sums of windows divided by the number of their pixels. */
static dpi_id mean_pool(const dpi_lowering *l, dpi_id id)
{
    const dpi_node *node = dpi_get(l->g, id);
    dpi_id pool = channelwise(l, node);
    if (pool == DPI_NONE || kind_of(l, pool) != DPI_LOWER_POOL)
        return DPI_NONE;
    const dpi_node *other = dpi_get(l->g, node->in[node->in[0] == pool ? 1 : 0]);
    const dpi_window *w = &dpi_get(l->g, pool)->attr.window;
    double pixels = (double)w->size[0] * (double)w->size[1];
    bool mean = kind_of(l, id) == DPI_LOWER_QUOTIENT  ? other->attr.value == pixels
                : kind_of(l, id) == DPI_LOWER_PRODUCT ? fabs(other->attr.value * pixels - 1) < 1e-15
                                                      : false;
    return dpi_is_number(other) && mean ? pool : DPI_NONE;
}

bool dpi_lower_is_cut(const dpi_lowering *l, dpi_id id)
{
    return l->reached[id] &&
           (kind_of(l, id) == DPI_LOWER_CUT || dpi_lower_convolution(l, id) != DPI_NONE ||
            mean_pool(l, id) != DPI_NONE);
}

dpi_id dpi_lower_operand(const dpi_lowering *l, dpi_id cut)
{
    dpi_id base = dpi_lower_convolution(l, cut), pool = mean_pool(l, cut);
    if (base != DPI_NONE)
        return dpi_get(l->g, dpi_get(l->g, base)->in[0])->in[0];
    return dpi_get(l->g, pool != DPI_NONE ? pool : cut)->in[0];
}

/* ---- convolutions ---- */

/* Weights [out][places][channels] and bias [out] of the product itself. */
static bool take_product(const dpi_lowering *l, const dpi_node *node, double *w, double *b)
{
    const double *from = l->global[node->in[1]]; /* [places channels][out] */
    const dpi_shape *shape = &dpi_get(l->g, node->in[1])->shape;
    size_t n = shape->dim[0], out = shape->dim[1];
    for (size_t i = 0; i < n; i++)
        for (size_t o = 0; o < out; o++)
            w[o * n + i] = from[i * out + o];
    memset(b, 0, out * sizeof *b);
    return true;
}

/* y = f(a) channel by channel: f(0) and f(1) for each of `out` channels.  False where the stops of
 * the window differ. */
static bool find_channels(dpi_lowering *l, dpi_id id, dpi_id a, size_t out, double *zero,
                          double *one)
{
    size_t size = dpi_shape_size(&dpi_get(l->g, id)->shape);
    dpi_lower_piece *piece = dpi_lower_piece_new(l, id, 0);
    double *y = dpi_alloc(2 * size, sizeof *y);
    bool good = piece != NULL && y != NULL;
    for (size_t i = 0; good && i < size; i++)
        dpi_lower_piece_set(piece, 1, a, i, 1);
    good = good && dpi_lower_piece_run(piece, 2, y);
    for (size_t i = 0; good && i < size; i++)
        good = y[i] == y[i % out] && y[size + i] == y[size + i % out];
    if (good)
        memcpy(zero, y, out * sizeof *y);
    if (good)
        memcpy(one, y + size, out * sizeof *y);
    dpi_free(y);
    dpi_lower_piece_free(piece);
    return good;
}

/* The weights and the bias of a convolution with what is added to it; room[2][out]. */
static bool take_convolution(dpi_lowering *l, dpi_id id, dpi_id base, size_t n, size_t out,
                             double *w, double *b, double *room)
{
    if (id == base)
        return take_product(l, dpi_get(l->g, id), w, b);
    dpi_id a = channelwise(l, dpi_get(l->g, id));
    if (!take_convolution(l, a, base, n, out, w, b, room) ||
        !find_channels(l, id, a, out, room, room + out))
        return false;
    for (size_t o = 0; o < out; o++) {
        double scale = room[out + o] - room[o];
        for (size_t i = 0; i < n; i++)
            w[o * n + i] *= scale;
        b[o] = scale * b[o] + room[o];
    }
    return true;
}

static dp_window window_of(const dpi_window *w)
{
    dp_window window = {{0}, {0}, {0}, {0}};
    for (int axis = 0; axis < 2; axis++) {
        window.image[axis] = w->image[axis];
        window.size[axis] = w->size[axis];
        window.stride[axis] = w->stride[axis];
        window.padding[axis] = w->padding[axis];
    }
    return window;
}

/* Whether stage `in` is the image that a window moves over; refuses. */
static bool is_image(dpi_lowering *l, dpi_id id, int in, const dpi_window *w)
{
    const dp_stage *s = dp_program_stage(l->p, (size_t)in);
    if (s->shape[0] == w->image[0] && s->shape[1] == w->image[1])
        return true;
    dpi_lower_refuse(l, id,
                     "its window moves over what is no image: the columns that other parts of "
                     "the model read, or a dense layer's numbers");
    return false;
}

static int lower_convolution(dpi_lowering *l, dpi_id id, dpi_id base)
{
    const dpi_node *product = dpi_get(l->g, base), *patches = dpi_get(l->g, product->in[0]);
    const dpi_shape *shape = &dpi_get(l->g, product->in[1])->shape;
    size_t n = shape->dim[0], out = shape->dim[1];
    dp_window window = window_of(&patches->attr.window);
    if (l->draws > 1) {
        dpi_lower_refuse(l, id, "a convolution is served of one draw, or of the posterior means");
        return -1;
    }
    int in = dpi_lower_node(l, dpi_lower_operand(l, id)), stage = -1;
    double *w = dpi_alloc(n * out, sizeof *w), *b = dpi_alloc(3 * out, sizeof *b);
    if (w == NULL || b == NULL)
        (void)dpi_fail_nomem(l->err);
    else if (in >= 0 && is_image(l, id, in, &patches->attr.window) &&
             take_convolution(l, id, base, n, out, w, b, b + out))
        stage = dp_program_convolution(l->p, in, out, &window, w, b);
    dpi_free(w);
    dpi_free(b);
    return stage;
}

/* ---- all cuts ---- */

static int lower_cut(dpi_lowering *l, dpi_id id)
{
    dpi_id pool = mean_pool(l, id);
    const dpi_node *node = dpi_get(l->g, pool != DPI_NONE ? pool : id);
    dp_stage_kind kind =
        pool != DPI_NONE ? DP_STAGE_AVERAGE_POOL : dpi_lower_rules[node->op->id].stage;
    dp_stage draft = {.kind = kind, .in = {dpi_lower_node(l, dpi_lower_operand(l, id)), -1}};
    bool windowed = kind == DP_STAGE_MAX_POOL || kind == DP_STAGE_AVERAGE_POOL;
    if (draft.in[0] < 0)
        return -1;
    if (windowed && (node->op->n_inputs > 1 && node->in[1] != node->in[0])) {
        dpi_lower_refuse(l, id, "a pool of one image at the largest numbers of another");
        return -1;
    }
    if (windowed && l->draws > 1) {
        dpi_lower_refuse(l, id, "a pool is served of one draw, or of the posterior means");
        return -1;
    }
    if (windowed && !is_image(l, id, draft.in[0], &node->attr.window))
        return -1;
    if (windowed)
        draft.window = window_of(&node->attr.window);
    if (kind == DP_STAGE_RELU && node->attr.value != 0) {
        dpi_lower_refuse(l, id, "a relu with a slope below 0");
        return -1;
    }
    return dpi_program_add(l->p, &draft, NULL, NULL);
}

/* A column alone, or in another shape, that is all of the input. */
static bool is_input(const dpi_lowering *l, dpi_id id)
{
    const dpi_node *node = dpi_get(l->g, id);
    return l->n_features == 1 && l->n_columns == 1 && l->draws == 1 && !l->column[0].groups &&
           l->column[0].node == id && dpi_shape_size(&node->shape) == l->n_inputs;
}

int dpi_lower_node(dpi_lowering *l, dpi_id id)
{
    if (l->stage[id] >= 0)
        return l->stage[id];
    const dpi_node *node = dpi_get(l->g, id);
    dpi_id base = dpi_lower_convolution(l, id);
    if (base != DPI_NONE)
        l->stage[id] = lower_convolution(l, id, base);
    else if (dpi_lower_is_cut(l, id))
        l->stage[id] = lower_cut(l, id);
    else if (is_input(l, id))
        l->stage[id] = 0;
    else if (kind_of(l, id) == DPI_LOWER_SAME)
        l->stage[id] = dpi_lower_node(l, node->in[0]);
    else
        l->stage[id] = dpi_lower_region(l, id);
    return l->stage[id];
}
