#define _DEFAULT_SOURCE
#include "silo/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "wire/disk.h"

enum { CHAIN = DP_SILO_HASH, DIGITS = 2 * CHAIN, LINE = 512, TIME = 20 };

static const char first_words[] = "tacit silo audit 1 ", torn[] = " torn";

struct dpi_audit {
    int file;
    unsigned char chain[CHAIN];
    bool failed;
    char path[256]; /* for messages */
};

static dp_status fail_start(dp_error *err)
{
    return dpi_fail(err, DP_EENTROPY, "libsodium cannot be started");
}

/* The chain of a line whose text is text[n]. */
static void link_on(unsigned char chain[CHAIN], const char *text, size_t n)
{
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, CHAIN);
    (void)crypto_generichash_update(&h, chain, CHAIN);
    (void)crypto_generichash_update(&h, (const unsigned char *)text, n);
    (void)crypto_generichash_final(&h, chain, CHAIN);
}

/* ---- reading ---- */

typedef struct audit_reader {
    FILE *in;
    const char *path;
    char line[LINE + 1];
    size_t n;
    bool whole; /* it ended with a line end */
    bool runs;  /* a run has begun, and not ended */
    unsigned char chain[CHAIN];
    dp_silo_audit *found;
    dp_error *err;
} audit_reader;

static dp_status fail_line(const audit_reader *r, const char *what)
{
    return dpi_fail(r->err, DP_EDATA, "%.150s:%" PRIu64 ": %s", r->path, r->found->lines, what);
}

/* The next line; false at the end of the file. */
static bool next_line(audit_reader *r)
{
    int c = getc(r->in);
    r->n = 0;
    for (; c != EOF && c != '\n' && r->n < LINE; c = getc(r->in))
        r->line[r->n++] = (char)c;
    r->line[r->n] = '\0';
    r->whole = c == '\n';
    return r->n > 0 || r->whole;
}

/* Cuts the next word off; what follows its blank is *rest. */
static const char *cut(char **rest)
{
    char *word = *rest, *blank = strchr(word, ' ');
    if (blank != NULL)
        *blank = '\0';
    *rest = blank != NULL ? blank + 1 : word + strlen(word);
    return word;
}

static bool count_of(const char *text, uint64_t *n)
{
    *n = 0;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c < '0' || *c > '9' || *n > UINT64_MAX / 10 - 1)
            return false;
        *n = 10 * *n + (uint64_t)(*c - '0');
    }
    return text[0] != '\0';
}

static dp_silo_audit_peer *peer_of(dp_silo_audit *found, const char *name)
{
    size_t k = 0;
    while (k < found->n_peers && strcmp(found->peers[k].name, name) != 0)
        k++;
    if (k == DP_OWNERS_MOST || name[0] == '\0' || strlen(name) >= sizeof found->peers[k].name)
        return NULL;
    if (k == found->n_peers)
        (void)strcpy(found->peers[found->n_peers++].name, name);
    return &found->peers[k];
}

static bool read_letter(audit_reader *r, bool leaves, char *rest)
{
    const char *name = cut(&rest), *tag = cut(&rest), *size = cut(&rest);
    dp_silo_audit_peer *peer = peer_of(r->found, name);
    uint64_t bytes;
    if (!r->runs || peer == NULL || tag[0] == '\0' || !count_of(size, &bytes) || *rest != '\0')
        return false;
    if (leaves) {
        peer->sent++;
        peer->sent_bytes += bytes;
    } else {
        peer->got++;
        peer->got_bytes += bytes;
    }
    return true;
}

/* What stands before the chain of a line behind the first. */
static bool read_event(audit_reader *r, char *text)
{
    const char *time_text = cut(&text), *kind = cut(&text);
    if (strlen(time_text) != TIME)
        return false;
    if (strcmp(kind, "sent") == 0 || strcmp(kind, "got") == 0)
        return read_letter(r, kind[0] == 's', text);
    if (strcmp(kind, "began") == 0) {
        r->runs = true;
        r->found->runs++;
        r->found->outcome[0] = '\0';
        return *text == '\0';
    }
    if (strcmp(kind, "ended") != 0 || !r->runs || text[0] == '\0' ||
        strlen(text) >= sizeof r->found->outcome)
        return false;
    r->runs = false;
    (void)strcpy(r->found->outcome, text);
    return true;
}

/* The first line's words, and the plan's hash. */
static bool read_first(audit_reader *r, const char *text)
{
    const size_t n = sizeof first_words - 1;
    size_t got = 0;
    return strncmp(text, first_words, n) == 0 && strlen(text) == n + DIGITS &&
           sodium_hex2bin(r->found->plan, CHAIN, text + n, DIGITS, NULL, &got, NULL) == 0 &&
           got == CHAIN;
}

