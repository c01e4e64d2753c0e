#include "tests/fit/small.h"

#include "fit/file.h"
#include "tests/fit/fits.h"
#include "tests/lib/check.h"

dpi_bytes fit_bytes(const dp_fit *fit)
{
    dpi_bytes bytes = {0};
    dp_error err = {0};
    assert_ok(dpi_fit_store(fit, &bytes, &err), err.text);
    return bytes;
}

dp_fit *small_fit(int which)
{
    const bool guided = which == SMALL_GUIDED;
    double y[] = {0.3, -1.2, 0.7};
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    dp_model *m = dp_model_new(), *guide = guided ? dp_guide_new(m) : NULL;
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_dataset *data = dp_dataset_new(3);
    dp_dataset_real(data, "y", 1, y);
    dp_expr w = dp_sample(m, "w", 1, dp_normal(0, 1));
    dp_observe(rows, "y", dp_normal_v(w, dp_num(0.7)));
    if (guided)
        (void)dp_sample(guide, "w", 1, dp_normal_v(dp_param(guide, "at", 1, 0.2), dp_num(0.4)));
    const dp_svi_opts opts = {.epsilon = 1, .delta = 1e-3, .clip = 1, .steps = 2, .seed = 71};
    assert_ok(dp_svi_new(m, guide, data, &opts, &svi, &err), err.text);
    assert_ok(dp_svi_run(svi, NULL, &err), err.text);
    assert_ok(dp_svi_finish(svi, &fit, &err), err.text);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(guide);
    dp_model_free(m);
    if (which == SMALL_SOURCED)
        assert_ok(dp_fit_set_source(fit,
                                    &(dp_fit_source){.formula = "y ~ 1",
                                                     .family = "gaussian(identity)",
                                                     .schema = "y real -5 .. 5\nrecords = 3\n"},
                                    &err),
                  err.text);
    return which == SMALL_KEEPING ? with_draws(fit, 5) : fit;
}
