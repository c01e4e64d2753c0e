/* The objective against the same ELBO written out by hand for fixed noise: its prior and records
 * one by one, and the gradients of both cuts against differences of it. */
#include "model/objective.h"

#include <math.h>
#include <string.h>

#include "exec/clip.h"
#include "exec/value.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/model/scene.h"

enum { CHUNK = 3 };

/* ---- the objective at work ---- */

typedef struct work {
    dpi_objective o;
    dp_dataset *data;
    dpi_run *run;
} work;

static dp_status make(const scene *s, dp_form cut, dpi_objective *o, dp_error *err)
{
    dpi_objective_spec spec = {
        .model = s->m, .guide = s->guide, .cut = cut, .population = N, .init_scale = 0.1};
    return dpi_objective_init(o, &spec, err);
}

static void open(work *w, const scene *s, dp_form cut, const double *theta)
{
    dp_error err = {0};
    dpi_id wanted[2 * MOST + 2];
    size_t n = 0;
    assert_ok(dp_model_status(s->m), dp_model_error(s->m));
    assert_ok(make(s, cut, &w->o, &err), err.text);
    assert_int_equal(w->o.n_theta, s->n_theta);
    w->data = dp_dataset_new(N);
    dp_dataset_real(w->data, "x", 2, x[0]);
    dp_dataset_real(w->data, "y", 1, y);
    dp_dataset_index(w->data, "g", group);
    for (size_t k = 0; k < w->o.n_blocks; k++) {
        wanted[n++] = w->o.blocks[k].node;
        if (cut == DP_FORM_LATENTS)
            wanted[n++] = w->o.blocks[k].gradient;
    }
    for (size_t k = 0; k < w->o.n_noise; k++)
        wanted[n++] = w->o.noise[k];
    wanted[n++] = w->o.prior;
    wanted[n++] = w->o.record;
    dpi_run_spec spec = {.graph = &w->o.graph,
                         .wanted = wanted,
                         .n_wanted = n,
                         .parts = w->o.part,
                         .n_parts = w->o.n_parts,
                         .data = w->data,
                         .chunk = CHUNK};
    assert_ok(dpi_run_new(&spec, &w->run, &err), err.text);
    for (size_t k = 0; k < w->o.n_blocks; k++)
        memcpy(dpi_run_value(w->run, w->o.blocks[k].node), theta + w->o.blocks[k].offset,
               w->o.blocks[k].size * sizeof *theta);
}

static void close(work *w)
{
    dpi_run_free(w->run);
    dp_dataset_free(w->data);
    dpi_objective_free(&w->o);
}

/* Sets the noise of m records from `first` on: each record's own, or shared but for the latent
 * z. */
static void set_noise(work *w, size_t first, size_t m, bool shared)
{
    size_t number = 0;
    for (size_t k = 0; k < w->o.n_noise; k++) {
        const dpi_node *node = dpi_get(&w->o.graph, w->o.noise[k]);
        size_t size = dpi_shape_size(&node->shape), rows = node->shape.per_record ? m : 1;
        double *value = dpi_run_value(w->run, w->o.noise[k]);
        bool own = !shared || strcmp(node->name, "z.noise") == 0;
        for (size_t r = 0; r < rows; r++)
            for (size_t e = 0; e < size; e++)
                value[r * size + e] = noise_of(number + e, own ? first + r : 0);
        number += size;
    }
}

/* d ELBO / d theta when each record's gradient is clipped; the released sum goes to release. */
static void gradient(work *w, double clip, bool shared, double *release, double *result)
{
    double scratch[2 * CHUNK];
    memset(release, 0, MOST * sizeof *release);
    set_noise(w, 0, 1, shared);
    dpi_run_globals(w->run);
    for (size_t first = 0; first < N; first += CHUNK) {
        size_t m = N - first < CHUNK ? N - first : CHUNK;
        set_noise(w, first, m, shared);
        dpi_run_records(w->run, m, NULL, first);
        dpi_run_clip_sum(w->run, m, clip, scratch, release);
    }
    if (w->o.cut == DP_FORM_PARAMETERS) {
        memcpy(result, release, w->o.n_theta * sizeof *result);
        return;
    }
    for (size_t k = 0, from = 0; k < w->o.n_parts; k++) {
        size_t size = dpi_shape_size(&dpi_get(&w->o.graph, w->o.feed[k])->shape);
        memcpy(dpi_run_value(w->run, w->o.feed[k]), release + from, size * sizeof *release);
        from += size;
    }
    dpi_run_late(w->run);
    for (size_t k = 0; k < w->o.n_blocks; k++)
        memcpy(result + w->o.blocks[k].offset, dpi_run_value(w->run, w->o.blocks[k].gradient),
               w->o.blocks[k].size * sizeof *result);
}

