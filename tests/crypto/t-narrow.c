/* Layers of few outputs over ciphertexts against the same sums of integers. */
#include "crypto/narrow.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static const dpi_paillier_options small = {.bits = 256};
enum { WIDE = 8, MOST_INPUTS = 70, MOST_OUTPUTS = 19 };

typedef struct scene {
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    dpi_zeros *zeros;
} scene;

static void set_up(const dpi_montgomery_backend *backend, scene *s)
{
    dp_error err = {0};
    dpi_seed seed = {.key = "narrow layers of tests"};
    dpi_paillier_options options = small;
    unsigned char bytes[9 * WIDE * 4];
    options.backend = backend;
    assert_ok(dpi_paillier_generate_seeded(&options, &seed, &s->key, &err), err.text);
    dpi_paillier_write_public(s->key, bytes);
    assert_ok(dpi_paillier_read_public(&options, sizeof bytes, bytes, &s->public, &err), err.text);
    assert_ok(dpi_zeros_new(s->public, DPI_ZEROS_SHORT, 64, &s->zeros, &err), err.text);
}

static void tear_down(scene *s)
{
    dpi_zeros_free(s->zeros);
    dpi_paillier_public_free(s->public);
    dpi_paillier_free(s->key);
}

/* One request, inputs and groups in two parts each. */
static void evaluate(dpi_narrow_desk *desk, const scene *s, size_t inputs, const mp_limb_t *c,
                     mp_limb_t *out)
{
    dp_error err = {0};
    size_t cut = inputs / 3, groups = dpi_narrow_groups(desk);
    assert_ok(dpi_narrow_take(desk, cut, inputs, c + cut * WIDE, &err), err.text);
    assert_ok(dpi_narrow_take(desk, 0, cut, c, &err), err.text);
    assert_ok(dpi_narrow_multiply(desk, groups / 2, groups, &err), err.text);
    assert_ok(dpi_narrow_multiply(desk, 0, groups / 2, &err), err.text);
    assert_ok(dpi_narrow_finish(desk, s->zeros, out, &err), err.text);
}

/* Two requests by one desk, the second with other inputs. */
static void check(const scene *s, const dpi_dense_layer *l, unsigned window, size_t threads)
{
    dp_error err = {0};
    dpi_narrow *narrow;
    dpi_narrow_desk *desk;
    int64_t x[MOST_INPUTS], y[MOST_OUTPUTS];
    mp_limb_t c[MOST_INPUTS][WIDE], out[MOST_OUTPUTS][WIDE];
    uint64_t state = 7 + l->inputs;
    assert_ok(dpi_narrow_new(l, window, &narrow, &err), err.text);
    assert_ok(dpi_narrow_desk_new(narrow, s->public, threads, &desk, &err), err.text);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < l->inputs; i++)
            x[i] = (int64_t)(next_number(&state) * 1e6);
        assert_ok(dpi_paillier_encrypt(s->key, l->inputs, x, c[0], &err), err.text);
        evaluate(desk, s, l->inputs, c[0], out[0]);
        assert_ok(dpi_paillier_decrypt(s->key, l->outputs, out[0], INT64_MAX, y, &err), err.text);
        for (size_t o = 0; o < l->outputs; o++) {
            int64_t sum = l->bias != NULL ? l->bias[o] : 0;
            for (size_t i = 0; i < l->inputs; i++)
                sum += l->weights[o * l->inputs + i] * x[i];
            assert_int_equal(y[o], sum);
        }
    }
    dpi_narrow_desk_free(desk);
    dpi_narrow_free(narrow);
}

/* Weights at the ends of digits, of all signs: +-(2^k - 1), +-2^k, and a row of zeros, one of the
 * least and one of the largest. */
static void fill_edges(size_t outputs, size_t inputs, unsigned bits, int32_t *weights)
{
    uint64_t most = ((uint64_t)1 << bits) - 1;
    most = most < INT32_MAX ? most : INT32_MAX;
    for (size_t o = 0; o < outputs; o++)
        for (size_t i = 0; i < inputs; i++) {
            uint64_t power = (uint64_t)1 << (o * inputs + i) / 3 % bits;
            int64_t w = (int64_t)(i % 3 == 0 ? power - 1 : i % 3 == 1 ? power % (most + 1) : most);
            w = (i + o) % 2 == 0 ? w : -w;
            weights[o * inputs + i] = (int32_t)(o == 1   ? 0
                                                : o == 2 ? -(int64_t)most
                                                : o == 3 ? (int64_t)most
                                                         : w);
        }
}

