/* Hostile keys and ciphertexts of Paillier's scheme: whatever the bytes are, reading ends, stays in
 * bounds, and gives a key or numbers within what was declared, or a message and nothing.  What is
 * no right length is refused; then the bytes are cut, or filled with zeros, to the length that is
 * right. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/dense.h"
#include "crypto/mask.h"
#include "fuzz/fuzz.h"

enum { BITS = 128, LIMBS = BITS / 32, COUNT = 3, KEY = 9 * BITS / 8 };

static const dpi_paillier_options options = {.bits = BITS};

/* Made once, and freed at the end: who looks for leaks does not look into locked memory. */
static dpi_paillier_key *key;
static dpi_paillier_public *public;

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static bool refused(dp_status status, const dp_error *err)
{
    expect(status == DP_OK || (status == DP_EPEER && strlen(err->text) > 10));
    return status != DP_OK;
}

/* A block of just n bytes, which shows any overrun. */
static void *just(const uint8_t *data, size_t size, size_t n)
{
    unsigned char *block = calloc(n > 0 ? n : 1, 1);
    expect(block != NULL);
    if (size > 0 && n > 0)
        memcpy(block, data, size < n ? size : n);
    return block;
}

static void read_key(const uint8_t *data, size_t size, size_t n)
{
    dp_error err = {DP_OK, ""};
    dpi_paillier_public *read = NULL;
    unsigned char *bytes = just(data, size, n);
    dp_status status = dpi_paillier_read_public(&options, n, bytes, &read, &err);
    expect((read == NULL) == refused(status, &err) && (n == KEY || read == NULL));
    if (read != NULL) { /* then it hides */
        mp_limb_t zero[LIMBS];
        expect(dpi_paillier_whole_zeros(read, 1, zero, &err) == DP_OK);
        expect(dpi_paillier_check(read, 1, zero, &err) == DP_OK);
    }
    dpi_paillier_public_free(read);
    free(bytes);
}

/* Whoever sums ciphertexts takes those alone that the check takes. */
static bool sum_up(const mp_limb_t *c)
{
    static const int32_t weights[COUNT] = {3, 0, -7};
    const dpi_dense_layer layer = {
        .inputs = COUNT, .outputs = 1, .n_weights = COUNT, .weights = weights, .weight_bits = 3};
    dp_error err = {DP_OK, ""};
    dpi_dense *dense;
    dpi_dense_inputs *in;
    mp_limb_t out[LIMBS];
    expect(dpi_dense_new(&layer, DPI_DENSE_BEST, 0, &dense, NULL) == DP_OK);
    bool taken = !refused(dpi_dense_take(dense, public, c, &in, &err), &err);
    if (taken) {
        expect(dpi_dense_outputs(dense, in, NULL, 0, 1, out, NULL) == DP_OK);
        expect(dpi_paillier_check(public, 1, out, NULL) == DP_OK);
    }
    dpi_dense_inputs_free(in);
    dpi_dense_free(dense);
    return taken;
}

static void decrypt(const mp_limb_t *c)
{
    dp_error err = {DP_OK, ""};
    int64_t m[COUNT], packed[COUNT * 3];
    bool none = refused(dpi_paillier_decrypt(key, COUNT, c, 1000, m, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        expect(none ? m[i] == 0 : m[i] >= -1000 && m[i] <= 1000);
    err = (dp_error){DP_OK, ""};
    none = refused(dpi_paillier_unpack(key, 3, 20, COUNT * 3, c, packed, &err), &err);
    for (size_t i = 0; i < COUNT * 3; i++)
        expect(none ? packed[i] == 0 : packed[i] >= -(1 << 19) && packed[i] < 1 << 19);
}

static void end(void)
{
    dpi_paillier_public_free(public);
    dpi_paillier_free(key);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (key == NULL) {
        expect(atexit(end) == 0);
        dpi_seed seed = {.key = "keys of fuzzers"};
        size_t limbs;
        expect(dpi_paillier_generate_seeded(&options, &seed, &key, NULL) == DP_OK);
        const mp_limb_t *n = dpi_paillier_modulus(key, &limbs);
        expect(dpi_paillier_public_new(&options, limbs, n, &public, NULL) == DP_OK);
    }
    read_key(data, size, size);
    read_key(data, size, KEY);
    mp_limb_t *c = just(data, size, COUNT * LIMBS * sizeof *c);
    dp_error err = {DP_OK, ""};
    bool good = !refused(dpi_paillier_check(public, COUNT, c, &err), &err);
    expect(sum_up(c) == good);
    decrypt(c);
    free(c);
    return 0;
}
