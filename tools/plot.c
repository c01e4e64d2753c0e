/* SVG by hand: one group a panel, a polygon for each band, its two edges as lines.  All numbers are
 * written with two decimals of a pixel, all texts escaped. */
#include "tools/plot.h"

#include <math.h>

enum { WIDTH = 460, HEIGHT = 380, LEFT = 66, RIGHT = 18, TOP = 40, BOTTOM = 52, MOST_TICKS = 12 };

static void escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '<')
            (void)fputs("&lt;", out);
        else if (*text == '&')
            (void)fputs("&amp;", out);
        else if (*text == '"')
            (void)fputs("&quot;", out);
        else
            (void)fputc(*text, out);
    }
}

static void label(FILE *out, double x, double y, const char *attributes, const char *text)
{
    (void)fprintf(out, "<text x=\"%.2f\" y=\"%.2f\"%s>", x, y, attributes);
    escaped(out, text);
    (void)fputs("</text>\n", out);
}

/* Where `value` lies on the axis, 0 to 1. */
static double share(const plot_axis *axis, double value)
{
    double s = axis->log ? log(value / axis->from) / log(axis->to / axis->from)
                         : (value - axis->from) / (axis->to - axis->from);
    return isnan(s) || s < 0 ? 0 : s > 1 ? 1 : s;
}

static double across(const plot_panel *p, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * share(&p->x, x);
}

static double down(const plot_panel *p, double y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share(&p->y, y);
}

/* Powers of ten, thinned out, on a logarithmic axis; round steps on a linear one. */
static size_t ticks(const plot_axis *axis, double tick[MOST_TICKS])
{
    size_t n = 0;
    if (axis->log) {
        double first = ceil(log10(axis->from) - 1e-9), last = floor(log10(axis->to) + 1e-9);
        double step = ceil((last - first + 1) / 8);
        for (double k = first; k <= last && n < MOST_TICKS; k += step)
            tick[n++] = pow(10, k);
        return n;
    }
    double rough = (axis->to - axis->from) / 5, power = pow(10, floor(log10(rough)));
    double step = rough / power < 1.5 ? power : rough / power < 3.5 ? 2 * power : 5 * power;
    for (double k = ceil(axis->from / step - 1e-9); n < MOST_TICKS; k++) {
        if (k * step > axis->to * (1 + 1e-9))
            break;
        tick[n++] = k * step + 0.0; /* no -0 */
    }
    return n;
}

static void draw_axes(FILE *out, const plot_panel *p)
{
    double tick[MOST_TICKS], bottom = HEIGHT - BOTTOM, right = WIDTH - RIGHT;
    char text[32];
    size_t n = ticks(&p->x, tick);
    for (size_t i = 0; i < n; i++) {
        double x = across(p, tick[i]);
        (void)fprintf(out, "<line class=\"grid\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%.2f\"/>\n",
                      x, TOP, x, bottom);
        (void)snprintf(text, sizeof text, "%g", tick[i]);
        label(out, x, bottom + 16, " text-anchor=\"middle\"", text);
    }
    n = ticks(&p->y, tick);
    for (size_t i = 0; i < n; i++) {
        double y = down(p, tick[i]);
        (void)fprintf(out, "<line class=\"grid\" x1=\"%d\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n",
                      LEFT, y, right, y);
        (void)snprintf(text, sizeof text, "%g", tick[i]);
        label(out, LEFT - 6, y + 4, " text-anchor=\"end\"", text);
    }
    (void)fprintf(out, "<rect class=\"frame\" x=\"%d\" y=\"%d\" width=\"%.2f\" height=\"%.2f\"/>\n",
                  LEFT, TOP, right - LEFT, bottom - TOP);
    label(out, (LEFT + right) / 2, HEIGHT - 14, " text-anchor=\"middle\"", p->x.label);
    (void)snprintf(text, sizeof text, "%d", (TOP + HEIGHT - BOTTOM) / 2);
    (void)fprintf(out, "<g transform=\"translate(16 %s) rotate(-90)\">", text);
    label(out, 0, 0, " text-anchor=\"middle\"", p->y.label);
    (void)fputs("</g>\n", out);
    label(out, (LEFT + right) / 2, TOP - 14, " class=\"title\" text-anchor=\"middle\"", p->title);
}

/* Points of an edge, in order or back, as "x,y x,y ...". */
static void points(FILE *out, const plot_panel *p, const plot_series *s, const double *y, int back)
{
    for (size_t i = 0; i < s->n; i++) {
        size_t k = back ? s->n - 1 - i : i;
        if (isfinite(s->x[k]) && isfinite(y[k]))
            (void)fprintf(out, "%.2f,%.2f ", across(p, s->x[k]), down(p, y[k]));
    }
}

static void draw_series(FILE *out, const plot_panel *p, const plot_series *s)
{
    if (s->low != s->high) {
        (void)fprintf(out, "<polygon fill=\"%s\" fill-opacity=\"0.25\" points=\"", s->colour);
        points(out, p, s, s->high, 0);
        points(out, p, s, s->low, 1);
        (void)fputs("\"/>\n", out);
    }
    for (int edge = 0; edge < (s->low != s->high ? 2 : 1); edge++) {
        (void)fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" points=\"",
                      s->colour, edge == 0 ? 1.8 : 1.0);
        points(out, p, s, edge == 0 ? s->high : s->low, 0);
        (void)fputs("\"/>\n", out);
    }
}

static void draw_legend(FILE *out, const plot_panel *p)
{
    double x = p->legend_right ? WIDTH - RIGHT - 12 : LEFT + 12;
    double y = p->legend_low ? HEIGHT - BOTTOM - 16.0 * (double)p->n : TOP + 18;
    for (size_t i = 0; i < p->n; i++, y += 16) {
        double from = p->legend_right ? x - 18 : x;
        (void)fprintf(out,
                      "<line x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" stroke=\"%s\" "
                      "stroke-width=\"3\"/>\n",
                      from, y - 4, from + 18, y - 4, p->series[i].colour);
        label(out, p->legend_right ? x - 24 : x + 24, y,
              p->legend_right ? " text-anchor=\"end\"" : "", p->series[i].name);
    }
}

void plot_write(FILE *out, const plot_panel *panels, size_t n)
{
    (void)fprintf(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%d\" "
                  "viewBox=\"0 0 %zu %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<style>.grid { stroke: #ddd } .frame { fill: none; stroke: #555 } "
                  ".title { font-size: 13px; font-weight: bold }</style>\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                  n * WIDTH, HEIGHT, n * WIDTH, HEIGHT);
    for (size_t i = 0; i < n; i++) {
        (void)fprintf(out, "<g transform=\"translate(%zu 0)\">\n", i * WIDTH);
        draw_axes(out, &panels[i]);
        for (size_t s = 0; s < panels[i].n; s++)
            draw_series(out, &panels[i], &panels[i].series[s]);
        draw_legend(out, &panels[i]);
        (void)fputs("</g>\n", out);
    }
    (void)fputs("</svg>\n", out);
}
