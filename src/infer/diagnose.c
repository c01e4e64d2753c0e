/* One line each, with a remedy where something is wrong.
 *
 * All of it is made from releases, options and the posterior that follows from them.  Limits are
 * such that of fits in which nothing is wrong at most 3 in 100 have a bad line (doc/evaluation.md).
 *
 *   reach       |posterior mean - mean place of the main rounds| of a latent that records read, in
 *               its posterior standard deviations; not of an outcomes' scale beside groups.
 *               Rounds end where the posterior's mean is, so that it is 1 at most, unless scores
 *               bend on the way, earlier and later rounds disagree as they do in records that the
 *               model does not fit, or the way was too long
 *   directions  least eigenvalue of the released information in the metric, in which all are near
 *               their mean where each direction was found: below 3 standard deviations of its noise
 *               and .3 of the mean it was not.  An intercept beside a plate's members has such a
 *               direction by its making, which is left out */
#include "infer/diagnose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "infer/arrow.h"
#include "infer/clip.h"
#include "num/matrix.h"

static const double lost_noise = 3, lost_share = 0.3; /* of a direction */
static const double plates_share = 0.05; /* of a direction's square, that is not of its making */

typedef struct report {
    dpi_diagnosis *room;
    dp_diagnostic *list;
    size_t n;
} report;

static void say(report *to, dp_diagnostic d, const char *format, ...)
{
    va_list rest;
    char *words = to->room->words[to->n];
    va_start(rest, format);
    (void)vsnprintf(words, DPI_DIAGNOSIS_WORDS, format, rest);
    va_end(rest);
    d.words = words;
    to->list[to->n++] = d;
}

static void say_information(const dpi_rounds *r, report *to)
{
    bool bad = r->signal < 3;
    say(to, (dp_diagnostic){.name = "information", .value = r->signal, .limit = 3, .bad = bad},
        bad ? "what the records tell is hidden by the noise (%.1f standard deviations): "
              "the answer is the prior; more records or a larger epsilon are needed"
            : "what the records tell stands out of the noise by %.1f standard deviations",
        r->signal);
}

/* The noise of privacy in the posterior means, in standard deviations of the posterior without it,
 * under the public model of clipping; on average over latents. */
static double noise_of(const dpi_rounds *r)
{
    const dpi_budget *b = r->budget;
    double clip = r->clip[DPI_STAGE_MAIN], rounds = (double)b->releases[DPI_STAGE_MAIN];
    double sd = b->sigmas[DPI_STAGE_MAIN] * clip / sqrt(rounds - (double)r->first);
    return b->noisy ? sd / dpi_clipped_at(&r->norms, r->metric.dims, clip).slope / sqrt(r->n) : 0;
}

static void say_noise(const dpi_rounds *r, report *to)
{
    double noise = noise_of(r);
    bool bad = noise > 1;
    say(to, (dp_diagnostic){.name = "noise", .value = noise, .limit = 1, .bad = bad},
        "privacy adds about %.2f posterior standard deviations of noise to each mean; "
        "intervals include it%s",
        noise, bad ? "; more records or a larger epsilon would narrow them" : "");
}

static void say_misfit(const dpi_rounds *r, report *to)
{
    bool bad = r->excess > 2.5;
    say(to, (dp_diagnostic){.name = "misfit", .value = r->excess, .limit = 2.5, .bad = bad},
        bad ? "more records are far out than the model expects (%.1f standard deviations "
              "of the count's noise and chance); a family with heavier tails, such as Student's t, "
              "may fit better"
            : "no more records are far out than the model expects (%.1f standard "
              "deviations of the count's noise and chance)",
        r->excess);
}

/* Of rounds most of which were on the way the last ones agree, too, if they went slowly. */
static void say_convergence(const dpi_rounds *r, report *to)
{
    size_t rounds = (size_t)r->budget->releases[DPI_STAGE_MAIN];
    bool late = r->budget->noisy && 2 * r->first > rounds, bad = !(r->drift < 4) || late;
    say(to, (dp_diagnostic){.name = "convergence", .value = r->drift, .limit = 4, .bad = bad},
        late
            ? "most of the main rounds were on the way still (%.1f standard deviations between the "
              "halves of the last ones); bring the prior nearer, or scale the predictors"
        : bad ? "the main rounds had not arrived when they began (%.1f standard deviations "
                "between their halves); bring the prior nearer, or scale the predictors"
              : "the main rounds stayed where they were (%.1f standard deviations between "
                "their halves)",
        r->drift);
}

/* Of latents of which something was told; `guide` as in dpi_diagnose.  Rounds are made where a
 * scale looks to be, and it looks larger beside members that are not known. */
static double reach_of(const dpi_rounds *r, const double *guide)
{
    const dpi_objective *o = &r->view->objective;
    double most = 0;
    for (const dpi_block *b = o->blocks; b < o->blocks + o->n_blocks; b++)
        for (size_t e = 0; e < b->size; e++) {
            size_t i = b->offset + e;
            const double *of = guide + 2 * b->offset + e;
            bool scale = i == r->posterior.excess.scale && r->view->n_plates > 0;
            if (r->slope[i * o->n_theta + i] > 0 && !scale)
                most = fmax(most, fabs(of[0] - r->centre[i]) / exp(of[b->size]));
        }
    return most;
}

static void say_reach(const dpi_rounds *r, const double *guide, report *to)
{
    double reach = reach_of(r, guide);
    bool bad = !(reach < 2);
    say(to, (dp_diagnostic){.name = "reach", .value = reach, .limit = 2, .bad = bad},
        bad ? "the answer lies %.1f posterior standard deviations from where the main rounds asked "
              "the records, and was not heard there; bring the prior nearer, give the model the "
              "tails that the records have, and look for outcomes that are rare or that a "
              "predictor settles"
            : "the answer lies where the main rounds asked the records (%.1f posterior standard "
              "deviations from it)",
        reach);
}

