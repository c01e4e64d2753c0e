/* The file of a fit.
 *
 *   64 bytes   "tacitfit", version, size of the file, number of sections; BLAKE2b-256 of all but
 *              these 32 bytes
 *   64 each    the sections' names, offsets and lengths
 *   the sections, each at a multiple of 64 bytes with zeros in between
 *
 * The file is read into memory, and what a fit keeps is copied out of it: model and guide are built
 * anew, numbers are checked and copied.  It is not mapped, since a file that another program cuts
 * off meanwhile would end the process (SIGBUS), and one that it changes could differ between its
 * check and its use.  Memory at the peak: at most five times the file.
 *
 * The hash tells damage, not an attacker, who can compute it too: everything read is checked.  At
 * last the fit is written again, and the bytes must be the same, so that there is one file for a
 * fit and no room for anything else.
 *
 * The statement of privacy is what the program that ran the fit said.  A file proves nothing of
 * it: who takes a file from a stranger takes his word. */
#define _XOPEN_SOURCE 700
#include "fit/file.h"

#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/replace.h"
#include "data/file.h"
#include "fit/file-sections.h"
#include "model/store.h"

/* "tacitfit", the little end first. */
static const uint64_t magic = UINT64_C(0x7469667469636174);

enum { VERSION = 1, HEAD = 64, BEFORE_HASH = 32, HASH = 32, ENTRY = 64, NAME = 32, ALIGN = 64 };

static void hash_of(const unsigned char *bytes, size_t n, unsigned char hash[HASH])
{
    crypto_generichash_state state;
    (void)crypto_generichash_init(&state, NULL, 0, HASH);
    (void)crypto_generichash_update(&state, bytes, BEFORE_HASH);
    (void)crypto_generichash_update(&state, bytes + HEAD, n - HEAD);
    (void)crypto_generichash_final(&state, hash, HASH);
}

void dpi_fit_seal(unsigned char *bytes, size_t n)
{
    hash_of(bytes, n, bytes + BEFORE_HASH);
}

/* ---- writing ---- */

static void put_entry(unsigned char *entry, const char *name, size_t offset, size_t length)
{
    memcpy(entry, name, strlen(name));
    dpi_put_number(entry + NAME, offset);
    dpi_put_number(entry + NAME + 8, length);
}

dp_status dpi_fit_store(const dp_fit *fit, dpi_bytes *out, dp_error *err)
{
    size_t n = 0, entry = HEAD;
    for (size_t k = 0; k < dpi_n_fit_sections; k++)
        n += dpi_fit_sections[k].is_there(fit);
    dpi_bytes_add(out, NULL, HEAD + n * ENTRY);
    for (size_t k = 0; k < dpi_n_fit_sections; k++) {
        const dpi_fit_section *section = &dpi_fit_sections[k];
        if (!section->is_there(fit))
            continue;
        dpi_bytes_align(out, ALIGN);
        size_t offset = out->n;
        dp_status status = section->put(fit, out, err);
        if (status != DP_OK)
            return status;
        if (!out->failed)
            put_entry(out->at + entry, section->name, offset, out->n - offset);
        entry += ENTRY;
    }
    if (out->failed)
        return dpi_fail_nomem(err);
    dpi_put_number(out->at, magic);
    dpi_put_number(out->at + 8, VERSION);
    dpi_put_number(out->at + 16, out->n);
    dpi_put_number(out->at + 24, n);
    dpi_fit_seal(out->at, out->n);
    return DP_OK;
}

dp_status dp_fit_save(const dp_fit *fit, const char *path, dp_error *err)
{
    dpi_bytes bytes = {0};
    if (fit == NULL || path == NULL)
        dpi_misuse(__func__, "NULL fit or path");
    dp_status status = dpi_fit_store(fit, &bytes, err);
    if (status == DP_OK)
        status = dpi_file_replace(path, bytes.at, bytes.n, err);
    dpi_bytes_free(&bytes);
    return status;
}

/* ---- reading ---- */

