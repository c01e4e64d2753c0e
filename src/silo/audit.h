/* The log of a run's letters: what left this owner's house, and what came.
 *
 *   tacit silo audit 1 <hash of the plan> <chain>
 *   2026-11-26T13:02:25Z began <chain>
 *   2026-11-26T13:02:25Z sent west 5f3c.../1-0/east/west/x.m 2592 <chain>
 *   2026-11-26T13:02:26Z got west 5f3c.../1-0/west/east/x.c 180 <chain>
 *   2026-11-26T13:04:10Z ended DP_OK <chain>
 *
 * The chain of a line is BLAKE2b, in hexadecimal, of the chain before it (zeros before the first)
 * and of what stands before the last blank.  A line that a crash cut off gets " torn" and no chain;
 * the next one's is of it too.
 *
 * A line of a letter that leaves is on the disk before the letter is on its way; so the letter of a
 * torn line never left.  Nothing in the log is a function of records: who writes to whom, and how
 * much, follows from the plan, and when from how long things take. */
#ifndef DPI_SILO_AUDIT_H
#define DPI_SILO_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

#include <tacit/silo.h>

typedef struct dpi_audit dpi_audit;

/* Opens the log of a plan, or begins one that its owner alone can read; looks at all that is in it,
 * mends a torn line, and writes that a run has begun.
 *   *audit  [out] NULL on error
 * DP_EMISMATCH it is of another plan; DP_EDATA it was changed; DP_EPRIVACY others may write it;
 * DP_ESTATE another process has it; DP_EIO, DP_ENOMEM. */
dp_status dpi_audit_open(const char *path, const unsigned char plan[DP_SILO_HASH],
                         dpi_audit **audit, dp_error *err) DP_MUST_CHECK;

/* Tells of a letter to or from a peer.  Only with DP_OK may it leave.  DP_EIO, after which no other
 * may. */
dp_status dpi_audit_letter(dpi_audit *audit, bool leaves, const char *peer, const char *tag,
                           size_t bytes, dp_error *err) DP_MUST_CHECK;

/* Tells how the run ended, and closes.  NULL is allowed. */
void dpi_audit_close(dpi_audit *audit, dp_status status);

#endif
