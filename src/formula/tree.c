/* Trees as text.  Depth is bounded by the parser, and so is every recursion over a tree. */
#include "formula/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dpi_text_add(dpi_bytes *to, const char *text)
{
    dpi_bytes_add(to, text, strlen(text));
}

static void add_number(dpi_bytes *to, char *text)
{
    char *comma = strchr(text, ',');
    if (comma != NULL)
        *comma = '.';
    dpi_text_add(to, text);
}

void dpi_text_short(dpi_bytes *to, double number)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.4g", number);
    add_number(to, text);
}

/* A point in every locale. */
void dpi_text_number(dpi_bytes *to, double number)
{
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    add_number(to, text);
}

static bool is_plain(const char *name)
{
    for (const char *c = name; *c != 0; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                            ((unsigned char)*c & 0x80U) != 0;
        const bool digit = *c >= '0' && *c <= '9';
        const bool first = c == name || (c == name + 1 && name[0] == '.');
        if (!letter && !(*c == '.') && (first || !(digit || *c == '_')))
            return false;
    }
    return strcmp(name, ".") != 0;
}

void dpi_text_name(dpi_bytes *to, const char *name)
{
    const char *quote = is_plain(name) ? "" : "`";
    dpi_text_add(to, quote);
    dpi_text_add(to, name);
    dpi_text_add(to, quote);
}

/* How tightly an operation binds, as in R. */
static int strength(const dpi_tree *t)
{
    if (t->kind == DPI_TREE_SIGN)
        return 5;
    if (t->kind != DPI_TREE_BINARY)
        return 7;
    switch (t->op) {
    case '^':
        return 6;
    case ':':
        return 4;
    case '*':
    case '/':
        return 3;
    case '+':
    case '-':
        return 2;
    default:
        return 1;
    }
}

static void add_in(const dpi_tree *t, bool parentheses, dpi_bytes *to)
{
    if (parentheses)
        dpi_text_add(to, "(");
    dpi_tree_text(t, to);
    if (parentheses)
        dpi_text_add(to, ")");
}

static void add_binary(const dpi_tree *t, dpi_bytes *to)
{
    const dpi_tree *left = t->first, *right = t->first->next;
    const int own = strength(t);
    const bool power = t->op == '^', tight = power || t->op == ':' || t->op == '/';
    const char op[] = {t->op, 0};
    add_in(left, strength(left) < own + (power ? 1 : 0), to);
    dpi_text_add(to, tight ? "" : " ");
    dpi_text_add(to, t->op == DPI_BARS ? "||" : op);
    dpi_text_add(to, tight ? "" : " ");
    /* What stands behind ^ may have a sign or another power: they are read from the right. */
    add_in(right, power ? strength(right) < 5 : strength(right) <= own, to);
}

static void add_call(const dpi_tree *t, dpi_bytes *to)
{
    dpi_text_name(to, t->name);
    dpi_text_add(to, "(");
    for (const dpi_tree *a = t->first; a != NULL; a = a->next) {
        if (a->label != NULL) {
            dpi_text_add(to, a->label);
            dpi_text_add(to, " = ");
        }
        dpi_tree_text(a, to);
        dpi_text_add(to, a->next != NULL ? ", " : "");
    }
    dpi_text_add(to, ")");
}

void dpi_tree_text(const dpi_tree *t, dpi_bytes *to)
{
    const char sign[] = {t->op, 0};
    switch (t->kind) {
    case DPI_TREE_NAME:
        dpi_text_name(to, t->name);
        break;
    case DPI_TREE_NUMBER:
        dpi_text_number(to, t->number);
        break;
    case DPI_TREE_CALL:
        add_call(t, to);
        break;
    case DPI_TREE_SIGN:
        dpi_text_add(to, sign);
        add_in(t->first, strength(t->first) < strength(t), to);
        break;
    case DPI_TREE_BINARY:
        add_binary(t, to);
        break;
    }
}

char *dpi_text_take(dpi_bytes *text, dpi_arena *arena)
{
    char *copy = NULL;
    dpi_bytes_add(text, "", 1);
    if (!text->failed)
        copy = dpi_arena_strdup(arena, (const char *)text->at);
    dpi_bytes_free(text);
    return copy;
}

const char *dpi_tree_string(const dpi_tree *tree, dpi_arena *arena)
{
    dpi_bytes text = {0};
    dpi_tree_text(tree, &text);
    return dpi_text_take(&text, arena);
}

size_t dpi_tree_count(const dpi_tree *tree)
{
    size_t n = 0;
    for (const dpi_tree *t = tree->first; t != NULL; t = t->next)
        n++;
    return n;
}

bool dpi_tree_is_call(const dpi_tree *tree, const char *name)
{
    return tree->kind == DPI_TREE_CALL && strcmp(tree->name, name) == 0;
}

const dpi_tree *dpi_tree_find_name(const dpi_tree *t, const char *name)
{
    const dpi_tree *found = NULL;
    if (t->label != NULL)
        return NULL;
    if (t->kind == DPI_TREE_NAME)
        return strcmp(t->name, name) == 0 ? t : NULL;
    for (const dpi_tree *each = t->first; each != NULL && found == NULL; each = each->next) {
        found = dpi_tree_find_name(each, name);
        if (dpi_tree_is_call(t, "C"))
            break;
    }
    return found;
}
