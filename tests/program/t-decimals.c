/* Accuracy with weights of few decimals, and the number of decimals that PP-Stream's rule takes. */
#include <math.h>
#include <stdlib.h>

#include "program/program.h"
#include "tests/lib/check.h"

enum { MANY = 10000 };

/* One output w x + b of one number. */
static dp_program *line(double w, double b)
{
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 1, "x", 0, 1), 1, &w, &b);
    return p;
}

static double share_of(const dp_program *p, int decimals, const dp_labelled *r)
{
    dp_error err = {0};
    double share;
    assert_ok(dp_program_accuracy(p, decimals, r, &share, &err), err.text);
    return share;
}

static void the_class_is_the_largest_output(void **state)
{
    (void)state;
    static const double w[] = {1, -1, 0}, b[] = {0, 0, .5};
    static const double x[] = {1, -1, .25, .5};
    static const int32_t label[] = {0, 1, 2, 2}; /* .5 twice: the first one, 0 */
    const dp_labelled r = {4, x, label};
    for (int argmax = 0; argmax < 2; argmax++) {
        dp_program *p = dp_program_new();
        int y = dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), 3, w, b);
        if (argmax)
            (void)dp_program_argmax(p, y);
        assert_close(share_of(p, -1, &r), .75, 0, 0);
        dp_program_free(p);
    }
}

static void of_a_single_output_it_is_the_sign(void **state)
{
    (void)state;
    static const double x[] = {0, .5, .75, 1};
    static const int32_t label[] = {0, 0, 1, 1};
    const dp_labelled r = {4, x, label}, other = {3, x + 1, label};
    dp_program *p = line(2, -1);
    assert_close(share_of(p, -1, &r), 1, 0, 0);
    assert_close(share_of(p, -1, &other), 2. / 3, 1e-15, 0);
    dp_program_free(p);
}

/* Weights, biases and filters, each of which decides a class at one number of decimals. */
static void weights_and_biases_are_rounded(void **state)
{
    (void)state;
    static const double x[] = {1, 0};
    static const int32_t label[] = {1, 0};
    const dp_labelled r = {2, x, label};
    dp_program *p = line(.044, -.04);
    assert_close(share_of(p, -1, &r), 1, 0, 0);
    assert_close(share_of(p, 1, &r), .5, 0, 0);
    assert_close(share_of(p, 2, &r), .5, 0, 0); /* .04 - .04 */
    assert_close(share_of(p, 3, &r), 1, 0, 0);
    assert_close(share_of(p, -1, &r), 1, 0, 0); /* p is as it was */
    dp_program_free(p);
    p = line(.046, -.04);
    assert_close(share_of(p, 2, &r), 1, 0, 0); /* .05 - .04 */
    dp_program_free(p);

    static const double filter[] = {.3, .4}, bias = -.6, dense[] = {1, 1}, last = .01;
    static const double pixels[] = {1, 1, 0, 0, 0, 0};
    static const int32_t seen[] = {1, 1};
    const dp_window two = {.size = {1, 2}};
    const dp_labelled images = {2, pixels, seen};
    p = dp_program_new();
    int h = dp_program_image(p, 1, 3, 1, "pixel", 0, 1);
    h = dp_program_relu(p, dp_program_convolution(p, h, 1, &two, filter, &bias));
    (void)dp_program_dense(p, h, 1, dense, &last);
    assert_close(share_of(p, 0, &images), 0, 0, 0);  /* the filter is 0 */
    assert_close(share_of(p, 1, &images), .5, 0, 0); /* the last bias is */
    assert_close(share_of(p, 2, &images), 1, 0, 0);
    dp_error err = {0};
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    assert_close(share_of(p, 1, &images), .5, 0, 0); /* fixed or not */
    dp_program_free(p);
}

/* MANY records in the middles of equal parts of [0, 1], and one at 0. */
static void fill(double *x)
{
    for (int i = 0; i < MANY; i++)
        x[i] = (i + .5) / MANY;
    x[MANY] = 0;
}

static int search(double w, double b, size_t n, bool all_zero)
{
    static double x[MANY + 1];
    static int32_t label[MANY + 1];
    dp_error err = {0};
    int decimals;
    dp_program *p = line(w, b);
    fill(x);
    for (int i = 0; i <= MANY; i++)
        label[i] = all_zero ? 0 : w * x[i] + b > 0;
    const dp_labelled r = {n, x, label};
    assert_ok(dp_program_decimals(p, &r, &decimals, &err), err.text);
    dp_program_free(p);
    return decimals;
}

