#include "tests/dist/cases.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_integration.h>
#include <gsl/gsl_sf_bessel.h>
#include <math.h>

#include "exec/value.h"
#include "graph/gradient.h"
#include "tests/dist/reference.h"

static double normal_cdf(double x, const double arg[])
{
    return gsl_cdf_gaussian_P(x - arg[0], arg[1]);
}

static double half_normal_cdf(double x, const double arg[])
{
    return 2 * gsl_cdf_gaussian_P(x, arg[0]) - 1;
}

static double log_normal_cdf(double x, const double arg[])
{
    return gsl_cdf_lognormal_P(x, arg[0], arg[1]);
}

static double student_t_cdf(double x, const double arg[])
{
    return gsl_cdf_tdist_P((x - arg[1]) / arg[2], arg[0]);
}

static double cauchy_cdf(double x, const double arg[])
{
    return gsl_cdf_cauchy_P(x - arg[0], arg[1]);
}

static double half_cauchy_cdf(double x, const double arg[])
{
    return 2 * gsl_cdf_cauchy_P(x, arg[0]) - 1;
}

static double laplace_cdf(double x, const double arg[])
{
    return gsl_cdf_laplace_P(x - arg[0], arg[1]);
}

static double gumbel_cdf(double x, const double arg[])
{
    return exp(-exp(-(x - arg[0]) / arg[1]));
}

static double exponential_cdf(double x, const double arg[])
{
    return -expm1(-arg[0] * x);
}

static double gamma_cdf(double x, const double arg[])
{
    return gsl_cdf_gamma_P(x * arg[1], arg[0], 1);
}

static double inverse_gamma_cdf(double x, const double arg[])
{
    return gsl_cdf_gamma_Q(arg[1] / x, arg[0], 1);
}

static double beta_cdf(double x, const double arg[])
{
    return gsl_cdf_beta_P(x, arg[0], arg[1]);
}

static double uniform_cdf(double x, const double arg[])
{
    return gsl_cdf_flat_P(x, arg[0], arg[1]);
}

static double half_student_t_cdf(double x, const double arg[])
{
    return 2 * gsl_cdf_tdist_P(x / arg[1], arg[0]) - 1;
}

static double logistic_distribution_cdf(double x, const double arg[])
{
    return gsl_cdf_logistic_P(x - arg[0], arg[1]);
}

static double asymmetric_laplace_cdf(double x, const double arg[])
{
    double z = (x - arg[0]) / arg[1], p = arg[2];
    return z < 0 ? p * exp((1 - p) * z) : 1 - (1 - p) * exp(-p * z);
}

static double chi_squared_cdf(double x, const double arg[])
{
    return gsl_cdf_chisq_P(x, arg[0]);
}

static double weibull_cdf(double x, const double arg[])
{
    return gsl_cdf_weibull_P(x, arg[1], arg[0]);
}

static double pareto_cdf(double x, const double arg[])
{
    return x < arg[0] ? 0 : gsl_cdf_pareto_P(x, arg[1], arg[0]);
}

static double beta_mean_cdf(double x, const double arg[])
{
    return gsl_cdf_beta_P(x, arg[0] * arg[1], (1 - arg[0]) * arg[1]);
}

static double kumaraswamy_cdf(double x, const double arg[])
{
    return -expm1(arg[1] * log1p(-pow(x, arg[0])));
}

static double of_owen(double x, void *h)
{
    return exp(-0.5 * *(double *)h * *(double *)h * (1 + x * x)) / (1 + x * x);
}

/* Phi(z) - 2 T(z, shape), T by its integral (Owen 1956, Ann. Math. Stat. 27, 1075). */
static double skew_normal_cdf(double x, const double arg[])
{
    double z = (x - arg[0]) / arg[1], owen = 0;
    size_t count;
    gsl_function f = {of_owen, &z};
    gsl_integration_cquad_workspace *work = gsl_integration_cquad_workspace_alloc(100);
    (void)gsl_integration_cquad(&f, 0, arg[2], 1e-14, 1e-13, work, &owen, NULL, &count);
    gsl_integration_cquad_workspace_free(work);
    return gsl_cdf_ugaussian_P(z) - owen / M_PI;
}

/* The Fourier series of the density, integrated from -pi. */
static double von_mises_cdf(double x, const double arg[])
{
    enum { TERMS = 100 };
    double bessel[TERMS + 1], sum = 0;
    (void)gsl_sf_bessel_In_scaled_array(0, TERMS, arg[1], bessel);
    for (int j = TERMS; j > 0; j--)
        sum += bessel[j] / bessel[0] * (sin(j * (x - arg[0])) + sin(j * (M_PI + arg[0]))) / j;
    return (0.5 * (x + M_PI) + sum) / M_PI;
}

