/* What a name may be: 1 to DPI_MOST_NAME bytes of any text without control characters. */
#include "base/name.h"

_Static_assert(DPI_MOST_NAME == 200, "the message below says 200");

bool dpi_is_control(const char *text, size_t left)
{
    const unsigned char c = (unsigned char)text[0];
    const unsigned char next = left > 1 ? (unsigned char)text[1] : 0;
    if (c == 0xe2 && (next == 0x80 || next == 0x81) && left > 2) {
        const unsigned char last = (unsigned char)text[2];
        return next == 0x80 ? last >= 0xaa && last <= 0xae : last >= 0xa6 && last <= 0xa9;
    }
    return c < 0x20 || c == 0x7f || (c == 0xc2 && next >= 0x80 && next < 0xa0);
}

const char *dpi_name_fault(const char *name)
{
    size_t length = 0;
    for (; length <= DPI_MOST_NAME && name[length] != 0; length++)
        if (dpi_is_control(name + length, 3)) /* behind the last stands 0, which ends it */
            return "must not hold line breaks or other control characters";
    if (length == 0)
        return "must not be empty";
    return length > DPI_MOST_NAME ? "must not be longer than 200 bytes" : NULL;
}
