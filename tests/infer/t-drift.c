/* Halves of rounds: as far apart as noise makes them, whatever the rounds' places are; farther
 * where the score is not what the slope says. */
#include "infer/drift.h"

#include <math.h>
#include <string.h>

#include <tacit/infer.h>

#include "num/matrix.h"
#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { ROUNDS = 13, MOST = 64, TRIES = 400 };

typedef struct scene {
    reading r;
    double slope[MOST * MOST], theta[MOST];
    double scores[ROUNDS * MOST], centres[ROUNDS * MOST];
    dp_rng *rng;
} scene;

/* Scores of rounds at random places, of that slope, bent by bent |theta - c|^2 in each of theta's
 * numbers, as releases with noise of sd 3 tell them. */
static void fill(scene *s, double bent)
{
    size_t d = s->r.view.objective.n_theta, m = s->r.view.n_release;
    double square[MOST * MOST], back[MOST * MOST], noise[MOST], lifted[MOST];
    dp_error err = {0};
    assert_ok(dpi_metric_back(&s->r.metric, square, back, &err), err.text);
    dp_rng_normal(s->rng, ROUNDS * d, s->centres);
    for (size_t t = 0; t < ROUNDS; t++) {
        double *score = s->scores + t * d, away = 0;
        for (size_t i = 0; i < d; i++) {
            s->centres[t * d + i] *= t < ROUNDS / 2 ? 3 : 1;
            away += pow(s->theta[i] - s->centres[t * d + i], 2);
        }
        dp_rng_normal(s->rng, m, noise);
        dpi_metric_lift(&s->r.metric, noise, lifted);
        dpi_matrix_times(d, back, lifted, score);
        for (size_t i = 0; i < d; i++) {
            score[i] = 3 * score[i] + bent * away;
            for (size_t j = 0; j < d; j++)
                score[i] += s->slope[i * d + j] * (s->theta[j] - s->centres[t * d + j]);
        }
    }
}

static double drift_of(const scene *s)
{
    const dpi_trace trace = {.metric = &s->r.metric,
                             .slope = s->slope,
                             .scores = s->scores,
                             .centres = s->centres,
                             .rounds = ROUNDS,
                             .noise = 9};
    double drift;
    dp_error err = {0};
    assert_ok(dpi_drift_of(&trace, &drift, &err), err.text);
    return drift;
}

/* Over all tries |e|^2 / variance is chi-square with TRIES d >= 800 degrees of freedom, and .4 for
 * the mean drift is at least 1.4 times their number, which it exceeds with probability at most
 * exp(-400 (.4 - log 1.4)) = 1e-11, and falls short by as much even less often. */
static void noise_is_told_from_what_is_not_straight(void **state)
{
    static scene s;
    dp_error err = {0};
    (void)state;
    for (size_t i = 0; i < n_readers; i++) {
        double mean = 0;
        int bent = 0;
        reading_make(&s.r, &readers[i]);
        reading_turn(&s.r, 1);
        assert_ok(dp_rng_new(11 + i, &s.rng, &err), err.text);
        size_t d = s.r.view.objective.n_theta;
        dp_rng_normal(s.rng, d * d, s.slope);
        dp_rng_normal(s.rng, d, s.theta);
        for (size_t k = 0; k < d * d; k++)
            s.slope[k] *= 20;
        for (int t = 0; t < TRIES; t++) {
            fill(&s, 0);
            mean += drift_of(&s) / TRIES;
            fill(&s, 20);
            bent += drift_of(&s) > 4;
        }
        assert_close(mean, 0, 0, 0.4);
        assert_true(bent > TRIES / 2);
        dp_rng_free(s.rng);
        reading_free(&s.r);
    }
}

static dp_diagnostic convergence_of(const dp_fit *fit)
{
    size_t n;
    const dp_diagnostic *all = dp_fit_diagnostics(fit, &n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(all[k].name, "convergence") == 0)
            return all[k];
    fail_msg("convergence is not told");
    return (dp_diagnostic){0};
}

static void a_fit_tells_how_far_it_drifted(void **state)
{
    static reader_records records;
    dp_error err = {0};
    dp_fit *fit;
    (void)state;
    reader_draw(&records, 4);
    dp_dataset *data = reader_data(&records, READER_RECORDS);
    dp_model *m = reader_named("bernoulli")->make();
    dp_fit_opts o = {.epsilon = 20, .delta = 1e-5, .seed = 3};
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    dp_diagnostic told = convergence_of(fit);
    assert_true(told.value != 0 && fabs(told.value) < 4 && !told.bad);
    dp_fit_free(fit);
    dp_model_free(m);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_told_from_what_is_not_straight),
        cmocka_unit_test(a_fit_tells_how_far_it_drifted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
