/* The records that a model is fitted to: named columns, borrowed from the caller.
 *
 * One record is one privacy unit, unless dp_dataset_unit names a column that tells which records
 * belong together.  Values are checked when the data set meets a model, before
 * anything is computed from them: real columns must be finite, group numbers in their range, labels
 * in the support of their distribution.  Messages name the column and the record, never the value;
 * those of a private run name neither (dp_check_data in tacit/svi.h does). */
#ifndef TACIT_DATASET_H
#define TACIT_DATASET_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_dataset dp_dataset;

/* A data set of n records, without columns yet.  Of 0 records it has an error from the start
 * (DP_EDATA), as a table may turn out to be empty.  NULL when memory is out.  Owned by the caller;
 * free with dp_dataset_free.  Not thread-safe while columns are added; const use is. */
DP_API dp_dataset *dp_dataset_new(size_t n);

/* Frees the data set, not the columns' values.  NULL is allowed. */
DP_API void dp_dataset_free(dp_dataset *data);

/* Adds a real column block: values[n][d], row after row, borrowed: they must stay, unchanged, until
 * the data set and every run on it are freed.  d >= 1.
 * The first error sticks (DP_ENAME the name is taken, DP_ESHAPE d, DP_EINVAL values is NULL, as
 * after a failed dp_table_real) and is reported by dp_dataset_error and by every later use. */
DP_API void dp_dataset_real(dp_dataset *data, const char *name, size_t d, const double *values);

/* Adds a column of whole numbers, 0-based group numbers or labels: values[n], borrowed as above.
 * Errors as above. */
DP_API void dp_dataset_index(dp_dataset *data, const char *name, const int32_t *values);

/* Adds a block of d whole numbers a record, such as the words of a sentence: values[n][d], borrowed
 * as above.  Errors as above. */
DP_API void dp_dataset_indices(dp_dataset *data, const char *name, size_t d, const int32_t *values);

/* Adds a block of d numbers values[i][e] / most, from bytes values[n][d] that are borrowed as
 * above: grey images for most = 255, in an eighth of the memory of real numbers.  1 <= most <= 255;
 * that no byte is above it is checked when the data meet a model.  Errors as above; DP_EDOMAIN
 * most. */
DP_API void dp_dataset_bytes(dp_dataset *data, const char *name, size_t d, unsigned most,
                             const unsigned char *values);

/* The same, drawn afresh in every use of a record: number e of record i is 1 with probability
 * values[i][e] / most, exactly, and 0 otherwise.  A model reads it like real numbers, and whatever
 * reads it in one step sees the same draw, so that
 *   dp_data(rows, "x", d)                                  in a guide and
 *   dp_observe(rows, "x", dp_bernoulli_logit(...))         in its model
 * make of grey images the binary ones that a variational autoencoder learns (dp_chance_logit
 * observes the grey).  One array may be both, under two names: a guide that reads the grey image
 * then codes it with less noise.  In a private run the draws are secrets from the source of the
 * noise (svi.c). */
DP_API void dp_dataset_bernoulli(dp_dataset *data, const char *name, size_t d, unsigned most,
                                 const unsigned char *values);

/* Makes the whole-number column `name`, which must be there, the unit column: all records with the
 * same value are one unit of privacy (all visits of one patient).  They are sampled together, and
 * their gradients are summed before they are clipped.  Any values will do, negative ones too; they
 * need not be sorted, and nothing of them is released.  Without a call every record is a unit.
 * Errors as above: DP_ENAME no such column, or a second unit column; DP_EINVAL a real column;
 * DP_ESHAPE a column of several numbers a record. */
DP_API void dp_dataset_unit(dp_dataset *data, const char *name);

/* Number of records. */
DP_API size_t dp_dataset_size(const dp_dataset *data);

/* Message of the first error, or NULL; lives as long as the data set. */
DP_API const char *dp_dataset_error(const dp_dataset *data);

#ifdef __cplusplus
}
#endif
#endif
