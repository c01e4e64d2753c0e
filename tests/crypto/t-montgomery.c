/* Montgomery products, powers and tables of every back end that this machine has. */
#include "crypto/montgomery.h"

#include <stdlib.h>
#include <string.h>

#include "crypto/comb.h"
#include "crypto/limbs.h"
#include "tests/crypto/products.h"
#include "tests/lib/check.h"

enum { LIMBS = 5 };

static void with_each_backend(void (*test)(const dpi_montgomery_backend *backend))
{
    test(&dpi_montgomery_gmp);
    if (dpi_montgomery_ifma.usable())
        test(&dpi_montgomery_ifma);
}

static void products_of(const dpi_montgomery_backend *backend)
{
    for (size_t limbs = 1; limbs <= DPI_LIMBS_MOST; limbs += limbs < 13 ? 1 : 13)
        check_products(backend, limbs, 1 + limbs % 2, 6 * 24);
    static const size_t of_keys[] = {32, 48, 64, 96};
    for (size_t i = 0; i < sizeof of_keys / sizeof *of_keys; i++)
        check_products(backend, of_keys[i], 1 + (of_keys[i] < 64), 24 * 40);
    check_products(backend, DPI_LIMBS_MOST, 1, 240);
}

static void products_agree_with_integers(void **state)
{
    (void)state;
    with_each_backend(products_of);
}

typedef struct ring {
    dpi_montgomery *m;
    mpz_t modulus[2];
    mpz_t base[2];
    mp_limb_t limbs[2][LIMBS], base_limbs[2][LIMBS];
    uint64_t *base_eight, *out, *space;
} ring;

static void set_up(const dpi_montgomery_backend *backend, ring *r)
{
    dp_error err = {0};
    dpi_seed seed = {.key = "powers"};
    const mp_limb_t *numbers[2] = {r->limbs[0], r->limbs[1]};
    const mp_limb_t *bases[DPI_LANES];
    for (int i = 0; i < 2; i++) {
        assert_ok(dpi_limbs_random(&seed, sizeof r->limbs[i], r->limbs[i], &err), err.text);
        assert_ok(dpi_limbs_random(&seed, sizeof r->limbs[i], r->base_limbs[i], &err), err.text);
        r->limbs[i][0] |= 1;
        dpi_limbs_mod(LIMBS, r->base_limbs[i], LIMBS, r->limbs[i], r->base_limbs[i]);
        mpz_inits(r->modulus[i], r->base[i], NULL);
        mpz_import(r->modulus[i], LIMBS, -1, sizeof(mp_limb_t), 0, 0, r->limbs[i]);
        mpz_import(r->base[i], LIMBS, -1, sizeof(mp_limb_t), 0, 0, r->base_limbs[i]);
    }
    assert_ok(dpi_montgomery_new(backend, DPI_SECRET, LIMBS, 2, numbers, &r->m, &err), err.text);
    size_t eight = dpi_montgomery_eight(r->m);
    r->base_eight = dpi_montgomery_alloc(r->m, 2 + dpi_montgomery_power_space(r->m) / eight);
    assert_non_null(r->base_eight);
    r->out = r->base_eight + eight;
    r->space = r->out + eight;
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        bases[lane] = r->base_limbs[lane % 2];
    dpi_montgomery_enter(r->m, DPI_LANES, bases, r->base_eight);
}

static void tear_down(ring *r)
{
    for (int i = 0; i < 2; i++)
        mpz_clears(r->modulus[i], r->base[i], NULL);
    dpi_montgomery_release(r->m, r->base_eight);
    dpi_montgomery_free(r->m);
    dpi_montgomery_free(NULL);
}

