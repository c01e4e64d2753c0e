/* Hostile IDX: whatever the bytes are, reading stays in bounds and gives an array of just the bytes that
 * are there, or an error with a message and no array. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/idx.h>

#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_error err = {0};
    dp_idx *idx;
    unsigned char *copy = malloc(size > 0 ? size : 1); /* of just this size shows any overrun */
    expect(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    dp_status status = dp_idx_parse(copy, size, &idx, &err);
    expect((status == DP_OK) == (idx != NULL) && status == err.status);
    if (idx != NULL) {
        size_t n = dp_idx_items(idx) * dp_idx_size(idx);
        expect(n >= 1 && n < size && memcmp(dp_idx_values(idx), copy + size - n, n) == 0);
    } else {
        expect(strlen(err.text) > 10);
    }
    dp_idx_free(idx);
    free(copy);
    return 0;
}
