/* ONNX files that are refused: each with the node or the name, and what is wrong.  Nothing of them
 * is read beyond its end, and no program comes of them. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

/* ---- nodes ---- */

/* A network of one node over an image [2][6][5] or a vector, with weights w, v and b. */
static net *one(const char *op, bool image, Onnx__NodeProto **n)
{
    net *t = image ? net_of_image(2, 6, 5) : net_of_vector(4);
    (void)net_numbers(t, "w", image ? 4 : 2, image ? DIMS(3, 2, 2, 2) : DIMS(4, 3), NULL);
    (void)net_numbers(t, "b", 1, DIMS(7), NULL);
    (void)net_whole(t, "k", 1, DIMS(4));
    bool weights = strcmp(op, "Conv") == 0 || strcmp(op, "Gemm") == 0;
    *n = net_add(t, op, "y", "x", weights ? "w" : NULL, NULL);
    return t;
}

typedef struct wrong_integer {
    const char *op, *attribute;
    bool image;
    size_t n; /* 0: a single one */
    int64_t values[4];
    const char *why;
} wrong_integer;

static const wrong_integer wrong_integers[] = {
    {"Conv", "group", true, 0, {2}, "group = 2 is not served"},
    {"Conv", "dilations", true, 2, {2, 1}, "dilations are not served"},
    {"Conv", "dilations", true, 1, {1}, "has 1 integers where an image needs 2"},
    {"Conv", "pads", true, 4, {1, 0, 0, 0}, "pads are not the same on both sides"},
    {"Conv", "pads", true, 4, {-1, 0, -1, 0}, "pads are not the same on both sides"},
    {"Conv", "pads", true, 4, {2, 0, 2, 0}, "less than the padding"},
    {"Conv", "strides", true, 2, {0, 1}, "strides are not from 1 to 4096"},
    {"Conv", "strides", true, 2, {1, 5000}, "strides are not from 1 to 4096"},
    {"Conv", "kernel_shape", true, 2, {3, 2}, "kernel_shape is not that of its weights"},
    {"Conv", "padding", true, 0, {1}, "its attribute padding is not served"},
    {"Gemm", "transA", false, 0, {1}, "transA = 1 is not served"},
    {"Gemm", "transB", false, 2, {1, 1}, "transB is not an integer"},
    {"MaxPool", "kernel_shape", true, 2, {7, 2}, "window is larger than the image"},
    {"MaxPool", "strides", true, 2, {1, 1}, "no kernel_shape"},
    {"MaxPool", "kernel_shape", false, 2, {2, 2}, "no image"},
    {"Flatten", "axis", true, 0, {2}, "axis = 2 is not served"},
    {"Softmax", "axis", false, 0, {0}, "only a vector's last axis"},
    {"Softmax", "axis", true, 0, {1}, "only a vector's last axis"},
    {"ArgMax", "keepdims", false, 0, {0}, "only a vector's last axis"},
};

static void attributes_that_are_not_served(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wrong_integers / sizeof wrong_integers[0]; k++) {
        const wrong_integer *c = &wrong_integers[k];
        Onnx__NodeProto *n;
        net *t = one(c->op, c->image, &n);
        char name[] = "one";
        n->name = name;
        if (c->n == 0)
            net_int(n, c->attribute, c->values[0]);
        else
            net_ints(n, c->attribute, c->n, c->values);
        size_t size;
        dp_error err = {0};
        dp_program *p;
        unsigned char *bytes = net_bytes(t, &size);
        assert_int_not_equal(dpi_program_of_onnx(size, bytes, &net_bounds, &p, &err), DP_OK);
        assert_contains(err.text, c->why);
        assert_contains(err.text, "node 'one' (");
        assert_contains(err.text, c->op);
        free(bytes);
        n->name = NULL;
        net_free(t);
    }
}

