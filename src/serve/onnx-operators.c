/* The operators: those that compute number by number or not at all, and the table of all. */
#include <string.h>

#include "serve/onnx.h"

/* ---- number by number ---- */

static bool element(dpi_onnx_node *n, int (*stage)(dp_program *, int))
{
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    return v != NULL && dpi_onnx_force(n, v) >= 0 &&
           dpi_onnx_give(n, stage(n->x->program, v->stage), v);
}

/* A positive scale may as well come after it. */
static bool relu(dpi_onnx_node *n)
{
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL || !dpi_onnx_defer(n, v, true, true) ||
        !dpi_onnx_give(n, dp_program_relu(n->x->program, v->stage), v))
        return false;
    n->out->scaling = v->scaling;
    return true;
}

/* A value by itself is a square. */
static bool product(dpi_onnx_node *n)
{
    const bool same = dpi_onnx_has(n, 0) && n->in[0] == n->in[1] && n->in[0]->constant == NULL &&
                      n->in[0]->stored == NULL;
    return same ? element(n, dp_program_square) : dpi_onnx_product(n);
}

/* One that ends the network is left to whoever asks: it costs nothing there, and is exact. */
static bool sigmoid(dpi_onnx_node *n)
{
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL || n->out != n->x->output || n->out->uses > 1)
        return element(n, dp_program_sigmoid);
    dpi_onnx_pass(n, v);
    n->out->link = DP_LINK_LOGISTIC;
    return true;
}

static bool hyperbolic_tangent(dpi_onnx_node *n)
{
    return element(n, dp_program_tanh);
}

/* ---- the end ---- */

/* A vector, of which the attribute axis names the only axis. */
static dpi_onnx_value *vector_of(dpi_onnx_node *n, int64_t otherwise)
{
    int64_t axis;
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL || !dpi_onnx_int(n, "axis", otherwise, &axis))
        return NULL;
    if (v->rank == 1 && (axis == 1 || axis == -1))
        return v;
    (void)dpi_onnx_fail(n, DP_EUNSUPPORTED, "only a vector's last axis is served, axis = -1");
    return NULL;
}

static bool softmax(dpi_onnx_node *n)
{
    dpi_onnx_value *v = vector_of(n, -1);
    if (v == NULL)
        return false;
    dpi_onnx_pass(n, v);
    n->out->link = DP_LINK_SOFTMAX;
    return true;
}

/* The largest chance is that of the largest number. */
static bool argmax(dpi_onnx_node *n)
{
    size_t shape[3];
    int64_t kept;
    if (dpi_onnx_has(n, 0) && n->in[0]->link == DP_LINK_SOFTMAX)
        n->in[0]->link = DP_LINK_IDENTITY;
    dpi_onnx_value *v = vector_of(n, 0);
    if (v == NULL || !dpi_onnx_only(n, "select_last_index", 0) ||
        !dpi_onnx_int(n, "keepdims", 1, &kept) || dpi_onnx_force(n, v) < 0)
        return false;
    dpi_onnx_shape(n->x, v, shape);
    if (shape[0] * shape[1] > 1 && shape[2] > 1)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "the places of a flattened image are not served");
    if (!dpi_onnx_give(n, dp_program_argmax(n->x->program, v->stage), v))
        return false;
    n->out->rank = 1;
    n->out->dims[0] = 1;
    n->out->place = true;
    return true;
}

/* ---- names and dimensions ---- */

static bool identity(dpi_onnx_node *n)
{
    if (!dpi_onnx_has(n, 0))
        return dpi_onnx_fail(n, DP_EDATA, "its input 1 is left out");
    dpi_onnx_pass(n, n->in[0]);
    return true;
}

/* The identity, unless it is told to train. */
static bool dropout(dpi_onnx_node *n)
{
    const dpi_onnx_tensor *training = dpi_onnx_has(n, 2) ? dpi_onnx_whole(n, 2) : NULL;
    if (dpi_onnx_has(n, 2) && training == NULL)
        return false;
    if (training != NULL && (training->n != 1 || training->x[0] != 0))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "it drops numbers by chance; export for inference");
    return identity(n);
}

static bool set_constant(dpi_onnx_node *n, dpi_onnx_tensor *t, double *x, bool real)
{
    if (t == NULL || x == NULL)
        return false;
    t->x = x;
    t->real = real;
    n->out->constant = t;
    return true;
}

