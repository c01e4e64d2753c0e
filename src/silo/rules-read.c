/* Reading rules. */
#include <string.h>

#include "base/error.h"
#include "silo/rules.h"

dpi_silo_role dpi_silo_role_of(const char *name)
{
    static const char *const roles[] = {"each", "agg", "rest", "own"};
    int k = 0;
    while (k < DPI_SILO_N_ROLES && strcmp(roles[k], name) != 0)
        k++;
    return (dpi_silo_role)k;
}

enum { MOST_WORDS = 8, MOST_WORD = 12 };

/* One statement, cut into words. */
typedef struct words {
    size_t n;
    char word[MOST_WORDS][MOST_WORD + 1];
} words;

typedef struct rule_reader {
    const dpi_silo_rule *rule;
    const char *at;
    dp_error *err;
} reader;

static dp_status fail(const reader *r, const words *w, const char *what)
{
    return dpi_fail(r->err, DP_EINVAL, "rule of %.20s at %.20s, statement \"%s %s ...\": %s",
                    r->rule->op, r->rule->place, w->n > 0 ? w->word[0] : "",
                    w->n > 1 ? w->word[1] : "", what);
}

/* Words up to the next ; or the end; false where there are too many, or one is too long. */
static bool cut(reader *r, words *w)
{
    bool fits = true;
    w->n = 0;
    for (r->at += strspn(r->at, " "); *r->at != '\0' && *r->at != ';';
         r->at += strspn(r->at, " ")) {
        size_t length = strcspn(r->at, " ;");
        if (w->n == MOST_WORDS || length > MOST_WORD)
            fits = false;
        else {
            memcpy(w->word[w->n], r->at, length);
            w->word[w->n++][length] = '\0';
        }
        r->at += length;
    }
    r->at += *r->at == ';';
    return fits;
}

static bool is_local(const char *word)
{
    size_t n = strlen(word);
    return n >= 1 && n <= DPI_SILO_LOCAL_NAME && word[0] >= 'a' && word[0] <= 'z' &&
           strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789") == n;
}

/* A name that a statement reads: a local one, after arguments of arguments. */
static bool is_read(const char *word)
{
    while (word[0] == 'x' && word[1] >= '0' && word[1] <= '9' && word[2] == '.')
        word += 3;
    return is_local(word);
}

static dp_status read_send(const reader *r, const words *w, dpi_silo_statement *s)
{
    s->kind = DPI_SILO_SEND;
    s->may_lack = strcmp(w->word[1], "send?") == 0;
    if (w->n != 4 || !is_read(w->word[2]) || strlen(w->word[2]) > DPI_SILO_LOCAL_NAME)
        return fail(r, w, "what is sent, and to whom, must follow");
    s->whom = dpi_silo_role_of(w->word[3]);
    if (s->whom == DPI_SILO_N_ROLES)
        return fail(r, w, "it is sent to nobody whom a rule knows");
    memcpy(s->out, w->word[2], strlen(w->word[2]) + 1);
    return DP_OK;
}

static dp_status read_step(const reader *r, const words *w, dpi_silo_statement *s)
{
    if (w->n < 4 || strcmp(w->word[2], "=") != 0 || !is_local(w->word[1]))
        return fail(r, w, "a step is NAME = STEP NAME ...");
    s->kind = dpi_silo_step_named(w->word[3]);
    if (s->kind == DPI_SILO_N_STEPS || s->kind == DPI_SILO_SEND || s->kind == DPI_SILO_RECV)
        return fail(r, w, "there is no such step");
    const size_t args = (size_t)dpi_silo_step_args(s->kind);
    if (w->n - 4 != args)
        return fail(r, w, "the step has another number of arguments");
    memcpy(s->out, w->word[1], strlen(w->word[1]) + 1);
    for (size_t k = 0; k < args; k++) {
        const char *name = w->word[4 + k];
        if (!is_read(name) || strlen(name) > DPI_SILO_LOCAL_NAME)
            return fail(r, w, "names are 1 to 8 small letters and digits, a letter first");
        memcpy(s->in[k], name, strlen(name) + 1);
    }
    return DP_OK;
}

static dp_status read_statement(const reader *r, words *w, dpi_silo_statement *s)
{
    memset(s, 0, sizeof *s);
    s->once = strcmp(w->word[0], "once") == 0;
    if (s->once)
        memmove(w->word, w->word + 1, --w->n * sizeof *w->word);
    const size_t length = w->n > 0 ? strlen(w->word[0]) : 0;
    if (length < 2 || w->word[0][length - 1] != ':')
        return fail(r, w, "it must begin with who does it, as \"each:\"");
    w->word[0][length - 1] = '\0';
    s->who = dpi_silo_role_of(w->word[0]);
    if (s->who == DPI_SILO_N_ROLES)
        return fail(r, w, "nobody is called so in a rule");
    if (w->n == 1)
        return fail(r, w, "nothing is done");
    return strcmp(w->word[1], "send") == 0 || strcmp(w->word[1], "send?") == 0 ? read_send(r, w, s)
                                                                               : read_step(r, w, s);
}

dp_status dpi_silo_rule_read(const dpi_silo_rule *rule, size_t *n,
                             dpi_silo_statement list[DPI_SILO_STATEMENTS], dp_error *err)
{
    reader r = {.rule = rule, .at = rule->steps, .err = err};
    dp_status status = DP_OK;
    words w;
    *n = 0;
    while (status == DP_OK && *r.at != '\0') {
        if (!cut(&r, &w))
            return fail(&r, &w, "it has too many words, or too long ones");
        if (w.n == 0)
            continue;
        if (*n == DPI_SILO_STATEMENTS)
            return fail(&r, &w, "the rule is too long");
        status = read_statement(&r, &w, &list[(*n)++]);
    }
    return status;
}
