/* Hostile NPY files of records: whatever the bytes are, reading ends, stays in bounds, and either
 * gives a table in which every value is what the schema declares, or an error with a message and no
 * table. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy-table.h"
#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_table(dp_table *table, bool named)
{
    int32_t met = 0;
    const double *age = dp_table_real(table, "age");
    const int32_t *district = dp_table_level(table, "district"),
                  *use = dp_table_level(table, "use");
    expect(age != NULL && district != NULL && use != NULL && dp_table_rows(table) >= 1);
    for (size_t i = 0; i < dp_table_rows(table); i++) {
        expect(age[i] >= -20 && age[i] <= 20.5);
        expect(district[i] >= 0 && district[i] < 61);
        expect(use[i] >= 0 && use[i] < (named ? met + 1 : 2));
        met += named && use[i] == met;
    }
}

static void read_once(const char *text, size_t size, const dp_csv_options *options, bool named)
{
    static const char *const levels[] = {"N", "Y"};
    dp_column schema[] = {
        {.name = "age", .kind = DP_COLUMN_REAL, .low = -20, .high = 20.5, .clamp = named},
        {.name = "district", .kind = DP_COLUMN_INTEGER, .low = 1, .high = 61},
        {.name = "use", .kind = DP_COLUMN_LEVEL, .levels = levels, .n_levels = 2},
    };
    if (named)
        schema[2] = (dp_column){.name = "use", .kind = DP_COLUMN_UNIT};
    dpi_source source;
    dp_error err = {0};
    dp_table *table;
    dpi_source_text(&source, "a file", text, size);
    dp_status status = dpi_npy_table(&source, options, 3, schema, &table, &err);
    expect((status == DP_OK) == (table != NULL) && status == err.status);
    expect(status == DP_OK || (strncmp(err.text, "a file", 6) == 0 && strlen(err.text) > 20));
    if (table != NULL)
        check_table(table, named);
    dp_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    read_once(text, size, NULL, false);
    read_once(text, size, NULL, true);
    read_once(text, size, &(dp_csv_options){.max_rows = 1, .drop_missing = true}, true);
    free(text);
    return 0;
}
