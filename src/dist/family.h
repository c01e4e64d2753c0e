/* The table of distribution families: one row and one file each.
 *
 * A row serves every interpreter: log density as graph nodes (and by reverse mode its gradient),
 * support and bijector, draws for prior and predictive simulation, and the path by which standard
 * normal noise becomes a draw inside a guide.  Adding a family is one row in its own file, its name
 * in family-list.h, a constructor in <tacit/dist.h> and the reference values of its test. */
#ifndef DPI_DIST_FAMILY_H
#define DPI_DIST_FAMILY_H

#include <gsl/gsl_rng.h>

#include "dist/family-list.h"
#include "dist/outcomes.h"
#include "dist/support.h"
#include "graph/op.h"

enum { DPI_MAX_ARGS = 12 };

typedef enum dpi_domain {
    DPI_ANY,          /* any finite number */
    DPI_POSITIVE,     /* > 0 */
    DPI_FRACTION,     /* > 0 and < 1 */
    DPI_NOT_NEGATIVE, /* a whole number >= 0: a count of trials */
    DPI_WEIGHT,       /* >= 0 */
    DPI_FLAG,         /* 0 or 1 */
    DPI_SIDE,         /* -1, 0 or 1 */
    DPI_SIDE_OR_BOTH  /* -1, 0, 1 or 2 */
} dpi_domain;

/* What an argument does to outcomes.  Those with location m, scale c (or rate) and shapes a are
 * made from those with 0, 1 and a by a transformation, such as m + c y; so the law of the score is
 * theirs, that in m and c being divided by c. */
typedef enum dpi_role { DPI_SHAPE, DPI_LOCATION, DPI_SCALE } dpi_role;

/* What an argument is to a value that is a row of K numbers. */
typedef enum dpi_arg_kind {
    DPI_EACH,   /* repeated over the numbers of a site like any operand */
    DPI_ONE,    /* one number for all rows */
    DPI_ROW,    /* one number or [K], the same for all rows */
    DPI_LIST,   /* a number or a vector of any length, the same for all rows */
    DPI_SQUARE, /* [K][K] */
    DPI_TALL    /* [K][r] */
} dpi_arg_kind;

typedef struct dpi_family {
    const char *name;    /* "normal" */
    const char *formula; /* of the log density */
    int n_args;
    const char *arg_name[DPI_MAX_ARGS];
    dpi_domain arg_domain[DPI_MAX_ARGS];
    dpi_support_kind support;
    bool vector_arg; /* the one argument is a vector: the last dimension is used up (categorical) */
    dpi_arg_kind arg_kind[DPI_MAX_ARGS];
    const char *takes;   /* shapes of its arguments in words; NULL: they broadcast */
    const char *refused; /* why no site can have it; NULL for all others */
    bool improper;       /* of no total: a prior alone (model/proper.h), whose draws are starts */
    /* Of a distribution that is made of another (form.h): what makes it, and of what.  Its
     * functions below are NULL: call those that take the row, dpi_family_log_density and so on. */
    const struct dpi_form *form;
    const struct dpi_family *base;
    const struct dpi_family *other[3]; /* further components, in front of NULL; of one form */
    int bound_at; /* the first argument that bounds the support; 0 but of forms that are observed */
    /* Log density of each element of x, normalised, as a node that broadcasts x and the arguments.
     * Outside the support the value is unspecified: data are checked and latents are bijected.
     * With a vector argument x is one number (of each record) and indexes the vector when the graph
     * runs. */
    dpi_id (*log_density)(dpi_graph *g, dpi_id x, const dpi_id arg[]);
    /* One draw, inside the support; NaN for a Poisson mean that overflows and for categories
     * without a largest finite logit.  arg[k] points to the element's argument (arg_size numbers
     * for a vector argument), inside its domain: call dpi_draw, which sees to that. */
    double (*draw)(gsl_rng *rng, const double *const arg[], size_t arg_size);
    /* Instead of draw, for families whose value is n numbers with one density between them,
     * such as Dirichlet.  Their log_density is one number for each value, that is, for each row
     * of x.  Here arg_size[k] counts the numbers of argument k.  NaN where there is no
     * distribution. */
    void (*draw_joint)(gsl_rng *rng, const double *const arg[], const size_t arg_size[], size_t n,
                       double *out);
    /* log P(X <= x) and log P(X > x) as nodes, like log_density; both keep their digits in their
     * own tail.  NULL where there is none: what needs them (truncation, censoring) refuses the
     * family. */
    dpi_id (*log_cdf)(dpi_graph *g, dpi_id x, const dpi_id arg[]);
    dpi_id (*log_survival)(dpi_graph *g, dpi_id x, const dpi_id arg[]);
    /* A draw as a differentiable function of standard normal noise; NULL: not for guides. */
    dpi_id (*from_normal)(dpi_graph *g, dpi_id noise, const dpi_id arg[]);
    /* For rows: x of numbers z that are, where mask is 1, in the units of the distribution, so that
     * z are standard numbers where all are, and x itself where mask is 0; and the logarithm of
     * |dx/dz| for each row, into *volume.  NULL: not so drawn.  Single numbers are by role. */
    dpi_id (*stretch)(dpi_graph *g, dpi_id z, dpi_id mask, const dpi_id arg[], dpi_id *volume);
    /* The mean of log_density over x = loc + scale noise (support DPI_REAL) or x = e to that
     * (DPI_ABOVE_ZERO), noise being standard normal, elementwise; NULL: no closed form here. */
    dpi_id (*expected)(dpi_graph *g, dpi_id loc, dpi_id scale, const dpi_id arg[]);
    /* The mean of a value, elementwise, as a node that broadcasts the arguments; of a category the
     * probability of each.  NULL where there is none, and then the reason. */
    dpi_id (*mean)(dpi_graph *g, const dpi_id arg[]);
    const char *no_mean;
    /* s[n][n_args], or [n][arg_size] for a vector argument: the derivatives of the log density of
     * y_j with respect to the arguments, which are as for draw; 0 for a number of trials, which is
     * never inferred.  Finite where the outcome and its derivative are. */
    void (*score)(size_t n, const double y[], const double *const arg[], size_t arg_size,
                  double s[]);
    /* Nodes y and masses, which sum to 1, of the distribution of an outcome: their number, at most
     * DPI_MOST_OUTCOMES; 0 where there is no distribution.  Call dpi_outcomes.  Both NULL for what
     * is no regular likelihood of single numbers. */
    size_t (*outcomes)(const double *const arg[], size_t arg_size, double y[], double mass[]);
    bool tied; /* its mean gives its variance: outcomes as they are vary more, as a rule */
    dpi_role role[DPI_MAX_ARGS]; /* of a family with a score */
    /* 1 + the argument about which the density is symmetric, so that the score in it is odd. */
    int odd_in;
} dpi_family;

