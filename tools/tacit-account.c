/* The commands epsilon, delta, sigma and risk: settings to mechanisms, one question to the library,
 * and the answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <tacit/accountant.h>

#include "tools/answer.h"
#include "tools/curves.h"
#include "tools/mechanism.h"
#include "tools/options.h"
#include "tools/plan.h"
#include "tools/tacit.h"

/* Width of the figures about attacks beside an epsilon; `tacit risk` has those that were asked
 * for. */
static const double GLANCE = 0.01;

/* What the command line came to. */
typedef struct account_task {
    settings said;
    plan plan;        /* empty without --plan */
    dp_mechanism one; /* without --plan */
    answer answer;
    double width; /* 0: the library's own */
} account_task;

static int refuse(const command *self, int status, const char *text)
{
    (void)fprintf(stderr, "tacit %s: %s\n", self->name, text);
    return status;
}

/* The exit status for a status of the library, with its message. */
static int told(const command *self, dp_status status, const dp_error *err)
{
    if (status == DP_OK)
        return EXIT_CERTIFIED;
    bool usage = status == DP_EDOMAIN || status == DP_EINVAL;
    const char *text = err->text[0] != '\0' ? err->text : dp_status_text(status);
    (void)refuse(self, 0, text);
    if (strstr(text, "DP_SAMPLING_") != NULL)
        (void)fprintf(stderr, "(DP_SAMPLING_POISSON is --sampling poisson here, and so on.)\n");
    return usage ? EXIT_USAGE : EXIT_REFUSED;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* With --plan, options of a single mechanism would be ignored; only --n may stand beside it. */
static bool plan_alone(const settings *said, message *why)
{
    for (size_t i = 0; i < n_options; i++) {
        const option *o = &option_table[i];
        if (said->given[i] && (o->commands & FOR_PLAN) && strcmp(o->name, "n") != 0)
            return complain(why, "--%s and --plan do not go together; write it into the plan",
                            o->name);
    }
    return true;
}

static bool find_list(const command *self, account_task *t, message *why)
{
    answer *a = &t->answer;
    const settings *said = &t->said;
    if (said->plan != NULL) {
        if (!plan_alone(said, why) || !plan_read(said->plan, &t->plan, why))
            return false;
        a->list = t->plan.list;
        a->n = t->plan.n;
        a->records = isnan(said->n) ? t->plan.least_n : said->n;
        return true;
    }
    if (!mechanism_from(said, "--", self->options == FOR_SIGMA, &t->one, why))
        return false;
    a->list = &t->one;
    a->n = 1;
    a->records = said->n;
    return true;
}

/* Fills *t; gives EXIT_CERTIFIED when there is a question to ask. */
static int prepare(const command *self, int argc, char **argv, account_task *t)
{
    message why = {""};
    *t = (account_task){.said = settings_none()};
    if (!options_parse(self->options, argc, argv, &t->said, &why))
        return refuse(self, EXIT_USAGE, why.text);
    if (t->said.help)
        return EXIT_CERTIFIED;
    if (!find_list(self, t, &why))
        return refuse(self, EXIT_USAGE, why.text);
    t->width = isnan(t->said.width) ? 0 : t->said.width;
    answer *a = &t->answer;
    a->command = self->name;
    a->is_delta = self->options == FOR_DELTA;
    a->full = self->options == FOR_RISK;
    a->given = a->is_delta ? t->said.epsilon : t->said.delta;
    a->has_point = !(a->full && isnan(a->given));
    a->sigma = a->asked = NAN;
    if (a->has_point && isnan(a->given))
        return refuse(self, EXIT_USAGE,
                      a->is_delta
                          ? "--epsilon is missing; give the epsilon at which delta is asked for"
                          : "--delta is missing; give one well below 1 / (number of records)");
    if (self->options == FOR_SIGMA && isnan(t->said.epsilon))
        return refuse(self, EXIT_USAGE, "--epsilon is missing; give the epsilon to be kept");
    return EXIT_CERTIFIED;
}

/* Finds the noise; after it the list is that of a known mechanism. */
static dp_status calibrate(account_task *t, dp_error *err)
{
    answer *a = &t->answer;
    a->asked = t->said.epsilon;
    dp_status status = dp_calibrate_sigma(&t->one, a->asked, a->given, 0, &a->sigma, err);
    t->one.sigma = a->sigma;
    return status;
}

/* The interval of the calibrated noise: its upper end is the bound that the calibration went by,
 * where that is the smaller one. */
static dp_status sharpen(account_task *t, dp_error *err)
{
    double bound;
    dp_status status = dp_epsilon(&t->one, t->answer.given, &bound, err);
    if (status == DP_OK)
        t->answer.found.upper = fmin(t->answer.found.upper, bound);
    return status;
}

static dp_status ask(const command *self, account_task *t, dp_error *err)
{
    answer *a = &t->answer;
    double start = now();
    dp_status status = self->options == FOR_SIGMA ? calibrate(t, err) : DP_OK;
    if (status == DP_OK && a->is_delta)
        status = dp_account_delta(a->list, a->n, a->given, t->width, &a->found, err);
    else if (status == DP_OK && a->has_point)
        status = dp_account_epsilon(a->list, a->n, a->given, t->width, &a->found, err);
    if (status == DP_OK && self->options == FOR_SIGMA)
        status = sharpen(t, err);
    a->seconds = now() - start;
    return status;
}

static int answer_question(const command *self, account_task *t)
{
    answer *a = &t->answer;
    dp_error err = {0};
    message why = {""};
    int exit_status = told(self, ask(self, t, &err), &err);
    if (exit_status != EXIT_CERTIFIED)
        return exit_status;
    if (a->full || !t->said.json)
        answer_attack(a, a->full ? t->width : fmax(t->width, GLANCE));
    if (a->full && a->attack.advantage_error.status != DP_OK)
        return told(self, a->attack.advantage_error.status, &a->attack.advantage_error);
    if (t->said.plot != NULL && !curves_draw(t->said.plot, a->list, a->n, &why))
        return refuse(self, EXIT_REFUSED, why.text);
    if (t->said.json)
        answer_json(stdout, a);
    else
        answer_tell(stdout, a);
    return EXIT_CERTIFIED;
}

static int run(const command *self, int argc, char **argv)
{
    account_task t;
    int status = prepare(self, argc, argv, &t);
    if (status == EXIT_CERTIFIED && t.said.help)
        command_help(self);
    else if (status == EXIT_CERTIFIED)
        status = answer_question(self, &t);
    plan_free(&t.plan);
    return status;
}

const command command_epsilon = {
    "epsilon",
    FOR_EPSILON,
    "what releases cost, as epsilon at a delta",
    "Gives an interval that contains the exact epsilon; its upper end is certified, rounding\n"
    "errors included, and is the figure to publish.",
    "tacit epsilon --sampling poisson --sigma 1.5 --n 60000 --batch 128 --steps 9375 --delta 1e-5",
    run};

const command command_delta = {
    "delta",
    FOR_DELTA,
    "what releases cost, as delta at an epsilon",
    "Gives an interval that contains the exact delta; its upper end is certified, rounding\n"
    "errors included.",
    "tacit delta --sampling poisson --sigma 1.5 --q 128/60000 --steps 9375 --epsilon 0.5",
    run};

const command command_sigma = {
    "sigma",
    FOR_SIGMA,
    "the least noise that keeps an epsilon at a delta",
    "Gives a noise that certainly suffices and is within a relative 1e-4 of the least one.",
    "tacit sigma --sampling poisson --q 0.01 --steps 1000 --epsilon 1 --delta 1e-5",
    run};

const command command_risk = {
    "risk",
    FOR_RISK,
    "what an attacker can find out, and plots of it",
    "Gives bounds on every membership attack: advantage, true positive rates at given false\n"
    "positive rates, posterior probability; and mu of Gaussian DP and Renyi divergences for\n"
    "those who must report them.  --delta is optional.",
    "tacit risk --sampling poisson --sigma 1.5 --q 128/60000 --steps 9375 --plot risk.svg",
    run};
