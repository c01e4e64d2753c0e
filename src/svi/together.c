/* With noise a release is I + K, whole numbers of steps of the grid (release.c), of which each
 * owner has its own: the sum of the I differs by what one owner's does, so that the sensitivity is
 * that of one process, and the sum of the shares K is a Gaussian's as doc/design/silo.md has it.
 *
 * Without noise sums have no bound that is known beforehand.  Each number x, cut to |x| < 2^84, is
 * written as a 2^28 + b 2^-28 + c 2^-84 with whole numbers |a|, |b|, |c| <= 2^56, which 64 owners
 * add up without overflow, and without rounding but that of c: the order does not matter.  Ranks of
 * an owner add theirs before, and carry, so that the owner's are no more than that. */
#include "svi/together.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/hosts.h"
#include "random/grid.h"
#include "random/noise.h"
#include "svi/cost.h"
#include "svi/join.h"
#include "svi/sampling.h"
#include "svi/svi.h"

enum { LIMBS = 3 };
static const double limb_worth[LIMBS] = {0x1p28, 0x1p-28, 0x1p-84};

dp_status dpi_together_check(const dp_owners *o, dp_error *err)
{
    if (o == NULL)
        return DP_OK;
    if (o->open == NULL || o->size < 1 || o->size > DP_OWNERS_MOST)
        return dpi_fail(err, DP_EINVAL,
                        "%zu owners, or no way to open their sums; there must be 1 "
                        "to %d",
                        o->size, DP_OWNERS_MOST);
    dp_status status = dpi_hosts_check(o, err);
    if (status != DP_OK)
        return status;
    if (o->honest < 1 || o->honest > o->size)
        return dpi_fail(err, DP_EINVAL,
                        "%zu shares of noise of %zu owners are unknown to whoever attacks; there "
                        "must be 1 at least",
                        o->honest, o->size);
    if (o->seed == 0 || o->most_records < 1 || o->most_records > (uint64_t)1 << 26)
        return dpi_fail(err, DP_EINVAL,
                        "owners need a public seed that is not 0, and a bound of 1 to 2^26 on the "
                        "records of one");
    if (!(o->damping >= 0 && o->damping <= 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "damping is %g; what owners' steps change is taken by a share above 0 and "
                        "to 1, or by 0: means of parameters are opened",
                        o->damping);
    if (o->local_steps > DP_OWNERS_LOCAL_STEPS)
        return dpi_fail(err, DP_EDOMAIN,
                        "%llu local steps; an owner takes 1 to %d by itself, or 0: each step's "
                        "gradient is opened",
                        (unsigned long long)o->local_steps, DP_OWNERS_LOCAL_STEPS);
    return DP_OK;
}

dp_status dpi_together_check_alone(const dp_owners *o, dp_error *err)
{
    if (o == NULL || o->damping == 0 || o->local_steps > 0)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL,
                    "damping is of what local steps change, and there are none: gradients and sums "
                    "are opened, with shares of noise; give local_steps, or leave damping 0");
}

dp_status dpi_together_check_local(const dp_owners *o, dp_mode mode, bool guided, dp_error *err)
{
    if (o == NULL || o->local_steps == 0)
        return DP_OK;
    if (mode != DP_NO_PRIVACY && o->damping == 0)
        return dpi_fail(
            err, DP_EPRIVACY,
            "an owner's parameters after local steps of its own have no bound on what a "
            "record does to them, which noise could be made for; leave local_steps 0, "
            "or fit without privacy");
    if (guided)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "parameters of a guide that is written, as for latents of records, have no "
                        "mean over owners that means anything; leave local_steps 0, so that "
                        "gradients are opened (scheme fedsgd or fedsgd+he)");
    return DP_OK;
}

dp_status dpi_together_check_room(const dp_owners *o, double steps, double sigma, dp_error *err)
{
    double noise = sigma > 0 ? 16 * DPI_GRID_SCALE : 0;
    if (o == NULL || (double)o->size * ((double)o->most_records * steps + noise) < 0x1p62)
        return DP_OK;
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "sums over %zu owners of up to %llu records each, with noise of %g, need more "
                    "than 64 bits; plan for fewer records, or a smaller epsilon",
                    o->size, (unsigned long long)o->most_records, sigma);
}

dp_status dpi_together_check_grid(const dp_owners *o, double sigma, dp_error *err)
{
    double steps = DPI_GRID_SCALE / (sigma * dpi_together_share(o));
    return dpi_together_check_room(o, steps, sigma, err);
}

