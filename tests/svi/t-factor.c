/* Factors of owners: where they end without noise, what is opened, and what is refused. */
#include "svi/factor.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "svi/svi.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"
#include "tests/svi/factors.h"

/* ---- without noise ---- */

/* Natural parameters of the likelihood of records first ... end - 1. */
static void exact_factor(size_t first, size_t end, double eta[THETA])
{
    memset(eta, 0, THETA * sizeof *eta);
    for (size_t i = first; i < end; i++) {
        const size_t d = i % D;
        const double at = predictors[i * D + d] / (outcome_sd * outcome_sd);
        eta[d] += at * normal[i];
        eta[D + d] += at * predictors[i * D + d];
    }
}

static void factors_of_normal_records_are_their_likelihoods(void **state)
{
    (void)state;
    static const size_t all_ends[] = {N};
    static const struct {
        size_t n;
        const size_t *ends;
    } splits[] = {{1, all_ends}, {3, thirds}, {4, unequal}};
    for (size_t c = 0; c < sizeof splits / sizeof *splits; c++) {
        owner all[MOST] = {{0}};
        const owner like = owner_of(true, 6000);
        double eta[THETA];
        together(splits[c].n, splits[c].ends, &like, 50, all);
        for (size_t k = 0; k < splits[c].n; k++) {
            exact_factor(all[k].first, all[k].end, eta);
            for (int j = 0; j < THETA; j++)
                assert_close(all[k].own[j], eta[j], 1e-6, 1e-6 * eta[D + j % D]);
        }
        exact_factor(0, N, eta);
        /* The guide has the noise of its draws besides, and what moves make of it that begin
         * without memory: few large draws count as one step each, and scales come out larger. */
        for (int d = 0; d < D; d++) {
            const double precision = eta[D + d] + 1 / (prior_sd * prior_sd);
            assert_close(all[0].all[D + d], eta[D + d], 1e-6, 0);
            assert_close(all[0].theta[d], eta[d] / precision, 0, 0.05 / sqrt(precision));
            assert_close(all[0].theta[D + d], -log(precision) / 2, 0, 0.1);
        }
    }
}

/* Whoever has all records alone comes to where steps of all together do. */
static void a_regression_of_owners_is_that_of_all(void **state)
{
    (void)state;
    owner alone = owner_of(false, 6000), all[MOST] = {{0}};
    const owner like = alone;
    alone.end = N;
    alone.owners = (dp_owners){.size = 1,
                               .honest = 1,
                               .seed = 5,
                               .most_records = N,
                               .context = &shared,
                               .open = table_open};
    table_begin(&shared, 1);
    (void)act(&alone);
    assert_ok(alone.status, alone.err.text);
    table_end(&shared);
    for (size_t n = 1; n <= 3; n += 2) {
        static const size_t whole[] = {N};
        together(n, n == 1 ? whole : thirds, &like, 50, all);
        for (int d = 0; d < D; d++) {
            assert_close(all[0].theta[d], alone.theta[d], 0, 0.05 * exp(alone.theta[D + d]));
            assert_close(all[0].theta[D + d], alone.theta[D + d], 0, 0.1);
        }
    }
}

static double number_of(const uint64_t *words)
{
    return (double)(int64_t)words[2] * 0x1p-84 + (double)(int64_t)words[1] * 0x1p-28 +
           (double)(int64_t)words[0] * 0x1p28;
}

/* Factors are sums of what was opened, in all and of each. */
static void factors_add_up(void **state)
{
    (void)state;
    owner all[MOST] = {{0}};
    const owner like = owner_of(false, 40);
    together(4, unequal, &like, 8, all);
    assert_int_equal(shared.times, 5);
    for (size_t j = 0; j < THETA; j++) {
        double opened = 0, of_each = 0;
        for (size_t r = 0; r < 5; r++)
            opened += number_of(shared.opened[r] + 3 * j);
        for (size_t k = 0; k < 4; k++)
            of_each += all[k].own[j];
        assert_close(all[0].all[j], opened, 1e-12, 1e-12);
        assert_close(all[0].all[j], of_each, 1e-9, 1e-9);
        assert_true(fabs(all[0].own[j] - all[1].own[j]) > 1e-3);
    }
    for (size_t r = 0; r < 5; r++) {
        assert_int_equal(shared.n[r], 3 * (THETA + 1));
        assert_true(number_of(shared.opened[r] + 3 * THETA) == 4);
    }
}

/* ---- what was opened is no precision ---- */

static void precisions_stay_positive_alike_at_all(void **state)
{
    (void)state;
    dpi_factor_latent latents[D] = {{0, D}, {1, D + 1}};
    double all[THETA] = {1, 2, 3, 4}, own[THETA] = {.5, .5, .5, .5}, from[THETA] = {6, 7, 16, 8},
           theta[THETA];
    const double opened[THETA] = {3, -2, -30, -4}, mine[THETA] = {1, -1, -20, 2};
    dp_svi s = {.factor = {.n = D, .latents = latents, .all = all, .own = own, .from = from},
                .optimizer = {.theta = theta}};
    dpi_factor_move(&s, opened, mine);
    /* 16 - 30 / 2 = 1: so half of what was opened of the first, and all of the second */
    assert_close(theta[0], (6 + 1.5) / 1, 1e-14, 0);
    assert_close(theta[D], 0, 0, 1e-14);
    assert_close(theta[1], 5. / 4, 1e-14, 0);
    assert_close(theta[D + 1], -log(4) / 2, 1e-14, 0);
    const double all_then[THETA] = {2.5, 0, -12, 0}, own_then[THETA] = {1, -.5, -9.5, 2.5};
    for (int j = 0; j < THETA; j++) {
        assert_close(all[j], all_then[j], 1e-14, 1e-14);
        assert_close(own[j], own_then[j], 1e-14, 1e-14);
    }
}

