/* Letters on a server.  One connection is kept and used again; nothing is redirected, and only
 * https is spoken. */
#define _XOPEN_SOURCE 700
#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/carrier.h"

/* Seconds: of silence, after which a connection is given up, and that a server may wait with its
 * answer for a letter to come. */
enum { MOST_URL = 1024, MOST_SILENCE = 20, LATE = 5 };

typedef struct https_carrier {
    dpi_carrier base;
    CURL *curl;
    struct curl_slist *put_headers, *get_headers;
    uint32_t patience_ms;
    char url[MOST_URL], text[CURL_ERROR_SIZE];
} https_carrier;

/* Pauses between attempts, ms. */
static const long first_pause = 2, longest_pause = 1000;
static const uint32_t usual_patience = 600000;

static double seconds_now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void rest(long *pause)
{
    const struct timespec t = {*pause / 1000, *pause % 1000 * 1000000};
    (void)nanosleep(&t, NULL);
    *pause = *pause * 3 / 2 + 1 < longest_pause ? *pause * 3 / 2 + 1 : longest_pause;
}

/* ---- bodies ---- */

typedef struct outgoing {
    const unsigned char *bytes;
    size_t n, given;
} outgoing;

static size_t give(char *to, size_t size, size_t n, void *of)
{
    outgoing *o = of;
    const size_t left = o->n - o->given, some = size * n < left ? size * n : left;
    memcpy(to, o->bytes + o->given, some);
    o->given += some;
    return some;
}

/* A connection that was kept may turn out to be closed when some is on its way: it begins anew. */
static int give_again(void *of, curl_off_t from, int origin)
{
    outgoing *o = of;
    if (origin != SEEK_SET || from < 0 || (uintmax_t)from > o->n)
        return CURL_SEEKFUNC_FAIL;
    o->given = (size_t)from;
    return CURL_SEEKFUNC_OK;
}

/* What comes: a letter, or what a server says besides, which is not kept. */
typedef struct incoming {
    CURL *curl;
    unsigned char *bytes; /* [most], once some has come */
    size_t n, most, said;
    bool is_letter; /* an answer of status 200 is one */
    bool is_long;
} incoming;

enum { MOST_SAID = 1 << 20 };

/* Takes what comes, and ends the transfer when memory, or what the letter may have, is out: at its
 * beginning, where its length is told. */
