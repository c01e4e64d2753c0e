/* A locale whose numbers have a decimal comma. */
#ifndef TESTS_LIB_COMMA_H
#define TESTS_LIB_COMMA_H

#include <stdbool.h>

/* Sets LC_NUMERIC to one that is installed, or else makes one; false where neither can be had. */
bool comma_set(void);

/* Sets it back to C, and takes away what was made. */
void comma_end(void);

#endif
