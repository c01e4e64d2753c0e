/* Expressions to compute with, and the calls of one and of two. */
#ifndef TESTS_MODEL_OPERANDS_H
#define TESTS_MODEL_OPERANDS_H

#include <tacit/model.h>

enum { GROUPS = 3, N_UNARIES = 10, N_BINARIES = 4 };

/* Globals s (a number), v [3], W [2][3], one [1], a [3] and b [3][2] over groups; records x [3],
 * g. */
typedef struct scene {
    dp_model *m;
    dp_expr s, v, W, one, a, b, x, g, words;
} scene;

scene begin(void);

/* Calls that compute number by number, and what they compute. */
extern const struct unary {
    dp_expr (*call)(dp_expr);
    double (*is)(double);
} unaries[N_UNARIES];

extern const struct binary {
    dp_expr (*call)(dp_expr, dp_expr);
    double (*is)(double, double);
} binaries[N_BINARIES];

double squared(double a);

#endif
