/* Models that are cut in two: together they have the gradient of the whole, record by record; and models that
 * cannot be cut. */
#include "tacit/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "exec/clip.h"
#include "fit/fit.h"
#include "graph/gradient.h"
#include "model/objective.h"
#include "tests/lib/check.h"

enum { ROWS = 150, D = 5, HIDDEN = 4, CLASSES = 3, MOST = 128 };

static double x[2][ROWS * D], y[ROWS];
static int32_t label[ROWS];

static void draw(void)
{
    dp_rng *rng = NULL;
    dp_error err = {0};
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    dp_rng_normal(rng, 2 * ROWS * D, x[0]);
    dp_rng_free(rng);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = x[0][i * D] + x[1][i * D] > 0;
        label[i] = (int32_t)((x[0][i * D] > 0) + (x[1][i * D + 1] > 0));
    }
}

/* ---- models ---- */

/* Scores of both owners' columns. */
static void regression(dp_model *m, dp_plate rows)
{
    dp_expr a = dp_dot(dp_data(rows, "a", D), dp_param(m, "wa", D, .3));
    dp_expr b = dp_dot(dp_data(rows, "b", D), dp_param(m, "wb", D, -.2));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(dp_add(a, b), dp_param(m, "c", 1, .1))));
}

/* A network on one owner's columns, of which the other has labels alone. */
static void network(dp_model *m, dp_plate rows)
{
    dp_expr v = dp_weights(m, "v", D, HIDDEN, dp_init_normal(.5));
    dp_expr w = dp_weights(m, "w", HIDDEN, CLASSES, dp_init_normal(.5));
    dp_expr h = dp_deterministic(
        m, "hidden", dp_tanh(dp_dense(dp_data(rows, "a", D), v, dp_param(m, "d", HIDDEN, .1))));
    dp_observe(rows, "label", dp_categorical_logit(dp_dense(h, w, dp_param(m, "e", CLASSES, 0))));
}

/* The same with a second way to the outcomes, which an embedding cuts as well. */
static void joined(dp_model *m, dp_plate rows)
{
    dp_expr v = dp_weights(m, "v", D, HIDDEN, dp_init_normal(.5));
    dp_expr w = dp_weights(m, "w", HIDDEN, CLASSES, dp_init_normal(.5));
    dp_expr u = dp_weights(m, "u", D, CLASSES, dp_init_normal(.5));
    dp_expr h = dp_tanh(dp_dense(dp_data(rows, "a", D), v, dp_param(m, "d", HIDDEN, .1)));
    dp_expr both = dp_add(dp_dense(h, w, dp_param(m, "e", CLASSES, 0)),
                          dp_dense(dp_data(rows, "b", D), u, dp_param(m, "f", CLASSES, 0)));
    dp_observe(rows, "label", dp_categorical_logit(both));
}

static dp_model *model_of(void (*build)(dp_model *m, dp_plate rows))
{
    dp_model *m = dp_model_new();
    dp_model_seed(m, 5);
    build(m, dp_unit_plate(m, "rows"));
    return m;
}

/* Whether a list has a column. */
static bool lists(const char *list, const char *column)
{
    const size_t n = strlen(column);
    for (const char *at = list; (at = strstr(at, column)) != NULL; at++)
        if ((at == list || at[-1] == ' ' || at[-1] == ',') &&
            (at[n] == '\0' || at[n] == ' ' || at[n] == ','))
            return true;
    return false;
}

static dp_dataset *data_of(const char *held)
{
    dp_dataset *data = dp_dataset_new(ROWS);
    if (lists(held, "a"))
        dp_dataset_real(data, "a", D, x[0]);
    if (lists(held, "b"))
        dp_dataset_real(data, "b", D, x[1]);
    if (lists(held, "y"))
        dp_dataset_real(data, "y", 1, y);
    if (lists(held, "label"))
        dp_dataset_index(data, "label", label);
    return data;
}

/* ---- the whole ---- */

/* The gradient of the log likelihood, uncut, where parameters start. */
static void whole_gradient(const dp_model *m, double *theta, double *sum)
{
    const dpi_objective_spec spec = {.model = m, .cut = DP_FORM_LATENTS, .points = true};
    dpi_objective o;
    dpi_id wrt[8], part[8];
    double scratch[2 * ROWS];
    dpi_run *run;
    dp_error err = {0};
    assert_ok(dpi_objective_init(&o, &spec, &err), err.text);
    for (size_t k = 0; k < o.n_blocks; k++)
        wrt[k] = o.blocks[k].node;
    assert_ok(dpi_gradient(&o.graph, o.record, o.n_blocks, wrt, part), o.err.text);
    dp_dataset *data = data_of("a,b,y,label");
    const dpi_run_spec how = {.graph = &o.graph,
                              .wanted = &o.record,
                              .n_wanted = 1,
                              .parts = part,
                              .n_parts = o.n_blocks,
                              .data = data,
                              .chunk = ROWS};
    assert_ok(dpi_run_new(&how, &run, &err), err.text);
    for (size_t k = 0; k < o.n_blocks; k++)
        dpi_run_write(run, wrt[k], 0, o.blocks[k].size, theta + o.blocks[k].offset);
    dpi_run_globals(run);
    dpi_run_records(run, ROWS, NULL, 0);
    memset(sum, 0, o.n_theta * sizeof *sum);
    dpi_run_clip_sum(run, ROWS, INFINITY, scratch, sum);
    dpi_run_free(run);
    dp_dataset_free(data);
    dpi_objective_free(&o);
}

