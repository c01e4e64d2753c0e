/* Hostile requests to a mailbox: what is taken has one meaning, names a file of the folder alone,
 * and is taken only when all of it is there; more bytes never change what was said of fewer. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "silo/relay-request.h"

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void check_good(const char *bytes, size_t n, const dpi_relay_request *r)
{
    const size_t length = strlen(r->name);
    expect(r->head >= 18 && r->head <= n && r->head <= DPI_RELAY_MOST_HEAD);
    expect(memcmp(bytes + r->head - 4, "\r\n\r\n", 4) == 0);
    expect(memcmp(bytes, r->puts ? "PUT /" : "GET /", 5) == 0);
    expect(length > 0 && length < DPI_RELAY_NAME && r->name[0] != '.' && r->name[0] != '+');
    for (size_t k = 0; k < length; k++)
        expect(strchr("/\\ \t\r\n%", r->name[k]) == NULL);
    expect(memcmp(bytes + 5, r->name, length) == 0 &&
           memcmp(bytes + 5 + length, " HTTP/1.1\r\n", 11) == 0);
    expect(r->wait <= DPI_RELAY_MOST_WAIT && r->length < 1000000000000000);
    expect(r->puts || r->length == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dpi_relay_request r, again;
    char *bytes = malloc(size + 1); /* a block of just this size shows any overrun */
    expect(bytes != NULL);
    char *part = malloc(size / 2 + 1);
    expect(part != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    if (size / 2 > 0)
        memcpy(part, data, size / 2);
    const int all = dpi_relay_parse(bytes, size, &r),
              half = dpi_relay_parse(part, size / 2, &again);
    expect(all == DPI_RELAY_MORE || all == DPI_RELAY_GOOD || (all >= 400 && all < 600));
    expect(half == DPI_RELAY_MORE || half == all);
    expect(all != DPI_RELAY_MORE || size < DPI_RELAY_MOST_HEAD);
    if (all == DPI_RELAY_GOOD)
        check_good(bytes, size, &r);
    if (half == DPI_RELAY_GOOD)
        expect(r.head == again.head && r.length == again.length && strcmp(r.name, again.name) == 0);
    free(part);
    free(bytes);
    return 0;
}
