/* What the networks of onnx-net.h compute, node after node and straight from the definitions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/serve/onnx-net.h"

typedef struct array {
    const char *name;
    size_t rank, dims[4], n; /* with the batch */
    double x[NET_NUMBERS];
} array;

typedef struct machine {
    net *t;
    array *all;
    size_t n;
} machine;

static size_t count(const array *a)
{
    size_t n = 1;
    for (size_t i = 0; i < a->rank; i++)
        n *= a->dims[i];
    return n;
}

static array *find(machine *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->all[i].name, name) == 0)
            return &m->all[i];
    (void)fprintf(stderr, "onnx-naive: no value %s\n", name);
    abort();
}

static array *operand(machine *m, const Onnx__NodeProto *n, size_t k)
{
    return k < n->n_input && n->input[k][0] != '\0' ? find(m, n->input[k]) : NULL;
}

static const Onnx__AttributeProto *attribute(const Onnx__NodeProto *n, const char *name)
{
    for (size_t i = 0; i < n->n_attribute; i++)
        if (strcmp(n->attribute[i]->name, name) == 0)
            return n->attribute[i];
    return NULL;
}

static long whole(const Onnx__NodeProto *n, const char *name, size_t k, long otherwise)
{
    const Onnx__AttributeProto *a = attribute(n, name);
    return a == NULL ? otherwise : a->has_i ? (long)a->i : (long)a->ints[k];
}

static double real(const Onnx__NodeProto *n, const char *name, double otherwise)
{
    const Onnx__AttributeProto *a = attribute(n, name);
    return a == NULL ? otherwise : (double)a->f;
}

/* ---- operators ---- */

/* The number of b that meets number i of a, dimensions compared from the last. */
static double met(const array *a, const array *b, size_t i)
{
    size_t at = 0, step = 1;
    for (size_t k = 0; k < b->rank; k++) {
        size_t from_a = a->dims[a->rank - 1 - k], of_b = b->dims[b->rank - 1 - k];
        at += (of_b > 1 ? i % from_a : 0) * step;
        step *= of_b;
        i /= from_a;
    }
    return b->x[at];
}

static double combine(char op, double a, double b)
{
    return op == 'A' ? a + b : op == 'S' ? a - b : op == 'M' ? a * b : a / b;
}

static void arithmetic(char op, const array *a, const array *b, array *y)
{
    bool swapped = b->rank > a->rank || (b->rank == a->rank && count(b) > count(a));
    const array *large = swapped ? b : a;
    y->rank = large->rank;
    memcpy(y->dims, large->dims, sizeof y->dims);
    for (size_t i = 0; i < count(y); i++)
        y->x[i] = swapped ? combine(op, met(b, a, i), b->x[i]) : combine(op, a->x[i], met(a, b, i));
}

static void gemm(const Onnx__NodeProto *n, const array *a, const array *b, const array *c, array *y)
{
    bool transposed = whole(n, "transB", 0, 0) != 0;
    size_t inner = a->dims[1], outer = transposed ? b->dims[0] : b->dims[1];
    y->rank = 2;
    y->dims[0] = 1;
    y->dims[1] = outer;
    for (size_t o = 0; o < outer; o++) {
        double sum = 0;
        for (size_t i = 0; i < inner; i++)
            sum += a->x[i] * b->x[transposed ? o * inner + i : i * outer + o];
        y->x[o] = real(n, "alpha", 1) * sum;
        if (c != NULL)
            y->x[o] += real(n, "beta", 1) * c->x[count(c) > 1 ? o : 0];
    }
}

typedef struct sight {
    long size[2], stride[2], before[2], stops[2], rows, columns;
} sight;

