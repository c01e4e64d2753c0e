#include "data/dataset.h"

#include <math.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

static const double real[12] = {2.385, -1.25, 3.5,    0.125, 7.385, -2.75,
                                9.5,   4.25,  -6.625, 5.5,   1.75,  8.875};
static const int32_t group[4] = {2, 0, 3, 1};

static void columns_are_found_by_name(void **state)
{
    (void)state;
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_real(data, "x", 3, real);
    dp_dataset_index(data, "g", group);
    assert_null(dp_dataset_error(data));
    assert_int_equal(dp_dataset_size(data), 4);
    const dpi_column *x = dpi_dataset_find(data, "x"), *g = dpi_dataset_find(data, "g");
    assert_true(x->size == 3 && x->real == real && x->index == NULL);
    assert_true(g->size == 1 && g->index == group && g->real == NULL);
    assert_null(dpi_dataset_find(data, "X"));
    assert_null(dpi_dataset_find(data, ""));
    dp_dataset_free(data);
}

static void names_are_copied(void **state)
{
    (void)state;
    char name[] = "dose";
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_real(data, name, 3, real);
    memset(name, '?', sizeof name - 1);
    assert_non_null(dpi_dataset_find(data, "dose"));
    dp_dataset_free(data);
}

static void gathers_ranges_and_lists(void **state)
{
    (void)state;
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_real(data, "x", 3, real);
    dp_dataset_index(data, "g", group);
    const dpi_column *x = dpi_dataset_find(data, "x"), *g = dpi_dataset_find(data, "g");
    double out[9];
    const size_t list[3] = {3, 1, 3}; /* a record may come twice */
    dpi_column_gather(x, 3, NULL, 1, out);
    assert_memory_equal(out, real + 3, sizeof out);
    dpi_column_gather(x, 3, list, 99, out);
    for (size_t i = 0; i < 9; i++)
        assert_close(out[i], real[3 * list[i / 3] + i % 3], 0, 0);
    dpi_column_gather(g, 2, NULL, 2, out);
    assert_true(out[0] == 3 && out[1] == 1);
    dpi_column_gather(g, 3, list, 99, out);
    assert_true(out[0] == 1 && out[1] == 0 && out[2] == 1);
    out[0] = -77;
    dpi_column_gather(x, 0, list, 0, out);
    dpi_column_gather(g, 0, NULL, 4, out);
    assert_close(out[0], -77, 0, 0);
    dp_dataset_free(data);
}

/* Every chance once: 1 comes out with probability odds / most, exactly. */
static void odds_are_exact(void **state)
{
    (void)state;
    static unsigned char odds[256];
    static double out[256];
    const size_t second[1] = {1};
    for (unsigned most = 1; most <= 255; most++) {
        dpi_column column = {.size = most + 1, .bytes = odds, .most = most};
        unsigned chances = dpi_column_chances(&column), ones[256] = {0};
        assert_true(chances % most == 0 && chances <= 256 && chances > 256 - most);
        for (unsigned v = 0; v <= most; v++)
            odds[v] = (unsigned char)v;
        for (unsigned c = 0; c < chances; c++) {
            unsigned char chance[256];
            memset(chance, (int)c, sizeof chance);
            dpi_column_draw(&column, 1, NULL, 0, chance, out);
            for (unsigned v = 0; v <= most; v++)
                ones[v] += out[v] == 1;
            assert_true(out[0] == 0 && out[most] == 1);
        }
        for (unsigned v = 0; v <= most; v++)
            assert_int_equal(ones[v] * most, v * chances);
    }
    static const unsigned char two[4] = {0, 9, 9, 0}, chance[4] = {0, 0, 0, 0};
    const dpi_column column = {.size = 2, .bytes = two, .most = 9};
    dpi_column_draw(&column, 1, second, 77, chance, out);
    assert_true(out[0] == 1 && out[1] == 0);
    dpi_column_draw(&column, 2, NULL, 0, chance, out);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 1 && out[3] == 0);
}

static void odds_out_of_range_are_refused(void **state)
{
    (void)state;
    static const unsigned char odds[4] = {0};
    const unsigned wrong[] = {0, 256, UINT32_MAX};
    for (int k = 0; k < 3; k++) {
        dp_dataset *data = dp_dataset_new(4);
        dp_dataset_bernoulli(data, "x", 1, wrong[k], odds);
        assert_int_equal(data->err.status, DP_EDOMAIN);
        assert_contains(dp_dataset_error(data), "column 'x': bytes are out of");
        dp_dataset_bernoulli(data, "y", 1, 1, odds); /* the first error stays */
        dp_dataset_bernoulli(data, "y", 1, 0, odds);
        assert_contains(dp_dataset_error(data), "column 'x'");
        assert_null(dpi_dataset_find(data, "x"));
        dp_dataset_free(data);
    }
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_bernoulli(data, "x", 1, 255, odds);
    assert_null(dp_dataset_error(data));
    assert_ptr_equal(dpi_dataset_find(data, "x")->bytes, odds);
    dp_dataset_bernoulli(data, "y", 1, 255, NULL);
    assert_int_equal(data->err.status, DP_EINVAL);
    dp_dataset_free(data);
}

