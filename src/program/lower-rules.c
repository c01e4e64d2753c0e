/* What each operation is to lowering; what is not named is refused. */
#include "program/lower.h"

#define RULE(op, of) [DPI_OP_##op] = {.kind = DPI_LOWER_##of}
#define CUT(op, of) [DPI_OP_##op] = {.kind = DPI_LOWER_CUT, .stage = DP_STAGE_##of}

const dpi_lower_rule dpi_lower_rules[DPI_N_OPS] = {
    RULE(const, FIXED),
    RULE(input, FIXED), /* of records there is none that has a value (lower.c) */
    RULE(ones, FIXED),
    RULE(data, COLUMN),
    RULE(index, GROUPS),
    RULE(add, LINEAR),
    RULE(sub, LINEAR),
    RULE(neg, LINEAR),
    RULE(mul, PRODUCT),
    RULE(matmul, MATRIX),
    RULE(outer, PRODUCT),
    RULE(div, QUOTIENT),
    RULE(sum_to, LINEAR),
    RULE(expand, LINEAR),
    RULE(lower, LINEAR),
    RULE(transpose, LINEAR),
    RULE(diagonal, LINEAR),
    RULE(diagonal_matrix, LINEAR),
    RULE(slice, LINEAR),
    RULE(pad, LINEAR),
    RULE(sum_last, LINEAR),
    RULE(spread, LINEAR),
    RULE(contrast, LINEAR),
    RULE(cumulative_sum, LINEAR),
    RULE(reshape, SAME),
    RULE(fold, LINEAR),
    RULE(unpool_sum, LINEAR),
    RULE(pick, PICK),
    RULE(patches, PATCHES),
    RULE(pool_sum, POOL),
    CUT(relu, RELU),
    CUT(logistic, SIGMOID),
    CUT(tanh, TANH),
    CUT(square, SQUARE),
    CUT(pool_max, MAX_POOL),
};
