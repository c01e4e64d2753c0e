/* Privacy losses of single releases by direct formulas.
 *
 * Where P/Q is monotone in x, delta(eps) = P(A) - e^eps Q(A) with A the half-line on which P/Q >
 * e^eps: its end by bisection, the masses by erfc. */
#include "tests/accountant/naive.h"

#include <math.h>

static long double upper_tail(long double z)
{
    return 0.5L * erfcl(z * sqrtl(0.5L));
}

static void put(naive_law *law, long double weight, long double mean)
{
    if (weight > 0) {
        law->weight[law->n] = weight;
        law->mean[law->n++] = mean;
    }
}

static long double choose(int n, int k)
{
    long double c = 1;
    for (int i = 1; i <= k; i++)
        c = c * (n - k + i) / i;
    return c;
}

/* What the sampled unit adds to the sum. */
static naive_law moved(const dp_mechanism *m, long double mean)
{
    naive_law law = {0};
    int k = m->rows > 1 ? (int)m->rows : 1;
    long double q = m->rate, sum = 0;
    for (size_t j = 0; j < m->n_jumps; j++)
        sum += m->chances[j];
    for (size_t j = 0; j < m->n_jumps; j++)
        put(&law, m->chances[j] / sum, m->jumps[j]);
    for (int j = 0; j <= k && m->n_jumps == 0; j++)
        put(&law, choose(k, j) * powl(q, j) * powl(1 - q, k - j), mean * j);
    return law;
}

naive_pair naive_normals(const dp_mechanism *m, dpi_direction direction)
{
    naive_pair pair = {.sigma = m->sigma};
    long double mean = m->sampling == DP_SAMPLING_FIXED ? 2 : 1;
    naive_law still = {0};
    put(&still, 1, 0);
    bool remove = direction == DPI_REMOVE;
    if (m->adjacency == DP_REPLACE_ONE && m->sampling != DP_SAMPLING_FIXED) {
        pair.p = moved(m, 1);
        pair.q = moved(m, -1);
    } else {
        pair.p = remove ? moved(m, mean) : still;
        pair.q = remove ? still : moved(m, mean);
    }
    return pair;
}

long double naive_log_density(const naive_law *law, long double sigma, long double x)
{
    long double top = -INFINITY, sum = 0, t[80];
    for (int i = 0; i < law->n; i++) {
        long double z = (x - law->mean[i]) / sigma;
        t[i] = logl(law->weight[i]) - z * z / 2;
        top = fmaxl(top, t[i]);
    }
    for (int i = 0; i < law->n; i++)
        sum += expl(t[i] - top);
    return top + logl(sum) - logl(sigma) - 0.91893853320467274178032973640561763986L;
}

long double naive_loss(const naive_pair *pair, long double x)
{
    return naive_log_density(&pair->p, pair->sigma, x) -
           naive_log_density(&pair->q, pair->sigma, x);
}

static long double mass(const naive_law *law, long double sigma, long double x, bool above)
{
    long double sum = 0;
    for (int i = 0; i < law->n; i++)
        sum += law->weight[i] * upper_tail((above ? x - law->mean[i] : law->mean[i] - x) / sigma);
    return sum;
}

static long double normals_delta(const naive_pair *pair, long double epsilon)
{
    long double reach = 40 * pair->sigma + 70, low = -reach, high = reach;
    bool rises = naive_loss(pair, 1) > naive_loss(pair, 0);
    for (int i = 0; i < 80; i++) {
        long double middle = (low + high) / 2;
        if ((naive_loss(pair, middle) > epsilon) == rises)
            high = middle;
        else
            low = middle;
    }
    return mass(&pair->p, pair->sigma, low, rises) -
           expl(epsilon) * mass(&pair->q, pair->sigma, low, rises);
}

static long double binomial(int n, long double p, int k)
{
    return expl(lgammal(n + 1.0L) - lgammal(k + 1.0L) - lgammal(n - k + 1.0L) + k * logl(p) +
                (n - k) * log1pl(-p));
}

long double naive_binomial_tail(int n, long double p, int k)
{
    long double sum = 0;
    for (int j = n; j >= k; j--)
        sum += binomial(n, p, j);
    return sum;
}

