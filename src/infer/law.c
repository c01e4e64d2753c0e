/* Nodes of a record's law, kept from record to record. */
#include "infer/law.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dist/veil.h"
#include "num/linalg.h"

static size_t width_of(const dpi_family *family, size_t arg_size)
{
    return family->vector_arg ? arg_size : (size_t)family->n_args;
}

/* Place of inferred number j in a whole score. */
static size_t place_of(const dpi_law *law, size_t j)
{
    const dpi_model_view *r = law->view;
    return law->family->vector_arg ? r->element[j] : (size_t)(r->arg_of[j] - law->first);
}

const double *dpi_law_score(const dpi_law *law, size_t j)
{
    return law->score[place_of(law, j)];
}

/* The record's arguments with location 0 and scale 1. */
static void take_shape(const dpi_family *family, const double *const arg[], size_t width,
                       double *shape)
{
    static const double standard[] = {[DPI_LOCATION] = 0, [DPI_SCALE] = 1};
    for (size_t i = 0; i < width; i++) {
        dpi_role role = family->vector_arg ? DPI_SHAPE : family->role[i];
        double given = family->vector_arg ? arg[0][i] : *arg[i];
        shape[i] = role == DPI_SHAPE ? given : standard[role];
    }
}

/* ---- nodes ---- */

typedef struct node {
    double y, mass;
} node;

static int by_value(const void *a, const void *b)
{
    const node *x = a, *y = b;
    return (x->y > y->y) - (x->y < y->y);
}

static void put_in_order(size_t n, double *y, double *mass)
{
    node nodes[DPI_MOST_OUTCOMES];
    for (size_t i = 0; i < n; i++)
        nodes[i] = (node){y[i], mass[i]};
    qsort(nodes, n, sizeof *nodes, by_value);
    for (size_t i = 0; i < n; i++) {
        y[i] = nodes[i].y;
        mass[i] = nodes[i].mass;
    }
}

static void make_scores(dpi_law *law, const double *y, const double *const arg[])
{
    double all[DPI_MOST_OUTCOMES * DPI_READ_MOST];
    dpi_family_score(law->family, law->n, y, arg, law->width, all);
    for (size_t j = 0; j < law->width; j++)
        for (size_t i = 0; i < law->n; i++)
            law->score[j][i] = all[i * law->width + j];
}

static void pad(dpi_law *law)
{
    for (size_t i = law->n; i % DPI_LAW_LANES != 0; i++) {
        law->mass[i] = 0;
        for (size_t j = 0; j < law->width; j++)
            law->score[j][i] = 0;
    }
}

/* Whether counts are every step-th one, for a step above 1: a quadrature (dist/outcomes.c). */
static bool by_steps(size_t n, const double *y)
{
    double step = n > 2 ? y[1] - y[0] : 0;
    for (size_t i = 1; i < n && step > 1; i++)
        step = y[i] - y[i - 1] == step ? step : 0;
    return step > 1;
}

/* The nodes for law->shape; in order where a part of the law may be asked for. */
static void make_nodes(dpi_law *law, bool in_parts)
{
    const dpi_family *family = law->family;
    const double *arg[DPI_MAX_ARGS];
    double y[DPI_MOST_OUTCOMES];
    for (int a = 0; a < family->n_args; a++)
        arg[a] = &law->shape[a];
    law->n = dpi_outcomes(family, arg, law->width, y, law->mass);
    bool discrete = dpi_supports[family->support].discrete;
    law->smooth = !discrete || by_steps(law->n, y);
    if (!discrete || in_parts)
        put_in_order(law->n, y, law->mass);
    make_scores(law, y, arg);
    pad(law);
    law->has_square = false;
}

/* ---- a record ---- */

static bool in_domains(const dpi_family *family, const double *const arg[])
{
    for (int a = 0; a < family->n_args && !family->vector_arg; a++)
        if (!dpi_in_domain(family->arg_domain[a], *arg[a]))
            return false;
    return true;
}

double dpi_law_inside(const dpi_law *law, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < law->n; i++)
        sum += law->inside[i] * x[i];
    return sum;
}

/* The share of each node, whose masses lie side by side, that is between two shares of the law.
 * Where numbers are too small to tell, the node that they are at has all. */
