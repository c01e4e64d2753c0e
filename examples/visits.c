/* Repeated visits: patients come one to six times, and all visits of a patient are protected
 * together. */
#include <stdio.h>
#include <tacit/fit.h>
#include <tacit/random.h>

enum { PATIENTS = 4000, MOST = 6 * PATIENTS };
static double treated[MOST], pressure[MOST], z[MOST], u[PATIENTS];
static int32_t patient[MOST];

/* Pressure, in standard units: 0.3 at rest and 0.5 less for the treated. */
static size_t simulate(dp_rng *rng)
{
    size_t n = 0;
    dp_rng_normal(rng, MOST, z);
    dp_rng_uniform(rng, PATIENTS, u);
    for (int i = 0; i < PATIENTS; i++)
        for (int visit = 0; visit < 1 + (int)(6 * u[i]); visit++, n++) {
            patient[n] = 7000000 - 3 * i; /* any numbers do */
            treated[n] = i % 2;
            pressure[n] = 0.3 - 0.5 * treated[n] + 0.7 * z[n];
        }
    return n;
}

int main(void)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_svi *svi;
    dp_fit *fit;
    dp_privacy spent;
    dp_summary rest, effect;
    if (dp_rng_new(5, &rng, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    size_t n = simulate(rng);
    dp_model *m = dp_model_new();
    dp_plate visits = dp_unit_plate(m, "visits");
    dp_expr a = dp_sample(m, "rest", 1, dp_normal(0, 1));
    dp_expr b = dp_sample(m, "effect", 1, dp_normal(0, 1));
    dp_expr mean = dp_add(a, dp_mul(b, dp_data(visits, "treated", 1)));
    dp_observe(visits, "pressure", dp_normal_v(mean, dp_num(0.7)));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "treated", 1, treated);
    dp_dataset_real(data, "pressure", 1, pressure);
    dp_dataset_index(data, "patient", patient);
    dp_dataset_unit(data, "patient");
    dp_svi_opts o = {.epsilon = 1, .delta = 1e-6, .clip = 10, .threads = 2};
    if (dp_svi_new(m, NULL, data, &o, &svi, &err) || dp_svi_run(svi, stderr, &err) ||
        dp_svi_privacy(svi, &spent, &err) || dp_svi_finish(svi, &fit, &err) ||
        dp_fit_summary(fit, "rest", 1, &rest, &err) ||
        dp_fit_summary(fit, "effect", 1, &effect, &err))
        return fprintf(stderr, "%s\n", err.text), 1;
    printf("rest   %6.3f +- %.3f, true  0.3\n", rest.mean, rest.sd);
    printf("effect %6.3f +- %.3f, true -0.5\n", effect.mean, effect.sd);
    printf("epsilon %.3g: %s\n", spent.epsilon, spent.adjacency);
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m), dp_rng_free(rng);
    return 0;
}
