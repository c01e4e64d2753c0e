/* Bytes that are no ONNX file, or one that asks for much: refused without recursion, memory or time
 * that their length does not explain. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

#include "serve/onnx.h"
#include "tests/serve/onnx-net.h"

/* A few bytes may not ask for much: each of these nodes spreads a row over an image. */
static void nodes_that_ask_for_more_memory_than_the_file_explains(void **state)
{
    (void)state;
    net *t = net_of_image(1, 1024, 1024);
    (void)net_numbers(t, "c", 3, DIMS(1, 1, 1024), NULL);
    for (int k = 0; k < 30; k++) {
        char from[] = {k == 0 ? 'x' : (char)('A' + k), '\0'}, to[] = {(char)('B' + k), '\0'};
        (void)net_add(t, "Mul", k == 29 ? "y" : to, from, "c", NULL);
    }
    net_refuse(t, DP_EUNSUPPORTED, "more memory than its size explains");
}

static void bytes_that_are_no_network(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    size_t size;
    unsigned char *bytes = net_bytes(t, &size);
    for (size_t n = 0; n < size; n++) {
        dp_error err = {0};
        dp_program *p = NULL;
        unsigned char *part = malloc(n > 0 ? n : 1);
        memcpy(part, bytes, n);
        if (dpi_program_of_onnx(n, part, &net_bounds, &p, &err) == DP_OK)
            assert_true(n > size - 8); /* what follows the graph may be missing in part */
        dp_program_free(p);
        free(part);
    }
    net_refuse_bytes(6, (const unsigned char *)"no net", DP_EDATA, "is no ONNX file");
    free(bytes);
    net_free(t);
}

/* Types within types, each of two bytes and its length: recursion has an end. */
static void bytes_that_are_nested_deep(void **state)
{
    (void)state;
    enum { DEEP = 200000, EACH = 5 };
    const unsigned char keys[4] = {0x3a, 0x0a, 0x2a, 0x32}; /* graph, node, attribute, graph */
    unsigned char *bytes = malloc(DEEP * EACH);
    size_t n = DEEP * EACH;
    for (size_t k = 0; k < DEEP; k++) {
        size_t length = n - (k + 1) * EACH;
        unsigned char *at = bytes + k * EACH;
        at[0] = k == 0 ? keys[0] : keys[1 + (k - 1) % 3];
        for (size_t b = 0; b < 4; b++)
            at[1 + b] = (unsigned char)((length >> 7 * b & 0x7f) | (b < 3 ? 0x80 : 0));
    }
    net_refuse_bytes(n, bytes, DP_EDATA, "nested too deep");
    free(bytes);
}

/* An empty node takes two bytes of the file and many of memory. */
static void bytes_that_ask_for_more_memory_than_they_are(void **state)
{
    (void)state;
    enum { NODES = 3000000 };
    unsigned char *bytes = malloc(5 + 2 * NODES);
    size_t length = 2 * NODES;
    bytes[0] = 0x3a;
    for (size_t b = 0; b < 4; b++)
        bytes[1 + b] = (unsigned char)((length >> 7 * b & 0x7f) | (b < 3 ? 0x80 : 0));
    for (size_t k = 0; k < NODES; k++) {
        bytes[5 + 2 * k] = 0x0a;
        bytes[6 + 2 * k] = 0;
    }
    net_refuse_bytes(5 + 2 * NODES, bytes, DP_EDATA, "more memory than its size explains");
    free(bytes);
}

static void bounds_are_asked_for(void **state)
{
    (void)state;
    net *t = net_of_vector(4);
    (void)net_add(t, "Relu", "y", "x", NULL, NULL);
    size_t size;
    unsigned char *bytes = net_bytes(t, &size);
    const dp_onnx_opts wrong[] = {{.low = 0}, {.low = 2, .high = 1}, {.low = 0, .high = 1.0 / 0.0}};
    dp_error err = {0};
    dp_program *p;
    for (size_t k = 0; k < 3; k++)
        assert_fails(dpi_program_of_onnx(size, bytes, &wrong[k], &p, &err), DP_EINVAL, &err,
                     "bounds of the input");
    assert_fails(dp_program_of_onnx("nothing", NULL, &p, &err), DP_EINVAL, &err, "no default");
    free(bytes);
    net_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_ask_for_more_memory_than_the_file_explains),
        cmocka_unit_test(bytes_that_are_no_network),
        cmocka_unit_test(bytes_that_are_nested_deep),
        cmocka_unit_test(bytes_that_ask_for_more_memory_than_they_are),
        cmocka_unit_test(bounds_are_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
