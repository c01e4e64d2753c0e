/* Networks of ONNX files as programs: dense layers, scales and shifts, the end of the network,
 * constants.  Alone and merged with its neighbours, each operator computes what plain loops over
 * the file's arrays do. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

static void gemm_has_its_factors_and_transposes(void **state)
{
    (void)state;
    for (int transposed = 0; transposed < 2; transposed++)
        for (int bias = 0; bias < 4; bias++) {
            net *t = net_of_vector(5);
            (void)net_random(t, "w", 2, transposed ? DIMS(3, 5) : DIMS(5, 3), -1, 1);
            if (bias == 1)
                (void)net_random(t, "b", 1, DIMS(3), -1, 1);
            if (bias == 2)
                (void)net_random(t, "b", 2, DIMS(1, 3), -1, 1);
            if (bias == 3)
                (void)net_random(t, "b", 0, NULL, -1, 1);
            Onnx__NodeProto *n = net_add(t, "Gemm", "y", "x", "w", bias > 0 ? "b" : NULL);
            net_int(n, "transB", transposed);
            net_real(n, "alpha", 0.75);
            net_real(n, "beta", -2);
            assert_int_equal(net_check(t), 2);
        }
}

static void dense_layers_merge_where_that_is_no_larger(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_random(t, "w", 2, DIMS(4, 6), -1, 1);
    (void)net_random(t, "b", 1, DIMS(6), -1, 1);
    (void)net_random(t, "v", 2, DIMS(6, 3), -1, 1);
    (void)net_add(t, "MatMul", "h", "x", "w", NULL);
    (void)net_add(t, "Add", "hb", "h", "b", NULL);
    (void)net_add(t, "MatMul", "y", "hb", "v", NULL);
    assert_int_equal(net_check(t), 2);

    t = net_of_vector(20); /* 20 x 20 weights in place of 2 x 20 + 20 x 2 are not wanted */
    (void)net_random(t, "w", 2, DIMS(20, 2), -1, 1);
    (void)net_random(t, "v", 2, DIMS(2, 20), -1, 1);
    (void)net_add(t, "MatMul", "h", "x", "w", NULL);
    (void)net_add(t, "MatMul", "y", "h", "v", NULL);
    assert_int_equal(net_check(t), 3);
}

static void an_input_of_several_dimensions_is_flattened(void **state)
{
    (void)state;
    net *t = net_new(2, DIMS(3, 4));
    (void)net_random(t, "s", 2, DIMS(3, 1), -1, 1);
    (void)net_random(t, "w", 2, DIMS(12, 2), -1, 1);
    (void)net_add(t, "Mul", "a", "s", "x", NULL);
    net_int(net_add(t, "Flatten", "f", "a", NULL, NULL), "axis", 1);
    (void)net_add(t, "MatMul", "y", "f", "w", NULL);
    assert_int_equal(net_check(t), 2);
}

static void constants_go_into_the_layer_before_and_after(void **state)
{
    (void)state;
    const char *const ops[] = {"Add", "Sub", "Mul", "Div"};
    for (size_t k = 0; k < 4; k++)
        for (int form = 0; form < 4; form++) { /* one number; a row; a vector; first operand */
            bool reversed = form == 3;
            if (reversed && k == 3)
                continue;
            net *t = net_of_vector(4);
            (void)net_random(t, "c",
                             form == 0   ? 0
                             : form == 1 ? 2
                                         : 1,
                             form == 1 ? DIMS(1, 4) : DIMS(4), 0.5, 2);
            (void)net_random(t, "w", 2, DIMS(4, 4), -1, 1);
            (void)net_add(t, ops[k], "a", reversed ? "c" : "x", reversed ? "x" : "c", NULL);
            (void)net_add(t, "MatMul", "h", "a", "w", NULL);
            (void)net_add(t, ops[k], "y", reversed ? "c" : "h", reversed ? "h" : "c", NULL);
            assert_int_equal(net_check(t), 2);
        }
}

