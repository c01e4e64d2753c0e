/* SVG as an element of a page. */
#ifndef TOOLS_PICTURE_INLINE_H
#define TOOLS_PICTURE_INLINE_H

#include <stdio.h>

#include "tools/options.h"

/* Writes what gnuplot has drawn as an <svg> element: only elements and attributes that draw or say
 * something, ids with `id` before them, references within the picture alone, `label` as what it is
 * called.  False with a message where there is anything else in it. */
bool picture_inline(const char *svg, const char *id, const char *label, FILE *out, message *why);

#endif
