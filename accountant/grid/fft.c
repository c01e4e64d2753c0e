/* Products of T-fold convolution powers: one FFT a factor, exp(sum T log F), one inverse FFT.
 *
 * Transform.  Each coefficient is a sum of the n inputs times products of twiddle factors, formed
 * in log2 n levels; an input meets in each level one complex product and one sum (relative error
 * below 6u, u = 2^-53, exact twiddles within u) and one level more for real data.  So
 *     |F^ - F| <= e = LEVEL u (log2 n + 2) sum |t|,   sum |t| = 1,
 * with LEVEL = 8 to leave room for FFTW's merged constants; the test compares with long double.
 *
 * Core.  At small sampling rates nearly all mass lies on a few knots around 0, and e would be paid
 * T times for it.  Then those knots are transformed directly: with theta_j = 2 pi j / n,
 *     F_j = 1 + G_j,  G_j = sum_core t_i (e^(-i theta_j i) - 1) + (R_j - R_0),  R the transform of
 *     the rest,
 * where the core costs CORE_STEPS u theta_j sum |i| t_i + 24 u |G_j| (e^(-i theta i) - 1 comes from
 * |i| <= CORE rotations, each of which adds less than 6 u |i| theta_j) and only the rest costs e
 * sum |rest|. (That F_0 is 1 only within 2u changes t_0 >= 1/4 by 8u relative: counted in mass.c.)
 * log(1 + G) comes from log1p, so rounding is relative to G.
 *
 * Power.  |a^T - b^T| <= T m^T |a - b| / m, m = max(|a|, |b|), and for products of powers
 * |prod a - prod b| <= prod m^T sum T |a - b| / m.  What log, its product with T, exp, cos and sin
 * add is (POWER T |log F| + POWER) u, relative, |log F| at most pi + |log |F||, and the same once
 * more for every further factor; without the core log F itself has an absolute error of 2u more.
 * Coefficients below e^-(0.9 FLAT) are set to 0 and cost that.
 *
 * Back.  Every output is a mean of n coefficients, so its error is at most the mean of the errors
 * plus e times the mean of |F|^T.  With a core t_0^T is taken off all coefficients, and put back on
 * knot 0, for the sake of the latter.
 *
 * FFTW's planner has global state: plans are made and destroyed under one lock.  Executing a plan
 * needs none.  Making one takes as long as several transforms, so plans up to KEPT are kept for the
 * process, a pair for each size: with the lock the one writable file-scope datum of the
 * accountant. */
#include "accountant/grid/fft.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bits.h"

static const double UNIT = DBL_EPSILON / 2;
static const double LEVEL = 8;
static const double POWER = 8;
static const double FLAT = 100;
static const double DEEP = 800; /* -log of anything that does not underflow is less */

enum { KEPT = 18 /* log2 of the largest */ };

typedef struct plans {
    fftw_plan forth, back;
} plans;

static struct {
    pthread_mutex_t lock;
    plans kept[KEPT + 1];
} fftw_planner = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- under the lock ---- */

static void destroy(plans *p)
{
    if (p->forth != NULL)
        fftw_destroy_plan(p->forth);
    if (p->back != NULL)
        fftw_destroy_plan(p->back);
    *p = (plans){0};
}

/* ESTIMATE leaves the data alone and gives the same plan, hence the same bits, every time. */
static void make(plans *p, double *data, size_t n)
{
    fftw_complex *z = (fftw_complex *)data;
    p->forth = fftw_plan_dft_r2c_1d((int)n, data, z, FFTW_ESTIMATE);
    p->back = fftw_plan_dft_c2r_1d((int)n, z, data, FFTW_ESTIMATE);
    if (p->forth == NULL || p->back == NULL)
        destroy(p);
}

/* ---- without it ---- */

/* Where plans of that size are kept; NULL where they are not. */
static plans *keeper(size_t n)
{
    const size_t log = dpi_binary_digits(n) - 1;
    return log <= KEPT && (size_t)1 << log == n ? &fftw_planner.kept[log] : NULL;
}

static bool plans_new(plans *p, double *data, size_t n)
{
    plans *place = keeper(n);
    (void)pthread_mutex_lock(&fftw_planner.lock);
    if (place == NULL)
        make(p, data, n);
    else if (place->forth == NULL)
        make(place, data, n);
    if (place != NULL)
        *p = *place;
    (void)pthread_mutex_unlock(&fftw_planner.lock);
    return p->forth != NULL;
}

