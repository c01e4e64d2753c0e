#include "tests/model/operands.h"

#include <math.h>

#include "tests/lib/check.h"

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
    {dp_neg, negative},      {dp_exp, exp},          {dp_log, log},   {dp_log1p, log1p},
    {dp_sqrt, sqrt},         {dp_square, squared},   {dp_tanh, tanh}, {dp_abs, fabs},
    {dp_logistic, logistic}, {dp_softplus, softplus}};