static double bernoulli_top(const double arg[])
{
    (void)arg;
    return 1;
}

static double binomial_top(const double arg[])
{
    return arg[0];
}

static double poisson_top(const double arg[])
{
    return floor(exp(arg[0]) + 20 * exp(0.5 * arg[0]) + 30);
}

static double level_top(const double arg[])
{
    (void)arg;
    return MAX_NUMBERS;
}

/* Beyond the mean by 40 scales of the tail and 20 standard deviations. */
static double tail_top(double mean, double f)
{
    return floor(mean + 20 * sqrt(mean * (1 + mean / f)) + 40 * (1 + mean / f));
}

static double negative_binomial_log_top(const double arg[])
{
    return tail_top(exp(arg[0]), arg[1]);
}

static double negative_binomial_top(const double arg[])
{
    return tail_top(arg[0], arg[1]);
}

static double geometric_top(const double arg[])
{
    return tail_top(exp(-arg[0]), 1);
}

static double categorical_top(const double arg[])
{
    (void)arg;
    return MAX_NUMBERS - 1;
}

/* The derivative in df is a difference of numbers of size z^2 / df, that in scale one of 1 /
 * scale. */
static double student_t_slack(const struct point *p, int k)
{
    double df = p->arg[0], z = (p->x - p->arg[1]) / p->arg[2];
    return k == 1 && df > 1 ? 1e-15 * (1 + z * z) / df : k == 3 ? 4e-16 / p->arg[2] : 0;
}

static double half_student_t_slack(const struct point *p, int k)
{
    const struct point of_t = {.x = p->x, .arg = {p->arg[0], 0, p->arg[1]}};
    return student_t_slack(&of_t, k == 2 ? 3 : k);
}

/* The derivative in the number of trials, which no model asks for, is a difference of digammas. */
static double binomial_slack(const struct point *p, int k)
{
    (void)p;
    return k == 1 ? 1e-15 : 0;
}

/* The log density is a difference of numbers of size y log(dispersion), the derivative in the
 * dispersion one of numbers of size y / dispersion, which leave 1 / dispersion^2. */
static double negative_binomial_slack(const struct point *p, int k)
{
    double f = p->arg[1];
    return k == VALUE ? 1e-15 * p->x * (1 + log1p(f)) : k == 2 ? 4e-16 * p->x / f : 0;
}

/* The width of the interval is a difference of cutpoints; derivatives in the others are 0. */
static double ordered_slack(const struct point *p, int k)
{
    size_t y = (size_t)p->x;
    double low = y > 0 ? p->arg[y - 1] : p->arg[0], high = y < MAX_NUMBERS ? p->arg[y] : low;
    double off = high > low ? 4e-16 * (fabs(low) + fabs(high)) / (high - low) : 0;
    return (k == VALUE ? 1 : fabs(p->value) + 1 / (high > low ? high - low : 1)) * off;
}

/* As binomial_slack and negative_binomial_slack. */
static double beta_binomial_slack(const struct point *p, int k)
{
    double n = p->arg[0], precision = p->arg[2];
    return k == VALUE ? 1e-15 * n * (1 + log1p(precision))
           : k == 1   ? 1e-14
           : k == 3   ? 1e-15 * n / precision
                      : 0;
}

/* One logit less the logarithm of a sum, of the size of the largest; shares of the sum are e^
 * that. */
static double categorical_slack(const struct point *p, int k)
{
    double top = 0;
    for (int i = 0; i < MAX_NUMBERS; i++)
        top = fmax(top, fabs(p->arg[i]));
    return 4e-16 * (k == VALUE ? 1 : 2) * (1 + top);
}

#define POINTS(name)                                                                               \
    .points = name##_points, .n_points = sizeof name##_points / sizeof name##_points[0]
#define ROW(name, numbers) .family = &dpi_##name, .n_numbers = numbers, POINTS(name)

