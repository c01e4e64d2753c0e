#include "model/proper.h"

#include "dist/form.h"

bool dpi_is_improper(const dpi_family *family)
{
    bool improper = family->improper || (family->base != NULL && dpi_is_improper(family->base));
    for (int k = 0; k < DPI_MOST_COMPONENTS - 1 && family->other[k] != NULL; k++)
        improper = improper || dpi_is_improper(family->other[k]);
    return improper;
}

dp_status dpi_need_proper(const dp_model *model, const char *needed, dp_error *err)
{
    if (model->err.status != DP_OK)
        return DP_OK; /* which is told first */
    for (const dpi_site *site = model->sites; site < model->sites + model->n_sites; site++)
        if (site->kind == DPI_LATENT && dpi_is_improper(site->family))
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "latent '%s' has no proper prior (%s), which %s; give it one, such as "
                            "%s",
                            site->name, site->family->name, needed,
                            site->family->support == DPI_ABOVE_ZERO ? "dp_half_normal(10)"
                                                                    : "dp_normal(0, 10)");
    return DP_OK;
}
