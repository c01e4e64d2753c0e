/* Writing a model down.
 *
 * A call here computes nothing: it adds to a graph, from which log densities, gradients, prior and
 * predictive draws are derived.  The first error sticks to the model with the caller's file and
 * line and a remedy; every later call does nothing, so that one check at the end is enough
 * (dp_model_error, or the error of the call that takes the model).
 *
 * Values are global (one for the model) or per-record (one for each row of the unit plate).  A
 * group effect meets records by dp_pick.  Shapes: n = 1 is a number, n > 1 a vector [n]; in a plate
 * of K members, [K] or [K][n].  Smaller operands are repeated over leading dimensions.
 *
 * A model belongs to its caller, who frees it; it is not thread-safe while it is written, and const
 * use afterwards is.  The macros of this header only record file and line. */
#ifndef TACIT_MODEL_H
#define TACIT_MODEL_H

#include <stdio.h>

#include <tacit/algebra.h>
#include <tacit/dist.h>
#include <tacit/expr.h>
#include <tacit/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the gradient of a unit is cut off from what all units share, clipped and released:
 * DP_FORM_LATENTS     at the values that records read; the rest is exact.  Divergences of guide
 *                     from prior are in closed form where there is one (normal and log-normal
 *                     guides), also of a record's latents.
 * DP_FORM_PARAMETERS  at the guide's parameters, with 1/n of the prior in each unit's, and draws
 *                     throughout (as in d3p); n, the data set's number of units, counts as public,
 *                     and a ledger's budget for DP_ADD_REMOVE refuses it. */
typedef enum dp_form { DP_FORM_LATENTS = 0, DP_FORM_PARAMETERS } dp_form;

/* A set of exchangeable members: the records, or groups. */
typedef struct dp_plate {
    dp_model *model;
    int32_t id;
} dp_plate;

/* An empty model; NULL when memory is out. */
DP_API dp_model *dp_model_new(void);

/* An empty guide for a model: a variational family written in the same vocabulary, with a dp_sample
 * of a reparameterisable family (normal, log-normal) for every latent of the model, by the same
 * names and within the support of its prior, and dp_param for what is to be learnt, by names that
 * the model's parameters do not have.  The model must outlive the guide.  NULL when memory is
 * out. */
DP_API dp_model *dp_guide_new(const dp_model *model);

/* Frees a model or guide with all its expressions; NULL is allowed. */
DP_API void dp_model_free(dp_model *m);

enum { DP_MODEL_HASH = 32 };

/* A hash of all that the model computes, whatever file it was written in: two that differ in it
 * are different models.  Zeros for NULL. */
DP_API void dp_model_hash(const dp_model *m, unsigned char hash[DP_MODEL_HASH]);

/* Status of the first error, DP_OK when there was none. */
DP_API dp_status dp_model_status(const dp_model *m);

/* Message of the first error, or NULL; valid until the model is freed. */
DP_API const char *dp_model_error(const dp_model *m);

/* The plate of records; one record is one unit of privacy, unless the data set has a unit column
 * (dp_dataset_unit).  A model has one. */
DP_API dp_plate dp_unit_plate_at(dp_model *m, const char *name, const char *file, int line);
#define dp_unit_plate(m, name) dp_unit_plate_at(m, name, __FILE__, __LINE__)

/* A plate of `size` groups, size >= 1; its size must be public.  In a guide: the model's plate of
 * that name. */
DP_API dp_plate dp_plate_new_at(dp_model *m, const char *name, size_t size, const char *file,
                                int line);
#define dp_plate_new(m, name, size) dp_plate_new_at(m, name, size, __FILE__, __LINE__)

/* A real column block of the records, d numbers each: per-record. */
DP_API dp_expr dp_data_at(dp_plate rows, const char *name, size_t d, const char *file, int line);
#define dp_data(rows, name, d) dp_data_at(rows, name, d, __FILE__, __LINE__)

/* A column of group numbers, 0 ... size of `groups` - 1: per-record. */
DP_API dp_expr dp_index_at(dp_plate rows, const char *name, dp_plate groups, const char *file,
                           int line);
#define dp_index(rows, name, groups) dp_index_at(rows, name, groups, __FILE__, __LINE__)

/* A column of d such numbers a record, such as words: dp_pick gives a row for each, [d][n]. */
DP_API dp_expr dp_indices_at(dp_plate rows, const char *name, size_t d, dp_plate groups,
                             const char *file, int line);
#define dp_indices(rows, name, d, groups) dp_indices_at(rows, name, d, groups, __FILE__, __LINE__)

