/* What locations that are not known make of a scale. */
#include "infer/excess.h"

#include <math.h>
#include <string.h>

#include <tacit/random.h>

#include "num/matrix.h"
#include "tests/lib/check.h"

enum { D = 4, P = 3, N = 40, TRIES = 20000 };

typedef struct scene {
    dpi_arena arena;
    dpi_excess e;
    dp_rng *rng;
    double x[N * P];                     /* predictors of the records */
    double slope[D * D], inverse[D * D]; /* the last latent is the scale */
    double ratio;
} scene;

/* With noise of variance v, in the metric of theta's own coordinates; errors have the standard
 * deviation `sd` where 1 was the scale. */
static void set_up(scene *s, double v, double sd)
{
    dp_error err = {0};
    double variance[D * D];
    memset(s, 0, sizeof *s);
    s->ratio = sd * sd;
    assert_ok(dp_rng_new(5, &s->rng, &err), err.text);
    assert_true(dpi_excess_init(&s->e, D, &s->arena));
    dp_rng_normal(s->rng, N * P, s->x);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < P; j++)
            for (size_t r = 0; r < N; r++)
                s->slope[i * D + j] += s->x[r * P + i] * s->x[r * P + j];
    s->slope[D * D - 1] = 2 * N;
    for (size_t e = 0; e < D * D; e++)
        variance[e] = s->ratio * s->slope[e] + (e % (D + 1) == 0 ? v : 0);
    assert_ok(dpi_matrix_invert(D, variance, s->inverse, &err), err.text);
}

static void tear_down(scene *s)
{
    dp_rng_free(s->rng);
    dpi_arena_free(&s->arena);
}

static void set_as(scene *s, double bend, double power, const double *score)
{
    dp_error err = {0};
    const dpi_excess_of of = {.scale = D - 1,
                              .records = N,
                              .bend = bend,
                              .power = power,
                              .kept = 1,
                              .ratio = s->ratio,
                              .slope = s->slope,
                              .inverse = s->inverse,
                              .score = score};
    assert_ok(dpi_excess_set(&s->e, &of, &err), err.text);
}

static void set(scene *s, const double *score)
{
    set_as(s, 1, 1, score);
}

/* Outcomes with errors around means that are off by delta; the sum of their squares, and
 * their score with noise of variance v. */
static double draw(scene *s, const double *delta, double v, double *score)
{
    double error[N], noise[P], square = 0;
    dp_rng_normal(s->rng, N, error);
    dp_rng_normal(s->rng, P, noise);
    memset(score, 0, D * sizeof *score);
    for (size_t r = 0; r < N; r++) {
        double y = sqrt(s->ratio) * error[r];
        for (size_t i = 0; i < P; i++)
            y += s->x[r * P + i] * delta[i];
        for (size_t i = 0; i < P; i++)
            score[i] += s->x[r * P + i] * y;
        square += y * y;
    }
    for (size_t i = 0; i < P; i++)
        score[i] += sqrt(v) * noise[i];
    return square;
}

/* Given the score, squares are on average what the scale as it looks says: their difference has
 * mean 0 whatever the score is multiplied with.  Within 6.2 standard errors: seeds are fixed, and
 * another seed would fail in less than 1 of 10^9 cases.  What tells wrong formulas: without noise
 * the degrees of freedom are P of N, with much of it squares are larger by |x delta|^2. */
static void squares_are_as_large_as_the_scale_looks(void **state)
{
    static const double noises[] = {1e-6, 10, 40, 1e6}, sds[] = {1, 0.6};
    (void)state;
    for (size_t k = 0; k < 8; k++) {
        scene s;
        double noise = noises[k % 4], delta[D] = {0.4, -0.3, 0.5, log(sds[k / 4])};
        double sum[2] = {0}, square[2] = {0}, slope[D], score[D];
        set_up(&s, noise, sds[k / 4]);
        for (size_t t = 0; t < TRIES; t++) {
            double found = draw(&s, delta, noise, score);
            set(&s, score);
            double off = found / N - exp(2 * dpi_excess_at(&s.e, delta, slope));
            double with[2] = {off, off * score[0] / sqrt(noise + N)};
            for (int e = 0; e < 2; e++) {
                sum[e] += with[e] / TRIES;
                square[e] += with[e] * with[e] / TRIES;
            }
        }
        for (int e = 0; e < 2; e++)
            assert_close(sum[e], 0, 0, 6.2 * sqrt(square[e] / TRIES));
        tear_down(&s);
    }
}

