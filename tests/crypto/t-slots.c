/* Several numbers in one ciphertext, by themselves and through a layer. */
#include "crypto/slots.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/dense.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static const dpi_paillier_options small = {.bits = 256};
enum { WIDE = 8, COUNT = 5, MOST_SLOTS = 127 };

static dpi_paillier_key *make_key(void)
{
    dp_error err = {0};
    dpi_seed seed = {.key = "slots of tests"};
    dpi_paillier_key *key;
    assert_ok(dpi_paillier_generate_seeded(&small, &seed, &key, &err), err.text);
    return key;
}

static void the_room_is_that_of_the_key(void **state)
{
    (void)state;
    assert_int_equal(dpi_slots_room(2048, 48), 42);
    assert_int_equal(dpi_slots_room(2048, 64), 31);
    assert_int_equal(dpi_slots_room(256, 2), MOST_SLOTS);
    assert_int_equal(dpi_slots_room(256, 0), 0);
    assert_int_equal(dpi_slots_room(2, 2), 0);
}

/* All sizes of slots, as many as there is room for, with the largest numbers of either sign beside
 * each other, zeros and others. */
static void numbers_come_back_from_slots(void **state)
{
    (void)state;
    dpi_paillier_key *key = make_key();
    uint64_t source = 3;
    for (unsigned bits = 2; bits <= 64; bits++) {
        dp_error err = {0};
        dpi_slots slots = {dpi_slots_room(256, bits), bits};
        int64_t m[COUNT * MOST_SLOTS], back[COUNT * MOST_SLOTS];
        int64_t most = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
        mp_limb_t c[COUNT][WIDE];
        size_t n = COUNT * slots.count;
        for (size_t i = 0; i < n; i++)
            m[i] = i < slots.count       ? most
                   : i < 2 * slots.count ? -most
                   : i < 3 * slots.count ? (i % 2 == 0 ? most : -most)
                   : i < 4 * slots.count ? (i % 3 == 0 ? -1 : 0)
                                         : (int64_t)(next_number(&source) * (double)(most / 2));
        assert_ok(dpi_slots_encrypt(key, slots, COUNT, m, c[0], &err), err.text);
        assert_ok(dpi_slots_decrypt(key, slots, COUNT, c[0], most, back, &err), err.text);
        assert_memory_equal(m, back, n * sizeof *m);
    }
    dpi_paillier_free(key);
}

/* One slot is what a message is without slots. */
static void one_slot_is_a_message(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key();
    dpi_slots one = {1, 64};
    const int64_t m[2] = {-12345678901, INT64_MAX};
    int64_t back[2];
    mp_limb_t c[2][WIDE];
    assert_ok(dpi_slots_encrypt(key, one, 2, m, c[0], &err), err.text);
    assert_ok(dpi_paillier_decrypt(key, 2, c[0], INT64_MAX, back, &err), err.text);
    assert_memory_equal(m, back, sizeof m);
    assert_ok(dpi_paillier_encrypt(key, 2, m, c[0], &err), err.text);
    assert_ok(dpi_slots_decrypt(key, one, 2, c[0], INT64_MAX, back, &err), err.text);
    assert_memory_equal(m, back, sizeof m);
    dpi_paillier_free(key);
}

