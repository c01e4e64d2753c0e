/* Effects of groups are named "r_<groups>__<effect>", their groups "g", "g:h" or "mm(g, h)"
 * (doc/design/formula.md).  Of combinations the last column's level changes first.  Names of
 * columns are anybody's, so that of all columns that a name may begin with each is tried; and the
 * number of groups must be the quantity's. */
#include <tacit/groups.h>

#include <stdio.h>
#include <string.h>

dp_schema *dp_groups_schema(const dp_fit *fit)
{
    const dp_fit_source *s = dp_fit_get_source(fit);
    dp_schema *schema = NULL;
    if (s != NULL &&
        dp_schema_parse(s->schema, strlen(s->schema), "schema", &schema, NULL) != DP_OK)
        return NULL;
    return schema;
}

static size_t levels_of(const dp_column *c)
{
    return c->kind == DP_COLUMN_LEVEL     ? c->n_levels
           : c->kind == DP_COLUMN_INTEGER ? (size_t)(c->high - c->low) + 1
                                          : 0;
}

/* What is behind `word`, where the text begins with it; else NULL. */
static const char *behind(const char *text, const char *word)
{
    const size_t n = strlen(word);
    return strncmp(text, word, n) == 0 ? text + n : NULL;
}

/* Reads the columns from here on; `product` is how many groups those before it make. */
static bool read_columns(const dp_schema *schema, const char *text, size_t product, size_t size,
                         dp_groups *g)
{
    size_t n;
    const dp_column *c = dp_schema_columns(schema, &n);
    if (g->n_by == DP_GROUP_COLUMNS)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *rest = behind(text, c[i].name);
        const size_t levels = levels_of(&c[i]);
        if (rest == NULL || levels == 0 || levels > size)
            continue;
        const size_t made = g->shared ? levels : product * levels;
        if (made > size)
            continue;
        g->by[g->n_by++] = &c[i];
        if (behind(rest, g->shared ? ")__" : "__") != NULL && made == size)
            return true;
        const char *next = behind(rest, g->shared ? ", " : ":");
        if (next != NULL && read_columns(schema, next, made, size, g))
            return true;
        g->n_by--;
    }
    return false;
}

dp_groups dp_groups_of(const dp_schema *schema, const char *name, size_t size)
{
    dp_groups g = {.n_by = 0};
    const char *text = behind(name, "r_");
    if (schema == NULL || text == NULL)
        return g;
    const char *inside = behind(text, "mm(");
    g.shared = inside != NULL;
    if (inside != NULL && read_columns(schema, inside, 1, size, &g))
        return g;
    g = (dp_groups){.n_by = 0};
    (void)read_columns(schema, text, 1, size, &g);
    return g;
}

size_t dp_groups_count(const dp_groups *g)
{
    size_t n = g->n_by > 0;
    for (size_t i = 0; i < (g->shared ? 1 : g->n_by); i++)
        n *= levels_of(g->by[i]);
    return n;
}

/* Adds "between" and a level, or as much of them as there is room for. */
static size_t add(size_t room, char *text, size_t used, const char *between, const char *word)
{
    const int n = snprintf(text + used, room - used, "%s%s", between, word);
    return n > 0 && used + (size_t)n < room ? used + (size_t)n : room - 1;
}

void dp_groups_level(const dp_groups *g, size_t k, size_t room, char *text)
{
    size_t used = 0, block = dp_groups_count(g), columns = g->shared ? 1 : g->n_by;
    text[0] = '\0';
    for (size_t i = 0; i < columns; i++) {
        const dp_column *c = g->by[i];
        char number[32];
        block /= levels_of(c);
        const size_t level = k / block % levels_of(c);
        (void)snprintf(number, sizeof number, "%.0f", c->low + (double)level);
        used = add(room, text, used, i > 0 ? ":" : "",
                   c->kind == DP_COLUMN_LEVEL ? c->levels[level] : number);
    }
}

void dp_groups_title(const dp_groups *g, size_t room, char *text)
{
    size_t used = g->shared ? add(room, text, 0, "", "mm(") : 0;
    text[used] = '\0';
    for (size_t i = 0; i < g->n_by; i++)
        used = add(room, text, used, i == 0 ? "" : g->shared ? ", " : ":", g->by[i]->name);
    if (g->shared)
        (void)add(room, text, used, "", ")");
}
