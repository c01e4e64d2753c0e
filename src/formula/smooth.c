/* Smooth functions and Gaussian processes of a column, on public bases. */
#include <math.h>

#include "formula/atom.h"
#include "formula/walk.h"

/* "s(x, k = 8)" with the parameter that it is of, where that is not the mean. */
static const char *smooth_name(dpi_formula_walk *k, const dpi_predictor *p, size_t i,
                               const dpi_predictor_names *names)
{
    const char *text = dpi_tree_string(p->smooth[i], &k->w.arena);
    k->w.failed = k->w.failed || text == NULL;
    return dpi_walk_joined(k, names->infix, text != NULL ? text : "", "");
}

/* A Gaussian process with squared exponential covariance sd^2 e^(-(u - v)^2 / (2 l^2)), of x moved
 * to u in [-1, 1], by the first n eigenfunctions of the Laplacian on [-L, L], L = DPI_WIDE:
 *
 *   f(u) = sum_j sqrt(S(w_j)) z_j sin(w_j (u + L)) / sqrt(L),  w_j = pi j / (2 L),
 *   S(w) = sd^2 sqrt(2 pi) l e^(-l^2 w^2 / 2),  z_j ~ N(0, 1)
 *
 * (Solin and Sarkka 2020, Statistics and Computing 30: 419; Riutort-Mayol et al. 2023, ibid. 33:
 * 17).  It is as good as the process where l is above about 1.75 * 2 L / n. */
static dpi_value process(dpi_formula_walk *k, dpi_value basis, const char *name, size_t n,
                         double unit)
{
    enum { MOST = 100 };
    static const double pi = 3.14159265358979323846;
    dpi_writer *w = &k->w;
    double squares[MOST];
    for (size_t j = 0; j < n && j < MOST; j++) {
        const double frequency = pi * (double)(j + 1) / (2 * DPI_WIDE);
        squares[j] = -frequency * frequency / 4;
    }
    const dpi_parameter sd = {.name = dpi_walk_joined(k, "sdgp_", name, ""),
                              .classes = {"sdgp", NULL},
                              .kind = DPI_PARAMETER_POSITIVE,
                              .prior = dpi_prior_make("half_normal", 1, 0, 0),
                              .unit = unit};
    const dpi_parameter length = {.name = dpi_walk_joined(k, "lscale_", name, ""),
                                  .classes = {"lscale", NULL},
                                  .kind = DPI_PARAMETER_POSITIVE,
                                  .prior = dpi_prior_make("inverse_gamma", 3, 1, 0),
                                  .unit = 1};
    const dpi_value s = dpi_walk_parameter(k, &sd), l = dpi_walk_parameter(k, &length);
    /* sqrt(S) = sd (2 pi)^(1/4) sqrt(l) e^(-l^2 w^2 / 4) */
    const dpi_value fall = DPI_WRITE1(
        w, dp_exp,
        DPI_WRITE2(w, dp_mul, DPI_WRITE1(w, dp_square, l), dpi_write_constant(w, n, squares)));
    const dpi_value size =
        dpi_write_scaled(w, pow(2 * pi, .25), DPI_WRITE2(w, dp_mul, s, DPI_WRITE1(w, dp_sqrt, l)));
    const dpi_value scale = dpi_write_let(w, "scale", DPI_WRITE2(w, dp_mul, size, fall));
    const dpi_prior standard = dpi_prior_make("normal", 0, 1, 0);
    const dpi_value z = dpi_write_sample(w, NULL, dpi_walk_joined(k, "zgp_", name, ""), n,
                                         dpi_write_prior(w, &standard));
    return dpi_write_dot(w, n, basis, DPI_WRITE2(w, dp_mul, scale, z));
}

/* slope * line + wiggle . psi, with wiggle_j ~ N(0, sd): what dp_smooth makes, of columns that the
 * data set has (dataset.c), so that slope and sd are parameters like others. */
static dpi_value spline(dpi_formula_walk *k, dpi_value basis, const char *name, size_t n,
                        double unit)
{
    dpi_writer *w = &k->w;
    const dpi_parameter slope = {.name = dpi_walk_joined(k, name, "_slope", ""),
                                 .classes = {NULL},
                                 .prior = dpi_prior_make("normal", 0, 2.5, 0),
                                 .unit = unit};
    const dpi_parameter sd = {.name = dpi_walk_joined(k, name, "_sd", ""),
                              .classes = {"sds", NULL},
                              .kind = DPI_PARAMETER_POSITIVE,
                              .prior = dpi_prior_make("half_normal", 1, 0, 0),
                              .unit = unit};
    const dpi_value line = dpi_walk_parameter(k, &slope), s = dpi_walk_parameter(k, &sd);
    const char *wiggles =
        dpi_walk_latent_name(k, dpi_walk_joined(k, name, "_wiggle", ""), unit == 1);
    const dpi_value wiggle = dpi_write_sample(w, NULL, wiggles, n - 1,
                                              DPI_LAW2(w, dp_normal_v, dpi_write_number(w, 0), s));
    return dpi_write_dot(w, n, basis, DPI_WRITE2(w, dp_concat, line, wiggle));
}

dpi_value dpi_walk_smooth(dpi_formula_walk *k, const dpi_predictor *p, size_t i,
                          const dpi_predictor_names *names)
{
    const dpi_tree *call = p->smooth[i];
    const char *name = smooth_name(k, p, i, names);
    const size_t n = dpi_smooth_columns(call);
    const dpi_value x =
        dpi_write_data(&k->w, dpi_walk_safe(k, dpi_tree_string(call, &k->w.arena)), n);
    return dpi_tree_is_call(call, "s") ? spline(k, x, name, n, names->unit)
                                       : process(k, x, name, n, names->unit);
}
