/* Networks of ONNX files as programs: what the files of this module share.
 *
 * A file's values are constants or are computed from the input.  A computed value is a stage of the
 * program and what is still to be done to it: numbers scaled and shifted, a dense layer, or a
 * convolution.  What is to be done waits, so that the next node can be merged into it; it becomes a
 * stage when a node needs the numbers themselves, or when two nodes read the value.
 *
 * ONNX has images as [channels][rows][columns], programs as [rows][columns][channels].  The n-th
 * number of a value in the file is always number n of its stage in the order [channels][rows]
 * [columns]: flattening and reshaping change how the file names numbers, never the stage. */
#ifndef DPI_SERVE_ONNX_H
#define DPI_SERVE_ONNX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <onnx.pb-c.h>

#include <tacit/program.h>
#include <tacit/serve.h>

#include "base/alloc.h"
#include "base/error.h"

enum {
    DPI_ONNX_RANK = 8,       /* dimensions of a constant */
    DPI_ONNX_AXES = 3,       /* dimensions of a computed value, without that of the batch */
    DPI_ONNX_OPERANDS = 8,   /* inputs of a node */
    DPI_ONNX_WORD = 64,      /* room for a name of the file in a message */
    DPI_ONNX_INPUT = 1 << 20 /* numbers of the input */
};

/* A constant.  The numbers of integers are whole. */
typedef struct dpi_onnx_tensor {
    size_t rank, dims[DPI_ONNX_RANK], n;
    double *x;
    bool real; /* of floating-point numbers in the file */
} dpi_onnx_tensor;

typedef enum dpi_onnx_form {
    DPI_ONNX_STAGE, /* the stage, scaled and shifted where scaling.period > 0 */
    DPI_ONNX_DENSE,
    DPI_ONNX_CONVOLUTION
} dpi_onnx_form;

/* Number i of a stage becomes scale[i % period] x + shift[i % period]; period is 1, the channels of
 * the stage, or all its numbers. */
typedef struct dpi_onnx_scaling {
    double *scale, *shift;
    size_t period; /* 0: none */
} dpi_onnx_scaling;

/* A layer that is not a stage yet, with weights as dp_program_dense and dp_program_convolution
 * have them. */
typedef struct dpi_onnx_layer {
    double *weights, *bias;
    size_t n_in, n_out; /* n_in: weights of one output */
    dp_window window;   /* of a convolution */
} dpi_onnx_layer;

typedef struct dpi_onnx_value {
    const char *name;
    const Onnx__TensorProto *stored; /* an initialiser of the file */
    bool given;                      /* by the file's input, an initialiser or a node so far */
    size_t uses;                     /* nodes that read it, of those that the output needs */

    dpi_onnx_tensor *constant;

    /* Of a value that is computed. */
    size_t rank, dims[DPI_ONNX_AXES];
    int stage;
    dpi_onnx_form form;
    dpi_onnx_scaling scaling;
    dpi_onnx_layer layer;
    dp_link link; /* what is left to whoever asks */
    bool place;   /* an argmax */
} dpi_onnx_value;

typedef struct dpi_onnx {
    dpi_arena arena;
    size_t taken, most; /* bytes of the arena, and how many it may have */
    dp_error err;
    const char *file; /* the end of its path */
    const dp_onnx_opts *opts;
    const Onnx__GraphProto *graph;
    dp_program *program;
    dpi_onnx_value *values; /* by name */
    size_t n_values;
    dpi_onnx_value *input, *output;
    size_t input_shape[3];
    bool placed;      /* the input is a stage of the program */
    size_t diagonals; /* weights of stages that only scale */
} dpi_onnx;

/* A node while it is looked at. */
typedef struct dpi_onnx_node {
    dpi_onnx *x;
    const Onnx__NodeProto *proto;
    size_t number, n_in;
    dpi_onnx_value *in[DPI_ONNX_OPERANDS]; /* NULL: left out */
    dpi_onnx_value *out;
} dpi_onnx_node;

/* ---- onnx-read.c ---- */

/* The model in the file at `path`, which is freed by dpi_onnx_model_free; NULL and x->err where it
 * cannot be read or is none. */
Onnx__ModelProto *dpi_onnx_model_read(dpi_onnx *x, const char *path);
void dpi_onnx_model_free(Onnx__ModelProto *model);

/* The same of bytes in memory. */
Onnx__ModelProto *dpi_onnx_model_parse(dpi_onnx *x, size_t n, const unsigned char *bytes);

/* ---- onnx-tensor.c ---- */

/* A zeroed block of the import's arena; NULL and the error where memory or its limit is spent. */
void *dpi_onnx_alloc(dpi_onnx *x, size_t count, size_t size);

/* A name of the file as a message may have it: printable, and not long. */
const char *dpi_onnx_word(const char *name, char word[DPI_ONNX_WORD]);

/* The constant of a tensor of the file; NULL and the error, which begins with `what`. */
dpi_onnx_tensor *dpi_onnx_tensor_read(dpi_onnx *x, const Onnx__TensorProto *t, const char *what);

/* ---- onnx-node.c: what a node is given ---- */

