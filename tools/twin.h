/* Twins of a fit: tables whose outcomes it draws. */
#ifndef TOOLS_TWIN_H
#define TOOLS_TWIN_H

#include <tacit/fit.h>

#include "tools/modelling.h"
#include "tools/sheet.h"

typedef struct twin_maker {
    dp_fit *fit;
    const dp_column *columns; /* [n] of a twin: all that the formula reads */
    size_t n;
    const dp_column *outcome;
    bool levels;        /* the outcome is drawn as a level, not as a number */
    size_t made, ended; /* records, and those whose outcome was brought into the schema's range */
} twin_maker;

/* Loads the fit, schema and formula that it tells, and checks that it can have twins.  Gives an
 * exit status of tacit.h, and says on standard error what is wrong. */
int twin_open(twin_maker *t, modelling *m, const char *path);

/* Draws the outcomes of a sheet whose predictors are there, at one draw of the posterior, and
 * numbers its units. */
dp_status twin_draw(twin_maker *t, modelling *m, dp_rng *rng, sheet *s);

#endif
