/* Fitting over several processes, each with a shard of the records (dp_svi_opts.group).
 *
 * Every rank runs the same program: same model, guide and options, data of its own.  Under Poisson
 * sampling or with full batches the result is in law that of one process with all records, and
 * dp_svi_privacy says the same of it.  All rows of a unit must be in one shard.  Ranks see each
 * other's sums without noise: they must belong to one owner.  The ranks of one of several owners
 * are dp_owners.group (tacit/owners.h). */
#ifndef TACIT_GROUP_H
#define TACIT_GROUP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A process' place among others, and how they exchange.  dp_mpi_group_new (tacit/mpi.h) makes one
 * of an MPI communicator. */
typedef struct dp_group {
    size_t rank, size; /* rank < size <= 2^20; rank 0 draws the noise */
    void *context;     /* for sum */
    /* Replaces values[n] by their sums over all ranks, exactly; all ranks call it with the same n,
     * in the same order.  0 when that worked; anything else ends the run. */
    int (*sum)(void *context, size_t n, int64_t *values);
} dp_group;

#ifdef __cplusplus
}
#endif
#endif
