/* Finding scales.
 *
 * Members b_k ~ f((b - c) / s) / s have, whatever f is, the slope g of their log density with
 *
 *   g(c + e^t (b - c), e^t s) = e^-t g(b, s)
 *
 * so that a latent is the logarithm of their scale, and another one their centre, if that holds
 * where it is tried.  Nothing rests on it but speed: the sampler's move along (s, b) leaves any
 * density invariant. */
#include "infer/scaling.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double tried = 0.3, exact = 1e-9;

typedef struct search {
    dpi_prior_gradient *prior;
    void *of;
    size_t d;
    double *z, *gradient; /* [d] where scales are tried, and the slope there */
    double *moved, *slope;
} search;

void dpi_scaling_move(const dpi_scaling *s, double delta, double *z)
{
    double centre = s->has_centre ? z[s->centre] : 0, factor = exp(delta);
    z[s->scale] += delta;
    for (size_t k = 0; k < s->count; k++) {
        double *b = &z[s->first + k * s->stride];
        *b = centre + factor * (*b - centre);
    }
}

void dpi_scaling_loosen(const dpi_scaling *s, double *z)
{
    double centre = s->has_centre ? z[s->centre] : 0, factor = exp(-z[s->scale]);
    for (size_t k = 0; k < s->count; k++) {
        double *b = &z[s->first + k * s->stride];
        *b = (*b - centre) * factor;
    }
}

void dpi_scaling_tie(const dpi_scaling *s, double *z)
{
    double centre = s->has_centre ? z[s->centre] : 0, factor = exp(z[s->scale]);
    for (size_t k = 0; k < s->count; k++) {
        double *b = &z[s->first + k * s->stride];
        *b = centre + factor * *b;
    }
}

void dpi_scaling_pull(const dpi_scaling *s, const double *z, double *gradient)
{
    double centre = s->has_centre ? z[s->centre] : 0, factor = exp(z[s->scale]);
    for (size_t k = 0; k < s->count; k++) {
        size_t e = s->first + k * s->stride;
        gradient[s->scale] += (z[e] - centre) * gradient[e];
        if (s->has_centre)
            gradient[s->centre] += gradient[e];
        gradient[e] *= factor;
    }
}

/* Whether members' slopes at s->moved are e^-t times those at s->z. */
static bool slopes_shrink(search *s, const dpi_scaling *at, double t)
{
    double most = 0, off = 0;
    s->prior(s->of, s->moved, s->slope);
    for (size_t k = 0; k < at->count; k++) {
        size_t e = at->first + k * at->stride;
        most = fmax(most, fabs(s->gradient[e]));
        off = fmax(off, fabs(exp(t) * s->slope[e] - s->gradient[e]));
    }
    return most > 0 && off <= exact * most;
}

static bool is_scaling(search *s, const dpi_scaling *at)
{
    memcpy(s->moved, s->z, s->d * sizeof *s->z);
    dpi_scaling_move(at, tried, s->moved);
    return slopes_shrink(s, at, tried);
}

/* Whether members' slopes depend on latent c. */
static bool matters(search *s, const dpi_scaling *at, size_t c)
{
    memcpy(s->moved, s->z, s->d * sizeof *s->z);
    s->moved[c] += tried;
    return !slopes_shrink(s, at, 0);
}

/* The members' scale, for which *at gives the members; false if none is found from *from on. */
static bool find_one(search *s, const bool *inner, size_t *from, dpi_scaling *at)
{
    for (; *from < s->d; ++*from) {
        at->scale = *from;
        if (inner[*from] || !matters(s, at, *from))
            continue;
        at->has_centre = false;
        if (is_scaling(s, at))
            return true;
        at->has_centre = true;
        for (at->centre = 0; at->centre < s->d; at->centre++)
            if (!inner[at->centre] && at->centre != *from && matters(s, at, at->centre) &&
                is_scaling(s, at))
                return true;
    }
    return false;
}

