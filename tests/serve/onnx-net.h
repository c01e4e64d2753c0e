/* Small networks that tests write as ONNX files, and what they compute by plain loops over
 * [channels][rows][columns]. */
#ifndef TESTS_SERVE_ONNX_NET_H
#define TESTS_SERVE_ONNX_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <onnx.pb-c.h>

#include <tacit/serve.h>

enum { NET_NODES = 40, NET_CONSTANTS = 40, NET_OPERANDS = 6, NET_NUMBERS = 4096 };

typedef struct net_attribute {
    Onnx__AttributeProto proto;
    int64_t ints[4];
} net_attribute;

typedef struct net_node {
    Onnx__NodeProto proto;
    char *in[NET_OPERANDS], *out[2];
    net_attribute attribute[8];
    Onnx__AttributeProto *attributes[8];
} net_node;

typedef struct net_constant {
    Onnx__TensorProto proto;
    int64_t dims[8];
    double *x;
} net_constant;

/* A network under construction; names are borrowed. */
typedef struct net {
    Onnx__ModelProto model;
    Onnx__GraphProto graph;
    Onnx__OperatorSetIdProto opset, *opsets[1];
    Onnx__ValueInfoProto input[3], output, *inputs[3], *outputs[1];
    Onnx__TypeProto type;
    Onnx__TypeProto__Tensor tensor;
    Onnx__TensorShapeProto shape;
    Onnx__TensorShapeProto__Dimension dim[5], *dims[5];
    net_node node[NET_NODES];
    Onnx__NodeProto *nodes[NET_NODES];
    net_constant constant[NET_CONSTANTS];
    Onnx__TensorProto *constants[NET_CONSTANTS];
    uint64_t seed;
} net;

/* A network with input "x" of [batch, dims] and output "y".  Freed with net_free. */
net *net_new(size_t rank, const int64_t *dims);
void net_free(net *t);

/* An initialiser of doubles; x NULL: random numbers in [low, high]. */
Onnx__TensorProto *net_numbers(net *t, const char *name, size_t rank, const int64_t *dims,
                               const double *x);
Onnx__TensorProto *net_random(net *t, const char *name, size_t rank, const int64_t *dims,
                              double low, double high);

/* An initialiser of n integers, a vector. */
Onnx__TensorProto *net_whole(net *t, const char *name, size_t n, const int64_t *x);

/* A node with operands in turn ("" leaves one out, NULL ends them) and one output. */
Onnx__NodeProto *net_add(net *t, const char *op, const char *out, const char *a, const char *b,
                         const char *c);

/* Attributes of a node. */
void net_int(Onnx__NodeProto *n, const char *name, int64_t value);
void net_ints(Onnx__NodeProto *n, const char *name, size_t count, const int64_t *values);
void net_real(Onnx__NodeProto *n, const char *name, double value);
void net_text(Onnx__NodeProto *n, const char *name, const char *text);

/* The file, freed with free. */
unsigned char *net_bytes(net *t, size_t *size);

/* A random number in [low, high], from the network's own stream. */
double net_uniform(net *t, double low, double high);

/* Numbers of the input, and what the network makes of x[inputs], in the file's order: y, of which
 * the number is given.  Softmax and a last Sigmoid are left out, as programs leave them out. */
size_t net_inputs(const net *t);
size_t net_run(net *t, const double *x, double *y);

/* ---- onnx-check.c, for cmocka's tests ---- */

#define DIMS(...)                                                                                  \
    (const int64_t[])                                                                              \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* Networks of an input [1, n], and [1, channels, rows, columns]. */
net *net_of_vector(int64_t n);
net *net_of_image(int64_t channels, int64_t rows, int64_t columns);

/* Every number of the input is from -1 to 1. */
extern const dp_onnx_opts net_bounds;

/* The network's program, fixed. */
dp_program *net_read(net *t);

/* Reads the network, compares outputs for 20 random inputs, and frees it; the stages it has. */
size_t net_check(net *t);

/* Refuses the bytes, or the network, which is freed: no program, that status, and a message. */
void net_refuse_bytes(size_t n, const unsigned char *bytes, dp_status status, const char *why);
void net_refuse(net *t, dp_status status, const char *why);

#endif