static size_t take(char *from, size_t size, size_t n, void *of)
{
    incoming *in = of;
    const size_t some = size * n;
    long status = 0;
    curl_off_t told = -1;
    (void)curl_easy_getinfo(in->curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(in->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &told);
    if (!in->is_letter || status != 200) {
        in->said += some;
        return in->said <= MOST_SAID ? some : 0;
    }
    in->is_long = some > in->most - in->n || (told > 0 && (uintmax_t)told > in->most);
    if (in->is_long)
        return 0;
    if (in->bytes == NULL)
        in->bytes = dpi_alloc(in->most + 1, 1);
    if (in->bytes == NULL)
        return 0;
    memcpy(in->bytes + in->n, from, some);
    in->n += some;
    return some;
}

/* ---- requests ---- */

static dp_status set_url(https_carrier *h, const char *tag, dp_error *err)
{
    char url[MOST_URL + DPI_CARRIER_TAG];
    int n = snprintf(url, sizeof url, "%s/%s", h->url, tag);
    if (n < 0 || (size_t)n >= sizeof url || strlen(tag) >= DPI_CARRIER_TAG || tag[0] == '.')
        return dpi_fail(err, DP_EINVAL, "a letter's tag is too long");
    for (char *c = url + strlen(h->url) + 1; *c != '\0'; c++)
        *c = *c == '/' ? '+' : *c;
    return curl_easy_setopt(h->curl, CURLOPT_URL, url) == CURLE_OK ? DP_OK : dpi_fail_nomem(err);
}

/* Whether TLS says no, to a certificate as a rule: in the words of OpenSSL, behind which no name of
 * a host comes. */
static bool is_alert(const char *text)
{
    const char *said = strstr(text, "SSL routines:");
    return said != NULL && strstr(said, "alert") != NULL;
}

/* Whether it may succeed later: there is no connection, or the server is busy or ill. */
static bool is_passing(const https_carrier *h, CURLcode code, long status)
{
    if (code == CURLE_OK)
        return status == 429 || status >= 500;
    if (is_alert(h->text))
        return false;
    return code == CURLE_COULDNT_CONNECT || code == CURLE_COULDNT_RESOLVE_HOST ||
           code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_OPERATION_TIMEDOUT ||
           code == CURLE_SEND_ERROR || code == CURLE_RECV_ERROR || code == CURLE_GOT_NOTHING ||
           code == CURLE_PARTIAL_FILE || code == CURLE_SSL_CONNECT_ERROR || code == CURLE_HTTP2;
}

static dp_status fail(const https_carrier *h, CURLcode code, long status, dp_error *err)
{
    if (code == CURLE_OK)
        return dpi_fail(err, DP_EIO, "the mailbox %.200s answers with status %ld%s", h->url, status,
                        status == 401 || status == 403
                            ? "; it does not know this side's certificate"
                        : status == 413 ? "; a letter is larger than it takes"
                        : status == 404 || status == 405 || status == 409
                            ? "; it is no place where letters may be put"
                            : "");
    return dpi_fail(err, DP_EIO, "cannot reach the mailbox %.200s: %.200s", h->url,
                    h->text[0] != '\0' ? h->text : curl_easy_strerror(code));
}

/* One attempt, which may take what is left of the patience, and some time at least. */
static long perform(https_carrier *h, double until, CURLcode *code)
{
    const double left = 1e3 * (until - seconds_now()), least = 1e3 * MOST_SILENCE;
    long status = 0;
    (void)curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(left > least ? left : least));
    h->text[0] = '\0';
    *code = curl_easy_perform(h->curl);
    (void)curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static dp_status put(dpi_carrier *c, const char *tag, size_t n, const unsigned char *bytes,
                     dp_error *err)
{
    https_carrier *h = (https_carrier *)c;
    const double until = seconds_now() + h->patience_ms / 1e3;
    long pause = first_pause;
    dp_status status = set_url(h, tag, err);
    while (status == DP_OK) {
        outgoing o = {bytes, n, 0};
        CURLcode code;
        (void)curl_easy_setopt(h->curl, CURLOPT_UPLOAD, 1L);
        (void)curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, h->put_headers);
        (void)curl_easy_setopt(h->curl, CURLOPT_READFUNCTION, give);
        (void)curl_easy_setopt(h->curl, CURLOPT_READDATA, &o);
        (void)curl_easy_setopt(h->curl, CURLOPT_SEEKFUNCTION, give_again);
        (void)curl_easy_setopt(h->curl, CURLOPT_SEEKDATA, &o);
        (void)curl_easy_setopt(h->curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)n);
        incoming answer = {.curl = h->curl};
        (void)curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &answer);
        long got = perform(h, until, &code);
        if (code == CURLE_OK && ((got >= 200 && got < 300) || got == 412))
            return DP_OK; /* it is there, now or from before */
        if (!is_passing(h, code, got) || seconds_now() >= until)
            return fail(h, code, got, err);
        rest(&pause);
        status = dpi_carrier_look(c, err);
    }
    return status;
}

