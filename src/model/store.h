/* A model or guide as bytes, and back: what a fit is made from, in memory and in its file.
 *
 * The bytes (doc/format.md) hold plates, every node of the graph in order with its operation by
 * name, and the sites with their families by name: no pointer, nothing that could be executed.
 * They are a function of the model: equal models have equal bytes, and storing what was restored
 * gives the bytes it came from.
 *
 * Restoring trusts nothing.  Columns, sites and parameters go through the calls by which they are
 * written (tacit/model.h), with all their checks; other nodes through dpi_put_back.  Node ids are
 * those that were stored, and expressions can be added as to any model. */
#ifndef DPI_MODEL_STORE_H
#define DPI_MODEL_STORE_H

#include "base/bytes.h"
#include "model/model.h"

enum { DPI_PRINT = 32 };

/* Appends the model to *out; also a guide, which does not hold its model.  The model's own first
 * error; DP_ENOMEM. */
dp_status dpi_model_store(const dp_model *m, dpi_bytes *out, dp_error *err) DP_MUST_CHECK;

/* The model in all n bytes, or with `of` a guide of that model, which must outlive it; freed by
 * dp_model_free.  DP_EDATA for bytes that dpi_model_store did not write, with what is wrong with
 * them; DP_EUNSUPPORTED for another version, an operation, a family or an attribute that this
 * version does not know; DP_ENOMEM. */
dp_status dpi_model_restore(const dp_model *of, const unsigned char *bytes, size_t n, dp_model **m,
                            dp_error *err) DP_MUST_CHECK;

/* A hash of the same bytes but for the places in the caller's sources: of all that a model
 * computes.  Zeros for NULL. */
void dpi_model_print(const dp_model *model, unsigned char print[DPI_PRINT]);

#endif
