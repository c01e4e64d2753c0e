/* T-fold convolution power by one FFT, exp(T log F), one inverse FFT.
 *
 * Transform.  Each coefficient is a sum of the n inputs times products of twiddle factors, formed in
 * log2 n levels; an input meets in each level one complex product and one sum (relative error below
 * 6u, u = 2^-53, exact twiddles within u) and one level more for real data.  So
 *     |F^ - F| <= e = LEVEL u (log2 n + 2) sum |t|,   sum |t| = 1,
 * with LEVEL = 16 to leave room for FFTW's merged constants; the test compares with long double.
 *
 * Power.  |a^T - b^T| <= T max(|a|, |b|)^(T-1) |a - b| for the error of F; computing exp(T log F)
 * in doubles adds a relative error of at most (POWER T + 4 |T log|F||) u, as the phase T arg F is off
 * by at most 4 pi T u.  Coefficients with |F|^T < e^-FLAT are set to 0 and cost e^-FLAT.
 *
 * Back.  Every output is a mean of n coefficients, so its error is at most the mean of the errors
 * plus e times the mean of |F|^T.
 *
 * FFTW's planner has global state: plans are made and destroyed under one lock, which is the only
 * writable file-scope datum of the accountant.  Executing a plan needs no lock. */
#include "accountant/fft.h"

#include <fftw3.h>
#include <float.h>
#include <math.h>
#include <pthread.h>

static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

static const double UNIT = DBL_EPSILON / 2;
static const double LEVEL = 16;
static const double POWER = 24;
static const double FLAT = 100;

typedef struct plans {
    fftw_plan forth, back;
} plans;

static void plans_free(plans *p)
{
    (void)pthread_mutex_lock(&planner);
    if (p->forth != NULL)
        fftw_destroy_plan(p->forth);
    if (p->back != NULL)
        fftw_destroy_plan(p->back);
    (void)pthread_mutex_unlock(&planner);
}

/* ESTIMATE leaves the data alone and gives the same plan, hence the same bits, every time. */
static bool plans_new(plans *p, double *data, size_t n)
{
    fftw_complex *z = (fftw_complex *)data;
    (void)pthread_mutex_lock(&planner);
    p->forth = fftw_plan_dft_r2c_1d((int)n, data, z, FFTW_ESTIMATE);
    p->back = fftw_plan_dft_c2r_1d((int)n, z, data, FFTW_ESTIMATE);
    (void)pthread_mutex_unlock(&planner);
    if (p->forth != NULL && p->back != NULL)
        return true;
    plans_free(p);
    return false;
}

double dpi_fft_error(size_t n)
{
    return LEVEL * UNIT * (log2((double)n) + 2);
}

/* Raises one coefficient to the power; adds its size and its error to *size, *error. */
static void raise(double *z, double steps, double e, double *size, double *error)
{
    double r = hypot(z[0], z[1]);
    double log_r = log(r);
    double top = (steps - 1) * log(r + e); /* of |F|^(T-1) */
    if (top < -FLAT || r == 0) {
        z[0] = z[1] = 0;
        *error += exp(-FLAT);
        return;
    }
    double g = exp(steps * log_r);
    double angle = steps * atan2(z[1], z[0]);
    *error +=
        steps * exp(top) * e * 1.000001 + g * UNIT * (POWER * steps + 4 * fabs(steps * log_r));
    *size += g;
    z[0] = g * cos(angle);
    z[1] = g * sin(angle);
}

bool dpi_fft_power(double *data, size_t n, double steps, double *error)
{
    plans p = {0};
    if (!plans_new(&p, data, n))
        return false;
    fftw_execute(p.forth);
    double e = dpi_fft_error(n) * (1 + 1e-8);
    double size = 0, sum = 0;
    for (size_t j = 0; j <= n / 2; j++) {
        double one_size = 0, one_error = 0;
        raise(data + 2 * j, steps, e, &one_size, &one_error);
        double twin = j == 0 || j == n / 2 ? 1 : 2;
        size += twin * one_size;
        sum += twin * one_error;
    }
    fftw_execute(p.back);
    for (size_t i = 0; i < n; i++)
        data[i] /= (double)n;
    *error = (sum + 2 * e * size) / (double)n * (1 + 1e-6);
    plans_free(&p);
    return true;
}
