/* Numbers of texts, under a locale with a decimal comma. */
#include "base/plain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "tests/lib/comma.h"

static int print(char to[64], const char *format, ...) DPI_PRINTF(2, 3);

static int print(char to[64], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = dpi_plain_print(to, 64, format, list);
    va_end(list);
    return n;
}

static void numbers_have_a_point(void **state)
{
    char text[64], usual[64], *end;
    size_t n;
    (void)state;
    if (!comma_set()) {
        comma_end();
        skip();
    }
    (void)snprintf(usual, sizeof usual, "%.17g", 2.385);
    assert_non_null(strchr(usual, ','));
    assert_int_equal(print(text, "%.17g and %s", 2.385, "more"), 27);
    assert_string_equal(text, "2.3849999999999998 and more");
    assert_true(dpi_plain_real("2.385e-3;", &n) == 2.385e-3);
    assert_int_equal(n, 8);
    assert_true(dpi_plain_real("2,5", &n) == 2);
    assert_int_equal(n, 1);
    assert_true(strtod("2,5", &end) == 2.5); /* the caller's locale is as it was */
    comma_end();
}

static void what_is_no_number_is_told(void **state)
{
    size_t n = 1;
    (void)state;
    (void)dpi_plain_real("none", &n);
    assert_int_equal(n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_a_point),
        cmocka_unit_test(what_is_no_number_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
