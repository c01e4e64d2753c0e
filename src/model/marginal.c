/* Discrete latents summed out: one of a record, or a chain of them.
 *
 *   log p = log sum_k e^(w_k + d_k)
 *
 *   a_1[j] = initial[j] + e_1[j],  a_t[j] = e_t[j] + log sum_i e^(a_(t-1)[i] + A[i][j]),
 *   log p = log sum_j e^(a_T[j])
 *
 * in n K^2 operations for a chain of n times; doc/design/marginal.md says why it is unrolled. */
#include <tacit/marginal.h>

#include "graph/gradient.h"
#include "model/declare.h"

static dpi_shape shape_of(const dp_model *m, dpi_id id)
{
    return dpi_get(&m->graph, id)->shape;
}

/* ---- one latent ---- */

/* NULL, or what is wrong. */
static const char *misfit(const dpi_shape *weights, const dpi_shape *density)
{
    bool good = weights->n_dims == 1 && density->n_dims == 1 &&
                weights->dim[0] == density->dim[0] && weights->dim[0] > 1;
    return good ? NULL
                : "a discrete latent of K >= 2 values takes log weights [K] and log densities [K]";
}

/* log_weights + log_density, [K]; DPI_NONE where they are not of the values of one latent.  With
 * `here` the caller's place is that of the call. */
static dp_expr joint(dp_expr log_weights, dp_expr log_density, bool here, const char *call)
{
    dp_model *m = dpi_expr_model(log_weights, log_density, call);
    dpi_id weights = dpi_expr_id(m, log_weights), density = dpi_expr_id(m, log_density);
    if (m->err.status != DP_OK || weights == DPI_NONE || density == DPI_NONE)
        return dpi_expression(m, DPI_NONE);
    const dpi_shape of[2] = {shape_of(m, weights), shape_of(m, density)};
    const char *wrong = misfit(&of[0], &of[1]);
    char text[2][DPI_SHAPE_TEXT];
    if (wrong == NULL)
        return dpi_expression(m, dpi_add(&m->graph, weights, density));
    (void)dpi_shape_text(&of[0], text[0]);
    (void)dpi_shape_text(&of[1], text[1]);
    if (here)
        FAIL(m, DP_ESHAPE, "%s; they are %s and %s", wrong, text[0], text[1]);
    else
        FAIL_AFTER(m, DP_ESHAPE, "%s; they are %s and %s", wrong, text[0], text[1]);
    return dpi_expression(m, DPI_NONE);
}

void dp_marginal_at(dp_plate rows, const char *name, dp_expr log_weights, dp_expr log_density,
                    const char *file, int line)
{
    if (!dpi_enter(rows.model, name, file, line))
        return;
    dp_expr each = joint(log_weights, log_density, true, "dp_marginal");
    dp_factor_at(rows, name, dp_log_sum_exp(each), file, line);
}

dp_expr dp_responsibilities(dp_expr log_weights, dp_expr log_density)
{
    return dp_softmax(joint(log_weights, log_density, false, __func__));
}

/* ---- a chain ---- */

typedef struct hidden_chain {
    dp_model *m;
    dpi_id initial, transition, emission;
} hidden_chain;

static bool fits(dp_model *m, const hidden_chain *c)
{
    const dpi_shape of[3] = {shape_of(m, c->initial), shape_of(m, c->transition),
                             shape_of(m, c->emission)};
    char text[3][DPI_SHAPE_TEXT];
    const size_t k = of[0].n_dims == 1 ? of[0].dim[0] : 0;
    if (k > 0 && of[1].n_dims == 2 && of[1].dim[0] == k && of[1].dim[1] == k && of[2].n_dims == 2 &&
        of[2].dim[1] == k)
        return true;
    FAIL_AFTER(
        m, DP_ESHAPE,
        "a chain takes [K], [K][K] and [T][K] (first state, transitions, what is seen); they are "
        "%s, %s and %s",
        dpi_shape_text(&of[0], text[0]), dpi_shape_text(&of[1], text[1]),
        dpi_shape_text(&of[2], text[2]));
    return false;
}

