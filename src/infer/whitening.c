/* The first half of the phases: from raw numbers to a metric in which a record's information is the
 * unit matrix. */
#include "infer/whitening.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/arrow.h"
#include "infer/follow.h"
#include "num/matrix.h"

/* Least norm that matrices are clipped to, in units of that which they have on average. */
static const double matrix_norm = 2;

/* Noise's standard deviations of records that are surely there, and how many bins of a histogram
 * beyond the one that holds most are looked at. */
static const double surely = 4;
static const size_t farther = 5;

/* Commonest norm, in units of the mean, below which it is that of records that tell nothing. */
static const double least_common = 0.25;

/* Least eigenvalue of a record's information that whitening makes 1, as a share of their mean, and
 * in units of what noise makes of the largest. */
static const double brought_out = 0.05, noise_floor = 0.3;

/* ---- scales ---- */

dpi_inquiry dpi_rounds_query(const dpi_rounds *r, double clip)
{
    return (dpi_inquiry){.view = r->view,
                         .metric = &r->metric,
                         .clip = clip,
                         .most = r->budget->noisy ? r->norm * r->metric.bulk : DPI_NO_CLIP};
}

static double bin_middle(size_t bin)
{
    return ldexp(1.5, (int)bin + DPI_LEAST_SCALE);
}

/* By how many standard deviations of a bin's noise bins that are so far from 1 stand back: there
 * are many far ones, of which some hold much by noise, and a coordinate in such a unit would stay
 * where it is.  Near ones stand back by next to nothing. */
static double far_from(int bins)
{
    return 0.1 * bins + sqrt(3) * fmin(fmax(bins - 4, 0), 4);
}

double dpi_scale_from(const double *histogram, double sd, double expected)
{
    double best = -INFINITY, total = 0, square = 0;
    int first = 0;
    for (int k = 0; k + 2 < DPI_SCALES; k++) {
        double held = histogram[k] + histogram[k + 1] + histogram[k + 2];
        double worth = held - sd * far_from(abs(k + 1 + DPI_LEAST_SCALE));
        if (worth > best) {
            best = worth;
            first = k;
        }
    }
    for (int k = first; k < first + 3; k++) {
        double middle = bin_middle((size_t)k), held = fmax(histogram[k], 0);
        total += held;
        square += held * middle * middle;
    }
    return total > fmax(5 * sd, 0.5) ? sqrt(square / total) : expected;
}

dp_status dpi_find_scales(dpi_rounds *r, dp_error *err)
{
    size_t p = r->view->p;
    double *out = dpi_alloc(dpi_inquiry_size(r->view, DPI_INQUIRY_SCALES) + p * p, sizeof *out);
    double *turn = out + dpi_inquiry_size(r->view, DPI_INQUIRY_SCALES), sd[2];
    if (out == NULL)
        return dpi_fail_nomem(err);
    dpi_inquiry q = dpi_rounds_query(r, INFINITY);
    dpi_shared_find(&r->known, r->scan, r->z);
    dp_status status = dpi_inquiry_run(&q, DPI_INQUIRY_SCALES, r->scan, r->z,
                                       r->budget->sigmas[DPI_STAGE_SCALES], out, sd, err);
    if (status == DP_OK) {
        r->n = fmax(out[0], 1);
        memset(turn, 0, p * p * sizeof *turn);
        for (size_t c = 0; c < p; c++) {
            turn[c * p + c] = 1 / (r->known.exact[c] ? r->known.unit[c]
                                                     : dpi_scale_from(out + (c + 1) * DPI_SCALES,
                                                                      sd[1], r->known.unit[c]));
        }
        memcpy(r->unit, r->known.unit, p * sizeof *r->unit);
        status = dpi_metric_turn(&r->metric, turn, err);
    }
    r->clip[DPI_STAGE_SCALES] = 1;
    r->norm = matrix_norm;
    dpi_free(out);
    return status;
}

/* ---- whitening ---- */

static dp_status hopeless(const dpi_rounds *r, dp_error *err)
{
    return dpi_fail(err, DP_EPRIVACY,
                    "what %.0f records tell cannot be told from the noise (%.1f standard "
                    "deviations); more records or a larger epsilon are needed, about %.0f times "
                    "either.  To have found this out costs the whole budget; hopeless_allowed goes "
                    "on, to an answer that is nearly the prior",
                    r->n, r->signal, fmax(ceil(4 / fmax(r->signal, 0.2)), 2));
}

