/* Private logistic regression on simulated data by a loop of one's own: dp_svi_step takes any model
 * of the language, and leaves clip norm, steps and guide to the caller.  doc/answers.md tells when
 * to take it and not dp_fit_private. */
#include <stdio.h>
#include <tacit/fit.h>
#include <tacit/random.h>

enum { N = 10000, D = 3 };
static double x[N][D], y[N], odds[N];

int main(void)
{
    static const double truth[D] = {1, -0.5, 0};
    dp_error err = {0};
    dp_rng *rng;
    if (dp_rng_new(7, &rng, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    dp_rng_normal(rng, N * D, &x[0][0]);
    dp_rng_uniform(rng, N, odds);
    for (int i = 0; i < N; i++)
        y[i] = dp_logistic(dp_num(x[i][0] * truth[0] + x[i][1] * truth[1])).value > odds[i];

    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, 4));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", D), w)));
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_dataset_real(data, "y", 1, y);
    dp_svi_opts o = {.epsilon = 1, .delta = 1e-5, .clip = 2};
    dp_svi *svi;
    dp_fit *fit;
    dp_summary s[D];
    dp_privacy spent;
    dp_status status = dp_svi_new(m, NULL, data, &o, &svi, &err);
    while (status == DP_OK && !dp_svi_done(svi)) { /* dp_svi_run is this loop */
        status = dp_svi_step(svi, &err);
        if (status == DP_OK && (status = dp_svi_privacy(svi, &spent, &err)) == DP_OK &&
            spent.steps % 250 == 0)
            fprintf(stderr, "step %d: epsilon %.3f\n", (int)spent.steps, spent.epsilon);
    }
    if (status || dp_svi_finish(svi, &fit, &err) || dp_fit_summary(fit, "w", D, s, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    for (int j = 0; j < D; j++)
        printf("w[%d] = %6.3f +- %.3f, true %6.3f\n", j, s[j].mean, s[j].sd, truth[j]);
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m), dp_rng_free(rng);
    return 0;
}
