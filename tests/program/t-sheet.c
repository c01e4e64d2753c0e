/* Sheets: what is written is read again, and nothing else is taken. */
#include <string.h>

#include "program/program.h"
#include "tests/lib/check.h"

static const dp_window window = {.size = {2, 3}, .stride = {1, 2}, .padding = {1, 0}};

static dp_program *sample(double weight)
{
    dp_error err = {0};
    double w[2 * 6], v[3 * 2 * 24];
    for (int i = 0; i < 12; i++)
        w[i] = weight * (i - 5);
    for (int i = 0; i < 3 * 2 * 24; i++)
        v[i] = i % 7 - 3;
    dp_program *p = dp_program_new();
    int x = dp_program_image(p, 5, 9, 1, "pixel", -1, 1);
    int h = dp_program_tanh(p, dp_program_convolution(p, x, 2, &window, w, NULL));
    (void)dp_program_dense(p, h, 3, v, NULL);
    const dp_program_number product = {.low = -2,
                                       .high = 3,
                                       .n_factors = 2,
                                       .factor = {{.column = "district", .level = 4},
                                                  {.column = "age", .element = 2, .level = -1}}};
    dp_program_declare(p, 7, &product);
    dp_program_answer(p, DP_LINK_SOFTMAX, 1);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    return p;
}

static void sheets_say_all_but_the_weights(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_program *p = sample(1), *q;
    unsigned char *bytes, *again, hash[2][DP_PROGRAM_HASH];
    size_t n, m;
    assert_int_equal(dp_program_sheet(p, &n, &bytes, &err), DP_OK);
    assert_int_equal(dp_program_of_sheet(n, bytes, &q, &err), DP_OK);
    assert_int_equal(dp_program_sheet(q, &m, &again, &err), DP_OK);
    assert_int_equal(n, m);
    assert_memory_equal(bytes, again, n);
    assert_int_equal(dp_program_hash(p, hash[0], &err), DP_OK);
    assert_int_equal(dp_program_hash(q, hash[1], &err), DP_OK);
    assert_memory_equal(hash[0], hash[1], DP_PROGRAM_HASH);
    assert_null(dp_program_stage(q, 1)->weights);
    assert_null(dp_program_stage(q, 1)->real_weights);
    assert_int_equal(dp_program_number_at(q, 7).factor[1].element, 2);
    assert_string_equal(dp_program_number_at(q, 7).factor[0].column, "district");
    double x[45] = {0}, y[3];
    int64_t v[45];
    assert_int_equal(dp_program_encode(q, 1, x, v, &err), DP_OK);
    assert_fails(dp_program_run(q, 1, x, y, &err), DP_ESTATE, &err, "no weights");
    dp_program_free(p);
    dp_program_free(q);
    dp_program_sheet_free(bytes);
    dp_program_sheet_free(again);
}

/* Weights of equal size and bits have the same sheet: it is no function of anything else. */
static void sheets_do_not_depend_on_weights(void **state)
{
    (void)state;
    dp_error err = {0};
    unsigned char hash[2][DP_PROGRAM_HASH];
    dp_program *p = sample(1), *q = sample(1.01);
    assert_int_equal(dp_program_hash(p, hash[0], &err), DP_OK);
    assert_int_equal(dp_program_hash(q, hash[1], &err), DP_OK);
    assert_memory_equal(hash[0], hash[1], DP_PROGRAM_HASH);
    dp_program_free(p);
    dp_program_free(q);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_program *p = sample(1), *q;
    unsigned char *bytes;
    size_t n;
    assert_int_equal(dp_program_sheet(p, &n, &bytes, &err), DP_OK);
    for (size_t m = 0; m < n; m++) {
        dp_error why = {0};
        assert_int_equal(dp_program_of_sheet(m, bytes, &q, &why), DP_EDATA);
        assert_null(q);
    }
    dp_program_free(p);
    dp_program_sheet_free(bytes);
}

/* A byte changed anywhere gives an error, or a sheet that is written as it was read. */
static void changed_bytes_are_refused_or_mean_something(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_program *p = sample(1), *q;
    unsigned char *bytes, *again;
    size_t n, m, taken = 0;
    assert_int_equal(dp_program_sheet(p, &n, &bytes, &err), DP_OK);
    for (size_t i = 0; i < n; i++)
        for (int flip = 1; flip < 256; flip *= 2) {
            dp_error why = {0};
            bytes[i] = (unsigned char)(bytes[i] ^ flip);
            if (dp_program_of_sheet(n, bytes, &q, &why) == DP_OK) {
                taken++;
                assert_int_equal(dp_program_sheet(q, &m, &again, &err), DP_OK);
                assert_true(m == n && memcmp(bytes, again, n) == 0);
                dp_program_sheet_free(again);
                dp_program_free(q);
            }
            bytes[i] = (unsigned char)(bytes[i] ^ flip);
        }
    assert_true(taken > 0 && taken < 8 * n);
    dp_program_free(p);
    dp_program_sheet_free(bytes);
}

/* A column's name is shown to whoever asks: it gives his terminal no orders. */
static void names_hold_no_control_characters(void **state)
{
    (void)state;
    static const char *const orders[] = {"dis\x1b[2J",
                                         "dis\xc2\x9b"
                                         "2J",
                                         "dis\x7f"
                                         "ict"};
    dp_error err = {0};
    dp_program *p = sample(1), *q;
    unsigned char *bytes;
    size_t n, at = 0;
    assert_int_equal(dp_program_sheet(p, &n, &bytes, &err), DP_OK);
    while (memcmp(bytes + at, "district", 8) != 0)
        assert_true(++at < n - 8);
    memcpy(bytes + at, "\xc3\xa4\xc2\xb5rict", 8);
    assert_int_equal(dp_program_of_sheet(n, bytes, &q, &err), DP_OK);
    dp_program_free(q);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        memcpy(bytes + at, "district", 8);
        memcpy(bytes + at, orders[i], strlen(orders[i]));
        assert_fails(dp_program_of_sheet(n, bytes, &q, &err), DP_EDATA, &err, "not the sheet");
    }
    dp_program_free(p);
    dp_program_sheet_free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sheets_say_all_but_the_weights),
        cmocka_unit_test(sheets_do_not_depend_on_weights),
        cmocka_unit_test(names_hold_no_control_characters),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(changed_bytes_are_refused_or_mean_something),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
