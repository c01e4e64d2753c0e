/* A pool of vectors of each record grows from columns by random layers; what is observed has the
 * last of them as its argument.  Sizes are few: vectors are [3], images [9][2]. */
#include "tests/model/random-model.h"

#include <string.h>

#include "tests/lib/check.h"

enum {
    D = RECORD_VECTOR,
    PLACES = RECORD_PLACES,
    CHANNELS = RECORD_CHANNELS,
    WORDS = RECORD_WORDS,
    GROUPS = RECORD_GROUPS,
    STEPS = 9
};

/* splitmix64 (Steele, Lea, Flood 2014). */
static size_t draw(random_model *r, size_t below)
{
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % below);
}

static double number(random_model *r)
{
    return ((double)draw(r, 4000) - 2000) / 1371;
}

/* ---- latents ---- */

/* What a guide needs to know of a latent. */
enum { REAL, POSITIVE, OTHER, RECORD };

static dp_dist any_real(random_model *r)
{
    switch (draw(r, 4)) {
    case 0:
        return dp_normal(number(r), 0.7);
    case 1:
        return dp_student_t(4.2, number(r), 1.3);
    case 2:
        return dp_cauchy(0, 0.9);
    default:
        return dp_laplace(number(r), 1.1);
    }
}

static dp_dist any_positive(random_model *r)
{
    switch (draw(r, 6)) {
    case 0:
        return dp_half_normal(1.2);
    case 1:
        return dp_log_normal(0.1, 0.6);
    case 2:
        return dp_half_cauchy(0.8);
    case 3:
        return dp_exponential(1.7);
    case 4:
        return dp_gamma(2.1, 1.9);
    default:
        return dp_inverse_gamma(3.2, 2.2);
    }
}

static dp_dist any_bounded(random_model *r)
{
    return draw(r, 2) == 0 ? dp_beta(1.4, 2.2) : dp_uniform(-0.8, 1.7);
}

static dp_expr latent(random_model *r, int kind, size_t n, dp_dist dist)
{
    size_t k = r->n_latents++;
    assert_true(k < sizeof r->latent / sizeof r->latent[0]);
    (void)snprintf(r->latent[k].name, sizeof r->latent[k].name, "latent %zu", k);
    r->latent[k].n = n;
    r->latent[k].kind = kind;
    return kind == RECORD ? dp_sample_in(r->rows, r->latent[k].name, n, dist)
                          : dp_sample(r->model, r->latent[k].name, n, dist);
}

static dp_expr weights(random_model *r, size_t rows, size_t columns)
{
    switch (draw(r, 4)) {
    case 0: {
        double values[64];
        for (size_t i = 0; i < rows * columns; i++)
            values[i] = number(r);
        return dp_constant_matrix(r->model, rows, columns, values);
    }
    case 1: {
        char name[24];
        (void)snprintf(name, sizeof name, "weight %zu", draw(r, 1000000));
        const dp_init starts[] = {dp_init_constant(number(r)), dp_init_normal(0.4), dp_init_he(),
                                  dp_init_glorot(rows)};
        const size_t start = draw(r, 5);
        dp_model_seed(r->model, draw(r, 1000));
        if (start < 4)
            return dp_weights(r->model, name, rows, columns, starts[start]);
        dp_expr flat = dp_param(r->model, name, rows * columns, number(r));
        return dp_reshape(flat, rows, columns);
    }
    default:
        return dp_reshape(latent(r, REAL, rows * columns, any_real(r)), rows, columns);
    }
}

/* ---- layers ---- */

static dp_expr of_image(random_model *r, dp_expr image)
{
    dp_window window = {.image = {3, 3}, .size = {1 + draw(r, 2), 2}, .padding = {0, draw(r, 2)}};
    size_t rows = 3 - window.size[0] + 1, columns = 3 + 2 * window.padding[1] - 2 + 1;
    dp_expr seen;
    size_t channels = CHANNELS;
    if (draw(r, 3) == 0)
        seen = dp_max_pool2d(image, &window);
    else if (draw(r, 2) == 0)
        seen = dp_avg_pool2d(image, &window);
    else
        seen = dp_conv2d(image, weights(r, window.size[0] * 2 * CHANNELS, channels = 3), &window);
    if (draw(r, 2) == 0)
        seen = dp_group_norm(seen, channels == 3 ? 3 : 1, dp_num(1.1), dp_num(-0.2));
    dp_expr flat = dp_flatten(seen);
    size_t from = draw(r, rows * columns * channels - D);
    return dp_slice(flat, from, D);
}

