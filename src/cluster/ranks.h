/* Runs a plan over processes of MPI: in each one thread computes and another moves messages, so
 * that both go on side by side.
 *
 * Card c is of rank c modulo the ranks; between cards of one rank nothing is sent.  A rank
 * computes, sends and receives one thing each at a time, in the plan's order, as is simulated. */
#ifndef DPI_CLUSTER_RANKS_H
#define DPI_CLUSTER_RANKS_H

#include <mpi.h>

#include "cluster/run.h"

/* By all ranks of `comm` at the same time with the same plan and kind, from the thread that may
 * call MPI, as MPI_THREAD_FUNNELED asks for.  The result must be one of card 0, and comes to rank 0
 * alone: `to` of others is not written.  A step that fails ends what follows from it on all ranks;
 * all of them return when all are done.  Where MPI cannot move a message the ranks are aborted.
 * DP_ENOMEM, DP_EUNSUPPORTED as of dpi_run_threads, what steps fail with, DP_EIO from MPI or where
 * another plan was run, DP_EPEER another rank has failed. */
DP_MUST_CHECK dp_status dpi_run_ranks(const dpi_plan_job *job, MPI_Comm comm, dp_error *err);

#endif