/* A latent value of n independent numbers. */
DP_API dp_expr dp_sample_at(dp_model *m, const char *name, size_t n, dp_dist dist, const char *file,
                            int line);
#define dp_sample(m, name, n, dist) dp_sample_at(m, name, n, dist, __FILE__, __LINE__)

/* A latent value of n numbers for each member of a plate.  In the unit plate it is per-record, and
 * the guide must provide it from the record's data. */
DP_API dp_expr dp_sample_in_at(dp_plate plate, const char *name, size_t n, dp_dist dist,
                               const char *file, int line);
#define dp_sample_in(plate, name, n, dist) dp_sample_in_at(plate, name, n, dist, __FILE__, __LINE__)

/* The observed column `name` of the records; as many numbers a record as the distribution's
 * arguments broadcast to.  A value of each group comes in by dp_pick(value, index). */
DP_API void dp_observe_at(dp_plate rows, const char *name, dp_dist dist, const char *file,
                          int line);
#define dp_observe(rows, name, dist) dp_observe_at(rows, name, dist, __FILE__, __LINE__)

/* A plain parameter of n numbers, fitted without a prior; starts at init everywhere. */
DP_API dp_expr dp_param_at(dp_model *m, const char *name, size_t n, double init, const char *file,
                           int line);
#define dp_param(m, name, n, init) dp_param_at(m, name, n, init, __FILE__, __LINE__)

/* A parameter of n numbers for each member of a plate (not the unit plate). */
DP_API dp_expr dp_param_in_at(dp_plate plate, const char *name, size_t n, double init,
                              const char *file, int line);
#define dp_param_in(plate, name, n, init) dp_param_in_at(plate, name, n, init, __FILE__, __LINE__)

/* ---- where parameters start ---- */

/* Rows and columns of a matrix, at least 1 each. */
typedef struct dp_extent {
    size_t rows, columns;
} dp_extent;
DP_API dp_extent dp_extent_of(size_t rows, size_t columns);

/* A rule for the numbers that a weight [rows][columns] starts from, made by the calls below. */
typedef enum dp_init_rule {
    DP_INIT_CONSTANT = 0,
    DP_INIT_NORMAL,
    DP_INIT_GLOROT,
    DP_INIT_HE
} dp_init_rule;

typedef struct dp_init {
    dp_init_rule rule;
    double value;  /* the constant, or the standard deviation */
    size_t places; /* of a window, for Glorot */
} dp_init;

/* Zeros; one finite number; independent normal numbers of mean 0 and standard deviation sd > 0. */
DP_API dp_init dp_init_zeros(void);
DP_API dp_init dp_init_constant(double value);
DP_API dp_init dp_init_normal(double sd);

/* Uniform on (-a, a) with a = sqrt(6 / (rows + places columns)): for tanh and the like.  places is
 * the number of places of a convolution's window, which divides the rows; 1 for a dense layer.
 * Glorot and Bengio 2010 (AISTATS), eq. 16, whose fans are rows and places columns. */
DP_API dp_init dp_init_glorot(size_t places);

/* Normal with standard deviation sqrt(2 / rows): for rectifiers.  He et al. 2015
 * (arXiv:1502.01852), eq. 10. */
DP_API dp_init dp_init_he(void);

/* The seed of random starts of the parameters declared after it; 0 before.  The numbers are a
 * function of this seed and the parameter's name alone: they are public, read no data, and are
 * the same whenever the model is written again.  Never NULL; cannot fail. */
DP_API void dp_model_seed(dp_model *m, uint64_t seed);

/* A parameter [rows][columns] that starts by a rule: the weight of a dense layer (dp_dense: rows
 * inputs, columns outputs) or of a convolution (dp_conv2d: rows are the window's places times the
 * channels).  DP_ESHAPE or DP_EDOMAIN on the model. */
DP_API dp_expr dp_weights_at(dp_model *m, const char *name, dp_extent extent, dp_init init,
                             const char *file, int line);
#define dp_weights(m, name, rows, columns, init)                                                   \
    dp_weights_at(m, name, dp_extent_of(rows, columns), init, __FILE__, __LINE__)

/* Gives a computed value a name, by which a fit evaluates it later: a logit, a rate, a decoder's
 * image; global or per-record, a number or of any shape.  Returns the value.  It is no part of the
 * density and changes no fit.  Names are shared with sites and columns; a value may have several.
 * Models only: in a guide DP_EINVAL on the model, as is an expression of another model. */
