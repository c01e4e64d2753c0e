/* Pinned peers. */
#include "wire/peers.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/lines.h"

enum { FIRST_ROOM = 16 };

size_t dpi_peers_find(const dpi_peers *peers, const unsigned char fingerprint[DPI_FINGERPRINT])
{
    size_t found = peers->n;
    for (size_t i = 0; i < peers->n; i++) {
        size_t same = CRYPTO_memcmp(peers->list[i].fingerprint, fingerprint, DPI_FINGERPRINT) == 0;
        found ^= (found ^ i) & ((size_t)0 - same);
    }
    return found;
}

const char *dpi_peer_read(char *text, const dpi_peer *list, size_t n, dpi_peer *peer)
{
    char *name = text;
    const char *fingerprint = dpi_lines_word(&name);
    if (!dpi_fingerprint_read(fingerprint, strlen(fingerprint), peer->fingerprint))
        return "a fingerprint is tacit: and 64 hexadecimal digits, as tacit keys show prints it";
    if (name[0] == 0)
        return "a name must follow the fingerprint";
    if (dpi_name_fault(name) != NULL)
        return "a name must not be longer than 200 bytes";
    for (size_t i = 0; i < n; i++) {
        if (memcmp(list[i].fingerprint, peer->fingerprint, DPI_FINGERPRINT) == 0)
            return "this fingerprint has a name already";
        if (strcmp(list[i].name, name) == 0)
            return "this name has a fingerprint already";
    }
    memcpy(peer->name, name, strlen(name) + 1);
    return NULL;
}

/* Room is for 16, and then twice what is full: how much there is follows from their number. */
dp_status dpi_peers_add(dpi_peers *peers, const dpi_peer *one, dp_error *err)
{
    const size_t n = peers->n;
    if (n == 0 || (n >= FIRST_ROOM && (n & (n - 1)) == 0)) {
        dpi_peer *more = dpi_alloc(n == 0 ? FIRST_ROOM : 2 * n, sizeof *more);
        if (more == NULL)
            return dpi_fail_nomem(err);
        if (n > 0)
            memcpy(more, peers->list, n * sizeof *more);
        dpi_free(peers->list);
        peers->list = more;
    }
    peers->list[peers->n++] = *one;
    return DP_OK;
}

/* Adds that of the line. */
static dp_status read_one(dpi_lines *l, dpi_peers *peers, dp_error *err)
{
    dpi_peer one = {{0}, ""};
    const char *fault = peers->n == DPI_MOST_PEERS
                            ? "there are more than 4096 of them"
                            : dpi_peer_read(l->line, peers->list, peers->n, &one);
    return fault != NULL ? dpi_lines_fail(l, err, fault, NULL) : dpi_peers_add(peers, &one, err);
}

dp_status dpi_peers_parse(const char *text, size_t n, const char *file, dpi_peers *peers,
                          dp_error *err)
{
    *peers = (dpi_peers){0};
    dpi_lines *l = dpi_alloc(1, sizeof *l);
    if (l == NULL)
        return dpi_fail_nomem(err);
    *l = (dpi_lines){.at = text, .n = n, .file = file};
    dp_status status = DP_OK;
    for (bool there = true; status == DP_OK && there;) {
        status = dpi_lines_next(l, &there, err);
        if (status == DP_OK && there)
            status = read_one(l, peers, err);
    }
    dpi_free(l);
    if (status != DP_OK)
        dpi_peers_free(peers);
    return status;
}

dp_status dpi_peers_load(const char *path, dpi_peers *peers, dp_error *err)
{
    *peers = (dpi_peers){0};
    char *text;
    size_t n;
    dp_status status = dpi_lines_file(path, &text, &n, err);
    if (status == DP_OK)
        status = dpi_peers_parse(text, n, path, peers, err);
    dpi_free(text);
    return status;
}

void dpi_peers_free(dpi_peers *peers)
{
    dpi_free(peers->list);
    *peers = (dpi_peers){0};
}
