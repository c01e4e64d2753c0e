/* What is common to the calls that release noisy counts in full-batch steps: the account, the
 * ledger and what is guaranteed. */
#ifndef DPI_BOUNDS_PAID_H
#define DPI_BOUNDS_PAID_H

#include <tacit/ledger.h>
#include <tacit/svi.h>

#include "base/alloc.h"
#include "data/dataset.h"
#include "ledger/reserve.h"

/* Noise, as a multiple of what a unit can move a count by. */
#define DPI_COUNT_LEAST_SIGMA 0.1
#define DPI_COUNT_MOST_SIGMA 4096.0

/* What a unit counts, in parts of one: counts are whole numbers of parts. */
enum { DPI_COUNT_PARTS = 1 << 14 };

typedef struct dpi_paid {
    /* asked for */
    double epsilon, delta, sigma;
    uint64_t seed;
    dp_ledger *ledger;
    const char *ledger_data, *ledger_label;
    /* made of it */
    dp_mechanism mechanism;
    double accounted, upper; /* delta that the accountant is given, and what it says of epsilon */
    uint64_t begun;          /* steps */
    dp_reservation *reservation;
} dpi_paid;

/* Whether the budget can be one, and the ledger is named as it should be. */
dp_status dpi_paid_check(const dpi_paid *p, dp_error *err) DP_MUST_CHECK;

/* The mechanism of so many steps; `what` says of what they are many, in messages: "levels or
 * quantiles". */
dp_status dpi_paid_calibrate(dpi_paid *p, uint64_t steps, const char *what,
                             dp_error *err) DP_MUST_CHECK;

/* Reserves the steps where there is a ledger, for the columns of `data` that is_used names;
 * `purpose` begins their list: "quantiles of ". */
dp_status dpi_paid_reserve(dpi_paid *p, dpi_arena *arena, const dp_dataset *data,
                           const char *purpose,
                           bool (*is_used)(const void *user, const dpi_column *column),
                           const void *user, dp_error *err) DP_MUST_CHECK;

/* Values that are missing in a used column end a call before the first count; the message is the
 * same for all. */
dp_status dpi_paid_values(const dp_dataset *data,
                          bool (*is_used)(const void *user, const dpi_column *column),
                          const void *user, dp_error *err) DP_MUST_CHECK;

/* Steps that were not begun are given back: what ended the call early had nothing to do with a
 * count.  When that cannot be written, all of them stay spent.  Frees the reservation. */
void dpi_paid_settle(dpi_paid *p);

/* A source of noise by the seed. */
dp_status dpi_paid_noise(const dpi_paid *p, dp_noise **noise, dp_error *err) DP_MUST_CHECK;

/* What was guaranteed, of so many units and numbers drawn. */
dp_privacy dpi_paid_guarantee(const dpi_paid *p, const dp_dataset *data, size_t units,
                              double drawn);

/* Of a call that failed. */
dp_privacy dpi_paid_nothing(void);

#endif
