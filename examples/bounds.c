/* A covariate is standardised with private bounds and a regression fitted, both paid from one
 * budget.  "bounds LEDGER" makes the ledger, which must not exist.  Blood sugar is known to lie
 * between 0 and 1000 mg/dl; where most people's does, the data tell. */
#include <math.h>
#include <stdio.h>
#include <tacit/tacit.h>

enum { N = 20000 };
static double sugar[N], y[N], odds[N];

static int failed(dp_error err)
{
    return fprintf(stderr, "%s\n", err.text), 1;
}

int main(int argc, char **argv)
{
    dp_error err = {0};
    dp_rng *rng;
    dp_ledger *ledger;
    dp_svi *svi;
    dp_fit *fit;
    dp_bounds_answer range;
    dp_summary slope;
    dp_interval spent;
    if (dp_rng_new(7, &rng, &err))
        return failed(err);
    dp_rng_normal(rng, N, sugar), dp_rng_uniform(rng, N, odds);
    for (int i = 0; i < N; i++) /* log odds grow by 0.8 / 20 for each mg/dl */
        y[i] = 1 / (1 + exp(-0.8 * sugar[i])) > odds[i], sugar[i] = 110 + 20 * sugar[i];
    dp_dataset *data = dp_dataset_new(N);
    dp_dataset_real(data, "sugar", 1, sugar), dp_dataset_real(data, "y", 1, y);
    const dp_budget budget = {.epsilon = 1, .delta = 1e-6, .adjacency = DP_ADD_REMOVE};
    const dp_ledger_source source = {.records = data};
    dp_quantile asked = {.column = "sugar", .low = 0, .high = 1000, .share = 0.9};
    dp_quantile_opts q = {.asked = &asked, .n = 1, .epsilon = 0.4, .delta = 1e-6};
    dp_svi_opts o = {.epsilon = 0.85, .delta = 1e-6, .clip = 1};
    if (dp_ledger_create(argc > 1 ? argv[1] : "", &ledger, &err) ||
        dp_ledger_add_data(ledger, "clinic", &source, &budget, &err))
        return failed(err);
    q.ledger = o.ledger = ledger, q.ledger_data = o.ledger_data = "clinic";
    if (dp_private_bounds(data, &q, &range, NULL, &err))
        return failed(err);
    printf("nine in ten are between %.0f and %.0f mg/dl\n", range.low, range.high);
    double middle = (range.low + range.high) / 2, half = (range.high - range.low) / 2;
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr a = dp_sample(m, "a", 1, dp_normal(0, 4)), b = dp_sample(m, "b", 1, dp_normal(0, 4));
    dp_expr z = dp_div(dp_sub(dp_data(rows, "sugar", 1), dp_num(middle)), dp_num(half));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(a, dp_mul(b, z))));
    if (dp_svi_new(m, NULL, data, &o, &svi, &err) || dp_svi_run(svi, NULL, &err) ||
        dp_svi_finish(svi, &fit, &err) || dp_fit_summary(fit, "b", 1, &slope, &err) ||
        dp_ledger_spent(ledger, "clinic", &spent, &err))
        return failed(err);
    printf("log odds grow by %.4f for each mg/dl, true 0.0400\n", slope.mean / half);
    printf("both together: epsilon %.3f of %g\n", spent.upper, budget.epsilon);
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(data), dp_model_free(m);
    dp_ledger_close(ledger), dp_rng_free(rng);
    return 0;
}