static bool make_room(dpi_loosening *l, size_t most, dpi_arena *arena)
{
    l->scalings = dpi_arena_alloc(arena, most + 1, sizeof *l->scalings);
    l->loose = dpi_arena_alloc(arena, most + 1, sizeof *l->loose);
    l->held = dpi_arena_alloc(arena, most + 1, sizeof *l->held);
    return l->scalings != NULL && l->loose != NULL && l->held != NULL;
}

/* All scales of the columns of a block. */
static void find_block(search *s, const bool *inner, const dpi_scaled *block, dpi_loosening *l)
{
    for (size_t i = 0; i < block->size; i++) {
        dpi_scaling at = {
            .first = block->offset + i, .stride = block->size, .count = block->members};
        for (size_t from = 0; find_one(s, inner, &from, &at); from++)
            l->scalings[l->n++] = at;
    }
}

bool dpi_loosening_init(dpi_loosening *l, const dpi_scaled *blocks, size_t n_blocks, size_t d,
                        dpi_prior_gradient *prior, void *of, dpi_arena *arena)
{
    size_t most = 0;
    double *room = dpi_arena_alloc(arena, 4 * d + 1, sizeof *room);
    bool *inner = dpi_arena_alloc(arena, d + 1, sizeof *inner);
    *l = (dpi_loosening){.d = d};
    for (size_t b = 0; b < n_blocks; b++)
        most += blocks[b].size * d;
    if (room == NULL || inner == NULL || !make_room(l, most, arena))
        return false;
    search s = {.prior = prior, .of = of, .d = d, .z = room, .gradient = room + d};
    s.moved = room + 2 * d;
    s.slope = room + 3 * d;
    for (size_t i = 0; i < d; i++)
        s.z[i] = sin((double)i + 1);
    prior(of, s.z, s.gradient);
    for (const dpi_scaled *b = blocks; b < blocks + n_blocks; b++)
        for (size_t i = 0; i < b->members * b->size; i++)
            inner[b->offset + i] = true;
    for (const dpi_scaled *b = blocks; b < blocks + n_blocks; b++)
        find_block(&s, inner, b, l);
    return true;
}

static bool overlap(const dpi_scaling *a, const dpi_scaling *b)
{
    return a->first == b->first && a->stride == b->stride;
}

void dpi_loosening_choose(dpi_loosening *l, const double *told, size_t step, const double *z)
{
    for (size_t k = 0; k < l->n; k++) {
        const dpi_scaling *at = &l->scalings[k];
        double mean = 0;
        for (size_t m = 0; m < at->count; m++)
            mean += told[(at->first + m * at->stride) * step] / (double)at->count;
        l->loose[k] = mean * exp(2 * z[at->scale]) < 1;
        for (size_t j = 0; j < k; j++)
            l->loose[k] = l->loose[k] && !(l->loose[j] && overlap(at, &l->scalings[j]));
    }
}

void dpi_loosening_drawn(const dpi_loosening *l, double *z)
{
    for (size_t k = 0; k < l->n; k++)
        if (l->loose[k])
            dpi_scaling_loosen(&l->scalings[k], z);
}

void dpi_loosening_tied(const dpi_loosening *l, double *z)
{
    for (size_t k = 0; k < l->n; k++)
        if (l->loose[k])
            dpi_scaling_tie(&l->scalings[k], z);
}

double dpi_loosening_pull(const dpi_loosening *l, const double *z, double *gradient)
{
    double volume = 0;
    for (size_t k = 0; k < l->n; k++) {
        const dpi_scaling *at = &l->scalings[k];
        if (!l->loose[k])
            continue;
        dpi_scaling_pull(at, z, gradient);
        gradient[at->scale] += (double)at->count;
        volume += (double)at->count * z[at->scale];
    }
    return volume;
}

size_t dpi_loosening_held(dpi_loosening *l)
{
    size_t held = 0;
    for (size_t k = 0; k < l->n; k++)
        if (!l->loose[k])
            l->held[held++] = l->scalings[k];
    return held;
}
