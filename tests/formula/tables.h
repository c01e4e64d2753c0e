/* Data sets for tests, which are where the sources are. */
#ifndef TESTS_FORMULA_TABLES_H
#define TESTS_FORMULA_TABLES_H

#include "tests/formula/data-sets.h"

/* The data set of that name, which must be there. */
const data_set *find_data_set(const char *name);

/* Its table; NULL where the file cannot be opened. */
dp_table *read_data_set(const data_set *of);

#endif