/* Of the gradient and of what is beside it, by what a unit adds at most. */
static double least_noise(const dp_svi_opts *o)
{
    double least = o->sigma;
    if (o->loss_every > 0)
        least = fmin(least, o->loss_sigma);
    if (o->clip_quantile > 0)
        least = fmin(least, dpi_cost_count_sigma(o));
    return least;
}

dp_status dpi_together_check_run(const dp_svi_opts *opts, dp_error *err)
{
    const dp_owners *o = opts->owners;
    if (o == NULL)
        return DP_OK;
    dp_status status = dpi_together_check(o, err);
    if (status != DP_OK)
        return status;
    if (opts->seed != 0 && o->share != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "the noise is to come of a seed and of the owners' own keys; leave one 0");
    if (opts->group != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a run is one rank of a group, or one owner's; ranks of an owner have "
                        "owners->group, and group NULL");
    if (o->local_steps > 0 && opts->loss_every > 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "losses of local steps are of one owner's records; leave loss_every 0");
    if (opts->mode == DP_NO_PRIVACY || opts->sigma == 0)
        return DP_OK;
    return dpi_together_check_grid(o, least_noise(opts), err);
}

dp_status dpi_together_check_records(const dp_owners *o, size_t n, dp_error *err)
{
    if (o == NULL || n <= o->most_records)
        return DP_OK;
    return dpi_fail(err, DP_EDATA,
                    "this owner has more records than the plan allows one to have; plan for "
                    "more");
}

bool dpi_together_is_own(const dp_owners *o)
{
    return o != NULL && o->damping > 0;
}

/* A record's number is below 2^50 steps then (exec/whole.h). */
static const double least_whole = 0x1p-17;

bool dpi_together_is_whole(const dp_svi_opts *o, size_t n)
{
    return o->owners != NULL && !dpi_together_is_own(o->owners) && o->mode != DP_NO_PRIVACY &&
           o->sigma * dpi_together_share(o->owners) > least_whole && n < DPI_SVI_LARGE_RELEASE;
}

double dpi_together_excess(const dp_owners *o)
{
    return o == NULL || dpi_together_is_own(o)
               ? 1
               : sqrt((double)o->size / (double)o->honest) * (1 + 0x1p-45);
}

double dpi_together_share(const dp_owners *o)
{
    return o == NULL || dpi_together_is_own(o) ? 1 : (1 + 0x1p-45) / sqrt((double)o->honest);
}

double dpi_together_failures(const dp_owners *o)
{
    return o == NULL || dpi_together_is_own(o) ? 1 : (double)o->size + 1;
}

size_t dpi_together_words(bool noisy, size_t n)
{
    return noisy ? n : LIMBS * n;
}

static void into_limbs(size_t n, const double *x, uint64_t *words)
{
    const double most = 0x1.fffffffffffffp83;
    for (size_t j = 0; j < n; j++) {
        double left = fmin(fmax(x[j], -most), most); /* NaN: -most, in the end at all owners */
        for (size_t l = 0; l < LIMBS; l++) {
            double limb = l + 1 < LIMBS ? trunc(left / limb_worth[l]) : rint(left / limb_worth[l]);
            words[LIMBS * j + l] = (uint64_t)(int64_t)limb;
            left -= limb * limb_worth[l];
        }
    }
}

/* Of sums of limbs, each less than its whole range again: what a limb has beyond 2^56 goes to the one
 * before it, which is worth as much more, and the first is cut. */
static void carry_limbs(size_t n, int64_t *words)
{
    const int64_t base = INT64_C(1) << 56, most = base - 8;
    for (size_t j = 0; j < n; j++) {
        int64_t *limb = words + LIMBS * j;
        for (size_t l = LIMBS; l-- > 1;) {
            limb[l - 1] += limb[l] / base;
            limb[l] %= base;
        }
        limb[0] = limb[0] > most ? most : limb[0] < -most ? -most : limb[0];
    }
}

static void from_limbs(size_t n, const uint64_t *words, double *x)
{
    for (size_t j = 0; j < n; j++) {
        x[j] = 0;
        for (size_t l = LIMBS; l-- > 0;)
            x[j] += (double)(int64_t)words[LIMBS * j + l] * limb_worth[l];
    }
}

dp_status dpi_together_draws(const dp_owners *o, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION], dp_error *err)
{
    static const char purpose[] = "draws";
    unsigned char own[DP_OWNERS_QUESTION], key[DP_OWNERS_KEY];
    if (o == NULL || o->share == NULL)
        return DP_OK;
    (void)crypto_generichash(own, sizeof own, question, DP_OWNERS_QUESTION,
                             (const unsigned char *)purpose, sizeof purpose);
    dp_status status = dpi_hosts_gate(o) ? o->share(o->context, own, 0, NULL, key, err) : DP_OK;
    status = dpi_hosts_key(o, status, key, err);
    if (status == DP_OK)
        dpi_noise_key(source, key);
    sodium_memzero(key, sizeof key);
    return status;
}

