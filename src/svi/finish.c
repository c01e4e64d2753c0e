/* From the clipped sum of a batch to the next parameters.
 *
 *   release    sum + noise, over the public rate    release.c
 *   pull back  what the guide makes of it           dpi_run_late
 *   move       the optimiser's step                 optimizer.c
 *
 * Nothing is copied: the run's nodes for parameters and release are the buffers of these.  Where
 * every parameter's gradient is a part of the release as it is, as of a network without a guide on
 * its weights, release and parameters are gone over once, a few hundred numbers at a time, which
 * then never leave the cache; else one pass makes the release, and one moves.  Either is cut into
 * blocks by the number of numbers alone, each a function of its own numbers and its own key, so
 * that threads may take them in any order and the result is the same to the bit. */
#include "svi/finish.h"

#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "base/group.h"
#include "base/hosts.h"
#include "svi/factor.h"
#include "svi/release.h"
#include "svi/sum.h"
#include "svi/together.h"

/* Blocks from which waking other threads, some 10 us each, is worth it. */
enum { MANY = 4 };

enum { PIECE = 512 }; /* parameters moved at a time */

typedef struct finish_pass {
    dp_svi *s;
    bool shared; /* several threads are at it */
    pthread_mutex_t lock;
    size_t next; /* block that is not taken; under the lock, as is */
    bool finite;
} finish_pass;

/* ---- what is made once ---- */

/* The part whose release is the gradient of a block, or n_parts. */
static size_t part_of(const dpi_objective *o, const dpi_block *block)
{
    size_t p = 0;
    if (o->cut == DP_FORM_PARAMETERS)
        return (size_t)(block - o->blocks);
    while (p < o->n_parts && o->feed[p] != block->gradient)
        p++;
    return p;
}

static bool parts_are_gradients(const dpi_objective *o)
{
    bool all = o->n_parts == o->n_blocks;
    for (size_t k = 0; k < o->n_blocks && all; k++)
        all = part_of(o, &o->blocks[k]) < o->n_parts;
    return all;
}

/* Makes room for releases, and for what the ranks of a group, or owners, add up: whole numbers, or
 * without noise the sums of all. */
static dp_status make_release(dp_svi *s, dp_error *err)
{
    const dp_svi_opts *o = &s->opts;
    const dp_group *group = s->ranks.group;
    size_t n = s->objective.n_release, room = 0, most = SIZE_MAX / 4;
    bool noisy = o->mode == DP_PRIVATE || (o->mode != DP_NO_PRIVACY && o->sigma > 0);
    if (group != NULL && (!dpi_mul(n, noisy ? 1 : group->size, &room) || room == SIZE_MAX))
        return dpi_fail_nomem(err);
    if (group != NULL)
        room++;
    else if (dpi_together_is_own(o->owners))
        room = noisy ? n : 0;
    else if (o->owners != NULL && o->owners->local_steps == 0)
        room = n < most ? dpi_together_words(noisy, n) + 1 : SIZE_MAX;
    dp_status status = dpi_release_init(&s->release, n, room, &s->arena, err);
    s->release.noisy = noisy;
    s->release.quiet = (group != NULL && group->rank != 0) || o->owners != NULL;
    return status;
}

dp_status dpi_finish_init(dp_svi *s, dp_error *err)
{
    const dpi_objective *o = &s->objective;
    dp_status status = make_release(s, err);
    if (status != DP_OK || !parts_are_gradients(o))
        return status;
    s->target = dpi_arena_alloc(&s->arena, o->n_parts, sizeof *s->target);
    if (s->target == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < o->n_blocks; k++)
        s->target[part_of(o, &o->blocks[k])] = k;
    return DP_OK;
}

static size_t size_of_part(const dpi_objective *o, size_t p)
{
    return dpi_shape_size(&dpi_get(&o->graph, o->part[p])->shape);
}

dpi_lent *dpi_finish_lent(const dpi_objective *o, double *theta, double *release, dpi_arena *arena,
                          size_t *n)
{
    dpi_lent *lent = dpi_arena_alloc(arena, o->n_blocks + o->n_parts, sizeof *lent);
    *n = 0;
    if (lent == NULL)
        return NULL;
    for (size_t k = 0; k < o->n_blocks; k++)
        lent[(*n)++] = (dpi_lent){o->blocks[k].node, theta + o->blocks[k].offset};
    for (size_t p = 0; p < o->n_parts && o->cut == DP_FORM_LATENTS; p++) {
        lent[(*n)++] = (dpi_lent){o->feed[p], release};
        release += size_of_part(o, p);
    }
    return lent;
}

/* ---- one step ---- */

static size_t take(finish_pass *t, bool finite)
{
    if (t->shared)
        (void)pthread_mutex_lock(&t->lock);
    size_t mine = t->next++;
    t->finite = t->finite && finite;
    if (t->shared)
        (void)pthread_mutex_unlock(&t->lock);
    return mine;
}

