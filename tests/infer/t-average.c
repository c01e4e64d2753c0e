/* Rounds that were made at different scales of outcomes. */
#include "infer/average.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { ROUNDS = 3, MOST = 8 };

static const double scales[ROUNDS] = {2, 1, 0.5};

typedef struct scene {
    reading r;
    dpi_rounds rounds;
    size_t scale; /* where its logarithm is */
    double scores[ROUNDS * MOST], centres[ROUNDS * MOST], units[ROUNDS * MOST], unit[MOST];
    double score[MOST], centre[MOST], noise[MOST], slope[MOST * MOST], aside[3 * MOST];
} scene;

/* Rounds at those scales, whose scores are g / s^2, g_i = i + 1, and that of the scale 4. */
static void set_up(scene *s, double now)
{
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    reading_make(&s->r, reader_named("normal"));
    size_t d = s->r.view.objective.n_theta, p = s->r.view.p, at = p;
    assert_true(d == p && d <= MOST);
    s->rounds = (dpi_rounds){.view = &s->r.view,
                             .scores = s->scores,
                             .centres = s->centres,
                             .units = s->units,
                             .unit = s->unit,
                             .score = s->score,
                             .centre = s->centre,
                             .noise = s->noise,
                             .slope = s->slope,
                             .aside = s->aside,
                             .kept = 0.5,
                             .main = true};
    assert_ok(dpi_shared_init(&s->rounds.known, p, &s->r.arena, &err), err.text);
    s->rounds.known.bend = 1;
    for (const dpi_read *a = s->r.view.reads; a < s->r.view.reads + s->r.view.n_reads; a++)
        if (a->slope[0] == DPI_NONE) { /* what the second argument reads */
            at = a->at;
            s->scale = a->block->offset;
        }
    assert_true(at < p);
    s->rounds.known.outcome = at;
    s->rounds.known.power = 1;
    for (size_t c = 0; c < p; c++)
        s->unit[c] = c == at ? M_SQRT2 : 1 / now;
    for (size_t t = 0; t < ROUNDS; t++)
        for (const dpi_read *a = s->r.view.reads; a < s->r.view.reads + s->r.view.n_reads; a++)
            for (size_t i = 0; i < a->size; i++) {
                size_t e = a->block->offset + i;
                bool own = a->at + i == at;
                s->units[t * p + a->at + i] = own ? M_SQRT2 : 1 / scales[t];
                s->scores[t * d + e] = own ? 4 : (double)(e + 1) / (scales[t] * scales[t]);
                s->centres[t * d + e] = own ? log(scales[t]) : (double)t;
                s->slope[e * (d + 1)] = own ? 1e9 : 1;
            }
}

static void means_are_of_one_scale(void **state)
{
    static scene s;
    const double now = 0.7;
    (void)state;
    set_up(&s, now);
    size_t d = s.r.view.objective.n_theta;
    assert_int_equal(dpi_outcome_scale(&s.rounds), s.scale);
    dpi_average(&s.rounds, 0, ROUNDS);
    double share[ROUNDS], total = 0, place = 0, square = 0, noise[2] = {0}, spread = 0;
    for (size_t t = 0; t < ROUNDS; t++) {
        double f = scales[t] * scales[t] / (now * now);
        share[t] = 1 / (((double)(d - 1) * f + 1) / (double)d);
        total += share[t];
    }
    for (size_t t = 0; t < ROUNDS; t++) {
        double w = share[t] / total, f = scales[t] * scales[t] / (now * now);
        place += w * (double)t;
        square += w * scales[t] * scales[t];
        noise[0] += w * w * f;
        noise[1] += w * w;
    }
    for (size_t t = 0; t < ROUNDS; t++)
        spread += share[t] / total * pow((double)t - place, 2) * (double)(d - 1) / 0.5;
    for (size_t i = 0; i < d; i++) {
        bool own = i == s.scale;
        assert_close(s.score[i], own ? 4 : (double)(i + 1) / (now * now), 1e-12, 0);
        assert_close(s.centre[i], own ? log(square) / 2 : place, 1e-12, 0);
        assert_close(s.noise[i], noise[own], 1e-12, 0);
    }
    assert_close(dpi_spread_of_places(&s.rounds, 0, ROUNDS), spread, 1e-12, 0);
    reading_free(&s.r);
}

static void rounds_are_brought_together(void **state)
{
    static scene s;
    const double now = 0.7;
    (void)state;
    set_up(&s, now);
    size_t d = s.r.view.objective.n_theta;
    dpi_average(&s.rounds, 0, ROUNDS);
    double *scores = calloc(2 * ROUNDS * d, sizeof *scores), *centres = scores + ROUNDS * d;
    assert_non_null(scores);
    assert_true(dpi_bring_together(&s.rounds, 0, ROUNDS, scores, centres) > 0);
    for (size_t t = 0; t < ROUNDS; t++)
        for (size_t i = 0; i < d; i++) {
            bool own = i == s.scale;
            assert_close(scores[t * d + i], own ? 4 : (double)(i + 1) / (now * now), 1e-12, 0);
            assert_true(centres[t * d + i] == (own ? s.centre[i] : (double)t));
        }
    free(scores);
    reading_free(&s.r);
}

/* Nothing is changed where nothing moves: a plain mean, with noise of a number of rounds. */
static void rounds_at_one_scale_have_plain_means(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, 1);
    size_t d = s.r.view.objective.n_theta, p = s.r.view.p;
    for (size_t t = 0; t < ROUNDS; t++)
        memcpy(s.units + t * p, s.unit, p * sizeof *s.unit);
    s.rounds.main = false;
    assert_int_equal(dpi_outcome_scale(&s.rounds), d);
    dpi_average(&s.rounds, 1, ROUNDS);
    for (size_t i = 0; i < d; i++) {
        assert_close(s.score[i], (s.scores[d + i] + s.scores[2 * d + i]) / 2, 1e-15, 0);
        assert_close(s.centre[i], (s.centres[d + i] + s.centres[2 * d + i]) / 2, 1e-15, 0);
        assert_close(s.noise[i], 0.5, 1e-15, 0);
    }
    assert_true(dpi_spread_of_places(&s.rounds, 1, ROUNDS) == 0);
    reading_free(&s.r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_are_of_one_scale),
        cmocka_unit_test(rounds_are_brought_together),
        cmocka_unit_test(rounds_at_one_scale_have_plain_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
