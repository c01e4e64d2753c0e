/* Use of contraception in Bangladesh, 1988: a private hierarchical logistic regression.
 *
 *   P(use) = logit^-1(w . x + b[district])
 *   w_j ~ N(0, 2.5 / scale_j),  b_k ~ N(0, tau),  tau ~ HalfNormal(1)
 *
 * Predictors are divided by public bounds (women.h), so that no record is longer than sqrt(6) with
 * its district, and the clip norm is a little over half of that.  Geometry, constants and what they
 * were chosen against: doc/design/contraception.md. */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "examples/options.h"
#include "examples/women.h"

enum { D = WOMEN_D, DISTRICTS = WOMEN_DISTRICTS, N_EFFECTS = D + 1 };
static const char *const names[N_EFFECTS] = {"intercept", "age",       "age2",      "urban",
                                             "children1", "children2", "children3", "district_sd"};

typedef struct fitted {
    dp_privacy privacy;
    dp_summary effect[N_EFFECTS], district[DISTRICTS];
    double seconds;
} fitted;

static void contraception(dp_model *m)
{
    double prior[D];
    for (int j = 0; j < D; j++)
        prior[j] = 2.5 * women_bound[j];
    dp_plate rows = dp_unit_plate(m, "women"); /* one woman is one unit of privacy */
    dp_plate districts = dp_plate_new(m, "districts", DISTRICTS);
    dp_expr x = dp_data(rows, "x", D), g = dp_index(rows, "district", districts);
    dp_expr w = dp_sample(m, "w", D, dp_normal_v(dp_num(0), dp_constant(m, D, prior)));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_normal(1));
    dp_expr b = dp_sample_in(districts, "b", 1, dp_normal_v(dp_num(0), tau));
    dp_observe(rows, "use", dp_bernoulli_logit(dp_add(dp_dot(x, w), dp_pick(b, g))));
}

static void fit(const women *data, const dp_svi_opts *o, fitted *f)
{
    struct timespec start, end;
    dp_error err = {0};
    dp_svi *svi;
    dp_fit *fit;
    (void)timespec_get(&start, TIME_UTC);
    dp_model *m = dp_model_new();
    dp_dataset *records = dp_dataset_new(data->n);
    if (m == NULL || records == NULL)
        options_stop("contraception", "fit", "out of memory");
    contraception(m);
    dp_dataset_real(records, "x", D, data->x), dp_dataset_real(records, "use", 1, data->use);
    dp_dataset_index(records, "district", data->district);
    if (dp_svi_new(m, NULL, records, o, &svi, &err) || dp_svi_run(svi, NULL, &err) ||
        dp_svi_privacy(svi, &f->privacy, &err) || dp_svi_finish(svi, &fit, &err) ||
        dp_fit_summary(fit, "w", D, f->effect, &err) ||
        dp_fit_summary(fit, "tau", 1, &f->effect[D], &err) ||
        dp_fit_summary(fit, "b", DISTRICTS, f->district, &err))
        options_stop("contraception", "fit", err.text);
    for (int j = 0; j < D; j++) {
        const dp_summary s = f->effect[j];
        const double c = women_bound[j];
        f->effect[j] = (dp_summary){s.mean / c, s.sd / c, s.q05 / c, s.q50 / c, s.q95 / c};
    }
    dp_fit_free(fit), dp_svi_free(svi), dp_dataset_free(records), dp_model_free(m);
    (void)timespec_get(&end, TIME_UTC);
    f->seconds = difftime(end.tv_sec, start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
}

static void print_table(const fitted *f, const fitted *plain, size_t n)
{
    const dp_privacy *p = &f->privacy;
    printf("Contraceptive use, %zu women in %d districts, Bangladesh 1988\n", n, DISTRICTS);
    if (p->is_private)
        printf("spent: epsilon %.4g at delta %.3g (%s; %llu steps, noise %.4g x clip %.3g, eta "
               "%.2g)\n",
               p->epsilon, p->delta, p->adjacency, (unsigned long long)p->steps, p->sigma, p->clip,
               p->eta);
    else
        printf("NOT PRIVATE: %s\n", p->why_not);
    printf("time: %.2f s\n\n%-12s %8s %7s %18s   without privacy: %s %7s\n", f->seconds, "", "mean",
           "sd", "90 % interval", "mean", "sd");
    for (int j = 0; j < N_EFFECTS; j++)
        printf("%-12s %8.3f %7.3f   [%6.3f, %6.3f]          %10.3f %8.3f\n", names[j],
               f->effect[j].mean, f->effect[j].sd, f->effect[j].q05, f->effect[j].q95,
               plain->effect[j].mean, plain->effect[j].sd);
    printf("\nDistricts with effects (log odds) of 2 standard deviations and more:\n");
    for (int k = 0; k < DISTRICTS; k++)
        if (fabs(f->district[k].mean) >= 2 * f->district[k].sd)
            printf("  district %2d  %+.2f (sd %.2f)\n", women_district(k), f->district[k].mean,
                   f->district[k].sd);
    printf("\nThe fit without privacy is shown because this data set is public.  Standard "
           "deviations are\n"
           "those of a mean-field guide: they leave out correlations and the noise of privacy.\n");
}

int main(int argc, char **argv)
{
    const char *path = "examples/data/contraception.csv";
    double epsilon = 4;
    bool no_privacy = false, json = false;
    dp_svi_opts o = {.steps = 1500, .delta = 1e-4, .step_size = 0.02, .average = 0.75};
    const option options[] = {
        {"--epsilon", OPTION_NUMBER, &epsilon, "privacy to spend, above 0 (4)"},
        {"--delta", OPTION_NUMBER, &o.delta, "below 1 / (number of women) (1e-4)"},
        {"--no-privacy", OPTION_FLAG, &no_privacy, "only the fit without privacy"},
        {"--seed", OPTION_SEED, &o.seed, "a repeatable run, for tests: not private"},
        {"--json", OPTION_FLAG, &json, "one JSON object: privacy, seconds, steps, parameters"},
        {"--data", OPTION_TEXT, &path, "the survey (examples/data/contraception.csv)"}};
    options_read(argc, argv,
                 "Fits a hierarchical logistic regression under differential privacy and compares\n"
                 "it with the same fit without privacy.",
                 sizeof options / sizeof options[0], options);
    dp_error err = {0};
    women data;
    fitted result, plain;
    if (women_read(path, &data, &err))
        options_stop("contraception", "--data", err.text);
    o.schedule = DP_CONSTANT, o.clip = 0.57 * sqrt(6);
    dp_svi_opts open = {.mode = DP_NO_PRIVACY, .steps = 3000, .step_size = 0.02, .average = 0.25};
    open.schedule = DP_LINEAR_DECAY, open.seed = o.seed;
    if (!no_privacy &&
        dp_approximate_sigma(epsilon, o.delta, 1, o.steps, DP_SAMPLING_FULL, &o.sigma, &err))
        options_stop("contraception", "privacy", err.text);
    fit(&data, no_privacy ? &open : &o, &result);
    if (result.privacy.warning != NULL)
        fprintf(stderr, "contraception: warning: %s\n", result.privacy.warning);
    if (json) {
        options_print_json(&result.privacy, result.seconds, N_EFFECTS, names, result.effect);
    } else {
        fit(&data, &open, &plain);
        print_table(&result, &plain, data.n);
    }
    women_free(&data);
    return 0;
}