typedef struct mover {
    const dp_svi *s;
    bool finite;
} mover;

/* Moves the parameters whose gradients are n numbers of the release, and makes floats of them where
 * records want these. */
static void move_released(void *user, size_t first, size_t n)
{
    mover *m = user;
    const dp_svi *s = m->s;
    const dpi_objective *o = &s->objective;
    size_t at = 0, end = first + n;
    for (size_t p = 0, size; p < o->n_parts && at < end; p++, at += size) {
        size = size_of_part(o, p);
        size_t from = first > at ? first : at, to = end < at + size ? end : at + size;
        if (from >= to)
            continue;
        const dpi_block *block = &o->blocks[s->target[p]];
        m->finite &= dpi_optimizer_move(&s->optimizer, block->offset + from - at, to - from,
                                        s->release.out + from);
        dpi_run_refresh(s->run, block->node, from - at, to - from);
    }
}

/* Whether a release is one only when others have added to it, or when it is kept. */
static bool waits(const dp_svi *s)
{
    return s->release.whole != NULL || s->keep != NULL;
}

/* What each thread does: blocks of the release, and of the parameters where that is all. */
static void release_blocks(void *of, size_t k)
{
    finish_pass *t = of;
    mover m = {t->s, true};
    const dpi_release *r = &t->s->release;
    size_t blocks = dpi_release_blocks(r->n);
    bool moves = t->s->target != NULL && !waits(t->s);
    (void)k;
    for (size_t b = take(t, true); b < blocks; b = take(t, m.finite))
        dpi_release_block(r, b, moves ? move_released : NULL, &m);
}

/* The gradient of n parameters, as the late stage has left it in one value a block, and of the
 * factors of other owners. */
static void gather(const dp_svi *s, size_t first, size_t n, double *gradient)
{
    const dpi_objective *o = &s->objective;
    size_t end = first + n;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks && b->offset < end; b++) {
        size_t from = first > b->offset ? first : b->offset;
        size_t to = end < b->offset + b->size ? end : b->offset + b->size;
        if (from < to)
            dpi_run_read(s->run, b->gradient, from - b->offset, to - from, gradient + from - first);
    }
    for (size_t i = 0; s->factor.n > 0 && i < n; i++)
        gradient[i] += s->factor.push[first + i];
}

/* What each thread does where gradients have been pulled back. */
static void move_blocks(void *of, size_t k)
{
    finish_pass *t = of;
    const dpi_optimizer *o = &t->s->optimizer;
    double gradient[PIECE];
    bool finite = true;
    (void)k;
    for (size_t b = take(t, true); b * DPI_RELEASE_BLOCK < o->n; b = take(t, finite)) {
        size_t left = o->n - b * DPI_RELEASE_BLOCK;
        size_t end = left < DPI_RELEASE_BLOCK ? o->n : (b + 1) * DPI_RELEASE_BLOCK;
        for (size_t first = b * DPI_RELEASE_BLOCK, n; first < end; first += n) {
            n = end - first < PIECE ? end - first : PIECE;
            gather(t->s, first, n, gradient);
            finite &= dpi_optimizer_move(o, first, n, gradient);
        }
    }
}

static void on_threads(finish_pass *t, size_t n, void (*work)(void *of, size_t k))
{
    t->next = 0;
    t->shared = t->s->sum.pool != NULL && dpi_release_blocks(n) >= MANY;
    if (t->shared)
        dpi_pool_run(t->s->sum.pool, work, t);
    else
        work(t, 0);
}

/* Adds up what the ranks of a group have put on the grid, or their sums where there is no noise. */
static dp_status exchange(const dp_group *group, const dpi_release *r, dp_status mine,
                          dp_error *err)
{
    if (!r->noisy)
        return dpi_group_add_real(group, mine, r->n, r->out, r->whole, err);
    dp_status status = dpi_group_add(group, mine, r->n, r->whole, err);
    if (status == DP_OK)
        dpi_release_whole(r, r->whole);
    sodium_memzero(r->whole, (r->n + 1) * sizeof *r->whole);
    return status;
}

/* The noise is asked for by what all owners know of the step. */
static dp_status release_alone(const dp_svi *s, dp_error *err)
{
    unsigned char question[DPI_JOIN_HASH];
    if (s->local.steps > 0)
        dpi_local_describe(s, question);
    else
        dpi_join_describe_shared(s, question);
    return dpi_together_alone(s->opts.owners, s->noise, question, &s->release, err);
}

/* Makes the release and, where they do not wait for more, moves the parameters.  Of a release that
 * was made before a seeded source draws the noise, behind which it goes on. */