static void scales_that_no_layer_takes_are_a_stage(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_random(t, "c", 1, DIMS(4), -2, 2);
    (void)net_add(t, "Mul", "a", "x", "c", NULL);
    (void)net_add(t, "Add", "b", "a", "c", NULL);
    (void)net_add(t, "Relu", "y", "b", NULL, NULL);
    assert_int_equal(net_check(t), 3);

    t = net_of_image(2, 3, 3);
    (void)net_random(t, "c", 3, DIMS(2, 1, 1), -2, 2);
    (void)net_add(t, "Mul", "a", "x", "c", NULL);
    (void)net_add(t, "Relu", "y", "a", NULL, NULL);
    assert_int_equal(net_check(t), 3);

    t = net_of_image(2, 3, 2); /* pixel by pixel: a vector in the file's order is left */
    (void)net_random(t, "c", 3, DIMS(2, 3, 2), -2, 2);
    (void)net_random(t, "w", 2, DIMS(12, 2), -2, 2);
    (void)net_add(t, "Sub", "a", "x", "c", NULL);
    (void)net_add(t, "Tanh", "h", "a", NULL, NULL);
    (void)net_add(t, "Flatten", "f", "h", NULL, NULL);
    (void)net_add(t, "MatMul", "y", "f", "w", NULL);
    assert_int_equal(net_check(t), 4);
}

static void a_layer_that_two_read_is_computed_once(void **state)
{
    (void)state;
    net *t = net_of_vector(3);
    (void)net_random(t, "w", 2, DIMS(3, 3), -1, 1);
    (void)net_random(t, "v", 2, DIMS(3, 3), -1, 1);
    (void)net_random(t, "c", 1, DIMS(3), -1, 1);
    (void)net_add(t, "MatMul", "h", "x", "w", NULL);
    (void)net_add(t, "Mul", "s", "h", "c", NULL);
    (void)net_add(t, "MatMul", "k", "s", "v", NULL);
    (void)net_add(t, "Add", "z", "k", "s", NULL);
    (void)net_add(t, "Sub", "y", "z", "h", NULL);
    assert_true(net_check(t) >= 6);
}

static void nodes_that_the_output_does_not_need_are_left_out(void **state)
{
    (void)state;
    net *t = net_of_vector(3);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    (void)net_add(t, "Tanh", "a", "x", NULL, NULL);
    (void)net_add(t, "Sigmoid", "b", "a", NULL, NULL);
    assert_int_equal(net_check(t), 2);
}

static void the_last_operator_becomes_a_link_or_a_place(void **state)
{
    (void)state;
    const char *const ops[] = {"Softmax", "Sigmoid", "ArgMax", "Tanh"};
    const dp_link links[] = {DP_LINK_SOFTMAX, DP_LINK_LOGISTIC, DP_LINK_IDENTITY, DP_LINK_IDENTITY};
    for (size_t k = 0; k < 4; k++) {
        net *t = net_of_vector(3);
        (void)net_random(t, "w", 2, DIMS(3, 4), -1, 1);
        (void)net_add(t, "MatMul", "h", "x", "w", NULL);
        Onnx__NodeProto *n = net_add(t, ops[k], k == 3 ? "y" : "z", "h", NULL, NULL);
        if (k == 2)
            net_int(n, "axis", 1);
        if (k < 3)
            (void)net_add(t, "Identity", "y", "z", NULL, NULL);
        if (k == 1) { /* what is no last operator is computed */
            free(t->output.name);
            t->output.name = strdup("z");
            t->graph.n_node--;
            net_node *dropped = &t->node[t->graph.n_node];
            free(dropped->proto.op_type);
            free(dropped->in[0]);
            free(dropped->out[0]);
        }
        dp_program *p = net_read(t);
        assert_int_equal(dp_program_link(p), links[k]);
        dp_program_free(p);
        assert_int_equal(net_check(t), k < 2 ? 2 : 3);
    }
}

static void the_largest_chance_is_the_largest_number(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_add(t, "Softmax", "s", "x", NULL, NULL);
    Onnx__NodeProto *n = net_add(t, "ArgMax", "y", "s", NULL, NULL);
    net_int(n, "axis", -1);
    net_int(n, "keepdims", 0);
    assert_int_equal(net_check(t), 2);
}

static void a_sigmoid_within_the_network_is_a_stage(void **state)
{
    (void)state;
    net *t = net_of_vector(3);
    (void)net_add(t, "Sigmoid", "s", "x", NULL, NULL);
    (void)net_add(t, "Sigmoid", "y", "s", NULL, NULL);
    assert_int_equal(net_check(t), 2);
}