/* Records an error that begins with the node; gives false. */
bool dpi_onnx_fail(dpi_onnx_node *n, dp_status status, const char *format, ...) DPI_PRINTF(3, 4);

/* The attribute of that name; NULL: none. */
const Onnx__AttributeProto *dpi_onnx_attribute(const dpi_onnx_node *n, const char *name);

/* An attribute, or what it is where there is none; false and the error where it is of another
 * kind.  Integers: `count` of them. */
bool dpi_onnx_int(dpi_onnx_node *n, const char *name, int64_t otherwise, int64_t *value);
bool dpi_onnx_ints(dpi_onnx_node *n, const char *name, size_t count, int64_t otherwise,
                   int64_t *values);
bool dpi_onnx_real(dpi_onnx_node *n, const char *name, double otherwise, double *value);
bool dpi_onnx_text(dpi_onnx_node *n, const char *name, const char *otherwise, char text[16]);

/* Refuses an integer attribute that is there and has another value than `only`. */
bool dpi_onnx_only(dpi_onnx_node *n, const char *name, int64_t only);

/* Operand k, a constant of real numbers or of integers; NULL and the error where it is none. */
const dpi_onnx_tensor *dpi_onnx_reals(dpi_onnx_node *n, size_t k);
const dpi_onnx_tensor *dpi_onnx_whole(dpi_onnx_node *n, size_t k);

/* Operand k, which is computed; NULL and the error where it is a constant or left out, or where
 * nothing can be computed from it. */
dpi_onnx_value *dpi_onnx_computed(dpi_onnx_node *n, size_t k);

/* Whether a node of the file has operand k. */
bool dpi_onnx_has(const dpi_onnx_node *n, size_t k);

/* ---- onnx-linear.c: what waits, and stages ---- */

/* Rows, columns and channels of the stage that the value is, or is to be. */
void dpi_onnx_shape(const dpi_onnx *x, const dpi_onnx_value *v, size_t shape[3]);

/* Whether the file's dimensions are [channels][rows][columns] of the stage. */
bool dpi_onnx_is_image(const dpi_onnx *x, const dpi_onnx_value *v);

/* The place in a stage of number n of the file. */
size_t dpi_onnx_place(const size_t shape[3], size_t n);

/* Does what waits: the value is its stage, whose number this is.  -1 and the error. */
int dpi_onnx_force(dpi_onnx_node *n, dpi_onnx_value *v);

/* A stage that the program has just been given, of node n: the value of out, with the dimensions
 * of `like`.  False and the program's error, if k is -1. */
bool dpi_onnx_give(dpi_onnx_node *n, int k, const dpi_onnx_value *like);

/* Makes the value of out that of `in`, as a node does that computes nothing. */
void dpi_onnx_pass(dpi_onnx_node *n, const dpi_onnx_value *in);

/* out = scale x + shift; out = weights x + bias of n_out numbers, with weights[n_out][numbers of in
 * in the file's order]; out = the convolution of image `in`.  The arrays of a layer are taken. */
bool dpi_onnx_scale(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_scaling *s);
bool dpi_onnx_dense(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_layer *layer);
bool dpi_onnx_convolve(dpi_onnx_node *n, dpi_onnx_value *in, const dpi_onnx_layer *layer);

/* Before a maximum or a mean is taken of the value: whether its scaling may be done afterwards
 * instead; else it is done now.  False and the error. */
bool dpi_onnx_defer(dpi_onnx_node *n, dpi_onnx_value *v, bool increasing, bool without_shift);

/* ---- operators ---- */

typedef struct dpi_onnx_operator {
    const char *name;
    bool (*run)(dpi_onnx_node *n);
    size_t fewest, most;    /* operands */
    const char *attributes; /* that it knows, with blanks between and around */
} dpi_onnx_operator;

/* The operator of that name; NULL: there is none. */
const dpi_onnx_operator *dpi_onnx_operator_of(const char *name);

bool dpi_onnx_gemm(dpi_onnx_node *n);
bool dpi_onnx_matmul(dpi_onnx_node *n);
bool dpi_onnx_sum(dpi_onnx_node *n);
bool dpi_onnx_difference(dpi_onnx_node *n);
bool dpi_onnx_product(dpi_onnx_node *n);
bool dpi_onnx_quotient(dpi_onnx_node *n);
bool dpi_onnx_batch_norm(dpi_onnx_node *n);
bool dpi_onnx_convolution(dpi_onnx_node *n);
bool dpi_onnx_max_pool(dpi_onnx_node *n);
bool dpi_onnx_average_pool(dpi_onnx_node *n);
bool dpi_onnx_global_average_pool(dpi_onnx_node *n);

/* ---- onnx-graph.c ---- */

/* The program of the model, in x->program.  False and the error. */
bool dpi_onnx_graph_read(dpi_onnx *x, const Onnx__ModelProto *model);

/* ---- onnx.c ---- */

/* dp_program_of_onnx of bytes in memory. */
dp_status dpi_program_of_onnx(size_t n, const unsigned char *bytes, const dp_onnx_opts *opts,
                              dp_program **p, dp_error *err);

#endif
