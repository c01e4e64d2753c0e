/* A smooth curve and noise, by public calls alone. */
#include "models/build.h"

dp_status dp_gaussian_process(const dp_gaussian_process_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    dp_model *made = dp_model_new();
    if (made == NULL)
        return dpi_model_finish(NULL, m, err);
    dp_plate rows = dp_unit_plate(made, "rows");
    dp_expr x = dp_data(rows, "x", 1);
    dp_expr intercept =
        dp_sample(made, "intercept", 1, dp_normal(0, dpi_or_default(o->intercept_scale, 5)));
    dp_expr noise =
        dp_sample(made, "noise_sd", 1, dp_half_normal(dpi_or_default(o->noise_scale, 1)));
    dp_expr curve = dp_add(intercept, dp_hilbert_gp(x, "curve", &o->process));
    (void)dp_deterministic(made, "mean", curve);
    dp_observe(rows, "y", dp_normal_v(curve, noise));
    return dpi_model_finish(made, m, err);
}
