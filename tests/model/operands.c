#include "tests/model/operands.h"

#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "model/model.h"
#include "tests/lib/check.h"

const double v_is[3] = {0.385, -1.25, 2.5}, W_is[6] = {1, -2, 0.5, 3, 0.25, -0.75}, s_is[1] = {1.7},
             one_is[1] = {-0.6}, b_is[6] = {1, 2, 3, 4, 5, 6},
             x_is[N][3] = {{1, 2, -1}, {0.5, -3, 4}};
const int32_t g_is[N] = {2, 0}, words_are[N][3] = {{1, 2, 1}, {0, 0, 2}};

scene begin(void)
{
    scene q = {.m = dp_model_new()};
    dp_plate rows = dp_unit_plate(q.m, "rows"), groups = dp_plate_new(q.m, "groups", GROUPS),
             two = dp_plate_new(q.m, "two", 2), single = dp_plate_new(q.m, "single", 1);
    q.s = dp_sample(q.m, "s", 1, dp_normal(0, 1));
    q.v = dp_sample(q.m, "v", 3, dp_normal(0, 1));
    q.W = dp_sample_in(two, "W", 3, dp_normal(0, 1));
    q.one = dp_sample_in(single, "one", 1, dp_normal(0, 1));
    q.a = dp_sample_in(groups, "a", 1, dp_normal(0, 1));
    q.b = dp_sample_in(groups, "b", 2, dp_normal(0, 1));
    q.x = dp_data(rows, "x", 3);
    q.g = dp_index(rows, "g", groups);
    q.words = dp_indices(rows, "words", 3, groups);
    assert_int_equal(dp_model_status(q.m), DP_OK);
    return q;
}

static double plus(double a, double b)
{
    return a + b;
}

static double minus(double a, double b)
{
    return a - b;
}

static double times(double a, double b)
{
    return a * b;
}

static double over(double a, double b)
{
    return a / b;
}

const struct binary binaries[N_BINARIES] = {
    {dp_add, plus}, {dp_sub, minus}, {dp_mul, times}, {dp_div, over}};

static double negative(double a)
{
    return -a;
}

double squared(double a)
{
    return a * a;
}

static double logistic(double a)
{
    return 1 / (1 + exp(-a));
}

static double softplus(double a)
{
    return log1p(exp(a));
}

const struct unary unaries[N_UNARIES] = {
    {dp_neg, negative},     {dp_exp, exp},        {dp_log, log},   {dp_log1p, log1p},
    {dp_sqrt, sqrt},        {dp_square, squared}, {dp_tanh, tanh}, {dp_abs, fabs},
    {dp_sin, sin},          {dp_cos, cos},        {dp_atan, atan}, {dp_logistic, logistic},
    {dp_softplus, softplus}};

static void set(dpi_run *run, dp_expr e, const double *values, size_t n)
{
    double *value = dpi_run_value(run, e.id);
    if (value != NULL)
        memcpy(value, values, n * sizeof *values);
}

void assert_value_within(const scene *q, dp_expr e, size_t n, const double *wanted, double relative)
{
    dp_error err = {0};
    dpi_run *run;
    assert_ok(dp_model_status(q->m), dp_model_error(q->m));
    assert_ptr_equal(e.model, q->m);
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", 3, x_is[0]);
    dp_dataset_index(data, "g", g_is);
    dp_dataset_indices(data, "words", 3, words_are[0]);
    dpi_run_spec spec = {
        .graph = &q->m->graph, .wanted = &e.id, .n_wanted = 1, .data = data, .chunk = N};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    set(run, q->s, s_is, 1);
    set(run, q->v, v_is, 3);
    set(run, q->W, W_is, 6);
    set(run, q->one, one_is, 1);
    set(run, q->a, v_is, 3);
    set(run, q->b, b_is, 6);
    dpi_run_globals(run);
    dpi_run_records(run, N, NULL, 0);
    const dpi_shape *shape = &dpi_get(&q->m->graph, e.id)->shape;
    assert_int_equal(dpi_shape_size(shape) * (shape->per_record ? N : 1), n);
    for (size_t i = 0; i < n; i++)
        assert_close(dpi_run_value(run, e.id)[i], wanted[i], relative, 0);
    dpi_run_free(run);
    dp_dataset_free(data);
}

void assert_value(const scene *q, dp_expr e, size_t n, const double *wanted)
{
    assert_value_within(q, e, n, wanted, 4e-16);
}

void assert_dims(dp_expr e, const char *text)
{
    char buffer[DPI_SHAPE_TEXT];
    assert_string_equal(dpi_shape_text(&dpi_get(&e.model->graph, e.id)->shape, buffer), text);
}
