/* From a file with a model to the program that is served of it. */
#ifndef TOOLS_LOAD_PROGRAM_H
#define TOOLS_LOAD_PROGRAM_H

#include <tacit/program.h>

#include "tools/options.h"

/* Reads a fit (dp_fit_save) or else a network (ONNX), and makes and fixes its program with what
 * `said` has of --column, --range, --bounds, --draws, --label, --weight-bits and --activation-bits.
 * Draws are the same in every call.
 *   *p  [out] is freed with dp_program_free; NULL on error, with a message of any call */
dp_status load_program(const char *path, const settings *said, dp_program **p, dp_error *err);

#endif
