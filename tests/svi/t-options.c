/* What is refused, with which status and words, before anything is computed from the data. */
#include "svi/options.h"

#include <math.h>
#include <string.h>

#include "svi/cost.h"
#include "svi/svi.h"
#include "tests/lib/check.h"

enum { N = 8 };

typedef struct world {
    dp_model *m;
    dp_dataset *data;
    double x[N][2], y[N];
    int32_t group[N];
    dp_svi_opts o;
} world;

static void start(world *u)
{
    *u = (world){.m = dp_model_new(), .data = dp_dataset_new(N)};
    u->o = (dp_svi_opts){.epsilon = 1, .delta = 1e-3, .clip = 1, .steps = 3, .seed = 1};
    for (int i = 0; i < N; i++) {
        u->x[i][0] = 1;
        u->x[i][1] = i - 3.5;
        u->y[i] = i % 2;
        u->group[i] = i % 3;
    }
    dp_plate rows = dp_unit_plate(u->m, "rows"), groups = dp_plate_new(u->m, "groups", 3);
    dp_expr x = dp_data(rows, "x", 2), g = dp_index(rows, "g", groups);
    dp_expr w = dp_sample(u->m, "w", 2, dp_normal(0, 1));
    dp_expr b = dp_sample_in(groups, "b", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(dp_dot(x, w), dp_pick(b, g))));
    dp_dataset_real(u->data, "x", 2, &u->x[0][0]);
    dp_dataset_real(u->data, "y", 1, u->y);
    dp_dataset_index(u->data, "g", u->group);
}

/* The run is refused with this status and a message that has these words. */
static void refused(world *u, dp_status status, const char *words)
{
    dp_error err = {0};
    dp_svi *svi;
    assert_int_equal(dp_svi_new(u->m, NULL, u->data, &u->o, &svi, &err), status);
    assert_null(svi);
    assert_contains(err.text, words);
    dp_dataset_free(u->data);
    dp_model_free(u->m);
}

/* The one mechanism of a run that releases nothing beside its gradients. */
static dp_mechanism mechanism_of(const dp_svi_opts *o, uint64_t steps)
{
    dp_mechanism list[DPI_COST_MOST];
    assert_int_equal(dpi_cost_list(o, steps, list), 1);
    return list[0];
}

static void options_out_of_range(void **state)
{
    (void)state;
    world u;
    start(&u), u.o.epsilon = 0, refused(&u, DP_EDOMAIN, "epsilon is 0");
    start(&u), u.o.epsilon = NAN, refused(&u, DP_EDOMAIN, "epsilon");
    start(&u), u.o.delta = 1, refused(&u, DP_EDOMAIN, "delta is 1");
    start(&u), u.o.delta = 0, refused(&u, DP_EDOMAIN, "delta is 0");
    start(&u), u.o.clip = 0, refused(&u, DP_EDOMAIN, "clip is 0");
    start(&u), u.o.sampling = DP_SAMPLING_POISSON, u.o.rate = 1.5,
               refused(&u, DP_EDOMAIN, "rate is 1.5");
    start(&u), u.o.rate = 0.5, refused(&u, DP_EINVAL, "set sampling");
    start(&u), u.o.sampling = (dp_sampling)9, refused(&u, DP_EINVAL, "sampling 9");
    start(&u), u.o.sampling = DP_SAMPLING_POISSON, u.o.batch = 4,
               refused(&u, DP_EMISMATCH, "batch is 4");
    start(&u), u.o.sampling = DP_SAMPLING_FULL, u.o.rate = 0.5,
               refused(&u, DP_EMISMATCH, "rate is 0.5");
    start(&u), u.o.sampling = DP_SAMPLING_FIXED, u.o.batch = 9,
               refused(&u, DP_EINVAL, "batch is 9");
    start(&u), u.o.epoch = 2, refused(&u, DP_EMISMATCH, "epoch is 2, which belongs to");
    start(&u), u.o.sampling = DP_SAMPLING_ALLOCATION, refused(&u, DP_EDOMAIN, "epoch is 0");
    start(&u), u.o.sampling = DP_SAMPLING_ALLOCATION, u.o.epoch = UINT64_MAX,
               refused(&u, DP_EDOMAIN, "2 to 1000000");
    start(&u), u.o.sampling = DP_SAMPLING_ALLOCATION, u.o.epoch = 2, u.o.batch = 4,
               refused(&u, DP_EMISMATCH, "batch 4");
    start(&u), u.o.sampling = DP_SAMPLING_ALLOCATION, u.o.epoch = 2, u.o.rate = 0.5,
               refused(&u, DP_EMISMATCH, "rate is 0.5");
    start(&u), u.o.sampling = DP_SAMPLING_ALLOCATION, u.o.epoch = 9, u.o.steps = UINT64_MAX - 2,
               refused(&u, DP_EDOMAIN, "steps is");
    start(&u), u.o.mode = DP_NO_PRIVACY, refused(&u, DP_EMISMATCH, "DP_NO_PRIVACY");
    start(&u), u.o.average = 2, refused(&u, DP_EDOMAIN, "average is 2");
    start(&u), u.o.clip = 1e-200, refused(&u, DP_EDOMAIN, "from 1e-100 to 1e+100");
    start(&u), u.o.clip = 1e200, refused(&u, DP_EDOMAIN, "clip is 1e+200");
    start(&u), u.o.clip = NAN, refused(&u, DP_EDOMAIN, "clip is");
    start(&u), u.o.form = (dp_form)2, refused(&u, DP_EINVAL, "form 2");
    start(&u), u.o.optimizer = (dp_optimizer)4, refused(&u, DP_EINVAL, "optimizer 4");
    start(&u), u.o.schedule = (dp_schedule)3, refused(&u, DP_EINVAL, "schedule 3");
    start(&u), u.o.mode = DP_WITHOUT_GUARANTEE, refused(&u, DP_EMISMATCH, "certifies nothing");
    start(&u), u.o.epsilon = 0, u.o.sigma = NAN, refused(&u, DP_EDOMAIN, "sigma is nan");
    start(&u), u.o.epsilon = 0, u.o.sigma = -1, refused(&u, DP_EDOMAIN, "sigma is -1");
    start(&u), u.o.mode = DP_WITHOUT_GUARANTEE, u.o.epsilon = u.o.delta = 0, u.o.sigma = NAN,
               refused(&u, DP_EDOMAIN, "sigma is nan");
}

