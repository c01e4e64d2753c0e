/* How far draws of Markov chains can be trusted (Vehtari, Gelman, Simpson, Carpenter and Buerkner
 * 2021, Bayesian Analysis 16, 667).
 *
 * A chain is split in two, which shows a drift, and the middle draw of an odd number is left out.
 * A coordinate's draws, all chains together, are replaced by normal scores of their ranks,
 * z = Phi^-1((r - 3/8) / (S + 1/4)), equal ones by that of their mean rank: then heavy tails do not
 * hide what differs.  With m halves of k draws, W the mean of their variances and B / k the
 * variance of their means,
 *
 *   R-hat = sqrt(T / W),  T = (k - 1) / k W + B / k
 *   rho_t = 1 - (W - mean over halves of the autocovariance at lag t, of divisor k) / T
 *   ESS   = m k / tau,  tau = -1 + 2 (P_0 + P_1 + ...) + max(0, rho_2s),  P_t = rho_2t + rho_2t+1
 *
 * where pairs end before the first, P_s, that is not positive, and none counts for more than the
 * one before it (Geyer 1992, Statistical Science 7, 473); tau is at least 1 / log10(m k).  R-hat is
 * taken again for distances from the median, which shows scales that differ, and the worse value
 * counts. Values are sorted by their bits, eight at a time: the cost is O(S), and so it is for each
 * lag that is looked at. */
#include "infer/mixing.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { FEWEST = 4, DIGIT_BITS = 8, DIGIT = 1 << DIGIT_BITS };

/* A value, and where it is; its order as a whole number. */
typedef struct ranked {
    uint64_t key;
    size_t at;
} ranked;

typedef struct halves {
    size_t m, k;             /* halves, and draws of each */
    double *score;           /* [m][k] */
    double *value;           /* [m][k] */
    ranked *sorted, *beside; /* [m k] */
    double *of_rank;         /* [2 m k + 1]: scores of ranks 1/2, 1, ...; NAN: not made yet */
    double *mean;            /* [m]: of scores */
    double within, total;
} halves;

/* A whole number in the order of finite x, whose bits are those of sign and size; -0 is 0. */
static uint64_t key_of(double x)
{
    const uint64_t top = (uint64_t)1 << 63;
    uint64_t bits;
    x = x == 0 ? 0 : x;
    memcpy(&bits, &x, sizeof bits);
    return bits & top ? ~bits : bits | top;
}

/* By the digit at `shift`, those with equal ones staying in order; false: all have the same. */
static bool sort_digit(size_t n, int shift, const ranked *from, ranked *to)
{
    size_t place[DIGIT + 1] = {0};
    for (size_t i = 0; i < n; i++)
        place[(from[i].key >> shift) % DIGIT + 1]++;
    if (place[(from[0].key >> shift) % DIGIT + 1] == n)
        return false;
    for (size_t b = 0; b < DIGIT; b++)
        place[b + 1] += place[b];
    for (size_t i = 0; i < n; i++)
        to[place[(from[i].key >> shift) % DIGIT]++] = from[i];
    return true;
}

static void sort(halves *h)
{
    size_t all = h->m * h->k;
    for (size_t i = 0; i < all; i++)
        h->sorted[i] = (ranked){key_of(h->value[i]), i};
    for (int shift = 0; shift < 64; shift += DIGIT_BITS)
        if (sort_digit(all, shift, h->sorted, h->beside)) {
            ranked *kept = h->sorted;
            h->sorted = h->beside;
            h->beside = kept;
        }
}

static double median_of(const halves *h)
{
    size_t all = h->m * h->k;
    return 0.5 * (h->value[h->sorted[(all - 1) / 2].at] + h->value[h->sorted[all / 2].at]);
}

/* Replaces values by their distances from the median, which grow to both sides, and sorts these. */
static void fold(halves *h)
{
    size_t all = h->m * h->k, down = 0, up;
    double median = median_of(h);
    while (down < all && h->value[h->sorted[down].at] < median)
        down++;
    up = down;
    for (size_t i = 0; i < all; i++)
        h->value[i] = fabs(h->value[i] - median);
    for (size_t i = 0; i < all; i++) {
        bool rises = down == 0 ||
                     (up < all && h->value[h->sorted[up].at] < h->value[h->sorted[down - 1].at]);
        h->beside[i] = rises ? h->sorted[up++] : h->sorted[--down];
    }
    ranked *kept = h->sorted;
    h->sorted = h->beside;
    h->beside = kept;
}

