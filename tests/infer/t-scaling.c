/* Scales of members, found in priors, and moves along them. */
#include "infer/scaling.h"

#include <math.h>
#include <string.h>

#include <tacit/dist.h>
#include <tacit/model.h>

#include "infer/hmc.h"
#include "infer/laplace.h"
#include "tests/lib/check.h"

enum { MEMBERS = 30, DRAWS = 3000, CHAINS = 4 };

typedef struct scene {
    dp_model *model;
    dpi_model_view view;
    dpi_surrogate posterior;
} scene;

typedef dp_dist prior_of(dp_model *m, size_t size);

static dp_expr scale(dp_model *m, size_t size)
{
    return dp_sample(m, "tau", size, dp_half_normal(1));
}

static dp_dist around_zero(dp_model *m, size_t size)
{
    return dp_normal_v(dp_num(0), scale(m, size));
}

static dp_dist around_a_mean(dp_model *m, size_t size)
{
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 2));
    (void)size;
    return dp_normal_v(mu, scale(m, 1));
}

static dp_dist heavy_tails(dp_model *m, size_t size)
{
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 2));
    return dp_student_t_v(dp_num(3), mu, dp_scale(2, scale(m, size)));
}

static dp_dist known_scale(dp_model *m, size_t size)
{
    (void)size;
    return dp_normal_v(dp_sample(m, "mu", 1, dp_normal(0, 2)), dp_num(1));
}

/* The mean is no scale, nor is a scale that has 1 added to it. */
static dp_dist scale_and_one(dp_model *m, size_t size)
{
    return dp_normal_v(dp_num(0), dp_add(dp_num(1), scale(m, size)));
}

static void make(scene *s, prior_of *prior, size_t size)
{
    dp_error err = {0};
    dp_model *m = s->model = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MEMBERS);
    dp_expr b = dp_sample_in(groups, "b", size, prior(m, size));
    dp_expr eta = dp_dot(dp_data(rows, "x", size), dp_pick(b, dp_index(rows, "g", groups)));
    dp_observe(rows, "y", dp_normal_v(eta, dp_num(1)));
    assert_ok(dpi_model_view_init(&s->view, m, &err), err.text);
    assert_ok(dpi_surrogate_init(&s->posterior, &s->view, &err), err.text);
}

static void end(scene *s)
{
    dpi_surrogate_free(&s->posterior);
    dpi_model_view_free(&s->view);
    dp_model_free(s->model);
}

