/* Hostile ciphertexts and keys of CKKS: whatever the bytes are, reading ends, stays in bounds, and
 * gives either residues below their primes, which are written as the same bytes again, or a message
 * and nothing.  What is no right length is refused; then the bytes are cut, or filled with zeros,
 * to the length that is right. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fhe/ckks-parts.h"
#include "fuzz/fuzz.h"

enum { LEVEL = 1 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* A block of just n bytes, which shows any overrun. */
static unsigned char *just(const uint8_t *data, size_t size, size_t n)
{
    unsigned char *block = calloc(n > 0 ? n : 1, 1);
    expect(block != NULL);
    if (size > 0 && n > 0)
        memcpy(block, data, size < n ? size : n);
    return block;
}

/* Whether it was read; `right` is the length that it must have. */
static bool was_read(dp_status status, const dp_error *err, size_t n, size_t right)
{
    expect(status == DP_OK || (status == DP_EPEER && err->text[0] != 0));
    expect(n == right || status == DP_EPEER);
    return status == DP_OK;
}

static void expect_residues(const dpi_ckks *c, const uint64_t *row)
{
    for (size_t t = 0; t <= LEVEL; t++)
        for (size_t i = t * c->n; i < (t + 1) * c->n; i++)
            expect(row[i] < c->ntt[t]->m.q);
}

static void check_cipher(const dpi_ckks *c, bool seeded, const unsigned char *bytes, size_t n,
                         dpi_ckks_cipher *x)
{
    dp_error err = {DP_OK, ""};
    const dp_status status = dpi_ckks_cipher_read(c, LEVEL, 1, seeded, n, bytes, x, &err);
    if (!was_read(status, &err, n, dpi_ckks_cipher_size(c, LEVEL, seeded)))
        return;
    unsigned char *again = just(NULL, 0, n);
    expect_residues(c, x->part[0]);
    expect_residues(c, x->part[1]);
    dpi_ckks_cipher_write(c, x, seeded, again);
    expect(memcmp(again, bytes, n) == 0);
    free(again);
}

static void check_keys(const dpi_ckks *c, const unsigned char *bytes, size_t n)
{
    dpi_ckks_switch *k;
    dpi_ckks_public *p;
    dp_error err = {DP_OK, ""};
    unsigned char *again = just(NULL, 0, n);
    dp_status status = dpi_ckks_switch_read(c, dpi_ckks_rotation(c, 3), n, bytes, &k, &err);
    expect((k != NULL) == (status == DP_OK));
    if (was_read(status, &err, n, dpi_ckks_switch_size(c))) {
        dpi_ckks_switch_write(k, again);
        expect(memcmp(again, bytes, n) == 0);
    }
    status = dpi_ckks_public_read(c, n, bytes, &p, &err);
    expect((p != NULL) == (status == DP_OK));
    if (was_read(status, &err, n, dpi_ckks_public_size(c))) {
        dpi_ckks_public_write(p, again);
        expect(memcmp(again, bytes, n) == 0);
    }
    dpi_ckks_switch_free(k);
    dpi_ckks_public_free(p);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const dpi_ckks_spec spec = {10, 50, 40, LEVEL, 1, 1, true};
    static dpi_ckks *c; /* made once, and kept */
    dpi_ckks_cipher x;
    expect(c != NULL || dpi_ckks_new(&spec, &c, NULL) == DP_OK);
    expect(dpi_ckks_cipher_new(c, LEVEL, &x, NULL) == DP_OK);
    const size_t lengths[] = {size, dpi_ckks_cipher_size(c, LEVEL, false),
                              dpi_ckks_cipher_size(c, LEVEL, true), dpi_ckks_switch_size(c),
                              dpi_ckks_public_size(c)};
    for (size_t i = 0; i < 5; i++) {
        unsigned char *bytes = just(data, size, lengths[i]);
        check_cipher(c, false, bytes, lengths[i], &x);
        check_cipher(c, true, bytes, lengths[i], &x);
        check_keys(c, bytes, lengths[i]);
        free(bytes);
    }
    dpi_ckks_cipher_free(&x);
    return 0;
}
