/* Maps, keys and a bootstrap with allocations failing in turn: some dozens of each, in equal steps,
 * or all of them with ALL=1 in the environment. */
#include <stdlib.h>
#include <string.h>

#include "fhe/boot.h"
#include "fhe/sign.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

enum { TRIES = 24 };

typedef struct scene {
    toy t;
    dpi_ckks_boot *boot;
    dpi_ckks_boot_keys *keys;
    dpi_ckks_cipher x, y;
    dpi_ckks_sign sign;
} scene;

static void begin(scene *s)
{
    const double number = .5;
    dpi_ckks_boot_spec spec;
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    assert_ok(dpi_ckks_boot_choose(10, 16, 40, 3, true, &spec, &err), err.text);
    toy_begin(&s->t, &spec.below, &spec.above, 6, "a test of memory");
    s->x = toy_encrypted(&s->t, spec.below.depth, 1, &number);
    assert_ok(dpi_ckks_cipher_new(s->t.c, s->t.top, &s->y, &err), err.text);
    assert_ok(dpi_ckks_sign_make(9, &s->sign, &err), err.text);
}

static void end(scene *s)
{
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_boot_keys_free(s->keys);
    dpi_ckks_boot_free(s->boot);
    toy_end(&s->t);
}

static dp_status make_maps(scene *s, dp_error *err)
{
    return dpi_ckks_boot_new(s->t.c, 1, s->t.room, &s->boot, err);
}

static dp_status make_keys(scene *s, dp_error *err)
{
    return dpi_ckks_boot_keys_new(s->boot, s->t.secret, &s->t.random, &s->keys, err);
}

static dp_status bootstrap(scene *s, dp_error *err)
{
    return dpi_ckks_boot_apply_twice(s->boot, s->keys, &s->x, s->t.square, s->t.room, &s->y, err);
}

static dp_status rectify(scene *s, dp_error *err)
{
    return dpi_ckks_relu_apply(s->t.c, &s->sign, &s->x, s->t.square, s->t.room, &s->y, err);
}

/* Fails where each allocation does, and nothing is left; and succeeds in the end. */
static void sweep(scene *s, dp_status (*call)(scene *s, dp_error *err))
{
    dp_error err = {0};
    int step = 1;
    for (int next = 1;; next = failing + step) {
        failing = 0;
        toy_empty_room(&s->t);
        failing = next;
        allocations = 0;
        const dp_status status = call(s, &err);
        if (status == DP_OK)
            break;
        assert_int_equal(status, DP_ENOMEM);
        if (failing >= TRIES && getenv("ALL") == NULL)
            step = failing / TRIES + 1;
    }
    assert_true(allocations < failing && allocations > TRIES);
    failing = 0;
}

static void failed_allocations_are_told(void **state)
{
    static scene s;
    (void)state;
    begin(&s);
    sweep(&s, make_maps);
    assert_non_null(s.boot);
    sweep(&s, make_keys);
    assert_non_null(s.keys);
    sweep(&s, bootstrap);
    sweep(&s, rectify);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failed_allocations_are_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
