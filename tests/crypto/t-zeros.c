/* Encryptions of zero made ahead: handed out once, in threads and after fork. */
#include "crypto/zeros.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { WIDE = 4, CAPACITY = 24, TURNS = 40, EACH = 3 };

typedef mp_limb_t ciphertext[WIDE];

typedef struct fixture {
    dpi_paillier_key *key;
    dpi_paillier_public *public;
    dpi_zeros *zeros;
} fixture;

static void set_up(dpi_zeros_kind kind, fixture *f)
{
    static const dpi_paillier_options tiny = {.bits = 128};
    dp_error err = {0};
    unsigned char bytes[9 * 16];
    assert_ok(dpi_paillier_generate(&tiny, &f->key, &err), err.text);
    dpi_paillier_write_public(f->key, bytes);
    assert_ok(dpi_paillier_read_public(&tiny, sizeof bytes, bytes, &f->public, &err), err.text);
    assert_ok(dpi_zeros_new(f->public, kind, CAPACITY, &f->zeros, &err), err.text);
}

static void tear_down(fixture *f)
{
    dpi_zeros_free(f->zeros);
    dpi_zeros_free(NULL);
    dpi_paillier_public_free(f->public);
    dpi_paillier_free(f->key);
}

/* Numbers by zeros made ahead, and by more than there were, with the primes and without; as many
 * steps are taken as zeros. */
static void zeros_with_steps_become_numbers(void **state)
{
    (void)state;
    enum { N = CAPACITY + 5 };
    static const size_t bits[] = {128, 512, 2048};
    dp_error err = {0};
    for (size_t b = 0; b < sizeof bits / sizeof *bits; b++)
        for (int turn = 0; turn < 4; turn++) {
            const bool portable = turn % 2 != 0, holds = turn / 2 != 0;
            const dpi_paillier_options options = {.bits = bits[b],
                                                  .backend = portable ? &dpi_montgomery_gmp : NULL};
            fixture f;
            size_t limbs, wide = bits[b] / 32;
            mp_limb_t *c = calloc(N * wide, sizeof *c);
            int64_t m[N], back[N];
            for (int i = 0; i < N; i++) /* less than half of 128 bits, with both ends */
                m[i] = i < 2 ? (i == 0 ? INT64_MAX : -INT64_MAX) : (i - 9) * INT64_C(123456789012);
            assert_ok(dpi_paillier_generate(&options, &f.key, &err), err.text);
            const mp_limb_t *n = dpi_paillier_modulus(f.key, &limbs);
            assert_ok(dpi_paillier_public_new(&options, limbs, n, &f.public, &err), err.text);
            assert_ok(dpi_zeros_new(f.public, DPI_ZEROS_STEPS, CAPACITY, &f.zeros, &err), err.text);
            if (holds)
                dpi_zeros_hold(f.zeros, f.key);
            assert_ok(dpi_zeros_fill(f.zeros, CAPACITY, NULL, &err), err.text);
            assert_ok(dpi_zeros_take(f.zeros, 3, c, &err), err.text);
            assert_ok(dpi_paillier_decrypt(f.key, 3, c, 0, back, &err), err.text);
            for (size_t at = 0; at < N; at += 11) {
                size_t some = N - at < 11 ? N - at : 11;
                assert_ok(dpi_zeros_encrypt(f.zeros, some, m + at, c + at * wide, &err), err.text);
            }
            assert_int_equal(dpi_zeros_ready(f.zeros), 0);
            assert_int_equal(dpi_zeros_taken(f.zeros), N + 3);
            assert_ok(dpi_paillier_decrypt(f.key, N, c, INT64_MAX, back, &err), err.text);
            assert_memory_equal(m, back, sizeof m);
            assert_ok(dpi_zeros_take(f.zeros, N, c, &err), err.text); /* none is ready */
            assert_ok(dpi_paillier_decrypt(f.key, N, c, 0, back, &err), err.text);
            for (size_t i = 1; i < N; i++)
                assert_memory_not_equal(c, c + i * wide, wide * sizeof *c);
            tear_down(&f);
            free(c);
        }
}

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(ciphertext));
}

static void assert_all_differ(size_t n, ciphertext *c)
{
    qsort(c, n, sizeof *c, by_bytes);
    for (size_t i = 1; i < n; i++)
        assert_memory_not_equal(c[i - 1], c[i], sizeof *c);
}

