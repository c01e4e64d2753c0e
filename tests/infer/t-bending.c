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

/* Two draws at +-1 in a location whose information is f, and likelihood's precision k: log sd is
 * moved by (f - 2 k) / 2 n, its own sd being s. */
static double bent(double f, double k, double sd)
{
    scene s;
    enum { N = 50 };
    double information[MOST * MOST] = {0}, precision[MOST * MOST] = {0}, centre[MOST] = {0};
    double draws[2 * MOST] = {0};
    set_up(&s, "normal");
    size_t d = s.r.view.objective.n_theta, scale = d;
    for (const dpi_read *a = s.r.view.reads; a < s.r.view.reads + s.r.view.n_reads; a++)
        scale = s.rounds.known.scale[a->at] ? a->block->offset : scale;
    assert_true(scale < d);
    size_t location = scale == 0 ? 1 : 0;
    draws[location] = 1, draws[d + location] = -1;
    draws[scale] = 3 + sd, draws[d + scale] = 3 - sd;
    information[location * (d + 1)] = f, precision[location * (d + 1)] = k;
    information[scale * (d + 1)] = 1e9; /* of no account */
    s.rounds.information = information;
    s.rounds.posterior.precision = precision;
    s.rounds.centre = centre;
    s.rounds.n = N;
    double found = dpi_bent_scale(&s.rounds, 2, draws) * 2 * N * sd;
    dpi_bend_scales(&s.rounds, 2, draws, centre);
    assert_close(centre[scale], -log(1 + fmin(f - 2 * k, 0) / N) / 2, 0, 1e-14);
    assert_true(centre[location] == 0);
    tear_down(&s);
    return found;
}

static void what_moves_a_scale_is_told(void **state)
{
    (void)state;
    assert_close(bent(8, 0, 0.01), 8, 1e-12, 0);
    assert_true(bent(8, 8, 0.01) == 0);
    assert_close(bent(8, 4, 0.01), 0, 0, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_arguments_are_told_from_others),
        cmocka_unit_test(rounds_go_in_pairs),
        cmocka_unit_test(other_scores_are_asked_for_at_the_mean),
        cmocka_unit_test(what_moves_a_scale_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
