/* The words of an NPY file's header. */
#ifndef DPI_DATA_NPY_TEXT_H
#define DPI_DATA_NPY_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* What is left of a dictionary. */
typedef struct dpi_npy_text {
    const char *at, *end;
} dpi_npy_text;

/* Before the dictionary: magic, version, and its length in 2 bytes or 4. */
enum { DPI_NPY_MAGIC = 6, DPI_NPY_LEAST = DPI_NPY_MAGIC + 2 + 4 };

/* Where the dictionary of the file with these first n bytes is; false when it is not all there. */
bool dpi_npy_dictionary(const unsigned char *bytes, size_t n, dpi_npy_text *t);

/* How many bytes there are before the values, told by the first n >= DPI_NPY_LEAST bytes; 0 when
 * they are no NPY file's. */
size_t dpi_npy_start(const unsigned char *bytes, size_t n);

void dpi_npy_blanks(dpi_npy_text *t);

/* Passes over blanks and `word`, when that comes next. */
bool dpi_npy_take(dpi_npy_text *t, const char *word);

bool dpi_npy_number(dpi_npy_text *t, size_t *number);

#endif
