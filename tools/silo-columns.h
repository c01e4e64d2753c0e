/* Regressions over columns of the same people at two owners: plans of them, and their runs. */
#ifndef TOOLS_SILO_COLUMNS_H
#define TOOLS_SILO_COLUMNS_H

#include "tools/payer.h"
#include "tools/silo.h"

enum { SILO_SIDES = 2 };

/* What the formula comes to at both owners. */
typedef struct silo_columns {
    const dp_formula_part *part[SILO_SIDES]; /* owned */
    dp_silo_columns terms;                   /* texts are borrowed from what was said */
} silo_columns;

/* Of what was said in tacit silo plan: parts, bounds and steps.  False with a message. */
bool silo_columns_said(const silo_job *j, size_t n, const dp_silo_owner *owners, silo_columns *c,
                       message *why);

/* Of a plan that was loaded, whose formula must come to what the plan says.  Gives an exit
 * status. */
int silo_columns_planned(const silo_job *j, silo_columns *c);
void silo_columns_free(silo_columns *c);

/* One owner's run, when plan and key are loaded, and who pays is known.  Gives an exit status. */
int silo_columns_run(silo_job *j, const payer *who);

#endif
