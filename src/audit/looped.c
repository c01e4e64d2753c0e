/* Fits by the loop under attack.
 *
 * A record says y ~ N(x.w, 1) with four plain parameters w in two blocks, so its gradient is (y -
 * x.w) x.  The ordinary record has x = 0: its gradient is zero wherever the parameters are, and it
 * counts as one that is not clipped.  The canary has |x| = 1, signs alternating, and y = 10^100, by
 * which it is clipped at every norm that the loop may choose, in a direction that never changes.
 * So the attacker knows both sums of each release, given those before it: in standard deviations
 * of the noise they are
 *
 *   number     one unit, or two
 *   gradients  0, or what a clipped gradient is, along x
 *   count      1 - g, or 1 - 2 g, g being the quantile that the clip norm follows
 *
 * and the log likelihood ratio of a fit is the sum of (z - m - d / 2) d over its numbers z, whose
 * means are m without and m + d with the canary.  The quantile of the steps is 1/2 here, for so few
 * records, where .95 is accounted for: the canary uses up all but 3.5 % of mu. */
#include "audit/looped.h"

#include "base/error.h"
#include "infer/loop.h"

enum { BLOCK = 2, WIDTH = 2 * BLOCK };
static const double direction[WIDTH] = {0.5, -0.5, 0.5, -0.5};
static const double left[2 * BLOCK] = {0, 0, 0.5, -0.5}, outcome[2] = {0, 1e100};

/* ---- the stage ---- */

static dp_status write_model(dpi_looped *q, dp_error *err)
{
    dp_model *m = q->model = dp_model_new();
    if (m == NULL)
        return dpi_fail_nomem(err);
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_dot(dp_data(rows, "a", BLOCK), dp_param(m, "left", BLOCK, 0));
    dp_expr b = dp_dot(dp_data(rows, "b", BLOCK), dp_param(m, "right", BLOCK, 0));
    dp_observe(rows, "y", dp_normal_v(dp_add(a, b), dp_num(1)));
    const char *why = dp_model_error(m);
    return why == NULL ? DP_OK : dpi_fail(err, dp_model_status(m), "%s", why);
}

static dp_status add_data(dpi_looped *q, int world, dp_error *err)
{
    dp_dataset *data = q->data[world] = dp_dataset_new((size_t)world + 1);
    if (data == NULL)
        return dpi_fail_nomem(err);
    dp_dataset_real(data, "a", BLOCK, left);
    dp_dataset_real(data, "b", BLOCK, left);
    dp_dataset_real(data, "y", 1, outcome);
    return DP_OK;
}

dp_status dpi_looped_init(dpi_looped *q, dp_error *err)
{
    *q = (dpi_looped){.model = NULL};
    dp_status status = write_model(q, err);
    for (int world = 0; world < 2 && status == DP_OK; world++)
        status = add_data(q, world, err);
    if (status != DP_OK)
        dpi_looped_free(q);
    return status;
}

void dpi_looped_free(dpi_looped *q)
{
    dp_dataset_free(q->data[0]);
    dp_dataset_free(q->data[1]);
    dp_model_free(q->model);
    *q = (dpi_looped){.model = NULL};
}

/* ---- fits ---- */

/* Takes a number, in standard deviations, whose mean the canary moves from `mean` by `shift`. */
static void weigh(dpi_looped_seen *seen, double z, double mean, double shift)
{
    seen->score += (z - mean - shift / 2) * shift;
    seen->square += shift * shift;
}

static void see(void *of, const dpi_release *r, const dp_svi *run)
{
    dpi_looped_seen *seen = of;
    const dp_svi_opts *o = &run->opts;
    if (r != &run->release) { /* the number */
        weigh(seen, r->out[0] * r->rate / r->sd, r->rate / r->sd, r->rate / r->sd);
        return;
    }
    double share = dpi_svi_share_clipped(run), along = 0, count = share / o->clip_sigma;
    if (r->n != WIDTH + 1)
        dpi_misuse(__func__, "the model of an audit releases other numbers than it should");
    for (size_t j = 0; j < WIDTH; j++)
        along += r->out[j] / r->sd * direction[j];
    weigh(seen, along, 0, share / o->sigma);
    weigh(seen, r->out[WIDTH] / r->sd, (1 - o->clip_quantile) * count, -o->clip_quantile * count);
}

dp_status dpi_looped_run(const dpi_looped *q, int world, const dp_fit_opts *opts,
                         dpi_looped_seen *seen, dp_privacy *privacy, dp_error *err)
{
    dp_fit *fit;
    *seen = (dpi_looped_seen){0};
    const dpi_loop_witness witness = {see, seen};
    const dpi_loop_spec spec = {.model = q->model,
                                .data = q->data[world],
                                .opts = opts,
                                .why = "it is audited",
                                .witness = &witness};
    dp_status status = dpi_fit_loop(&spec, &fit, err);
    if (status == DP_OK)
        dp_fit_privacy(fit, privacy);
    dp_fit_free(fit);
    return status;
}
