/* Reading the list of parties, and who plays what. */
#include "serve/parties.h"

#include <stdio.h>
#include <string.h>

#include <openssl/sha.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/lines.h"

typedef struct parties_reading {
    dpi_lines lines;
    dp_parties *parties;
    bool provider; /* was read */
    dp_error *err;
} parties_reading;

static dp_status wrong(const parties_reading *r, const char *what, const char *shown)
{
    return dpi_lines_fail(&r->lines, r->err, what, shown);
}

/* ---- lines ---- */

static bool known(const dp_parties *p, const unsigned char fingerprint[DPI_FINGERPRINT])
{
    return dpi_parties_find(p, fingerprint) < p->n;
}

static bool copy_word(const char *word, char *to, size_t room)
{
    size_t n = strlen(word);
    if (n == 0 || n >= room)
        return false;
    memcpy(to, word, n + 1);
    return true;
}

/* "0 HOST PORT tacit:..." */
static dp_status read_party(parties_reading *r, char *value)
{
    dp_parties *p = r->parties;
    const char *number = dpi_lines_word(&value), *host = dpi_lines_word(&value);
    const char *port = dpi_lines_word(&value), *fingerprint = dpi_lines_word(&value);
    if (p->n == DPI_SHARE_PARTIES)
        return wrong(r, "there are three or four parties", NULL);
    const char own[2] = {(char)('0' + p->n), 0};
    if (strcmp(number, own) != 0)
        return wrong(r, "parties are numbered 0, 1, 2, ... in the order of their lines", number);
    dpi_party_line *line = &p->line[p->n];
    if (!copy_word(host, line->host, sizeof line->host) ||
        !copy_word(port, line->port, sizeof line->port))
        return wrong(r, "a party is `party = NUMBER HOST PORT FINGERPRINT`", NULL);
    if (*value != 0 ||
        !dpi_fingerprint_read(fingerprint, strlen(fingerprint), line->peer.fingerprint))
        return wrong(r, "behind host and port comes the fingerprint alone, tacit: and 64 digits",
                     NULL);
    if (known(p, line->peer.fingerprint))
        return wrong(r, "this fingerprint is that of a party before", NULL);
    (void)snprintf(line->peer.name, sizeof line->peer.name, "party %zu", p->n);
    p->n++;
    return DP_OK;
}

static dp_status read_provider(parties_reading *r, const char *value)
{
    dpi_peer *provider = &r->parties->provider;
    if (r->provider)
        return wrong(r, "there is one provider", NULL);
    if (!dpi_fingerprint_read(value, strlen(value), provider->fingerprint))
        return wrong(r, "a provider is a fingerprint, tacit: and 64 digits", NULL);
    memcpy(provider->name, "provider", sizeof "provider");
    r->provider = true;
    return DP_OK;
}

static dp_status read_line(parties_reading *r)
{
    char *rest = r->lines.line;
    const char *key = dpi_lines_word(&rest), *equals = dpi_lines_word(&rest);
    const bool party = strcmp(key, "party") == 0;
    if ((!party && strcmp(key, "provider") != 0) || strcmp(equals, "=") != 0)
        return wrong(r,
                     "a line is `party = NUMBER HOST PORT FINGERPRINT` or `provider = "
                     "FINGERPRINT`",
                     NULL);
    return party ? read_party(r, rest) : read_provider(r, rest);
}

/* ---- together ---- */

/* Fingerprints alone: how somebody reaches a party is his own affair. */
static void make_hash(dp_parties *p)
{
    unsigned char all[1 + (DPI_SHARE_PARTIES + 1) * DPI_FINGERPRINT] = {(unsigned char)p->n};
    unsigned char *at = all + 1;
    for (size_t i = 0; i < p->n; i++, at += DPI_FINGERPRINT)
        memcpy(at, p->line[i].peer.fingerprint, DPI_FINGERPRINT);
    memcpy(at, p->provider.fingerprint, DPI_FINGERPRINT);
    (void)SHA256(all, sizeof all, p->hash);
}

