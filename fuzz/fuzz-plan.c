/* Hostile plan files: whatever the bytes are, reading ends, stays in bounds, and either gives at
 * least one mechanism, each with what its sampling needs, or a message and an empty plan. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "tools/plan.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_mechanism(const dp_mechanism *m)
{
    expect(m->sigma > 0 && isfinite(m->sigma) && m->steps >= 1);
    expect(m->rate > 0 && m->rate <= 1);
    expect(m->sampling >= DP_SAMPLING_POISSON && m->sampling <= DP_SAMPLING_SHUFFLE);
    expect(m->sampling != DP_SAMPLING_ALLOCATION || m->epoch >= 1);
    expect(m->sampling != DP_SAMPLING_TRUNCATED || (m->cap >= 1 && m->records >= 1));
    expect(m->n_jumps <= MOST_JUMPS);
    double sum = 0;
    for (size_t i = 0; i < m->n_jumps; i++)
        sum += m->jumps[i] + m->chances[i];
    expect(sum >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plan p;
    message why = {""};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    bool good = plan_parse(text, size, "a plan", &p, &why);
    expect(good == (p.n > 0) && p.n <= MOST_MECHANISMS);
    expect(good || (strlen(why.text) > 10 && strlen(why.text) < sizeof why.text));
    for (size_t i = 0; i < p.n; i++)
        check_mechanism(&p.list[i]);
    plan_free(&p);
    free(text);
    return 0;
}
