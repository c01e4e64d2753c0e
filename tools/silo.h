/* The command silo: what its verbs share.  Every verb is a command whose name has two words. */
#ifndef TOOLS_SILO_H
#define TOOLS_SILO_H

#include <tacit/silo.h>

#include "tools/modelling.h"
#include "tools/tacit.h"

extern const command silo_keys, silo_plan, silo_show, silo_sign, silo_run, silo_status, silo_audit,
    silo_schemes, silo_simulate, silo_relay;

/* One verb's work. */
typedef struct silo_job {
    const char *word; /* what stands before the options: a file, or a formula; NULL: nothing */
    modelling m;      /* of the plan; what was said and the error are kept there */
    dp_silo_key *key;
    dp_silo_plan *plan;
} silo_job;

/* Reads word and options.  False where the verb ends with *end: help was asked for, or they are
 * wrong.  `asks` is what is said where there is no word; NULL: there need be none. */
bool silo_begin(silo_job *j, const command *self, const char *asks, int argc, char **argv,
                int *end);
void silo_end(silo_job *j);

/* Says on standard error what is wrong, and gives the exit status. */
int silo_refuse(const silo_job *j, int status, const char *text);

/* The same of the library's message: wrong usage where options are, else a refusal. */
int silo_failed(const silo_job *j, dp_status status);

/* Loads the plan whose file the word is. */
int silo_load_plan(silo_job *j);

/* The scheme of a name, NULL for none; whether --epsilon, --delta and
 * --local-steps are as --scheme needs them. */
const dp_silo_scheme *silo_scheme(const char *name);
bool silo_check_budget(const settings *s, message *why);

/* Makes a plan of the model, or of the columns or the three parties of `of`, and of what was said
 * of scheme, budget and owners. */
dp_status silo_make_plan(silo_job *j, const char *name, size_t n, const dp_silo_owner *owners,
                         const dp_silo_opts *of);

/* Tells the plan: for people, with what is spent against whom, the text that is signed and who has
 * signed, or with --json as one object.  Gives an exit status. */
int silo_tell_plan(silo_job *j, const char *file);
/* One line an owner: who has signed. */
void silo_tell_owners(const dp_silo_plan *plan);

/* Writes the plan's text as a whole: what was there stays, or all of it is replaced. */
int silo_write_plan(const silo_job *j, const char *path);

/* What a log of letters says. */
void silo_tell_audit(const dp_silo_audit *found);

#endif
