/* Tables from NPY files of records: every kind of field, and every way in which a file may lie. */
#include "data/npy-table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { ROOM = 4096 };

typedef struct file {
    unsigned char bytes[ROOM];
    size_t n;
} file;

static void put(file *f, const void *bytes, size_t n)
{
    assert_true(f->n + n <= ROOM);
    memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
}

/* A little-endian number of `size` bytes. */
static void put_whole(file *f, int64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)((uint64_t)number >> (8 * i));
        put(f, &byte, 1);
    }
}

static void begin(file *f, const char *dictionary)
{
    const size_t length = strlen(dictionary) + 1;
    f->n = 0;
    put(f, "\x93NUMPY\x01\x00", 8);
    put_whole(f, (int64_t)length, 2);
    put(f, dictionary, length - 1);
    put(f, "\n", 1);
}

static dp_status read_file(const file *f, const dp_csv_options *o, size_t n,
                           const dp_column *schema, dp_table **t, dp_error *err)
{
    dpi_source source;
    char *copy = malloc(f->n + 1); /* of just this size, for sanitizers */
    assert_non_null(copy);
    memcpy(copy, f->bytes, f->n);
    *err = (dp_error){DP_OK, ""};
    dpi_source_text(&source, "t.npy", copy, f->n);
    dp_status status = dpi_npy_table(&source, o, n, schema, t, err);
    free(copy);
    return status;
}

static const char *const levels[] = {"\xc3\xa9\xf0\x9f\x98\x80", "ab", "1"};
static const dp_column schema[] = {
    {.name = "d", .kind = DP_COLUMN_REAL, .low = -1e9, .high = 1e9},
    {.name = "f", .kind = DP_COLUMN_REAL, .low = -1e9, .high = 1e9},
    {.name = "i", .kind = DP_COLUMN_INTEGER, .low = -128, .high = 127},
    {.name = "u", .kind = DP_COLUMN_INTEGER, .low = 0, .high = 65535},
    {.name = "who", .kind = DP_COLUMN_UNIT},
    {.name = "yes", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = 3},
    {.name = "bytes", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = 3},
    {.name = "text", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = 3},
};
enum { COLUMNS = sizeof schema / sizeof schema[0] };

static const char header[] =
    "{'descr': [('text', '<U3'), ('d', '<f8'), ('', '|V3'), ('f', '<f4'), ('i', '|i1'), "
    "('u', '<u2'), ('who', '<i8'), ('yes', '|b1'), (\"bytes\", '|S2'), ('other', '<f8')], "
    "'fortran_order': False, 'shape': (3,), }";

static void put_record(file *f, double d, float narrow, int64_t i, int64_t u, int64_t who)
{
    const uint32_t text[] = {0xe9, 0x1f600, 0}, two[] = {'a', 'b', 0};
    put(f, u % 2 ? text : two, 12);
    put(f, &d, 8);
    put(f, "xyz", 3);
    put(f, &narrow, 4);
    put_whole(f, i, 1);
    put_whole(f, u, 2);
    put_whole(f, who, 8);
    put(f, "\1", 1);
    put(f, u % 2 ? "ab" : "1\0", 2);
    put(f, &d, 8);
}

static void write_three(file *f)
{
    begin(f, header);
    put_record(f, 0.1, 0.5f, -128, 65535, INT64_MIN);
    put_record(f, -2.385, 3, 127, 0, INT64_MAX);
    put_record(f, 3, -4, -1, 257, INT64_MIN + 1);
}

static void every_kind_of_field_is_read(void **state)
{
    (void)state;
    file f;
    dp_table *t;
    dp_error err;
    write_three(&f);
    assert_ok(read_file(&f, NULL, COLUMNS, schema, &t, &err), err.text);
    const double d[] = {0.1, -2.385, 3}, narrow[] = {0.5, 3, -4};
    const int32_t i[] = {0, 255, 127}, u[] = {65535, 0, 257}, who[] = {0, 1, 2}, yes[] = {2, 2, 2},
                  bytes[] = {1, 2, 1}, text[] = {0, 1, 0};
    assert_int_equal(dp_table_rows(t), 3);
    assert_memory_equal(dp_table_real(t, "d"), d, sizeof d);
    assert_memory_equal(dp_table_real(t, "f"), narrow, sizeof narrow);
    assert_memory_equal(dp_table_level(t, "i"), i, sizeof i);
    assert_memory_equal(dp_table_level(t, "u"), u, sizeof u);
    assert_memory_equal(dp_table_level(t, "who"), who, sizeof who); /* apart by 1 at 2^63 */
    assert_memory_equal(dp_table_level(t, "yes"), yes, sizeof yes);
    assert_memory_equal(dp_table_level(t, "bytes"), bytes, sizeof bytes);
    assert_memory_equal(dp_table_level(t, "text"), text, sizeof text);
    dp_table_free(t);
}

