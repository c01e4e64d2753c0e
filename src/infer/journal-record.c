/* Bytes of a release, and what hides them. */
#include "infer/journal-record.h"

#include <sodium.h>
#include <string.h>

#include "base/bytes.h"

enum { HASH = DPI_JOURNAL_HASH, KEY = DPI_JOURNAL_RECORD_KEY, HEAD = DPI_JOURNAL_RECORD_HEAD };

size_t dpi_journal_record_size(uint64_t n)
{
    return HEAD + HASH + 8 * (size_t)n + HASH;
}

void dpi_journal_record_head(const unsigned char *bytes, dpi_journal_record *r)
{
    *r = (dpi_journal_record){.place = dpi_get_number(bytes), .rest = dpi_get_number(bytes + 24)};
    r->what.phase = dpi_get_number(bytes + 8);
    r->what.n = dpi_get_number(bytes + 16);
    r->what.sigma = dpi_of_bits(dpi_get_number(bytes + 32));
    if (r->what.n > 0 && r->what.n <= DPI_JOURNAL_NUMBERS)
        r->size = dpi_journal_record_size(r->what.n);
}

size_t dpi_journal_record_put(unsigned char *bytes, uint64_t place, const dpi_journal_release *what,
                              const double *numbers)
{
    dpi_put_number(bytes, place);
    dpi_put_number(bytes + 8, what->phase);
    dpi_put_number(bytes + 16, what->n);
    dpi_put_number(bytes + 24, 0);
    dpi_put_number(bytes + 32, dpi_bits_of(what->sigma));
    memcpy(bytes + HEAD, what->question, HASH);
    for (uint64_t e = 0; e < what->n; e++)
        dpi_put_number(bytes + HEAD + HASH + 8 * e, dpi_bits_of(numbers[e]));
    return dpi_journal_record_size(what->n);
}

/* Puts question and numbers under the key, or takes them out. */
static void mask(unsigned char *bytes, const dpi_journal_record *r, const unsigned char key[KEY])
{
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    dpi_put_number(nonce, r->place);
    (void)crypto_stream_chacha20_xor(bytes + HEAD, bytes + HEAD, r->size - HEAD - HASH, nonce, key);
}

/* Of a record whose numbers are under the key. */
static void hash_of(const unsigned char *bytes, size_t size, const unsigned char key[KEY],
                    const unsigned char chain[HASH], unsigned char hash[HASH])
{
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, key, KEY, HASH);
    (void)crypto_generichash_update(&h, chain, HASH);
    (void)crypto_generichash_update(&h, bytes, size - HASH);
    (void)crypto_generichash_final(&h, hash, HASH);
}

void dpi_journal_record_seal(unsigned char *bytes, uint64_t rest, const unsigned char key[KEY],
                             unsigned char chain[HASH])
{
    dpi_journal_record r;
    dpi_put_number(bytes + 24, rest);
    dpi_journal_record_head(bytes, &r);
    mask(bytes, &r, key);
    hash_of(bytes, r.size, key, chain, bytes + r.size - HASH);
    memcpy(chain, bytes + r.size - HASH, HASH);
}

bool dpi_journal_record_open(unsigned char *bytes, const unsigned char key[KEY],
                             unsigned char chain[HASH], dpi_journal_record *r)
{
    unsigned char hash[HASH];
    hash_of(bytes, r->size, key, chain, hash);
    if (memcmp(hash, bytes + r->size - HASH, HASH) != 0)
        return false;
    mask(bytes, r, key);
    memcpy(r->what.question, bytes + HEAD, HASH);
    memcpy(chain, hash, HASH);
    return true;
}
