/* The release of a step.
 *
 *   I_j = round(S_j (1 / h)),  cut to [-2^62, 2^62],      h = sd 2^-32
 *   J_j = floor(2^-26 (I_j + K_j) + 1/2),  K_j = round(2^32 Z_j), Z_j real standard normal numbers
 *   (grid.c) release_j = 2^26 h J_j.
 *
 * I_j is an integer, so I_j + K_j = round(I_j + 2^32 Z_j): a function of the sum h I plus a real
 * Gaussian of standard deviation sd, and so is every function of it, such as J, its product with
 * 2^26 h in floating point and all that follows.  The ideal mechanism is the Gaussian one on h I;
 * what differs from the wanted sum S is its sensitivity:
 *
 *   |h I - h I'| <= |S - S'| + h sqrt(n) + 2^-51 max(|S|, |S'|),
 *
 * since each number is multiplied by the double 1 / h, the same for both sums and 2^-53 off, with a
 * rounding to 2^-53 of itself, and rounded to an integer, and cutting brings
 * numbers nearer to each other.  With |S| <= N C for N <= 2^27 units the last term is below 2^-24
 * C, which svi.c leaves to rounding.  The second is sigma 2^-32 sqrt(n) C: dpi_release_share.
 * Derivation of the whole: doc/design/noise.md. */
#include "svi/release.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "random/grid.h"
#include "random/noise.h"

double dpi_release_share(double sigma, size_t n)
{
    return sigma / DPI_GRID_SCALE * sqrt((double)n) * (1 + 0x1p-50);
}

double dpi_release_steps(double sd)
{
    return DPI_GRID_SCALE / sd;
}

/* Far from where steps of the grid, or sums of 2^62 of them, leave the doubles. */
static const double least_sd = 1e-250, greatest_sd = 1e250;

size_t dpi_release_blocks(size_t n)
{
    return n == 0 ? 0 : (n - 1) / DPI_RELEASE_BLOCK + 1;
}

dp_status dpi_release_init(dpi_release *r, size_t n, size_t n_whole, dpi_arena *arena,
                           dp_error *err)
{
    *r = (dpi_release){.n = n};
    r->out = dpi_arena_alloc(arena, n, sizeof *r->out);
    r->keys = dpi_arena_alloc(arena, dpi_release_blocks(n), DPI_STREAM_KEY);
    if (n_whole > 0)
        r->whole = dpi_arena_alloc(arena, n_whole, sizeof *r->whole);
    bool all = r->out != NULL && r->keys != NULL && (n_whole == 0 || r->whole != NULL);
    return all ? DP_OK : dpi_fail_nomem(err);
}

dp_status dpi_release_begin(dpi_release *r, dp_noise *source, dp_error *err)
{
    size_t blocks = dpi_release_blocks(r->n);
    r->stream = NULL;
    if (!r->noisy || r->quiet)
        return DP_OK;
    if (!(r->sd >= least_sd && r->sd <= greatest_sd))
        return dpi_fail(err, DP_EDOMAIN,
                        "noise of standard deviation %g was asked for; it must be in [%g, %g]",
                        r->sd, least_sd, greatest_sd);
    dp_status status = dpi_noise_stream(source, &r->stream, err);
    if (status == DP_OK && blocks > 1)
        dpi_stream_bytes(r->stream, blocks * DPI_STREAM_KEY, r->keys);
    return status;
}

void dpi_release_end(dpi_release *r)
{
    if (r->noisy && !r->quiet && dpi_release_blocks(r->n) > 1)
        sodium_memzero(r->keys, dpi_release_blocks(r->n) * DPI_STREAM_KEY);
    r->stream = NULL;
}

/* ---- pieces of a block ---- */

/* Numbers at a time.  Few enough that sums, parameters and what belongs to them stay in cache from
 * one loop to the next, and enough for the processor to fetch the next ones ahead: with 512,
 * between whose noise it forgets where it was, a release of 688 884 took a fifth longer. */
enum { PIECE = 2 * DPI_GRID_PIECE };

DPI_LOOPS static void add_last(size_t n, const double *last, double *sum)
{
    for (size_t j = 0; j < n; j++)
        sum[j] += last[j];
}

DPI_LOOPS static void add_last_compensated(size_t n, const double *last, const double *lost,
                                           double *sum)
{
    for (size_t j = 0; j < n; j++)
        sum[j] += last[j] - lost[j];
}

