/* Hostile headers: of all that the other side can send in place of the header that must come, only
 * that one is taken, only a refusal in the opening refuses, and all else breaks the protocol.
 *
 * The first byte chooses what is expected; what follows, up to a header, is what is sent, and what
 * is missing there is as it must be. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/frame.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned choice = size > 0 ? data[0] : 0;
    dpi_frame f = {.kind = (uint16_t)(DPI_FRAME_OWN + choice % 3),
                   .layer = choice / 4 % 4,
                   .length = choice / 16,
                   .sequence = choice / 2};
    memset(f.session, 's', sizeof f.session);
    unsigned char must[DPI_FRAME_HEADER], came[DPI_FRAME_HEADER];
    dpi_frame_write(&f, must);
    memcpy(came, must, sizeof came);
    size_t given = size > 0 ? size - 1 : 0;
    if (given > 0)
        memcpy(came, data + 1, given < sizeof came ? given : sizeof came);
    dp_error err = {DP_OK, ""};
    dp_status status = dpi_frame_check(&f, came, &err);
    bool same = memcmp(must, came, sizeof must) == 0, refuses = false;
    for (int why = 1; why < DPI_N_REFUSALS; why++) {
        unsigned char refusal[DPI_FRAME_HEADER];
        const dpi_frame r = dpi_frame_refusal(&f, (dpi_refusal)why);
        dpi_frame_write(&r, refusal);
        refuses =
            refuses || (f.layer == DPI_FRAME_OPENING && memcmp(refusal, came, sizeof refusal) == 0);
    }
    expect((status == DP_OK) == same);
    expect((status == DP_EREFUSED) == refuses);
    expect(same || refuses || status == DP_EPEER);
    expect(err.status == status && (same || strlen(err.text) > 10));
    return 0;
}
