/* Networks of ONNX files as programs: images, whose order of numbers is another in programs. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

static void scales_of_pixels_and_rows_reach_a_dense_layer(void **state)
{
    (void)state;
    const int64_t *const dims[] = {DIMS(2, 3, 4), DIMS(1, 3, 4), DIMS(1, 3, 1), DIMS(2, 1, 4)};
    for (size_t k = 0; k < 4; k++) {
        net *t = net_of_image(2, 3, 4);
        (void)net_random(t, "c", 3, dims[k], -1, 1);
        (void)net_random(t, "d", 1, DIMS(24), -1, 1);
        (void)net_random(t, "w", 2, DIMS(24, 2), -1, 1);
        (void)net_add(t, "Sub", "a", "x", "c", NULL);
        (void)net_add(t, "Flatten", "f", "a", NULL, NULL);
        (void)net_add(t, "Mul", "g", "f", "d", NULL);
        (void)net_add(t, "MatMul", "y", "g", "w", NULL);
        assert_int_equal(net_check(t), 2);
    }
}

static void batch_norm_of_vectors_and_images_is_folded(void **state)
{
    (void)state;
    for (int image = 0; image < 2; image++) {
        net *t = image ? net_of_image(2, 4, 3) : net_of_vector(3);
        int64_t c = 3;
        (void)net_random(t, "w", image ? 4 : 2, image ? DIMS(3, 2, 2, 2) : DIMS(3, 3), -1, 1);
        (void)net_random(t, "g", 1, &c, -2, 2);
        (void)net_random(t, "b", 1, &c, -1, 1);
        (void)net_random(t, "m", 1, &c, -1, 1);
        (void)net_random(t, "v", 1, &c, 0.5, 2);
        (void)net_add(t, image ? "Conv" : "MatMul", "h", "x", "w", NULL);
        Onnx__NodeProto *n = net_add(t, "BatchNormalization", "y", "h", "g", "b");
        net_real(n, "epsilon", 0.125);
        net_real(n, "momentum", 0.5);
        ((net_node *)n)->in[3] = strdup("m");
        ((net_node *)n)->in[4] = strdup("v");
        n->n_input = 5;
        assert_int_equal(net_check(t), 2);
    }
}

static void convolutions_have_strides_and_padding(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        net *t = net_of_image(2, 6, 5);
        (void)net_random(t, "w", 4, k == 5 ? DIMS(3, 2, 1, 1) : DIMS(3, 2, 3, 3), -1, 1);
        (void)net_random(t, "b", 1, DIMS(3), -1, 1);
        Onnx__NodeProto *n = net_add(t, "Conv", "y", "x", "w", k % 2 ? "b" : NULL);
        if (k == 1)
            net_ints(n, "strides", 2, DIMS(2, 1));
        if (k == 2)
            net_ints(n, "pads", 4, DIMS(1, 2, 1, 2));
        if (k == 3)
            net_text(n, "auto_pad", "SAME_UPPER");
        if (k == 4)
            net_text(n, "auto_pad", "VALID");
        if (k != 5)
            net_ints(n, "kernel_shape", 2, DIMS(3, 3));
        net_int(n, "group", 1);
        net_ints(n, "dilations", 2, DIMS(1, 1));
        assert_int_equal(net_check(t), 2);
    }
}

static void pools_have_strides_and_padding(void **state)
{
    (void)state;
    const char *const ops[] = {"MaxPool", "AveragePool"};
    for (int op = 0; op < 2; op++)
        for (int k = 0; k < 4; k++) {
            net *t = net_of_image(2, 6, 4);
            Onnx__NodeProto *n = net_add(t, ops[op], "y", "x", NULL, NULL);
            net_ints(n, "kernel_shape", 2, k == 3 ? DIMS(3, 3) : DIMS(2, 2));
            if (k == 1)
                net_ints(n, "strides", 2, DIMS(2, 2));
            if (k == 1)
                net_int(n, "ceil_mode", 1);
            if (k == 2)
                net_ints(n, "pads", 4, DIMS(1, 0, 1, 0));
            if (k == 3)
                net_text(n, "auto_pad", "SAME_LOWER");
            if (op == 1 && k > 1)
                net_int(n, "count_include_pad", 1);
            assert_int_equal(net_check(t), 2);
        }
    net *t = net_of_image(3, 4, 5);
    (void)net_random(t, "w", 2, DIMS(3, 2), -1, 1);
    (void)net_add(t, "GlobalAveragePool", "p", "x", NULL, NULL);
    (void)net_add(t, "Flatten", "f", "p", NULL, NULL);
    (void)net_add(t, "MatMul", "y", "f", "w", NULL);
    assert_int_equal(net_check(t), 3);
}

static void scales_pass_pools_and_relus_where_they_may(void **state)
{
    (void)state;
    const char *const ops[] = {"MaxPool", "AveragePool", "Relu"};
    for (int op = 0; op < 3; op++)
        for (int shifted = 0; shifted < 2; shifted++)
            for (int sign = -1; sign <= 1; sign += 2)
                for (int padded = 0; padded < 2; padded++) {
                    net *t = net_of_image(2, 4, 4);
                    (void)net_random(t, "c", 3, DIMS(2, 1, 1), sign * 0.5, sign * 2);
                    (void)net_random(t, "s", 3, DIMS(2, 1, 1), 0.5, 1);
                    (void)net_random(t, "w", 4, DIMS(2, 2, 1, 1), -1, 1);
                    (void)net_add(t, "Mul", "a", "x", "c", NULL);
                    (void)net_add(t, shifted ? "Add" : "Mul", "b", "a", "s", NULL);
                    Onnx__NodeProto *n = net_add(t, ops[op], "p", "b", NULL, NULL);
                    if (op < 2)
                        net_ints(n, "kernel_shape", 2, DIMS(2, 2));
                    if (op < 2 && padded)
                        net_ints(n, "pads", 4, DIMS(1, 1, 1, 1));
                    if (op == 1)
                        net_int(n, "count_include_pad", 1);
                    (void)net_add(t, "Conv", "y", "p", "w", NULL);
                    bool free_order = op == 0   ? sign > 0
                                      : op == 1 ? !(padded && shifted)
                                                : sign > 0 && !shifted;
                    assert_int_equal(net_check(t), free_order ? 3 : 4);
                }
}

static void shifts_before_a_padded_convolution_are_done_first(void **state)
{
    (void)state;
    for (int padded = 0; padded < 2; padded++) {
        net *t = net_of_image(2, 4, 4);
        (void)net_random(t, "c", 3, DIMS(2, 1, 1), -1, 1);
        (void)net_random(t, "w", 4, DIMS(2, 2, 3, 3), -1, 1);
        (void)net_add(t, "Add", "a", "x", "c", NULL);
        Onnx__NodeProto *n = net_add(t, "Conv", "y", "a", "w", NULL);
        if (padded)
            net_ints(n, "pads", 4, DIMS(1, 1, 1, 1));
        assert_int_equal(net_check(t), 2 + (size_t)padded);
    }
}

static void a_flat_input_may_be_made_an_image(void **state)
{
    (void)state;
    const int64_t *const to[] = {DIMS(-1, 2, 3, 4), DIMS(1, 2, 3, -1)};
    for (size_t k = 0; k < 2; k++) {
        net *t = net_of_vector(24);
        (void)net_whole(t, "to", 4, to[k]);
        (void)net_whole(t, "back", 2, DIMS(0, -1));
        (void)net_random(t, "half", 0, NULL, 0.5, 0.5);
        (void)net_random(t, "w", 4, DIMS(2, 2, 2, 2), -1, 1);
        (void)net_random(t, "v", 2, DIMS(12, 3), -1, 1);
        (void)net_random(t, "u", 2, DIMS(24, 3), -1, 1);
        (void)net_add(t, "Mul", "s", "x", "half", NULL);
        (void)net_add(t, "Reshape", "i", "s", "to", NULL);
        (void)net_add(t, "Conv", "c", "i", "w", NULL);
        (void)net_add(t, "Relu", "r", "c", NULL, NULL);
        (void)net_add(t, "Reshape", "f", "r", "back", NULL);
        (void)net_add(t, "Gemm", "g", "f", "v", NULL);
        (void)net_add(t, "Gemm", "h", "x", "u", NULL); /* the flat input beside the image */
        (void)net_add(t, "Add", "y", "g", "h", NULL);
        assert_int_equal(net_check(t), 6);
    }
}