/* log_density, log_cdf and log_survival of any row. */
dpi_id dpi_family_log_density(const dpi_family *family, dpi_graph *g, dpi_id x, const dpi_id arg[]);
dpi_id dpi_family_log_cdf(const dpi_family *family, dpi_graph *g, dpi_id x, const dpi_id arg[]);
dpi_id dpi_family_log_survival(const dpi_family *family, dpi_graph *g, dpi_id x,
                               const dpi_id arg[]);

/* Whether it has both of log_cdf and log_survival, and both of score and outcomes; those of forms
 * that say only how an outcome is seen are those of what is behind them (veil.h). */
bool dpi_has_tails(const dpi_family *family);
bool dpi_has_score(const dpi_family *family);

/* score of any row that has one. */
void dpi_family_score(const dpi_family *family, size_t n, const double y[],
                      const double *const arg[], size_t arg_size, double s[]);

/* The mean as above.  DPI_NONE without an error, and *why says why, where there is none; a form
 * may have none where its base has none. */
dpi_id dpi_mean(dpi_graph *g, const dpi_family *family, const dpi_id arg[], const char **why);

/* The mean of x^power for log x normal: e^(power loc + (power scale)^2 / 2). */
dpi_id dpi_log_normal_moment(dpi_graph *g, double power, dpi_id loc, dpi_id scale);

/* Families of single numbers. */
extern const dpi_family *const dpi_families[];
extern const size_t dpi_n_families;

/* The family of that name, joint and improper families too, not forms (dpi_form_named); NULL when
 * there is none. */
const dpi_family *dpi_family_named(const char *name);

/* Whether x may be an argument with this domain. */
bool dpi_in_domain(dpi_domain domain, double x);

/* family->draw, or NaN where an argument is outside its domain: values of a model that overflow on
 * the way.  GSL's samplers would not return (binomial with probability NaN) or return anything. */
double dpi_draw(const dpi_family *family, gsl_rng *rng, const double *const arg[], size_t arg_size);

/* The logarithm of a Gamma(shape, 1) number, which itself rounds to 0 where the shape is small:
 * Gamma(a) is Gamma(a + 1) u^(1/a) with u uniform (Stuart 1962, J. Roy. Statist. Soc. B 24, 401).
 * */
double dpi_draw_log_gamma(gsl_rng *rng, double shape);

/* family->outcomes, or 0 where an argument is outside its domain. */
size_t dpi_outcomes(const dpi_family *family, const double *const arg[], size_t arg_size,
                    double y[], double mass[]);

/* Numbers of one value of a site of that shape: of a row, of a matrix, else those of the last
 * dimension, which a joint family may be of. */
size_t dpi_value_size(const dpi_family *family, const dpi_shape *shape);

/* Whether its values are several numbers with one density between them. */
bool dpi_is_joint(const dpi_family *family);

/* Whether its outcomes are rows of such numbers, weighted or missing ones among them; a mixture's
 * are not, whose draws are joint. */
bool dpi_is_row(const dpi_family *family);

/* All numbers of a site, out[size], each value of which has `row` numbers.  Argument k has
 * arg_size[k] numbers, repeated over leading dimensions. */
void dpi_draw_site(const dpi_family *family, gsl_rng *rng, const double *const arg[],
                   const size_t arg_size[], size_t size, size_t row, double *out);

#define DPI_DECLARED(name) extern const dpi_family dpi_##name;
DPI_FAMILIES(DPI_DECLARED)
#undef DPI_DECLARED

/* Of no total, and so not among dpi_families. */
extern const dpi_family dpi_flat, dpi_flat_positive;

/* Of rows of numbers. */
extern const dpi_family dpi_multinomial_logit, dpi_dirichlet_multinomial; /* of rows of counts */
extern const dpi_family dpi_dirichlet, dpi_multivariate_normal, dpi_multivariate_normal_precision,
    dpi_multivariate_normal_low_rank, dpi_multivariate_student_t, dpi_lkj_cholesky, dpi_unit_vector,
    dpi_wishart_cholesky, dpi_inverse_wishart_cholesky, dpi_gaussian_random_walk,
    dpi_autoregressive;

/* Product of a share and a precision, both above 0: a shape of Beta.  It is kept above 0 where the
 * share has rounded to 0, or to 1 and its rest to 0. */
dpi_id dpi_shape_of(dpi_graph *g, dpi_id share, dpi_id precision);

#endif
