#include "tests/serve/onnx-net.h"

#include <stdlib.h>
#include <string.h>

/* Texts of the schema's code are not const. */
static char *text_of(const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}

double net_uniform(net *t, double low, double high)
{
    t->seed = t->seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return low + (high - low) * (double)(t->seed >> 11) / 9007199254740992.0;
}

net *net_new(size_t rank, const int64_t *dims)
{
    net *t = calloc(1, sizeof *t);
    onnx__model_proto__init(&t->model);
    onnx__graph_proto__init(&t->graph);
    onnx__operator_set_id_proto__init(&t->opset);
    onnx__value_info_proto__init(&t->output);
    onnx__type_proto__init(&t->type);
    onnx__type_proto__tensor__init(&t->tensor);
    onnx__tensor_shape_proto__init(&t->shape);
    t->opset.has_version = 1;
    t->opset.version = 13;
    t->opsets[0] = &t->opset;
    t->model.n_opset_import = 1;
    t->model.opset_import = t->opsets;
    t->model.has_ir_version = 1;
    t->model.ir_version = 8;
    t->model.graph = &t->graph;
    for (size_t i = 0; i <= rank; i++) {
        onnx__tensor_shape_proto__dimension__init(&t->dim[i]);
        t->dim[i].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        t->dim[i].dim_value = i > 0 ? dims[i - 1] : 1;
        t->dims[i] = &t->dim[i];
    }
    t->shape.n_dim = rank + 1;
    t->shape.dim = t->dims;
    t->tensor.has_elem_type = 1;
    t->tensor.elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    t->tensor.shape = &t->shape;
    t->type.value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    t->type.tensor_type = &t->tensor;
    for (size_t i = 0; i < 3; i++) {
        onnx__value_info_proto__init(&t->input[i]);
        t->input[i].type = &t->type;
        t->inputs[i] = &t->input[i];
    }
    t->input[0].name = text_of("x");
    t->output.name = text_of("y");
    t->outputs[0] = &t->output;
    t->graph.n_input = t->graph.n_output = 1;
    t->graph.input = t->inputs;
    t->graph.output = t->outputs;
    t->graph.node = t->nodes;
    t->graph.initializer = t->constants;
    t->seed = 20261123;
    return t;
}

void net_free(net *t)
{
    for (size_t i = 0; i < t->graph.n_initializer; i++) {
        free(t->constant[i].proto.name);
        free(t->constant[i].x);
    }
    for (size_t i = 0; i < t->graph.n_node; i++) {
        net_node *n = &t->node[i];
        for (size_t k = 0; k < n->proto.n_attribute; k++) {
            free(n->attribute[k].proto.name);
            free(n->attribute[k].proto.s.data);
        }
        for (size_t k = 0; k < n->proto.n_input; k++)
            free(n->in[k]);
        free(n->proto.op_type);
        free(n->out[0]);
    }
    for (size_t i = 0; i < 3; i++)
        free(t->input[i].name);
    free(t->output.name);
    free(t);
}

/* ---- constants ---- */

static net_constant *new_constant(net *t, const char *name, size_t rank, const int64_t *dims)
{
    net_constant *c = &t->constant[t->graph.n_initializer];
    t->constants[t->graph.n_initializer++] = &c->proto;
    onnx__tensor_proto__init(&c->proto);
    c->proto.name = text_of(name);
    c->proto.n_dims = rank;
    c->proto.dims = c->dims;
    c->proto.has_data_type = 1;
    for (size_t i = 0; i < rank; i++)
        c->dims[i] = dims[i];
    return c;
}

static size_t product(size_t rank, const int64_t *dims)
{
    size_t n = 1;
    for (size_t i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    return n;
}

Onnx__TensorProto *net_numbers(net *t, const char *name, size_t rank, const int64_t *dims,
                               const double *x)
{
    net_constant *c = new_constant(t, name, rank, dims);
    size_t n = product(rank, dims);
    c->x = malloc(n * sizeof *c->x);
    for (size_t i = 0; i < n; i++)
        c->x[i] = x != NULL ? x[i] : net_uniform(t, -1, 1);
    c->proto.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE;
    c->proto.n_double_data = n;
    c->proto.double_data = c->x;
    return &c->proto;
}

Onnx__TensorProto *net_random(net *t, const char *name, size_t rank, const int64_t *dims,
                              double low, double high)
{
    size_t n = product(rank, dims);
    double *x = malloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++)
        x[i] = net_uniform(t, low, high);
    Onnx__TensorProto *made = net_numbers(t, name, rank, dims, x);
    free(x);
    return made;
}

Onnx__TensorProto *net_whole(net *t, const char *name, size_t n, const int64_t *x)
{
    net_constant *c = new_constant(t, name, 1, (const int64_t[]){(int64_t)n});
    int64_t *copy = malloc(n * sizeof *copy);
    memcpy(copy, x, n * sizeof *copy);
    c->x = (double *)copy; /* owned all the same */
    c->proto.data_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    c->proto.n_int64_data = n;
    c->proto.int64_data = copy;
    return &c->proto;
}

/* ---- nodes ---- */

Onnx__NodeProto *net_add(net *t, const char *op, const char *out, const char *a, const char *b,
                         const char *c)
{
    const char *const in[] = {a, b, c};
    net_node *n = &t->node[t->graph.n_node];
    t->nodes[t->graph.n_node++] = &n->proto;
    onnx__node_proto__init(&n->proto);
    n->proto.op_type = text_of(op);
    n->out[0] = text_of(out);
    n->proto.n_output = 1;
    n->proto.output = n->out;
    n->proto.input = n->in;
    n->proto.attribute = n->attributes;
    for (size_t i = 0; i < 3 && in[i] != NULL; i++)
        n->in[n->proto.n_input++] = text_of(in[i]);
    return &n->proto;
}

static net_attribute *new_attribute(Onnx__NodeProto *proto, const char *name)
{
    net_node *n = (net_node *)proto; /* its first member */
    net_attribute *a = &n->attribute[proto->n_attribute];
    n->attributes[proto->n_attribute++] = &a->proto;
    onnx__attribute_proto__init(&a->proto);
    a->proto.name = text_of(name);
    return a;
}

void net_int(Onnx__NodeProto *n, const char *name, int64_t value)
{
    net_attribute *a = new_attribute(n, name);
    a->proto.has_i = 1;
    a->proto.i = value;
}

void net_ints(Onnx__NodeProto *n, const char *name, size_t count, const int64_t *values)
{
    net_attribute *a = new_attribute(n, name);
    memcpy(a->ints, values, count * sizeof *values);
    a->proto.n_ints = count;
    a->proto.ints = a->ints;
}

void net_real(Onnx__NodeProto *n, const char *name, double value)
{
    net_attribute *a = new_attribute(n, name);
    a->proto.has_f = 1;
    a->proto.f = (float)value;
}

void net_text(Onnx__NodeProto *n, const char *name, const char *text)
{
    net_attribute *a = new_attribute(n, name);
    a->proto.has_s = 1;
    a->proto.s.len = strlen(text);
    a->proto.s.data = (uint8_t *)text_of(text);
}

unsigned char *net_bytes(net *t, size_t *size)
{
    *size = onnx__model_proto__get_packed_size(&t->model);
    unsigned char *bytes = malloc(*size > 0 ? *size : 1);
    (void)onnx__model_proto__pack(&t->model, bytes);
    return bytes;
}
