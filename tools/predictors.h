/* Where the predictors of twins come from: invented, public, or of tables that are paid for. */
#ifndef TOOLS_PREDICTORS_H
#define TOOLS_PREDICTORS_H

#include <tacit/counts.h>

#include "tools/modelling.h"
#include "tools/payer.h"
#include "tools/tree.h"

typedef enum predictor_source {
    PREDICTORS_INVENTED,
    PREDICTORS_PUBLIC, /* --public */
    PREDICTORS_PAID    /* --data or --ledger */
} predictor_source;

typedef struct predictors {
    predictor_source source;
    const dp_column *columns; /* [n] that the formula predicts from */
    size_t n;
    sheet records; /* public ones */
    grid_axis *axes;
    tree tree;
    double *counts; /* [n_counts] as they were paid for */
    size_t n_counts;
    double noise;
    bool pairs;
    dp_privacy privacy; /* of the counts */
} predictors;

/* Makes the source ready: reads the public records, or buys the tables. */
dp_status predictors_open(predictors *p, modelling *m, const payer *who);
void predictors_close(predictors *p);

/* Fills the predictors' columns of a sheet. */
void predictors_draw(const predictors *p, dp_rng *rng, sheet *s);

/* Of tables that were paid for: how far, in total variation, noise alone moves the shares of a
 * column, at most 1.  Of options and of what was released. */
double predictors_noise(const predictors *p, size_t j);

#endif
