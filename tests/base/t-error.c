#include "base/error.h"

#include <string.h>

#include "tests/lib/check.h"

static void first_error_stays(void **state)
{
    (void)state;
    dp_error err = {0};
    assert_int_equal(dpi_fail(&err, DP_ESHAPE, "left is %d", 3), DP_ESHAPE);
    assert_int_equal(dpi_fail(&err, DP_ENOMEM, "later"), DP_ESHAPE);
    assert_string_equal(err.text, "left is 3");
    assert_int_equal(dpi_fail(NULL, DP_EIO, "no object"), DP_EIO);
}

static void long_messages_are_cut(void **state)
{
    (void)state;
    dp_error err = {0};
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    (void)dpi_fail(&err, DP_EINVAL, "%s", text);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void every_status_has_name_and_text(void **state)
{
    (void)state;
    for (int s = 0; s < DP_N_STATUS; s++) {
        assert_memory_equal(dp_status_name((dp_status)s), s == 0 ? "DP_OK" : "DP_E", 4);
        assert_true(strlen(dp_status_text((dp_status)s)) > 3);
    }
    assert_string_equal(dp_status_name((dp_status)999), "DP_?");
}

static void misuse(void *of)
{
    (void)of;
    dpi_misuse("dp_test", "NULL handle");
}

static void misuse_aborts(void **state)
{
    (void)state;
    assert_aborts(misuse, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_stays),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(every_status_has_name_and_text),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
