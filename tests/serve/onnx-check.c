/* Reading a network and comparing it with plain loops. */
#include <stdlib.h>

#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

const dp_onnx_opts net_bounds = {.low = -1, .high = 1};

dp_program *net_read(net *t)
{
    dp_error err = {0};
    dp_program *p = NULL;
    size_t size;
    unsigned char *bytes = net_bytes(t, &size);
    dp_status status = dpi_program_of_onnx(size, bytes, &net_bounds, &p, &err);
    free(bytes);
    if (status != DP_OK)
        print_message("%s\n", err.text);
    assert_int_equal(status, DP_OK);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    return p;
}

size_t net_check(net *t)
{
    dp_error err = {0};
    dp_program *p = net_read(t);
    size_t n = net_inputs(t), outputs = dp_program_outputs(p), stages = dp_program_stages(p);
    const dp_stage *first = dp_program_stage(p, 0), *last = dp_program_stage(p, stages - 1);
    double *x = calloc(n, sizeof *x), *placed = calloc(n, sizeof *x);
    double *y = calloc(NET_NUMBERS, sizeof *y), *z = calloc(NET_NUMBERS, sizeof *z);
    assert_int_equal(dp_program_inputs(p), n);
    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < n; i++) {
            x[i] = net_uniform(t, -1, 1);
            placed[dpi_onnx_place(first->shape, i)] = x[i];
        }
        assert_int_equal(net_run(t, x, y), outputs);
        assert_int_equal(dp_program_run(p, 1, placed, z, &err), DP_OK);
        for (size_t i = 0; i < outputs; i++)
            assert_close(z[dpi_onnx_place(last->shape, i)], y[i], 1e-11, 1e-11);
    }
    free(x);
    free(placed);
    free(y);
    free(z);
    dp_program_free(p);
    net_free(t);
    return stages;
}

void net_refuse_bytes(size_t n, const unsigned char *bytes, dp_status status, const char *why)
{
    dp_error err = {0};
    dp_program *p = (dp_program *)(uintptr_t)1;
    assert_fails(dpi_program_of_onnx(n, bytes, &net_bounds, &p, &err), status, &err, why);
    assert_null(p);
}

void net_refuse(net *t, dp_status status, const char *why)
{
    size_t size;
    unsigned char *bytes = net_bytes(t, &size);
    net_refuse_bytes(size, bytes, status, why);
    free(bytes);
    net_free(t);
}

net *net_of_vector(int64_t n)
{
    return net_new(1, &n);
}

net *net_of_image(int64_t channels, int64_t rows, int64_t columns)
{
    return net_new(3, (const int64_t[]){channels, rows, columns});
}
