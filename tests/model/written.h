/* A model to make mistakes in, and what the message of one must say. */
#ifndef TESTS_MODEL_WRITTEN_H
#define TESTS_MODEL_WRITTEN_H

#include <tacit/model.h>

typedef struct scene {
    dp_model *m;
    dp_plate rows, groups;
    dp_expr x, g, w;
} scene;

/* The plates, a column of three numbers, group numbers below 4, and a latent of three numbers. */
scene set_up(void);

/* The first error has this status, names this line of this file and says this. */
void assert_error_at(const dp_model *m, dp_status status, const char *file, int line,
                     const char *says);
#define assert_error(m, status, line, says) assert_error_at(m, status, __FILE__, line, says)

#endif
