/* What reads options.
 *
 * Numbers are decimals or fractions a/b; anything after them, an infinity or a NaN is an error. */
#include "tools/options.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool complain(message *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
    return false;
}

settings settings_none(void)
{
    return (settings){.sigma = NAN,
                      .q = NAN,
                      .steps = NAN,
                      .n = NAN,
                      .batch = NAN,
                      .epoch = NAN,
                      .cap = NAN,
                      .rows = NAN,
                      .categories = NAN,
                      .sampling = -1,
                      .noise = -1,
                      .adjacency = -1,
                      .epsilon = NAN,
                      .delta = NAN,
                      .width = NAN,
                      .runs = NAN,
                      .canaries = NAN,
                      .confidence = NAN,
                      .share = NAN,
                      .draws = NAN,
                      .threads = NAN,
                      .in_flight = NAN,
                      .id = NAN,
                      .lanes = NAN,
                      .records = NAN,
                      .seed = NAN,
                      .simulations = NAN,
                      .weight_bits = NAN,
                      .activation_bits = NAN,
                      .protocol = -1,
                      .mode = -1,
                      .key_bits = -1,
                      .levels = NAN,
                      .colluders = NAN,
                      .dropouts = NAN,
                      .local_steps = NAN,
                      .rounds = NAN,
                      .patience = NAN,
                      .letters = NAN,
                      .total = NAN,
                      .largest = NAN,
                      .connections = NAN,
                      .parts = NAN,
                      .residual_most = NAN,
                      .step = NAN,
                      .ridge = NAN,
                      .twins = NAN,
                      .level = NAN,
                      .rule = -1,
                      .target = -1,
                      .format = -1};
}

/* Edit distance of two words; `LONGEST` when one is longer than that. */
static size_t distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    size_t row[LONGEST + 1], na = strlen(a), nb = strlen(b);
    if (na > LONGEST || nb > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t insert = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < insert ? change : insert;
        }
    }
    return row[nb];
}

const char *nearest_name(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t least = strlen(name) / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        size_t d = distance(name, names[i]);
        if (d < least) {
            least = d;
            best = names[i];
        }
    }
    return best;
}

/* A decimal number or a fraction; false on anything else (strtod would read hexadecimal, too). */
bool options_number(const char *text, double *value)
{
    char *end;
    if (strpbrk(text, "xXpP") != NULL)
        return false;
    if (!isdigit((unsigned char)text[text[0] == '-' || text[0] == '.']))
        return false;
    *value = strtod(text, &end);
    if (*end == '/' && isdigit((unsigned char)end[1]))
        *value /= strtod(end + 1, &end);
    return *end == '\0' && isfinite(*value);
}

const char *options_port(const char *text, size_t room, char *host)
{
    const char *colon = strrchr(text, ':');
    size_t n = colon != NULL ? (size_t)(colon - text) : 0;
    if (n > 2 && text[0] == '[' && colon[-1] == ']') {
        text++;
        n -= 2;
    }
    if (n == 0 || n >= room || colon[1] == '\0')
        return NULL;
    memcpy(host, text, n);
    host[n] = '\0';
    return colon + 1;
}

static bool in_range(const option_range *r, double value)
{
    return (r->open_below ? value > r->least : value >= r->least) &&
           (r->open_above ? value < r->most : value <= r->most) &&
           (!r->whole || value == floor(value));
}

static bool set_numbers(const option *o, const char *text, number_list *list)
{
    char item[64];
    for (list->n = 0; list->n < MOST_JUMPS;) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= sizeof item)
            return false;
        memcpy(item, text, length);
        item[length] = '\0';
        double *value = &list->value[list->n++];
        if (!options_number(item, value) || !in_range(o->range, *value))
            return false;
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
    return false;
}

static bool add_text(const char *text, text_list *list)
{
    if (list->n == MOST_TEXTS)
        return false;
    list->value[list->n++] = text;
    return true;
}

static bool set_word(const option *o, const char *text, int *word)
{
    for (size_t i = 0; i < o->n_words; i++)
        if (strcmp(text, o->words[i].name) == 0) {
            *word = o->words[i].value;
            return true;
        }
    return false;
}

/* What the option takes: "a number above 0", "poisson, fixed or full". */
static void describe_values(const option *o, char *text, size_t size)
{
    text[0] = '\0';
    if (o->range != NULL)
        (void)snprintf(text, size, "%s", o->range->text);
    else if (o->kind == OPTION_TEXTS)
        (void)snprintf(text, size, "it at most %d times", MOST_TEXTS);
    for (size_t i = 0; i < o->n_words; i++) {
        size_t length = strlen(text);
        const char *joint = i == 0 ? "" : i + 1 < o->n_words ? ", " : " or ";
        (void)snprintf(text + length, size - length, "%s%s", joint, o->words[i].name);
    }
}

