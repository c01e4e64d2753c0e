/* A picture becomes a script of gnuplot with its data in it.  A text is written with every
 * character that is no letter or blank as its octal number, so that none can end the string, begin
 * a command (`...`), a macro or a format, and is drawn without marks of its own (noenhanced).
 *
 * Margins are set here, in the pixels of a picture that is WIDTH wide, from how long the names are:
 * gnuplot's own leave little room to draw in. */
#define _POSIX_C_SOURCE 200809L
#include "tools/picture.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/gnuplot.h"
#include "tools/picture-inline.h"
#include "tools/text.h"

enum { WIDTH = 440, INSIDE = 220, ROW = 18, LINE = 18, KEY_LINE = 20, NAME_ROOM = 206 };
static const double MOST = 1e100; /* beyond it gnuplot's own arithmetic may overflow */

/* Okabe and Ito's colours, blue first, with dash and mark of gnuplot's numbering. */
static const struct look {
    const char *colour;
    int dash, mark;
} looks[PICTURE_SERIES] = {{"#0072B2", 1, 7}, {"#D55E00", 2, 5},  {"#009E73", 4, 9},
                           {"#CC79A7", 3, 6}, {"#E69F00", 5, 13}, {"#56B4E9", 2, 4},
                           {"#000000", 1, 8}};

/* ---- texts ---- */

static void put_byte(FILE *to, unsigned char byte)
{
    if (byte >= 0x80 || isalpha(byte) || byte == ' ') /* digits would be read on by \ooo */
        (void)fputc(byte, to);
    else
        (void)fprintf(to, "\\%03o", byte);
}

/* About how many pixels a character takes, on the safe side. */
static double width_of(const char *character)
{
    const unsigned char c = (unsigned char)*character;
    if (c >= 0xe2)
        return 14;
    if (c >= 0x80 || isupper(c))
        return 10.2;
    return strchr("iljtf.,:;'()|![] /", c) != NULL ? 5.4 : strchr("mw%@&", c) != NULL ? 12.6 : 8.2;
}

static double text_width(const char *text)
{
    double width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) == 0x80 ? 0 : width_of(text);
    return width;
}

/* As a string of gnuplot, cut where there is no more room; a label of a tic is a format, in which
 * two % mean one. */
static void put_text(FILE *to, const char *text, bool is_format, double room)
{
    const bool fits = text_width(text) <= room;
    double width = 14; /* of the dots */
    (void)fputc('"', to);
    while (*text != '\0') {
        const size_t n = text_character(text);
        width += width_of(text);
        if (!fits && width > room) {
            (void)fputs("\xe2\x80\xa6", to);
            break;
        }
        for (size_t i = 0; i < n; i++)
            put_byte(to, (unsigned char)text[i]);
        if (n == 0)
            (void)fputc('?', to);
        if (is_format && *text == '%')
            put_byte(to, '%');
        text += n > 0 ? n : 1;
    }
    (void)fputc('"', to);
}

static void put_label(FILE *to, const char *what, const char *text, double room, const char *where)
{
    if (text == NULL)
        return;
    (void)fprintf(to, "set %s ", what);
    put_text(to, text, false, room);
    (void)fprintf(to, " noenhanced%s\n", where);
}

/* ---- ranges ---- */

