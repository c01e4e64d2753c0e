/* Bytes of the messages, and how many there are. */
#include "serve/party-talk.h"

#include <string.h>

#include "base/bytes.h"

typedef struct place {
    unsigned char *at;
} place;

static void add_number(place *p, uint64_t number)
{
    dpi_put_number(p->at, number);
    p->at += 8;
}

static void add(place *p, const void *bytes, size_t n)
{
    memcpy(p->at, bytes, n);
    p->at += n;
}

void dpi_party_write_hello(const dpi_party_hello *h, unsigned char to[DPI_PARTY_HELLO_BYTES])
{
    place p = {to};
    add_number(&p, h->version);
    add_number(&p, h->purpose);
    add_number(&p, h->protocol);
    add_number(&p, h->lane);
    add_number(&p, h->lanes);
    add_number(&p, h->records);
    add_number(&p, h->probabilistic);
    add(&p, h->token, sizeof h->token);
    add(&p, h->share, sizeof h->share);
    add(&p, h->client, sizeof h->client);
    add(&p, h->hash, sizeof h->hash);
    add(&p, h->view, sizeof h->view);
    add(&p, h->parties, sizeof h->parties);
}

static void take(dpi_reader *r, void *to, size_t n)
{
    const unsigned char *from = dpi_read_bytes(r, n);
    if (from != NULL)
        memcpy(to, from, n);
}

void dpi_party_read_hello(const unsigned char from[DPI_PARTY_HELLO_BYTES], dpi_party_hello *h)
{
    dpi_reader r = {.at = from, .left = DPI_PARTY_HELLO_BYTES};
    h->version = dpi_read_number(&r);
    h->purpose = dpi_read_number(&r);
    h->protocol = dpi_read_number(&r);
    h->lane = dpi_read_number(&r);
    h->lanes = dpi_read_number(&r);
    h->records = dpi_read_number(&r);
    h->probabilistic = dpi_read_number(&r);
    take(&r, h->token, sizeof h->token);
    take(&r, h->share, sizeof h->share);
    take(&r, h->client, sizeof h->client);
    take(&r, h->hash, sizeof h->hash);
    take(&r, h->view, sizeof h->view);
    take(&r, h->parties, sizeof h->parties);
}

dpi_party_hello dpi_party_hello_of(const dp_parties *parties, dpi_party_purpose purpose)
{
    dpi_party_hello h = {.version = DPI_PARTY_VERSION,
                         .purpose = purpose,
                         .protocol = dpi_parties_protocol(parties)};
    memcpy(h.parties, parties->hash, sizeof h.parties);
    return h;
}

dpi_refusal dpi_party_check_hello(const dp_parties *parties, const dpi_party_hello *h)
{
    return h->version != DPI_PARTY_VERSION                             ? DPI_REFUSED_VERSION
           : memcmp(h->parties, parties->hash, sizeof h->parties) != 0 ? DPI_REFUSED_PARTIES
           : h->protocol != (uint64_t)dpi_parties_protocol(parties) || h->probabilistic > 1
               ? DPI_REFUSED_MODE
               : DPI_REFUSED_NOTHING;
}

dp_status dpi_party_send_hello(dpi_wire_session *wire, const dpi_party_hello *h, uint32_t within)
{
    unsigned char bytes[DPI_PARTY_HELLO_BYTES];
    dpi_party_write_hello(h, bytes);
    return dpi_wire_send(wire, DPI_PARTY_HELLO, 0, bytes, sizeof bytes, within);
}

void dpi_party_write_offer(const dpi_party_offer *o, unsigned char to[DPI_PARTY_OFFER_BYTES])
{
    place p = {to};
    add(&p, o->share, sizeof o->share);
    add(&p, o->hash, sizeof o->hash);
    add_number(&p, o->sheet_bytes);
    add_number(&p, o->lanes);
    add_number(&p, o->records);
    add_number(&p, o->probabilistic);
}

void dpi_party_read_offer(const unsigned char from[DPI_PARTY_OFFER_BYTES], dpi_party_offer *o)
{
    dpi_reader r = {.at = from, .left = DPI_PARTY_OFFER_BYTES};
    take(&r, o->share, sizeof o->share);
    take(&r, o->hash, sizeof o->hash);
    o->sheet_bytes = dpi_read_number(&r);
    o->lanes = dpi_read_number(&r);
    o->records = dpi_read_number(&r);
    o->probabilistic = dpi_read_number(&r);
}

/* ---- sizes ---- */

size_t dpi_party_share_of(size_t n, size_t lanes, size_t lane)
{
    return n / lanes + (lane < n % lanes);
}

/* Asked of the row by an output without numbers. */
dpi_party_tells dpi_party_told(const dpi_share_row *row, size_t role)
{
    dpi_party p = {.row = row, .role = role};
    const dpi_share none = {.n = 0};
    uint64_t nothing = 0;
    bool hash_only = false;
    if (!row->piece(&p, DPI_RING_64, 1, &none, &nothing, &hash_only))
        return DPI_TELLS_NOTHING;
    return hash_only ? DPI_TELLS_HASH : DPI_TELLS_ALL;
}

size_t dpi_party_full(const dpi_share_row *row, size_t lane)
{
    return dpi_parties_machine(row->parties, lane, row->dealer);
}

size_t dpi_party_most_records(const dpi_party_sizes *s)
{
    const size_t numbers = s->inputs > s->outputs ? s->inputs : s->outputs;
    const size_t room = DPI_WIRE_MOST - s->lanes * DPI_PARTY_DIGEST;
    return room / (numbers * dpi_ring_bytes(s->ring));
}

size_t dpi_party_input_bytes(const dpi_party_sizes *s, size_t machine, size_t n)
{
    size_t records = 0;
    for (size_t k = 0; k < s->lanes; k++)
        if (dpi_party_full(s->row, k) != machine)
            records += dpi_party_share_of(n, s->lanes, k);
    return records * s->inputs * dpi_ring_bytes(s->ring);
}

size_t dpi_party_output_bytes(const dpi_party_sizes *s, size_t machine, size_t n)
{
    size_t bytes = 0;
    for (size_t k = 0; k < s->lanes; k++) {
        const dpi_party_tells tells =
            dpi_party_told(s->row, dpi_parties_role(s->row->parties, k, machine));
        if (tells == DPI_TELLS_ALL)
            bytes += dpi_party_share_of(n, s->lanes, k) * s->outputs * dpi_ring_bytes(s->ring);
        else if (tells == DPI_TELLS_HASH)
            bytes += DPI_PARTY_DIGEST;
    }
    return bytes;
}
