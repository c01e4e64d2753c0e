#include "tests/infer/readers.h"

#include <math.h>
#include <string.h>

#include <tacit/forms.h>
#include <tacit/model.h>

#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static dp_expr predictor(dp_model *m, dp_plate rows)
{
    return dp_dot(dp_data(rows, "x", READER_X), dp_sample(m, "w", READER_X, dp_normal(0, 2)));
}

/* A latent of a plate's members, size numbers each, as the record's member has it. */
static dp_expr member(dp_model *m, dp_plate rows, const char *name, size_t members, size_t size)
{
    const char *latent = name[0] == 'g' ? "of_g" : "of_h";
    dp_plate groups = dp_plate_new(m, name[0] == 'g' ? "groups" : "halls", members);
    dp_expr scale = dp_sample(m, name[0] == 'g' ? "tau" : "rho", 1, dp_half_normal(1));
    dp_expr a = dp_sample_in(groups, latent, size, dp_normal_v(dp_num(0), scale));
    return dp_pick(a, dp_index(rows, name, groups));
}

static dp_model *normal_unknown_sd(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_observe(rows, "real", dp_normal_v(predictor(m, rows), sd));
    return m;
}

static dp_model *normal_known_sd(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "real", dp_normal_v(predictor(m, rows), dp_num(0.5)));
    return m;
}

static dp_model *student(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr df = dp_sample(m, "df", 1, dp_gamma(2, 0.1));
    dp_expr sd = dp_sample(m, "sd", 1, dp_half_normal(1));
    dp_observe(rows, "real", dp_student_t_v(df, predictor(m, rows), sd));
    return m;
}

static dp_model *gamma_by_group(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr shape = dp_sample(m, "shape", 1, dp_log_normal(0, 1));
    dp_expr rate = dp_exp(member(m, rows, "g", READER_G, 1));
    dp_observe(rows, "positive", dp_gamma_v(shape, rate));
    return m;
}

static dp_model *bernoulli(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_observe(rows, "binary", dp_bernoulli_logit(predictor(m, rows)));
    return m;
}

static dp_model *bernoulli_by_group(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr eta = dp_add(predictor(m, rows), member(m, rows, "g", READER_G, 1));
    dp_observe(rows, "binary", dp_bernoulli_logit(eta));
    return m;
}

/* Members are scaled by a latent that records read then. */
static dp_model *bernoulli_not_centred(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", READER_G);
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr mean = dp_sample(m, "mean", 1, dp_normal(0, 2));
    dp_expr z = dp_sample_in(groups, "z", 1, dp_normal(0, 1));
    dp_expr a = dp_add(mean, dp_mul(tau, z));
    dp_observe(rows, "binary", dp_bernoulli_logit(dp_pick(a, dp_index(rows, "g", groups))));
    return m;
}

static dp_model *poisson_two_plates(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr groups = dp_add(member(m, rows, "g", READER_G, 1), member(m, rows, "h", READER_H, 1));
    dp_observe(rows, "count", dp_poisson_log(dp_add(predictor(m, rows), groups)));
    return m;
}

static dp_model *poisson_zero_inflated(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr zeros = dp_sample(m, "zeros", 1, dp_normal(0, 1));
    dp_observe(rows, "count", dp_zero_inflated(dp_poisson_log(predictor(m, rows)), zeros));
    return m;
}

static dp_model *poisson_hurdle_by_group(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr zeros = member(m, rows, "g", READER_G, 1);
    dp_observe(rows, "count", dp_hurdle(dp_poisson_log(predictor(m, rows)), zeros));
    return m;
}

/* Slopes of each member, and a spread of each. */
static dp_model *normal_slopes_by_group(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr slopes = member(m, rows, "g", READER_G, READER_X);
    dp_expr spread = dp_exp(member(m, rows, "h", READER_H, 1));
    dp_observe(rows, "real", dp_normal_v(dp_dot(dp_data(rows, "x", READER_X), slopes), spread));
    return m;
}

static dp_model *categorical_by_group(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr logits = dp_sample(m, "logits", READER_CLASSES, dp_normal(0, 2));
    dp_observe(
        rows, "class",
        dp_categorical_logit(dp_add(logits, member(m, rows, "g", READER_G, READER_CLASSES))));
    return m;
}

/* Logits that are all the same number: a record tells nothing of what they have in common, and what
 * it adds is what rounding leaves of terms that cancel. */
static dp_model *categorical_that_cancels(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    static const double ones[READER_CLASSES] = {1, 1, 1};
    dp_expr same = dp_mul(predictor(m, rows), dp_constant(m, READER_CLASSES, ones));
    dp_observe(rows, "class", dp_categorical_logit(same));
    return m;
}

