#include "tests/model/scene.h"

#include <math.h>

static const double half_log_2pi = 0.91893853320467274178;

double x[N][2], y[N];
int32_t group[N];

double spread(size_t i)
{
    double at = (double)(i + 3) * 0.6180339887498949;
    return 2.385 * (at - floor(at)) - 1.213;
}

double noise_of(size_t k, size_t r)
{
    return spread(100 + 17 * k + r);
}

static double log_normal_density(double at, double loc, double scale)
{
    double z = (at - loc) / scale;
    return -0.5 * z * z - log(scale) - half_log_2pi;
}

/* log p - log q of a latent whose q is normal: drawn, with the entropy of q taken exactly; or its
 * mean, minus the divergence of normal distributions. */
static double normal_term(bool closed, double loc, double scale, double noise, double to,
                          double scale_to)
{
    if (closed)
        return 0.5 + log(scale / scale_to) -
               (scale * scale + (loc - to) * (loc - to)) / (2 * scale_to * scale_to);
    return log_normal_density(loc + scale * noise, to, scale_to) + log(scale) + 0.5 + half_log_2pi;
}

static double logistic(double z)
{
    return 1 / (1 + exp(-z));
}

void fill(void)
{
    for (size_t i = 0; i < N; i++) {
        x[i][0] = spread(2 * i);
        x[i][1] = spread(2 * i + 1);
        y[i] = (double)(i * i % 2);
        group[i] = (int32_t)(i * 2 % GROUPS);
    }
}

/* ---- a mean-field guide over every support ---- */

/* theta: loc and log_scale of mu, tau, p, u; w.loc[2], w.log_scale[2]; a.loc[3], a.log_scale[3];
 * b */
enum { MU = 0, TAU = 2, P = 4, U = 6, W = 8, A = 12, B = 18 };

static double at(const double *theta, size_t loc, size_t log_scale, double noise)
{
    return theta[loc] + exp(theta[log_scale]) * noise;
}

static double field_prior(const double *t, size_t r, bool closed)
{
    double mu = at(t, MU, MU + 1, noise_of(0, r)), z_tau = at(t, TAU, TAU + 1, noise_of(1, r)),
           z_p = at(t, P, P + 1, noise_of(2, r)), z_u = at(t, U, U + 1, noise_of(3, r)),
           tau = exp(z_tau), p = logistic(z_p), q = logistic(z_u);
    double tau2 = closed ? exp(2 * t[TAU] + 2 * exp(2 * t[TAU + 1])) : tau * tau,
           log_tau = closed ? t[TAU] : z_tau;
    double sum = normal_term(closed, t[MU], exp(t[MU + 1]), noise_of(0, r), 0.3, 2) + log(2) -
                 tau2 / (2 * 1.5 * 1.5) - log(1.5) - half_log_2pi + log(12) + log(p) +
                 2 * log(1 - p) - log(3.5); /* half-normal, beta(2, 3), uniform */
    for (size_t k = 0; k < 2; k++)
        sum += normal_term(closed, t[W + k], exp(t[W + 2 + k]), noise_of(4 + k, r), 0, 1.7);
    for (size_t k = 0; k < GROUPS; k++)
        sum += normal_term(closed, t[A + k], exp(t[A + GROUPS + k]), noise_of(6 + k, r), mu, tau);
    sum += t[TAU + 1] + t[P + 1] + t[U + 1] + 3 * (0.5 + half_log_2pi);
    return sum + log_tau + log(p * (1 - p)) + log(3.5 * q * (1 - q));
}

static double field_record(const double *t, size_t i, size_t r, bool closed)
{
    (void)closed;
    size_t k = (size_t)group[i];
    double eta = at(t, A + k, A + GROUPS + k, noise_of(6 + k, r)) + t[B];
    eta +=
        x[i][0] * at(t, W, W + 2, noise_of(4, r)) + x[i][1] * at(t, W + 1, W + 3, noise_of(5, r));
    eta += x[i][0] * logistic(at(t, P, P + 1, noise_of(2, r))) *
           (-1 + 3.5 * logistic(at(t, U, U + 1, noise_of(3, r))));
    return y[i] * eta - log1p(exp(eta));
}

