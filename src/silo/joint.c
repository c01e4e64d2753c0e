#include "silo/joint.h"

static const dpi_silo_type of_records = {
    .dtype = DPI_SILO_F64,
    .n_dims = 1,
    .dims = {DPI_SILO_UNTOLD},
    .place = {DPI_SILO_BY_ROWS, 0},
};
static const dpi_silo_type of_all = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_SAME, 0}};

dpi_joint_kind dpi_silo_joint_kind(const dpi_silo_scheme *scheme)
{
    return scheme->averages ? DPI_JOINT_PARAMETERS
           : scheme->noisy  ? DPI_JOINT_NOISY
                            : DPI_JOINT_SUMS;
}

/* What owners have of an opening before it is opened. */
static uint16_t call_of(dpi_silo_program *p, dpi_joint_kind kind, uint16_t q, uint16_t x)
{
    if (kind == DPI_JOINT_PARAMETERS)
        return dpi_silo_call(p, "W", DPI_SILO_OP_WALK, q, x);
    uint16_t v = dpi_silo_call(p, "v", DPI_SILO_OP_INQUIRE, q, x);
    uint16_t sum = dpi_silo_call(p, "S", DPI_SILO_OP_SUM, v, 0);
    return kind == DPI_JOINT_NOISY ? dpi_silo_call(p, "N", DPI_SILO_OP_GAUSS, sum, 0) : sum;
}

dp_status dpi_silo_joint(dpi_silo_program *p, const dpi_silo_parties *who, dpi_joint_kind kind,
                         double delta, size_t n, const dp_opening *openings, dp_error *err)
{
    const bool noisy = kind == DPI_JOINT_NOISY;
    dpi_silo_program_begin(p, who);
    p->delta = noisy ? delta : 0;
    uint16_t q = dpi_silo_input(p, "q", of_all, false),
             x = dpi_silo_input(p, "x", of_records, true);
    uint16_t opened = call_of(p, kind, q, x);
    uint16_t h = dpi_silo_call(p, "h", DPI_SILO_OP_REVEAL, opened, 0);
    dpi_silo_carried(p, q, dpi_silo_call(p, "q'", DPI_SILO_OP_ADVANCE, q, h));
    for (size_t k = 0; k < n; k++) {
        const dpi_silo_entry e = {.variable = opened,
                                  .times = openings[k].times,
                                  .numbers = openings[k].numbers,
                                  .sigma = noisy ? openings[k].sigma : 0};
        dpi_silo_account(p, &e);
    }
    return dpi_silo_program_end(p, err);
}
