/* Runs on several threads: the same parameters to the bit as on one. */
#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { ROWS = 3000, WIDTH = 6, GROUPS = 5, THETA = 128 };

static double x[ROWS * WIDTH], y[ROWS];
static int32_t person[ROWS], group[ROWS];

/* Person 3 has a third of all rows, which is more than three chunks; the others have about
 * three. */
static void fill(void)
{
    uint64_t r = 1;
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < WIDTH; j++)
            x[i * WIDTH + j] = 3 * next_number(&r);
        y[i] = next_number(&r) < 0.2;
        group[i] = (int32_t)(i % GROUPS);
        person[i] = i % 3 == 0 ? 3 : (int32_t)(i * 7919 % 700);
    }
}

typedef enum shape { PLAIN, WITH_UNITS, WITH_DRAWS, WITH_BOTH, IN_FLOATS, N_SHAPES } shape;

/* A logistic regression with group effects; with a latent of each record where asked for, or with a
 * hidden layer of GELU, in single precision. */
static size_t fit(shape kind, dp_svi_opts o, double theta[THETA])
{
    dp_error err = {0};
    dp_svi *svi;
    bool draws = kind == WITH_DRAWS || kind == WITH_BOTH;
    dp_model *m = dp_model_new(), *guide = draws ? dp_guide_new(m) : NULL;
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample(m, "w", WIDTH, dp_normal(0, 1)),
            a = dp_sample_in(groups, "a", 1, dp_normal(0, 1)),
            covariates = dp_data(rows, "x", WIDTH),
            at = dp_add(dp_dot(covariates, w), dp_pick(a, dp_index(rows, "g", groups)));
    if (draws) {
        at = dp_add(at, dp_sample_in(rows, "z", 1, dp_normal(0, 1)));
        dp_plate same = dp_unit_plate(guide, "rows"), also = dp_plate_new(guide, "groups", GROUPS);
        dp_expr loc = dp_param(guide, "loc", WIDTH, 0), of_a = dp_param_in(also, "of_a", 1, 0);
        (void)dp_sample(guide, "w", WIDTH, dp_normal_v(loc, dp_num(0.1)));
        (void)dp_sample_in(also, "a", 1, dp_normal_v(of_a, dp_num(0.1)));
        dp_expr slope = dp_param(guide, "slope", WIDTH, 0.1);
        (void)dp_sample_in(same, "z", 1,
                           dp_normal_v(dp_dot(dp_data(same, "x", WIDTH), slope), dp_num(1)));
    }
    if (kind == IN_FLOATS) {
        dp_plate width = dp_plate_new(m, "width", WIDTH);
        dp_expr layer = dp_sample_in(width, "layer", 4, dp_normal(0, 1));
        dp_expr h = dp_gelu(dp_matmul(covariates, layer));
        at = dp_add(at, dp_dot(h, dp_sample(m, "v", 4, dp_normal(0, 1))));
        o.precision = DP_SINGLE;
    }
    dp_observe(rows, "y", dp_bernoulli_logit(at));
    dp_dataset_real(data, "x", WIDTH, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "g", group);
    dp_dataset_index(data, "person", person);
    if (kind == WITH_UNITS || kind == WITH_BOTH)
        dp_dataset_unit(data, "person");
    assert_ok(dp_svi_new(m, guide, data, &o, &svi, &err), err.text);
    assert_int_equal(svi->sum.n_workers, o.threads == 0 ? 1 : o.threads);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    size_t n = svi->objective.n_theta;
    assert_true(n <= THETA);
    memcpy(theta, svi->optimizer.theta, n * sizeof *theta);
    for (size_t k = 0; k < svi->sum.n_workers; k++) /* nothing of the batch stays */
        for (size_t e = 0; e < svi->objective.n_release; e++)
            assert_true(svi->sum.workers[k].part[e] == 0 &&
                        (svi->sum.workers[k].unit == NULL || svi->sum.workers[k].unit[e] == 0));
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(guide);
    dp_model_free(m);
    return n;
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    const size_t threads[] = {2, 3, 7};
    for (int kind = PLAIN; kind < N_SHAPES; kind++)
        for (int sampled = 0; sampled < 2; sampled++)
            for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++) {
                double one[THETA], theta[THETA];
                dp_svi_opts o = {.sigma = 2, .delta = 1e-6, .clip = 1, .steps = 10, .seed = 5};
                o.form = (dp_form)form;
                o.sampling = sampled ? DP_SAMPLING_POISSON : DP_SAMPLING_FULL;
                o.rate = sampled ? 0.75 : 0;
                size_t n = fit((shape)kind, o, one);
                assert_true(one[0] != 0);
                for (int k = 0; k < 3; k++) {
                    o.threads = threads[k];
                    assert_int_equal(fit((shape)kind, o, theta), n);
                    assert_memory_equal(theta, one, n * sizeof *one);
                }
            }
}

