/* Layers by hand: convolutions over a grid of geometries, dense layers, and numbers in other
 * shapes. */
#include <math.h>
#include <string.h>

#include "exec/value.h"
#include "model/model.h"
#include "tests/lib/check.h"

enum { N = 2, MOST = 512 };

static double x[N * MOST], w[MOST];

static double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 3.385 * (at - floor(at)) - 1.713;
}

/* The values of a per-record expression for both records; inputs are w, from its start. */
static void evaluate(dp_expr e, size_t d, double *out)
{
    dp_error err = {0};
    dpi_run *run;
    dp_model *m = e.model;
    assert_ok(dp_model_status(m), dp_model_error(m));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", d, x);
    dpi_run_spec spec = {
        .graph = &m->graph, .wanted = &e.id, .n_wanted = 1, .data = data, .chunk = N};
    assert_ok(dpi_run_new(&spec, &run, &err), err.text);
    for (size_t i = 0; i < m->n_sites; i++) {
        const dpi_shape *shape = &dpi_get(&m->graph, m->sites[i].value)->shape;
        double *value = dpi_run_value(run, m->sites[i].value);
        if (value != NULL && !shape->per_record)
            memcpy(value, w, dpi_shape_size(shape) * sizeof *value);
    }
    dpi_run_globals(run);
    dpi_run_records(run, N, NULL, 0);
    const dpi_shape *shape = &dpi_get(&m->graph, e.id)->shape;
    assert_true(shape->per_record);
    memcpy(out, dpi_run_value(run, e.id), N * dpi_shape_size(shape) * sizeof *out);
    dpi_run_free(run);
    dp_dataset_free(data);
}

/* Channel o of the convolution of record r at stop (i, j). */
static double by_hand(const dp_window *g, size_t channels, size_t out, const size_t at[4])
{
    const long rows = (long)g->image[0], columns = (long)g->image[1];
    double sum = 0;
    for (size_t k = 0; k < g->size[0]; k++)
        for (size_t l = 0; l < g->size[1]; l++)
            for (size_t c = 0; c < channels; c++) {
                long row = (long)(at[1] * g->stride[0] + k) - (long)g->padding[0];
                long column = (long)(at[2] * g->stride[1] + l) - (long)g->padding[1];
                if (row < 0 || row >= rows || column < 0 || column >= columns)
                    continue;
                size_t place = (size_t)(((long)at[0] * rows + row) * columns + column);
                sum += x[place * channels + c] *
                       w[((k * g->size[1] + l) * channels + c) * out + at[3]];
            }
    return sum;
}

static void check_convolution(const dp_window *g, size_t channels, size_t out)
{
    static double y[N * MOST];
    size_t places = g->image[0] * g->image[1], inner = g->size[0] * g->size[1] * channels;
    size_t stops[2];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), from = dp_plate_new(m, "from", inner);
    dp_expr weights = dp_param_in(from, "w", out, 0), image = dp_data(rows, "x", places * channels);
    if (channels == 2)
        image = dp_reshape(image, places, channels);
    if (out == 1)
        weights = dp_reshape(weights, inner, 1);
    evaluate(dp_conv2d(image, weights, g), places * channels, y);
    for (int k = 0; k < 2; k++)
        stops[k] = (g->image[k] + 2 * g->padding[k] - g->size[k]) / g->stride[k] + 1;
    for (size_t e = 0; e < N * stops[0] * stops[1] * out; e++) {
        size_t stop = e / out % (stops[0] * stops[1]);
        const size_t at[4] = {e / out / (stops[0] * stops[1]), stop / stops[1], stop % stops[1],
                              e % out};
        assert_close(y[e], by_hand(g, channels, out, at), 1e-13, 1e-13);
    }
    dp_model_free(m);
}

/* The mean, or the largest number, of channel c of record r at stop (i, j). */
static double pooled(const dp_window *g, size_t channels, const size_t at[4], bool largest)
{
    const long rows = (long)g->image[0], columns = (long)g->image[1];
    double sum = 0, top = -INFINITY;
    for (size_t k = 0; k < g->size[0]; k++)
        for (size_t l = 0; l < g->size[1]; l++) {
            long row = (long)(at[1] * g->stride[0] + k) - (long)g->padding[0];
            long column = (long)(at[2] * g->stride[1] + l) - (long)g->padding[1];
            if (row < 0 || row >= rows || column < 0 || column >= columns)
                continue;
            size_t place = (size_t)(((long)at[0] * rows + row) * columns + column);
            sum += x[place * channels + at[3]];
            top = fmax(top, x[place * channels + at[3]]);
        }
    return largest ? top : sum / (double)(g->size[0] * g->size[1]);
}

static void check_pools(const dp_window *g, size_t channels)
{
    static double y[N * MOST];
    size_t places = g->image[0] * g->image[1], stops[2];
    for (int k = 0; k < 2; k++)
        stops[k] = (g->image[k] + 2 * g->padding[k] - g->size[k]) / g->stride[k] + 1;
    for (int largest = 0; largest < 2; largest++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows");
        dp_expr image = dp_data(rows, "x", places * channels);
        if (channels == 2)
            image = dp_reshape(image, places, channels);
        evaluate(largest ? dp_max_pool2d(image, g) : dp_avg_pool2d(image, g), places * channels, y);
        for (size_t e = 0; e < N * stops[0] * stops[1] * channels; e++) {
            size_t stop = e / channels % (stops[0] * stops[1]);
            const size_t at[4] = {e / channels / (stops[0] * stops[1]), stop / stops[1],
                                  stop % stops[1], e % channels};
            assert_close(y[e], pooled(g, channels, at, largest), 1e-15, 1e-15);
        }
        dp_model_free(m);
    }
}

