/* The table of families, and draws with a look at the arguments. */
#include "dist/form.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

#define ROW(name) &dpi_##name,
const dpi_family *const dpi_families[] = {DPI_FAMILIES(ROW)};
const size_t dpi_n_families = sizeof dpi_families / sizeof dpi_families[0];

static const dpi_family *find(const dpi_family *const *families, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(families[i]->name, name) == 0)
            return families[i];
    return NULL;
}

const dpi_family *dpi_family_named(const char *name)
{
    const dpi_family *const other[] = {&dpi_flat,
                                       &dpi_flat_positive,
                                       &dpi_dirichlet,
                                       &dpi_multinomial_logit,
                                       &dpi_dirichlet_multinomial,
                                       &dpi_multivariate_normal,
                                       &dpi_multivariate_normal_precision,
                                       &dpi_multivariate_normal_low_rank,
                                       &dpi_multivariate_student_t,
                                       &dpi_lkj_cholesky,
                                       &dpi_unit_vector,
                                       &dpi_wishart_cholesky,
                                       &dpi_inverse_wishart_cholesky,
                                       &dpi_gaussian_random_walk,
                                       &dpi_autoregressive};
    const dpi_family *family = find(dpi_families, dpi_n_families, name);
    return family != NULL ? family : find(other, sizeof other / sizeof other[0], name);
}

dpi_id dpi_log_normal_moment(dpi_graph *g, double power, dpi_id loc, dpi_id scale)
{
    dpi_id spread = dpi_scale(g, 0.5 * power * power, dpi_unary(g, &dpi_op_square, scale));
    return dpi_unary(g, &dpi_op_exp, dpi_add(g, dpi_scale(g, power, loc), spread));
}

dpi_id dpi_family_log_density(const dpi_family *family, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return family->form != NULL ? family->form->log_density(family, g, x, arg)
                                : family->log_density(g, x, arg);
}

dpi_id dpi_family_log_cdf(const dpi_family *family, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return family->form != NULL ? family->form->log_cdf(family, g, x, arg)
                                : family->log_cdf(g, x, arg);
}

dpi_id dpi_family_log_survival(const dpi_family *family, dpi_graph *g, dpi_id x, const dpi_id arg[])
{
    return family->form != NULL ? family->form->log_survival(family, g, x, arg)
                                : family->log_survival(g, x, arg);
}

bool dpi_has_tails(const dpi_family *family)
{
    return family->form != NULL ? family->form->log_cdf != NULL && dpi_has_tails(family->base)
                                : family->log_cdf != NULL && family->log_survival != NULL;
}

bool dpi_has_score(const dpi_family *family)
{
    int first;
    family = dpi_behind(family, &first);
    return family->form != NULL ? family->form->score != NULL && dpi_has_score(family->base)
                                : family->score != NULL && family->outcomes != NULL;
}

void dpi_family_score(const dpi_family *family, size_t n, const double y[],
                      const double *const arg[], size_t arg_size, double s[])
{
    if (family->form != NULL)
        family->form->score(family, n, y, arg, s);
    else
        family->score(n, y, arg, arg_size, s);
}

dpi_id dpi_mean(dpi_graph *g, const dpi_family *family, const dpi_id arg[], const char **why)
{
    if (family->form != NULL && family->form->mean != NULL)
        return family->form->mean(family, g, arg, why);
    *why = family->no_mean;
    return family->mean != NULL ? family->mean(g, arg) : DPI_NONE;
}

bool dpi_in_domain(dpi_domain domain, double x)
{
    return isfinite(x) && ((domain != DPI_POSITIVE && domain != DPI_FRACTION) || x > 0) &&
           (domain != DPI_FRACTION || x < 1) &&
           (domain < DPI_NOT_NEGATIVE || domain == DPI_SIDE || domain == DPI_SIDE_OR_BOTH ||
            x >= 0) &&
           (domain < DPI_FLAG || (x >= -1 && x <= (domain == DPI_SIDE_OR_BOTH ? 2 : 1))) &&
           (domain < DPI_NOT_NEGATIVE || domain == DPI_WEIGHT || x == floor(x));
}