static void scales_and_centres_are_found(void **state)
{
    static const struct {
        prior_of *prior;
        size_t size, n; /* numbers of a member; scalings */
        size_t scale, members;
        bool centred;
        size_t centre;
    } cases[] = {{around_zero, 1, 1, 0, 1, false, 0}, {around_a_mean, 1, 1, 1, 2, true, 0},
                 {heavy_tails, 1, 1, 1, 2, true, 0},  {around_zero, 2, 2, 0, 2, false, 0},
                 {known_scale, 1, 0, 0, 0, false, 0}, {scale_and_one, 1, 0, 0, 0, false, 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s;
        make(&s, cases[c].prior, cases[c].size);
        assert_int_equal(s.posterior.as.n, cases[c].n);
        for (size_t k = 0; k < cases[c].n; k++) {
            const dpi_scaling *found = &s.posterior.as.scalings[k];
            assert_int_equal(found->scale, cases[c].scale + k);
            assert_int_equal(found->first, cases[c].members + k);
            assert_int_equal(found->stride, cases[c].size);
            assert_int_equal(found->count, MEMBERS);
            assert_int_equal(found->has_centre, cases[c].centred);
            assert_true(!cases[c].centred || found->centre == cases[c].centre);
        }
        end(&s);
    }
}

/* e^(2 delta) as wide around the centre, and back again. */
static void a_move_scales_members_and_can_be_undone(void **state)
{
    double z[] = {0.5, -1, 9, 2, 9, -0.25, 9};
    const dpi_scaling s = {
        .scale = 1, .first = 3, .stride = 2, .count = 2, .centre = 0, .has_centre = true};
    (void)state;
    dpi_scaling_move(&s, log(2), z);
    assert_close(z[1], -1 + log(2), 0, 1e-14);
    assert_close(z[3], 3.5, 0, 1e-14);
    assert_close(z[5], -1, 0, 1e-14);
    dpi_scaling_move(&s, -log(2), z);
    assert_close(z[3], 2, 0, 1e-14);
    assert_true(z[0] == 0.5 && z[2] == 9 && z[4] == 9 && z[6] == 9);
}

/* In units of the scale from the centre, and back; and what becomes of a gradient. */
static void members_are_drawn_in_units_of_their_scale(void **state)
{
    double z[] = {0.5, -1, 9, 2, 9, -0.25, 9}, tied[7];
    const double slope[] = {1, 2, 3, 4, 5, 6, 7};
    const dpi_scaling s = {
        .scale = 1, .first = 3, .stride = 2, .count = 2, .centre = 0, .has_centre = true};
    (void)state;
    memcpy(tied, z, sizeof z);
    dpi_scaling_loosen(&s, z);
    assert_close(z[3], 1.5 * exp(1), 1e-14, 0);
    assert_close(z[5], -0.75 * exp(1), 1e-14, 0);
    for (size_t i = 0; i < 7; i++) {
        double gradient[7], moved[7], sum = 0;
        memcpy(gradient, slope, sizeof slope);
        dpi_scaling_pull(&s, tied, gradient);
        memcpy(moved, z, sizeof z);
        moved[i] += 1e-6;
        dpi_scaling_tie(&s, moved);
        for (size_t e = 0; e < 7; e++)
            sum += slope[e] * (moved[e] - tied[e]) / 1e-6;
        assert_close(gradient[i], sum, 1e-5, 0);
    }
    dpi_scaling_tie(&s, z);
    for (size_t i = 0; i < 7; i++)
        assert_close(z[i], tied[i], 0, 1e-14);
}

/* Whether members are loose goes by what is told of them beside the prior; densities of both kinds
 * differ by the volume, and slopes are those of what is drawn. */
static void loose_members_have_the_same_posterior(void **state)
{
    enum { D = MEMBERS + 1 };
    double drawn[D], gradient[D], room[D], precision[D * D], at[D], before[D * D];
    scene s;
    (void)state;
    make(&s, around_zero, 1);
    dpi_surrogate *p = &s.posterior;
    for (size_t i = 0; i < D; i++) {
        at[i] = 0.3 * cos((double)i);
        p->linear[i] = sin((double)i);
        for (size_t j = 0; j < D; j++)
            p->precision[i * D + j] = (i == j) + 0.1 * cos((double)(i + j));
    }
    dpi_surrogate_loosen(p, (const double[D]){1});
    assert_false(p->as.loose[0]);
    dpi_target target = dpi_surrogate_target(p);
    assert_int_equal(target.n_scalings, 1);
    double tied = target.log_density(target.of, at, room);
    dpi_surrogate_precision(p, at, before);
    dpi_surrogate_loosen(p, (const double[D]){-1});
    assert_true(p->as.loose[0]);
    target = dpi_surrogate_target(p);
    assert_int_equal(target.n_scalings, 0);
    memcpy(drawn, at, sizeof at);
    dpi_surrogate_drawn(p, drawn);
    double loose = target.log_density(target.of, drawn, gradient);
    assert_close(loose, tied + MEMBERS * at[0], 1e-12, 0);
    dpi_surrogate_precision(p, drawn, precision);
    for (size_t i = 0; i < D; i++) {
        double up[D], down[D], h = 1e-5, square = 0;
        memcpy(up, drawn, sizeof up);
        memcpy(down, drawn, sizeof down);
        up[i] += h, down[i] -= h;
        double slope =
            (target.log_density(target.of, up, room) - target.log_density(target.of, down, room)) /
            (2 * h);
        assert_close(gradient[i], slope, 1e-6, 1e-7);
        dpi_surrogate_tied(p, up);
        for (size_t j = 0; j < D; j++)
            for (size_t k = 0; k < D; k++)
                square += (up[j] - at[j]) * before[j * D + k] * (up[k] - at[k]) / (h * h);
        assert_close(precision[i * (D + 1)], square, 1e-4, 0);
        for (size_t j = 0; j < i; j++)
            assert_close(precision[i * D + j], precision[j * D + i], 1e-12, 1e-14);
    }
    end(&s);
}

/* Share of draws of tau below `bound`, nothing being known but the prior. */
static double share_below(const scene *s, size_t scalings, double bound)
{
    enum { D = MEMBERS + 1 };
    static double draws[CHAINS * DRAWS * D];
    double start[CHAINS * D], spread[D], factor[D * D], below = 0;
    dp_error err = {0};
    dp_rng *rng;
    dpi_hmc_report report;
    dpi_surrogate posterior = s->posterior;
    dpi_target target = dpi_surrogate_target(&posterior);
    target.n_scalings = scalings;
    for (size_t i = 0; i < CHAINS * D; i++)
        start[i] = i % D == 0 ? log(0.7) : 0.7 * sin((double)i);
    for (size_t i = 0; i < D; i++)
        spread[i] = 1;
    assert_ok(dp_rng_new(7, &rng, &err), err.text);
    assert_ok(dpi_laplace_factor(&posterior, start, spread, factor, &err), err.text);
    dpi_hmc_opts o = {.chains = CHAINS,
                      .warmup = 200,
                      .draws = DRAWS,
                      .start = start,
                      .factor = factor,
                      .adapt = true};
    assert_ok(dpi_hmc(&target, &o, rng, draws, &report, &err), err.text);
    dp_rng_free(rng);
    for (size_t k = 0; k < CHAINS * DRAWS; k++)
        below += exp(draws[k * D]) < bound;
    return below / (CHAINS * DRAWS);
}

/* tau is half-normal: P(tau < 1/20) = .0399.  Trajectories alone hardly come there, unless members
 * are drawn in units of their scale.  The seed is
 * fixed. */
static void a_funnel_is_drawn_from_to_its_neck(void **state)
{
    scene s;
    (void)state;
    make(&s, around_zero, 1);
    assert_close(share_below(&s, 1, 0.05), 0.0399, 0, 0.01);
    assert_close(share_below(&s, 1, 0.6745), 0.5, 0, 0.04);
    assert_true(share_below(&s, 0, 0.05) < 0.02);
    dpi_surrogate_loosen(&s.posterior, (const double[MEMBERS + 1]){0});
    assert_true(s.posterior.as.loose[0]);
    assert_close(share_below(&s, 0, 0.05), 0.0399, 0, 0.01);
    assert_close(share_below(&s, 0, 0.6745), 0.5, 0, 0.04);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_and_centres_are_found),
        cmocka_unit_test(a_move_scales_members_and_can_be_undone),
        cmocka_unit_test(members_are_drawn_in_units_of_their_scale),
        cmocka_unit_test(loose_members_have_the_same_posterior),
        cmocka_unit_test(a_funnel_is_drawn_from_to_its_neck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
