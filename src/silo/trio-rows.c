#include "silo/trio-rows.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

enum { COUNT = 8 /* bytes */ };

bool dpi_silo_trio_in_rows(const dp_silo_trio *t)
{
    return t->rows_of[0] > 0 || t->rows_of[1] > 0 || t->rows_of[2] > 0;
}

static bool has_outcomes(const dp_silo_trio *t, size_t k)
{
    return dpi_silo_trio_in_rows(t) ? t->rows_of[k] > 0 : t->outcome == k;
}

bool dpi_silo_trio_has(const dp_silo_trio *terms, size_t k)
{
    return terms->columns[k] > 0 || has_outcomes(terms, k);
}

size_t dpi_silo_trio_owners(const dp_silo_trio *terms)
{
    size_t n = 0;
    for (size_t k = 0; k < DP_SILO_TRIO; k++)
        n += dpi_silo_trio_has(terms, k);
    return n;
}

/* ---- what is given ---- */

static dp_status check_what_is_there(const dp_silo_trio *t, size_t self, const dp_silo_trio_data *a,
                                     dp_error *err)
{
    const size_t d = t->columns[self];
    const size_t most = dpi_silo_trio_in_rows(t) ? t->rows_of[self] : t->rows;
    const size_t least = t->ids != NULL ? 1 : most;
    const bool has = dpi_silo_trio_has(t, self), outcomes = has_outcomes(t, self);
    if (!has)
        return a->rows == 0 && a->ids == NULL && a->x == NULL && a->y == NULL
                   ? DP_OK
                   : dpi_fail(err, DP_EINVAL,
                              "party %zu has no columns and no outcomes; leave its data 0 and NULL",
                              self);
    if (a->rows < least || a->rows > most)
        return dpi_fail(err, DP_EINVAL, "%zu rows are given; the terms have %s%zu", a->rows,
                        t->ids != NULL ? "at most " : "", most);
    return (a->ids != NULL) == (t->ids != NULL) && (a->x != NULL) == (d > 0) &&
                   (a->y != NULL) == outcomes
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "party %zu has %zu columns and %s outcomes: x is %s, y %s, ids %s", self,
                          d, outcomes ? "the" : "no", d > 0 ? "needed" : "NULL",
                          outcomes ? "needed" : "NULL", t->ids != NULL ? "needed" : "NULL");
}

dp_status dpi_silo_trio_rows_check(const dp_silo_trio *t, size_t self, const dp_silo_trio_data *a,
                                   dp_error *err)
{
    const size_t d = t->columns[self];
    dp_status status = check_what_is_there(t, self, a, err);
    for (size_t i = 0; i < a->rows && status == DP_OK; i++) {
        bool good = true;
        for (size_t j = 0; j < d; j++)
            good = good && isfinite(a->x[i * d + j]);
        if (a->y != NULL)
            good = good && (t->logistic ? a->y[i] == 0 || a->y[i] == 1 : isfinite(a->y[i]));
        if (!good)
            status = dpi_fail(err, DP_EDATA,
                              "row %zu has a number that is none, or an outcome that is not 0 or "
                              "1; take the person out at all owners, or put a value in its place",
                              i + 1);
    }
    return status == DP_OK && a->ids != NULL ? dpi_psi_check_ids(a->rows, a->ids, err) : status;
}

/* ---- which are common ---- */

/* x and y of rows `from`, in that order. */
static dp_status choose(const dp_silo_trio *t, size_t self, const dp_silo_trio_data *a,
                        const size_t *from, dpi_silo_trio_rows *r, dp_error *err)
{
    const size_t d = t->columns[self];
    r->n_chosen = r->n * (d + (a->y != NULL));
    r->chosen = dpi_alloc(r->n_chosen, sizeof *r->chosen);
    if (r->chosen == NULL)
        return dpi_fail_nomem(err);
    double *y = r->chosen + r->n * d;
    for (size_t i = 0; i < r->n; i++) {
        if (d > 0)
            memcpy(r->chosen + i * d, a->x + from[i] * d, d * sizeof *r->chosen);
        if (a->y != NULL)
            y[i] = a->y[from[i]];
    }
    r->x = d > 0 ? r->chosen : NULL;
    r->y = a->y != NULL ? y : NULL;
    return DP_OK;
}

