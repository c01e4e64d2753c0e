/* Where rounds are made, and what is told of scales. */
#include "infer/bending.h"

#include <math.h>

#include <string.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { MOST = 32 };

typedef struct scene {
    reading r;
    reader_records records;
    dp_dataset *data;
    dpi_scan scan;
    dpi_rounds rounds;
    double aside[3 * MOST];
} scene;

static void set_up(scene *s, const char *name)
{
    dp_error err = {0};
    reading_make(&s->r, reader_named(name));
    reader_draw(&s->records, 3);
    s->data = reader_data(&s->records, 10);
    dpi_scan_spec spec = {
        .view = &s->r.view, .data = s->data, .threads = 1, .most = 1, .most_room = 1};
    assert_ok(dpi_scan_init(&s->scan, &spec, &err), err.text);
    memset(s->aside, 0, sizeof s->aside);
    s->rounds = (dpi_rounds){.view = &s->r.view, .aside = s->aside};
    assert_ok(dpi_shared_init(&s->rounds.known, s->r.view.p, &s->r.arena, &err), err.text);
    dpi_shared_find(&s->rounds.known, &s->scan, s->r.theta);
    assert_true(s->r.view.objective.n_theta <= MOST);
}

static void tear_down(scene *s)
{
    dpi_scan_free(&s->scan);
    dp_dataset_free(s->data);
    reading_free(&s->r);
}

static void canonical_arguments_are_told_from_others(void **state)
{
    static const struct {
        const char *name;
        bool canonical;
    } cases[] = {{"bernoulli", true},
                 {"bernoulli by group", true},
                 {"poisson, two plates", true},
                 {"normal, known sd", true},
                 {"normal", false},
                 {"student", false},
                 {"gamma by group", false},
                 {"categorical by group", false}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scene s;
        set_up(&s, cases[c].name);
        if (s.rounds.known.canonical != cases[c].canonical)
            fail_msg("%s", cases[c].name);
        tear_down(&s);
    }
}

/* Two rounds lie at equal distances on both sides of the mean, members only. */
static void rounds_go_in_pairs(void **state)
{
    scene s;
    double mean[MOST], draw[MOST], at[2][MOST] = {{0}};
    (void)state;
    set_up(&s, "bernoulli by group");
    size_t d = s.r.view.objective.n_theta, moved = 0;
    for (size_t i = 0; i < d; i++) {
        mean[i] = cos((double)i);
        draw[i] = mean[i] + 1 + (double)i;
    }
    dpi_bend_round(&s.rounds, 4, mean, draw, at[0]);
    draw[d - 1] = 17; /* the next walk's are others */
    dpi_bend_round(&s.rounds, 5, mean, draw, at[1]);
    for (size_t i = 0; i < d; i++) {
        assert_close(at[0][i] + at[1][i], 0, 0, 1e-14);
        assert_true(at[0][i] == 0 || fabs(at[0][i] - 1 - (double)i) < 1e-12);
        moved += at[0][i] != 0;
    }
    assert_int_equal(moved, READER_G);
    tear_down(&s);
}

static void other_scores_are_asked_for_at_the_mean(void **state)
{
    scene s;
    double mean[MOST] = {0}, draw[MOST], at[MOST] = {0};
    (void)state;
    set_up(&s, "gamma by group");
    for (size_t i = 0; i < MOST; i++)
        draw[i] = 1;
    dpi_bend_round(&s.rounds, 4, mean, draw, at);
    dpi_bend_once(&s.rounds, mean, draw, at);
    for (size_t i = 0; i < MOST; i++)
        assert_true(at[i] == 0);
    tear_down(&s);
}

/* Student's: the second difference by a sum over a fine grid. */
static double bend_of_student(double nu, double h)
{
    double moved = 0, scale = 0, location = 0, all = 0;
    for (int i = -400000; i <= 400000; i++) {
        double x = i * 1e-3, mass = pow(1 + x * x / nu, -(nu + 1) / 2), s[3];
        for (int side = -1; side <= 1; side++) {
            double y = x + side * h;
            s[side + 1] = (nu + 1) * y * y / (nu + y * y) - 1;
        }
        double m = (nu + 1) * x / (nu + x * x);
        moved += mass * (s[0] - 2 * s[1] + s[2]);
        scale += mass * s[1] * s[1];
        location += mass * m * m;
        all += mass;
    }
    return moved * all / (h * h * scale * location);
}

static void what_a_location_does_to_a_scale_is_known(void **state)
{
    static const struct {
        const char *name;
        double bend;
    } cases[] = {{"normal", 1},
                 {"normal, slopes by group", 1},
                 {"normal, known sd", 0},
                 {"gamma by group", 0},
                 {"bernoulli", 0}};
    scene s;
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        set_up(&s, cases[c].name);
        assert_close(s.rounds.known.bend, cases[c].bend, 0, 1e-6);
        tear_down(&s);
    }
    set_up(&s, "student");
    dpi_scan_place(&s.scan, s.r.theta);
    const double *nu = dpi_scan_shared_arg(&s.scan, 0);
    assert_non_null(nu);
    assert_close(s.rounds.known.bend, bend_of_student(*nu, 0.5), 0.01, 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_arguments_are_told_from_others),
        cmocka_unit_test(rounds_go_in_pairs),
        cmocka_unit_test(other_scores_are_asked_for_at_the_mean),
        cmocka_unit_test(what_a_location_does_to_a_scale_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