/* Names and outcomes of a log are printed: one that would speak to the terminal is none. */
static bool is_printable(const char *text)
{
    while (*text >= ' ' && *text <= '~')
        text++;
    return *text == '\0';
}

static dp_status read_line(audit_reader *r)
{
    const size_t tail = sizeof torn - 1;
    char expected[DIGITS + 1];
    r->found->lines++;
    if (!r->whole)
        return fail_line(r, "a line of more than 512 bytes; this is no log of letters");
    if (r->found->lines > 1 && r->n >= tail && strcmp(r->line + r->n - tail, torn) == 0) {
        link_on(r->chain, r->line, r->n);
        r->found->torn++;
        return DP_OK;
    }
    if (strlen(r->line) != r->n || r->n <= DIGITS + 1 || r->line[r->n - DIGITS - 1] != ' ')
        return fail_line(r, "no line of a log of letters; the file was changed or is another");
    link_on(r->chain, r->line, r->n - DIGITS - 1);
    (void)sodium_bin2hex(expected, sizeof expected, r->chain, CHAIN);
    if (strcmp(expected, r->line + r->n - DIGITS) != 0)
        return fail_line(r, "this line, or one before it, was changed, taken out or moved: it does "
                            "not follow from what stands before it");
    r->line[r->n - DIGITS - 1] = '\0';
    bool good = is_printable(r->line) &&
                (r->found->lines == 1 ? read_first(r, r->line) : read_event(r, r->line));
    return good ? DP_OK : fail_line(r, "a line that no run writes there");
}

/* Reads all lines; what is left in r->line is a torn one at the end, of r->n bytes. */
static dp_status read_all(audit_reader *r, const unsigned char *plan)
{
    dp_status status = DP_OK;
    while (status == DP_OK && next_line(r) && (r->whole || r->n == LINE))
        status = read_line(r);
    if (status == DP_OK && ferror(r->in))
        status = dpi_fail(r->err, DP_EIO, "cannot read %.200s", r->path);
    if (status == DP_OK && plan != NULL && r->found->lines > 0 &&
        memcmp(plan, r->found->plan, CHAIN) != 0)
        status =
            dpi_fail(r->err, DP_EMISMATCH,
                     "%.200s is the log of another plan; give each plan a log of its own", r->path);
    (void)sodium_bin2hex(r->found->head, sizeof r->found->head, r->chain, CHAIN);
    return status;
}

dp_status dp_silo_audit_check(const char *path, const unsigned char *plan, dp_silo_audit *found,
                              dp_error *err)
{
    audit_reader r = {.in = fopen(path, "rb"), .path = path, .found = found, .err = err};
    memset(found, 0, sizeof *found);
    if (r.in == NULL)
        return dpi_fail(err, DP_EIO, "cannot open %.200s: %s", path, strerror(errno));
    dp_status status = sodium_init() >= 0 ? read_all(&r, plan) : fail_start(err);
    (void)fclose(r.in);
    if (status == DP_OK && found->lines == 0)
        status = dpi_fail(err, DP_EDATA, "%.200s has no line of a log of letters", path);
    found->torn += r.n > 0;
    if (status != DP_OK)
        memset(found, 0, sizeof *found);
    return status;
}

/* ---- writing ---- */

static dp_status fail_write(dpi_audit *a, dp_error *err)
{
    a->failed = true;
    return dpi_fail(err, DP_EIO,
                    "cannot write to the log of letters %.200s, and what it does not tell of does "
                    "not leave; is the disk full?",
                    a->path);
}

/* Adds a line of a text, with its chain. */
static dp_status add(dpi_audit *a, const char *text, bool now, dp_error *err)
{
    char line[LINE + 1], hex[DIGITS + 1];
    if (a->failed)
        return fail_write(a, err);
    link_on(a->chain, text, strlen(text));
    int n = snprintf(line, sizeof line, "%s %s\n", text,
                     sodium_bin2hex(hex, sizeof hex, a->chain, CHAIN));
    bool good = n > 0 && n < LINE && dpi_disk_write(a->file, line, (size_t)n);
    return good && (!now || fsync(a->file) == 0) ? DP_OK : fail_write(a, err);
}

/* A line of now. */
static dp_status add_event(dpi_audit *a, const char *what, bool now, dp_error *err)
{
    char text[LINE], stamp[TIME + 1];
    struct tm parts;
    const time_t seconds = time(NULL);
    if (gmtime_r(&seconds, &parts) == NULL ||
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &parts) != TIME)
        return fail_write(a, err);
    int n = snprintf(text, sizeof text, "%s %s", stamp, what);
    return n > 0 && n < LINE ? add(a, text, now, err) : fail_write(a, err);
}

