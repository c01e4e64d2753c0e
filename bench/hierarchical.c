/* The order of the draws is that of the published program, which used the old generator of
 * NumPy. */
#include "hierarchical.h"

#include <math.h>
#include <stdlib.h>

#include <tacit/random.h>

#include "numpy-legacy.h"

static const double identity[L * K] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

double hierarchical_score(const double *x, const double *w)
{
    double s = 0;
    for (int d = 0; d < D; d++)
        s += x[d] * w[d];
    return s;
}

bool hierarchical_simulate(size_t n, simulated *data)
{
    numpy_legacy g;
    double factors[D][K];
    *data = (simulated){.n = n,
                        .x = calloc(2 * n * D, sizeof(double)),
                        .y = calloc(2 * n, sizeof(double)),
                        .group = calloc(2 * n, sizeof(int32_t))};
    if (data->x == NULL || data->y == NULL || data->group == NULL)
        return false;
    numpy_legacy_seed(&g, 0);
    for (size_t i = 0; i < 2 * n * D; i++)
        data->x[i] = numpy_legacy_normal(&g);
    for (size_t i = 0; i < 2 * n; i++)
        data->group[i] = (int32_t)numpy_legacy_below(&g, L);
    for (int d = 0; d < D; d++)
        for (int k = 0; k < K; k++)
            factors[d][k] = numpy_legacy_normal(&g);
    for (int l = 0; l < L; l++) {
        for (int d = 0; d < D; d++) {
            data->factors[l][d] = factors[d][l];
            data->weights[l][d] = factors[d][l] + sqrt(0.1) * numpy_legacy_normal(&g);
        }
        for (size_t i = 0; i < 2 * n; i++)
            if (data->group[i] == l)
                data->y[i] = numpy_legacy_bernoulli(
                    &g, 1 / (1 + exp(-hierarchical_score(data->x + i * D, data->weights[l]))));
    }
    return true;
}

void hierarchical_free(simulated *data)
{
    free(data->x);
    free(data->y);
    free(data->group);
}

dp_dataset *hierarchical_records(const simulated *data)
{
    dp_dataset *records = dp_dataset_new(data->n);
    if (records == NULL)
        return NULL;
    dp_dataset_real(records, "x", D, data->x);
    dp_dataset_real(records, "y", 1, data->y);
    dp_dataset_index(records, "group", data->group);
    return records;
}

void hierarchical_model(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "records");
    dp_plate factors = dp_plate_new(m, "factors", K), groups = dp_plate_new(m, "groups", L);
    dp_expr x = dp_data(rows, "x", D), group = dp_index(rows, "group", groups);
    dp_expr mt = dp_sample_in(factors, "M", D, dp_normal(0, 4));
    dp_expr mean = dp_matmul(dp_constant_matrix(m, L, K, identity), mt);
    dp_expr w = dp_sample_in(groups, "w", D, dp_normal_v(mean, dp_num(1)));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(x, dp_pick(w, group))));
}

void hierarchical_guide(dp_model *guide)
{
    dp_plate factors = dp_plate_new(guide, "factors", K), groups = dp_plate_new(guide, "groups", L);
    dp_expr loc = dp_param_in(factors, "loc", D, 0);
    dp_expr log_scale = dp_param_in(factors, "log_scale", D, 0);
    dp_expr mt = dp_sample_in(factors, "M", D, dp_normal_v(loc, dp_exp(log_scale)));
    dp_expr mean = dp_matmul(dp_constant_matrix(guide, L, K, identity), mt);
    (void)dp_sample_in(groups, "w", D, dp_normal_v(mean, dp_num(1)));
}

dp_status hierarchical_start(dp_svi *svi, uint64_t seed, dp_error *err)
{
    double start[2 * K * D];
    dp_rng *rng;
    dp_status status = dp_rng_new(seed, &rng, err);
    if (status != DP_OK)
        return status;
    dp_rng_normal(rng, sizeof start / sizeof *start, start);
    dp_rng_free(rng);
    status = dp_svi_set(svi, "loc", K * D, start, err);
    return status != DP_OK ? status : dp_svi_set(svi, "log_scale", K * D, start + K * D, err);
}
