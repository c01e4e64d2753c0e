/* Priors of a formula's parameters: read, found, brought to another scale. */
#ifndef DPI_FORMULA_PRIOR_H
#define DPI_FORMULA_PRIOR_H

#include <tacit/dist.h>
#include <tacit/formula.h>

#include "formula/parse.h"

enum { DPI_PRIOR_ARGUMENTS = 3 };

/* What a parameter is. */
typedef enum dpi_parameter_kind {
    DPI_PARAMETER_REAL = 0,
    DPI_PARAMETER_POSITIVE,
    DPI_PARAMETER_SHARE,      /* within (0, 1) */
    DPI_PARAMETER_CORRELATION /* lkj(eta) */
} dpi_parameter_kind;

/* A family of priors. */
typedef struct dpi_prior_family {
    const char *name;
    dpi_parameter_kind kind;
    size_t n_arguments;
    char role[DPI_PRIOR_ARGUMENTS + 1]; /* m location, s scale, r rate, l log of location, p shape,
                                         * u end of a range, a any */
    const char *call;                   /* the constructor, "dp_normal" */
    dp_dist (*one)(double a);
    dp_dist (*two)(double a, double b);
    dp_dist (*three)(double a, double b, double c);
} dpi_prior_family;

typedef struct dpi_prior {
    const dpi_prior_family *family;
    double argument[DPI_PRIOR_ARGUMENTS];
} dpi_prior;

/* A caller's prior: of what, and which. */
typedef struct dpi_asked_prior {
    const char *of;
    const dpi_tree *call;
    dpi_script script; /* of its text */
    bool used;
} dpi_asked_prior;

/* A prior as a text gives it, "normal(0, 2.5)", for a parameter of that kind: of positive ones
 * normal(0, s) and cauchy(0, s) are the halves of these.  DP_EINVAL, DP_EDOMAIN with the place. */
dp_status dpi_prior_of_call(const dpi_script *script, const dpi_tree *call, dpi_parameter_kind kind,
                            dpi_prior *prior);

/* A default; `text` is one of the library's own. */
dpi_prior dpi_prior_make(const char *family, double a, double b, double c);

/* Of (theta - shift) / unit, where `prior` is of theta; unit > 0. */
dpi_prior dpi_prior_rescale(dpi_prior prior, double shift, double unit);

/* Appends "normal(0, 2.5)". */
void dpi_prior_text(const dpi_prior *prior, dpi_bytes *to);

#endif
