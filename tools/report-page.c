/* What all sections write with. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/report-style.h"
#include "tools/report.h"
#include "tools/text.h"

void report_put(report_page *r, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vfprintf(r->page, format, list);
    va_end(list);
}

void report_say(report_page *r, const char *text)
{
    text_html(r->page, text);
}

void report_fail(report_page *r, const char *text)
{
    if (r->why.text[0] == '\0')
        (void)complain(&r->why, "%s", text);
}

const char *report_number(double value, double sd, char room[32])
{
    const bool sized = sd >= 1e-6 && sd < 1e6 && fabs(value) < 1e12;
    const int digits = sized ? 1 - (int)floor(log10(1.005 * sd)) : 0; /* of .0995, which is .10 */
    if (!isfinite(value))
        (void)snprintf(room, 32, "%s", isnan(value) ? "?" : value > 0 ? "infinite" : "-infinite");
    else if (sized) {
        const double step = digits > 0 ? pow(10, -digits) : 1; /* what is less than half is 0 */
        (void)snprintf(room, 32, "%.*f", digits > 0 ? digits : 0,
                       fabs(value) < .5 * step ? 0 : value);
    } else
        (void)snprintf(room, 32, "%.4g", value);
    return room;
}

const char *report_level(const report_page *r, size_t k, char room[32])
{
    const size_t level = r->first_level + k;
    room[0] = '\0';
    if (r->levels == NULL)
        return room;
    if (r->levels->kind == DP_COLUMN_LEVEL)
        return level < r->levels->n_levels ? r->levels->levels[level] : "?";
    (void)snprintf(room, 32, "%.0f", r->levels->low + (double)level);
    return room;
}

/* ---- frame ---- */

void report_begin(report_page *r)
{
    const char *title = r->source != NULL ? r->source->formula : "a fitted model";
    report_put(r, "<!DOCTYPE html>\n<!-- tacit report -->\n<html lang=\"en\">\n<head>\n"
                  "<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'\">\n<title>Report: ");
    report_say(r, title);
    report_put(r, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<h1>Report on the fit of ",
               report_style);
    report_put(r, "<code>");
    report_say(r, title);
    report_put(r, "</code></h1>\n");
}

void report_end(report_page *r)
{
    report_put(r, "</body>\n</html>\n");
}

void report_section(report_page *r, const char *id, const char *title)
{
    report_put(r, "<h2 id=\"%s\">%s</h2>\n", id, title);
}

/* ---- pictures ---- */

/* The file of a picture, of a name that is made of letters, digits and '-'. */
static void draw_file(report_page *r, const char *name, const picture *p)
{
    static const char *const ends[] = {
        [PICTURE_SVG] = "svg", [PICTURE_PNG] = "png", [PICTURE_PDF] = "pdf"};
    char path[PATH_MAX];
    message why = {""};
    const int n =
        snprintf(path, sizeof path, "%s/%s.%s", r->m.said.pictures, name, ends[r->format]);
    FILE *file = n > 0 && (size_t)n < sizeof path ? fopen(path, "wb") : NULL;
    if (file == NULL) {
        (void)complain(&why, "--pictures: %.300s cannot be made (%s)", path, strerror(errno));
        report_fail(r, why.text);
        return;
    }
    const bool drawn = picture_draw(p, r->format, file, &why);
    if (fclose(file) != 0 && drawn)
        (void)complain(&why, "--pictures: %.300s cannot be written (%s)", path, strerror(errno));
    if (why.text[0] != '\0')
        report_fail(r, why.text);
}

void report_picture(report_page *r, const char *name, const picture *p, const char *caption)
{
    char id[32];
    message why = {""};
    picture known = *p;
    if (r->why.text[0] != '\0')
        return;
    (void)snprintf(id, sizeof id, "p%zu", ++r->n_pictures);
    known.id = id;
    report_put(r, "<figure>\n<figcaption><b>");
    report_say(r, p->title);
    report_put(r, "</b>%s", caption[0] != '\0' ? ". " : "");
    report_say(r, caption);
    report_put(r, "</figcaption>\n");
    if (!picture_draw(&known, PICTURE_INLINE, r->page, &why))
        report_fail(r, why.text);
    report_put(r, "</figure>\n");
    if (r->m.said.pictures != NULL)
        draw_file(r, name, &known);
}
