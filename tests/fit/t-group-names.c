/* Groups by their names: of one column, of combinations, of shared levels; and none where the size
 * or the name does not fit. */
#include <string.h>

#include <tacit/groups.h>

#include "tests/lib/check.h"

static const char text[] = "district integer 35 .. 37\n"
                           "urban level N Y\n"
                           "a__b level x y z\n"
                           "a level p q\n"
                           "y real 0 .. 1\n";

static dp_schema *schema(void)
{
    dp_schema *s;
    assert_int_equal(dp_schema_parse(text, strlen(text), "s", &s, NULL), DP_OK);
    return s;
}

static void assert_level(const dp_groups *by, size_t k, const char *wanted)
{
    char level[DP_GROUP_ROOM];
    dp_groups_level(by, k, sizeof level, level);
    assert_string_equal(level, wanted);
}

static void assert_title(const dp_groups *by, const char *wanted)
{
    char title[DP_GROUP_ROOM];
    dp_groups_title(by, sizeof title, title);
    assert_string_equal(title, wanted);
}

static void groups_of_a_column_have_its_levels(void **state)
{
    dp_schema *s = schema();
    (void)state;
    dp_groups by = dp_groups_of(s, "r_district__Intercept", 3);
    assert_int_equal(dp_groups_count(&by), 3);
    assert_level(&by, 0, "35");
    assert_level(&by, 2, "37");
    assert_title(&by, "district");
    by = dp_groups_of(s, "r_urban__x", 2);
    assert_level(&by, 1, "Y");
    dp_schema_free(s);
}

static void combinations_change_the_last_column_first(void **state)
{
    dp_schema *s = schema();
    (void)state;
    const dp_groups by = dp_groups_of(s, "r_district:urban__Intercept", 6);
    assert_int_equal(dp_groups_count(&by), 6);
    assert_level(&by, 1, "35:Y");
    assert_level(&by, 4, "37:N");
    assert_title(&by, "district:urban");
    dp_schema_free(s);
}

static void names_with_underscores_are_told_apart_by_their_number(void **state)
{
    dp_schema *s = schema();
    (void)state;
    dp_groups by = dp_groups_of(s, "r_a__b__Intercept", 3);
    assert_title(&by, "a__b");
    by = dp_groups_of(s, "r_a__b__Intercept", 2); /* the effect b__Intercept of a */
    assert_title(&by, "a");
    dp_schema_free(s);
}

static void what_fits_no_column_has_no_groups(void **state)
{
    dp_schema *s = schema();
    (void)state;
    assert_int_equal(dp_groups_of(s, "r_district__Intercept", 4).n_by, 0);
    assert_int_equal(dp_groups_of(s, "b_district__Intercept", 3).n_by, 0);
    assert_int_equal(dp_groups_of(s, "r_y__Intercept", 1).n_by, 0);
    assert_int_equal(dp_groups_of(NULL, "r_district__Intercept", 3).n_by, 0);
    dp_schema_free(s);
}

static void a_name_is_cut_where_there_is_no_room(void **state)
{
    dp_schema *s = schema();
    char level[4] = "###";
    (void)state;
    const dp_groups by = dp_groups_of(s, "r_district:urban__Intercept", 6);
    dp_groups_level(&by, 1, sizeof level, level);
    assert_string_equal(level, "35:");
    dp_schema_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_of_a_column_have_its_levels),
        cmocka_unit_test(combinations_change_the_last_column_first),
        cmocka_unit_test(names_with_underscores_are_told_apart_by_their_number),
        cmocka_unit_test(what_fits_no_column_has_no_groups),
        cmocka_unit_test(a_name_is_cut_where_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
