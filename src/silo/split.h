/* From the joint program to what each party runs. */
#ifndef DPI_SILO_SPLIT_H
#define DPI_SILO_SPLIT_H

#include "silo/rules.h"

/* parts[k] [out] for each party; their registers and steps are in the arena.
 * DP_EUNSUPPORTED a marked operation without a rule; DP_EINVAL a rule that cannot be read, or reads
 * what a party does not have; the message names variable, operation and party.  DP_ENOMEM. */
dp_status dpi_silo_split(const dpi_silo_program *p, const dpi_silo_scheme *scheme, dpi_arena *arena,
                         dpi_silo_part *parts /* [who.n] */, dp_error *err) DP_MUST_CHECK;

/* Sets the size of a register that a step of n parties makes; its name stays. */
void dpi_silo_lay(dpi_silo_step_kind kind, size_t n, dpi_silo_register *r);

/* Who a role means: parties, a bit each. */
uint64_t dpi_silo_members(const dpi_silo_parties *who, dpi_silo_role role);

#endif
