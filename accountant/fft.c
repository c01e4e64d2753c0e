/* T-fold convolution power by one FFT, exp(T log F), one inverse FFT.
 *
 * Transform.  Each coefficient is a sum of the n inputs times products of twiddle factors, formed in
 * log2 n levels; an input meets in each level one complex product and one sum (relative error below
 * 6u, u = 2^-53, exact twiddles within u) and one level more for real data.  So
 *     |F^ - F| <= e = LEVEL u (log2 n + 2) sum |t|,   sum |t| = 1,
 * with LEVEL = 16 to leave room for FFTW's merged constants; the test compares with long double.
 *
 * Core.  At small sampling rates nearly all mass lies on a few knots around 0, and e would be paid T
 * times for it.  Then those knots are transformed directly: with theta_j = 2 pi j / n,
 *     F_j = 1 + G_j,  G_j = sum_core t_i (e^(-i theta_j i) - 1) + (R_j - R_0),  R the transform of the rest,
 * where the core costs 8 u theta_j sum |i| t_i + 24 u |G_j| and only the rest costs e sum |rest|.
 * (That F_0 is 1 only within 2u changes t_0 >= 1/4 by 8u relative: counted in mass.c.)  log(1 + G)
 * comes from log1p, so rounding is relative to G.
 *
 * Power.  |a^T - b^T| <= T max(|a|, |b|)^(T-1) |a - b| for the error of F; what log, its product with
 * T, exp, cos and sin add is (POWER T |log F| + POWER) u, relative, |log F| at most pi + |log |F||;
 * without the core log F itself has an absolute error of 2u more.  Coefficients with
 * |F|^T < e^-FLAT are set to 0 and cost e^-FLAT.
 *
 * Back.  Every output is a mean of n coefficients, so its error is at most the mean of the errors
 * plus e times the mean of |F|^T.  With a core t_0^T is taken off all coefficients, and put back on
 * knot 0, for the sake of the latter.
 *
 * FFTW's planner has global state: plans are made and destroyed under one lock, which is the only
 * writable file-scope datum of the accountant.  Executing a plan needs no lock. */
#include "accountant/fft.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t fftw_planner_lock = PTHREAD_MUTEX_INITIALIZER;

static const double UNIT = DBL_EPSILON / 2;
static const double LEVEL = 16;
static const double POWER = 8;
static const double FLAT = 100;
static const double DEEP = 800; /* -log of anything that does not underflow is less */

typedef struct plans {
    fftw_plan forth, back;
} plans;

static void plans_free(plans *p)
{
    (void)pthread_mutex_lock(&fftw_planner_lock);
    if (p->forth != NULL)
        fftw_destroy_plan(p->forth);
    if (p->back != NULL)
        fftw_destroy_plan(p->back);
    (void)pthread_mutex_unlock(&fftw_planner_lock);
}

/* ESTIMATE leaves the data alone and gives the same plan, hence the same bits, every time. */
static bool plans_new(plans *p, double *data, size_t n)
{
    fftw_complex *z = (fftw_complex *)data;
    (void)pthread_mutex_lock(&fftw_planner_lock);
    p->forth = fftw_plan_dft_r2c_1d((int)n, data, z, FFTW_ESTIMATE);
    p->back = fftw_plan_dft_c2r_1d((int)n, z, data, FFTW_ESTIMATE);
    (void)pthread_mutex_unlock(&fftw_planner_lock);
    if (p->forth != NULL && p->back != NULL)
        return true;
    plans_free(p);
    return false;
}

double dpi_fft_error(size_t n)
{
    return LEVEL * UNIT * (log2((double)n) + 2);
}

/* Knots -CORE ... CORE are the core. */
enum { CORE = 16 };

typedef struct core {
    bool used;
    double mass[2 * CORE + 1];
    double moment; /* sum |i| mass[i] */
    double rest;   /* mass elsewhere */
    double e;      /* bound on the error of the transform of the rest */
} core;

/* Log of a coefficient, and the absolute error of the coefficient itself. */
typedef struct coefficient {
    double log_abs, arg, error;
} coefficient;

static size_t core_index(int i, size_t n)
{
    return i >= 0 ? (size_t)i : n - (size_t)-i;
}