/* ---- by hand ---- */

/* A weighted sum of the terms of the ELBO with the noise of row r. */
typedef struct terms {
    double prior, record[N];
    size_t r;
    bool closed;
} terms;

static double by_hand(const scene *s, const double *theta, const terms *of)
{
    double sum = of->prior * s->prior(theta, of->r, of->closed);
    for (size_t i = 0; i < N; i++)
        sum += of->record[i] * s->record(theta, i, of->r, of->closed);
    return sum;
}

/* Its slope by central differences of fourth order: error about h^4 = 1e-12. */
static double slope(const scene *s, double *theta, size_t k, const terms *of)
{
    const double h = 1e-3, kept = theta[k];
    double f[4];
    const double steps[4] = {-2, -1, 1, 2};
    for (int j = 0; j < 4; j++) {
        theta[k] = kept + h * steps[j];
        f[j] = by_hand(s, theta, of);
    }
    theta[k] = kept;
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h);
}

static void choose_theta(double *theta)
{
    for (size_t k = 0; k < MOST; k++)
        theta[k] = 0.4 * spread(50 + k);
}

/* By cut: the one at the parameters draws throughout. */
static const terms everything[] = {{1, {1, 1, 1, 1, 1, 1, 1}, 0, true},
                                   {1, {1, 1, 1, 1, 1, 1, 1}, 0, false}},
                   only_prior = {.prior = 1, .closed = true};

/* ---- tests ---- */

static void prior_and_records_are_the_terms_of_the_elbo(void **state)
{
    (void)state;
    double theta[MOST];
    choose_theta(theta);
    for (size_t k = 0; k < N_SCENES; k++)
        for (int cut = DP_FORM_LATENTS; cut <= DP_FORM_PARAMETERS; cut++) {
            scene s = scenes[k]();
            work w;
            open(&w, &s, (dp_form)cut, theta);
            set_noise(&w, 0, 1, true);
            dpi_run_globals(w.run);
            for (size_t i = 0; i < N; i++) {
                set_noise(&w, i, 1, true);
                dpi_run_records(w.run, 1, NULL, i);
                bool closed = cut == DP_FORM_LATENTS;
                assert_close(*dpi_run_value(w.run, w.o.record), s.record(theta, i, 0, closed),
                             1e-13, 1e-14);
                assert_close(*dpi_run_value(w.run, w.o.prior), s.prior(theta, 0, closed), 1e-13,
                             1e-14);
            }
            close(&w);
            leave(&s);
        }
}

static void unclipped_gradients_are_those_of_the_elbo_under_both_cuts(void **state)
{
    (void)state;
    double theta[MOST];
    choose_theta(theta);
    for (size_t k = 0; k < N_SCENES; k++) {
        scene s = scenes[k]();
        double release[MOST], result[2][MOST];
        for (int cut = DP_FORM_LATENTS; cut <= DP_FORM_PARAMETERS; cut++) {
            work w;
            open(&w, &s, (dp_form)cut, theta);
            gradient(&w, INFINITY, true, release, result[cut]);
            close(&w);
            for (size_t e = 0; e < s.n_theta; e++)
                assert_close(result[cut][e], slope(&s, theta, e, &everything[cut]), 1e-8, 1e-9);
        }
        leave(&s);
    }
}

/* Where almost nothing of the records is left, the gradient is that of prior and entropy alone. */
static void prior_and_entropy_are_not_clipped_when_cut_at_the_latents(void **state)
{
    (void)state;
    double theta[MOST];
    choose_theta(theta);
    for (size_t k = 0; k < N_SCENES; k++) {
        scene s = scenes[k]();
        work w;
        double release[MOST], result[MOST], largest = 0;
        open(&w, &s, DP_FORM_LATENTS, theta);
        gradient(&w, 1e-14, true, release, result);
        for (size_t e = 0; e < w.o.n_release; e++)
            assert_true(fabs(release[e]) <= N * 1e-14);
        for (size_t e = 0; e < s.n_theta; e++) {
            assert_close(result[e], slope(&s, theta, e, &only_prior), 1e-8, 1e-9);
            largest = fmax(largest, fabs(result[e]));
        }
        assert_true(largest > 0.5);
        close(&w);
        leave(&s);
    }
}

/* Record by record, each with noise of its own: the gradient of record_i + prior / N, clipped as a
 * whole. */
