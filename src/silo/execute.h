/* Runs the protocol steps of a part. */
#ifndef DPI_SILO_EXECUTE_H
#define DPI_SILO_EXECUTE_H

#include <tacit/status.h>

#include "silo/part.h"
#include "silo/post.h"
#include "silo/schedule.h"

/* A value of a register that came from a party, or is this party's own. */
typedef struct dpi_silo_value {
    unsigned char *bytes; /* owned by the machine; NULL: there is none */
    size_t n;
} dpi_silo_value;

/* All values of a register: from[party]. */
typedef struct dpi_silo_values {
    dpi_silo_value from[DPI_SILO_PARTIES];
} dpi_silo_values;

struct dpi_silo_machine;

/* What a step does with the values that it reads.  out->bytes has room for out->n bytes, the
 * register's size; where there is to be no value, the kernel sets out->n to 0, and nothing is sent
 * of it.  `of` is what the step's kind was given (machine.of). */
typedef dp_status dpi_silo_kernel(void *of, struct dpi_silo_machine *m, const dpi_silo_step *step,
                                  const dpi_silo_values *const in[DPI_SILO_ARGS],
                                  dpi_silo_value *out, dp_error *err);

typedef struct dpi_silo_machine {
    const dpi_silo_part *part;
    dpi_post *post; /* borrowed */
    uint64_t round;
    unsigned char question[32]; /* hash of what the round's sum follows from */
    size_t n;                   /* words of the vector that is opened */
    /* Parties, a bit each: that are not waited for; that are, although they may drop out; and that
     * have been so late before that they are hardly waited for. */
    uint64_t absent, needed, gone;
    uint32_t lack_ms; /* that a party which may drop out is waited for; 0: as any other */
    dpi_silo_kernel *kernel[DPI_SILO_N_STEPS]; /* of steps that are not the host's */
    void *of[DPI_SILO_N_STEPS];
    dpi_silo_values *values; /* [n_registers], the machine's own */
    bool begun;              /* what is done once is done */
    dpi_silo_costs *costs;   /* nullable, borrowed: how long steps take, but once and to receive */
} dpi_silo_machine;

/* Makes the registers of a part.  DP_ENOMEM. */
dp_status dpi_silo_machine_init(dpi_silo_machine *m, const dpi_silo_part *part,
                                dp_error *err) DP_MUST_CHECK;
void dpi_silo_machine_free(dpi_silo_machine *m);

/* Runs the steps from the first that is not the host's to the next one that is, in the machine's
 * round, with x[n] as the value of the register that the host has left; x[n] is then the value of
 * the last OPEN.  Steps that are done once are done in a machine's first round, with letters of
 * round 0.  All values are wiped at the end, but those that are made once.
 * Errors of kernels and of the post: DP_ETIMEOUT a party is not heard; DP_EPEER one broke the
 * protocol, or has come to another question. */
dp_status dpi_silo_execute(dpi_silo_machine *m, size_t n, uint64_t *x, dp_error *err) DP_MUST_CHECK;

#endif
