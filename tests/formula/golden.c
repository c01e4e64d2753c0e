#include "tests/formula/golden.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"

enum { MOST_LINE = 32 * 1024 };

static FILE *open_golden(const char *name)
{
    char path[4096];
    const char *root = getenv("top_srcdir");
    (void)snprintf(path, sizeof path, "%s/tests/formula/%s", root != NULL ? root : ".", name);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be opened", path);
    return file;
}

static void put_line_ends(char *text)
{
    for (char *at = text; (at = strstr(at, "\\n")) != NULL; at++) {
        *at = '\n';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
}

static void run(char *line, golden_case *one, FILE *to)
{
    (void)fputs(line, to);
    char *family = line + 1, *end = strchr(line, ']');
    assert_non_null(end);
    *end = 0;
    char *formula = end + 2;
    formula[strcspn(formula, "\n")] = 0;
    put_line_ends(formula);
    one(family[0] != 0 ? family : NULL, formula, to);
}

static void fail_at(const char *expected, const char *found, const char *name)
{
    size_t line = 1;
    char out[256];
    for (; *expected != 0 && *expected == *found; expected++, found++)
        line += *expected == '\n' ? 1 : 0;
    (void)snprintf(out, sizeof out, "%s.out", name);
    fail_msg("%s differs from line %zu on: expected '%.60s', found '%.60s'; %s has what came", name,
             line, expected, found, out);
}

void golden_compare(const char *name, golden_case *one)
{
    static char line[MOST_LINE];
    char *expected = NULL, *found = NULL, out[256];
    size_t n_expected = 0, n_found = 0;
    bool begun = false;
    FILE *file = open_golden(name), *whole = open_memstream(&expected, &n_expected),
         *came = open_memstream(&found, &n_found);
    while (fgets(line, sizeof line, file) != NULL) {
        (void)fputs(line, whole);
        if (line[0] == '[') {
            run(line, one, came);
            begun = true;
        } else if (!begun)
            (void)fputs(line, came);
    }
    (void)fclose(file);
    (void)fclose(whole);
    (void)fclose(came);
    if (strcmp(expected, found) != 0) {
        (void)snprintf(out, sizeof out, "%s.out", name);
        FILE *kept = fopen(out, "w");
        if (kept != NULL) {
            (void)fputs(found, kept);
            (void)fclose(kept);
        }
        fail_at(expected, found, name);
    }
    free(expected);
    free(found);
}

size_t golden_count(const char *name)
{
    static char line[MOST_LINE];
    size_t n = 0;
    FILE *file = open_golden(name);
    while (fgets(line, sizeof line, file) != NULL)
        n += line[0] == '[' ? 1 : 0;
    (void)fclose(file);
    return n;
}
