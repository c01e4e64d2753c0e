/* Which records a step adds up: every record has a group of its own, y_i ~ N(a_i, 1), so that
 * number i of the release is record i's gradient over the rate, or nothing. */
#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/scene.h"

enum { N = 600, BATCH = 300 }; /* more than two chunks of 256, and more than one */

static double y[N];
static int32_t group[N];

static scene begin(const dp_svi_opts *opts)
{
    for (size_t i = 0; i < N; i++) {
        y[i] = 1 + (double)i / 64;
        group[i] = (int32_t)i;
    }
    const groups g = {.n = N, .n_groups = N, .y = y, .group = group, .mean = 3.5};
    return begin_groups(&g, opts);
}

/* Number of records in the release; each is there once, whole, and over the rate. */
static size_t count(const scene *s, double rate)
{
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        double is = s->svi->release.out[i];
        n += is != 0;
        if (is != 0)
            assert_close(is, y[i] / rate, 1e-14, 0);
    }
    return n;
}

static const dp_svi_opts plain = {.mode = DP_NO_PRIVACY,
                                  .optimizer = DP_SGD,
                                  .step_size = 0x1p-100, /* the parameters stay where they are */
                                  .schedule = DP_CONSTANT,
                                  .steps = 20,
                                  .seed = 9};

static void a_full_batch_has_every_record_in_every_step(void **state)
{
    (void)state;
    scene s = begin(&plain);
    for (int t = 0; t < 3; t++) {
        step(&s);
        assert_int_equal(count(&s, 1), N);
    }
    end(&s);
}

static void a_poisson_batch_over_chunks_has_each_record_at_most_once(void **state)
{
    (void)state;
    const double rates[] = {0.003, 0.45, 0.9, 1};
    for (size_t k = 0; k < 4; k++) {
        dp_svi_opts opts = plain;
        opts.sampling = DP_SAMPLING_POISSON;
        opts.rate = rates[k];
        scene s = begin(&opts);
        double total = 0;
        for (int t = 0; t < 20; t++) {
            step(&s);
            total += (double)count(&s, rates[k]);
        }
        /* 6.2 standard deviations of a binomial of 20 * 600, and 6 for its skewness at small
         * rates */
        assert_close(total, 20 * N * rates[k], 0,
                     6.2 * sqrt(20 * N * rates[k] * (1 - rates[k])) + 6);
        end(&s);
    }
}

static void a_fixed_batch_over_chunks_has_its_size(void **state)
{
    (void)state;
    const size_t sizes[] = {1, 256, 257, BATCH, N};
    for (size_t k = 0; k < 5; k++) {
        dp_svi_opts opts = plain;
        opts.sampling = DP_SAMPLING_FIXED;
        opts.batch = sizes[k];
        scene s = begin(&opts);
        double first[N];
        step(&s);
        assert_int_equal(count(&s, (double)sizes[k] / N), sizes[k]);
        memcpy(first, s.svi->release.out, sizeof first);
        step(&s);
        assert_int_equal(count(&s, (double)sizes[k] / N), sizes[k]);
        assert_int_equal(memcmp(first, s.svi->release.out, sizeof first) == 0, sizes[k] == N);
        end(&s);
    }
}

static void every_record_is_in_one_batch_of_an_epoch(void **state)
{
    (void)state;
    const uint64_t epochs[] = {2, 3, 2 * N};
    for (size_t k = 0; k < 3; k++) {
        dp_svi_opts opts = plain;
        opts.sampling = DP_SAMPLING_ALLOCATION;
        opts.epoch = epochs[k];
        opts.steps = 2 * epochs[k];
        scene s = begin(&opts);
        double total[N], place[2][N];
        for (uint64_t t = 0; t < opts.steps; t++) {
            if (t % opts.epoch == 0)
                memset(total, 0, sizeof total);
            step(&s);
            count(&s, 1 / (double)opts.epoch);
            for (size_t i = 0; i < N; i++) {
                total[i] += s.svi->release.out[i];
                if (s.svi->release.out[i] != 0)
                    place[t / opts.epoch][i] = (double)(t % opts.epoch);
            }
            for (size_t i = 0; i < N && t % opts.epoch == opts.epoch - 1; i++)
                assert_close(total[i], y[i] * (double)opts.epoch, 1e-14, 0);
        }
        assert_true(memcmp(place[0], place[1], sizeof place[0]) != 0); /* drawn afresh */
        assert_true(dp_svi_done(s.svi));
        end(&s);
    }
}

/* Each to the bound, less what is left to rounding (below 2^-15 of it); smaller ones stay whole. */
static void records_are_clipped_one_by_one_in_every_chunk(void **state)
{
    (void)state;
    dp_svi_opts opts = plain;
    opts.mode = DP_WITHOUT_GUARANTEE;
    opts.clip = 4;
    scene s = begin(&opts);
    step(&s);
    for (size_t i = 0; i < N; i++)
        if (y[i] < 4)
            assert_close(s.svi->release.out[i], y[i], 1e-14, 0);
        else
            assert_true(s.svi->release.out[i] <= 4 && s.svi->release.out[i] > 4 * (1 - 0x1p-15));
    end(&s);
}

static void read_block(const scene *s, const char *name, double values[N])
{
    dp_error err = {0};
    assert_ok(dp_svi_get(s->svi, name, N, values, &err), err.text);
}

/* No record at all is an ordinary step: it is counted, it is given its noise, and prior and entropy
 * have their way when they are not inside the records' gradients. */
static void an_empty_batch_is_an_ordinary_step(void **state)
{
    (void)state;
    for (int form = DP_FORM_LATENTS; form <= DP_FORM_PARAMETERS; form++)
        for (int noisy = 0; noisy < 2; noisy++) {
            double loc[N], log_scale[N];
            dp_svi_opts opts = plain;
            opts.mode = DP_WITHOUT_GUARANTEE;
            opts.form = (dp_form)form;
            opts.sampling = DP_SAMPLING_POISSON;
            opts.rate = 1e-12; /* a batch with a record: probability 6e-10 */
            opts.clip = 1e-12;
            opts.sigma = noisy ? 1 : 0; /* of standard deviation 1 after division by the rate */
            opts.step_size = 0.25;
            scene s = begin(&opts);
            step(&s);
            assert_int_equal(s.svi->optimizer.done, 1);
            size_t n = s.svi->objective.n_release;
            double square = 0;
            for (size_t k = 0; k < n; k++)
                square += s.svi->release.out[k] * s.svi->release.out[k];
            /* chi-square with n degrees of freedom, 6.2 standard deviations and its skewness */
            assert_close(square, noisy ? (double)n : 0, 0, noisy ? 7 * sqrt(2.0 * (double)n) : 0);
            read_block(&s, "a.loc", loc);
            read_block(&s, "a.log_scale", log_scale);
            for (size_t i = 0; !noisy && i < N; i++) {
                bool exact = form == DP_FORM_LATENTS;
                assert_close(loc[i], exact ? 0.25 * 3.5 / 4 : 0, 1e-14, 0);
                assert_close(log_scale[i], exact ? -60 + 0.25 : -60, 1e-14, 0);
            }
            end(&s);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_batch_has_every_record_in_every_step),
        cmocka_unit_test(a_poisson_batch_over_chunks_has_each_record_at_most_once),
        cmocka_unit_test(a_fixed_batch_over_chunks_has_its_size),
        cmocka_unit_test(every_record_is_in_one_batch_of_an_epoch),
        cmocka_unit_test(records_are_clipped_one_by_one_in_every_chunk),
        cmocka_unit_test(an_empty_batch_is_an_ordinary_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
