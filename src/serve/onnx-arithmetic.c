/* Operators that are linear and have no window: sums and products with constants, dense layers,
 * batch normalisation.
 *
 * Constants are spread over a value as in the file's rules: dimensions are compared from the last,
 * and one of 1 fits any.  The batch is one of them, and the result has the value's dimensions. */
#include <math.h>
#include <string.h>

#include "serve/onnx.h"

/* ---- constants spread over a value ---- */

/* Whether the constant's dimensions fit those of [1, dims]. */
static bool fits(const dpi_onnx_tensor *t, const dpi_onnx_value *v)
{
    if (t->rank > v->rank + 1)
        return false;
    for (size_t i = 0; i < t->rank; i++) {
        size_t from_last = t->rank - 1 - i;
        size_t most = from_last < v->rank ? v->dims[v->rank - 1 - from_last] : 1;
        if (t->dims[i] != 1 && t->dims[i] != most)
            return false;
    }
    return true;
}

/* Its dimension along axis k of the value. */
static size_t extent(const dpi_onnx_tensor *t, const dpi_onnx_value *v, size_t k)
{
    size_t from_last = v->rank - 1 - k;
    return from_last < t->rank ? t->dims[t->rank - 1 - from_last] : 1;
}

/* The place in the constant of number n of the value. */
static size_t source(const dpi_onnx_tensor *t, const dpi_onnx_value *v, size_t n)
{
    size_t place = 0, step = 1;
    for (size_t k = v->rank; k-- > 0;) {
        size_t along = n % v->dims[k], most = extent(t, v, k);
        n /= v->dims[k];
        place += (most > 1 ? along : 0) * step;
        step *= most;
    }
    return place;
}

/* The constant in the order of the stage, repeated from *period numbers. */
static double *spread(dpi_onnx_node *n, const dpi_onnx_value *v, const dpi_onnx_tensor *t,
                      size_t *period)
{
    size_t shape[3];
    dpi_onnx_shape(n->x, v, shape);
    bool image = dpi_onnx_is_image(n->x, v);
    if (!fits(t, v)) {
        (void)dpi_onnx_fail(n, DP_ESHAPE,
                            "its constant's dimensions do not fit those of its other input");
        return NULL;
    }
    bool channels = image && extent(t, v, 1) == 1 && extent(t, v, 2) == 1;
    *period = t->n == 1 ? 1 : channels ? shape[2] : shape[0] * shape[1] * shape[2];
    double *x = dpi_onnx_alloc(n->x, *period, sizeof *x);
    for (size_t i = 0; x != NULL && i < *period; i++) {
        if (t->n == 1 || channels)
            x[i] = t->x[t->n == 1 ? 0 : i];
        else
            x[dpi_onnx_place(shape, i)] = t->x[source(t, v, i)];
    }
    return x;
}

/* An array of n times `value`. */
static double *all_of(dpi_onnx_node *n, size_t count, double value)
{
    double *x = dpi_onnx_alloc(n->x, count, sizeof *x);
    for (size_t i = 0; x != NULL && i < count; i++)
        x[i] = value;
    return x;
}

/* out = sign v + t. */
static bool add_constant(dpi_onnx_node *n, dpi_onnx_value *v, double sign, const dpi_onnx_tensor *t)
{
    dpi_onnx_scaling s = {0};
    s.shift = spread(n, v, t, &s.period);
    s.scale = s.shift != NULL ? all_of(n, s.period, sign) : NULL;
    return s.scale != NULL && dpi_onnx_scale(n, v, &s);
}

static bool multiply(dpi_onnx_node *n, dpi_onnx_value *v, const dpi_onnx_tensor *t)
{
    dpi_onnx_scaling s = {0};
    s.scale = spread(n, v, t, &s.period);
    s.shift = s.scale != NULL ? all_of(n, s.period, 0) : NULL;
    return s.shift != NULL && dpi_onnx_scale(n, v, &s);
}

/* t with each number changed. */
static const dpi_onnx_tensor *changed(dpi_onnx_node *n, const dpi_onnx_tensor *t,
                                      double (*change)(double))
{
    dpi_onnx_tensor *to = dpi_onnx_alloc(n->x, 1, sizeof *to);
    double *x = to != NULL ? dpi_onnx_alloc(n->x, t->n, sizeof *x) : NULL;
    if (x == NULL)
        return NULL;
    *to = *t;
    to->x = x;
    for (size_t i = 0; i < t->n; i++)
        x[i] = change(t->x[i]);
    return to;
}

static double negative(double x)
{
    return -x;
}

static double inverse(double x)
{
    return 1 / x;
}

/* ---- two computed values ---- */