static dp_expr step(random_model *r, dp_expr a, dp_expr b)
{
    switch (draw(r, 16)) {
    case 0:
        return dp_add(a, b);
    case 1:
        return dp_mul(dp_tanh(a), b);
    case 2:
        return dp_sub(dp_softplus(a), dp_scale(number(r), b));
    case 3:
        return dp_dense(a, weights(r, D, D), latent(r, REAL, D, any_real(r)));
    case 4:
        return dp_leaky_relu(draw(r, 2) == 0 ? 0 : 0.217, a);
    case 5:
        return dp_gelu(a);
    case 6:
        return dp_softmax(a);
    case 7:
        return dp_layer_norm(a, dp_num(1), latent(r, REAL, D, any_real(r)));
    case 8:
        return dp_concat(dp_slice(a, 1, 2), dp_sum(b));
    case 9:
        return dp_div(a, dp_add(dp_num(0.3), dp_square(b)));
    case 10:
        return dp_mul(a, latent(r, POSITIVE, 1, any_positive(r)));
    case 11:
        return dp_sub(dp_log1p(dp_exp(dp_neg(a))), dp_log_sum_exp(b));
    case 12:
        return dp_max(a, dp_sqrt(dp_add(dp_num(0.1), dp_abs(b))));
    case 13:
        return dp_add(dp_mul(latent(r, OTHER, 1, any_bounded(r)), a), dp_dot(a, b));
    case 14:
        return dp_matmul(a, dp_add(weights(r, D, D), dp_num(number(r))));
    default:
        return dp_mul(a, latent(r, OTHER, D, dp_dirichlet(1.3)));
    }
}

static void add_columns(random_model *r)
{
    dp_model *m = r->model;
    r->rows = dp_unit_plate(m, "rows");
    r->groups = dp_plate_new(m, "groups", GROUPS);
    r->pool[r->n_pool++] = dp_data(r->rows, "x", D);
    dp_expr image = dp_reshape(dp_data(r->rows, "image", PLACES * CHANNELS), PLACES, CHANNELS);
    r->pool[r->n_pool++] = of_image(r, image);
    dp_expr mean = dp_sample(m, "mean", D, dp_normal(0, 1.3));
    dp_expr effect = dp_sample_in(r->groups, "effect", D, dp_normal_v(mean, dp_num(0.4)));
    r->pool[r->n_pool++] = dp_pick(effect, dp_index(r->rows, "group", r->groups));
    dp_expr words = dp_indices(r->rows, "words", WORDS, r->groups);
    dp_expr embedding = dp_param_in(r->groups, "embedding", D, 0.17);
    r->pool[r->n_pool++] = dp_slice(dp_flatten(dp_pick(embedding, words)), 2, D);
}

static void observe(random_model *r)
{
    /* Everything has a part in it: a parameter that has none is refused. */
    dp_expr last = r->pool[r->n_pool - 1];
    for (size_t k = 0; k + 1 < r->n_pool; k++)
        last = dp_add(last, dp_scale(0.1, dp_tanh(r->pool[k])));
    dp_expr one = dp_slice(last, 1, 1);
    size_t which = draw(r, 6);
    (void)dp_deterministic(r->model, "eta", one);
    (void)dp_deterministic(r->model, "all of it", last);
    if (which == 0)
        dp_observe(r->rows, "count", dp_poisson_log(dp_tanh(one)));
    else if (which == 1)
        dp_observe(r->rows, "label", dp_categorical_logit(last));
    else if (which == 2)
        dp_observe(r->rows, "real", dp_student_t_v(dp_num(3.1), one, dp_num(0.7)));
    else if (which == 3)
        dp_observe(r->rows, "binary", dp_bernoulli_logit(one));
    else if (which == 4)
        dp_observe(r->rows, "count", dp_binomial_logit(dp_num(9), one));
    else {
        r->mixture = true;
        dp_plate parts = dp_plate_new(r->model, "parts", 3);
        dp_expr share = dp_sample(r->model, "share", 3, dp_dirichlet(2));
        dp_expr at = dp_sample_in(parts, "at", D, dp_normal(0, 2));
        dp_observe(r->rows, "vector", dp_mixture(share, dp_normal_v(at, dp_num(0.8))));
        dp_observe(r->rows, "real", dp_normal_v(one, dp_num(0.9)));
    }
}

