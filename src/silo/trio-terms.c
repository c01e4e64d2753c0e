/* The terms of a regression by three parties: whether they are any, and what follows from them.
 *
 * Noise follows from epsilon and delta (doc/design/silo-trio.md): T full batches of one Gaussian
 * mechanism, for a record in place of another, against a party that knows one share of three.  A
 * little of delta is set aside for what a ledger keeps back, and for shares of noise that are no
 * real numbers. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "silo/trio-rows.h"
#include "silo/trio-run.h"

enum { MOST_NAME = 60 };

static const double aside = 0x1p-20;      /* of delta */
static const double of_shares = 0x1p-160; /* more than all of a run's shares are off by */

static bool is_noisy(const dp_silo_trio *a)
{
    return a->epsilon != 0 || a->delta != 0;
}

dp_mechanism dpi_silo_trio_releases(const dp_silo_trio *a, double z)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                          .rate = 1,
                          .steps = a->steps,
                          .sigma = z,
                          .adjacency = DP_REPLACE_ONE};
}

static bool is_name(const char *text)
{
    const size_t n = text != NULL ? strnlen(text, MOST_NAME + 1) : 0;
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return n >= 1 && n <= MOST_NAME;
}

/* What is of no use must not be there: whoever wrote it meant something by it. */
static dp_status check_uses(const dp_silo_trio *a, dp_error *err)
{
    if (!is_name(a->name))
        return dpi_fail(err, DP_EINVAL,
                        "a run has a name of 1 to %d printable characters, another than any run "
                        "before",
                        (int)MOST_NAME);
    if (a->logistic && (a->outcome_most != 0 || a->residual_most != 0))
        return dpi_fail(err, DP_EINVAL,
                        "outcomes of a logistic regression are 0 and 1 and residuals at most 1: "
                        "leave outcome_most and residual_most 0");
    if (!is_noisy(a) && a->residual_most != 0)
        return dpi_fail(err, DP_EINVAL,
                        "without noise residuals are not cut; leave residual_most 0");
    if (is_noisy(a) && a->told)
        return dpi_fail(err, DP_EINVAL,
                        "with noise all parties know all coefficients; leave told false");
    return DP_OK;
}

/* Ids are of two, who link them, or of three, who compare them. */
static dp_status check_ids(const dp_silo_trio *a, dp_error *err)
{
    const bool by_rows = dpi_silo_trio_in_rows(a);
    return a->ids == NULL || (is_name(a->ids) && dpi_silo_trio_owners(a) > 1 && !by_rows)
               ? DP_OK
               : dpi_fail(err, DP_EINVAL,
                          "ids are of columns of the same people at two or three owners, and %zu "
                          "have records; what they are of is said in 1 to %d printable characters",
                          dpi_silo_trio_owners(a), (int)MOST_NAME);
}

static dp_status find_noise(const dp_silo_trio *a, double *z, dp_error *err)
{
    const dp_mechanism m = dpi_silo_trio_releases(a, 1);
    *z = 0;
    if (!is_noisy(a))
        return DP_OK;
    if (!(a->epsilon > 0 && a->epsilon < INFINITY) || !(a->delta > 0 && a->delta < 1))
        return dpi_fail(err, DP_EDOMAIN,
                        "epsilon %g at delta %g; both are above 0 and delta below 1, or both are "
                        "0, which is without noise",
                        a->epsilon, a->delta);
    if (!(of_shares * (1 + exp(a->epsilon)) < aside * a->delta))
        return dpi_fail(err, DP_EDOMAIN, "delta %g is too small for epsilon %g", a->delta,
                        a->epsilon);
    return dp_calibrate_sigma(&m, a->epsilon, a->delta * (1 - aside), 0, z, err);
}

dp_status dpi_silo_trio_agree(const dp_silo_trio *a, dpi_silo_trio_terms *t, dpi_silo_trio_grid *g,
                              dp_error *err)
{
    *t = (dpi_silo_trio_terms){.logistic = a->logistic,
                               .rows = a->rows,
                               .outcome = a->outcome,
                               .outcome_most = a->outcome_most,
                               .residual_most = a->residual_most,
                               .steps = a->steps,
                               .step = a->step,
                               .ridge = a->ridge,
                               .told = a->told};
    memcpy(t->columns, a->columns, sizeof t->columns);
    memcpy(t->row_most, a->row_most, sizeof t->row_most);
    memcpy(t->rows_of, a->rows_of, sizeof t->rows_of);
    dp_status status = check_uses(a, err);
    if (status == DP_OK)
        status = check_ids(a, err);
    if (status == DP_OK && (a->steps < 1 || a->steps > DPI_SILO_TRIO_STEPS))
        return dpi_fail(err, DP_EDOMAIN, "%llu steps; there are 1 to %d",
                        (unsigned long long)a->steps, (int)DPI_SILO_TRIO_STEPS);
    if (status == DP_OK)
        status = find_noise(a, &t->z, err);
    if (status == DP_OK && a->ids != NULL) { /* however many turn out to be common */
        t->rows = 1;
        status = dpi_silo_trio_grid_make(t, g, err);
        t->rows = a->rows;
    }
    return status == DP_OK ? dpi_silo_trio_grid_make(t, g, err) : status;
}

dp_status dp_silo_trio_check(const dp_silo_trio *terms, dp_error *err)
{
    dpi_silo_trio_terms t;
    dpi_silo_trio_grid g;
    return dpi_silo_trio_agree(terms, &t, &g, err);
}

/* Of two shares there are z, of three sqrt(3 / 2) z. */
dp_status dp_silo_trio_spent(const dp_silo_trio *terms, size_t known, double *epsilon,
                             dp_error *err)
{
    dpi_silo_trio_terms t;
    dpi_silo_trio_grid g;
    *epsilon = INFINITY;
    dp_status status = dpi_silo_trio_agree(terms, &t, &g, err);
    if (status != DP_OK || t.z == 0 || known >= DP_SILO_TRIO - 1)
        return status;
    const double z = known == 0 ? t.z * sqrt(1.5) * (1 - 0x1p-40) : t.z;
    const dp_mechanism m = dpi_silo_trio_releases(terms, z);
    return dp_epsilon(&m, terms->delta * (1 - aside), epsilon, err);
}
