/* Priors that are no distributions (dp_flat): who needs one refuses them here. */
#ifndef DPI_MODEL_PROPER_H
#define DPI_MODEL_PROPER_H

#include "model/model.h"

/* Whether it, or what it is made of, is no distribution. */
bool dpi_is_improper(const dpi_family *family);

/* DP_EUNSUPPORTED, with the first latent's name and a remedy, where a prior is no distribution;
 * `needed` says what for, behind "which". */
dp_status dpi_need_proper(const dp_model *model, const char *needed, dp_error *err);

#endif
