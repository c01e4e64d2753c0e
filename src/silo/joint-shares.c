/* The program of a regression in shares at three parties: with noise each step's gradient is
 * opened, and coefficients are known to all; without, they are opened when all steps are done. */
#include "silo/joint.h"

/* Rows of one table, or columns of the same people. */
static dpi_silo_type table(bool by_rows)
{
    return (dpi_silo_type){.dtype = DPI_SILO_F64,
                           .n_dims = 2,
                           .dims = {DPI_SILO_UNTOLD, DPI_SILO_OPENED},
                           .place = {by_rows ? DPI_SILO_BY_ROWS : DPI_SILO_BY_COLUMNS, 0}};
}

static const dpi_silo_type coefficients = {
    .dtype = DPI_SILO_I64,
    .n_dims = 1,
    .dims = {DPI_SILO_OPENED},
    .place = {DPI_SILO_SAME, 0},
};

/* Rows of all owners, in shares. */
static uint16_t share_rows(dpi_silo_program *p, bool by_rows)
{
    uint16_t x = dpi_silo_input(p, "x", table(by_rows), true);
    uint16_t b = dpi_silo_call(p, "b", DPI_SILO_OP_BOUND, x, 0);
    return dpi_silo_call(p, "X", DPI_SILO_OP_SHARE, b, 0);
}

dp_status dpi_silo_joint_shares(dpi_silo_program *p, const dpi_silo_parties *who,
                                const dpi_joint_shares *c, dp_error *err)
{
    dpi_silo_entry e = {.times = c->times, .numbers = c->numbers, .sigma = c->z, .shared = true};
    dpi_silo_program_begin(p, who);
    if (c->z > 0) {
        p->delta = c->delta;
        uint16_t w = dpi_silo_input(p, "w", coefficients, false), x = share_rows(p, c->by_rows);
        uint16_t r = dpi_silo_call(p, "r", DPI_SILO_OP_RESIDUAL, w, x);
        uint16_t g = dpi_silo_call(p, "G", DPI_SILO_OP_BLOCK, x, r);
        e.variable = dpi_silo_call(p, "N", DPI_SILO_OP_GAUSS, g, 0);
        uint16_t h = dpi_silo_call(p, "h", DPI_SILO_OP_REVEAL, e.variable, 0);
        dpi_silo_carried(p, w, dpi_silo_call(p, "w'", DPI_SILO_OP_ADVANCE, w, h));
    } else {
        uint16_t x = share_rows(p, c->by_rows);
        e.variable = dpi_silo_call(p, "w", DPI_SILO_OP_DESCEND, x, 0);
        (void)dpi_silo_call(p, "h", c->told ? DPI_SILO_OP_REVEAL : DPI_SILO_OP_RETURN, e.variable,
                            0);
    }
    dpi_silo_account(p, &e);
    return dpi_silo_program_end(p, err);
}