static void each_window(const dpi_montgomery_backend *backend)
{
    enum { INPUTS = 23, OUTPUTS = 5 };
    static const unsigned bits[] = {1, 7, 12, 31, 32};
    scene s;
    int32_t weights[OUTPUTS * INPUTS];
    const int64_t bias[OUTPUTS] = {0, 1, -1, INT32_MIN, INT64_C(1) << 50};
    set_up(backend, &s);
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (unsigned window = 0; window <= 8; window++) {
            fill_edges(OUTPUTS, INPUTS, bits[b], weights);
            if (bits[b] == 32)
                weights[0] = INT32_MIN;
            const dpi_dense_layer l = {.inputs = INPUTS,
                                       .outputs = OUTPUTS,
                                       .n_weights = OUTPUTS * INPUTS,
                                       .weights = weights,
                                       .bias = window % 2 == 0 ? bias : NULL,
                                       .weight_bits = bits[b]};
            check(&s, &l, window, 2);
        }
    tear_down(&s);
}

/* 1 ... 19 outputs, 1 ... 70 inputs, for 1 ... 5 threads. */
static void each_shape(const dpi_montgomery_backend *backend)
{
    scene s;
    static int32_t weights[MOST_OUTPUTS * MOST_INPUTS];
    set_up(backend, &s);
    for (size_t outputs = 1; outputs <= MOST_OUTPUTS; outputs += outputs < 9 ? 1 : 5)
        for (size_t inputs = 1; inputs <= MOST_INPUTS; inputs += 23) {
            fill_edges(outputs, inputs, 1 + (unsigned)outputs % 12, weights);
            const dpi_dense_layer l = {.inputs = inputs,
                                       .outputs = outputs,
                                       .n_weights = outputs * inputs,
                                       .weights = weights,
                                       .weight_bits = 1 + (unsigned)outputs % 12};
            check(&s, &l, 0, 1 + outputs % 5);
        }
    tear_down(&s);
}

static const int32_t nine[9] = {1, 0, -1, 0, 1, 0, 1, 0, 3};
static const dpi_dense_layer nine_inputs = {
    .inputs = 9, .outputs = 1, .n_weights = 9, .weights = nine, .weight_bits = 2};

