/* Optimisers against steps computed to forty digits from the papers' formulas (mpmath): gradient
 * ascent, heavy-ball momentum (Polyak 1964), Adam (Kingma and Ba 2015, algorithm 1), AdaGrad
 * (Duchi, Hazan and Singer 2011, with diagonal matrices). */
#include "svi/optimizer.h"

#include <math.h>
#include <string.h>

#include "svi/options.h"
#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { N = 2, STEPS = 5 };

static const double start_at[N] = {0.5, -1.5};
static const double gradients[STEPS][N] = {
    {2.385, -0.117}, {-1.25, 0.0625}, {0.75, -3.5}, {1.0 / 1024, 7.125}, {-4.625, 0.53125}};

/* Iterates with step_size 1/4, momentum (Adam's beta1) 3/4, beta2 31/32. */
typedef struct path {
    dp_optimizer kind;
    dp_schedule schedule;
    double at[STEPS][N];
} path;

static const path paths[] = {
    {DP_SGD,
     DP_CONSTANT,
     {{1.09625, -1.52925},
      {0.78375, -1.513625},
      {0.97125, -2.388625},
      {0.971494140625, -0.607375},
      {-0.184755859375, -0.4745625}}},
    {DP_SGD,
     DP_LINEAR_DECAY,
     {{1.09625, -1.52925},
      {0.84625, -1.51675},
      {0.95875, -2.04175},
      {0.95884765625, -1.32925},
      {0.72759765625, -1.3026875}}},
    {DP_SGD,
     DP_COSINE_DECAY,
     {{1.09625, -1.52925},
      {0.81359109462891441, -1.5151170547314457},
      {0.93631143785156573, -2.0878119897704852},
      {0.93639578636299457, -1.4724052503856728},
      {0.82598373623601105, -1.4597227851683841}}},
    {DP_MOMENTUM,
     DP_CONSTANT,
     {{1.09625, -1.52925},
      {1.2309375, -1.5355625},
      {1.519453125, -2.415296875},
      {1.736083984375, -1.29384765625},
      {0.742307128906250, -0.319948242187500}}},
    {DP_MOMENTUM,
     DP_COSINE_DECAY,
     {{1.09625, -1.52925},
      {1.2180759882149378, -1.5349597098884959},
      {1.4069119163487925, -2.1107533335939074},
      {1.4817560375098303, -1.7233021576800363},
      {1.3868587921208126, -1.6303030390429694}}},
    {DP_ADAGRAD,
     DP_CONSTANT,
     {{0.74999999895178193, -1.7499999786324805},
      {0.63394621556624675, -1.6322062219988747},
      {0.70102514226125878, -1.8820268711019725},
      {0.7011124846083957, -1.6576696101546766},
      {0.48715293092073114, -1.6409785426655104}}},
    {DP_ADAGRAD,
     DP_LINEAR_DECAY,
     {{0.74999999895178193, -1.7499999786324805},
      {0.65715697224335379, -1.6557649733255957},
      {0.69740432826036103, -1.8056573627874544},
      {0.69743926519921584, -1.7159144584085362},
      {0.65464735446168287, -1.7125762449107029}}},
    {DP_ADAM,
     DP_CONSTANT,
     {{0.74999999895178198, -1.7499999786324805},
      {0.79060538845545484, -1.7886282655682983},
      {0.86873000920719798, -1.9738306642368189},
      {0.9264787887264915, -1.8726050799204463},
      {0.79388437214601241, -1.7840020690947933}}},
    {DP_ADAM,
     DP_LINEAR_DECAY,
     {{0.74999999895178198, -1.7499999786324805},
      {0.78248431055472027, -1.7809026081811348},
      {0.82935908300576615, -1.8920240473822471},
      {0.85245859481348356, -1.8515338136556981},
      {0.82593971149738774, -1.8338132114905674}}},
};
enum { N_PATHS = sizeof paths / sizeof paths[0] };

static const dp_svi_opts resolved = {
    .steps = STEPS, .step_size = 0.25, .momentum = 0.75, .beta2 = 0.96875};

