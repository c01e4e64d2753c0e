/* NPY, NumPy's format of arrays: a file is mapped into memory, not read, so that data larger than
 * memory can be fitted and a step touches the records of its batch only.
 *
 * Taken are little-endian doubles ('<f8') for dp_dataset_real and 32-bit whole numbers ('<i4') for
 * dp_dataset_index and dp_dataset_indices, of one or two dimensions in C order:
 * numpy.save(path, x.astype('<f8')).  Everything the header says is checked against the file.
 * Values are checked when the data set meets a model, once.  A file that is cut while it is mapped
 * ends the process (SIGBUS).  One that is changed meanwhile is another data set than the one that
 * was checked, and a run of neither: nothing outside the arrays is read or written, and no unit
 * weighs more than the clip norm.  A group number that is out of its range by then counts as 0; a
 * record whose gradient is not finite adds zero. */
#ifndef TACIT_NPY_H
#define TACIT_NPY_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_npy dp_npy;

/* Maps the file at `path`, for reading only.  The caller frees *npy, which is NULL on error: DP_EIO
 * it cannot be mapped, DP_EDATA it is no such array, DP_ENOMEM.  Any thread. */
DP_API dp_status dp_npy_open(const char *path, dp_npy **npy, dp_error *err) DP_MUST_CHECK;

/* Unmaps the file: data sets that borrow from it must be gone.  NULL is allowed. */
DP_API void dp_npy_free(dp_npy *npy);

/* Number of rows, and of numbers in each (1 for one dimension); >= 1. */
DP_API size_t dp_npy_rows(const dp_npy *npy);
DP_API size_t dp_npy_columns(const dp_npy *npy);

/* The values, [rows][columns], as long as npy lives; NULL when they are of the other type. */
DP_API const double *dp_npy_real(const dp_npy *npy);
DP_API const int32_t *dp_npy_index(const dp_npy *npy);

#ifdef __cplusplus
}
#endif
#endif