DP_API dp_expr dp_deterministic_at(dp_model *m, const char *name, dp_expr value, const char *file,
                                   int line);
#define dp_deterministic(m, name, value) dp_deterministic_at(m, name, value, __FILE__, __LINE__)

/* A constant vector [n] (a number for n = 1) or matrix [rows][columns]; values are copied. */
DP_API dp_expr dp_constant(dp_model *m, size_t n, const double *values);
DP_API dp_expr dp_constant_matrix(dp_model *m, size_t rows, size_t columns, const double *values);

/* Elementwise arithmetic; smaller operands are repeated. */
DP_API dp_expr dp_add(dp_expr a, dp_expr b);
DP_API dp_expr dp_sub(dp_expr a, dp_expr b);
DP_API dp_expr dp_mul(dp_expr a, dp_expr b);
DP_API dp_expr dp_div(dp_expr a, dp_expr b);
DP_API dp_expr dp_scale(double factor, dp_expr a);

/* Elementwise functions. */
DP_API dp_expr dp_neg(dp_expr a);
DP_API dp_expr dp_exp(dp_expr a);
DP_API dp_expr dp_log(dp_expr a);
DP_API dp_expr dp_log1p(dp_expr a);
DP_API dp_expr dp_sqrt(dp_expr a);
DP_API dp_expr dp_lgamma(dp_expr a);  /* log |Gamma(a)| */
DP_API dp_expr dp_digamma(dp_expr a); /* its derivative */
DP_API dp_expr dp_square(dp_expr a);
DP_API dp_expr dp_logistic(dp_expr a); /* 1 / (1 + e^-a), the sigmoid */
DP_API dp_expr dp_softplus(dp_expr a);
DP_API dp_expr dp_tanh(dp_expr a);
DP_API dp_expr dp_sin(dp_expr a); /* a in radians */
DP_API dp_expr dp_cos(dp_expr a);
DP_API dp_expr dp_atan(dp_expr a);
DP_API dp_expr dp_abs(dp_expr a);
DP_API dp_expr dp_normal_cdf(dp_expr a); /* Phi(a) */

/* The larger of two numbers, elementwise; where they are equal, the derivative is b's. */
DP_API dp_expr dp_max(dp_expr a, dp_expr b);

/* 1 where a > b, else 0; elementwise, with derivative 0. */
DP_API dp_expr dp_greater(dp_expr a, dp_expr b);

/* a where the condition is not 0, else b; elementwise, smaller operands are repeated.  Not a number
 * where the condition is none.  What is not chosen has no part in the value or in a derivative,
 * infinite or not a number as it may be: the slope of dp_where(dp_greater(x, dp_num(0)), dp_log(x),
 * dp_num(0)) at x = 0 is 0.  That holds as far as a and b are made number by number; where a sum or
 * a product of vectors stands in between, choose its operands instead. */
DP_API dp_expr dp_where(dp_expr condition, dp_expr a, dp_expr b);

/* Activations, elementwise: relu is max(a, 0); leaky_relu is a for a > 0 and slope a below, slope
 * finite (DP_EDOMAIN on the model otherwise); their derivative at 0 is that of the side below.
 * gelu is a Phi(a), by erfc and not an approximation of it. */
DP_API dp_expr dp_relu(dp_expr a);
DP_API dp_expr dp_leaky_relu(double slope, dp_expr a);
DP_API dp_expr dp_gelu(dp_expr a);

/* e^(a_j) / sum_k e^(a_k) over the last dimension, and its logarithm, without overflow. */
DP_API dp_expr dp_softmax(dp_expr a);
DP_API dp_expr dp_log_softmax(dp_expr a);

/* (a - mean) / sqrt(variance + 1e-5) * scale + shift, with mean and variance (divided by the count)
 * of
 *   layer_norm  the last dimension: of a vector [d], or of each row of [m][d]
 *   group_norm  each of `groups` equal groups of successive channels of an image
 *               [pixels][channels], over all pixels; of a vector [channels], over the group.
 *               groups = 1: all numbers.
 * scale and shift are repeated as in dp_mul and dp_add: numbers, or one for each channel; dp_num(1)
 * and dp_num(0) leave them out.  DP_ESHAPE on the model where groups do not divide the channels.
 * Both are of one record alone.  There is no batch normalisation: statistics of a batch mix
 * records, so that no record has a gradient of its own to clip (Wu and He 2018, arXiv:1803.08494,
 * sect. 3, for groups). */