scene field(void)
{
    scene s = {
        .m = dp_model_new(), .n_theta = FIELD_SIZE, .prior = field_prior, .record = field_record};
    if (s.m == NULL)
        return s;
    dp_plate rows = dp_unit_plate(s.m, "rows"), groups = dp_plate_new(s.m, "groups", GROUPS);
    dp_expr data = dp_data(rows, "x", 2), g = dp_index(rows, "g", groups);
    dp_expr mu = dp_sample(s.m, "mu", 1, dp_normal(0.3, 2));
    dp_expr tau = dp_sample(s.m, "tau", 1, dp_half_normal(1.5));
    dp_expr p = dp_sample(s.m, "p", 1, dp_beta(2, 3));
    dp_expr u = dp_sample(s.m, "u", 1, dp_uniform(-1, 2.5));
    dp_expr w = dp_sample(s.m, "w", 2, dp_normal(0, 1.7));
    dp_expr a = dp_sample_in(groups, "a", 1, dp_normal_v(mu, tau));
    dp_expr b = dp_param(s.m, "b", 1, 0);
    dp_expr eta = dp_add(dp_add(dp_pick(a, g), b), dp_dot(data, w));
    eta = dp_add(eta, dp_mul(dp_slice(data, 0, 1), dp_mul(p, u)));
    dp_observe(rows, "y", dp_bernoulli_logit(eta));
    return s;
}

/* ---- a written guide with dependent latents, and a latent of each record ---- */

/* theta: of u: M, LS; of v: MV, C; of z: K, D */
enum { M, LS, MV, C, K, D };

static double written_u(const double *t, size_t r)
{
    return t[M] + exp(t[LS]) * noise_of(0, r);
}

static double written_log_v(const double *t, size_t r)
{
    return t[MV] + t[C] * written_u(t, r) + 0.4 * noise_of(1, r);
}

/* A written guide's entropy is drawn where its latent is. */
static double guided_term(bool closed, double loc, double scale, double noise, double to,
                          double scale_to)
{
    double drawn = 0.5 * (noise * noise - 1);
    return normal_term(closed, loc, scale, noise, to, scale_to) + (closed ? 0 : drawn);
}

/* The Jacobians of log v cancel. */
static double written_prior(const double *t, size_t r, bool closed)
{
    return guided_term(closed, t[M], exp(t[LS]), noise_of(0, r), 0, 1) +
           guided_term(closed, t[MV] + t[C] * written_u(t, r), 0.4, noise_of(1, r), 0.1, 0.8);
}

static double written_record(const double *t, size_t i, size_t r, bool closed)
{
    double u = written_u(t, r), loc = x[i][0] + t[K] * u, scale = exp(t[D]);
    double z = loc + scale * noise_of(2, i);
    return guided_term(closed, loc, scale, noise_of(2, i), u, 1.3) +
           log_normal_density(y[i], z * exp(written_log_v(t, r)), 0.9);
}

scene written(void)
{
    scene s = {.m = dp_model_new(),
               .n_theta = WRITTEN_SIZE,
               .prior = written_prior,
               .record = written_record};
    if (s.m == NULL)
        return s;
    dp_plate rows = dp_unit_plate(s.m, "rows");
    dp_expr u = dp_sample(s.m, "u", 1, dp_normal(0, 1));
    dp_expr v = dp_sample(s.m, "v", 1, dp_log_normal(0.1, 0.8));
    dp_expr z = dp_sample_in(rows, "z", 1, dp_normal_v(u, dp_num(1.3)));
    dp_observe(rows, "y", dp_normal_v(dp_mul(z, v), dp_num(0.9)));
    s.guide = dp_guide_new(s.m);
    if (s.guide == NULL)
        return s;
    rows = dp_unit_plate(s.guide, "rows");
    dp_expr m = dp_param(s.guide, "m", 1, 0), ls = dp_param(s.guide, "ls", 1, 0),
            mv = dp_param(s.guide, "mv", 1, 0), c = dp_param(s.guide, "c", 1, 0),
            k = dp_param(s.guide, "k", 1, 0), d = dp_param(s.guide, "d", 1, 0);
    u = dp_sample(s.guide, "u", 1, dp_normal_v(m, dp_exp(ls)));
    (void)dp_sample(s.guide, "v", 1, dp_log_normal_v(dp_add(mv, dp_mul(c, u)), dp_num(0.4)));
    dp_expr loc = dp_add(dp_slice(dp_data(rows, "x", 2), 0, 1), dp_mul(k, u));
    (void)dp_sample_in(rows, "z", 1, dp_normal_v(loc, dp_exp(d)));
    return s;
}