static void the_prior_is_inside_what_is_clipped_when_cut_at_the_parameters(void **state)
{
    (void)state;
    double theta[MOST];
    choose_theta(theta);
    for (size_t k = 0; k < N_SCENES; k++) {
        scene s = scenes[k]();
        const double clip = 0.9;
        double expected[MOST] = {0}, release[MOST], result[MOST];
        size_t clipped = 0;
        for (size_t i = 0; i < N; i++) {
            double of_record[MOST], norm2 = 0;
            terms of = {.prior = 1.0 / N, .r = i};
            of.record[i] = 1;
            for (size_t e = 0; e < s.n_theta; e++) {
                of_record[e] = slope(&s, theta, e, &of);
                norm2 += of_record[e] * of_record[e];
            }
            clipped += sqrt(norm2) > clip;
            for (size_t e = 0; e < s.n_theta; e++)
                expected[e] += of_record[e] * fmin(1, clip / sqrt(norm2));
        }
        assert_true(clipped > 0);
        work w;
        open(&w, &s, DP_FORM_PARAMETERS, theta);
        gradient(&w, clip, false, release, result);
        for (size_t e = 0; e < s.n_theta; e++)
            assert_close(result[e], expected[e], 1e-8, 1e-9);
        close(&w);
        leave(&s);
    }
}

/* What crosses to the records: b and the latents that they read; not mu and tau, which reach them
 * through a only.  Location and scale of a latent share its numbers. */
static void only_what_records_read_is_released(void **state)
{
    (void)state;
    double theta[MOST] = {0};
    scene s = field();
    work w;
    open(&w, &s, DP_FORM_LATENTS, theta);
    assert_int_equal(w.o.n_parts, 5);
    assert_int_equal(w.o.n_release, 2 + GROUPS + 1 + 1 + 1);
    close(&w);
    open(&w, &s, DP_FORM_PARAMETERS, theta);
    assert_int_equal(w.o.n_release, FIELD_SIZE);
    close(&w);
    leave(&s);
}

/* What a record's own draw is scaled by is read at the latent, not around it, where more would have
 * to be released: s, and nothing that s is made of. */
static void a_scale_that_is_a_latent_is_released_as_one(void **state)
{
    (void)state;
    dpi_objective o;
    dp_error err = {0};
    scene s = {.m = dp_model_new()};
    dp_plate rows = dp_unit_plate(s.m, "rows");
    dp_expr scale = dp_sample(s.m, "s", 1, dp_log_normal(0, 1));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal_v(dp_num(0), scale));
    dp_observe(rows, "y", dp_normal_v(z, dp_num(1)));
    s.guide = dp_guide_new(s.m);
    rows = dp_unit_plate(s.guide, "rows");
    scale = dp_sample(
        s.guide, "s", 1,
        dp_log_normal_v(dp_param(s.guide, "a", 1, 0), dp_exp(dp_param(s.guide, "b", 1, 0))));
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(dp_param(s.guide, "c", 1, 0), scale));
    assert_ok(dp_model_status(s.guide), dp_model_error(s.guide));
    assert_ok(make(&s, DP_FORM_LATENTS, &o, &err), err.text);
    assert_int_equal(o.n_parts, 2);
    assert_string_equal(dpi_objective_name(&o, 0), "s");
    assert_string_equal(dpi_objective_name(&o, 1), "c");
    dpi_objective_free(&o);
    dp_model_free(s.guide);
    dp_model_free(s.m);
}

static void nothing_is_closed(const dpi_objective *o)
{
    for (size_t i = 0; i < o->graph.n_nodes; i++)
        assert_false(o->graph.nodes[i].closed);
}

/* Nor is a way around a dispersion or a mean by its logarithm, which the family takes: each is
 * released as one number and nothing that it is made of.  Where records are not cut off at latents
 * logarithms are what these are made of, as without rounding. */
