#include "data/cell.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

static const dpi_field_position at = {"people.csv", 7, "age", false};
static const dp_column wide = {.name = "age", .kind = DP_COLUMN_REAL, .low = -1e300, .high = 1e300};

static dp_status real(const char *field, double *value, dp_error *err)
{
    return dpi_cell_real(&wide, field, &at, value, err);
}

static void takes_decimal_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        double value;
    } good[] = {
        {"2.385", 2.385},   {"-0", -0.0},
        {"+.5", 0.5},       {"5.", 5},
        {"1e3", 1000},      {"1.25E-2", 0.0125},
        {" \t7.5 ", 7.5},   {"0.1", 0.1},
        {"1e-400", 0},      {"4.9406564584124654e-324", 4.9406564584124654e-324},
        {"00012", 12},      {"9007199254740993", 9007199254740992},
        {"18.4400", 18.44},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        dp_error err = {0};
        double value;
        assert_ok(real(good[i].field, &value, &err), err.text);
        assert_true(value == good[i].value);
    }
}

static void reads_back_what_17_digits_say(void **state)
{
    (void)state;
    char text[40];
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        double back, value = ldexp((double)(int64_t)bits, (int)(bits >> 55) - 320);
        (void)snprintf(text, sizeof text, "%.17g", value);
        assert_ok(real(text, &back, NULL), text);
        assert_true(back == value);
    }
}

/* Numbers that are converted here and not by strtod, and those at the border between them. */
static void few_digits_are_what_strtod_makes_of_them(void **state)
{
    (void)state;
    char text[40];
    uint64_t bits = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < 100000; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        const int digits = 1 + (int)(bits >> 60) + i % 4, point = i % (digits + 1);
        const char *sign = i % 3 == 0 ? "-" : i % 3 == 1 ? "" : "+";
        int n = snprintf(text, sizeof text, "%s", sign);
        for (int d = 0; d < digits; d++, bits = bits * 6364136223846793005u + 1)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%d", d == point ? "." : "",
                          (int)((bits >> 33) % 10));
        const double expected = strtod(text, NULL);
        double value;
        assert_ok(real(text, &value, NULL), text);
        assert_memory_equal(&value, &expected, sizeof value);
    }
}

static void refuses_what_is_no_decimal_number(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "x",   "1x",  "0x10", "1,5", ".",   "-",  "+-1", "1e",    "1e+", "e5",  "1.2.3", "1 2",
        "1_0", "NAx", "--1",  "1d3", "1p2", "\"", "-.",  "1e5.0", "٣",   "1;2", "infx",  "nan1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_error err = {0};
        double value = 1;
        assert_int_equal(real(bad[i], &value, &err), DP_EDATA);
        assert_true(isnan(value));
        assert_contains(err.text, "people.csv, line 7, column 'age': the value is not a number");
    }
}

static void refuses_missing_values(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "  ", "NA", " NA\t"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_error err = {0};
        double value = 1;
        assert_int_equal(real(bad[i], &value, &err), DP_EDATA);
        assert_true(isnan(value));
        assert_contains(err.text, "missing");
    }
}

static void refuses_what_is_not_finite(void **state)
{
    (void)state;
    static const char *const bad[] = {"NaN", "nan", "-nan", "Inf", "+INF", "-Infinity ", "1e999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_error err = {0};
        double value = 1;
        assert_int_equal(real(bad[i], &value, &err), DP_EDATA);
        assert_true(isnan(value));
        assert_contains(err.text, i < 6 ? "not finite" : "too large");
    }
}

static void bounds_hold_or_clamp(void **state)
{
    (void)state;
    dp_column age = {.name = "age", .kind = DP_COLUMN_REAL, .low = -2.5, .high = 100};
    double value;
    dp_error err = {0};
    assert_ok(dpi_cell_real(&age, "-2.5", &at, &value, &err), err.text);
    assert_ok(dpi_cell_real(&age, "100", &at, &value, &err), err.text);
    assert_int_equal(dpi_cell_real(&age, "100.77", &at, &value, &err), DP_EDOMAIN);
    assert_true(isnan(value));
    assert_contains(err.text, "outside the declared range -2.5 to 100;");
    assert_null(strstr(err.text, "100.77"));
    assert_int_equal(dpi_cell_real(&age, "-3", &at, &value, NULL), DP_EDOMAIN);
    age.clamp = true;
    assert_ok(dpi_cell_real(&age, "100.77", &at, &value, NULL), NULL);
    assert_true(value == 100);
    assert_ok(dpi_cell_real(&age, "-3", &at, &value, NULL), NULL);
    assert_true(value == -2.5);
    assert_int_equal(dpi_cell_real(&age, "inf", &at, &value, NULL), DP_EDATA);
}