static void pairs_of_attributes_that_are_not_served(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    net *t = one("AveragePool", true, &n);
    net_ints(n, "kernel_shape", 2, DIMS(3, 3));
    net_ints(n, "pads", 4, DIMS(1, 1, 1, 1));
    net_refuse(t, DP_EUNSUPPORTED, "means that leave out the padding");

    t = one("MaxPool", true, &n);
    net_ints(n, "kernel_shape", 2, DIMS(2, 2));
    net_ints(n, "strides", 2, DIMS(2, 2));
    net_int(n, "ceil_mode", 1);
    net_refuse(t, DP_EUNSUPPORTED, "ceil_mode");

    t = one("MaxPool", true, &n);
    net_ints(n, "kernel_shape", 2, DIMS(2, 2));
    net_text(n, "auto_pad", "SAME_UPPER");
    net_refuse(t, DP_EUNSUPPORTED, "pads one side more");

    t = one("Conv", true, &n);
    net_text(n, "auto_pad", "SOME");
    net_refuse(t, DP_EDATA, "auto_pad is none of");

    t = one("Conv", true, &n);
    net_text(n, "auto_pad", "a word that is much too long");
    net_refuse(t, DP_EDATA, "not one of its words");

    t = one("Gemm", false, &n);
    net_int(n, "alpha", 1);
    net_refuse(t, DP_EDATA, "alpha is not a finite number");

    t = one("Gemm", false, &n);
    net_real(n, "alpha", 1);
    net_real(n, "alpha", 2);
    net_refuse(t, DP_EDATA, "its attribute alpha is there twice");
}

static void operators_that_are_not_served(void **state)
{
    (void)state;
    const char *const ops[] = {"If",  "Loop",      "Scan",    "LSTM", "Exp", "ConvTranspose",
                               "Pow", "Transpose", "Squeeze", "",     "relu"};
    Onnx__NodeProto *n;
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++)
        net_refuse(one(ops[k], false, &n), DP_EUNSUPPORTED, "this operator is not served");
    net *t = one("Relu", false, &n);
    char domain[] = "com.microsoft";
    n->domain = domain;
    net_refuse(t, DP_EUNSUPPORTED, "(Relu): this operator is not served");
}

