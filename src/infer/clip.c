/* Moments and tails by the midpoint rule over quantiles of the residual. */
#include "infer/clip.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_sf_psi.h>
#include <math.h>

enum { QUANTILES = 200, CLIPS = 64, SCALES = 2 };

/* Scales of how many records are too many, as shares of all, and how many data sets have such for
 * one that has none; for tails that are longer than in clip.h. */
static const double usual_shares[SCALES] = {0.02, 0.1}, hedge = 1.2;
static const double odds_of[SCALES] = {0.5, 0.5}, odds_of_varied[SCALES] = {1, 3};

/* Beyond so many standard deviations, squared, all is alike. */
static const double farthest_out = 1e6;

/* Mean of a score, in standard deviations, in a direction that a model of levels does not have
 * right: what clipping takes from it moves the answer, and beside what chance leaves the more, the
 * more records there are.  What it gains: doc/evaluation.md, Outcomes as they are. */
static const double usual_misfit = 0.04;

/* Lengths of scores by the public model: leverages chi^2_d, by themselves chi^2_(d+2), and outcomes
 * that are not as likely; and by how much mean and variance of logarithms differ from it. */
static const double longer = 0.1, more_varied = 0.1, usual_mean = 0.3, usual_variance = 0.2;
static const double least_variance = 0.02, most_variance = 4, farthest = 2;

/* Given r: E min(|x|, c)^2-type moments of |x|^2 ~ chi^2_d for c = C / |r|, with
 * E |x| 1{|x| > c} = sqrt 2 G((d + 1) / 2) / G(d / 2) P(chi^2_{d+1} > c^2). */
static dpi_clipped by_normal_residuals(double d, double clip)
{
    dpi_clipped sum = {0, 0};
    double square = 0;
    double root = sqrt(2) * exp(lgamma((d + 1) / 2) - lgamma(d / 2));
    for (int i = 0; i < QUANTILES / 2; i++) { /* the other half are the same, with the other sign */
        double r = -gsl_cdf_ugaussian_Pinv((i + 0.5) / QUANTILES);
        double c2 = clip * clip / (r * r), inside = r * r * gsl_cdf_chisq_P(c2, d + 2);
        square += r * r; /* 1 - .006 of the number of quantiles */
        sum.slope += inside + clip * r / d * root * gsl_cdf_chisq_Q(c2, d + 1);
        sum.variance += inside + clip * clip / d * gsl_cdf_chisq_Q(c2, d);
    }
    return (dpi_clipped){sum.slope / square, sum.variance / square};
}

static dpi_clipped by_lengths(const dpi_norms *of, double d, double clip)
{
    dpi_clipped sum = {0, 0};
    for (int i = 0; i < QUANTILES; i++) {
        double z = gsl_cdf_ugaussian_Pinv((i + 0.5) / QUANTILES);
        double length = sqrt(d) * exp(of->mean + sqrt(of->variance) * z);
        double share = fmin(1, clip / length);
        sum.slope += share / QUANTILES;
        sum.variance += share * share / QUANTILES;
    }
    return sum;
}

dpi_clipped dpi_clipped_at(const dpi_norms *of, double d, double clip)
{
    if (isinf(clip))
        return (dpi_clipped){1, 1};
    return of->heard ? by_lengths(of, d, clip) : by_normal_residuals(d, clip);
}

double dpi_best_clip(const dpi_norms *of, double d, double n, double sigma)
{
    double best = 0, least = INFINITY;
    for (int i = 0; i < CLIPS; i++) {
        double clip = sqrt(d) * 0.8 * pow(15, (double)i / (CLIPS - 1));
        dpi_clipped at = dpi_clipped_at(of, d, clip);
        double noise = sigma * clip / at.slope, m2 = at.slope * at.slope;
        double loss = noise * noise / n + at.variance / m2 - 1;
        if (of->heard) { /* beside chance, whose variance is 1 */
            double lost = usual_misfit * (1 / at.slope - 1);
            loss += n * lost * lost;
        }
        if (loss < least) {
            least = loss;
            best = clip;
        }
    }
    return best;
}

/* By the precisions of what was found, cut to least ... most, and of what is usual. */
static double joined(double found, double noise, double least, double most, double usual,
                     double spread)
{
    double weight = spread * spread / (spread * spread + noise * noise);
    double x = weight > 0 ? fmin(fmax(found, least), most) : 0;
    return weight * x + (1 - weight) * usual;
}

dpi_norms dpi_hear_norms(double d, const double told[3], const double sd[3])
{
    double half = (d + 2) / 2, all = fmax(told[0], sd[0]);
    double mean = longer + 0.5 * (gsl_sf_psi(half) + log(2 / d));
    double variance = more_varied + 0.25 * gsl_sf_psi_1(half);
    double first = told[1] / all, second = told[2] / all - first * first;
    mean = joined(first, sd[1] / all, -farthest, farthest, mean, usual_mean);
    variance = joined(second, sd[2] / all, 0, most_variance, variance, usual_variance);
    return (dpi_norms){.heard = true, .mean = mean, .variance = fmax(variance, least_variance)};
}

double dpi_clipped_beyond(double d, double bound)
{
    double sum = 0;
    for (int i = 0; i < QUANTILES / 2; i++) {
        double r = -gsl_cdf_ugaussian_Pinv((i + 0.5) / QUANTILES);
        sum += gsl_cdf_chisq_Q(bound * bound / (r * r), d) / (QUANTILES / 2);
    }
    return sum;
}

static double doubt_of(const dpi_distant *of)
{
    return sqrt(of->noise * of->noise + of->n * dpi_clipped_beyond(of->d, of->bound));
}

double dpi_distant_signal(const dpi_distant *of)
{
    return of->more / doubt_of(of);
}

/* Under the half normal of scale u the number is normal with mean k^2 more and variance k^2 sd^2,
 * cut at 0, k^2 = u^2 / (u^2 + sd^2), sd the doubt; with t = k more / sd even odds that there are
 * any become 2 P(t) exp(t^2 / 2) k sd / u. */
double dpi_distant_mean(const dpi_distant *of)
{
    const double *prior = of->varied ? odds_of_varied : odds_of;
    double sd = doubt_of(of), mean[SCALES], log_odds[SCALES], most = 0, sum = 0, all;
    for (int i = 0; i < SCALES; i++) {
        double share = sd / (usual_shares[i] * of->n), k = 1 / hypot(1, share);
        double t = fmax(k * of->more / sd, -30), below = gsl_cdf_ugaussian_P(t);
        mean[i] = t > -30 ? sd * k * (t + gsl_ran_ugaussian_pdf(t) / below) : 0;
        log_odds[i] = log(2 * prior[i] * below * k * share) + fmin(t * t, farthest_out) / 2;
        most = fmax(most, log_odds[i]);
    }
    all = exp(-most);
    for (int i = 0; i < SCALES; i++) {
        double odds = exp(log_odds[i] - most);
        all += odds;
        sum += odds * mean[i];
    }
    return sum / all;
}

double dpi_wide_clip(const dpi_distant *of, double sigma)
{
    double noise = sqrt(2 / 3.14159265358979) * of->d * sigma;
    return of->bound * pow(hedge * dpi_distant_mean(of) / noise, 0.4);
}
