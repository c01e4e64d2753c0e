/* Exact privacy losses for tests: naive, slow, and sharing no code with the accountant.
 *
 * delta(eps) = (1/2 pi) int exp(T K(c+iu) - (c+iu) eps) / ((c+iu)(c+1+iu)) du, trapezoidal in u
 * with a period that makes the aliases negligible, K by the trapezoidal rule in x, c near the
 * saddle.  Of 2 and 10 steps without the record, whose loss ends where its density is largest, that
 * is off by up to a part in 10^5: there the table has sums of losses by convolution on 8e5 knots
 * with masses and means of bins kept, which agrees with 2e5 to 1e-9. */
#include "tests/accountant/oracle.h"

#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_X = 20000 };

typedef struct law {
    int n;
    double weight[MAX_X], loss[MAX_X];
} law;

static void law_fill(law *l, double sigma, double q, bool add)
{
    double h = fmin(sigma, sigma * sigma) / 40;
    double low = -14 * sigma, high = 1 + 40 * sigma;
    l->n = (int)fmin(MAX_X, (high - low) / h);
    for (int j = 0; j < l->n; j++) {
        double x = low + j * h;
        double r = log1p(q * expm1((2 * x - 1) / (2 * sigma * sigma)));
        double base = exp(-x * x / (2 * sigma * sigma)) / (sigma * sqrt(2 * M_PI));
        l->weight[j] = h * base * (add ? 1 : exp(r));
        l->loss[j] = add ? -r : r;
    }
}

static double complex characteristic(const law *l, double complex z)
{
    double complex sum = 0;
    for (int j = 0; j < l->n; j++)
        sum += l->weight[j] * cexp(z * l->loss[j]);
    return sum;
}

static double mean_at(const law *l, double c, double *variance)
{
    double s0 = 0, s1 = 0, s2 = 0;
    for (int j = 0; j < l->n; j++) {
        double w = l->weight[j] * exp(c * l->loss[j]);
        s0 += w;
        s1 += w * l->loss[j];
        s2 += w * l->loss[j] * l->loss[j];
    }
    *variance = s2 / s0 - s1 / s0 * s1 / s0;
    return s1 / s0;
}

double oracle_delta(double sigma, double q, double steps, double epsilon, bool add)
{
    law *l = malloc(sizeof *l);
    if (l == NULL)
        abort();
    law_fill(l, sigma, q, add);
    double low = 1e-3, high = 500, variance = 0;
    for (int i = 0; i < 40; i++) {
        double c = sqrt(low * high);
        if (steps * mean_at(l, c, &variance) - 1 / c - 1 / (1 + c) < epsilon)
            low = c;
        else
            high = c;
    }
    double c = low / 2; /* left of the saddle, where the aliases of rare large losses are small */
    (void)mean_at(l, c, &variance);
    double period = 60 / c + 14 * sqrt(steps * variance);
    double h = 2 * M_PI / period, sum = 0;
    for (int k = 0; k < 100000; k++) {
        double complex z = c + I * (k * h);
        double complex power = cexp(steps * clog(characteristic(l, z)) - z * epsilon);
        double complex term = power / (z * (z + 1));
        sum += (k == 0 ? 0.5 : 1) * creal(term);
        if (cabs(term) < 1e-17 * fabs(sum))
            break;
    }
    free(l);
    return sum * h / M_PI;
}

