#include "tests/serve/attack.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/mask.h"

enum {
    BASE = 30, /* bits of a digit */
    TAGS = 3   /* weights that every query repeats */
};

/* One attack.  Neuron n that was found has bias[n] and weight[n][inputs]. */
typedef struct attempt {
    const attack_opts *o;
    dpi_serve_plan plan;
    size_t inputs, neurons, digits, fresh, limbs, bytes, query;
    dpi_paillier_key *key;
    void *compiled, *session;
    unsigned char *up, *down;
    uint32_t *order, *back;
    int64_t *bias, *digit;
    int32_t *weight;
} attempt;

/* ---- what is asked ---- */

/* Which input has digit k >= 1: the tags, then those whose turn it is; SIZE_MAX: none. */
static size_t input_of(const attempt *a, size_t k)
{
    size_t input = k <= TAGS ? k - 1 : TAGS + a->query * a->fresh + (k - 1 - TAGS);
    return input < a->inputs ? input : SIZE_MAX;
}

static void set_number(const attempt *a, size_t input, mpz_t number)
{
    mpz_set_ui(number, a->o->how == ATTACK_UNITS && input + 1 == a->query);
    for (size_t k = 1; a->o->how == ATTACK_DIGITS && k < a->digits; k++)
        if (input_of(a, k) == input)
            mpz_setbit(number, (mp_bitcnt_t)(BASE * k));
}

static dp_status encrypt(attempt *a, mp_limb_t *c, dp_error *err)
{
    dp_status status = DP_OK;
    mpz_t number;
    mpz_init(number);
    for (size_t i = 0; status == DP_OK && i < a->inputs; i++) {
        set_number(a, i, number);
        status = dpi_paillier_encrypt_wide(a->key, number, c, err);
        dpi_limbs_to_bytes(a->limbs, c, a->up + i * a->bytes);
    }
    mpz_clear(number);
    return status;
}

/* ---- what comes back ---- */

/* The signed digits of an answer that is centred at 2^bits. */
static void cut(attempt *a, mpz_t sum)
{
    mpz_t low;
    mpz_init(low);
    mpz_setbit(low, (mp_bitcnt_t)a->plan.layer[0].bits);
    mpz_sub(sum, sum, low);
    for (size_t k = 0; k < a->digits; k++) {
        mpz_fdiv_r_2exp(low, sum, BASE);
        a->digit[k] = mpz_get_si(low);
        if (a->digit[k] >> (BASE - 1) != 0)
            a->digit[k] -= INT64_C(1) << BASE;
        mpz_fdiv_q_2exp(sum, sum, BASE);
        if (a->digit[k] < 0) /* what is above has lent one */
            mpz_add_ui(sum, sum, 1);
    }
    mpz_clear(low);
}

/* What one answer says: digits, or the number that the protocol means in an attack of units. */
static dp_status read_answer(attempt *a, const unsigned char *from, mp_limb_t *c, dp_error *err)
{
    mpz_t sum;
    dpi_limbs_from_bytes(a->limbs, from, c);
    if (a->o->how == ATTACK_UNITS)
        return dpi_paillier_unpack(a->key, 1, (unsigned)a->plan.layer[0].bits + 1, 1, c, a->digit,
                                   err);
    mpz_init(sum);
    dp_status status = dpi_paillier_decrypt_wide(a->key, c, sum, err);
    cut(a, sum);
    mpz_clear(sum);
    return status;
}

/* The neuron of a first query with that bias and these tags; SIZE_MAX: none. */
static size_t find(const attempt *a)
{
    for (size_t n = 0; n < a->neurons; n++) {
        const int32_t *w = a->weight + n * a->inputs;
        if (a->bias[n] == a->digit[0] && w[0] == a->digit[1] && w[1] == a->digit[2] &&
            w[2] == a->digit[3])
            return n;
    }
    return SIZE_MAX;
}

static size_t nearest(const attempt *a)
{
    size_t best = 0;
    for (size_t n = 1; n < a->neurons; n++)
        if (llabs(a->bias[n] - a->digit[0]) < llabs(a->bias[best] - a->digit[0]))
            best = n;
    return best;
}

static void note(attempt *a, size_t place)
{
    bool units = a->o->how == ATTACK_UNITS;
    size_t n = a->query == 0 ? place : units ? nearest(a) : find(a);
    if (a->query == 0)
        a->bias[n] = a->digit[0];
    if (units && a->query > 0)
        a->weight[n * a->inputs + a->query - 1] = (int32_t)(a->digit[0] - a->bias[n]);
    for (size_t k = 1; !units && n != SIZE_MAX && k < a->digits; k++)
        if (input_of(a, k) != SIZE_MAX)
            a->weight[n * a->inputs + input_of(a, k)] = (int32_t)a->digit[k];
}

