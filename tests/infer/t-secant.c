/* Rounds that went too far, rounds that crept, and rounds that did neither. */
#include "infer/secant.h"

#include <math.h>
#include <string.h>

#include <tacit/infer.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { MOST = 8 };

typedef struct scene {
    reading r;
    dpi_rounds rounds;
    double scores[2 * MOST], centres[2 * MOST], information[MOST * MOST], back[MOST * MOST];
    double truth[MOST * MOST]; /* what scores fall by */
} scene;

/* Two rounds, the move between which is 1 in each number and ends `beyond` of it past the answer.
 * The information is taken for a half of the unit matrix, and is `times` as much. */
static void set_up(scene *s, double beyond, double times)
{
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    reading_make(&s->r, reader_named("normal"));
    size_t d = s->r.view.objective.n_theta;
    assert_true(d >= 2 && d <= MOST);
    s->rounds = (dpi_rounds){.view = &s->r.view,
                             .scores = s->scores,
                             .centres = s->centres,
                             .information = s->information,
                             .back = s->back,
                             .kept = 0.8};
    assert_ok(dpi_shared_init(&s->rounds.known, s->r.view.p, &s->r.arena, &err), err.text);
    for (size_t i = 0; i < d; i++) {
        s->information[i * d + i] = 0.5;
        s->back[i * d + i] = 1;
        s->centres[d + i] = 1;
        s->scores[i] = 0.8 * 0.5 * times * (1 - beyond);
        s->scores[d + i] = -0.8 * 0.5 * times * beyond;
    }
}

static bool turns(scene *s, double sd)
{
    double share;
    dp_error err = {0};
    assert_ok(dpi_secant(&s->rounds, 1, sd, 0.2, &share, &err), err.text);
    return share != 1;
}

static void tear_down(scene *s)
{
    reading_free(&s->r);
}

/* I m = times I m, and what is across m is as it was. */
static void information_is_that_of_the_scores(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, 0.75, 4);
    size_t d = s.r.view.objective.n_theta;
    assert_true(turns(&s, 0));
    for (size_t i = 0; i < d; i++) {
        double along = 0, across = s.information[i * d] - s.information[i * d + 1];
        for (size_t j = 0; j < d; j++)
            along += s.information[i * d + j];
        assert_close(along, 2, 1e-12, 0);
        assert_close(across, i == 0 ? 0.5 : i == 1 ? -0.5 : 0, 0, 1e-12);
    }
    tear_down(&s);
}

/* The move changes the score by a quarter of what it should; by a fifth is the least. */
static void information_that_is_missing_is_taken_off(void **state)
{
    static scene s;
    (void)state;
    for (int little = 0; little < 2; little++) {
        set_up(&s, -3, little ? 0.05 : 0.25);
        size_t d = s.r.view.objective.n_theta;
        double along = 0;
        assert_true(turns(&s, 0));
        for (size_t j = 0; j < d; j++)
            along += s.information[j];
        assert_close(along, 0.5 * (little ? 0.2 : 0.25), 1e-12, 0);
        tear_down(&s);
    }
}

/* Scores change by three quarters of what they should, or by a quarter more without a way back. */
static void nothing_is_made_of_rounds_that_went_well(void **state)
{
    static scene s;
    (void)state;
    for (int more = 0; more < 2; more++) {
        set_up(&s, -0.5, more ? 1.25 : 0.75);
        assert_false(turns(&s, 0));
        assert_close(s.information[0], 0.5, 0, 0);
        assert_close(s.information[1], 0, 0, 0);
        tear_down(&s);
    }
}

/* The score of the last move, sqrt d long, has noise sd sqrt d, and points back by 1.2 d: by more
 * than 2 + sqrt d of its standard deviations, or less. */
static void nothing_is_made_of_noise(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, 0.75, 4);
    double d = (double)s.r.view.objective.n_theta;
    assert_false(turns(&s, 1.2 * sqrt(d) / (1.9 + sqrt(d))));
    assert_close(s.information[0], 0.5, 0, 0);
    assert_true(turns(&s, 1.2 * sqrt(d) / (2.1 + sqrt(d))));
    tear_down(&s);
}