static double phi(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

/* P(x < a) - e^eps Q(x < a) for the Gaussian pair shifted by 1 / sigma, at the best a. */
static double gaussian_profile(double sigma, double epsilon)
{
    double a = 1 / (2 * sigma) - sigma * epsilon, b = -1 / (2 * sigma) - sigma * epsilon;
    return phi(a) - exp(epsilon) * phi(b);
}

double oracle_delta_once(double sigma, double q, double epsilon, bool add)
{
    if (!add)
        return q * gaussian_profile(sigma, log1p(expm1(epsilon) / q));
    double kept = 1 - exp(epsilon) * (1 - q);
    return kept <= 0 ? 0 : kept * gaussian_profile(sigma, epsilon + log(q / kept));
}

const char *oracle_file(const char *name, char path[4096])
{
    const char *folder = getenv("TACIT_REFERENCES"), *source = getenv("top_srcdir");
    if (folder != NULL)
        (void)snprintf(path, 4096, "%s/%s", folder, name);
    else if (source != NULL)
        (void)snprintf(path, 4096, "%s/../shared/accounting/%s", source, name);
    else
        return NULL;
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return NULL;
    (void)fclose(f);
    return path;
}

const reference oracle_table[] = {
    {1.5, 0.0021333333333333334, 9375, 1.6666666666666667e-05, 0.5355529138037133,
     0.5176299662646011},
    {1.5, 0.0021333333333333334, 9375, 1e-10, 0.9278189462954362, 0.8778135164216552},
    {1.0, 0.00256, 7820, 1e-05, 1.1691140490752152, 1.0642267512883319},
    {5.0, 0.02, 100000, 0.002, 3.977646043459732, 3.9676167432634024},
    {10.0, 0.02, 100000, 1e-05, 2.6031528738717165, 2.599402422911059},
    {2.0, 0.01, 1000, 1e-06, 0.7209160567402104, 0.6655314168333744},
    {4.0, 0.1, 1000, 1e-06, 3.8688323384642183, 3.722013893337399},
    {0.3, 0.001, 1000, 1e-06, 21.67795402172949, 0.8489926008005095},
    {0.3, 1e-05, 1000000, 1e-06, 15.521979083494998, 2.2111786312524253},
    {100.0, 0.5, 1000000, 1e-06, 35.56720753756232, 35.56547990393663},
    {100.0, 0.01, 1000000, 1e-09, 0.5351765269847519, 0.5351469847901008},
    {1.0, 0.01, 1, 1e-05, 0.19945044779591456, 0.009054199658039126},
    {1.0, 0.0001, 1, 1e-08, 0.004380383630492181, 9.46825440421163e-05},
    {1.0, 0.01, 2, 1e-06, 0.42546438746522525, 0.0181302997134},
    {0.5, 0.01, 10, 1e-05, 4.360602232878487, 0.0928762329137},
    {1.0, 0.5, 2, 1e-06, 5.572391599734031, 1.294825456417404},
    {1.0, 0.02, 50, 1e-05, 1.1447824927049057, 0.4431174100841566},
    {1.0, 1e-06, 1000000, 1e-12, 0.007576564924515402, 0.007484753208918406},
    {1.0, 1e-05, 1000000, 1e-08, 0.059099966654913016, 0.05853024141674296},
    {0.8, 0.001, 10000, 1e-06, 0.9471956872701921, 0.7427004949028672},
    {1.0, 0.001, 1000000, 1e-07, 7.30258976695938, 7.209132584803723},
    {0.7, 0.0031970851575165455, 18000, 8e-07, 6.205538306546379, 4.820911031591946},
    {21.1, 0.08192, 250, 1e-05, 0.201266066640294, 0.1993046926724712},
    {1.0, 0.02, 20000, 1e-06, 24.000600101881084, 21.794003548729567},
};
const int oracle_table_size = sizeof oracle_table / sizeof *oracle_table;

const noise_reference oracle_noise[] = {
    {0.1, 1e-05, 0.0021333333333333334, 9375, 6.406290339},
    {1.0, 1.6666666666666667e-05, 0.0021333333333333334, 9375, 1.00826555},
    {8.0, 1e-05, 0.0021333333333333334, 9375, 0.516969578},
    {1.0, 1e-05, 0.01, 1000, 1.414619407},
    {0.5, 1e-06, 0.05, 1000, 12.81735553},
    {1.0, 0.002, 0.1, 100000, 75.10530572},
    {4.0, 0.002, 0.02, 100000, 4.978622739},
    {1.0, 1e-10, 0.01, 10000, 5.937810803},
    {10.0, 1e-06, 0.1, 500, 1.432400742},
    {0.2, 0.001, 0.001, 1000, 0.6970855656},
};
const int oracle_noise_size = sizeof oracle_noise / sizeof *oracle_noise;
