/* One record's part of each release. */
#include "infer/inquiries.h"

#include <float.h>
#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "dist/veil.h"
#include "infer/psi.h"
#include "num/linalg.h"

/* ---- the thread's room ---- */

/* Where a record's things lie in it. */
typedef struct places {
    dpi_law *law;
    double *rows;  /* [k][local] */
    double *local; /* an upper triangle of order local, or [local] */
} places;

static size_t law_room(void)
{
    return (sizeof(dpi_law) + sizeof(double) - 1) / sizeof(double);
}

static places places_of(const dpi_model_view *r, double *room)
{
    double *rows = room + law_room();
    return (places){(dpi_law *)room, rows, rows + r->k * r->local};
}

size_t dpi_inquiry_room(const dpi_model_view *r)
{
    return law_room() + r->k * r->local + r->local * r->local;
}

size_t dpi_pattern_size(const dpi_model_view *r)
{
    size_t n = r->p * (r->p + 1) / 2;
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        n += d->members * (r->p * d->size + d->size * (d->size + 1) / 2);
    return n;
}

size_t dpi_inquiry_size(const dpi_model_view *r, dpi_inquiry_kind kind)
{
    const size_t of_count = dpi_view_has_levels(r) ? DPI_TOLD_LENGTHS : 1;
    const size_t size[DPI_N_INQUIRIES] = {[DPI_INQUIRY_SCALES] = (r->p + 1) * DPI_SCALES,
                                          [DPI_INQUIRY_NORMS] = DPI_SCALES,
                                          [DPI_INQUIRY_WHITENING] = dpi_pattern_size(r),
                                          [DPI_INQUIRY_SCORE] = r->n_release,
                                          [DPI_INQUIRY_COUNT] = of_count,
                                          [DPI_INQUIRY_CURVATURE] = 2 * dpi_pattern_size(r)};
    return size[kind];
}

/* ---- scales ---- */

/* A fifth of the squared norm is for the number of records, the rest for the coordinates. */
static const double count_part = 0.2;

double dpi_inquiry_number_sd(double sigma)
{
    return sigma / sqrt(count_part);
}

static size_t scale_bin(double x)
{
    int exponent = ilogb(x) - DPI_LEAST_SCALE;
    return exponent < 0 ? 0 : exponent >= DPI_SCALES ? DPI_SCALES - 1 : (size_t)exponent;
}

static void add_scales(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    const dpi_model_view *r = q->view;
    double fisher[DPI_READ_MOST * DPI_READ_MOST], each = sqrt((1 - count_part) / (double)r->p);
    places at = places_of(r, room);
    if (!(dpi_veil_of(r->seen->family, record->y, record->arg).times > 0))
        return; /* it has no outcome */
    sum[0] += dpi_scan_grid(q->steps, q->share * sqrt(count_part));
    if (!dpi_law_of(r, record, at.law))
        return;
    dpi_law_fisher(at.law, fisher);
    for (size_t c = 0; c < r->p; c++) {
        double information = 0;
        for (size_t j = 0; j < r->k; j++)
            for (size_t l = 0; l < r->k; l++)
                information += fisher[j * r->k + l] * record->dense[j * r->p + c] *
                               record->dense[l * r->p + c];
        if (!(information > 0) || !isfinite(information))
            continue;
        sum[(c + 1) * DPI_SCALES + scale_bin(sqrt(information))] +=
            dpi_scan_grid(q->steps, q->share * each);
    }
}

/* ---- matrices ---- */

/* rows[k][n] = B X for X[k][n] and the symmetric part of B. */
DPI_LOOPS static void weigh(size_t k, size_t n, const double *x, const double *b,
                            double *restrict rows)
{
    for (size_t j = 0; j < k; j++) {
        for (size_t e = 0; e < n; e++)
            rows[j * n + e] = 0;
        for (size_t l = 0; l < k; l++) {
            double weight = 0.5 * (b[j * k + l] + b[l * k + j]);
            for (size_t e = 0; e < n && weight != 0; e++)
                rows[j * n + e] += weight * x[l * n + e];
        }
    }
}

/* Where row e of an upper triangle of order n begins, whose rows lie one behind the other, e's from
 * its diagonal on. */
static size_t row_at(size_t n, size_t e)
{
    return e * n - e * (e - 1) / 2;
}

/* The upper triangle of X' Y, off the diagonal times sqrt 2: as a vector it has the Frobenius norm
 * of the symmetric matrix. */
