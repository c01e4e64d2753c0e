/* What a model is inside: a graph and the list of its sites. */
#ifndef DPI_MODEL_MODEL_H
#define DPI_MODEL_MODEL_H

#include <tacit/model.h>

#include "dist/family.h"
#include "graph/graph.h"

typedef enum dpi_site_kind {
    DPI_LATENT,
    DPI_OBSERVED,
    DPI_PARAM,
    DPI_DETERMINISTIC, /* computed from the others; no part of the density */
    DPI_FACTOR         /* computed from the others: a term of a record's log density */
} dpi_site_kind;

/* Where a parameter starts: a rule, and the seed of what it draws. */
typedef struct dpi_start {
    dp_init init;
    uint64_t seed;
} dpi_start;

/* One named random, learnt or computed value. */
typedef struct dpi_site {
    dpi_site_kind kind;
    const char *name;
    dpi_where where;
    dpi_id value; /* the input node that stands for it, the data node of an observation, or the
                   * node that computes it */
    const dpi_family *family; /* NULL for parameters, computed values and factors */
    dpi_id arg[DPI_MAX_ARGS];
    dpi_start start; /* of a parameter */
} dpi_site;

typedef struct dpi_plate {
    const char *name;
    size_t size; /* 0 for the unit plate */
} dpi_plate;

struct dp_model {
    dpi_arena arena;
    dp_error err;
    dpi_graph graph;
    const dp_model *of; /* the model whose guide this is, or NULL */
    dpi_plate *plates;  /* number k is plates[k - 1] */
    size_t n_plates, plate_capacity;
    dpi_site *sites;
    size_t n_sites, site_capacity;
    uint64_t seed; /* of starts of the parameters that come next */
};

/* The site of that name, of any kind, or NULL. */
const dpi_site *dpi_find_site(const dp_model *m, const char *name);

/* The node of an expression in m's graph; a number becomes a constant.  DPI_NONE, with the error
 * set, for an expression of another model. */
dpi_id dpi_expr_id(dp_model *m, dp_expr e);

/* op(a) as an expression, at once where a is a plain number. */
dp_expr dpi_expr_unary(const dpi_op *op, dp_expr a, const dpi_attr *attr);

/* The model of the operands of `call`, which has a meaning only for expressions of a model; aborts
 * where both are plain numbers. */
dp_model *dpi_expr_model(dp_expr a, dp_expr b, const char *call);

/* The domain of an argument in words. */
const char *dpi_domain_text(dpi_domain domain);

/* Fills arg from the distribution and gives its family, in the model's memory where it is made of
 * another; NULL, with an error, when there is none or an argument does not serve. */
const dpi_family *dpi_take_arguments(dp_model *m, const char *name, dp_dist dist, dpi_id arg[]);

/* The shape that the arguments give one value: their join, what is left of a vector argument, or of
 * a mixture's behind the component.  False when they do not fit together. */
bool dpi_arguments_shape(const dp_model *m, const dpi_family *family, const dpi_id arg[],
                         dpi_shape *shape);

/* Adds to g, elementwise and summed to a number, the log density of x under the family. */
dpi_id dpi_log_density(dpi_graph *g, const dpi_family *family, dpi_id x, const dpi_id arg[]);

/* A window as operations of the graph take it, strides of 0 being 1. */
dpi_window dpi_window_of(const dp_window *window);

#endif