/* Whether numbers of one name lie at one place in the stages of both. */
static bool same_places(const dpi_onnx *x, const dpi_onnx_value *a, const dpi_onnx_value *b)
{
    size_t p[3], q[3];
    dpi_onnx_shape(x, a, p);
    dpi_onnx_shape(x, b, q);
    bool plain_p = p[0] * p[1] == 1 || p[2] == 1, plain_q = q[0] * q[1] == 1 || q[2] == 1;
    return (plain_p && plain_q) || memcmp(p, q, sizeof p) == 0;
}

static bool add_values(dpi_onnx_node *n, dpi_onnx_value *a, dpi_onnx_value *b)
{
    if (a->rank != b->rank || memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) != 0)
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "what it adds has different dimensions; only a constant is spread");
    if (!same_places(n->x, a, b))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "it adds a flattened image and a layer's vector, whose numbers have "
                             "different orders");
    int first = dpi_onnx_force(n, a), second = first < 0 ? -1 : dpi_onnx_force(n, b);
    return second >= 0 && dpi_onnx_give(n, dp_program_add(n->x->program, first, second), a);
}

/* ---- sums and products ---- */

static bool is_constant(const dpi_onnx_node *n, size_t k)
{
    return dpi_onnx_has(n, k) && (n->in[k]->constant != NULL || n->in[k]->stored != NULL);
}

/* The one constant of two operands, and the other, which is computed. */
static const dpi_onnx_tensor *constant_of(dpi_onnx_node *n, dpi_onnx_value **v)
{
    size_t k = is_constant(n, 0) ? 0 : 1;
    *v = dpi_onnx_computed(n, 1 - k);
    return *v != NULL ? dpi_onnx_reals(n, k) : NULL;
}

bool dpi_onnx_sum(dpi_onnx_node *n)
{
    dpi_onnx_value *v, *b;
    if (is_constant(n, 0) || is_constant(n, 1)) {
        const dpi_onnx_tensor *t = constant_of(n, &v);
        return t != NULL && add_constant(n, v, 1, t);
    }
    v = dpi_onnx_computed(n, 0);
    b = v != NULL ? dpi_onnx_computed(n, 1) : NULL;
    return b != NULL && add_values(n, v, b);
}

/* a - b of two values is a + (-1) b, where the factor waits with b alone. */
static bool subtract_values(dpi_onnx_node *n, dpi_onnx_value *a, dpi_onnx_value *b)
{
    dpi_onnx_value minus = {.name = b->name};
    dpi_onnx_node of_b = *n;
    double one = -1, zero = 0;
    of_b.out = &minus;
    if (b->uses > 1 && dpi_onnx_force(n, b) < 0) /* what others read stays as it is */
        return false;
    return dpi_onnx_scale(&of_b, b, &(dpi_onnx_scaling){&one, &zero, 1}) &&
           add_values(n, a, &minus);
}

bool dpi_onnx_difference(dpi_onnx_node *n)
{
    dpi_onnx_value *v, *b;
    const dpi_onnx_tensor *t;
    if (is_constant(n, 0) || is_constant(n, 1)) {
        t = constant_of(n, &v);
        if (t != NULL && is_constant(n, 0))
            return add_constant(n, v, -1, t);
        t = t != NULL ? changed(n, t, negative) : NULL;
        return t != NULL && add_constant(n, v, 1, t);
    }
    v = dpi_onnx_computed(n, 0);
    b = v != NULL ? dpi_onnx_computed(n, 1) : NULL;
    return b != NULL && subtract_values(n, v, b);
}

static bool two_computed(const dpi_onnx_node *n)
{
    return !is_constant(n, 0) && !is_constant(n, 1);
}

bool dpi_onnx_product(dpi_onnx_node *n)
{
    dpi_onnx_value *v;
    if (two_computed(n))
        return dpi_onnx_fail(n, DP_EUNSUPPORTED,
                             "a product of two computed values is not served; one is a constant");
    const dpi_onnx_tensor *t = constant_of(n, &v);
    return t != NULL && multiply(n, v, t);
}

bool dpi_onnx_quotient(dpi_onnx_node *n)
{
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    const dpi_onnx_tensor *t = v != NULL ? dpi_onnx_reals(n, 1) : NULL;
    for (size_t i = 0; t != NULL && i < t->n; i++)
        if (!isfinite(1 / t->x[i]))
            return dpi_onnx_fail(n, DP_EDATA, "it divides by 0");
    t = t != NULL ? changed(n, t, inverse) : NULL;
    return t != NULL && multiply(n, v, t);
}

/* ---- dense layers ---- */