/* Requests side by side: each slot of an output is the layer of that request, biases and all. */
static void a_layer_treats_slots_alike(void **state)
{
    (void)state;
    enum { INPUTS = 6, OUTPUTS = 4, SLOTS = 7 };
    const int32_t weights[OUTPUTS * INPUTS] = {1,     -2, 3,    -4, 5,  -6, 1000, 2000,
                                               -3000, 0,  7,    9,  -1, -1, 511,  0,
                                               -5,    12, -700, 0,  1,  88, 0,    3};
    const int64_t bias[OUTPUTS] = {0, -77777, 123456, -1};
    dp_error err = {0};
    dpi_slots slots = {SLOTS, 34};
    dpi_paillier_key *key = make_key();
    dpi_paillier_public *public;
    dpi_zeros *zeros;
    dpi_dense *dense;
    dpi_dense_inputs *in;
    unsigned char bytes[9 * 32];
    int64_t x[INPUTS][SLOTS], y[OUTPUTS][SLOTS];
    mp_limb_t c[INPUTS][WIDE], out[OUTPUTS][WIDE];
    uint64_t source = 9;
    dpi_dense_layer l = {.inputs = INPUTS,
                         .outputs = OUTPUTS,
                         .n_weights = INPUTS * OUTPUTS,
                         .weights = weights,
                         .bias = bias,
                         .weight_bits = 12,
                         .slots = slots};
    dpi_paillier_write_public(key, bytes);
    assert_ok(dpi_paillier_read_public(&small, sizeof bytes, bytes, &public, &err), err.text);
    assert_ok(dpi_zeros_new(public, DPI_ZEROS_SHORT, 1, &zeros, &err), err.text);
    for (int i = 0; i < INPUTS; i++)
        for (int j = 0; j < SLOTS; j++)
            x[i][j] = (int64_t)(next_number(&source) * 1e5);
    assert_ok(dpi_slots_encrypt(key, slots, INPUTS, x[0], c[0], &err), err.text);
    assert_ok(dpi_dense_new(&l, DPI_DENSE_BEST, 0, &dense, &err), err.text);
    assert_ok(dpi_dense_take(dense, public, c[0], &in, &err), err.text);
    assert_ok(dpi_dense_outputs(dense, in, zeros, 0, OUTPUTS, out[0], &err), err.text);
    assert_ok(dpi_slots_decrypt(key, slots, OUTPUTS, out[0], INT64_C(1) << 32, y[0], &err),
              err.text);
    for (int o = 0; o < OUTPUTS; o++)
        for (int j = 0; j < SLOTS; j++) {
            int64_t sum = bias[o];
            for (int i = 0; i < INPUTS; i++)
                sum += weights[o * INPUTS + i] * x[i][j];
            assert_int_equal(y[o][j], sum);
        }
    dpi_dense_inputs_free(in);
    dpi_dense_free(dense);
    l.slots.count = 8;
    assert_ok(dpi_dense_new(&l, DPI_DENSE_BEST, 0, &dense, &err), err.text);
    assert_fails(dpi_dense_take(dense, public, c[0], &in, &err), DP_EINVAL, &err, "8 slots");
    dpi_dense_free(dense);
    dpi_zeros_free(zeros);
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_paillier_key *key = make_key();
    dpi_slots good = {3, 20};
    static const dpi_slots bad[] = {{0, 20}, {13, 20}, {1, 1}, {1, 65}, {127, 64}};
    int64_t m[3] = {524287, -524287, 0}, back[3];
    mp_limb_t c[WIDE];
    mpz_t wide;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_fails(dpi_slots_encrypt(key, bad[i], 1, m, c, &err), DP_EINVAL, &err, "slots of");
        assert_fails(dpi_slots_decrypt(key, bad[i], 1, c, 1, back, &err), DP_EINVAL, &err,
                     "slots of");
    }
    assert_ok(dpi_slots_encrypt(key, good, 1, m, c, &err), err.text);
    assert_fails(dpi_slots_decrypt(key, good, 1, c, 524286, back, &err), DP_EPEER, &err, "bound");
    assert_true(back[0] == 0 && back[1] == 0 && back[2] == 0);
    assert_fails(dpi_slots_decrypt(key, good, 1, c, 524288, back, &err), DP_EINVAL, &err, "bound");
    assert_fails(dpi_slots_decrypt(key, good, 1, c, -1, back, &err), DP_EINVAL, &err, "bound");
    m[2] = 524288;
    assert_fails(dpi_slots_encrypt(key, good, 1, m, c, &err), DP_EDOMAIN, &err, "20 bits");
    m[2] = INT64_MIN;
    assert_fails(dpi_slots_encrypt(key, good, 1, m, c, &err), DP_EDOMAIN, &err, "20 bits");
    mpz_init_set_ui(wide, 1);
    mpz_mul_2exp(wide, wide, 60); /* above the third slot */
    assert_ok(dpi_paillier_encrypt_wide(key, wide, c, &err), err.text);
    assert_fails(dpi_slots_decrypt(key, good, 1, c, 524287, back, &err), DP_EPEER, &err, "bound");
    mpz_clear(wide);
    memset(c, 0, sizeof c);
    assert_fails(dpi_slots_decrypt(key, good, 1, c, 524287, back, &err), DP_EPEER, &err,
                 "no ciphertext");
    dpi_paillier_free(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_room_is_that_of_the_key),
        cmocka_unit_test(numbers_come_back_from_slots),
        cmocka_unit_test(one_slot_is_a_message),
        cmocka_unit_test(a_layer_treats_slots_alike),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