/* ---- a mixture with free weights ---- */

/* theta: of the weights' two free numbers, loc and log_scale; of means [3][2]; of scales [3] */
enum { FREE = 0, MEAN = 4, SCALE = 16 };

/* The logarithms of the weights, up to a common term: Helmert's contrasts of three. */
static void blend_logits(const double *t, size_t r, double logit[GROUPS])
{
    double first = at(t, FREE, FREE + 2, noise_of(0, r)) / sqrt(2),
           second = at(t, FREE + 1, FREE + 3, noise_of(1, r)) / sqrt(6);
    logit[0] = first + second;
    logit[1] = -first + second;
    logit[2] = -2 * second;
}

static double blend_mean(const double *t, size_t e, size_t r)
{
    return at(t, MEAN + e, MEAN + 6 + e, noise_of(2 + e, r));
}

static double blend_log_scale(const double *t, size_t k, size_t r)
{
    return at(t, SCALE + k, SCALE + GROUPS + k, noise_of(8 + k, r));
}

static double blend_prior(const double *t, size_t r, bool closed)
{
    double logit[GROUPS], total = 0, sum = 5 * (0.5 + half_log_2pi);
    blend_logits(t, r, logit);
    for (size_t k = 0; k < GROUPS; k++)
        total += exp(logit[k]);
    /* Dirichlet(0.8), and the Jacobian: the product of the weights times the root of 3. */
    for (size_t k = 0; k < GROUPS; k++)
        sum += (0.8 - 1 + 1) * (logit[k] - log(total)) - lgamma(0.8);
    sum += lgamma(GROUPS * 0.8) + 0.5 * log(3) + t[FREE + 2] + t[FREE + 3];
    for (size_t e = 0; e < 6; e++)
        sum += normal_term(closed, t[MEAN + e], exp(t[MEAN + 6 + e]), noise_of(2 + e, r), 0, 1.2);
    for (size_t k = 0; k < GROUPS; k++) { /* inverse gamma(1, 1): e^(-1 / s) / s^2 */
        double z = blend_log_scale(t, k, r), loc = t[SCALE + k], log_scale = t[SCALE + GROUPS + k];
        double inverse = closed ? exp(-loc + exp(2 * log_scale) / 2) : exp(-z);
        sum += -inverse - (closed ? loc : z) + log_scale;
    }
    return sum;
}

static double blend_record(const double *t, size_t i, size_t r, bool closed)
{
    (void)closed;
    double logit[GROUPS], total = 0, sum = 0;
    blend_logits(t, r, logit);
    for (size_t k = 0; k < GROUPS; k++) {
        double scale = exp(blend_log_scale(t, k, r));
        total += exp(logit[k]);
        sum += exp(logit[k] + log_normal_density(x[i][0], blend_mean(t, 2 * k, r), scale) +
                   log_normal_density(x[i][1], blend_mean(t, 2 * k + 1, r), scale));
    }
    return log(sum / total);
}

scene blend(void)
{
    scene s = {
        .m = dp_model_new(), .n_theta = BLEND_SIZE, .prior = blend_prior, .record = blend_record};
    if (s.m == NULL)
        return s;
    dp_plate rows = dp_unit_plate(s.m, "rows"), groups = dp_plate_new(s.m, "groups", GROUPS);
    dp_expr weights = dp_sample(s.m, "weights", GROUPS, dp_dirichlet(0.8));
    dp_expr mean = dp_sample_in(groups, "mean", 2, dp_normal(0, 1.2));
    dp_expr scale = dp_sample_in(groups, "scale", 1, dp_inverse_gamma(1, 1));
    dp_observe(rows, "x", dp_mixture(weights, dp_normal_v(mean, scale)));
    return s;
}

scene (*const scenes[N_SCENES])(void) = {field, written, blend};

void leave(scene *s)
{
    dp_model_free(s->guide);
    dp_model_free(s->m);
}
