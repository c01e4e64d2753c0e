/* What is told of twins: what they are, what they cost, how close they come. */
#ifndef TOOLS_TELL_TWINS_H
#define TOOLS_TELL_TWINS_H

#include "tools/closeness.h"
#include "tools/twin.h"

typedef struct twins {
    modelling m;
    payer who;
    predictors from;
    twin_maker maker;
    size_t rows, n;
    char **path; /* [n] */
    closeness close;
    double spent; /* epsilon on the data set in all, by its ledger; NaN without one */
} twins;

void tell_twins(const twins *t);
void tell_twins_json(const twins *t);

#endif
