/* The writer of JSON: RFC 8259.  Texts are UTF-8 as they come; bytes below 32, quotes and
 * backslashes are escaped, and bytes that are not ASCII are passed on only where they form
 * UTF-8. */
#include "tools/json.h"

#include <math.h>

/* Length of the UTF-8 sequence that begins at `s` and lies above ASCII; 0 when it is not one. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : s[0] >= 0xe0 && s[0] <= 0xef ? 3 : 0;
    if (s[0] >= 0xf0 && s[0] <= 0xf4)
        n = 4;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void text(FILE *out, const char *value)
{
    (void)fputc('"', out);
    for (const unsigned char *s = (const unsigned char *)value; *s != '\0'; s++) {
        size_t n = *s >= 0x80 ? utf8_length(s) : 0;
        if (*s == '"' || *s == '\\')
            (void)fprintf(out, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            (void)fprintf(out, "\\u%04x", *s);
        else if (*s < 0x80)
            (void)fputc(*s, out);
        else if (n == 0)
            (void)fputs("\\ufffd", out);
        else {
            (void)fwrite(s, 1, n, out);
            s += n - 1;
        }
    }
    (void)fputc('"', out);
}

static void name_of(json *j, const char *name)
{
    (void)fputs(j->items++ > 0 ? ", " : "", j->out);
    if (name != NULL) {
        text(j->out, name);
        (void)fputs(": ", j->out);
    }
}

json json_begin(FILE *out)
{
    (void)fputc('{', out);
    return (json){out, 0};
}

void json_number(json *j, const char *name, double value)
{
    name_of(j, name);
    if (isfinite(value))
        (void)fprintf(j->out, "%.17g", value);
    else
        (void)fputs("null", j->out);
}

void json_count(json *j, const char *name, unsigned long long value)
{
    name_of(j, name);
    (void)fprintf(j->out, "%llu", value);
}

void json_truth(json *j, const char *name, bool value)
{
    name_of(j, name);
    (void)fputs(value ? "true" : "false", j->out);
}

void json_text(json *j, const char *name, const char *value)
{
    name_of(j, name);
    if (value != NULL)
        text(j->out, value);
    else
        (void)fputs("null", j->out);
}

static void open(json *j, const char *name, char bracket)
{
    name_of(j, name);
    (void)fputc(bracket, j->out);
    j->items = 0;
}

static void shut(json *j, char bracket)
{
    (void)fputc(bracket, j->out);
    j->items = 1;
}

void json_list(json *j, const char *name)
{
    open(j, name, '[');
}

void json_end_list(json *j)
{
    shut(j, ']');
}

void json_object(json *j, const char *name)
{
    open(j, name, '{');
}

void json_end_object(json *j)
{
    shut(j, '}');
}

void json_end(json *j)
{
    (void)fputs("}\n", j->out);
}
