/* What stands on the right side of a formula: its terms. */
#ifndef DPI_FORMULA_TERMS_H
#define DPI_FORMULA_TERMS_H

#include <stdint.h>

#include "formula/parse.h"

enum {
    DPI_MOST_VARIABLES =
        60, /* of a predictor: a term is a set of them, in the bits of a uint64_t */
    DPI_MOST_TERMS = 128,
    DPI_MOST_GROUPS = 32, /* groups' effects, and as many smooths and offsets */
    DPI_MOST_BY = 4       /* columns whose levels together make a group, a:b, or mm(a, b) */
};

/* Sets of variables, the fewest first, and among as many in the order in which they stand. */
typedef struct dpi_term_list {
    uint64_t *set; /* [n], room for DPI_MOST_TERMS */
    size_t n;
    bool intercept;
} dpi_term_list;

/* (terms | by): effects of groups, each ~ N(0, sd), correlated within a group unless || stands. */
typedef struct dpi_grouping {
    dpi_term_list terms;
    const dpi_tree *by[DPI_MOST_BY]; /* names of columns; each level of a:b is a group */
    size_t n_by;
    bool several; /* mm(a, b): a record is in the groups of both columns, with equal weights */
    bool correlated;
    size_t at;
} dpi_grouping;

/* One predictor: of the mean, or of another parameter of the family. */
typedef struct dpi_predictor {
    const char *of; /* "mu", "sigma"; borrowed from the family */
    const dpi_tree *variable[DPI_MOST_VARIABLES];
    const char *text[DPI_MOST_VARIABLES]; /* canonical, which tells variables apart */
    size_t n_variables;
    dpi_term_list terms;
    dpi_grouping *grouping; /* [n_groupings] */
    size_t n_groupings;
    const dpi_tree **smooth, **offset; /* calls s(), gp(); what stands in offset() */
    size_t n_smooths, n_offsets;
} dpi_predictor;

/* The terms of `right`, the right side of a formula, by Wilkinson and Rogers' algebra as R has it.
 * DP_EINVAL, DP_EUNSUPPORTED with the place; DP_ENOMEM. */
dp_status dpi_terms_expand(const dpi_script *script, const dpi_tree *right, dpi_arena *arena,
                           dpi_predictor *p);

/* The canonical text of the right side, which expands to the same predictor. */
void dpi_predictor_text(const dpi_predictor *p, dpi_bytes *to);

/* Texts of parts: "x:f" of a set, "g:h" or "mm(g, h)" of a grouping's groups. */
void dpi_set_text(const dpi_predictor *p, uint64_t set, dpi_bytes *to);
void dpi_by_text(const dpi_grouping *g, dpi_bytes *to);

/* The numbers of variables in a set. */
size_t dpi_set_size(uint64_t set);

#endif
