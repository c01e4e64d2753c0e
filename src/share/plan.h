/* What a plan is inside: steps, and where values lie.
 *
 * A value is what a stage leaves of each record; value k is that of stage k, and one more is the
 * label.  The input and the answer are the caller's arrays; all others lie in one array, where a
 * value's place is free again after the step that reads it last. */
#ifndef DPI_SHARE_PLAN_H
#define DPI_SHARE_PLAN_H

#include "share/max.h"
#include "share/relu.h"
#include "share/run.h"
#include "share/table.h"

typedef enum dpi_step_kind {
    DPI_STEP_LINEAR,
    DPI_STEP_MEAN,
    DPI_STEP_RELU,
    DPI_STEP_TABLE,
    DPI_STEP_MAX,
    DPI_STEP_ADD,
    DPI_STEP_ARGMAX,
    DPI_STEP_ABOVE /* whether a number is above 0 */
} dpi_step_kind;

typedef struct dpi_plan_step {
    dpi_step_kind kind;
    const dp_stage *stage;
    size_t in[2], out; /* values; in[1] == in[0] where there is one */
    size_t weights;    /* LINEAR: where they begin in the model */
    int shift;         /* LINEAR: probabilistic */
    uint64_t weight;   /* MEAN: of each pixel */
    int lift[2];       /* ADD */
    union {
        dpi_relu relu;
        dpi_table table;
        dpi_carries tree; /* MAX, ARGMAX, ABOVE */
    };
} dpi_plan_step;

typedef struct dpi_plan_value {
    size_t size;        /* of one record; 0: never made */
    int bits;           /* |v| < 2^bits */
    size_t first, last; /* the steps that make it and that read it last */
    size_t readers;
    size_t pool;  /* of a relu that comes after the max pool which reads it: that one; else 0 */
    bool shifted; /* the shift of the relu that reads it has been done */
    size_t at;    /* where it lies, in numbers of one record */
} dpi_plan_value;

struct dpi_share_plan {
    dpi_arena arena;
    const dp_program *p;
    dpi_share_opts opts;
    dpi_ring ring;
    dpi_plan_step *step;
    dpi_plan_value *value;
    size_t n_steps, n_values, answer; /* which value */
    size_t values;                    /* numbers of one record that all values take */
    size_t gathered;                  /* numbers that pools and labels are brought together in */
    int n_planes;
    size_t block;
};

/* Says where all values lie, and how much they take. */
void dpi_plan_place(dpi_share_plan *plan);

#endif
