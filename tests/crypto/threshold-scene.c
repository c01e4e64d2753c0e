#include "tests/crypto/threshold-scene.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

void scene_start(scene *x, size_t owners, uint64_t openings)
{
    static const unsigned char seed[DPI_RLWE_SEED] = "tests of keys that nobody has, t";
    dpi_threshold_spec spec = {.owners = owners, .openings = openings, .seed = {7}};
    dp_error err = {0};
    memset(x, 0, sizeof *x);
    x->owners = owners;
    dpi_rlwe_start(&x->random, seed, "test");
    assert_ok(dpi_threshold_new(&spec, &x->t, &err), err.text);
    assert_ok(dpi_threshold_key_new(x->t, &x->key, &err), err.text);
    for (size_t k = 0; k < owners; k++) {
        const size_t size = dpi_threshold_public_size(x->t);
        x->public[k] = malloc(size);
        assert_ok(dpi_threshold_share_new(x->t, k, &x->random, &x->share[k], x->public[k], &err),
                  err.text);
        assert_ok(dpi_threshold_key_add(x->t, x->key, k, size, x->public[k], &err), err.text);
    }
}

static void end_sum(scene *x)
{
    for (size_t k = 0; k < x->owners; k++) {
        dpi_threshold_sum_free(x->sum[k]);
        x->sum[k] = NULL;
        free(x->opened[k]);
        free(x->shared[k]);
        free(x->partial[k]);
        free(x->words[k]);
        x->opened[k] = x->shared[k] = x->partial[k] = NULL;
        x->words[k] = NULL;
    }
    free(x->result);
    x->result = NULL;
}

void scene_end(scene *x)
{
    end_sum(x);
    for (size_t k = 0; k < x->owners; k++) {
        dpi_threshold_share_free(x->share[k]);
        free(x->public[k]);
    }
    dpi_threshold_key_free(x->key);
    dpi_threshold_free(x->t);
    dpi_rlwe_end(&x->random);
}

void scene_sum(scene *x, size_t n)
{
    unsigned char context[DPI_THRESHOLD_HASH] = {0};
    dp_error err = {0};
    end_sum(x);
    x->n = n;
    memcpy(context, &x->sums, sizeof x->sums);
    x->sums++;
    for (size_t k = 0; k < x->owners; k++) {
        x->opened[k] = malloc(dpi_threshold_opened_size(n));
        x->shared[k] = malloc(dpi_threshold_shared_size(x->t, n));
        x->partial[k] = calloc(1, dpi_threshold_partial_size(n));
        x->words[k] = calloc(n, sizeof *x->words[k]);
        assert_ok(dpi_threshold_sum_new(x->t, x->share[k], context, n, &x->sum[k], &err), err.text);
    }
    x->result = calloc(n, sizeof *x->result);
}

void scene_encrypt(scene *x)
{
    dp_error err = {0};
    for (size_t k = 0; k < x->owners; k++) {
        const dpi_threshold_parts parts = {x->opened[k], x->shared[k]};
        assert_ok(dpi_threshold_encrypt(x->sum[k], x->key, x->words[k], &x->random, &parts, &err),
                  err.text);
    }
}

void scene_share(scene *x)
{
    dp_error err = {0};
    for (size_t k = 0; k < x->owners; k++)
        for (size_t j = 0; j < x->owners; j++)
            if (j != k)
                assert_ok(dpi_threshold_sum_add(x->sum[k], j, dpi_threshold_shared_size(x->t, x->n),
                                                x->shared[j], &err),
                          err.text);
}

void scene_digests(scene *x)
{
    dp_error err = {0};
    for (size_t k = 0; k < x->owners; k++)
        assert_ok(dpi_threshold_digest(x->sum[k], x->digests + k * DPI_THRESHOLD_HASH, &err),
                  err.text);
}

void scene_partials(scene *x)
{
    dp_error err = {0};
    for (size_t k = 0; k < x->owners; k++)
        assert_ok(dpi_threshold_partial(x->sum[k], x->digests, x->partial[k], &err), err.text);
}

void scene_open(scene *x)
{
    dp_error err = {0};
    assert_ok(dpi_threshold_open(x->owners, (const unsigned char *const *)x->opened,
                                 (const unsigned char *const *)x->partial, x->n, x->result, &err),
              err.text);
}

uint64_t scene_expected(const scene *x, size_t j)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < x->owners; k++)
        sum += x->words[k][j];
    return sum;
}

void scene_words(scene *x, int kind)
{
    for (size_t k = 0; k < x->owners; k++)
        for (size_t j = 0; j < x->n; j++) {
            uint64_t word;
            dpi_rlwe_bytes(&x->random, sizeof word, (unsigned char *)&word);
            x->words[k][j] = kind == 0 || j % 5 == 0   ? word
                             : kind == 1 && j % 5 == 1 ? UINT64_MAX
                             : kind == 1               ? (uint64_t)1 << 63
                                                       : 0;
        }
}

void scene_make(scene *x, size_t n, int kind)
{
    scene_sum(x, n);
    scene_words(x, kind);
    scene_encrypt(x);
    scene_share(x);
    scene_digests(x);
}

void scene_check(scene *x)
{
    scene_open(x);
    for (size_t j = 0; j < x->n; j++)
        assert_true(x->result[j] == scene_expected(x, j));
}
