/* Hostile policy files: whatever the bytes are, reading ends, stays in bounds, and gives either a
 * policy of which every part was said, or a message and an empty one.  The same bytes as a file of
 * peers. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/policy.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_policy(const dpi_policy *p)
{
    expect(p->clients.n >= 1 && p->clients.n <= DPI_MOST_PEERS);
    expect(p->queries >= 1 && p->queries <= DPI_MOST_COUNT);
    expect(p->window >= 1 && p->window <= DPI_MOST_COUNT);
    expect(p->protocols != 0 && p->protocols < 1u << DPI_N_PROTOCOLS);
    expect(p->modes != 0 && p->modes < 1u << DPI_N_MODES);
    expect((p->top > 0) == (p->returns == DPI_RETURN_TOP));
    bool noisy = p->returns == DPI_RETURN_NOISY_SCORES;
    expect((p->epsilon > 0) == noisy && (p->sensitivity > 0) == noisy);
    expect(isfinite(p->epsilon) && isfinite(p->sensitivity));
    for (size_t i = 0; i < p->clients.n; i++) {
        expect(dpi_name_fault(p->clients.list[i].name) == NULL);
        expect(dpi_peers_find(&p->clients, p->clients.list[i].fingerprint) == i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dpi_policy policy;
    dpi_peers peers;
    dp_error err = {DP_OK, ""};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    if (dpi_policy_parse(text, size, "a policy", &policy, &err) == DP_OK)
        check_policy(&policy);
    else
        expect(err.status == DP_EDATA && strlen(err.text) > 10 && policy.clients.list == NULL);
    dpi_policy_free(&policy);
    err = (dp_error){DP_OK, ""};
    if (dpi_peers_parse(text, size, "peers", &peers, &err) != DP_OK)
        expect(err.status == DP_EDATA && strlen(err.text) > 10 && peers.list == NULL);
    dpi_peers_free(&peers);
    free(text);
    return 0;
}
