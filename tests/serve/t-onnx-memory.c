/* Each allocation of reading an ONNX file fails in turn: the call says so, gives no program, and
 * keeps nothing. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

/* Layers that merge and wait, images, scales that are stages of their own, a reshaped constant. */
static net *all_sorts(void)
{
    net *t = net_of_image(2, 6, 6);
    (void)net_numbers(t, "c", 3, DIMS(2, 1, 1), NULL);
    (void)net_numbers(t, "w", 4, DIMS(2, 2, 3, 3), NULL);
    (void)net_numbers(t, "v", 2, DIMS(2, 18), NULL);
    (void)net_numbers(t, "u", 2, DIMS(2, 2), NULL);
    (void)net_whole(t, "to", 2, DIMS(18, -1));
    (void)net_add(t, "Sub", "a", "c", "x", NULL);
    (void)net_add(t, "Tanh", "b", "a", NULL, NULL);
    net_text(net_add(t, "Conv", "d", "b", "w", NULL), "auto_pad", "SAME_UPPER");
    (void)net_add(t, "Sub", "e", "b", "d", NULL);
    Onnx__NodeProto *n = net_add(t, "MaxPool", "f", "e", NULL, NULL);
    net_ints(n, "kernel_shape", 2, DIMS(2, 2));
    net_ints(n, "strides", 2, DIMS(2, 2));
    (void)net_add(t, "Flatten", "g", "f", NULL, NULL);
    (void)net_add(t, "Reshape", "r", "v", "to", NULL);
    (void)net_add(t, "MatMul", "h", "g", "r", NULL);
    (void)net_add(t, "Gemm", "y", "h", "u", NULL);
    return t;
}

static dp_status read_file(const char *path, dp_error *err)
{
    dp_program *p;
    dp_status status = dp_program_of_onnx(path, &net_bounds, &p, err);
    assert_int_equal(status == DP_OK, p != NULL);
    dp_program_free(p);
    return status;
}

static void each_allocation_fails_in_turn(void **state)
{
    (void)state;
    char path[] = "t-onnx-memory-XXXXXX";
    net *t = all_sorts();
    size_t size, failures = 0;
    unsigned char *bytes = net_bytes(t, &size);
    FILE *to = fdopen(mkstemp(path), "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(bytes, 1, size, to), size);
    assert_int_equal(fclose(to), 0);
    const size_t live = faulty_live();
    for (size_t k = 1;; k++) {
        dp_error err = {DP_OK, ""};
        faulty_fail(k);
        dp_status status = read_file(path, &err);
        int failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(faulty_live(), live);
        if (!failed) {
            assert_ok(status, err.text);
            break;
        }
        failures++;
        assert_int_equal(status, DP_ENOMEM);
    }
    assert_true(failures > 50);
    (void)remove(path);
    free(bytes);
    (void)net_check(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_in_turn)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
