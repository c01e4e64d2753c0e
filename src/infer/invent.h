/* Data sets for plans: columns of any number of records, public or invented, and outcomes. */
#ifndef DPI_INFER_INVENT_H
#define DPI_INFER_INVENT_H

#include "infer/view.h"

typedef struct dpi_invented {
    dpi_arena arena;
    dp_dataset *data; /* every column that the model reads but the observed one */
} dpi_invented;

/* n records: those of `from` where it has as many, else drawn from them with replacement; where it
 * is NULL real numbers are standard normal and group numbers uniform.  Freed with
 * dpi_invented_free, also after an error.  DP_EUNSUPPORTED, DP_ENAME, DP_ENOMEM, the error of
 * `from`. */
dp_status dpi_invent(dpi_invented *to, const dpi_model_view *view, const dp_dataset *from, size_t n,
                     dp_rng *rng, dp_error *err) DP_MUST_CHECK;
void dpi_invented_free(dpi_invented *to);

/* A data set with the observed column beside them; it borrows all.  *data is NULL on error:
 * DP_ENOMEM. */
dp_status dpi_invented_with(const dpi_invented *from, const char *name, const double *outcomes,
                            dp_dataset **data, dp_error *err) DP_MUST_CHECK;

#endif
