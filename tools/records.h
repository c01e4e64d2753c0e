/* Records of a program's input, from a file of CSV or NPY. */
#ifndef TOOLS_RECORDS_H
#define TOOLS_RECORDS_H

#include <tacit/program.h>

/* Reads the columns that the program names: those of numbers under their name, or NAME[0], NAME[1],
 * ... where there are several; group numbers from 0.  Of an array, which is told by its content,
 * each row is a record and all of it the program's one column.  Checks that every number is within
 * the program's bounds.
 *   *x  [out] [*n][dp_program_inputs] for free(); NULL on error, with a message of any call */
dp_status read_records(const char *path, const dp_program *p, size_t *n, double **x, dp_error *err);

#endif
