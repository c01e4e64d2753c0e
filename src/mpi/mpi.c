/* A group over MPI: one reduction of 64-bit integers, whose result does not depend on its order. */
#include <tacit/mpi.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* What the caller holds is its first member. */
typedef struct mpi_group {
    dp_group group;
    MPI_Comm comm;
} mpi_group;

static int sum(void *context, size_t n, int64_t *values)
{
    const mpi_group *g = context;
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < INT_MAX ? n - done : INT_MAX;
        if (MPI_Allreduce(MPI_IN_PLACE, values + done, (int)part, MPI_INT64_T, MPI_SUM, g->comm) !=
            MPI_SUCCESS)
            return 1;
    }
    return 0;
}

/* The library's own way to fail is not exported. */
static dp_status fail(dp_error *err, dp_status status, const char *why)
{
    if (err != NULL && err->status != DP_OK)
        return err->status;
    if (err != NULL) {
        err->status = status;
        (void)snprintf(err->text, sizeof err->text, "%s", why);
    }
    return status;
}

dp_status dp_mpi_group_new(MPI_Comm comm, dp_group **out, dp_error *err)
{
    int running = 0, rank, size;
    *out = NULL;
    if (MPI_Initialized(&running) != MPI_SUCCESS || running == 0)
        return fail(err, DP_EINVAL, "MPI has not been initialised; call MPI_Init first");
    mpi_group *g = calloc(1, sizeof *g);
    if (g == NULL)
        return fail(err, DP_ENOMEM, "out of memory");
    if (MPI_Comm_dup(comm, &g->comm) != MPI_SUCCESS) {
        free(g);
        return fail(err, DP_EIO, "MPI cannot duplicate the communicator");
    }
    /* So that a lost rank is an error of the step and not the end of the process, where MPI can say
     * so. */
    (void)MPI_Comm_set_errhandler(g->comm, MPI_ERRORS_RETURN);
    if (MPI_Comm_rank(g->comm, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(g->comm, &size) != MPI_SUCCESS) {
        dp_mpi_group_free(&g->group);
        return fail(err, DP_EIO, "MPI does not tell rank and size of the communicator");
    }
    g->group = (dp_group){.rank = (size_t)rank, .size = (size_t)size, .context = g, .sum = sum};
    *out = &g->group;
    return DP_OK;
}

void dp_mpi_group_free(dp_group *group)
{
    if (group == NULL)
        return;
    mpi_group *g = (mpi_group *)(void *)group;
    (void)MPI_Comm_free(&g->comm);
    free(g);
}
