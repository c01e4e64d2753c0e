/* From keys to what a matrix and a polynomial make of a vector, with each allocation failing in
 * turn. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fhe/linear.h"
#include "fhe/polynomial.h"
#include "tests/lib/check.h"

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

enum { PLACES = 4, TURNS = 2, DEGREE = 2, DEPTH = 4, MOST_BYTES = 1 << 20 };

static const double w[2 * PLACES] = {.1, .2, -.3, .25, .5, -.125, .25, .0625};
static const double a[DEGREE + 1] = {.5, .25, -.125}, x[PLACES] = {.5, -.25, .125, 1};

typedef struct session {
    dpi_ckks *c;
    dpi_ckks_room *room;
    dpi_pool *pool;
    dpi_ckks_secret *secret;
    dpi_ckks_public *public, *read_public;
    dpi_ckks_switch *square, *turn[TURNS], *read_turn;
    dpi_ckks_matrix *m;
    dpi_ckks_plain plain;
    dpi_ckks_cipher x, u, y;
    dpi_rlwe_stream random;
    int steps[TURNS];
    double got[2];
} session;

static dp_status begin(session *s, dp_error *err)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {1};
    const dpi_ckks_spec spec = {10, 50, 40, DEPTH, 1, 1, true};
    dpi_rlwe_start(&s->random, seed, "memory");
    dp_status status = dpi_ckks_new(&spec, &s->c, err);
    if (status == DP_OK)
        status = dpi_ckks_room_new(s->c, &s->room, err);
    if (status == DP_OK)
        status = dpi_pool_new(2, &s->pool, err);
    if (status == DP_OK)
        status = dpi_ckks_room_share(s->room, s->pool, 2, err);
    if (status == DP_OK)
        status = dpi_ckks_secret_new(s->c, &s->random, &s->secret, err);
    if (status == DP_OK)
        status = dpi_ckks_public_new(s->secret, &s->random, &s->public, err);
    if (status == DP_OK)
        status = dpi_ckks_switch_new(s->secret, DPI_CKKS_SQUARE, &s->random, &s->square, err);
    if (status == DP_OK)
        status = dpi_ckks_plain_new(s->c, DEPTH, &s->plain, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(s->c, DEPTH, &s->x, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(s->c, DEPTH, &s->u, err);
    if (status == DP_OK)
        status = dpi_ckks_cipher_new(s->c, DEPTH, &s->y, err);
    return status;
}

static dp_status find_keys(session *s, dp_error *err)
{
    dp_status status = dpi_ckks_matrix_new(s->c, 2, PLACES, w, DEPTH, s->room, &s->m, err);
    if (status != DP_OK)
        return status;
    assert_int_equal(dpi_ckks_matrix_turns(s->m, s->steps), TURNS);
    for (size_t k = 0; k < TURNS && status == DP_OK; k++)
        status = dpi_ckks_switch_new(s->secret, dpi_ckks_rotation(s->c, s->steps[k]), &s->random,
                                     &s->turn[k], err);
    return status;
}

/* Keys through bytes, of which the first turn is used. */
static dp_status send_keys(session *s, dp_error *err)
{
    static unsigned char bytes[MOST_BYTES];
    const size_t size = dpi_ckks_switch_size(s->c), public = dpi_ckks_public_size(s->c);
    assert_true(size <= sizeof bytes && public <= sizeof bytes);
    dpi_ckks_switch_write(s->turn[0], bytes);
    dp_status status = dpi_ckks_switch_read(s->c, dpi_ckks_rotation(s->c, s->steps[0]), size, bytes,
                                            &s->read_turn, err);
    dpi_ckks_public_write(s->public, bytes);
    if (status == DP_OK)
        status = dpi_ckks_public_read(s->c, public, bytes, &s->read_public, err);
    return status;
}

static dp_status compute(session *s, dp_error *err)
{
    const dpi_ckks_switch *const keys[TURNS] = {s->read_turn, s->turn[1]};
    const dpi_ckks_turns turns = {TURNS, s->steps, keys};
    dp_status status = dpi_ckks_encode(s->c, DEPTH, 0, PLACES, x, NULL, s->room, &s->plain, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_encrypt_public(s->read_public, &s->plain, &s->random, s->room, &s->x);
    status = dpi_ckks_matrix_apply(s->c, s->m, &s->x, &turns, s->room, &s->u, err);
    if (status == DP_OK)
        status = dpi_ckks_polynomial(s->c, DEGREE, a, &s->u, s->square, s->room, &s->y, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_decrypt(s->secret, &s->y, &s->plain);
    dpi_ckks_decode(s->c, &s->plain, 2, s->room, s->got, NULL);
    return DP_OK;
}

static dp_status whole(double got[2])
{
    session s = {0};
    dp_error err = {0};
    dp_status status = begin(&s, &err);
    if (status == DP_OK)
        status = find_keys(&s, &err);
    if (status == DP_OK)
        status = send_keys(&s, &err);
    if (status == DP_OK)
        status = compute(&s, &err);
    got[0] = s.got[0];
    got[1] = s.got[1];
    dpi_ckks_matrix_free(s.m);
    dpi_ckks_plain_free(&s.plain);
    dpi_ckks_cipher_free(&s.x);
    dpi_ckks_cipher_free(&s.u);
    dpi_ckks_cipher_free(&s.y);
    for (size_t k = 0; k < TURNS; k++)
        dpi_ckks_switch_free(s.turn[k]);
    dpi_ckks_switch_free(s.read_turn);
    dpi_ckks_switch_free(s.square);
    dpi_ckks_public_free(s.public);
    dpi_ckks_public_free(s.read_public);
    dpi_ckks_secret_free(s.secret);
    dpi_ckks_room_free(s.room);
    dpi_pool_free(s.pool);
    dpi_ckks_free(s.c);
    dpi_rlwe_end(&s.random);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    double got[2];
    (void)state;
    failing = 0;
    allocations = 0;
    assert_int_equal(whole(got), DP_OK);
    for (size_t i = 0; i < 2; i++) {
        double u = 0;
        for (size_t j = 0; j < PLACES; j++)
            u += w[i * PLACES + j] * x[j];
        assert_close(got[i], dpi_ckks_polynomial_at(DEGREE, a, u), 0, 0x1p-24);
    }
    const int all = allocations;
    assert_true(all > 100);
    for (failing = 1; failing <= all; failing++) {
        allocations = 0;
        assert_int_equal(whole(got), DP_ENOMEM);
    }
    failing = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