static void constants_come_from_nodes_too(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    Onnx__TensorProto *w = net_random(t, "kept", 2, DIMS(2, 4), -1, 1);
    (void)net_whole(t, "to", 2, DIMS(4, -1));
    Onnx__NodeProto *n = net_add(t, "Constant", "w", NULL, NULL, NULL);
    net_int(n, "value", 0);
    n->attribute[0]->has_i = 0;
    n->attribute[0]->t = w;
    (void)net_add(t, "Reshape", "v", "w", "to", NULL);
    (void)net_add(t, "Identity", "u", "v", NULL, NULL);
    (void)net_add(t, "Dropout", "d", "x", NULL, NULL);
    (void)net_add(t, "MatMul", "y", "d", "u", NULL);
    assert_int_equal(net_check(t), 2);
}

static void numbers_are_read_in_every_type(void **state)
{
    (void)state;
    const double x[3] = {-1.5, 0.25, 6.103515625e-05}; /* floats of 16 bits too */
    static const float floats[3] = {-1.5f, 0.25f, 6.103515625e-05f};
    static const uint8_t half[6] = {0x00, 0xbe, 0x00, 0x34, 0x00, 0x04};
    static const int32_t halves[3] = {0xbe00, 0x3400, 0x0400};
    const double record[3] = {1, 1, 1};
    for (int way = 0; way < 6; way++) {
        dp_error err = {0};
        double y[3];
        uint8_t raw[24];
        net *t = net_of_vector(3);
        Onnx__TensorProto *c = net_numbers(t, "c", 1, DIMS(3), x);
        (void)net_add(t, "Mul", "h", "x", "c", NULL);
        (void)net_add(t, "Identity", "y", "h", NULL, NULL);
        c->n_double_data = way == 0 ? 3 : 0;
        c->has_raw_data = way == 1 || way == 2 || way == 4;
        c->raw_data.data = raw;
        c->raw_data.len = way == 1 ? 24 : way == 2 ? 12 : 6;
        c->data_type = way < 2   ? ONNX__TENSOR_PROTO__DATA_TYPE__DOUBLE
                       : way < 4 ? ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT
                                 : ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT16;
        memcpy(raw,
               way == 1   ? (const void *)x
               : way == 2 ? (const void *)floats
                          : half,
               way == 1   ? 24
               : way == 2 ? 12
                          : 6);
        c->n_float_data = way == 3 ? 3 : 0;
        c->float_data = (float *)(uintptr_t)floats;
        c->n_int32_data = way == 5 ? 3 : 0;
        c->int32_data = (int32_t *)(uintptr_t)halves;
        dp_program *p = net_read(t);
        assert_int_equal(dp_program_run(p, 1, record, y, &err), DP_OK);
        for (int i = 0; i < 3; i++)
            assert_close(y[i], x[i], 0, 0);
        dp_program_free(p);
        net_free(t);
    }
}

static void a_file_is_read_from_disk(void **state)
{
    (void)state;
    dp_error err = {0};
    net *t = net_of_vector(3);
    dp_program *p = NULL;
    size_t size;
    char path[] = "t-onnx-XXXXXX";
    int file = mkstemp(path);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    unsigned char *bytes = net_bytes(t, &size);
    FILE *to = fdopen(file, "wb");
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    assert_int_equal(dp_program_of_onnx(path, &net_bounds, &p, &err), DP_OK);
    assert_int_equal(dp_program_stages(p), 2);
    dp_program_free(p);
    const dp_onnx_opts small = {.low = 0, .high = 1, .max_bytes = size - 1};
    assert_int_equal(dp_program_of_onnx(path, &small, &p, &err), DP_EDATA);
    assert_contains(err.text, "raise max_bytes");
    assert_null(p);
    (void)remove(path);
    err = (dp_error){0};
    assert_int_equal(dp_program_of_onnx(path, &net_bounds, &p, &err), DP_EIO);
    free(bytes);
    net_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_has_its_factors_and_transposes),
        cmocka_unit_test(dense_layers_merge_where_that_is_no_larger),
        cmocka_unit_test(an_input_of_several_dimensions_is_flattened),
        cmocka_unit_test(constants_go_into_the_layer_before_and_after),
        cmocka_unit_test(scales_that_no_layer_takes_are_a_stage),
        cmocka_unit_test(a_layer_that_two_read_is_computed_once),
        cmocka_unit_test(nodes_that_the_output_does_not_need_are_left_out),
        cmocka_unit_test(the_last_operator_becomes_a_link_or_a_place),
        cmocka_unit_test(the_largest_chance_is_the_largest_number),
        cmocka_unit_test(a_sigmoid_within_the_network_is_a_stage),
        cmocka_unit_test(constants_come_from_nodes_too),
        cmocka_unit_test(numbers_are_read_in_every_type),
        cmocka_unit_test(a_file_is_read_from_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
