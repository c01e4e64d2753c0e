/* Groups of MPI processes.  In a library of its own, libtacit-mpi, built by configure
 * --with-mpi. */
#ifndef TACIT_MPI_H
#define TACIT_MPI_H

#include <mpi.h>
#include <tacit/export.h>
#include <tacit/group.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the group of a communicator, collectively: its processes are the ranks.  The communicator,
 * of which a duplicate is used, and MPI itself must stay until dp_mpi_group_free.  The caller frees
 * *group, which is NULL on error: DP_EINVAL MPI has not been initialised, DP_EIO MPI fails,
 * DP_ENOMEM. */
DP_API dp_status dp_mpi_group_new(MPI_Comm comm, dp_group **group, dp_error *err) DP_MUST_CHECK;

/* Collectively; runs that use the group must be gone.  NULL is allowed. */
DP_API void dp_mpi_group_free(dp_group *group);

#ifdef __cplusplus
}
#endif
#endif