/* Convolutions and pools over a grid of geometries. */
static void windows_see_what_they_see_by_hand(void **state)
{
    (void)state;
    size_t tried = 0;
    for (size_t code = 0; code < 3 * 3 * 2 * 2 * 2 * 2 * 2 * 3; code++) {
        size_t left = code, digit[8];
        const size_t base[8] = {3, 3, 2, 2, 2, 2, 2, 3};
        for (int k = 0; k < 8; left /= base[k++])
            digit[k] = left % base[k];
        dp_window g = {.image = {4 + digit[7], 3 + digit[6]},
                       .size = {1 + digit[0], 1 + digit[1]},
                       .stride = {1 + digit[2], 1 + digit[3]},
                       .padding = {digit[4], digit[5]}};
        if (g.padding[0] >= g.size[0] || g.padding[1] >= g.size[1])
            continue;
        check_convolution(&g, 1 + code % 3, 1 + code % 4);
        check_pools(&g, 1 + code % 3);
        tried++;
    }
    assert_true(tried > 200);
}

static void strides_of_zero_are_one(void **state)
{
    (void)state;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), from = dp_plate_new(m, "from", 4);
    dp_expr image = dp_data(rows, "x", 9), weights = dp_param_in(from, "w", 2, 0);
    const dp_window none = {.image = {3, 3}, .size = {2, 2}};
    const dp_window one = {.image = {3, 3}, .size = {2, 2}, .stride = {1, 1}};
    assert_int_equal(dp_conv2d(image, weights, &none).id, dp_conv2d(image, weights, &one).id);
    dp_model_free(m);
}

static void dense_layers_are_products_and_biases(void **state)
{
    (void)state;
    double y[N * 6];
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), from = dp_plate_new(m, "from", 2);
    dp_expr image = dp_data(rows, "x", 4), weights = dp_param_in(from, "w", 3, 0),
            bias = dp_param(m, "b", 3, 0);
    evaluate(dp_flatten(dp_dense(dp_reshape(image, 2, 2), weights, bias)), 4, y);
    for (size_t r = 0; r < N * 2; r++)
        for (size_t o = 0; o < 3; o++)
            assert_close(y[r * 3 + o], x[r * 2] * w[o] + x[r * 2 + 1] * w[3 + o] + w[o], 1e-14,
                         1e-14);
    dp_model_free(m);
}

static void shapes_that_do_not_fit_are_told(void **state)
{
    (void)state;
    static const struct {
        dp_window window;
        size_t inputs;
        const char *says;
    } bad[] = {
        {{.image = {3, 3}, .size = {2, 2}}, 8, "height times width pixels"},
        {{.image = {3, 3}, .size = {4, 2}}, 9, "must fit in its image"},
        {{.image = {3, 3}, .size = {2, 2}, .padding = {2, 0}}, 9, "less than the window"},
        {{.image = {3, 3}, .size = {2, 0}}, 9, "at least 1"},
        {{.image = {3, 3}, .size = {2, 1}}, 9, "[6][2], one per record, right 'w' is [4][2]"},
    };
    for (size_t k = 0; k <= sizeof bad / sizeof bad[0]; k++) {
        dp_model *m = dp_model_new();
        dp_plate rows = dp_unit_plate(m, "rows"), from = dp_plate_new(m, "from", 4);
        dp_expr weights = dp_param_in(from, "w", 2, 0);
        bool last = k == sizeof bad / sizeof bad[0];
        dp_expr y = last ? dp_reshape(weights, 4, 3)
                         : dp_conv2d(dp_data(rows, "x", bad[k].inputs), weights, &bad[k].window);
        assert_int_equal(y.id, DPI_NONE);
        assert_int_equal(dp_model_status(m), DP_ESHAPE);
        assert_contains(dp_model_error(m), last ? "just as many" : bad[k].says);
        assert_int_equal(dp_flatten(y).id, DPI_NONE);
        assert_int_equal(dp_dense(y, weights, y).id, DPI_NONE);
        assert_int_equal(dp_conv2d(y, y, &bad[0].window).id, DPI_NONE);
        assert_int_equal(dp_avg_pool2d(y, &bad[0].window).id, DPI_NONE);
        assert_int_equal(dp_max_pool2d(y, &bad[0].window).id, DPI_NONE);
        dp_model_free(m);
    }
}

static void call_with_numbers(void *which)
{
    int k = *(int *)which;
    if (k == 0)
        (void)dp_flatten(dp_num(1));
    else if (k > 2)
        (void)(k == 3 ? dp_avg_pool2d : dp_max_pool2d)(dp_num(1), &(dp_window){.size = {1, 1}});
    else
        (void)dp_conv2d(dp_num(1), dp_num(2), k == 1 ? NULL : &(dp_window){.size = {1, 1}});
}

static void numbers_are_misuse(void **state)
{
    (void)state;
    for (int k = 0; k < 5; k++)
        assert_aborts(call_with_numbers, &k);
}

int main(void)
{
    for (size_t i = 0; i < N * MOST; i++)
        x[i] = spread(i);
    for (size_t i = 0; i < MOST; i++)
        w[i] = spread(i + 7000);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_see_what_they_see_by_hand),
        cmocka_unit_test(strides_of_zero_are_one),
        cmocka_unit_test(dense_layers_are_products_and_biases),
        cmocka_unit_test(shapes_that_do_not_fit_are_told),
        cmocka_unit_test(numbers_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
