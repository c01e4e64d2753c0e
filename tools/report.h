/* The report on a fit: one page of HTML that needs nothing but itself.
 *
 * A section is a function that writes its part of the page.  What a section cannot tell it says in
 * its place; what makes the whole report fail (pictures that cannot be drawn, memory) is kept in
 * `why`, the first such message, and nothing is written to the file then.
 *
 * A fit may come from anywhere: its texts go through report_say alone, which lets none of them be
 * taken for HTML. */
#ifndef TOOLS_REPORT_H
#define TOOLS_REPORT_H

#include <tacit/fit.h>

#include "tools/modelling.h"
#include "tools/picture.h"

/* Numbers of the fit that have a place in the report. */
enum { REPORT_NUMBERS = 2000 };

typedef struct report_page {
    const char *path; /* of the fit */
    modelling m;      /* schema and formula that the fit tells; NULL where it tells none */
    dp_fit *fit;
    const dp_fit_source *source; /* NULL: it tells none */
    message source_fault;        /* why it is not understood; empty: it is, or there is none */
    bool priors_known;           /* the formula has the priors of the fit */
    dp_privacy privacy;
    /* of the formula */
    const char *outcome;     /* NULL without one */
    const dp_column *levels; /* of the outcome; NULL where it is a number */
    size_t first_level;      /* whose chance the first expected value is */
    /* the page */
    FILE *page;
    size_t n_pictures;
    picture_format format; /* of files */
    message why;
} report_page;

/* ---- the page (report-page.c) ---- */

void report_begin(report_page *r);
void report_end(report_page *r);
void report_section(report_page *r, const char *id, const char *title);

/* Writes HTML.  No text of the fit may be among what is written so. */
void report_put(report_page *r, const char *format, ...) TOOLS_PRINTF(2, 3);

/* Writes a text, of which nothing is HTML. */
void report_say(report_page *r, const char *text);

/* A picture, which has a title, with its caption, which is text; `name`, of letters, digits and
 * '-', is what its file is called. */
void report_picture(report_page *r, const char *name, const picture *p, const char *caption);

/* Keeps the first message. */
void report_fail(report_page *r, const char *text);

/* A number with so many digits as its standard deviation makes sense of: dp_fit_print's. */
const char *report_number(double value, double sd, char room[32]);

/* The level of the outcome whose chance is expected value k; "" where it has none. */
const char *report_level(const report_page *r, size_t k, char room[32]);

/* ---- the sections ---- */

void report_in_short(report_page *r);
void report_privacy(report_page *r);
void report_model(report_page *r);
void report_checks(report_page *r);
void report_coefficients(report_page *r);
void report_groups(report_page *r);
void report_effects(report_page *r);
void report_twins(report_page *r);
void report_releases(report_page *r);
void report_reproduce(report_page *r);
void report_numbers(report_page *r);

#endif
