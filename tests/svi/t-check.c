/* Records that a distribution cannot give: refused before the run, by column and record, without
 * the value; and records on the edge of what it can give, which are taken. */
#include <math.h>
#include <string.h>

#include "tests/lib/check.h"
#include <tacit/bounds.h>
#include <tacit/simulate.h>
#include <tacit/svi.h>

enum { N = 9, BAD = 5 };

/* y[d] of each record ~ dist, which may use columns "a" (real, [d]) and "k" (whole numbers). */
typedef struct scene {
    dp_model *m;
    dp_plate rows;
    dp_expr w;                 /* a latent, for arguments that are computed */
    double y[2 * N], a[2 * N]; /* the first d * N of them */
    int32_t label[N], k[N];
    bool whole; /* y is label, a column of whole numbers */
    size_t d, a_size;
} scene;

static scene begin(size_t d, double good)
{
    scene s = {.m = dp_model_new(), .d = d, .a_size = d};
    s.rows = dp_unit_plate(s.m, "rows");
    s.w = dp_sample(s.m, "w", 1, dp_normal(0, 1));
    for (size_t i = 0; i < N * 2; i++) {
        s.y[i] = good;
        s.a[i] = 4;
    }
    return s;
}

static dp_status run(scene *s, dp_error *err)
{
    dp_svi *svi;
    dp_svi_opts opts = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    dp_dataset *data = dp_dataset_new(N);
    assert_ok(dp_model_status(s->m), dp_model_error(s->m));
    if (s->whole)
        dp_dataset_index(data, "y", s->label);
    else
        dp_dataset_real(data, "y", s->d, s->y);
    dp_dataset_real(data, "a", s->a_size, s->a);
    dp_dataset_index(data, "k", s->k);
    dp_status status = dp_svi_new(s->m, NULL, data, &opts, &svi, err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(s->m);
    return status;
}

static void taken(scene s)
{
    dp_error err = {0};
    assert_ok(run(&s, &err), err.text);
}

/* Refused with a message that has these words, and not one digit that is not of the record's number
 * or of words such as "0 or 1". */
static void refused(scene s, const char *column, const char *needs)
{
    dp_error err = {0};
    char place[64];
    (void)snprintf(place, sizeof place, "column '%s', record %d (from 0)", column, BAD);
    assert_int_equal(run(&s, &err), DP_EDATA);
    assert_contains(err.text, place);
    assert_contains(err.text, needs);
    assert_null(strpbrk(err.text, "236789"));
}

/* ---- supports ---- */

/* dist's second argument is w throughout, so that the model has a latent to fit. */
typedef struct family_case {
    dp_dist (*of)(dp_expr w);
    double good[3], bad[6];
    int n_good, n_bad;
    const char *needs;
} family_case;

static dp_dist normal(dp_expr w)
{
    return dp_normal_v(w, dp_num(1));
}
static dp_dist half_normal(dp_expr w)
{
    return dp_half_normal_v(dp_exp(w));
}
static dp_dist log_normal(dp_expr w)
{
    return dp_log_normal_v(w, dp_num(1));
}
static dp_dist student_t(dp_expr w)
{
    return dp_student_t_v(dp_num(4), w, dp_num(1));
}
static dp_dist cauchy(dp_expr w)
{
    return dp_cauchy_v(w, dp_num(1));
}
static dp_dist half_cauchy(dp_expr w)
{
    return dp_half_cauchy_v(dp_exp(w));
}
static dp_dist laplace(dp_expr w)
{
    return dp_laplace_v(w, dp_num(1));
}
static dp_dist exponential(dp_expr w)
{
    return dp_exponential_v(dp_exp(w));
}
static dp_dist gamma_of(dp_expr w)
{
    return dp_gamma_v(dp_exp(w), dp_num(1));
}
static dp_dist inverse_gamma(dp_expr w)
{
    return dp_inverse_gamma_v(dp_exp(w), dp_num(1));
}
static dp_dist beta(dp_expr w)
{
    return dp_beta_v(dp_exp(w), dp_num(1));
}
static dp_dist binomial_of_four(dp_expr w)
{
    return dp_binomial_logit(dp_num(4), w);
}
static dp_dist binomial_of_computed(dp_expr w)
{
    return dp_binomial_logit(dp_exp(w), w);
}
static dp_dist categorical(dp_expr w)
{
    return dp_categorical_logit(dp_concat(dp_concat(w, dp_num(0)), dp_num(1)));
}

static dp_dist level(dp_expr w)
{
    return dp_ordered_probit(w, dp_concat(dp_scale(0, w), dp_num(1)));
}
static dp_dist negative_binomial(dp_expr w)
{
    return dp_negative_binomial(dp_exp(w), dp_num(3));
}

static dp_dist beta_binomial(dp_expr w)
{
    return dp_beta_binomial(dp_num(4), dp_logistic(w), dp_num(3));
}

#define POSITIVE(f)                                                                                \
    {                                                                                              \
        f, {2.75, 1e-300, 1e300}, {0, -7.25, NAN, INFINITY}, 3, 4, "a number above 0"              \
    }
#define REAL(f)                                                                                    \
    {                                                                                              \
        f, {-2.75, 0, 1e300}, {NAN, INFINITY, -INFINITY}, 3, 3, "a finite number"                  \
    }
static const family_case cases[] = {
    REAL(normal),
    REAL(student_t),
    REAL(cauchy),
    REAL(laplace),
    POSITIVE(half_normal),
    POSITIVE(log_normal),
    POSITIVE(half_cauchy),
    POSITIVE(exponential),
    POSITIVE(gamma_of),
    POSITIVE(inverse_gamma),
    {beta, {0.25, 1e-300, 1 - 1e-16}, {0, 1, -0.75, 27.5, NAN}, 3, 5, "strictly between 0 and 1"},
    {dp_bernoulli_logit, {0, 1}, {0.75, 2, -1, NAN, 1 + 1e-15}, 2, 5, "0 or 1"},
    {dp_chance_logit,
     {0, 0.4173, 1},
     {-1e-9, 1 + 1e-15, 5, NAN, INFINITY, -1},
     3,
     6,
     "a number from 0 to 1"},
    {dp_poisson_log,
     {0, 7, 1e15},
     {-1, 2.5, NAN, INFINITY, -0.5},
     3,
     5,
     "a whole number from 0 up"},
    {negative_binomial, {0, 7, 1e9}, {-1, 2.5, NAN, -0.5}, 3, 4, "a whole number from 0 up"},
    {dp_geometric_logit, {0, 7, 1e15}, {-1, 2.5, INFINITY}, 3, 3, "a whole number from 0 up"},
    {beta_binomial, {0, 4, 3}, {-1, 2.5, 5, NAN, 9e9}, 3, 5, "to the number of trials"},
    {binomial_of_four, {0, 4, 3}, {-1, 2.5, 5, NAN, 9e9}, 3, 5, "to the number of trials"},
    {binomial_of_computed, {0, 4, 99}, {-1, 2.5, NAN, INFINITY}, 3, 4, "to the number of trials"},
};

static void values_outside_the_support_are_refused(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const family_case *f = &cases[c];
        for (int k = 0; k < f->n_good; k++) {
            scene s = begin(1, f->good[k]);
            dp_observe(s.rows, "y", f->of(s.w));
            taken(s);
        }
        for (int k = 0; k < f->n_bad; k++) {
            scene s = begin(1, f->good[0]);
            dp_observe(s.rows, "y", f->of(s.w));
            s.y[BAD] = f->bad[k];
            refused(s, "y", f->needs);
        }
    }
}

