/* Forms: distributions that are made of another, such as its truncation.
 *
 * A dp_dist says which forms are put on its family, from the inside out, and has their arguments
 * before the family's, the outermost first.  When it meets a site a row of the table of families is
 * made for it in the model's memory: name "truncated(normal)" or "mixture of normal", arguments of
 * the form and then of its base, support, and no function pointers: the calls of family.h that take
 * a row hand it to the form, which reads the base from it. */
#ifndef DPI_DIST_FORM_H
#define DPI_DIST_FORM_H

#include <tacit/dist.h>

#include "base/alloc.h"
#include "dist/family.h"
#include "dist/veil.h"

enum { DPI_MOST_FORMS = 4, DPI_FORM_ARGS = 2, DPI_MOST_COMPONENTS = 4 };

/* What dp_dist.form holds; stored models have the names instead. */
typedef enum dpi_form_code {
    DPI_NO_FORM,
    DPI_TRUNCATED,       /* low < X <= high */
    DPI_TRUNCATED_BELOW, /* low < X */
    DPI_TRUNCATED_ABOVE, /* X <= high */
    DPI_TRUNCATED_START, /* low < X, high being where the base ends */
    DPI_TRUNCATED_END,   /* X <= high, low being where the base starts */
    DPI_CENSORED,
    DPI_INTERVAL_CENSORED,
    DPI_WEIGHTED,
    DPI_PRESENT,
    DPI_ZERO_INFLATED,
    DPI_HURDLE,          /* of counts */
    DPI_HURDLE_POSITIVE, /* of numbers above 0 */
    DPI_MIXTURE_OF,      /* of several families */
    DPI_MIXTURE,         /* of members of a plate, all of one family */
    DPI_IN_ORDER,        /* numbers in increasing order */
    DPI_N_FORMS
} dpi_form_code;

typedef struct dpi_form {
    dpi_form_code code;
    const char *name, *formula;
    bool in_words; /* "name base", not "name(base)" */
    int n_args;
    const char *arg_name[DPI_FORM_ARGS];
    dpi_domain arg_domain[DPI_FORM_ARGS];
    bool observed; /* no prior of a latent; a form that may be one has its support's bounds first */
    bool narrows;  /* its support is that of the row and, besides, of the base */
    /* Why there is no such form of the base; NULL where there is. */
    const char *(*refuses)(const dpi_family *base);
    /* Changes the row, which has the base's support, role, mean and so on, to the form's. */
    void (*fill)(const dpi_family *base, dpi_family *row);
    /* As those of a family.  No draw, draw_value or draw_joint: draws are the base's.  Others
     * NULL: there is none. */
    dpi_id (*log_density)(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[]);
    double (*draw)(const dpi_family *row, gsl_rng *rng, const double *const arg[]);
    /* Instead of draw, for forms with a vector among their arguments. */
    double (*draw_value)(const dpi_family *row, gsl_rng *rng, const double *const arg[],
                         const size_t arg_size[]);
    void (*draw_joint)(const dpi_family *row, gsl_rng *rng, const double *const arg[],
                       const size_t arg_size[], size_t n, double *out);
    dpi_id (*log_cdf)(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[]);
    dpi_id (*log_survival)(const dpi_family *row, dpi_graph *g, dpi_id x, const dpi_id arg[]);
    dpi_id (*mean)(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why);
    void (*score)(const dpi_family *row, size_t n, const double y[], const double *const arg[],
                  double s[]);
    size_t (*outcomes)(const dpi_family *row, const double *const arg[], double y[], double mass[]);
    /* Of forms that say only how an outcome is seen (veil.h), which have no score and outcomes of
     * their own: adds what this one says; and its arguments where it is seen and counts once. */
    void (*veil)(const dpi_family *row, double y, const double *const arg[], struct dpi_veil *veil);
    double open[DPI_FORM_ARGS];
} dpi_form;

/* Each form's row by its code; [DPI_NO_FORM] is NULL. */
extern const dpi_form *const dpi_forms[DPI_N_FORMS];
extern const dpi_form dpi_truncated, dpi_truncated_below, dpi_truncated_above, dpi_truncated_start,
    dpi_truncated_end, dpi_censored, dpi_interval_censored, dpi_weighted, dpi_present,
    dpi_zero_inflated, dpi_hurdle, dpi_hurdle_positive, dpi_mixture_of_several, dpi_mixture,
    dpi_ordered;

/* Room for the name of a form and its base in a message. */
enum { DPI_FORM_TEXT = 96 };

/* What is wrong with a distribution: why (NULL when memory is out) there is no such form. */
typedef struct dpi_no_form {
    char form[DPI_FORM_TEXT];
    const char *why;
} dpi_no_form;

/* The family of a distribution: the row of its last form, in the arena, where it has forms.  NULL,
 * and *wrong, when there is none. */
const dpi_family *dpi_dist_family(dpi_arena *arena, const dp_dist *dist, dpi_no_form *wrong);

/* The distribution with that row, in *dist without arguments. */
dp_dist dpi_dist_of(const dpi_family *family);

/* The distribution whose row has that name, in *dist without arguments: a family's, or a form's of
 * one.  False when there is none. */
bool dpi_form_named(const char *name, dp_dist *dist);

/* Whether draws are those of the base: so of weights and missing outcomes. */
bool dpi_is_transparent(const dpi_form *form);

/* Whether the family is one of single numbers on a support that no argument moves, so that mixtures
 * may have it as a component. */
bool dpi_mixes(const dpi_family *family);

/* log(1 - e^-d) for d > 0, which is kept off 0. */
dpi_id dpi_log_one_less(dpi_graph *g, dpi_id d);

/* log P(low < X <= high) of the base, from the tail in which it keeps its digits. */
dpi_id dpi_log_between(dpi_graph *g, const dpi_family *base, dpi_id low, dpi_id high,
                       const dpi_id arg[]);

/* log(e^a + e^b), from the larger one. */
dpi_id dpi_log_sum(dpi_graph *g, dpi_id a, dpi_id b);

/* The base's log density, log P(X <= x) and log P(X > x) at x, for draws and scores; arguments are
 * numbers. */
double dpi_log_density_at(const dpi_family *base, double x, const double *const arg[]);
double dpi_log_cdf_at(const dpi_family *base, double x, const double *const arg[]);
double dpi_log_survival_at(const dpi_family *base, double x, const double *const arg[]);

/* The mean of the base. */
dpi_id dpi_base_mean(const dpi_family *row, dpi_graph *g, const dpi_id arg[], const char **why);

/* A number between low and high (either may be infinite) by the base's law between them; NaN where
 * it has no mass there. */
double dpi_draw_between(const dpi_family *base, gsl_rng *rng, const double *const arg[], double low,
                        double high);

#endif
