#include "tests/crypto/products.h"

#include <stdlib.h>

#include "crypto/limbs.h"
#include "tests/lib/check.h"

enum { EDGES = 6, CHAIN = 4, FEW = 4 /* lanes */, FEW_FIRST = EDGES * EDGES / FEW };

typedef struct numbers {
    size_t limbs, moduli;
    mpz_t modulus[2];
    mp_limb_t modulus_limbs[2][DPI_LIMBS_MOST];
    gmp_randstate_t source;
} numbers;

static void write_limbs(const numbers *s, const mpz_t from, mp_limb_t *to)
{
    mpn_zero(to, (mp_size_t)s->limbs);
    mpz_export(to, NULL, -1, sizeof *to, 0, 0, from);
}

/* Moduli: 2^bits - 1, 2^(bits - 1) + 1, a small one, then odd random ones. */
static void draw_moduli(numbers *s, size_t kind)
{
    mp_bitcnt_t bits = s->limbs * DPI_LIMB_BITS;
    for (size_t i = 0; i < s->moduli; i++, kind++) {
        if (kind < 2)
            mpz_ui_pow_ui(s->modulus[i], 2, kind == 0 ? bits : bits - 1);
        else if (kind == 2)
            mpz_set_ui(s->modulus[i], 2);
        else
            mpz_urandomb(s->modulus[i], s->source, bits);
        if (kind == 0)
            mpz_sub_ui(s->modulus[i], s->modulus[i], 1);
        else if (mpz_even_p(s->modulus[i]))
            mpz_add_ui(s->modulus[i], s->modulus[i], 1);
        write_limbs(s, s->modulus[i], s->modulus_limbs[i]);
    }
}

static void draw_number(numbers *s, size_t kind, const mpz_t modulus, mpz_t x)
{
    if (kind < 3)
        mpz_set_ui(x, kind);
    else if (kind < 5)
        mpz_sub_ui(x, modulus, kind - 2);
    else if (kind == 5)
        mpz_ui_pow_ui(x, 2, mpz_sizeinbase(modulus, 2) - 1);
    else
        mpz_urandomm(x, s->source, modulus);
    mpz_mod(x, x, modulus);
}

/* expected[lane] of the lanes of an eight. */
static void compare(const numbers *s, const dpi_montgomery *m, size_t lanes, const uint64_t *eight,
                    mpz_t *expected)
{
    mp_limb_t found[DPI_LANES][DPI_LIMBS_MOST], number[DPI_LIMBS_MOST];
    mp_limb_t *results[DPI_LANES];
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        results[lane] = found[lane];
    dpi_montgomery_leave(m, lanes, eight, results);
    for (size_t lane = 0; lane < lanes; lane++) {
        write_limbs(s, expected[lane], number);
        assert_memory_equal(number, found[lane], s->limbs * sizeof *number);
    }
}

static void check_chain(numbers *s, const dpi_montgomery *m, size_t round, uint64_t *eights)
{
    mpz_t x[DPI_LANES], y[DPI_LANES];
    mp_limb_t limbs[2][DPI_LANES][DPI_LIMBS_MOST];
    const mp_limb_t *at[2][DPI_LANES];
    uint64_t *a = eights, *b = eights + dpi_montgomery_eight(m);
    bool few = round % 2 != 0;
    round /= 2;
    size_t lanes = !few ? DPI_LANES : round < FEW_FIRST ? FEW : 1 + round % (DPI_LANES - 1);
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        size_t kind = round * (few ? FEW : DPI_LANES) + lane;
        mpz_inits(x[lane], y[lane], NULL);
        draw_number(s, kind < EDGES * EDGES ? kind % EDGES : EDGES, s->modulus[lane % s->moduli],
                    x[lane]);
        draw_number(s, kind < EDGES * EDGES ? kind / EDGES : EDGES, s->modulus[lane % s->moduli],
                    y[lane]);
        write_limbs(s, x[lane], limbs[0][lane]);
        write_limbs(s, y[lane], limbs[1][lane]);
        at[0][lane] = limbs[0][lane];
        at[1][lane] = limbs[1][lane];
    }
    dpi_montgomery_enter(m, lanes, at[0], a);
    dpi_montgomery_enter(m, lanes, at[1], b);
    for (int i = 0; i < CHAIN; i++) {
        dpi_montgomery_multiply(m, lanes, a, i % 2 == 0 ? b : a, a);
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            mpz_mul(x[lane], x[lane], i % 2 == 0 ? y[lane] : x[lane]);
            mpz_mod(x[lane], x[lane], s->modulus[lane % s->moduli]);
        }
        if (i == 0 || i == CHAIN - 1)
            compare(s, m, lanes, a, x);
    }
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        mpz_clears(x[lane], y[lane], NULL);
}

void check_products(const dpi_montgomery_backend *backend, size_t limbs, size_t moduli,
                    size_t rounds)
{
    enum { KINDS = 6 };
    numbers s = {.limbs = limbs, .moduli = moduli};
    const mp_limb_t *at[2] = {s.modulus_limbs[0], s.modulus_limbs[1]};
    gmp_randinit_default(s.source);
    gmp_randseed_ui(s.source, 17 + limbs);
    mpz_inits(s.modulus[0], s.modulus[1], NULL);
    for (size_t kind = 0; kind < KINDS; kind++) {
        dp_error err = {0};
        dpi_montgomery *m;
        draw_moduli(&s, kind);
        assert_ok(dpi_montgomery_new(backend, kind % 2 == 0 ? DPI_PUBLIC : DPI_SECRET, limbs,
                                     moduli, at, &m, &err),
                  err.text);
        uint64_t *eights = dpi_montgomery_alloc(m, 2);
        assert_non_null(eights);
        for (size_t round = 0; round < (rounds + KINDS * CHAIN - 1) / (KINDS * CHAIN); round++)
            check_chain(&s, m, round, eights);
        dpi_montgomery_release(m, eights);
        dpi_montgomery_free(m);
    }
    mpz_clears(s.modulus[0], s.modulus[1], NULL);
    gmp_randclear(s.source);
}
