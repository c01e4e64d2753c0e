/* Estimates and their variances, of several twins, from CSV files. */
#ifndef TOOLS_ESTIMATES_H
#define TOOLS_ESTIMATES_H

#include <stdbool.h>
#include <stddef.h>

#include "tools/options.h"

/* n numbers of m twins each. */
typedef struct estimates {
    size_t n, m;
    char **name;                 /* [n] in the order of the first twin */
    double *estimate, *variance; /* [n][m] */
} estimates;

/* Reads the files, RFC 4180 with a line of names: `name` (or `term`), `estimate`, `se` (or
 * `std.error`) or `variance`, and where a file has several twins `twin`; other columns are passed
 * over.  A file without that column is one twin.  False with a message: a file that is broken, a
 * number missing, twins that do not have the same names, fewer than two. */
bool estimates_read(estimates *e, size_t n_paths, char *const *paths, message *why);

/* The same of texts that end with a zero byte and are cut apart; `names` are what messages call
 * them. */
bool estimates_parse(estimates *e, size_t n, char *const *names, char *const *texts, message *why);

/* Also after an error. */
void estimates_free(estimates *e);

#endif
