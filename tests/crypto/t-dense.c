/* Linear layers over ciphertexts against the same sums of integers. */
#include "crypto/dense.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static const dpi_paillier_options small = {.bits = 256};
enum { WIDE = 8, MOST_INPUTS = 40, MOST_OUTPUTS = 19 };

typedef struct bench {
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    dpi_zeros *zeros;
} bench;

static void set_up(const dpi_montgomery_backend *backend, bench *b)
{
    dp_error err = {0};
    dpi_seed seed = {.key = "layers of tests"};
    dpi_paillier_options options = small;
    unsigned char bytes[9 * WIDE * 4];
    options.backend = backend;
    assert_ok(dpi_paillier_generate_seeded(&options, &seed, &b->key, &err), err.text);
    dpi_paillier_write_public(b->key, bytes);
    assert_ok(dpi_paillier_read_public(&options, sizeof bytes, bytes, &b->public, &err), err.text);
    assert_ok(dpi_zeros_new(b->public, DPI_ZEROS_SHORT, 64, &b->zeros, &err), err.text);
}

static void tear_down(bench *b)
{
    dpi_zeros_free(b->zeros);
    dpi_paillier_public_free(b->public);
    dpi_paillier_free(b->key);
}

/* What the layer is of inputs x, by integers. */
static int64_t expected(const dpi_dense_layer *l, size_t o, const int64_t *x)
{
    int64_t sum = l->bias != NULL ? l->bias[o] : 0;
    if (l->begin == NULL)
        for (size_t i = 0; i < l->inputs; i++)
            sum += l->weights[o * l->inputs + i] * x[i];
    else
        for (size_t t = l->begin[o]; t < l->begin[o + 1]; t++)
            sum += l->weights[l->weight[t]] * x[l->input[t]];
    return sum;
}

static void evaluate(const bench *b, const dpi_dense *dense, const mp_limb_t *c, size_t outputs,
                     mp_limb_t *out)
{
    dp_error err = {0};
    dpi_dense_inputs *in;
    assert_ok(dpi_dense_take(dense, b->public, c, &in, &err), err.text);
    size_t cut = outputs > 3 ? 3 : 0;
    assert_ok(dpi_dense_outputs(dense, in, b->zeros, 0, cut, out, &err), err.text);
    assert_ok(dpi_dense_outputs(dense, in, b->zeros, cut, outputs, out + cut * WIDE, &err),
              err.text);
    dpi_dense_inputs_free(in);
}

static void check(const bench *b, const dpi_dense_layer *l, dpi_dense_method method,
                  unsigned window)
{
    dp_error err = {0};
    dpi_dense *dense;
    int64_t x[MOST_INPUTS], y[MOST_OUTPUTS];
    mp_limb_t c[MOST_INPUTS][WIDE], out[MOST_OUTPUTS][WIDE];
    uint64_t state = 7 + l->inputs;
    unsigned chosen;
    for (size_t i = 0; i < l->inputs; i++)
        x[i] = (int64_t)(next_number(&state) * 1e6);
    assert_ok(dpi_paillier_encrypt(b->key, l->inputs, x, c[0], &err), err.text);
    assert_ok(dpi_dense_new(l, method, window, &dense, &err), err.text);
    dpi_dense_method how = dpi_dense_how(dense, &chosen);
    assert_true(method == DPI_DENSE_BEST || how == method);
    assert_true(window == 0 || chosen == window);
    evaluate(b, dense, c[0], l->outputs, out[0]);
    assert_ok(dpi_paillier_decrypt(b->key, l->outputs, out[0], INT64_MAX, y, &err), err.text);
    for (size_t o = 0; o < l->outputs; o++)
        assert_int_equal(y[o], expected(l, o, x));
    dpi_dense_free(dense);
}

/* Weights at the ends of digits, of all signs: +-(2^k - 1), +-2^k, those of INT32, and a row of
 * zeros. */