static void what_is_missing_is_missing(void **state)
{
    (void)state;
    file f;
    dp_table *t;
    dp_error err;
    const dp_column one[] = {{.name = "x", .kind = DP_COLUMN_REAL, .low = 0, .high = 9}};
    const dp_csv_options drop = {.drop_missing = true};
    const double values[] = {1, (double)NAN, 3};
    begin(&f, "{'descr': [('x', '<f8')], 'fortran_order': True, 'shape': (3,), }");
    put(&f, values, sizeof values);
    assert_fails(read_file(&f, NULL, 1, one, &t, &err), DP_EDATA, &err,
                 "t.npy, record 2, column 'x': the value is missing");
    assert_ok(read_file(&f, &drop, 1, one, &t, &err), err.text);
    assert_int_equal(dp_table_rows(t), 2);
    dp_table_free(t);
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    file f;
    dp_table *t;
    dp_error err;
    write_three(&f);
    const file whole = f;
    for (f.n = 0; f.n < whole.n; f.n++) {
        assert_int_equal(read_file(&f, NULL, COLUMNS, schema, &t, &err), DP_EDATA);
        assert_null(t);
    }
    f = whole;
    put(&f, "x", 1);
    assert_fails(read_file(&f, NULL, COLUMNS, schema, &t, &err), DP_EDATA, &err, "bytes behind");
    f = whole;
    f.bytes[f.n - 10] = 0; /* of bytes: a zero before b */
    assert_fails(read_file(&f, NULL, COLUMNS, schema, &t, &err), DP_EDATA, &err,
                 "record 3, column 'bytes': the text is damaged");
    f = whole;
    f.bytes[f.n - 49 + 2] = 0xff; /* of text: no character */
    assert_fails(read_file(&f, NULL, COLUMNS, schema, &t, &err), DP_EDATA, &err,
                 "record 3, column 'text': the text is damaged");
}

static void refuses(const char *dictionary, dp_status status, const char *why)
{
    static const dp_column x = {.name = "x", .kind = DP_COLUMN_REAL, .low = 0, .high = 9};
    file f;
    dp_table *t;
    dp_error err;
    begin(&f, dictionary);
    put(&f, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_fails(read_file(&f, NULL, 1, &x, &t, &err), status, &err, why);
    assert_null(t);
}

static void other_arrays_are_refused(void **state)
{
    (void)state;
#define REST ", 'fortran_order': False, 'shape': (2,), }"
    refuses("{'descr': '<f8'" REST, DP_EDATA, "which column is which");
    refuses("{'descr': [('x', '|O')]" REST, DP_EDATA, "objects are not");
    refuses("{'descr': [('x', '>f8')]" REST, DP_EDATA, "little-endian");
    refuses("{'descr': [('x', '<f2')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '<f16')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '<i3')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '<f8', (2,))]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [(('t', 'x'), '<f8')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('', '<f8')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '|V8')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x\\\\', '<f8')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '<U99999999999999999999')]" REST, DP_EDATA, "no list of named");
    refuses("{'descr': [('x', '<f8')] 'shape': (2,)}", DP_EDATA, "damaged");
    refuses("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1, 2), }", DP_EDATA,
            "one dimension");
    refuses("{'descr': [], 'fortran_order': False, 'shape': (2,), }", DP_EDATA, "damaged");
    refuses("{'descr': [('x', '<f8')], 'shape': (2,), }", DP_EDATA, "damaged");
    refuses("{'descr': [('y', '<f8')]" REST, DP_ENAME, "no field 'x'");
    refuses("{'descr': [('x', '<f4'), ('x', '<f4')]" REST, DP_ENAME, "more than one field 'x'");
    refuses("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (0,), }", DP_EDATA,
            "bytes behind");
#undef REST
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    file f;
    write_three(&f);
    const size_t before = faulty_live();
    for (size_t k = 1;; k++) {
        dp_error err;
        dp_table *t;
        faulty_fail(k);
        dp_status status = read_file(&f, NULL, COLUMNS, schema, &t, &err);
        const int failed = faulty_failed();
        faulty_fail(0);
        dp_table_free(t);
        assert_int_equal(status, failed ? DP_ENOMEM : DP_OK);
        assert_int_equal(faulty_live(), before);
        if (!failed)
            return;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_field_is_read), cmocka_unit_test(what_is_missing_is_missing),
        cmocka_unit_test(damaged_files_are_refused),   cmocka_unit_test(other_arrays_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
