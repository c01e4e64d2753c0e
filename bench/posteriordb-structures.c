/* Posteriors of posteriordb that are no plain regressions: groups, series, processes. */
#include <stdlib.h>

#include "posteriordb.h"

static dp_dataset *eight_schools(const posterior_text *t, dp_model *m)
{
    enum { SCHOOLS = 8 };
    static const int32_t school[SCHOOLS] = {0, 1, 2, 3, 4, 5, 6, 7};
    dp_plate rows = dp_unit_plate(m, "rows"), schools = dp_plate_new(m, "schools", SCHOOLS);
    dp_expr mu = dp_sample(m, "mu", 1, dp_normal(0, 5));
    dp_expr tau = dp_sample(m, "tau", 1, dp_half_cauchy(5));
    dp_expr theta = dp_sample_in(schools, "theta", 1, dp_normal_v(mu, tau));
    dp_expr mine = dp_pick(theta, dp_index(rows, "school", schools));
    dp_observe(rows, "y", dp_normal_v(mine, dp_data(rows, "sigma", 1)));
    dp_dataset *data = dp_dataset_new(SCHOOLS);
    dp_dataset_index(data, "school", school);
    dp_dataset_real(data, "sigma", 1, posterior_numbers(t, "sigma", NULL));
    dp_dataset_real(data, "y", 1, posterior_numbers(t, "y", NULL));
    return data;
}

static dp_dataset *radon(const posterior_text *t, dp_model *m)
{
    size_t n;
    double *y = posterior_numbers(t, "log_radon", &n);
    dp_plate rows = dp_unit_plate(m, "rows"), counties = dp_plate_new(m, "counties", 85);
    dp_expr mu = dp_sample(m, "mu_alpha", 1, dp_normal(0, 10));
    dp_expr tau = dp_sample(m, "sigma_alpha", 1, dp_half_normal(1));
    dp_expr alpha = dp_sample_in(counties, "alpha", 1, dp_normal_v(mu, tau));
    dp_expr b = dp_sample(m, "beta", 2, dp_normal(0, 10));
    dp_expr sigma = dp_sample(m, "sigma_y", 1, dp_half_normal(1));
    dp_expr uranium = dp_mul(dp_slice(b, 0, 1), dp_data(rows, "log_uppm", 1));
    dp_expr floor = dp_mul(dp_slice(b, 1, 1), dp_data(rows, "floor", 1));
    dp_expr mine = dp_pick(alpha, dp_index(rows, "county", counties));
    dp_observe(rows, "y", dp_normal_v(dp_add(mine, dp_add(uranium, floor)), sigma));
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_index(data, "county", posterior_groups(t, "county_idx", NULL));
    dp_dataset_real(data, "log_uppm", 1, posterior_numbers(t, "log_uppm", NULL));
    dp_dataset_real(data, "floor", 1, posterior_numbers(t, "floor_measure", NULL));
    dp_dataset_real(data, "y", 1, y);
    return data;
}

const posterior_problem posterior_structures[] = {
    {"eight_schools-eight_schools_noncentered", eight_schools},
    {"radon_mn-radon_hierarchical_intercept_noncentered", radon},
};
const size_t n_posterior_structures = sizeof posterior_structures / sizeof posterior_structures[0];