/* ---- halves ---- */

typedef struct cut_model {
    dp_model *model;
    dp_split_opts spec;
    dp_dataset *data[2];
    dp_split *half[2];
} cut_model;

static void begin(cut_model *c, void (*build)(dp_model *m, dp_plate rows), const char *first,
                  const char *second, const char *cut)
{
    dp_error err = {0};
    c->model = model_of(build);
    c->spec = (dp_split_opts){.model = c->model, .cut = cut, .held = {first, second}};
    for (size_t k = 0; k < 2; k++) {
        c->data[k] = data_of(c->spec.held[k]);
        assert_ok(dp_split_new(&c->spec, k, c->data[k], &c->half[k], &err), err.text);
    }
}

static void end(cut_model *c)
{
    for (size_t k = 0; k < 2; k++) {
        dp_split_free(c->half[k]);
        dp_dataset_free(c->data[k]);
    }
    dp_model_free(c->model);
}

/* Numbers of both sides where the model has them. */
static void put_together(const cut_model *c, double own[2][MOST], double *whole)
{
    dp_fit *fit;
    dp_error err = {0};
    assert_ok(dp_split_fit(c->half[0], own[0], own[1], &fit, &err), err.text);
    memcpy(whole, fit->parts.theta, fit->parts.n_theta * sizeof *whole);
    dp_fit_free(fit);
}

/* Both sides' gradients, in the order of the model, of records in another order, in two parts. */
static void cut_gradient(cut_model *c, double *theta, double *sum)
{
    static double e[ROWS * MOST], a[ROWS * MOST];
    const size_t asks = dp_split_outcome(c->half[0]), sends = 1 - asks;
    double own[2][MOST], some[2][MOST], all[MOST] = {0};
    size_t index[ROWS];
    dp_error err = {0};
    for (size_t i = 0; i < ROWS; i++)
        index[i] = (i * 7 + 3) % ROWS;
    memset(sum, 0, MOST * sizeof *sum);
    for (size_t k = 0; k < 2; k++) {
        assert_ok(dp_split_start(c->half[k], own[k], &err), err.text);
        dp_split_set(c->half[k], own[k]);
    }
    put_together(c, own, theta);
    for (size_t at = 0; at < ROWS; at += ROWS / 2) {
        dp_split_embed(c->half[sends], ROWS / 2, index + at, e);
        dp_split_adjoint(c->half[asks], ROWS / 2, index + at, e, a, some[asks]);
        dp_split_pull_back(c->half[sends], ROWS / 2, index + at, a, some[sends]);
        put_together(c, some, all);
        for (size_t j = 0; j < MOST; j++)
            sum[j] += all[j];
    }
}

static void check(void (*build)(dp_model *m, dp_plate rows), const char *first, const char *second,
                  const char *cut, size_t width, size_t n_first)
{
    double theta[MOST] = {0}, found[MOST], expected[MOST];
    cut_model c;
    begin(&c, build, first, second, cut);
    const size_t n = dp_split_numbers(c.half[0], 0) + dp_split_numbers(c.half[0], 1);
    assert_int_equal(dp_split_width(c.half[0]), width);
    assert_int_equal(dp_split_width(c.half[1]), width);
    assert_int_equal(dp_split_numbers(c.half[1], 0), n_first);
    cut_gradient(&c, theta, found);
    whole_gradient(c.model, theta, expected);
    for (size_t j = 0; j < n; j++) {
        assert_close(found[j], expected[j], 1e-12, 1e-12);
        assert_true(expected[j] != 0);
    }
    end(&c);
}

static void halves_have_the_gradient_of_the_whole(void **state)
{
    (void)state;
    check(regression, "a", "b,y", NULL, 1, D);
    check(regression, "a,y", "b", NULL, 1, D + 1);
    check(network, "a", "label", NULL, CLASSES, D * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES);
    check(network, "a", "label", "hidden", HIDDEN, D * HIDDEN + HIDDEN);
    check(network, " label ", "a", "hidden", HIDDEN, HIDDEN * CLASSES + CLASSES);
    check(joined, "a", " b, label", NULL, CLASSES,
          D * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES);
    check(joined, "a, label", "b", NULL, CLASSES, D * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES);
}

