/* What a run is made of, for run.c and clip.c. */
#ifndef DPI_EXEC_RUN_STATE_H
#define DPI_EXEC_RUN_STATE_H

#include "exec/factored.h"
#include "exec/run.h"
#include "exec/terms.h"

enum { GLOBALS, RECORDS, LATE, N_STAGES };

/* A column and where its values go. */
typedef struct dpi_binding {
    const dpi_column *column;
    double *out;           /* or NULL, where only */
    float *floats;         /* are read */
    size_t groups;         /* how many the group numbers name; 0: they are none */
    unsigned char *chance; /* [chunk][size] what decides a drawn column; else NULL */
} dpi_binding;

/* A part of each record's gradient. */
typedef struct dpi_part {
    const dpi_factored *factored; /* decompositions of its operation, or NULL: see terms */
    dpi_call call;
    size_t size;
    dpi_terms *terms;   /* or NULL: the value itself is summed */
    dpi_chains *chains; /* or NULL: sums are in double */
    const float
        *kept[2]; /* an outer product's factors, records one behind the other, where they are
                           * floats alone (dpi_run_spec.kept); else NULL, and they are the call's */
    const float
        *made; /* [chunk][size] the value itself, where it is summed and made as floats; else
                        * NULL, and it is the call's result */
} dpi_part;

/* A value and its copy in single precision. */
typedef struct dpi_copy {
    dpi_id node;
    size_t size;
    bool of_record, of_lent;
    const double *from;
    float *to;
} dpi_copy;

/* A call on floats; a sum over records where forward is NULL. */
typedef struct dpi_single {
    void (*forward)(const dpi_call_single *call);
    dpi_call_single call;
    const dpi_call *wide; /* pointers are NULL where there is no double buffer */
} dpi_single;

/* Calls that are run together on some records after the other (strips.c). */
typedef struct dpi_strip {
    size_t first, n;
    size_t records; /* at a time */
} dpi_strip;

/* By how much a call's operands and result move from record to record; 0 where they are of all
 * records or of one strip. */
typedef struct dpi_move {
    size_t in[3], out;
} dpi_move;

struct dpi_run {
    dpi_arena arena;
    dpi_run_spec spec;
    const dpi_run *of; /* of a clone: the run it was made from; else NULL */
    double **value;    /* [n_nodes], NULL for nodes that are not made; a clone has only borrowed its
                     * global ones */
    size_t n_nodes;    /* of the graph when the run was made; it may have grown since */
    size_t *numbers;   /* [n_nodes] that calls from outside may name: 0 where there is no value, or
                          one of a strip */
    dpi_id *taken;     /* [n_nodes] whose call makes the node, a product, on its way; 0: its own */
    dpi_call *calls[N_STAGES];
    size_t n_calls[N_STAGES];
    size_t
        *rows; /* [n_nodes] records that a buffer of records' values is for: a chunk, or a strip */
    size_t *strip_of;  /* [n_nodes] records that the node's call is run on at a time */
    dpi_strip *strips; /* of the records' stage */
    size_t n_strips;
    dpi_move *moves; /* [n_calls[RECORDS]] */
    dpi_binding *bindings;
    size_t n_bindings;
    dpi_decomposition *decompositions; /* [n_parts] */
    dpi_part *parts;
    bool *outer, mostly_outer; /* [n_parts] which parts are outer products (factors.c); most numbers
                                * of the release */
    dpi_call **sums;           /* calls that sum over records, whose results start at zero */
    size_t n_sums;
    bool chained; /* some sums go through chains of floats */
    double *ones; /* [chunk] weights of records that are added as they are */
    /* in single precision only */
    float **narrow;      /* [n_nodes] as `value`: of records' nodes and of what they read */
    dpi_single *singles; /* [n_calls[RECORDS]] */
    dpi_copy *copies;    /* what is narrowed */
    size_t n_copies;
    bool refreshed; /* since they last changed */
    double *room;   /* [n_room] what is on its way from doubles to floats, or back */
    size_t n_room;
};

#endif