DPI_LOOPS static void multiply(size_t k, size_t n, const double *x, const double *y,
                               double *restrict upper)
{
    double *row = upper;
    for (size_t e = 0; e < n; row += n - e, e++) {
        const double *z = y + e;
        const double weight = M_SQRT2 * x[e];
        double diagonal = x[e] * z[0];
        for (size_t f = 0; f < n - e; f++)
            row[f] = weight * z[f];
        for (size_t j = 1; j < k; j++) {
            const double more = M_SQRT2 * x[j * n + e], *other = y + j * n + e;
            diagonal += x[j * n + e] * other[0];
            for (size_t f = 0; f < n - e; f++)
                row[f] += more * other[f];
        }
        row[0] = diagonal;
    }
}

/* A member has few records to tell how much it tells, and that is all that the answer needs to know
 * of it; what joins it to the dense latents is much like the average member's. */
const double dpi_joint_weight = 0.5, dpi_own_weight = 3;

/* Multiplies what is of members by its weight, in an upper triangle of order local. */
static void weigh_members(const dpi_model_view *r, double *upper)
{
    size_t n = r->local;
    for (size_t e = 0; e < n && n > r->p; e++) {
        double *row = upper + row_at(n, e);
        for (size_t f = e < r->p ? r->p : e; f < n; f++)
            row[f - e] *= e < r->p ? dpi_joint_weight : dpi_own_weight;
    }
}

/* The upper triangle of X' B X, X being the record's slopes in the metric, as a pattern has it. */
static void sandwich(const dpi_model_view *r, const dpi_record *record, const double *inner,
                     const places *at)
{
    weigh(r->k, r->local, record->white, inner, at->rows);
    multiply(r->k, r->local, record->white, at->rows, at->local);
    weigh_members(r, at->local);
}

enum { LANES = 8 };

