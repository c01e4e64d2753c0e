/* The models of textbooks and of other languages' guides, written in this one.
 *
 * Each function is one model, and the comment above it says what it is: "part: title".
 * check-lines counts the lines of their bodies for doc/language.md, so a function has the lines
 * that a user would write and no others. */
#ifndef TESTS_LANGUAGE_GUIDE_H
#define TESTS_LANGUAGE_GUIDE_H

#include <tacit/tacit.h>

enum { D = 4, K = 3, GROUPS = 5, ITEMS = 6, T = 8 }; /* predictors, kinds, groups, items, times */

typedef struct guide_model {
    const char *name;
    void (*write)(dp_model *m);
} guide_model;

extern const guide_model guide_regression[], guide_mixtures[], guide_partial[];
extern const guide_model guide_discrete[], guide_dynamics[], guide_drawn[], guide_brms[];
extern const size_t n_guide_regression, n_guide_mixtures, n_guide_partial;
extern const size_t n_guide_discrete, n_guide_dynamics, n_guide_drawn, n_guide_brms;

#endif
