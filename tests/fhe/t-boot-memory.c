/* Maps, keys and a bootstrap with allocations failing in turn: some dozens of each, in equal steps,
 * or all of them with ALL=1 in the environment. */
#include <stdlib.h>
#include <string.h>

#include "fhe/boot.h"
#include "fhe/sign.h"
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
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_ckks_secret *secret;
    dpi_ckks_switch *square;
    dpi_ckks_boot *boot;
    dpi_ckks_boot_keys *keys;
    dpi_ckks_cipher x, y;
    dpi_ckks_sign sign;
    dpi_rlwe_stream random;
} scene;

static void begin(scene *s)
{
    const unsigned char key[DPI_RLWE_SEED] = {6};
    const double number = .5;
    dpi_ckks_boot_spec spec;
    dpi_ckks_plain p;
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    dpi_rlwe_start(&s->random, key, "a test of memory");
    assert_ok(dpi_ckks_boot_choose(10, 16, 40, 3, true, &spec, &err), err.text);
    assert_ok(dpi_ckks_new_above(&spec.below, &spec.above, &s->c, &err), err.text);
    assert_ok(dpi_ckks_room_new(s->c, &s->room, &err), err.text);
    assert_ok(dpi_ckks_secret_new(s->c, &s->random, &s->secret, &err), err.text);
    assert_ok(dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, &err),
              err.text);
    const size_t top = spec.below.depth + spec.above.squares + spec.above.plains;
    assert_ok(dpi_ckks_cipher_new(s->c, top, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->c, top, &s->y, &err), err.text);
    assert_ok(dpi_ckks_plain_new(s->c, spec.below.depth, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(s->c, spec.below.depth, 0, 1, &number, NULL, s->room, &p, &err),
              err.text);
    dpi_ckks_encrypt(s->secret, &p, &s->random, s->room, &s->x);
    dpi_ckks_plain_free(&p);
    assert_ok(dpi_ckks_sign_make(9, &s->sign, &err), err.text);
}

static void end(scene *s)
{
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_boot_keys_free(s->keys);
    dpi_ckks_boot_free(s->boot);
    dpi_ckks_switch_free(s->square);
    dpi_ckks_secret_free(s->secret);
    dpi_ckks_room_free(s->room);
    dpi_ckks_free(s->c);
    dpi_rlwe_end(&s->random);
}

static dp_status make_maps(scene *s, dp_error *err)
{
    return dpi_ckks_boot_new(s->c, 1, s->room, &s->boot, err);
}

static dp_status make_keys(scene *s, dp_error *err)
{
    return dpi_ckks_boot_keys_new(s->boot, s->secret, &s->random, &s->keys, err);
}

static dp_status bootstrap(scene *s, dp_error *err)
{
    return dpi_ckks_boot_apply(s->boot, s->keys, &s->x, s->square, s->room, &s->y, err);
}

static dp_status rectify(scene *s, dp_error *err)
{
    return dpi_ckks_relu_apply(s->c, &s->sign, &s->x, s->square, s->room, &s->y, err);
}

/* Fails where each allocation does, and nothing is left; and succeeds in the end. */
static void sweep(scene *s, dp_status (*call)(scene *s, dp_error *err))
{
    dp_error err = {0};
    int step = 1;
    for (failing = 1;; failing += step) {
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