static void an_interval_holds_its_bounds(void **state)
{
    (void)state;
    const double inside[] = {-3.5, 2.75, 6.25}, outside[] = {-3.5000001, 6.2500001, NAN, INFINITY};
    for (size_t k = 0; k < 3; k++) {
        scene s = begin(1, inside[k]);
        dp_observe(s.rows, "y", dp_uniform(-3.5, 6.25));
        dp_observe(s.rows, "a", dp_normal_v(s.w, dp_num(1)));
        taken(s);
    }
    for (size_t k = 0; k < 4; k++) {
        scene s = begin(1, 2.75);
        dp_observe(s.rows, "y", dp_uniform(-3.5, 6.25));
        dp_observe(s.rows, "a", dp_normal_v(s.w, dp_num(1)));
        s.y[BAD] = outside[k];
        refused(s, "y", "between the given bounds");
    }
}

static void categories_are_below_their_number(void **state)
{
    (void)state;
    const int32_t outside[] = {3, -1, INT32_MAX, INT32_MIN};
    for (int ordered = 0; ordered < 2; ordered++) {
        for (int32_t label = 0; label < 3; label++) {
            scene s = begin(1, 0);
            dp_observe(s.rows, "y", ordered ? level(s.w) : categorical(s.w));
            s.whole = true;
            s.label[BAD] = label;
            taken(s);
        }
        for (size_t k = 0; k < 4; k++) {
            scene s = begin(1, 0);
            dp_observe(s.rows, "y", ordered ? level(s.w) : categorical(s.w));
            s.whole = true;
            s.label[BAD] = outside[k];
            refused(s, "y", ordered ? "a level number" : "a category number");
        }
    }
}

