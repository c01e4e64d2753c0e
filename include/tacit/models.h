/* Ready models: regressions, mixtures and other models with latents of records, times to an event,
 * and networks.
 *
 * Each call writes one model with the calls of tacit/model.h and hands it over; what can be written
 * so can be written differently, and models/<name>.c, which has its mathematics at the top, is the
 * place to begin from.  The names of latents, parameters and columns are given here: they are what
 * dp_fit_summary, dp_svi_set and a data set use.  Computed values (dp_deterministic) are evaluated
 * by dp_fit_evaluate.
 *
 * In an options struct zero means the default, which stands in brackets.
 *
 * *m [out] is owned by the caller, who frees it with dp_model_free; NULL on error.  Errors are
 * those of the model (dp_model_status), DP_EINVAL for options that are no model, and DP_ENOMEM.
 * What the options point to is borrowed for the call.  Any thread may call. */
#ifndef TACIT_MODELS_H
#define TACIT_MODELS_H

#include <stdint.h>

#include <tacit/model.h>
#include <tacit/smooth.h>
#include <tacit/svi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- regressions ---- */

/* What is observed given the predictor eta of a record. */
typedef enum dp_likelihood {
    DP_LIKELIHOOD_NORMAL = 0,       /* eta with noise of an unknown scale */
    DP_LIKELIHOOD_LOGISTIC,         /* 1 with log odds eta, else 0 */
    DP_LIKELIHOOD_POISSON,          /* a count with mean e^eta */
    DP_LIKELIHOOD_NEGATIVE_BINOMIAL /* the same that varies more, by an unknown dispersion */
} dp_likelihood;

/* A column of group numbers 0 ... size - 1; each group has an intercept of its own. */
typedef struct dp_grouping {
    const char *column;
    size_t size;
} dp_grouping;

/* eta = intercept + x . w + sum over groupings of <column>_effect[group]
 *
 *   column   x  [predictors], where there are any; y; one column a grouping
 *   latents  intercept ~ N(0, intercept_scale),  w_j ~ N(0, scale),
 *            <column>_effect_k ~ N(0, <column>_sd),  <column>_sd ~ HalfNormal(group_scale),
 *            noise_sd ~ HalfNormal(noise_scale) with DP_LIKELIHOOD_NORMAL,
 *            dispersion ~ LogNormal(1, 1.5) with DP_LIKELIHOOD_NEGATIVE_BINOMIAL
 *   values   eta, and of the outcome's mean:
 *            mean (normal), probability (logistic), rate (Poisson and negative binomial) */
typedef struct dp_regression_opts {
    size_t predictors;            /* numbers of x; 0: none */
    double scale;                 /* of the coefficients' prior [2.5] */
    const double *scales;         /* [predictors], nullable: one for each coefficient, instead */
    double intercept_scale;       /* [5] */
    double noise_scale;           /* of a normal outcome [1] */
    double group_scale;           /* [1] */
    const dp_grouping *groupings; /* [n_groupings] */
    size_t n_groupings;
    dp_likelihood likelihood; /* of dp_hierarchical_regression; the others have their own */
} dp_regression_opts;

/* The likelihood is the call's.  DP_EINVAL a scale that is not above 0 and finite. */
DP_API dp_status dp_linear_regression(const dp_regression_opts *opts, dp_model **m,
                                      dp_error *err) DP_MUST_CHECK;
DP_API dp_status dp_logistic_regression(const dp_regression_opts *opts, dp_model **m,
                                        dp_error *err) DP_MUST_CHECK;
DP_API dp_status dp_poisson_regression(const dp_regression_opts *opts, dp_model **m,
                                       dp_error *err) DP_MUST_CHECK;

DP_API dp_status dp_negative_binomial_regression(const dp_regression_opts *opts, dp_model **m,
                                                 dp_error *err) DP_MUST_CHECK;

/* With at least one grouping, and the likelihood of the options. */
DP_API dp_status dp_hierarchical_regression(const dp_regression_opts *opts, dp_model **m,
                                            dp_error *err) DP_MUST_CHECK;

/* Ordered categories, as of ratings: P(y <= k) = F(cutpoints_k - eta), eta = x . w, F logistic
 * (proportional odds) or standard normal.
 *
 *   column   x  [predictors];  y: categories 0 ... categories - 1, by dp_dataset_index
 *   latents  w_j ~ N(0, scale);  cutpoints [categories - 1] ~ N(0, cutpoint_scale) in increasing
 *            order
 *   value    eta */
