/* Families of outcomes: what R calls family, each a row with its links and parameters. */
#ifndef DPI_FORMULA_FAMILY_H
#define DPI_FORMULA_FAMILY_H

#include "formula/parse.h"
#include "formula/writer.h"

/* Values that an outcome has. */
typedef enum dpi_outcome_kind {
    DPI_OUTCOME_REAL = 0,
    DPI_OUTCOME_POSITIVE, /* above 0 */
    DPI_OUTCOME_SHARE,    /* within (0, 1) */
    DPI_OUTCOME_BINARY,
    DPI_OUTCOME_COUNT,    /* 0, 1, ... */
    DPI_OUTCOME_CATEGORY, /* one of the column's levels */
    DPI_OUTCOME_ORDERED   /* the same, in their order */
} dpi_outcome_kind;

/* How a parameter comes of its predictor. */
typedef enum dpi_link { DPI_IDENTITY = 0, DPI_LOG, DPI_LOGIT, DPI_PROBIT, DPI_CLOGLOG } dpi_link;

enum { DPI_MOST_LINKS = 4, DPI_MOST_PARAMETERS = 3 };

/* A parameter beside the mean; without a formula of its own it is one number for all records, with
 * this prior.  `sized`: it has the unit of the outcome. */
typedef struct dpi_family_parameter {
    const char *name;
    dpi_link link;
    bool sized;
    const char *prior;
    double argument[2];
} dpi_family_parameter;

/* What the distribution of an outcome is made of. */
typedef struct dpi_law_parts {
    dpi_link link;
    dpi_value mean;         /* before its inverse link; of categories their logits [K] */
    dpi_value parameter[3]; /* of the family, in its order, as they are; chances as their logits */
    dpi_value thresholds;   /* between ordered levels */
    dpi_value trials;
} dpi_law_parts;

typedef struct dpi_response_family {
    const char *name;
    dpi_outcome_kind outcome;
    size_t n_links;
    dpi_link link[DPI_MOST_LINKS]; /* of the mean; the first is the default */
    size_t n_parameters;
    dpi_family_parameter parameter[DPI_MOST_PARAMETERS];
    dpi_written_law (*law)(dpi_writer *w, const dpi_law_parts *parts);
    bool trials;       /* it is counted out of trials(n) */
    const char *words; /* what the outcome is, given its parameters */
} dpi_response_family;

/* A family with one of its links. */
typedef struct dpi_response {
    const dpi_response_family *family;
    dpi_link link;
} dpi_response;

/* The inverse of a link. */
dpi_value dpi_link_inverse(dpi_writer *w, dpi_link link, dpi_value x);

/* "identity", "log" ... */
const char *dpi_link_name(dpi_link link);

/* The response that a text names, "gaussian", "bernoulli(probit)", "gamma(link = log)".
 * DP_EINVAL with the place in that text, and what there is; DP_ENOMEM. */
dp_status dpi_response_parse(const char *text, dpi_arena *arena, dpi_response *response,
                             dp_error *err);

#endif