static void fill_edges(size_t outputs, size_t inputs, int32_t *weights)
{
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++) {
            uint64_t power = (uint64_t)1 << (o * inputs + i) / 3 % 31;
            int64_t w = (int64_t)(i % 3 == 0 ? power - 1 : i % 3 == 1 ? power : power + 1);
            weights[o * inputs + i] = o == 2 ? 0 : (int32_t)((i + o) % 2 == 0 ? w : -w);
        }
    weights[0] = INT32_MIN;
    weights[1] = INT32_MAX;
    weights[inputs] = -INT32_MAX;
}

static void both_methods_with_each_window(const dpi_montgomery_backend *backend)
{
    enum { INPUTS = 11, OUTPUTS = 9 };
    bench b;
    int32_t weights[OUTPUTS * INPUTS];
    int64_t bias[OUTPUTS] = {0, 1, -1, INT32_MIN, INT64_C(1) << 50, -(INT64_C(1) << 61), 7, 8, 9};
    set_up(backend, &b);
    fill_edges(OUTPUTS, INPUTS, weights);
    for (unsigned window = 0; window <= 12; window++)
        for (int way = DPI_DENSE_BEST; way <= DPI_DENSE_TABLES; way++) {
            dpi_dense_layer l = {.inputs = INPUTS,
                                 .outputs = OUTPUTS,
                                 .n_weights = OUTPUTS * INPUTS,
                                 .weights = weights,
                                 .bias = window % 2 == 0 ? bias : NULL,
                                 .weight_bits = 32};
            if (way == DPI_DENSE_TABLES && window > 9)
                continue; /* the table would be long */
            check(&b, &l, (dpi_dense_method)way, window);
        }
    tear_down(&b);
}

/* 1 ... 19 outputs, 1 ... 40 inputs, weights of 1 ... 12 bits at their ends and between. */
static void each_shape(const dpi_montgomery_backend *backend)
{
    bench b;
    static int32_t weights[MOST_OUTPUTS * MOST_INPUTS];
    uint64_t state = 3;
    set_up(backend, &b);
    for (size_t outputs = 1; outputs <= MOST_OUTPUTS; outputs += outputs < 9 ? 1 : 5) {
        size_t inputs = 1 + outputs * 5 % MOST_INPUTS;
        unsigned bits = 1 + (unsigned)outputs % 12;
        int32_t most = (int32_t)(((uint32_t)1 << bits) - 1);
        for (size_t w = 0; w < outputs * inputs; w++)
            weights[w] = w % 5 == 0   ? most
                         : w % 5 == 1 ? -most
                                      : (int32_t)(next_number(&state) * (most + 1));
        dpi_dense_layer l = {.inputs = inputs,
                             .outputs = outputs,
                             .n_weights = outputs * inputs,
                             .weights = weights,
                             .weight_bits = bits};
        check(&b, &l, DPI_DENSE_BEST, 0);
        check(&b, &l, DPI_DENSE_BUCKETS, 0);
        check(&b, &l, DPI_DENSE_TABLES, 0);
    }
    tear_down(&b);
}

/* A convolution: kernels of three weights over ten places with zeros outside, so that rows differ
 * in length, one row without terms, and one with an input twice. */
static void terms_that_share_weights(const dpi_montgomery_backend *backend)
{
    enum { PLACES = 10, KERNELS = 1, ROWS = PLACES + 2 };
    const int32_t weights[3] = {-1, 2047, -2048};
    bench b;
    size_t begin[ROWS + 1] = {0}, t = 0;
    uint32_t input[3 * PLACES + 2], weight[3 * PLACES + 2];
    set_up(backend, &b);
    for (uint32_t o = 0; o < PLACES; o++) {
        for (uint32_t k = 0; k < 3; k++)
            if (o + k >= 1 && o + k - 1 < PLACES) {
                input[t] = o + k - 1;
                weight[t++] = k;
            }
        begin[o + 1] = t;
    }
    begin[PLACES + 1] = t; /* nothing */
    input[t] = input[t + 1] = 4;
    weight[t] = 1;
    weight[t + 1] = 2;
    begin[ROWS] = t + 2;
    for (int way = DPI_DENSE_BEST; way <= DPI_DENSE_TABLES; way++) {
        dpi_dense_layer l = {.inputs = PLACES,
                             .outputs = ROWS,
                             .n_weights = 3,
                             .weights = weights,
                             .begin = begin,
                             .input = input,
                             .weight = weight,
                             .weight_bits = 12};
        check(&b, &l, (dpi_dense_method)way, 0);
    }
    tear_down(&b);
}

