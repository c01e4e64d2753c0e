#include "tests/dist/information.h"

#include <gsl/gsl_sf_bessel.h>
#include <math.h>

#include "num/special.h"
#include "tests/dist/cases.h"

static double trigamma(double x)
{
    return dpi_polygamma(1, x);
}

static void categorical_information(const double arg[], double f[])
{
    double p[MAX_NUMBERS], top = arg[0], total = 0;
    for (int k = 1; k < MAX_NUMBERS; k++)
        top = fmax(top, arg[k]);
    for (int k = 0; k < MAX_NUMBERS; k++)
        total += p[k] = exp(arg[k] - top);
    for (int k = 0; k < MAX_NUMBERS; k++)
        for (int i = 0; i < MAX_NUMBERS; i++)
            f[k * MAX_NUMBERS + i] = (k == i ? p[k] / total : 0) - p[k] * p[i] / total / total;
}

static double logistic_below(double cut)
{
    return dpi_logistic(cut);
}

static double logistic_slope(double cut)
{
    return dpi_logistic(cut) * dpi_logistic(-cut);
}

static double probit_slope(double cut)
{
    return exp(-0.5 * cut * cut) / sqrt(2 * M_PI);
}

static double normal_below(double cut)
{
    return 0.5 * erfc(-cut / sqrt(2));
}

/* A cutpoint takes from one category what it gives to the next. */
static void ordered_information(const double cut[], double (*below)(double),
                                double (*slope)(double), double f[])
{
    enum { N = MAX_NUMBERS };
    double p[N + 1], last = 0;
    for (int k = 0; k <= N; k++) {
        double next = k < N ? below(cut[k]) : 1;
        p[k] = next - last;
        last = next;
    }
    for (int k = 0; k < N; k++) {
        double at = slope(cut[k]);
        f[k * N + k] = at * at * (1 / p[k] + 1 / p[k + 1]);
        if (k + 1 < N)
            f[k * N + k + 1] = f[(k + 1) * N + k] = -at * slope(cut[k + 1]) / p[k + 1];
    }
}

/* Lange, Little and Taylor 1989, JASA 84, 881, for the scale and the degrees of freedom. */
static void student_t_information(const double arg[], double f[])
{
    double df = arg[0], v = arg[2] * arg[2];
    f[0] = 0.25 * (trigamma(df / 2) - trigamma((df + 1) / 2)) -
           (df + 5) / (2 * df * (df + 1) * (df + 3));
    f[1] = f[3] = f[5] = f[7] = 0;
    f[2] = f[6] = -2 / ((df + 1) * (df + 3) * arg[2]);
    f[4] = (df + 1) / (df + 3) / v;
    f[8] = 2 * df / (df + 3) / v;
}

/* The sign of a number from a law that is even about 0 tells nothing of shape and scale. */
static void half_student_t_information(const double arg[], double f[])
{
    double of_t[9];
    student_t_information((const double[]){arg[0], 0, arg[1]}, of_t);
    f[0] = of_t[0], f[1] = f[2] = of_t[2], f[3] = of_t[8];
}

/* With z = (x - loc) / scale above 0 with chance 1 - p and then e / p, else -e / (1 - p), e being
 * exponential with mean 1. */
static void asymmetric_laplace_information(const double arg[], double f[])
{
    double scale = arg[1], p = arg[2], q = 1 - p, mean = 1 / p - 1 / q;
    f[0] = p * q / (scale * scale);
    f[4] = 1 / (scale * scale);
    f[8] = 2 * q / (p * p) + 2 * p / (q * q) - mean * mean;
    f[1] = f[3] = 0;
    f[2] = f[6] = -1 / scale;
    f[5] = f[7] = -(q / p - p / q) / scale;
}

/* From Beta's by a = mean precision, b = (1 - mean) precision. */
static void beta_mean_information(const double arg[], double f[])
{
    double m = arg[0], k = arg[1], sum = trigamma(k);
    double a = trigamma(m * k), b = trigamma((1 - m) * k);
    f[0] = k * k * (a + b);
    f[1] = f[2] = k * (m * a - (1 - m) * b);
    f[3] = m * m * a + (1 - m) * (1 - m) * b - sum;
}

/* Jones (2009, Stat. Methodology 6, 70), for b other than 1 and 2. */
static void kumaraswamy_information(const double arg[], double f[])
{
    double a = arg[0], b = arg[1], apart = dpi_polygamma(0, b) - dpi_polygamma(0, 2);
    f[0] = (1 + b / (b - 2) * (apart * apart - trigamma(b) + trigamma(2))) / (a * a);
    f[1] = f[2] = -(dpi_polygamma(0, b + 1) - dpi_polygamma(0, 2)) / (a * (b - 1));
    f[3] = 1 / (b * b);
}

static void von_mises_information(const double arg[], double f[])
{
    double k = arg[1], ratio = gsl_sf_bessel_I1_scaled(k) / gsl_sf_bessel_I0_scaled(k);
    f[0] = k * ratio;
    f[3] = 1 - ratio / k - ratio * ratio;
}

/* f[3] is sum_j P(Y > j) / (dispersion + j)^2 - mean / (dispersion (dispersion + mean)) (Lawless
 * 1987, Canad. J. Statist. 15, 209). */
