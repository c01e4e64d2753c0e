#include "crypto/threshold.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "silo/masks.h"
#include "tests/crypto/threshold-scene.h"
#include "tests/lib/check.h"

static void sums_are_exact(void **state)
{
    static const size_t owners[] = {1, 2, 3, 5, 8}, sizes[] = {1, 5, 8192, 8193, SCENE_WORDS};
    (void)state;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        scene x;
        scene_start(&x, owners[i], 1 << 20);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            scene_make(&x, sizes[s], (int)s % 3);
            scene_partials(&x);
            scene_check(&x);
        }
        scene_end(&x);
    }
}

static void sums_that_lack_a_partial_are_garbage(void **state)
{
    static const unsigned char check[DPI_MASK_KEY] = {1, 2, 3};
    (void)state;
    scene x;
    scene_start(&x, 3, 1 << 20);
    unsigned char *old = NULL;
    for (int fault = 0; fault < 5; fault++) {
        scene_sum(&x, 1001);
        scene_words(&x, 0);
        for (size_t k = 0; k < 3; k++)
            x.words[k][1000] = dpi_mask_check(check, 1000, x.words[k]);
        scene_encrypt(&x);
        scene_share(&x);
        scene_digests(&x);
        scene_partials(&x);
        const size_t size = dpi_threshold_partial_size(1001);
        if (fault == 0) {
            old = malloc(size);
            memcpy(old, x.partial[1], size);
        } else if (fault == 1) {
            memset(x.partial[1], 0, size);
        } else if (fault == 2) {
            memcpy(x.partial[1], x.partial[2], size);
        } else if (fault == 3) {
            memcpy(x.partial[1], old, size);
        } else {
            x.opened[2][17] ^= 1;
        }
        scene_open(&x);
        assert_true((dpi_mask_check(check, 1000, x.result) == x.result[1000]) == (fault == 0));
        size_t right = 0;
        for (size_t j = 0; j < 1001; j++)
            right += x.result[j] == scene_expected(&x, j);
        assert_int_equal(right, fault == 0 ? 1001 : fault == 4 ? 1000 : 0);
    }
    dp_error err = {0};
    const unsigned char *partial[] = {x.partial[0], NULL, x.partial[2]};
    assert_fails(dpi_threshold_open(3, (const unsigned char *const *)x.opened, partial, 1001,
                                    x.result, &err),
                 DP_EPEER, &err, "owner 2's part of the sum is missing");
    for (size_t j = 0; j < 1001; j++)
        assert_true(x.result[j] == 0);
    free(old);
    scene_end(&x);
}

static void check_nothing_is_opened(scene *x, size_t k, dp_status status, const char *why)
{
    dp_error err = {0};
    memset(x->partial[k], 0, dpi_threshold_partial_size(x->n));
    const uint64_t before = x->share[k]->opened;
    assert_fails(dpi_threshold_partial(x->sum[k], x->digests, x->partial[k], &err), status, &err,
                 why);
    for (size_t b = 0; b < dpi_threshold_partial_size(x->n); b++)
        assert_int_equal(x->partial[k][b], 0);
    assert_int_equal(x->share[k]->opened, before);
}

static dp_status add(scene *x, size_t k, size_t from, const unsigned char *shared, dp_error *err)
{
    return dpi_threshold_sum_add(x->sum[k], from, dpi_threshold_shared_size(x->t, x->n), shared,
                                 err);
}

static void a_sum_is_opened_only_where_all_have_the_same_vectors(void **state)
{
    (void)state;
    scene x;
    dp_error err = {0};
    scene_start(&x, 3, 1 << 20);
    scene_sum(&x, 100);
    scene_encrypt(&x);
    /* Owner 1 is sent another vector of owner 3 than owner 2 is. */
    unsigned char *other = malloc(dpi_threshold_shared_size(x.t, 100));
    memcpy(other, x.shared[2], dpi_threshold_shared_size(x.t, 100));
    other[0] ^= 1;
    assert_ok(add(&x, 0, 1, x.shared[1], &err), err.text);
    assert_fails(dpi_threshold_digest(x.sum[0], x.digests, &err), DP_ESTATE, &err, "all owners");
    check_nothing_is_opened(&x, 0, DP_ESTATE, "all owners");
    assert_ok(add(&x, 0, 2, other, &err), err.text);
    assert_ok(add(&x, 1, 0, x.shared[0], &err), err.text);
    assert_ok(add(&x, 1, 2, x.shared[2], &err), err.text);
    assert_ok(add(&x, 2, 0, x.shared[0], &err), err.text);
    assert_ok(add(&x, 2, 1, x.shared[1], &err), err.text);
    scene_digests(&x);
    check_nothing_is_opened(&x, 0, DP_EPEER, "owner 2 has not the same vectors");
    check_nothing_is_opened(&x, 1, DP_EPEER, "owner 1 has not the same vectors");
    check_nothing_is_opened(&x, 2, DP_EPEER, "owner 1 has not the same vectors");
    free(other);
    scene_end(&x);
}

