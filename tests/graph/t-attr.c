/* The table of attribute fields: nothing of dpi_attr is left out, and every walk sees all of it. */
#include <math.h>
#include <string.h>

#include "graph/attr.h"
#include "tests/lib/check.h"

/* Members by their order, so that the compiler warns of one that is not here
 * (-Wmissing-field-initializers). */
/* With room for a shape of one number more than `filled` has. */
static const double array_values[3] = {1.385, -0.0, 2.913};
static const dpi_attr filled = {
    {true, 1, {2, 3, 4, 5}, {6, 7, 8, 9}},    2.385, array_values, 10, 11, 12, 13, {true, false},
    {{14, 15}, {16, 17}, {18, 19}, {20, 21}},
};

static size_t element_size(dpi_field_kind kind)
{
    return kind == DPI_FIELD_COUNT    ? sizeof(size_t)
           : kind == DPI_FIELD_NUMBER ? sizeof(int)
           : kind == DPI_FIELD_REAL   ? sizeof(double)
           : kind == DPI_FIELD_FLAG   ? sizeof(bool)
                                      : sizeof(const double *);
}

/* Fields lie one after the other, each at the first offset that its alignment allows; a member
 * between them, or behind the last, would leave a gap. */
static void the_fields_are_all_of_the_struct_but_padding(void **state)
{
    (void)state;
    size_t end = 0;
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        size_t size = element_size(field->kind);
        assert_int_equal(field->offset, (end + size - 1) / size * size);
        end = field->offset + field->count * size;
    }
    assert_int_equal(end, sizeof(dpi_attr));
}

static void every_member_has_a_field_and_every_name_is_one(void **state)
{
    (void)state;
    unsigned members = 0;
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        members |= dpi_attr_fields[k].member;
        for (size_t l = 0; l < k; l++)
            assert_string_not_equal(dpi_attr_fields[k].name, dpi_attr_fields[l].name);
    }
    assert_int_equal(members, 2 * DPI_ATTR_WINDOW - 1);
}

/* Another element of the same kind. */
static uint64_t changed(const dpi_field *field, uint64_t bits)
{
    return field->kind == DPI_FIELD_FLAG ? !bits : bits ^ 1;
}

static void every_element_counts_in_comparing_and_hashing(void **state)
{
    (void)state;
    assert_true(dpi_attr_same(&filled, &filled));
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        for (size_t i = 0; i < dpi_field_size(field, &filled); i++) {
            double copy[3];
            dpi_attr other = filled;
            uint64_t bits = changed(field, dpi_field_get(field, &filled, i));
            if (field->kind == DPI_FIELD_ARRAY) {
                memcpy(copy, array_values, sizeof copy);
                memcpy(&copy[i], &bits, sizeof bits);
                other.array = copy;
            } else
                assert_true(dpi_field_set(field, &other, i, bits));
            assert_false(dpi_attr_same(&filled, &other));
            assert_false(dpi_attr_same(&other, &filled));
            assert_true(dpi_attr_hash(&filled, 1) != dpi_attr_hash(&other, 1));
        }
    }
    dpi_attr bare = filled;
    bare.array = NULL;
    assert_false(dpi_attr_same(&filled, &bare));
}

static void padding_does_not_count(void **state)
{
    (void)state;
    dpi_attr zeros, ones;
    memset(&zeros, 0, sizeof zeros);
    memset(&ones, 0xff, sizeof ones);
    for (size_t k = 0; k < dpi_n_attr_fields; k++)
        for (size_t i = 0; i < dpi_attr_fields[k].count; i++) {
            const dpi_field *field = &dpi_attr_fields[k];
            if (field->kind == DPI_FIELD_ARRAY)
                continue;
            uint64_t bits = dpi_field_get(field, &filled, i);
            assert_true(dpi_field_set(field, &zeros, i, bits));
            assert_true(dpi_field_set(field, &ones, i, bits));
            assert_int_equal(dpi_field_get(field, &ones, i), bits);
        }
    const double copy[2] = {1.385, -0.0};
    zeros.array = array_values;
    ones.array = copy; /* what it holds counts, not where it lies */
    assert_true(dpi_attr_same(&zeros, &ones));
    assert_true(dpi_attr_same(&zeros, &filled));
    assert_int_equal(dpi_attr_hash(&zeros, 7), dpi_attr_hash(&ones, 7));
}

static void numbers_are_told_apart_by_their_bits(void **state)
{
    (void)state;
    const dpi_attr zero = {.value = 0.0}, minus = {.value = -0.0}, nan = {.value = NAN};
    assert_false(dpi_attr_same(&zero, &minus));
    assert_true(dpi_attr_same(&nan, &nan));
}

static void bits_that_a_type_cannot_hold_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        dpi_attr attr = filled;
        if (field->kind == DPI_FIELD_FLAG)
            assert_false(dpi_field_set(field, &attr, 0, 2));
        if (field->kind == DPI_FIELD_NUMBER) {
            assert_false(dpi_field_set(field, &attr, 0, (uint64_t)1 << 31));
            assert_true(dpi_field_set(field, &attr, 0, (uint64_t)-1));
            assert_int_equal(dpi_field_get(field, &attr, 0), (uint64_t)-1);
            attr = filled;
        }
        if (field->kind == DPI_FIELD_ARRAY)
            assert_false(dpi_field_set(field, &attr, 0, 0));
        assert_true(dpi_attr_same(&attr, &filled));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fields_are_all_of_the_struct_but_padding),
        cmocka_unit_test(every_member_has_a_field_and_every_name_is_one),
        cmocka_unit_test(every_element_counts_in_comparing_and_hashing),
        cmocka_unit_test(padding_does_not_count),
        cmocka_unit_test(numbers_are_told_apart_by_their_bits),
        cmocka_unit_test(bits_that_a_type_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