static void whole_numbers_are_checked_like_real_ones(void **state)
{
    (void)state;
    scene s = begin(1, 0);
    dp_observe(s.rows, "y", dp_bernoulli_logit(s.w));
    s.whole = true;
    s.label[2] = 1;
    taken(s);
    s = begin(1, 0);
    dp_observe(s.rows, "y", dp_bernoulli_logit(s.w));
    s.whole = true;
    s.label[BAD] = 7;
    refused(s, "y", "0 or 1");
}

/* Both numbers of a record are looked at, each beside its own argument. */
static void every_number_of_a_record_is_checked(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        scene s = begin(2, 1);
        dp_observe(s.rows, "y", dp_poisson_log(dp_concat(s.w, s.w)));
        s.y[2 * BAD + e] = -6;
        refused(s, "y", "a whole number");
    }
}

/* ---- arguments ---- */

static void successes_are_at_most_the_trials_of_their_record(void **state)
{
    (void)state;
    for (size_t e = 0; e < 2; e++) {
        scene s = begin(2, 4);
        dp_observe(s.rows, "y", dp_binomial_logit(dp_data(s.rows, "a", 2), s.w));
        s.a[2 * BAD + e] = 3;
        refused(s, "y", "to the number of trials");
        s = begin(2, 3);
        dp_observe(s.rows, "y", dp_binomial_logit(dp_data(s.rows, "a", 2), s.w));
        s.a[2 * BAD + 1 - e] = 3;
        taken(s);
    }
    for (int32_t trials = 3; trials <= 4; trials++) {
        scene s = begin(1, 4); /* trials from a column of whole numbers */
        dp_observe(s.rows, "y", dp_binomial_logit(dp_data(s.rows, "k", 1), s.w));
        for (size_t i = 0; i < N; i++)
            s.k[i] = 4;
        s.k[BAD] = trials;
        if (trials == 3)
            refused(s, "y", "to the number of trials");
        else
            taken(s);
    }
    for (size_t e = 0; e < 2; e++) { /* one number of trials for both numbers of the record */
        scene s = begin(2, 4);
        dp_observe(s.rows, "y", dp_binomial_logit(dp_data(s.rows, "a", 1), dp_concat(s.w, s.w)));
        s.a_size = 1;
        s.a[BAD + 1] = 9; /* the next record's */
        s.y[2 * BAD + e] = 5;
        refused(s, "y", "to the number of trials");
    }
    for (size_t e = 0; e < 2; e++) { /* constants, a number for each place */
        scene s = begin(2, 3);
        double trials[2] = {3, 5};
        dp_observe(s.rows, "y", dp_binomial_logit(dp_constant(s.m, 2, trials), s.w));
        s.y[1] = 5;
        s.y[2 * BAD + e] = trials[e] + 1;
        refused(s, "y", "to the number of trials");
    }
}

