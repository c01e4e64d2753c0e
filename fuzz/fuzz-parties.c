/* Hostile lists of parties: whatever the bytes are, reading ends, stays in bounds, and gives
 * either a message or a list of three or four parties and a provider that are all different, which
 * written down again is the same. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "serve/parties.h"

enum { MOST_LINE = DPI_PARTIES_HOST + DPI_PARTIES_PORT + DPI_FINGERPRINT_TEXT + 32 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_again(const dp_parties *p)
{
    char text[(DPI_SHARE_PARTIES + 1) * MOST_LINE], print[DPI_FINGERPRINT_TEXT];
    dp_parties *again;
    dp_error err = {0};
    dpi_fingerprint_write(p->provider.fingerprint, print);
    int n = snprintf(text, sizeof text, "provider = %s\n", print);
    for (size_t i = 0; i < p->n; i++) {
        dpi_fingerprint_write(p->line[i].peer.fingerprint, print);
        n += snprintf(text + n, sizeof text - (size_t)n, "party = %zu %s %s %s\n", i,
                      p->line[i].host, p->line[i].port, print);
    }
    expect(dp_parties_parse((size_t)n, text, "again", &again, &err) == DP_OK);
    expect(again->n == p->n && memcmp(again->hash, p->hash, sizeof p->hash) == 0);
    for (size_t i = 0; i < p->n; i++)
        expect(strcmp(again->line[i].host, p->line[i].host) == 0 &&
               strcmp(again->line[i].port, p->line[i].port) == 0);
    dp_parties_free(again);
}

static void check_list(const dp_parties *p)
{
    expect(p->n == 3 || p->n == 4);
    expect(dpi_parties_find(p, p->provider.fingerprint) == p->n);
    expect(dpi_parties_row(p)->parties == p->n);
    for (size_t i = 0; i < p->n; i++) {
        expect(dpi_parties_find(p, p->line[i].peer.fingerprint) == i);
        expect(p->line[i].host[0] != 0 && p->line[i].port[0] != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_parties *p;
    dp_error err = {0};
    char *text = malloc(size > 0 ? size : 1); /* a block of just this size shows any overrun */
    expect(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    if (dp_parties_parse(size, text, "a list", &p, &err) == DP_OK) {
        check_list(p);
        check_again(p);
    } else {
        expect(err.status == DP_EDATA && strlen(err.text) > 10 && p == NULL);
    }
    dp_parties_free(p);
    free(text);
    return 0;
}