/* Whether direction v[p] of the metric's coordinates moves a plate's members. */
static bool moves_plates(const dpi_rounds *r, const double *v, size_t step)
{
    const dpi_model_view *view = r->view;
    size_t p = view->p;
    double whole = 0, plates = 0;
    for (const dpi_read *a = view->reads; a < view->reads + view->n_reads; a++)
        for (size_t e = 0; e < a->size; e++) {
            const double *row = r->metric.dense + (a->at + e) * p;
            double along = 0, unit = 0;
            for (size_t f = 0; f < p; f++) {
                along += row[f] * v[f * step];
                unit += row[f] * row[f];
            }
            whole += along * along / unit;
            plates += a->members > 0 ? along * along / unit : 0;
        }
    return plates > plates_share * whole;
}

/* Below which a direction's information is taken for none.  All directions have about the mean, and
 * noise, this release's and what whitening has left, sd on the diagonal and sd / sqrt 2 beside it,
 * spreads p eigenvalues to sd sqrt(2 p) on both sides of it (Wigner's semicircle); one that is 0
 * comes to -p sd^2 / (2 mean).  Half way between, where that is less. */
static double lost_below(size_t p, double mean, double noise, double left)
{
    double sd = hypot(noise, left * mean);
    double edge = mean - sd * sqrt(2 * (double)p), none = -(double)p * sd * sd / (2 * mean);
    return fmin(fmin(lost_noise * noise, lost_share * mean), (edge + none) / 2);
}

typedef struct directions {
    double least; /* eigenvalue, in standard deviations of noise */
    size_t lost;
} directions;

static dp_status find_directions(const dpi_rounds *r, directions *found, dp_error *err)
{
    size_t p = r->view->p;
    double *dense = dpi_alloc(2 * p + 1, p * sizeof *dense), mean = 0;
    if (dense == NULL)
        return dpi_fail_nomem(err);
    double *vectors = dense + p * p, *values = vectors + p * p;
    (void)dpi_arrow_unpack(p, r->pattern, dense);
    for (size_t e = 0; e < p; e++)
        mean += dense[e * p + e] / (double)p;
    double sd = mean * sqrt((double)p) / r->signal; /* dpi_arrow_signal, of the same pattern */
    dp_status status = dpi_matrix_eigen(p, dense, values, vectors, err);
    *found = (directions){.least = INFINITY};
    for (size_t c = 0; c < p && status == DP_OK; c++) {
        if (moves_plates(r, vectors + c, p))
            continue;
        bool lost = values[c] < (sd > 0 ? lost_below(p, mean, sd, r->left) : 1e-9 * mean);
        found->lost += lost;
        found->least = fmin(found->least, sd > 0 ? values[c] / sd : lost ? 0 : INFINITY);
    }
    dpi_free(dense);
    return status;
}

static dp_status say_directions(const dpi_rounds *r, report *to, dp_error *err)
{
    directions found = {.least = r->signal};
    dp_status status = r->signal < 3 ? DP_OK : find_directions(r, &found, err);
    bool bad = found.lost > 0;
    dp_diagnostic d = {.name = "directions", .value = found.least, .limit = lost_noise, .bad = bad};
    if (status == DP_OK && bad)
        say(to, d,
            "the records do not tell %zu of %zu combinations of latents apart, as where predictors "
            "are constant or nearly the same; there the prior speaks, and intervals may be too "
            "narrow; leave such predictors out",
            found.lost, r->view->p);
    else if (status == DP_OK && isinf(found.least))
        say(to, d,
            "no combination of latents is left untold; those of an intercept and groups' members "
            "are not looked at");
    else if (status == DP_OK && found.least < lost_noise)
        say(to, d,
            "noise alone explains that some combination of latents is told of by no more than %.1f "
            "standard deviations of it",
            found.least);
    else if (status == DP_OK)
        say(to, d,
            "no combination of latents is told of by less than %.1f standard deviations of "
            "the noise",
            found.least);
    return status;
}

/* Two standard deviations of the noise in their number below what was released of it. */
static void say_delta(const dpi_rounds *r, report *to)
{
    double noise = dpi_inquiry_number_sd(r->budget->sigmas[DPI_STAGE_SCALES]);
    double share = r->budget->delta * fmax(r->n - 2 * noise, 0);
    if (share >= 1)
        say(to, (dp_diagnostic){.name = "delta", .value = share, .limit = 1, .bad = true},
            "delta is at least %.2g times one over the number of records: so large a delta allows "
            "to publish whole records; ask for one far below that",
            share);
}

static void say_sampling(const dpi_rounds *r, report *to)
{
    bool bad = !(r->report.r_hat < 1.05);
    say(to,
        (dp_diagnostic){.name = "sampling", .value = r->report.r_hat, .limit = 1.05, .bad = bad},
        bad ? "the posterior's chains disagree (R-hat %.3f, %.0f effective draws); it may "
              "have several modes, or a prior with a sharp funnel"
            : "the posterior's chains agree (R-hat %.3f, %.0f effective draws)",
        r->report.r_hat, r->report.ess);
}

dp_status dpi_diagnose(const dpi_rounds *r, const double *guide, dpi_diagnosis *room,
                       dp_diagnostic *list, size_t *n, dp_error *err)
{
    report to = {.room = room, .list = list};
    say_information(r, &to);
    dp_status status = say_directions(r, &to, err);
    say_noise(r, &to);
    say_misfit(r, &to);
    say_convergence(r, &to);
    say_reach(r, guide, &to);
    say_sampling(r, &to);
    if (r->budget->noisy)
        say_delta(r, &to);
    *n = to.n;
    return status;
}
