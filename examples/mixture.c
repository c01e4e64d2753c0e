/* A private Gaussian mixture: what it finds in simulated points, as a picture (SVG).  With any
 * argument the run is repeatable, and not private. */
#include <math.h>
#include <stdio.h>
#include <tacit/tacit.h>
enum { N = 2000, K = 5, D = 2 };
static double x[N][D];

int main(int argc, char **argv)
{
    static const double centre[K][D] = {{0, 0}, {2, 2}, {-2, -2}, {-2, 2}, {2, -2}};
    const dp_mixture_opts five = {.components = K, .dimensions = D};
    dp_error err = {0};
    dp_rng *rng;
    if (dp_rng_new(123, &rng, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    dp_rng_normal(rng, N * D, &x[0][0]);
    for (int i = 0; i < N * D; i++)
        x[i / D][i % D] = centre[i / D % K][i % D] + sqrt(0.5) * x[i / D][i % D];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "x", D, &x[0][0]);
    dp_svi_opts o = {.epsilon = 1, .delta = 1e-5, .clip = 0.5, .seed = argv[0] && argc > 1};
    dp_model *m;
    dp_svi *svi;
    dp_fit *fit;
    dp_summary p[K], c[K][D], s[K];
    if (dp_gaussian_mixture(&five, &m, &err) || dp_svi_new(m, NULL, data, &o, &svi, &err) ||
        dp_gaussian_mixture_start(svi, &five, &err) || dp_svi_run(svi, stderr, &err) ||
        dp_svi_finish(svi, &fit, &err) || dp_fit_summary(fit, "w", K, p, &err) ||
        dp_fit_summary(fit, "sd", K, s, &err) || dp_fit_summary(fit, "mean", K * D, *c, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    puts("<svg xmlns='http://www.w3.org/2000/svg' viewBox='-5 -5 10 10'>");
    for (int k = 0; k < K; k++) /* 86 % of a component lie within two standard deviations */
        printf("<circle cx='%.3f' cy='%.3f' r='%.3f' opacity='%.3f'/>\n", c[k][0].mean,
               -c[k][1].mean, 2 * s[k].mean, 2 * p[k].mean);
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m);
    return dp_rng_free(rng), puts("</svg>") < 0;
}