typedef struct dp_ordered_opts {
    size_t predictors, categories; /* at least 1 and 3 */
    bool probit;                   /* F is normal, and not logistic */
    double scale;                  /* [2.5] */
    double cutpoint_scale;         /* [5] */
} dp_ordered_opts;

DP_API dp_status dp_ordered_regression(const dp_ordered_opts *opts, dp_model **m,
                                       dp_error *err) DP_MUST_CHECK;

/* Rows of counts of categories, each row out of a number of trials: softmax(0, eta), eta =
 * intercept + x W for all categories but the first.
 *
 *   column   x  [predictors], where there are any;  trials;  y  [categories], which sum to trials
 *   latents  intercept  [categories - 1] ~ N(0, intercept_scale);  w  [predictors][categories - 1],
 *            without the first dimension for one predictor, ~ N(0, scale)
 *   value    eta  [categories - 1] */
typedef struct dp_multinomial_opts {
    size_t predictors, categories; /* 0: none; at least 3 */
    double scale;                  /* [2.5] */
    double intercept_scale;        /* [5] */
} dp_multinomial_opts;

DP_API dp_status dp_multinomial_regression(const dp_multinomial_opts *opts, dp_model **m,
                                           dp_error *err) DP_MUST_CHECK;

/* ---- mixture ---- */

/* x comes from component k with chance w_k: x_j ~ N(mean_kj, sd_k); the component is summed out.
 *
 *   column   x  [dimensions]
 *   latents  w ~ Dirichlet(concentration),  mean [components][dimensions] ~ N(0, mean_scale),
 *            sd [components] ~ InverseGamma(1, sd_scale)
 *   value    component_probability  [components]: of a record's component, given its x */
typedef struct dp_mixture_opts {
    size_t components, dimensions; /* at least 2 and 1; at most 4096 means together */
    double concentration;          /* [1] */
    double mean_scale, sd_scale;   /* [1] */
} dp_mixture_opts;

DP_API dp_status dp_gaussian_mixture(const dp_mixture_opts *opts, dp_model **m,
                                     dp_error *err) DP_MUST_CHECK;

/* Starts a run of the mixture (with its mean-field guide, before the first step) from means that
 * lie apart, on a spiral over their prior, and not from data.  From equal means no component would
 * leave the others.  Errors as dp_svi_set. */
DP_API dp_status dp_gaussian_mixture_start(dp_svi *svi, const dp_mixture_opts *opts,
                                           dp_error *err) DP_MUST_CHECK;

/* ---- discrete latents, summed out ---- */

/* A hidden Markov model; a record is a sequence, of a state at each time and what it emits there:
 * y_t ~ N(mean_k, sd_k) in state k, or with `symbols` the symbol v with chance emission_kv.
 *
 *   column   y  [times], numbers or symbols 0 ... symbols - 1;  with `gaps` seen  [times], 1 where
 *            y_t was seen and 0 where it was not or the sequence is over (y_t is any number then)
 *   latents  initial ~ Dirichlet(1),  transition [states][states], rows ~ Dirichlet(1 where the
 *            state changes, stay where it stays),  mean [states] ~ N(0, mean_scale),
 *            sd [states] ~ InverseGamma(1, sd_scale);  or emission [states][symbols], rows ~
 *            Dirichlet(1)
 *   value    state_probability  [times][states]: of each time's state, given the whole record */
typedef struct dp_hidden_markov_opts {
    size_t states, times;        /* at least 2 and 1 */
    size_t symbols;              /* at least 2; 0: numbers are emitted */
    bool gaps;                   /* there is a column seen */
    bool ordered;                /* means are in increasing order (dp_ordered): one mode, not
                                  * states! of them; for chains of draws (DP_METHOD_EXACT) */
    double stay;                 /* [1] */
    double mean_scale, sd_scale; /* [1] */
} dp_hidden_markov_opts;

DP_API dp_status dp_hidden_markov(const dp_hidden_markov_opts *opts, dp_model **m,
                                  dp_error *err) DP_MUST_CHECK;

/* Starts a run (with its mean-field guide, before the first step) from states that emit
 * differently: means at equal distances over their prior, or a likely symbol for each state.
 * It reads no data.  From equal states none would leave the others.  Errors as dp_svi_set. */
DP_API dp_status dp_hidden_markov_start(dp_svi *svi, const dp_hidden_markov_opts *opts,
                                        dp_error *err) DP_MUST_CHECK;

