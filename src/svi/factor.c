/* With q the guide, normal in each unconstrained latent z, eta its natural parameters, p the prior
 * and t_m owner m's factor, exp(h z - lambda z^2 / 2) of each z, a round is two walks from q, each
 * as many steps of the optimiser, which remembers nothing of earlier ones:
 *
 *   without records   up E_q log p + sum over all k of E_q log t_k + entropy, to q_0: of no record,
 *                     and the same at all owners
 *   owner m's         up E_q log p + sum over k != m of E_q log t_k + entropy + E_q log likelihood
 *                     of its records, to q_m
 *
 * It offers damping (eta(q_m) - eta(q_0)).  What all offer is added up and opened; with it q goes
 * on from eta(q_0), and each owner's offer moves its factor.  Where nothing moves, q is the optimum
 * of prior times factors and of each owner's, so that each factor has the gradient of its owner's
 * likelihood, and q is the optimum of all records.
 *
 * The answer is the mean on the way of walks without records, behind what was opened last; the walk
 * that follows an opening is that of the next round.  Both walks have the same draws of z, and the
 * gradient of log t is taken at them: where a factor is its owner's likelihood the walks are the
 * same to rounding, and nothing is offered.  A guide that begins narrow is no factor of anybody, as
 * both walks begin there.
 *
 * With damping up to 1 / owners eta is a mean of eta(q_0) and eta(q_m), and precisions stay
 * positive.  With more, or where somebody tells false numbers, a coordinate whose precision would
 * come below `least` of that of q_0 moves only as far, by a share that follows from the opened sum,
 * and so does every owner's factor: their sum stays `all`.
 *
 * With noise an owner's factor follows from its records through its own releases alone. */
#include "svi/factor.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "random/rng.h"
#include "svi/finish.h"
#include "svi/svi.h"
#include "svi/together.h"

/* Beyond it a number is cut when it is opened (together.c). */
static const double most_opened = 0x1p83;

static const double least = 0x1p-4;

/* ---- before the first step ---- */

dp_status dpi_factor_check(const dpi_objective *o, dp_error *err)
{
    for (size_t k = 0; k < o->n_blocks; k += 2)
        if (k + 1 == o->n_blocks || !dpi_is_location(&o->blocks[k]))
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "%s has no prior, and so no factor of an owner's: give it one, or take "
                            "a scheme that opens sums",
                            o->blocks[k].name);
    return o->n_blocks == 2 * o->n_noise /* one of each pair, in their order */
               ? DP_OK
               : dpi_fail(err, DP_EUNSUPPORTED,
                          "latents of records have no factor of an owner's; take a scheme that "
                          "opens sums");
}

static void list_latents(const dpi_objective *o, dpi_factor *f)
{
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b += 2)
        for (size_t e = 0; e < b->size; e++)
            f->latents[f->n++] = (dpi_factor_latent){b[0].offset + e, b[1].offset + e};
}

dp_status dpi_factor_init(dp_svi *s, dp_error *err)
{
    dpi_factor *f = &s->factor;
    double **const vectors[] = {&f->all,    &f->own,  &f->from, &f->begun,
                                &f->beside, &f->push, &f->mean};
    if (!dpi_together_is_own(s->opts.owners) || s->local.steps == 0)
        return DP_OK;
    dp_status status = dpi_factor_check(&s->objective, err);
    for (size_t k = 0; status == DP_OK && k < sizeof vectors / sizeof *vectors; k++) {
        *vectors[k] = dpi_arena_alloc(&s->arena, s->objective.n_theta, sizeof **vectors[k]);
        status = *vectors[k] != NULL ? DP_OK : dpi_fail_nomem(err);
    }
    if (status == DP_OK) {
        f->latents = dpi_arena_alloc(&s->arena, s->objective.n_theta / 2, sizeof *f->latents);
        status = f->latents != NULL ? DP_OK : dpi_fail_nomem(err);
    }
    if (status == DP_OK)
        list_latents(&s->objective, f);
    return status;
}

/* ---- walks ---- */

static void natural(const dpi_factor *f, const double *theta, double *eta)
{
    for (const dpi_factor_latent *z = f->latents; z < f->latents + f->n; z++) {
        eta[z->scale] = exp(-2 * theta[z->scale]);
        eta[z->location] = theta[z->location] * eta[z->scale];
    }
}

void dpi_factor_push(const dp_svi *s)
{
    const dpi_factor *f = &s->factor;
    const dpi_objective *o = &s->objective;
    const double *theta = s->optimizer.theta;
    for (size_t k = 0; f->n > 0 && k < o->n_noise; k++)
        dpi_run_read(s->run, o->noise[k], 0, o->blocks[2 * k].size,
                     f->push + o->blocks[2 * k].offset);
    for (const dpi_factor_latent *z = f->latents; z < f->latents + f->n; z++) {
        const size_t i = z->location, j = z->scale;
        const double away = exp(theta[j]) * f->push[i];
        f->push[i] = f->beside[i] - f->beside[j] * (theta[i] + away);
        f->push[j] = f->push[i] * away;
    }
}

