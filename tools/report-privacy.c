/* What was spent, and what it can give away: bounds on every attacker, from the releases that the
 * fit lists where these are all that was spent, as `tacit risk` has it, and else from epsilon and
 * delta alone.
 *
 * From (epsilon, delta) follow for the rates f of false and t of true positives
 *   t <= e^epsilon f + delta,   1 - f <= e^epsilon (1 - t) + delta,
 * and for their difference (e^epsilon - 1 + 2 delta) / (e^epsilon + 1).
 *
 * All figures are rounded up. */
#include <math.h>

#include <tacit/accountant.h>

#include "tools/report.h"

enum { MOST_PHASES = 64, RATES = 3, CURVE = 21 };
static const double rates[RATES] = {0.1, 0.01, 0.001};
static const double least_rate = 1e-3, width = 1e-3;

/* What is known of the mechanism. */
typedef struct spending {
    double epsilon, delta;
    dp_mechanism list[MOST_PHASES];
    size_t n; /* 0: epsilon and delta alone are known */
} spending;

/* Whether the listed releases are what the fit says that it spent: their epsilon is that epsilon,
 * but for what calibration leaves over. */
static bool is_whole(const spending *s)
{
    dp_interval spent;
    if (s->n == 0 || dp_account_epsilon(s->list, s->n, s->delta, width, &spent, NULL) != DP_OK)
        return false;
    return spent.upper >= .99 * s->epsilon && spent.lower <= 1.001 * s->epsilon;
}

static spending find_spending(const report_page *r)
{
    size_t n;
    const dp_fit_phase *phase = dp_fit_phases(r->fit, &n);
    spending s = {.epsilon = r->privacy.epsilon, .delta = r->privacy.delta};
    for (size_t k = 0; k < n && n <= MOST_PHASES; k++)
        if (phase[k].releases > 0)
            s.list[s.n++] = (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                                           .sigma = phase[k].sigma,
                                           .rate = 1,
                                           .steps = phase[k].releases};
    if (!is_whole(&s))
        s.n = 0;
    return s;
}

static double true_positives(const spending *s, double rate)
{
    dp_interval tpr;
    if (s->n > 0 && dp_account_tpr(s->list, s->n, rate, width, &tpr, NULL) == DP_OK)
        return fmin(1, tpr.upper);
    return fmin(
        1, fmin(exp(s->epsilon) * rate + s->delta, 1 - exp(-s->epsilon) * (1 - rate - s->delta)));
}

static double advantage(const spending *s)
{
    dp_interval most;
    if (s->n > 0 && dp_account_delta(s->list, s->n, 0, width, &most, NULL) == DP_OK)
        return fmin(1, most.upper);
    return fmin(1, (exp(s->epsilon) - 1 + 2 * s->delta) / (exp(s->epsilon) + 1));
}

/* In percent, with three digits and not below it, but for what 17 digits cannot tell. */
static void put_percent(report_page *r, double share)
{
    const double percent = 100 * share;
    double step = percent > 0 ? pow(10, floor(log10(percent)) - 2) : 1;
    step = percent >= 99 ? fmin(step, pow(10, floor(log10(fmax(100 - percent, 1e-9))))) : step;
    const double up = fmin(100, step * ceil(percent / step - 1e-9));
    report_put(r, "%.10g&nbsp;%%", up);
}

static void put_attackers(report_page *r, const spending *s)
{
    report_put(
        r,
        "<h3>What an attacker could at most find out about one person</h3>\n"
        "<p>Take an attacker who knows all other records, the method and everything "
        "that was released, and wants to know whether a certain record was among them. "
        "Whatever is computed, and with whatever computers, no attacker can do better than "
        "this:</p>\n<div class=\"table\"><table>\n<thead><tr><th>the attacker&#39;s question</th>"
        "<th>at most</th></tr></thead>\n<tbody>\n");
    report_put(r,
               "<tr><td>Before, it was as likely as not. How sure can one be afterwards? (But "
               "for outcomes of a probability of about 1 in %.0f)</td><td>",
               1 / s->delta);
    put_percent(r, dp_posterior_belief(s->epsilon, 0.5));
    report_put(r, "</td></tr>\n<tr><td>By how much is one more often right about records that are "
                  "there than wrong about records that are not? (Guessing: 0&nbsp;%%)</td><td>");
    put_percent(r, advantage(s));
    report_put(r, "</td></tr>\n");
    for (int i = 0; i < RATES; i++) {
        report_put(r,
                   "<tr><td>How many of those who are there are found, when the attacker accuses "
                   "%.10g&nbsp;%% of those who are not?</td><td>",
                   100 * rates[i]);
        put_percent(r, true_positives(s, rates[i]));
        report_put(r, "</td></tr>\n");
    }
    report_put(r, "</tbody></table></div>\n<p class=\"small\">");
    report_put(r, s->n > 0 ? "Computed from all noisy sums that the fit lists, taken together; "
                             "certified upper bounds, as <code>tacit risk</code> gives them."
                           : "Computed from epsilon and delta alone, which every method that keeps "
                             "them has to satisfy; what was really released may give away less.");
    report_put(r, "</p>\n");
}