static void add_share(dpi_stream *stream, size_t n, int64_t *whole)
{
    dpi_grid grid;
    int64_t share[DPI_GRID_PIECE];
    dpi_grid_begin(&grid, dpi_grid_best(), stream);
    for (size_t first = 0, some; first < n; first += some) {
        some = n - first < DPI_GRID_PIECE ? n - first : DPI_GRID_PIECE;
        dpi_grid_next(&grid, some, share);
        for (size_t j = 0; j < some; j++)
            whole[first + j] += share[j];
    }
    dpi_grid_end(&grid);
    sodium_memzero(share, sizeof share);
}

static dp_status add_kept_share(const dp_owners *o,
                                const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                                int64_t *whole, dp_error *err)
{
    unsigned char key[DP_OWNERS_KEY];
    dpi_stream stream;
    dp_status status = o->share(o->context, question, n, (const uint64_t *)whole, key, err);
    if (status == DP_OK) {
        dpi_stream_start(&stream, key);
        add_share(&stream, n, whole);
        dpi_stream_end(&stream);
    }
    sodium_memzero(key, sizeof key);
    return status;
}

dp_status dpi_together_noise(const dp_owners *o, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                             int64_t *whole, dp_error *err)
{
    dpi_stream *stream;
    if (o->share != NULL)
        return add_kept_share(o, question, n, whole, err);
    dp_status status = dpi_noise_stream(source, &stream, err);
    if (status == DP_OK)
        add_share(stream, n, whole);
    return status;
}

/* Of the owner's whole numbers all owners', by the rank that speaks for it. */
static dp_status open_whole(const dp_owners *o, dp_noise *source,
                            const unsigned char question[DP_OWNERS_QUESTION], const dpi_release *r,
                            size_t n, dp_error *err)
{
    uint64_t *words = (uint64_t *)r->whole; /* two's complement: sums wrap as those of words do */
    dp_status status = r->noisy ? dpi_together_noise(o, source, question, n, r->whole, err) : DP_OK;
    if (status == DP_OK)
        status = o->open(o->context, question, n, words, err);
    if (status == DP_OK && r->noisy)
        dpi_release_whole(r, r->whole);
    else if (status == DP_OK)
        from_limbs(r->n, words, r->out);
    return status;
}

dp_status dpi_together_open(const dp_owners *o, dp_noise *source,
                            const unsigned char question[DP_OWNERS_QUESTION], const dpi_release *r,
                            dp_status mine, dp_error *err)
{
    const size_t n = dpi_together_words(r->noisy, r->n);
    if (mine == DP_OK && !r->noisy)
        into_limbs(r->n, r->out, (uint64_t *)r->whole);
    dp_status status = dpi_hosts_add(o, mine, n, r->whole, err);
    if (status == DP_OK && !r->noisy && dpi_hosts_are(o))
        carry_limbs(r->n, r->whole);
    if (status == DP_OK && dpi_hosts_gate(o))
        status = open_whole(o, source, question, r, n, err);
    sodium_memzero(r->whole, n * sizeof *r->whole);
    return status;
}

dp_status dpi_together_alone(const dp_owners *o, dp_noise *source,
                             const unsigned char question[DP_OWNERS_QUESTION], const dpi_release *r,
                             dp_error *err)
{
    if (!r->noisy)
        return DP_OK;
    dp_status status = dpi_together_noise(o, source, question, r->n, r->whole, err);
    if (status == DP_OK)
        dpi_release_whole(r, r->whole);
    sodium_memzero(r->whole, r->n * sizeof *r->whole);
    return status;
}

dp_status dpi_together_again(const dp_owners *o, dp_noise *source, const dpi_release *r,
                             dp_error *err)
{
    static const unsigned char nothing[DP_OWNERS_QUESTION];
    dp_status status = DP_OK;
    if (r->noisy && o->share == NULL)
        status = dpi_together_noise(o, source, nothing, r->n, r->whole, err);
    sodium_memzero(r->whole, dpi_together_words(r->noisy, r->n) * sizeof *r->whole);
    return status;
}

dp_status dpi_together_step(const dp_svi *s, dp_status mine, dp_error *err)
{
    unsigned char question[DP_OWNERS_QUESTION];
    dpi_join_describe(s, question);
    return dpi_together_open(s->opts.owners, s->noise, question, &s->release, mine, err);
}