static void columns_that_are_arguments_stay_in_their_domain(void **state)
{
    (void)state;
    const double bad_trials[] = {-1, 2.5}, bad_scales[] = {0, -2.5};
    for (size_t k = 0; k < 2; k++)
        for (size_t e = 0; e < 2; e++) {
            scene s = begin(2, 0);
            dp_observe(s.rows, "y", dp_binomial_logit(dp_data(s.rows, "a", 2), s.w));
            s.a[2 * BAD + e] = bad_trials[k];
            refused(s, "a", "a whole number from 0 up, as the trials of binomial_logit");
            s = begin(2, 0);
            dp_observe(s.rows, "y", dp_normal_v(s.w, dp_data(s.rows, "a", 2)));
            s.a[2 * BAD + e] = bad_scales[k];
            refused(s, "a", "a number above 0, as the scale of normal");
        }
    scene s = begin(1, 0);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_data(s.rows, "a", 1)));
    s.a[BAD] = NAN;
    refused(s, "a", "missing or not finite");
    s = begin(1, 0);
    dp_observe(s.rows, "y", dp_normal_v(dp_mul(s.w, dp_num(1)), dp_data(s.rows, "a", 1)));
    s.a[BAD] = 1e-300; /* small is not 0 */
    taken(s);
}

/* ---- whom it is told ---- */

/* A private run says that there is such a record; where it is, its owner hears from
 * dp_check_data. */
static void a_private_run_names_neither_column_nor_record(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        dp_error err = {0}, owner = {0};
        dp_svi *svi;
        const dp_svi_opts opts = {.epsilon = 1, .delta = 1e-6, .clip = 1, .steps = 1};
        scene s = begin(1, 1);
        dp_dataset *data = dp_dataset_new(N);
        dp_observe(s.rows, "y", dp_normal_v(s.w, dp_data(s.rows, "a", 1)));
        dp_dataset_real(data, "y", 1, s.y);
        dp_dataset_real(data, "a", 1, s.a);
        assert_ok(dp_check_data(s.m, NULL, data, &owner), owner.text);
        (k == 0 ? s.y : s.a)[BAD] = k == 2 ? -1 : NAN;
        assert_int_equal(dp_check_data(s.m, NULL, data, &owner), DP_EDATA);
        assert_contains(owner.text, k == 0 ? "column 'y'" : "column 'a'");
        assert_contains(owner.text, "record 5 (from 0)");
        assert_int_equal(dp_svi_new(s.m, NULL, data, &opts, &svi, &err), DP_EDATA);
        assert_null(svi);
        assert_contains(err.text, "dp_check_data tells their owner");
        assert_null(strpbrk(err.text, "0123456789'"));
        dp_dataset_free(data);
        dp_model_free(s.m);
    }
}

/* ---- columns ---- */

static void columns_that_are_not_there_are_named(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s = begin(1, 0);
    dp_observe(s.rows, "absent", dp_normal_v(s.w, dp_num(1)));
    assert_int_equal(run(&s, &err), DP_ENAME);
    assert_contains(err.text, "no column 'absent', which the model observes");

    err = (dp_error){0};
    s = begin(1, 0);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_data(s.rows, "absent", 1)));
    assert_int_equal(run(&s, &err), DP_ENAME);
    assert_contains(err.text, "no column 'absent', which the model or its guide reads");
}

static void columns_of_another_size_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s = begin(2, 1);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_num(1)));
    assert_int_equal(run(&s, &err), DP_ESHAPE);
    assert_contains(err.text, "'y'");

    err = (dp_error){0};
    s = begin(1, 1);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_data(s.rows, "a", 2)));
    s.a[N] = -1; /* the number after the column's last is not read */
    assert_int_equal(run(&s, &err), DP_ESHAPE);

    err = (dp_error){0};
    s = begin(1, 1); /* categories as real numbers */
    dp_observe(s.rows, "y", categorical(s.w));
    assert_int_equal(run(&s, &err), DP_ESHAPE);
    assert_contains(err.text, "use dp_dataset_index");
}

