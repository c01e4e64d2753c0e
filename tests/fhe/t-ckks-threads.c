/* What several threads compute in a room is what one computes, bit for bit: at the top level and at
 * one where the last digit has fewer primes.  Each transform is followed by a sleep, so that threads
 * are at it together however few processors there are. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "base/pool.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"

enum { RESULTS = 5, TURNED = 2, MOST_THREADS = 3, TIMES = 2 };

static const dpi_ckks_spec spec = {.log_n = 10,
                                   .first_bits = 50,
                                   .scale_bits = 40,
                                   .depth = 4,
                                   .special = 2,
                                   .alpha = 2,
                                   .toy = true};

void __real_dpi_ntt_forward(const dpi_ntt *t, uint64_t *a);
void __wrap_dpi_ntt_forward(const dpi_ntt *t, uint64_t *a);

void __wrap_dpi_ntt_forward(const dpi_ntt *t, uint64_t *a)
{
    __real_dpi_ntt_forward(t, a);
    (void)nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
}

/* A square, that rescaled, a rotation, and two of one raising. */
static void compute(const toy *t, const dpi_ckks_cipher *x, dpi_ckks_cipher *to)
{
    const dpi_ckks_switch *keys[TURNED] = {t->made[0], t->made[1]};
    dpi_ckks_multiply(t->c, x, x, t->square, t->room, &to[0]);
    dpi_ckks_multiply(t->c, x, x, t->square, t->room, &to[1]);
    dpi_ckks_rescale(t->c, t->room, &to[1]);
    dpi_ckks_rotate(t->c, x, t->made[0], t->room, &to[2]);
    dpi_ckks_rotate_all(t->c, x, TURNED, keys, t->room, (dpi_ckks_cipher *[]){&to[3], &to[4]});
}

static void must_be_alike(const dpi_ckks *c, const dpi_ckks_cipher *a, const dpi_ckks_cipher *b)
{
    for (int k = 0; k < RESULTS; k++)
        for (int part = 0; part < 2; part++)
            assert_memory_equal(a[k].part[part], b[k].part[part],
                                (a[k].level + 1) * dpi_ckks_n(c) * sizeof(uint64_t));
}

static void check_level(toy *t, size_t level, dpi_pool *const *pool)
{
    dpi_ckks_cipher one[RESULTS], more[RESULTS];
    static double re[1 << 9];
    dp_error err = {0};
    for (size_t i = 0; i < t->places; i++)
        re[i] = (double)(i % 17) / 17 - .5;
    dpi_ckks_cipher x = toy_encrypted(t, level, t->places, re);
    for (int k = 0; k < RESULTS; k++) {
        assert_ok(dpi_ckks_cipher_new(t->c, level, &one[k], &err), err.text);
        assert_ok(dpi_ckks_cipher_new(t->c, level, &more[k], &err), err.text);
    }
    assert_ok(dpi_ckks_room_share(t->room, NULL, 1, &err), err.text);
    compute(t, &x, one);
    for (size_t threads = MOST_THREADS; threads > 0; threads--) {
        assert_ok(dpi_ckks_room_share(t->room, pool[threads - 1], threads, &err), err.text);
        for (int i = 0; i < TIMES; i++) {
            compute(t, &x, more);
            must_be_alike(t->c, one, more);
        }
    }
    for (int k = 0; k < RESULTS; k++) {
        dpi_ckks_cipher_free(&one[k]);
        dpi_ckks_cipher_free(&more[k]);
    }
    dpi_ckks_cipher_free(&x);
}

static void threads_change_no_bit(void **state)
{
    static toy t;
    dpi_pool *pool[MOST_THREADS];
    dp_error err = {0};
    (void)state;
    toy_begin(&t, &spec, NULL, 3, "threads");
    toy_add_turn(&t, 1);
    toy_add_turn(&t, -3);
    for (size_t k = 0; k < MOST_THREADS; k++)
        assert_ok(dpi_pool_new(k + 1, &pool[k], &err), err.text);
    check_level(&t, spec.depth, pool);
    check_level(&t, 2, pool);
    for (size_t k = 0; k < MOST_THREADS; k++)
        dpi_pool_free(pool[k]);
    toy_end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_no_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