/* Norm that a record's matrix is clipped to: twice the commonest, and doubled while more records
 * are surely above it than noise is worth.  What clipping loses in a direction falls with the norm
 * by the number of records above, what noise hides of it grows by sd sqrt(2 p) (Wigner).  Records
 * of a rare predictor are few, and hold all that is told of it.  So are those that are not settled
 * where slopes are steep, and no bin may show them: in a metric that has followed, the commonest
 * norm is not taken for less than half the mean. */
static double norm_from(dpi_rounds *r, dpi_stage stage, const double *histogram, double sd)
{
    size_t best = 0;
    for (size_t k = 1; k < DPI_SCALES; k++)
        best = histogram[k] > histogram[best] ? k : best;
    r->norm = matrix_norm;
    if (!(histogram[best] > 3.5 * sd))
        return matrix_norm * r->metric.bulk;
    if (dpi_follows_information(r) && bin_middle(best) < least_common * r->metric.bulk)
        best = (size_t)(ilogb(r->metric.bulk / 2) - DPI_LEAST_SCALE);
    double releases = (double)r->budget->releases[stage], common = bin_middle(best);
    double noise = r->budget->sigmas[stage] * sqrt(2 * (double)r->view->p / releases);
    double longest = r->n / (noise * r->metric.bulk);
    for (size_t k = best + 2; k <= best + farther && k < DPI_SCALES; k++) {
        double above = 0;
        for (size_t j = k; j <= best + farther && j < DPI_SCALES; j++)
            above += histogram[j] > surely * sd ? histogram[j] : 0;
        if (!(above > noise && 2 * r->norm < longest))
            break;
        r->norm *= 2;
    }
    return r->norm * common;
}

static dp_status choose_norm(dpi_rounds *r, dpi_stage stage, double *most, dp_error *err)
{
    double histogram[DPI_SCALES], sd = 0;
    dpi_inquiry q = dpi_rounds_query(r, INFINITY);
    *most = q.most;
    if (!r->budget->noisy)
        return DP_OK;
    dp_status status = dpi_inquiry_run(&q, DPI_INQUIRY_NORMS, r->scan, r->z,
                                       r->budget->sigmas[DPI_STAGE_NORMS], histogram, &sd, err);
    if (status != DP_OK)
        return status;
    r->clip[DPI_STAGE_NORMS] = 1;
    *most = norm_from(r, stage, histogram, sd);
    return DP_OK;
}

/* What the releases of a stage have told of the dense block so far, in the metric's coordinates:
 * estimate[p][p], and the variances of its noise in units of independent symmetric noise of
 * standard deviation 1, that is half of it beside the diagonal. */
typedef struct heard {
    size_t p;
    double *estimate, *variance, *turn, *room; /* [p][p] */
    bool any;
    bool first;  /* nothing was released yet */
    double most; /* norm that a record's matrix is clipped to */
} heard;

static dp_status heard_init(heard *h, size_t p, dp_error *err)
{
    *h = (heard){.p = p, .first = true, .estimate = dpi_alloc(5 * p, p * sizeof(double))};
    if (h->estimate == NULL)
        return dpi_fail_nomem(err);
    h->variance = h->estimate + p * p;
    h->turn = h->variance + p * p;
    h->room = h->turn + p * p;
    return DP_OK;
}

/* The mean of what was known and of a pattern with noise sd, by their precisions; it takes the
 * pattern's place.  Returns the standard deviation of its noise. */
static double join(heard *h, double *pattern, double sd)
{
    double square = 0, variance = fmax(sd * sd, 1e-300), *found = h->room;
    (void)dpi_arrow_unpack(h->p, pattern, found);
    for (size_t e = 0; e < h->p * h->p; e++) {
        double weight = h->any ? variance / (variance + h->variance[e]) : 0;
        h->estimate[e] = weight * h->estimate[e] + (1 - weight) * found[e];
        h->variance[e] = (1 - weight) * variance;
        square += h->variance[e] / (double)(h->p * h->p);
    }
    (void)dpi_arrow_pack(h->p, h->estimate, pattern);
    return sd > 0 ? sqrt(square) : 0;
}