/* ---- what is refused ---- */

static void shared_weight(dp_model *m, dp_plate rows)
{
    dp_expr w = dp_param(m, "w", D, 0);
    dp_expr a = dp_dot(dp_data(rows, "a", D), w), b = dp_dot(dp_data(rows, "b", D), w);
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(a, b)));
}

/* Columns that are moved and divided are no less the columns. */
static void bare_columns(dp_model *m, dp_plate rows)
{
    dp_expr a = dp_deterministic(m, "scaled", dp_mul(dp_data(rows, "a", D), dp_num(.5)));
    dp_expr both = dp_mul(a, dp_data(rows, "b", D));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(both, dp_param(m, "w", D, 0))));
}

/* A second way around the value that has a name. */
static void two_ways(dp_model *m, dp_plate rows)
{
    dp_expr a = dp_data(rows, "a", D), w = dp_param(m, "w", D, 0), v = dp_param(m, "v", D, 0);
    dp_expr s = dp_deterministic(m, "score", dp_dot(a, w));
    dp_expr b = dp_dot(dp_data(rows, "b", D), dp_mul(v, dp_num(2)));
    dp_expr around = dp_mul(b, dp_dot(dp_square(a), dp_param(m, "u", D, 0)));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(dp_add(s, b), around)));
}

static void latent(dp_model *m, dp_plate rows)
{
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 1));
    dp_expr a = dp_dot(dp_data(rows, "a", D), w);
    dp_expr b = dp_dot(dp_data(rows, "b", D), dp_param(m, "v", D, 0));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(a, b)));
}

static void two_outcomes(dp_model *m, dp_plate rows)
{
    dp_expr a = dp_dot(dp_data(rows, "a", D), dp_param(m, "w", D, 0));
    dp_observe(rows, "y", dp_bernoulli_logit(a));
    dp_observe(rows, "b", dp_normal_v(a, dp_num(1)));
}

static void models_that_cannot_be_cut_are_refused(void **state)
{
    static const struct {
        void (*build)(dp_model *m, dp_plate rows);
        const char *first, *second, *cut;
        dp_status status;
        const char *what;
    } wrong[] = {
        {regression, "a", "y", NULL, DP_ENAME, "nobody has column 'b'"},
        {regression, "a,b", "b,y", NULL, DP_ENAME, "both owners have column 'b'"},
        {regression, "a,z", "b,y", NULL, DP_ENAME, "the model reads 3 alone"},
        {shared_weight, "a", "b,y", NULL, DP_EPRIVACY, "'w' is read on both sides"},
        {bare_columns, "a", "b,y", NULL, DP_EPRIVACY, "sent as they are"},
        {bare_columns, "a", "b,y", "scaled", DP_EPRIVACY, "cannot be cut at 'scaled'"},
        {two_ways, "a", "b,y", "score", DP_EPRIVACY, "by no other way"},
        {two_ways, "a", "b,y", NULL, DP_EPRIVACY, "sent as they are"},
        {two_ways, "a", "b,y", "other", DP_ENAME, "no value 'other'"},
        {latent, "a", "b,y", NULL, DP_EUNSUPPORTED, "fits parameters"},
        {two_outcomes, "a,b", "y", NULL, DP_EUNSUPPORTED, "both owners have outcomes"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        dp_model *m = model_of(wrong[k].build);
        const dp_split_opts spec = {
            .model = m, .cut = wrong[k].cut, .held = {wrong[k].first, wrong[k].second}};
        dp_split *half;
        dp_error err = {0};
        assert_fails(dp_split_new(&spec, 0, NULL, &half, &err), wrong[k].status, &err,
                     wrong[k].what);
        assert_null(half);
        dp_model_free(m);
    }
}

static void outcomes_that_are_none_are_refused(void **state)
{
    dp_model *m = model_of(regression);
    const dp_split_opts spec = {.model = m, .held = {"a", "b,y"}};
    dp_dataset *data = data_of("b,y");
    dp_split *half;
    dp_error err = {0};
    (void)state;
    y[7] = 2;
    assert_fails(dp_split_new(&spec, 1, data, &half, &err), DP_EDATA, &err, "y");
    y[7] = 0;
    assert_fails(dp_split_new(&spec, 0, data, &half, &err), DP_ENAME, &err, "a");
    dp_dataset_free(data);
    dp_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_have_the_gradient_of_the_whole),
        cmocka_unit_test(models_that_cannot_be_cut_are_refused),
        cmocka_unit_test(outcomes_that_are_none_are_refused),
    };
    draw();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
