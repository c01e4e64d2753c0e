/* What PP-Stream's table of leakage measures, and what attacks find.
 *   make bench/serve-leakage && bench/serve-leakage [--rounds N] [--most N]
 * One JSON line for each length n = 2^5 ... 2^13 of a hidden vector: the distance correlation
 * (the usual estimator, which is biased) of normal numbers with a uniform permutation of
 * themselves, with themselves moved by three places (which hides nothing: the released code of
 * PP-Stream does that), and with other, independent numbers, which is the value for no
 * dependence at all; then the corrected estimator (Szekely and Rizzo 2014), whose mean is 0
 * where there is none; mean and standard deviation over the rounds.  Then a line for each attack
 * on the first layer of a network 784-128-10 under keys of 2048 bits: neurons of which all
 * numbers came out, in how many queries. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"
#include "serve/plan.h"
#include "tests/serve/attack.h"

enum { LEAST_POWER = 5, POWERS = 9, MOST_ROUNDS = 1000 };

/* PP-Stream, ICDE 2024, table VI. */
static const double published[POWERS] = {.2898, .1767, .1232, .1087, .0783,
                                         .0566, .0405, .0289, .0200};

static void must(dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return;
    (void)fprintf(stderr, "bench/serve-leakage: %s\n",
                  err->text[0] != '\0' ? err->text : dp_status_text(status));
    exit(1);
}

static double *numbers(size_t n)
{
    double *x = calloc(n, sizeof *x);
    if (x == NULL)
        exit(1);
    return x;
}

static double normal(void)
{
    double u = (rand() + 1.0) / (RAND_MAX + 2.0), v = (rand() + 1.0) / (RAND_MAX + 2.0);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* ---- distance correlation ---- */

/* Of the distances a_kl = |x_k - x_l| and b_kl = |y_k - y_l|: their rows' sums, the sum of all a b,
 * that of the products of rows, and the sums of all. */
typedef struct distances {
    double products, rows, a, b;
} distances;

static distances measure(size_t n, const double *x, const double *y)
{
    distances d = {0};
    double *a = numbers(n), *b = numbers(n);
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++) {
            double p = fabs(x[k] - x[l]), q = fabs(y[k] - y[l]);
            a[k] += p;
            a[l] += p;
            b[k] += q;
            b[l] += q;
            d.products += 2 * p * q;
        }
    for (size_t k = 0; k < n; k++) {
        d.rows += a[k] * b[k];
        d.a += a[k];
        d.b += b[k];
    }
    free(a);
    free(b);
    return d;
}

/* The squared distance covariance; Szekely, Rizzo and Bakirov 2007, and the corrected one of 2014,
 * section 3. */
static double covariance(size_t n, distances d, bool corrected)
{
    double m = (double)n;
    if (corrected)
        return (d.products - 2 * d.rows / (m - 2) + d.a * d.b / ((m - 1) * (m - 2))) /
               (m * (m - 3));
    return d.products / (m * m) - 2 * d.rows / (m * m * m) + d.a * d.b / (m * m * m * m);
}

/* The distance correlation: the root of the usual one, as the table has it; the corrected one as it
 * is, a square that may be negative. */
static double correlation(size_t n, const double *x, const double *y, bool corrected)
{
    double xy = covariance(n, measure(n, x, y), corrected);
    double xx = covariance(n, measure(n, x, x), corrected);
    double yy = covariance(n, measure(n, y, y), corrected);
    double r = xy / sqrt(xx * yy);
    return corrected ? r : sqrt(r);
}

/* By the definition: distances centred by rows and columns. */
static double by_definition(size_t n, const double *x, const double *y)
{
    double *a = numbers(n), *b = numbers(n), all[2] = {0}, sum[3] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++) {
            a[k] += fabs(x[k] - x[l]) / (double)n;
            b[k] += fabs(y[k] - y[l]) / (double)n;
        }
    for (size_t k = 0; k < n; k++) {
        all[0] += a[k] / (double)n;
        all[1] += b[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++) {
            double p = fabs(x[k] - x[l]) - a[k] - a[l] + all[0];
            double q = fabs(y[k] - y[l]) - b[k] - b[l] + all[1];
            sum[0] += p * q;
            sum[1] += p * p;
            sum[2] += q * q;
        }
    free(a);
    free(b);
    return sqrt(sum[0] / sqrt(sum[1] * sum[2]));
}

static void check_estimators(void)
{
    enum { N = 40 };
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
        x[i] = normal();
        y[i] = x[i] * x[i] + .3 * normal();
    }
    if (fabs(correlation(N, x, y, false) - by_definition(N, x, y)) < 1e-12 &&
        fabs(correlation(N, x, x, false) - 1) < 1e-12 &&
        fabs(correlation(N, x, x, true) - 1) < 1e-12)
        return;
    (void)fprintf(stderr, "bench/serve-leakage: an estimator is wrong\n");
    exit(1);
}

/* ---- the table ---- */

