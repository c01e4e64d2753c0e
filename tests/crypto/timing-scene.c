/* Decryptions and encryptions whose times are compared: what a client of private serving does. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "crypto/bfv.h"
#include "crypto/mask.h"
#include "tests/crypto/timing.h"
#include "tests/lib/numbers.h"

enum {
    BITS = 40,     /* of a number in a packed answer */
    TOGETHER = 4,  /* answers decrypted at once */
    NUMBERS = 8,   /* encrypted at once */
    DEGREE = 4096, /* of the lattice */
    FEW = 10,
    MANY = 512,
    PLACES = MANY,
    BACKENDS = 2
};

struct timing_scene {
    size_t bits, inputs, limbs, slots;
    dpi_paillier_key *key[BACKENDS];
    dpi_paillier_public *public[BACKENDS];
    dpi_zeros *zeros[BACKENDS];
    mp_limb_t *answers; /* [2][inputs][limbs] */
    int64_t *numbers;   /* [2][inputs][NUMBERS] */
    mp_limb_t *cipher;  /* what is worked on */
    int64_t *plain;
    dpi_bfv *f[2]; /* with the fastest transform and the portable one */
    dpi_bfv_secret *secret;
    dpi_rlwe_stream random;
    dpi_bfv_cipher *made;
    dpi_bfv_answer **few, **many; /* [2][inputs] */
    dpi_bfv_answer *answer;       /* the one that is opened, always at one place */
    size_t places[PLACES];
    uint64_t *message; /* [DEGREE] */
    uint64_t state;    /* of random messages */
    size_t together, backend, kernel;
};

static void must(bool good)
{
    if (!good)
        abort();
}

/* ---- Paillier ---- */

static const dpi_montgomery_backend *backend_of(size_t k)
{
    return k == 0 ? &dpi_montgomery_gmp : &dpi_montgomery_ifma;
}

static void put_answer(void *of, int group, size_t number)
{
    timing_scene *s = of;
    for (size_t i = 0; i < s->together; i++) {
        size_t from = (size_t)group * s->inputs + (number + i) % s->inputs;
        memcpy(s->cipher + i * s->limbs, s->answers + from * s->limbs,
               s->limbs * sizeof *s->cipher);
    }
}

static void open_answer(void *of)
{
    timing_scene *s = of;
    must(dpi_paillier_unpack(s->key[s->backend], s->slots, BITS, s->together * s->slots, s->cipher,
                             s->plain, NULL) == DP_OK);
}

static bool is_zero_answer(const void *of)
{
    return ((const timing_scene *)of)->plain[0] == -((int64_t)1 << (BITS - 1));
}

static void put_numbers(void *of, int group, size_t number)
{
    timing_scene *s = of;
    memcpy(s->plain, s->numbers + ((size_t)group * s->inputs + number) * NUMBERS,
           NUMBERS * sizeof *s->plain);
    must(dpi_zeros_fill(s->zeros[s->backend], NUMBERS, NULL, NULL) == DP_OK);
}

static void encrypt(void *of)
{
    timing_scene *s = of;
    must(dpi_paillier_encrypt(s->key[s->backend], NUMBERS, s->plain, s->cipher, NULL) == DP_OK);
}

static void encrypt_ahead(void *of)
{
    timing_scene *s = of;
    must(dpi_zeros_encrypt(s->zeros[s->backend], NUMBERS, s->plain, s->cipher, NULL) == DP_OK);
}

static bool is_zero_number(const void *of)
{
    return ((const timing_scene *)of)->plain[0] == 0;
}

static void make_keys(timing_scene *s)
{
    size_t limbs;
    for (size_t k = 0; k < BACKENDS; k++) {
        dpi_seed seed = {.key = "keys that are timed"};
        const dpi_paillier_options o = {.bits = s->bits, .backend = backend_of(k)};
        if (!backend_of(k)->usable())
            continue;
        must(dpi_paillier_generate_seeded(&o, &seed, &s->key[k], NULL) == DP_OK);
        const mp_limb_t *n = dpi_paillier_modulus(s->key[k], &limbs);
        must(dpi_paillier_public_new(&o, limbs, n, &s->public[k], NULL) == DP_OK);
        must(dpi_zeros_new(s->public[k], DPI_ZEROS_STEPS, NUMBERS, &s -> zeros[k], NULL) == DP_OK);
    }
}

