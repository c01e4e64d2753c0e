/* How a fit was asked for: texts that the program which made it gives, kept as they are.
 *
 * In a file the schema stands line by line, since texts there have no control characters. */
#include <string.h>

#include "base/error.h"
#include "base/name.h"
#include "fit/file-sections.h"

enum {
    MOST_LINE = 64 * 1024,    /* bytes of a formula, its family or its priors */
    MOST_SCHEMA = 1024 * 1024 /* as tacit/schema.h has it, and for its line ends */
};

/* Whether a text has so many bytes, and no control characters; of `lines`, line ends alone. */
static bool is_text(const char *text, size_t most, bool lines)
{
    size_t n = strnlen(text, most + 1);
    for (size_t i = 0; i < n && n <= most; i++)
        if (dpi_is_control(text + i, n - i) && !(lines && text[i] == '\n'))
            return false;
    return n > 0 && n <= most;
}

static dp_status check(const dp_fit_source *s, dp_error *err)
{
    const char *const line[] = {s->formula, s->family, s->priors};
    for (size_t i = 0; i < 3; i++)
        if (line[i] == NULL ? i < 2 : !is_text(line[i], MOST_LINE, false))
            return dpi_fail(err, DP_EINVAL,
                            "formula, family or priors of a fit's source are no texts of one line "
                            "and at most 64 KiB; give those of dp_formula_text and "
                            "dp_formula_family");
    if (s->schema == NULL || !is_text(s->schema, MOST_SCHEMA, true) ||
        s->schema[strlen(s->schema) - 1] != '\n')
        return dpi_fail(err, DP_EINVAL,
                        "the schema of a fit's source is no text of lines that each end, of at "
                        "most 1 MiB; give that of dp_schema_text");
    return DP_OK;
}

dp_status dp_fit_set_source(dp_fit *fit, const dp_fit_source *source, dp_error *err)
{
    if (fit == NULL || source == NULL)
        dpi_misuse(__func__, "NULL fit or source");
    dp_status status = check(source, err);
    if (status != DP_OK)
        return status;
    const char *const from[] = {source->formula, source->family, source->schema, source->priors};
    const char *to[4] = {NULL};
    for (size_t i = 0; i < 4 && from[i] != NULL; i++) {
        to[i] = dpi_arena_strdup(&fit->arena, from[i]);
        if (to[i] == NULL)
            return dpi_fail_nomem(err);
    }
    fit->source =
        (dp_fit_source){.formula = to[0], .family = to[1], .schema = to[2], .priors = to[3]};
    fit->parts.source = &fit->source;
    return DP_OK;
}

const dp_fit_source *dp_fit_get_source(const dp_fit *fit)
{
    return fit->parts.source;
}

/* ---- in a file ---- */

bool dpi_has_source(const dp_fit *fit)
{
    return fit->parts.source != NULL;
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text != 0; text++)
        n += *text == '\n';
    return n;
}

dp_status dpi_put_source(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    const dp_fit_source *s = fit->parts.source;
    dpi_arena arena = {0};
    char *schema = dpi_arena_strdup(&arena, s->schema);
    if (schema == NULL)
        return dpi_fail_nomem(err);
    dpi_bytes_text(out, s->formula);
    dpi_bytes_text(out, s->family);
    dpi_bytes_text(out, s->priors);
    dpi_bytes_number(out, count_lines(schema));
    for (char *line = schema, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        dpi_bytes_text(out, line);
    }
    dpi_arena_free(&arena);
    return DP_OK;
}

/* The lines of the schema, put together. */
static dp_status get_schema(dpi_fit_read *read, const char **schema, dp_error *err)
{
    dpi_reader *r = &read->r;
    size_t n = dpi_read_count(r, r->left / 8), used = 0, room = r->left + 1;
    char *to = dpi_arena_alloc(&read->arena, room, 1); /* a line takes more there than here */
    if (to == NULL)
        return dpi_fail_nomem(err);
    for (size_t k = 0; k < n; k++) {
        const char *line;
        if (!dpi_read_text(r, &read->arena, false, &line))
            return dpi_fail_nomem(err);
        if (r->bad)
            return DP_OK;
        size_t length = strlen(line);
        memcpy(to + used, line, length);
        to[used + length] = '\n';
        used += length + 1;
    }
    *schema = to;
    return DP_OK;
}

dp_status dpi_get_source(dpi_fit_read *read, dp_error *err)
{
    dp_fit_source *s = &read->source;
    dpi_reader *r = &read->r;
    if (!dpi_read_text(r, &read->arena, false, &s->formula) ||
        !dpi_read_text(r, &read->arena, false, &s->family) ||
        !dpi_read_text(r, &read->arena, true, &s->priors))
        return dpi_fail_nomem(err);
    dp_status status = get_schema(read, &s->schema, err);
    read->parts.source = s;
    return status;
}