/* ---- guides ---- */

static dp_expr guide_param(dp_model *g, dp_plate plate, const char *latent, const char *what,
                           size_t n, double init)
{
    char name[40];
    (void)snprintf(name, sizeof name, "%s of %s", what, latent);
    return plate.model != NULL ? dp_param_in(plate, name, n, init) : dp_param(g, name, n, init);
}

static void guide_latent(dp_model *g, dp_plate plate, const char *name, size_t n, int kind)
{
    dp_expr at = guide_param(g, plate, name, "at", n, 0.11);
    dp_expr width = dp_exp(guide_param(g, plate, name, "width", n, -1.7));
    dp_dist dist = kind == POSITIVE ? dp_log_normal_v(at, width) : dp_normal_v(at, width);
    if (plate.model != NULL)
        (void)dp_sample_in(plate, name, n, dist);
    else
        (void)dp_sample(g, name, n, dist);
}

static void write_guide(random_model *r)
{
    dp_model *g = r->guide = dp_guide_new(r->model);
    const dp_plate none = {NULL, 0};
    for (size_t k = 0; k < r->n_latents; k++) {
        size_t n = r->latent[k].n;
        if (r->latent[k].kind != RECORD) {
            guide_latent(g, none, r->latent[k].name, n, r->latent[k].kind);
            continue;
        }
        dp_plate rows = dp_unit_plate(g, "rows");
        dp_expr x = dp_data(rows, "x", D);
        dp_expr w = dp_reshape(dp_param(g, "encoder", D * n, 0.3), D, n);
        (void)dp_sample_in(rows, r->latent[k].name, n, dp_normal_v(dp_matmul(x, w), dp_num(0.35)));
    }
    guide_latent(g, none, "mean", D, REAL);
    guide_latent(g, dp_plate_new(g, "groups", GROUPS), "effect", D, REAL);
}

void random_model_new(random_model *r, uint64_t number_of_it)
{
    memset(r, 0, sizeof *r);
    r->state = 71 * number_of_it + 13;
    r->model = dp_model_new();
    add_columns(r);
    bool record = draw(r, 4) == 0;
    if (record)
        r->pool[r->n_pool++] = latent(r, RECORD, D, dp_normal(0, 1));
    for (size_t i = 0; i < STEPS; i++) {
        dp_expr a = r->pool[draw(r, r->n_pool)], b = r->pool[r->n_pool - 1];
        r->pool[r->n_pool++] = step(r, a, b);
    }
    observe(r);
    assert_ok(dp_model_status(r->model), dp_model_error(r->model));
    bool guidable = !r->mixture; /* whose weights only the mean-field guide can draw */
    for (size_t k = 0; k < r->n_latents; k++)
        guidable = guidable && r->latent[k].kind != OTHER;
    if (record && !guidable) { /* no guide could draw for the records: another model */
        random_model_free(r);
        random_model_new(r, number_of_it + 1000003);
    } else if (guidable && (record || draw(r, 2) == 0)) {
        write_guide(r);
        assert_ok(dp_model_status(r->guide), dp_model_error(r->guide));
    }
}

void random_model_free(random_model *r)
{
    dp_model_free(r->guide);
    dp_model_free(r->model);
    r->guide = r->model = NULL;
}
