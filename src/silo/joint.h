/* The program of a fit: asked, summed, opened, and on to the next question. */
#ifndef DPI_SILO_JOINT_H
#define DPI_SILO_JOINT_H

#include <tacit/infer.h>

#include "silo/program.h"

/* Fills *p for parties that open n sums after another, with noise where `noisy`; delta is what
 * epsilon is told at.  Errors of dpi_silo_program_end. */
dp_status dpi_silo_joint(dpi_silo_program *p, const dpi_silo_parties *who, bool noisy, double delta,
                         size_t n, const dp_opening *openings, dp_error *err) DP_MUST_CHECK;

#endif
