/* Files that hold inputs and what is to come of them.
 *
 * A line "[family] formula" is an input ("\n" in it is a line end); the lines behind it, up to the
 * next one, are what the program writes for it; lines before the first input are remarks. */
#ifndef TESTS_FORMULA_GOLDEN_H
#define TESTS_FORMULA_GOLDEN_H

#include <stdio.h>

/* Writes what comes of one input, in whole lines. */
typedef void golden_case(const char *family, const char *formula, FILE *to);

/* Runs each input of tests/formula/<name> and fails where anything comes out otherwise; what came
 * is then in <name>.out of the present folder. */
void golden_compare(const char *name, golden_case *one);

/* The number of inputs in it. */
size_t golden_count(const char *name);

#endif