static void take_inside(const dpi_veil *veil, dpi_law *law)
{
    double before = 0, total = 0;
    size_t here = veil->from_above ? law->n - 1 : 0;
    for (size_t k = 0; k < law->n; k++) {
        const size_t i = veil->from_above ? law->n - 1 - k : k;
        const double after = before + law->mass[i];
        law->inside[i] = fmax(fmin(after, veil->high) - fmax(before, veil->low), 0);
        here = before <= veil->low ? i : here;
        total += law->inside[i];
        before = after;
    }
    for (size_t i = 0; i < law->n; i++)
        law->inside[i] = total > 0 ? law->inside[i] / total : (double)(i == here);
}

/* What the record has of its own: its score, or the mean of what it may be. */
static void take_record(const dpi_record *record, const dpi_veil *veil, dpi_law *law)
{
    const dpi_model_view *r = law->view;
    const dpi_family *family = law->family;
    const double *const *arg = record->arg + law->first;
    double all[DPI_READ_MOST], scale = 1;
    for (int a = 0; a < family->n_args && !family->vector_arg; a++)
        scale = family->role[a] == DPI_SCALE ? *arg[a] : scale;
    law->times = veil->times;
    law->seen = veil->seen;
    if (veil->seen)
        dpi_family_score(family, 1, &record->y, arg, record->arg_size, all);
    else
        take_inside(veil, law);
    for (size_t j = 0; j < r->k; j++) {
        const size_t place = place_of(law, j);
        dpi_role role = family->vector_arg ? DPI_SHAPE : family->role[place];
        law->unit[j] = role == DPI_SHAPE ? veil->times : veil->times / scale;
        law->own[j] = veil->seen ? veil->times * all[place]
                                 : law->unit[j] * dpi_law_inside(law, law->score[place]);
    }
}

/* For few numbers, for which a call of memcmp is much. */
static bool same_bits(size_t n, const double *a, const double *b)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t x, y;
        memcpy(&x, &a[i], sizeof x);
        memcpy(&y, &b[i], sizeof y);
        differ |= x ^ y;
    }
    return differ == 0;
}

bool dpi_law_of(const dpi_model_view *r, const dpi_record *record, dpi_law *law)
{
    int first;
    const dpi_family *family = dpi_behind(r->seen->family, &first);
    const double *const *arg = record->arg + first;
    size_t width = width_of(family, record->arg_size);
    double shape[DPI_READ_MOST];
    if (width > DPI_READ_MOST || !in_domains(family, arg))
        return false;
    const dpi_veil veil = family == r->seen->family /* nothing is before the outcome */
                              ? (dpi_veil){.times = 1, .seen = true}
                              : dpi_veil_of(r->seen->family, record->y, record->arg);
    if (!(veil.times > 0))
        return false;
    take_shape(family, arg, width, shape);
    if (law->family != family || law->width != width || !same_bits(width, law->shape, shape)) {
        law->family = family;
        law->first = first;
        law->width = width;
        memcpy(law->shape, shape, width * sizeof *shape);
        make_nodes(law, dpi_is_censored(r->seen->family));
    }
    law->view = r;
    if (law->n > 0)
        take_record(record, &veil, law);
    return law->n > 0;
}

/* The covariance inside of the standard scores of two numbers. */
static double hidden(const dpi_law *law, const double *s, const double *t)
{
    double sum = 0;
    const double mean = dpi_law_inside(law, s);
    for (size_t i = 0; i < law->n; i++)
        sum += law->inside[i] * (s[i] - mean) * t[i];
    return sum;
}

/* E t t' of standard scores, once for all records of these nodes. */
static void take_square(dpi_law *law)
{
    double weighted[DPI_MOST_OUTCOMES];
    for (size_t j = 0; j < law->width; j++) {
        for (size_t i = 0; i < law->n; i++)
            weighted[i] = law->mass[i] * law->score[j][i];
        for (size_t l = 0; l <= j; l++)
            law->square[j * law->width + l] = law->square[l * law->width + j] =
                dpi_dot(law->n, weighted, law->score[l]);
    }
    law->has_square = true;
}

void dpi_law_fisher(dpi_law *law, double *fisher)
{
    size_t k = law->view->k;
    if (!law->has_square)
        take_square(law);
    for (size_t j = 0; j < k; j++) {
        const size_t at = place_of(law, j);
        for (size_t l = 0; l <= j; l++) {
            const size_t other = place_of(law, l);
            const double lost = law->seen ? 0 : hidden(law, law->score[at], law->score[other]);
            fisher[j * k + l] = fisher[l * k + j] = law->unit[j] * law->unit[l] / law->times *
                                                    (law->square[at * law->width + other] - lost);
        }
    }
}
