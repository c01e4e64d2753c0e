/* Expressions to compute with, and the calls of one and of two. */
#ifndef TESTS_MODEL_OPERANDS_H
#define TESTS_MODEL_OPERANDS_H

#include <tacit/model.h>

enum { N = 2, GROUPS = 3, N_UNARIES = 13, N_BINARIES = 4 };

/* Globals s (a number), v [3], W [2][3], one [1], a [3] and b [3][2] over groups; records x [3],
 * g. */
typedef struct scene {
    dp_model *m;
    dp_expr s, v, W, one, a, b, x, g, words;
} scene;

scene begin(void);

/* Their values, those of x, g and words for the N records. */
extern const double v_is[3], W_is[6], s_is[1], one_is[1], b_is[6], x_is[N][3];
extern const int32_t g_is[N], words_are[N][3];

/* The expression has these n numbers (for both records one after the other, when it is
 * per-record), each to the last bit or, relatively, within an error. */
void assert_value(const scene *q, dp_expr e, size_t n, const double *wanted);
void assert_value_within(const scene *q, dp_expr e, size_t n, const double *wanted,
                         double relative);

/* Its shape is `text`, as in messages. */
void assert_dims(dp_expr e, const char *text);

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
