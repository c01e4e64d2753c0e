/* The closed form of E_q log p - log q against the mean of draws, by quadrature over the noise: of
 * every family that has one, and of the gradient of whole objectives; its variance; and a guide for
 * which the closed form would be another mean.
 *
 * The trapezoidal rule with step h errs by about e^(-2 pi^2 / h^2) for a smooth function times the
 * normal density (Trefethen and Weideman 2014, SIAM Review 56, sect. 5): nothing, for h = 0.3. */
#include "model/divergence.h"

#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/value.h"
#include "model/objective.h"
#include "tests/lib/check.h"

enum { POINTS = 71, MOST = 8 };

/* Noise number i of the rule, and its weight. */
static double noise_at(size_t i)
{
    return 0.3 * ((double)i - POINTS / 2);
}

static double weight_at(size_t i)
{
    return 0.3 * exp(-0.5 * noise_at(i) * noise_at(i)) / sqrt(2 * acos(-1));
}

/* ---- families ---- */

static double value_of(const dpi_graph *g, dpi_id id, const dpi_id in[3], const double values[3])
{
    dp_error err = {0};
    dpi_run *run;
    dpi_run_spec spec = {.graph = g, .wanted = &id, .n_wanted = 1, .chunk = 1};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (int k = 0; k < 3; k++)
        if (dpi_run_value(run, in[k]) != NULL)
            *dpi_run_value(run, in[k]) = values[k];
    dpi_run_globals(run);
    double value = *dpi_run_value(run, id);
    dpi_run_free(run);
    return value;
}

static void check_family(const dpi_family *family, double loc, double scale)
{
    dpi_arena arena = {0};
    dp_error err = {0};
    dpi_graph g;
    dpi_graph_init(&g, &arena, &err);
    const dpi_attr number = {.shape = dpi_scalar(false)};
    dpi_id in[3] = {dpi_source(&g, &dpi_op_input, "loc", number),
                    dpi_source(&g, &dpi_op_input, "scale", number),
                    dpi_source(&g, &dpi_op_input, "noise", number)};
    dpi_id arg[DPI_MAX_ARGS] = {dpi_constant(&g, 1.385), dpi_constant(&g, 0.713)};
    dpi_id z = dpi_add(&g, in[0], dpi_times(&g, in[1], in[2]));
    dpi_id x = family->support == DPI_ABOVE_ZERO ? dpi_unary(&g, &dpi_op_exp, z) : z;
    dpi_id drawn = family->log_density(&g, x, arg),
           closed = family->expected(&g, in[0], in[1], arg);
    double values[3] = {loc, scale, 0}, mean = 0;
    for (size_t i = 0; i < POINTS; i++) {
        values[2] = noise_at(i);
        mean += weight_at(i) * value_of(&g, drawn, in, values);
    }
    assert_close(value_of(&g, closed, in, values), mean, 1e-12, 1e-12);
    dpi_arena_free(&arena);
}

static void expected_log_densities_are_means(void **state)
{
    (void)state;
    size_t seen = 0;
    for (size_t i = 0; i < dpi_n_families; i++)
        if (dpi_families[i]->expected != NULL) {
            seen++;
            check_family(dpi_families[i], -0.217, 0.385);
            check_family(dpi_families[i], 0.613, 0.75);
        }
    assert_true(seen >= 7);
}

/* Of a draw, as the family has it; and where it is no power, of its noise and scale alone. */
static void draws_have_the_density_of_their_family(void **state)
{
    (void)state;
    const dpi_family *families[] = {&dpi_normal, &dpi_log_normal};
    for (int k = 0; k < 2; k++) {
        dpi_arena arena = {0};
        dp_error err = {0};
        dpi_graph g;
        dpi_graph_init(&g, &arena, &err);
        const dpi_attr number = {.shape = dpi_scalar(false)};
        const dpi_id in[3] = {dpi_source(&g, &dpi_op_input, "loc", number),
                              dpi_source(&g, &dpi_op_input, "scale", number),
                              dpi_source(&g, &dpi_op_input, "noise", number)};
        const double values[3] = {-0.719, 1.385, 2.113};
        const dpi_gaussian q = {families[k]->support, in[0], in[1],
                                dpi_unary(&g, &dpi_op_log, in[1]), in[2]};
        dpi_id minus_log_q = dpi_drawn_entropy(&g, &q);
        dpi_id x = dpi_constant(&g, (k == 0 ? values[0] + values[1] * values[2]
                                            : exp(values[0] + values[1] * values[2])));
        dpi_id log_q = families[k]->log_density(&g, x, in);
        bool needed[64] = {false};
        assert_ok(err.status, err.text);
        assert_close(value_of(&g, minus_log_q, in, values), -value_of(&g, log_q, in, values), 1e-13,
                     0);
        dpi_mark(&g, minus_log_q, needed);
        assert_int_equal(needed[in[0]], k == 1);
        dpi_arena_free(&arena);
    }
}