static const dist_case cases[] = {
    {ROW(normal, 2), .tried = {{0.713, 1.391}, {-3.17, 0.217}, {11.9, 7.3}}, .cdf = normal_cdf},
    {ROW(half_normal, 1), .tried = {{0.731}, {1.917}, {4.41}}, .cdf = half_normal_cdf},
    {ROW(log_normal, 2), .tried = {{0.41, 0.817}, {-1.37, 1.31}, {2.3, 0.29}},
     .cdf = log_normal_cdf},
    {ROW(student_t, 3), .tried = {{3.71, 0.317, 0.871}, {0.417, -2.71, 2.13}, {217.9, 1.31, 0.413}},
     .cdf = student_t_cdf, .slack = student_t_slack},
    {ROW(cauchy, 2), .tried = {{0.319, 0.771}, {-2.17, 2.91}, {5.3, 0.213}}, .cdf = cauchy_cdf},
    {ROW(half_cauchy, 1), .tried = {{0.719}, {2.31}, {0.173}}, .cdf = half_cauchy_cdf},
    {ROW(laplace, 2), .tried = {{0.213, 0.931}, {-1.73, 2.37}, {3.1, 0.319}}, .cdf = laplace_cdf},
    {ROW(gumbel, 2), .tried = {{0.213, 0.931}, {-1.73, 2.37}, {3.1, 0.319}}, .cdf = gumbel_cdf},
    {ROW(exponential, 1), .tried = {{0.613}, {2.71}, {17.3}}, .cdf = exponential_cdf},
    {ROW(gamma, 2), .tried = {{2.71, 1.39}, {0.417, 0.319}, {13.7, 5.17}}, .cdf = gamma_cdf},
    {ROW(inverse_gamma, 2), .tried = {{3.17, 2.39}, {0.771, 0.432}, {11.3, 7.19}},
     .cdf = inverse_gamma_cdf},
    {ROW(beta, 2), .tried = {{2.71, 1.93}, {0.417, 0.732}, {17.9, 5.31}}, .cdf = beta_cdf},
    {ROW(half_student_t, 2), .tried = {{3.71, 0.871}, {2.917, 2.13}, {217.9, 0.413}},
     .cdf = half_student_t_cdf, .slack = half_student_t_slack},
    {ROW(logistic_distribution, 2), .tried = {{0.213, 0.931}, {-1.73, 2.37}, {3.1, 0.319}},
     .cdf = logistic_distribution_cdf},
    {ROW(asymmetric_laplace, 3),
     .tried = {{0.213, 0.931, 0.317}, {-1.73, 2.37, 0.913}, {3.1, 0.319, 0.0731}},
     .cdf = asymmetric_laplace_cdf},
    {ROW(chi_squared, 1), .tried = {{3.71}, {0.817}, {41.3}}, .cdf = chi_squared_cdf},
    {ROW(weibull, 2), .tried = {{1.71, 1.39}, {0.717, 0.319}, {7.17, 2.17}}, .cdf = weibull_cdf},
    {ROW(pareto, 2), .tried = {{0.319, 2.71}, {1.37, 1.917}, {0.0217, 11.3}}, .cdf = pareto_cdf},
    {ROW(beta_mean, 2), .tried = {{0.571, 4.93}, {0.317, 1.32}, {0.819, 23.1}},
     .cdf = beta_mean_cdf},
    {ROW(kumaraswamy, 2), .tried = {{2.71, 3.93}, {0.617, 1.732}, {7.9, 5.31}},
     .cdf = kumaraswamy_cdf},
    {ROW(skew_normal, 3),
     .tried = {{0.713, 1.391, 2.17}, {-3.17, 0.217, -0.713}, {11.9, 7.3, 5.31}},
     .cdf = skew_normal_cdf},
    {ROW(von_mises, 2), .tried = {{0.713, 2.39}, {-2.17, 0.317}, {3.05, 31.7}},
     .cdf = von_mises_cdf},
    {ROW(uniform, 2), .tried = {{0.217, 1.913}, {-7.72, 11.9}, {3.1, 3.37}}, .cdf = uniform_cdf},
    {ROW(bernoulli_logit, 1), .tried = {{0.713}, {-2.17}, {4.39}}, .top = bernoulli_top},
    {ROW(chance_logit, 1), .tried = {{0.713}, {-2.17}, {4.39}}, .top = bernoulli_top},
    {ROW(binomial_logit, 2), .tried = {{11, -0.713}, {113, 1.37}, {40, -2.71}}, .top = binomial_top,
     .slack = binomial_slack},
    {ROW(poisson_log, 1), .tried = {{0.713}, {-1.37}, {3.71}}, .top = poisson_top},
    {ROW(negative_binomial_log, 2), .tried = {{0.713, 2.91}, {2.37, 0.713}, {5.71, 31.9}},
     .top = negative_binomial_log_top, .slack = negative_binomial_slack},
    {ROW(negative_binomial, 2), .tried = {{2.713, 2.91}, {11.37, 0.713}, {371, 31.9}},
     .top = negative_binomial_top, .slack = negative_binomial_slack},
    {ROW(beta_binomial, 3), .tried = {{11, 0.317, 4.3}, {113, 0.813, 0.713}, {431, 0.413, 23.1}},
     .top = binomial_top, .slack = beta_binomial_slack},
    {ROW(geometric_logit, 1), .tried = {{0.713}, {-1.37}, {-3.71}}, .top = geometric_top},
    {ROW(ordered_logistic, MAX_NUMBERS),
     .tried = {{-1.71, -0.39, 0.713, 2.19}, {1.1, 3.7, 4.4, 9.3}, {-6.13, -5.9, -2.7, -0.3}},
     .top = level_top, .slack = ordered_slack},
    {ROW(ordered_probit, MAX_NUMBERS),
     .tried = {{-1.71, -0.39, 0.713, 2.19}, {0.71, 1.7, 2.4, 2.9}, {-2.13, -1.9, -0.7, -0.3}},
     .top = level_top, .slack = ordered_slack},
    {ROW(categorical_logit, MAX_NUMBERS),
     .tried = {{0.713, -1.39, 2.21, 0.0319},
               {-3.1, -2.7, -4.4, -2.9},
               {901.3, 900.9, 899.1, 902.7}},
     .top = categorical_top, .slack = categorical_slack},
};