static void integers_become_levels_from_the_lower_bound(void **state)
{
    (void)state;
    const dp_column district = {.name = "d", .kind = DP_COLUMN_INTEGER, .low = -3, .high = 61};
    static const struct {
        const char *field;
        dp_status status;
        int32_t level;
    } cases[] = {{"-3", DP_OK, 0},         {"61", DP_OK, 64},      {"1.0", DP_OK, 4},
                 {"62", DP_EDOMAIN, -1},   {"-4", DP_EDOMAIN, -1}, {"1.5", DP_EDATA, -1},
                 {"1e18", DP_EDOMAIN, -1}, {"NA", DP_EDATA, -1},   {"x", DP_EDATA, -1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t level = 77;
        dp_status s = dpi_cell_integer(&district, cases[i].field, &at, &level, NULL);
        assert_int_equal(s, cases[i].status);
        assert_int_equal(level, cases[i].level);
    }
}

static void levels_are_found_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {"N", "3+", "Y", "0", "NA", " b", "1", "2"};
    const dp_column c = {.name = "livch", .kind = DP_COLUMN_LEVEL, .levels = names, .n_levels = 8};
    dpi_arena arena = {0};
    dpi_level *sorted;
    int32_t level;
    dp_error err = {0};
    assert_ok(dpi_levels_sort(&c, &arena, &sorted, &err), err.text);
    for (int32_t i = 0; i < 8; i++) {
        assert_ok(dpi_cell_level(sorted, 8, names[i], &at, &level, &err), err.text);
        assert_int_equal(level, i);
    }
    assert_int_equal(dpi_cell_level(sorted, 8, "secret", &at, &level, &err), DP_EDOMAIN);
    assert_int_equal(level, -1);
    assert_contains(err.text, "people.csv, line 7, column 'age': the value is none of the 8");
    assert_null(strstr(err.text, "secret"));
    assert_int_equal(dpi_cell_level(sorted, 8, "", &at, &level, NULL), DP_EDATA);
    assert_int_equal(dpi_cell_level(sorted, 8, "b", &at, &level, NULL), DP_EDOMAIN);
    dpi_arena_free(&arena);
}

static void levels_are_named_once(void **state)
{
    (void)state;
    static const char *const twice[] = {"N", "Y", "N"}, *const empty[] = {"N", ""};
    dp_column c = {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = twice, .n_levels = 3};
    dpi_arena arena = {0};
    dpi_level *sorted;
    dp_error err = {0};
    assert_int_equal(dpi_levels_sort(&c, &arena, &sorted, &err), DP_EINVAL);
    assert_null(sorted);
    assert_contains(err.text, "column 'use': level 'N' is declared twice");
    c.levels = empty;
    c.n_levels = 2;
    err = (dp_error){0};
    assert_int_equal(dpi_levels_sort(&c, &arena, &sorted, &err), DP_EINVAL);
    assert_contains(err.text, "level 1 is empty");
    dpi_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_decimal_numbers),
        cmocka_unit_test(reads_back_what_17_digits_say),
        cmocka_unit_test(few_digits_are_what_strtod_makes_of_them),
        cmocka_unit_test(refuses_what_is_no_decimal_number),
        cmocka_unit_test(refuses_missing_values),
        cmocka_unit_test(refuses_what_is_not_finite),
        cmocka_unit_test(bounds_hold_or_clamp),
        cmocka_unit_test(integers_become_levels_from_the_lower_bound),
        cmocka_unit_test(levels_are_found_by_name),
        cmocka_unit_test(levels_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
