/* Regressions over columns of the same people at two owners: plans of them, and their runs. */
#ifndef TOOLS_SILO_COLUMNS_H
#define TOOLS_SILO_COLUMNS_H

#include "tools/payer.h"
#include "tools/silo.h"

enum { SILO_SIDES = 2, SILO_MOST_SIDES = 3 };

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

/* ---- what runs of columns and of three parties share ---- */

/* Which of the plan's owners the key is of.  DP_ENAME. */
dp_status silo_find_self(silo_job *j, size_t *self);

/* The columns of a table that a part reads, and with_ids that of --id. */
dp_status silo_read_table(silo_job *j, const char *path, const dp_formula_part *part, bool with_ids,
                          dp_table **table);

/* What is said of an owner in a list of OWNER=TEXT, NULL for nothing; and whether each text there
 * is of one of the owners, and none has two. */
const char *silo_said_of(const text_list *list, const char *owner);
bool silo_check_list(const char *name, const text_list *list, size_t n, const dp_silo_owner *owners,
                     message *why);

/* A bound of an owner in such a list, where there is one.  False with a message. */
bool silo_bound_of(const char *name, const text_list *list, const char *owner, double *bound,
                   message *why);

/* The part of who has the columns in `held`, names with commas between. */
dp_status silo_make_part(const dp_formula *f, const char *held, const dp_formula_part **part,
                         dp_error *err);

/* That all that the formula reads is of one of n owners, NULL of whom have none; and nothing of
 * two. */
bool silo_check_parts(const dp_formula *f, size_t n, const dp_formula_part *const *part,
                      message *why);

/* That rows are not dropped for their values, as others learn who has a row. */
bool silo_check_rows(const silo_job *j, message *why);

/* The norm of a part's rows: what its ranges allow, or with noise half of it. */
double silo_usual_norm(const dp_formula_part *p, bool noisy);

/* Steps as --steps, --step and --ridge say, or usual ones for rows whose norms have that sum of
 * squares. */
typedef struct silo_steps {
    uint64_t steps;
    double step, ridge;
} silo_steps;
silo_steps silo_find_steps(const settings *s, bool noisy, bool logistic, double squares);

/* Coefficients of one owner's columns, or of all. */
typedef struct silo_block {
    const char *owner;           /* NULL: of all owners, who have rows */
    const dp_formula_part *part; /* of whose columns */
    const double *w;             /* [part->n]; NULL: not told here */
} silo_block;

/* What a run has found. */
typedef struct silo_answer {
    const silo_job *j;
    const payer *who;
    size_t self, rows;
    const char *of_whom; /* behind "N rows" */
    size_t n;
    silo_block block[SILO_MOST_SIDES];
} silo_answer;

/* Keeps it in the file of --out, and tells it, also where it cannot be kept; the run's state goes
 * when it is.  Gives an exit status. */
int silo_tell_answer(const silo_answer *a);

#endif