/* Constants given by an attribute of another kind than a tensor. */
static bool constant_of_numbers(dpi_onnx_node *n, const Onnx__AttributeProto *a)
{
    bool real = a->has_f || a->n_floats > 0, single = a->has_f || a->has_i;
    size_t count = single ? 1 : real ? a->n_floats : a->n_ints;
    if (count == 0)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "its %s is empty or not served",
                             real ? "value_floats" : "value_ints");
    dpi_onnx_tensor *t = dpi_onnx_alloc(n->x, 1, sizeof *t);
    double *x = t != NULL ? dpi_onnx_alloc(n->x, count, sizeof *x) : NULL;
    if (x == NULL)
        return false;
    t->rank = single ? 0 : 1;
    t->dims[0] = t->n = count;
    for (size_t i = 0; i < count; i++)
        x[i] = a->has_f   ? (double)a->f
               : a->has_i ? (double)a->i
               : real     ? (double)a->floats[i]
                          : (double)a->ints[i];
    for (size_t i = 0; i < count; i++)
        if (!(x[i] - x[i] == 0)) /* NaN of what is not finite */
            return dpi_onnx_fail(n, DP_EDATA, "its constant is not finite");
    return set_constant(n, t, x, real);
}

static bool constant(dpi_onnx_node *n)
{
    if (n->proto->n_attribute != 1)
        return dpi_onnx_fail(n, DP_EDATA, "a constant has one attribute");
    const Onnx__AttributeProto *a = n->proto->attribute[0];
    if (strcmp(a->name, "value") != 0)
        return constant_of_numbers(n, a);
    if (a->t == NULL)
        return dpi_onnx_fail(n, DP_EDATA, "its value is no tensor");
    n->out->constant = dpi_onnx_tensor_read(n->x, a->t, "a Constant's value");
    return n->out->constant != NULL;
}

static size_t numbers_of(const dpi_onnx_value *v)
{
    size_t n = 1;
    for (size_t i = 0; i < v->rank; i++)
        n *= v->dims[i];
    return n;
}

/* An input that nothing has read yet is the image that the network makes of it. */
static void take_image(dpi_onnx *x, const dpi_onnx_value *v)
{
    if (x->placed || v->stage != 0 || v->form != DPI_ONNX_STAGE || v->rank != 3 ||
        x->input_shape[0] * x->input_shape[1] > 1)
        return;
    x->input_shape[0] = v->dims[1];
    x->input_shape[1] = v->dims[2];
    x->input_shape[2] = v->dims[0];
}

/* Sets the dimensions [1, dims] of `to`, of which one may be -1, and 0 is that of v. */
static bool resolve(dpi_onnx_node *n, size_t rank, const double *to, dpi_onnx_value *v)
{
    size_t all = numbers_of(v), known = 1, open = rank;
    size_t dims[DPI_ONNX_AXES + 1] = {1};
    for (size_t i = 0; i < rank; i++) {
        bool kept = to[i] == 0 && i <= v->rank;
        double dim = kept ? (double)(i == 0 ? 1 : v->dims[i - 1]) : to[i];
        if (dim == -1 && open == rank) {
            open = i;
            continue;
        }
        if (!(dim >= 1 && dim <= (double)all))
            return dpi_onnx_fail(n, DP_ESHAPE, "its shape does not fit what it reshapes");
        dims[i] = (size_t)dim;
        if (!dpi_mul(known, dims[i], &known))
            return dpi_onnx_fail(n, DP_ESHAPE, "its shape does not fit what it reshapes");
    }
    if (open < rank)
        dims[open] = known <= all ? all / known : 0;
    if ((open < rank ? known * dims[open] : known) != all || dims[0] != 1)
        return dpi_onnx_fail(n, DP_ESHAPE,
                             "its shape does not fit what it reshapes; the first dimension is the "
                             "batch, which is 1");
    v->rank = rank - 1;
    memcpy(v->dims, dims + 1, (rank - 1) * sizeof dims[0]);
    return true;
}