static dp_status get(dpi_carrier *c, const char *tag, uint32_t wait_ms, size_t most, size_t *n,
                     unsigned char **bytes, dp_error *err)
{
    https_carrier *h = (https_carrier *)c;
    const double until = seconds_now() + wait_ms / 1e3;
    long pause = first_pause;
    *bytes = NULL;
    *n = 0;
    dp_status status = set_url(h, tag, err);
    while (status == DP_OK) {
        incoming in = {.curl = h->curl, .most = most, .is_letter = true};
        CURLcode code;
        (void)curl_easy_setopt(h->curl, CURLOPT_HTTPGET, 1L);
        (void)curl_easy_setopt(h->curl, CURLOPT_UPLOAD, 0L);
        (void)curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER,
                               seconds_now() + LATE < until ? h->get_headers : NULL);
        (void)curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, &in);
        long got = perform(h, until, &code);
        if (code == CURLE_OK && got == 200) {
            *bytes = in.bytes != NULL ? in.bytes : dpi_alloc(1, 1);
            *n = in.n;
            return *bytes != NULL ? DP_OK : dpi_fail_nomem(err);
        }
        dpi_free(in.bytes);
        if (in.is_long)
            return dpi_carrier_fail_long(tag, err);
        const bool absent = code == CURLE_OK && got == 404;
        if (!absent && !is_passing(h, code, got))
            return fail(h, code, got, err);
        if (seconds_now() >= until)
            return absent ? dpi_fail(err, DP_ETIMEOUT, "no letter %s has come", tag)
                          : fail(h, code, got, err);
        rest(&pause);
        status = dpi_carrier_look(c, err);
    }
    return status;
}

static void close_https(dpi_carrier *c)
{
    https_carrier *h = (https_carrier *)c;
    curl_slist_free_all(h->put_headers);
    curl_slist_free_all(h->get_headers);
    curl_easy_cleanup(h->curl);
    curl_global_cleanup(); /* counted, and thread-safe from 7.84 on */
    dpi_free(h);
}

static const dpi_carrier_kind https_kind = {"https", put, get, close_https};

/* ---- opening ---- */

static bool add_header(struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

static bool set_file(CURL *curl, CURLoption option, const char *path)
{
    return path == NULL || curl_easy_setopt(curl, option, path) == CURLE_OK;
}

static bool set_up(https_carrier *h, const dpi_https_opts *o)
{
    CURL *curl = h->curl = curl_easy_init();
    return curl != NULL && add_header(&h->put_headers, "If-None-Match: *") &&
           add_header(&h->put_headers, "Content-Type: application/octet-stream") &&
           add_header(&h->put_headers, "Expect:") &&
           add_header(&h->get_headers, "Prefer: wait=5") &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "https") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)MOST_SILENCE) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)MOST_SILENCE) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, h->text) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take) == CURLE_OK &&
           set_file(curl, CURLOPT_SSLCERT, o->certificate) &&
           set_file(curl, CURLOPT_SSLKEY, o->key) && set_file(curl, CURLOPT_CAINFO, o->authorities);
}

dp_status dpi_carrier_https(const dpi_https_opts *o, dpi_carrier **c, dp_error *err)
{
    const size_t n = strlen(o->url);
    *c = NULL;
    if (strncmp(o->url, "https://", 8) != 0 || n <= 8 || n >= MOST_URL ||
        strpbrk(o->url, "?#@ ") != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "a mailbox on a server is https://HOST[:PORT]/PATH, and nothing behind it");
    if ((o->certificate == NULL) != (o->key == NULL))
        return dpi_fail(err, DP_EINVAL, "a certificate goes with its key; give both, or none");
    https_carrier *h = dpi_alloc(1, sizeof *h);
    if (h == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        dpi_free(h);
        return dpi_fail_nomem(err);
    }
    h->base.kind = &https_kind;
    h->patience_ms = o->patience_ms != 0 ? o->patience_ms : usual_patience;
    memcpy(h->url, o->url, n + 1);
    if (h->url[n - 1] == '/')
        h->url[n - 1] = '\0';
    if (!set_up(h, o)) {
        close_https(&h->base);
        return dpi_fail_nomem(err);
    }
    *c = &h->base;
    return DP_OK;
}
