/* What is done before records are looked at: keys, plans, signatures. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/json.h"
#include "tools/new-file.h"
#include "tools/silo-trio.h"

/* ---- keys ---- */

static void tell_key(const silo_job *j, const char *path)
{
    const char *text = dp_silo_key_public(j->key);
    if (j->m.said.json) {
        json out = json_begin(stdout);
        json_text(&out, "command", j->m.command);
        json_text(&out, "file", path);
        json_text(&out, "key", text);
        json_end(&out);
        return;
    }
    (void)printf("%s\n", text);
    if (j->m.said.out != NULL)
        (void)printf("\nGive this line to who makes the plan by a way that both trust, such as by "
                     "telephone.\nWho has the file %s is you: keep it as you keep a password.\n",
                     path);
}

static int run_keys(const command *self, int argc, char **argv)
{
    silo_job j;
    int end;
    if (!silo_begin(&j, self, NULL, argc, argv, &end))
        return end;
    const char *out = j.m.said.out;
    if ((j.word == NULL) == (out == NULL))
        return silo_refuse(&j, EXIT_USAGE,
                           "give --out FILE to make a key, or the FILE of one to see its public "
                           "half: tacit silo keys --out north.key");
    dp_status status = out != NULL ? dp_silo_key_new(out, &j.key, &j.m.err)
                                   : dp_silo_key_load(j.word, &j.key, &j.m.err);
    end = silo_failed(&j, status);
    if (status == DP_OK)
        tell_key(&j, out != NULL ? out : j.word);
    silo_end(&j);
    return end;
}

const command silo_keys = {
    "silo keys",
    FOR_SILO_KEYS,
    "makes an owner's key, or tells its public half",
    "tacit silo keys --out FILE\n"
    "tacit silo keys FILE\n\n"
    "A key is a file that its owner alone can read, and is never overwritten.  The line that is\n"
    "printed, tacit-owner: and 64 digits, is by what the others know the owner.",
    "tacit silo keys --out north.key",
    run_keys};

/* ---- plan ---- */

const dp_silo_scheme *silo_scheme(const char *name)
{
    size_t n;
    const dp_silo_scheme *all = dp_silo_schemes(&n);
    for (size_t k = 0; k < n; k++)
        if (strcmp(all[k].name, name) == 0)
            return &all[k];
    return NULL;
}

/* Steps of owners by themselves are of schemes that average what these come to. */
static bool check_steps(const settings *s, const dp_silo_scheme *scheme, message *why)
{
    if (scheme->averages == !isnan(s->local_steps))
        return true;
    return complain(
        why,
        scheme->averages
            ? "--local-steps is missing: scheme %s opens what steps of each owner by "
              "itself come to; say how many, of which few are nearer to all records "
              "together"
            : "--local-steps is of the schemes dp-pvi, fedavg and fedavg+he, and scheme "
              "%s opens a sum in each step; leave it out",
        scheme->name);
}

bool silo_check_budget(const settings *s, message *why)
{
    const dp_silo_scheme *scheme = silo_scheme(s->scheme);
    if (scheme == NULL)
        return complain(why, "there is no scheme %.40s; tacit silo schemes lists them", s->scheme);
    if (!check_steps(s, scheme, why))
        return false;
    if (!scheme->noisy && (!isnan(s->epsilon) || !isnan(s->delta)))
        return complain(why,
                        "scheme %s has no noise, and so no --epsilon and no --delta; leave them "
                        "out, or choose another scheme",
                        s->scheme);
    if (scheme->noisy && (isnan(s->epsilon) || isnan(s->delta)))
        return complain(why,
                        "--%s is missing; a private fit has an epsilon and a delta, and neither "
                        "has a default",
                        isnan(s->epsilon) ? "epsilon" : "delta");
    return true;
}

