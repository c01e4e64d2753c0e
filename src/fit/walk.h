/* Values of nodes of the fit's model for draws of its global latents and chunks of records.
 *
 *   for each draw d:  dpi_walk_draw(w, d)
 *       for each chunk: dpi_walk_records(w, first, m), read w->model.run */
#ifndef DPI_FIT_WALK_H
#define DPI_FIT_WALK_H

#include "exec/run.h"
#include "fit/draws.h"

/* A global input of a graph, and where its numbers lie. */
typedef struct dpi_global {
    dpi_id node;
    size_t first, size;
    bool of_draw; /* in the draw; else among the parameters */
} dpi_global;

/* A graph that is run: the model's, or the guide's. */
typedef struct dpi_walk_side {
    const dp_model *m;
    size_t n_sites; /* as fitted */
    bool *needed;   /* [nodes] */
    dpi_id *wanted; /* [nodes] */
    size_t n_wanted;
    dpi_global *globals;
    size_t n_globals;
    dpi_run *run; /* NULL when nothing of it is needed */
} dpi_walk_side;

/* A latent of records that is set before the model is run. */
typedef struct dpi_own {
    const dpi_site *site;     /* of the graph that it comes from */
    dpi_id mean;              /* node of its mean, where that is what it is set to; else DPI_NONE */
    const dpi_column *column; /* that it is read from, or NULL */
    dpi_id node;              /* in the model; DPI_NONE where nothing there needs it */
    size_t size;
} dpi_own;

typedef struct dpi_walk {
    dpi_arena arena;
    const dp_fit *fit;
    const dp_given *given;
    const dp_draws *draws;
    dp_draws *centre;            /* of the walk's own, or NULL */
    size_t n_records, chunk;     /* 0 records: global values are asked for */
    dpi_walk_side model, source; /* source: what latents of records come from */
    dpi_own *own;
    size_t n_own;
    double *values;            /* [chunk][largest of own] */
    double *arg[DPI_MAX_ARGS]; /* [arg_room[k]] scratch of dpi_walk_sample */
    size_t arg_room[DPI_MAX_ARGS];
} dpi_walk;

/* Of nodes that all belong to records (of_records), or are all global.  Its memory is freed by
 * dpi_walk_free, also after an error.  Errors as dp_fit_evaluate. */
dp_status dpi_walk_init(dpi_walk *w, const dp_fit *fit, const dp_given *given, bool of_records,
                        const dpi_id *wanted, size_t n_wanted, dp_error *err) DP_MUST_CHECK;
void dpi_walk_free(dpi_walk *w);

/* Sets global latents to draw d and runs what is global. */
void dpi_walk_draw(dpi_walk *w, size_t d);

/* Runs m <= chunk records. */
void dpi_walk_records(dpi_walk *w, size_t first, size_t m);

/* Room for dpi_walk_sample of that site of that graph.  DP_ENOMEM. */
dp_status dpi_walk_room(dpi_walk *w, const dpi_walk_side *side, const dpi_site *site,
                        dp_error *err) DP_MUST_CHECK;

/* Draws the site's value of m records given its arguments as they were run last; record r's numbers
 * at out + r * step. */
void dpi_walk_sample(dpi_walk *w, const dpi_walk_side *side, const dpi_site *site, size_t m,
                     double *out, size_t step);

#endif