static dp_status make_all(dp_svi *s, finish_pass *t, dp_status mine, dp_error *err)
{
    const dp_group *group = s->ranks.group;
    dpi_release *r = &s->release;
    if (mine == DP_OK)
        mine = dpi_release_begin(r, s->noise, err);
    if (mine == DP_OK) {
        on_threads(t, r->n, release_blocks);
        dpi_release_end(r);
        s->sum.last = NULL;
        s->sum.has_lost = false;
    } else { /* a sum without noise must not lie about */
        dpi_sum_wipe(&s->sum);
    }
    if (group != NULL)
        mine = exchange(group, r, mine, err);
    else if (mine == DP_OK && dpi_together_is_own(s->opts.owners))
        mine =
            s->made ? dpi_together_again(s->opts.owners, s->noise, r, err) : release_alone(s, err);
    else if (s->opts.owners != NULL && s->local.steps == 0 && !s->made)
        mine = dpi_together_step(s, mine, err);
    else if (mine == DP_OK && s->opts.owners != NULL && s->local.steps == 0)
        mine = dpi_hosts_gate(s->opts.owners) ? dpi_together_again(s->opts.owners, s->noise, r, err)
                                              : DP_OK;
    return mine;
}

/* Makes the release, or has it from where it was kept; of an owner's ranks the first does, and gives
 * it to the others. */
static dp_status have_all(dp_svi *s, finish_pass *t, dp_status mine, dp_error *err)
{
    const dpi_release *r = &s->release;
    unsigned char question[DPI_JOIN_HASH];
    if (dpi_hosts_are(s->opts.owners) && !s->met)
        return mine;
    if (s->keep != NULL)
        dpi_join_describe(s, question);
    if (!s->made || s->seeded)
        mine = make_all(s, t, mine, err);
    if (mine == DP_OK && s->keep != NULL)
        mine = s->keep->keep(s->keep->of, question, r, err);
    return dpi_hosts_give(s->opts.owners, mine, r->n, r->out, r->whole, err);
}

/* And moves the parameters that are numbers of it. */
static dp_status release_all(dp_svi *s, finish_pass *t, dp_status mine, dp_error *err)
{
    const dpi_release *r = &s->release;
    mine = have_all(s, t, mine, err);
    if (!waits(s))
        return mine;
    if (mine == DP_OK && s->target != NULL) {
        mover m = {s, true};
        move_released(&m, 0, r->n);
        t->finite = m.finite;
    }
    return mine;
}

double dpi_finish_sd(const dp_svi *s)
{
    return s->opts.sigma * s->opts.clip * dpi_together_share(s->opts.owners);
}

/* What is to be released of a sum, under the options of the step. */
static void take_sum(dpi_release *r, const dpi_summation *sum, const dp_svi *s)
{
    const dp_svi_opts *o = &s->opts;
    r->sd = dpi_finish_sd(s);
    r->whole_sum = sum->whole;
    r->rate = o->rate * dpi_local_share(s);
    r->sum = sum->total;
    r->last = sum->last;
    r->lost = sum->has_lost ? sum->lost : NULL;
}

dp_status dpi_finish(dp_svi *s, dp_status mine, bool *finite, dp_error *err)
{
    finish_pass t = {.s = s, .finite = true};
    take_sum(&s->release, &s->sum, s);
    if (s->sum.pool != NULL)                     /* else nobody is locked out */
        (void)pthread_mutex_init(&t.lock, NULL); /* with default attributes this cannot fail */
    dpi_optimizer_begin(&s->optimizer);
    dp_status status = release_all(s, &t, mine, err);
    if (status == DP_OK && s->target == NULL) {
        dpi_run_late(s->run);
        dpi_factor_push(s);
        on_threads(&t, s->objective.n_theta, move_blocks);
    } else if (status == DP_OK) {
        dpi_run_refreshed(s->run);
    }
    if (status == DP_OK)
        dpi_optimizer_end(&s->optimizer);
    if (s->sum.pool != NULL)
        (void)pthread_mutex_destroy(&t.lock);
    *finite = t.finite;
    return status;
}

void dpi_finish_without_records(dp_svi *s, bool *finite)
{
    finish_pass t = {.s = s, .finite = true};
    memset(s->release.out, 0, s->release.n * sizeof *s->release.out);
    if (s->sum.pool != NULL)
        (void)pthread_mutex_init(&t.lock, NULL);
    dpi_svi_draw(s);
    dpi_run_globals(s->run);
    dpi_optimizer_begin(&s->optimizer);
    dpi_run_late(s->run);
    dpi_factor_push(s);
    on_threads(&t, s->objective.n_theta, move_blocks);
    dpi_optimizer_end(&s->optimizer);
    if (s->sum.pool != NULL)
        (void)pthread_mutex_destroy(&t.lock);
    *finite = t.finite;
}
