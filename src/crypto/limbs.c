/* Numbers of fixed width in time that depends on sizes alone, by GMP's mpn_sec_ functions. */
#include "crypto/limbs.h"

#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

_Static_assert(GMP_NUMB_BITS == DPI_LIMB_BITS, "GMP with 64-bit limbs");

enum {
    SCRATCH = 8 * DPI_LIMBS_ROOM, /* limbs; above what mpn_sec_* ask for at DPI_LIMBS_ROOM */
    STACK = 131072                /* bytes: the deepest call here stays below */
};

dp_status dpi_limbs_random(dpi_seed *seed, size_t n, void *out, dp_error *err)
{
    if (sodium_init() < 0)
        return dpi_fail(err, DP_EENTROPY, "no random bytes from the operating system");
    if (seed == NULL) {
        randombytes_buf(out, n);
        return DP_OK;
    }
    unsigned char key[sizeof seed->key], number[8];
    memcpy(key, seed->key, sizeof key);
    dpi_put_number(number, seed->calls++);
    for (size_t i = 0; i < sizeof number; i++)
        key[i] ^= number[i];
    randombytes_buf_deterministic(out, n, key);
    return DP_OK;
}

void *dpi_secret_alloc(size_t count, size_t size)
{
    size_t bytes;
    if (!dpi_mul(count, size, &bytes) || bytes > SIZE_MAX - 64 || sodium_init() < 0)
        return NULL;
    /* sodium_malloc ends its blocks at the end of a page. */
    size_t rounded = (bytes + 63) / 64 * 64;
    if (rounded == 0)
        rounded = 64;
    void *block = sodium_malloc(rounded);
    if (block != NULL)
        memset(block, 0, rounded);
    return block;
}

void dpi_secret_free(void *block)
{
    sodium_free(block);
}

void dpi_limbs_wipe_stack(void)
{
    sodium_stackzero(STACK);
}

void dpi_limbs_from_bytes(size_t n, const unsigned char *bytes, mp_limb_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = dpi_get_number(bytes + 8 * i);
}

void dpi_limbs_to_bytes(size_t n, const mp_limb_t *a, unsigned char *bytes)
{
    for (size_t i = 0; i < n; i++)
        dpi_put_number(bytes + 8 * i, a[i]);
}

size_t dpi_limbs_bits(size_t n, const mp_limb_t *a)
{
    while (n > 0 && a[n - 1] == 0)
        n--;
    return n == 0 ? 0 : mpn_sizeinbase(a, (mp_size_t)n, 2);
}

bool dpi_limbs_are_zero(size_t n, const mp_limb_t *a)
{
    mp_limb_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= a[i];
    return any == 0;
}

void dpi_limbs_mul(size_t an, const mp_limb_t *a, size_t bn, const mp_limb_t *b, mp_limb_t *out)
{
    mp_limb_t scratch[SCRATCH];
    if (an < bn)
        mpn_sec_mul(out, b, (mp_size_t)bn, a, (mp_size_t)an, scratch);
    else
        mpn_sec_mul(out, a, (mp_size_t)an, b, (mp_size_t)bn, scratch);
}

static size_t needed_limbs(size_t n, const mp_limb_t *a)
{
    while (n > 0 && a[n - 1] == 0)
        n--;
    return n;
}

static void copy_to_room(size_t an, const mp_limb_t *a, mp_limb_t *room)
{
    if (an > DPI_LIMBS_ROOM)
        dpi_misuse("dpi_limbs_mod", "the number has too many limbs");
    mpn_copyi(room, a, (mp_size_t)an);
}

void dpi_limbs_mod(size_t an, const mp_limb_t *a, size_t dn, const mp_limb_t *d, mp_limb_t *r)
{
    mp_limb_t scratch[SCRATCH], room[DPI_LIMBS_ROOM];
    size_t digits = needed_limbs(dn, d), left = digits < an ? digits : an;
    copy_to_room(an, a, room);
    if (an >= digits)
        mpn_sec_div_r(room, (mp_size_t)an, d, (mp_size_t)digits, scratch);
    mpn_copyi(r, room, (mp_size_t)left);
    mpn_zero(r + left, (mp_size_t)(dn - left));
}

void dpi_limbs_divide(size_t an, const mp_limb_t *a, size_t dn, const mp_limb_t *d, mp_limb_t *q,
                      mp_limb_t *r)
{
    mp_limb_t scratch[SCRATCH], room[DPI_LIMBS_ROOM];
    size_t digits = needed_limbs(dn, d), left = digits < an ? digits : an;
    copy_to_room(an, a, room);
    mpn_zero(q, (mp_size_t)an);
    if (an >= digits)
        q[an - digits] = mpn_sec_div_qr(q, room, (mp_size_t)an, d, (mp_size_t)digits, scratch);
    mpn_copyi(r, room, (mp_size_t)left);
    mpn_zero(r + left, (mp_size_t)(dn - left));
}

void dpi_limbs_sub_mod(size_t n, const mp_limb_t *a, const mp_limb_t *b, const mp_limb_t *m,
                       mp_limb_t *out)
{
    mp_limb_t borrow = mpn_sub_n(out, a, b, (mp_size_t)n);
    (void)mpn_cnd_add_n(borrow, out, out, m, (mp_size_t)n);
}

void dpi_limbs_join(size_t n, const mp_limb_t *a, const mp_limb_t *b, const mp_limb_t *big_a,
                    const mp_limb_t *big_b, const mp_limb_t *inverse, mp_limb_t *x)
{
    mp_limb_t less[DPI_LIMBS_MOST / 2], product[DPI_LIMBS_MOST];
    dpi_limbs_mod(n, a, n, big_b, less);
    dpi_limbs_sub_mod(n, b, less, big_b, less);
    dpi_limbs_mul(n, less, n, inverse, product);
    dpi_limbs_mod(2 * n, product, n, big_b, less);
    dpi_limbs_mul(n, less, n, big_a, x);
    mp_limb_t carry = mpn_add_n(x, x, a, (mp_size_t)n);
    (void)mpn_sec_add_1(x + n, x + n, (mp_size_t)n, carry, product);
}

bool dpi_limbs_invert(size_t n, const mp_limb_t *a, const mp_limb_t *m, mp_limb_t *out)
{
    mp_limb_t scratch[SCRATCH], room[DPI_LIMBS_MOST];
    mpn_copyi(room, a, (mp_size_t)n);
    int found = mpn_sec_invert(out, room, m, (mp_size_t)n, 2 * n * DPI_LIMB_BITS, scratch);
    if (!found)
        mpn_zero(out, (mp_size_t)n);
    return found != 0;
}

bool dpi_limbs_coprime(size_t an, const mp_limb_t *a, size_t bn, const mp_limb_t *b)
{
    mpz_t x, y;
    mpz_roinit_n(x, a, (mp_size_t)an);
    mpz_roinit_n(y, b, (mp_size_t)bn);
    mpz_t divisor;
    mpz_init(divisor);
    mpz_gcd(divisor, x, y);
    bool one = mpz_cmp_ui(divisor, 1) == 0;
    mpz_clear(divisor);
    return one;
}