static dp_status link_ids(const dp_silo_trio *t, const dp_silo_trio_data *a,
                          const dpi_silo_trio_way *way, dpi_silo_trio_rows *r, dp_error *err)
{
    dpi_silo_trio_links *links = way->links;
    const dpi_psi_opts o = {.domain = t->ids, .most = t->rows, .threads = way->threads};
    size_t peer = 0, *from = dpi_alloc(a->rows, sizeof *from);
    while (peer == links->self || !dpi_silo_trio_has(t, peer))
        peer++;
    dp_status status = from != NULL ? dpi_silo_trio_link(links, way->state, peer, &o, a->rows,
                                                         a->ids, &r->n, from, err)
                                    : dpi_fail_nomem(err);
    if (status == DP_OK && r->n > 0)
        status = choose(t, links->self, a, from, r, err);
    if (from != NULL)
        sodium_memzero(from, a->rows * sizeof *from);
    dpi_free(from);
    return status;
}

/* Three owners have the same ids in the same order, or do not begin. */
static dp_status compare_ids(const dp_silo_trio *t, const dp_silo_trio_data *a,
                             const dpi_silo_trio_way *way, dp_error *err)
{
    dpi_silo_trio_links *links = way->links;
    const dpi_psi_opts o = {.domain = t->ids, .most = 1};
    char text[DPI_PSI_LIST];
    const char *const list = text;
    dp_status status = DP_OK;
    dpi_psi_list(a->rows, a->ids, text);
    for (size_t k = 0; k < DP_SILO_TRIO && status == DP_OK; k++) {
        size_t common = 1, row;
        if (k != links->self)
            status = dpi_silo_trio_link(links, way->state, k, &o, 1, &list, &common, &row, err);
        if (status == DP_OK && common != 1)
            status = dpi_fail(err, DP_EDATA,
                              "%s has other ids than this one, or in another order; three "
                              "owners need rows of the same people in the same order",
                              links->called[k]);
    }
    sodium_memzero(text, sizeof text);
    return status;
}

/* Owners tell how many they have found; all go on with the same number, or nobody does. */
static dp_status tell_count(const dp_silo_trio *t, dpi_silo_trio_links *links,
                            dpi_silo_trio_rows *r, dp_error *err)
{
    unsigned char own[COUNT], count[DP_SILO_TRIO][COUNT];
    unsigned char *const all[DP_SILO_TRIO] = {count[0], count[1], count[2]};
    bool same = true, first = true;
    dpi_put_number(own, r->n);
    dp_status status = dpi_silo_trio_swap(links, COUNT, own, all, err);
    for (size_t k = 0; k < DP_SILO_TRIO && status == DP_OK; k++) {
        if (!dpi_silo_trio_has(t, k))
            continue;
        const uint64_t n = dpi_get_number(count[k]);
        same = same && n <= t->rows && (first || n == r->n);
        r->n = same ? (size_t)n : 0;
        first = false;
    }
    if (status == DP_OK && !same)
        return dpi_fail(err, DP_EPEER, "the two owners tell different numbers of common rows");
    return status != DP_OK || r->n > 0
               ? status
               : dpi_fail(err, DP_EDATA,
                          "the two owners have no id in common; are they of the same kind, and "
                          "written alike?");
}

dp_status dpi_silo_trio_rows_find(const dp_silo_trio *t, const dp_silo_trio_data *a,
                                  const dpi_silo_trio_way *way, dpi_silo_trio_rows *r,
                                  dp_error *err)
{
    dp_status status = DP_OK;
    *r = (dpi_silo_trio_rows){.n = t->rows, .x = a->x, .y = a->y};
    if (t->ids == NULL)
        return dpi_trio_state_rows(way->state, r->n, err);
    r->n = dpi_silo_trio_owners(t) == DP_SILO_TRIO ? a->rows : 0;
    if (r->n > 0)
        status = compare_ids(t, a, way, err);
    else if (dpi_silo_trio_has(t, way->links->self))
        status = link_ids(t, a, way, r, err);
    if (status == DP_OK)
        status = tell_count(t, way->links, r, err);
    return status == DP_OK ? dpi_trio_state_rows(way->state, r->n, err) : status;
}

void dpi_silo_trio_rows_free(dpi_silo_trio_rows *r)
{
    if (r->chosen != NULL)
        sodium_memzero(r->chosen, r->n_chosen * sizeof *r->chosen);
    dpi_free(r->chosen);
    *r = (dpi_silo_trio_rows){0};
}