static void set_question(dp_svi *s)
{
    const unsigned char *all = (const unsigned char *)s->factor.all;
    crypto_generichash_state h;
    dpi_join_describe_shared(s, s->local.question);
    (void)crypto_generichash_init(&h, NULL, 0, DP_OWNERS_QUESTION);
    (void)crypto_generichash_update(&h, s->local.question, DP_OWNERS_QUESTION);
    (void)crypto_generichash_update(&h, all, s->optimizer.n * sizeof *s->factor.all);
    (void)crypto_generichash_final(&h, s->local.question, DP_OWNERS_QUESTION);
}

/* Both walks of a round have the same draws, at all owners. */
static void begin_walk(dp_svi *s, const dpi_local_walk *w)
{
    s->optimizer.done = w->from;
    dpi_optimizer_forget(&s->optimizer);
    dpi_rng_reseed(s->rng, s->opts.owners->seed + w->end * UINT64_C(0x9e3779b97f4a7c15));
}

/* Goes from the guide of now, with the draws that the owners' walks will have, and back; the mean
 * on the way goes to `mean`. */
static void walk_without_records(dp_svi *s, const dpi_local_walk *w, bool *finite)
{
    const dpi_factor *f = &s->factor;
    dpi_optimizer *o = &s->optimizer;
    const size_t bytes = o->n * sizeof *o->theta;
    begin_walk(s, w);
    memcpy(f->beside, f->all, bytes);
    memcpy(f->begun, o->theta, bytes);
    memset(f->mean, 0, bytes);
    while (*finite && o->done < w->end) {
        dpi_finish_without_records(s, finite);
        for (size_t i = 0; i < o->n; i++)
            f->mean[i] += o->theta[i] / (double)(w->end - w->from);
    }
    natural(f, o->theta, f->from);
    memcpy(o->theta, f->begun, bytes);
    dpi_optimizer_forget(o);
}

void dpi_factor_begin(dp_svi *s, const dpi_local_walk *w, bool *finite)
{
    const dpi_factor *f = &s->factor;
    if (w->from == 0)
        walk_without_records(s, w, finite);
    s->optimizer.done = w->from;
    set_question(s);
    for (size_t i = 0; i < s->optimizer.n; i++)
        f->beside[i] = f->all[i] - f->own[i];
    begin_walk(s, w);
}

/* ---- what is opened ---- */

/* offer[n] = what this owner's records have changed; whether all of it can be opened. */
static bool make_offer(const dp_svi *s, double *offer)
{
    bool finite = true;
    natural(&s->factor, s->optimizer.theta, offer);
    for (size_t i = 0; i < s->optimizer.n; i++) {
        offer[i] = s->opts.owners->damping * (offer[i] - s->factor.from[i]);
        finite = finite && fabs(offer[i]) < most_opened;
    }
    return finite;
}

/* The share of a change by which a precision keeps the least that it may. */
static double share_of(double precision, double change)
{
    const double most = (1 - least) * precision;
    return -change > most ? most / -change : 1;
}

void dpi_factor_move(const dp_svi *s, const double *opened, const double *own)
{
    const dpi_factor *f = &s->factor;
    double *theta = s->optimizer.theta;
    for (const dpi_factor_latent *z = f->latents; z < f->latents + f->n; z++) {
        const size_t at[] = {z->location, z->scale};
        const double share = share_of(f->from[z->scale], opened[z->scale]);
        double eta[2];
        for (int k = 0; k < 2; k++) {
            f->own[at[k]] += share * own[at[k]];
            f->all[at[k]] += share * opened[at[k]];
            eta[k] = f->from[at[k]] + share * opened[at[k]];
        }
        theta[z->location] = eta[0] / eta[1];
        theta[z->scale] = -log(eta[1]) / 2;
    }
}

dp_status dpi_factor_open(dp_svi *s, const dpi_local_walk *w, bool *finite, dp_error *err)
{
    dpi_optimizer *o = &s->optimizer;
    const dp_owners *owners = s->opts.owners;
    const size_t n = o->n;
    double *out = s->local.opened.out, *own = s->factor.push; /* which each step sets anew */
    *finite = *finite && make_offer(s, own);
    memcpy(out, own, n * sizeof *out);
    out[n] = 1;
    if (!*finite)
        memset(out, 0, (n + 1) * sizeof *out);
    dp_status status =
        dpi_together_open(owners, s->noise, s->local.question, &s->local.opened, DP_OK, err);
    if (status != DP_OK || !*finite)
        return status;
    if (out[n] != (double)owners->size)
        return dpi_fail(
            err, DP_EPEER,
            "%g of %zu owners have offered what their steps have changed: parameters of "
            "another are no longer finite, or somebody does not follow the plan",
            out[n], owners->size);
    dpi_factor_move(s, out, own);
    for (size_t i = 0; i < n; i++)
        *finite = *finite && fabs(o->theta[i]) <= DBL_MAX;
    const dpi_local_walk next = dpi_local_next(s);
    walk_without_records(s, next.from < next.end ? &next : w, finite);
    o->done = w->end;
    dpi_optimizer_average(o, w->end - w->from, s->factor.mean);
    return DP_OK;
}
