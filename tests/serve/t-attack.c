/* Reading a network's weights off hidden numbers, and what stops it.
 *
 * A client who encrypts B^1, B^2, ... in place of its numbers finds, in each hidden number, the
 * base-B digits of a neuron's bias and of as many weights as the key has room for.  Orders are
 * fresh in each query, but every query repeats the bias and three weights, by which a neuron is
 * known again.  Against the protocol as published (without masks) all weights of the first layer
 * come out, exactly; against masks none do, in either mode. */
#include <stdlib.h>
#include <string.h>

#include "crypto/paillier.h"
#include "serve/protocol.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum {
    KEY = 512,
    INPUTS = 42,
    NEURONS = 12,
    BASE = 26, /* bits of a digit */
    TAGS = 3,  /* weights that every query repeats */
    DIGITS = (KEY - 2) / BASE,
    FRESH = DIGITS - 1 - TAGS, /* weights that a query reads besides */
    QUERIES = (INPUTS - TAGS + FRESH - 1) / FRESH,
    CIPHER = KEY / 4,
    LIMBS = CIPHER / 8
};

static dp_program *network(bool hidden)
{
    double w[NEURONS * INPUTS], b[NEURONS], v[3 * NEURONS];
    uint64_t numbers = 8;
    dp_error err = {0};
    for (int i = 0; i < NEURONS * INPUTS; i++)
        w[i] = next_number(&numbers);
    for (int i = 0; i < NEURONS; i++)
        b[i] = next_number(&numbers);
    for (int i = 0; i < 3 * NEURONS; i++)
        v[i] = next_number(&numbers);
    dp_program *p = dp_program_new();
    int h = dp_program_dense(p, dp_program_input(p, INPUTS, "x", -1, 1), NEURONS, w, b);
    if (hidden)
        (void)dp_program_dense(p, dp_program_relu(p, h), 3, v, NULL);
    const dp_scale_opts opts = {.weight_bits = 10, .activation_bits = 12};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

/* Which input has digit k >= 1 in a query: the tags, then those whose turn it is; -1: none. */
static int input_of(int query, int k)
{
    int input = k <= TAGS ? k - 1 : TAGS + query * FRESH + (k - 1 - TAGS);
    return input < INPUTS ? input : -1;
}

static void encrypt_powers(const dpi_paillier_key *key, int query, unsigned char *up)
{
    dp_error err = {0};
    mpz_t power;
    mpz_init(power);
    for (int i = 0; i < INPUTS; i++) {
        mp_limb_t c[LIMBS];
        mpz_set_ui(power, 0);
        for (int k = 1; k < DIGITS; k++)
            if (input_of(query, k) == i)
                mpz_setbit(power, (mp_bitcnt_t)(BASE * k));
        assert_ok(dpi_paillier_encrypt_wide(key, power, c, &err), err.text);
        dpi_limbs_to_bytes(LIMBS, c, up + i * CIPHER);
    }
    mpz_clear(power);
}

/* The signed digits of an answer, which has come with 2^bits added. */
static void read_digits(const dpi_paillier_key *key, const unsigned char *from, int bits,
                        int64_t digit[DIGITS])
{
    dp_error err = {0};
    mp_limb_t c[LIMBS];
    mpz_t sum, low;
    mpz_inits(sum, low, NULL);
    dpi_limbs_from_bytes(LIMBS, from, c);
    assert_ok(dpi_paillier_decrypt_wide(key, c, sum, &err), err.text);
    mpz_setbit(low, (mp_bitcnt_t)bits);
    mpz_sub(sum, sum, low);
    for (int k = 0; k < DIGITS; k++) {
        mpz_fdiv_r_2exp(low, sum, BASE);
        digit[k] = mpz_get_si(low);
        if (digit[k] >> (BASE - 1) != 0)
            digit[k] -= INT64_C(1) << BASE;
        mpz_fdiv_q_2exp(sum, sum, BASE);
        if (digit[k] < 0) /* what is above has lent one */
            mpz_add_ui(sum, sum, 1);
    }
    mpz_clears(sum, low, NULL);
}

typedef struct neuron {
    int64_t bias;
    int32_t weight[INPUTS];
} neuron;

/* The neuron with that bias and these tags, of a first query; NULL: none. */
static neuron *find(neuron *all, const int64_t digit[DIGITS])
{
    for (int n = 0; n < NEURONS; n++)
        if (all[n].bias == digit[0] && all[n].weight[0] == digit[1] &&
            all[n].weight[1] == digit[2] && all[n].weight[2] == digit[3])
            return &all[n];
    return NULL;
}

/* Asks the provider's row as a client may, and reads what comes back. */
static void attack(const dp_program *p, dpi_mode mode, bool bare, neuron found[NEURONS])
{
    dp_error err = {0};
    dpi_serve_plan plan;
    dpi_paillier_key *key;
    void *compiled, *session;
    static unsigned char up[INPUTS * CIPHER], down[NEURONS * CIPHER];
    unsigned char public[KEY / 8];
    const dpi_serve_opts opts = {.key_bits = KEY, .slots = 1, .bare = bare};
    const dpi_paillier_options options = {.bits = KEY};
    memset(found, 0, NEURONS * sizeof *found);
    assert_ok(dpi_serve_plan_make(p, mode, &plan, &err), err.text);
    assert_ok(dpi_he2_paillier.compile(&plan, mode, &opts, &compiled, &err), err.text);
    assert_ok(dpi_paillier_generate(&options, &key, &err), err.text);
    dpi_paillier_write_public(key, public);
    assert_ok(dpi_he2_paillier.open(compiled, public, &session, &err), err.text);
    for (int q = 0; q < QUERIES; q++) {
        uint32_t order[NEURONS], back[NEURONS];
        bool hidden = plan.layer[0].hidden;
        if (hidden)
            assert_ok(dpi_serve_order(&plan, &plan.layer[0], order, back, &err), err.text);
        const dpi_serve_order_pair orders = {.output = hidden ? order : NULL};
        encrypt_powers(key, q, up);
        assert_ok(dpi_he2_paillier.layer(session, 0, &orders, up, down, NULL, 1, &err), err.text);
        for (int n = 0; n < NEURONS; n++) {
            int64_t digit[DIGITS];
            read_digits(key, down + n * CIPHER, plan.layer[0].bits, digit);
            neuron *of = q == 0 ? &found[n] : find(found, digit);
            if (q == 0)
                of->bias = digit[0];
            for (int k = 1; of != NULL && k < DIGITS; k++)
                if (input_of(q, k) >= 0)
                    of->weight[input_of(q, k)] = (int32_t)digit[k];
        }
    }
    dpi_he2_paillier.close(session);
    dpi_he2_paillier.discard(compiled);
    dpi_paillier_free(key);
}

/* How many neurons came out with all their weights. */
static int recovered(const dp_program *p, const neuron found[NEURONS])
{
    const dp_stage *s = dp_program_stage(p, 1);
    int count = 0;
    for (int n = 0; n < NEURONS; n++)
        for (int f = 0; f < NEURONS; f++)
            if (found[f].bias == s->bias[n] &&
                memcmp(found[f].weight, s->weights + n * INPUTS, sizeof found[f].weight) == 0) {
                count++;
                break;
            }
    return count;
}

static void published_permutations_give_all_weights(void **state)
{
    (void)state;
    neuron found[NEURONS];
    dp_program *p = network(true);
    attack(p, DPI_MODE_PERMUTE, true, found);
    assert_int_equal(recovered(p, found), NEURONS);
    dp_program_free(p);
}

static void masks_give_none(void **state)
{
    (void)state;
    neuron found[NEURONS];
    dp_program *p = network(true), *q = network(false);
    attack(p, DPI_MODE_PERMUTE, false, found);
    assert_int_equal(recovered(p, found), 0);
    attack(q, DPI_MODE_LINEAR, false, found);
    assert_int_equal(recovered(q, found), 0);
    attack(q, DPI_MODE_LINEAR, true, found); /* it is the mask that does it */
    assert_int_equal(recovered(q, found), NEURONS);
    dp_program_free(p);
    dp_program_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_permutations_give_all_weights),
        cmocka_unit_test(masks_give_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
