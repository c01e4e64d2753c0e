/* -KL(q | p) = E_q log p(x) + H(q), for q normal or log-normal:
 *
 *   H = log scale + (1 + log 2 pi) / 2, and loc besides where x = e^(loc + scale noise),
 *
 * and E_q log p from the prior's row.  Its gradient is the mean, over the latent's noise, of that
 * of log p(x) - log q(x), and has no variance from it (Kingma and Welling 2014, arXiv:1312.6114,
 * app. B).
 *
 * It is a conditional mean: the arguments of p may be draws of other latents, and those of q too,
 * if they are drawn independently of this latent's noise.  A guide may draw a parent given its
 * child; then the mean over the child's noise alone is another, and the draw is kept.
 *
 * Of a draw x = loc + scale noise log q(x) is -noise^2 / 2 - log scale - log(2 pi) / 2: made of
 * what x is made of it needs no difference x - loc, and its gradient none of the terms by x, loc
 * and scale that cancel. */
#include "model/divergence.h"

#include <gsl/gsl_math.h>
#include <math.h>

#include "base/alloc.h"

/* Whether an argument of the prior depends on q's noise; yes when memory is out. */
static bool depends(dpi_graph *g, const dpi_family *prior, const dpi_id arg[], dpi_id noise)
{
    bool *needed = dpi_alloc(g->n_nodes, sizeof *needed);
    if (needed == NULL) {
        (void)dpi_fail_nomem(g->err);
        return true;
    }
    for (int k = 0; k < prior->n_args; k++)
        dpi_mark(g, arg[k], needed);
    bool found = needed[noise];
    dpi_free(needed);
    return found;
}

dpi_id dpi_minus_divergence(dpi_graph *g, const dpi_family *prior, const dpi_id arg[],
                            const dpi_gaussian *q, dpi_shape shape)
{
    if (g->err->status != DP_OK || prior->expected == NULL || q->support != prior->support ||
        depends(g, prior, arg, q->noise))
        return DPI_NONE;
    dpi_id entropy = dpi_add(g, q->log_scale, dpi_constant(g, 0.5 * (1 + log(2 * M_PI))));
    if (q->support == DPI_ABOVE_ZERO)
        entropy = dpi_add(g, entropy, q->loc);
    dpi_id each = dpi_add(g, prior->expected(g, q->loc, q->scale, arg), entropy);
    return dpi_sum(g, dpi_expand(g, each, shape));
}

dpi_id dpi_drawn_entropy(dpi_graph *g, const dpi_gaussian *q)
{
    dpi_id square = dpi_scale(g, 0.5, dpi_unary(g, &dpi_op_square, q->noise));
    dpi_id norm = dpi_add(g, q->log_scale, dpi_constant(g, 0.5 * log(2 * M_PI)));
    if (q->support == DPI_ABOVE_ZERO)
        norm = dpi_add(g, norm, dpi_add(g, q->loc, dpi_times(g, q->scale, q->noise)));
    return dpi_sum(g, dpi_add(g, square, norm));
}