/* Answers of the message 0 and of random ones; numbers likewise. */
static void make_answers(timing_scene *s)
{
    mpz_t half, m;
    size_t limbs;
    gmp_randstate_t random;
    uint64_t state = 13;
    gmp_randinit_default(random);
    mpz_inits(half, m, NULL);
    const mp_limb_t *n = dpi_paillier_modulus(s->key[0], &limbs);
    mpz_import(half, limbs, -1, sizeof *n, 0, 0, n);
    mpz_fdiv_q_2exp(half, half, 1);
    for (size_t i = 0; i < 2 * s->inputs; i++) {
        if (i >= s->inputs)
            mpz_urandomm(m, random, half);
        must(dpi_paillier_encrypt_wide(s->key[0], m, s->answers + i * s->limbs, NULL) == DP_OK);
        for (size_t k = 0; k < NUMBERS; k++)
            s->numbers[i * NUMBERS + k] =
                i < s->inputs ? 0 : (int64_t)(next_number(&state) * 0x1p62);
    }
    mpz_clears(half, m, NULL);
    gmp_randclear(random);
}

/* ---- the lattice ---- */

static void put_lattice(timing_scene *s, const dpi_bfv_answer *from)
{
    s->answer->count = from->count;
    memcpy(s->answer->second, from->second, DEGREE * sizeof *from->second);
    memcpy(s->answer->first, from->first, from->count * sizeof *from->first);
}

static void put_few(void *of, int group, size_t number)
{
    timing_scene *s = of;
    put_lattice(s, s->few[(size_t)group * s->inputs + number]);
}

static void put_many(void *of, int group, size_t number)
{
    timing_scene *s = of;
    put_lattice(s, s->many[(size_t)group * s->inputs + number]);
}

static void open_lattice(void *of)
{
    timing_scene *s = of;
    must(dpi_bfv_answer_open(s->f[s->kernel], s->secret, s->places, s->answer, s->message, NULL) ==
         DP_OK);
}

static void draw_message(uint64_t *state, uint64_t *m)
{
    for (size_t k = 0; k < DEGREE; k++)
        m[k] = (uint64_t)((next_number(state) + 1) * 0x1p39);
}

static void put_message(void *of, int group, size_t number)
{
    timing_scene *s = of;
    (void)number;
    memset(s->message, 0, DEGREE * sizeof *s->message);
    if (group != 0)
        draw_message(&s->state, s->message);
}

static void encrypt_lattice(void *of)
{
    timing_scene *s = of;
    must(dpi_bfv_encrypt(s->f[s->kernel], s->secret, s->message, &s->random, s->made, NULL) ==
         DP_OK);
}

static bool is_zero_message(const void *of)
{
    return ((const timing_scene *)of)->message[0] == 0;
}

static dpi_bfv_answer *answer_of(timing_scene *s, const dpi_bfv_cipher *public, size_t count,
                                 const uint64_t *message)
{
    const dpi_bfv_ask ask = {.key = public, .places = s->places, .flood = 1};
    dpi_bfv_answer *a;
    must(dpi_bfv_encrypt(s->f[0], s->secret, message, &s->random, s->made, NULL) == DP_OK);
    must(dpi_bfv_answer_new(s->f[0], count, &a, NULL) == DP_OK);
    must(dpi_bfv_answer_make(s->f[0], &ask, &s->random, s->made, a, NULL) == DP_OK);
    return a;
}

static void make_lattice(timing_scene *s)
{
    static const unsigned char seed[DPI_RLWE_SEED] = "lattices that are timed";
    const dpi_bfv_spec spec = {DEGREE, 2, 50, BITS};
    dpi_bfv_cipher *public;
    dpi_rlwe_start(&s->random, seed, "timing");
    for (size_t k = 0; k < 2; k++)
        must(dpi_bfv_new(&spec, &s->f[k], NULL) == DP_OK);
    for (size_t i = 0; i < s->f[1]->levels; i++) {
        uint64_t q = s->f[1]->ntt[i]->m.q;
        dpi_ntt_free(s->f[1]->ntt[i]);
        must(dpi_ntt_new(DEGREE, q, &dpi_ntt_portable, &s->f[1]->ntt[i], NULL) == DP_OK);
    }
    must(dpi_bfv_secret_new(s->f[0], &s->random, &s->secret, NULL) == DP_OK);
    must(dpi_bfv_cipher_new(s->f[0], &public, NULL) == DP_OK);
    must(dpi_bfv_cipher_new(s->f[0], &s->made, NULL) == DP_OK);
    must(dpi_bfv_answer_new(s->f[0], MANY, &s->answer, NULL) == DP_OK);
    must(dpi_bfv_encrypt(s->f[0], s->secret, NULL, &s->random, public, NULL) == DP_OK);
    for (size_t i = 0; i < PLACES; i++)
        s->places[i] = i * (DEGREE / PLACES);
    for (size_t i = 0; i < 2 * s->inputs; i++) {
        put_message(s, i >= s->inputs, 0);
        s->few[i] = answer_of(s, public, FEW, s->message);
        s->many[i] = answer_of(s, public, MANY, s->message);
    }
    dpi_bfv_cipher_free(public);
}

