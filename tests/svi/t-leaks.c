/* Ways in which a run could leak that no single release shows: batches that are cut or come in
 * turns, noise that repeats itself, words beside the numbers.  Every record has a group of its own,
 * y_i ~ N(a_i, 1), so that number i of the release is record i's gradient over the rate, or
 * nothing. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "random/noise.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/scene.h"
#include "tests/svi/witness.h"

enum { N = 600, STEPS = 300 };

static double y[N];
static int32_t group[N];

static scene begin(double last, const dp_svi_opts *opts)
{
    dp_error err = {0};
    scene s = {.m = dp_model_new(), .data = dp_dataset_new(N)};
    for (size_t i = 0; i < N; i++) {
        y[i] = i + 1 < N ? 1 : last;
        group[i] = (int32_t)i;
    }
    assert_true(s.m != NULL && s.data != NULL);
    dp_plate rows = dp_unit_plate(s.m, "rows"), plate = dp_plate_new(s.m, "groups", N);
    dp_expr a = dp_pick(dp_param_in(plate, "a", 1, 0), dp_index(rows, "g", plate));
    dp_observe(rows, "y", dp_normal_v(a, dp_num(1)));
    dp_dataset_real(s.data, "y", 1, y);
    dp_dataset_index(s.data, "g", group);
    assert_ok(dp_svi_new(s.m, NULL, s.data, opts, &s.svi, &err), err.text);
    return s;
}

/* The parameters stay where they are. */
static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY,
                                  .optimizer = DP_SGD,
                                  .step_size = 0x1p-100,
                                  .schedule = DP_CONSTANT,
                                  .sampling = DP_SAMPLING_POISSON,
                                  .rate = 0.3,
                                  .steps = STEPS,
                                  .seed = 9};

/* Sizes are binomial(600, 0.3), of mean 180 and standard deviation 11.2, and a record is in 0.3 of
 * the batches and in 0.09 of all pairs of neighbouring ones.  6.2 standard deviations are 6e-10. */
static void poisson_batches_are_cut_nowhere_and_drawn_afresh(void **state)
{
    (void)state;
    scene s = begin(1, &plain);
    double squares = 0, both = 0, sd2 = N * 0.3 * 0.7;
    bool last[N] = {false};
    size_t taken[N] = {0}, large = 0;
    for (int t = 0; t < STEPS; t++) {
        double size = 0;
        step(&s);
        for (size_t i = 0; i < N; i++) {
            bool in = s.svi->release.out[i] != 0;
            size += in;
            taken[i] += in;
            both += in && last[i];
            last[i] = in;
        }
        squares += (size - N * 0.3) * (size - N * 0.3);
        large += size > N * 0.3 + 8;
    }
    assert_close(squares / (STEPS * sd2), 1, 0, 7 * sqrt(2.0 / STEPS));
    /* Probability .23 for each; of none among 300: 1e-34. */
    assert_true(large > 0);
    /* Pairs of steps that share no step are independent, neighbours have covariance q^3 - q^4. */
    double pairs = (STEPS - 1) * (double)N, var = 0.09 * 0.91 + 2 * (0.027 - 0.0081);
    assert_close(both / pairs, 0.09, 0, 6.2 * sqrt(var / pairs));
    for (size_t i = 0; i < N; i++) /* for all 600: 7.2 standard deviations */
        assert_close((double)taken[i] / STEPS, 0.3, 0, 7.2 * sqrt(0.21 / STEPS));
    end(&s);
}

/* Noise alone, N numbers: first differences between numbers and between steps have variance 2, and
 * products have mean 0. */
static void noise_is_fresh_in_every_number_and_step(void **state)
{
    (void)state;
    dp_svi_opts opts = plain;
    opts.mode = DP_PRIVATE;
    opts.sampling = DP_SAMPLING_FULL;
    opts.rate = 0;
    opts.sigma = 100; /* beside which the records are small */
    opts.clip = 1;
    opts.delta = 1e-5;
    opts.steps = 12;
    scene s = begin(1, &opts);
    double last[N] = {0}, along = 0, over = 0, square = 0;
    for (uint64_t t = 0; t < opts.steps; t++) {
        step(&s);
        for (size_t i = 0; i < N; i++) {
            double z = s.svi->release.out[i] / opts.sigma;
            square += z * z;
            along += i > 0 ? z * s.svi->release.out[i - 1] / opts.sigma : 0;
            over += z * last[i];
            last[i] = z;
        }
    }
    double n = (double)opts.steps * N;
    assert_close(square / n, 1, 0, 6.2 * sqrt(2 / n));
    assert_close(along / n, 0, 0, 6.2 / sqrt(n));
    assert_close(over / n, 0, 0, 6.2 / sqrt(n));
    end(&s);
}

/* Of independent ones 1 / (128 sqrt pi) are equal, the release having 64 points in a standard
 * deviation: 2.6 of 600, and 25 or more with a probability below 1e-15. */