/* Who names a data set of a ledger believes that it is charged. */
static void a_name_in_a_ledger_needs_the_ledger(void **state)
{
    (void)state;
    world u;
    start(&u), u.o.ledger_data = "d", refused(&u, DP_EINVAL, "ledger_data is given and no ledger");
    start(&u), u.o.ledger_label = "l",
               refused(&u, DP_EINVAL, "ledger_label is given and no ledger");
    start(&u), u.o = (dp_svi_opts){.mode = DP_NO_PRIVACY, .ledger_data = "d", .ledger_label = "l"};
    refused(&u, DP_EINVAL, "leave ledger_data and ledger_label NULL");
}

/* The least delta that the message asks for is one that is taken. */
static void a_delta_that_is_too_small_is_answered_by_one_that_is_not(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    world u;
    start(&u), u.o.delta = 1e-30, refused(&u, DP_EACCURACY, "ask for at least 2e-30");
    start(&u), u.o.delta = 2e-30;
    assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(u.data);
    dp_model_free(u.m);
}

/* By the pair that dominates, well above what Poisson sampling costs under the same replacement. */
static void the_fixed_size_sampler_is_accounted_for_as_such(void **state)
{
    (void)state;
    world u;
    dp_error err = {0};
    dp_svi *svi;
    dp_privacy privacy;
    double fixed, poisson;
    start(&u), u.o.sampling = DP_SAMPLING_FIXED, u.o.batch = 2, u.o.epsilon = 0, u.o.sigma = 5;
    assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
    assert_ok(dp_svi_step(svi, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_string_equal(privacy.adjacency, "replace one record");
    dp_mechanism m = mechanism_of(&svi->opts, 1);
    assert_ok(dp_epsilon(&m, svi->opts.delta, &fixed, &err), err.text);
    m.sampling = DP_SAMPLING_POISSON;
    m.adjacency = DP_REPLACE_ONE;
    assert_ok(dp_epsilon(&m, u.o.delta, &poisson, &err), err.text);
    assert_true(privacy.epsilon == fixed && fixed > 1.1 * poisson);
    dp_svi_free(svi);
    dp_dataset_free(u.data);
    dp_model_free(u.m);
}

/* The accountant knows samplers that no run draws: none of them may lend its figure. */
static void only_samplers_that_are_drawn_are_taken(void **state)
{
    (void)state;
    const int others[] = {DP_SAMPLING_SHUFFLE, DP_SAMPLING_SHUFFLE + 1, -1};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        world u;
        start(&u), u.o.sampling = (dp_sampling)others[i], u.o.rate = 0.5;
        refused(&u, DP_EINVAL, "not one that a run draws");
    }
}

static void a_largest_batch_needs_the_most_units_there_can_be(void **state)
{
    (void)state;
    world u;
    start(&u), u.o.cap = 3, refused(&u, DP_EMISMATCH, "cap is 3, which belongs to truncated");
    start(&u), u.o.sampling = DP_SAMPLING_POISSON, u.o.rate = 0.5, u.o.cap = 3,
               refused(&u, DP_EMISMATCH, "cap is 3");
    start(&u), u.o.sampling = DP_SAMPLING_TRUNCATED, u.o.cap = 3, u.o.public_units = N,
               refused(&u, DP_EDOMAIN, "rate is 0");
    start(&u), u.o.sampling = DP_SAMPLING_TRUNCATED, u.o.rate = 0.5, u.o.public_units = N,
               refused(&u, DP_EINVAL, "cap is 0");
    start(&u), u.o.sampling = DP_SAMPLING_TRUNCATED, u.o.rate = 0.5, u.o.cap = 3,
               refused(&u, DP_EINVAL, "public_units is 0");
    start(&u), u.o.sampling = DP_SAMPLING_TRUNCATED, u.o.rate = 0.5, u.o.cap = 3,
               u.o.public_units = N - 1, refused(&u, DP_EINVAL, "public_units is 7, and there are");
}

/* 1/49 in double is below 1/49 by 6e-19. */
static void a_share_is_accounted_rounded_up(void **state)
{
    (void)state;
    const size_t n[] = {3, 49, 500, 1000003};
    for (size_t i = 0; i < 4; i++) {
        dp_svi_opts o = {.sampling = DP_SAMPLING_FIXED, .rate = 1 / (double)n[i]};
        assert_true((long double)mechanism_of(&o, 1).rate * n[i] >= 1);
    }
    dp_svi_opts whole = {.sampling = DP_SAMPLING_FIXED, .rate = 1};
    assert_true(mechanism_of(&whole, 1).rate == 1);
    dp_svi_opts poisson = {.sampling = DP_SAMPLING_POISSON,
                           .rate = 0.1}; /* drawn at just that rate */
    assert_true(mechanism_of(&poisson, 1).rate == 0.1);
}

static void an_epoch_that_has_begun_is_accounted_for_as_whole(void **state)
{
    (void)state;
    const uint64_t steps[][2] = {{1, 7}, {6, 7}, {7, 7}, {8, 14}, {14, 14}, {699, 700}};
    dp_svi_opts o = {.sampling = DP_SAMPLING_ALLOCATION, .epoch = 7, .rate = 1. / 7, .sigma = 2};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        dp_mechanism m = mechanism_of(&o, steps[i][0]);
        assert_true(m.sampling == DP_SAMPLING_ALLOCATION && m.epoch == 7 && m.rate == 1. / 7);
        assert_int_equal(m.steps, steps[i][1]);
    }
}

