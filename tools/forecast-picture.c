/* Accuracy over epsilon: how many times wider than without privacy each interval is, from an eighth
 * of the epsilon asked for to eight times it. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/forecast.h"
#include "tools/picture.h"

enum { LINES = 6, POINTS = 32, KEY = 320 };

typedef struct curves {
    size_t shown[LINES], n, n_points; /* numbers of the plan */
    double epsilon[POINTS], width[LINES][POINTS];
    char key[LINES][KEY];
    picture_series series[LINES];
} curves;

static bool is_slope(const forecast *f, size_t e)
{
    char name[FORECAST_NAME];
    (void)forecast_name(f, f->number[e].name, name);
    return forecast_is_slope(name);
}

/* The slopes that privacy widens most, in the order of the formula; without slopes what comes
 * first. */
static void choose(const forecast *f, curves *c)
{
    size_t slopes = 0;
    for (size_t e = 0; e < f->n; e++)
        slopes += is_slope(f, e);
    for (size_t e = 0; e < f->n; e++) {
        if (slopes > 0 && !is_slope(f, e))
            continue;
        if (c->n < LINES) {
            c->shown[c->n++] = e;
            continue;
        }
        size_t least = 0;
        for (size_t k = 1; k < LINES; k++)
            if (f->number[c->shown[k]].width < f->number[c->shown[least]].width)
                least = k;
        if (slopes == 0 || !(f->number[e].width > f->number[c->shown[least]].width))
            continue;
        memmove(&c->shown[least], &c->shown[least + 1], (LINES - 1 - least) * sizeof c->shown[0]);
        c->shown[LINES - 1] = e;
    }
}

static void fill(const forecast *f, curves *c)
{
    size_t n;
    const dp_plan_point *point = dp_plan_points(f->plan, &n);
    const double asked = f->m.said.epsilon;
    choose(f, c);
    for (size_t i = 0; i < n && c->n_points < POINTS; i++) {
        if (fabs(log2(point[i].epsilon / asked)) > 3.01)
            continue;
        c->epsilon[c->n_points] = point[i].epsilon;
        for (size_t k = 0; k < c->n; k++)
            c->width[k][c->n_points] =
                fmax(1, point[i].sd_private[c->shown[k]] / f->number[c->shown[k]].sd);
        c->n_points++;
    }
    for (size_t k = 0; k < c->n; k++) {
        char name[FORECAST_NAME];
        const dp_plan_number *of = &f->number[c->shown[k]];
        (void)forecast_name(f, of->name, name);
        (void)snprintf(c->key[k], KEY, "%.200s (by the prior alone: %.2g)", name,
                       of->prior_sd / of->sd);
        c->series[k] = (picture_series){.name = c->key[k],
                                        .style = PICTURE_MARKED,
                                        .n = c->n_points,
                                        .place = c->epsilon,
                                        .value = c->width[k]};
    }
}

/* The upper end of the axis, where all marks lie below unless nothing is known there: that would
 * press all else together. */
static double top_of(const forecast *f, const curves *c)
{
    double most = 2, asked = 2;
    for (size_t k = 0; k < c->n; k++) {
        if (isfinite(f->number[c->shown[k]].width))
            asked = fmax(asked, f->number[c->shown[k]].width);
        for (size_t i = 0; i < c->n_points; i++)
            if (isfinite(c->width[k][i]))
                most = fmax(most, c->width[k][i]);
    }
    return 1.1 * fmin(most, fmax(20, 3 * asked));
}

bool forecast_draw(const forecast *f, message *why)
{
    const char *path = f->m.said.picture;
    curves c = {.n = 0};
    char label[128];
    picture_format format;
    fill(f, &c);
    (void)snprintf(label, sizeof label, "epsilon (dashed: %g, as asked for)", f->m.said.epsilon);
    const picture p = {
        .title = "90 % intervals: times wider than without privacy",
        .place = {.label = label, .log = true},
        .value = {.label = "times wider", .from = 0.94, .to = top_of(f, &c), .log = true},
        .series = c.series,
        .n = c.n,
        .rule = 1,
        .upright = &f->m.said.epsilon};
    if (!picture_format_of(path, &format))
        return complain(why, "--picture: the name must end in .svg, .png or .pdf");
    FILE *out = fopen(path, "wb");
    if (out == NULL)
        return complain(why, "--picture: %.300s cannot be written (%s); give another place", path,
                        strerror(errno));
    const bool good = picture_draw(&p, format, out, why);
    if (fclose(out) != 0 && good)
        return complain(why, "--picture: %.300s cannot be written to its end", path);
    return good;
}