/* The same query twice: other ciphertexts of the same numbers, and as many fresh zeros as
 * outputs. */
static void two_answers_to_one_query_differ(const dpi_montgomery_backend *backend)
{
    bench b;
    dp_error err = {0};
    const int32_t weights[2] = {0, 1};
    const int64_t x = 5;
    dpi_dense *dense;
    mp_limb_t c[WIDE], out[4][WIDE];
    int64_t y[4];
    dpi_dense_layer l = {
        .inputs = 1, .outputs = 2, .n_weights = 2, .weights = weights, .weight_bits = 1};
    set_up(backend, &b);
    assert_ok(dpi_paillier_encrypt(b.key, 1, &x, c, &err), err.text);
    assert_ok(dpi_dense_new(&l, DPI_DENSE_BEST, 0, &dense, &err), err.text);
    assert_ok(dpi_zeros_fill(b.zeros, 1, NULL, &err), err.text);
    evaluate(&b, dense, c, 2, out[0]);
    evaluate(&b, dense, c, 2, out[2]);
    assert_int_equal(dpi_zeros_taken(b.zeros), 4);
    for (int i = 0; i < 4; i++) {
        assert_memory_not_equal(out[i], c, sizeof c);
        for (int j = 0; j < i; j++)
            assert_memory_not_equal(out[i], out[j], sizeof c);
    }
    assert_ok(dpi_paillier_decrypt(b.key, 4, out[0], 5, y, &err), err.text);
    assert_true(y[0] == 0 && y[1] == 5 && y[2] == 0 && y[3] == 5);
    dpi_dense_free(dense);
    tear_down(&b);
}

static void inputs_that_are_no_ciphertexts(const dpi_montgomery_backend *backend)
{
    enum { INPUTS = 9 };
    bench b;
    dp_error err = {0};
    int32_t weights[INPUTS] = {1};
    const int64_t x[INPUTS] = {0};
    mp_limb_t c[INPUTS][WIDE], good[WIDE];
    dpi_dense *dense;
    dpi_dense_inputs *in;
    size_t limbs;
    dpi_dense_layer l = {
        .inputs = INPUTS, .outputs = 1, .n_weights = INPUTS, .weights = weights, .weight_bits = 1};
    set_up(backend, &b);
    assert_ok(dpi_paillier_encrypt(b.key, INPUTS, x, c[0], &err), err.text);
    assert_ok(dpi_dense_new(&l, DPI_DENSE_BEST, 0, &dense, &err), err.text);
    const mp_limb_t *n = dpi_paillier_modulus(b.key, &limbs);
    for (size_t i = 0; i < INPUTS; i += 4)
        for (int bad = 0; bad < 4; bad++) {
            memcpy(good, c[i], sizeof good);
            memset(c[i], bad == 3 ? 0xff : 0, sizeof good);
            if (bad == 1)
                memcpy(c[i], n, limbs * sizeof *n);
            if (bad == 2)
                mpn_sqr(c[i], n, (mp_size_t)limbs);
            assert_fails(dpi_dense_take(dense, b.public, c[0], &in, &err), DP_EPEER, &err,
                         "no ciphertext");
            assert_null(in);
            memcpy(c[i], good, sizeof good);
        }
    dpi_dense_free(dense);
    tear_down(&b);
}

static void with_each_backend(void (*test)(const dpi_montgomery_backend *backend))
{
    test(&dpi_montgomery_gmp);
    if (dpi_montgomery_fastest() != &dpi_montgomery_gmp)
        test(dpi_montgomery_fastest());
}

static void both_methods_are_right_with_each_window(void **state)
{
    (void)state;
    with_each_backend(both_methods_with_each_window);
}