static void take_step(dpi_optimizer *o, const double *gradient)
{
    dpi_optimizer_begin(o);
    (void)dpi_optimizer_move(o, 0, o->n, gradient);
    dpi_optimizer_end(o);
}

static void start(dpi_optimizer *o, dpi_arena *arena, const dp_svi_opts *opts)
{
    dp_error err = {0};
    assert_ok(dpi_optimizer_init(o, arena, N, opts, &err), err.text);
    for (int i = 0; i < N; i++)
        o->theta[i] = start_at[i];
}

static void each_step_is_that_of_the_formula(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2 * N_PATHS; c++) {
        const size_t p = c / 2;
        const bool single = c % 2 == 1; /* what is remembered is then 2^-24 of itself off a step */
        dpi_optimizer o;
        dpi_arena arena = {0};
        dp_svi_opts opts = resolved;
        opts.optimizer = paths[p].kind;
        opts.schedule = paths[p].schedule;
        opts.precision = single ? DP_SINGLE : DP_DOUBLE;
        start(&o, &arena, &opts);
        for (int t = 0; t < STEPS; t++) {
            take_step(&o, gradients[t]);
            assert_int_equal(o.done, t + 1);
            for (int i = 0; i < N; i++) { /* without averaging the result is the last iterate */
                assert_close(o.theta[i], paths[p].at[t][i], single ? 4e-7 : 4e-15, 0);
                assert_true(dpi_optimizer_result(&o)[i] == o.theta[i]);
            }
        }
        dpi_arena_free(&arena);
    }
}

/* With both corrections a constant gradient moves by the step size from the first step on, whatever
 * its size; the 1e-8 in the denominator takes 1e-8 / |g| of it. */
static void adam_corrects_both_moments(void **state)
{
    (void)state;
    const double g[N] = {3e-5, -7.1e6};
    dp_svi_opts opts = {
        .steps = 300, .step_size = 0.01, .schedule = DP_CONSTANT, .momentum = 0.9, .beta2 = 0.999};
    dpi_optimizer o;
    dpi_arena arena = {0};
    start(&o, &arena, &opts);
    for (int t = 1; t <= 300; t++) {
        take_step(&o, g);
        assert_close(o.theta[0], start_at[0] + 0.01 * t / (1 + 1e-8 / 3e-5), 1e-12, 0);
        assert_close(o.theta[1], start_at[1] - 0.01 * t, 1e-12, 0);
    }
    dpi_arena_free(&arena);
}

/* Where they cannot be remembered a step says so, for Adam would stand still else. */
static void squares_that_overflow_are_told(void **state)
{
    (void)state;
    const dp_optimizer kinds[] = {DP_ADAM, DP_ADAGRAD};
    for (int c = 0; c < 8; c++) {
        const bool single = c % 2 == 1, overflows = c / 4 == 1;
        const double g[N] = {1, overflows ? single ? 1e22 : 1e160 : single ? 1e16 : 1e150};
        dp_svi_opts opts = resolved;
        opts.optimizer = kinds[c / 2 % 2];
        opts.precision = single ? DP_SINGLE : DP_DOUBLE;
        dpi_optimizer o;
        dpi_arena arena = {0};
        start(&o, &arena, &opts);
        dpi_optimizer_begin(&o);
        assert_true(dpi_optimizer_move(&o, 0, N, g) != overflows);
        assert_true(isnan(o.theta[1]) == overflows && o.theta[0] > start_at[0]);
        dpi_arena_free(&arena);
    }
}

static void sgd_has_no_memory(void **state)
{
    (void)state;
    const double none[N] = {0};
    dp_svi_opts opts = resolved;
    opts.optimizer = DP_SGD;
    dpi_optimizer o;
    dpi_arena arena = {0};
    start(&o, &arena, &opts);
    take_step(&o, gradients[0]);
    double after = o.theta[0];
    take_step(&o, none);
    assert_true(o.theta[0] == after);
    dpi_arena_free(&arena);
}

/* Mean of the iterates from .. STEPS - 1 of a path. */
static double mean_from(const path *p, int from, int to, int i)
{
    double sum = 0;
    for (int t = from; t < to; t++)
        sum += p->at[t][i];
    return sum / (to - from);
}