/* Of a family of single numbers; what is wrong with a vector of logits is found by the family. */
static bool in_domains(const dpi_family *family, const double *const arg[])
{
    for (int k = 0; k < family->n_args && !family->vector_arg; k++)
        if (!dpi_in_domain(family->arg_domain[k], *arg[k]))
            return false;
    const double *const *bound = arg + family->bound_at;
    return family->support != DPI_INTERVAL || *bound[0] < *bound[1];
}

/* Below this, log(u) / shape overflows. */
static const double least_shape = 1e-300;

double dpi_draw_log_gamma(gsl_rng *rng, double shape)
{
    shape = fmax(shape, least_shape);
    return log(gsl_ran_gamma(rng, shape + 1, 1)) + log(gsl_rng_uniform_pos(rng)) / shape;
}

double dpi_draw(const dpi_family *family, gsl_rng *rng, const double *const arg[], size_t arg_size)
{
    if (!in_domains(family, arg))
        return NAN;
    return family->form != NULL ? family->form->draw(family, rng, arg)
                                : family->draw(rng, arg, arg_size);
}

size_t dpi_outcomes(const dpi_family *family, const double *const arg[], size_t arg_size,
                    double y[], double mass[])
{
    if (!dpi_has_score(family) || !in_domains(family, arg))
        return 0;
    if (family->form != NULL)
        return family->form->outcomes(family, arg, y, mass);
    return family->outcomes(arg, arg_size, y, mass);
}

static bool all_in_domain(const dpi_family *family, const double *const arg[],
                          const size_t arg_size[])
{
    for (int k = 0; k < family->n_args; k++)
        for (size_t e = 0; e < arg_size[k]; e++)
            if (!dpi_in_domain(family->arg_domain[k], arg[k][e]))
                return false;
    return true;
}

/* One value of a joint family. */
static void draw_row(const dpi_family *family, gsl_rng *rng, const double *const arg[],
                     const size_t arg_size[], size_t row, double *out)
{
    for (size_t e = 0; e < row; e++)
        out[e] = NAN;
    if (!all_in_domain(family, arg, arg_size))
        return;
    if (family->form != NULL)
        family->form->draw_joint(family, rng, arg, arg_size, row, out);
    else
        family->draw_joint(rng, arg, arg_size, row, out);
}

bool dpi_is_joint(const dpi_family *family)
{
    return family->form != NULL ? family->form->draw_joint != NULL : family->draw_joint != NULL;
}

bool dpi_is_row(const dpi_family *family)
{
    while (family->form != NULL && dpi_is_transparent(family->form))
        family = family->base;
    return dpi_is_joint(family) && (family->form == NULL || family->form->code == DPI_IN_ORDER);
}

size_t dpi_value_size(const dpi_family *family, const dpi_shape *shape)
{
    const dpi_row_support *rows = dpi_supports[family->support].rows;
    size_t last = shape->n_dims > 0 ? shape->dim[shape->n_dims - 1] : 1;
    return rows != NULL && rows->is_matrix ? last * last : last;
}

void dpi_draw_site(const dpi_family *family, gsl_rng *rng, const double *const arg[],
                   const size_t arg_size[], size_t size, size_t row, double *out)
{
    while (family->form != NULL && dpi_is_transparent(family->form)) {
        arg += family->form->n_args;
        arg_size += family->form->n_args;
        family = family->base;
    }
    const bool whole_value = family->form != NULL && family->form->draw_value != NULL;
    for (size_t e = 0; e < size && whole_value; e++)
        out[e] = family->form->draw_value(family, rng, arg, arg_size);
    if (whole_value)
        return;
    const bool joint = dpi_is_joint(family);
    for (size_t e = 0; e < size; e += joint ? row : 1) {
        const double *at[DPI_MAX_ARGS] = {NULL};
        size_t at_size[DPI_MAX_ARGS] = {0};
        for (int k = 0; k < family->n_args; k++) {
            /* A mixture has one value; its arguments are not those of a row. */
            const bool whole = family->vector_arg || (joint && family->form != NULL) ||
                               family->arg_kind[k] != DPI_EACH;
            at[k] = whole ? arg[k] : arg[k] + e % arg_size[k];
            at_size[k] = whole || arg_size[k] < row ? arg_size[k] : row;
        }
        if (joint)
            draw_row(family, rng, at, at_size, row, out + e);
        else
            out[e] = dpi_draw(family, rng, at, arg_size[0]);
    }
}