/* One's own vector is in its place, and what lies in the others' is told apart by place. */
static void vectors_have_places(void **state)
{
    (void)state;
    scene x;
    dp_error err = {0};
    scene_start(&x, 3, 1 << 20);
    scene_sum(&x, 100);
    assert_fails(add(&x, 0, 0, x.shared[0], &err), DP_EPEER, &err, "second vector of owner 1");
    const dpi_threshold_parts parts = {x.opened[0], x.shared[0]};
    assert_fails(dpi_threshold_encrypt(x.sum[0], x.key, x.words[0], &x.random, &parts, &err),
                 DP_ESTATE, &err, "once"); /* the sum is spoiled */
    scene_sum(&x, 100);
    scene_encrypt(&x);
    /* All have the same vectors, but owner 1 has those of the others swapped. */
    assert_ok(add(&x, 0, 1, x.shared[2], &err), err.text);
    assert_ok(add(&x, 0, 2, x.shared[1], &err), err.text);
    assert_ok(add(&x, 1, 0, x.shared[0], &err), err.text);
    assert_ok(add(&x, 1, 2, x.shared[2], &err), err.text);
    assert_ok(add(&x, 2, 0, x.shared[0], &err), err.text);
    assert_ok(add(&x, 2, 1, x.shared[1], &err), err.text);
    scene_digests(&x);
    check_nothing_is_opened(&x, 1, DP_EPEER, "owner 1 has not the same vectors");
    assert_fails(add(&x, 1, 2, x.shared[2], &err), DP_EPEER, &err, "second vector of owner 3");
    check_nothing_is_opened(&x, 1, DP_ESTATE, "all owners");
    assert_fails(add(&x, 2, 3, x.shared[2], &err), DP_EPEER, &err, "there are 3 owners alone");
    assert_fails(dpi_threshold_encrypt(x.sum[2], x.key, x.words[2], &x.random, &parts, &err),
                 DP_ESTATE, &err, "once");
    scene_end(&x);
}

