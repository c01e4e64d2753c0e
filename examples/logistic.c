/* A first program: private logistic regression on simulated data. */
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
    if (dp_svi_new(m, NULL, data, &o, &svi, &err) || dp_svi_run(svi, stderr, &err) ||
        dp_svi_finish(svi, &fit, &err) || dp_fit_summary(fit, "w", D, s, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    for (int j = 0; j < D; j++)
        printf("w[%d] = %6.3f +- %.3f, true %6.3f\n", j, s[j].mean, s[j].sd, truth[j]);
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m), dp_rng_free(rng);
    return 0;
}
