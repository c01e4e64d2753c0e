/* The least that fits can be, and their files as bytes. */
#ifndef TESTS_FIT_SMALL_H
#define TESTS_FIT_SMALL_H

#include "base/bytes.h"
#include "fit/fit.h"

/* Two numbers learnt; with a guide of its own; with draws, phases and diagnostics;
 * with the source of a formula. */
enum { SMALL_MEAN_FIELD, SMALL_GUIDED, SMALL_KEEPING, SMALL_SOURCED, SMALL_FITS };

dp_fit *small_fit(int which);

/* Bytes of a file's head, and of each row of its table of sections (doc/format.md). */
enum { FIT_HEAD = 64, FIT_ENTRY = 64 };

dpi_bytes fit_bytes(const dp_fit *fit);

#endif
