/* A missing predictor as a latent of its record is fitted like the same model with it integrated
 * out: by noisy steps, whose widths are too narrow and said to be, against the posterior itself. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "tests/language/guide.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { RECORDS = 1000 };

/* Numbers of mean 0 and variance 1 that are near enough to normal: the sum of three uniform ones.
 */
static double scattered(uint64_t *numbers)
{
    return next_number(numbers) + next_number(numbers) + next_number(numbers);
}

static void write_model(const char *name, dp_model *m)
{
    for (size_t i = 0; i < n_guide_dynamics; i++)
        if (strcmp(guide_dynamics[i].name, name) == 0)
            guide_dynamics[i].write(m);
    for (size_t i = 0; i < n_guide_drawn; i++)
        if (strcmp(guide_drawn[i].name, name) == 0)
            guide_drawn[i].write(m);
}

static dp_fit *fit_model(const char *name, const dp_dataset *data)
{
    dp_error err = {0};
    dp_fit *fit;
    const dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .seed = 4};
    dp_model *m = dp_model_new();
    write_model(name, m);
    assert_ok(dp_fit_private(m, data, &opts, &fit, &err), err.text);
    dp_model_free(m);
    return fit;
}

static void drawn_predictors_are_as_those_integrated_out(void **state)
{
    (void)state;
    static const char *const latents[] = {"a", "b", "mu", "s", "tau"};
    static double x[RECORDS], y[RECORDS], known[RECORDS];
    uint64_t numbers = 12;
    dp_error err = {0};
    dp_dataset *data = dp_dataset_new(RECORDS);
    for (int i = 0; i < RECORDS; i++) {
        double whole = .5 + scattered(&numbers);
        y[i] = 1 + .8 * whole + .5 * scattered(&numbers);
        known[i] = next_number(&numbers) > 0;
        x[i] = known[i] != 0 ? whole : 0;
    }
    dp_dataset_real(data, "x", 1, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_real(data, "known", 1, known);
    dp_fit *drawn = fit_model("drawn_predictor", data);
    dp_fit *exact = fit_model("missing_predictor", data);
    for (size_t i = 0; i < sizeof latents / sizeof *latents; i++) {
        dp_summary a, b;
        assert_ok(dp_fit_summary(drawn, latents[i], 1, &a, &err), err.text);
        assert_ok(dp_fit_summary(exact, latents[i], 1, &b, &err), err.text);
        assert_close(a.mean, b.mean, 0, b.sd);
    }
    dp_fit_free(drawn);
    dp_fit_free(exact);
    dp_dataset_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_predictors_are_as_those_integrated_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
