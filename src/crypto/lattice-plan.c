/* How a layer is cut into polynomials.
 *
 * Legend: a tile is `area` = rows * width numbers of one channel, padding included; group of C
 * channels, pack of M filters.  As in Cheetah (Huang, Lu, Hong and Ding, USENIX Security 2022):
 * x(X) = sum x[c][i][j] X^(c area + i width + j), w(X) = sum w[m][c][i][j] X^(o_m - c area - i
 * width - j), o_m = m C area + (C - 1) area + (kernel_height - 1) width + kernel_width - 1, and
 * y[m][i][j] is the coefficient of X^(o_m + i stride width + j stride) of the product.  M C area
 * <= n.  Filter m has exponents from m C area up, and times x reaches below o_(m+1): what it adds
 * to results of other filters is nothing.  What goes beyond X^n returns below o_0.
 *
 * Unlike there, inputs are cut even where they fit one polynomial: with more queries an answer has
 * room for more filters, and the sum of both is what costs.  784 x 128 takes 5 + 5 polynomials of
 * degree 4096, not 1 + 26. */
#include <math.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/error.h"
#include "crypto/lattice.h"

dpi_lattice_shape dpi_lattice_dense(size_t inputs, size_t outputs, int64_t weight_most)
{
    return (dpi_lattice_shape){.channels = inputs,
                               .height = 1,
                               .width = 1,
                               .filters = outputs,
                               .kernel_height = 1,
                               .kernel_width = 1,
                               .stride = 1,
                               .weight_most = weight_most};
}

int dpi_lattice_plain_bits(const dpi_lattice_shape *shape, double input_most, double added_most)
{
    const double terms =
        (double)shape->channels * (double)shape->kernel_height * (double)shape->kernel_width;
    const double most = terms * (double)shape->weight_most * input_most + added_most;
    int bits = 2;
    while (bits < 64 && !(exp2(bits - 1) > most))
        bits++;
    return bits;
}

static size_t ceiling(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Whether sizes are such that no product below overflows. */
static bool is_layer(const dpi_lattice_shape *s)
{
    enum { MOST = 1 << 20 };
    const size_t sizes[] = {s->channels,      s->height,       s->width, s->filters,
                            s->kernel_height, s->kernel_width, s->stride};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] < 1 || sizes[i] > MOST)
            return false;
    return s->padding < MOST && s->kernel_height <= s->height + 2 * s->padding &&
           s->kernel_width <= s->width + 2 * s->padding && s->weight_most > 0;
}

/* Cuts into about so many tiles and groups; false where a piece does not fit n. */
static bool cut(dpi_lattice_plan *p, size_t tiles, size_t groups)
{
    const dpi_lattice_shape *s = &p->shape;
    p->tile_rows = ceiling(p->out_height, tiles);
    p->tiles = ceiling(p->out_height, p->tile_rows);
    p->width = s->width + 2 * s->padding;
    p->area = ((p->tile_rows - 1) * s->stride + s->kernel_height) * p->width;
    p->group_channels = ceiling(s->channels, groups);
    p->groups = ceiling(s->channels, p->group_channels);
    const size_t room = p->area > p->f->n ? 0 : p->f->n / p->area / p->group_channels;
    if (room == 0)
        return false;
    p->packs = ceiling(s->filters, least(room, s->filters));
    p->pack_filters = ceiling(s->filters, p->packs);
    p->packs = ceiling(s->filters, p->pack_filters);
    p->queries = p->tiles * p->groups;
    p->answers = p->tiles * p->packs;
    return true;
}

/* Bytes of both directions, but for the results' own, which are the same however it is cut. */
static double traffic(const dpi_lattice_plan *p)
{
    return (double)p->queries * (double)dpi_bfv_cipher_size(p->f) +
           (double)p->answers * (double)dpi_bfv_answer_size(p->f, 0);
}

/* The cut of least traffic; false where none fits. */
static bool cut_best(dpi_lattice_plan *p)
{
    const dpi_lattice_shape *s = &p->shape;
    size_t best_tiles = 0, best_groups = 0;
    double best = INFINITY;
    for (size_t tiles = 1; tiles <= p->out_height; tiles++)
        for (size_t groups = 1; groups <= s->channels; groups++) {
            /* With so many queries alone it is no better. */
            if ((double)tiles * (double)groups * (double)dpi_bfv_cipher_size(p->f) > best)
                break;
            if (cut(p, tiles, groups) && traffic(p) < best) {
                best = traffic(p);
                best_tiles = tiles;
                best_groups = groups;
            }
        }
    return best_tiles != 0 && cut(p, best_tiles, best_groups);
}