static size_t numbers_in_common(const scene *one, const scene *other)
{
    size_t equal = 0;
    for (size_t i = 0; i < N; i++)
        equal += one->svi->release.out[i] == other->svi->release.out[i];
    return equal;
}

/* No two runs have the same noise. */
static void runs_without_a_seed_have_noise_of_their_own(void **state)
{
    (void)state;
    dp_svi_opts opts = plain;
    opts.mode = DP_PRIVATE;
    opts.sigma = 1;
    opts.clip = 1;
    opts.delta = 1e-5;
    opts.seed = 0;
    opts.steps = 3;
    scene one = begin(1, &opts), other = begin(1, &opts);
    assert_true(dp_noise_is_private(one.svi->noise) && dp_noise_is_private(other.svi->noise));
    for (uint64_t t = 0; t < opts.steps; t++) {
        step(&one);
        step(&other);
        assert_true(numbers_in_common(&one, &other) < 25);
    }
    end(&one);
    end(&other);
}

/* The first run and two that go on from where it was saved. */
static void resumed_runs_have_noise_of_their_own(void **state)
{
    (void)state;
    dp_error err = {0};
    char path[64];
    dp_svi_opts opts = plain;
    opts.mode = DP_PRIVATE;
    opts.sigma = 1;
    opts.clip = 1;
    opts.delta = 1e-5;
    opts.seed = 0;
    scene runs[3];
    (void)snprintf(path, sizeof path, "t-leaks-%ld.run", (long)getpid());
    runs[0] = begin(1, &opts);
    step(&runs[0]);
    assert_ok(dp_svi_save(runs[0].svi, path, &err), err.text);
    for (int k = 1; k < 3; k++) {
        runs[k] = runs[0];
        assert_ok(dp_svi_resume(path, runs[0].m, NULL, runs[0].data, NULL, &runs[k].svi, &err),
                  err.text);
    }
    (void)unlink(path);
    for (int t = 0; t < 3; t++) {
        for (int k = 0; k < 3; k++)
            step(&runs[k]);
        for (int k = 0; k < 3; k++)
            assert_true(numbers_in_common(&runs[k], &runs[(k + 1) % 3]) < 25);
    }
    dp_svi_free(runs[1].svi);
    dp_svi_free(runs[2].svi);
    end(&runs[0]);
}

/* What differs before noise is added is what became of one record's gradient.  A coarse grid would
 * round it up now and then. */
static void a_record_moves_what_is_released_by_at_most_clip(void **state)
{
    (void)state;
    for (int k = 0; k < 20; k++) {
        dp_svi_opts opts = plain;
        opts.mode = DP_PRIVATE;
        opts.sampling = DP_SAMPLING_FULL;
        opts.rate = 0;
        opts.sigma = 0.7 * pow(1.3, k);
        opts.clip = 1;
        opts.delta = 1e-5;
        opts.steps = 1;
        double without[N], with[N], square = 0;
        scene s = begin(0, &opts);
        step(&s);
        witness_sum(N, without);
        end(&s);
        s = begin(1e9, &opts);
        step(&s);
        witness_sum(N, with);
        for (size_t i = 0; i < N; i++) {
            double moved = (with[i] - without[i]) * opts.sigma;
            square += moved * moved;
        }
        assert_true(square <= 1 && square > 0.999);
        end(&s);
    }
}

/* What a run says beside its seconds, which are taken out. */
static void say(double last, char *text, size_t size)
{
    dp_error err = {0};
    dp_svi_opts opts = plain;
    opts.mode = DP_PRIVATE;
    opts.sampling = DP_SAMPLING_FULL;
    opts.rate = 0;
    opts.sigma = 100;
    opts.clip = 1;
    opts.delta = 1e-5;
    opts.steps = 2;
    scene s = begin(last, &opts);
    char *said = NULL;
    size_t length;
    FILE *out = open_memstream(&said, &length);
    assert_non_null(out);
    assert_ok(dp_svi_run(s.svi, out, &err), err.text);
    assert_int_equal(fclose(out), 0);
    char *comma = strchr(said, ','), *unit = comma != NULL ? strstr(comma, " s") : NULL;
    assert_non_null(unit);
    *comma = '\0';
    assert_true((size_t)snprintf(text, size, "%s%s", said, unit) < size);
    free(said);
    end(&s);
}

/* One record is changed beyond measure; all that is printed stays the same to the letter. */
static void progress_is_the_same_for_any_data(void **state)
{
    (void)state;
    char one[1024], other[1024];
    say(1, one, sizeof one);
    say(1e9, other, sizeof other);
    assert_contains(one, "tacit: step 2 of 2 s");
    assert_string_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poisson_batches_are_cut_nowhere_and_drawn_afresh),
        cmocka_unit_test(noise_is_fresh_in_every_number_and_step),
        cmocka_unit_test(runs_without_a_seed_have_noise_of_their_own),
        cmocka_unit_test(resumed_runs_have_noise_of_their_own),
        cmocka_unit_test(a_record_moves_what_is_released_by_at_most_clip),
        cmocka_unit_test(progress_is_the_same_for_any_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
