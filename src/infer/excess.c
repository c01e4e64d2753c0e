/* Scales as they look. */
#include "infer/excess.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* What degrees of freedom leave of a variance, at the least. */
static const double least_lead = 0.25;

bool dpi_excess_init(dpi_excess *e, size_t d, dpi_arena *arena)
{
    *e = (dpi_excess){.d = d, .scale = d, .lead = 1};
    e->linear = dpi_arena_alloc(arena, d, sizeof *e->linear);
    e->square = dpi_arena_alloc(arena, d * d, sizeof *e->square);
    e->times = dpi_arena_alloc(arena, d, sizeof *e->times);
    return e->linear != NULL && e->square != NULL && e->times != NULL &&
           dpi_rows_init(&e->rows, d, DPI_ROWS_WHOLE, arena);
}

static void take(dpi_excess *e, const dpi_excess_of *of, double *room)
{
    size_t d = e->d;
    double used = 0, gain = of->kept * of->ratio, *information = room, *left = room + d * d,
           *other = room + 2 * d * d;
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            bool location = i != of->scale && j != of->scale;
            information[i * d + j] = location ? of->slope[i * d + j] / of->kept : 0;
        }
    dpi_matrix_product(d, of->inverse, information, left);
    for (size_t i = 0; i < d * d; i++)
        left[i] *= -gain * of->kept;
    for (size_t i = 0; i < d; i++) {
        used -= left[i * d + i];
        left[i * d + i] += 1;
    }
    dpi_matrix_times(d, of->inverse, of->score, e->linear);
    dpi_matrix_times(d, information, e->linear, e->times);
    e->constant = (gain * gain * dpi_dot(d, e->linear, e->times) + of->spread) / of->records;
    for (size_t j = 0; j < d; j++) {
        double sum = 0;
        for (size_t i = 0; i < d; i++)
            sum += left[i * d + j] * e->times[i];
        e->linear[j] = gain * sum / of->records;
    }
    dpi_matrix_congruence(d, left, information, other, e->square);
    for (size_t i = 0; i < d * d; i++)
        e->square[i] /= of->records;
    e->lead = fmax(1 - of->bend * used / of->records, least_lead);
    dpi_rows_set(&e->rows, e->square);
}

dp_status dpi_excess_set(dpi_excess *e, const dpi_excess_of *of, dp_error *err)
{
    size_t d = e->d;
    e->scale = of->scale;
    e->bend = of->bend;
    e->power = of->power;
    if (of->scale == d)
        return DP_OK;
    double *room = dpi_alloc(3 * d, d * sizeof *room);
    if (room == NULL)
        return dpi_fail_nomem(err);
    take(e, of, room);
    dpi_free(room);
    return DP_OK;
}

void dpi_excess_copy(dpi_excess *to, const dpi_excess *from)
{
    to->scale = from->scale;
    to->lead = from->lead;
    to->bend = from->bend;
    to->power = from->power;
    to->constant = from->constant;
    memcpy(to->linear, from->linear, to->d * sizeof *to->linear);
    memcpy(to->square, from->square, to->d * to->d * sizeof *to->square);
    dpi_rows_set(&to->rows, to->square);
}

double dpi_excess_at(dpi_excess *e, const double *delta, double *slope)
{
    double x = e->constant, factor = e->bend * exp(-2 * e->power * delta[e->scale]);
    dpi_rows_combine(&e->rows, delta, e->times);
    for (size_t i = 0; i < e->d; i++)
        x += delta[i] * (2 * e->linear[i] + e->times[i]);
    double whole = e->lead + factor * x;
    for (size_t i = 0; i < e->d; i++)
        slope[i] = factor * (e->linear[i] + e->times[i]) / (whole * e->power);
    slope[e->scale] = 1 - factor * x / whole;
    return delta[e->scale] + log(whole) / (2 * e->power);
}