static void whole_numbers_come_in_blocks(void **state)
{
    (void)state;
    const int32_t words[8] = {4, 1, 0, 7, 2, 2, 5, 3};
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_indices(data, "words", 2, words);
    assert_null(dp_dataset_error(data));
    const dpi_column *column = dpi_dataset_find(data, "words");
    double out[6], range[2];
    const size_t list[3] = {3, 0, 3};
    dpi_column_gather(column, 2, NULL, 1, out);
    assert_true(out[0] == 0 && out[1] == 7 && out[2] == 2 && out[3] == 2);
    dpi_column_gather(column, 3, list, 99, out);
    for (size_t i = 0; i < 6; i++)
        assert_close(out[i], words[2 * list[i / 2] + i % 2], 0, 0);
    dpi_column_range(column, 3, 0, range);
    assert_true(range[0] == 5 && range[1] == 5);
    dp_dataset_unit(data, "words");
    assert_contains(dp_dataset_error(data), "has 2 numbers a record and cannot be the unit column");
    dp_dataset_free(data);
    data = dp_dataset_new(4);
    dp_dataset_indices(data, "words", 0, words);
    assert_contains(dp_dataset_error(data), "is said to have 0 numbers a record");
    dp_dataset_free(data);
}

static void bytes_are_divided(void **state)
{
    (void)state;
    static const unsigned char grey[8] = {0, 255, 51, 1, 254, 102, 7, 128};
    const size_t list[3] = {3, 1, 3};
    double out[6], range[2];
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_bytes(data, "x", 2, 255, grey);
    assert_null(dp_dataset_error(data));
    const dpi_column *x = dpi_dataset_find(data, "x");
    dpi_column_gather(x, 3, list, 99, out);
    for (size_t i = 0; i < 6; i++)
        assert_close(out[i], grey[2 * list[i / 2] + i % 2] / 255., 0, 0);
    dpi_column_gather(x, 2, NULL, 1, out);
    assert_true(out[0] == 0.2 && out[1] == 1 / 255. && out[2] == 254 / 255. && out[3] == 0.4);
    dpi_column_range(x, 1, 0, range);
    assert_true(range[0] == 0.2 && range[1] == 0.2);
    dp_dataset_free(data);
}

/* However many there are at a time, to the bit. */
static void many_bytes_are_the_same_numbers(void **state)
{
    (void)state;
    enum { SIZE = 777, ROWS = 5 };
    static unsigned char bytes[SIZE * ROWS];
    static double out[SIZE * ROWS];
    const unsigned mosts[] = {1, 7, 100, 255};
    for (size_t k = 0; k < sizeof mosts / sizeof *mosts; k++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (unsigned char)(i * 101 % (mosts[k] + 1));
        const dpi_column column = {.size = SIZE, .bytes = bytes, .most = mosts[k]};
        dpi_column_gather(&column, ROWS, NULL, 0, out);
        for (size_t i = 0; i < sizeof bytes; i++)
            assert_true(out[i] == bytes[i] / (double)mosts[k]);
    }
}

static void first_error_stays(void **state)
{
    (void)state;
    dp_dataset *data = dp_dataset_new(4);
    dp_dataset_real(data, "x", 3, real);
    dp_dataset_index(data, "x", group);
    assert_contains(dp_dataset_error(data), "'x' is given twice");
    assert_int_equal(data->err.status, DP_ENAME);
    dp_dataset_real(data, "y", 0, real);
    assert_contains(dp_dataset_error(data), "'x' is given twice");
    assert_null(dpi_dataset_find(data, "y"));
    dp_dataset_free(data);
}

static void refuses_impossible_sizes(void **state)
{
    (void)state;
    const size_t sizes[] = {0, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 16};
    for (size_t i = 0; i < 4; i++) {
        dp_dataset *data = dp_dataset_new(4);
        dp_dataset_real(data, "x", sizes[i], real);
        assert_int_equal(data->err.status, DP_ESHAPE);
        assert_contains(dp_dataset_error(data), "'x'");
        assert_null(dpi_dataset_find(data, "x"));
        dp_dataset_free(data);
    }
    dp_dataset_free(NULL);
}

