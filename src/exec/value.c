/* Values that go into a run and come out of it.
 *
 * Every call names a node and a stretch of its numbers, so that who calls holds no address: with a
 * device behind, the same calls copy to it and from it.  What is drawn is drawn in the buffer that
 * it is for.  A stretch that a node does not have is a broken contract and ends the process. */
#include "exec/value.h"

#include <sodium.h>
#include <string.h>

#include "base/error.h"
#include "exec/run-state.h"
#include "num/copy.h"
#include "random/noise.h"
#include "random/normal.h"

size_t dpi_run_numbers(const dpi_run *run, dpi_id id)
{
    return id >= 0 && (size_t)id < run->n_nodes ? run->numbers[id] : 0;
}

double *dpi_run_value(const dpi_run *run, dpi_id id)
{
    return dpi_run_numbers(run, id) > 0 ? run->value[id] : NULL;
}

/* Numbers first ... first + n - 1 of a node. */
static double *stretch(const dpi_run *run, dpi_id id, size_t first, size_t n, const char *call)
{
    size_t room = dpi_run_numbers(run, id);
    if (first > room || n > room - first)
        dpi_misuse(call, "the run has no such numbers");
    return n > 0 ? run->value[id] + first : NULL;
}

void dpi_run_write(dpi_run *run, dpi_id id, size_t first, size_t n, const double *values)
{
    double *to = stretch(run, id, first, n, "dpi_run_write");
    if (n > 0)
        memcpy(to, values, n * sizeof *values);
}

void dpi_run_read(const dpi_run *run, dpi_id id, size_t first, size_t n, double *values)
{
    const double *from = stretch(run, id, first, n, "dpi_run_read");
    if (n > 0)
        memcpy(values, from, n * sizeof *values);
}

void dpi_run_wipe(dpi_run *run, dpi_id id)
{
    size_t n = dpi_run_numbers(run, id);
    if (n > 0)
        sodium_memzero(dpi_run_value(run, id), n * sizeof(double));
}

/* ---- draws ---- */

static size_t size_of(const dpi_run *run, dpi_id id)
{
    return dpi_shape_size(&dpi_get(run->spec.graph, id)->shape);
}

void dpi_run_normal(dpi_run *run, dpi_id id, size_t m, dp_rng *rng)
{
    size_t n = m * size_of(run, id);
    double *to = stretch(run, id, 0, n, "dpi_run_normal");
    if (n > 0)
        dp_rng_normal(rng, n, to);
}

/* Whether pairs of a record are drawn where they are to be, because they are made by as many as a
 * record has, or by more. */
static bool draws_in_place(size_t size)
{
    return (size + size % 2) % DPI_NORMALS_AT_ONCE == 0;
}

size_t dpi_run_noise_room(const dpi_run *run, dpi_id id)
{
    size_t size = size_of(run, id);
    return size % 2 == 1 && !draws_in_place(size) ? size + 1 : 0;
}

dp_status dpi_run_noise(dpi_run *run, dpi_id id, size_t first, size_t m, dp_noise *noise,
                        double *room, dp_error *err)
{
    size_t size = size_of(run, id), whole = size + size % 2;
    double *to = stretch(run, id, first * size, m * size, "dpi_run_noise");
    if (whole == size)
        return dp_noise_normal(noise, m * size, 1, to, err);
    if (draws_in_place(size))
        return dpi_noise_normal_rows(noise, m, size, to, err);
    dp_status status = dp_noise_normal(noise, m * whole, 1, room, err);
    for (size_t r = 0; r < m; r++)
        dpi_copy_row(size * sizeof *to, room + r * whole, to + r * size);
    sodium_memzero(room, m * whole * sizeof *room);
    return status;
}
