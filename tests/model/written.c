#include "tests/model/written.h"

#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"

scene set_up(void)
{
    scene s = {.m = dp_model_new()};
    assert_non_null(s.m);
    s.rows = dp_unit_plate(s.m, "rows");
    s.groups = dp_plate_new(s.m, "groups", 4);
    s.x = dp_data(s.rows, "x", 3);
    s.g = dp_index(s.rows, "g", s.groups);
    s.w = dp_sample(s.m, "w", 3, dp_normal(0, 1));
    assert_int_equal(dp_model_status(s.m), DP_OK);
    assert_null(dp_model_error(s.m));
    return s;
}

void assert_error_at(const dp_model *m, dp_status status, const char *file, int line,
                     const char *says)
{
    const char *slash = strrchr(file, '/');
    char place[64];
    (void)snprintf(place, sizeof place, "%s:%d:", slash != NULL ? slash + 1 : file, line);
    assert_string_equal(dp_status_name(dp_model_status(m)), dp_status_name(status));
    assert_contains(dp_model_error(m), place);
    assert_contains(dp_model_error(m), says);
}