/* ---- what is refused ---- */

static dp_status tell_fewer(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                            size_t n, uint64_t *values, dp_error *err)
{
    (void)context, (void)question, (void)err;
    assert_int_equal(n, 3 * (THETA + 1));
    return memset(values, 0, n * sizeof *values), DP_OK;
}

static const dp_owners of_two = {.size = 2,
                                 .honest = 1,
                                 .seed = 3,
                                 .most_records = N,
                                 .local_steps = 4,
                                 .damping = .5,
                                 .open = tell_fewer};

static void who_does_not_offer_is_missed(void **state)
{
    (void)state;
    owner one = owner_of(false, 8);
    one.end = N;
    one.owners = of_two;
    (void)act(&one);
    assert_fails(one.status, DP_EPEER, &one.err, "0 of 2 owners have offered");
}

static dp_status note(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      uint64_t *values, dp_error *err)
{
    (void)n, (void)values;
    memcpy(context, question, DP_OWNERS_QUESTION);
    return dpi_fail(err, DP_EIO, "noted");
}

/* Damping and steps are the plan's: owners who differ in one open nothing together. */
static void who_takes_another_share_comes_to_another_question(void **state)
{
    static const struct {
        double damping;
        uint64_t local;
    } taken[] = {{.5, 4}, {.5, 4}, {.4, 4}, {.5, 5}};
    unsigned char question[4][DP_OWNERS_QUESTION];
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        owner one = owner_of(false, 8);
        one.end = k == 1 ? N / 2 : N; /* records make no difference */
        one.owners = of_two;
        one.owners.local_steps = taken[k].local;
        one.owners.damping = taken[k].damping;
        one.owners.context = question[k];
        one.owners.open = note;
        (void)act(&one);
        assert_int_equal(one.status, DP_EIO);
    }
    assert_memory_equal(question[0], question[1], DP_OWNERS_QUESTION);
    assert_memory_not_equal(question[0], question[2], DP_OWNERS_QUESTION);
    assert_memory_not_equal(question[0], question[3], DP_OWNERS_QUESTION);
}

static void what_has_no_factor_is_refused(void **state)
{
    (void)state;
    dp_owners owners = of_two;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_param(m, "w", D, 0);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), w)));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, predictors);
    dp_dataset_real(data, "y", 1, yes);
    dp_svi_opts o = owner_of(false, 8).opts;
    dp_svi *run;
    dp_error err = {0};
    o.owners = &owners;
    assert_fails(dp_svi_new(m, NULL, data, &o, &run, &err), DP_EUNSUPPORTED, &err,
                 "w has no prior");
    static const double wrong[] = {-.1, 1.01, NAN};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        err = (dp_error){0};
        owners.damping = wrong[k];
        assert_fails(dp_svi_new(m, NULL, data, &o, &run, &err), DP_EDOMAIN, &err, "damping");
    }
    owners.damping = 0; /* means have no noise */
    o = private_owner(8).opts;
    o.owners = &owners;
    err = (dp_error){0};
    assert_fails(dp_svi_new(m, NULL, data, &o, &run, &err), DP_EPRIVACY, &err, "no bound");
    dp_dataset_free(data);
    dp_model_free(m);
}

static void memory_that_is_out_is_told(void **state)
{
    (void)state;
    dp_owners owners = of_two;
    dp_svi_opts o = owner_of(false, 8).opts;
    dp_model *m = model_of(false);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, predictors);
    dp_dataset_real(data, "y", 1, yes);
    o.owners = &owners;
    dp_svi *run;
    size_t k = 1;
    const size_t live = faulty_live();
    for (int failed = 1; failed; k++) {
        dp_error err = {0};
        faulty_fail(k);
        const dp_status status = dp_svi_new(m, NULL, data, &o, &run, &err);
        failed = faulty_failed();
        faulty_fail(0);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        dp_svi_free(run);
        assert_int_equal(faulty_live(), live);
    }
    assert_true(k > 20);
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_normal_records_are_their_likelihoods),
        cmocka_unit_test(a_regression_of_owners_is_that_of_all),
        cmocka_unit_test(factors_add_up),
        cmocka_unit_test(precisions_stay_positive_alike_at_all),
        cmocka_unit_test(who_does_not_offer_is_missed),
        cmocka_unit_test(who_takes_another_share_comes_to_another_question),
        cmocka_unit_test(what_has_no_factor_is_refused),
        cmocka_unit_test(memory_that_is_out_is_told),
    };
    factors_draw();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