enum { MANY = (1 << 16) + 1 };

/* Three steps of a model with MANY numbers: parameters of the groups, or latents whose guide's
 * parameters are pulled back to.  Copies the last release and the first MANY parameters. */
static void fit_long(bool latents, double sigma, size_t threads, double *release, double *theta)
{
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                           .sigma = sigma,
                           .clip = 0.5,
                           .steps = 3,
                           .seed = 2,
                           .average = 0.5,
                           .threads = threads};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", MANY - 1);
    dp_expr a =
        latents ? dp_sample_in(groups, "a", 1, dp_normal(0, 1)) : dp_param_in(groups, "a", 1, 0.1);
    dp_expr b = latents ? dp_sample(m, "b", 1, dp_normal(0, 1)) : dp_param(m, "b", 1, 0);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(dp_pick(a, dp_index(rows, "g", groups)), b)));
    dp_dataset_index(data, "g", group);
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_int_equal(svi->sum.workers[0].parked[0].part != NULL, 0);
    assert_int_equal(svi->target != NULL, !latents);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    memcpy(release, svi->release.out, MANY * sizeof *release);
    memcpy(theta, svi->optimizer.mean, MANY * sizeof *theta);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Releases that are too long to be parked: threads wait for their turn, and share the blocks of
 * noise and of the optimiser. */
static void long_releases_have_the_same_bits(void **state)
{
    (void)state;
    static double release[2][MANY], theta[2][MANY];
    for (int kind = 0; kind < 4; kind++) {
        double sigma = kind % 2;
        fit_long(kind / 2, sigma, 1, release[0], theta[0]);
        assert_true(release[0][0] != 0 && theta[0][0] != 0);
        for (size_t threads = 2; threads <= 3; threads++) {
            fit_long(kind / 2, sigma, threads, release[1], theta[1]);
            assert_memory_equal(release[0], release[1], sizeof release[0]);
            assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
        }
    }
}

/* A few records are not worth a thread, but anybody may count the threads of a process. */
static void the_number_of_threads_does_not_tell_that_of_records(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 1, .threads = 8};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "y", dp_normal_v(dp_sample(m, "w", 1, dp_normal(0, 1)), dp_num(1)));
    for (size_t n = 500; n <= 2000; n *= 2) {
        dp_dataset *data = dp_dataset_new(n);
        dp_dataset_real(data, "y", 1, y);
        assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
        assert_int_equal(svi->sum.n_workers, 8);
        assert_ok(dp_svi_step(svi, &err), err.text);
        dp_svi_free(svi);
        dp_dataset_free(data);
    }
    dp_model_free(m);
}

static void too_many_threads_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts o = {.mode = DP_NO_PRIVACY, .threads = 1025};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_real(data, "y", 1, y);
    dp_observe(dp_unit_plate(m, "rows"), "y",
               dp_normal_v(dp_sample(m, "w", 1, dp_normal(0, 1)), dp_num(1)));
    assert_int_equal(dp_svi_new(m, NULL, data, &o, &svi, &err), DP_EDOMAIN);
    assert_contains(err.text, "at most 1024");
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    fill();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(long_releases_have_the_same_bits),
        cmocka_unit_test(the_number_of_threads_does_not_tell_that_of_records),
        cmocka_unit_test(too_many_threads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