static void check_handing_out(dpi_zeros_kind kind)
{
    enum { ALL = 2 * CAPACITY + 7 };
    fixture f;
    dp_error err = {0};
    ciphertext c[ALL];
    int64_t m[ALL];
    size_t added;
    set_up(kind, &f);
    assert_ok(dpi_zeros_fill(f.zeros, 5, &added, &err), err.text);
    assert_int_equal(added, 5);
    assert_ok(dpi_zeros_fill(f.zeros, 100, &added, &err), err.text);
    assert_int_equal(added, CAPACITY - 5);
    assert_int_equal(dpi_zeros_ready(f.zeros), CAPACITY);
    assert_ok(dpi_zeros_take(f.zeros, 7, c[0], &err), err.text);
    assert_int_equal(dpi_zeros_ready(f.zeros), CAPACITY - 7);
    assert_ok(dpi_zeros_fill(f.zeros, 7, &added, &err), err.text);
    assert_int_equal(added, 7);
    for (int i = 7; i < 10; i++)
        assert_ok(dpi_zeros_take(f.zeros, 1, c[i], &err), err.text);
    assert_int_equal(dpi_zeros_ready(f.zeros), CAPACITY - 3);
    assert_ok(dpi_zeros_take(f.zeros, 2 * CAPACITY - 3, c[10], &err), err.text);
    assert_int_equal(dpi_zeros_ready(f.zeros), 0);
    assert_int_equal(dpi_zeros_taken(f.zeros), ALL);
    assert_ok(dpi_paillier_decrypt(f.key, ALL, c[0], 0, m, &err), err.text);
    assert_all_differ(ALL, c);
    tear_down(&f);
}

static void none_is_handed_out_twice(void **state)
{
    (void)state;
    check_handing_out(DPI_ZEROS_SHORT);
    check_handing_out(DPI_ZEROS_WHOLE);
}

typedef struct turn {
    dpi_zeros *zeros;
    ciphertext *c;
} turn;

static void *take_some(void *of)
{
    turn *t = of;
    for (int i = 0; i < TURNS; i++) {
        if (dpi_zeros_fill(t->zeros, EACH, NULL, NULL) != DP_OK ||
            dpi_zeros_take(t->zeros, EACH, t->c[i * EACH], NULL) != DP_OK)
            memset(t->c[i * EACH], 0, EACH * sizeof *t->c);
    }
    return NULL;
}

static void threads_get_different_ones(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    fixture f;
    pthread_t thread[THREADS];
    turn turns[THREADS];
    ciphertext *c = calloc((size_t)THREADS * TURNS * EACH, sizeof *c);
    set_up(DPI_ZEROS_SHORT, &f);
    for (int i = 0; i < THREADS; i++) {
        turns[i] = (turn){f.zeros, c + (size_t)i * TURNS * EACH};
        assert_int_equal(pthread_create(&thread[i], NULL, take_some, &turns[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(dpi_zeros_taken(f.zeros), THREADS * TURNS * EACH);
    assert_all_differ((size_t)THREADS * TURNS * EACH, c);
    free(c);
    tear_down(&f);
}

static void a_child_of_fork_has_others(void **state)
{
    (void)state;
    fixture f;
    dp_error err = {0};
    ciphertext c[2 * CAPACITY];
    int ends[2];
    set_up(DPI_ZEROS_SHORT, &f);
    assert_ok(dpi_zeros_fill(f.zeros, CAPACITY, NULL, &err), err.text);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(60);
        bool good =
            dpi_zeros_ready(f.zeros) == 0 && dpi_zeros_take(f.zeros, CAPACITY, c[0], NULL) == DP_OK;
        ssize_t size = CAPACITY * (ssize_t)sizeof *c;
        _exit(good && write(ends[1], c, (size_t)size) == size ? 0 : 1);
    }
    int status = 1;
    size_t have = 0;
    (void)close(ends[1]);
    while (have < CAPACITY * sizeof *c) {
        ssize_t n = read(ends[0], (char *)c + have, CAPACITY * sizeof *c - have);
        assert_true(n > 0);
        have += (size_t)n;
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    (void)close(ends[0]);
    assert_int_equal(dpi_zeros_ready(f.zeros), CAPACITY);
    assert_ok(dpi_zeros_take(f.zeros, CAPACITY, c[CAPACITY], &err), err.text);
    assert_all_differ(sizeof c / sizeof *c, c);
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(none_is_handed_out_twice),
        cmocka_unit_test(threads_get_different_ones),
        cmocka_unit_test(a_child_of_fork_has_others),
        cmocka_unit_test(zeros_with_steps_become_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
