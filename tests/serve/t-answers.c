/* What Paillier's row sends back hides all of a ciphertext but its numbers, whoever made it up. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "crypto/mask.h"
#include "serve/protocol.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { KEY = 512, CIPHER = KEY / 4, LIMBS = CIPHER / 8, ANSWERS = 64, MOST = 150 };

static dp_program *program(size_t inputs, size_t outputs)
{
    dp_error err = {0};
    double w[MOST * 9];
    uint64_t numbers = 3;
    dp_program *p = dp_program_new();
    for (size_t i = 0; i < inputs * outputs; i++)
        w[i] = next_number(&numbers);
    (void)dp_program_dense(p, dp_program_input(p, inputs, "x", -1, 1), outputs, w, NULL);
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    return p;
}

/* up[inputs] of zeros, of which that of an odd weight of the first output has Jacobi symbol -1. */
static void write_query(const dpi_paillier_public *public, const mpz_t n, const dp_stage *s,
                        size_t inputs, unsigned char *up)
{
    dp_error err = {0};
    mp_limb_t c[LIMBS];
    mpz_t x;
    size_t odd = 0;
    while (s->weights[odd] % 2 == 0)
        odd++;
    assert_true(odd < inputs);
    mpz_init(x);
    for (size_t i = 0; i < inputs; i++) {
        do {
            assert_ok(dpi_paillier_whole_zeros(public, 1, c, &err), err.text);
            mpz_import(x, LIMBS, -1, sizeof *c, 0, 0, c);
        } while (mpz_jacobi(x, n) != (i == odd ? -1 : 1));
        dpi_limbs_to_bytes(LIMBS, c, up + i * CIPHER);
    }
    mpz_clear(x);
}

/* The symbol of an answer is (-1)^w times that of the zero that hides it; of 64 uniform ones all
 * are alike with chance 2^-63. */
static void check_row(size_t inputs, size_t outputs)
{
    static unsigned char key[9 * KEY / 8], up[MOST * CIPHER], down[MOST * CIPHER];
    const dpi_serve_opts opts = {.key_bits = KEY};
    const dpi_paillier_options options = {.bits = KEY};
    const dpi_serve_order_pair none = {NULL, NULL};
    dp_error err = {0};
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    void *compiled, *session;
    dpi_paillier_key *own;
    dpi_paillier_public *public;
    size_t limbs;
    mpz_t n, x;
    int odd = 0;
    dp_program *p = program(inputs, outputs);
    assert_ok(dpi_serve_plan_make(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(dpi_he2_paillier.cost(&plan, DPI_MODE_LINEAR, &opts, &cost, &err), err.text);
    assert_int_equal(cost.key, sizeof key);
    assert_true(cost.up[0] <= sizeof up && cost.down[0] <= sizeof down);
    assert_ok(dpi_he2_paillier.compile(&plan, DPI_MODE_LINEAR, &opts, &compiled, &err), err.text);
    assert_ok(dpi_paillier_generate(&options, &own, &err), err.text);
    dpi_paillier_write_public(own, key);
    assert_ok(dpi_paillier_read_public(&options, sizeof key, key, &public, &err), err.text);
    assert_ok(dpi_he2_paillier.open(compiled, key, &session, &err), err.text);
    const mp_limb_t *modulus = dpi_paillier_modulus(own, &limbs);
    mpz_inits(n, x, NULL);
    mpz_import(n, limbs, -1, sizeof *modulus, 0, 0, modulus);
    write_query(public, n, dp_program_stage(p, 1), inputs, up);
    for (int i = 0; i < ANSWERS; i++) {
        assert_ok(dpi_he2_paillier.layer(session, 0, &none, up, down, NULL, 1, &err), err.text);
        mpz_import(x, CIPHER, -1, 1, 0, 0, down);
        odd += mpz_jacobi(x, n) == -1;
    }
    assert_true(odd > 0 && odd < ANSWERS);
    mpz_clears(n, x, NULL);
    dpi_he2_paillier.close(session);
    dpi_he2_paillier.discard(compiled);
    dpi_paillier_public_free(public);
    dpi_paillier_free(own);
    dp_program_free(p);
}

static void answers_tell_nothing_of_made_up_ciphertexts(void **state)
{
    (void)state;
    check_row(MOST, 1); /* few outputs, which are computed in another way than many */
    check_row(20, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_tell_nothing_of_made_up_ciphertexts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