static sight look(const Onnx__NodeProto *n, const array *a, const array *w)
{
    sight s = {.rows = (long)a->dims[2], .columns = (long)a->dims[3]};
    const Onnx__AttributeProto *pad = attribute(n, "auto_pad");
    for (size_t k = 0; k < 2; k++) {
        long image = (long)a->dims[2 + k];
        s.size[k] = w != NULL ? (long)w->dims[2 + k] : whole(n, "kernel_shape", k, image);
        s.stride[k] = whole(n, "strides", k, 1);
        s.before[k] = whole(n, "pads", k, 0);
        long both = 2 * s.before[k];
        if (pad != NULL && pad->s.data[0] == 'S') {
            long stops = (image + s.stride[k] - 1) / s.stride[k];
            both = (stops - 1) * s.stride[k] + s.size[k] - image;
            both = both > 0 ? both : 0;
            s.before[k] = both / 2;
        }
        s.stops[k] = (image + both - s.size[k]) / s.stride[k] + 1;
    }
    return s;
}

/* The pixel that place (i, j) of the window sees at stop (r, c); -1 in the padding. */
static long seen(const sight *s, long r, long c, long i, long j)
{
    long row = r * s->stride[0] - s->before[0] + i, column = c * s->stride[1] - s->before[1] + j;
    return row < 0 || row >= s->rows || column < 0 || column >= s->columns
               ? -1
               : row * s->columns + column;
}

static double convolved(const sight *s, const array *a, const array *w, size_t o, const long at[2])
{
    double sum = 0;
    for (size_t c = 0; c < a->dims[1]; c++)
        for (long i = 0; i < s->size[0]; i++)
            for (long j = 0; j < s->size[1]; j++) {
                long p = seen(s, at[0], at[1], i, j);
                size_t k = ((o * a->dims[1] + c) * w->dims[2] + (size_t)i) * w->dims[3] + (size_t)j;
                sum += p < 0 ? 0 : w->x[k] * a->x[c * a->dims[2] * a->dims[3] + (size_t)p];
            }
    return sum;
}

static double pooled(const sight *s, const array *a, size_t o, const long at[2], bool largest)
{
    double sum = 0, most = -INFINITY;
    for (long i = 0; i < s->size[0]; i++)
        for (long j = 0; j < s->size[1]; j++) {
            long p = seen(s, at[0], at[1], i, j);
            double x = p < 0 ? 0 : a->x[o * a->dims[2] * a->dims[3] + (size_t)p];
            sum += x;
            most = p >= 0 && x > most ? x : most;
        }
    return largest ? most : sum / (double)(s->size[0] * s->size[1]);
}

/* kind: C convolution, M largest, A mean. */
static void windowed(char kind, const Onnx__NodeProto *n, const array *a, const array *w,
                     const array *bias, array *y)
{
    sight s = look(n, a, w);
    y->rank = 4;
    y->dims[0] = 1;
    y->dims[1] = w != NULL ? w->dims[0] : a->dims[1];
    y->dims[2] = (size_t)s.stops[0];
    y->dims[3] = (size_t)s.stops[1];
    for (size_t k = 0; k < count(y); k++) {
        size_t pixels = y->dims[2] * y->dims[3], o = k / pixels;
        long at[2] = {(long)(k % pixels) / s.stops[1], (long)(k % pixels) % s.stops[1]};
        y->x[k] = kind == 'C' ? convolved(&s, a, w, o, at) + (bias != NULL ? bias->x[o] : 0)
                              : pooled(&s, a, o, at, kind == 'M');
    }
}

static void batch_norm(machine *m, const Onnx__NodeProto *n, const array *a, array *y)
{
    const array *p[5];
    for (size_t k = 1; k < 5; k++)
        p[k] = operand(m, n, k);
    size_t inner = count(a) / a->dims[1];
    for (size_t i = 0; i < count(a); i++) {
        size_t c = i / inner;
        y->x[i] =
            (a->x[i] - p[3]->x[c]) / sqrt(p[4]->x[c] + real(n, "epsilon", 1e-5)) * p[1]->x[c] +
            p[2]->x[c];
    }
}

static void reshape(const array *a, const array *to, array *y)
{
    size_t known = 1, n = count(a);
    y->rank = to == NULL ? 2 : count(to);
    for (size_t i = 0; i < y->rank; i++) {
        double d = to == NULL ? (i == 0 ? 1 : -1) : to->x[i];
        y->dims[i] = d == 0 ? a->dims[i] : d < 0 ? 0 : (size_t)d;
        known *= y->dims[i] > 0 ? y->dims[i] : 1;
    }
    for (size_t i = 0; i < y->rank; i++)
        y->dims[i] = y->dims[i] > 0 ? y->dims[i] : n / known;
}

