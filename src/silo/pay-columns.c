/* The entry of a run is found by its name, which stands in what an entry says of columns: so there
 * is no moment at which the one is written and the other is not. */
#include "silo/pay-columns.h"

#include <stdio.h>
#include <string.h>

#include <tacit/ledger.h>

#include "base/error.h"
#include "silo/rules.h"

static const char label[] = "columns of two owners; which people both have is not counted";

dp_status dpi_silo_check_ledger(const dp_ledger *ledger, const char *data, const char *said,
                                dp_error *err)
{
    if (ledger == NULL)
        return data == NULL && said == NULL
                   ? DP_OK
                   : dpi_fail(err, DP_EINVAL,
                              "a data set or label is given and no ledger, so that nothing would "
                              "be paid for; open the ledger that pays, or leave them out");
    return data != NULL ? DP_OK
                        : dpi_fail(err, DP_EINVAL,
                                   "a ledger is given and no ledger_data; name the data set as the "
                                   "ledger knows it");
}

dp_status dpi_columns_check_ledger(const dp_silo_plan *plan, const dp_silo_run_opts *o,
                                   dp_error *err)
{
    dp_status status = dpi_silo_check_ledger(o->ledger, o->ledger_data, o->ledger_label, err);
    if (status != DP_OK || o->ledger == NULL)
        return status;
    return dpi_silo_scheme_named(plan->opts.scheme)->noisy
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "scheme %s has no guarantee that a ledger could count; leave the "
                          "ledger out",
                          plan->opts.scheme);
}

/* What the ledger knows of the data set and of this run. */
typedef struct known {
    bool of_more_or_less; /* the budget is for a record more or less */
    uint64_t id;          /* of the run's entry, of which something is spent; 0: none */
} known;

static void look_at(const dp_ledger_data *data, const dp_spending *what, known *k)
{
    k->of_more_or_less = data->budget.adjacency == DP_ADD_REMOVE && data->budget.unit == NULL;
    for (size_t j = 0; j < data->n; j++) {
        const dp_ledger_entry *e = &data->entries[j];
        if (e->columns != NULL && strcmp(e->columns, what->columns) == 0 && e->n == what->n &&
            e->list[0].steps > 0)
            k->id = e->id;
    }
}

static dp_status find(dp_ledger *ledger, const dp_spending *what, known *k, dp_error *err)
{
    const dp_ledger_statement *all;
    *k = (known){.id = 0};
    dp_status status = dp_ledger_read(ledger, &all, err);
    if (status != DP_OK)
        return status;
    for (size_t j = 0; j < all->n; j++)
        if (strcmp(all->data[j].name, what->data) == 0)
            look_at(&all->data[j], what, k);
    dp_ledger_statement_free(all);
    return DP_OK;
}

dp_status dpi_silo_pay(dp_ledger *ledger, const dp_spending *what, dpi_silo_payment *p,
                       dp_error *err)
{
    dp_error said = {DP_OK, ""};
    known k;
    *p = (dpi_silo_payment){.n = what->n};
    for (size_t j = 0; j < what->n; j++)
        p->all[j] = what->list[j].steps;
    dp_status status = find(ledger, what, &k, err);
    if (status != DP_OK)
        return status;
    p->found = k.id != 0;
    status = p->found ? dp_ledger_take_over(ledger, k.id, what, &p->paid, &said)
                      : dp_ledger_reserve(ledger, what, &p->paid, &said);
    if (status == DP_EMISMATCH && k.of_more_or_less)
        return dpi_fail(err, status,
                        "such a run is counted for records that are replaced, and the budget "
                        "of '%.100s' is for records more or less; keep one with --adjacency "
                        "replace-one for it",
                        what->data);
    return status != DP_OK ? dpi_fail(err, status, "%s", said.text) : status;
}

dp_status dpi_columns_pay(const dp_silo_plan *plan, const dp_silo_run_opts *o, const char *name,
                          dpi_silo_payment *p, dp_error *err)
{
    char columns[100];
    dp_mechanism list[DPI_COLUMNS_SPENDING];
    *p = (dpi_silo_payment){.paid = NULL};
    if (o->ledger == NULL)
        return DP_OK;
    (void)snprintf(columns, sizeof columns, "of two owners, run %s", name);
    const dp_spending what = {.data = o->ledger_data,
                              .label = o->ledger_label != NULL ? o->ledger_label : label,
                              .columns = columns,
                              .list = list,
                              .n = DPI_COLUMNS_SPENDING};
    dp_status status = dpi_silo_columns_spending(plan, list, err);
    return status == DP_OK ? dpi_silo_pay(o->ledger, &what, p, err) : status;
}

void dpi_silo_pay_end(dpi_silo_payment *p, bool begun, dp_status status)
{
    const uint64_t none[DPI_COLUMNS_SPENDING] = {0};
    dp_status settled = DP_OK;
    if (p->paid != NULL && (status == DP_OK || (!begun && !p->found)))
        settled = dp_reservation_settle(p->paid, status == DP_OK ? p->all : none, NULL);
    (void)settled;
    dp_reservation_free(p->paid);
}