static void the_last_share_of_the_iterates_is_averaged(void **state)
{
    (void)state;
    const struct {
        double share;
        int from;
    } cases[] = {{1, 0}, {0.8, 1}, {0.4, 3}, {0.2, 4}, {0.1, 5}, {0, 5}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (size_t p = 0; p < N_PATHS; p++) {
            dpi_optimizer o;
            dpi_arena arena = {0};
            dp_svi_opts opts = resolved;
            opts.optimizer = paths[p].kind;
            opts.schedule = paths[p].schedule;
            opts.average = cases[c].share;
            start(&o, &arena, &opts);
            for (int t = 1; t <= STEPS; t++) {
                take_step(&o, gradients[t - 1]);
                for (int i = 0; i < N; i++) {
                    double last = paths[p].at[t - 1][i];
                    double expected =
                        t <= cases[c].from ? last : mean_from(&paths[p], cases[c].from, t, i);
                    assert_close(dpi_optimizer_result(&o)[i], expected, 1e-14, 0);
                    assert_close(o.theta[i], last, 4e-15, 0); /* the path itself is not averaged */
                }
            }
            dpi_arena_free(&arena);
        }
}

/* 0.29 * 100 is 28.999999999999996 in double. */
static void the_share_is_a_whole_number_of_steps(void **state)
{
    (void)state;
    for (int percent = 0; percent <= 100; percent++) {
        dpi_optimizer o;
        dpi_arena arena = {0};
        dp_svi_opts opts = resolved;
        opts.steps = 100;
        opts.average = percent / 100.0;
        start(&o, &arena, &opts);
        assert_int_equal(o.steps - o.average_from, percent);
        dpi_arena_free(&arena);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    enum { MANY = 5000 }; /* 40 kB, so that each of the four blocks has an allocation of its own */
    size_t before = faulty_live();
    for (size_t k = 1; k <= 5; k++) {
        dpi_optimizer o;
        dpi_arena arena = {0};
        dp_error err = {0};
        faulty_fail(k);
        dp_status status = dpi_optimizer_init(&o, &arena, MANY, &resolved, &err);
        faulty_fail(0);
        assert_int_equal(status, k <= 4 ? DP_ENOMEM : DP_OK);
        assert_int_equal(err.status, status);
        for (size_t i = 0; k == 5 && i < MANY; i++)
            assert_true(o.theta[i] == 0 && o.state[0][i] == 0 && o.state[1][i] == 0 &&
                        o.mean[i] == 0);
        dpi_arena_free(&arena);
        assert_int_equal(faulty_live(), before);
    }
}

static void nothing_to_fit_is_no_error(void **state)
{
    (void)state;
    dpi_optimizer o;
    dpi_arena arena = {0};
    assert_int_equal(dpi_optimizer_init(&o, &arena, 0, &resolved, NULL), DP_OK);
    take_step(&o, gradients[0]);
    assert_int_equal(o.done, 1);
    dpi_arena_free(&arena);
}

/* What a checkpoint saves is what the kind moves: names that tell vectors apart, each of them with
 * room, and none that its steps leave alone. */
static void what_a_kind_remembers_has_names(void **state)
{
    (void)state;
    const dp_optimizer kinds[] = {DP_ADAM, DP_MOMENTUM, DP_SGD, DP_ADAGRAD};
    const size_t expected[] = {4, 3, 2, 3};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        dpi_optimizer o;
        dpi_arena arena = {0};
        dpi_state list[DPI_OPTIMIZER_VECTORS];
        dp_svi_opts opts = resolved;
        opts.optimizer = kinds[k], opts.average = 1;
        start(&o, &arena, &opts);
        assert_int_equal(dpi_rule_of(kinds[k])->optimizer, kinds[k]);
        assert_int_equal(dpi_optimizer_vectors(&o, list), expected[k]);
        assert_ptr_equal(list[0].at, o.theta);
        assert_ptr_equal(list[1].at, o.mean);
        take_step(&o, gradients[0]);
        for (size_t i = 0; i < expected[k]; i++) {
            assert_true(strlen(list[i].name) > 0 && strlen(list[i].name) < 32);
            assert_true(list[i].at[0] != 0 && list[i].at[1] != 0);
            for (size_t j = 0; j < i; j++)
                assert_true(strcmp(list[i].name, list[j].name) != 0 && list[i].at != list[j].at);
        }
        dpi_arena_free(&arena);
    }
    assert_null(dpi_rule_of((dp_optimizer)99));
}

/* ---- options ---- */

static dp_svi_opts with_defaults(dp_svi_opts opts)
{
    dp_error err = {0};
    double epsilon;
    opts.mode = DP_NO_PRIVACY;
    assert_ok(dpi_options_resolve(&opts, 10, &epsilon, &err), err.text);
    return opts;
}

static void what_is_left_out_has_a_default(void **state)
{
    (void)state;
    dp_svi_opts o = with_defaults((dp_svi_opts){0});
    assert_int_equal(o.steps, 1000);
    assert_int_equal(o.optimizer, DP_ADAM);
    assert_int_equal(o.schedule, DP_LINEAR_DECAY);
    assert_close(o.step_size, 1 / sqrt(1000), 1e-15, 0);
    assert_true(o.momentum == 0.9 && o.beta2 == 0.999 && o.average == 0 && o.init_scale == 0.1);
    o = with_defaults((dp_svi_opts){.steps = 25});
    assert_close(o.step_size, 0.2, 1e-15, 0);
    o = with_defaults(resolved); /* what is given is kept */
    assert_true(o.step_size == 0.25 && o.momentum == 0.75 && o.beta2 == 0.96875 && o.steps == 5);
}

static void options_outside_their_domain_are_refused(void **state)
{
    (void)state;
    const struct {
        dp_svi_opts o;
        dp_status status;
        const char *says;
    } cases[] = {
        {{.optimizer = DP_SGD}, DP_EINVAL, "step_size has no default"},
        {{.optimizer = DP_MOMENTUM}, DP_EINVAL, "or use DP_ADAM"},
        {{.step_size = -0.5}, DP_EDOMAIN, "step_size is -0.5"},
        {{.step_size = INFINITY}, DP_EDOMAIN, "step_size"},
        {{.step_size = NAN}, DP_EDOMAIN, "step_size"},
        {{.momentum = 1}, DP_EDOMAIN, "momentum is 1 "},
        {{.momentum = -0.5}, DP_EDOMAIN, "momentum is -0.5"},
        {{.momentum = NAN}, DP_EDOMAIN, "momentum"},
        {{.beta2 = 1}, DP_EDOMAIN, "beta2 1;"},
        {{.beta2 = -0.5}, DP_EDOMAIN, "beta2 -0.5"},
        {{.beta2 = NAN}, DP_EDOMAIN, "beta2"},
        {{.average = -0.5}, DP_EDOMAIN, "average is -0.5"},
        {{.average = 1.5}, DP_EDOMAIN, "average is 1.5"},
        {{.average = NAN}, DP_EDOMAIN, "average"},
        {{.init_scale = -1}, DP_EDOMAIN, "init_scale is -1"},
        {{.init_scale = INFINITY}, DP_EDOMAIN, "init_scale"},
        {{.init_scale = NAN}, DP_EDOMAIN, "init_scale"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        dp_error err = {0};
        double epsilon;
        dp_svi_opts o = cases[c].o;
        o.mode = DP_NO_PRIVACY;
        assert_int_equal(dpi_options_resolve(&o, 10, &epsilon, &err), cases[c].status);
        assert_contains(err.text, cases[c].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_kind_remembers_has_names),
        cmocka_unit_test(each_step_is_that_of_the_formula),
        cmocka_unit_test(adam_corrects_both_moments),
        cmocka_unit_test(squares_that_overflow_are_told),
        cmocka_unit_test(sgd_has_no_memory),
        cmocka_unit_test(the_last_share_of_the_iterates_is_averaged),
        cmocka_unit_test(the_share_is_a_whole_number_of_steps),
        cmocka_unit_test(every_failed_allocation_is_reported),
        cmocka_unit_test(nothing_to_fit_is_no_error),
        cmocka_unit_test(what_is_left_out_has_a_default),
        cmocka_unit_test(options_outside_their_domain_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
