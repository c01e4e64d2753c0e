/* What a run over columns, or of three parties, pays to this owner's ledger: all of the plan,
 * once. */
#ifndef DPI_SILO_PAY_COLUMNS_H
#define DPI_SILO_PAY_COLUMNS_H

#include <stdbool.h>

#include "silo/plan.h"

/* Whether a ledger, its data set and what is said of it are given together, or none of them.
 * DP_EINVAL. */
DP_MUST_CHECK dp_status dpi_silo_check_ledger(const dp_ledger *ledger, const char *data,
                                              const char *said, dp_error *err);

/* Whether there is a ledger, and one that can count the plan.  DP_EINVAL. */
DP_MUST_CHECK dp_status dpi_columns_check_ledger(const dp_silo_plan *plan,
                                                 const dp_silo_run_opts *opts, dp_error *err);

typedef struct dpi_silo_payment {
    dp_reservation *paid;               /* NULL: there is no ledger */
    bool found;                         /* it was reserved by another process, of which nothing is
                                          * known */
    size_t n;                           /* mechanisms */
    uint64_t all[DPI_COLUMNS_SPENDING]; /* [n] their steps */
} dpi_silo_payment;

/* Reserves what = {data, label, columns, list, n}, n up to DPI_COLUMNS_SPENDING, for the run that
 * `columns` names; or takes over what was reserved for it before, and was not given back.  As
 * dp_ledger_reserve.  *p [out] ended by dpi_silo_pay_end also after an error. */
DP_MUST_CHECK dp_status dpi_silo_pay(dp_ledger *ledger, const dp_spending *what,
                                     dpi_silo_payment *p, dp_error *err);

/* The same of a plan of columns, for the run of a name. */
DP_MUST_CHECK dp_status dpi_columns_pay(const dp_silo_plan *plan, const dp_silo_run_opts *opts,
                                        const char *name, dpi_silo_payment *p, dp_error *err);

/* Ends it.  Of a run that is over all is kept, and of steps that were begun: how many there were is
 * not looked at.  Where none was, nothing was told, and what this process has reserved is given
 * back; what it has found is not, since steps may have been begun that an older copy of the state
 * does not know of.  What cannot be written stays spent. */
void dpi_silo_pay_end(dpi_silo_payment *p, bool begun, dp_status status);

#endif