/* One step of an epoch costs what all of them do, and the next epoch's first step as much again. */
static void epochs_are_paid_when_they_begin(void **state)
{
    (void)state;
    world u;
    start(&u);
    u.o.epsilon = 0, u.o.sigma = 4, u.o.steps = 6, u.o.epoch = 3;
    u.o.sampling = DP_SAMPLING_ALLOCATION;
    dp_error err = {0};
    dp_svi *svi;
    assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
    double spent[7];
    for (int i = 0; i <= 6; i++) {
        dp_privacy privacy;
        assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
        spent[i] = privacy.epsilon;
        assert_true(privacy.epoch == 3 && privacy.sampling == DP_SAMPLING_ALLOCATION);
        if (i < 6)
            assert_ok(dp_svi_step(svi, &err), err.text);
    }
    assert_true(spent[0] == 0 && spent[1] > 0);
    assert_true(spent[1] == spent[2] && spent[2] == spent[3]);
    assert_true(spent[4] > 1.2 * spent[3] && spent[4] == spent[5] && spent[5] == spent[6]);
    dp_svi_free(svi);
    u.o.sigma = 0, u.o.epsilon = 1;
    assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
    assert_true(svi->opts.sigma > 1 && svi->opts.sigma < 4);
    for (int i = 0; i < 6; i++)
        assert_ok(dp_svi_step(svi, &err), err.text);
    dp_privacy privacy;
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    assert_true(privacy.epsilon <= 1 && privacy.epsilon > 0.99);
    dp_svi_free(svi);
    dp_dataset_free(u.data);
    dp_model_free(u.m);
}