static void draw_attackers(report_page *r, const spending *s)
{
    double rate[CURVE], most[CURVE];
    for (int i = 0; i < CURVE; i++) {
        rate[i] = pow(least_rate, 1 - (double)i / (CURVE - 1));
        most[i] = i + 1 < CURVE ? true_positives(s, rate[i]) : 1;
    }
    const picture_series series[] = {
        {.name = "any attacker: at most this", .n = CURVE, .place = rate, .value = most},
        {.name = "guessing", .n = CURVE, .place = rate, .value = rate}};
    const picture p = {.title = "What an attacker can find",
                       .place = {"accused, of those who are not there", least_rate, 1, true},
                       .value = {"found, of those who are", least_rate, 1, true},
                       .series = series,
                       .n = 2,
                       .rule = NAN};
    report_put(r, "<div class=\"pictures\">\n");
    report_picture(r, "attackers", &p,
                   "The nearer the upper line is to the lower one, the less anybody can find out.");
    report_put(r, "</div>\n");
}

static void put_promise(report_page *r, const spending *s)
{
    const double epsilon = 1e-4 * ceil(s->epsilon * 1e4 * (1 - 1e-12));
    report_put(r,
               "<p>Everything in this report that depends on the records was computed from "
               "sums over all of them to which random noise had been added. Taken together "
               "these releases are differentially private with</p>\n"
               "<p><b>epsilon = %.10g</b> and <b>delta = %.4g</b> (",
               epsilon, s->delta);
    report_say(r, r->privacy.adjacency);
    report_put(r,
               ").</p>\n<p>In plain words: whoever is thinking of one person's record, all that "
               "was released would have come out almost as likely without it. No outcome is "
               "more than %.3g times as likely with it as without it, or the other way round, "
               "but for outcomes that have a probability of about 1 in %.0f in all.</p>\n",
               exp(s->epsilon) * (1 + 5e-4), 1 / s->delta);
}

static void put_limits(report_page *r)
{
    report_put(r, "<h3>What is not promised</h3>\n<ul>\n"
                  "<li>What the records show of people in general may be concluded of a person, "
                  "whether or not the person was among them. That is what they were collected "
                  "for.</li>\n"
                  "<li>Other releases from the same records add to what was spent here. A ledger "
                  "(<code>tacit ledger</code>) keeps the sum; the fit itself does not know "
                  "it.</li>\n"
                  "<li>What stands for one record here protects one record. Who has several has "
                  "less protection, unless the line above speaks of units.</li>\n"
                  "<li>All of this is the word of who made the fit. The file proves nothing of "
                  "it; its fingerprint, below, shows whether it is the file that was meant.</li>\n"
                  "</ul>\n");
}

void report_privacy(report_page *r)
{
    report_section(r, "privacy", "What was spent, and what it can give away");
    if (!r->privacy.is_private) {
        report_put(r, "<p>This fit gives no guarantee of privacy (");
        report_say(r, r->privacy.why_not != NULL ? r->privacy.why_not : "it does not say why");
        report_put(r, "). It tells of the records that it was made from, and so does this "
                      "report.</p>\n");
        return;
    }
    if (!(r->privacy.epsilon >= 0 && r->privacy.epsilon < HUGE_VAL && r->privacy.delta > 0 &&
          r->privacy.delta < 1)) {
        report_put(r,
                   "<p class=\"bad\">The fit calls itself private, and its epsilon and delta are "
                   "none. Nothing can be said of what it gives away.</p>\n");
        return;
    }
    const spending s = find_spending(r);
    put_promise(r, &s);
    if (r->privacy.warning != NULL) {
        report_put(r, "<p class=\"bad\">");
        report_say(r, r->privacy.warning);
        report_put(r, "</p>\n");
    }
    put_attackers(r, &s);
    draw_attackers(r, &s);
    put_limits(r);
}