static void sums_and_differences_of_two_values(void **state)
{
    (void)state;
    for (int minus = 0; minus < 2; minus++) {
        net *t = net_of_image(2, 4, 4);
        (void)net_random(t, "w", 4, DIMS(2, 2, 3, 3), -1, 1);
        (void)net_random(t, "v", 4, DIMS(2, 2, 3, 3), -1, 1);
        (void)net_add(t, "Relu", "a", "x", NULL, NULL);
        net_text(net_add(t, "Conv", "c", "a", "w", NULL), "auto_pad", "SAME_UPPER");
        (void)net_add(t, minus ? "Sub" : "Add", "b", "a", "c", NULL);
        net_text(net_add(t, "Conv", "d", "b", "v", NULL), "auto_pad", "SAME_UPPER");
        (void)net_add(t, minus ? "Sub" : "Add", "y", "d", "b", NULL); /* b is read twice */
        assert_true(net_check(t) >= 6);
    }
    net *t = net_of_vector(3);
    (void)net_add(t, "Add", "y", "x", "x", NULL);
    assert_int_equal(net_check(t), 2);
}

static void the_column_has_the_order_of_the_file(void **state)
{
    (void)state;
    dp_error err = {0};
    net *t = net_of_image(2, 2, 3);
    dp_program *p = NULL;
    size_t size;
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    unsigned char *bytes = net_bytes(t, &size);
    const dp_onnx_opts named = {.low = 0, .high = 2, .column = "pixels"};
    assert_int_equal(dpi_program_of_onnx(size, bytes, &named, &p, &err), DP_OK);
    const size_t shape[3] = {2, 3, 2};
    for (size_t i = 0; i < 12; i++) {
        dp_program_number number = dp_program_number_at(p, dpi_onnx_place(shape, i));
        assert_string_equal(number.factor[0].column, "pixels");
        assert_int_equal(number.factor[0].element, i);
        assert_true(number.low == 0 && number.high == 2);
    }
    free(bytes);
    dp_program_free(p);
    net_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_of_pixels_and_rows_reach_a_dense_layer),
        cmocka_unit_test(batch_norm_of_vectors_and_images_is_folded),
        cmocka_unit_test(convolutions_have_strides_and_padding),
        cmocka_unit_test(pools_have_strides_and_padding),
        cmocka_unit_test(scales_pass_pools_and_relus_where_they_may),
        cmocka_unit_test(shifts_before_a_padded_convolution_are_done_first),
        cmocka_unit_test(a_flat_input_may_be_made_an_image),
        cmocka_unit_test(sums_and_differences_of_two_values),
        cmocka_unit_test(the_column_has_the_order_of_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
