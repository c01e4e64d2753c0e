/* Hostile code books and public tables: whatever the bytes are, a draft is a schema that is read,
 * or there is an error with a message. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "data/draft.h"
#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void draft_once(const char *text, size_t size, dp_draft_from from)
{
    char *draft;
    dp_error err = {DP_OK, ""};
    dp_status status = dpi_draft_text(text, size, "a file", from, &draft, &err);
    expect(status == err.status && (status == DP_OK) == (draft != NULL));
    expect(status == DP_OK || (status == DP_EDATA && strncmp(err.text, "a file", 6) == 0));
    if (draft != NULL) {
        dp_schema *schema;
        expect(dp_schema_parse(draft, strlen(draft), "draft", &schema, &err) == DP_OK);
        dp_schema_free(schema);
    }
    dpi_free(draft);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    draft_once(text, size, DP_DRAFT_CODEBOOK);
    draft_once(text, size, DP_DRAFT_PUBLIC);
    free(text);
    return 0;
}
