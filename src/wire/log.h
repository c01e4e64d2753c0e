/* What was asked: an append-only file of one line before each answer and one after it, from which
 * the budget of each client is counted.
 *
 *   2026-11-23T18:12:27Z 17 asked tacit:... he2-lattice linear
 *   2026-11-23T18:12:27Z 17 ended DP_OK
 *
 * The first line is on the disk before anything of the answer leaves, so that a crash leaves the
 * query spent; it goes there while the answer is computed.  Neither holds anything of inputs or
 * outputs.  Several processes may use one file: it is locked while it is read on and written to.
 * Time never goes back in it: while the clock does, its last time stands. */
#ifndef DPI_WIRE_LOG_H
#define DPI_WIRE_LOG_H

#include "wire/policy.h"

typedef struct dpi_query_log dpi_query_log;

typedef struct dpi_log_query {
    unsigned char client[DPI_FINGERPRINT];
    dpi_protocol protocol;
    dpi_mode mode;
} dpi_log_query;

/* Opens the file, or makes it, readable by its owner alone, for a budget of `queries` a client in
 * any `window` seconds.  *log [out] NULL on error.  DP_EIO; DP_EPRIVACY others may write it, or it
 * is no regular file; DP_EDATA it is damaged; DP_EINVAL; DP_ENOMEM. */
dp_status dpi_query_log_open(const char *path, uint64_t queries, uint64_t window,
                             dpi_query_log **log, dp_error *err) DP_MUST_CHECK;

/* A query that is spent: its number, from 1, and of the write that says so. */
typedef struct dpi_log_spent {
    uint64_t number, write;
} dpi_log_spent;

/* Spends a query of the client's.  *spent [out] zeros on error.
 * DP_EREFUSED the budget is used up; DP_EIO it cannot be written or locked; DP_EDATA the file is
 * damaged, or was cut or moved away; DP_ENOMEM.  Only with DP_OK may the answer be computed.
 * Thread-safe. */
dp_status dpi_query_log_reserve(dpi_query_log *log, const dpi_log_query *q, dpi_log_spent *spent,
                                dp_error *err) DP_MUST_CHECK;

/* The same of n >= 1 queries at once, all or none: *spent has the number of the first, and others
 * follow it. */
dp_status dpi_query_log_reserve_many(dpi_query_log *log, const dpi_log_query *q, size_t n,
                                     dpi_log_spent *spent, dp_error *err) DP_MUST_CHECK;

/* Waits until that is on the disk.  Only with DP_OK may anything of the answer leave.  DP_EIO: it
 * may be there or not, and no later query will be spent either.  Thread-safe. */
dp_status dpi_query_log_settle(dpi_query_log *log, const dpi_log_spent *spent,
                               dp_error *err) DP_MUST_CHECK;

/* Writes how it ended.  Thread-safe. */
dp_status dpi_query_log_end(dpi_query_log *log, uint64_t number, dp_status outcome,
                            dp_error *err) DP_MUST_CHECK;

/* The same of n queries from that number on. */
dp_status dpi_query_log_end_many(dpi_query_log *log, uint64_t number, size_t n, dp_status outcome,
                                 dp_error *err) DP_MUST_CHECK;

/* Whether queries can still be spent: DP_EIO the disk has failed, DP_EDATA the file is damaged,
 * or was cut or moved away, both for good.  What may pass, such as a full disk, is DP_OK.
 * Thread-safe. */
dp_status dpi_query_log_check(dpi_query_log *log, dp_error *err) DP_MUST_CHECK;

/* NULL is allowed. */
void dpi_query_log_close(dpi_query_log *log);

#endif
