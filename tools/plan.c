/* The reader of plan files.
 *
 * Both forms give words `key` and `value` to options_set, which judges them; this file only finds
 * the words.  Invariants: at <= end; a word is copied into a buffer of its own, WORD_SIZE bytes
 * with its NUL, or is an error.  Values of JSON are flat: text without escapes, numbers, lists of
 * numbers.  Cost: one pass. */
#include "tools/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/mechanism.h"

enum { WORD_SIZE = 2048 };

struct plan_numbers {
    struct plan_numbers *next;
    number_list jumps, chances;
};

typedef struct plan_reader {
    const char *name, *at, *end;
    size_t line;
    plan *p;
    size_t room; /* mechanisms that p->list has place for */
    message *why;
} plan_reader;

static bool broken(plan_reader *r, const char *what)
{
    return complain(r->why, "%.200s, line %zu: %s", r->name, r->line, what);
}

/* What options_set or mechanism_from said, with its place before it. */
static bool placed(plan_reader *r, const message *inner)
{
    return broken(r, inner->text);
}

/* Keeps the jumps of one mechanism beyond the life of its settings. */
static bool keep_numbers(plan_reader *r, dp_mechanism *m, const settings *said)
{
    if (m->n_jumps == 0)
        return true;
    struct plan_numbers *kept = malloc(sizeof *kept);
    if (kept == NULL)
        return broken(r, "out of memory");
    *kept = (struct plan_numbers){r->p->lists, said->jumps, said->chances};
    r->p->lists = kept;
    m->jumps = kept->jumps.value;
    m->chances = kept->chances.value;
    return true;
}

static bool append(plan_reader *r, const settings *said)
{
    plan *p = r->p;
    message inner;
    dp_mechanism m;
    if (!mechanism_from(said, "", false, &m, &inner))
        return placed(r, &inner);
    if (p->n == MOST_MECHANISMS)
        return broken(r, "more than 10000 mechanisms; join equal ones by raising their steps");
    if (p->n == r->room) {
        size_t room = r->room > 0 ? 2 * r->room : 16;
        dp_mechanism *list = realloc(p->list, room * sizeof *list);
        if (list == NULL)
            return broken(r, "out of memory");
        p->list = list;
        r->room = room;
    }
    if (!keep_numbers(r, &m, said))
        return false;
    p->list[p->n++] = m;
    if (!isnan(said->n))
        p->least_n = fmin(p->least_n, said->n);
    return true;
}

static bool copy_word(plan_reader *r, const char *from, size_t length, char word[WORD_SIZE])
{
    if (length >= WORD_SIZE)
        return broken(r, "a word of more than 2047 bytes; is this a plan?");
    memcpy(word, from, length);
    word[length] = '\0';
    return true;
}

/* ---- one mechanism a line ---- */

static bool set_word(plan_reader *r, char *word, bool first, settings *said)
{
    message inner;
    char *equals = strchr(word, '=');
    if (equals == NULL && !first) {
        (void)complain(&inner, "'%.60s' has no value; write key=value, as in sigma=1.5", word);
        return placed(r, &inner);
    }
    const char *key = equals != NULL ? word : "sampling";
    const char *value = equals != NULL ? equals + 1 : word;
    if (equals != NULL)
        *equals = '\0';
    return options_set(FOR_PLAN, key, value, said, &inner) || placed(r, &inner);
}

static bool parse_line(plan_reader *r, const char *line, const char *stop)
{
    char word[WORD_SIZE];
    settings said = settings_none();
    bool first = true;
    for (const char *at = line; at < stop && *at != '#';) {
        const char *from = at;
        while (at < stop && *at != '#' && *at != ' ' && *at != '\t' && *at != '\r')
            at++;
        if (at == from) {
            at++;
            continue;
        }
        if (!copy_word(r, from, (size_t)(at - from), word) || !set_word(r, word, first, &said))
            return false;
        first = false;
    }
    return first || append(r, &said);
}

static bool parse_lines(plan_reader *r)
{
    while (r->at < r->end) {
        const char *stop = memchr(r->at, '\n', (size_t)(r->end - r->at));
        if (stop == NULL)
            stop = r->end;
        if (!parse_line(r, r->at, stop))
            return false;
        r->at = stop < r->end ? stop + 1 : stop;
        r->line++;
    }
    return true;
}

/* ---- JSON ---- */

static char next(plan_reader *r)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n')
            r->line++;
        else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r')
            return *r->at;
    }
    return '\0';
}

static bool expect(plan_reader *r, char c, const char *what)
{
    if (next(r) != c)
        return broken(r, what);
    r->at++;
    return true;
}

static bool parse_text(plan_reader *r, char word[WORD_SIZE])
{
    if (!expect(r, '"', "a text in double quotes must stand here"))
        return false;
    const char *from = r->at;
    while (r->at < r->end && *r->at != '"' && *r->at != '\\' && *r->at != '\n')
        r->at++;
    if (r->at == r->end || *r->at != '"')
        return broken(r, "a text without backslashes must end in double quotes on its line");
    return copy_word(r, from, (size_t)(r->at++ - from), word);
}