static dp_status damaged(const char *what, dp_error *err)
{
    return dpi_fail(
        err, DP_EDATA,
        "the file of the fit is damaged (%s); take an intact copy, or save the fit anew", what);
}

/* The first numbers of a file of `size` bytes, of which n are here. */
static dp_status check_start(const unsigned char *bytes, size_t n, size_t size, dp_error *err)
{
    if (n < HEAD || dpi_get_number(bytes) != magic)
        return dpi_fail(err, DP_EDATA, "this file is no fit of Tacit; check the path");
    uint64_t version = dpi_get_number(bytes + 8);
    if (version != VERSION)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "the fit is of version %llu of the file format, and this version of Tacit "
                        "reads %d; take the version that saved it, or a later one",
                        (unsigned long long)version, VERSION);
    return dpi_get_number(bytes + 16) == size ? DP_OK
                                              : damaged("it ends too soon or too late", err);
}

static dp_status check_head(const unsigned char *bytes, size_t n, dp_error *err)
{
    unsigned char hash[HASH];
    dp_status status = check_start(bytes, n, n, err);
    if (status != DP_OK)
        return status;
    hash_of(bytes, n, hash);
    return memcmp(hash, bytes + BEFORE_HASH, HASH) == 0 ? DP_OK : damaged("its hash is wrong", err);
}