static void widen(double *low, double *high, double value)
{
    if (!isfinite(value) || fabs(value) > MOST)
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

static double place_of(const picture_series *s, size_t i)
{
    return s->place != NULL ? s->place[i] : (double)i + 1;
}

/* The part of an axis that all that is to be shown needs. */
static picture_axis range_of(const picture *p, bool of_values)
{
    picture_axis a = of_values ? p->value : p->place;
    double low = HUGE_VAL, high = -HUGE_VAL;
    if (a.from != a.to)
        return a;
    for (size_t k = 0; k < p->n; k++)
        for (size_t i = 0; i < p->series[k].n; i++) {
            const picture_series *s = &p->series[k];
            const double value[3] = {of_values ? s->value[i] : place_of(s, i),
                                     of_values && s->low != NULL ? s->low[i] : NAN,
                                     of_values && s->high != NULL ? s->high[i] : NAN};
            for (int j = 0; j < 3; j++)
                widen(&low, &high, a.log && value[j] <= 0 ? NAN : value[j]);
        }
    if (low > high)
        low = high = a.log ? 1 : 0;
    const double share = of_values ? .04 : 0;
    const double room = a.log ? pow(high / low, share) : share * (high - low);
    a.from = a.log ? low / room : low - room;
    a.to = a.log ? high * room : high + room;
    if (a.from < a.to)
        return a;
    a.from = a.log ? low / 2 : low - fmax(1, fabs(low) * .1);
    a.to = a.log ? high * 2 : high + fmax(1, fabs(high) * .1);
    return a;
}

/* ---- room ---- */

static size_t keys(const picture *p)
{
    size_t n = 0;
    for (size_t k = 0; k < p->n; k++)
        n += p->series[k].name != NULL;
    return n;
}

/* Of rows, in which series lie below one another. */
static int row_height(const picture *p)
{
    return ROW + (ROW - 8) * ((int)p->n - 1);
}

/* Pixels around what is drawn. */
typedef struct margins {
    int left, right, top, bottom, height;
} margins;

static margins margins_of(const picture *p, picture_format format)
{
    const bool rows = p->n_names > 0, titled = p->title != NULL && format != PICTURE_INLINE;
    const char *label = rows ? p->value.label : p->place.label;
    margins m = {.left = p->value.label != NULL ? 72 : 54, .right = 16, .top = titled ? 34 : 10};
    double widest = 0;
    for (size_t i = 0; i < p->n_names; i++)
        widest = fmax(widest, text_width(p->names[i]));
    if (rows)
        m.left = 20 + (int)fmin(widest, NAME_ROOM);
    m.bottom =
        LINE + 8 + (label != NULL ? LINE : 0) + KEY_LINE * (int)keys(p) + (keys(p) > 0 ? 10 : 0);
    m.height = m.top + m.bottom + (rows ? row_height(p) * (int)p->n_names : INSIDE);
    return m;
}

/* ---- the script ---- */

static void put_terminal(FILE *to, const picture *p, picture_format format)
{
    const margins m = margins_of(p, format);
    const int height = m.height;
    if (format == PICTURE_PNG)
        (void)fprintf(to,
                      "set terminal pngcairo size %d,%d font \"sans,10\" fontscale 2 linewidth 2 "
                      "pointscale 2 background \"#ffffff\"\n",
                      2 * WIDTH, 2 * height);
    else if (format == PICTURE_PDF)
        (void)fprintf(to, "set terminal pdfcairo size %.3fin,%.3fin font \"sans,10\"\n",
                      WIDTH / 96.0, height / 96.0);
    else
        (void)fprintf(to, "set terminal svg size %d,%d %s font \"sans-serif,13\"%s\n", WIDTH,
                      height, format == PICTURE_SVG ? "fixed" : "dynamic",
                      format == PICTURE_SVG ? " background \"#ffffff\"" : "");
    (void)fprintf(to,
                  "set encoding utf8\nset minussign\n"
                  "set style fill transparent solid 0.18 noborder\n"
                  "set lmargin at screen %.5f\nset rmargin at screen %.5f\n"
                  "set tmargin at screen %.5f\nset bmargin at screen %.5f\n",
                  m.left / (double)WIDTH, 1 - m.right / (double)WIDTH, 1 - m.top / (double)height,
                  m.bottom / (double)height);
    if (keys(p) > 0)
        (void)fprintf(to,
                      "set key at screen %.5f,screen %.5f left bottom vertical Left reverse "
                      "samplen 2 maxrows %zu noenhanced\n",
                      (m.left < WIDTH / 3 ? m.left : WIDTH / 8) / (double)WIDTH, 3.0 / height,
                      keys(p));
    else
        (void)fputs("unset key\n", to);
    if (format != PICTURE_INLINE)
        put_label(to, "title", p->title, WIDTH - m.left, " offset 0,-0.2");
}

/* Steps of 1, 2 or 5 times a power of ten, at most `most` of them. */
static double step_of(const picture_axis *a, double most)
{
    const double rough = (a->to - a->from) / most, power = pow(10, floor(log10(rough)));
    const double share = rough / power;
    return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

/* Powers of ten; twice and five times these where there are few. */
static void put_log_tics(FILE *to, char name, const picture_axis *a)
{
    static const double factor[] = {1, 2, 5};
    const double first = floor(log10(a->from)), decades = log10(a->to / a->from);
    const int each = decades < 2.5 ? 3 : 1;
    const double step = ceil(decades / 6);
    (void)fprintf(to, "set logscale %c\nset %ctics (", name, name);
    for (double k = first, n = 0; k <= log10(a->to); k += each == 3 ? 1 : step)
        for (int i = 0; i < each; i++) {
            const double at = factor[i] * pow(10, k);
            if (at < a->from * (1 - 1e-9) || at > a->to * (1 + 1e-9))
                continue;
            (void)fprintf(to, "%s\"%g\" %.10g", n++ > 0 ? ", " : "", at, at);
        }
    (void)fputs(")\n", to);
}

static void put_range(FILE *to, char name, const picture_axis *a, double most)
{
    if (a->log)
        put_log_tics(to, name, a);
    else
        (void)fprintf(to, "set %ctics %.10g\n", name, step_of(a, most));
    (void)fprintf(to, "set %crange [%.10g:%.10g]\n", name, a->from, a->to);
}

/* A line at the value that the others are compared with, where it is to be seen. */
static void put_rule(FILE *to, double at, bool upright, const picture_axis *a)
{
    if (!(at >= a->from && at <= a->to))
        return;
    if (upright)
        (void)fprintf(to, "set arrow from first %.10g,graph 0 to first %.10g,graph 1", at, at);
    else
        (void)fprintf(to, "set arrow from graph 0,first %.10g to graph 1,first %.10g", at, at);
    (void)fputs(" nohead back lw 1 dt 2 lc rgb \"#555555\"\n", to);
}

static void put_rows_axes(FILE *to, const picture *p)
{
    const picture_axis value = range_of(p, true);
    (void)fprintf(
        to, "set border 1\nset grid x y lc rgb \"#dddddd\" lw 0.7 dt 1\n"
            "set xtics nomirror scale 0.5 offset 0,0.3 noenhanced\nset ytics nomirror scale 0 "
            "noenhanced (");
    for (size_t i = 0; i < p->n_names; i++) {
        (void)fputs(i > 0 ? ", " : "", to);
        put_text(to, p->names[i], true, NAME_ROOM);
        (void)fprintf(to, " %zu", i + 1);
    }
    (void)fprintf(to, ")\nset yrange [%zu.5:0.5]\n", p->n_names);
    put_range(to, 'x', &value, 5);
    put_label(to, "xlabel", p->value.label, WIDTH - margins_of(p, PICTURE_INLINE).left,
              " offset 0,0.7");
    put_rule(to, p->rule, true, &value);
}

static void put_curve_axes(FILE *to, const picture *p)
{
    const picture_axis place = range_of(p, false), value = range_of(p, true);
    (void)fputs("set border 3\nset grid x y lc rgb \"#dddddd\" lw 0.7 dt 1\n"
                "set xtics nomirror scale 0.5 offset 0,0.3 noenhanced\n"
                "set ytics nomirror scale 0.5 noenhanced\n",
                to);
    put_range(to, 'x', &place, 6);
    put_range(to, 'y', &value, 6);
    put_label(to, "xlabel", p->place.label, WIDTH - margins_of(p, PICTURE_INLINE).left,
              " offset 0,0.7");
    put_label(to, "ylabel", p->value.label, INSIDE + 20, " offset 0.5,0");
    put_rule(to, p->rule, false, &value);
    if (p->upright != NULL)
        put_rule(to, *p->upright, true, &place);
}

static void put_number(FILE *to, double value)
{
    if (isfinite(value) && fabs(value) <= MOST)
        (void)fprintf(to, " %.10g", value);
    else
        (void)fputs(" NaN", to);
}

/* An end of a bar that is not finite is not shown, and the other one is. */
static double end_of(const picture_series *s, const double *end, size_t i)
{
    const bool shown = end != NULL && isfinite(end[i]) && fabs(end[i]) <= MOST;
    return shown || s->style != PICTURE_POINT ? (end != NULL ? end[i] : NAN) : s->value[i];
}

/* Rows of several series lie a little apart. */
static void put_data(FILE *to, const picture *p, size_t k)
{
    const picture_series *s = &p->series[k];
    const double apart =
        p->n_names > 0 ? .75 / (double)p->n * ((double)k - .5 * ((double)p->n - 1)) : 0;
    (void)fprintf(to, "$s%zu << EOD\n", k);
    for (size_t i = 0; i < s->n; i++) {
        put_number(to, place_of(s, i) + apart);
        put_number(to, s->value[i]);
        put_number(to, end_of(s, s->low, i));
        put_number(to, end_of(s, s->high, i));
        (void)fputc('\n', to);
    }
    (void)fputs("EOD\n", to);
}

static void put_points(FILE *to, const picture *p, size_t k)
{
    const bool bars = p->series[k].low != NULL && p->series[k].high != NULL, rows = p->n_names > 0;
    (void)fprintf(to, "$s%zu using %s%s with %s lw 1.6 pt %d ps 0.6 lc rgb \"%s\"", k,
                  rows ? "2:1" : "1:2", bars ? ":3:4" : "",
                  !bars  ? "points"
                  : rows ? "xerrorbars"
                         : "yerrorbars",
                  looks[k].mark, looks[k].colour);
}

/* A line, with a band whose edges are seen in print, too. */
static void put_line(FILE *to, const picture *p, size_t k)
{
    const struct look *l = &looks[k];
    if (p->series[k].low != NULL && p->series[k].high != NULL)
        (void)fprintf(to,
                      "$s%zu using 1:3:4 with filledcurves lc rgb \"%s\" notitle, "
                      "$s%zu using 1:3 with lines lw 0.7 dt %d lc rgb \"%s\" notitle, "
                      "$s%zu using 1:4 with lines lw 0.7 dt %d lc rgb \"%s\" notitle, ",
                      k, l->colour, k, l->dash, l->colour, k, l->dash, l->colour);
    (void)fprintf(to, "$s%zu using 1:2 with ", k);
    if (p->series[k].style == PICTURE_MARKED)
        (void)fprintf(to, "linespoints pt %d ps 0.6 ", l->mark);
    else
        (void)fputs("lines ", to);
    (void)fprintf(to, "lw 2 dt %d lc rgb \"%s\"", l->dash, l->colour);
}

static void put_script(FILE *to, const picture *p, picture_format format)
{
    put_terminal(to, p, format);
    if (p->n_names > 0)
        put_rows_axes(to, p);
    else
        put_curve_axes(to, p);
    for (size_t k = 0; k < p->n; k++)
        put_data(to, p, k);
    for (size_t k = 0; k < p->n; k++) {
        (void)fputs(k == 0 ? "plot " : ", ", to);
        if (p->n_names > 0 || p->series[k].style == PICTURE_POINT)
            put_points(to, p, k);
        else
            put_line(to, p, k);
        (void)fputs(p->series[k].name != NULL ? " title " : " notitle", to);
        if (p->series[k].name != NULL)
            put_text(to, p->series[k].name, false, WIDTH - 110);
    }
    (void)fputc('\n', to);
}

/* ---- drawing ---- */

static bool check(const picture *p, message *why)
{
    for (size_t k = 0; k < p->n && k < PICTURE_SERIES; k++)
        if (p->n_names > 0 && p->series[k].n != p->n_names)
            return complain(why, "a picture of %zu rows has %zu values; give one for each row",
                            p->n_names, p->series[k].n);
    if (p->n >= 1 && p->n <= PICTURE_SERIES && p->n_names <= PICTURE_ROWS)
        return true;
    return complain(why,
                    "a picture has 1 to %d series and at most %d rows, and this one %zu and "
                    "%zu; draw several",
                    PICTURE_SERIES, PICTURE_ROWS, p->n, p->n_names);
}

bool picture_draw(const picture *p, picture_format format, FILE *out, message *why)
{
    char *script = NULL, *bytes = NULL;
    size_t n = 0, size = 0;
    if (!check(p, why))
        return false;
    FILE *to = open_memstream(&script, &n);
    if (to == NULL)
        return complain(why, "out of memory");
    put_script(to, p, format);
    bool good = !ferror(to);
    good = fclose(to) == 0 && good;
    if (!good)
        (void)complain(why, "out of memory");
    good = good && gnuplot_run(script, n, &bytes, &size, why);
    if (good && format == PICTURE_INLINE)
        good = picture_inline(bytes, p->id, p->title != NULL ? p->title : "", out, why);
    else if (good)
        good = fwrite(bytes, 1, size, out) == size ||
               complain(why, "the picture cannot be written; is the disk full?");
    free(bytes);
    free(script);
    return good;
}

bool picture_format_of(const char *name, picture_format *format)
{
    static const struct {
        const char *end;
        picture_format format;
    } known[] = {{"svg", PICTURE_SVG}, {"png", PICTURE_PNG}, {"pdf", PICTURE_PDF}};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dot != NULL ? dot + 1 : name, known[i].end) == 0) {
            *format = known[i].format;
            return true;
        }
    return false;
}