static void malformed_bytes_are_refused(void **state)
{
    (void)state;
    scene x;
    dp_error err = {0};
    dpi_threshold_key *key;
    scene_start(&x, 2, 1 << 20);
    scene_sum(&x, 9000);
    scene_encrypt(&x);
    const size_t size = dpi_threshold_shared_size(x.t, 9000);
    unsigned char *bad = malloc(size);
    const size_t one = dpi_bfv_polynomial_size(x.t->f) / 4; /* of a polynomial modulo one prime */
    const struct {
        size_t at, n;
        const char *why;
    } cases[] = {{0, size - 1, "bytes came"},
                 {0, 0, "bytes came"},
                 {2 * one - 6, size, "prime 2"},
                 {8 * one - 6, size, "prime 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene_sum(&x, 9000);
        scene_encrypt(&x);
        memcpy(bad, x.shared[1], size);
        if (cases[i].at > 0)
            memset(bad + cases[i].at, 255, 6); /* the last residue of 47 bits */
        assert_fails(dpi_threshold_sum_add(x.sum[0], 1, cases[i].n, bad, &err), DP_EPEER, &err,
                     cases[i].why);
        /* The sum is spoiled, whatever comes. */
        assert_ok(dpi_threshold_sum_add(x.sum[0], 1, size, x.shared[1], &err), err.text);
        check_nothing_is_opened(&x, 0, DP_ESTATE, "all owners");
    }
    free(bad);

    const size_t part = dpi_threshold_public_size(x.t);
    const dpi_threshold_parts parts = {x.opened[0], x.shared[0]};
    assert_ok(dpi_threshold_key_new(x.t, &key, &err), err.text);
    assert_fails(dpi_threshold_key_add(x.t, key, 0, part - 1, x.public[0], &err), DP_EPEER, &err,
                 "bytes came");
    x.public[0][3] ^= 1;
    assert_fails(dpi_threshold_key_add(x.t, key, 0, part, x.public[0], &err), DP_EPEER, &err,
                 "another seed");
    x.public[0][3] ^= 1;
    assert_fails(dpi_threshold_key_add(x.t, key, 2, part, x.public[0], &err), DP_EPEER, &err,
                 "2 owners alone");
    assert_ok(dpi_threshold_key_add(x.t, key, 0, part, x.public[0], &err), err.text);
    assert_fails(dpi_threshold_key_add(x.t, key, 0, part, x.public[0], &err), DP_EPEER, &err,
                 "second part of the key of owner 1");
    scene_sum(&x, 9);
    assert_fails(dpi_threshold_encrypt(x.sum[0], key, x.words[0], &x.random, &parts, &err),
                 DP_ESTATE, &err, "parts of the key are missing");
    memset(x.public[1] + part - 6, 255, 6);
    assert_fails(dpi_threshold_key_add(x.t, key, 1, part, x.public[1], &err), DP_EPEER, &err,
                 "prime 4");
    assert_int_equal(key->owners, 1);
    dpi_threshold_key_free(key);
    scene_end(&x);
}

static void a_key_opens_what_it_is_for_and_a_partial_is_one(void **state)
{
    (void)state;
    scene x;
    scene_start(&x, 2, 3);
    scene_make(&x, 9000, 0);
    scene_partials(&x);
    const size_t size = dpi_threshold_partial_size(9000);
    unsigned char *first = malloc(size);
    memcpy(first, x.partial[0], size);
    scene_check(&x);
    x.share[0]->opened = 0; /* as after a crash */
    dp_error err = {0};
    assert_ok(dpi_threshold_partial(x.sum[0], x.digests, x.partial[0], &err), err.text);
    assert_memory_equal(first, x.partial[0], size);
    scene_make(&x, 9000, 0);
    check_nothing_is_opened(&x, 0, DP_EPRIVACY, "the 3 polynomials");
    scene_make(&x, 8192, 0);
    scene_partials(&x);
    scene_check(&x);
    free(first);
    scene_end(&x);
}

static void keys_that_cannot_be_are_refused(void **state)
{
    (void)state;
    const struct {
        dpi_threshold_spec spec;
        dp_status status;
        const char *why;
    } cases[] = {{{.owners = 0, .openings = 1}, DP_EINVAL, "1 .. 64 owners"},
                 {{.owners = 65, .openings = 1}, DP_EINVAL, "1 .. 64 owners"},
                 {{.owners = 3, .openings = 0}, DP_EINVAL, "an opening at least"},
                 {{.owners = 64, .openings = (uint64_t)1 << 34}, DP_EPRIVACY, "fewer openings"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dpi_threshold *t;
        dp_error err = {0};
        assert_fails(dpi_threshold_new(&cases[i].spec, &t, &err), cases[i].status, &err,
                     cases[i].why);
        assert_null(t);
    }
}

/* What the page says that the scheme does not stand: an owner that waits for the others' vectors
 * and makes its own up, so that c1 is one number, reads shares of the key off partials, if it has
 * them.  With q / 4 as that number a partial is s_i / 4 and its noise. */
static void an_owner_with_who_opens_could_read_keys(void **state)
{
    (void)state;
    scene x;
    dp_error err = {0};
    scene_start(&x, 3, 1 << 20);
    scene_sum(&x, 8192);
    scene_encrypt(&x);
    const dpi_bfv *f = x.t->f;
    uint64_t *made = dpi_bfv_polynomial(f), *other = dpi_bfv_polynomial(f);
    for (size_t i = 0; i < f->levels; i++) { /* (q - 1) / 4 or (q - 3) / 4, in all places */
        const dpi_modulus *m = &f->ntt[i]->m;
        const uint64_t quarter = dpi_modulus_inverse(m, 4), rest = f->q_low & 3;
        for (size_t j = 0; j < f->n; j++)
            made[i * f->n + j] = dpi_modulus_multiply(m, m->q - rest, quarter);
    }
    for (size_t k = 0; k < 2; k++) {
        assert_ok(dpi_bfv_polynomial_read(f, x.shared[k], other, &err), err.text);
        for (size_t i = 0; i < f->levels; i++)
            for (size_t j = i * f->n; j < (i + 1) * f->n; j++)
                made[j] = dpi_modulus_subtract(&f->ntt[i]->m, made[j], other[j]);
    }
    dpi_bfv_polynomial_write(f, made, x.shared[2]);
    assert_ok(add(&x, 0, 1, x.shared[1], &err), err.text);
    assert_ok(add(&x, 0, 2, x.shared[2], &err), err.text);
    assert_ok(dpi_threshold_digest(x.sum[0], x.digests, &err), err.text);
    for (size_t k = 1; k < 3; k++)
        memcpy(x.digests + k * DPI_THRESHOLD_HASH, x.digests, DPI_THRESHOLD_HASH);
    assert_ok(dpi_threshold_partial(x.sum[0], x.digests, x.partial[0], &err), err.text);
    for (size_t j = 0; j < f->n; j++) {
        const int quarter = (x.partial[0][8 * j + 7] + 32) >> 6 & 3;
        assert_int_equal(quarter == 3 ? -1 : quarter, x.share[0]->secret->s[j]);
    }
    dpi_free(made);
    dpi_free(other);
    scene_end(&x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact),
        cmocka_unit_test(sums_that_lack_a_partial_are_garbage),
        cmocka_unit_test(a_sum_is_opened_only_where_all_have_the_same_vectors),
        cmocka_unit_test(vectors_have_places),
        cmocka_unit_test(malformed_bytes_are_refused),
        cmocka_unit_test(a_key_opens_what_it_is_for_and_a_partial_is_one),
        cmocka_unit_test(keys_that_cannot_be_are_refused),
        cmocka_unit_test(an_owner_with_who_opens_could_read_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
