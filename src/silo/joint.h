/* The program of a fit: asked, summed, opened, and on to the next question. */
#ifndef DPI_SILO_JOINT_H
#define DPI_SILO_JOINT_H

#include <tacit/infer.h>

#include "silo/rules.h"

/* What is opened: sums over records, without noise or with it, parameters of owners, or what owners
 * change of factors, by releases of their own. */
typedef enum dpi_joint_kind {
    DPI_JOINT_SUMS,
    DPI_JOINT_NOISY,
    DPI_JOINT_PARAMETERS,
    DPI_JOINT_FACTORS
} dpi_joint_kind;

/* What a scheme of rows opens. */
dpi_joint_kind dpi_silo_joint_kind(const dpi_silo_scheme *scheme);

/* Fills *p for parties that open n sums after another; delta is what epsilon is told at, where
 * there is noise.  Errors of dpi_silo_program_end. */
dp_status dpi_silo_joint(dpi_silo_program *p, const dpi_silo_parties *who, dpi_joint_kind kind,
                         double delta, size_t n, const dp_opening *openings,
                         dp_error *err) DP_MUST_CHECK;

/* The same of blocks of columns at two owners, which open `times` gradients of them, of `numbers`
 * numbers at most; z is the noise of one owner by what a record can add to both blocks, 0 for none,
 * and `apart` how far an answer may be from that in total variation. */
typedef struct dpi_joint_columns {
    uint64_t times;
    size_t numbers;
    double z, apart, delta;
} dpi_joint_columns;
dp_status dpi_silo_joint_columns(dpi_silo_program *p, const dpi_silo_parties *who,
                                 const dpi_joint_columns *c, dp_error *err) DP_MUST_CHECK;

/* The same of a model that is cut in two, in `times` steps. */
dp_status dpi_silo_joint_split(dpi_silo_program *p, const dpi_silo_parties *who, uint64_t times,
                                size_t numbers, dp_error *err) DP_MUST_CHECK;

/* The same in shares at three parties, of columns or of rows of those that are no helpers: with
 * noise z of two of them by what a record adds `times` gradients of `numbers` numbers are opened to
 * all; without (0) coefficients at the end, to all or to owners. */
typedef struct dpi_joint_shares {
    bool by_rows, told;
    uint64_t times;
    size_t numbers;
    double z, delta;
} dpi_joint_shares;
dp_status dpi_silo_joint_shares(dpi_silo_program *p, const dpi_silo_parties *who,
                                const dpi_joint_shares *c, dp_error *err) DP_MUST_CHECK;

#endif
