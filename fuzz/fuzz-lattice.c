/* Hostile ciphertexts and answers of encrypted layers: whatever the bytes are, reading ends,
 * stays in bounds, and gives either residues below their primes, or a message and zeros.  What
 * is no right length is refused; then the bytes are cut, or filled with zeros, to the length
 * that is right. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/lattice.h"
#include "fuzz/fuzz.h"

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

static void check_cipher(const dpi_bfv *f, const unsigned char *bytes, size_t n, dpi_bfv_cipher *c)
{
    dp_error err = {DP_OK, ""};
    const dp_status status = dpi_bfv_cipher_read(f, n, bytes, c, &err);
    expect(status == DP_OK || (status == DP_EPEER && err.text[0] != 0));
    expect(n == dpi_bfv_cipher_size(f) || status == DP_EPEER);
    for (size_t j = 0; j < f->n && status == DP_OK; j++)
        expect(c->c0[j] < f->ntt[0]->m.q && c->c1[j] < f->ntt[0]->m.q);
}

static void check_answer(const dpi_lattice_plan *plan, const dpi_bfv_secret *secret,
                         const unsigned char *bytes, size_t n)
{
    int64_t y[3] = {1, 1, 1};
    dp_error err = {DP_OK, ""};
    const dp_status status = dpi_lattice_open(plan, secret, n, bytes, y, &err);
    expect(status == DP_OK || (status == DP_EPEER && err.text[0] != 0));
    expect(n == plan->answer_bytes || status == DP_EPEER);
    for (size_t i = 0; i < 3; i++)
        expect(status == DP_OK ? y[i] >= -(1 << 20) && y[i] < 1 << 20 : y[i] == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {1};
    const dpi_bfv_spec spec = {2048, 1, 50, 21};
    const dpi_lattice_shape shape = dpi_lattice_dense(40, 3, 100);
    dpi_bfv *f;
    dpi_bfv_cipher *c;
    dpi_bfv_secret *secret;
    dpi_lattice_plan plan;
    dpi_rlwe_stream random;
    dpi_rlwe_start(&random, seed, "fuzz");
    expect(dpi_bfv_new(&spec, &f, NULL) == DP_OK);
    expect(dpi_bfv_cipher_new(f, &c, NULL) == DP_OK);
    expect(dpi_bfv_secret_new(f, &random, &secret, NULL) == DP_OK);
    expect(dpi_lattice_plan_make(f, &shape, &plan, NULL) == DP_OK);
    const size_t lengths[] = {size, dpi_bfv_cipher_size(f), plan.answer_bytes};
    for (size_t i = 0; i < 3; i++) {
        unsigned char *bytes = just(data, size, lengths[i]);
        check_cipher(f, bytes, lengths[i], c);
        check_answer(&plan, secret, bytes, lengths[i]);
        free(bytes);
    }
    dpi_bfv_secret_free(secret);
    dpi_bfv_cipher_free(c);
    dpi_bfv_free(f);
    return 0;
}