/* Annotators who err each in his way (Dawid and Skene 1979); a record is an item, of a true class
 * that nobody saw and labels that are independent given it.
 *
 *   column   label0, label1, ... of each annotator, 0 ... classes - 1;  with `gaps` seen
 *            [annotators], 1 where there is a label and 0 where there is none (then any number)
 *   latents  prevalence ~ Dirichlet(1);  confusion0, confusion1, ... [classes][classes]: rows, the
 *            chances of labels given the true class, ~ Dirichlet(right where it is right, else 1)
 *   value    class_probability  [classes]: of the item's true class given its labels */
typedef struct dp_dawid_skene_opts {
    size_t classes, annotators; /* at least 2 and 1; at most 1024 annotators */
    bool gaps;                  /* there is a column seen */
    double right;               /* [4]; annotators are mostly right where it is above 1 */
} dp_dawid_skene_opts;

DP_API dp_status dp_dawid_skene(const dp_dawid_skene_opts *opts, dp_model **m,
                                dp_error *err) DP_MUST_CHECK;

/* ---- continuous latents of records, integrated out ---- */

/* Item response; a record is a person who answers items: y_j is 1 with log odds
 * discrimination_j (ability - difficulty_j).  The person's ability ~ N(0, 1) is integrated out on a
 * grid (Bock and Aitkin 1981).
 *
 *   column   y  [items], 0 or 1;  with `gaps` seen  [items], 1 where y_j was answered
 *   latents  difficulty [items] ~ N(0, difficulty_scale);  discrimination ~ LogNormal(0,
 *            discrimination_scale), one for all, or with `each` [items]
 *   values   ability: its mean given the answers;  ability_sd: its standard deviation */
typedef struct dp_item_response_opts {
    size_t items;                /* at least 1 */
    bool each;                   /* two parameters an item, and not one */
    bool gaps;                   /* there is a column seen */
    double difficulty_scale;     /* [2] */
    double discrimination_scale; /* [0.5] */
} dp_item_response_opts;

DP_API dp_status dp_item_response(const dp_item_response_opts *opts, dp_model **m,
                                  dp_error *err) DP_MUST_CHECK;

/* Factor analysis: y = mean + L z + noise, z ~ N(0, 1) of each record integrated out, so that
 * y ~ N(mean, L L' + diag(noise_sd^2)).  L [observed][factors] has zeros above its diagonal and
 * numbers above 0 on it, which leaves one L of all that rotations make.
 *
 *   column   y  [observed]
 *   latents  mean [observed] ~ N(0, mean_scale);  diagonal [factors] ~ HalfNormal(loading_scale);
 *            below ~ N(0, loading_scale): L under its diagonal, row after row;
 *            noise_sd [observed] ~ HalfNormal(noise_scale)
 *   values   loadings  [observed][factors];  factors [factors]: the mean of z given y */
typedef struct dp_factor_analysis_opts {
    size_t observed, factors;                      /* factors at most observed - 1, and 64 */
    double mean_scale, loading_scale, noise_scale; /* [1] */
} dp_factor_analysis_opts;

DP_API dp_status dp_factor_analysis(const dp_factor_analysis_opts *opts, dp_model **m,
                                    dp_error *err) DP_MUST_CHECK;

/* ---- times to an event ---- */

/* Weibull times, also censored ones: P(T > t) = e^-(t / e^eta)^shape, eta = intercept + x . w.
 *
 *   column   x  [predictors], where there are any;  time, above 0;  censored: 0 where the event
 *            came at that time, 1 where it had not come by then, -1 where it had come before
 *   latents  intercept ~ N(0, intercept_scale),  w_j ~ N(0, scale),
 *            shape ~ LogNormal(0, shape_scale)
 *   values   eta;  median: of the time */
typedef struct dp_survival_opts {
    size_t predictors;      /* numbers of x; 0: none */
    double scale;           /* of the coefficients' prior [2.5] */
    double intercept_scale; /* [5] */
    double shape_scale;     /* [1] */
} dp_survival_opts;

DP_API dp_status dp_survival(const dp_survival_opts *opts, dp_model **m,
                             dp_error *err) DP_MUST_CHECK;

/* ---- curves ---- */

/* Regression on a smooth curve: a Gaussian process of x by sines (dp_hilbert_gp, tacit/smooth.h).
 *
 *   column   x, y
 *   latents  intercept ~ N(0, intercept_scale);  noise_sd ~ HalfNormal(noise_scale);  curve_sd,
 *            curve_length, curve_weight as dp_hilbert_gp has them
 *   value    mean: intercept + curve */
typedef struct dp_gaussian_process_opts {
    dp_gp_opts process;     /* the range of x, which has no default, and the rest */
    double intercept_scale; /* [5] */
    double noise_scale;     /* [1] */
} dp_gaussian_process_opts;