/* A constant with other dimensions. */
static bool reshape_constant(dpi_onnx_node *n, const dpi_onnx_tensor *t, const double *to,
                             size_t rank)
{
    dpi_onnx_tensor *as = dpi_onnx_alloc(n->x, 1, sizeof *as);
    size_t known = 1, open = rank;
    if (as == NULL)
        return false;
    *as = *t;
    as->rank = rank;
    for (size_t i = 0; i < rank; i++) {
        double dim = to[i] == 0 && i < t->rank ? (double)t->dims[i] : to[i];
        bool free_one = dim == -1 && open == rank;
        open = free_one ? i : open;
        if (!free_one && !(dim >= 1 && dim <= (double)t->n))
            known = 0;
        as->dims[i] = free_one || known == 0 ? 1 : (size_t)dim;
        if (!dpi_mul(known, as->dims[i], &known))
            known = 0;
    }
    if (open < rank && known > 0)
        as->dims[open] = t->n / known;
    if ((open < rank ? known * as->dims[open] : known) != t->n)
        return dpi_onnx_fail(n, DP_ESHAPE, "its shape does not fit the constant");
    n->out->constant = as;
    return true;
}

static bool reshape(dpi_onnx_node *n)
{
    const dpi_onnx_tensor *to = dpi_onnx_whole(n, 1);
    if (to == NULL || !dpi_onnx_only(n, "allowzero", 0))
        return false;
    if (to->rank != 1 || to->n > DPI_ONNX_RANK)
        return dpi_onnx_fail(n, DP_ESHAPE, "its shape is no list of 1 to 8 dimensions");
    if (dpi_onnx_has(n, 0) && (n->in[0]->stored != NULL || n->in[0]->constant != NULL)) {
        const dpi_onnx_tensor *t = dpi_onnx_reals(n, 0);
        return t != NULL && reshape_constant(n, t, to->x, to->n);
    }
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL)
        return false;
    if (to->n < 2 || to->n > DPI_ONNX_AXES + 1)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "only 2 to 4 dimensions are served, with the batch");
    dpi_onnx_pass(n, v);
    if (!resolve(n, to->n, to->x, n->out))
        return false;
    take_image(n->x, n->out);
    return true;
}

static bool flatten(dpi_onnx_node *n)
{
    int64_t axis;
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL || !dpi_onnx_int(n, "axis", 1, &axis))
        return false;
    if (axis != 1 && axis != -(int64_t)v->rank)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED, "axis = %lld is not served, only 1",
                             (long long)axis);
    dpi_onnx_pass(n, v);
    n->out->dims[0] = numbers_of(v);
    n->out->rank = 1;
    return true;
}

/* ---- the table ---- */

#define POOL " auto_pad ceil_mode dilations kernel_shape pads strides "

static const dpi_onnx_operator operators[] = {
    {"Add", dpi_onnx_sum, 2, 2, ""},
    {"ArgMax", argmax, 1, 1, " axis keepdims select_last_index "},
    {"AveragePool", dpi_onnx_average_pool, 1, 1, POOL "count_include_pad "},
    {"BatchNormalization", dpi_onnx_batch_norm, 5, 5, " epsilon momentum spatial training_mode "},
    {"Constant", constant, 0, 0, " value value_float value_floats value_int value_ints "},
    {"Conv", dpi_onnx_convolution, 2, 3, " auto_pad dilations group kernel_shape pads strides "},
    {"Div", dpi_onnx_quotient, 2, 2, ""},
    {"Dropout", dropout, 1, 3, " ratio seed "},
    {"Flatten", flatten, 1, 1, " axis "},
    {"Gemm", dpi_onnx_gemm, 2, 3, " alpha beta transA transB "},
    {"GlobalAveragePool", dpi_onnx_global_average_pool, 1, 1, ""},
    {"Identity", identity, 1, 1, ""},
    {"MatMul", dpi_onnx_matmul, 2, 2, ""},
    {"MaxPool", dpi_onnx_max_pool, 1, 1, POOL "storage_order "},
    {"Mul", product, 2, 2, ""},
    {"Relu", relu, 1, 1, ""},
    {"Reshape", reshape, 2, 2, " allowzero "},
    {"Sigmoid", sigmoid, 1, 1, ""},
    {"Softmax", softmax, 1, 1, " axis "},
    {"Sub", dpi_onnx_difference, 2, 2, ""},
    {"Tanh", hyperbolic_tangent, 1, 1, ""},
};

const dpi_onnx_operator *dpi_onnx_operator_of(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof operators / sizeof operators[0]; i++)
        if (strcmp(operators[i].name, name) == 0)
            return &operators[i];
    return NULL;
}
