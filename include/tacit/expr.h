/* Expressions: small values that name a node of a model, or a plain number.
 *
 * An expression is copied freely and owns nothing; it is valid as long as its model. */
#ifndef TACIT_EXPR_H
#define TACIT_EXPR_H

#include <stddef.h>
#include <stdint.h>

#include <tacit/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dp_model dp_model;

/* A node of a model; with model == NULL, the number `value`. */
typedef struct dp_expr {
    dp_model *model;
    int32_t id;
    double value;
} dp_expr;

/* A number as an expression, for calls that mix numbers and expressions. */
DP_API dp_expr dp_num(double value);

#ifdef __cplusplus
}
#endif
#endif