/* Results of the answer that has most: no tile has more rows than the first, no pack more
 * filters. */
static size_t most_places(const dpi_lattice_plan *p)
{
    return p->pack_filters * p->tile_rows * p->out_width;
}

dp_status dpi_lattice_plan_make(const dpi_bfv *f, const dpi_lattice_shape *shape,
                                dpi_lattice_plan *plan, dp_error *err)
{
    *plan = (dpi_lattice_plan){.f = f, .shape = *shape};
    if (!is_layer(shape))
        return dpi_fail(
            err, DP_ESHAPE,
            "a layer of %zu x %zu x %zu by %zu kernels of %zu x %zu is none; sizes are 1 "
            ".. 2^20 and a kernel fits into the padded picture",
            shape->channels, shape->height, shape->width, shape->filters, shape->kernel_height,
            shape->kernel_width);
    plan->out_height =
        (shape->height + 2 * shape->padding - shape->kernel_height) / shape->stride + 1;
    plan->out_width = (shape->width + 2 * shape->padding - shape->kernel_width) / shape->stride + 1;
    plan->inputs = shape->channels * shape->height * shape->width;
    plan->outputs = shape->filters * plan->out_height * plan->out_width;
    if (!cut_best(plan))
        return dpi_fail(err, DP_ESHAPE,
                        "%zu rows of %zu numbers do not fit a polynomial of degree %zu; cut the "
                        "picture into columns",
                        shape->kernel_height, shape->width + 2 * shape->padding, f->n);
    plan->query_bytes = plan->queries * dpi_bfv_cipher_size(f);
    plan->answer_bytes = dpi_lattice_answer_at(plan, plan->answers);
    const double terms = (double)plan->pack_filters * (double)shape->channels *
                         (double)shape->kernel_height * (double)shape->kernel_width;
    const double noise = (DPI_RLWE_COINS + 0.5) * terms * (double)shape->weight_most;
    dp_status status = dpi_bfv_hide(f, most_places(plan), &plan->hide, err);
    if (status == DP_OK)
        status = dpi_bfv_flood(f, noise, plan->hide, &plan->flood, err);
    const double all = noise + dpi_bfv_fresh_noise(f, plan->hide);
    plan->bits = plan->flood + 1 - log2(all * (double)plan->outputs);
    return status;
}

/* The least bits of all layers under a specification. */
static dp_status bits_under(const dpi_bfv_spec *spec, size_t n_layers,
                            const dpi_lattice_shape *shapes, double *bits, dp_error *err)
{
    dpi_bfv f;
    dp_status status = dpi_bfv_describe(spec, &f, err);
    *bits = INFINITY;
    for (size_t i = 0; i < n_layers && status == DP_OK; i++) {
        dpi_lattice_plan plan;
        status = dpi_lattice_plan_make(&f, &shapes[i], &plan, err);
        *bits = fmin(*bits, plan.bits);
    }
    return status;
}

dp_status dpi_lattice_choose(size_t n_layers, const dpi_lattice_shape *shapes, int plain_bits,
                             double bits, dpi_bfv_spec *spec, dp_error *err)
{
    static const dpi_bfv_spec candidates[] = {
        {4096, 2, 46, 0}, {4096, 2, 48, 0}, {4096, 2, 50, 0}, {8192, 3, 47, 0},
        {8192, 3, 48, 0}, {8192, 3, 50, 0}, {8192, 4, 50, 0},
    };
    enum { CANDIDATES = sizeof candidates / sizeof *candidates };
    double got = 0;
    for (size_t i = 0; i < CANDIDATES; i++) {
        *spec = candidates[i];
        spec->plain_bits = plain_bits;
        dp_error here = {0};
        dp_status status = bits_under(spec, n_layers, shapes, &got, &here);
        if (status == DP_OK && got >= bits)
            return DP_OK;
        if (i + 1 == CANDIDATES && status != DP_OK)
            return dpi_fail(err, status, "%s", here.text);
    }
    return dpi_fail(err, DP_EPRIVACY,
                    "%.1f bits of circuit privacy were asked for, and the largest parameters give "
                    "%.1f; take fewer bits of plaintext, input or weights",
                    bits, got);
}
