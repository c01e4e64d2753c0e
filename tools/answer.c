/* Answers in words and as JSON.
 *
 * Figures for people have five digits, rounded outwards: an upper bound is never printed smaller
 * than it is, a lower one never larger.  JSON carries all digits. */
#include "tools/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/json.h"
#include "tools/mechanism.h"

const double answer_fpr[N_FPR] = {0.1, 0.01, 0.001};
const double answer_order[N_ORDERS] = {1.5, 2, 4, 8, 16, 32};

enum { DIGITS = 5, MOST_WARNINGS = 6 };
static const double LEAST_FPR = 0.001;
static const double LARGE_EPSILON = 10;

void answer_attack(answer *a, double width)
{
    attack *k = &a->attack;
    *k = (attack){.mu = NAN};
    k->advantage_error.status =
        dp_account_delta(a->list, a->n, 0, width, &k->advantage, &k->advantage_error);
    for (int i = 0; i < N_FPR; i++)
        k->tpr_error[i].status =
            dp_account_tpr(a->list, a->n, answer_fpr[i], width, &k->tpr[i], &k->tpr_error[i]);
    if (!a->full)
        return;
    k->mu_error.status = dp_account_mu(a->list, a->n, LEAST_FPR, &k->mu, &k->mu_error);
    for (int i = 0; i < N_ORDERS; i++)
        k->renyi_error[i].status =
            dp_account_renyi(a->list, a->n, answer_order[i], &k->renyi[i], &k->renyi_error[i]);
}

/* ---- warnings ---- */

typedef struct warnings {
    size_t n;
    message text[MOST_WARNINGS];
} warnings;

static void warn_of_point(const answer *a, warnings *w)
{
    double epsilon = a->is_delta ? a->given : a->found.upper;
    double delta = a->is_delta ? a->found.upper : a->given;
    if (!isnan(a->records) && delta >= 1 / a->records)
        (void)complain(
            &w->text[w->n++],
            "delta %.4g is not below 1 / n = %.4g: publishing one record whole, chosen at "
            "random, would satisfy it; choose delta well below 1 / n",
            delta, 1 / a->records);
    if (epsilon > LARGE_EPSILON)
        (void)complain(&w->text[w->n++],
                       "epsilon %.4g is above 10: even odds may turn into a probability of %.9g, "
                       "which is hardly a promise; take more noise, fewer steps or smaller batches",
                       epsilon, dp_posterior_belief(epsilon, 0.5));
}

static void warn_of_sampling(const answer *a, warnings *w)
{
    bool fixed = false, replaced = false;
    for (size_t i = 0; i < a->n; i++) {
        const dp_mechanism *m = &a->list[i];
        fixed = fixed || m->sampling == DP_SAMPLING_FIXED;
        replaced = replaced || (m->sampling == DP_SAMPLING_POISSON &&
                                m->adjacency == DP_REPLACE_ONE && m->rate < 1);
    }
    if (fixed)
        (void)complain(&w->text[w->n++],
                       "for batches of a fixed size the worst case is known only as an interval: "
                       "some data reach the lower end, none exceed the upper one");
    if (replaced)
        (void)complain(&w->text[w->n++],
                       "this holds for poisson sampling and is no bound for batches of a fixed "
                       "size; for those name --sampling fixed");
}

static warnings find_warnings(const answer *a)
{
    warnings w = {0};
    if (a->has_point)
        warn_of_point(a, &w);
    warn_of_sampling(a, &w);
    return w;
}

/* ---- for people ---- */

typedef struct figure {
    char text[32];
} figure;

/* `value` with DIGITS digits, not below it (side > 0) or not above it (side < 0). */
static figure outward(double value, int side)
{
    figure f;
    (void)snprintf(f.text, sizeof f.text, "%.*g", DIGITS, value);
    if (!isfinite(value) || value == 0 || (strtod(f.text, NULL) - value) * side >= 0)
        return f;
    double step = pow(10, floor(log10(fabs(value))) - DIGITS + 1);
    (void)snprintf(f.text, sizeof f.text, "%.*g", DIGITS, value + side * 0.6 * step);
    if ((strtod(f.text, NULL) - value) * side < 0)
        (void)snprintf(f.text, sizeof f.text, "%.17g", value);
    return f;
}

