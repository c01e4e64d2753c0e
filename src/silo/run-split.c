/* A regression is a model of its own, y ~ x_0 w_0 + x_1 w_1, so that there is one way to cut. */
#include "silo/run-split.h"

#include <sodium.h>
#include <string.h>

#include <tacit/dist.h>

#include "base/error.h"
#include "data/dataset.h"
#include "silo/plan.h"

struct dpi_plan_side {
    const dp_silo_plan *plan;
    size_t self;
    const dp_model *model;
    const dp_dataset *data;
    dp_model *own_model; /* of a regression, else NULL */
    dp_dataset *own_data;
    dp_split *half;
};

static const char *const tables[DP_SPLIT_SIDES] = {"x0", "x1"};

/* ---- a regression ---- */

static dp_model *regression(const dp_silo_columns *c)
{
    static const char *const weights[DP_SPLIT_SIDES] = {"w0", "w1"};
    dp_model *m = dp_model_new();
    dp_expr score[DP_SPLIT_SIDES];
    if (m == NULL)
        return NULL;
    const dp_plate rows = dp_unit_plate(m, "rows");
    for (int k = 0; k < DP_SPLIT_SIDES; k++) {
        const dp_expr x = dp_data(rows, tables[k], c->columns[k]);
        const dp_expr w = dp_param(m, weights[k], c->columns[k], 0);
        score[k] = c->columns[k] > 1 ? dp_dot(x, w) : dp_mul(x, w);
    }
    const dp_expr all = dp_add(score[0], score[1]);
    dp_observe(rows, "y", c->logistic ? dp_bernoulli_logit(all) : dp_normal_v(all, dp_num(1)));
    return m;
}

static dp_status make_regression(dpi_plan_side *h, const dp_silo_columns_data *a, dp_error *err)
{
    const dp_silo_columns *c = &h->plan->columns;
    h->model = h->own_model = regression(c);
    h->data = h->own_data = dp_dataset_new(a->rows);
    if (h->model == NULL || h->data == NULL)
        return dpi_fail_nomem(err);
    dp_dataset_real(h->own_data, tables[h->self], c->columns[h->self], a->x);
    if (a->y != NULL)
        dp_dataset_real(h->own_data, "y", 1, a->y);
    return DP_OK;
}

/* ---- a model ---- */

static dp_status take_model(dpi_plan_side *h, const dp_silo_columns_data *a, dp_error *err)
{
    unsigned char hash[DP_MODEL_HASH];
    if (a->model == NULL || a->data == NULL || a->x != NULL || a->y != NULL)
        return dpi_fail(err, DP_EINVAL,
                        "this plan is of a model; give the model and a data set of its columns, "
                        "and no arrays beside them");
    dp_model_hash(a->model, hash);
    if (memcmp(hash, h->plan->model, sizeof hash) != 0)
        return dpi_fail(err, DP_EMISMATCH,
                        "this model is another than the one that the plan is of; build it as it "
                        "was when the plan was made, or plan anew");
    if (dp_dataset_size(a->data) != a->rows)
        return dpi_fail(err, DP_EINVAL, "the data set has %zu records, and there are %zu ids",
                        dp_dataset_size(a->data), a->rows);
    h->model = a->model;
    h->data = a->data;
    return DP_OK;
}

/* The plan says what is told of each record; a version that would cut elsewhere does not run it. */
static dp_status check_sizes(const dpi_plan_side *h, dp_error *err)
{
    const dp_silo_columns *c = &h->plan->columns;
    const bool same = dp_split_width(h->half) == c->width &&
                      dp_split_outcome(h->half) == c->outcome &&
                      dp_split_numbers(h->half, 0) == c->columns[0] &&
                      dp_split_numbers(h->half, 1) == c->columns[1];
    return same ? DP_OK
                : dpi_fail(err, DP_EMISMATCH,
                           "the model is cut elsewhere than the plan says; it was made by another "
                           "version, or to deceive");
}

static dp_status open_half(dpi_plan_side *h, const dp_silo_columns_data *a, dp_error *err)
{
    const dp_silo_columns *c = &h->plan->columns;
    const bool of_model = dpi_silo_plan_is_cut(h->plan);
    dp_split_opts spec = {.cut = c->cut};
    dp_status status = of_model ? take_model(h, a, err) : make_regression(h, a, err);
    if (status != DP_OK)
        return status;
    spec.model = h->model;
    for (size_t k = 0; k < DP_SPLIT_SIDES; k++)
        spec.held[k] = of_model          ? c->held[k]
                       : k == c->outcome ? k == 0 ? "x0,y" : "x1,y"
                                         : tables[k];
    status = dp_split_new(&spec, h->self, h->data, &h->half, err);
    return status == DP_OK ? check_sizes(h, err) : status;
}

dp_status dpi_plan_side_open(const dp_silo_plan *plan, size_t self,
                             const dp_silo_columns_data *data, dpi_plan_side **half, dp_error *err)
{
    dpi_plan_side *h = dpi_alloc(1, sizeof *h);
    *half = NULL;
    if (h == NULL)
        return dpi_fail_nomem(err);
    *h = (dpi_plan_side){.plan = plan, .self = self};
    dp_status status = open_half(h, data, err);
    if (status == DP_OK)
        *half = h;
    else
        dpi_plan_side_close(h);
    return status;
}

static void hash_column(crypto_generichash_state *h, const dpi_column *c, size_t rows)
{
    const void *values = c->real != NULL    ? (const void *)c->real
                         : c->index != NULL ? (const void *)c->index
                                            : c->bytes;
    const size_t each = c->real != NULL    ? sizeof *c->real
                        : c->index != NULL ? sizeof *c->index
                                           : sizeof *c->bytes;
    (void)crypto_generichash_update(h, (const unsigned char *)c->name, strlen(c->name) + 1);
    (void)crypto_generichash_update(h, values, rows * c->size * each);
}

void dpi_plan_side_hash(const dpi_plan_side *half, unsigned char records[32])
{
    crypto_generichash_state h;
    (void)crypto_generichash_init(&h, NULL, 0, 32);
    (void)crypto_generichash_update(&h, records, 32);
    for (size_t k = 0; k < half->data->n_columns; k++)
        hash_column(&h, &half->data->columns[k], half->data->n);
    (void)crypto_generichash_final(&h, records, 32);
    sodium_memzero(&h, sizeof h);
}

void dpi_plan_side_close(dpi_plan_side *h)
{
    if (h == NULL)
        return;
    dp_split_free(h->half);
    dp_dataset_free(h->own_data);
    dp_model_free(h->own_model);
    dpi_free(h);
}

dp_status dpi_plan_side_run(dpi_plan_side *h, const dpi_silo_part *part, dpi_post *post,
                            size_t rows, const size_t *index, double *w, dp_error *err)
{
    dpi_split_terms terms;
    dpi_silo_split_terms(h->plan, &terms);
    const dpi_split_run_opts o = {
        .terms = &terms, .part = part, .post = post, .half = h->half, .rows = rows, .index = index};
    dp_status status = dp_split_start(h->half, w, err);
    return status == DP_OK ? dpi_split_run(&o, w, err) : status;
}

dp_status dpi_plan_side_fit(const dpi_plan_side *h, const double *w, const double *others,
                            dp_fit **fit, dp_error *err)
{
    return dp_split_fit(h->half, w, others, fit, err);
}
