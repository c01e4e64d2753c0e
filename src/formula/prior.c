/* The table of priors. */
#include "formula/prior.h"

#include <math.h>
#include <string.h>

/* clang-format off */
#define ROW1(name, kind, role, call) {#name, DPI_PARAMETER_##kind, 1, role, #call, call, NULL, NULL}
#define ROW2(name, kind, role, call) {#name, DPI_PARAMETER_##kind, 2, role, #call, NULL, call, NULL}
#define ROW3(name, kind, role, call) {#name, DPI_PARAMETER_##kind, 3, role, #call, NULL, NULL, call}
static const dpi_prior_family families[] = {
    ROW2(normal,        REAL,     "ms",  dp_normal),
    ROW3(student_t,     REAL,     "pms", dp_student_t),
    ROW2(cauchy,        REAL,     "ms",  dp_cauchy),
    ROW2(laplace,       REAL,     "ms",  dp_laplace),
    ROW1(half_normal,   POSITIVE, "s",   dp_half_normal),
    ROW1(half_cauchy,   POSITIVE, "s",   dp_half_cauchy),
    ROW1(exponential,   POSITIVE, "r",   dp_exponential),
    ROW2(gamma,         POSITIVE, "pr",  dp_gamma),
    ROW2(inverse_gamma, POSITIVE, "ps",  dp_inverse_gamma),
    ROW2(lognormal,     POSITIVE, "lp",  dp_log_normal),
    ROW2(beta,          SHARE,    "pp",  dp_beta),
    ROW2(uniform,       REAL,     "uu",  dp_uniform),
    {"lkj", DPI_PARAMETER_CORRELATION, 1, "p", NULL, NULL, NULL, NULL},
};
/* clang-format on */

enum { N_FAMILIES = sizeof families / sizeof families[0] };

static const dpi_prior_family *find(const char *name)
{
    for (size_t i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

dpi_prior dpi_prior_make(const char *family, double a, double b, double c)
{
    return (dpi_prior){.family = find(family), .argument = {a, b, c}};
}

/* A number, which may have signs. */
static bool is_number(const dpi_tree *t, double *number)
{
    double sign = 1;
    for (; t->kind == DPI_TREE_SIGN; t = t->first)
        sign = t->op == '-' ? -sign : sign;
    *number = sign * t->number;
    return t->kind == DPI_TREE_NUMBER;
}

static dp_status read_arguments(const dpi_script *s, const dpi_tree *call, dpi_prior *prior)
{
    const dpi_prior_family *family = prior->family;
    size_t n = 0;
    for (const dpi_tree *a = call->first; a != NULL; a = a->next, n++) {
        double number;
        if (n == family->n_arguments || a->label != NULL || !is_number(a, &number))
            return dpi_script_fail(s, DP_EINVAL, a->at, "the prior %s has %zu numbers as arguments",
                                   family->name, family->n_arguments);
        if (strchr("srp", family->role[n]) != NULL && !(number > 0))
            return dpi_script_fail(s, DP_EDOMAIN, a->at, "this argument of %s is above 0",
                                   family->name);
        prior->argument[n] = number;
    }
    if (n < family->n_arguments)
        return dpi_script_fail(s, DP_EINVAL, call->at, "the prior %s has %zu numbers as arguments",
                               family->name, family->n_arguments);
    if (family->role[0] == 'u' && !(prior->argument[0] < prior->argument[1]))
        return dpi_script_fail(s, DP_EDOMAIN, call->at, "uniform(low, high) has low below high");
    return DP_OK;
}

/* The half of a symmetric prior, for positive parameters. */
static void fold(dpi_prior *prior)
{
    const bool normal = strcmp(prior->family->name, "normal") == 0;
    if ((normal || strcmp(prior->family->name, "cauchy") == 0) && prior->argument[0] == 0)
        *prior = dpi_prior_make(normal ? "half_normal" : "half_cauchy", prior->argument[1], 0, 0);
}

dp_status dpi_prior_of_call(const dpi_script *s, const dpi_tree *call, dpi_parameter_kind kind,
                            dpi_prior *prior)
{
    static const char *const kinds[] = {
        "any number: normal, student_t, cauchy, laplace, uniform",
        "above 0: half_normal, half_cauchy, normal(0, s), cauchy(0, s), exponential, gamma, "
        "inverse_gamma, lognormal, uniform",
        "between 0 and 1: beta, uniform", "a correlation: lkj"};
    *prior = dpi_prior_make(call->name, 0, 0, 0);
    if (prior->family == NULL || call->kind != DPI_TREE_CALL)
        return dpi_script_fail(s, DP_EINVAL, call->at,
                               "'%.40s' is no prior; priors are normal(0, 1), student_t(3, 0, 1), "
                               "cauchy, laplace, half_normal(1), half_cauchy, exponential, gamma, "
                               "inverse_gamma, lognormal, beta, uniform, lkj",
                               call->name);
    const dp_status status = read_arguments(s, call, prior);
    if (status != DP_OK)
        return status;
    if (kind == DPI_PARAMETER_POSITIVE)
        fold(prior);
    const bool uniform = prior->family->role[0] == 'u' && kind != DPI_PARAMETER_CORRELATION;
    if (prior->family->kind != kind && !uniform)
        return dpi_script_fail(s, DP_EINVAL, call->at, "this parameter is %s", kinds[kind]);
    if (uniform && kind != DPI_PARAMETER_REAL &&
        !(prior->argument[0] >= 0 && (kind != DPI_PARAMETER_SHARE || prior->argument[1] <= 1)))
        return dpi_script_fail(s, DP_EDOMAIN, call->at, "this parameter is %s", kinds[kind]);
    return DP_OK;
}

dpi_prior dpi_prior_rescale(dpi_prior prior, double shift, double unit)
{
    for (size_t i = 0; i < prior.family->n_arguments; i++)
        switch (prior.family->role[i]) {
        case 'm':
        case 'u':
            prior.argument[i] = (prior.argument[i] - shift) / unit;
            break;
        case 's':
            prior.argument[i] /= unit;
            break;
        case 'r':
            prior.argument[i] *= unit;
            break;
        case 'l':
            prior.argument[i] -= log(unit);
            break;
        default:
            break;
        }
    return prior;
}

void dpi_prior_text(const dpi_prior *prior, dpi_bytes *to)
{
    dpi_text_add(to, prior->family->name);
    for (size_t i = 0; i < prior->family->n_arguments; i++) {
        dpi_text_add(to, i == 0 ? "(" : ", ");
        dpi_text_short(to, prior->argument[i]);
    }
    dpi_text_add(to, ")");
}