static void data_that_do_not_fit(void **state)
{
    (void)state;
    world u;
    dp_error err = {0};
    start(&u), u.y[5] = 0.7312, refused(&u, DP_EDATA, "not what the model needs");
    start(&u), u.x[2][1] = NAN, refused(&u, DP_EDATA, "not what the model needs");
    start(&u), u.group[4] = 3, refused(&u, DP_EDATA, "not what the model needs");
    start(&u), u.group[4] = 3, u.o = (dp_svi_opts){.mode = DP_NO_PRIVACY};
    refused(&u, DP_EDATA, "'g', record 4");
    start(&u), u.y[5] = 0.7312;
    assert_int_equal(dp_check_data(u.m, NULL, u.data, &err), DP_EDATA);
    assert_contains(err.text, "'y', record 5");
    assert_null(strstr(err.text, "7312")); /* a value is not quoted even to its owner */
    dp_dataset_free(u.data);
    u.data = dp_dataset_new(N);
    refused(&u, DP_ENAME, "no column");
}

static void models_that_do_not_hold_together(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    (void)dp_sample(m, "w", 2, dp_normal(0, 1));
    (void)dp_sample(m, "w", 2, dp_normal(0, 1));
    (void)rows;
    assert_int_equal(dp_model_status(m), DP_ENAME);
    assert_contains(dp_model_error(m), "t-options.c:");
    assert_contains(dp_model_error(m), "'w' was used at");
    (void)dp_sample(m, "v", 0, dp_normal(0, -1)); /* the first error stays */
    assert_contains(dp_model_error(m), "'w' was used at");
    dp_model_free(m);

    m = dp_model_new();
    (void)dp_add(dp_sample(m, "a", 2, dp_normal(0, 1)), dp_sample(m, "b", 3, dp_normal(0, 1)));
    assert_int_equal(dp_model_status(m), DP_ESHAPE);
    assert_contains(dp_model_error(m), "left 'a' is [2]");
    dp_model_free(m);

    m = dp_model_new();
    (void)dp_sample(m, "a", 1, dp_normal(0, -1));
    assert_int_equal(dp_model_status(m), DP_EDOMAIN);
    dp_model_free(m);

    m = dp_model_new();
    dp_expr x = dp_data(dp_unit_plate(m, "rows"), "x", 1);
    (void)dp_sample(m, "a", 1, dp_normal_v(x, dp_num(1)));
    assert_int_equal(dp_model_status(m), DP_EPRIVACY);
    (void)dp_unit_plate(m, "more");
    dp_model_free(m);
}

/* The prior's share in each record's gradient is 1/n: that n is public must be said. */
static void the_neighbours_are_named(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        world u;
        dp_error err = {0};
        dp_svi *svi;
        dp_privacy privacy;
        start(&u), u.o.form = form == 0 ? DP_FORM_LATENTS : DP_FORM_PARAMETERS;
        assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
        assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
        assert_contains(privacy.adjacency, "add or remove");
        assert_int_equal(strstr(privacy.adjacency, "number of records being public") != NULL, form);
        dp_svi_free(svi);
        dp_dataset_free(u.data);
        dp_model_free(u.m);
    }
}

/* Runs with what progress is printed in `text`, and returns the warning of the result. */
static const char *run_and_tell(world *u, char text[512])
{
    dp_error err = {0};
    dp_svi *svi;
    dp_privacy privacy;
    FILE *progress = tmpfile();
    assert_non_null(progress);
    assert_ok(dp_svi_new(u->m, NULL, u->data, &u->o, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, progress, &err), err.text);
    assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
    rewind(progress);
    text[fread(text, 1, 511, progress)] = 0;
    (void)fclose(progress);
    dp_svi_free(svi);
    dp_dataset_free(u->data);
    dp_model_free(u->m);
    return privacy.warning;
}

static void a_delta_of_one_record_or_more_is_warned_of(void **state)
{
    (void)state;
    char text[512];
    world u;
    start(&u), u.o.delta = 1.0 / N, u.o.seed = 0;
    assert_contains(run_and_tell(&u, text), "delta is not below 1 / (number of records)");
    assert_contains(text, "at delta 0.125");
    assert_contains(text, "\ntacit: warning: delta is not below");
    start(&u), u.o.delta = 0.9999 / N, u.o.seed = 0;
    assert_null(run_and_tell(&u, text));
    assert_null(strstr(text, "warning"));
    assert_null(strstr(text, "NOT PRIVATE"));
}