/* Appends the number that stands here to word[0 ... *used - 1]. */
static bool parse_number(plan_reader *r, char word[WORD_SIZE], size_t *used)
{
    (void)next(r);
    const char *from = r->at;
    while (r->at < r->end && *r->at != '\0' && strchr("+-.0123456789eE", *r->at) != NULL)
        r->at++;
    size_t length = (size_t)(r->at - from);
    if (length == 0)
        return broken(r, "a number, a list of numbers or a text must stand here");
    if (length >= WORD_SIZE - *used)
        return broken(r, "a list of more than 2047 bytes; is this a plan?");
    memcpy(word + *used, from, length);
    *used += length;
    word[*used] = '\0';
    return true;
}

static bool parse_numbers(plan_reader *r, char word[WORD_SIZE])
{
    size_t used = 0;
    r->at++; /* [ */
    for (;;) {
        if (!parse_number(r, word, &used))
            return false;
        if (next(r) == ']') {
            r->at++;
            return true;
        }
        if (!expect(r, ',', "a list of numbers goes on with , or ends with ]"))
            return false;
        if (used + 1 < WORD_SIZE)
            word[used++] = ',';
    }
}

static bool parse_value(plan_reader *r, char word[WORD_SIZE])
{
    size_t used = 0;
    char c = next(r);
    if (c == '"')
        return parse_text(r, word);
    return c == '[' ? parse_numbers(r, word) : parse_number(r, word, &used);
}

static bool parse_object(plan_reader *r)
{
    char key[WORD_SIZE], value[WORD_SIZE];
    message inner;
    settings said = settings_none();
    if (!expect(r, '{', "a mechanism must stand here: {\"sampling\": \"poisson\", ...}"))
        return false;
    do {
        if (!parse_text(r, key) || !expect(r, ':', "a colon must follow the key") ||
            !parse_value(r, value))
            return false;
        if (!options_set(FOR_PLAN, key, value, &said, &inner))
            return placed(r, &inner);
    } while (next(r) == ',' && r->at++ < r->end);
    return expect(r, '}', "a mechanism goes on with , or ends with }") && append(r, &said);
}

static bool parse_json(plan_reader *r)
{
    bool one = *r->at == '{'; /* a single mechanism needs no list around it */
    if (one)
        return parse_object(r) && (next(r) == '\0' || broken(r, "something follows the mechanism; "
                                                                "put several into a list [...]"));
    r->at++; /* [ */
    do {
        if (!parse_object(r))
            return false;
    } while (next(r) == ',' && r->at++ < r->end);
    if (!expect(r, ']', "the list goes on with , or ends with ]"))
        return false;
    return next(r) == '\0' || broken(r, "something follows the list; one list is a plan");
}

/* ---- whole files ---- */

bool plan_parse(const char *text, size_t size, const char *name, plan *p, message *why)
{
    plan_reader r = {.name = name, .at = text, .end = text + size, .line = 1, .p = p, .why = why};
    *p = (plan){.least_n = NAN};
    bool good;
    if (size > MOST_PLAN_BYTES)
        good = broken(&r, "more than 1 MiB; is this a plan?");
    else if (memchr(text, '\0', size) != NULL)
        good = broken(&r, "there is a NUL byte in it; save the plan as plain text");
    else
        good = next(&r) == '[' || next(&r) == '{' ? parse_json(&r) : parse_lines(&r);
    if (good && p->n == 0)
        good = broken(&r, "there is no mechanism in it; write one a line, as in "
                          "poisson sigma=1.5 q=128/60000 steps=9375");
    if (!good)
        plan_free(p);
    return good;
}

bool plan_read(const char *path, plan *p, message *why)
{
    *p = (plan){.least_n = NAN};
    bool standard = strcmp(path, "-") == 0;
    FILE *file = standard ? stdin : fopen(path, "rb");
    if (file == NULL)
        return complain(
            why, "--plan is '%.200s', and that file cannot be opened; name one that can", path);
    char *text = malloc(MOST_PLAN_BYTES + 1);
    size_t size = text != NULL ? fread(text, 1, MOST_PLAN_BYTES + 1, file) : 0;
    bool good = text != NULL && !ferror(file);
    if (!good)
        (void)complain(why, "--plan is '%.200s', and that file cannot be read", path);
    if (!standard)
        (void)fclose(file);
    good = good && plan_parse(text, size, standard ? "standard input" : path, p, why);
    free(text);
    return good;
}

void plan_free(plan *p)
{
    while (p->lists != NULL) {
        struct plan_numbers *next_list = p->lists->next;
        free(p->lists);
        p->lists = next_list;
    }
    free(p->list);
    *p = (plan){.least_n = NAN};
}
