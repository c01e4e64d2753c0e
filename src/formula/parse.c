/* The grammar, by recursive descent, with R's precedences:
 *
 *   text      = formula {("," | ";") formula}
 *   formula   = [sum ["|" call {"+" call}]] "~" sum
 *   sum       = product {("+" | "-") product}
 *   product   = crossing {("*" | "/") crossing}
 *   crossing  = signed {":" signed}
 *   signed    = ("+" | "-") signed | power
 *   power     = primary ["^" signed]
 *   primary   = number | name ["(" [argument {"," argument}] ")"]
 *             | "(" sum [("|" | "||") sum] ")"
 *   argument  = [name "="] sum
 *
 * What an operation means (arithmetic, or terms) is not known here.  Every way down passes `signed`
 * or `primary`, where depth is counted, and every tree is counted when it is made: recursion over
 * the text and over its trees has a bound. */
#include "formula/parse.h"

#include <locale.h>
#include <string.h>

#include "base/error.h"
#include "formula/atom.h"
#include "formula/token.h"

typedef struct parser {
    dpi_scanner scan;
    dpi_arena *arena;
    size_t trees, depth;
    size_t calls; /* within the parentheses of how many calls */
} parser;

static dpi_tree *sum(parser *p);

static dpi_tree *fail(parser *p, size_t at, const char *message)
{
    (void)dpi_script_fail(p->scan.script, DP_EINVAL, at, "%s", message);
    return NULL;
}

/* What was expected where the present token stands. */
static void fail_expected(parser *p, const char *expected, const char *remedy)
{
    char words[DPI_TOKEN_WORDS];
    if (p->scan.now.kind != DPI_TOKEN_BAD) /* which has its own message */
        (void)dpi_script_fail(p->scan.script, DP_EINVAL, p->scan.now.at,
                              "found %s, expected %s; %s",
                              dpi_token_words(&p->scan, &p->scan.now, words), expected, remedy);
}

static bool is_now(const parser *p, int kind)
{
    return p->scan.now.kind == kind;
}

/* Takes the present token if it is of that kind. */
static bool take(parser *p, int kind)
{
    if (!is_now(p, kind))
        return false;
    dpi_scan_next(&p->scan);
    return true;
}

static dpi_tree *new_tree(parser *p, dpi_tree_kind kind, size_t at)
{
    if (++p->trees > DPI_MOST_TREES)
        return fail(p, at, "the text has more than 1000 names, numbers and signs; write less");
    dpi_tree *t = dpi_arena_alloc(p->arena, 1, sizeof *t);
    if (t == NULL) {
        (void)dpi_fail_nomem(p->scan.script->err);
        return NULL;
    }
    t->kind = kind;
    t->at = at;
    return t;
}

static const char *copy_name(parser *p, const dpi_token *token)
{
    char *name = dpi_arena_alloc(p->arena, token->size + 1, 1);
    if (name == NULL)
        (void)dpi_fail_nomem(p->scan.script->err);
    else
        memcpy(name, p->scan.script->text + token->at, token->size);
    return name;
}

/* op applied to left and what `right` gives; NULL where one of them is. */
static dpi_tree *join(parser *p, char op, size_t at, dpi_tree *left, dpi_tree *right)
{
    dpi_tree *t = left != NULL && right != NULL ? new_tree(p, DPI_TREE_BINARY, at) : NULL;
    if (t == NULL)
        return NULL;
    t->op = op;
    t->first = left;
    left->next = right;
    return t;
}

/* ---- calls ---- */

static dpi_tree *argument(parser *p)
{
    const dpi_scanner before = p->scan;
    const char *label = NULL;
    if (is_now(p, DPI_TOKEN_NAME)) {
        dpi_scan_next(&p->scan);
        if (take(p, '=')) {
            label = copy_name(p, &before.now);
            if (label == NULL)
                return NULL;
        } else
            p->scan = before;
    }
    dpi_tree *value = sum(p);
    if (value != NULL)
        value->label = label;
    return value;
}

/* Whether the tree calls a function of R that has something else in its place here, which then is
 * said. */
static bool fails_instead(parser *p, const dpi_tree *t)
{
    const char *instead =
        t != NULL && t->kind == DPI_TREE_CALL ? dpi_function_instead(t->name) : NULL;
    if (instead != NULL)
        (void)dpi_script_fail(p->scan.script, DP_EUNSUPPORTED, t->at,
                              "'%.40s()' is not possible here; %s", t->name, instead);
    return instead != NULL;
}

