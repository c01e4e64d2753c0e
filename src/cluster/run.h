/* Runs a plan: every step once, each when what it reads is there.
 *
 * What a step does with values is the kind's: under encryption (cards.h), or for tests nothing but
 * time.  As values are made once, by one step of what the plan says, what comes out does not
 * depend on who runs it: the same to the bit from threads here and from processes (ranks.h). */
#ifndef DPI_CLUSTER_RUN_H
#define DPI_CLUSTER_RUN_H

#include "cluster/plan.h"

typedef struct dpi_card_kind {
    void *self;
    size_t (*bytes)(const void *self, uint32_t level); /* that a value takes */
    /* A step that is no message; `worker` tells those apart that compute at the same time.  No
     * message of its own is needed in err. */
    dp_status (*compute)(void *self, size_t worker, const dpi_plan *p, const dpi_step *s,
                         const void *const *in, void *out, dp_error *err);
} dpi_card_kind;

typedef struct dpi_plan_job {
    const dpi_plan *p; /* to which nothing is added any more, and which has not failed */
    dpi_card_kind kind;
    const void *const *input; /* [p->n_values] of inputs; NULL of what steps make */
    uint32_t result;          /* a value that a step makes */
    void *to;                 /* its bytes */
} dpi_plan_job;

/* Misuse where an input is missing, or something given that a step makes. */
void dpi_job_check(const dpi_plan_job *job);

/* The step, with the reason of a failure in err, whatever the kind says. */
DP_MUST_CHECK dp_status dpi_job_compute(const dpi_plan_job *job, size_t worker, const dpi_step *s,
                                        const void *const *in, void *out, dp_error *err);

/* By `threads` >= 1 of this process, which take steps in the plan's order; messages are nothing, as
 * all see the same memory.  DP_ENOMEM, DP_EUNSUPPORTED the caller's arithmetic is not the default,
 * and what steps fail with. */
DP_MUST_CHECK dp_status dpi_run_threads(const dpi_plan_job *job, size_t threads, dp_error *err);

#endif