/* Sum of squares, LANES sums side by side. */
DPI_LOOPS static double squares(size_t n, const double *x)
{
    double lane[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += x[i + l] * x[i + l];
    for (; i < n; i++)
        sum += x[i] * x[i];
    return sum + ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* Frobenius norm of a symmetric matrix of order n, from its upper triangle. */
static double norm_of(size_t n, const double *upper)
{
    return sqrt(squares(n * (n + 1) / 2, upper));
}

/* Below it squares of what is clipped vanish, and at 0 and below nothing is clipped. */
static const double least_norm = 1e-100;

/* Adds a record's pattern, scaled so that its norm is at most `share`; weight is the pattern's part
 * of the whole release. */
static void add_pattern(const dpi_inquiry *q, const dpi_record *record, double weight,
                        const double *local, int64_t *sum)
{
    const dpi_model_view *r = q->view;
    size_t n = r->local, plate = 0;
    double norm = norm_of(n, local) / q->most;
    if (!(norm <= DBL_MAX) || !(q->most >= least_norm))
        return;
    double factor = weight * q->share / q->most / fmax(norm, 1);
    for (size_t e = 0, left = n > r->p ? r->p : 1; e < left; e++) {
        const size_t some = n > r->p ? r->p - e : r->p * (r->p + 1) / 2; /* a row, or all */
        dpi_scan_add_grid(q->steps, some, factor, local + row_at(n, e), sum);
        sum += some;
    }
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++) {
        size_t each = r->p * d->size + d->size * (d->size + 1) / 2;
        if (d->members == 0)
            continue;
        int64_t *to = sum + record->member[plate++] * each;
        for (size_t i = 0; i < r->p; i++, to += d->size)
            dpi_scan_add_grid(q->steps, d->size, factor, local + row_at(n, i) + d->local - i, to);
        for (size_t i = 0; i < d->size; to += d->size - i, i++)
            dpi_scan_add_grid(q->steps, d->size - i, factor, local + row_at(n, d->local + i), to);
        sum += d->members * each;
    }
}

/* A' F A of a record; false where its outcome has no law. */
static bool information_of(const dpi_inquiry *q, const dpi_record *record, const places *at)
{
    const dpi_model_view *r = q->view;
    double fisher[DPI_READ_MOST * DPI_READ_MOST];
    if (!dpi_law_of(r, record, at->law))
        return false;
    dpi_law_fisher(at->law, fisher);
    sandwich(r, record, fisher, at);
    return true;
}

static void add_norm(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    size_t n = q->view->local;
    places at = places_of(q->view, room);
    double norm = information_of(q, record, &at) ? norm_of(n, at.local) : 0;
    if (norm > 0 && norm <= DBL_MAX)
        sum[scale_bin(norm)] += dpi_scan_grid(q->steps, q->share);
}

static void add_whitening(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    places at = places_of(q->view, room);
    if (information_of(q, record, &at))
        add_pattern(q, record, 1, at.local, sum);
}

/* Parts of the squared norm that slope and variance of the score have. */
static const double slope_part = 0.7;

static void add_curvature(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    const dpi_model_view *r = q->view;
    places at = places_of(r, room);
    double slope[DPI_READ_MOST * DPI_READ_MOST], variance[DPI_READ_MOST * DPI_READ_MOST];
    if (!dpi_law_of(r, record, at.law))
        return;
    dpi_psi_moments(at.law, record->gamma, q->clip, slope, variance);
    sandwich(r, record, slope, &at);
    add_pattern(q, record, sqrt(slope_part), at.local, sum);
    sandwich(r, record, variance, &at);
    add_pattern(q, record, sqrt(1 - slope_part), at.local, sum + dpi_pattern_size(r));
}

/* ---- scores ---- */

/* h[n] = factor psi' X */
DPI_LOOPS static void combine(size_t k, size_t n, double factor, const double *psi, const double *x,
                              double *restrict h)
{
    const double first = factor * psi[0], second = k > 1 ? factor * psi[1] : 0;
    const double *y = x + (k > 1 ? n : 0);
    for (size_t e = 0; e < n; e++)
        h[e] = first * x[e] + second * y[e];
    for (size_t j = 2; j < k; j++)
        for (size_t e = 0; e < n; e++)
            h[e] += factor * psi[j] * x[j * n + e];
}

static void add_score(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    const dpi_model_view *r = q->view;
    places at = places_of(r, room);
    double psi[DPI_READ_MOST], *h = at.local;
    if (!dpi_law_of(r, record, at.law))
        return;
    if (!dpi_psi(at.law, record->gamma, q->clip, psi))
        return;
    combine(r->k, r->local, 1 / q->clip, psi, record->white, h);
    double norm = sqrt(squares(r->local, h));
    if (!(norm <= DBL_MAX))
        return;
    double factor = norm > q->share ? q->share / norm : 1;
    dpi_scan_add_grid(q->steps, r->p, factor, h, sum);
    size_t plate = 0;
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        if (d->members > 0) {
            int64_t *to = sum + d->first + record->member[plate++] * d->size;
            dpi_scan_add_grid(q->steps, d->size, factor, h + d->local, to);
        }
}

/* ---- the count ---- */

/* Of four numbers, none of which is more than 1, each has a quarter of the squared norm. */
static const double each_of_four = 0.5;

/* Most that a record tells of lengths, in units of dims. */
static const double most_told = 2;

static void add_lengths(const dpi_inquiry *q, const dpi_record *record, const dpi_law *law,
                        int64_t *sum)
{
    double dims = q->metric->dims;
    dpi_lengths found = dpi_psi_lengths(law, record->gamma, sqrt(dims), DPI_LONGEST);
    double t = fmin(found.square / (most_told * dims), 1), share = q->share * each_of_four * t;
    sum[DPI_TOLD_IN_ALL] += dpi_scan_grid(q->steps, share);
    sum[DPI_TOLD_FIRST] += dpi_scan_grid(q->steps, share * found.first / DPI_LONGEST);
    share /= (double)DPI_LONGEST * DPI_LONGEST;
    sum[DPI_TOLD_SECOND] += dpi_scan_grid(q->steps, share * found.second);
}

static void add_count(const void *of, const dpi_record *record, double *room, int64_t *sum)
{
    const dpi_inquiry *q = of;
    const dpi_model_view *r = q->view;
    places at = places_of(r, room);
    bool levels = dpi_view_has_levels(r);
    if (!dpi_law_of(r, record, at.law))
        return;
    double more = dpi_psi_excess(at.law, record->gamma, q->beyond);
    if (more >= -1 && more <= 1)
        sum[0] += dpi_scan_grid(q->steps, q->share * (levels ? each_of_four : 1) * more);
    if (levels)
        add_lengths(q, record, at.law, sum);
}

/* ---- running ---- */

static dpi_scan_add *const add_of[DPI_N_INQUIRIES] = {
    [DPI_INQUIRY_SCALES] = add_scales,       [DPI_INQUIRY_NORMS] = add_norm,
    [DPI_INQUIRY_WHITENING] = add_whitening, [DPI_INQUIRY_SCORE] = add_score,
    [DPI_INQUIRY_COUNT] = add_count,         [DPI_INQUIRY_CURVATURE] = add_curvature};

static void scale_by(size_t n, double factor, double *out)
{
    for (size_t e = 0; e < n; e++)
        out[e] *= factor;
}

/* Takes the weights of members out of a pattern. */
static void unweigh_members(const dpi_model_view *r, double *pattern)
{
    pattern += r->p * (r->p + 1) / 2;
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++)
        for (size_t k = 0; k < d->members; k++) {
            size_t joint = r->p * d->size, own = d->size * (d->size + 1) / 2;
            scale_by(joint, 1 / dpi_joint_weight, pattern);
            scale_by(own, 1 / dpi_own_weight, pattern + joint);
            pattern += joint + own;
        }
}