static void of_no_records_says_so_and_stays_that_way(void **state)
{
    (void)state;
    dp_dataset *data = dp_dataset_new(0);
    dp_dataset_real(data, "x", 3, real);
    dp_dataset_index(data, "g", group);
    dp_dataset_unit(data, "g");
    assert_int_equal(data->err.status, DP_EDATA);
    assert_contains(dp_dataset_error(data), "no records");
    assert_int_equal(dp_dataset_size(data), 0);
    dp_dataset_free(data);
}

static void misuse(void *of)
{
    int which = *(int *)of;
    dp_dataset *data = dp_dataset_new(4);
    if (which == 0)
        dp_dataset_real(NULL, "x", 3, real);
    if (which == 1)
        dp_dataset_real(data, NULL, 3, real);
    if (which == 2)
        dp_dataset_unit(NULL, "x");
    if (which == 3)
        dp_dataset_unit(data, NULL);
    if (which == 4)
        dp_dataset_bernoulli(NULL, "x", 1, 0, NULL);
    if (which == 5)
        dp_dataset_bernoulli(data, NULL, 1, 0, NULL);
}

static void null_objects_are_misuse(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++)
        assert_aborts(misuse, &which);
}

/* What dp_table_real returns after an error goes straight into the data set. */
static void columns_without_values_are_an_error(void **state)
{
    (void)state;
    for (int index = 0; index < 2; index++) {
        dp_dataset *data = dp_dataset_new(4);
        if (index)
            dp_dataset_index(data, "x", NULL);
        else
            dp_dataset_real(data, "x", 3, NULL);
        assert_int_equal(data->err.status, DP_EINVAL);
        assert_contains(dp_dataset_error(data), "column 'x' has no values");
        assert_null(dpi_dataset_find(data, "x"));
        dp_dataset_free(data);
    }
}

static void the_unit_column_is_a_whole_number_column(void **state)
{
    (void)state;
    static const int32_t person[4] = {-7, 12, -7, INT32_MAX};
    const struct {
        const char *name, *says;
        dp_status status;
    } wrong[] = {{"nobody", "no column 'nobody' to be the unit column; add it", DP_ENAME},
                 {"x", "column 'x' is real", DP_EINVAL},
                 {"person", "there is one already", DP_ENAME}};
    for (int k = 0; k < 3; k++) {
        dp_dataset *data = dp_dataset_new(4);
        dp_dataset_real(data, "x", 1, real);
        dp_dataset_index(data, "person", person);
        if (k == 2)
            dp_dataset_unit(data, "person");
        assert_null(dp_dataset_error(data));
        assert_ptr_equal(data->unit, k == 2 ? person : NULL);
        dp_dataset_unit(data, wrong[k].name);
        assert_int_equal(data->err.status, wrong[k].status);
        assert_contains(dp_dataset_error(data), wrong[k].says);
        dp_dataset_unit(data, "person"); /* the first error stays */
        assert_contains(dp_dataset_error(data), wrong[k].says);
        dp_dataset_free(data);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    size_t k = 1;
    for (;; k++) {
        faulty_fail(k);
        dp_dataset *data = dp_dataset_new(4);
        for (int i = 0; i < 300 && data != NULL; i++) {
            char name[200];
            memset(name, 'a' + i % 26, sizeof name);
            name[188 + i / 26] = 0;
            dp_dataset_real(data, name, 3, real);
        }
        int failed = faulty_failed();
        faulty_fail(0);
        if (data != NULL) {
            assert_int_equal(data->err.status, failed ? DP_ENOMEM : DP_OK);
            assert_int_equal(dp_dataset_error(data) != NULL, failed);
            assert_true(failed || data->n_columns == 300);
        }
        dp_dataset_free(data);
        assert_int_equal(faulty_live(), 0);
        if (!failed)
            break;
    }
    assert_true(k > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_found_by_name),
        cmocka_unit_test(names_are_copied),
        cmocka_unit_test(gathers_ranges_and_lists),
        cmocka_unit_test(odds_are_exact),
        cmocka_unit_test(odds_out_of_range_are_refused),
        cmocka_unit_test(whole_numbers_come_in_blocks),
        cmocka_unit_test(bytes_are_divided),
        cmocka_unit_test(many_bytes_are_the_same_numbers),
        cmocka_unit_test(first_error_stays),
        cmocka_unit_test(refuses_impossible_sizes),
        cmocka_unit_test(of_no_records_says_so_and_stays_that_way),
        cmocka_unit_test(null_objects_are_misuse),
        cmocka_unit_test(columns_without_values_are_an_error),
        cmocka_unit_test(the_unit_column_is_a_whole_number_column),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