/* Behind "name(". */
static bool arguments(parser *p, dpi_tree *call)
{
    dpi_tree **last = &call->first;
    if (take(p, ')'))
        return true;
    do {
        *last = argument(p);
        if (*last == NULL)
            return false;
        last = &(*last)->next;
    } while (take(p, ','));
    if (take(p, ')'))
        return true;
    if (is_now(p, '|') || is_now(p, DPI_TOKEN_BARS))
        fail_expected(p, "',' or ')'",
                      "effects of groups stand in parentheses of their own: (1 + x | group)");
    else if (is_now(p, '~')) {
        if (!fails_instead(p, call))
            fail_expected(p, "',' or ')'", "close the parenthesis of the function before '~'");
    } else
        fail_expected(p, "',' or ')'", "close the parenthesis of the function");
    return false;
}

static dpi_tree *name_or_call(parser *p)
{
    const dpi_token token = p->scan.now;
    dpi_scan_next(&p->scan);
    const bool call = take(p, '(');
    dpi_tree *t = new_tree(p, call ? DPI_TREE_CALL : DPI_TREE_NAME, token.at);
    if (t == NULL)
        return NULL;
    t->name = copy_name(p, &token);
    if (t->name == NULL)
        return NULL;
    if (!call)
        return t;
    p->calls++;
    const bool good = arguments(p, t);
    p->calls--;
    return good ? t : NULL;
}

/* ---- expressions ---- */

static dpi_tree *number(parser *p)
{
    dpi_tree *t = new_tree(p, DPI_TREE_NUMBER, p->scan.now.at);
    if (t != NULL)
        t->number = p->scan.now.number;
    dpi_scan_next(&p->scan);
    return t;
}

/* Behind "(". */
static dpi_tree *inside(parser *p)
{
    dpi_tree *t = sum(p);
    const size_t at = p->scan.now.at;
    if (t != NULL && p->calls == 0 && take(p, '|'))
        t = join(p, '|', at, t, sum(p));
    else if (t != NULL && p->calls == 0 && take(p, DPI_TOKEN_BARS))
        t = join(p, DPI_BARS, at, t, sum(p));
    if (t == NULL || take(p, ')'))
        return t;
    if (is_now(p, '|') || is_now(p, DPI_TOKEN_BARS))
        fail_expected(p, "')'",
                      "a group's effects have one '|' and stand outside of functions: (1 | group)");
    else
        fail_expected(p, "')'", "close the parenthesis");
    return NULL;
}

static dpi_tree *primary(parser *p)
{
    if (is_now(p, DPI_TOKEN_NAME))
        return name_or_call(p);
    if (is_now(p, DPI_TOKEN_NUMBER))
        return number(p);
    if (take(p, '('))
        return inside(p);
    if (is_now(p, ')') || is_now(p, DPI_TOKEN_END) || is_now(p, ','))
        fail_expected(p, "a column, a number, a function or '('",
                      "add a term there, or remove the sign before it");
    else if (is_now(p, '|') || is_now(p, DPI_TOKEN_BARS))
        fail_expected(p, "a column, a number, a function or '('",
                      "effects of groups stand in parentheses: (1 + x | group)");
    else
        fail_expected(p, "a column, a number, a function or '('", "remove one of the signs");
    return NULL;
}

static dpi_tree *deeper(parser *p, dpi_tree *(*rule)(parser *p))
{
    if (++p->depth > DPI_MOST_NESTED)
        return fail(p, p->scan.now.at,
                    "parentheses, signs and powers are more than 40 deep in one another; write it "
                    "flatter");
    dpi_tree *t = rule(p);
    p->depth--;
    return t;
}

static dpi_tree *signed_one(parser *p);

static dpi_tree *power(parser *p)
{
    dpi_tree *base = primary(p);
    const size_t at = p->scan.now.at;
    if (base == NULL || !take(p, '^'))
        return base;
    return join(p, '^', at, base, deeper(p, signed_one));
}

static dpi_tree *signed_one(parser *p)
{
    const dpi_token token = p->scan.now;
    if (!take(p, '+') && !take(p, '-'))
        return deeper(p, power);
    dpi_tree *of = deeper(p, signed_one);
    dpi_tree *t = of != NULL ? new_tree(p, DPI_TREE_SIGN, token.at) : NULL;
    if (t == NULL)
        return NULL;
    t->op = (char)token.kind;
    t->first = of;
    return t;
}

/* Operands joined by the operations in `ops`, from the left. */
static dpi_tree *chain(parser *p, const char *ops, dpi_tree *(*operand)(parser *p))
{
    dpi_tree *t = operand(p);
    while (t != NULL && p->scan.now.kind < DPI_TOKEN_NAME && p->scan.now.kind > 0 &&
           strchr(ops, p->scan.now.kind) != NULL) {
        const dpi_token op = p->scan.now;
        dpi_scan_next(&p->scan);
        t = join(p, (char)op.kind, op.at, t, operand(p));
    }
    return t;
}

static dpi_tree *crossing(parser *p)
{
    return chain(p, ":", signed_one);
}

static dpi_tree *product(parser *p)
{
    return chain(p, "*/", crossing);
}

static dpi_tree *sum(parser *p)
{
    return chain(p, "+-", product);
}

