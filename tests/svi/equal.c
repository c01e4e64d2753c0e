/* Sums of equal gradients, additions of which alone can be off. */
#include "tests/svi/equal.h"

#include <math.h>
#include <stdlib.h>

#include "svi/svi.h"
#include "tests/lib/check.h"

double equal_clip(const equal_sum *s)
{
    return 0x1p-8 * sqrt((double)(s->inputs * s->outputs)) * 1.01;
}

/* A layer h = x w whose gradients are y x_i, all x_i being `number` and y a power of 2: factors and
 * products are floats, exactly. */
static dp_svi *layer(const equal_sum *s, double *x, double *y, dp_dataset *data)
{
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                           .clip = equal_clip(s),
                           .precision = DP_SINGLE,
                           .steps = 1,
                           .seed = 5};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), inputs = dp_plate_new(m, "inputs", s->inputs);
    dp_expr w = dp_param_in(inputs, "w", s->outputs, 0);
    dp_expr h = dp_matmul(dp_data(rows, "x", s->inputs), w);
    dp_observe(rows, "y", dp_normal_v(dp_sum(h), dp_num(1)));
    dp_dataset_real(data, "x", s->inputs, x);
    dp_dataset_real(data, "y", 1, y);
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_true((svi->sum.factors != NULL) == s->factors);
    assert_int_equal(svi->objective.n_release, s->inputs * s->outputs);
    dp_model_free(m);
    return svi;
}

/* In clips. */
static double off_with(const equal_sum *s, double number)
{
    dp_error err = {0};
    size_t size = s->inputs * s->outputs;
    double *x = malloc(s->n * s->inputs * sizeof *x), *y = malloc(s->n * sizeof *y);
    dp_dataset *data = dp_dataset_new(s->n);
    assert_true(x != NULL && y != NULL);
    for (size_t i = 0; i < s->n; i++)
        y[i] = 0x1p-8;
    for (size_t i = 0; i < s->n * s->inputs; i++)
        x[i] = number;
    dp_svi *svi = layer(s, x, y, data);
    assert_ok(dp_svi_step(svi, &err), err.text);
    double off = 0, exact = (double)s->n * number * 0x1p-8;
    for (size_t e = 0; e < size; e++)
        off += (svi->release.out[e] - exact) * (svi->release.out[e] - exact);
    dp_svi_free(svi);
    dp_dataset_free(data);
    free(x);
    free(y);
    return sqrt(off) / equal_clip(s);
}

double equal_off(const equal_sum *s)
{
    double most = 0;
    for (int bits = 3; bits <= 6; bits++)
        most = fmax(most, off_with(s, 1 + (ldexp(1, bits - 2) - 1) * 0x1p-23));
    return most;
}
