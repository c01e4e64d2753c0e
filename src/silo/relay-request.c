#include "silo/relay-request.h"

#include <string.h>

enum {
    BAD = 400,
    NO_METHOD = 405,
    NO_LENGTH = 411,
    NO_EXPECT = 417,
    LONG = 431,
    NO_CODING = 501,
    NO_VERSION = 505,
    MOST_DIGITS = 15
};

/* A piece of the text. */
typedef struct piece {
    const char *at;
    size_t n;
} piece;

static bool is(piece p, const char *text)
{
    return p.n == strlen(text) && memcmp(p.at, text, p.n) == 0;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether a piece begins with a text of small letters, whatever the piece's are. */
static bool begins(piece p, const char *text)
{
    const size_t n = strlen(text);
    for (size_t k = 0; k < n; k++)
        if (k >= p.n || lower(p.at[k]) != text[k])
            return false;
    return true;
}

static bool is_field(piece p, const char *name)
{
    return p.n == strlen(name) && begins(p, name);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number that a piece begins with; *digits of it. */
static uint64_t number(piece p, size_t *digits)
{
    uint64_t value = 0;
    for (*digits = 0; *digits < p.n && *digits < MOST_DIGITS && is_digit(p.at[*digits]); ++*digits)
        value = 10 * value + (uint64_t)(p.at[*digits] - '0');
    return value;
}

/* ---- the first line ---- */

static bool read_name(piece p, char name[DPI_RELAY_NAME])
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (p.n < 2 || p.n > DPI_RELAY_NAME || p.at[0] != '/')
        return false;
    for (size_t k = 1; k < p.n; k++)
        if (strchr(first, p.at[k]) == NULL && (k == 1 || (p.at[k] != '+' && p.at[k] != '.')))
            return false;
    memcpy(name, p.at + 1, p.n - 1);
    name[p.n - 1] = '\0';
    return true;
}

/* Cuts off what stands before the first blank. */
static piece word(piece *line)
{
    const char *blank = memchr(line->at, ' ', line->n);
    const piece p = {line->at, blank != NULL ? (size_t)(blank - line->at) : line->n};
    line->at += p.n + (blank != NULL);
    line->n -= p.n + (blank != NULL);
    return p;
}

static int read_first(piece line, dpi_relay_request *r)
{
    const piece method = word(&line), target = word(&line);
    if (line.n != 8 || memcmp(line.at, "HTTP/", 5) != 0)
        return BAD;
    if (!is(line, "HTTP/1.1"))
        return NO_VERSION;
    r->puts = is(method, "PUT");
    if (!r->puts && !is(method, "GET"))
        return NO_METHOD;
    return read_name(target, r->name) ? DPI_RELAY_GOOD : BAD;
}

/* ---- fields ---- */

static piece without_blanks(piece p)
{
    for (; p.n > 0 && (*p.at == ' ' || *p.at == '\t'); p.n--)
        p.at++;
    while (p.n > 0 && (p.at[p.n - 1] == ' ' || p.at[p.n - 1] == '\t'))
        p.n--;
    return p;
}

/* The seconds of "wait=N" among what is preferred; 0 for none. */
static uint32_t read_wait(piece p)
{
    size_t digits;
    while (p.n > 0 && !begins(p, "wait=")) {
        p.at++;
        p.n--;
    }
    if (p.n == 0)
        return 0;
    const uint64_t seconds = number((piece){p.at + 5, p.n - 5}, &digits);
    return seconds < DPI_RELAY_MOST_WAIT ? (uint32_t)seconds : DPI_RELAY_MOST_WAIT;
}

static int read_field(piece line, bool *has_length, dpi_relay_request *r)
{
    const char *colon = memchr(line.at, ':', line.n);
    const piece name = {line.at, colon != NULL ? (size_t)(colon - line.at) : 0};
    size_t digits = 0;
    if (name.n == 0 || memchr(name.at, ' ', name.n) != NULL ||
        memchr(name.at, '\t', name.n) != NULL)
        return BAD;
    const piece value = without_blanks((piece){colon + 1, line.n - name.n - 1});
    if (is_field(name, "transfer-encoding"))
        return NO_CODING;
    if (is_field(name, "expect"))
        return NO_EXPECT;
    if (is_field(name, "content-length")) {
        r->length = number(value, &digits);
        if (*has_length || digits == 0 || digits != value.n)
            return BAD;
        *has_length = true;
    }
    if (is_field(name, "prefer"))
        r->wait = read_wait(value);
    if (is_field(name, "connection") && is_field(value, "close"))
        r->closes = true;
    return DPI_RELAY_GOOD;
}

/* ---- lines ---- */

/* Whether a line begins at *at whose end is there: then it is cut off.  A byte that no line has is
 * BAD at once. */
static int next_line(const char *bytes, size_t n, size_t *at, piece *line)
{
    size_t k = *at;
    while (k < n && ((bytes[k] >= ' ' && bytes[k] <= '~') || bytes[k] == '\t'))
        k++;
    if (k < n && bytes[k] != '\r')
        return BAD;
    if (k + 1 >= n)
        return DPI_RELAY_MORE;
    *line = (piece){bytes + *at, k - *at};
    *at = k + 2;
    return bytes[k + 1] == '\n' ? DPI_RELAY_GOOD : BAD;
}

int dpi_relay_parse(const char *bytes, size_t n, dpi_relay_request *r)
{
    const size_t seen = n < DPI_RELAY_MOST_HEAD ? n : DPI_RELAY_MOST_HEAD;
    bool has_length = false;
    piece line;
    size_t at = 0;
    *r = (dpi_relay_request){.puts = false};
    int status = next_line(bytes, seen, &at, &line);
    if (status == DPI_RELAY_GOOD)
        status = read_first(line, r);
    while (status == DPI_RELAY_GOOD) {
        status = next_line(bytes, seen, &at, &line);
        if (status == DPI_RELAY_GOOD && line.n == 0)
            break;
        if (status == DPI_RELAY_GOOD)
            status = read_field(line, &has_length, r);
    }
    if (status == DPI_RELAY_MORE)
        return n >= DPI_RELAY_MOST_HEAD ? LONG : DPI_RELAY_MORE;
    r->head = at;
    if (status == DPI_RELAY_GOOD && r->puts && !has_length)
        return NO_LENGTH;
    if (status == DPI_RELAY_GOOD && !r->puts && has_length)
        return BAD;
    return status;
}
