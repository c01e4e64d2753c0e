/* Lowering: from the graph of a fitted model to the stages of a program.
 *
 * Every node that a record's columns reach is a **cut**, whose value is that of a stage (a relu, a
 * convolution, a pool), or it is a polynomial in the columns and the cuts below it, of degree at
 * most one in each column.  The **terms** of that polynomial, which columns are multiplied with one
 * another, are found from the operations' rules; their coefficients by running the piece of the
 * graph (region.c).  Group numbers count as vectors of indicators. */
#ifndef DPI_PROGRAM_LOWER_H
#define DPI_PROGRAM_LOWER_H

#include <tacit/lower.h>

#include "fit/draws.h"
#include "fit/fit.h"
#include "program/program.h"

/* What an operation is where a record's columns reach its inputs. */
typedef enum dpi_lower_kind {
    DPI_LOWER_NOT = 0,  /* refused */
    DPI_LOWER_COLUMN,   /* a real column */
    DPI_LOWER_GROUPS,   /* a column of group numbers, for picks alone */
    DPI_LOWER_FIXED,    /* the same for every record */
    DPI_LOWER_LINEAR,   /* linear in all inputs together, or a layout */
    DPI_LOWER_PRODUCT,  /* linear in each input */
    DPI_LOWER_MATRIX,   /* the same, a product of matrices: with patches, a convolution */
    DPI_LOWER_QUOTIENT, /* linear in the first input, the second being global */
    DPI_LOWER_PICK,     /* a row of a global value */
    DPI_LOWER_SAME,     /* the same numbers in the same order */
    DPI_LOWER_PATCHES,  /* what a convolution is made of */
    DPI_LOWER_POOL,     /* what a mean of windows is made of */
    DPI_LOWER_CUT       /* a stage of its own */
} dpi_lower_kind;

typedef struct dpi_lower_rule {
    dpi_lower_kind kind;
    dp_stage_kind stage; /* of a cut */
} dpi_lower_rule;

/* By the operation's id. */
extern const dpi_lower_rule dpi_lower_rules[DPI_N_OPS];

/* Columns whose numbers are multiplied with one another: bit c is column c.  Terms of nodes above a
 * cut have DPI_TERM_CUT alone. */
typedef uint64_t dpi_term;
#define DPI_TERM_CUT ((dpi_term)1 << 63)

enum { DPI_LOWER_COLUMNS = 62, DPI_LOWER_TERMS = 64 };

typedef struct dpi_crossings {
    size_t n;
    dpi_term term[DPI_LOWER_TERMS]; /* 0: a constant */
} dpi_crossings;

typedef struct dpi_lower_column {
    dpi_id node;
    const char *name;
    size_t size; /* numbers, or groups */
    bool groups;
} dpi_lower_column;

/* A term of the input: where its numbers begin, the last column's varying fastest. */
typedef struct dpi_feature {
    dpi_term term;
    size_t first, size;
} dpi_feature;

typedef struct dpi_lowering {
    dpi_arena arena;
    dp_error *err;
    const dpi_graph *g;
    dp_program *p;
    bool *reached;   /* [nodes] by columns of the record */
    double **global; /* [nodes] values [draws][size] of those that are not; NULL: not needed */
    dpi_crossings *
        *terms; /* [nodes] of nodes that are reached and are no cuts; NULL: not known yet */
    int *stage; /* [nodes] that have one; -1 */
    dpi_lower_column column[DPI_LOWER_COLUMNS];
    size_t n_columns;
    dpi_feature feature[DPI_LOWER_TERMS];
    size_t n_features, n_inputs;
    size_t draws;
} dpi_lowering;

/* The stage of a node's numbers, of each draw one after the other, which is added with all that it
 * needs; -1 and the error. */
int dpi_lower_node(dpi_lowering *l, dpi_id id);

/* The same of a node that is no cut: dense stages and their sums (region.c). */
int dpi_lower_region(dpi_lowering *l, dpi_id id);

/* Whether the node is a cut: by its rule, as a mean of windows, or as a convolution with what is
 * added to it, the product itself being dpi_lower_convolution (else DPI_NONE). */
bool dpi_lower_is_cut(const dpi_lowering *l, dpi_id id);
dpi_id dpi_lower_convolution(const dpi_lowering *l, dpi_id id);

/* The image whose numbers make a cut. */
dpi_id dpi_lower_operand(const dpi_lowering *l, dpi_id cut);

/* The terms of a node that the record's columns reach, in columns and cuts; NULL and the error. */
const dpi_crossings *dpi_lower_terms(dpi_lowering *l, dpi_id id);

/* Values of the node for n records in which cuts and columns have the numbers that `set` puts into
 * them, number `element` of leaf `of` for record r: out[n][size], for that draw.  See region.c. */
typedef struct dpi_lower_piece dpi_lower_piece;
dpi_lower_piece *dpi_lower_piece_new(dpi_lowering *l, dpi_id id, size_t draw);
void dpi_lower_piece_free(dpi_lower_piece *piece);
void dpi_lower_piece_set(dpi_lower_piece *piece, size_t record, dpi_id leaf, size_t element,
                         double value);
bool dpi_lower_piece_run(dpi_lower_piece *piece, size_t n, double *out);
enum { DPI_PIECE_RECORDS = 256 };

/* Fails with DP_EUNSUPPORTED: why the node cannot be served. */
void dpi_lower_refuse(dpi_lowering *l, dpi_id id, const char *why);

#endif
