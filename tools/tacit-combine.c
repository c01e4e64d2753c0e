/* The command combine: one answer of the analyses of several twins. */
#include <math.h>
#include <stdio.h>

#include "tools/combining.h"
#include "tools/estimates.h"
#include "tools/json.h"
#include "tools/tacit.h"

static const double default_level = 0.95;

typedef struct combination {
    settings said;
    estimates e;
    combining_rule rule;
    double level, ratio;
} combination;

static int refuse(int status, const char *text)
{
    (void)fprintf(stderr, "tacit combine: %s\n", text);
    return status;
}

static combined answer(const combination *c, size_t k)
{
    return combine(c->rule, c->e.m, &c->e.estimate[k * c->e.m], &c->e.variance[k * c->e.m],
                   c->level, c->ratio);
}

static void tell(const combination *c)
{
    size_t mended = 0;
    const double tail = 50 * (1 - c->level);
    char low[24], high[24];
    (void)snprintf(low, sizeof low, "%.4g %%", tail);
    (void)snprintf(high, sizeof high, "%.4g %%", 100 - tail);
    (void)printf("%-28s %12s %12s %12s %12s %8s\n", "", "estimate", "se", low, high, "freedom");
    for (size_t k = 0; k < c->e.n; k++) {
        const combined a = answer(c, k);
        mended += a.mended;
        (void)printf("%-28s %12.5g %12.5g %12.5g %12.5g %8.3g%s\n", c->e.name[k], a.estimate,
                     sqrt(a.variance), a.low, a.high, a.freedom, a.mended ? " *" : "");
    }
    (void)printf("\n%zu twins, rule %s\n", c->e.m,
                 c->rule == COMBINE_FULL ? "full: all values of a row were drawn"
                                         : "partial: some values of real records were drawn");
    if (mended == 0)
        return;
    (void)printf("* the twins differ by less than their own errors, so that the variance is taken "
                 "as their mean\n  variance times %.3g, rows by records%s; more twins or longer "
                 "ones tell it\n",
                 c->ratio,
                 isnan(c->said.rows) ? " (1 where --rows and --records are not given)" : "");
}

static void tell_json(const combination *c)
{
    json j = json_begin(stdout);
    json_text(&j, "command", "combine");
    json_text(&j, "rule", c->rule == COMBINE_FULL ? "full" : "partial");
    json_count(&j, "twins", c->e.m);
    json_number(&j, "level", c->level);
    json_list(&j, "numbers");
    for (size_t k = 0; k < c->e.n; k++) {
        const combined a = answer(c, k);
        json_object(&j, NULL);
        json_text(&j, "name", c->e.name[k]);
        json_number(&j, "estimate", a.estimate);
        json_number(&j, "variance", a.variance);
        json_number(&j, "low", a.low);
        json_number(&j, "high", a.high);
        json_number(&j, "freedom", a.freedom);
        json_number(&j, "between", a.between);
        json_number(&j, "within", a.within);
        json_truth(&j, "mended", a.mended);
        json_end_object(&j);
    }
    json_end_list(&j);
    json_end(&j);
}

static bool check(combination *c, int files, message *why)
{
    const settings *s = &c->said;
    if (files == 0)
        return complain(why, "which estimates? give their files, as in: tacit combine "
                             "estimates-*.csv");
    if (isnan(s->rows) != isnan(s->records))
        return complain(why, "--rows and --records belong together; give both, or neither");
    c->rule = s->rule < 0 ? COMBINE_FULL : (combining_rule)s->rule;
    c->level = isnan(s->level) ? default_level : s->level;
    c->ratio = isnan(s->rows) ? 1 : s->rows / s->records;
    return true;
}

static int run(const command *self, int argc, char **argv)
{
    combination c = {.said = settings_none()};
    message why = {""};
    int files = 0;
    while (files < argc && argv[files][0] != '-')
        files++;
    if (!options_parse(self->options, argc - files, argv + files, &c.said, &why))
        return refuse(EXIT_USAGE, why.text);
    if (c.said.help) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (!check(&c, files, &why))
        return refuse(EXIT_USAGE, why.text);
    const bool good = estimates_read(&c.e, (size_t)files, argv, &why);
    if (good && c.said.json)
        tell_json(&c);
    else if (good)
        tell(&c);
    estimates_free(&c.e);
    return good ? EXIT_CERTIFIED : refuse(EXIT_REFUSED, why.text);
}

const command command_combine = {
    "combine",
    FOR_COMBINE,
    "one answer of the analyses of several twins",
    "Reads estimates and their errors, which somebody has computed from each twin as if it were\n"
    "the table, and combines them: the estimate, what is not known of it, and an interval that\n"
    "holds the noise of privacy where the fit's posterior does.  The files are CSV with columns\n"
    "name, estimate and se (or variance): a file a twin, or one with a column twin.",
    "tacit combine estimates-*.csv --level 0.9",
    run};
