/* Hostile plans of several owners: whatever the bytes are, reading ends, stays in bounds, and gives
 * either a message or a plan whose text is those bytes. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/silo.h>

#include "fuzz/fuzz.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_silo_plan *plan;
    dp_error err = {DP_OK, ""};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    if (dp_silo_plan_parse(text, size, "a plan", &plan, &err) == DP_OK) {
        const dp_silo_opts *o = dp_silo_plan_opts(plan);
        expect(o->n_owners >= 1 && o->n_owners <= DP_OWNERS_MOST);
        expect(o->colluders + o->dropouts < o->n_owners);
        expect(strlen(dp_silo_plan_text(plan)) == size &&
               memcmp(dp_silo_plan_text(plan), text, size) == 0);
    } else
        expect(plan == NULL && strlen(err.text) > 10);
    dp_silo_plan_free(plan);
    free(text);
    return 0;
}