/* False after an error. */
static bool take(hidden_chain *c, dp_expr log_initial, dp_expr log_transition, dp_expr log_emission,
                 const char *call)
{
    dp_model *m = dpi_expr_model(log_transition, log_emission, call);
    *c = (hidden_chain){.m = m,
                        .initial = dpi_expr_id(m, log_initial),
                        .transition = dpi_expr_id(m, log_transition),
                        .emission = dpi_expr_id(m, log_emission)};
    return m->err.status == DP_OK && c->initial != DPI_NONE && c->transition != DPI_NONE &&
           c->emission != DPI_NONE && fits(m, c);
}

static dpi_id rows_of(dpi_graph *g, dpi_id a, size_t from, size_t n)
{
    return dpi_apply(g, &dpi_op_slice, a, DPI_NONE, &(dpi_attr){.number = from, .rows = n});
}

/* `into` is A', so that row j has what leads to state j. */
static dpi_id one_step(dpi_graph *g, dpi_id before, dpi_id into, dpi_id row)
{
    return dpi_add(g, dpi_unary(g, &dpi_op_log_sum_exp, dpi_add(g, into, before)), row);
}

/* Goes over n >= 1 rows of emissions, of which a last one has no first dimension. */
static dpi_id run(dpi_graph *g, dpi_id alpha, dpi_id into, dpi_id rows, size_t n)
{
    if (n == 1)
        return one_step(g, alpha, into, rows);
    alpha = run(g, alpha, into, rows_of(g, rows, 0, n / 2), n / 2);
    return run(g, alpha, into, rows_of(g, rows, n / 2, n - n / 2), n - n / 2);
}

static dpi_id forward(const hidden_chain *c)
{
    dpi_graph *g = &c->m->graph;
    const size_t n = shape_of(c->m, c->emission).dim[0];
    dpi_id into = dpi_unary(g, &dpi_op_transpose, c->transition);
    dpi_id alpha = dpi_add(g, c->initial, rows_of(g, c->emission, 0, 1));
    if (n > 1)
        alpha = run(g, alpha, into, rows_of(g, c->emission, 1, n - 1), n - 1);
    return dpi_unary(g, &dpi_op_log_sum_exp, alpha);
}

dp_expr dp_forward(dp_expr log_initial, dp_expr log_transition, dp_expr log_emission)
{
    hidden_chain c;
    const bool good = take(&c, log_initial, log_transition, log_emission, __func__);
    return dpi_expression(c.m, good ? forward(&c) : DPI_NONE);
}

/* Whether the chain's other arguments depend on its emissions. */
static dp_status is_circular(const hidden_chain *c, bool *circular)
{
    const dpi_graph *g = &c->m->graph;
    bool *needed = dpi_alloc(g->n_nodes, sizeof *needed);
    if (needed == NULL)
        return dpi_fail_nomem(&c->m->err);
    dpi_mark(g, c->initial, needed);
    dpi_mark(g, c->transition, needed);
    *circular = needed[c->emission];
    dpi_free(needed);
    return DP_OK;
}

/* d log p / d e_t[j] = P(state j at t | all). */
dp_expr dp_state_probabilities(dp_expr log_initial, dp_expr log_transition, dp_expr log_emission)
{
    hidden_chain c;
    bool circular = false;
    dpi_id chances = DPI_NONE;
    if (!take(&c, log_initial, log_transition, log_emission, __func__) ||
        is_circular(&c, &circular) != DP_OK)
        return dpi_expression(c.m, DPI_NONE);
    if (circular) {
        FAIL_AFTER(
            c.m, DP_EINVAL,
            "%s: the first state or the transitions are computed from what is seen; compute them "
            "from other expressions",
            __func__);
        return dpi_expression(c.m, DPI_NONE);
    }
    dpi_id root = forward(&c);
    if (root == DPI_NONE || dpi_gradient(&c.m->graph, root, 1, &c.emission, &chances) != DP_OK)
        return dpi_expression(c.m, DPI_NONE);
    return dpi_expression(c.m, chances);
}
