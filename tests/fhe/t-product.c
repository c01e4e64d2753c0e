/* Products of encrypted matrices in a toy ring: as without encryption, within the tracked bound;
 * how many rotations they take, by how many keys; and each failed allocation is told. */
#include "fhe/product.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fhe/ckks-parts.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1024, TURNS = 128, DEPTH = 4 };

static uint64_t seed = 5;
static int allocations, failing, rotations;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to);
void __wrap_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to);
void __real_dpi_ckks_turn_raised(const dpi_ckks *c, const dpi_ckks_cipher *x,
                                 const dpi_ckks_switch *k, dpi_ckks_room *room,
                                 dpi_ckks_cipher *to);
void __wrap_dpi_ckks_turn_raised(const dpi_ckks *c, const dpi_ckks_cipher *x,
                                 const dpi_ckks_switch *k, dpi_ckks_room *room,
                                 dpi_ckks_cipher *to);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

void __wrap_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    rotations++;
    __real_dpi_ckks_rotate(c, x, k, room, to);
}

void __wrap_dpi_ckks_turn_raised(const dpi_ckks *c, const dpi_ckks_cipher *x,
                                 const dpi_ckks_switch *k, dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    rotations += k != NULL;
    __real_dpi_ckks_turn_raised(c, x, k, room, to);
}

static void begin(toy *s, int log_n, size_t d)
{
    const dpi_ckks_spec spec = {log_n, 50, 40, DEPTH, 2, 2, true};
    int steps[TURNS];
    size_t n;
    dp_error err = {0};
    toy_begin(s, &spec, NULL, 9, "a test of products");
    assert_ok(dpi_ckks_product_turns(d, &n, NULL, &err), err.text);
    assert_true(n <= TURNS);
    assert_ok(dpi_ckks_product_turns(d, &n, steps, &err), err.text);
    for (size_t k = 0; k < n; k++)
        toy_add_turn(s, steps[k]);
}

/* How far off places are from y, at the most. */
static double off_by(toy *s, const dpi_ckks_cipher *x, size_t places, const double *y)
{
    static double got[MOST];
    toy_decrypted(s, x, places, got, NULL);
    return toy_largest(places, got, y);
}

static void multiply(size_t d, const double *x, const double *y, double *to)
{
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;
            for (size_t k = 0; k < d; k++)
                sum += x[i * d + k] * y[k * d + j];
            to[i * d + j] = sum;
        }
}

/* Within the bound, which grows with d products, of what maps of d diagonals and more have made. */
static void check(toy *s, size_t d, const dpi_ckks_cipher *x, const double *y)
{
    const double off = off_by(s, x, d * d, y), bound = dpi_ckks_error(x);
    print_message("# %zu: off by %.3g, at most %.3g; %d rotations by %zu keys\n", d, off, bound,
                  rotations, s->turns.n);
    assert_true(off > 0 && off <= bound && bound < 0x1p-22 * (double)(d * d));
    for (size_t i = 0; i < d * d; i++)
        assert_true(fabs(y[i]) <= x->size);
}

static void product_of(int log_n, size_t d, int turned, size_t keys)
{
    static toy s;
    static double x[MOST], y[MOST], xy[MOST], again[MOST];
    dpi_ckks_product *p, *lower;
    dpi_ckks_cipher to;
    dp_error err = {0};
    for (size_t i = 0; i < d * d; i++) {
        x[i] = next_number(&seed);
        y[i] = next_number(&seed);
    }
    multiply(d, x, y, xy);
    begin(&s, log_n, d);
    assert_int_equal(s.turns.n, keys);
    assert_ok(dpi_ckks_product_new(s.c, d, DEPTH, s.room, &p, &err), err.text);
    assert_ok(dpi_ckks_product_new(s.c, d, 3, s.room, &lower, &err), err.text);
    dpi_ckks_cipher a = toy_encrypted(&s, DEPTH, d * d, x), b = toy_encrypted(&s, DEPTH, d * d, y);
    assert_ok(dpi_ckks_cipher_new(s.c, DEPTH - 2, &to, &err), err.text);
    rotations = 0;
    assert_ok(dpi_ckks_product_apply(p, &a, &b, &s.turns, s.square, s.room, &to, &err), err.text);
    assert_int_equal(rotations, turned);
    assert_int_equal(to.level, DEPTH - DPI_CKKS_PRODUCT_LEVELS);
    check(&s, d, &to, xy);
    multiply(d, y, y, again); /* of one, to itself, and to the last level */
    dpi_ckks_lower(s.c, 3, s.room, &b);
    rotations = 0;
    assert_ok(dpi_ckks_product_apply(lower, &b, &b, &s.turns, s.square, s.room, &b, &err),
              err.text);
    assert_int_equal(b.level, 0);
    check(&s, d, &b, again);
    dpi_ckks_cipher_free(&a);
    dpi_ckks_cipher_free(&b);
    dpi_ckks_cipher_free(&to);
    dpi_ckks_product_free(p);
    dpi_ckks_product_free(lower);
    toy_end(&s);
}

