/* Writing and comparing headers.  A refusal is a header alone, with the reason in place of the
 * length: what it says is a number of our list, and never a text of the other side. */
#include "wire/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"

static const unsigned char magic[3] = {'T', 'c', 'W'};

static const char *const refusals[] = {NULL,
#define ROW(name, text) text,
                                       DPI_REFUSAL_LIST(ROW)
#undef ROW
};

const char *dpi_refusal_text(uint32_t reason)
{
    return reason < DPI_N_REFUSALS ? refusals[reason] : NULL;
}

dpi_frame dpi_frame_refusal(const dpi_frame *expected, dpi_refusal reason)
{
    dpi_frame f = *expected;
    f.kind = DPI_FRAME_REFUSAL;
    f.length = (uint32_t)reason;
    return f;
}

static void put(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(number >> (8 * i));
}

static uint64_t get(const unsigned char *from, int bytes)
{
    uint64_t number = 0;
    for (int i = 0; i < bytes; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return number;
}

void dpi_frame_write(const dpi_frame *f, unsigned char to[DPI_FRAME_HEADER])
{
    memcpy(to, magic, sizeof magic);
    to[3] = DPI_FRAME_VERSION;
    put(to + 4, f->kind, 2);
    put(to + 6, 0, 2);
    put(to + 8, f->layer, 4);
    put(to + 12, f->length, 4);
    put(to + 16, f->sequence, 8);
    memcpy(to + 24, f->session, DPI_FRAME_SESSION);
}

static dp_status differs(const char *what, uint64_t found, uint64_t expected, dp_error *err)
{
    return dpi_fail(err, DP_EPEER,
                    "the other side sent a frame of %s %llu where one of %s %llu must come; it is "
                    "out of step or runs another program",
                    what, (unsigned long long)found, what, (unsigned long long)expected);
}

dp_status dpi_frame_check(const dpi_frame *expected, const unsigned char from[DPI_FRAME_HEADER],
                          dp_error *err)
{
    uint64_t kind = get(from + 4, 2), layer = get(from + 8, 4), length = get(from + 12, 4);
    uint64_t sequence = get(from + 16, 8);
    if (memcmp(from, magic, sizeof magic) != 0 || get(from + 6, 2) != 0)
        return dpi_fail(err, DP_EPEER, "the other side sent no frame; it is another program");
    if (from[3] != DPI_FRAME_VERSION)
        return dpi_fail(err, DP_EPEER,
                        "the other side sends frames of version %u and this is version %d; update "
                        "the older of the two",
                        (unsigned)from[3], DPI_FRAME_VERSION);
    if (memcmp(from + 24, expected->session, DPI_FRAME_SESSION) != 0)
        return dpi_fail(err, DP_EPEER, "the other side sent a frame of another session");
    if (sequence != expected->sequence)
        return differs("number", sequence, expected->sequence, err);
    if (layer != expected->layer)
        return differs("layer", layer, expected->layer, err);
    bool refusal = kind == DPI_FRAME_REFUSAL && expected->kind != DPI_FRAME_REFUSAL;
    const char *why = refusal ? dpi_refusal_text((uint32_t)length) : NULL;
    if (refusal && layer == DPI_FRAME_OPENING && why != NULL)
        return dpi_fail(err, DP_EREFUSED, "the other side refused: %s", why);
    if (kind != expected->kind)
        return differs("kind", kind, expected->kind, err);
    if (length != expected->length)
        return differs("length", length, expected->length, err);
    return DP_OK;
}
