/* A long look at the accountant: random mechanisms over the whole range, each against a neighbour
 * that is worse or better in one parameter; then arguments of any bits.  Run by `make check-long`;
 * the count of points is the first argument.
 *
 * An interval contains the exact value, which is monotone: so the worse one's upper end may not lie
 * below the better one's lower end; and the contour's figures keep the order themselves.  Where the
 * design's page promises an answer (promised, below), none is refused. */
#include <tacit/accountant.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t state = 20260101;

static uint64_t bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double uniform(void)
{
    return (double)(bits() >> 11) * 0x1p-53;
}

static double between(double low, double high)
{
    return low * pow(high / low, uniform());
}

static double any_double(void)
{
    uint64_t b = bits();
    double x;
    memcpy(&x, &b, sizeof x);
    return bits() % 4 == 0 ? between(1e-8, 10) : x;
}

static int failures, refused, far_out;
static double longest, longest_promised; /* seconds of processor time */

/* Beside this range a rare large loss and a tiny bulk may both matter (doc/design/accountant.md). */
static bool promised(const dp_mechanism *m)
{
    return m->sigma >= 0.1 && (m->rate >= 5e-5 || m->sigma >= 1.5);
}

static void complain(const char *what, const dp_mechanism *m, double delta, double a, double b)
{
    printf("# %s: sigma %.17g rate %.17g steps %llu delta %.17g: %.12g, %.12g\n", what, m->sigma,
           m->rate, (unsigned long long)m->steps, delta, a, b);
    failures++;
}

/* False when it is refused. */
static bool ask(const dp_mechanism *m, double delta, dp_interval *e)
{
    dp_error err = {0};
    clock_t start = clock();
    dp_status status = dp_account_epsilon(m, 1, delta, 0, e, &err);
    const double took = (double)(clock() - start) / CLOCKS_PER_SEC;
    longest = fmax(longest, took);
    if (promised(m))
        longest_promised = fmax(longest_promised, took);
    if (status == DP_OK && !(e->lower >= 0 && e->lower <= e->upper && e->upper < INFINITY))
        complain("no interval", m, delta, e->lower, e->upper);
    if (status != DP_OK && !(e->lower == 0 && e->upper == INFINITY && isnan(e->estimate)))
        complain("open after a refusal", m, delta, e->lower, e->upper);
    if (status != DP_OK && (status != DP_EACCURACY || err.text[0] == 0))
        complain("refused for another reason", m, delta, status, 0);
    if (status != DP_OK && promised(m))
        complain("refused where an answer is promised", m, delta, status, 0);
    return status == DP_OK;
}

/* b is at least as bad as a. */
static void compare(const dp_mechanism *m, double delta, const dp_interval *a, const dp_interval *b)
{
    if (!(b->upper >= a->lower))
        complain("order", m, delta, a->lower, b->upper);
    if (a->estimate == a->estimate && b->estimate == b->estimate &&
        !(b->estimate >= a->estimate * (1 - 1e-8) - 1e-12))
        complain("order of the contour", m, delta, a->estimate, b->estimate);
}

static void look_at_one(void)
{
    dp_mechanism m = {.sampling = DP_SAMPLING_POISSON,
                      .sigma = between(0.1, 1000),
                      .rate = between(1e-8, 1),
                      .steps = (uint64_t)between(1, 1e7)};
    double delta = between(1e-15, 0.1), by = 1 + uniform(), rough = NAN;
    dp_interval here, there;
    if (dp_contour_epsilon(&m, 1, delta, &rough, NULL) == DP_OK && !(rough > 1e-3 && rough < 100)) {
        far_out++; /* epsilon from 1e-3 to 100 is what is to be answered */
        return;
    }
    dp_mechanism worse = m;
    double its_delta = delta;
    switch (bits() % 4) {
    case 0:
        worse.sigma /= by;
        break;
    case 1:
        worse.rate = fmin(1, worse.rate * by);
        break;
    case 2:
        worse.steps = (uint64_t)((double)worse.steps * by) + 1;
        break;
    default:
        its_delta /= by;
    }
    bool known = ask(&m, delta, &here);
    refused += !known;
    if (known && ask(&worse, its_delta, &there))
        compare(&m, delta, &here, &there);
}

/* Whatever the bits, a status comes back, and the worst figures with a refusal. */
static void look_at_bits(void)
{
    dp_mechanism m = {
        .sampling = (dp_sampling)(bits() % 8), .sigma = any_double(), .rate = any_double()};
    m.steps = bits() % 3 == 0 ? bits() : bits() % 100;
    m.noise = (dp_noise_law)(bits() % 6);
    m.adjacency = (dp_adjacency)(bits() % 4);
    if (bits() % 8 == 0)
        m.rows = (uint32_t)(bits() % 100);
    if (bits() % 8 == 0)
        m.categories = (uint32_t)(bits() % 50);
    double given = any_double(), figure = 0;
    dp_interval e, d;
    dp_status status = dp_account_epsilon(&m, 1, given, 0.01, &e, NULL);
    if (status != DP_OK && !(e.lower == 0 && e.upper == INFINITY && isnan(e.estimate)))
        complain("bits: open after a refusal", &m, given, e.lower, e.upper);
    if (status == DP_OK && !(e.lower >= 0 && e.lower <= e.upper))
        complain("bits: no interval", &m, given, e.lower, e.upper);
    status = dp_account_delta(&m, 1, given, 0.01, &d, NULL);
    if (!(d.lower >= 0 && d.lower <= d.upper && d.upper <= 1))
        complain("bits: no probability", &m, given, d.lower, d.upper);
    if (dp_approximate_sigma(given, any_double(), m.rate, m.steps, m.sampling, &figure, NULL) !=
            DP_OK &&
        figure != INFINITY)
        complain("bits: sigma after a refusal", &m, given, figure, 0);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 10000;
    for (long i = 0; i < n; i++)
        look_at_one();
    printf("# %ld points, %d with epsilon outside [1e-3, 100], %d refused, longest %.1f s, "
           "%.1f s where an answer is promised\n",
           n, far_out, refused, longest, longest_promised);
    printf("%s 1 - epsilon is monotone\n", failures == 0 ? "ok" : "not ok");
    int before = failures;
    for (long i = 0; i < n; i++)
        look_at_bits();
    printf("%s 2 - any bits get an answer\n1..2\n", failures == before ? "ok" : "not ok");
    return failures != 0;
}
