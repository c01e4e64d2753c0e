/* Stopping a run and going on with it.
 *
 * What is saved is a function of releases and of what is public.  A resumed run draws its noise and
 * its batches under fresh keys, so it repeats nothing; that is why it cannot begin in the middle of
 * an epoch of random allocation, whose remaining batches nobody knows any more.
 *
 * Ranks of a group each write a checkpoint.  A crash between two of them leaves files of different
 * steps, so what counts of the others' is the ledger's entry, which stays the same; the state is
 * rank 0's (join.c). */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/group.h"
#include "base/replace.h"
#include "svi/join.h"
#include "svi/svi.h"

static bool all_finite(size_t n_vectors, const dpi_state *vector, size_t n)
{
    for (size_t k = 0; k < n_vectors; k++)
        for (size_t i = 0; i < n; i++)
            if (!isfinite(dpi_state_get(&vector[k], i)))
                return false;
    return true;
}

static dp_status save(dp_svi *s, const char *path, dp_error *err)
{
    const dp_svi_opts *o = &s->opts;
    uint64_t done = s->optimizer.done;
    unsigned char *bytes;
    size_t n;
    if (o->owners != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a run of several owners is not saved: what it goes on from is what they "
                        "have opened together");
    if (dpi_sampling_inside_epoch(o, done))
        return dpi_fail(err, DP_ESTATE,
                        "step %llu is inside an epoch of %llu steps, whose batches are not saved; "
                        "save after step %llu",
                        (unsigned long long)done, (unsigned long long)o->epoch,
                        (unsigned long long)(done - done % o->epoch + o->epoch));
    dpi_checkpoint c = {.opts = *o,
                        .done = done,
                        .loss_step = s->extras.last.step,
                        .loss = s->extras.last.value,
                        .below = s->extras.fraction_below,
                        .n_theta = s->optimizer.n};
    c.n_vectors = dpi_optimizer_vectors(&s->optimizer, c.vector);
    if (!all_finite(c.n_vectors, c.vector, s->optimizer.n))
        return dpi_fail(err, DP_EDOMAIN, "the parameters are no longer finite; nothing is saved");
    c.opts.delta = s->delta; /* as asked */
    memcpy(c.model, s->print[0], sizeof c.model);
    memcpy(c.guide, s->print[1], sizeof c.guide);
    if (s->spend.reservation != NULL) {
        c.ledgered = 1;
        c.entry = dpi_reservation_id(s->spend.reservation);
        memcpy(c.ledger, s->spend.ledger->identity, sizeof c.ledger);
    }
    dp_status status = dpi_spend_save(s, err);
    if (status != DP_OK)
        return status;
    status = dpi_checkpoint_write(&c, &bytes, &n, err);
    if (status != DP_OK)
        return status;
    status = dpi_file_replace(path, bytes, n, err);
    dpi_free(bytes);
    return status;
}

dp_status dp_svi_save(dp_svi *s, const char *path, dp_error *err)
{
    return dpi_group_agree(s->ranks.group, save(s, path, err), err);
}

/* ---- going on ---- */

static dp_status check_print(const dp_model *model, const unsigned char expected[DPI_PRINT],
                             const char *what, dp_error *err)
{
    unsigned char print[DPI_PRINT];
    dpi_model_print(model, print);
    if (memcmp(print, expected, sizeof print) == 0)
        return DP_OK;
    return dpi_fail(err, DP_EMISMATCH,
                    "the %s is not the one that the run was started with; give the same (NULL for "
                    "the mean-field guide)",
                    what);
}

/* The options as a caller would give them, from those as they were resolved. */
static dp_svi_opts asked(const dp_svi_opts *resolved)
{
    dp_svi_opts o = *resolved;
    if (o.sigma != 0)
        o.epsilon = 0;
    if (o.mode == DP_NO_PRIVACY)
        o.clip = 0;
    const dpi_sampler *sampler = dpi_sampler_of(o.sampling);
    if (sampler != NULL && sampler->sets_rate)
        o.rate = 0;
    return o;
}

dp_status dpi_svi_restore(dp_svi *s, const dpi_checkpoint *c, dp_error *err)
{
    dpi_optimizer *o = &s->optimizer;
    if (s->opts.rate != c->opts.rate || s->opts.steps != c->opts.steps)
        return dpi_fail(err, DP_EMISMATCH,
                        "batches of %zu are another share of these records than of those that the "
                        "run was started on; give the same data",
                        c->opts.batch);
    if (o->n != c->n_theta)
        return dpi_fail(err, DP_EDATA, "the checkpoint has %llu parameters and the guide %zu",
                        (unsigned long long)c->n_theta, o->n);
    dpi_state own[DPI_OPTIMIZER_VECTORS];
    size_t n_vectors = dpi_optimizer_vectors(o, own); /* as many, of the same optimiser */
    for (size_t k = 0; k < n_vectors; k++)
        for (size_t i = 0; i < o->n; i++)
            dpi_state_set(&own[k], i, dpi_state_get(&c->vector[k], i));
    o->done = c->done;
    dpi_extras_restore(&s->extras, &s->opts, c->loss_step, c->loss, c->below);
    s->opts.epsilon = c->opts.epsilon;
    return DP_OK;
}

static dp_status read_checkpoint(const char *path, const dp_model *model, const dp_model *guide,
                                 dpi_arena *arena, dpi_checkpoint *c, dp_error *err)
{
    dp_status status = dpi_checkpoint_read(path, arena, c, err);
    if (status == DP_OK)
        status = check_print(model, c->model, "model", err);
    if (status == DP_OK)
        status = check_print(guide, c->guide, "guide", err);
    if (status == DP_OK && dpi_sampling_inside_epoch(&c->opts, c->done))
        status = dpi_fail(err, DP_EDATA, "the checkpoint is inside an epoch; it is damaged");
    return status;
}

dp_status dp_svi_resume(const char *path, const dp_model *model, const dp_model *guide,
                        const dp_dataset *data, const dp_resume_opts *with, dp_svi **svi,
                        dp_error *err)
{
    static const dp_resume_opts nothing;
    const dp_resume_opts *beside = with != NULL ? with : &nothing;
    dpi_arena arena = {NULL};
    dpi_checkpoint c;
    *svi = NULL;
    dp_status status = dpi_group_check(beside->group, err);
    if (status != DP_OK)
        return status;
    status = read_checkpoint(path, model, guide, &arena, &c, err);
    status = dpi_join_resume(beside->group, status, &arena, &c, err);
    if (status == DP_OK) {
        dp_svi_opts opts = asked(&c.opts);
        opts.ledger = beside->ledger;
        opts.group = beside->group;
        dpi_svi_spec spec = {.model = model,
                             .guide = guide,
                             .data = data,
                             .opts = &opts,
                             .chunk = DPI_SVI_CHUNK,
                             .resume = &c};
        status = dpi_svi_new(&spec, svi, err);
    }
    dpi_arena_free(&arena);
    return status;
}
