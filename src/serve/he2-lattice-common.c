/* The lattice's row: what both sides derive from the plan. */
#include "base/error.h"
#include "serve/he2-lattice.h"

static const double privacy_bits = 40; /* of the answers' statistical distance */
enum { MOST_MATRIX = 1 << 27 };        /* numbers of a layer as a matrix */

static bool has_shape(const dp_stage *s)
{
    const dp_window *w = &s->window;
    return s->kind == DP_STAGE_CONVOLUTION && w->stride[0] == w->stride[1] &&
           w->padding[0] == w->padding[1];
}

static dpi_lattice_shape shape_of(const dpi_serve_plan *plan, size_t k, bool windowed)
{
    const dp_stage *s = dp_program_stage(plan->p, plan->layer[k].stage);
    const dp_stage *a = dp_program_stage(plan->p, (size_t)s->in[0]);
    int64_t most = ((int64_t)1 << s->weight_bits) - 1;
    if (!windowed)
        return dpi_lattice_dense(plan->layer[k].inputs, plan->layer[k].sent, most);
    return (dpi_lattice_shape){.channels = a->shape[2],
                               .height = a->shape[0],
                               .width = a->shape[1],
                               .filters = s->shape[2],
                               .kernel_height = s->window.size[0],
                               .kernel_width = s->window.size[1],
                               .stride = s->window.stride[0],
                               .padding = s->window.padding[0],
                               .weight_most = most};
}

void dpi_lattice_common_free(dpi_lattice_common *c)
{
    dpi_bfv_free(c->f);
    c->f = NULL;
}

/* The parameters under which all layers have their privacy. */
static dp_status choose(const dpi_serve_plan *plan, dpi_mode mode, dpi_lattice_common *c,
                        dpi_lattice_shape *shape, dpi_bfv_spec *spec, dp_error *err)
{
    int bits = 0;
    *c = (dpi_lattice_common){.plan = *plan};
    for (size_t k = 0; k < plan->n_layers; k++) {
        c->windowed[k] =
            mode == DPI_MODE_LINEAR && has_shape(dp_program_stage(plan->p, plan->layer[k].stage));
        shape[k] = shape_of(plan, k, c->windowed[k]);
        bits = plan->layer[k].bits > bits ? plan->layer[k].bits : bits;
    }
    return dpi_lattice_choose(plan->n_layers, shape, bits + 1, privacy_bits, spec, err);
}

static dp_status plan_layers(dpi_lattice_common *c, const dpi_lattice_shape *shape, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t k = 0; status == DP_OK && k < c->plan.n_layers; k++)
        status = dpi_lattice_plan_make(c->f, &shape[k], &c->layer[k], err);
    return status;
}

dp_status dpi_lattice_common_make(const dpi_serve_plan *plan, dpi_mode mode, dpi_lattice_common *c,
                                  dp_error *err)
{
    dpi_lattice_shape shape[DPI_SERVE_LAYERS];
    dpi_bfv_spec spec;
    dp_status status = choose(plan, mode, c, shape, &spec, err);
    if (status == DP_OK)
        status = dpi_bfv_new(&spec, &c->f, err);
    if (status == DP_OK)
        status = plan_layers(c, shape, err);
    if (status != DP_OK)
        dpi_lattice_common_free(c);
    return status;
}

dp_status dpi_lattice_check(const dpi_serve_plan *plan, dpi_mode mode, dp_error *err)
{
    for (size_t k = 0; mode == DPI_MODE_PERMUTE && k < plan->n_layers; k++)
        if (plan->layer[k].inputs > MOST_MATRIX / plan->layer[k].sent)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "stage %zu is too large as a matrix for the lattice in mode permute; "
                            "take Paillier's scheme",
                            plan->layer[k].stage);
    return DP_OK;
}

dp_status dpi_lattice_cost(const dpi_serve_plan *plan, dpi_mode mode, const dpi_serve_opts *opts,
                           dpi_serve_cost *cost, dp_error *err)
{
    dpi_lattice_common c;
    dpi_lattice_shape shape[DPI_SERVE_LAYERS];
    dpi_bfv_spec spec;
    dpi_bfv f = {0}; /* without tables */
    (void)opts;
    *cost = (dpi_serve_cost){0};
    dp_status status = dpi_lattice_check(plan, mode, err);
    if (status == DP_OK)
        status = choose(plan, mode, &c, shape, &spec, err);
    if (status == DP_OK)
        status = dpi_bfv_describe(&spec, &f, err);
    if (status != DP_OK)
        return status;
    c.f = &f;
    status = plan_layers(&c, shape, err);
    if (status != DP_OK)
        return status;
    cost->key = dpi_bfv_cipher_size(c.f);
    for (size_t k = 0; k < plan->n_layers; k++) {
        const dpi_lattice_plan *l = &c.layer[k];
        cost->up[k] = l->query_bytes;
        cost->down[k] = l->answer_bytes;
        cost->masked_up[k] = dpi_masks_bytes(c.f->spec.plain_bits, plan->layer[k].inputs);
        cost->masked_down[k] = dpi_masks_bytes(c.f->spec.plain_bits, plan->layer[k].sent);
        cost->encrypted += l->queries;
        cost->products += (uint64_t)l->answers * l->groups;
        cost->decrypted += l->answers;
    }
    return DP_OK;
}

void dpi_lattice_to_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to)
{
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            to[c * pixels + i] = from[i * channels + c];
}

void dpi_lattice_from_planes(size_t pixels, size_t channels, const int64_t *from, int64_t *to)
{
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < channels; c++)
            to[i * channels + c] = from[c * pixels + i];
}