/* Options that are of columns, of three parties, or of neither, alone. */
static bool check_scheme(const settings *s, message *why)
{
    const dp_silo_scheme *scheme = silo_scheme(s->scheme);
    const bool of_regression = s->held.n > 0 || s->row_most.n > 0 || s->addend_most.n > 0 ||
                               s->ids != NULL || !isnan(s->steps) || !isnan(s->step) ||
                               !isnan(s->ridge) || s->tell_coefficients;
    const bool of_three = s->rows_of.n > 0 || !isnan(s->residual_most);
    const bool of_rows = !isnan(s->rounds) || !isnan(s->dropouts) || !isnan(s->colluders);
    const bool regression = scheme->by_columns || scheme->shared;
    if (of_three && !scheme->shared)
        return complain(why,
                        "--rows and --residual-most are of three parties, and scheme %s is not; "
                        "leave them out, or take scheme trio+dp",
                        s->scheme);
    if (regression ? of_rows : of_regression)
        return complain(why,
                        regression
                            ? "--rounds, --dropouts and --colluders are of owners of rows, and "
                              "scheme %s is of columns; leave them out"
                            : "--held, --ids, --steps, --step, --ridge, --row-most, --addend-most "
                              "and --tell-coefficients are of owners of columns, and scheme %s is "
                              "of rows; leave them out, or take scheme columns+dp",
                        s->scheme);
    return true;
}

static bool check_plan(const settings *s, message *why)
{
    if (s->name == NULL)
        return complain(why, "--name is missing; a plan needs one, as in --name joint");
    if (s->scheme == NULL)
        return complain(why, "--scheme is missing; it says how sums are opened, and who is trusted "
                             "with what: tacit silo schemes lists them");
    if (s->owners.n == 0)
        return complain(why, "who are the owners? give --owner NAME=KEY for each, with what tacit "
                             "silo keys has printed there");
    if (s->out == NULL)
        return complain(why, "--out is missing; give the file of the plan, as in --out joint.plan");
    return silo_check_budget(s, why) && check_scheme(s, why);
}

enum { NAME_ROOM = 64 };

/* Cuts NAME=KEY apart. */
static bool read_owners(const settings *s, char names[][NAME_ROOM], dp_silo_owner *owners,
                        message *why)
{
    for (size_t k = 0; k < s->owners.n; k++) {
        const char *text = s->owners.value[k], *equals = strchr(text, '=');
        const size_t n = equals != NULL ? (size_t)(equals - text) : 0;
        if (n == 0 || n >= NAME_ROOM)
            return complain(why,
                            "--owner is '%.60s'; give NAME=KEY, as in --owner "
                            "north=tacit-owner:0011...",
                            text);
        memcpy(names[k], text, n);
        names[k][n] = '\0';
        owners[k] = (dp_silo_owner){names[k], equals + 1};
    }
    return true;
}

static double or_zero(double value)
{
    return isnan(value) ? 0 : value;
}

dp_status silo_make_plan(silo_job *j, const char *name, size_t n, const dp_silo_owner *owners,
                         const dp_silo_opts *of)
{
    const settings *s = &j->m.said;
    const dp_fit_source source = {.formula = dp_formula_text(j->m.formula),
                                  .family = dp_formula_family(j->m.formula),
                                  .schema = dp_schema_text(j->m.schema),
                                  .priors = j->m.priors};
    dp_silo_opts o = *of;
    o.name = name;
    o.scheme = s->scheme;
    o.model = o.columns == NULL && o.trio == NULL ? j->m.model : NULL;
    o.source = &source;
    o.n_owners = n;
    o.owners = owners;
    o.epsilon = or_zero(s->epsilon);
    o.delta = or_zero(s->delta);
    o.rounds = (uint64_t)or_zero(s->rounds);
    o.local_steps = (uint64_t)or_zero(s->local_steps);
    o.colluders = (size_t)or_zero(s->colluders);
    o.trusting = s->colluders == 0;
    o.dropouts = (size_t)or_zero(s->dropouts);
    o.most_records = (uint64_t)or_zero(s->records);
    return dp_silo_plan_new(&o, &j->plan, &j->m.err);
}

