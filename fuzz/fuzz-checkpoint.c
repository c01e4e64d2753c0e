/* Hostile checkpoints: whatever the bytes are, reading ends, stays in bounds, and either gives a
 * state that writes the same bytes again, or an error with a message.  The hash at the end is put
 * right, so that what lies behind it is reached; the bytes as they are are tried too. */
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "svi/checkpoint.h"

#include "fuzz/fuzz.h"

enum { HASH = 32 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void read_once(const unsigned char *bytes, size_t size)
{
    dpi_arena arena = {NULL};
    dpi_checkpoint c;
    dp_error err = {DP_OK, ""};
    dp_status status = dpi_checkpoint_parse(bytes, size, &arena, &c, &err);
    expect(status == err.status && (status == DP_OK || strlen(err.text) > 10));
    if (status == DP_OK) {
        unsigned char *again;
        size_t n;
        expect(c.done <= c.opts.steps && c.n_theta <= size / 16);
        for (size_t k = 0; k < c.n_vectors; k++)
            for (uint64_t i = 0; i < c.n_theta; i++)
                expect(isfinite(c.vector[k].at[i]));
        expect(dpi_checkpoint_write(&c, &again, &n, NULL) == DP_OK);
        expect(n == size && memcmp(again, bytes, n) == 0);
        dpi_free(again);
    }
    dpi_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes =
        calloc(size > 0 ? size : 1, 1); /* a block of just this size shows overruns */
    expect(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    read_once(bytes, size);
    if (size >= HASH) {
        (void)crypto_generichash(bytes + size - HASH, HASH, bytes, size - HASH, NULL, 0);
        read_once(bytes, size);
    }
    free(bytes);
    return 0;
}
