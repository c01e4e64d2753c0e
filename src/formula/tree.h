/* Expressions of a formula as trees, and their canonical text, which is also what tells two of them
 * apart. */
#ifndef DPI_FORMULA_TREE_H
#define DPI_FORMULA_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/bytes.h"

typedef enum dpi_tree_kind {
    DPI_TREE_NAME = 0,
    DPI_TREE_NUMBER,
    DPI_TREE_CALL,  /* name(arguments) */
    DPI_TREE_SIGN,  /* -a, +a */
    DPI_TREE_BINARY /* a + b; op '|' and DPI_BARS in groups only */
} dpi_tree_kind;

enum { DPI_BARS = 'v' }; /* the op of || */

typedef struct dpi_tree {
    dpi_tree_kind kind;
    char op;           /* SIGN, BINARY */
    const char *name;  /* NAME, CALL */
    const char *label; /* of an argument k = 5: "k"; else NULL */
    double number;
    size_t at;                     /* byte of the text where it begins; of a binary its op */
    struct dpi_tree *first, *next; /* operands or arguments, and the one beside it */
} dpi_tree;

/* Appends the canonical text, as R's deparse writes it: blanks around + - *, none around ^ : /,
 * parentheses only where they are needed, names in backquotes where they must be. */
void dpi_tree_text(const dpi_tree *tree, dpi_bytes *to);

/* The same in an arena; NULL when memory is out. */
const char *dpi_tree_string(const dpi_tree *tree, dpi_arena *arena);

/* Appends a name, in backquotes if it needs them; plain text; and a number, which strtod reads back
 * as the same. */
void dpi_text_name(dpi_bytes *to, const char *name);
void dpi_text_add(dpi_bytes *to, const char *text);
void dpi_text_number(dpi_bytes *to, double number);

/* A number for people, of four digits. */
void dpi_text_short(dpi_bytes *to, double number);

/* What was appended as a string in the arena, and frees it; NULL when memory is or was out. */
char *dpi_text_take(dpi_bytes *text, dpi_arena *arena);

/* Operands of a tree. */
size_t dpi_tree_count(const dpi_tree *tree);

/* Where the tree reads the column of that name, or NULL.  What has a label, and a contrast, is no
 * column. */
const dpi_tree *dpi_tree_find_name(const dpi_tree *tree, const char *name);

/* A call of that name. */
bool dpi_tree_is_call(const dpi_tree *tree, const char *name);

#endif
