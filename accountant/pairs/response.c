/* Randomised response: the answer, one of k, is replaced with probability p by a uniform one.
 *
 * The true answer is given with probability 1 - p + p/k, any other with p/k.  Two records that
 * differ give all answers but two the same probability: atoms at 0 and +-log((1 - p + p/k) / (p/k))
 * = +-log1p(k (1-p) / p).  Both directions are the same. */
#include "accountant/pairs/make.h"

#include <math.h>

#include "accountant/pairs/normal.h"
#include "base/alloc.h"
#include "base/error.h"

dp_status dpi_make_response(double replaced, uint32_t categories, dpi_pair *pair, dp_error *err)
{
    double k = categories, other = replaced / k, own = 1 - replaced + other;
    double loss = log1p(k * (1 - replaced) / replaced);
    *pair = (dpi_pair){0};
    pair->atom = dpi_alloc(3, sizeof *pair->atom);
    if (pair->atom == NULL)
        return dpi_fail_nomem(err);
    size_t n = 0;
    if (loss > 0)
        pair->atom[n++] = (dpi_atom){-loss, other};
    if (!(loss > 0) || categories > 2)
        pair->atom[n++] = (dpi_atom){0, loss > 0 ? (k - 2) * other : 1};
    if (loss > 0)
        pair->atom[n++] = (dpi_atom){loss, own};
    pair->n_atoms = n;
    pair->offset_error = 4 * DPI_UNIT * (loss + 2 * fmin(1, loss));
    pair->mass_error = 8 * DPI_UNIT;
    return DP_OK;
}
