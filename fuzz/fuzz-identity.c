/* Hostile files of identities: whatever the bytes are, reading ends, stays in bounds, and gives a
 * key with the fingerprint of its certificate, or a message and nothing. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/identity.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_identity *identity = NULL;
    dp_error err = {DP_OK, ""};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    dp_status status = dpi_identity_parse(text, size, "a file", &identity, &err);
    expect((status == DP_OK) == (identity != NULL));
    expect(status == DP_OK || (status == DP_EDATA && strlen(err.text) > 10));
    if (identity != NULL) {
        unsigned char print[DPI_FINGERPRINT];
        const char *written = dp_identity_fingerprint(identity);
        expect(dpi_fingerprint_read(written, strlen(written), print));
        expect(memcmp(print, identity->fingerprint, sizeof print) == 0);
    }
    dp_identity_free(identity);
    free(text);
    return 0;
}