const reader readers[] = {
    {"bernoulli", bernoulli, 1, 2, 0, 2, 2},
    {"bernoulli by group", bernoulli_by_group, 1, 3, 1, 4, 7},
    {"bernoulli, not centred", bernoulli_not_centred, 1, 3, 1, 4, 7},
    {"poisson, two plates", poisson_two_plates, 1, 4, 2, 6, 11},
    {"poisson, zero-inflated", poisson_zero_inflated, 2, 3, 0, 3, 3},
    {"poisson, hurdle by group", poisson_hurdle_by_group, 2, 3, 1, 4, 7},
    {"normal, known sd", normal_known_sd, 1, 2, 0, 2, 2},
    {"normal", normal_unknown_sd, 2, 3, 0, 3, 3},
    {"normal, slopes by group", normal_slopes_by_group, 2, 3, 2, 6, 14},
    {"student", student, 3, 4, 0, 4, 4},
    {"gamma by group", gamma_by_group, 2, 2, 1, 3, 6},
    {"categorical by group", categorical_by_group, 3, 6, 1, 9, 18},
    {"categorical that cancels", categorical_that_cancels, 3, 2, 0, 2, 2},
};
const size_t n_readers = sizeof readers / sizeof *readers;

const reader *reader_named(const char *name)
{
    for (size_t i = 0; i < n_readers; i++)
        if (strcmp(readers[i].name, name) == 0)
            return &readers[i];
    fail_msg("no model is named '%s'", name);
    return NULL;
}

/* ---- records ---- */

void reader_draw(reader_records *r, uint64_t seed)
{
    for (size_t i = 0; i < READER_RECORDS; i++) {
        for (size_t j = 0; j < READER_X; j++)
            r->x[i * READER_X + j] = 2 * next_number(&seed);
        r->real[i] = 3 * next_number(&seed);
        r->binary[i] = next_number(&seed) > 0;
        r->count[i] = floor(6 * fabs(next_number(&seed)));
        r->positive[i] = exp(next_number(&seed));
        r->g[i] = (int32_t)((1 + next_number(&seed)) / 2 * READER_G);
        r->h[i] = (int32_t)((1 + next_number(&seed)) / 2 * READER_H);
        r->class[i] = (int32_t)((1 + next_number(&seed)) / 2 * READER_CLASSES);
    }
}

void reader_take(const reader_records *all, size_t first, size_t n, reader_records *some)
{
    memcpy(some->x, all->x + first * READER_X, n * READER_X * sizeof *all->x);
    memcpy(some->real, all->real + first, n * sizeof *all->real);
    memcpy(some->binary, all->binary + first, n * sizeof *all->binary);
    memcpy(some->count, all->count + first, n * sizeof *all->count);
    memcpy(some->positive, all->positive + first, n * sizeof *all->positive);
    memcpy(some->g, all->g + first, n * sizeof *all->g);
    memcpy(some->h, all->h + first, n * sizeof *all->h);
    memcpy(some->class, all->class + first, n * sizeof *all->class);
}

dp_dataset *reader_data(const reader_records *r, size_t n)
{
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", READER_X, r->x);
    dp_dataset_index(data, "g", r->g);
    dp_dataset_index(data, "h", r->h);
    dp_dataset_real(data, "real", 1, r->real);
    dp_dataset_real(data, "binary", 1, r->binary);
    dp_dataset_real(data, "count", 1, r->count);
    dp_dataset_real(data, "positive", 1, r->positive);
    dp_dataset_index(data, "class", r->class);
    assert_null(dp_dataset_error(data));
    return data;
}

/* ---- readings ---- */

void reading_make(reading *made, const reader *r)
{
    *made = (reading){.model = r->make()};
    dp_error err = {0};
    uint64_t seed = 11;
    assert_ok(dpi_model_view_init(&made->view, made->model, &err), err.text);
    size_t d = made->view.objective.n_theta;
    assert_ok(dpi_metric_init(&made->metric, &made->view, &made->arena, &err), err.text);
    made->theta = dpi_arena_alloc(&made->arena, d, sizeof *made->theta);
    assert_non_null(made->theta);
    for (size_t i = 0; i < d; i++)
        made->theta[i] = 0.7 * next_number(&seed);
}

void reading_free(reading *r)
{
    dpi_arena_free(&r->arena);
    dpi_model_view_free(&r->view);
    dp_model_free(r->model);
}

void reading_turn(reading *r, double size)
{
    size_t p = r->view.p;
    dp_error err = {0};
    uint64_t seed = 23;
    double *turn = dpi_alloc(p * p, sizeof *turn);
    assert_non_null(turn);
    for (size_t e = 0; e < p * p; e++)
        turn[e] = ((e % (p + 1) == 0) + 0.3 * next_number(&seed)) / size;
    assert_ok(dpi_metric_turn(&r->metric, turn, &err), err.text);
    dpi_free(turn);
}
