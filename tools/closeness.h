/* How close the twins' tables are to those of public records, or to tables that were paid for. */
#ifndef TOOLS_CLOSENESS_H
#define TOOLS_CLOSENESS_H

#include "tools/predictors.h"

/* Of one column, or of two: half the sum of the differences of shares (total variation), and what
 * it would be by chance; means over twins. */
typedef struct closeness_item {
    const char *first, *second; /* second NULL: of one column */
    double distance, chance;
} closeness_item;

typedef struct closeness {
    const sheet *records;   /* what is compared with, or */
    const predictors *paid; /* whose tables are */
    closeness_item *item;   /* [n] */
    size_t n, twins;
    double *of_twin, *of_other; /* room for a table */
} closeness;

/* One of the two is NULL.  False when memory is out. */
bool closeness_open(closeness *c, const sheet *records, const predictors *paid);
void closeness_close(closeness *c);

/* Adds a twin, which has the columns that are compared. */
void closeness_add(closeness *c, const sheet *twin);

#endif
