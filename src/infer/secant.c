/* One direction's information from two rounds. */
#include "infer/secant.h"

#include <math.h>

#include "num/linalg.h"
#include "num/matrix.h"

/* How far a score must point back, in standard deviations of its noise beyond what the noise of the
 * move itself may make, and as a share of what the move should have changed it by. */
static const double certain_back = 2, least_back = 0.5;

/* How much of that change must be missing, likewise.  Noise in the move hides some of it. */
static const double certain_short = 2, least_short = 0.3;

/* The last move, but for the scales that go by themselves (rounds.c). */
static void last_move(const dpi_rounds *r, size_t t, double *move)
{
    size_t d = r->view->objective.n_theta;
    for (size_t i = 0; i < d; i++)
        move[i] = r->centres[t * d + i] - r->centres[(t - 1) * d + i];
    for (const dpi_read *a = r->view->reads; a < r->view->reads + r->view->n_reads; a++)
        for (size_t i = 0; i < a->size && a->members == 0; i++)
            if (r->known.scale[a->at + i])
                move[a->block->offset + i] = 0;
}

/* The share of the expected information that the scores before and after a move in d dimensions
 * have shown, at least `least`; 1 where they do not differ enough for their noise.  A move that is
 * made of noise e alone has a score that points back by the length of e, sqrt(d) of its standard
 * deviations. */
static double shown(size_t d, double before, double after, double noise, double expected,
                    double least)
{
    double found = fmax(before, 0) - after;
    if (!(expected > 0) || !isfinite(found))
        return 1;
    if (-after > fmax((certain_back + sqrt((double)d)) * noise, least_back * expected))
        return fmax(found / expected, 1);
    if (expected - found > fmax(certain_short * M_SQRT2 * noise, least_short * expected))
        return fmax(found / expected, least);
    return 1;
}

dp_status dpi_secant(dpi_rounds *r, size_t t, double sd, double least, double *share, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    double *move = dpi_alloc(2 * d, sizeof *move), *turned = move + d;
    *share = 1;
    if (move == NULL)
        return dpi_fail_nomem(err);
    last_move(r, t, move);
    dpi_matrix_times(d, r->back, move, turned);
    double noise = sd * sqrt(fmax(dpi_dot(d, move, turned), 0));
    dpi_matrix_times(d, r->information, move, turned);
    double length = dpi_dot(d, move, turned);
    double before = dpi_dot(d, move, r->scores + (t - 1) * d);
    double after = dpi_dot(d, move, r->scores + t * d);
    *share = shown(d, before, after, noise, r->kept * length, least);
    for (size_t i = 0; i < d && *share != 1; i++)
        for (size_t j = 0; j < d; j++)
            r->information[i * d + j] += (*share - 1) / length * turned[i] * turned[j];
    dpi_free(move);
    return DP_OK;
}
