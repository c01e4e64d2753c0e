/* All small data sets, every way to sample them, one release: none leaks more than the upper pair
 * says, and some leak as much as the lower one says.
 *
 * Records are -1, 0 or 1 and the release is their sampled sum plus noise.  P and Q are mixtures
 * over all samples; delta = int (p - e^eps q)_+ by the trapezoidal rule. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "tests/accountant/naive.h"
#include "tests/lib/check.h"

enum { MOST = 5, SUMS = 2 * MOST + 1, PER_SIGMA = 150, POINTS = 8000 };

/* Probability of each sum, from -MOST to MOST. */
typedef struct law {
    double p[SUMS];
} law;

static int size_of(unsigned set)
{
    int n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static double choose(int n, int k)
{
    double c = 1;
    for (int i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

/* Probability that the records of `kept` are released, of n. */
static double chance(const dp_mechanism *m, unsigned kept, int n)
{
    double q = m->rate, sum = 0;
    int size = size_of(kept);
    if (m->sampling == DP_SAMPLING_FIXED)
        return size == (int)lround(q * n) ? 1 / choose(n, size) : 0;
    for (unsigned drawn = 0; drawn < 1u << n; drawn++) {
        int all = size_of(drawn);
        bool cut = m->sampling == DP_SAMPLING_TRUNCATED && all > (int)m->cap;
        double p = pow(q, all) * pow(1 - q, n - all);
        if (!cut && drawn == kept)
            sum += p;
        else if (cut && (drawn & kept) == kept && size == (int)m->cap)
            sum += p / choose(all, size);
    }
    return sum;
}

static law law_of(const dp_mechanism *m, const int *record, int n)
{
    law l = {{0}};
    for (unsigned kept = 0; kept < 1u << n; kept++) {
        int sum = MOST;
        for (int i = 0; i < n; i++)
            sum += kept >> i & 1 ? record[i] : 0;
        l.p[sum] += chance(m, kept, n);
    }
    return l;
}

static double density[SUMS][POINTS]; /* of N(sum, sigma^2), times the step */
static int n_points;

static void tabulate(double sigma)
{
    double h = sigma / PER_SIGMA;
    n_points = (int)fmin(POINTS, (2 * MOST + 18 * sigma) / h);
    for (int s = 0; s < SUMS; s++)
        for (int i = 0; i < n_points; i++) {
            double z = (h * (i - n_points / 2) - (s - MOST)) / sigma;
            density[s][i] = h / sigma * 0.3989422804014327 * exp(-z * z / 2);
        }
}

static double delta_between(const law *p, const law *q, double epsilon)
{
    double sum = 0;
    for (int i = 0; i < n_points; i++) {
        double d = 0;
        for (int s = 0; s < SUMS; s++)
            d += (p->p[s] - exp(epsilon) * q->p[s]) * density[s][i];
        sum += fmax(d, 0);
    }
    return sum;
}

static const double epsilons[] = {0, 0.2, 0.9, 2.1, -0.5};
enum { N_EPSILONS = 5 };

/* Largest delta at each epsilon that any data set has shown. */
typedef struct worst {
    double remove[N_EPSILONS], add[N_EPSILONS];
} worst;

static void compare(const law *with, const law *without, worst *w)
{
    for (int e = 0; e < N_EPSILONS; e++) {
        w->remove[e] = fmax(w->remove[e], delta_between(with, without, epsilons[e]));
        w->add[e] = fmax(w->add[e], delta_between(without, with, epsilons[e]));
    }
}

/* All choices of `others` records beside the one that is added, or replaced by any other. */
static void try_all(const dp_mechanism *m, int others, bool replaced, worst *w)
{
    int choices = 1;
    for (int i = 0; i < others; i++)
        choices *= 3;
    for (int c = 0; c < choices; c++) {
        int record[MOST], rest = c;
        bool sorted = true;
        for (int i = 0; i < others; i++, rest /= 3) {
            record[i] = rest % 3 - 1;
            sorted &= i == 0 || record[i] >= record[i - 1];
        }
        if (!sorted) /* the order of records does not matter */
            continue;
        law without = law_of(m, record, others), with[3];
        for (int i = 0; i < 3; i++) {
            record[others] = i - 1;
            with[i] = law_of(m, record, others + 1);
            if (!replaced)
                compare(&with[i], &without, w);
            for (int j = 0; j < i && replaced; j++)
                compare(&with[i], &with[j], w);
        }
    }
}

static void check_side(const dp_mechanism *m, dpi_direction direction, const double *found)
{
    for (int e = 0; e < N_EPSILONS; e++) {
        double low = (double)naive_delta(m, direction, DPI_LOWER, epsilons[e]);
        double high = (double)naive_delta(m, direction, DPI_UPPER, epsilons[e]);
        if (!(found[e] <= high * (1 + 1e-4) + 1e-7 && found[e] >= low * (1 - 1e-4) - 1e-7))
            fail_msg("delta(%g) %s is %.9g, outside [%.9g, %.9g]", epsilons[e],
                     direction == DPI_ADD ? "add" : "remove", found[e], low, high);
    }
}

static void no_small_data_set_leaves_the_interval(void **state)
{
    (void)state;
    const struct {
        dp_mechanism m;
        int others;
    } cases[] = {
        {{.sampling = DP_SAMPLING_POISSON, .sigma = 0.8, .rate = 0.3}, 3},
        {{.sampling = DP_SAMPLING_POISSON, .sigma = 1.3, .rate = 0.6, .adjacency = DP_REPLACE_ONE},
         3},
        {{.sampling = DP_SAMPLING_FIXED, .sigma = 0.9, .rate = 0.5}, 3},
        {{.sampling = DP_SAMPLING_FIXED, .sigma = 1.7, .rate = 0.25}, 3},
        {{.sampling = DP_SAMPLING_FIXED, .sigma = 0.6, .rate = 0.6}, 4},
        {{.sampling = DP_SAMPLING_TRUNCATED, .sigma = 0.8, .rate = 0.4, .records = 4, .cap = 2}, 4},
        {{.sampling = DP_SAMPLING_TRUNCATED, .sigma = 0.8, .rate = 0.4, .records = 4, .cap = 2}, 3},
        {{.sampling = DP_SAMPLING_TRUNCATED, .sigma = 0.5, .rate = 0.2, .records = 4, .cap = 1}, 4},
        {{.sampling = DP_SAMPLING_TRUNCATED, .sigma = 2, .rate = 0.9, .records = 4, .cap = 3}, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const dp_mechanism *m = &cases[i].m;
        bool replaced = m->adjacency == DP_REPLACE_ONE || m->sampling == DP_SAMPLING_FIXED;
        worst w;
        memset(&w, 0, sizeof w);
        tabulate(m->sigma);
        try_all(m, cases[i].others, replaced, &w);
        check_side(m, DPI_REMOVE, w.remove);
        check_side(m, DPI_ADD, w.add);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_small_data_set_leaves_the_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