/* What is known goes with the metric; noise is taken to be independent in all entries. */
static void turn_heard(heard *h)
{
    size_t p = h->p;
    double *room = h->room;
    dpi_matrix_congruence(p, h->turn, h->estimate, room, h->estimate);
    for (size_t e = 0; e < p * p; e++)
        room[e] = h->turn[e] * h->turn[e];
    dpi_matrix_congruence(p, room, h->variance, room + p * p, h->variance);
    h->any = true;
}

/* The turn after which a record's information is the unit matrix on average; what of it noise or
 * rounding hides is brought out by as much as is safe, so that the next release sees it. */
static dp_status find_turn(dpi_rounds *r, double sd, heard *h, dp_error *err)
{
    size_t p = h->p;
    double mean = 0, trace = 0, *known = h->room, *turn = h->turn;
    dpi_expected as = {.sd = sd};
    dp_status status = dpi_arrow_dense(r->view, r->pattern, &as, turn, err);
    for (size_t e = 0; e < p * p; e++)
        known[e] = turn[e] /= r->n;
    for (size_t e = 0; e < p; e++)
        mean += turn[e * p + e] / (double)p;
    if (h->first) /* in units of the mean norm, as the metric goes on */
        r->seen = h->most / (mean * r->metric.bulk);
    h->first = false;
    double floor = fmax(brought_out * mean, noise_floor * sd * sqrt(2 * (double)p) / r->n);
    if (status == DP_OK && sd > 0)
        status = dpi_matrix_power(p, turn, -0.5, fmax(floor, 1e-300), turn, err);
    else if (status == DP_OK)
        status = dpi_matrix_root(p, turn, 1e-7 * mean, turn, err);
    if (status != DP_OK)
        return status;
    dpi_matrix_congruence(p, turn, known, known + p * p, known);
    for (size_t e = 0; e < p; e++)
        trace += known[e * p + e];
    if (r->budget->noisy && trace > 0)
        h->most = r->norm * trace * r->metric.bulk / (double)p;
    return DP_OK;
}

/* What is known of all records' information; the metric is turned towards it. */
static dp_status whiten(dpi_rounds *r, dpi_stage stage, bool last, heard *h, dp_error *err)
{
    double sd = 0;
    dpi_inquiry q = dpi_rounds_query(r, INFINITY);
    q.most = r->clip[stage] = h->most;
    dp_status status = dpi_inquiry_run(&q, DPI_INQUIRY_WHITENING, r->scan, r->z,
                                       r->budget->sigmas[stage], r->pattern, &sd, err);
    if (status != DP_OK)
        return status;
    r->signal = dpi_arrow_signal(r->view, r->pattern, sd);
    if (r->signal < 2)
        return r->opts->hopeless_allowed ? DP_OK : hopeless(r, err);
    double left = join(h, r->pattern, sd);
    dpi_expected as = {.sd = left, .members = sd, .least = sd > 0 ? brought_out : 0};
    if (sd > 0) {
        dpi_arrow_hear(&r->metric, r->pattern, 1, sd, &r->told);
        as.told = &r->told;
        as.factor = 1;
    }
    r->left = left / r->n;
    status = dpi_shared_mend(&r->known, &r->metric, r->n, r->pattern, err);
    if (last && status == DP_OK) {
        status = dpi_arrow_whole(&r->metric, r->pattern, &as, r->information, err);
        dpi_follow_from_here(r);
    }
    if (status == DP_OK)
        status = find_turn(r, left, h, err);
    if (status == DP_OK)
        status = dpi_metric_turn(&r->metric, h->turn, err);
    if (status == DP_OK)
        turn_heard(h);
    return status;
}

dp_status dpi_whiten_all(dpi_rounds *r, dpi_stage stage, dp_error *err)
{
    uint64_t n = r->budget->releases[stage];
    heard h;
    dp_status status = heard_init(&h, r->view->p, err);
    memset(r->told.precision, 0, r->view->objective.n_theta * sizeof *r->told.precision);
    if (status == DP_OK)
        status = dpi_follow(r, true, err);
    if (status == DP_OK)
        status = choose_norm(r, stage, &h.most, err);
    for (uint64_t k = 0; k < n && status == DP_OK; k++)
        status = whiten(r, stage, k + 1 == n, &h, err);
    dpi_free(h.estimate);
    return status;
}