/* ---- one after the other ---- */

static dp_status ask(attempt *a, mp_limb_t *c, dp_error *err)
{
    dp_status status = DP_OK;
    bool hidden = a->plan.layer[0].hidden;
    if (hidden)
        status = dpi_serve_order(&a->plan, &a->plan.layer[0], a->order, a->back, err);
    const dpi_serve_order_pair order = {.output = hidden ? a->order : NULL};
    if (status == DP_OK)
        status = encrypt(a, c, err);
    if (status == DP_OK)
        status = dpi_he2_paillier.layer(a->session, 0, &order, a->up, a->down, NULL, 1, err);
    for (size_t n = 0; status == DP_OK && n < a->neurons; n++) {
        status = read_answer(a, a->down + n * a->bytes, c, err);
        if (status == DP_OK)
            note(a, n);
    }
    return status;
}

static dp_status begin(attempt *a, dp_error *err)
{
    const dpi_serve_opts row = {.key_bits = a->o->key_bits, .slots = 1, .bare = a->o->bare};
    const dpi_paillier_options options = {.bits = a->o->key_bits};
    dp_status status = dpi_serve_plan_make(a->o->program, a->o->mode, &a->plan, err);
    if (status != DP_OK)
        return status;
    a->inputs = a->plan.layer[0].inputs;
    a->neurons = a->plan.layer[0].sent;
    a->digits = (a->o->key_bits - 2) / BASE;
    a->fresh = a->digits - 1 - TAGS;
    a->bytes = a->o->key_bits / 4;
    a->limbs = a->bytes / 8;
    a->up = malloc(a->inputs * a->bytes + dpi_paillier_public_bytes(a->o->key_bits));
    a->down = malloc(a->neurons * a->bytes);
    a->order = calloc(a->neurons, sizeof *a->order);
    a->back = calloc(a->neurons, sizeof *a->back);
    a->bias = calloc(a->neurons, sizeof *a->bias);
    a->digit = calloc(a->digits, sizeof *a->digit);
    a->weight = calloc(a->neurons * a->inputs, sizeof *a->weight);
    if (a->up == NULL || a->down == NULL || a->order == NULL || a->back == NULL ||
        a->bias == NULL || a->digit == NULL || a->weight == NULL)
        return DP_ENOMEM;
    status = dpi_he2_paillier.compile(&a->plan, a->o->mode, &row, &a->compiled, err);
    if (status == DP_OK)
        status = dpi_paillier_generate(&options, &a->key, err);
    if (status != DP_OK)
        return status;
    dpi_paillier_write_public(a->key, a->up);
    return dpi_he2_paillier.open(a->compiled, a->up, &a->session, err);
}

static void end(attempt *a)
{
    dpi_he2_paillier.close(a->session);
    dpi_he2_paillier.discard(a->compiled);
    dpi_paillier_free(a->key);
    free(a->up);
    free(a->down);
    free(a->order);
    free(a->back);
    free(a->bias);
    free(a->digit);
    free(a->weight);
}

/* How many neurons came out with all their weights. */
static size_t count(const attempt *a)
{
    const dp_stage *s = dp_program_stage(a->o->program, a->plan.layer[0].stage);
    size_t row = a->inputs * sizeof *a->weight, found = 0;
    for (size_t n = 0; n < a->neurons; n++)
        for (size_t f = 0; f < a->neurons; f++)
            if (a->bias[f] == s->bias[n] &&
                memcmp(a->weight + f * a->inputs, s->weights + n * a->inputs, row) == 0) {
                found++;
                break;
            }
    return found;
}

dp_status attack(const attack_opts *o, size_t *recovered, size_t *queries, dp_error *err)
{
    attempt a = {.o = o};
    *recovered = *queries = 0;
    dp_status status = begin(&a, err);
    mp_limb_t *c = status == DP_OK ? calloc(a.limbs, sizeof *c) : NULL;
    if (status == DP_OK && c == NULL)
        status = DP_ENOMEM;
    if (status == DP_OK)
        *queries =
            o->how == ATTACK_UNITS ? a.inputs + 1 : (a.inputs - TAGS + a.fresh - 1) / a.fresh;
    for (; status == DP_OK && a.query < *queries; a.query++)
        status = ask(&a, c, err);
    if (status == DP_OK)
        *recovered = count(&a);
    free(c);
    end(&a);
    return status;
}
