/* Hostile files of fits: whatever the bytes are, reading ends, stays in bounds, and either gives a
 * fit that writes the same bytes again, or an error with a message.  The hash in the head is put
 * right, so that what lies behind it is reached; the bytes as they are are tried too. */
#include <stdlib.h>
#include <string.h>

#include "fit/file.h"

#include "fuzz/fuzz.h"

enum { HEAD = 64 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void read_once(const unsigned char *bytes, size_t size)
{
    dp_fit *fit;
    dp_error err = {DP_OK, ""};
    dp_status status = dpi_fit_restore(bytes, size, &fit, &err);
    expect(status == err.status && (status == DP_OK || strlen(err.text) > 10));
    expect((status == DP_OK) == (fit != NULL));
    if (status == DP_OK) {
        dpi_bytes again = {0};
        expect(dpi_fit_store(fit, &again, NULL) == DP_OK);
        expect(again.n == size && memcmp(again.at, bytes, size) == 0);
        dpi_bytes_free(&again);
    }
    dp_fit_free(fit);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned char *bytes =
        calloc(size > 0 ? size : 1, 1); /* a block of just this size shows overruns */
    expect(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    read_once(bytes, size);
    if (size >= HEAD) {
        dpi_put_number(bytes + 16, size); /* else only bytes of the right number go on */
        dpi_fit_seal(bytes, size);
        read_once(bytes, size);
    }
    free(bytes);
    return 0;
}
