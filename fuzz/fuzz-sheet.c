/* Hostile sheets of programs: whatever the bytes are, reading ends, stays in bounds, and either
 * gives an error, or a program that is written as it was read and whose input can be encoded. */
#include <stdlib.h>
#include <string.h>

#include <tacit/program.h>

#include "fuzz/fuzz.h"

enum { MOST_INPUTS = 4096 }; /* that are encoded; larger ones would only take time */

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Numbers at the lower ends of their bounds are within them. */
static void check_input(const dp_program *p)
{
    size_t n = dp_program_inputs(p);
    if (n > MOST_INPUTS)
        return;
    double *x = calloc(n, sizeof *x);
    int64_t *v = calloc(n, sizeof *v);
    expect(x != NULL && v != NULL);
    for (size_t i = 0; i < n; i++)
        x[i] = dp_program_number_at(p, i).low;
    dp_error err = {0};
    dp_status status = dp_program_encode(p, 1, x, v, &err);
    expect(status == DP_OK || status == DP_EDOMAIN); /* beyond the bits that the sheet says */
    free(x);
    free(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_error err = {0};
    dp_program *p;
    unsigned char *block = malloc(size > 0 ? size : 1), *again; /* shows any overrun */
    size_t n;
    expect(block != NULL);
    if (size > 0)
        memcpy(block, data, size);
    dp_status status = dp_program_of_sheet(size, block, &p, &err);
    expect((status == DP_OK) == (p != NULL));
    if (p != NULL) {
        expect(dp_program_sheet(p, &n, &again, &err) == DP_OK);
        expect(n == size && memcmp(again, block, n) == 0);
        dp_program_sheet_free(again);
        check_input(p);
    }
    dp_program_free(p);
    free(block);
    return 0;
}