static void operands_that_do_not_fit(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    const struct {
        const char *op, *a, *b, *c;
        bool image;
        const char *why;
    } cases[] = {
        {"MatMul", "x", "b", NULL, false, "it needs a vector and a matrix"},
        {"MatMul", "w", "x", NULL, false, "is a constant where one that is computed"},
        {"MatMul", "x", "x", NULL, false, "input 2, 'x', is computed"},
        {"MatMul", "x", "w", NULL, true, "it needs a vector and a matrix"},
        {"MatMul", "x", "k", NULL, false, "not of float"},
        {"MatMul", "x", "", NULL, false, "input 2 is left out"},
        {"MatMul", "x", NULL, NULL, false, "it has 1 inputs, and takes 2 to 2"},
        {"Relu", "", NULL, NULL, false, "input 1 is left out"},
        {"Gemm", "x", "w", "b", false, "bias does not have one number"},
        {"Conv", "x", "w", "b", true, "bias does not have one number"},
        {"Conv", "x", "b", NULL, true, "weights do not fit"},
        {"Conv", "x", "w", NULL, false, "is no image"},
        {"Add", "x", "b", NULL, false, "dimensions do not fit"},
        {"Add", "x", "w", NULL, false, "dimensions do not fit"},
        {"Div", "b", "x", NULL, false, "is a constant where one that is computed"},
        {"Add", "b", "b", NULL, false, "is a constant where one that is computed"},
        {"Reshape", "x", "b", NULL, false, "not of integers"},
        {"Reshape", "x", "k", NULL, false, "only 2 to 4 dimensions"},
        {"BatchNormalization", "x", "b", "b", false, "it has 3 inputs, and takes 5 to 5"},
        {"Relu", "z", NULL, NULL, false, "'z' is read, and nothing gives it"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        net *t = one("Relu", cases[k].image, &n);
        free(n->output[0]);
        n->output[0] = strdup("left out");
        (void)net_add(t, cases[k].op, "y", cases[k].a, cases[k].b, cases[k].c);
        dp_error err = {0};
        dp_program *p;
        size_t size;
        unsigned char *bytes = net_bytes(t, &size);
        assert_int_not_equal(dpi_program_of_onnx(size, bytes, &net_bounds, &p, &err), DP_OK);
        assert_contains(err.text, cases[k].why);
        free(bytes);
        net_free(t);
    }
}

static void shapes_that_do_not_fit(void **state)
{
    (void)state;
    const struct {
        size_t n;
        int64_t to[4];
    } cases[] = {{2, {1, 3}},    {2, {2, 2}},  {3, {1, 3, -1}}, {2, {-1, -1}},
                 {3, {1, 4, 0}}, {2, {1, -2}}, {2, {4, 1}}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        net *t = net_of_vector(4);
        (void)net_whole(t, "to", cases[k].n, cases[k].to);
        (void)net_add(t, "Reshape", "a", "x", "to", NULL);
        (void)net_add(t, "Relu", "y", "a", NULL, NULL);
        net_refuse(t, DP_ESHAPE, "its shape does not fit");
    }
    net *t = net_of_vector(4);
    (void)net_whole(t, "to", 2, DIMS(3, -1));
    (void)net_numbers(t, "w", 1, DIMS(16), NULL);
    (void)net_add(t, "Reshape", "v", "w", "to", NULL);
    (void)net_add(t, "MatMul", "y", "x", "v", NULL);
    net_refuse(t, DP_ESHAPE, "does not fit the constant");
}

/* What would need an order of numbers that stages do not have. */
static void images_that_were_never_images(void **state)
{
    (void)state;
    net *t = net_of_vector(8);
    (void)net_numbers(t, "v", 2, DIMS(8, 8), NULL);
    (void)net_numbers(t, "w", 4, DIMS(1, 2, 2, 2), NULL);
    (void)net_whole(t, "to", 4, DIMS(1, 2, 2, 2));
    (void)net_add(t, "MatMul", "h", "x", "v", NULL);
    (void)net_add(t, "Reshape", "i", "h", "to", NULL);
    (void)net_add(t, "Conv", "y", "i", "w", NULL);
    net_refuse(t, DP_EUNSUPPORTED, "it was flat when it was computed");

    t = net_of_image(2, 3, 3);
    (void)net_numbers(t, "c", 3, DIMS(1, 3, 3), NULL);
    (void)net_numbers(t, "w", 4, DIMS(1, 2, 2, 2), NULL);
    (void)net_add(t, "Add", "a", "x", "c", NULL);
    (void)net_add(t, "Conv", "y", "a", "w", NULL);
    net_refuse(t, DP_EUNSUPPORTED, "scaled pixel by pixel");

    t = net_of_image(2, 3, 3);
    (void)net_add(t, "Flatten", "f", "x", NULL, NULL);
    net_int(net_add(t, "ArgMax", "y", "f", NULL, NULL), "axis", 1);
    net_refuse(t, DP_EUNSUPPORTED, "the places of a flattened image");

    t = net_of_image(2, 2, 2);
    (void)net_numbers(t, "w", 2, DIMS(8, 8), NULL);
    (void)net_add(t, "Flatten", "f", "x", NULL, NULL);
    (void)net_add(t, "MatMul", "h", "f", "w", NULL);
    (void)net_add(t, "Add", "y", "f", "h", NULL);
    net_refuse(t, DP_EUNSUPPORTED, "whose numbers have different orders");

    t = net_of_vector(5000);
    (void)net_numbers(t, "c", 1, DIMS(5000), NULL);
    (void)net_add(t, "Mul", "a", "x", "c", NULL);
    (void)net_add(t, "Relu", "y", "a", NULL, NULL);
    net_refuse(t, DP_EUNSUPPORTED, "a stage of their own");
}

static void what_follows_the_end(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_add(t, "Softmax", "s", "x", NULL, NULL);
    (void)net_add(t, "Relu", "y", "s", NULL, NULL);
    net_refuse(t, DP_EUNSUPPORTED, "after which nothing is computed");
    t = net_of_vector(4);
    net_int(net_add(t, "ArgMax", "s", "x", NULL, NULL), "axis", 1);
    (void)net_add(t, "Relu", "y", "s", NULL, NULL);
    net_refuse(t, DP_EUNSUPPORTED, "after which nothing is computed");
}

/* ---- constants ---- */

static net *of_constant(Onnx__TensorProto **c)
{
    net *t = net_of_vector(4);
    *c = net_numbers(t, "c", 1, DIMS(4), (const double[]){1, 2, 3, 4});
    (void)net_add(t, "Div", "y", "x", "c", NULL);
    return t;
}

static void constants_that_contradict_themselves(void **state)
{
    (void)state;
    Onnx__TensorProto *c;
    net *t = of_constant(&c);
    c->double_data[2] = 0;
    net_refuse(t, DP_EDATA, "divides by 0");
    t = of_constant(&c);
    c->double_data[2] = 0.0 / (c->double_data[3] - 4);
    net_refuse(t, DP_EDATA, "constant 'c' has a number that is not finite");
    t = of_constant(&c);
    c->n_double_data = 3;
    net_refuse(t, DP_EDATA, "more or fewer numbers");
    t = of_constant(&c);
    c->dims[0] = 0;
    net_refuse(t, DP_EDATA, "a dimension that is not from 1");
    t = of_constant(&c);
    c->dims[0] = INT64_MAX;
    net_refuse(t, DP_EDATA, "a dimension that is not from 1");
    t = of_constant(&c);
    int64_t many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 4};
    c->dims = many;
    c->n_dims = 9;
    net_refuse(t, DP_EDATA, "more than 8 dimensions");
    t = of_constant(&c);
    int64_t large[3] = {1 << 30, 1 << 30, 1 << 30};
    c->dims = large;
    c->n_dims = 3;
    net_refuse(t, DP_EDATA, "more numbers than memory");
    t = of_constant(&c);
    c->data_type = ONNX__TENSOR_PROTO__DATA_TYPE__STRING;
    net_refuse(t, DP_EDATA, "of a type that is not taken");
    t = of_constant(&c);
    c->has_data_type = 0;
    net_refuse(t, DP_EDATA, "of a type that is not taken");
    t = of_constant(&c);
    c->has_data_location = 1;
    c->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
    net_refuse(t, DP_EDATA, "keeps its numbers in another file");
    t = of_constant(&c);
    uint8_t raw[31] = {0};
    c->has_raw_data = 1;
    c->raw_data.data = raw;
    c->raw_data.len = sizeof raw;
    net_refuse(t, DP_EDATA, "more or fewer numbers");
    t = of_constant(&c);
    Onnx__TensorProto__Segment segment = ONNX__TENSOR_PROTO__SEGMENT__INIT;
    c->segment = &segment;
    net_refuse(t, DP_EDATA, "stored in segments");
}

