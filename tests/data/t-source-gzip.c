/* Tables that gzip has packed: the same as unpacked, and every way in which one may be damaged. */
#include <tacit/table.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/graph/faulty.h"
#include "tests/lib/check.h"

enum { ROWS = 40000, ROOM = 1 << 20 };

static const dp_column schema[] = {
    {.name = "x", .kind = DP_COLUMN_REAL, .low = 0, .high = 1000},
    {.name = "k", .kind = DP_COLUMN_INTEGER, .low = 0, .high = 96},
};

static size_t write_text(char *text, size_t rows)
{
    size_t n = (size_t)sprintf(text, "k,x\n");
    for (size_t i = 0; i < rows; i++)
        n += (size_t)sprintf(text + n, "%zu,%.3f\n", i * i % 97, (double)(i * 7919 % 100003) / 128);
    return n;
}

/* One member of gzip; gives its size. */
static size_t pack(const char *text, size_t n, unsigned char *to)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)text, .avail_in = (uInt)n};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = to;
    z.avail_out = ROOM;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t made = ROOM - z.avail_out;
    (void)deflateEnd(&z);
    return made;
}

static dp_status parse(const void *text, size_t n, const dp_csv_options *o, dp_table **t,
                       dp_error *err)
{
    *err = (dp_error){DP_OK, ""};
    return dp_table_parse_csv(text, n, o, 2, schema, t, err);
}

static void check_equal(dp_table *a, dp_table *b)
{
    const size_t n = dp_table_rows(a);
    assert_int_equal(n, dp_table_rows(b));
    assert_memory_equal(dp_table_real(a, "x"), dp_table_real(b, "x"), n * sizeof(double));
    assert_memory_equal(dp_table_level(a, "k"), dp_table_level(b, "k"), n * sizeof(int32_t));
}

static char text[ROOM];
static unsigned char packed[ROOM];

static void packed_tables_are_read(void **state)
{
    (void)state;
    dp_error err;
    dp_table *plain, *from_memory, *from_file;
    const size_t n = write_text(text, ROWS), half = n / 2;
    size_t size = pack(text, half, packed);
    size += pack(text + half, n - half, packed + size); /* two members */
    assert_true(n > 400000 && size < n);
    assert_ok(parse(text, n, NULL, &plain, &err), err.text);
    assert_ok(parse(packed, size, NULL, &from_memory, &err), err.text);
    check_equal(plain, from_memory);
    char path[] = "t-source-gzip-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, packed, size) == (ssize_t)size && close(file) == 0);
    const dp_csv_options two = {.threads = 2};
    assert_ok(dp_table_read_csv(path, &two, 2, schema, &from_file, &err), err.text);
    check_equal(plain, from_file);
    (void)unlink(path);
    dp_table_free(plain);
    dp_table_free(from_memory);
    dp_table_free(from_file);
}

static void damage_is_told(void **state)
{
    (void)state;
    dp_error err;
    dp_table *t;
    const size_t n = write_text(text, 20), size = pack(text, n, packed);
    for (size_t cut = 2; cut < size; cut++)
        assert_fails(parse(packed, cut, NULL, &t, &err), DP_EDATA, &err, "cut or damaged");
    packed[size - 6] ^= 1; /* of the checksum */
    assert_fails(parse(packed, size, NULL, &t, &err), DP_EDATA, &err, "cut or damaged (incorrect");
    packed[size - 6] ^= 1;
    packed[size] = 'x';
    assert_fails(parse(packed, size + 1, NULL, &t, &err), DP_EDATA, &err, "bytes behind");
    assert_ok(parse(packed, size, NULL, &t, &err), err.text);
    dp_table_free(t);
}

/* What unpacks to a thousand times its size is refused by the limits that a file would be. */
static void bombs_are_refused(void **state)
{
    (void)state;
    dp_error err;
    dp_table *t;
    const dp_csv_options small = {.max_bytes = ROOM / 2};
    memset(text, '1', ROOM);
    for (size_t i = 3; i < ROOM; i += 4)
        memcpy(text + i - 3, i == 3 ? "k,x\n" : "1,1\n", 4);
    size_t size = pack(text, ROOM, packed);
    assert_true(size < ROOM / 100);
    assert_fails(parse(packed, size, &small, &t, &err), DP_EDATA, &err, "max_bytes");
    assert_ok(parse(packed, size, NULL, &t, &err), err.text);
    dp_table_free(t);
    const dp_csv_options short_lines = {.max_line = 1000};
    memset(text + 4, '1', ROOM - 4);
    size = pack(text, ROOM, packed);
    assert_fails(parse(packed, size, &short_lines, &t, &err), DP_EDATA, &err, "max_line");
}

static void each_allocation_may_fail(void **state)
{
    (void)state;
    const size_t n = write_text(text, 20), size = pack(text, n, packed), before = faulty_live();
    for (size_t k = 1;; k++) {
        dp_error err;
        dp_table *t;
        faulty_fail(k);
        dp_status status = parse(packed, size, NULL, &t, &err);
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
        cmocka_unit_test(packed_tables_are_read),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(each_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