static double element(const char *op, double x)
{
    return strcmp(op, "Relu") == 0      ? fmax(x, 0)
           : strcmp(op, "Tanh") == 0    ? tanh(x)
           : strcmp(op, "Sigmoid") == 0 ? 1 / (1 + exp(-x))
                                        : x;
}

static void run_constant(const Onnx__TensorProto *t, array *y)
{
    y->rank = t->n_dims;
    for (size_t i = 0; i < y->rank; i++)
        y->dims[i] = (size_t)t->dims[i];
    for (size_t i = 0; i < count(y); i++)
        y->x[i] = t->n_double_data > 0 ? t->double_data[i] : (double)t->int64_data[i];
}

static void run(machine *m, const Onnx__NodeProto *n, array *y)
{
    const char *op = n->op_type;
    const array *a = operand(m, n, 0), *b = operand(m, n, 1), *c = operand(m, n, 2);
    if (a != NULL) {
        y->rank = a->rank;
        memcpy(y->dims, a->dims, sizeof y->dims);
        for (size_t i = 0; i < count(a); i++)
            y->x[i] = element(op, a->x[i]);
    }
    if (strcmp(op, "Gemm") == 0 || strcmp(op, "MatMul") == 0)
        gemm(n, a, b, c, y);
    else if (strcmp(op, "Add") == 0 || strcmp(op, "Sub") == 0 || strcmp(op, "Mul") == 0 ||
             strcmp(op, "Div") == 0)
        arithmetic(op[0], a, b, y);
    else if (strcmp(op, "Conv") == 0)
        windowed('C', n, a, b, c, y);
    else if (strcmp(op, "MaxPool") == 0)
        windowed('M', n, a, NULL, NULL, y);
    else if (strstr(op, "AveragePool") != NULL)
        windowed('A', n, a, NULL, NULL, y);
    else if (strcmp(op, "BatchNormalization") == 0)
        batch_norm(m, n, a, y);
    else if (strcmp(op, "Reshape") == 0 || strcmp(op, "Flatten") == 0)
        reshape(a, op[0] == 'R' ? b : NULL, y);
    else if (strcmp(op, "Constant") == 0)
        run_constant(n->attribute[0]->t, y);
    else if (strcmp(op, "ArgMax") == 0) {
        size_t best = 0;
        for (size_t i = 0; i < count(a); i++)
            best = a->x[i] > a->x[best] ? i : best;
        y->x[0] = (double)best;
        y->dims[1] = 1;
    }
}

size_t net_inputs(const net *t)
{
    size_t n = 1;
    for (size_t i = 1; i < t->shape.n_dim; i++)
        n *= (size_t)t->dim[i].dim_value;
    return n;
}

size_t net_run(net *t, const double *x, double *y)
{
    machine m = {.t = t, .all = calloc(NET_NODES + NET_CONSTANTS + 1, sizeof *m.all)};
    array *input = &m.all[m.n++];
    input->name = t->input[0].name;
    input->rank = t->shape.n_dim;
    for (size_t i = 0; i < input->rank; i++)
        input->dims[i] = i > 0 ? (size_t)t->dim[i].dim_value : 1;
    memcpy(input->x, x, count(input) * sizeof *x);
    for (size_t i = 0; i < t->graph.n_initializer; i++) {
        m.all[m.n].name = t->constants[i]->name;
        run_constant(t->constants[i], &m.all[m.n++]);
    }
    for (size_t i = 0; i < t->graph.n_node; i++) {
        const Onnx__NodeProto *n = t->nodes[i];
        bool last = strcmp(n->output[0], t->output.name) == 0 && strcmp(n->op_type, "Sigmoid") == 0;
        array *made = &m.all[m.n];
        if (last) {
            *made = *operand(&m, n, 0);
        } else {
            run(&m, n, made);
        }
        made->name = n->output[0];
        m.n++;
    }
    const array *output = find(&m, t->output.name);
    size_t n = count(output);
    memcpy(y, output->x, n * sizeof *y);
    free(m.all);
    return n;
}
