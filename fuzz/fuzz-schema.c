/* Hostile schemas: whatever the bytes are, reading ends, stays in bounds, and gives either columns
 * that a table can be read with and a text that is read as the same schema again, or an error with
 * a message and no schema. */
#include <stdlib.h>
#include <string.h>

#include <tacit/schema.h>

#include "data/schema.h"
#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_schema(const dp_schema *schema)
{
    size_t n;
    dp_schema *again;
    dp_error err = {DP_OK, ""};
    const dp_column *columns = dp_schema_columns(schema, &n);
    const char *text = dp_schema_text(schema);
    expect(n >= 1 && dpi_schema_check(n, columns, &err) == DP_OK);
    expect(dp_schema_parse(text, strlen(text), "again", &again, &err) == DP_OK);
    expect(strcmp(dp_schema_text(again), text) == 0);
    expect(dp_schema_records(again) == dp_schema_records(schema));
    expect(dp_schema_csv(again)->separator == dp_schema_csv(schema)->separator);
    expect(dp_schema_csv(again)->drop_missing == dp_schema_csv(schema)->drop_missing);
    size_t n_again;
    const dp_column *c = dp_schema_columns(again, &n_again);
    expect(n_again == n);
    for (size_t i = 0; i < n; i++) {
        expect(c[i].kind == columns[i].kind && c[i].n_levels == columns[i].n_levels);
        expect(c[i].low == columns[i].low && c[i].high == columns[i].high);
        expect(c[i].clamp == columns[i].clamp && strcmp(c[i].name, columns[i].name) == 0);
        for (size_t k = 0; k < c[i].n_levels; k++)
            expect(strcmp(c[i].levels[k], columns[i].levels[k]) == 0);
    }
    dp_schema_free(again);
}

/* The first of all faults is the one that reading stops at. */
static void check_faults(const char *text, size_t size, const dp_error *first)
{
    dp_error faults[3];
    size_t n;
    dp_status status = dp_schema_check(text, size, "a schema", 3, faults, &n);
    expect(status == first->status && (status == DP_OK) == (n == 0) && n <= 3);
    expect(n == 0 || strcmp(faults[0].text, first->text) == 0);
    for (size_t i = 0; i < n; i++)
        expect(faults[i].status == DP_EDATA && strlen(faults[i].text) > 20);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_schema *schema;
    dp_error err = {DP_OK, ""};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    dp_status status = dp_schema_parse(text, size, "a schema", &schema, &err);
    expect(status == err.status && (status == DP_OK) == (schema != NULL));
    if (status == DP_OK)
        check_schema(schema);
    else
        expect(status == DP_EDATA && strncmp(err.text, "a schema", 8) == 0 &&
               strlen(err.text) > 20);
    dp_schema_free(schema);
    check_faults(text, size, &err);
    free(text);
    return 0;
}