int silo_write_plan(const silo_job *j, const char *path)
{
    message why = {""};
    new_file f;
    if (!new_file_begin(&f, path, &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    const char *text = dp_silo_plan_text(j->plan);
    FILE *to = fopen(f.name, "wb");
    bool good = to != NULL && fwrite(text, 1, strlen(text), to) == strlen(text);
    if (to != NULL)
        good = fclose(to) == 0 && good;
    if (!good) {
        new_file_drop(&f);
        (void)complain(&why, "%.300s cannot be written; is the disk full?", path);
    }
    if (good)
        good = new_file_keep(&f, &why);
    return good ? EXIT_CERTIFIED : silo_refuse(j, EXIT_REFUSED, why.text);
}

/* The fit refuses it as well, but only where records are: after all have signed. */
static bool check_unit(const silo_job *j, message *why)
{
    size_t n;
    const dp_column *columns = dp_formula_columns(j->m.formula, DP_FORMULA_FIT, &n);
    for (size_t k = 0; k < n; k++)
        if (columns[k].kind == DP_COLUMN_UNIT)
            return complain(why,
                            "the schema has a unit, %.60s, and this fit protects single "
                            "records; leave its line out where each person has one",
                            columns[k].name);
    return true;
}

/* Makes it of what the scheme is of. */
static int make_plan(silo_job *j, const dp_silo_owner *owners)
{
    message why = {""};
    const settings *s = &j->m.said;
    const dp_silo_scheme *scheme = silo_scheme(s->scheme);
    silo_columns c = {.part = {NULL}};
    silo_trio t = {.all = NULL};
    dp_silo_opts of = {.columns = scheme->by_columns ? &c.terms : NULL,
                       .trio = scheme->shared ? &t.terms : NULL};
    bool good = true;
    if (scheme->by_columns)
        good = silo_columns_said(j, s->owners.n, owners, &c, &why);
    else if (scheme->shared)
        good = silo_trio_said(j, s->owners.n, owners, &t, &why);
    memcpy(of.trio_held, t.held, sizeof of.trio_held);
    const int end = good ? silo_failed(j, silo_make_plan(j, s->name, s->owners.n, owners, &of))
                         : silo_refuse(j, EXIT_USAGE, why.text);
    silo_columns_free(&c);
    silo_trio_free(&t);
    return end;
}

static int plan(silo_job *j)
{
    message why = {""};
    char names[MOST_TEXTS][NAME_ROOM];
    dp_silo_owner owners[MOST_TEXTS];
    const settings *s = &j->m.said;
    if (!check_plan(s, &why) || !read_owners(s, names, owners, &why))
        return silo_refuse(j, EXIT_USAGE, why.text);
    int end = modelling_open(&j->m);
    if (end != EXIT_CERTIFIED)
        return end;
    const dp_silo_scheme *scheme = silo_scheme(s->scheme);
    if ((!scheme->by_columns && !scheme->shared && !check_unit(j, &why)) ||
        !new_file_check(s->out, "owners may have signed it", &why))
        return silo_refuse(j, EXIT_REFUSED, why.text);
    end = make_plan(j, owners);
    if (end == EXIT_CERTIFIED)
        end = silo_write_plan(j, s->out);
    if (end != EXIT_CERTIFIED)
        return end;
    return silo_tell_plan(j, s->out);
}

static int run_plan(const command *self, int argc, char **argv)
{
    silo_job j;
    int end;
    if (!silo_begin(&j, self,
                    "which model? give a formula, as in: tacit silo plan 'use ~ age + urban' "
                    "--schema ...",
                    argc, argv, &end))
        return end;
    j.m.text = j.word;
    end = plan(&j);
    silo_end(&j);
    return end;
}

const command silo_plan = {
    "silo plan",
    FOR_SILO_PLAN,
    "makes a plan that all owners sign",
    "tacit silo plan FORMULA --schema FILE --name NAME --scheme NAME --owner NAME=KEY ...\n"
    "    --epsilon E --delta D --out FILE [options]\n"
    "tacit silo plan FORMULA --scheme columns+dp --held OWNER=COLUMN,... --held OWNER=COLUMN,... "
    "...\n"
    "tacit silo plan FORMULA --scheme trio+dp --held OWNER=COLUMN,... | --rows OWNER=N ...\n\n"
    "The model is written as for tacit fit; no records are read.  What each owner's process will\n"
    "run is worked out and checked: nothing can be seen by somebody whom it is not of, but noisy\n"
    "sums and what a clause of the scheme names.  The plan is text, and says all of that.\n\n"
    "With the schemes columns+dp and columns two owners have columns of the same people.  --held\n"
    "says which of the schema's columns are whose; the formula has plain terms and the family\n"
    "gaussian or bernoulli.  Columns are scaled by the schema's ranges, never by records.  With\n"
    "the scheme split they take the logistic regression itself, by split learning, which tells\n"
    "numbers of every single record: it runs only where a site's policy says so.\n\n"
    "With the schemes trio+dp and trio such a regression, the logistic one itself, is taken in\n"
    "shares at three parties: owners of columns (--held) or of rows of one table (--rows), and\n"
    "those that only help.  Any two of the three together know all rows.",
    "tacit silo plan 'use ~ age + urban + (1 | district)' --family bernoulli \\\n"
    "    --schema contraception.schema --epsilon 2 --delta 1e-4 --name joint --scheme secagg+dp "
    "\\\n"
    "    --owner north=tacit-owner:... --owner south=tacit-owner:... --out joint.plan",
    run_plan};

/* ---- show ---- */

static int run_show(const command *self, int argc, char **argv)
{
    silo_job j;
    int end;
    if (!silo_begin(&j, self, "which plan? as in: tacit silo show joint.plan", argc, argv, &end))
        return end;
    end = silo_load_plan(&j);
    if (end == EXIT_CERTIFIED)
        end = silo_tell_plan(&j, j.word);
    silo_end(&j);
    return end;
}

const command silo_show = {
    "silo show",
    FOR_SILO_LOOK,
    "what leaves each house and who sees it, what is spent, who has signed",
    "tacit silo show PLAN [--json]\n\n"
    "Programs and signatures of the plan are checked, and it is told for people.",
    "tacit silo show joint.plan",
    run_show};

/* ---- sign ---- */

static dp_status join(silo_job *j)
{
    dp_silo_plan *other;
    dp_status status = dp_silo_plan_load(j->m.said.join, &other, &j->m.err);
    if (status != DP_OK)
        return status;
    status = dp_silo_plan_join(j->plan, other, &j->m.err);
    dp_silo_plan_free(other);
    return status;
}

/* Takes the file of a plan for this process, until *file is closed: who signs replaces it, and two
 * at once would lose what one has signed.  The lock is of the file that has the name now. */
static bool lock_plan(const char *path, int *file, message *why)
{
    struct stat own, named;
    for (;;) {
        *file = open(path, O_RDWR | O_CLOEXEC); /* NFS locks what is open for writing alone */
        if (*file < 0 && (errno == EACCES || errno == EROFS))
            *file = open(path, O_RDONLY | O_CLOEXEC);
        if (*file < 0)
            return true; /* reading it says why */
        if (flock(*file, LOCK_EX) != 0)
            return complain(why,
                            "%.300s cannot be locked (%s); sign it on a file system that has "
                            "locks",
                            path, strerror(errno));
        if (fstat(*file, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino &&
            own.st_dev == named.st_dev)
            return true;
        (void)close(*file);
    }
}

static int sign(silo_job *j)
{
    const settings *s = &j->m.said;
    int end = silo_load_plan(j);
    if (end != EXIT_CERTIFIED)
        return end;
    dp_status status = s->join != NULL ? join(j) : DP_OK;
    if (status == DP_OK && s->key != NULL)
        status = dp_silo_key_load(s->key, &j->key, &j->m.err);
    if (status == DP_OK && s->key != NULL)
        status = dp_silo_plan_sign(j->plan, j->key, &j->m.err);
    end = silo_failed(j, status) == EXIT_CERTIFIED ? EXIT_CERTIFIED : EXIT_REFUSED;
    if (end == EXIT_CERTIFIED)
        end = silo_write_plan(j, j->word);
    if (end != EXIT_CERTIFIED)
        return end;
    return silo_tell_plan(j, j->word);
}

static int run_sign(const command *self, int argc, char **argv)
{
    silo_job j;
    int end;
    if (!silo_begin(&j, self, "which plan? as in: tacit silo sign joint.plan --key north.key", argc,
                    argv, &end))
        return end;
    if (j.m.said.key == NULL && j.m.said.join == NULL)
        return silo_refuse(&j, EXIT_USAGE,
                           "who signs? give --key FILE, or --join FILE to take the signatures of "
                           "another copy of the plan");
    message why = {""};
    int file = -1;
    end = lock_plan(j.word, &file, &why) ? sign(&j) : silo_refuse(&j, EXIT_REFUSED, why.text);
    if (file >= 0)
        (void)close(file);
    silo_end(&j);
    return end;
}

const command silo_sign = {
    "silo sign",
    FOR_SILO_SIGN,
    "signs a plan with an owner's key",
    "tacit silo sign PLAN --key FILE [--join FILE]\n\n"
    "Writes the signature into the plan's file, and tells the plan as tacit silo show, which is\n"
    "to be read first: who signs, allows what it says.  --join takes what is signed in another\n"
    "copy of the same plan; without --key nothing else is done.",
    "tacit silo sign joint.plan --key north.key",
    run_sign};