const struct point *const centre_points = student_t_centre_points;
const size_t n_centre_points = sizeof student_t_centre_points / sizeof student_t_centre_points[0];

const dist_case *case_of(const dpi_family *family)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (cases[i].family == family && cases[i].n_points >= MIN_POINTS &&
            (cases[i].cdf != NULL) != dpi_supports[family->support].discrete)
            return &cases[i];
    print_error("family %s has no test case\n", family->name);
    fail();
    return NULL;
}

size_t first_inferred(const dist_case *c)
{
    return c->family->arg_domain[0] == DPI_NOT_NEGATIVE || c->family->support == DPI_FROM;
}

double inner_number(const dist_case *c, const double arg[])
{
    dpi_support_kind support = c->family->support;
    return dpi_supports[support].discrete ? 1
           : support == DPI_INTERVAL      ? 0.7131 * arg[0] + 0.2869 * arg[1]
           : support == DPI_FROM          ? arg[0] * 1.41739
                                          : 0.41739;
}

static dpi_id input(density *d, const char *name, size_t n)
{
    return dpi_source(&d->graph, &dpi_op_input, name, (dpi_attr){.shape = dpi_vector(n, false)});
}

static dpi_id free_density(dpi_graph *g, const dpi_family *family, dpi_id z, const dpi_id arg[])
{
    const dpi_support *support = &dpi_supports[family->support];
    dpi_id value = dpi_family_log_density(family, g, support->constrain(g, z, arg), arg);
    return support->log_jacobian == NULL ? value
                                         : dpi_add(g, value, support->log_jacobian(g, z, arg));
}

void density_open(density *d, const dist_case *of, bool on_line)
{
    *d = (density){.of = of};
    const dpi_family *f = of->family;
    dpi_graph_init(&d->graph, &d->arena, &d->err);
    dpi_id wrt[1 + DPI_MAX_ARGS], wanted[2 + 2 * (1 + DPI_MAX_ARGS)];
    size_t n_wrt = 0, n_wanted = 0;
    wrt[n_wrt++] = d->x = input(d, "x", 1);
    for (int k = 0; k < f->n_args; k++)
        wrt[n_wrt++] = d->arg[k] = input(d, f->arg_name[k], f->vector_arg ? of->n_numbers : 1);
    d->value = on_line ? free_density(&d->graph, f, d->x, d->arg)
                       : dpi_family_log_density(f, &d->graph, d->x, d->arg);
    assert_ok(d->err.status, d->err.text);
    assert_ok(dpi_gradient(&d->graph, d->value, n_wrt, wrt, d->slope), d->err.text);
    wanted[n_wanted++] = d->value;
    for (size_t k = 0; k < n_wrt; k++) {
        wanted[n_wanted++] = wrt[k];
        if (d->slope[k] != DPI_NONE)
            wanted[n_wanted++] = d->slope[k];
    }
    dpi_run_spec spec = {.graph = &d->graph, .wanted = wanted, .n_wanted = n_wanted, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &d->run, &d->err), d->err.text);
}

void density_close(density *d)
{
    dpi_run_free(d->run);
    dpi_arena_free(&d->arena);
}

double density_at(density *d, double x, const double arg[], double slope[])
{
    const dpi_family *f = d->of->family;
    size_t each = f->vector_arg ? d->of->n_numbers : 1;
    *dpi_run_value(d->run, d->x) = x;
    for (int k = 0; k < f->n_args; k++)
        for (size_t e = 0; e < each; e++)
            dpi_run_value(d->run, d->arg[k])[e] = arg[(size_t)k + e];
    dpi_run_globals(d->run);
    for (int k = 0; slope != NULL && k <= f->n_args; k++)
        for (size_t e = 0; e < (k == 0 ? 1 : each); e++)
            slope[(size_t)k + e] =
                d->slope[k] == DPI_NONE ? 0 : dpi_run_value(d->run, d->slope[k])[e];
    return *dpi_run_value(d->run, d->value);
}
