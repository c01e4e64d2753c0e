/* Hostile formulas: whatever the bytes are, reading ends, stays in bounds, and gives a formula
 * whose canonical text is that of itself, or an error with a message and no formula.  The family is
 * what stands before the first line end, if there is one. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/formula.h>

#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static dp_formula *parse(const char *family, const char *text)
{
    const dp_formula_opts options = {.family = family};
    dp_error err = {0};
    dp_formula *f;
    const dp_status status = dp_formula_parse(text, &options, &f, &err);
    expect((status == DP_OK) == (f != NULL) && status == err.status);
    expect(status == DP_OK || (strlen(err.text) > 10 && strlen(err.text) < sizeof err.text));
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = 0;
    char *line = strchr(text, '\n'), *family = NULL;
    if (line != NULL) {
        *line = 0;
        family = text;
    }
    dp_formula *f = parse(family, line != NULL ? line + 1 : text);
    if (f != NULL) {
        dp_formula *again = parse(dp_formula_family(f), dp_formula_text(f));
        expect(again != NULL && strcmp(dp_formula_text(again), dp_formula_text(f)) == 0);
        dp_formula_free(again);
    }
    dp_formula_free(f);
    free(text);
    return 0;
}
