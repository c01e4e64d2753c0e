/* Hostile words of whoever connects to parties, and of parties to clients: hellos and offers.
 * What is read is what was sent, and only a hello of this version, list and protocol is let in.
 *
 * The first byte chooses; what follows takes the place of the beginning of a good one. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "serve/party-talk.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static dp_parties list_of(size_t n)
{
    dp_parties p = {.n = n};
    for (size_t i = 0; i < n; i++)
        memset(p.line[i].peer.fingerprint, 'a' + (int)i, DPI_FINGERPRINT);
    memset(p.provider.fingerprint, 'p', DPI_FINGERPRINT);
    memset(p.hash, 'h', sizeof p.hash);
    return p;
}

static void check_hello(const dp_parties *list, dpi_party_purpose purpose, const uint8_t *data,
                        size_t size)
{
    unsigned char came[DPI_PARTY_HELLO_BYTES], again[DPI_PARTY_HELLO_BYTES];
    const dpi_party_hello good = dpi_party_hello_of(list, purpose);
    dpi_party_hello h;
    dpi_party_write_hello(&good, came);
    if (size > 0)
        memcpy(came, data, size < sizeof came ? size : sizeof came);
    dpi_party_read_hello(came, &h);
    dpi_party_write_hello(&h, again);
    expect(memcmp(came, again, sizeof came) == 0);
    const dpi_refusal why = dpi_party_check_hello(list, &h);
    const bool fits = h.version == good.version && h.protocol == good.protocol &&
                      h.probabilistic <= 1 &&
                      memcmp(h.parties, good.parties, sizeof h.parties) == 0;
    expect((why == DPI_REFUSED_NOTHING) == fits);
    expect(fits || strlen(dpi_refusal_text(why)) > 0);
}

static void check_offer(const uint8_t *data, size_t size)
{
    unsigned char came[DPI_PARTY_OFFER_BYTES] = {0}, again[DPI_PARTY_OFFER_BYTES];
    dpi_party_offer o;
    if (size > 0)
        memcpy(came, data, size < sizeof came ? size : sizeof came);
    dpi_party_read_offer(came, &o);
    dpi_party_write_offer(&o, again);
    expect(memcmp(came, again, sizeof came) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = size > 0 ? data[0] : 0;
    const dp_parties list = list_of(3 + choice % 2);
    const uint8_t *rest = size > 0 ? data + 1 : data;
    const size_t left = size > 0 ? size - 1 : 0;
    if (choice / 2 % 4 == 3)
        check_offer(rest, left);
    else
        check_hello(&list, (dpi_party_purpose)(DPI_PURPOSE_SHARE + choice / 2 % 4), rest, left);
    return 0;
}
