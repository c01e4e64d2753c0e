/* What a name may be: 1 to DPI_MOST_NAME bytes of any text without control characters. */
#include "base/name.h"

_Static_assert(DPI_MOST_NAME == 200, "the message below says 200");

const char *dpi_name_fault(const char *name)
{
    size_t length = 0;
    for (; length <= DPI_MOST_NAME && name[length] != 0; length++)
        if ((unsigned char)name[length] < 0x20 || name[length] == 0x7f)
            return "must not hold line breaks or other control characters";
    if (length == 0)
        return "must not be empty";
    return length > DPI_MOST_NAME ? "must not be longer than 200 bytes" : NULL;
}
