/* The command silo: one private fit over several owners, each with a process beside its own
 * records. */
#include "tools/silo-trio.h"

#include <stdio.h>
#include <string.h>

static const command *const verbs[] = {&silo_keys,     &silo_plan,   &silo_show,  &silo_sign,
                                       &silo_run,      &silo_status, &silo_audit, &silo_schemes,
                                       &silo_simulate, &silo_relay};
enum { N_VERBS = sizeof verbs / sizeof verbs[0], BEFORE = sizeof "silo " - 1 };

int silo_refuse(const silo_job *j, int status, const char *text)
{
    return modelling_refuse(&j->m, status, text);
}

int silo_failed(const silo_job *j, dp_status status)
{
    return modelling_failed(&j->m, status);
}

bool silo_begin(silo_job *j, const command *self, const char *asks, int argc, char **argv, int *end)
{
    message why = {""};
    const bool has_word = argc > 0 && strncmp(argv[0], "--", 2) != 0;
    *j = (silo_job){.m = {.command = self->name, .said = settings_none()}};
    *end = EXIT_CERTIFIED;
    j->word = has_word ? argv[0] : NULL;
    if (!options_parse(self->options, argc - has_word, argv + has_word, &j->m.said, &why)) {
        *end = silo_refuse(j, EXIT_USAGE, why.text);
        return false;
    }
    if (j->m.said.help) {
        command_help(self);
        return false;
    }
    if (!has_word && asks != NULL)
        *end = silo_refuse(j, EXIT_USAGE, asks);
    return *end == EXIT_CERTIFIED;
}

void silo_end(silo_job *j)
{
    dp_silo_plan_free(j->plan);
    dp_silo_key_free(j->key);
    modelling_close(&j->m);
}

/* What a plan shows as formula and schema must be what its model was made of: what is signed is
 * what was read. */
static int check_model(silo_job *j)
{
    const dp_fit_source *source = dp_silo_plan_opts(j->plan)->source;
    unsigned char hash[DP_MODEL_HASH];
    char line[2 * DP_MODEL_HASH + 12] = "\nmodel = ";
    int end =
        source != NULL ? modelling_of_source(&j->m, source, "the plan's schema") : EXIT_CERTIFIED;
    if (source == NULL || end != EXIT_CERTIFIED)
        return end;
    if (dp_silo_plan_opts(j->plan)->columns != NULL) {
        silo_columns c;
        end = silo_columns_planned(j, &c);
        silo_columns_free(&c);
        return end;
    }
    if (dp_silo_plan_opts(j->plan)->trio != NULL) {
        silo_trio t;
        end = silo_trio_planned(j, &t);
        silo_trio_free(&t);
        return end;
    }
    dp_model_hash(j->m.model, hash);
    for (size_t k = 0; k < sizeof hash; k++)
        (void)snprintf(line + strlen(line), 3, "%02x", (unsigned)hash[k]);
    memcpy(line + strlen(line), "\n", 2);
    return strstr(dp_silo_plan_text(j->plan), line) != NULL
               ? EXIT_CERTIFIED
               : silo_refuse(
                     j, EXIT_REFUSED,
                     "the plan's formula and schema are not those of its model; it was made "
                     "by another version, or to deceive");
}

int silo_load_plan(silo_job *j)
{
    if (silo_failed(j, dp_silo_plan_load(j->word, &j->plan, &j->m.err)) != EXIT_CERTIFIED)
        return EXIT_REFUSED;
    return check_model(j);
}

static int unknown(const char *word)
{
    const char *names[N_VERBS];
    for (int i = 0; i < N_VERBS; i++)
        names[i] = verbs[i]->name + BEFORE;
    const char *near = nearest_name(word, names, N_VERBS);
    (void)fprintf(
        stderr, "tacit silo: there is no tacit silo %.40s; %s%s\n", word,
        near != NULL
            ? "did you mean "
            : "give keys, plan, show, sign, run, status, audit, schemes, simulate or relay",
        near != NULL ? near : "");
    return EXIT_USAGE;
}

static int run(const command *self, int argc, char **argv)
{
    if (argc > 0 && strcmp(argv[0], "--help") == 0) {
        command_help(self);
        return EXIT_CERTIFIED;
    }
    if (argc < 1) {
        (void)fprintf(stderr, "tacit silo: what is to be done? as in: tacit silo keys --out "
                              "north.key; tacit help silo lists all\n");
        return EXIT_USAGE;
    }
    for (int i = 0; i < N_VERBS; i++)
        if (strcmp(argv[0], verbs[i]->name + BEFORE) == 0)
            return verbs[i]->run(verbs[i], argc - 1, argv + 1);
    return unknown(argv[0]);
}

const command command_silo = {
    "silo",
    FOR_SILO_KEYS | FOR_SILO_PLAN | FOR_SILO_SIGN | FOR_SILO_RUN | FOR_SILO_STATUS |
        FOR_SILO_AUDIT | FOR_SILO_LOOK | FOR_SILO_SIMULATE | FOR_SILO_RELAY,
    "one private fit over several owners, whose records stay with them",
    "  tacit silo keys --out KEY      make a key; keys KEY tells its public half again\n"
    "  tacit silo plan FORMULA ...    model, budget, owners and scheme, as a file to be signed\n"
    "  tacit silo show PLAN           what leaves each house, who sees it, who has signed\n"
    "  tacit silo sign PLAN ...       each owner, after reading it\n"
    "  tacit silo run PLAN ...        each owner, beside its records; all get the same fit\n"
    "  tacit silo status PLAN         who has signed, and how far a run is\n"
    "  tacit silo audit LOG           what has left, and what has come\n"
    "  tacit silo schemes             how sums may be opened\n"
    "  tacit silo simulate FORMULA    cuts one table into owners, and runs all of them here\n"
    "  tacit silo relay ...           a mailbox for owners, who need not trust it\n\n"
    "tacit silo VERB --help tells the options of one; doc/silo.md goes from the first command to\n"
    "the answer, and says what is protected from whom.",
    "tacit silo run joint.plan --key north.key --data north.csv --mailbox /mnt/letters \\\n"
    "    --state north.state --out joint.fit",
    run};