DP_API dp_status dp_gaussian_process(const dp_gaussian_process_opts *opts, dp_model **m,
                                     dp_error *err) DP_MUST_CHECK;

/* ---- networks ---- */

typedef enum dp_activation { DP_ACTIVATION_TANH = 0, DP_ACTIVATION_RELU } dp_activation;

/* A multilayer perceptron that classifies: dense layers with an activation between them.
 *
 *   column      x  [inputs],  y  0 ... classes - 1
 *   parameters  W1 [inputs][hidden[0]], b1, ... : layer after layer, the last one to the classes
 *   values      logits, class_probability  [classes]
 * Weights start by Glorot's rule with tanh and He's with relu, biases at 0. */
typedef struct dp_mlp_opts {
    size_t inputs, classes;
    const size_t *hidden; /* [n_hidden] units of each hidden layer */
    size_t n_hidden;      /* 0: multinomial logistic regression; at most 64 */
    dp_activation activation;
    uint64_t seed; /* public, of the weights' start (dp_model_seed) */
} dp_mlp_opts;

DP_API dp_status dp_mlp(const dp_mlp_opts *opts, dp_model **m, dp_error *err) DP_MUST_CHECK;

/* A multilayer perceptron whose weights have priors: a classifier, or a regression of a number.
 *
 *   column   x  [inputs],  y  0 ... classes - 1, or a number where classes is 0
 *   latents  W1 [inputs][hidden[0]] ~ N(0, scale / sqrt(inputs)), b1 ~ N(0, scale), ... : layer
 *            after layer, the last one to the classes or the number;  noise_sd of the number
 *   values   logits, class_probability  [classes]; or mean
 * Its posterior has many equal modes (units change places): means of predictions over draws mean
 * something, means of weights do not. */
typedef struct dp_bayesian_network_opts {
    size_t inputs, classes; /* classes 0: y is a number */
    const size_t *hidden;   /* [n_hidden] units of each hidden layer */
    size_t n_hidden;        /* at most 64 */
    dp_activation activation;
    double scale;       /* of weights and biases [1] */
    double noise_scale; /* of the number's noise [1] */
} dp_bayesian_network_opts;

DP_API dp_status dp_bayesian_network(const dp_bayesian_network_opts *opts, dp_model **m,
                                     dp_error *err) DP_MUST_CHECK;

/* A convolution with an activation, then the largest numbers of each pooling window; zero strides
 * are 1, and pool 0 leaves pooling out.  Windows are square. */
typedef struct dp_cnn_layer {
    size_t filters;
    size_t size, stride, padding;
    size_t pool, pool_stride;
} dp_cnn_layer;

/* A convolutional network that classifies images: convolutions, a dense layer with an activation,
 * and a dense layer to the classes.
 *
 *   column      x  [rows columns channels], pixel after pixel;  y  0 ... classes - 1
 *   parameters  W1 [size size channels][filters], b1, ... : layer after layer
 *   values      logits, class_probability  [classes]
 * Weights start normal with standard deviation 1 / sqrt(rows of the weight), biases at 0. */
typedef struct dp_cnn_opts {
    size_t rows, columns, channels; /* of the images; channels [1] */
    const dp_cnn_layer *layers;     /* [n_layers], at least 1 and at most 64 */
    size_t n_layers;
    size_t hidden; /* units of the dense layer */
    size_t classes;
    dp_activation activation;
    uint64_t seed; /* as in dp_mlp_opts */
} dp_cnn_opts;

DP_API dp_status dp_cnn(const dp_cnn_opts *opts, dp_model **m, dp_error *err) DP_MUST_CHECK;

/* A variational autoencoder of numbers in 0 ... 1: a code z of each record, a decoder that makes
 * the record of it, and an encoder, which is the guide.
 *
 *   column      x  [inputs]: zeros and ones, such as dp_dataset_bernoulli draws of grey images
 *   latent      z  [latent] of each record ~ N(0, 1)
 *   parameters  W1, b1, W2, b2 of the decoder; V1, c1, V2, c2, V3, c3 of the encoder
 *   values      logits, reconstruction  [inputs]: chances of ones
 * Weights start by Glorot's rule, biases at 0. */
typedef struct dp_vae_opts {
    size_t inputs, hidden, latent;
    uint64_t seed; /* as in dp_mlp_opts */
} dp_vae_opts;

/* *guide [out] belongs to the caller too, and is freed before the model. */
DP_API dp_status dp_vae(const dp_vae_opts *opts, dp_model **m, dp_model **guide,
                        dp_error *err) DP_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif
