/* Messages that point into a formula.
 *
 * Columns count characters from 1, not bytes, and the line that is shown is cut to a window around
 * the place, without control characters, so that message, line and caret are whole
 * in a dp_error. */
#include "formula/place.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

enum {
    BEFORE = 48, /* most bytes of the line before the place, and from it on */
    BEHIND = 40,
    MESSAGE = 310 /* most bytes of the sentence */
};

/* Whether a byte goes on with a character of UTF-8 that began before it. */
static bool goes_on(char c)
{
    return ((unsigned char)c & 0xc0U) == 0x80U;
}

static size_t characters(const char *text, size_t from, size_t to)
{
    size_t n = 0;
    for (size_t i = from; i < to; i++)
        n += goes_on(text[i]) ? 0 : 1;
    return n;
}

dp_status dpi_script_fail(const dpi_script *s, dp_status status, size_t at, const char *format, ...)
{
    char message[MESSAGE], where[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    at = at < s->size ? at : s->size;
    size_t line = 1, begin = 0, end = at;
    for (size_t i = 0; i < at; i++)
        if (s->text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    while (end < s->size && s->text[end] != '\n')
        end++;
    const size_t column = 1 + characters(s->text, begin, at);
    if (line > 1)
        (void)snprintf(where, sizeof where, "line %zu, column %zu", line, column);
    else
        (void)snprintf(where, sizeof where, "column %zu", column);
    size_t from = at - begin > BEFORE ? at - BEFORE : begin;
    size_t to = end - at > BEHIND ? at + BEHIND : end;
    while (from < at && goes_on(s->text[from]))
        from++;
    while (to > at && to < end && goes_on(s->text[to]))
        to--;
    char shown[BEFORE + BEHIND + 1] = {0};
    for (size_t i = from; i < to; i++)
        shown[i - from] = (char)((unsigned char)s->text[i] < ' ' ? ' ' : s->text[i]);
    return dpi_fail(s->err, status, "%s: %s\n  %s\n  %*s^", where, message, shown,
                    (int)characters(s->text, from, at), "");
}
