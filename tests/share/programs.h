/* Programs drawn at random, for what runs them. */
#ifndef TESTS_SHARE_PROGRAMS_H
#define TESTS_SHARE_PROGRAMS_H

#include <tacit/program.h>

#include "tests/share/rows.h"

/* A fixed program of a few stages of all kinds that parties compute; NULL where what was drawn
 * needs more than most_bits. */
dp_program *programs_draw(uint64_t *state, int most_bits, bool argmax);

/* Integers x[n][inputs] of records within the bounds, and at them. */
int64_t *programs_records(const dp_program *p, size_t n, uint64_t *state);

#endif