/* Whatever takes a data set says that there is nothing in it. */
/* What a model names is part of it; a fit alone may leave columns out (t-evaluate). */
static void columns_that_are_named_and_not_read_are_checked_too(void **state)
{
    (void)state;
    dp_error err = {0};
    scene s = begin(1, 0.385);
    (void)dp_data(s.rows, "a", 1);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_num(1)));
    s.a[BAD] = NAN;
    assert_fails(run(&s, &err), DP_EDATA, &err, "column 'a', record 5");
}

static void no_records_are_told(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    scene s = begin(1, 0);
    dp_observe(s.rows, "y", dp_normal_v(s.w, dp_num(1)));
    dp_dataset *data = dp_dataset_new(0);
    dp_dataset_real(data, "y", 1, s.y);
    const dp_svi_opts private = {.epsilon = 1, .delta = 1e-6, .clip = 1, .steps = 2};
    const dp_svi_opts plain = {.mode = DP_NO_PRIVACY, .steps = 2};
    assert_int_equal(dp_svi_new(s.m, NULL, data, &private, &svi, &err), DP_EDATA);
    assert_contains(err.text, "no records");
    assert_int_equal(dp_svi_new(s.m, NULL, data, &plain, &svi, &err), DP_EDATA);
    assert_int_equal(dp_check_data(s.m, NULL, data, &err), DP_EDATA);
    dp_simulator *sim;
    assert_int_equal(dp_simulator_new(s.m, data, &sim, &err), DP_EDATA);
    const dp_quantile quantile = {.column = "y", .share = 0.5, .low = 0, .high = 1};
    dp_quantile_answer answer;
    dp_privacy privacy;
    const dp_quantile_opts opts = {.asked = &quantile, .n = 1, .epsilon = 1, .delta = 1e-6};
    assert_int_equal(dp_private_quantiles(data, &opts, &answer, &privacy, &err), DP_EDATA);
    dp_dataset_free(data);
    dp_model_free(s.m);
}

static void constants_that_are_arguments_stay_in_their_domain(void **state)
{
    (void)state;
    const double scales[3] = {1, 2, -0.5}, trials[2] = {3, 2.5};
    dp_model *m = dp_model_new();
    (void)dp_sample(m, "w", 3, dp_normal_v(dp_num(0), dp_constant(m, 3, scales)));
    assert_int_equal(dp_model_status(m), DP_EDOMAIN);
    assert_contains(dp_model_error(m), "scale of normal is -0.5; it must be a number above 0");
    dp_model_free(m);
    m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y",
               dp_binomial_logit(dp_constant(m, 2, trials), dp_num(0)));
    assert_int_equal(dp_model_status(m), DP_EDOMAIN);
    assert_contains(dp_model_error(m), "trials of binomial_logit is 2.5");
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_outside_the_support_are_refused),
        cmocka_unit_test(an_interval_holds_its_bounds),
        cmocka_unit_test(categories_are_below_their_number),
        cmocka_unit_test(whole_numbers_are_checked_like_real_ones),
        cmocka_unit_test(every_number_of_a_record_is_checked),
        cmocka_unit_test(successes_are_at_most_the_trials_of_their_record),
        cmocka_unit_test(columns_that_are_arguments_stay_in_their_domain),
        cmocka_unit_test(a_private_run_names_neither_column_nor_record),
        cmocka_unit_test(columns_that_are_not_there_are_named),
        cmocka_unit_test(columns_of_another_size_are_refused),
        cmocka_unit_test(columns_that_are_named_and_not_read_are_checked_too),
        cmocka_unit_test(no_records_are_told),
        cmocka_unit_test(constants_that_are_arguments_stay_in_their_domain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