/* At sigma 0.06 the failures of the noise's sampler, 2^-200 a number, times e^epsilon come to
 * more than delta: from the start, whether or not its steps are done. */
static void a_run_that_cannot_keep_the_delta_asked_for_is_not_private(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        dp_error err = {0};
        dp_svi *svi;
        dp_privacy privacy;
        char text[512];
        world u;
        start(&u), u.o.epsilon = 0, u.o.sigma = k == 0 ? 0.06 : 6, u.o.delta = 1e-6, u.o.seed = 0;
        assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
        for (int t = 0; t < 3; t++) {
            assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
            assert_int_equal(privacy.is_private, k);
            assert_true(t == 0 || (privacy.delta == u.o.delta) == k);
            assert_true(k == 1 ? privacy.why_not == NULL
                               : strstr(privacy.why_not, "is not kept") != NULL);
            assert_ok(dp_svi_step(svi, &err), err.text);
        }
        dp_svi_free(svi);
        assert_null(run_and_tell(&u, text));
        assert_int_equal(strstr(text, "NOT PRIVATE: noise so small") == NULL, k);
    }
}

static void progress_says_when_a_run_is_not_private(void **state)
{
    (void)state;
    char text[512];
    world u;
    start(&u), assert_null(run_and_tell(&u, text));
    assert_contains(text, "NOT PRIVATE: seeded");
    assert_null(strstr(text, "spent"));
    start(&u), u.o = (dp_svi_opts){.mode = DP_NO_PRIVACY, .steps = 3};
    assert_null(run_and_tell(&u, text));
    assert_contains(text, "NOT PRIVATE: run without privacy");
}

static void a_latent_of_each_record_needs_a_guide(void **state)
{
    (void)state;
    world u;
    start(&u);
    dp_model_free(u.m);
    u.m = dp_model_new();
    dp_plate rows = dp_unit_plate(u.m, "rows");
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_bernoulli_logit(z));
    refused(&u, DP_EUNSUPPORTED, "has no guide");
}

static void a_seeded_run_repeats_itself_and_is_not_private(void **state)
{
    (void)state;
    double loc[2][2];
    for (int k = 0; k < 2; k++) {
        world u;
        dp_svi *svi;
        dp_privacy privacy;
        dp_error err = {0};
        start(&u);
        assert_ok(dp_svi_new(u.m, NULL, u.data, &u.o, &svi, &err), err.text);
        assert_ok(dp_svi_run(svi, NULL, &err), err.text);
        assert_ok(dp_svi_privacy(svi, &privacy, &err), err.text);
        assert_false(privacy.is_private);
        assert_true(privacy.epsilon <= 1 && privacy.epsilon > 0.99);
        assert_ok(dp_svi_get(svi, "w.loc", 2, loc[k], &err), err.text);
        assert_int_equal(dp_svi_step(svi, NULL), DP_ESTATE);
        dp_svi_free(svi);
        dp_dataset_free(u.data);
        dp_model_free(u.m);
    }
    assert_memory_equal(loc[0], loc[1], sizeof loc[0]);
    assert_true(loc[0][0] != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_out_of_range),
        cmocka_unit_test(a_name_in_a_ledger_needs_the_ledger),
        cmocka_unit_test(a_delta_that_is_too_small_is_answered_by_one_that_is_not),
        cmocka_unit_test(a_run_that_cannot_keep_the_delta_asked_for_is_not_private),
        cmocka_unit_test(the_fixed_size_sampler_is_accounted_for_as_such),
        cmocka_unit_test(only_samplers_that_are_drawn_are_taken),
        cmocka_unit_test(a_largest_batch_needs_the_most_units_there_can_be),
        cmocka_unit_test(a_share_is_accounted_rounded_up),
        cmocka_unit_test(an_epoch_that_has_begun_is_accounted_for_as_whole),
        cmocka_unit_test(epochs_are_paid_when_they_begin),
        cmocka_unit_test(data_that_do_not_fit),
        cmocka_unit_test(models_that_do_not_hold_together),
        cmocka_unit_test(the_neighbours_are_named),
        cmocka_unit_test(a_delta_of_one_record_or_more_is_warned_of),
        cmocka_unit_test(progress_says_when_a_run_is_not_private),
        cmocka_unit_test(a_latent_of_each_record_needs_a_guide),
        cmocka_unit_test(a_seeded_run_repeats_itself_and_is_not_private),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