DPI_LOOPS static void scale(size_t n, const double *sum, double factor, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = sum[j] * factor;
}

/* Makes whole numbers of steps of sums, with 1 / step; what is beyond 2^62 and NaN go to the ends.
 * A loop of its own, because rounding and conversion in one expression become one instruction, of
 * which there is no vector form. */
DPI_LOOPS static void put_on_grid(size_t n, const double *sum, double inverse, double *steps)
{
    const double most = 0x1p62;
    for (size_t j = 0; j < n; j++) {
        double x = sum[j] * inverse;
        x = x > -most ? x : -most;
        steps[j] = rint(x < most ? x : most);
    }
}

DPI_LOOPS static void add_to_grid(size_t n, const double *steps, const int64_t *noise,
                                  int64_t *whole)
{
    for (size_t j = 0; j < n; j++)
        whole[j] = (int64_t)steps[j] + noise[j];
}

DPI_LOOPS static void off_grid(size_t n, const int64_t *whole, double worth, double *out)
{
    for (size_t j = 0; j < n; j++)
        out[j] = (double)dpi_grid_dropped(whole[j]) * worth;
}

/* What an integer J is in the release. */
static double worth(const dpi_release *r)
{
    return r->sd / DPI_GRID_KEPT_SCALE / r->rate;
}

/* Adds up what there is of the sum of a piece. */
static void complete(const dpi_release *r, size_t first, size_t n)
{
    if (r->last != NULL && r->lost != NULL)
        add_last_compensated(n, r->last + first, r->lost + first, r->sum + first);
    else if (r->last != NULL)
        add_last(n, r->last + first, r->sum + first);
}

/* Wipes what has been used; the values are in the cache still. */
static void wipe(const dpi_release *r, size_t first, size_t n)
{
    double *used[] = {r->sum != r->out ? r->sum : NULL, r->last, r->lost};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        if (used[k] != NULL)
            sodium_memzero(used[k] + first, n * sizeof *used[k]);
}

/* Puts a sum in steps of the grid into the numbers from `first` on, with noise unless grid is NULL,
 * for others to add to. */
static void put_whole(const dpi_release *r, dpi_grid *grid, size_t first, size_t n,
                      const double *steps)
{
    int64_t noise[DPI_GRID_PIECE] = {0};
    if (grid != NULL)
        dpi_grid_next(grid, n, noise);
    add_to_grid(n, steps, noise, r->whole + first);
    sodium_memzero(noise, sizeof noise);
}

static void release_piece(const dpi_release *r, dpi_grid *grid, size_t first, size_t n)
{
    double steps[DPI_GRID_PIECE];
    complete(r, first, n);
    if (!r->noisy)
        scale(n, r->sum + first, 1 / r->rate, r->out + first);
    for (size_t at = first, left = n, some; r->noisy && left > 0; at += some, left -= some) {
        some = left < DPI_GRID_PIECE ? left : DPI_GRID_PIECE;
        put_on_grid(some, r->sum + at, r->whole_sum ? 1 : dpi_release_steps(r->sd), steps);
        if (r->whole == NULL)
            dpi_grid_round(grid, some, steps, worth(r), r->out + at);
        else
            put_whole(r, r->quiet ? NULL : grid, at, some, steps);
        sodium_memzero(steps, some * sizeof *steps);
    }
    wipe(r, first, n);
}

void dpi_release_block(const dpi_release *r, size_t block, dpi_release_then *then, void *user)
{
    dpi_stream own, *stream = r->stream;
    dpi_grid grid;
    size_t first = block * DPI_RELEASE_BLOCK, left = r->n - first;
    left = left < DPI_RELEASE_BLOCK ? left : DPI_RELEASE_BLOCK;
    bool draws = r->noisy && !r->quiet, of_key = draws && dpi_release_blocks(r->n) > 1;
    if (of_key)
        dpi_stream_start(stream = &own, r->keys + block * DPI_STREAM_KEY);
    if (draws)
        dpi_grid_begin(&grid, dpi_grid_best(), stream);
    for (size_t n; left > 0; left -= n, first += n) {
        n = left < PIECE ? left : PIECE;
        release_piece(r, &grid, first, n);
        if (then != NULL)
            then(user, first, n);
    }
    if (!draws)
        return;
    dpi_grid_end(&grid);
    if (of_key)
        dpi_stream_end(&own);
}

void dpi_release_whole(const dpi_release *r, const int64_t *whole)
{
    off_grid(r->n, whole, worth(r), r->out);
}