typedef struct mean_sd {
    double sum, squares;
} mean_sd;

static void add(mean_sd *m, double value)
{
    m->sum += value;
    m->squares += value * value;
}

static void tell(const char *name, const mean_sd *m, size_t rounds)
{
    char text[64];
    double n = (double)rounds, mean = m->sum / n;
    bench_number(name, mean);
    (void)snprintf(text, sizeof text, "%s_sd", name);
    bench_number(text, sqrt(fmax(0, m->squares / n - mean * mean) * n / (n - 1)));
}

static void row(size_t power, size_t rounds)
{
    enum { PERMUTED, MOVED, INDEPENDENT, KINDS };
    static const char *const names[] = {"permuted", "moved", "independent"};
    static const char *const corrected[] = {"permuted_corrected", "moved_corrected",
                                            "independent_corrected"};
    size_t n = (size_t)1 << power;
    mean_sd usual[KINDS] = {{0}}, other[KINDS] = {{0}};
    double *x = numbers(n), *y = numbers(n);
    uint32_t *order = calloc(n, sizeof *order);
    if (order == NULL)
        exit(1);
    for (size_t r = 0; r < rounds; r++) {
        for (size_t i = 0; i < n; i++)
            x[i] = normal();
        dpi_serve_shuffle(n, order);
        for (int k = 0; k < KINDS; k++) {
            for (size_t i = 0; i < n; i++)
                y[i] = k == PERMUTED ? x[order[i]] : k == MOVED ? x[(i + 3) % n] : normal();
            add(&usual[k], correlation(n, x, y, false));
            add(&other[k], correlation(n, x, y, true));
        }
    }
    (void)printf("{\"n\": %zu, ", n);
    for (int k = 0; k < KINDS; k++)
        tell(names[k], &usual[k], rounds);
    for (int k = 0; k < KINDS; k++)
        tell(corrected[k], &other[k], rounds);
    bench_number("published", published[power - LEAST_POWER]);
    bench_number("rounds", (double)rounds);
    bench_end_line();
    (void)fflush(stdout);
    free(x);
    free(y);
    free(order);
}

/* ---- attacks ---- */

static dp_program *network(size_t inputs, size_t neurons, bool hidden)
{
    dp_error err = {0};
    double *w = numbers(inputs * neurons), *b = numbers(neurons);
    for (size_t i = 0; i < inputs * neurons; i++)
        w[i] = 2.0 * rand() / RAND_MAX - 1;
    for (size_t i = 0; i < neurons; i++)
        b[i] = 2.0 * rand() / RAND_MAX - 1;
    dp_program *p = dp_program_new();
    int h = dp_program_dense(p, dp_program_input(p, inputs, "pixel", 0, 1), neurons, w, b);
    if (hidden)
        (void)dp_program_dense(p, dp_program_relu(p, h), 10, w, NULL);
    must(dp_program_fix(p, NULL, &err), &err);
    free(w);
    free(b);
    return p;
}

static void against(const char *name, size_t inputs, dpi_mode mode, attack_how how, bool bare)
{
    enum { NEURONS = 128, KEY = 2048 };
    dp_error err = {0};
    size_t recovered, queries;
    dp_program *p = network(inputs, NEURONS, mode == DPI_MODE_PERMUTE);
    const attack_opts o = {.program = p, .mode = mode, .how = how, .bare = bare, .key_bits = KEY};
    double start = bench_now();
    must(attack(&o, &recovered, &queries, &err), &err);
    (void)printf("{\"attack\": \"%s\", \"against\": \"%s\", ",
                 how == ATTACK_DIGITS ? "digits" : "units", name);
    bench_number("inputs", (double)inputs);
    bench_number("neurons", NEURONS);
    bench_number("key_bits", KEY);
    bench_number("queries", (double)queries);
    bench_number("recovered", (double)recovered);
    bench_number("seconds", bench_now() - start);
    bench_end_line();
    (void)fflush(stdout);
    dp_program_free(p);
}

int main(int argc, char **argv)
{
    uint64_t rounds = 20, most = (uint64_t)1 << (LEAST_POWER + POWERS - 1);
    const bench_option list[] = {{.name = "--rounds", .count = &rounds},
                                 {.name = "--most", .count = &most}};
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (rounds < 2 || rounds > MOST_ROUNDS)
        bench_stop("--rounds", "is 2 to 1000");
    srand(1);
    check_estimators();
    for (size_t power = LEAST_POWER; power < LEAST_POWER + POWERS; power++)
        if ((uint64_t)1 << power <= most)
            row(power, rounds);
    against("permute, as published", 784, DPI_MODE_PERMUTE, ATTACK_DIGITS, true);
    against("permute", 784, DPI_MODE_PERMUTE, ATTACK_DIGITS, false);
    against("linear", 784, DPI_MODE_LINEAR, ATTACK_DIGITS, false);
    against("permute", 64, DPI_MODE_PERMUTE, ATTACK_UNITS, false);
    return 0;
}
