/* Hostile estimates: whatever the bytes are, reading ends, stays in bounds, and either gives finite
 * numbers of at least two twins, or a message. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tools/estimates.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_numbers(const estimates *e)
{
    expect(e->m >= 2 && e->n >= 1);
    for (size_t k = 0; k < e->n * e->m; k++)
        expect(isfinite(e->estimate[k]) && e->variance[k] >= 0);
    for (size_t k = 0; k < e->n; k++)
        expect(e->name[k] != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    estimates e;
    message why = {""};
    /* Two files where there is a form feed, of blocks of just their sizes. */
    const uint8_t *cut = size > 0 ? memchr(data, '\f', size) : NULL;
    const size_t length[2] = {cut != NULL ? (size_t)(cut - data) : size,
                              cut != NULL ? size - (size_t)(cut - data) - 1 : 0};
    char names[2][2] = {"a", "b"}, *const name[2] = {names[0], names[1]}, *text[2];
    for (int k = 0; k < 2; k++) {
        text[k] = calloc(length[k] + 1, 1);
        expect(text[k] != NULL);
        if (length[k] > 0)
            memcpy(text[k], k == 0 ? data : cut + 1, length[k]);
    }
    if (estimates_parse(&e, cut != NULL ? 2 : 1, name, text, &why))
        check_numbers(&e);
    else
        expect(strlen(why.text) > 10 && strlen(why.text) < sizeof why.text);
    estimates_free(&e);
    free(text[0]);
    free(text[1]);
    return 0;
}
