/* Pictures: intervals in rows, and curves with bands.
 *
 *   const picture_series s = {
 *       .style = PICTURE_POINT, .n = 2, .value = mean, .low = q05, .high = q95};
 *   const picture p = {.names = names, .n_names = 2, .value = {.label = "log odds"},
 *                      .series = &s, .n = 1, .rule = 0};
 *   if (!picture_draw(&p, PICTURE_SVG, file, &why)) ...
 *
 * gnuplot draws them, which is a program of its own and must be there when a picture is drawn
 * (tools/gnuplot.h).  Texts may come from anywhere: none of their characters means anything to
 * gnuplot or to SVG.  Series are told apart by colours that the colour-blind can tell apart (those
 * of Okabe and Ito), and by dashes and marks, so that a picture can be printed in black. */
#ifndef TOOLS_PICTURE_H
#define TOOLS_PICTURE_H

#include <stdio.h>

#include "tools/options.h"

enum { PICTURE_SERIES = 7, PICTURE_ROWS = 400 };

typedef enum picture_format {
    PICTURE_SVG = 0, /* a file */
    PICTURE_PNG,
    PICTURE_PDF,
    PICTURE_INLINE /* an <svg> element for a page of HTML: as wide as there is room, without script,
                    * style or anything from outside; its ids begin with the picture's */
} picture_format;

typedef enum picture_style {
    PICTURE_LINE = 0,
    PICTURE_POINT,
    PICTURE_MARKED /* a line, with a mark at each value */
} picture_style;

typedef struct picture_axis {
    const char *label; /* NULL: none */
    double from, to;   /* equal: what there is to be shown */
    bool log;          /* values above 0 alone are shown */
} picture_axis;

/* Values at places; what is not finite is left out. */
typedef struct picture_series {
    const char *name; /* in the key; NULL: not there */
    picture_style style;
    size_t n;
    const double *place;      /* [n]; NULL, as always for rows: 1, 2, ... */
    const double *value;      /* [n] */
    const double *low, *high; /* [n], a band around a line, a bar around a point; NULL: none */
} picture_series;

/* Rows, where there are names: a row for each, from the top, with its values across.  Else places
 * lie across and values upwards. */
typedef struct picture {
    const char *id;    /* of PICTURE_INLINE: letters and digits, another for each of a page */
    const char *title; /* NULL: none; PICTURE_INLINE has it as the name for who cannot see */
    const char *const *names; /* [n_names], at most PICTURE_ROWS; long ones are cut */
    size_t n_names;
    picture_axis place, value; /* rows have no axis of places */
    const picture_series *series;
    size_t n;              /* at most PICTURE_SERIES */
    double rule;           /* a value at which a line is drawn; NaN: none */
    const double *upright; /* a place at which one is; NULL: none.  Rows have no places */
} picture;

/* False with a message: gnuplot is missing or failed, or the file cannot be written. */
bool picture_draw(const picture *p, picture_format format, FILE *out, message *why);

/* The format that a word or the end of a file's name means, "svg", "use.png"; false for others. */
bool picture_format_of(const char *name, picture_format *format);

#endif
