/* The grammar of formulas: text to trees. */
#ifndef DPI_FORMULA_PARSE_H
#define DPI_FORMULA_PARSE_H

#include "formula/place.h"
#include "formula/tree.h"

/* Bounds on what is read; each has an error of its own. */
enum {
    DPI_MOST_TEXT = 8192,  /* bytes */
    DPI_MOST_TREES = 1000, /* names, numbers and signs of a text; the depth of left-leaning sums */
    DPI_MOST_NESTED = 40,  /* parentheses, signs and powers in one another */
    DPI_MOST_STATEMENTS = 16 /* formulas of a text */
};

/* One formula of a text: left | additions ~ right. */
typedef struct dpi_statement {
    const dpi_tree *left;     /* NULL: nothing stands there */
    const dpi_tree *addition; /* the calls behind '|', each with the one beside it; or NULL */
    const dpi_tree *right;
    size_t at; /* byte of the text where it begins */
    struct dpi_statement *next;
} dpi_statement;

/* The formulas of a text, at least one; trees and names live in the arena.  DP_EINVAL with the
 * place; DP_ENOMEM. */
dp_status dpi_parse_formulas(const dpi_script *script, dpi_arena *arena, dpi_statement **first);

/* A text that is one name or one call, such as "gamma(log)" or "normal(0, 2.5)". */
dp_status dpi_parse_call(const dpi_script *script, dpi_arena *arena, dpi_tree **call);

#endif
