/* From theta, which all owners have, owner m, with n_m of all N units, takes K steps up
 *
 *   g_m = pull back(N / n_m sum over its units of their gradients) + prior's and entropy's,
 *
 * and sum n_m theta_m is opened, with sum n_m beside it; all go on from the quotient, and from that
 * of what the optimiser remembers.  The mean of the g_m at one theta, by n_m / N, is the gradient
 * of all records: with K = 1, and moves that are linear in it, a round is the step of one process.
 *
 * Iterates on the way enter no average: so all that is there when a round begins is the same at all
 * owners, and its hash is the question.
 *
 * An owner whose parameters are not finite adds nothing, and no units either: N does not come out,
 * and all owners end.  One that has an error before the opening leaves the others waiting. */
#include "svi/local.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "svi/svi.h"
#include "svi/together.h"

/* Beyond it a number is cut when it is opened (together.c). */
static const double most_opened = 0x1p83;

dp_status dpi_local_init(dp_svi *s, dp_error *err)
{
    const dp_owners *o = s->opts.owners;
    const bool factors = dpi_together_is_own(o);
    const size_t n = (factors ? s->optimizer.n : dpi_optimizer_numbers(&s->optimizer)) + 1,
                 most = SIZE_MAX / 4;
    s->local.steps = o != NULL ? o->local_steps : 0;
    s->optimizer.apart = s->local.steps > 0;
    if (s->local.steps == 0)
        return DP_OK;
    return n < most
               ? dpi_release_init(&s->local.opened, n, dpi_together_words(false, n), &s->arena, err)
               : dpi_fail_nomem(err);
}

double dpi_local_share(const dp_svi *s)
{
    return s->local.steps > 0 && s->factor.n == 0 ? (double)s->n / s->local.units : 1;
}

/* By the question of a run that does not know it yet, which is no round's. */
static dp_status open_units(dp_svi *s, dp_error *err)
{
    unsigned char question[DP_OWNERS_QUESTION];
    dpi_release r = s->local.opened;
    r.n = 1;
    r.out[0] = (double)s->n;
    dpi_join_describe(s, question);
    dp_status status = dpi_together_open(s->opts.owners, s->noise, question, &r, DP_OK, err);
    if (status != DP_OK)
        return status;
    const double most = (double)s->opts.owners->size * (double)s->opts.owners->most_records;
    if (!(r.out[0] >= (double)s->n && r.out[0] <= most && r.out[0] == floor(r.out[0])))
        return dpi_fail(err, DP_EPEER,
                        "what is told of the number of all owners' records is less than this one "
                        "has, more than the plan allows, or no whole number; whoever adds up does "
                        "not follow the plan");
    s->local.units = r.out[0];
    return DP_OK;
}

dpi_local_walk dpi_local_next(const dp_svi *s)
{
    const dpi_optimizer *o = &s->optimizer;
    const uint64_t left = o->steps - o->done;
    return (dpi_local_walk){o->done, o->done + (s->local.steps < left ? s->local.steps : left)};
}

dp_status dpi_local_begin(dp_svi *s, dpi_local_walk *w, bool *finite, dp_error *err)
{
    *w = dpi_local_next(s);
    s->begun = w->from + 1;
    if (s->factor.n > 0) {
        dpi_factor_begin(s, w, finite);
        return DP_OK;
    }
    dp_status status = s->local.units > 0 ? DP_OK : open_units(s, err);
    dpi_join_describe(s, s->local.question);
    return status;
}

void dpi_local_describe(const dp_svi *s, unsigned char question[DP_OWNERS_QUESTION])
{
    (void)crypto_generichash(question, DP_OWNERS_QUESTION,
                             (const unsigned char *)&s->optimizer.done, sizeof s->optimizer.done,
                             s->local.question, DP_OWNERS_QUESTION);
}

dp_status dpi_local_open(dp_svi *s, const dpi_local_walk *w, bool *finite, dp_error *err)
{
    dpi_optimizer *o = &s->optimizer;
    const size_t n = dpi_optimizer_numbers(o);
    const double units = (double)s->n;
    double *out = s->local.opened.out;
    if (s->factor.n > 0)
        return dpi_factor_open(s, w, finite, err);
    dpi_optimizer_tell(o, out);
    for (size_t i = 0; i < n; i++) {
        out[i] *= units;
        *finite = *finite && fabs(out[i]) < most_opened;
    }
    out[n] = units;
    if (!*finite)
        memset(out, 0, s->local.opened.n * sizeof *out);
    dp_status status = dpi_together_open(s->opts.owners, s->noise, s->local.question,
                                         &s->local.opened, DP_OK, err);
    if (status != DP_OK || !*finite)
        return status;
    if (out[n] != s->local.units)
        return dpi_fail(err, DP_EPEER,
                        "the number of all owners' records is not the one of the first opening: "
                        "another owner's parameters are no longer finite, its records have "
                        "changed, or somebody does not follow the plan");
    for (size_t i = 0; i < n; i++)
        out[i] /= s->local.units;
    dpi_optimizer_join(o, o->done - w->from, out);
    for (const dpi_block *b = s->objective.blocks; b < s->objective.blocks + s->objective.n_blocks;
         b++)
        dpi_run_refresh(s->run, b->node, 0, b->size);
    return DP_OK;
}