/* Scores of sorted values. */
static void score(halves *h)
{
    size_t all = h->m * h->k;
    for (size_t i = 0, end; i < all; i = end) {
        double value = h->value[h->sorted[i].at];
        for (end = i + 1; end < all && h->value[h->sorted[end].at] == value; end++)
            continue;
        double *z = &h->of_rank[i + 1 + end], rank = 0.5 * (double)(i + 1 + end);
        if (isnan(*z)) /* the mean of i + 1 .. end */
            *z = gsl_cdf_ugaussian_Pinv((rank - 0.375) / ((double)all + 0.25));
        for (size_t j = i; j < end; j++)
            h->score[h->sorted[j].at] = *z;
    }
}

/* The mean over halves of sum_t (z_t - mean)(z_(t + lag) - mean) / k. */
static double autocovariance(const halves *h, size_t lag)
{
    double sum = 0;
    for (size_t c = 0; c < h->m; c++) {
        const double *z = h->score + c * h->k;
        for (size_t t = lag; t < h->k; t++)
            sum += (z[t] - h->mean[c]) * (z[t - lag] - h->mean[c]);
    }
    return sum / (double)(h->m * h->k);
}

/* Means of halves, W and the total variance; gives R-hat. */
static double compare(halves *h)
{
    const double k = (double)h->k, m = (double)h->m;
    double grand = 0, between = 0;
    for (size_t c = 0; c < h->m; c++) {
        h->mean[c] = 0;
        for (size_t t = 0; t < h->k; t++)
            h->mean[c] += h->score[c * h->k + t] / k;
        grand += h->mean[c] / m;
    }
    for (size_t c = 0; c < h->m; c++)
        between += (h->mean[c] - grand) * (h->mean[c] - grand) / (m - 1);
    h->within = autocovariance(h, 0) * k / (k - 1);
    h->total = (k - 1) / k * h->within + between;
    return h->within > 0 ? sqrt(h->total / h->within) : (double)INFINITY;
}

static double correlation(const halves *h, size_t lag)
{
    return 1 - (h->within - autocovariance(h, lag)) / h->total;
}

static double effective(const halves *h)
{
    const double all = (double)(h->m * h->k);
    double tau = -1, last = INFINITY;
    if (!(h->within > 0))
        return 0;
    for (size_t t = 0; t + 1 < h->k; t += 2) {
        double even = t == 0 ? 1 : correlation(h, t), pair = even + correlation(h, t + 1);
        if (!(pair > 0)) {
            tau += fmax(even, 0);
            break;
        }
        last = fmin(last, pair);
        tau += 2 * last;
    }
    return all / fmax(tau, 1 / log10(all));
}

static void gather(size_t chains, size_t count, size_t n, const double *draws, halves *h)
{
    for (size_t c = 0; c < 2 * chains; c++) {
        size_t first = (c / 2) * count + (c % 2) * (count - h->k);
        for (size_t t = 0; t < h->k; t++)
            h->value[c * h->k + t] = draws[(first + t) * n];
    }
}

static void judge(halves *h, dpi_mixing *mixing)
{
    sort(h);
    score(h);
    mixing->r_hat = fmax(mixing->r_hat, compare(h));
    mixing->ess = fmin(mixing->ess, effective(h));
    fold(h);
    score(h);
    mixing->r_hat = fmax(mixing->r_hat, compare(h));
}

static bool make_room(halves *h, dpi_arena *arena)
{
    size_t all = h->m * h->k; /* at most the number of draws that are there */
    h->score = dpi_arena_alloc(arena, all, sizeof *h->score);
    h->value = dpi_arena_alloc(arena, all, sizeof *h->value);
    h->sorted = dpi_arena_alloc(arena, all, sizeof *h->sorted);
    h->beside = dpi_arena_alloc(arena, all, sizeof *h->beside);
    h->mean = dpi_arena_alloc(arena, h->m, sizeof *h->mean);
    h->of_rank = dpi_arena_alloc(arena, 2 * all + 1, sizeof *h->of_rank);
    for (size_t i = 0; h->of_rank != NULL && i <= 2 * all; i++)
        h->of_rank[i] = NAN;
    return h->score != NULL && h->value != NULL && h->sorted != NULL && h->beside != NULL &&
           h->mean != NULL && h->of_rank != NULL;
}

dp_status dpi_mixing_of(size_t chains, size_t count, size_t n, const double *draws,
                        dpi_mixing *mixing, dp_error *err)
{
    dpi_arena arena = {0};
    halves h = {.m = 2 * chains, .k = count / 2};
    *mixing = (dpi_mixing){.r_hat = INFINITY, .ess = 0};
    if (count < FEWEST)
        return DP_OK;
    bool made = make_room(&h, &arena);
    if (made)
        *mixing = (dpi_mixing){.r_hat = 0, .ess = INFINITY};
    for (size_t i = 0; made && i < n; i++) {
        gather(chains, count, n, draws + i, &h);
        judge(&h, mixing);
    }
    dpi_arena_free(&arena);
    return made ? DP_OK : dpi_fail_nomem(err);
}