/* ---- objectives ---- */

typedef struct work {
    dp_model *m, *guide;
    dpi_objective o;
    dp_dataset *data;
    dpi_run *run;
} work;

/* z of each record given u, and an encoder. */
static void encoder(work *w)
{
    dp_plate rows = dp_unit_plate(w->m, "rows");
    dp_expr u = dp_sample(w->m, "u", 1, dp_normal(0.5, 1.2));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal_v(u, dp_num(1.3)));
    dp_observe(rows, "y", dp_normal_v(dp_mul(z, u), dp_num(0.9)));
    w->guide = dp_guide_new(w->m);
    rows = dp_unit_plate(w->guide, "rows");
    dp_expr a = dp_param(w->guide, "a", 1, 0), b = dp_param(w->guide, "b", 1, 0),
            c = dp_param(w->guide, "c", 1, 0), d = dp_param(w->guide, "d", 1, 0);
    u = dp_sample(w->guide, "u", 1, dp_normal_v(a, dp_exp(b)));
    dp_expr x = dp_data(rows, "x", 1);
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(dp_mul(x, c), dp_exp(dp_mul(x, d))));
}

/* The same parent and child, both global; the guide draws the parent given the child. */
static void reversed(work *w)
{
    dp_plate rows = dp_unit_plate(w->m, "rows");
    dp_expr u = dp_sample(w->m, "u", 1, dp_normal(0.5, 1.2));
    dp_expr z = dp_sample(w->m, "z", 1, dp_normal_v(u, dp_num(1.3)));
    dp_observe(rows, "y", dp_normal_v(dp_mul(z, u), dp_num(0.9)));
    w->guide = dp_guide_new(w->m);
    dp_expr a = dp_param(w->guide, "a", 1, 0), b = dp_param(w->guide, "b", 1, 0),
            c = dp_param(w->guide, "c", 1, 0), d = dp_param(w->guide, "d", 1, 0);
    z = dp_sample(w->guide, "z", 1, dp_normal_v(a, dp_exp(b)));
    (void)dp_sample(w->guide, "u", 1, dp_normal_v(dp_mul(c, z), dp_exp(d)));
}

/* Mean-field: a location that a scale comes with, and rates. */
static void nested(work *w)
{
    dp_plate rows = dp_unit_plate(w->m, "rows");
    dp_expr u = dp_sample(w->m, "u", 1, dp_half_normal(1.5));
    dp_expr z = dp_sample(w->m, "z", 1, dp_normal_v(dp_num(0.5), u));
    dp_observe(rows, "y", dp_normal_v(dp_mul(z, u), dp_num(0.9)));
}

static void open(work *w, void (*write)(work *), dp_form cut)
{
    static const double one = 0.613, seen = 1.385; /* the data set borrows them */
    const double theta[] = {0.385, -0.75, 0.613, -0.217};
    dp_error err = {0};
    dpi_id wanted[4 * MOST];
    size_t n = 0;
    *w = (work){.m = dp_model_new(), .data = dp_dataset_new(1)};
    write(w);
    dp_dataset_real(w->data, "x", 1, &one);
    dp_dataset_real(w->data, "y", 1, &seen);
    dpi_objective_spec spec = {
        .model = w->m, .guide = w->guide, .cut = cut, .population = 1, .init_scale = 0.1};
    assert_ok(dpi_objective_init(&w->o, &spec, &err), err.text);
    for (size_t k = 0; k < w->o.n_blocks; k++) {
        wanted[n++] = w->o.blocks[k].node;
        if (cut == DP_FORM_LATENTS)
            wanted[n++] = w->o.blocks[k].gradient;
    }
    for (size_t k = 0; k < w->o.n_noise; k++)
        wanted[n++] = w->o.noise[k];
    dpi_run_spec run = {.graph = &w->o.graph,
                        .wanted = wanted,
                        .n_wanted = n,
                        .parts = w->o.part,
                        .n_parts = w->o.n_parts,
                        .data = w->data,
                        .chunk = 1};
    assert_ok(dpi_run_new(&run, &w->run, &err), err.text);
    for (size_t k = 0; k < w->o.n_blocks; k++)
        *dpi_run_value(w->run, w->o.blocks[k].node) = theta[k];
}

