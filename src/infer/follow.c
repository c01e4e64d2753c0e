/* Units follow what all records share (shared.h), and a linear predictor's information its place
 * (elsewhere.h): where slopes are steep outcomes are nearly settled, and records tell a small part
 * of what they told where the way began.  Steps are then as long as they should be, noise is where
 * it is best, and a release of the information has nothing left to show but what was guessed
 * wrongly. */
#include "infer/follow.h"

#include <math.h>
#include <string.h>

#include "graph/op.h"
#include "infer/elsewhere.h"
#include "num/linalg.h"
#include "num/matrix.h"

/* Changes, of logarithms, after which rounds before are not averaged with those to come. */
static const double other_unit = 0.2, other_information = 0.4;

/* Of what is told of a move, its logarithm, beyond which it is halved, and how often. */
static const double bends = 1.8;
enum { SHORTENED = 6 };

/* Of the mean eigenvalue, what rounding may have made. */
static const double rounding = 1e-10;

/* ---- units ---- */

static dp_status follow_units(dpi_rounds *r, dp_error *err)
{
    const dpi_model_view *view = r->view;
    size_t d = r->view->objective.n_theta, p = view->p;
    double *factor = dpi_alloc(p + d, sizeof *factor), *each = factor + p;
    if (factor == NULL)
        return dpi_fail_nomem(err);
    dpi_shared_find(&r->known, r->scan, r->z);
    for (size_t c = 0; c < p; c++)
        factor[c] = r->unit[c] / r->known.unit[c];
    for (size_t i = 0; i < d; i++)
        each[i] = 1;
    for (const dpi_read *a = view->reads; a < view->reads + view->n_reads; a++)
        for (size_t i = 0; i < a->block->size; i++)
            each[a->block->offset + i] = 1 / factor[a->at + i % a->size];
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++)
            r->information[i * d + j] *= each[i] * each[j];
    for (size_t i = 0; i < d; i++) {
        r->told.own[i] *= each[i] * each[i];
        r->told.precision[i] /= pow(each[i], 4);
    }
    r->changed = false;
    for (size_t c = 0; c < p; c++)
        r->changed = r->changed || fabs(log(factor[c])) > other_unit;
    memcpy(r->unit, r->known.unit, p * sizeof *r->unit);
    dp_status status = dpi_metric_scale(&r->metric, factor, err);
    dpi_free(factor);
    return status;
}

/* ---- a linear predictor ---- */

/* depends[nodes] for each node on a latent. */
static void find_dependent(const dpi_objective *o, bool *depends)
{
    const dpi_graph *g = &o->graph;
    for (size_t i = 0; i < g->n_nodes; i++) {
        const dpi_node *node = dpi_get(g, (dpi_id)i);
        for (int k = 0; k < node->op->n_inputs && !dpi_is_source(node); k++)
            depends[i] = depends[i] || depends[node->in[k]];
        for (size_t b = 0; b < o->n_blocks; b++)
            depends[i] = depends[i] || o->blocks[b].node == (dpi_id)i;
    }
}

dp_status dpi_follow_init(dpi_rounds *r, dp_error *err)
{
    const dpi_model_view *view = r->view;
    const dpi_objective *o = &view->objective;
    bool linear = view->k == 1 && view->n_plates == 0 && view->p == o->n_theta;
    r->intercept = o->n_theta;
    bool *depends = dpi_alloc(o->graph.n_nodes, sizeof *depends);
    if (depends == NULL)
        return dpi_fail_nomem(err);
    memset(depends, 0, o->graph.n_nodes * sizeof *depends);
    find_dependent(o, depends);
    size_t one = o->n_theta;
    for (const dpi_read *a = view->reads; a < view->reads + view->n_reads && linear; a++) {
        linear = a->at == a->block->offset && !depends[a->slope[0]];
        if (a->size == 1 && dpi_is_ones(dpi_get(&o->graph, a->slope[0])))
            one = a->at;
    }
    if (linear)
        r->intercept = one;
    dpi_free(depends);
    return DP_OK;
}