static long double truncated_delta(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                                   long double epsilon)
{
    int n = (int)m->records, cap = (int)m->cap;
    dp_mechanism one = {.sampling = DP_SAMPLING_POISSON, .sigma = m->sigma, .rate = m->rate};
    if (side == DPI_LOWER) {
        long double rate = 0;
        for (int k = 0; k <= n; k++)
            rate += m->rate * binomial(n, m->rate, k) * (k < cap ? 1 : cap / (k + 1.0L));
        one.rate = (double)rate;
        return naive_delta(&one, direction, side, epsilon);
    }
    long double w = naive_binomial_tail(n, m->rate, cap);
    long double uncut = naive_delta(&one, direction, side, epsilon);
    one.sigma /= 2;
    return (1 - w) * uncut + w * naive_delta(&one, direction, side, epsilon);
}

/* H(q A + (1-q) B || B), and for negative epsilon H(A || q B + (1-q) A), A and B 2 apart. */
static long double fixed_delta(const dp_mechanism *m, long double epsilon)
{
    naive_pair pair = naive_normals(m, DPI_REMOVE);
    if (epsilon < 0) {
        pair = (naive_pair){.sigma = m->sigma};
        put(&pair.p, 1, 2);
        put(&pair.q, m->rate, 0);
        put(&pair.q, 1 - (long double)m->rate, 2);
    }
    return normals_delta(&pair, epsilon);
}

static long double laplace_above(long double x, long double b)
{
    return x > 0 ? expl(-x / b) / 2 : 1 - expl(x / b) / 2;
}

static long double laplace_delta(const dp_mechanism *m, dpi_direction direction,
                                 long double epsilon)
{
    long double b = m->adjacency == DP_REPLACE_ONE ? m->sigma / 2 : m->sigma, q = m->rate;
    long double best = fmaxl(0, 1 - expl(epsilon));
    for (int i = 1; i < 4000;
         i++) { /* P - e^eps Q of any half-line is a lower bound; the best is it */
        long double x = i / 2000.0L;
        long double still = laplace_above(x, b),
                    mixed = (1 - q) * still + q * laplace_above(x - 1, b);
        long double d = direction == DPI_REMOVE ? mixed - expl(epsilon) * still
                                                : 1 - still - expl(epsilon) * (1 - mixed);
        best = fmaxl(best, d);
    }
    return best;
}

long double naive_lattice_mass(const dp_mechanism *m, long double k)
{
    long double s = m->sigma;
    if (m->noise == DP_NOISE_DISCRETE_GAUSSIAN)
        return expl(-k * k / (2 * s * s));
    k = fabsl(k);
    return upper_tail((k - 0.5L) / s) - upper_tail((k + 0.5L) / s);
}

static long double lattice_delta(const dp_mechanism *m, dpi_direction direction,
                                 long double epsilon)
{
    long double q = m->rate, sum = 0, all = 0;
    int reach = (int)(14 * m->sigma) + 3;
    for (int k = -reach; k <= reach + 1; k++) {
        long double still = naive_lattice_mass(m, k);
        long double mixed = (1 - q) * still + q * naive_lattice_mass(m, k - 1);
        long double d =
            direction == DPI_REMOVE ? mixed - expl(epsilon) * still : still - expl(epsilon) * mixed;
        sum += fmaxl(d, 0);
        all += still;
    }
    return sum / all;
}

static long double response_delta(const dp_mechanism *m, long double epsilon)
{
    long double other = (long double)m->sigma / m->categories, own = 1 - m->sigma + other;
    long double e = expl(epsilon);
    return fmaxl(own - e * other, 0) + fmaxl(other - e * own, 0) +
           (m->categories - 2) * other * fmaxl(1 - e, 0);
}

long double naive_delta(const dp_mechanism *m, dpi_direction direction, dpi_side side,
                        long double epsilon)
{
    if (m->noise == DP_NOISE_LAPLACE)
        return laplace_delta(m, direction, epsilon);
    if (m->noise == DP_NOISE_RANDOMISED_RESPONSE)
        return response_delta(m, epsilon);
    if (m->noise != DP_NOISE_GAUSSIAN)
        return lattice_delta(m, direction, epsilon);
    if (m->sampling == DP_SAMPLING_TRUNCATED)
        return truncated_delta(m, direction, side, epsilon);
    if (m->sampling == DP_SAMPLING_FIXED && side == DPI_UPPER)
        return fixed_delta(m, epsilon);
    naive_pair pair = naive_normals(m, direction);
    return normals_delta(&pair, epsilon);
}