/* Takes the core out of the data when it holds most of the mass. */
static void core_take(core *c, double *data, size_t n)
{
    double sum = 0, inside = 0, moment = 0;
    for (size_t i = 0; i < n; i++)
        sum += data[i];
    for (int i = -CORE; i <= CORE; i++) {
        inside += data[core_index(i, n)];
        moment += abs(i) * data[core_index(i, n)];
    }
    *c = (core){.used = data[0] >= 0.25 && inside > 0.5 * sum, .moment = moment, .rest = sum};
    for (int i = -CORE; c->used && i <= CORE; i++) {
        c->mass[CORE + i] = data[core_index(i, n)];
        data[core_index(i, n)] = 0;
    }
    if (c->used) {
        c->rest = 0;
        for (size_t i = 0; i < n; i++)
            c->rest += data[i];
    }
    c->e = dpi_fft_error(n) * c->rest * (1 + 1e-8);
}

static coefficient whole(const core *c, const double *z)
{
    double r = hypot(z[0], z[1]);
    double log_r = log(r);
    return (coefficient){.log_abs = log_r,
                         .arg = atan2(z[1], z[0]),
                         .error = c->e + UNIT * (2 + POWER * (fmin(fabs(log_r), DEEP) + M_PI)) * r};
}

/* G gathers t (w^i - 1) for w = e^(-i theta) and its conjugate; p is w^i - 1. */
static coefficient around_one(const core *c, const double *z, double zero, double theta)
{
    double half = sin(theta / 2);
    double w_re = -2 * half * half, w_im = -sin(theta); /* w - 1 */
    double p_re = 0, p_im = 0, g_re = z[0] - zero, g_im = z[1];
    for (int i = 1; i <= CORE; i++) {
        double re = p_re + w_re + p_re * w_re - p_im * w_im;
        double im = p_im + w_im + p_re * w_im + p_im * w_re;
        p_re = re;
        p_im = im;
        g_re += (c->mass[CORE + i] + c->mass[CORE - i]) * p_re;
        g_im += (c->mass[CORE + i] - c->mass[CORE - i]) * p_im;
    }
    double size = hypot(g_re, g_im);
    double square = 2 * g_re + size * size; /* |F|^2 - 1; cancels when F is small */
    double log_abs = square > -0.75 ? 0.5 * log1p(square) : log(hypot(1 + g_re, g_im));
    double arg = atan2(g_im, 1 + g_re);
    double relative =
        24 * size + POWER * (fmin(fabs(log_abs), DEEP) + fabs(arg)) + 8 * theta * c->moment;
    return (coefficient){
        .log_abs = log_abs, .arg = arg, .error = 2 * c->e + UNIT * (relative + 4 * c->rest)};
}

/* Raises one coefficient to the power, less `atom`; adds its size and its error. */
static void raise(double *z, const coefficient *f, double steps, double atom, double *size,
                  double *error)
{
    double r = exp(f->log_abs);
    double top = (steps - 1) * log(r * (1 + POWER * UNIT) + f->error); /* of |F|^(T-1) */
    double g = 0;
    if (top < -FLAT) {
        z[0] = z[1] = 0;
        *error += exp(-FLAT);
    } else {
        double angle = steps * f->arg;
        g = exp(steps * f->log_abs);
        *error += steps * exp(top) * f->error * 1.000001 + POWER * UNIT * g;
        z[0] = g * cos(angle);
        z[1] = g * sin(angle);
    }
    z[0] -= atom;
    *error += UNIT * fabs(z[0]);
    *size += hypot(z[0], z[1]);
}

bool dpi_fft_power(double *data, size_t n, double steps, double *error)
{
    *error = 0;
    if (steps == 1)
        return true;
    plans p = {0};
    if (!plans_new(&p, data, n))
        return false;
    core c;
    core_take(&c, data, n);
    fftw_execute(p.forth);
    double size = 0, sum = 0, zero = data[0];
    double atom = c.used ? exp(steps * log(c.mass[CORE])) : 0;
    for (size_t j = 0; j <= n / 2; j++) {
        double *z = data + 2 * j, one_size = 0, one_error = 0;
        double theta = 2 * M_PI * (double)j / (double)n;
        coefficient f = c.used ? around_one(&c, z, zero, theta) : whole(&c, z);
        raise(z, &f, steps, atom, &one_size, &one_error);
        double twin = j == 0 || j == n / 2 ? 1 : 2;
        size += twin * one_size;
        sum += twin * one_error;
    }
    fftw_execute(p.back);
    for (size_t i = 0; i < n; i++)
        data[i] /= (double)n;
    data[0] += atom;
    *error = (sum + 2 * dpi_fft_error(n) * size) / (double)n * (1 + 1e-6) + UNIT * atom;
    plans_free(&p);
    return true;
}
