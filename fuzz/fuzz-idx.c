/* Hostile IDX, packed or not: whatever the bytes are, reading stays in bounds and gives an array of
 * just the bytes that are there, or of those that zlib unpacks at once, or an error with a message
 * and no array. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ZLIB_CONST
#include <zlib.h>

#include <tacit/idx.h>

#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Whether zlib makes of it a header and just these values. */
static bool unpacks_to(const uint8_t *packed, size_t size, size_t n, const unsigned char *values)
{
    size_t room = n + 21; /* the longest header and a byte more */
    unsigned char *out = malloc(room);
    z_stream zip = {.next_in = packed, .avail_in = (uInt)size};
    expect(out != NULL && inflateInit2(&zip, 31) == Z_OK);
    zip.next_out = out;
    zip.avail_out = (uInt)room;
    bool same = inflate(&zip, Z_FINISH) == Z_STREAM_END && zip.avail_in == 0 && zip.total_out > n &&
                memcmp(out + zip.total_out - n, values, n) == 0;
    (void)inflateEnd(&zip);
    free(out);
    return same;
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
        if (copy[0] == 0x1f)
            expect(n >= 1 && n / 1032 <= size && unpacks_to(copy, size, n, dp_idx_values(idx)));
        else
            expect(n >= 1 && n < size && memcmp(dp_idx_values(idx), copy + size - n, n) == 0);
    } else {
        expect(strlen(err.text) > 10);
    }
    dp_idx_free(idx);
    free(copy);
    return 0;
}