static void both_ends_are_known(void **state)
{
    static const double delta[D] = {0.4, -0.3, 0.5, 0.2}, none[D] = {0};
    double slope[D], times[D];
    scene s;
    (void)state;
    set_up(&s, 0, 1); /* degrees of freedom, wherever the answer is */
    set(&s, none);
    assert_close(dpi_excess_at(&s.e, delta, slope), 0.2 + log(1 - (double)P / N) / 2, 1e-9, 0);
    tear_down(&s);
    set_up(&s, 1e12, 1);
    set(&s, none);
    dpi_matrix_times(D, s.slope, delta, times);
    double x = delta[0] * times[0] + delta[1] * times[1] + delta[2] * times[2];
    assert_close(dpi_excess_at(&s.e, delta, slope), 0.2 + log(1 + exp(-0.4) * x / N) / 2, 1e-8, 0);
    tear_down(&s);
}

static void slopes_are_differences(void **state)
{
    static const double score[D] = {3, -2, 1, 4};
    scene s;
    (void)state;
    set_up(&s, 20, 1);
    for (int t = 0; t < 40; t++) {
        double at[D], slope[D], room[D];
        set_as(&s, t % 2 ? 1 : 1.88, t % 4 < 2 ? 1 : -0.5, score);
        dp_rng_normal(s.rng, D, at);
        (void)dpi_excess_at(&s.e, at, slope);
        for (size_t i = 0; i < D; i++) {
            double keep = at[i], h = 1e-5;
            at[i] = keep + h;
            double up = dpi_excess_at(&s.e, at, room);
            at[i] = keep - h;
            double down = dpi_excess_at(&s.e, at, room);
            at[i] = keep;
            assert_close(slope[i], (up - down) / (2 * h), 1e-6, 1e-8);
        }
    }
    tear_down(&s);
}

/* Were a family's factor a power of the root, a scale near 0 would look large, and be as likely as
 * the right one. */
static void a_larger_scale_looks_larger(void **state)
{
    static const double score[D] = {3, -2, 1, 4};
    scene s;
    (void)state;
    set_up(&s, 1e3, 1);
    for (int t = 0; t < 4; t++) {
        double at[D] = {0.4, -0.3, 0.5}, slope[D], before = -INFINITY;
        set_as(&s, t % 2 ? 0.6 : 2, t < 2 ? 1 : 0.3, score);
        for (at[D - 1] = -12; at[D - 1] < 4; at[D - 1] += 0.25) {
            double looks = dpi_excess_at(&s.e, at, slope);
            assert_true(looks > before);
            assert_true(slope[D - 1] > 0);
            before = looks;
        }
    }
    tear_down(&s);
}

/* Numbers of which the scale is the exponential of a multiple: all is of that multiple. */
static void any_power_of_the_scale_will_do(void **state)
{
    static const double score[D] = {3, -2, 1, 4};
    double at[D] = {0.4, -0.3, 0.5, 0.2}, slope[2][D], looks[2];
    scene s;
    (void)state;
    set_up(&s, 20, 1);
    set(&s, score);
    looks[0] = dpi_excess_at(&s.e, at, slope[0]);
    set_as(&s, 1, -0.5, score);
    at[D - 1] /= -0.5;
    looks[1] = dpi_excess_at(&s.e, at, slope[1]);
    assert_close(looks[1], looks[0] / -0.5, 1e-12, 0);
    for (size_t i = 0; i < D; i++)
        assert_close(slope[1][i], slope[0][i] / (i < D - 1 ? -0.5 : 1), 1e-12, 0);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_as_large_as_the_scale_looks),
        cmocka_unit_test(both_ends_are_known),
        cmocka_unit_test(slopes_are_differences),
        cmocka_unit_test(a_larger_scale_looks_larger),
        cmocka_unit_test(any_power_of_the_scale_will_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
