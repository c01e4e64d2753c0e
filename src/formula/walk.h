/* The walk over a formula that writes its model. */
#ifndef DPI_FORMULA_WALK_H
#define DPI_FORMULA_WALK_H

#include "formula/formula.h"
#include "formula/writer.h"

/* A parameter theta = shift + unit * latent.  The latent is of unit size: it has the name of theta
 * with "scaled." before it, and theta is computed, unless both are the same. */
typedef struct dpi_parameter {
    const char *name; /* "sd_district__Intercept" */
    const char
        *classes[3]; /* what a caller's prior may be for, from the narrowest on: "sd_district",
                                  * "sd"; NULL at the end */
    dpi_parameter_kind kind;
    dpi_prior prior; /* of the latent, where the caller has none */
    double shift, unit;
} dpi_parameter;

/* Groups of one kind, which all effects of these share. */
typedef struct dpi_member {
    const char *by;
    dpi_groups groups;
    dpi_value index;
} dpi_member;

typedef struct dpi_formula_walk {
    dpi_writer w;
    const dp_formula *f;
    dp_error *err;
    bool *used;         /* [f->n_priors] of the caller's priors: they have been of something */
    dpi_bytes names;    /* of the parameters that a caller's prior can be of, for messages */
    dpi_bytes *told;    /* parameters and their priors for people; NULL: nobody reads them */
    dp_formula *known;  /* takes what latents are known as; NULL: nobody asks */
    dpi_member *member; /* [n_members] */
    size_t n_members, capacity;
    dpi_value
        centre; /* w . c / s, the predictor's value where every column is 0, less that in the */
    bool has_centre; /* middle; only where thresholds take the place of the intercept */
} dpi_formula_walk;

/* A predictor's value for each record, and how it is brought to the parameter's scale. */
typedef struct dpi_predictor_names {
    const char *suffix; /* of names: "" for mu, "_sigma"; with `infix` "" and "sigma_" */
    const char *infix;
    double centre, unit;
    double spread, reach; /* default priors: sd of coefficients and of the intercept, in units */
    bool intercept;       /* one of its own: not where thresholds take its place */
} dpi_predictor_names;

/* The prior of a parameter's latent. */
dp_status dpi_walk_prior(dpi_formula_walk *k, const dpi_parameter *p, dpi_prior *prior);

/* Tells people of a parameter with a prior on its own scale. */
void dpi_walk_tell(dpi_formula_walk *k, const char *name, const dpi_prior *prior);

/* Keeps by which name people know a latent, and its unit there. */
void dpi_walk_know(dpi_formula_walk *k, const char *latent, const char *name, double unit);

/* The latent of a parameter, a number. */
dpi_value dpi_walk_parameter(dpi_formula_walk *k, const dpi_parameter *p);

/* centre + unit * (the sum of the predictor's terms) + offsets, for each record. */
dpi_value dpi_walk_predictor(dpi_formula_walk *k, const dpi_predictor *p, const dpi_layout *l,
                             const dpi_predictor_names *names);

/* Writes the whole model; w.model is owned by the caller whatever happens. */
dp_status dpi_walk_model(dpi_formula_walk *k);

/* The value of smooth number i of a predictor for each record, in the predictor's units. */
dpi_value dpi_walk_smooth(dpi_formula_walk *k, const dpi_predictor *p, size_t i,
                          const dpi_predictor_names *names);

/* `eta` and the effects of grouping number g. */
dpi_value dpi_walk_groups(dpi_formula_walk *k, const dpi_predictor *p, const dpi_layout *l,
                          size_t g, const dpi_predictor_names *names, dpi_value eta);

/* Where the eigenfunctions of a Gaussian process vanish, in half ranges from the middle. */
#define DPI_WIDE 1.5

/* before + middle + after, in the walk's arena. */
const char *dpi_walk_joined(dpi_formula_walk *k, const char *before, const char *middle,
                            const char *after);

/* The text, or "" and a failed walk where it is NULL; the name of a latent, which is that of its
 * parameter where it is natural, and else has "scaled." before it. */
const char *dpi_walk_safe(dpi_formula_walk *k, const char *text);
const char *dpi_walk_latent_name(dpi_formula_walk *k, const char *name, bool natural);

/* Names of columns of a formula's data set, in an arena: "design(mu)" with g = SIZE_MAX, and of the
 * effects of its grouping number g "design(mu | g)"; "offset(mu)"; "s(x)"; "g:h". */
const char *dpi_design_name(const dpi_predictor *p, size_t g, dpi_arena *arena);
const char *dpi_offset_name(const dpi_predictor *p, dpi_arena *arena);
const char *dpi_by_name(const dpi_grouping *g, dpi_arena *arena);

#endif
