#include "silo/joint.h"

static const dpi_silo_type of_records = {
    .dtype = DPI_SILO_F64,
    .n_dims = 1,
    .dims = {DPI_SILO_UNTOLD},
    .place = {DPI_SILO_BY_ROWS, 0},
};
static const dpi_silo_type own = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_OWN, 0}};
static const dpi_silo_type of_all = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_SAME, 0}};

dpi_joint_kind dpi_silo_joint_kind(const dpi_silo_scheme *scheme)
{
    if (scheme->averages)
        return scheme->noisy ? DPI_JOINT_FACTORS : DPI_JOINT_PARAMETERS;
    return scheme->noisy ? DPI_JOINT_NOISY : DPI_JOINT_SUMS;
}

/* What a step makes. */
typedef struct joint_step {
    uint16_t opened, released; /* of each owner alone, or NONE */
    uint16_t f, g;             /* where owners have factors */
} joint_step;

static joint_step make_step(dpi_silo_program *p, dpi_joint_kind kind, uint16_t q, uint16_t x)
{
    if (kind == DPI_JOINT_PARAMETERS)
        return (joint_step){dpi_silo_call(p, "W", DPI_SILO_OP_WALK, q, x), DPI_SILO_NONE, 0, 0};
    if (kind == DPI_JOINT_FACTORS) {
        uint16_t f = dpi_silo_input(p, "f", own, false),
                 c = dpi_silo_call(p, "c", DPI_SILO_OP_CAVITY, q, f),
                 g = dpi_silo_call(p, "g", DPI_SILO_OP_REFINE, c, x);
        return (joint_step){dpi_silo_call(p, "d", DPI_SILO_OP_OFFER, g, 0), g, f, g};
    }
    uint16_t v = dpi_silo_call(p, "v", DPI_SILO_OP_INQUIRE, q, x);
    uint16_t sum = dpi_silo_call(p, "S", DPI_SILO_OP_SUM, v, 0);
    if (kind == DPI_JOINT_NOISY)
        sum = dpi_silo_call(p, "N", DPI_SILO_OP_GAUSS, sum, 0);
    return (joint_step){sum, DPI_SILO_NONE, 0, 0};
}

dp_status dpi_silo_joint(dpi_silo_program *p, const dpi_silo_parties *who, dpi_joint_kind kind,
                         double delta, size_t n, const dp_opening *openings, dp_error *err)
{
    const bool noisy = kind == DPI_JOINT_NOISY, factors = kind == DPI_JOINT_FACTORS;
    dpi_silo_program_begin(p, who);
    p->delta = noisy || factors ? delta : 0;
    uint16_t q = dpi_silo_input(p, "q", of_all, false),
             x = dpi_silo_input(p, "x", of_records, true);
    const joint_step step = make_step(p, kind, q, x);
    uint16_t h = dpi_silo_call(p, "h", DPI_SILO_OP_REVEAL, step.opened, 0);
    dpi_silo_carried(p, q, dpi_silo_call(p, "q'", DPI_SILO_OP_ADVANCE, q, h));
    if (factors)
        dpi_silo_carried(p, step.f, dpi_silo_call(p, "f'", DPI_SILO_OP_RETAIN, step.g, h));
    for (size_t k = 0; k < n; k++) {
        const bool alone = factors && openings[k].alone;
        const dpi_silo_entry e = {.variable = alone ? step.released : step.opened,
                                  .times = openings[k].times,
                                  .numbers = openings[k].numbers,
                                  .alone = alone,
                                  .sigma = noisy || alone ? openings[k].sigma : 0};
        dpi_silo_account(p, &e);
    }
    return dpi_silo_program_end(p, err);
}