static void plans_free(plans *p, size_t n)
{
    if (keeper(n) != NULL)
        return;
    (void)pthread_mutex_lock(&fftw_planner.lock);
    destroy(p);
    (void)pthread_mutex_unlock(&fftw_planner.lock);
}

double dpi_fft_error(size_t n)
{
    return LEVEL * UNIT * (log2((double)n) + 2);
}

/* Knots -CORE ... CORE are the core. */
enum { CORE = 16, CORE_STEPS = 4 * CORE };

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

/* Four sums side by side; n is a multiple of 4. */
static double sum_of(const double *data, size_t n)
{
    double sum[4] = {0};
    for (size_t i = 0; i < n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += data[i + k];
    return sum[0] + sum[1] + (sum[2] + sum[3]);
}

/* Takes the core out of the data when it holds most of the mass. */
static void core_take(core *c, double *data, size_t n)
{
    double sum = sum_of(data, n), inside = 0, moment = 0;
    for (int i = -CORE; i <= CORE; i++) {
        inside += data[core_index(i, n)];
        moment += abs(i) * data[core_index(i, n)];
    }
    *c = (core){.used = data[0] >= 0.25 && inside > 0.5 * sum, .moment = moment, .rest = sum};
    for (int i = -CORE; c->used && i <= CORE; i++) {
        c->mass[CORE + i] = data[core_index(i, n)];
        data[core_index(i, n)] = 0;
    }
    if (c->used)
        c->rest = sum_of(data, n);
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

/* G of some coefficients side by side, for rotations of one wait for each other. */
enum { LANES = 4 };

typedef struct lanes {
    double re[LANES], im[LANES];
} lanes;

/* What the core has in G of the coefficients j, j + 1, ...: gathers t (w^i - 1) for w =
 * e^(-i theta) and its conjugate; p is w^i - 1. */
static lanes turn_core(const core *c, size_t j, size_t n)
{
    lanes g = {{0}, {0}};
    double w_re[LANES], w_im[LANES], p_re[LANES] = {0}, p_im[LANES] = {0}; /* w: w - 1 */
    for (size_t k = 0; k < LANES; k++) {
        const double theta = 2 * M_PI * (double)(j + k) / (double)n, half = sin(theta / 2);
        w_re[k] = -2 * half * half;
        w_im[k] = -2 * half * cos(theta / 2);
    }
    for (int i = 1; i <= CORE; i++) {
        const double both = c->mass[CORE + i] + c->mass[CORE - i];
        const double more = c->mass[CORE + i] - c->mass[CORE - i];
        for (size_t k = 0; k < LANES; k++) {
            const double re = p_re[k] + w_re[k] + p_re[k] * w_re[k] - p_im[k] * w_im[k];
            const double im = p_im[k] + w_im[k] + p_re[k] * w_im[k] + p_im[k] * w_re[k];
            p_re[k] = re;
            p_im[k] = im;
            g.re[k] += both * re;
            g.im[k] += more * im;
        }
    }
    return g;
}

static coefficient around_one(const core *c, double g_re, double g_im, double theta)
{
    double size = sqrt(g_re * g_re + g_im * g_im);
    double square = 2 * g_re + size * size; /* |F|^2 - 1; cancels when F is small */
    double log_abs = square > -0.75 ? 0.5 * log1p(square) : log(hypot(1 + g_re, g_im));
    double arg = atan2(g_im, 1 + g_re);
    double relative = 24 * size + POWER * (fmin(fabs(log_abs), DEEP) + fabs(arg)) +
                      CORE_STEPS * theta * c->moment;
    return (coefficient){
        .log_abs = log_abs, .arg = arg, .error = 2 * c->e + UNIT * (relative + 4 * c->rest)};
}

/* What is known of one coefficient of the product. */
typedef struct gathered {
    double log_abs, arg;       /* sum of T log F */
    double largest, deviation; /* of T log(|F| + error), of T error / (|F| + error) */
} gathered;

struct dpi_convolution {
    size_t n;
    plans plans;
    double *data;    /* [n + 2], aligned as all that plans are made for */
    gathered *parts; /* [n/2 + 1]; NULL for one factor, whose coefficients are finished at once */
    double log_atom; /* sum of T log t_0; +INFINITY when some factor has no core */
    double size, error; /* of the coefficients that are finished, with their twins */
};

dpi_convolution *dpi_convolution_new(size_t n, double *data, size_t factors)
{
    dpi_convolution *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->n = n;
    p->data = data;
    if (factors > 1)
        p->parts = dpi_alloc(n / 2 + 1, sizeof *p->parts);
    if ((factors > 1 && p->parts == NULL) || !plans_new(&p->plans, data, n)) {
        dpi_free(p->parts);
        dpi_free(p);
        return NULL;
    }
    return p;
}

void dpi_convolution_free(dpi_convolution *p)
{
    if (p == NULL)
        return;
    plans_free(&p->plans, p->n);
    dpi_free(p->parts);
    dpi_free(p);
}

/* One coefficient of the product, less `atom`, and divided by n, a power of two, which is exact. */
static void assemble(dpi_convolution *p, size_t j, const gathered *f, double atom)
{
    const double twin = j == 0 || j == p->n / 2 ? 1 : 2;
    double *z = p->data + 2 * j, re = -atom, im = 0, error = exp(-0.9 * FLAT);
    if (f->largest >= -0.9 * FLAT) {
        double g = exp(f->log_abs);
        error = exp(f->largest) * f->deviation * 1.000001 + POWER * UNIT * g;
        re = g * cos(f->arg) - atom;
        im = g * sin(f->arg);
    }
    p->error += twin * (error + UNIT * fabs(re));
    p->size += twin * sqrt(re * re + im * im);
    z[0] = re / (double)p->n;
    z[1] = im / (double)p->n;
}

/* Takes a coefficient of one factor into what is known. */
static void join(gathered *known, const coefficient *f, double steps)
{
    double above = exp(f->log_abs) * (1 + POWER * UNIT) + f->error;
    known->log_abs += steps * f->log_abs;
    known->arg = remainder(known->arg + steps * f->arg, 2 * M_PI);
    known->largest += steps * log(above);
    known->deviation += steps * f->error / above +
                        POWER * UNIT * (1 + fmin(fabs(known->log_abs), FLAT) + fabs(known->arg));
}

/* Where |F|^2 is below the square of what is returned, F^T need not be computed: twice the greatest
 * error that a coefficient may tell is allowed for. */
static double faint_for(const core *c, double steps)
{
    double faint = exp(-FLAT / steps);
    double error = c->used ? 2 * c->e + UNIT * (POWER * DEEP + CORE_STEPS * 8 * CORE) : c->e;
    return steps * log(faint + 2 * error) < -0.9 * FLAT ? faint * (1 - 1e-9) : 0;
}

void dpi_convolution_multiply(dpi_convolution *p, double steps)
{
    core c;
    core_take(&c, p->data, p->n);
    fftw_execute_dft_r2c(p->plans.forth, p->data, (fftw_complex *)p->data);
    const double zero = p->data[0], faint = faint_for(&c, steps);
    const double log_atom = c.used ? steps * log(c.mass[CORE]) : INFINITY;
    const double atom = c.used ? exp(log_atom) : 0;
    lanes g = {{0}, {0}};
    for (size_t j = 0; j <= p->n / 2; j++) {
        const double *z = p->data + 2 * j;
        gathered one = {0}, *known = p->parts != NULL ? &p->parts[j] : &one;
        if (c.used && j % LANES == 0)
            g = turn_core(&c, j, p->n);
        double re = c.used ? g.re[j % LANES] + (z[0] - zero) : z[0];
        double im = c.used ? g.im[j % LANES] + z[1] : z[1];
        double all = c.used ? 1 + re : re;
        if (all * all + im * im < faint * faint) {
            known->largest = -INFINITY;
        } else if (known->largest >= -FLAT) { /* no earlier factor has made it vanish */
            double theta = 2 * M_PI * (double)j / (double)p->n;
            coefficient f = c.used ? around_one(&c, re, im, theta) : whole(&c, z);
            join(known, &f, steps);
        }
        if (p->parts == NULL)
            assemble(p, j, known, atom);
    }
    p->log_atom += log_atom;
}

double dpi_convolution_finish(dpi_convolution *p)
{
    double atom = p->log_atom < INFINITY ? exp(p->log_atom) : 0;
    for (size_t j = 0; p->parts != NULL && j <= p->n / 2; j++)
        assemble(p, j, &p->parts[j], atom);
    fftw_execute_dft_c2r(p->plans.back, (fftw_complex *)p->data, p->data);
    p->data[0] += atom;
    return (p->error + 2 * dpi_fft_error(p->n) * p->size) / (double)p->n * (1 + 1e-6) + UNIT * atom;
}
