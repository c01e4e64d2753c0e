/* Keyed BLAKE2b-256 (crypto_generichash).  Every number goes in as 8 bytes, little end first, every
 * text with its length before it, so that two different things never give the same bytes. */
#define _POSIX_C_SOURCE 200809L
#include "ledger/hash.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { BLOCK = 64 * 1024, NUMBERS = 512 };

void dpi_hash_begin(crypto_generichash_state *h, const dp_ledger *ledger, const char *what)
{
    (void)crypto_generichash_init(h, ledger->key, sizeof ledger->key, DPI_HASH);
    dpi_hash_text(h, what);
}

static void put(unsigned char out[8], uint64_t value)
{
    for (int i = 0; i < 8; i++)
        out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t bits(double value)
{
    uint64_t b;
    memcpy(&b, &value, sizeof b);
    return b;
}

void dpi_hash_number(crypto_generichash_state *h, uint64_t value)
{
    unsigned char bytes[8];
    put(bytes, value);
    (void)crypto_generichash_update(h, bytes, sizeof bytes);
}

void dpi_hash_real(crypto_generichash_state *h, double value)
{
    dpi_hash_number(h, bits(value));
}

void dpi_hash_bytes(crypto_generichash_state *h, const void *bytes, size_t n)
{
    dpi_hash_number(h, n);
    (void)crypto_generichash_update(h, bytes, n);
}

void dpi_hash_text(crypto_generichash_state *h, const char *text)
{
    if (text == NULL)
        dpi_hash_number(h, UINT64_MAX);
    else
        dpi_hash_bytes(h, text, strlen(text));
}

void dpi_hash_end(crypto_generichash_state *h, unsigned char hash[DPI_HASH])
{
    (void)crypto_generichash_final(h, hash, DPI_HASH);
    sodium_memzero(h, sizeof *h);
}

dp_status dpi_hash_file(const dp_ledger *ledger, const char *path, unsigned char hash[DPI_HASH],
                        dp_error *err)
{
    unsigned char block[BLOCK];
    crypto_generichash_state h;
    size_t n;
    FILE *file = fopen(path, "rb");
    memset(hash, 0, DPI_HASH);
    if (file == NULL)
        return dpi_fail(err, DP_EIO,
                        "cannot open the data file %.160s; put it back, or tell the ledger its new "
                        "place (tacit ledger update)",
                        path);
    dpi_hash_begin(&h, ledger, "file");
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        (void)crypto_generichash_update(&h, block, n);
    int failed = ferror(file);
    (void)fclose(file);
    sodium_memzero(block, sizeof block);
    dpi_hash_end(&h, hash);
    if (!failed)
        return DP_OK;
    memset(hash, 0, DPI_HASH);
    return dpi_fail(err, DP_EIO, "cannot read the data file %.160s; check that it is a file", path);
}

void dpi_hash_column(const dp_ledger *ledger, const dpi_column *column, size_t n,
                     unsigned char hash[DPI_HASH])
{
    unsigned char block[8 * NUMBERS];
    crypto_generichash_state h;
    size_t cells = n * column->size, filled = 0;
    dpi_hash_begin(&h, ledger, "column");
    dpi_hash_text(&h, column->name);
    dpi_hash_number(&h, column->bytes != NULL ? 1 + column->most + (column->drawn ? 0 : 256)
                                              : column->index != NULL);
    dpi_hash_number(&h, column->size);
    dpi_hash_number(&h, n);
    for (size_t i = 0; i < cells; i++) {
        put(block + 8 * filled++, column->bytes != NULL   ? column->bytes[i]
                                  : column->index != NULL ? (uint64_t)(int64_t)column->index[i]
                                                          : bits(column->real[i]));
        if (filled == NUMBERS || i + 1 == cells) {
            (void)crypto_generichash_update(&h, block, 8 * filled);
            filled = 0;
        }
    }
    sodium_memzero(block, sizeof block);
    dpi_hash_end(&h, hash);
}