/* From the parts of norm 1 to the unit of what is summed. */
static void into_units(const dpi_inquiry *q, dpi_inquiry_kind kind, double noise, double *out,
                       double *sd)
{
    const dpi_model_view *r = q->view;
    size_t n = dpi_inquiry_size(r, kind), half = n;
    double unit[2] = {1 / q->share, 1};
    if (kind == DPI_INQUIRY_SCALES) {
        half = DPI_SCALES;
        unit[1] = unit[0] / sqrt((1 - count_part) / (double)r->p);
        unit[0] /= sqrt(count_part);
    } else if (kind == DPI_INQUIRY_COUNT && n > 1) {
        unit[0] /= each_of_four;
    } else if (kind == DPI_INQUIRY_WHITENING) {
        unit[0] *= q->most;
    } else if (kind == DPI_INQUIRY_SCORE) {
        unit[0] = q->clip;
    } else if (kind == DPI_INQUIRY_CURVATURE) {
        half = n / 2;
        unit[0] *= q->most;
        unit[1] = unit[0] / sqrt(1 - slope_part);
        unit[0] /= sqrt(slope_part);
    }
    scale_by(half, unit[0], out);
    scale_by(n - half, unit[1], out + half);
    if (kind == DPI_INQUIRY_WHITENING || kind == DPI_INQUIRY_CURVATURE)
        unweigh_members(r, out);
    if (kind == DPI_INQUIRY_CURVATURE)
        unweigh_members(r, out + half);
    if (sd == NULL)
        return;
    sd[0] = noise * unit[0];
    if (half < n)
        sd[1] = noise * unit[1];
}

static void hash_reals(crypto_generichash_state *h, size_t n, const double *x)
{
    (void)crypto_generichash_update(h, (const unsigned char *)x, n * sizeof *x);
}

/* Hashes what a release of a model follows from, but the records, and which it is of a fit: no two
 * of one fit are the same question, whatever they ask. */
static void hash_question(const dpi_inquiry *q, dpi_inquiry_kind kind, const dpi_pass *pass,
                          uint64_t asked, const double *theta, unsigned char hash[DPI_JOURNAL_HASH])
{
    const dpi_model_view *r = q->view;
    const double numbers[] = {(double)kind, (double)pass->n, pass->sigma, q->clip,
                              q->most,      q->beyond,       q->share,    (double)asked};
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, DPI_JOURNAL_HASH);
    hash_reals(&h, sizeof numbers / sizeof *numbers, numbers);
    hash_reals(&h, r->objective.n_theta, theta);
    if (q->metric != NULL) {
        const double scales[] = {q->metric->dims, q->metric->bulk};
        hash_reals(&h, 2, scales);
        hash_reals(&h, r->p * r->p, q->metric->dense);
        hash_reals(&h, q->metric->n_own, q->metric->own);
    }
    (void)crypto_generichash_final(&h, hash, DPI_JOURNAL_HASH);
}

dp_status dpi_inquiry_run(const dpi_inquiry *query, dpi_inquiry_kind kind, dpi_scan *scan,
                          const double *theta, double sigma, double *out, double *sd, dp_error *err)
{
    dpi_inquiry q = *query;
    dpi_pass pass = {.add = add_of[kind],
                     .of = &q,
                     .metric = kind == DPI_INQUIRY_SCALES ? NULL : q.metric,
                     .n = dpi_inquiry_size(q.view, kind),
                     .room = dpi_inquiry_room(q.view),
                     .sigma = sigma,
                     .shares = scan->owners != NULL ? scan->owners->size : 0};
    q.share = dpi_scan_share(&pass);
    q.steps = dpi_scan_steps(&pass);
    if (scan->keeper != NULL || scan->owners != NULL)
        hash_question(&q, kind, &pass, scan->asked, theta, pass.question);
    scan->asked++;
    dp_status status = dpi_scan_run(scan, theta, &pass, out, err);
    if (status == DP_OK)
        into_units(&q, kind, sigma, out, sd);
    return status;
}
