/* Hostile NPY headers: whatever the bytes are, reading stays in bounds and gives a shape that just
 * fills the file, or an error with a message and no shape. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy-header.h"
#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_error err = {0};
    dpi_npy_header h;
    unsigned char *copy = malloc(size > 0 ? size : 1); /* of just this size shows any overrun */
    expect(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    dp_status status = dpi_npy_header_read(copy, size, size, &h, &err);
    expect(status == err.status);
    if (status == DP_OK)
        expect(h.rows > 0 && h.columns > 0 && h.start % 8 == 0 &&
               h.rows * h.columns * (h.real ? 8 : 4) == size - h.start);
    else
        expect(h.rows == 0 && h.columns == 0 && strlen(err.text) > 10);
    free(copy);
    return 0;
}
