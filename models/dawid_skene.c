/* Annotators who err each in his way.
 *
 *   z_i ~ prevalence,  label_ij ~ row z_i of confusion_j
 *
 * The true class z_i of an item is summed out:
 *
 *   log p_i = log sum_k prevalence_k prod_j confusion_j[k][label_ij]
 *
 * (Dawid and Skene 1979, Applied Statistics 28).  Priors that hold annotators for mostly right tell
 * the classes apart; without them all orders of the classes are equally good. */
#include <tacit/marginal.h>

#include "models/build.h"

enum { MOST_CLASSES = 64, MOST_ANNOTATORS = 1024 };

static dp_status check(const dp_dawid_skene_opts *o, dp_error *err)
{
    if (o->classes < 2 || o->classes > MOST_CLASSES)
        return dpi_model_refuse(err, "items have 2 to 64 classes");
    if (o->annotators < 1 || o->annotators > MOST_ANNOTATORS)
        return dpi_model_refuse(err, "there are 1 to 1024 annotators");
    return DP_OK;
}

static dp_expr mostly_right(dp_model *m, size_t k, double right)
{
    double c[MOST_CLASSES * MOST_CLASSES];
    for (size_t i = 0; i < k; i++)
        for (size_t j = 0; j < k; j++)
            c[i * k + j] = i == j ? right : 1;
    return dp_constant_matrix(m, k, k, c);
}

/* The log chance of annotator j's label under each class, [classes]. */
static dp_expr label(dp_plate rows, dp_plate classes, size_t k, size_t j, dp_expr right)
{
    char name[MODEL_NAME];
    dp_dist prior = dp_dirichlet_v(right);
    dp_expr confusion = dp_sample_in(classes, dpi_layer_name(name, "confusion", j), k, prior);
    dp_expr y = dp_index(rows, dpi_layer_name(name, "label", j), classes);
    return dp_log_density(dp_categorical_logit(dp_log(confusion)), y);
}

dp_status dp_dawid_skene(const dp_dawid_skene_opts *o, dp_model **m, dp_error *err)
{
    *m = NULL;
    const dp_status status = check(o, err);
    dp_model *made = status == DP_OK ? dp_model_new() : NULL;
    if (made == NULL)
        return status == DP_OK ? dpi_model_finish(NULL, m, err) : status;
    dp_plate rows = dp_unit_plate(made, "rows"),
             classes = dp_plate_new(made, "classes", o->classes);
    dp_expr right = mostly_right(made, o->classes, dpi_or_default(o->right, 4));
    dp_expr prevalence = dp_sample(made, "prevalence", o->classes, dp_dirichlet(1));
    dp_expr seen = o->gaps ? dp_data(rows, "seen", o->annotators) : dp_num(1);
    dp_expr all = dp_num(0);
    for (size_t j = 0; j < o->annotators; j++) {
        dp_expr one = label(rows, classes, o->classes, j, right);
        bool of_many = o->gaps && o->annotators > 1;
        all = dp_add(all, dp_mul(one, of_many ? dp_slice(seen, j, 1) : seen));
    }
    dp_marginal(rows, "labels", dp_log(prevalence), all);
    (void)dp_deterministic(made, "class_probability", dp_responsibilities(dp_log(prevalence), all));
    return dpi_model_finish(made, m, err);
}
