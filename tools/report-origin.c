/* Where the answer comes from: what was released, how the fit is made again, and whether this is
 * the file that was meant. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report.h"

/* ---- releases ---- */

static double weight(const dp_fit_phase *p)
{
    return p->sigma > 0 ? (double)p->releases / (p->sigma * p->sigma) : 0;
}

void report_releases(report_page *r)
{
    size_t n;
    double all = 0;
    const dp_fit_phase *p = dp_fit_phases(r->fit, &n);
    report_section(r, "releases", "What was released");
    if (n == 0) {
        report_put(r, "<p>The fit does not list its releases: %s.</p>\n",
                   r->privacy.is_private ? "it was made by a run of one phase, of which epsilon "
                                           "and delta say all"
                                         : "there was no noise");
        return;
    }
    for (size_t k = 0; k < n; k++)
        all += weight(&p[k]);
    report_put(r, "<p>Each release is a sum over all records, in which a record's share is limited "
                  "to the clip norm, plus random noise. The answer above was computed from these "
                  "sums and from nothing else. The sums themselves are not kept in the fit.</p>\n"
                  "<div class=\"table\"><table>\n<thead><tr><th>phase</th><th>releases</th>"
                  "<th>noise / clip norm</th><th>clip norm</th><th>share of the budget</th></tr>"
                  "</thead>\n<tbody>\n");
    for (size_t k = 0; k < n; k++) {
        report_put(r, "<tr><td>");
        report_say(r, p[k].name);
        report_put(r, "</td><td>%.0f</td><td>%.3g</td><td>%.3g</td><td>", (double)p[k].releases,
                   p[k].sigma, p[k].clip);
        if (all > 0)
            report_put(r, "%.1f&nbsp;%%", 100 * weight(&p[k]) / all);
        report_put(r, "</td></tr>\n");
    }
    report_put(r, "</tbody></table></div>\n");
}

/* ---- making it again ---- */

/* A word of a command line, in quotes; a quote in it stands outside of them. */
static void say_word(report_page *r, const char *text)
{
    report_put(r, "&#39;");
    while (*text != '\0') {
        const size_t n = strcspn(text, "'");
        char *part = strndup(text, n);
        report_say(r, part != NULL ? part : "");
        free(part);
        text += n;
        if (*text != '\0')
            report_put(r, "&#39;\\&#39;&#39;");
        text += *text != '\0';
    }
    report_put(r, "&#39;");
}

static void put_command(report_page *r)
{
    const dp_fit_source *s = r->source;
    report_put(r, "<pre>tacit fit ");
    say_word(r, s->formula);
    report_put(r, " --family ");
    say_word(r, s->family);
    if (s->priors != NULL) {
        report_put(r, " --priors ");
        say_word(r, s->priors);
    }
    report_put(r, " \\\n    --data TABLE.csv --schema FILE.schema");
    if (r->privacy.epsilon < HUGE_VAL)
        report_put(r, " --epsilon %.6g --delta %.6g", r->privacy.epsilon, r->privacy.delta);
    else
        report_put(r, " --no-privacy");
    report_put(r, " --out NEW.fit</pre>\n");
}

/* The file's bytes through both hash functions; false when it cannot be read. */
static bool hash_file(const char *path, unsigned char sha[crypto_hash_sha256_BYTES],
                      unsigned char blake[crypto_generichash_BYTES])
{
    crypto_hash_sha256_state a;
    crypto_generichash_state b;
    unsigned char bytes[1 << 14];
    FILE *file = fopen(path, "rb");
    bool good = file != NULL && crypto_hash_sha256_init(&a) == 0 &&
                crypto_generichash_init(&b, NULL, 0, crypto_generichash_BYTES) == 0;
    for (size_t n = 1; good && n > 0;) {
        n = fread(bytes, 1, sizeof bytes, file);
        good = crypto_hash_sha256_update(&a, bytes, n) == 0 &&
               crypto_generichash_update(&b, bytes, n) == 0 && !ferror(file);
    }
    good = good && crypto_hash_sha256_final(&a, sha) == 0 &&
           crypto_generichash_final(&b, blake, crypto_generichash_BYTES) == 0;
    if (file != NULL)
        (void)fclose(file);
    return good;
}

static void put_fingerprint(report_page *r)
{
    unsigned char sha[crypto_hash_sha256_BYTES], blake[crypto_generichash_BYTES];
    char sha_text[2 * sizeof sha + 1], blake_text[2 * sizeof blake + 1];
    if (!hash_file(r->path, sha, blake)) {
        report_fail(r, "the fit cannot be read a second time for its fingerprint; leave its file "
                       "where it is");
        return;
    }
    (void)sodium_bin2hex(sha_text, sizeof sha_text, sha, sizeof sha);
    (void)sodium_bin2hex(blake_text, sizeof blake_text, blake, sizeof blake);
    report_put(r,
               "<h3>Fingerprint of the fit</h3>\n<p>The report is of the file with this "
               "fingerprint. Compare it with what the commands print for the file that you "
               "have:</p>\n<pre>sha256sum FIT    %s\nb2sum -l 256 FIT %s</pre>\n",
               sha_text, blake_text);
}

void report_reproduce(report_page *r)
{
    report_section(r, "reproduce", "How to make it again");
    if (r->source != NULL) {
        put_command(r);
        report_put(r, "<p>A new fit draws new noise: its answer differs by as much as the "
                      "intervals say, and its epsilon is spent once more. The report itself "
                      "costs nothing:</p>\n");
    }
    report_put(r, "<pre>tacit report FIT --out REPORT.html</pre>\n");
    if (r->source != NULL) {
        report_put(r, "<h3>The schema: what was public beforehand</h3>\n<pre>");
        report_say(r, r->source->schema);
        report_put(r, "</pre>\n");
    }
    put_fingerprint(r);
    report_put(r, "<h3>Versions</h3>\n<p>This report: Tacit %s, pictures by gnuplot.</p>\n",
               TACIT_VERSION);
}