/* 2 d - 1 rotations; sigma has diagonals -(d - 1) ... d - 1, and tau 0, d ... d (d - 1).  Of 8
 * columns sigma is 3 baby and 3 giant steps of 4, and tau 3 and 1 of 32; of their keys that of -4
 * is no other's. */
static void products_are_as_without_encryption(void **state)
{
    (void)state;
    product_of(10, 2, 3 + 2 + 1, 3);
    product_of(10, 8, 15 + 6 + 4, 14 + 1);
    product_of(11, 32, 63 + 14 + 10, 62 + 3); /* all places */
}

static dp_status whole(toy *s, const dpi_ckks_cipher *x, dpi_ckks_cipher *to, dp_error *err)
{
    size_t n;
    dpi_ckks_product *p = NULL;
    dp_status status = dpi_ckks_product_turns(2, &n, NULL, err);
    if (status == DP_OK)
        status = dpi_ckks_product_new(s->c, 2, DEPTH, s->room, &p, err);
    if (status == DP_OK)
        status = dpi_ckks_product_apply(p, x, x, &s->turns, s->square, s->room, to, err);
    else
        assert_null(p);
    dpi_ckks_product_free(p);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    static const double x[4] = {.5, -.25, .125, 1};
    static toy s;
    dpi_ckks_cipher to;
    dp_error err = {0};
    (void)state;
    begin(&s, 10, 2);
    dpi_ckks_cipher in = toy_encrypted(&s, DEPTH, 4, x);
    assert_ok(dpi_ckks_cipher_new(s.c, DEPTH, &to, &err), err.text);
    allocations = 0;
    assert_ok(whole(&s, &in, &to, &err), err.text);
    const int all = allocations;
    assert_true(all > 40);
    for (int k = 1; k <= all; k++) {
        toy_empty_room(&s);
        allocations = 0;
        failing = k;
        const dp_status status = whole(&s, &in, &to, &err);
        failing = 0;
        assert_int_equal(status, DP_ENOMEM);
    }
    dpi_ckks_cipher_free(&in);
    dpi_ckks_cipher_free(&to);
    toy_end(&s);
}

/* ---- misuse ---- */

static void ask_three(void *of)
{
    size_t n;
    dp_error err = {0};
    (void)of;
    assert_int_equal(dpi_ckks_product_turns(3, &n, NULL, &err), DP_EINVAL);
}

typedef struct asked {
    toy *s;
    size_t d, level;
} asked;

static void make(void *of)
{
    const asked *a = of;
    dpi_ckks_product *p;
    dp_error err = {0};
    if (dpi_ckks_product_new(a->s->c, a->d, a->level, a->s->room, &p, &err) == DP_OK)
        dpi_ckks_product_free(p);
}

static void misuse_aborts(void **state)
{
    static toy s;
    (void)state;
    begin(&s, 10, 2);
    assert_aborts(ask_three, NULL);
    assert_aborts(make, (&(asked){&s, 32, DEPTH})); /* of 512 places */
    assert_aborts(make, (&(asked){&s, 2, 2}));
    assert_aborts(make, (&(asked){&s, 2, DEPTH + 1}));
    toy_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_as_without_encryption),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
