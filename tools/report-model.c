/* The model: formula, words, priors; and what the checks of the answer found. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "tools/report.h"

/* ---- in short ---- */

static size_t bad_checks(const report_page *r)
{
    size_t n, bad = 0;
    const dp_diagnostic *d = dp_fit_diagnostics(r->fit, &n);
    for (size_t k = 0; k < n; k++)
        bad += d[k].bad;
    return bad;
}

static void put_checks(report_page *r, bool bad)
{
    size_t n;
    const dp_diagnostic *d = dp_fit_diagnostics(r->fit, &n);
    for (size_t k = 0; k < n; k++) {
        if (d[k].bad != bad)
            continue;
        report_put(r, "<li>%s <b>", bad ? "<span class=\"word-bad\">BAD</span>" : "good");
        report_say(r, d[k].name);
        report_put(r, "</b>: ");
        report_say(r, d[k].words);
        report_put(r, "</li>\n");
    }
}

static void put_banner(report_page *r)
{
    if (r->privacy.is_private)
        return;
    report_put(r, "<p class=\"not-private\">NOT PRIVATE: ");
    report_say(r, r->privacy.why_not != NULL ? r->privacy.why_not : "the fit says so");
    report_put(r, ". Nobody is protected by this fit; it is for public records or for tests, and "
                  "is shown to nobody who may not see the records.</p>\n");
}

void report_in_short(report_page *r)
{
    size_t n;
    const size_t bad = bad_checks(r);
    (void)dp_fit_diagnostics(r->fit, &n);
    put_banner(r);
    if (bad > 0) {
        report_put(r,
                   "<div class=\"bad\"><p><b>%zu of %zu checks of the answer %s bad.</b> Read "
                   "this before any number below:</p>\n<ul>\n",
                   bad, n, bad == 1 ? "is" : "are");
        put_checks(r, true);
        report_put(r, "</ul></div>\n");
    }
    report_put(r, "<div class=\"box\">\n<ul>\n<li>");
    if (r->privacy.is_private)
        report_put(r,
                   "Spent: epsilon %.4g at delta %.4g. <a href=\"#privacy\">What that can give "
                   "away</a>",
                   r->privacy.epsilon, r->privacy.delta);
    else
        report_put(r, "No privacy was kept");
    if (n > 0 && bad == 0)
        report_put(r, "</li>\n<li>All %zu <a href=\"#checks\">checks of the answer</a> are good",
                   n);
    report_put(r,
               "</li>\n<li>This report was made from the fit alone. The records that were fitted "
               "were not looked at again%s</li>\n</ul>\n</div>\n<nav>",
               r->privacy.is_private ? ", and it cost no privacy" : "");
    static const char *const sections[][2] = {{"privacy", "Privacy"},     {"model", "Model"},
                                              {"checks", "Checks"},       {"answer", "Answer"},
                                              {"groups", "Groups"},       {"effects", "Effects"},
                                              {"twins", "Predictions"},   {"releases", "Releases"},
                                              {"reproduce", "Reproduce"}, {"numbers", "Numbers"}};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        report_put(r, "<a href=\"#%s\">%s</a> ", sections[i][0], sections[i][1]);
    report_put(r, "</nav>\n");
}

void report_checks(report_page *r)
{
    size_t n;
    (void)dp_fit_diagnostics(r->fit, &n);
    report_section(r, "checks", "Checks of the answer");
    if (n == 0) {
        report_put(r, "<p>The fit lists no checks. One of <code>tacit fit</code> does.</p>\n");
        return;
    }
    report_put(r, "<p>They were made from what was released, and cost nothing. None of them "
                  "proves that the model is right.</p>\n<ul>\n");
    put_checks(r, true);
    put_checks(r, false);
    report_put(r, "</ul>\n");
}

/* ---- the model ---- */

/* What dp_formula_describe writes; NULL where memory is out. */
static char *description(report_page *r)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    if (to == NULL)
        return NULL;
    const dp_status status = dp_formula_describe(r->m.formula, to, &r->m.err);
    if (fclose(to) == 0 && status == DP_OK)
        return text;
    free(text);
    return NULL;
}

static void put_outcome(report_page *r)
{
    char room[32];
    if (r->outcome == NULL)
        return;
    report_put(r, "<p>The outcome is <code>");
    report_say(r, r->outcome);
    report_put(r, "</code>");
    if (r->levels != NULL) {
        report_put(r, r->first_level > 0 ? "; what is modelled is the chance that it is <code>"
                                         : ", with levels from <code>");
        report_say(r, report_level(r, 0, room));
        report_put(r, "</code>");
    }
    report_put(r, ". In words:</p>\n");
}

static void put_words(report_page *r)
{
    char *text = description(r);
    if (text == NULL) {
        report_fail(r, "out of memory");
        return;
    }
    /* Default priors are not the fit's where others were given. */
    char *priors = strstr(text, "\nparameters and their priors");
    if (priors != NULL && !r->priors_known)
        priors[1] = '\0';
    put_outcome(r);
    report_put(r, "<pre>");
    report_say(r, text);
    report_put(r, "</pre>\n");
    free(text);
    report_put(r, "<p class=\"small\">Numbers that predictors are lessened and divided by come "
                  "from the public schema, never from the records. Coefficients are told per unit "
                  "of the column.</p>\n");
}

static void put_unknown(report_page *r)
{
    size_t n;
    const dp_fit_column *c = dp_fit_columns(r->fit, &n);
    report_put(r, "<p>The fit does not tell by which formula it was made: it was written in C. Its "
                  "columns:</p>\n<ul>\n");
    for (size_t k = 0; k < n; k++) {
        report_put(r, "<li><code>");
        report_say(r, c[k].name);
        report_put(r, "</code>%s</li>\n", c[k].observed ? ", what is modelled" : "");
    }
    report_put(r, "</ul>\n");
}

void report_model(report_page *r)
{
    report_section(r, "model", "The model");
    if (r->source == NULL) {
        put_unknown(r);
        return;
    }
    report_put(r, "<p class=\"formula\"><code>");
    report_say(r, r->source->formula);
    report_put(r, "</code></p>\n<p>Family <code>");
    report_say(r, r->source->family);
    report_put(r, "</code>");
    if (r->source->priors != NULL) {
        report_put(r, "; priors that were given: <code>");
        report_say(r, r->source->priors);
        report_put(r, "</code>");
    }
    report_put(r, "</p>\n");
    if (r->m.formula != NULL) {
        put_words(r);
        return;
    }
    report_put(r, "<p class=\"bad\">What the fit tells of its formula and schema is not "
                  "understood: ");
    report_say(r, r->source_fault.text);
    report_put(r, "</p>\n");
}