static void each_shape_is_right(void **state)
{
    (void)state;
    with_each_backend(each_shape);
}

static void terms_may_share_weights(void **state)
{
    (void)state;
    with_each_backend(terms_that_share_weights);
}

static void answers_are_randomised(void **state)
{
    (void)state;
    with_each_backend(two_answers_to_one_query_differ);
}

static void what_is_no_ciphertext_is_refused(void **state)
{
    (void)state;
    with_each_backend(inputs_that_are_no_ciphertexts);
}

static void expect_refusal(const dpi_dense_layer *l, unsigned window, dp_status status,
                           const char *why)
{
    dp_error err = {0};
    dpi_dense *dense;
    assert_fails(dpi_dense_new(l, DPI_DENSE_BEST, window, &dense, &err), status, &err, why);
    assert_null(dense);
}

static void layers_are_checked(void **state)
{
    (void)state;
    const int32_t weights[2] = {7, -8};
    size_t begin[3] = {0, 1, 2};
    uint32_t input[2] = {0, 1}, weight[2] = {0, 1};
    dpi_dense_layer good = {
        .inputs = 2, .outputs = 1, .n_weights = 2, .weights = weights, .weight_bits = 4};
    dpi_dense_layer l = good;
    l.weight_bits = 3;
    expect_refusal(&l, 0, DP_EDOMAIN, "3 bits");
    l.weight_bits = 33;
    expect_refusal(&l, 0, DP_EINVAL, "33 bits");
    l = good;
    expect_refusal(&l, 13, DP_EINVAL, "at most 12");
    l.inputs = 0;
    expect_refusal(&l, 0, DP_EINVAL, "0 inputs");
    l.inputs = 3;
    expect_refusal(&l, 0, DP_EINVAL, "has 2 weights");
    l = good;
    l.outputs = 2;
    l.begin = begin;
    l.input = input;
    l.weight = weight;
    input[1] = 2;
    expect_refusal(&l, 0, DP_EINVAL, "beyond");
    input[1] = 1;
    weight[1] = 2;
    expect_refusal(&l, 0, DP_EINVAL, "beyond");
    weight[1] = 1;
    begin[1] = 3;
    expect_refusal(&l, 0, DP_EINVAL, "beyond");
    dpi_dense_free(NULL);
    dpi_dense_inputs_free(NULL);
}

/* Few inputs go by tables, many by buckets, and more bits want wider windows. */
static void the_method_fits_the_shape(void **state)
{
    (void)state;
    dp_error err = {0};
    enum { OUTPUTS = 128, INPUTS = 784 };
    int32_t *weights = calloc((size_t)OUTPUTS * INPUTS, sizeof *weights);
    static const struct {
        size_t inputs;
        unsigned bits, window;
        dpi_dense_method method;
    } rows[] = {{INPUTS, 17, 6, DPI_DENSE_BUCKETS},
                {INPUTS, 12, 7, DPI_DENSE_BUCKETS},
                {INPUTS, 7, 8, DPI_DENSE_BUCKETS},
                {25, 17, 6, DPI_DENSE_TABLES}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        dpi_dense *dense;
        unsigned window;
        dpi_dense_layer l = {.inputs = rows[r].inputs,
                             .outputs = OUTPUTS,
                             .n_weights = OUTPUTS * rows[r].inputs,
                             .weights = weights,
                             .weight_bits = rows[r].bits};
        assert_ok(dpi_dense_new(&l, DPI_DENSE_BEST, 0, &dense, &err), err.text);
        assert_int_equal(dpi_dense_how(dense, &window), rows[r].method);
        assert_int_equal(window, rows[r].window);
        dpi_dense_free(dense);
    }
    free(weights);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_methods_are_right_with_each_window),
        cmocka_unit_test(each_shape_is_right),
        cmocka_unit_test(terms_may_share_weights),
        cmocka_unit_test(answers_are_randomised),
        cmocka_unit_test(what_is_no_ciphertext_is_refused),
        cmocka_unit_test(layers_are_checked),
        cmocka_unit_test(the_method_fits_the_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
