/* A fit as a file: doc/format.md byte by byte. */
#ifndef DPI_FIT_FILE_H
#define DPI_FIT_FILE_H

#include "base/bytes.h"
#include "fit/fit.h"

/* Appends the file's bytes to *out, which is empty.  Equal fits give equal bytes.  DP_ENOMEM;
 * DP_EUNSUPPORTED for a sampling that has no word here. */
dp_status dpi_fit_store(const dp_fit *fit, dpi_bytes *out, dp_error *err) DP_MUST_CHECK;

/* The fit of all n bytes, from anywhere.  DP_EDATA for bytes that dpi_fit_store did not write;
 * DP_EUNSUPPORTED for another version, and for sections, operations and families that this one does
 * not know; DP_ENOMEM.  Nothing of the bytes is used in place. */
dp_status dpi_fit_restore(const unsigned char *bytes, size_t n, dp_fit **fit,
                          dp_error *err) DP_MUST_CHECK;

/* Puts the hash of n >= 64 bytes right, so that tests reach what lies behind it. */
void dpi_fit_seal(unsigned char *bytes, size_t n);

#endif