static void the_search_stops_below_one_in_ten_thousand(void **state)
{
    (void)state;
    /* Classes change at .3085, and at .25, .3, .3075 with 1, 2, 3 decimals of .1234. */
    assert_int_equal(search(.4, -.1234, MANY, false), 4);
    /* At .3076 and .3075: one record in 10 000 is no less than 1e-4, one in 10 001 is. */
    assert_int_equal(search(.4, -.12304, MANY, false), 5);
    assert_int_equal(search(.4, -.12304, MANY + 1, false), 3);
    /* 0 decimals have all records right, which is a change too. */
    assert_int_equal(search(.4, -.1234, MANY, true), 4);
    assert_int_equal(search(4, -1, MANY, false), 0);
    assert_int_equal(search(1e-9, -5e-10, MANY, false), DP_PROGRAM_DECIMALS);
}

static void bits_are_those_of_the_largest_integer(void **state)
{
    (void)state;
    dp_program *p = line(-1.5, 1000);
    assert_int_equal(dp_program_decimal_bits(p, 0), 2);  /* 2 */
    assert_int_equal(dp_program_decimal_bits(p, 1), 4);  /* 15 */
    assert_int_equal(dp_program_decimal_bits(p, 2), 8);  /* 150 */
    assert_int_equal(dp_program_decimal_bits(p, 6), 21); /* 1 500 000 */
    dp_program_free(p);
    p = line(1e-3, 0);
    assert_int_equal(dp_program_decimal_bits(p, 0), 2);
    assert_int_equal(dp_program_decimal_bits(p, 4), 4); /* 10 */
    dp_program_free(p);
}

static void what_has_no_share_is_refused(void **state)
{
    (void)state;
    static const double x[] = {1};
    static const int32_t label[] = {1};
    const dp_labelled r = {1, x, label}, none = {0, x, label};
    double share = 0;
    int decimals = 0;
    size_t size;
    unsigned char *bytes;
    dp_error err = {0};
    dp_program *p = line(1, 0), *sheet, *empty = dp_program_new(), *wrong = line(NAN, 0);
    assert_fails(dp_program_accuracy(p, 16, &r, &share, &err), DP_EINVAL, &err, "16 decimals");
    assert_true(isnan(share));
    assert_fails(dp_program_accuracy(p, 0, &none, &share, &err), DP_EDATA, &err, "no records");
    assert_fails(dp_program_decimals(p, &none, &decimals, &err), DP_EDATA, &err, "no records");
    assert_int_equal(decimals, -1);
    assert_fails(dp_program_accuracy(empty, 0, &r, &share, &err), DP_ESTATE, &err, "no stage");
    assert_fails(dp_program_accuracy(wrong, 0, &r, &share, &err), DP_ESHAPE, &err, "not finite");
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    assert_ok(dp_program_sheet(p, &size, &bytes, &err), err.text);
    assert_ok(dp_program_of_sheet(size, bytes, &sheet, &err), err.text);
    assert_fails(dp_program_decimals(sheet, &r, &decimals, &err), DP_ESTATE, &err, "no weights");
    assert_int_equal(dp_program_decimal_bits(sheet, 3), 2);
    dp_program_sheet_free(bytes);
    dp_program_free(sheet), dp_program_free(p), dp_program_free(empty), dp_program_free(wrong);
    static const double w[] = {1, 1}, b[] = {0, 0};
    p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 1, "x", 0, 1), 2, w, b);
    dp_program_answer(p, DP_LINK_LOGISTIC, 2);
    assert_fails(dp_program_accuracy(p, 0, &r, &share, &err), DP_EUNSUPPORTED, &err, "2 posterior");
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_class_is_the_largest_output),
                                       cmocka_unit_test(of_a_single_output_it_is_the_sign),
                                       cmocka_unit_test(weights_and_biases_are_rounded),
                                       cmocka_unit_test(the_search_stops_below_one_in_ten_thousand),
                                       cmocka_unit_test(bits_are_those_of_the_largest_integer),
                                       cmocka_unit_test(what_has_no_share_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
