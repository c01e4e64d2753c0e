/* Noise of owners with factors: whose it is, how large, and how far a record moves what it
 * hides. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/factors.h"

/* No record has a gradient, and each release is noise: of each owner all of it, and its own. */
static void each_owner_has_noise_of_its_own(void **state)
{
    (void)state;
    static kept rooms[3];
    owner all[MOST] = {{.kept = &rooms[0]}, {.kept = &rooms[1]}, {.kept = &rooms[2]}};
    owner like = private_owner(KEPT);
    like.nothing = true;
    together(3, thirds, &like, 64, all);
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) {
            double sum = 0;
            for (size_t k = 0; k < KEPT * D; k++)
                sum += rooms[a].first[k] * rooms[b].first[k] / (KEPT * D);
            /* 6 standard errors: 1 in 10^8 of either */
            assert_close(sum, a == b, 0, 6 * sqrt((a == b ? 2. : 1.) / (KEPT * D)));
        }
    for (int a = 0; a < 3; a++)
        assert_int_equal(rooms[a].n, KEPT);
}

static void noise_is_that_of_the_clip_norm(void **state)
{
    (void)state;
    const double asked[] = {3, 0.5};
    owner like = private_owner(8);
    dp_svi *run;
    dp_model *m = model_of(false);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, predictors);
    dp_dataset_real(data, "y", 1, yes);
    dp_error err = {0};
    for (size_t n = 1; n <= 3; n += 2) { /* whoever else there is */
        dp_owners o = {.size = n,
                       .honest = n,
                       .seed = 5,
                       .most_records = N,
                       .local_steps = 4,
                       .damping = 0.3,
                       .context = &shared,
                       .open = table_open};
        like.opts.owners = &o;
        assert_ok(dp_svi_new(m, NULL, data, &like.opts, &run, &err), err.text);
        table_begin(&shared, 1);
        assert_int_equal(dp_svi_step(run, &err), n == 1 ? DP_OK : DP_EPEER);
        table_end(&shared);
        assert_close(run->release.sd, asked[0] * asked[1], 1e-12, 0);
        assert_true(run->release.noisy);
        dp_svi_free(run);
    }
    dp_dataset_free(data);
    dp_model_free(m);
}

/* Sums of a first step, on the grid, as who makes the noise's key is told them. */
typedef struct seen {
    int64_t whole[D];
    size_t times;
} seen;

static dp_status see(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                     const uint64_t *values, unsigned char key[DP_OWNERS_KEY], dp_error *err)
{
    seen *s = context;
    (void)question, (void)err;
    memset(key, 1, DP_OWNERS_KEY);
    if (n == D && s->times++ == 0)
        memcpy(s->whole, values, sizeof s->whole);
    return DP_OK;
}

static dp_status stop(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      uint64_t *values, dp_error *err)
{
    (void)context, (void)question, (void)n, (void)values;
    return dpi_fail(err, DP_EIO, "stopped");
}

/* How far the second sum is from the first, in units of the noise: of a record more, which is far
 * out to one side. */
static double moved(double far)
{
    seen s[2] = {{{0}, 0}};
    for (size_t k = 0; k < 2; k++) {
        owner one = private_owner(8);
        one.first = 1 - k;
        one.end = N;
        one.owners = (dp_owners){.size = 2,
                                 .honest = 1,
                                 .seed = 3,
                                 .most_records = N,
                                 .local_steps = 4,
                                 .damping = .5,
                                 .context = &s[k],
                                 .share = see,
                                 .open = stop};
        one.broken = k == 1 ? far : 0;
        (void)act(&one);
        assert_int_equal(one.status, DP_EIO);
        assert_int_equal(s[k].times, 4);
    }
    return hypot((double)(s[1].whole[0] - s[0].whole[0]), (double)(s[1].whole[1] - s[0].whole[1])) *
           0x1p-32;
}

/* To the side where it is told wrong it moves a sum by 1 / sigma; and no further to either. */
static void a_record_moves_a_sum_as_far_as_is_accounted_for(void **state)
{
    const double most = fmax(moved(1e6), moved(-1e6));
    (void)state;
    assert_true(most <= 1. / 3);
    assert_true(most > .999 / 3);
}

/* Clip norms follow each owner's own releases, and are no part of the question.  Shares are released
 * in parts of their noise, so that two owners' norms are the same in one run of 200: not in all of
 * five, 1 in 10^11. */
static void clip_norms_are_each_owners_own(void **state)
{
    (void)state;
    owner like = private_owner(64);
    like.opts.clip_quantile = 0.5;
    like.opts.clip_sigma = 20;
    like.opts.clip_speed = 0.5;
    like.opts.public_units = 200;
    bool differ = false; /* from each other, and from where they began */
    for (int run = 0; run < 5 && !differ; run++) {
        owner all[MOST] = {{0}};
        together(3, thirds, &like, 16, all);
        differ = all[0].clip != all[1].clip && all[1].clip != all[2].clip &&
                 all[0].clip != like.opts.clip;
    }
    assert_true(differ);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_owner_has_noise_of_its_own),
        cmocka_unit_test(noise_is_that_of_the_clip_norm),
        cmocka_unit_test(a_record_moves_a_sum_as_far_as_is_accounted_for),
        cmocka_unit_test(clip_norms_are_each_owners_own),
    };
    factors_draw();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
