/* What the entries of a data set cost together, and whether more fits. */
#ifndef DPI_LEDGER_COMPOSE_H
#define DPI_LEDGER_COMPOSE_H

#include "ledger/contents.h"

/* Whether two mechanisms differ in their steps alone. */
bool dpi_compose_same(const dp_mechanism *a, const dp_mechanism *b);

/* Epsilon, at the budget's delta, of all entries of `data` and of more[n_more] with their steps;
 * [0, 0] for no steps at all.  The upper end holds of the program, failures of its sampler
 * included, which are within the budget's delta; +INFINITY where they are not (epsilon above 60 or
 * so). */
dp_status dpi_compose(const dpi_data *data, const dpi_entry_part *more, size_t n_more,
                      dp_interval *epsilon, dp_error *err) DP_MUST_CHECK;

/* The same under the budget: DP_EPRIVACY, with what would fit, when the upper end is above it;
 * DP_EMISMATCH when a mechanism's neighbours are not the budget's. */
dp_status dpi_compose_admit(const dpi_data *data, const dpi_entry_part *more, size_t n_more,
                            dp_error *err) DP_MUST_CHECK;

#endif