static void close(work *w)
{
    dpi_run_free(w->run);
    dpi_objective_free(&w->o);
    dp_dataset_free(w->data);
    dp_model_free(w->guide);
    dp_model_free(w->m);
}

/* d ELBO / d theta with these draws, of numbers that are blocks of their own. */
static void gradient(work *w, const double noise[2], double *result)
{
    double scratch[2], release[MOST] = {0};
    assert_int_equal(w->o.n_noise, 2);
    for (size_t k = 0; k < 2; k++)
        *dpi_run_value(w->run, w->o.noise[k]) = noise[k];
    dpi_run_globals(w->run);
    dpi_run_records(w->run, 1, NULL, 0);
    dpi_run_clip_sum(w->run, 1, INFINITY, scratch, release);
    if (w->o.cut == DP_FORM_PARAMETERS) {
        memcpy(result, release, w->o.n_theta * sizeof *result);
        return;
    }
    for (size_t k = 0; k < w->o.n_parts; k++)
        *dpi_run_value(w->run, w->o.feed[k]) = release[k];
    dpi_run_late(w->run);
    for (size_t k = 0; k < w->o.n_blocks; k++)
        result[k] = *dpi_run_value(w->run, w->o.blocks[k].gradient);
}

/* Means and variances of the gradient over both draws. */
static void moments(void (*write)(work *), dp_form cut, double *mean, double *variance)
{
    work w;
    open(&w, write, cut);
    assert_int_equal(w.o.n_theta, 4);
    memset(mean, 0, 4 * sizeof *mean);
    memset(variance, 0, 4 * sizeof *variance);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t j = 0; j < POINTS; j++) {
            double one[4], weight = weight_at(i) * weight_at(j);
            gradient(&w, (double[]){noise_at(i), noise_at(j)}, one);
            for (size_t e = 0; e < 4; e++) {
                mean[e] += weight * one[e];
                variance[e] += weight * one[e] * one[e];
            }
        }
    for (size_t e = 0; e < 4; e++)
        variance[e] -= mean[e] * mean[e];
    close(&w);
}

static void gradients_are_the_means_of_those_of_draws(void **state)
{
    (void)state;
    void (*const writers[])(work *) = {encoder, nested, reversed};
    for (size_t k = 0; k < 3; k++) {
        double drawn[4], closed[4], drawn_variance[4], closed_variance[4], total[2] = {0};
        moments(writers[k], DP_FORM_LATENTS, closed, closed_variance);
        moments(writers[k], DP_FORM_PARAMETERS, drawn, drawn_variance);
        for (size_t e = 0; e < 4; e++) {
            assert_close(closed[e], drawn[e], 1e-9, 1e-10);
            total[0] += closed_variance[e];
            total[1] += drawn_variance[e];
        }
        assert_true(total[0] < total[1]);
    }
}

/* What the prior alone says has no variance left, and needs no noise. */
static void the_divergence_of_a_latent_without_parents_is_not_drawn(void **state)
{
    (void)state;
    work w;
    bool needed[512] = {false};
    open(&w, encoder, DP_FORM_LATENTS);
    assert_true(w.o.graph.n_nodes <= 512);
    dpi_mark(&w.o.graph, w.o.prior, needed);
    assert_false(needed[w.o.noise[0]]);
    close(&w);
    memset(needed, 0, sizeof needed);
    open(&w, encoder, DP_FORM_PARAMETERS);
    dpi_mark(&w.o.graph, w.o.prior, needed);
    assert_true(needed[w.o.noise[0]]);
    close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_have_the_density_of_their_family),
        cmocka_unit_test(expected_log_densities_are_means),
        cmocka_unit_test(gradients_are_the_means_of_those_of_draws),
        cmocka_unit_test(the_divergence_of_a_latent_without_parents_is_not_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
