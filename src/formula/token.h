/* The words of a formula: names, numbers, signs. */
#ifndef DPI_FORMULA_TOKEN_H
#define DPI_FORMULA_TOKEN_H

#include <stdbool.h>

#include "formula/place.h"

/* A sign of one character is its own kind: '+', '('. */
typedef enum dpi_token_kind {
    DPI_TOKEN_END = 0,
    DPI_TOKEN_NAME = 256,
    DPI_TOKEN_NUMBER,
    DPI_TOKEN_BARS, /* || */
    DPI_TOKEN_BAD   /* an error has been recorded */
} dpi_token_kind;

typedef struct dpi_token {
    int kind;
    size_t at, size; /* bytes of the text; of a name in `backquotes` without them */
    double number;
} dpi_token;

typedef struct dpi_scanner {
    const dpi_script *script;
    size_t at; /* behind `now` */
    dpi_token now;
} dpi_scanner;

/* Begins with the first token; takes the next one.  A token that is none is DPI_TOKEN_BAD, and so
 * are all after it. */
void dpi_scan_begin(dpi_scanner *s, const dpi_script *script);
void dpi_scan_next(dpi_scanner *s);

enum { DPI_TOKEN_WORDS = 80 };

/* The token for a message: "'+'", "the name 'age'", "the end of the text". */
const char *dpi_token_words(const dpi_scanner *s, const dpi_token *token,
                            char words[DPI_TOKEN_WORDS]);

#endif
