/* Fit, save, load, predict: a private hierarchical regression of hospital stays, kept in a file.
 * "predict [FILE]" writes FILE, reads it as another would, and predicts for new patients. */
#include <stdio.h>
#include <tacit/tacit.h>

enum { N = 6000, WARDS = 8, NEW = 3, DRAWS = 500 };
static double x[N], noise[N], y[N], days[NEW];
static int32_t ward[N];

static int failed(dp_error err)
{
    return fprintf(stderr, "predict: %s\n", err.text), 1;
}

/* Days beyond the usual, in standard units: 0.6 for each of severity, and what the ward adds. */
static void simulate(dp_rng *rng)
{
    dp_rng_uniform(rng, N, x), dp_rng_normal(rng, N, noise);
    for (int i = 0; i < N; i++) {
        ward[i] = i % WARDS, x[i] = 2 * x[i] - 1;
        y[i] = 0.6 * x[i] + 0.1 * (ward[i] - 3.5) + 0.5 * noise[i];
    }
}

int main(int argc, char **argv)
{
    const double new_x[NEW] = {-1, 0, 1};
    const int32_t new_ward[NEW] = {0, 3, 7};
    const char *path = argc > 1 ? argv[1] : "stay.tacit";
    const dp_grouping wards = {"ward", WARDS};
    const dp_regression_opts stay = {.predictors = 1, .groupings = &wards, .n_groupings = 1};
    const dp_fit_opts opts = {.epsilon = 1, .delta = 1e-6};
    dp_error err = {0};
    dp_rng *rng;
    dp_model *m;
    dp_fit *fit;
    dp_draws *draws;
    dp_dataset *data = dp_dataset_new(N), *fresh = dp_dataset_new(NEW);
    if (dp_rng_new(3, &rng, &err))
        return failed(err);
    simulate(rng);
    dp_dataset_real(data, "x", 1, x), dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "ward", ward);
    if (dp_linear_regression(&stay, &m, &err) || dp_fit_private(m, data, &opts, &fit, &err) ||
        dp_fit_save(fit, path, &err))
        return failed(err);
    dp_fit_free(fit), dp_model_free(m), dp_dataset_free(data);
    dp_dataset_real(fresh, "x", 1, new_x), dp_dataset_index(fresh, "ward", new_ward);
    dp_given given = {.data = fresh};
    if (dp_fit_load(path, &fit, &err) || dp_fit_draw(fit, DRAWS, rng, &draws, &err) ||
        (given.draws = draws, dp_fit_predict(fit, "y", &given, NEW, days, &err)))
        return failed(err);
    for (int i = 0; i < NEW; i++)
        printf("severity %2.0f, ward %d: %6.3f, true %6.3f\n", new_x[i], new_ward[i], days[i],
               0.6 * new_x[i] + 0.1 * (new_ward[i] - 3.5));
    dp_draws_free(draws), dp_fit_free(fit), dp_dataset_free(fresh), dp_rng_free(rng);
    return 0;
}
