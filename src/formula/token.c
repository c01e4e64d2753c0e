/* Text into tokens.
 *
 *   name    letters, digits, '.' and '_', not beginning with a digit or '_', or with '.' and a
 *           digit; bytes above 127 are letters; or anything printable between `backquotes`
 *   number  digits ["." digits] [("e" / "E") [sign] digits]; also ".5"
 *   signs   + - * / : ^ ~ | || ( ) , ; =
 *
 * Blanks and line ends separate and mean nothing else.  The calling thread's locale must be C while
 * numbers are read. */
#include "formula/token.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"

enum { MOST_NUMBER = 40 }; /* bytes of a number */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80U) != 0;
}

static bool is_name_part(char c)
{
    return is_letter(c) || is_digit(c) || c == '.' || c == '_';
}

static void bad(dpi_scanner *s)
{
    s->now.kind = DPI_TOKEN_BAD;
}

static void scan_name(dpi_scanner *s)
{
    const char *text = s->script->text;
    size_t end = s->now.at;
    while (is_name_part(text[end]))
        end++;
    s->now.kind = DPI_TOKEN_NAME;
    s->now.size = end - s->now.at;
    s->at = end;
    if (s->now.size > DPI_MOST_NAME) {
        (void)dpi_script_fail(s->script, DP_EINVAL, s->now.at,
                              "a name has %zu bytes; use one of at most %d", s->now.size,
                              DPI_MOST_NAME);
        bad(s);
    }
}

static void scan_quoted(dpi_scanner *s)
{
    const char *text = s->script->text;
    const size_t begin = s->now.at + 1;
    size_t end = begin;
    while (end < s->script->size && text[end] != '`' && (unsigned char)text[end] >= ' ')
        end++;
    if (text[end] != '`' || end == begin || end - begin > DPI_MOST_NAME) {
        (void)dpi_script_fail(s->script, DP_EINVAL, s->now.at, "a name in backquotes %s",
                              text[end] != '`' ? "has no end; close it with another backquote"
                              : end == begin   ? "is empty; write the column's name between them"
                                               : "is longer than 200 bytes; use a shorter one");
        bad(s);
        return;
    }
    s->now.kind = DPI_TOKEN_NAME;
    s->now.at = begin;
    s->now.size = end - begin;
    s->at = end + 1;
}

static size_t skip_digits(const char *text, size_t at)
{
    while (is_digit(text[at]))
        at++;
    return at;
}

static void scan_number(dpi_scanner *s)
{
    const char *text = s->script->text;
    char digits[MOST_NUMBER + 1];
    size_t end = skip_digits(text, s->now.at);
    if (text[end] == '.')
        end = skip_digits(text, end + 1);
    if (text[end] == 'e' || text[end] == 'E') {
        const size_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
        if (is_digit(text[end + 1 + sign]))
            end = skip_digits(text, end + 1 + sign);
    }
    const size_t size = end - s->now.at;
    if (is_name_part(text[end])) {
        (void)dpi_script_fail(s->script, DP_EINVAL, end,
                              "a number goes over into letters; put a sign between them, or write "
                              "the name of a column in `backquotes`");
        bad(s);
        return;
    }
    if (size <= MOST_NUMBER) {
        memcpy(digits, text + s->now.at, size);
        digits[size] = 0;
        s->now.number = strtod(digits, NULL);
    }
    if (size > MOST_NUMBER || !isfinite(s->now.number)) {
        (void)dpi_script_fail(s->script, DP_EDOMAIN, s->now.at,
                              "a number is too long or too large; write one of at most %d digits "
                              "below 1e308",
                              MOST_NUMBER);
        bad(s);
        return;
    }
    s->now.kind = DPI_TOKEN_NUMBER;
    s->now.size = size;
    s->at = end;
}

void dpi_scan_next(dpi_scanner *s)
{
    const char *text = s->script->text;
    if (s->now.kind == DPI_TOKEN_BAD)
        return;
    size_t at = s->at;
    while (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')
        at++;
    const char c = text[at];
    s->now = (dpi_token){.kind = DPI_TOKEN_END, .at = at, .size = 1};
    s->at = at;
    if (at == s->script->size)
        return;
    if (is_letter(c) || (c == '.' && !is_digit(text[at + 1])))
        scan_name(s);
    else if (is_digit(c) || c == '.')
        scan_number(s);
    else if (c == '`')
        scan_quoted(s);
    else if (c == '|' && text[at + 1] == '|') {
        s->now.kind = DPI_TOKEN_BARS;
        s->now.size = 2;
        s->at = at + 2;
    } else if (c != 0 && strchr("+-*/:^~|(),;=", c) != NULL) {
        s->now.kind = c;
        s->at = at + 1;
    } else {
        const bool quote = c == '"' || c == '\'';
        (void)dpi_script_fail(
            s->script, DP_EINVAL, at,
            quote ? "formulas have no texts in quotes; leave this argument out"
                  : "a character that formulas do not have; names of columns that hold "
                    "such go into `backquotes`");
        bad(s);
    }
}

void dpi_scan_begin(dpi_scanner *s, const dpi_script *script)
{
    *s = (dpi_scanner){.script = script};
    dpi_scan_next(s);
}

const char *dpi_token_words(const dpi_scanner *s, const dpi_token *token,
                            char words[DPI_TOKEN_WORDS])
{
    static const char *const kinds[] = {"the name ", "the number ", ""};
    const int size = token->size < 40 ? (int)token->size : 40;
    if (token->kind == DPI_TOKEN_END)
        (void)snprintf(words, DPI_TOKEN_WORDS, "the end of the text");
    else
        (void)snprintf(words, DPI_TOKEN_WORDS, "%s'%.*s'",
                       token->kind < DPI_TOKEN_NAME ? "" : kinds[token->kind - DPI_TOKEN_NAME],
                       size, s->script->text + token->at);
    return words;
}
