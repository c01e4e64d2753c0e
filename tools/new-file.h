/* A file that is made whole or not at all: written beside its place, and moved there. */
#ifndef TOOLS_NEW_FILE_H
#define TOOLS_NEW_FILE_H

#include <limits.h>

#include "tools/options.h"

typedef struct new_file {
    const char *path;    /* where it will be; borrowed */
    char name[PATH_MAX]; /* where it is written; "" when there is none */
} new_file;

/* Whether a file could be made there and there is none; `reason` says why one that is there stays:
 * "a fit that was paid for cannot be had again".  The message names --out. */
bool new_file_check(const char *path, const char *reason, message *why);

/* Makes an empty file beside `path`, where there may be one that is then replaced. */
bool new_file_begin(new_file *f, const char *path, message *why);

/* Moves what was written to its place, or removes it; false where that failed. */
bool new_file_keep(new_file *f, message *why);
void new_file_drop(new_file *f);

#endif