static void a_dispersion_that_is_a_latent_is_released_as_one(void **state)
{
    (void)state;
    for (int written = 0; written < 2; written++) {
        dpi_objective o;
        dp_error err = {0};
        scene s = {.m = dp_model_new()};
        dp_plate rows = dp_unit_plate(s.m, "rows");
        dp_expr mean = dp_sample(s.m, "mean", 1, dp_log_normal(0, 1));
        dp_expr size = dp_sample(s.m, "size", 1, dp_gamma(2, 1));
        dp_observe(rows, "y", dp_negative_binomial(mean, size));
        if (written) {
            s.guide = dp_guide_new(s.m);
            (void)dp_sample(s.guide, "mean", 1,
                            dp_log_normal_v(dp_param(s.guide, "a", 1, 0),
                                            dp_exp(dp_param(s.guide, "b", 1, 0))));
            (void)dp_sample(s.guide, "size", 1,
                            dp_log_normal_v(dp_param(s.guide, "c", 1, 0),
                                            dp_exp(dp_param(s.guide, "d", 1, 0))));
        }
        assert_ok(make(&s, DP_FORM_LATENTS, &o, &err), err.text);
        assert_int_equal(o.n_release, 2);
        assert_string_equal(dpi_objective_name(&o, 0), "mean");
        assert_string_equal(dpi_objective_name(&o, 1), "size");
        dpi_objective_free(&o);
        assert_ok(make(&s, DP_FORM_PARAMETERS, &o, &err), err.text);
        assert_int_equal(o.n_release, 4);
        nothing_is_closed(&o);
        dpi_objective_free(&o);
        const dpi_objective_spec points = {.model = s.m, .cut = DP_FORM_LATENTS, .points = true};
        assert_ok(dpi_objective_init(&o, &points, &err), err.text);
        nothing_is_closed(&o);
        dpi_objective_free(&o);
        dp_model_free(s.guide);
        dp_model_free(s.m);
    }
}

/* K weights are K - 1 free numbers, at which they are cut. */
static void a_simplex_releases_one_number_less_than_it_has(void **state)
{
    (void)state;
    double theta[MOST] = {0};
    scene s = blend();
    work w;
    open(&w, &s, DP_FORM_LATENTS, theta);
    assert_int_equal(w.o.n_release, GROUPS - 1 + 2 * GROUPS + GROUPS);
    assert_int_equal(w.o.latents[0].size, GROUPS);
    assert_int_equal(w.o.blocks[0].size, GROUPS - 1);
    assert_int_equal(dpi_shape_size(&dpi_get(&w.o.graph, w.o.part[0])->shape), GROUPS - 1);
    close(&w);
    leave(&s);
}

static void blocks_are_named_after_their_latents(void **state)
{
    (void)state;
    const char *const names[] = {"mu.loc", "mu.log_scale", "tau.loc", "tau.log_scale",
                                 "p.loc",  "p.log_scale",  "u.loc",   "u.log_scale",
                                 "w.loc",  "w.log_scale",  "a.loc",   "a.log_scale",
                                 "b"};
    scene s = field();
    dpi_objective o;
    size_t offset = 0;
    assert_int_equal(make(&s, DP_FORM_LATENTS, &o, NULL), DP_OK);
    assert_int_equal(o.n_blocks, sizeof names / sizeof names[0]);
    for (size_t k = 0; k < o.n_blocks; k++) {
        bool scale = strstr(names[k], ".log_scale") != NULL;
        assert_string_equal(o.blocks[k].name, names[k]);
        assert_int_equal(o.blocks[k].offset, offset);
        assert_close(o.blocks[k].start.init.value, scale ? log(0.1) : 0, 0, 0);
        offset += o.blocks[k].size;
    }
    dpi_objective_free(&o);
    leave(&s);
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    for (size_t which = 0; which < N_SCENES; which++)
        for (int cut = DP_FORM_LATENTS; cut <= DP_FORM_PARAMETERS; cut++) {
            size_t before = faulty_live(), k = 1;
            for (;; k++) {
                dpi_objective o = {0};
                dp_error err = {0};
                faulty_fail(k);
                scene s = scenes[which]();
                dp_status status = DP_ENOMEM;
                if (s.m != NULL && (s.n_theta != WRITTEN_SIZE || s.guide != NULL))
                    status = make(&s, (dp_form)cut, &o, &err);
                int failed = faulty_failed();
                faulty_fail(0);
                assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
                dpi_objective_free(&o);
                leave(&s);
                assert_int_equal(faulty_live(), before);
                if (!failed)
                    break;
            }
            assert_true(k > 4);
        }
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prior_and_records_are_the_terms_of_the_elbo),
        cmocka_unit_test(unclipped_gradients_are_those_of_the_elbo_under_both_cuts),
        cmocka_unit_test(prior_and_entropy_are_not_clipped_when_cut_at_the_latents),
        cmocka_unit_test(the_prior_is_inside_what_is_clipped_when_cut_at_the_parameters),
        cmocka_unit_test(only_what_records_read_is_released),
        cmocka_unit_test(a_scale_that_is_a_latent_is_released_as_one),
        cmocka_unit_test(a_dispersion_that_is_a_latent_is_released_as_one),
        cmocka_unit_test(a_simplex_releases_one_number_less_than_it_has),
        cmocka_unit_test(blocks_are_named_after_their_latents),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
