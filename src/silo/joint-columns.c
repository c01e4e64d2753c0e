/* The programs of columns.  Of a regression residuals stay a sum of what both owners have, and each
 * opens the gradient of its own coefficients; of a model that is cut in two what a record comes to
 * at the cut, and the slope of its loss there, are told. */
#include "silo/joint.h"

static const dpi_silo_type table = {
    .dtype = DPI_SILO_F64,
    .n_dims = 2,
    .dims = {DPI_SILO_UNTOLD, DPI_SILO_OPENED},
    .place = {DPI_SILO_BY_COLUMNS, 0},
};
static const dpi_silo_type coefficients = {
    .dtype = DPI_SILO_F64,
    .n_dims = 1,
    .dims = {DPI_SILO_OPENED},
    .place = {DPI_SILO_BY_COLUMNS, 0},
};

dp_status dpi_silo_joint_columns(dpi_silo_program *p, const dpi_silo_parties *who,
                                 const dpi_joint_columns *c, dp_error *err)
{
    dpi_silo_program_begin(p, who);
    p->delta = c->z > 0 ? c->delta : 0;
    uint16_t w = dpi_silo_input(p, "w", coefficients, false),
             x = dpi_silo_input(p, "x", table, true);
    uint16_t b = dpi_silo_call(p, "b", DPI_SILO_OP_BOUND, x, 0);
    uint16_t r = dpi_silo_call(p, "r", DPI_SILO_OP_ADDEND, w, b);
    uint16_t g = dpi_silo_call(p, "G", DPI_SILO_OP_BLOCK, b, r);
    uint16_t opened = c->z > 0 ? dpi_silo_call(p, "N", DPI_SILO_OP_GAUSS, g, 0) : g;
    uint16_t h = dpi_silo_call(p, "h", DPI_SILO_OP_REVEAL, opened, 0);
    dpi_silo_carried(p, w, dpi_silo_call(p, "w'", DPI_SILO_OP_ADVANCE, w, h));
    const dpi_silo_entry e = {.variable = opened,
                              .times = c->times,
                              .numbers = c->numbers,
                              .sigma = c->z,
                              .replaced = true,
                              .apart = c->z > 0 ? c->apart : 0};
    dpi_silo_account(p, &e);
    return dpi_silo_program_end(p, err);
}

dp_status dpi_silo_joint_split(dpi_silo_program *p, const dpi_silo_parties *who, uint64_t times,
                               size_t numbers, dp_error *err)
{
    dpi_silo_program_begin(p, who);
    uint16_t w = dpi_silo_input(p, "w", coefficients, false),
             x = dpi_silo_input(p, "x", table, true);
    uint16_t g = dpi_silo_call(p, "G", DPI_SILO_OP_GRADIENT, w, x);
    dpi_silo_carried(p, w, dpi_silo_call(p, "w'", DPI_SILO_OP_ADVANCE, w, g));
    const dpi_silo_entry e = {.variable = g, .times = times, .numbers = numbers};
    dpi_silo_account(p, &e);
    return dpi_silo_program_end(p, err);
}