/* out = base^exponent in the first lanes. */
static void assert_powers(const ring *r, size_t lanes, const mp_limb_t *const *exponent,
                          size_t limbs)
{
    mp_limb_t found[DPI_LANES][LIMBS], *results[DPI_LANES];
    mpz_t e, expected, number;
    mpz_inits(e, expected, number, NULL);
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        results[lane] = found[lane];
    dpi_montgomery_leave(r->m, lanes, r->out, results);
    for (size_t lane = 0; lane < lanes; lane++) {
        mpz_import(e, limbs, -1, sizeof(mp_limb_t), 0, 0, exponent[lane]);
        mpz_powm(expected, r->base[lane % 2], e, r->modulus[lane % 2]);
        mpz_import(number, LIMBS, -1, sizeof(mp_limb_t), 0, 0, found[lane]);
        assert_int_equal(mpz_cmp(expected, number), 0);
    }
    mpz_clears(e, expected, number, NULL);
}

/* Exponents 0, 1, 2^bits - 1, and others, for bits that are and are not multiples of a window. */
static void powers_of(const dpi_montgomery_backend *backend)
{
    enum { WORDS = 3 };
    static const size_t sizes[] = {1, 4, 63, 64, 65, 128, 131, 192};
    dpi_seed seed = {.key = "exponents"};
    ring r;
    set_up(backend, &r);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        dp_error err = {0};
        size_t bits = sizes[s], limbs = (bits + 63) / 64, top = bits % 64;
        mp_limb_t e[DPI_LANES][WORDS];
        const mp_limb_t *exponent[DPI_LANES];
        dpi_comb *comb;
        assert_ok(dpi_limbs_random(&seed, sizeof e, e, &err), err.text);
        memset(e[0], 0, sizeof e[0]);
        memset(e[1], 0, sizeof e[1]);
        memset(e[2], 0xff, sizeof e[2]);
        e[1][0] = 1;
        for (size_t lane = 0; lane < DPI_LANES; lane++) {
            exponent[lane] = e[lane];
            if (top != 0)
                e[lane][limbs - 1] &= ((mp_limb_t)1 << top) - 1;
        }
        assert_ok(dpi_comb_new(r.m, r.base_eight, bits, &comb, &err), err.text);
        for (size_t lanes = 1; lanes <= DPI_LANES; lanes += 3) {
            dpi_montgomery_power(r.m, lanes, r.base_eight, exponent, bits, r.space, r.out);
            assert_powers(&r, lanes, exponent, limbs);
            dpi_comb_power(comb, lanes, exponent, r.space, r.out);
            assert_powers(&r, lanes, exponent, limbs);
        }
        dpi_comb_free(comb);
    }
    dpi_comb_free(NULL);
    tear_down(&r);
}

static void powers_agree_with_integers(void **state)
{
    (void)state;
    with_each_backend(powers_of);
}

/* What goes into lanes one by one comes out of them. */
static void lanes_of(const dpi_montgomery_backend *backend)
{
    ring r;
    uint64_t ones[DPI_LANES][64], back[DPI_LANES][64];
    const uint64_t *from[DPI_LANES];
    uint64_t *to[DPI_LANES];
    set_up(backend, &r);
    assert_true(r.m->words <= 64);
    for (size_t lane = 0; lane < DPI_LANES; lane++) {
        for (size_t k = 0; k < 64; k++)
            ones[lane][k] = 1000 * lane + k;
        from[lane] = ones[lane];
        to[lane] = back[lane];
    }
    backend->pack(r.m, from, r.out);
    backend->unpack(r.m, r.out, to);
    for (size_t lane = 0; lane < DPI_LANES; lane++)
        assert_memory_equal(ones[lane], back[lane], r.m->words * sizeof **ones);
    tear_down(&r);
}

static void lanes_are_packed_and_unpacked(void **state)
{
    (void)state;
    with_each_backend(lanes_of);
}

static void the_fastest_is_usable(void **state)
{
    (void)state;
    assert_true(dpi_montgomery_fastest()->usable());
    assert_true(dpi_montgomery_gmp.usable());
    if (!dpi_montgomery_ifma.usable())
        print_message("no AVX-512 IFMA here: GMP alone was tested\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_agree_with_integers),
        cmocka_unit_test(powers_agree_with_integers),
        cmocka_unit_test(lanes_are_packed_and_unpacked),
        cmocka_unit_test(the_fastest_is_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
