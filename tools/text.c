#include "tools/text.h"

#include <stdbool.h>
#include <stdint.h>

/* Bytes of a character by its first byte; 0 for what begins none. */
static size_t size_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

static bool is_shown(uint32_t c, size_t size)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    const bool turns = c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
                       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
    const bool is_none = (c >= 0xd800 && c < 0xe000) || (c & 0xfffe) == 0xfffe || c > 0x10ffff;
    return c >= least[size] && !control && !turns && !is_none;
}

size_t text_character(const char *text)
{
    const size_t size = size_of((unsigned char)text[0]);
    uint32_t c = (unsigned char)text[0];
    if (size == 0)
        return 0;
    if (size > 1)
        c &= 0xffU >> (size + 1);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    }
    return is_shown(c, size) ? size : 0;
}

size_t text_length(const char *text)
{
    size_t n = 0;
    while (*text != '\0') {
        const size_t size = text_character(text);
        text += size > 0 ? size : 1;
        n += size > 0;
    }
    return n;
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void text_html(FILE *out, const char *text)
{
    while (*text != '\0') {
        const size_t size = text_character(text);
        const char *instead = entity(*text);
        if (instead != NULL)
            (void)fputs(instead, out);
        else if (size > 0)
            (void)fwrite(text, 1, size, out);
        else
            (void)fputc(*text == '\n' || *text == '\t' ? *text : '?', out);
        text += size > 0 ? size : 1;
    }
}