/* The same query twice: other ciphertexts of the same number, a fresh zero each. */
static void two_answers_differ(const dpi_montgomery_backend *backend)
{
    scene s;
    dp_error err = {0};
    dpi_narrow *narrow;
    dpi_narrow_desk *desk;
    const int64_t x[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    int64_t y[2];
    mp_limb_t c[9][WIDE], out[2][WIDE];
    set_up(backend, &s);
    assert_ok(dpi_paillier_encrypt(s.key, 9, x, c[0], &err), err.text);
    assert_ok(dpi_narrow_new(&nine_inputs, 0, &narrow, &err), err.text);
    assert_ok(dpi_narrow_desk_new(narrow, s.public, 1, &desk, &err), err.text);
    evaluate(desk, &s, 9, c[0], out[0]);
    evaluate(desk, &s, 9, c[0], out[1]);
    assert_int_equal(dpi_zeros_taken(s.zeros), 2);
    assert_memory_not_equal(out[0], out[1], sizeof out[0]);
    assert_ok(dpi_paillier_decrypt(s.key, 2, out[0], 100, y, &err), err.text);
    assert_true(y[0] == 1 - 3 + 5 + 7 + 27 && y[1] == y[0]);
    dpi_narrow_desk_free(desk);
    dpi_narrow_free(narrow);
    tear_down(&s);
}

/* 0, n, n^2 and more, in place of inputs whose weight is 0 as well: what is said to the other side
 * must not tell where weights are 0. */
static void no_ciphertexts(const dpi_montgomery_backend *backend)
{
    scene s;
    dp_error err = {0};
    const int64_t x[9] = {0};
    mp_limb_t c[9][WIDE], good[WIDE], out[WIDE];
    dpi_narrow *narrow;
    dpi_narrow_desk *desk;
    size_t limbs;
    set_up(backend, &s);
    assert_ok(dpi_paillier_encrypt(s.key, 9, x, c[0], &err), err.text);
    assert_ok(dpi_narrow_new(&nine_inputs, 0, &narrow, &err), err.text);
    assert_ok(dpi_narrow_desk_new(narrow, s.public, 2, &desk, &err), err.text);
    const mp_limb_t *n = dpi_paillier_modulus(s.key, &limbs);
    for (size_t i = 0; i < 9; i++)
        for (int bad = 0; bad < 4; bad++) {
            memcpy(good, c[i], sizeof good);
            memset(c[i], bad == 3 ? 0xff : 0, sizeof good);
            if (bad == 1)
                memcpy(c[i], n, limbs * sizeof *n);
            if (bad == 2)
                mpn_sqr(c[i], n, (mp_size_t)limbs);
            err = (dp_error){0};
            dp_status status = dpi_narrow_take(desk, 0, 9, c[0], &err);
            if (status == DP_OK)
                status = dpi_narrow_multiply(desk, 0, dpi_narrow_groups(desk), &err);
            if (status == DP_OK)
                status = dpi_narrow_finish(desk, s.zeros, out, &err);
            assert_fails(status, DP_EPEER, &err, "no ciphertext");
            memcpy(c[i], good, sizeof good);
        }
    assert_int_equal(dpi_zeros_taken(s.zeros), 0);
    evaluate(desk, &s, 9, c[0], out); /* and the desk is none the worse */
    dpi_narrow_desk_free(desk);
    dpi_narrow_free(narrow);
    tear_down(&s);
}

static void with_each_backend(void (*test)(const dpi_montgomery_backend *backend))
{
    test(&dpi_montgomery_gmp);
    if (dpi_montgomery_fastest() != &dpi_montgomery_gmp)
        test(dpi_montgomery_fastest());
}

static void it_is_right_with_each_window(void **state)
{
    (void)state;
    with_each_backend(each_window);
}

static void each_shape_is_right(void **state)
{
    (void)state;
    with_each_backend(each_shape);
}

static void answers_are_randomised(void **state)
{
    (void)state;
    with_each_backend(two_answers_differ);
}

static void what_is_no_ciphertext_is_refused(void **state)
{
    (void)state;
    with_each_backend(no_ciphertexts);
}

static void expect_refusal(const dpi_dense_layer *l, unsigned window, dp_status status,
                           const char *why)
{
    dp_error err = {0};
    dpi_narrow *narrow;
    assert_fails(dpi_narrow_new(l, window, &narrow, &err), status, &err, why);
    assert_null(narrow);
}

static void layers_are_checked(void **state)
{
    (void)state;
    const size_t begin[2] = {0, 9};
    dpi_dense_layer l = nine_inputs;
    l.weight_bits = 1;
    expect_refusal(&l, 0, DP_EDOMAIN, "1 bits");
    l.weight_bits = 33;
    expect_refusal(&l, 0, DP_EINVAL, "33 bits");
    l = nine_inputs;
    expect_refusal(&l, 9, DP_EINVAL, "at most 8");
    l.inputs = 0;
    expect_refusal(&l, 0, DP_EINVAL, "0 inputs");
    l.inputs = 8;
    expect_refusal(&l, 0, DP_EINVAL, "9 weights");
    l = nine_inputs;
    l.begin = begin;
    expect_refusal(&l, 0, DP_EINVAL, "few outputs");
    l = nine_inputs;
    l.slots = (dpi_slots){.count = 2, .bits = 40};
    expect_refusal(&l, 0, DP_EINVAL, "few outputs");
    dpi_narrow_free(NULL);
    dpi_narrow_desk_free(NULL);
}

/* It is cheaper for few outputs, and there alone. */
static void it_is_for_few_outputs(void **state)
{
    (void)state;
    static const struct {
        size_t inputs, outputs;
        bool narrow;
    } rows[] = {
        {784, 1, true}, {784, 8, true}, {784, 128, false}, {25, 25, false}, {128, 10, true}};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const dpi_dense_layer l = {.inputs = rows[r].inputs,
                                   .outputs = rows[r].outputs,
                                   .n_weights = rows[r].inputs * rows[r].outputs,
                                   .weight_bits = 12};
        assert_int_equal(dpi_narrow_cost(&l) < dpi_dense_cost(&l), rows[r].narrow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_right_with_each_window),
        cmocka_unit_test(each_shape_is_right),
        cmocka_unit_test(answers_are_randomised),
        cmocka_unit_test(what_is_no_ciphertext_is_refused),
        cmocka_unit_test(layers_are_checked),
        cmocka_unit_test(it_is_for_few_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
