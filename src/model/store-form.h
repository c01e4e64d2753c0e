/* The form that store.c writes and restore.c reads. */
#ifndef DPI_MODEL_STORE_FORM_H
#define DPI_MODEL_STORE_FORM_H

#include "model/model.h"

/* "tacitmod", the little end first. */
#define DPI_MODEL_MAGIC UINT64_C(0x646f6d7469636174)

enum { DPI_MODEL_VERSION = 1, DPI_MODEL_NODE_BYTES = 88, DPI_MODEL_SITE_BYTES = 88 };

/* The kinds of sites, in words, by kind. */
extern const char *const dpi_site_kinds[];
extern const size_t dpi_n_site_kinds;

#endif