static dp_status check_file(const dpi_audit *a, dp_error *err)
{
    struct stat s;
    if (fstat(a->file, &s) != 0 || !S_ISREG(s.st_mode))
        return dpi_fail(err, DP_EIO, "%.200s is no regular file, and keeps nothing", a->path);
    if ((s.st_uid != geteuid() && s.st_uid != 0) || (s.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return dpi_fail(err, DP_EPRIVACY,
                        "others may write %.200s (mode %03o), which is to show what has left; make "
                        "it your own, and chmod 600 it",
                        a->path, (unsigned)(s.st_mode & 0777));
    if (flock(a->file, LOCK_EX | LOCK_NB) != 0)
        return dpi_fail(err, DP_ESTATE, "another process writes to the log %.200s; let it end",
                        a->path);
    return DP_OK;
}

/* Ends a torn line. */
static dp_status mend(dpi_audit *a, audit_reader *r, dp_error *err)
{
    if (r->n + sizeof torn > LINE)
        return fail_line(r, "no line of a log of letters");
    memcpy(r->line + r->n, torn, sizeof torn);
    link_on(a->chain, r->line, r->n + sizeof torn - 1);
    return dpi_disk_write(a->file, " torn\n", sizeof torn) ? DP_OK : fail_write(a, err);
}

/* Reads what there is, from the file's begin, and makes it a log that can be added to. */
static dp_status take_up(dpi_audit *a, const unsigned char plan[DP_SILO_HASH], dp_error *err)
{
    dp_silo_audit found;
    char text[sizeof first_words + DIGITS];
    int copy = dup(a->file);
    audit_reader r = {
        .in = copy >= 0 ? fdopen(copy, "rb") : NULL, .path = a->path, .found = &found, .err = err};
    memset(&found, 0, sizeof found);
    if (r.in == NULL) {
        if (copy >= 0)
            (void)close(copy);
        return dpi_fail(err, DP_EIO, "cannot read %.200s", a->path);
    }
    dp_status status = read_all(&r, plan);
    (void)fclose(r.in);
    memcpy(a->chain, r.chain, CHAIN);
    if (status != DP_OK || found.lines > 0)
        return status == DP_OK && r.n > 0 ? mend(a, &r, err) : status;
    memcpy(text, first_words, sizeof first_words);
    (void)sodium_bin2hex(text + sizeof first_words - 1, DIGITS + 1, plan, CHAIN);
    if (memcmp(r.line, text, r.n < strlen(text) ? r.n : strlen(text)) != 0)
        return fail_line(&r, "no log of letters");
    if (ftruncate(a->file, 0) != 0) /* a first line that was torn tells nothing */
        return fail_write(a, err);
    return add(a, text, true, err);
}

dp_status dpi_audit_open(const char *path, const unsigned char plan[DP_SILO_HASH],
                         dpi_audit **audit, dp_error *err)
{
    dpi_audit *a = dpi_alloc(1, sizeof *a);
    *audit = NULL;
    if (a == NULL)
        return dpi_fail_nomem(err);
    if (sodium_init() < 0) {
        dpi_free(a);
        return fail_start(err);
    }
    (void)snprintf(a->path, sizeof a->path, "%s", path);
    a->file = open(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                   S_IRUSR | S_IWUSR);
    dp_status status = a->file >= 0
                           ? check_file(a, err)
                           : dpi_fail(err, DP_EIO, "cannot open %.200s: %s", path, strerror(errno));
    if (status == DP_OK)
        status = take_up(a, plan, err);
    if (status == DP_OK)
        status = add_event(a, "began", true, err);
    if (status == DP_OK && !dpi_disk_sync_folder(path))
        status = fail_write(a, err);
    if (status == DP_OK)
        *audit = a;
    else {
        if (a->file >= 0)
            (void)close(a->file);
        dpi_free(a);
    }
    return status;
}

dp_status dpi_audit_letter(dpi_audit *a, bool leaves, const char *peer, const char *tag,
                           size_t bytes, dp_error *err)
{
    char what[LINE];
    int n = snprintf(what, sizeof what, "%s %s %s %zu", leaves ? "sent" : "got", peer, tag, bytes);
    return n > 0 && n < LINE ? add_event(a, what, leaves, err) : fail_write(a, err);
}

void dpi_audit_close(dpi_audit *a, dp_status status)
{
    char what[LINE];
    if (a == NULL)
        return;
    (void)snprintf(what, sizeof what, "ended %s", dp_status_name(status));
    if (!a->failed)
        (void)add_event(a, what, true, NULL);
    (void)close(a->file);
    dpi_free(a);
}
