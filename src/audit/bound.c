/* Lower bounds on epsilon from what an attacker got right.
 *
 * Two worlds.  Under (epsilon, delta), for any event E, P1(E) <= e^epsilon P0(E) + delta and the
 * same with the worlds exchanged.  With P1(E) >= a and P0(E) <= b, each but with probability alpha
 * / 2,
 *     epsilon >= log((a - delta) / b)      but with probability alpha.
 * Events are "score above t" and "score at most t"; world, side and t are chosen by one half of the
 * runs and judged by the other, so that choosing costs no confidence.  Under mu-Gaussian DP
 *     mu >= Phi^-1(TPR) - Phi^-1(FPR)
 * for every test (Dong, Roth, Su 2022), which is bounded in the same way.
 *
 * One run (Steinke, Nasr, Jagielski 2023, theorem 5.2).  With r guesses among m canaries and W
 * binomial(r, e^epsilon / (1 + e^epsilon)), the number V of right guesses has
 *     P(V >= v) <= P(W >= v) + 2 m delta max over i = 1 ... m of P(v - i <= W < v) / i.
 * The right side rises with epsilon, so the bound is where it meets alpha.
 *
 * Binomial tails are rounded outward (accountant/pairs/binomial.h), bisections end on the safe
 * side.  What is left is log, with a unit in the last place. */
#include "audit/bound.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "accountant/pairs/binomial.h"

enum { HALVINGS = 60 };
static const double most_epsilon = 200;

/* Bounds are taken this much wider when a test is chosen, so that few lucky events do not
 * decide. */
static const double caution = 1.3;

double dpi_rate_upper(size_t k, size_t n, double alpha)
{
    double low = (double)k / (double)n, high = 1;
    if (k == n)
        return 1;
    for (int i = 0; i < HALVINGS; i++) { /* P(Bin(n, high) <= k) <= alpha */
        double p = (low + high) / 2;
        if (p < 1 && 1 - dpi_binomial_tail(n, p, k + 1, DPI_LOWER) > alpha)
            low = p;
        else
            high = p;
    }
    return high;
}

double dpi_rate_lower(size_t k, size_t n, double alpha)
{
    double low = 0, high = (double)k / (double)n;
    if (k == 0)
        return 0;
    for (int i = 0; i < HALVINGS; i++) { /* P(Bin(n, low) >= k) <= alpha */
        double p = (low + high) / 2;
        if (p > 0 && dpi_binomial_tail(n, p, k, DPI_UPPER) <= alpha)
            low = p;
        else
            high = p;
    }
    return low;
}

/* ---- two worlds ---- */

/* A test: "score above t" or, from below, "at most t". */
typedef struct test {
    double t;
    bool below;
    double value; /* of the bound at which it was the best */
} test;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t dpi_at_most(size_t n, const double *sorted, double t)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Wilson's bound on a rate: near that of Clopper and Pearson and cheap, for choosing. */
static double wilson(double k, double n, double z)
{
    double rate = k / n, more = z * z / n;
    return (rate + more / 2 + (z < 0 ? -1 : 1) * sqrt(more * (rate * (1 - rate) + more / 4))) /
           (1 + more);
}

static double epsilon_of(double often, double rarely, double delta)
{
    return often > delta && rarely > 0 ? log((often - delta) / rarely) : -INFINITY;
}

static double mu_of(double often, double rarely)
{
    if (!(often > 0 && often < 1 && rarely > 0 && rarely < 1))
        return -INFINITY;
    return gsl_cdf_ugaussian_Pinv(often) - gsl_cdf_ugaussian_Pinv(rarely);
}

typedef struct chosen {
    test epsilon, mu;
} chosen;

static void improve(test *best, double t, bool below, double value)
{
    if (value > best->value)
        *best = (test){t, below, value};
}

/* Ranks that are tried: all up to 16, then ever fewer.  With many more, the best one is the
 * luckiest. */
static size_t next_rank(size_t rank)
{
    return rank + 1 + rank / 16;
}

