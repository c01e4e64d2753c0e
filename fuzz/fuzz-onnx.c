/* Hostile ONNX files: whatever the bytes are, reading stays in bounds and gives a program that can
 * be fixed and run, or an error with a message and no program. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "serve/onnx.h"

enum { MOST_NUMBERS = 1 << 14, MOST_WORK = 1 << 22 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* What running the program takes, roughly: numbers that windows and rows look at. */
static size_t work_of(const dp_program *p)
{
    size_t work = 0;
    for (size_t k = 0; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        size_t seen = s->window.size[0] * s->window.size[1];
        work += s->size * (seen > 0 ? seen : 1) + s->n_weights * (s->shape[0] * s->shape[1]);
    }
    return work;
}

static void run(const dp_program *p)
{
    dp_error err = {0};
    size_t n = dp_program_inputs(p), m = dp_program_outputs(p);
    double *x = calloc(n, sizeof *x), *y = calloc(m, sizeof *y);
    expect(x != NULL && y != NULL);
    expect(dp_program_run(p, 1, x, y, &err) == DP_OK);
    free(x);
    free(y);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const dp_onnx_opts opts = {.low = -1, .high = 1};
    dp_error err = {0};
    dp_program *p = NULL;
    unsigned char *copy = malloc(size > 0 ? size : 1); /* of just this size shows any overrun */
    expect(copy != NULL);
    if (size > 0)
        memcpy(copy, data, size);
    dp_status status = dpi_program_of_onnx(size, copy, &opts, &p, &err);
    free(copy);
    expect(status == err.status && (status == DP_OK) == (p != NULL));
    expect(status == DP_OK || strlen(err.text) > 10);
    if (p != NULL && dp_program_inputs(p) <= MOST_NUMBERS && work_of(p) <= MOST_WORK) {
        dp_error why = {0};
        status = dp_program_fix(p, NULL, &why);
        expect(status == DP_OK || strlen(why.text) > 10);
        if (status == DP_OK)
            run(p);
    }
    dp_program_free(p);
    return 0;
}