static void tell_interval(FILE *out, const dp_interval *i, const char *unit, double scale)
{
    (void)fprintf(out, "at most %s%s", outward(scale * i->upper, 1).text, unit);
    if (i->lower > 0)
        (void)fprintf(out, ", at least %s%s", outward(scale * i->lower, -1).text, unit);
}

static void tell_mechanisms(FILE *out, const answer *a)
{
    enum { SHOWN = 20 };
    for (size_t i = 0; i < a->n && i < SHOWN; i++) {
        mechanism_describe(out, &a->list[i], true);
        (void)fputc('\n', out);
    }
    if (a->n > SHOWN)
        (void)fprintf(out, "and %zu more\n", a->n - SHOWN);
    (void)fprintf(out, "Neighbours: %s.\n\n", mechanism_adjacency(&a->list[0]));
}

static void tell_point(FILE *out, const answer *a)
{
    if (!isnan(a->sigma))
        (void)fprintf(out, "sigma %s is enough for epsilon %g at delta %g.\n",
                      outward(a->sigma, 1).text, a->asked, a->given);
    (void)fprintf(out, "%s at %s %g: ", a->is_delta ? "delta" : "epsilon",
                  a->is_delta ? "epsilon" : "delta", a->given);
    tell_interval(out, &a->found, "", 1);
    (void)fprintf(out,
                  "\n  The first figure is certified and may be published; the second is proven "
                  "from below.\n  Method %s",
                  a->found.method);
    if (a->found.grid > 0)
        (void)fprintf(out, ", %zu points", a->found.grid);
    (void)fprintf(out, ", %.2g s.\n\n", a->seconds);
}

static void tell_rate(FILE *out, const char *what, const dp_interval *i, const dp_error *err,
                      const char *unit, double scale)
{
    (void)fprintf(out, "  %-44s ", what);
    if (err->status == DP_OK)
        tell_interval(out, i, unit, scale);
    else
        (void)fprintf(out, "not certified: %s", err->text);
    (void)fputc('\n', out);
}

static void tell_upper(FILE *out, const char *what, double value, const dp_error *err)
{
    (void)fprintf(out, "  %-44s ", what);
    if (err->status == DP_OK)
        (void)fprintf(out, "at most %s\n", outward(value, 1).text);
    else
        (void)fprintf(out, "not certified: %s\n", err->text);
}

static void tell_attack(FILE *out, const answer *a)
{
    const attack *k = &a->attack;
    char what[80];
    (void)fprintf(out,
                  "An attacker who knows all other records, sees all that is released, and says "
                  "whether\nthe record was there, has\n");
    tell_rate(out, "true minus false positive rate (advantage)", &k->advantage, &k->advantage_error,
              "", 1);
    for (int i = 0; i < N_FPR; i++) {
        (void)snprintf(what, sizeof what, "true positives at %g %% false positives",
                       100 * answer_fpr[i]);
        tell_rate(out, what, &k->tpr[i], &k->tpr_error[i], " %", 100);
    }
    if (a->has_point) {
        double epsilon = a->is_delta ? a->given : a->found.upper;
        double delta = a->is_delta ? a->found.upper : a->given;
        (void)fprintf(out, "  %-44s at most %s, but for outcomes of probability about %.2g\n",
                      "posterior probability from prior 1/2",
                      outward(dp_posterior_belief(epsilon, 0.5), 1).text, delta);
    }
    if (!a->full)
        return;
    (void)snprintf(what, sizeof what, "as mu of Gaussian DP, rates from %g on", LEAST_FPR);
    tell_upper(out, what, k->mu, &k->mu_error);
    for (int i = 0; i < N_ORDERS; i++) {
        bool none = k->renyi_error[i].status == DP_EMISMATCH; /* then for every order */
        (void)snprintf(what, sizeof what,
                       none ? "Renyi divergences" : "Renyi divergence of order %g",
                       answer_order[i]);
        tell_upper(out, what, k->renyi[i], &k->renyi_error[i]);
        if (none)
            break;
    }
}