/* The row of a section's name; NULL, with an error, for a name that is none or not known. */
static const dpi_fit_section *section_named(const unsigned char *entry, dp_error *err)
{
    char name[NAME + 1] = {0};
    memcpy(name, entry, NAME);
    for (size_t k = 0; k < dpi_n_fit_sections; k++)
        if (strcmp(dpi_fit_sections[k].name, name) == 0)
            return &dpi_fit_sections[k];
    for (char *c = name; *c != 0; c++)
        *c = (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c;
    (void)dpi_fail(
        err, DP_EUNSUPPORTED,
        "the fit has a section '%s', which this version of Tacit does not know; take the "
        "version that saved it, or a later one",
        name);
    return NULL;
}

/* Each section once, in their order, inside the file. */
static dp_status read_sections(const unsigned char *bytes, size_t n, dpi_fit_read *read,
                               dp_error *err)
{
    uint64_t count = dpi_get_number(bytes + 24);
    const dpi_fit_section *last = NULL;
    if (count > (n - HEAD) / ENTRY)
        return damaged("it has more sections than bytes", err);
    for (size_t k = 0; k < count; k++) {
        const unsigned char *entry = bytes + HEAD + k * ENTRY;
        uint64_t offset = dpi_get_number(entry + NAME), length = dpi_get_number(entry + NAME + 8);
        const dpi_fit_section *section = section_named(entry, err);
        if (section == NULL)
            return DP_EUNSUPPORTED;
        if ((last != NULL && section <= last) || offset % ALIGN != 0 || offset > n ||
            length > n - offset)
            return damaged("a section is out of order or beyond its end", err);
        read->r = (dpi_reader){.at = bytes + offset, .left = (size_t)length};
        last = section;
        dp_status status = section->get(read, err);
        if (status == DP_OK && (read->r.bad || read->r.left > 0))
            status = damaged(section->name, err);
        if (status != DP_OK)
            return status;
    }
    bool drawn = read->parts.n_draws == 0 || read->parts.draws != NULL;
    return read->parts.model != NULL && read->parts.theta != NULL && read->has_privacy &&
                   read->has_run && drawn
               ? DP_OK
               : damaged("a section is missing", err);
}

/* Writing the fit gives the bytes it came from. */
static dp_status compare(const dp_fit *fit, const unsigned char *bytes, size_t n, dp_error *err)
{
    dpi_bytes again = {0};
    dp_status status = dpi_fit_store(fit, &again, err);
    if (status == DP_OK && (again.n != n || memcmp(again.at, bytes, n) != 0))
        status = damaged("it is not written as this version writes it", err);
    dpi_bytes_free(&again);
    return status;
}

/* The fit of what was read.  Parameters that are not finite and draws outside their support are
 * damage here. */
static dp_status make(dpi_fit_read *read, dp_fit **fit, dp_error *err)
{
    dp_error own = {0};
    read->parts.privacy = &read->privacy;
    dp_status status = dpi_fit_new(&read->parts, fit, &own);
    if (status == DP_OK)
        return DP_OK;
    status = status == DP_ENOMEM || status == DP_EUNSUPPORTED ? status : DP_EDATA;
    return dpi_fail(err, status, "%s", own.text);
}

dp_status dpi_fit_restore(const unsigned char *bytes, size_t n, dp_fit **out, dp_error *err)
{
    dpi_fit_read read = {.parts = {.model = NULL}};
    dp_fit *fit = NULL;
    *out = NULL;
    dp_status status = check_head(bytes, n, err);
    if (status == DP_OK)
        status = read_sections(bytes, n, &read, err);
    if (status == DP_OK)
        status = make(&read, &fit, err);
    else {
        dp_model_free(read.parts.guide);
        dp_model_free(read.parts.model);
    }
    dpi_arena_free(&read.arena);
    if (status == DP_OK)
        status = dpi_fit_check_columns(fit, err);
    if (status == DP_OK)
        status = compare(fit, bytes, n, err);
    if (status != DP_OK) {
        dp_fit_free(fit);
        return status;
    }
    *out = fit;
    return DP_OK;
}

/* Reads up to n bytes; how many there were, or -1 when reading failed. */
static ssize_t read_some(int file, unsigned char *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        ssize_t got = read(file, bytes + done, n - done);
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static dp_status cannot_read(const char *path, dp_error *err)
{
    return dpi_fail(err, DP_EIO, "cannot read the fit %s to its end; try again, or take a copy",
                    dpi_path_end(path));
}

/* All of an open file of `size` bytes, in *bytes, of dpi_alloc; its head is looked at first, so
 * that a large file that is no fit takes no memory.  Of one that became shorter meanwhile the rest
 * is zeros, which its hash tells. */
static dp_status read_all(int file, const char *path, size_t size, unsigned char **bytes,
                          dp_error *err)
{
    unsigned char head[HEAD];
    ssize_t got = read_some(file, head, HEAD);
    if (got < 0)
        return cannot_read(path, err);
    dp_status status = check_start(head, (size_t)got, size, err);
    if (status != DP_OK)
        return status;
    *bytes = dpi_alloc(size, 1);
    if (*bytes == NULL)
        return dpi_fail_nomem(err);
    memcpy(*bytes, head, HEAD);
    return read_some(file, *bytes + HEAD, size - HEAD) >= 0 ? DP_OK : cannot_read(path, err);
}

/* Opens a regular file; never waits, as opening a pipe would for its writer. */
static dp_status open_regular(const char *path, int *file, size_t *size, dp_error *err)
{
    struct stat about;
    *file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*file < 0)
        return dpi_fail(err, DP_EIO,
                        "cannot open the fit %s; check the path and your right to read it",
                        dpi_path_end(path));
    if (fstat(*file, &about) != 0 || !S_ISREG(about.st_mode))
        return dpi_fail(
            err, DP_EIO,
            "%s is no regular file; a fit is not read from a folder, a pipe or a device",
            dpi_path_end(path));
    if ((uintmax_t)about.st_size > SIZE_MAX)
        return dpi_fail_nomem(err);
    *size = (size_t)about.st_size;
    return DP_OK;
}

dp_status dp_fit_load(const char *path, dp_fit **fit, dp_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    int file;
    if (path == NULL || fit == NULL)
        dpi_misuse(__func__, "NULL path or result");
    *fit = NULL;
    dp_status status = open_regular(path, &file, &n, err);
    if (status == DP_OK)
        status = read_all(file, path, n, &bytes, err);
    if (file >= 0)
        (void)close(file);
    if (status == DP_OK)
        status = dpi_fit_restore(bytes, n, fit, err);
    dpi_free(bytes);
    return status;
}
