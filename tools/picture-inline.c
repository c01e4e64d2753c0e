/* The elements and attributes that may stay are listed, and everything else is left out or refused,
 * so that what a page holds does not rest on how well gnuplot escapes the texts it is given.
 * Namespaces are left out: a page of HTML has them by itself. */
#include "tools/picture-inline.h"

#include <ctype.h>
#include <string.h>

#include "tools/text.h"

enum { MOST_DEPTH = 16 };

/* Where reading stands. */
typedef struct copy {
    const char *at;
    const char *id;
    FILE *out;
    size_t depth;
    const char *open[MOST_DEPTH]; /* elements that are open */
} copy;

static const char *const kept[] = {"g",       "defs", "path", "rect", "circle",
                                   "polygon", "use",  "text", "tspan"};
static const char *const left_out[] = {"title", "desc", "filter"};
static const char *const attributes[] = {"x",
                                         "y",
                                         "width",
                                         "height",
                                         "r",
                                         "cx",
                                         "cy",
                                         "d",
                                         "points",
                                         "transform",
                                         "fill",
                                         "color",
                                         "stroke",
                                         "stroke-width",
                                         "stroke-linecap",
                                         "font-size",
                                         "font-family",
                                         "text-anchor",
                                         "stroke-linejoin",
                                         "stroke-dasharray",
                                         "font-weight",
                                         "font-style",
                                         "fill-opacity",
                                         "stroke-opacity",
                                         "xml:space",
                                         "shape-rendering"};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const char *word_of(const char *text, size_t n, const char *const *list, size_t n_list)
{
    for (size_t i = 0; i < n_list; i++)
        if (strlen(list[i]) == n && memcmp(list[i], text, n) == 0)
            return list[i];
    return NULL;
}

static size_t name_length(const char *text)
{
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '-' || text[n] == ':' || text[n] == '_')
        n++;
    return n;
}

/* Whether a value draws and does nothing else: it names nothing outside and ends no attribute. */
static bool is_plain(const char *value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strchr("<>&\"':\\", value[i]) != NULL || (unsigned char)value[i] >= 0x80)
            return false;
    for (size_t i = 0; i + 3 < n; i++)
        if (memcmp(value + i, "url(", 4) == 0)
            return false;
    return true;
}

static bool copy_value(copy *c, const char *name, size_t n_name, const char *value, size_t n)
{
    if (word_of(name, n_name, attributes, COUNT(attributes)) != NULL)
        (void)fprintf(c->out, " %.*s=\"%.*s\"", (int)n_name, name, (int)n, value);
    else if (n_name == 2 && memcmp(name, "id", 2) == 0)
        (void)fprintf(c->out, " id=\"%s-%.*s\"", c->id, (int)n, value);
    else if (n_name == 10 && memcmp(name, "xlink:href", 10) == 0 && n > 0 && value[0] == '#')
        (void)fprintf(c->out, " href=\"#%s-%.*s\"", c->id, (int)n - 1, value + 1);
    else if (n_name != 5 || memcmp(name, "class", 5) != 0) /* a class means nothing without style */
        return false;
    return is_plain(value, n);
}

/* The attributes up to the tag's end; *closed [out] tells whether the element ends with it. */
static bool copy_attributes(copy *c, bool *closed)
{
    for (;;) {
        c->at += strspn(c->at, " \t\r\n");
        *closed = c->at[0] == '/' && c->at[1] == '>';
        if (*closed || c->at[0] == '>') {
            (void)fputs(*closed ? "/>" : ">", c->out);
            c->at += *closed ? 2 : 1;
            return true;
        }
        const char *name = c->at;
        const size_t n = name_length(name);
        const char *value = name + n + strspn(name + n, " =");
        const char quote = *value;
        const char *end = quote == '"' || quote == '\'' ? strchr(++value, quote) : NULL;
        if (n == 0 || end == NULL || !copy_value(c, name, n, value, (size_t)(end - value)))
            return false;
        c->at = end + 1;
    }
}

/* Skips an element with all that is in it; none of these holds another of its name. */
static bool skip_element(copy *c, const char *name)
{
    const size_t n = strlen(name);
    for (const char *end = strstr(c->at, "</"); end != NULL; end = strstr(end + 2, "</"))
        if (strncmp(end + 2, name, n) == 0 && end[n + 2] == '>') {
            c->at = end + n + 3;
            return true;
        }
    return false;
}

static bool copy_start(copy *c)
{
    const size_t n = name_length(c->at);
    const char *skipped = word_of(c->at, n, left_out, COUNT(left_out));
    const char *name = word_of(c->at, n, kept, COUNT(kept));
    bool closed;
    if (skipped != NULL)
        return skip_element(c, skipped);
    if (name == NULL || c->depth == MOST_DEPTH)
        return false;
    (void)fprintf(c->out, "<%s", name);
    c->at += n;
    if (!copy_attributes(c, &closed))
        return false;
    if (!closed)
        c->open[c->depth++] = name;
    return true;
}

static bool copy_end(copy *c)
{
    const size_t n = name_length(c->at);
    if (c->depth == 0 || word_of(c->at, n, &c->open[c->depth - 1], 1) == NULL || c->at[n] != '>')
        return false;
    (void)fprintf(c->out, "</%s>", c->open[--c->depth]);
    c->at += n + 1;
    return true;
}

/* Up to the picture's end. */
static bool copy_content(copy *c)
{
    for (;;) {
        const size_t n = strcspn(c->at, "<");
        (void)fwrite(c->at, 1, n, c->out);
        c->at += n;
        if (c->depth == 0 && strncmp(c->at, "</svg>", 6) == 0)
            return true;
        if (*c->at == '\0')
            return false;
        c->at++;
        const bool ends = *c->at == '/';
        c->at += ends;
        if (!(ends ? copy_end(c) : copy_start(c)))
            return false;
    }
}

bool picture_inline(const char *svg, const char *id, const char *label, FILE *out, message *why)
{
    copy c = {.id = id, .out = out};
    double width, height;
    const char *start = strstr(svg, "<svg");
    const char *box = start != NULL ? strstr(start, "viewBox=\"0 0 ") : NULL;
    c.at = box != NULL ? strchr(box, '>') : NULL;
    if (c.at == NULL || sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) != 2)
        return complain(why, "what gnuplot has drawn is no SVG");
    c.at++;
    (void)fprintf(out, "<svg viewBox=\"0 0 %.0f %.0f\" width=\"100%%\" role=\"img\" aria-label=\"",
                  width, height);
    text_html(out, label);
    (void)fputs("\">", out);
    if (!copy_content(&c))
        return complain(why, "what gnuplot has drawn is not what a page may hold, near '%.40s'",
                        c.at);
    (void)fputs("</svg>\n", out);
    return true;
}