static void negative_binomial_information(double mean, double dispersion, double f[])
{
    double whole = mean + dispersion, m = pow(dispersion / whole, dispersion), above = 1, sum = 0;
    double most = mean + 40 * sqrt(mean * whole / dispersion) + 60 * whole / dispersion;
    for (double j = 0; j < most && above > 0; j++) {
        above -= m;
        sum += above / (dispersion + j) / (dispersion + j);
        m *= (dispersion + j) / (j + 1) * mean / whole;
    }
    f[0] = dispersion * mean / whole;
    f[3] = sum - mean / dispersion / whole;
}

/* From that of the shapes, a = mean precision and b: trigamma(a) less its mean at a + y, and so on.
 * */
static void beta_binomial_information(double n, double m, double k, double f[])
{
    double a = m * k, b = (1 - m) * k, up = 0, down = 0, log_p = 0, total = 0;
    double both = trigamma(k) - trigamma(k + n);
    for (double y = 0; y <= n; y++) {
        log_p = lgamma(n + 1) - lgamma(y + 1) - lgamma(n - y + 1) + lgamma(a + y) +
                lgamma(b + n - y) - lgamma(k + n) + lgamma(k) - lgamma(a) - lgamma(b);
        total += exp(log_p);
        up += exp(log_p) * (trigamma(a) - trigamma(a + y));
        down += exp(log_p) * (trigamma(b) - trigamma(b + n - y));
    }
    up /= total;
    down /= total;
    f[4] = k * k * (up + down);
    f[5] = f[7] = k * (m * up - (1 - m) * down);
    f[8] = m * m * up + (1 - m) * (1 - m) * down - both;
}

/* What is written out above; false for other families. */
static bool information_by_sums(const dpi_family *family, const double arg[], double f[])
{
    if (family == &dpi_categorical_logit)
        categorical_information(arg, f);
    else if (family == &dpi_ordered_logistic)
        ordered_information(arg, logistic_below, logistic_slope, f);
    else if (family == &dpi_ordered_probit)
        ordered_information(arg, normal_below, probit_slope, f);
    else if (family == &dpi_student_t)
        student_t_information(arg, f);
    else if (family == &dpi_half_student_t)
        half_student_t_information(arg, f);
    else if (family == &dpi_asymmetric_laplace)
        asymmetric_laplace_information(arg, f);
    else if (family == &dpi_kumaraswamy)
        kumaraswamy_information(arg, f);
    else if (family == &dpi_von_mises)
        von_mises_information(arg, f);
    else if (family == &dpi_beta_mean)
        beta_mean_information(arg, f);
    else if (family == &dpi_beta_binomial)
        beta_binomial_information(arg[0], arg[1], arg[2], f);
    else if (family == &dpi_negative_binomial_log)
        negative_binomial_information(exp(arg[0]), arg[1], f);
    else if (family == &dpi_negative_binomial)
        negative_binomial_information(arg[0], arg[1], f), f[0] /= arg[0] * arg[0];
    else
        return false;
    return true;
}

/* Of counts and of one number. */
static bool information_of_one(const dpi_family *family, const double arg[], double f[])
{
    double p = dpi_logistic(arg[0]), q = dpi_logistic(-arg[0]), u = arg[0] * arg[0];
    if (family == &dpi_bernoulli_logit || family == &dpi_chance_logit)
        f[0] = p * q;
    else if (family == &dpi_binomial_logit)
        f[0] = 0, f[3] = arg[0] * dpi_logistic(arg[1]) * dpi_logistic(-arg[1]);
    else if (family == &dpi_poisson_log)
        f[0] = exp(arg[0]);
    else if (family == &dpi_geometric_logit)
        f[0] = q;
    else if (family == &dpi_half_normal || family == &dpi_half_cauchy)
        f[0] = (family == &dpi_half_normal ? 2 : 0.5) / u;
    else if (family == &dpi_exponential)
        f[0] = 1 / u;
    else if (family == &dpi_chi_squared)
        f[0] = 0.25 * trigamma(0.5 * arg[0]);
    else
        return false;
    return true;
}

void information(const dpi_family *family, const double arg[], double f[])
{
    double v = arg[1] * arg[1], u = arg[0] * arg[0];
    const double euler_less = 1 - 0.57721566490153286;
    f[1] = f[2] = 0;
    if (information_by_sums(family, arg, f) || information_of_one(family, arg, f))
        return;
    if (family == &dpi_normal || family == &dpi_log_normal)
        f[0] = 1 / v, f[3] = 2 / v;
    else if (family == &dpi_cauchy)
        f[0] = f[3] = 0.5 / v;
    else if (family == &dpi_laplace)
        f[0] = f[3] = 1 / v;
    else if (family == &dpi_gumbel)
        f[0] = 1 / v, f[1] = f[2] = -euler_less / v,
        f[3] = (M_PI * M_PI / 6 + euler_less * euler_less) / v;
    else if (family == &dpi_gamma || family == &dpi_inverse_gamma)
        f[0] = trigamma(arg[0]), f[1] = f[2] = -1 / arg[1], f[3] = arg[0] / v;
    else if (family == &dpi_beta)
        f[1] = f[2] = -trigamma(arg[0] + arg[1]), f[0] = trigamma(arg[0]) + f[1],
        f[3] = trigamma(arg[1]) + f[1];
    else if (family == &dpi_logistic_distribution)
        f[0] = 1 / (3 * v), f[3] = (3 + M_PI * M_PI) / (9 * v);
    else if (family == &dpi_weibull)
        f[0] = (M_PI * M_PI / 6 + euler_less * euler_less) / u, f[1] = f[2] = -euler_less / arg[1],
        f[3] = u / v;
    else if (family == &dpi_pareto)
        f[3] = 1 / v;
    else
        fail_msg("%s has no information here", family->name);
}
