/* Audits with a seed, for tests. */
#ifndef DPI_AUDIT_AUDIT_H
#define DPI_AUDIT_AUDIT_H

#include <tacit/audit.h>

/* dp_audit; with a seed other than 0 all noise and all coins follow from it. */
dp_status dpi_audit(const dp_audit_opts *opts, uint64_t seed, dp_audit_result *result,
                    dp_error *err) DP_MUST_CHECK;

#endif
