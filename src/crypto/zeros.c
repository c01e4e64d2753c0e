/* Encryptions of zero made ahead: a stack under a lock, emptied in a child of fork. */
#include "crypto/zeros.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/fork.h"

struct dpi_zeros {
    const dpi_paillier_public *key;
    const dpi_paillier_key *holder; /* NULL: unknown */
    dpi_zeros_kind kind;
    pthread_mutex_t lock;
    dpi_fork *mark; /* of the process whose zeros these are */
    size_t limbs, capacity, ready;
    uint64_t taken;
    mp_limb_t *c;    /* [capacity][limbs] */
    mp_limb_t *step; /* the same, or NULL */
};

dp_status dpi_zeros_new(const dpi_paillier_public *key, dpi_zeros_kind kind, size_t capacity,
                        dpi_zeros **zeros, dp_error *err)
{
    size_t cells;
    *zeros = NULL;
    dpi_zeros *z = dpi_alloc(1, sizeof *z);
    if (z == NULL)
        return dpi_fail_nomem(err);
    *z = (dpi_zeros){
        .key = key, .kind = kind, .limbs = dpi_paillier_public_limbs(key), .capacity = capacity};
    (void)pthread_mutex_init(&z->lock, NULL);
    z->c = dpi_mul(capacity, z->limbs, &cells) ? dpi_alloc(cells, sizeof *z->c) : NULL;
    bool steps = kind == DPI_ZEROS_STEPS;
    if (z->c != NULL && steps)
        z->step = dpi_alloc(cells, sizeof *z->step);
    bool good = z->c != NULL && (z->step != NULL || !steps);
    dp_status status = good ? dpi_fork_new(&z->mark, err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        *zeros = z;
    else
        dpi_zeros_free(z);
    return status;
}

void dpi_zeros_hold(dpi_zeros *zeros, const dpi_paillier_key *holder)
{
    zeros->holder = holder;
}

void dpi_zeros_free(dpi_zeros *zeros)
{
    if (zeros == NULL)
        return;
    dpi_fork_free(zeros->mark);
    (void)pthread_mutex_destroy(&zeros->lock);
    dpi_free(zeros->c);
    dpi_free(zeros->step);
    dpi_free(zeros);
}

/* Locks, and forgets what belongs to another process. */
static void begin(dpi_zeros *z)
{
    (void)pthread_mutex_lock(&z->lock);
    if (dpi_fork_here(z->mark))
        return;
    memset(z->c, 0, z->ready * z->limbs * sizeof *z->c);
    if (z->step != NULL)
        memset(z->step, 0, z->ready * z->limbs * sizeof *z->step);
    z->ready = 0;
    dpi_fork_set(z->mark);
}

static void end(dpi_zeros *z)
{
    (void)pthread_mutex_unlock(&z->lock);
}

/* Puts made[n], and step[n], on the stack as far as there is room, and says how many. */
static size_t push(dpi_zeros *z, size_t n, const mp_limb_t *made, const mp_limb_t *step)
{
    begin(z);
    size_t room = z->capacity - z->ready, fit = n < room ? n : room;
    memcpy(z->c + z->ready * z->limbs, made, fit * z->limbs * sizeof *made);
    if (z->step != NULL)
        memcpy(z->step + z->ready * z->limbs, step, fit * z->limbs * sizeof *step);
    z->ready += fit;
    end(z);
    return fit;
}

/* Encryptions of m[count]. */
static dp_status encrypt(const dpi_zeros *z, size_t count, const int64_t *m, mp_limb_t *c,
                         dp_error *err)
{
    return z->holder != NULL ? dpi_paillier_encrypt(z->holder, count, m, c, err)
                             : dpi_paillier_encrypt_public(z->key, count, m, c, err);
}

static dp_status make(const dpi_zeros *z, size_t count, mp_limb_t *c, dp_error *err)
{
    static const int64_t zeros[DPI_LANES] = {0};
    dp_status status = DP_OK;
    if (z->kind == DPI_ZEROS_WHOLE)
        return dpi_paillier_whole_zeros(z->key, count, c, err);
    if (z->holder == NULL)
        return dpi_paillier_encrypt_public(z->key, count, NULL, c, err);
    for (size_t at = 0; at < count && status == DP_OK; at += DPI_LANES)
        status = dpi_paillier_encrypt(z->holder, count - at < DPI_LANES ? count - at : DPI_LANES,
                                      zeros, c + at * z->limbs, err);
    return status;
}

dp_status dpi_zeros_fill(dpi_zeros *zeros, size_t most, size_t *added, dp_error *err)
{
    size_t made = 0, size = DPI_LANES * zeros->limbs;
    mp_limb_t *space = dpi_alloc(2 * size, sizeof *space);
    dp_status status = space == NULL ? dpi_fail_nomem(err) : DP_OK;
    while (status == DP_OK && made < most) {
        size_t room = zeros->capacity - dpi_zeros_ready(zeros), some = most - made;
        some = some < DPI_LANES ? some : DPI_LANES;
        some = some < room ? some : room;
        if (some == 0)
            break;
        status = make(zeros, some, space, err);
        if (status == DP_OK && zeros->step != NULL)
            dpi_paillier_make_steps(zeros->key, some, space, space + size);
        if (status == DP_OK)
            made += push(zeros, some, space, space + size);
    }
    if (space != NULL)
        memset(space, 0, 2 * size * sizeof *space);
    dpi_free(space);
    if (added != NULL)
        *added = made;
    return status;
}

/* n words from the end of a stack, which loses them, to `to` or nowhere. */
static void move(mp_limb_t *end, size_t n, mp_limb_t *to)
{
    if (to != NULL)
        memcpy(to, end - n, n * sizeof *to);
    memset(end - n, 0, n * sizeof *to);
}

/* Takes as many as there are, at most `count`, with their steps unless step is NULL. */
static size_t pop(dpi_zeros *z, size_t count, mp_limb_t *c, mp_limb_t *step)
{
    begin(z);
    size_t some = count < z->ready ? count : z->ready, words = some * z->limbs;
    move(z->c + z->ready * z->limbs, words, c);
    if (z->step != NULL)
        move(z->step + z->ready * z->limbs, words, step);
    z->ready -= some;
    z->taken += count;
    end(z);
    return some;
}

dp_status dpi_zeros_take(dpi_zeros *zeros, size_t count, mp_limb_t *c, dp_error *err)
{
    size_t some = pop(zeros, count, c, NULL);
    if (some == count)
        return DP_OK;
    dp_status status = make(zeros, count - some, c + some * zeros->limbs, err);
    if (status != DP_OK)
        memset(c, 0, count * zeros->limbs * sizeof *c);
    return status;
}

dp_status dpi_zeros_encrypt(dpi_zeros *zeros, size_t count, const int64_t *m, mp_limb_t *c,
                            dp_error *err)
{
    mp_limb_t step[DPI_LANES * DPI_LIMBS_MOST];
    dp_status status = DP_OK;
    if (zeros->step == NULL)
        dpi_misuse("dpi_zeros_encrypt", "these zeros have no steps");
    for (size_t at = 0; at < count && status == DP_OK; at += DPI_LANES) {
        size_t asked = count - at < DPI_LANES ? count - at : DPI_LANES;
        mp_limb_t *to = c + at * zeros->limbs;
        size_t some = pop(zeros, asked, to, step);
        dpi_paillier_add_steps(zeros->key, some, m + at, step, to);
        if (some < asked)
            status = encrypt(zeros, asked - some, m + at + some, to + some * zeros->limbs, err);
    }
    sodium_memzero(step, sizeof step);
    if (status != DP_OK)
        memset(c, 0, count * zeros->limbs * sizeof *c);
    return status;
}

size_t dpi_zeros_ready(dpi_zeros *zeros)
{
    begin(zeros);
    size_t ready = zeros->ready;
    end(zeros);
    return ready;
}

uint64_t dpi_zeros_taken(dpi_zeros *zeros)
{
    begin(zeros);
    uint64_t taken = zeros->taken;
    end(zeros);
    return taken;
}