/* Of 0.4 d that the score should change by 0.3 d is missing, with noise sd sqrt(2 d). */
static void nothing_is_missing_for_noise(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, -3, 0.25);
    double d = (double)s.r.view.objective.n_theta;
    assert_false(turns(&s, 0.3 * sqrt(d / 2) / 1.9));
    assert_close(s.information[0], 0.5, 0, 0);
    assert_true(turns(&s, 0.3 * sqrt(d / 2) / 2.1));
    tear_down(&s);
}

/* Where a score was 0 and its noise e made the move, e / kept I, the next one without noise is -e:
 * the move seems to have met twice the information that there is. */
static void noise_that_makes_a_move_tells_of_nothing(void **state)
{
    static scene s;
    double sd = 0.5;
    (void)state;
    set_up(&s, 0, 1);
    size_t d = s.r.view.objective.n_theta;
    for (size_t i = 0; i < d; i++) {
        s.scores[i] = sd; /* as long as noise is */
        s.centres[d + i] = sd / (0.8 * 0.5);
        s.scores[d + i] = -sd;
    }
    assert_false(turns(&s, sd));
    assert_close(s.information[0], 0.5, 0, 0);
    tear_down(&s);
}

/* Scales go their own way (rounds.c). */
static void scales_are_left_out(void **state)
{
    static scene s;
    (void)state;
    set_up(&s, 0.75, 4);
    for (size_t c = 0; c < s.r.view.p; c++)
        s.rounds.known.scale[c] = true;
    assert_false(turns(&s, 0));
    tear_down(&s);
}

/* Ordered levels: cutpoints of the prior lie beyond nearly all outcomes, where records tell little.
 * Without predictors the likelihood is highest at the log odds of how many are below. */
static void cutpoints_are_found_from_afar(void **state)
{
    enum { LEVELS = 4, EACH = 500 };
    static int32_t y[LEVELS * EACH];
    dp_error err = {0};
    dp_fit *fit;
    dp_summary cut[LEVELS - 1];
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .method = DP_METHOD_ROUNDS, .seed = 3};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(LEVELS * EACH);
    (void)state;
    for (size_t i = 0; i < LEVELS * EACH; i++)
        y[i] = (int32_t)(i % LEVELS);
    dp_expr cuts = dp_sample(m, "cut", LEVELS - 1, dp_ordered(dp_normal(0, 5)));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_ordered_logistic(dp_num(0), cuts));
    dp_dataset_index(data, "y", y);
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "cut", LEVELS - 1, cut, &err), err.text);
    for (size_t k = 0; k + 1 < LEVELS; k++) {
        double below = (double)(k + 1) / LEVELS;
        assert_close(cut[k].mean, log(below / (1 - below)), 0, 0.3 * cut[k].sd);
    }
    dp_fit_free(fit), dp_dataset_free(data), dp_model_free(m);
}

/* Counts of mean 2 with an offset of log 30: the prior's median takes them for 30 on average.  The
 * information of one number is n times the mean. */
static void rates_are_found_from_afar(void **state)
{
    enum { N = 2000 };
    static double y[N];
    dp_error err = {0};
    dp_fit *fit;
    dp_summary rate;
    const dp_fit_opts o = {.epsilon = 4, .delta = 1e-4, .seed = 3};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(N);
    (void)state;
    for (size_t i = 0; i < N; i++)
        y[i] = (double)(i % 5); /* of mean and variance 2 */
    dp_expr log_rate = dp_sample(m, "log_rate", 1, dp_normal(0, 5));
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_poisson_log(dp_add(log_rate, dp_num(log(30)))));
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_summary(fit, "log_rate", 1, &rate, &err), err.text);
    assert_close(rate.mean, log(2 / 30.0), 0, 0.5 / sqrt(2 * N));
    dp_fit_free(fit), dp_dataset_free(data), dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(information_is_that_of_the_scores),
        cmocka_unit_test(information_that_is_missing_is_taken_off),
        cmocka_unit_test(nothing_is_made_of_rounds_that_went_well),
        cmocka_unit_test(nothing_is_made_of_noise),
        cmocka_unit_test(nothing_is_missing_for_noise),
        cmocka_unit_test(noise_that_makes_a_move_tells_of_nothing),
        cmocka_unit_test(scales_are_left_out),
        cmocka_unit_test(cutpoints_are_found_from_afar),
        cmocka_unit_test(rates_are_found_from_afar),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
