/* A model from the command line: schema and formula, with the data set that a ledger knows. */
#ifndef TOOLS_MODELLING_H
#define TOOLS_MODELLING_H

#include <tacit/fit.h>
#include <tacit/formula.h>
#include <tacit/ledger.h>
#include <tacit/schema.h>

#include "tools/options.h"

enum { MOST_PRIORS = 64, MOST_PRIOR_TEXT = 8192 };

typedef struct modelling {
    const char *command, *text; /* of the tool; the formula as it was written */
    settings said;
    dp_schema *schema;
    dp_formula *formula;
    dp_model *model;
    char *priors;     /* --priors in one line; NULL: none */
    char *prior_text; /* a copy, cut apart */
    dp_formula_prior prior[MOST_PRIORS];
    size_t n_priors;
    dp_error err;
} modelling;

/* Reads schema and formula and writes the model.  Gives an exit status of tacit.h, and says on
 * standard error what is wrong. */
int modelling_open(modelling *m);

/* Schema and formula that a fit tells, by which new records are read; there is no model then.  It
 * ends and says what is wrong in the same way. */
int modelling_of_fit(modelling *m, const dp_fit *fit);

/* Schema, formula, priors and model of a source; `name` of it in messages.  The source is
 * borrowed. */
int modelling_of_source(modelling *m, const dp_fit_source *source, const char *name);

/* The column that the fit observes, or NULL.  Where it is of levels, *levels [out] is the column of
 * the schema that names them, else NULL. */
const char *modelling_outcome(const modelling *m, const dp_fit *fit, const dp_column **levels);

void modelling_close(modelling *m);

/* Cuts m->said.priors, "b = normal(0, 1); sd = half_normal(1)", into m->prior.  False with a
 * message that says what is no prior. */
bool modelling_priors(modelling *m, message *why);

/* Says on standard error what is wrong, and gives the exit status. */
int modelling_refuse(const modelling *m, int status, const char *text);

/* The same of m->err. */
int modelling_failed(const modelling *m, dp_status status);

/* Reads the columns that the formula reads for this use from a file, or by --query from a
 * database. */
dp_status modelling_read(modelling *m, const char *path, dp_formula_use use, dp_table **table);

#endif