/* The layer of a matrix [in][out], or [out][in] where transposed, times alpha. */
static bool layer_of(dpi_onnx_node *n, const dpi_onnx_value *v, bool transposed, double alpha,
                     dpi_onnx_layer *l)
{
    const dpi_onnx_tensor *t = dpi_onnx_reals(n, 1);
    if (t == NULL)
        return false;
    size_t in_axis = transposed ? 1 : 0;
    if (v->rank != 1 || t->rank != 2 || t->dims[in_axis] != v->dims[0])
        return dpi_onnx_fail(n, DP_ESHAPE,
                             "it needs a vector and a matrix that fits it; flatten images first");
    l->n_in = t->dims[in_axis];
    l->n_out = t->dims[1 - in_axis];
    l->weights = dpi_onnx_alloc(n->x, t->n, sizeof *l->weights);
    l->bias = dpi_onnx_alloc(n->x, l->n_out, sizeof *l->bias);
    for (size_t i = 0; l->weights != NULL && i < t->n; i++) {
        size_t o = transposed ? i / l->n_in : i % l->n_out;
        size_t k = transposed ? i % l->n_in : i / l->n_out;
        l->weights[o * l->n_in + k] = alpha * t->x[i];
    }
    return l->weights != NULL && l->bias != NULL;
}

bool dpi_onnx_matmul(dpi_onnx_node *n)
{
    dpi_onnx_layer l = {0};
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    return v != NULL && layer_of(n, v, false, 1, &l) && dpi_onnx_dense(n, v, &l);
}

/* The bias of a Gemm, its third operand times beta: one number, or one of each output. */
static bool read_bias(dpi_onnx_node *n, double beta, dpi_onnx_layer *l)
{
    if (!dpi_onnx_has(n, 2))
        return true;
    const dpi_onnx_tensor *t = dpi_onnx_reals(n, 2);
    if (t == NULL)
        return false;
    bool row = t->rank >= 1 && t->rank <= 2 && t->dims[t->rank - 1] == t->n;
    if (t->rank > 2 || (t->n != 1 && !(row && t->n == l->n_out)))
        return dpi_onnx_fail(n, DP_ESHAPE, "its bias does not have one number of each output");
    for (size_t o = 0; o < l->n_out; o++)
        l->bias[o] = beta * t->x[t->n == 1 ? 0 : o];
    return true;
}

bool dpi_onnx_gemm(dpi_onnx_node *n)
{
    dpi_onnx_layer l = {0};
    double alpha, beta;
    int64_t transposed;
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    return v != NULL && dpi_onnx_only(n, "transA", 0) && dpi_onnx_real(n, "alpha", 1, &alpha) &&
           dpi_onnx_real(n, "beta", 1, &beta) && dpi_onnx_int(n, "transB", 0, &transposed) &&
           layer_of(n, v, transposed != 0, alpha, &l) && read_bias(n, beta, &l) &&
           dpi_onnx_dense(n, v, &l);
}

/* ---- batch normalisation ---- */

/* Of an image by channels, of a vector by numbers: in both cases the first dimension. */
bool dpi_onnx_batch_norm(dpi_onnx_node *n)
{
    double epsilon;
    const dpi_onnx_tensor *of[5] = {NULL};
    dpi_onnx_value *v = dpi_onnx_computed(n, 0);
    if (v == NULL || !dpi_onnx_only(n, "training_mode", 0) || !dpi_onnx_only(n, "spatial", 1) ||
        !dpi_onnx_real(n, "epsilon", 1e-5, &epsilon))
        return false;
    for (size_t k = 1; k < 5; k++) {
        of[k] = dpi_onnx_reals(n, k);
        if (of[k] == NULL)
            return false;
        if (of[k]->rank != 1 || of[k]->n != v->dims[0])
            return dpi_onnx_fail(n, DP_ESHAPE, "its input %zu is not one number of each channel",
                                 k + 1);
    }
    size_t c = v->dims[0];
    double *scale = dpi_onnx_alloc(n->x, c, sizeof *scale);
    double *shift = dpi_onnx_alloc(n->x, c, sizeof *shift);
    for (size_t i = 0; scale != NULL && shift != NULL && i < c; i++) {
        double variance = of[4]->x[i] + epsilon;
        scale[i] = of[1]->x[i] / sqrt(variance);
        if (!(variance > 0) || !isfinite(scale[i]))
            return dpi_onnx_fail(n, DP_EDATA, "a variance, with epsilon, is not positive");
        shift[i] = of[2]->x[i] - of[3]->x[i] * scale[i];
    }
    if (scale == NULL || shift == NULL)
        return false;
    dpi_onnx_tensor t = {.rank = v->rank, .dims = {c, 1, 1}, .n = c, .x = scale, .real = true};
    dpi_onnx_scaling s = {0};
    s.scale = spread(n, v, &t, &s.period);
    t.x = shift;
    s.shift = spread(n, v, &t, &s.period);
    return s.scale != NULL && s.shift != NULL && dpi_onnx_scale(n, v, &s);
}