void answer_tell(FILE *out, const answer *a)
{
    warnings w = find_warnings(a);
    tell_mechanisms(out, a);
    if (a->has_point)
        tell_point(out, a);
    tell_attack(out, a);
    for (size_t i = 0; i < w.n; i++)
        (void)fprintf(out, "%sWarning: %s.\n", i == 0 ? "\n" : "", w.text[i].text);
}

/* ---- JSON ---- */

static void json_mechanism(json *j, const dp_mechanism *m)
{
    json_text(j, "sampling", option_word_of("sampling", (int)m->sampling));
    json_text(j, "noise", option_word_of("noise", (int)m->noise));
    json_number(j, "sigma", m->sigma);
    json_number(j, "q", m->rate);
    json_count(j, "steps", m->steps);
    if (m->epoch > 0)
        json_count(j, "epoch", m->epoch);
    if (m->cap > 0)
        json_count(j, "cap", m->cap);
    if (m->rows > 0)
        json_count(j, "rows", m->rows);
    if (m->categories > 0)
        json_count(j, "categories", m->categories);
}

static void json_point(json *j, const answer *a)
{
    if (!isnan(a->asked))
        json_number(j, "epsilon_asked", a->asked);
    json_number(j, a->is_delta ? "delta_lower" : "epsilon_lower", a->found.lower);
    json_number(j, a->is_delta ? "delta" : "epsilon", a->found.upper);
    json_number(j, "estimate", a->found.estimate);
    json_number(j, a->is_delta ? "epsilon" : "delta", a->given);
    json_text(j, "worse",
              a->found.worse == DP_WORSE_REMOVE ? "remove"
              : a->found.worse == DP_WORSE_ADD  ? "add"
                                                : "either");
    json_text(j, "method", a->found.method);
    json_count(j, "grid", a->found.grid);
    json_number(j, "seconds", a->seconds);
}

static void json_interval(json *j, const char *lower, const char *upper, const dp_interval *i,
                          const dp_error *err)
{
    json_number(j, lower, err->status == DP_OK ? i->lower : NAN);
    json_number(j, upper, err->status == DP_OK ? i->upper : NAN);
}

static void json_attack(json *j, const answer *a)
{
    const attack *k = &a->attack;
    json_interval(j, "advantage_lower", "advantage", &k->advantage, &k->advantage_error);
    json_list(j, "tpr");
    for (int i = 0; i < N_FPR; i++) {
        json_object(j, NULL);
        json_number(j, "fpr", answer_fpr[i]);
        json_interval(j, "tpr_lower", "tpr", &k->tpr[i], &k->tpr_error[i]);
        json_end_object(j);
    }
    json_end_list(j);
    if (a->has_point)
        json_number(j, "posterior_from_half", dp_posterior_belief(a->found.upper, 0.5));
    json_number(j, "mu", k->mu);
    json_number(j, "mu_least_fpr", LEAST_FPR);
    json_list(j, "renyi");
    for (int i = 0; i < N_ORDERS; i++) {
        json_object(j, NULL);
        json_number(j, "order", answer_order[i]);
        json_number(j, "divergence", k->renyi[i]);
        json_end_object(j);
    }
    json_end_list(j);
}

static void json_list_of(json *j, const answer *a)
{
    json_list(j, "mechanisms");
    for (size_t i = 0; i < a->n; i++) {
        json_object(j, NULL);
        json_mechanism(j, &a->list[i]);
        json_end_object(j);
    }
    json_end_list(j);
}

void answer_json(FILE *out, const answer *a)
{
    warnings w = find_warnings(a);
    json j = json_begin(out);
    json_text(&j, "command", a->command);
    if (a->has_point)
        json_point(&j, a);
    json_text(&j, "adjacency", mechanism_adjacency(&a->list[0]));
    if (a->n == 1)
        json_mechanism(&j, &a->list[0]);
    else
        json_list_of(&j, a);
    if (!isnan(a->records))
        json_number(&j, "n", a->records);
    if (a->full)
        json_attack(&j, a);
    json_list(&j, "warnings");
    for (size_t i = 0; i < w.n; i++)
        json_text(&j, NULL, w.text[i].text);
    json_end_list(&j);
    json_end(&j);
}
