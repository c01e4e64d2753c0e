/* What the parts of all parties do together, found out before anything moves.
 *
 * The parts are run once with labels in place of values: whose records a value follows from, how it
 * is hidden, and whose shares of noise are in it.  A plan is refused where
 *
 *   a step is given what it does not work on, or a sum not everybody's vectors
 *   something is sent that is not received, or waited for that nobody sends
 *   a party comes to see, in the clear, what follows from another's records, and is neither opened
 *     with noise of all that the account has, nor follows from releases that each owner has made
 *     alone with all their noise, nor is named by a clause of the scheme
 *   what is carried to the next step follows from records, other than record by record
 *   sums could leave 64 bits
 *
 * That is all by the white-list of labels.c: a step whose effect on labels is not there hides
 * nothing. */
#ifndef DPI_SILO_CHECK_H
#define DPI_SILO_CHECK_H

#include "silo/rules.h"

/* What a party sees of others. */
typedef struct dpi_silo_view {
    uint16_t party;                /* who sees */
    char name[DPI_SILO_NAME];      /* the register */
    uint64_t owners;               /* whose records it follows from, a bit each */
    uint64_t noise;                /* whose shares are in a release */
    bool alone;                    /* releases were made by owners alone, with all their noise */
    const dpi_silo_clause *clause; /* that names it; NULL: it is a release */
} dpi_silo_view;

/* list [*n] [out] in the arena, what each party sees.
 * DP_EPRIVACY it is refused; the message names the variable, the operation and the party.
 * DP_EUNSUPPORTED sums could leave 64 bits; DP_ENOMEM. */
dp_status dpi_silo_check(const dpi_silo_program *p, const dpi_silo_scheme *scheme,
                         const dpi_silo_part *parts /* [who.n] */, dpi_arena *arena, size_t *n,
                         dpi_silo_view **list, dp_error *err) DP_MUST_CHECK;

/* The check's own, of each part by itself (check-parts.c).  First, that its numbers are those of
 * the program, its steps and registers are there, and it has one mask, one set and one telling of
 * keys; last, that its order is that of an interpreter of rounds: what the host does, whose last
 * result is masked or sent as it is, and after the opening the host again.  A part of columns has
 * neither masks nor rounds, and rules of its own (check-columns.c).  DP_EPRIVACY. */
dp_status dpi_silo_check_parts(const dpi_silo_program *p, const dpi_silo_part *parts,
                               dp_error *err) DP_MUST_CHECK;
dp_status dpi_silo_check_order(const dpi_silo_program *p, const dpi_silo_part *parts,
                               dp_error *err) DP_MUST_CHECK;

/* Whether a part works on encrypted columns; and what such a part must be: of two owners, with
 * columns that are encrypted once, of what never changes, and one answer a step.  DP_EPRIVACY. */
bool dpi_silo_has_columns(const dpi_silo_part *part);
dp_status dpi_silo_check_columns(const dpi_silo_program *p, const dpi_silo_part *part,
                                 dp_error *err) DP_MUST_CHECK;

/* What is done once reads what is never another; of step j.  DP_EPRIVACY. */
dp_status dpi_silo_check_reads(const dpi_silo_program *p, const dpi_silo_part *part, size_t j,
                               dp_error *err) DP_MUST_CHECK;

/* What a part on shares must be: of three parties that are strangers to each other, none of whom
 * may drop out; rows are dealt once, and a party has one share of the noise a step.
 * DP_EPRIVACY. */
dp_status dpi_silo_check_share_part(const dpi_silo_program *p, const dpi_silo_part *part,
                                    dp_error *err) DP_MUST_CHECK;

/* What a part with a sum under a key must be: who adds up owns no share of it, the key is made once
 * in a run, and nobody may drop out.  DP_EPRIVACY. */
dp_status dpi_silo_check_key(const dpi_silo_program *p, const dpi_silo_part *part,
                             dp_error *err) DP_MUST_CHECK;

/* Fails with "north: h.s (h = s_reveal N): what, more", of a register of a part. */
dp_status dpi_silo_refuse(const dpi_silo_program *p, const dpi_silo_part *part, uint16_t reg,
                          const char *what, const char *more, dp_error *err);

/* The variable of which a register is: that of its name up to the first dot; DPI_SILO_NONE. */
uint16_t dpi_silo_variable_of(const dpi_silo_program *p, const dpi_silo_register *r);

#endif