void dpi_follow_from_here(dpi_rounds *r)
{
    memcpy(r->informed, r->z, r->view->objective.n_theta * sizeof *r->z);
    r->told_once = true;
}

static double phi(const void *scan, double eta)
{
    return dpi_shared_information(scan, eta);
}

static double mean_of(size_t d, const double *a)
{
    double trace = 0;
    for (size_t i = 0; i < d * d; i += d + 1)
        trace += a[i];
    return trace / (double)d;
}

/* The rows of the metric follow: what was the unit matrix in it stays that. */
static dp_status turn_metric(dpi_rounds *r, const double *before, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    double *root = dpi_alloc(3 * d, d * sizeof *root), *back = root + d * d, *turn = back + d * d;
    dp_status status = root != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK)
        status = dpi_matrix_power(d, before, 0.5, rounding * mean_of(d, before), root, err);
    if (status == DP_OK)
        status = dpi_matrix_power(d, r->information, -0.5, rounding * mean_of(d, r->information),
                                  back, err);
    if (status == DP_OK) {
        dpi_matrix_product(d, back, root, turn);
        status = dpi_metric_carry(&r->metric, turn, err);
    }
    dpi_free(root);
    return status;
}

bool dpi_follows_information(const dpi_rounds *r)
{
    size_t d = r->view->objective.n_theta;
    return r->budget->noisy && r->told_once && r->intercept < d && r->known.canonical;
}

/* information[d][d], which is that at r->informed, at `to`. */
static dp_status move_information(const dpi_rounds *r, const double *to, double *information,
                                  bool *known, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    const dpi_predictor_told l = {.n = d, .constant = r->intercept, .phi = phi, .of = r->scan};
    return dpi_elsewhere(&l, r->informed, to, information, known, err);
}

/* d'a d */
static double length_of(size_t d, const double *a, const double *move, double *room)
{
    dpi_matrix_times(d, a, move, room);
    return dpi_dot(d, move, room);
}

dp_status dpi_follow_shorten(dpi_rounds *r, double *away, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    dp_status status = DP_OK;
    double *there = dpi_alloc(d + 2, d * sizeof *there), *to = there + d * d, *room = to + d;
    if (there == NULL)
        return dpi_fail_nomem(err);
    for (int k = 0; k < SHORTENED && dpi_follows_information(r) && status == DP_OK; k++) {
        bool known = false;
        memcpy(there, r->information, d * d * sizeof *there);
        for (size_t i = 0; i < d; i++)
            to[i] = r->z[i] + away[i];
        status = move_information(r, to, there, &known, err);
        double ratio = length_of(d, there, away, room) / length_of(d, r->information, away, room);
        if (known && !(fabs(log(ratio)) > bends))
            break;
        for (size_t i = 0; i < d; i++)
            away[i] /= 2;
    }
    dpi_free(there);
    return status;
}

static dp_status follow_information(dpi_rounds *r, bool turn, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    double *before = dpi_alloc(d, d * sizeof *before), most = 0;
    bool known = false;
    if (before == NULL)
        return dpi_fail_nomem(err);
    memcpy(before, r->information, d * d * sizeof *before);
    dp_status status = move_information(r, r->z, r->information, &known, err);
    if (known)
        dpi_follow_from_here(r);
    if (known && turn) {
        for (size_t i = 0; i < d * d; i += d + 1)
            most = fmax(most, fabs(log(r->information[i] / before[i])));
        status = turn_metric(r, before, err);
        r->moved += most;
        r->changed = r->changed || r->moved > other_information;
        r->moved = r->changed ? 0 : r->moved;
    }
    dpi_free(before);
    return status;
}

dp_status dpi_follow(dpi_rounds *r, bool turn, dp_error *err)
{
    size_t d = r->view->objective.n_theta;
    dp_status status = follow_units(r, err);
    bool along = dpi_follows_information(r) && memcmp(r->informed, r->z, d * sizeof *r->z) != 0;
    return status == DP_OK && along ? follow_information(r, turn, err) : status;
}
