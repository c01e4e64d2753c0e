/* How records read the latents: arguments of what is observed, their slopes, and the layout of
 * what is released of them.
 *
 * theta is the unconstrained latents (dpi_objective of points), d numbers.  The observation of a
 * record has K arguments eta that depend on theta, and G = d eta / d theta, [K][d].  Its columns
 * are of two kinds:
 *
 *   dense   of a latent that all records read, as it is or from a vector
 *   plate   of a latent [members][size] of which a record reads the row of one member
 *
 * Coordinates of a release: first p dense ones, those of dense latents and, of each plate, `size`
 * means, along which all members move together: their sums are over all records, and tell more of
 * the groups' mean than the groups' own noisy sums do.  Then the members' own, plate after plate.
 * A record has `local` of them that are not zero: the p dense ones and its members'. */
#ifndef DPI_INFER_VIEW_H
#define DPI_INFER_VIEW_H

#include "exec/run.h"
#include "model/objective.h"

enum {
    DPI_READ_MOST = 8,      /* numbers of a record's arguments that depend on latents */
    DPI_REFUSED_WORDS = 280 /* that say why a model is not taken */
};

/* A latent with a slope for each argument; DPI_NONE where an argument does not read it. */
typedef struct dpi_read {
    const dpi_block *block;
    size_t at;      /* of its numbers, or its plate's means, among the dense coordinates */
    size_t size;    /* numbers, of a member where there are members */
    size_t members; /* 0: dense */
    size_t first;   /* of a plate: where its members' coordinates begin in a release */
    size_t local;   /* of a plate: where its member's numbers begin in a record's */
    dpi_id index;   /* of a plate: the number of the record's member */
    dpi_id slope[DPI_READ_MOST];
} dpi_read;

typedef struct dpi_model_view {
    dpi_objective objective;
    const dpi_observation *seen;
    size_t k;                      /* K */
    int arg_of[DPI_READ_MOST];     /* argument that number j of eta belongs to */
    size_t element[DPI_READ_MOST]; /* and which of its numbers it is */
    dpi_read *reads;
    size_t n_reads, n_plates; /* plates are last */
    size_t p, local, n_release;
    char refused[DPI_REFUSED_WORDS]; /* why, after DP_EUNSUPPORTED, in words of one line */
} dpi_model_view;

/* Reads a model.  DP_EUNSUPPORTED, with r->refused, for models with latents of records, parameters
 * without a prior, several numbers or columns observed of a record, observations whose expectations
 * are not known, or more latents than are handled, all of which the loop takes (loop.h); DP_EINVAL,
 * or the model's own error; DP_ENOMEM. */
dp_status dpi_model_view_init(dpi_model_view *r, const dp_model *model,
                              dp_error *err) DP_MUST_CHECK;
void dpi_model_view_free(dpi_model_view *r);

/* Whether outcomes are two or some levels, so that a score is among few. */
bool dpi_view_has_levels(const dpi_model_view *r);

#endif