static bool set_value(const option *o, const char *dashes, const char *text, settings *into,
                      message *why)
{
    void *place = (char *)into + o->offset;
    bool good = true;
    for (size_t i = 0; i < n_options; i++)
        if (into->given[i] && option_table[i].offset == o->offset && o->kind != OPTION_TEXTS)
            return complain(why, "%s%s is given twice; give it once", dashes, o->name);
    into->given[o - option_table] = true;
    if (o->kind == OPTION_TEXT)
        *(const char **)place = text;
    else if (o->kind == OPTION_TEXTS)
        good = add_text(text, place);
    else if (o->kind == OPTION_FLAG)
        *(bool *)place = true;
    else if (o->kind == OPTION_WORD)
        good = set_word(o, text, place);
    else if (o->kind == OPTION_NUMBERS)
        good = set_numbers(o, text, place);
    else
        good = options_number(text, place) && in_range(o->range, *(double *)place);
    if (good)
        return true;
    char values[160];
    describe_values(o, values, sizeof values);
    return complain(why, "%s%s is '%.60s'; give %s, as in %s%s%s%s", dashes, o->name, text, values,
                    dashes, o->name, dashes[0] == '-' ? " " : "=", o->example);
}

static const option *find(unsigned command, const char *name, size_t length)
{
    for (size_t i = 0; i < n_options; i++) {
        const option *o = &option_table[i];
        if ((o->commands & command) && strlen(o->name) == length &&
            memcmp(o->name, name, length) == 0)
            return o;
    }
    return NULL;
}

static bool unknown(unsigned command, const char *dashes, const char *name, size_t length,
                    message *why)
{
    const char *names[MOST_OPTIONS];
    size_t n = 0;
    char given[40];
    (void)snprintf(given, sizeof given, "%.*s", (int)(length < 39 ? length : 39), name);
    for (size_t i = 0; i < n_options; i++)
        if (option_table[i].commands & command)
            names[n++] = option_table[i].name;
    for (size_t i = 0; i < n_options; i++)
        if (strcmp(option_table[i].name, given) == 0)
            return complain(why, "%s%s does not belong here; leave it out", dashes, given);
    const char *near = nearest_name(given, names, n);
    const char *what = dashes[0] == '-' ? "option" : "key";
    if (near != NULL)
        return complain(why, "there is no %s %s%s here; did you mean %s%s?", what, dashes, given,
                        dashes, near);
    return complain(why, "there is no %s %s%s here; %s", what, dashes, given,
                    dashes[0] == '-' ? "--help lists all" : "tacit(1) lists all");
}

bool options_set(unsigned command, const char *name, const char *text, settings *into, message *why)
{
    const option *o = find(command, name, strlen(name));
    if (o == NULL)
        return unknown(command, "", name, strlen(name), why);
    return set_value(o, "", text, into, why);
}

bool options_parse(unsigned command, int argc, char **argv, settings *into, message *why)
{
    for (int i = 0; i < argc; i++) {
        const char *name = argv[i];
        if (strncmp(name, "--", 2) != 0)
            return complain(
                why, "'%.60s' is not an option; options begin with --, --help lists all", name);
        name += 2;
        size_t length = strcspn(name, "=");
        const option *o = find(command, name, length);
        if (o == NULL)
            return unknown(command, "--", name, length, why);
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (o->kind == OPTION_FLAG && value != NULL)
            return complain(why, "--%s takes no value; leave out '=%.60s'", o->name, value);
        if (o->kind != OPTION_FLAG && value == NULL && i + 1 < argc)
            value = argv[++i];
        if (o->kind != OPTION_FLAG && value == NULL)
            return complain(why, "--%s has no value; give one, as in --%s %s", o->name, o->name,
                            o->example);
        if (!set_value(o, "--", value, into, why))
            return false;
    }
    return true;
}

void options_help(FILE *out, unsigned command)
{
    for (size_t i = 0; i < n_options; i++) {
        const option *o = &option_table[i];
        if (!(o->commands & command))
            continue;
        char left[40];
        (void)snprintf(left, sizeof left, "--%s %s", o->name, o->value != NULL ? o->value : "");
        (void)fprintf(out, "  %-20s %s\n", left, o->help);
        for (size_t w = 0; w < o->n_words; w++)
            (void)fprintf(out, "  %-20s   %-20s %s\n", "", o->words[w].name, o->words[w].help);
    }
}

const char *option_word_of(const char *name, int value)
{
    const option *o = find(FOR_PLAN | FOR_AUDIT | FOR_SERVE, name, strlen(name));
    for (size_t i = 0; o != NULL && i < o->n_words; i++)
        if (o->words[i].value == value)
            return o->words[i].name;
    return "?";
}