/* ---- all ---- */

timing_scene *timing_scene_new(size_t bits, size_t inputs)
{
    timing_scene *s = calloc(1, sizeof *s);
    must(s != NULL);
    s->bits = bits;
    s->inputs = inputs;
    s->limbs = bits / 32;
    s->slots = dpi_mask_slots(bits, BITS);
    size_t most = TOGETHER * s->slots > NUMBERS ? TOGETHER * s->slots : NUMBERS;
    s->answers = calloc(2 * inputs, s->limbs * sizeof *s->answers);
    s->numbers = calloc(2 * inputs, NUMBERS * sizeof *s->numbers);
    s->cipher = calloc(NUMBERS, s->limbs * sizeof *s->cipher);
    s->plain = calloc(most, sizeof *s->plain);
    s->few = calloc(2 * inputs, sizeof(dpi_bfv_answer *));
    s->many = calloc(2 * inputs, sizeof(dpi_bfv_answer *));
    s->message = calloc(DEGREE, sizeof *s->message);
    must(s->answers != NULL && s->numbers != NULL && s->cipher != NULL && s->plain != NULL &&
         s->few != NULL && s->many != NULL && s->message != NULL);
    make_keys(s);
    make_answers(s);
    make_lattice(s);
    return s;
}

void timing_scene_free(timing_scene *s)
{
    for (size_t k = 0; k < BACKENDS; k++) {
        dpi_zeros_free(s->zeros[k]);
        dpi_paillier_public_free(s->public[k]);
        dpi_paillier_free(s->key[k]);
        dpi_bfv_free(s->f[k]);
    }
    for (size_t i = 0; i < 2 * s->inputs; i++) {
        dpi_bfv_answer_free(s->few[i]);
        dpi_bfv_answer_free(s->many[i]);
    }
    dpi_bfv_secret_free(s->secret);
    dpi_bfv_cipher_free(s->made);
    dpi_bfv_answer_free(s->answer);
    dpi_rlwe_end(&s->random);
    void *blocks[] = {s->answers,     s->numbers,      s->cipher,  s->plain,
                      (void *)s->few, (void *)s->many, s->message, s};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
}

bool timing_scene_case(timing_scene *s, size_t k, timing_case *c)
{
    static const struct {
        const char *name;
        void (*prepare)(void *of, int group, size_t number);
        void (*run)(void *of);
        bool (*is_fixed)(const void *of);
        size_t together, fast;
        bool lattice;
    } rows[] = {
        {"paillier decryption of 1", put_answer, open_answer, is_zero_answer, 1, 0, false},
        {"paillier decryption of 1", put_answer, open_answer, is_zero_answer, 1, 1, false},
        {"paillier decryption of 4", put_answer, open_answer, is_zero_answer, TOGETHER, 1, false},
        {"paillier encryption of 8", put_numbers, encrypt, is_zero_number, 1, 0, false},
        {"paillier encryption of 8", put_numbers, encrypt, is_zero_number, 1, 1, false},
        {"paillier encryption ahead", put_numbers, encrypt_ahead, is_zero_number, 1, 1, false},
        {"lattice decryption of 10", put_few, open_lattice, is_zero_message, 1, 1, true},
        {"lattice decryption of 512", put_many, open_lattice, is_zero_message, 1, 0, true},
        {"lattice decryption of 512", put_many, open_lattice, is_zero_message, 1, 1, true},
        {"lattice encryption", put_message, encrypt_lattice, is_zero_message, 1, 0, true},
        {"lattice encryption", put_message, encrypt_lattice, is_zero_message, 1, 1, true},
    };
    if (k >= sizeof rows / sizeof *rows)
        return false;
    bool vectors = rows[k].lattice ? dpi_ntt_best() == &dpi_ntt_ifma : s->key[1] != NULL;
    s->together = rows[k].together;
    s->backend = rows[k].fast;
    s->kernel = 1 - rows[k].fast;
    *c = (timing_case){.name = rows[k].name,
                       .backend = rows[k].fast != 0 ? "ifma"
                                  : rows[k].lattice ? "portable"
                                                    : "gmp",
                       .inputs = s->inputs,
                       .prepare = rows[k].prepare,
                       .run = rows[k].fast != 0 && !vectors ? NULL : rows[k].run,
                       .is_fixed = rows[k].is_fixed,
                       .of = s};
    return true;
}
