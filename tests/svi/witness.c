#include "tests/svi/witness.h"

#include "random/grid.h"
#include "tests/lib/check.h"

static double seen[WITNESS_MOST];
static size_t n_seen;

void __real_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);
void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out);

void __wrap_dpi_grid_round(dpi_grid *g, size_t n, const double *steps, double worth, double *out)
{
    for (size_t j = 0; j < n; j++)
        seen[n_seen++ % WITNESS_MOST] = steps[j];
    __real_dpi_grid_round(g, n, steps, worth, out);
}

void witness_sum(size_t n, double *out)
{
    assert_true(n <= n_seen && n <= WITNESS_MOST);
    for (size_t j = 0; j < n; j++)
        out[j] = seen[(n_seen - n + j) % WITNESS_MOST] / DPI_GRID_SCALE;
    n_seen = 0;
}
