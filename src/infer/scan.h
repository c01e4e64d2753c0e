/* Passes over all records, each ending in one release.
 *
 * A pass is given what a record adds: a vector of Euclidean norm at most 1, a function of that
 * record and of public numbers alone.  Its numbers are put on a grid of step 2^-36 as integers and
 * added up as such: sums are exact, the same in any order and on any number of threads, and a
 * record more or less changes them by what it adds and by nothing else.  The release is the sum
 * plus normal noise of standard deviation sigma, made as that of a step of DP-SVI
 * (svi/release.h).
 *
 * Sensitivity.  What a record adds is clipped to dpi_scan_share: rounding n numbers to the grid
 * moves it by at most sqrt(n) 2^-37, and the integers' way to double by less than 2^-17 for at
 * most 2^26 records and 2^14 numbers; the rest is the release's own.  So noise sigma is sigma times
 * the sensitivity.
 *
 * Of several owners the sum is opened together (opened.h): the grid is that of the noise, whose
 * steps are sigma / sqrt(shares) 2^-32, so that what a record adds is a whole number of them, and
 * neither sums nor noise are rounded again. */
#ifndef DPI_INFER_SCAN_H
#define DPI_INFER_SCAN_H

#include <tacit/accountant.h>
#include <tacit/owners.h>

#include "base/pool.h"
#include "infer/keeper.h"
#include "infer/metric.h"
#include "infer/progress.h"
#include "svi/release.h"

enum { DPI_SCAN_CHUNK = 256 };

/* A record as a pass sees it. */
typedef struct dpi_record {
    double y;
    const double *arg[DPI_MAX_ARGS]; /* of the observation's distribution */
    size_t arg_size;                 /* numbers of a vector argument, else 1 */
    const double *dense;             /* [k][p] slopes, with the plates' means */
    const double *own;               /* [k][local - p] slopes of its members' numbers */
    const size_t *member;            /* [n_plates] */
    const double *white, *gamma;     /* [k][local], [k][k] by the pass' metric (dpi_metric_apply) */
} dpi_record;

struct dpi_scan;

/* What a record adds.  `room` is the thread's own, of the size that the pass asked for. */
typedef void dpi_scan_add(const void *of, const dpi_record *record, double *room, int64_t *sum);

typedef struct dpi_pass {
    dpi_scan_add *add;
    const void *of;
    const dpi_metric *metric; /* nullable */
    size_t n;                 /* numbers of the sum, at most scan.most */
    size_t room;              /* numbers of each thread's, at most scan.most_room */
    double sigma;             /* 0: no noise, where there is no privacy */
    size_t shares;            /* of which the noise is the sum, one an owner; 0: there is one
                               * owner */
    /* A hash of what the sum follows from, but the records; zeros where nothing is kept. */
    unsigned char question[DPI_JOURNAL_HASH];
} dpi_pass;

typedef struct dpi_scan {
    const dpi_model_view *view;
    size_t n_records, most, most_room;
    size_t n_all; /* records of all ranks of this owner, as of the pass at hand */
    dpi_arena arena;
    struct dpi_scan_thread *scanners; /* [threads] */
    size_t threads;
    dpi_pool *pool;
    dp_noise *noise;    /* NULL: no privacy */
    dp_mechanism *paid; /* [n_paid] steps: that are left; NULL: not counted */
    size_t n_paid;
    dpi_release release;
    uint64_t asked; /* passes so far */
    int64_t *whole; /* [most + 1] the sum, in steps of the grid */
    double *total, *out;
    const dp_owners *owners; /* nullable, borrowed */
    dpi_progress *progress;  /* nullable, borrowed */
    dpi_keeper *keeper;      /* nullable, borrowed */
} dpi_scan;

typedef struct dpi_scan_spec {
    const dpi_model_view *view;
    const dp_dataset *data;
    size_t threads;
    size_t most, most_room; /* of all passes */
    dp_noise *noise;        /* nullable, borrowed */
    /* What is accounted for: how many releases of which noise.  One more ends the process.  NULL,
     * in tests of passes: they are not counted. */
    const dp_mechanism *paid;
    size_t n_paid;
    const dp_owners *owners; /* nullable, borrowed: who opens sums together */
    dpi_progress *progress;  /* nullable, borrowed: told of each release, by its place in paid */
    dpi_keeper
        *keeper; /* nullable, borrowed: has releases that were made before, and keeps others */
} dpi_scan_spec;

/* DP_EUNSUPPORTED for more than 2^26 records or 2^14 numbers, units of several records, and columns
 * that are drawn; the errors of dpi_run_new and dpi_check_observations; DP_ENOMEM. */
dp_status dpi_scan_init(dpi_scan *s, const dpi_scan_spec *spec, dp_error *err) DP_MUST_CHECK;
void dpi_scan_free(dpi_scan *s);

/* Norm that what a record adds is clipped to; 1 without noise. */
double dpi_scan_share(const dpi_pass *pass);

/* Steps of the pass' grid in a unit, at most 2^50. */
double dpi_scan_steps(const dpi_pass *pass);

/* A number of what a record adds, on the grid, for adding to the sum; 0 for none of [-1, 1]. */
int64_t dpi_scan_grid(double steps, double x);

/* Adds factor x[n] likewise to sum[n]. */
void dpi_scan_add_grid(double steps, size_t n, double factor, const double *x, int64_t *sum);

/* Sets the latents, and with them what all records share. */
void dpi_scan_place(dpi_scan *s, const double *theta);

/* Argument a as all records share it, or the slopes of its number j by the numbers of a latent;
 * NULL where they are each record's own.  Until the next place or run. */
const double *dpi_scan_shared_arg(const dpi_scan *s, int a);
const double *dpi_scan_shared_slope(const dpi_scan *s, const dpi_read *read, size_t j);

/* Runs a pass at theta[d]; out[pass->n] is the release.  Errors of the source of noise; DP_ESTOPPED
 * after the release, which the progress has been told of; DP_EUNSUPPORTED where noise is so much,
 * on so many numbers, that its grid leaves nothing of the share. */
dp_status dpi_scan_run(dpi_scan *s, const double *theta, const dpi_pass *pass, double *out,
                       dp_error *err) DP_MUST_CHECK;

#endif
