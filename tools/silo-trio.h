/* Regressions by three parties on shares: plans of them, and their runs. */
#ifndef TOOLS_SILO_TRIO_H
#define TOOLS_SILO_TRIO_H

#include "tools/silo-columns.h"

/* What the formula comes to at the three. */
typedef struct silo_trio {
    const dp_formula_part *part[DP_SILO_TRIO]; /* owned; NULL: it helps */
    dp_silo_trio terms;                        /* texts are borrowed */
    const char *held[DP_SILO_TRIO];            /* likewise, or `all` */
    char *all; /* owned: the columns of the formula, where parties have rows; NULL: columns */
} silo_trio;

/* Of what was said in tacit silo plan.  False with a message. */
bool silo_trio_said(const silo_job *j, size_t n, const dp_silo_owner *owners, silo_trio *t,
                    message *why);

/* Of a plan that was loaded, whose formula must come to what the plan says.  Gives an exit
 * status. */
int silo_trio_planned(const silo_job *j, silo_trio *t);
void silo_trio_free(silo_trio *t);

/* Whether a plan's parties have rows of one table, and not columns. */
bool silo_trio_by_rows(const dp_silo_trio *terms);

/* One party's run, when plan and key are loaded, and who pays is known.  Gives an exit status. */
int silo_trio_run(silo_job *j, const payer *who);

#endif
