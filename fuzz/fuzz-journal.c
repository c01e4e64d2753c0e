/* Hostile journals: whatever the bytes are, opening ends, stays in bounds, and either gives a
 * journal whose releases can be read, and to which others can be added, or an error with a message.
 * Hashes of the header and of releases are put right, so that what lies behind them is reached; the
 * bytes as they are are tried too. */
#define _XOPEN_SOURCE 700
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "infer/journal.h"

#include "fuzz/fuzz.h"

enum { HASH = 32, KEY = 32, HEADER = 256, HEAD = 40, RELEASES = 80, MOST = DPI_JOURNAL_NUMBERS };

/* Bytes between the head and the hash of a release of n numbers. */
static size_t hidden(uint64_t n)
{
    return HASH + 8 * (size_t)n;
}

/* What a release was asked for, as the key of its group has it. */
static void find_question(const unsigned char *bytes, const unsigned char *key,
                          unsigned char question[HASH])
{
    unsigned char nonce[crypto_stream_chacha20_NONCEBYTES];
    dpi_put_number(nonce, dpi_get_number(bytes));
    (void)crypto_stream_chacha20_xor(question, bytes + HEAD, HASH, nonce, key);
}

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Reads all that is there, as whoever wrote it would, and adds a group where it is missing. */
static void go_on(dpi_journal *j, const unsigned char *bytes)
{
    static double numbers[MOST];
    const dpi_journal_run *run = dpi_journal_run_of(j);
    uint64_t count = dpi_journal_count(j), read = 0, group = 0;
    size_t at = HEADER + (size_t)run->releases * KEY;
    dp_error err = {DP_OK, ""};
    expect(count <= run->releases && run->releases <= DPI_JOURNAL_MOST);
    for (; dpi_journal_is_ahead(j); read++) {
        dpi_journal_release what = {.phase = dpi_get_number(bytes + at + 8),
                                    .n = dpi_get_number(bytes + at + 16),
                                    .sigma = dpi_of_bits(dpi_get_number(bytes + at + 32))};
        find_question(bytes + at, bytes + HEADER + group * KEY, what.question);
        group += dpi_get_number(bytes + at + 24) == 0;
        expect(what.n > 0 && what.n <= MOST);
        expect(dpi_journal_read(j, &what, numbers, &err) == DP_OK);
        at += HEAD + hidden(what.n) + HASH;
    }
    expect(read == count);
    if (count == run->releases)
        return;
    const dpi_journal_release more = {.n = 3, .sigma = 1};
    uint64_t new = run->releases - count < 2 ? 1 : 2;
    for (uint64_t k = 0; k < new; k++)
        expect(dpi_journal_add(j, &more, numbers, &err) == DP_OK);
    expect(dpi_journal_seal(j, &err) == DP_OK);
    expect(dpi_journal_open_seal(j, &err) == DP_OK && dpi_journal_count(j) == count + new);
}

static void read_once(const char *path, const unsigned char *bytes, size_t size)
{
    dp_error err = {DP_OK, ""};
    dpi_journal *j;
    FILE *f = fopen(path, "wb");
    expect(f != NULL && fwrite(bytes, 1, size, f) == size && fclose(f) == 0);
    dp_status status = dpi_journal_open(path, &j, &err);
    expect(status == err.status && (status == DP_OK) == (j != NULL));
    expect(status == DP_OK || strlen(err.text) > 10);
    if (status == DP_OK)
        go_on(j, bytes);
    dpi_journal_free(j);
}

/* As journal.c hashes them; ends where the bytes do. */
static void put_right(unsigned char *bytes, size_t size)
{
    if (size < HEADER)
        return;
    unsigned char *chain = bytes + HEADER - HASH;
    (void)crypto_generichash(chain, HASH, bytes, HEADER - HASH, NULL, 0);
    uint64_t releases = dpi_get_number(bytes + RELEASES);
    if (releases > DPI_JOURNAL_MOST)
        return;
    size_t at = HEADER + (size_t)releases * KEY;
    uint64_t group = 0;
    while (group < releases && at <= size && size - at >= HEAD + 2 * HASH) {
        uint64_t n = dpi_get_number(bytes + at + 16);
        crypto_generichash_state h;
        if (n > MOST || size - at - HEAD - HASH < hidden(n))
            return;
        size_t length = HEAD + hidden(n);
        (void)crypto_generichash_init(&h, bytes + HEADER + group * KEY, KEY, HASH);
        (void)crypto_generichash_update(&h, chain, HASH);
        (void)crypto_generichash_update(&h, bytes + at, length);
        chain = bytes + at + length;
        (void)crypto_generichash_final(&h, chain, HASH);
        group += dpi_get_number(bytes + at + 24) == 0;
        at += length + HASH;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[40] = "/dev/shm/fuzz-journal-XXXXXX"; /* where syncing takes no time */
    int file = mkstemp(path);
    if (file < 0)
        file = mkstemp(strcpy(path, "/tmp/fuzz-journal-XXXXXX"));
    expect(file >= 0 && close(file) == 0);
    unsigned char *bytes = calloc(size > 0 ? size : 1, 1);
    expect(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    read_once(path, bytes, size);
    put_right(bytes, size);
    read_once(path, bytes, size);
    free(bytes);
    expect(unlink(path) == 0);
    return 0;
}