DP_API dp_expr dp_layer_norm(dp_expr a, dp_expr scale, dp_expr shift);
DP_API dp_expr dp_group_norm(dp_expr a, size_t groups, dp_expr scale, dp_expr shift);

/* Sum over all dimensions of a value (never over records). */
DP_API dp_expr dp_sum(dp_expr a);

/* Sum over the last dimension alone: of a vector a number, of [m][n] the sums of the rows, [m].  A
 * number stays as it is. */
DP_API dp_expr dp_sum_last(dp_expr a);

/* The same numbers n times along a new last dimension: [m] to [m][n], with a_i in all of row i,
 * n >= 1.  (Over a new first dimension operands are repeated without it.) */
DP_API dp_expr dp_spread(dp_expr a, size_t n);

/* Inner product of two vectors [k]; a number. */
DP_API dp_expr dp_dot(dp_expr a, dp_expr b);

/* Matrix product: [m][k] by [k][n], [m][k] by [k], or [k] by [k][n]. */
DP_API dp_expr dp_matmul(dp_expr a, dp_expr b);

/* A dense layer x W + b: x [k] or [m][k], W [k][n], b [n] (a number where n is 1). */
DP_API dp_expr dp_dense(dp_expr x, dp_expr weights, dp_expr bias);

/* A window of size[0] rows and size[1] columns that moves over an image in strides (0: 1), with
 * padding[0] rows of zeros above and below the image and padding[1] columns beside it, each less
 * than the window's size.  Along an axis it stops floor((image + 2 padding - size) / stride) + 1
 * times. */
typedef struct dp_window {
    size_t image[2], size[2], stride[2], padding[2]; /* rows, columns */
} dp_window;

/* Convolution in two dimensions: y[i][o] = sum over pixels p of the window at its i-th stop and
 * channels c of image[p][c] weights[p c][o].
 *   image    [rows columns][channels], row after row of the image, or a vector of all of that in
 *            this order (a column of dp_data); the same for all or per record
 *   weights  [size[0] size[1] channels][channels out], the window's pixels row after row, each with
 *            all channels
 * The result is an image again, [stops][channels out].  A bias [channels out] is added by
 * dp_add. */
DP_API dp_expr dp_conv2d(dp_expr image, dp_expr weights, const dp_window *window);

/* Means and largest numbers of what the window sees, channel by channel: [stops][channels] from an
 * image as in dp_conv2d.  A mean is the sum divided by the window's size, pixels in the padding
 * being zeros; a maximum leaves the padding out, and where two are equal the derivative is the
 * first one's. */
DP_API dp_expr dp_avg_pool2d(dp_expr image, const dp_window *window);
DP_API dp_expr dp_max_pool2d(dp_expr image, const dp_window *window);

/* The same numbers row after row as a matrix [rows][columns], and as a vector. */
DP_API dp_expr dp_reshape(dp_expr a, size_t rows, size_t columns);
DP_API dp_expr dp_flatten(dp_expr a);

/* log sum_j e^(a_j) of a vector, or of each row of [m][n]: of the last dimension. */
DP_API dp_expr dp_log_sum_exp(dp_expr a);

/* The sums a_0 + ... + a_j up to each number of a vector, or of each row of [m][n], in the
 * dimensions of a; a number stays as it is.  Of independent steps it is a random walk. */
DP_API dp_expr dp_cumulative_sum(dp_expr a);

/* The group's row: value [K] or [K][n], index a group number; per-record when the index is.  With
 * the d numbers of dp_indices the rows of all, [d] or [d][n]: an embedding. */
DP_API dp_expr dp_pick(dp_expr value, dp_expr index);

/* Elements from ... from + n - 1 of the first dimension; with n = 1 that dimension is dropped. */
DP_API dp_expr dp_slice(dp_expr a, size_t from, size_t n);

/* Two vectors one after the other: [k] and [l] to [k + l]; numbers count as [1]. */
DP_API dp_expr dp_concat(dp_expr a, dp_expr b);

/* The model as text: a line a site (latent, observed, parameter, computed) with shape, distribution
 * and place in the caller's source, then a line a value that crosses to the records, saying whether
 * each record's gradient is made or its norm comes from factors and what that costs (of a guide,
 * with its model), then a line a node of the graph with formula, shape, place and cost.  The
 * model's own first error; DP_EIO, DP_ENOMEM. */
DP_API dp_status dp_model_describe(const dp_model *m, FILE *out);

/* The graph in Graphviz' dot language; where data can reach parameters is marked.  Errors as
 * above. */
DP_API dp_status dp_model_dot(const dp_model *m, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
