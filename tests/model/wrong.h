/* Models that are wrong, each in one way, for the golden file of messages. */
#ifndef TESTS_MODEL_WRONG_H
#define TESTS_MODEL_WRONG_H

#include <tacit/tacit.h>

/* What a wrong model begins with: right so far. */
typedef struct draft {
    dp_model *m;
    dp_plate rows, groups; /* "rows"; "groups" of 4 */
    dp_expr x, g;          /* columns "x" [3] and "g" */
    dp_expr w, s, a;       /* latents "w" [3], "s" a number above 0, "a" of each group */
} draft;

typedef struct wrong_model {
    const char *what; /* is wrong, in words */
    void (*write)(draft *d);
} wrong_model;

extern const wrong_model wrong_models[], wrong_distributions[];
extern const size_t n_wrong_models, n_wrong_distributions;

#endif