static void a_variance_that_is_negative(void **state)
{
    (void)state;
    net *t = net_of_vector(2);
    (void)net_numbers(t, "v", 1, DIMS(2), (const double[]){1, -1});
    Onnx__NodeProto *n = net_add(t, "BatchNormalization", "y", "x", "v", "v");
    ((net_node *)n)->in[3] = strdup("v");
    ((net_node *)n)->in[4] = strdup("v");
    n->n_input = 5;
    net_refuse(t, DP_EDATA, "a variance, with epsilon, is not positive");
}

/* ---- the graph ---- */

static void graphs_that_contradict_themselves(void **state)
{
    (void)state;
    net *t = net_of_vector(4); /* round */
    (void)net_add(t, "Add", "a", "x", "b", NULL);
    (void)net_add(t, "Relu", "b", "a", NULL, NULL);
    (void)net_add(t, "Relu", "y", "b", NULL, NULL);
    net_refuse(t, DP_EDATA, "it reads 'b', which nothing before it gives");
    t = net_of_vector(4);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    net_refuse(t, DP_ENAME, "'y' is given more than once");
    t = net_of_vector(4);
    (void)net_add(t, "Relu", "x", "x", NULL, NULL);
    net_refuse(t, DP_ENAME, "'x' is given more than once");
    t = net_of_vector(4);
    (void)net_numbers(t, "c", 1, DIMS(4), NULL);
    (void)net_numbers(t, "c", 1, DIMS(4), NULL);
    net_refuse(t, DP_ENAME, "'c' is given more than once");
    t = net_of_vector(4);
    (void)net_add(t, "Relu", "z", "x", NULL, NULL);
    net_refuse(t, DP_ENAME, "'y' is its output, and nothing gives it");
    t = net_of_vector(4);
    (void)net_numbers(t, "y", 1, DIMS(4), NULL);
    net_refuse(t, DP_EUNSUPPORTED, "is not computed from its input");
    t = net_of_vector(4);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    t->graph.n_output = 0;
    net_refuse(t, DP_EUNSUPPORTED, "not just one output");
    t = net_of_vector(4);
    t->graph.n_input = 0;
    net_refuse(t, DP_EDATA, "it has no input");
    t = net_of_vector(4);
    t->graph.n_input = 2;
    t->input[1].name = strdup("z");
    net_refuse(t, DP_EUNSUPPORTED, "'z' is a second input");
    t = net_of_vector(4);
    t->opset.version = 6;
    net_refuse(t, DP_EUNSUPPORTED, "operators of versions 7 to 24");
    t = net_of_vector(4);
    t->model.n_opset_import = 0;
    net_refuse(t, DP_EUNSUPPORTED, "operators of versions 7 to 24");
    t = net_of_vector(4);
    t->model.graph = NULL;
    net_refuse(t, DP_EDATA, "no graph in it");
}

