/* The two curves of `tacit risk --plot`. */
#ifndef TOOLS_CURVES_H
#define TOOLS_CURVES_H

#include <tacit/accountant.h>

#include "tools/options.h"

/* Draws trade-off curve and privacy profile of a list into a file.  False with a message. */
bool curves_draw(const char *path, const dp_mechanism *list, size_t n, message *why);

#endif
