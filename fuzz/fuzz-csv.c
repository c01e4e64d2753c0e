/* Hostile CSV texts: whatever the bytes are, reading ends, stays in bounds, and either gives a
 * table in which every value is what the schema declares, or an error with a message and no
 * table; the same one whatever blocks the text is cut into. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/table.h>

#include "data/read.h"
#include "data/schema.h"
#include "fuzz/fuzz.h"

enum { N_COLUMNS = 4, N_LEVELS = 3 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* `named`: "use" was read as whom the record belongs to, so it counts up as names are met. */
static void check_table(dp_table *table, bool named)
{
    int32_t met = 0;
    const double *age = dp_table_real(table, "age"), *height = dp_table_real(table, "height");
    const int32_t *district = dp_table_level(table, "district"),
                  *use = dp_table_level(table, "use");
    expect(age != NULL && height != NULL && district != NULL && use != NULL);
    expect(dp_table_rows(table) >= 1);
    for (size_t i = 0; i < dp_table_rows(table); i++) {
        expect(age[i] >= -20 && age[i] <= 20.5);
        expect(height[i] >= 0 && height[i] <= 1);
        expect(district[i] >= 0 && district[i] < 61);
        expect(use[i] >= 0 && use[i] < (named ? met + 1 : N_LEVELS));
        met += named && use[i] == met;
    }
}

static void expect_same(dp_table *a, dp_table *b)
{
    const size_t n = dp_table_rows(a);
    expect(dp_table_rows(b) == n);
    for (int j = 0; j < 2; j++) {
        const char *real = j == 0 ? "age" : "height", *level = j == 0 ? "district" : "use";
        expect(memcmp(dp_table_real(a, real), dp_table_real(b, real), n * sizeof(double)) == 0);
        expect(memcmp(dp_table_level(a, level), dp_table_level(b, level), n * sizeof(int32_t)) ==
               0);
    }
}

/* Reads the text once more, in blocks of a size that it chooses itself. */
static void read_in_blocks(const char *text, size_t size, const dp_csv_options *options,
                           const dp_column *schema, dp_table *whole, const dp_error *said)
{
    dp_csv_options filled;
    dpi_source source;
    dp_error err = {0};
    dp_table *table;
    dpi_source_text(&source, "CSV text", text, size);
    expect(dpi_csv_options_fill(options, &filled, NULL) == DP_OK);
    const size_t block = 1 + (size > 0 ? (unsigned char)text[size / 2] % 64 : 0);
    if (size > filled.max_bytes)
        return;
    expect(dpi_source_unzip(&source, (const unsigned char *)text, size, &err) == DP_OK);
    const bool packed = source.unzip != NULL;
    dp_status status = dpi_table_read(&source, block, &filled, N_COLUMNS, schema, &table, &err);
    dpi_source_close(&source);
    if (packed && said->status != DP_OK) /* a record before the damage may be told of, or not */
        expect(status != DP_OK);
    else
        expect(status == said->status && strcmp(err.text, said->text) == 0);
    if (table != NULL)
        expect_same(whole, table);
    dp_table_free(table);
}

static void read_once(const char *text, size_t size, const dp_csv_options *options, bool named)
{
    static const char *const levels[N_LEVELS] = {"N", "Y", "don't \"know\""};
    dp_column schema[N_COLUMNS] = {
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20.5},
        {.name = "height", .kind = DP_COLUMN_REAL, .low = 0, .high = 1, .clamp = true},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61},
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = N_LEVELS},
    };
    if (named)
        schema[3] = (dp_column){.name = "use", .kind = DP_COLUMN_UNIT};
    dp_error err = {0};
    dp_table *table;
    dp_status status = dp_table_parse_csv(text, size, options, N_COLUMNS, schema, &table, &err);
    expect((status == DP_OK) == (table != NULL) && status == err.status);
    expect(status == DP_OK || (strlen(err.text) > 10 && strlen(err.text) < sizeof err.text));
    if (table != NULL)
        check_table(table, named);
    read_in_blocks(text, size, options, schema, table, &err);
    dp_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const dp_csv_options semicolon = {.separator = ';'};
    const dp_csv_options tight = {.max_line = 40, .max_rows = 2, .max_bytes = 400};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    read_once(text, size, NULL, false);
    read_once(text, size, NULL, true);
    read_once(text, size, &semicolon, false);
    read_once(text, size, &tight, true);
    read_once(text, size, &(dp_csv_options){.drop_missing = true}, true);
    free(text);
    return 0;
}