static void inputs_that_are_not_served(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    t->dim[0].dim_value = 2;
    net_refuse(t, DP_EUNSUPPORTED, "a batch that is not 1");
    t = net_of_vector(4);
    t->dim[1].value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE__NOT_SET;
    net_refuse(t, DP_EUNSUPPORTED, "a dimension that is not fixed");
    t = net_of_vector(0);
    net_refuse(t, DP_EUNSUPPORTED, "a dimension that is not fixed");
    t = net_of_image(1 << 10, 1 << 10, 1 << 10);
    net_refuse(t, DP_EUNSUPPORTED, "or above 2^20");
    t = net_of_vector(4);
    t->shape.n_dim = 1;
    net_refuse(t, DP_EUNSUPPORTED, "not of 2 to 4 dimensions");
    t = net_of_vector(4);
    t->tensor.elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
    net_refuse(t, DP_EUNSUPPORTED, "no array of real numbers");
    t = net_of_vector(4);
    t->tensor.shape = NULL;
    net_refuse(t, DP_EUNSUPPORTED, "no array of real numbers");
}

static void names_are_shown_as_they_can_be(void **state)
{
    (void)state;
    Onnx__NodeProto *n;
    net *t = one("Exp", false, &n);
    char name[200];
    memset(name, 'n', sizeof name - 1);
    memcpy(name, "a\nb\x1b\xff", 5);
    name[sizeof name - 1] = '\0';
    n->name = name;
    net_refuse(t, DP_EUNSUPPORTED, "node 'a?b??nnn");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_that_are_not_served),
        cmocka_unit_test(pairs_of_attributes_that_are_not_served),
        cmocka_unit_test(operators_that_are_not_served),
        cmocka_unit_test(operands_that_do_not_fit),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(images_that_were_never_images),
        cmocka_unit_test(what_follows_the_end),
        cmocka_unit_test(constants_that_contradict_themselves),
        cmocka_unit_test(a_variance_that_is_negative),
        cmocka_unit_test(graphs_that_contradict_themselves),
        cmocka_unit_test(inputs_that_are_not_served),
        cmocka_unit_test(names_are_shown_as_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