static dp_status check_all(const parties_reading *r)
{
    const dp_parties *p = r->parties;
    const char *why =
        p->n < DPI_PARTIES_LEAST ? "there are not three parties"
        : !r->provider           ? "there is no line 'provider = ...'"
        : known(p, p->provider.fingerprint)
            ? "the provider has the fingerprint of a party, which must not know the model"
            : NULL;
    return why == NULL ? DP_OK : dpi_fail(r->err, DP_EDATA, "%.150s: %s", r->lines.file, why);
}

dp_status dp_parties_parse(size_t n, const char *text, const char *file, dp_parties **parties,
                           dp_error *err)
{
    *parties = NULL;
    parties_reading *r = dpi_alloc(1, sizeof *r);
    dp_parties *p = dpi_alloc(1, sizeof *p);
    dp_status status = r == NULL || p == NULL ? dpi_fail_nomem(err) : DP_OK;
    if (status == DP_OK)
        *r = (parties_reading){
            .lines = {.at = text, .n = n, .file = file}, .parties = p, .err = err};
    for (bool there = true; status == DP_OK && there;) {
        status = dpi_lines_next(&r->lines, &there, err);
        if (status == DP_OK && there)
            status = read_line(r);
    }
    if (status == DP_OK)
        status = check_all(r);
    if (status == DP_OK) {
        make_hash(p);
        *parties = p;
    } else {
        dpi_free(p);
    }
    dpi_free(r);
    return status;
}

dp_status dp_parties_load(const char *path, dp_parties **parties, dp_error *err)
{
    char *text;
    size_t n;
    *parties = NULL;
    dp_status status = dpi_lines_file(path, &text, &n, err);
    if (status == DP_OK)
        status = dp_parties_parse(n, text, path, parties, err);
    dpi_free(text);
    return status;
}

size_t dp_parties_count(const dp_parties *parties)
{
    return parties->n;
}

void dp_parties_free(dp_parties *parties)
{
    dpi_free(parties);
}

/* ---- who is who ---- */

dpi_protocol dpi_parties_protocol(const dp_parties *p)
{
    return p->n == DPI_SHARE_PARTIES ? DPI_PROTOCOL_HM4 : DPI_PROTOCOL_HM3;
}

size_t dpi_parties_find(const dp_parties *p, const unsigned char fingerprint[DPI_FINGERPRINT])
{
    size_t i = 0;
    while (i < p->n && memcmp(p->line[i].peer.fingerprint, fingerprint, DPI_FINGERPRINT) != 0)
        i++;
    return i;
}

/* The lane's order before it is turned by the lane's number: role 0 first, and the others in each
 * of their orders. */
static size_t before_turning(size_t n, size_t place, size_t role)
{
    static const unsigned char four[6][3] = {{1, 2, 3}, {1, 3, 2}, {2, 1, 3},
                                             {2, 3, 1}, {3, 1, 2}, {3, 2, 1}};
    static const unsigned char three[2][2] = {{1, 2}, {2, 1}};
    if (role == 0)
        return 0;
    return n == DPI_SHARE_PARTIES ? four[place % 6][role - 1] : three[place % 2][role - 1];
}

size_t dpi_parties_machine(size_t n, size_t lane, size_t role)
{
    return (before_turning(n, lane / n, role) + lane) % n;
}

size_t dpi_parties_role(size_t n, size_t lane, size_t machine)
{
    size_t role = 0;
    while (role + 1 < n && dpi_parties_machine(n, lane, role) != machine)
        role++;
    return role;
}

dp_status dpi_parties_connect(const dp_parties *p, size_t machine, const dp_identity *identity,
                              uint32_t within, dpi_wire_session **wire, dp_error *err)
{
    const dpi_party_line *line = &p->line[machine];
    dpi_peer one = line->peer;
    const dpi_peers peers = {.list = &one, .n = 1};
    const dpi_wire_opts w = {.identity = identity, .peers = &peers};
    dp_error why = {0};
    dp_status status = dpi_wire_connect(line->host, line->port, &w, within, wire, &why);
    if (status == DP_OK)
        return DP_OK;
    const bool named = strncmp(why.text, one.name, strlen(one.name)) == 0; /* by the session */
    return dpi_fail(err, status, "%s%s%s", named ? "" : one.name, named ? "" : ": ", why.text);
}

const dpi_share_row *dpi_parties_row(const dp_parties *p)
{
    return p->n == DPI_SHARE_PARTIES ? &dpi_quad : &dpi_trio;
}