/* ---- formulas ---- */

/* Behind '|' on the left side. */
static bool additions(parser *p, const dpi_tree **first)
{
    dpi_tree *last = NULL;
    do {
        dpi_tree *one = NULL;
        if (is_now(p, DPI_TOKEN_NAME))
            one = name_or_call(p);
        else
            fail_expected(p, "cens(), trials() or weights()",
                          "what stands behind '|' tells more of the outcome: y | trials(n) ~ x");
        if (one == NULL)
            return false;
        if (last == NULL)
            *first = one;
        else
            last->next = one;
        last = one;
    } while (take(p, '+'));
    return true;
}

/* No '~' stands where one was expected. */
static void fail_without_tilde(parser *p, const dpi_tree *left)
{
    if (fails_instead(p, left))
        return;
    if (is_now(p, '=') && left->kind == DPI_TREE_NAME && strcmp(left->name, "nl") == 0)
        (void)dpi_script_fail(p->scan.script, DP_EUNSUPPORTED, left->at,
                              "'nl =' is not possible here; %s", dpi_function_instead("nl"));
    else if (is_now(p, '='))
        fail_expected(p, "'~'", "a text has formulas alone; family and priors are options");
    else
        fail_expected(p, "'~'", "a formula is an outcome, '~' and its terms: y ~ x + z");
}

static bool statement(parser *p, dpi_statement *s)
{
    s->at = p->scan.now.at;
    if (s->at == p->scan.script->size && p->trees == 0) {
        (void)fail(p, s->at,
                   "the formula is empty; write an outcome, '~' and its terms: y ~ x + z");
        return false;
    }
    if (!is_now(p, '~')) {
        s->left = sum(p);
        if (s->left == NULL || (take(p, '|') && !additions(p, &s->addition)))
            return false;
    }
    if (!take(p, '~')) {
        fail_without_tilde(p, s->left);
        return false;
    }
    s->right = sum(p);
    return s->right != NULL;
}

static bool statements(parser *p, dpi_statement **last)
{
    size_t n = 0;
    do {
        *last = dpi_arena_alloc(p->arena, 1, sizeof **last);
        if (*last == NULL || ++n > DPI_MOST_STATEMENTS) {
            if (*last == NULL)
                (void)dpi_fail_nomem(p->scan.script->err);
            else
                (void)fail(p, p->scan.now.at, "the text has more than 16 formulas; write fewer");
            return false;
        }
        if (!statement(p, *last))
            return false;
        last = &(*last)->next;
    } while (take(p, ',') || take(p, ';'));
    if (is_now(p, DPI_TOKEN_END))
        return true;
    if (is_now(p, '|') || is_now(p, DPI_TOKEN_BARS))
        fail_expected(p, "a sign or the end of the text",
                      "effects of groups stand in parentheses: (1 + x | group)");
    else if (is_now(p, '~'))
        fail_expected(p, "a sign or the end of the text",
                      "formulas of one text are separated by ',': y ~ x, sigma ~ x");
    else if (is_now(p, ')'))
        fail_expected(p, "a sign or the end of the text",
                      "remove the ')', or open a parenthesis before it");
    else
        fail_expected(p, "a sign or the end of the text", "join terms by '+'");
    return false;
}

static bool one_call(parser *p, dpi_tree **call)
{
    if (!is_now(p, DPI_TOKEN_NAME)) {
        fail_expected(p, "a name", "write a name, with arguments in parentheses where it has some");
        return false;
    }
    *call = name_or_call(p);
    if (*call != NULL && !is_now(p, DPI_TOKEN_END)) {
        fail_expected(p, "the end of the text", "write one name with its arguments, no more");
        return false;
    }
    return *call != NULL;
}

/* Reads with the calling thread in the C locale, in which numbers have a point. */
static dp_status read_all(const dpi_script *script, dpi_arena *arena, dpi_statement **first,
                          dpi_tree **call)
{
    dp_error own = {0}; /* tells whether reading failed where the caller wants no message */
    dpi_script heard = *script;
    heard.err = &own;
    parser p = {.arena = arena};
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return dpi_fail_nomem(script->err);
    locale_t before = uselocale(c_locale);
    dpi_scan_begin(&p.scan, &heard);
    const bool good = first != NULL ? statements(&p, first) : one_call(&p, call);
    (void)uselocale(before);
    freelocale(c_locale);
    return good ? DP_OK : dpi_fail(script->err, own.status, "%s", own.text);
}

dp_status dpi_parse_formulas(const dpi_script *script, dpi_arena *arena, dpi_statement **first)
{
    *first = NULL;
    return read_all(script, arena, first, NULL);
}

dp_status dpi_parse_call(const dpi_script *script, dpi_arena *arena, dpi_tree **call)
{
    *call = NULL;
    return read_all(script, arena, NULL, call);
}