/* The best tests by n runs of each world. */
static chosen choose(size_t n, double *const scores[2], double delta, double alpha)
{
    chosen best = {.epsilon = {.value = -INFINITY}, .mu = {.value = -INFINITY}};
    double z = caution * gsl_cdf_ugaussian_Qinv(alpha / 2), size = (double)n;
    for (int end = 0; end < 4; end++) /* of both worlds' scores */
        for (size_t rank = 0; rank < n; rank = next_rank(rank)) {
            double t = scores[end / 2][end % 2 == 0 ? rank : n - 1 - rank];
            double k0 = (double)dpi_at_most(n, scores[0], t),
                   k1 = (double)dpi_at_most(n, scores[1], t);
            double above1 = wilson(size - k1, size, -z), above0 = wilson(size - k0, size, z);
            double below0 = wilson(k0, size, -z), below1 = wilson(k1, size, z);
            improve(&best.epsilon, t, false, epsilon_of(above1, above0, delta));
            improve(&best.epsilon, t, true, epsilon_of(below0, below1, delta));
            improve(&best.mu, t, false, mu_of(above1, above0));
        }
    return best;
}

/* Counts of a test's event where it is frequent and where it is rare. */
static void count(const test *with, size_t n, double *const scores[2], size_t *often,
                  size_t *rarely)
{
    size_t k0 = dpi_at_most(n, scores[0], with->t), k1 = dpi_at_most(n, scores[1], with->t);
    *often = with->below ? k0 : n - k1;
    *rarely = with->below ? k1 : n - k0;
}

void dpi_separate(size_t n, double *const scores[2], double delta, double alpha,
                  dpi_separation *found)
{
    size_t half = n / 2, rest = n - half, often, rarely;
    double *const judges[2] = {scores[0] + half, scores[1] + half};
    for (int world = 0; world < 2; world++) {
        qsort(scores[world], half, sizeof *scores[world], compare);
        qsort(judges[world], rest, sizeof *judges[world], compare);
    }
    chosen best = choose(half, scores, delta, alpha);
    count(&best.epsilon, rest, judges, &often, &rarely);
    double epsilon = epsilon_of(dpi_rate_lower(often, rest, alpha / 2),
                                dpi_rate_upper(rarely, rest, alpha / 2), delta);
    *found = (dpi_separation){.epsilon = fmax(epsilon, 0), .events = rarely};
    count(&best.mu, rest, judges, &often, &rarely);
    found->mu = fmax(
        mu_of(dpi_rate_lower(often, rest, alpha / 2), dpi_rate_upper(rarely, rest, alpha / 2)), 0);
    found->false_positives = (double)rarely / (double)rest;
    found->false_negatives = 1 - (double)often / (double)rest;
}

/* ---- one run ---- */

double dpi_one_run_p_value(size_t m, size_t guesses, size_t correct, double epsilon, double delta)
{
    double p = 1 / (1 + exp(-epsilon)), steepest = 0;
    if (correct == 0 || p >= 1)
        return 1;
    double least = dpi_binomial_tail(guesses, p, correct, DPI_LOWER);
    for (size_t i = 1; i <= correct && steepest * (double)i < 1; i++) {
        double between = dpi_binomial_tail(guesses, p, correct - i, DPI_UPPER) - least;
        steepest = fmax(steepest, between / (double)i);
    }
    return fmin(1, dpi_binomial_tail(guesses, p, correct, DPI_UPPER) +
                       2 * (double)m * delta * steepest);
}

double dpi_one_run_epsilon(size_t m, size_t guesses, size_t correct, double delta, double alpha)
{
    double low = 0, high = 1;
    if (guesses == 0 || dpi_one_run_p_value(m, guesses, correct, 0, delta) > alpha)
        return 0;
    while (high < most_epsilon && dpi_one_run_p_value(m, guesses, correct, high, delta) <= alpha)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > 1e-9; i++) {
        double epsilon = (low + high) / 2;
        if (dpi_one_run_p_value(m, guesses, correct, epsilon, delta) <= alpha)
            low = epsilon;
        else
            high = epsilon;
    }
    return low;
}
