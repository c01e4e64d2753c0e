/* Calibration: the least noise, the greatest rate, the most steps, the smallest cap for an epsilon.
 *
 * One parameter x is searched for; its other side is monotone.  First the contour, which is exact
 * for all that matters here and takes a tenth of a millisecond, is followed to where it gives
 * epsilon: secants in log x and log epsilon, kept inside what is known of either side.  Then
 * certificates: the bound lies about EXCESS above the exact value, so it is asked for that much on
 * the safe side; if it is at most epsilon, x is answered.  The exact root is known, and with it
 * that nothing further than the tolerance on the unsafe side of x would do.  If not, the interval
 * between the root and a certified point is halved by certificates.  Where the contour does not
 * apply the certified bound takes its place from the start.  Whatever the way, what is answered has
 * a certificate.
 *
 * Starting point: q sqrt(T (e^(1/sigma^2) - 1)) = mu, the central limit of sampled Gaussian steps
 * (Dong, Roth and Su, JRSS B 2022), with mu by the closed form; a bad one costs steps, nothing
 * else. */
#include <tacit/accountant.h>

#include <math.h>
#include <stdbool.h>

#include "accountant/answers/bound.h"
#include "accountant/answers/check.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/gaussian.h"
#include "accountant/contour/contour.h"
#include "base/error.h"

enum { MAX_LOOKS = 100, MAX_CERTIFICATES = 40, HALVINGS = 24, PATIENCE = 2 };

static const double LEAST_SIGMA = 0.1, MOST_SIGMA = 1e5;
static const double LEAST_RATE = 1e-9;
static const uint64_t MOST_STEPS = 1000000000;
static const double TOLERANCE = 1e-4;
static const double CLOSED_FORM = 1e-9; /* tolerance where certificates are closed forms */
static const double ROOT = 2e-6;        /* relative error of epsilon at the root */
static const double FINE = 2e-5;        /* width of bounds that stand for the exact value */
static const double COARSE = 0.05;      /* of those that need not be close */
static const double EXCESS = 2.5e-5;    /* relative excess of a fine bound, as a rule */
static const double STRIDE = 1.5;       /* furthest step in log x without a slope */

typedef enum unknown { NOISE, RATE, STEPS, CAP } unknown;

typedef struct parameter_search {
    dp_mechanism m;
    unknown what;
    double epsilon, delta;
    double least, most; /* x */
    double unit;        /* STEPS: an epoch, or 1 */
    bool refused;       /* the contour did not apply to the last x */
    int refusals;       /* in a row; after PATIENCE of them it is not asked again */
} parameter_search;

static void put(parameter_search *s, double x)
{
    switch (s->what) {
    case NOISE:
        s->m.sigma = x;
        break;
    case RATE:
        s->m.rate = x;
        break;
    case STEPS:
        s->m.steps = (uint64_t)x * (uint64_t)s->unit;
        break;
    case CAP:
        s->m.cap = (uint64_t)x;
        break;
    }
}

/* Larger is safer? */
static bool rises(const parameter_search *s)
{
    return s->what == NOISE || s->what == CAP;
}

/* The bound of one direction, as fine as `width` unless it is enough already. */
static dp_status certify_way(const parameter_search *s, dpi_direction direction, double width,
                             double *bound, dp_error *err)
{
    dpi_question query = {DPI_ASK_EPSILON, s->delta};
    dpi_wish wish = {.width = width, .enough = s->epsilon};
    dpi_composition c;
    dpi_bounds b = {.upper = INFINITY};
    dp_status status = dpi_composition_new(&s->m, 1, direction, DPI_UPPER, &c, err);
    if (status != DP_OK)
        return status;
    /* A direction that lies well below is bounded only as finely as is needed to see that. */
    double guess = NAN;
    if (direction == DPI_ADD &&
        dpi_contour_epsilon(c.term, c.n, log(s->delta), &guess, NULL) == DP_OK)
        wish.width = fmax(width, fmin(0.25 * (s->epsilon - guess) / guess, COARSE));
    wish.hint = guess > 0 && guess < INFINITY ? guess : s->refused ? 0 : s->epsilon;
    if (c.normal_mu > 0)
        b.upper =
            dpi_gaussian_epsilon(c.normal_mu * (1 + 0x1p-50), log(s->delta) - 0x1p-44, DPI_UPPER);
    else
        status = dpi_grid_solve(c.term, c.n, query, &wish, &b, err);
    dpi_composition_free(&c);
    *bound = b.upper;
    return status;
}

/* A certified bound at x, about `width` above the exact value where it matters. */
static dp_status certify(parameter_search *s, double x, double width, double *bound, dp_error *err)
{
    put(s, x);
    dp_status status = certify_way(s, DPI_REMOVE, width, bound, err);
    if (status != DP_OK || *bound > s->epsilon || dpi_composition_directions(&s->m) == 1)
        return status;
    double added;
    status = certify_way(s, DPI_ADD, width, &added, err);
    *bound = fmax(*bound, added);
    return status;
}

/* Epsilon at x: by contour, else the bound. */
static dp_status look(parameter_search *s, double x, double *epsilon, dp_error *err)
{
    dp_error ignored = {0};
    dpi_question query = {DPI_ASK_EPSILON, s->delta};
    put(s, x);
    dp_status status = DP_EACCURACY;
    if (s->refusals < PATIENCE)
        status = dpi_bound_contour(&s->m, 1, query, epsilon, &ignored);
    s->refused = status == DP_EACCURACY;
    s->refusals = s->refused ? s->refusals + 1 : 0;
    if (s->refused)
        return dpi_bound_upper(&s->m, 1, query, epsilon, err);
    return status == DP_OK ? DP_OK : dpi_fail(err, status, "%s", ignored.text);
}

static dp_status lost(const parameter_search *s, dp_error *err)
{
    return dpi_fail(
        err, DP_EACCURACY,
        "the search did not close in on epsilon %g at delta %g; change epsilon a little",
        s->epsilon, s->delta);
}

/* mu of a Gaussian release with epsilon at delta, to a percent. */
static double mu_for(double epsilon, double delta)
{
    double low = 1e-6, high = 1e3;
    for (int i = 0; i < HALVINGS && high > 1.01 * low; i++) {
        double middle = sqrt(low * high);
        if (dpi_gaussian_epsilon(middle, log(delta), DPI_UPPER) > epsilon)
            high = middle;
        else
            low = middle;
    }
    return low;
}

static double first_guess(const parameter_search *s)
{
    const dp_mechanism *m = &s->m;
    double mu = mu_for(s->epsilon, s->delta), steps = (double)m->steps, guess;
    double noise = expm1(1 / (m->sigma * m->sigma)), rate = m->rate > 0 ? m->rate : 1;
    if (s->what == NOISE)
        guess = 1 / sqrt(log1p(mu * mu / (rate * rate * steps)));
    else if (s->what == RATE)
        guess = mu / sqrt(steps * noise);
    else
        guess = mu * mu / (rate * rate * noise) / s->unit;
    return fmin(fmax(guess, s->least), s->most);
}

/* Where log epsilon crosses: x is too small (or too large) to be safe, and by how much. */
typedef struct bracket {
    double unsafe, safe; /* x; NaN when not known */
    double x, log_ratio; /* last point: log(epsilon there / epsilon asked for) */
    double slope;        /* d log epsilon / d log x; 0 when not known */
} bracket;

static void note(const parameter_search *s, bracket *b, double x, double epsilon)
{
    double log_ratio = fmax(log(epsilon / s->epsilon), -50);
    double slope = (log_ratio - b->log_ratio) / log(x / b->x);
    if (fabs(slope) > 0.05 && fabs(slope) < 1000 && (slope < 0) == rises(s))
        b->slope = slope;
    b->x = x;
    b->log_ratio = log_ratio;
    if (log_ratio > 0)
        b->unsafe = x;
    else
        b->safe = x;
}

/* The next x: along the slope, but between the sides that are known. */
static double next(const parameter_search *s, const bracket *b, int i)
{
    double slope = b->slope != 0 ? b->slope : (rises(s) ? -1.2 : 0.6);
    double step = -b->log_ratio / slope;
    double x = b->x * exp(fmin(fmax(step, -STRIDE), STRIDE));
    double low = fmin(b->safe, b->unsafe), high = fmax(b->safe, b->unsafe);
    bool closed = b->safe == b->safe && b->unsafe == b->unsafe;
    if (closed && (!(x > low && x < high) || i % 6 == 5))
        x = sqrt(low * high);
    return fmin(fmax(x, s->least), s->most);
}

/* The root of the contour (or of the bound).  b->safe or b->unsafe is NaN when epsilon is on one
 * side for all x. */
static dp_status find_root(parameter_search *s, bracket *b, dp_error *err)
{
    *b = (bracket){.unsafe = NAN, .safe = NAN, .x = NAN, .log_ratio = NAN};
    double x = first_guess(s);
    for (int i = 0; i < MAX_LOOKS; i++) {
        double epsilon;
        dp_status status = look(s, x, &epsilon, err);
        if (status != DP_OK)
            return status;
        note(s, b, x, epsilon);
        bool at_end = x == s->least || x == s->most;
        double gap = fabs(log(b->safe / b->unsafe));
        if (fabs(b->log_ratio) < (s->refused ? EXCESS / 4 : ROOT) || gap < 1e-9)
            return DP_OK;
        if (at_end && ((x == s->most) == rises(s)) == (b->log_ratio > 0))
            return DP_OK; /* there is nothing beyond */
        x = next(s, b, i);
    }
    return lost(s, err);
}

/* A certified x within the tolerance of the root, starting where the bound is likely to be
 * enough. */
static dp_status settle(parameter_search *s, const bracket *b, double tolerance, double *answer,
                        dp_error *err)
{
    double way = rises(s) ? 1 : -1, slope = fabs(b->slope != 0 ? b->slope : 1);
    double root = b->x * exp(b->log_ratio / slope * way);
    double unsafe = log(root) * way, safe = INFINITY; /* grow to the safe side */
    double limit = log(rises(s) ? s->most : s->least) * way;
    double ahead = 0.8 * tolerance, width = fmin(0.72 * tolerance * slope, 1e-3);
    for (int i = 0; i < MAX_CERTIFICATES; i++) {
        double bound, y = safe < INFINITY ? (safe + unsafe) / 2 : fmin(unsafe + ahead, limit);
        double x = exp(y * way);
        x = fmin(fmax(x, s->least), s->most);
        dp_status status = certify(s, x, width, &bound, err);
        if (status != DP_OK)
            return status;
        bool coarse = width > FINE;
        width = FINE;
        if (bound <= s->epsilon) {
            safe = y;
            *answer = x;
        } else if (!coarse) {
            unsafe = y;
            ahead = fmax(1.2 * log(bound / s->epsilon) / slope, ahead / 2);
            if (y >= limit)
                break;
        }
        if (safe - unsafe <= 0.98 * tolerance)
            return DP_OK;
    }
    return lost(s, err);
}

/* ---- noise ---- */

static dp_status outside(const parameter_search *s, dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "epsilon %g at delta %g asks for noise outside [%g, %g] clipping norms; change "
                    "epsilon, the rate or the number of steps",
                    s->epsilon, s->delta, LEAST_SIGMA, MOST_SIGMA);
}

/* Without sampling a certificate is the closed form itself: nothing is gained by a tolerance. */
static dp_status finest(const dp_mechanism *m, double *tolerance, dp_error *err)
{
    dpi_composition c;
    dp_status status = dpi_composition_new(m, 1, DPI_REMOVE, DPI_UPPER, &c, err);
    if (status == DP_OK && c.normal_mu > 0)
        *tolerance = fmin(*tolerance, CLOSED_FORM);
    dpi_composition_free(&c);
    return status;
}

static dp_status search_sigma(const dp_mechanism *m, double epsilon, double delta, double tolerance,
                              double *sigma, dp_error *err)
{
    parameter_search s = {.m = *m, .what = NOISE, .epsilon = epsilon, .delta = delta};
    s.least = LEAST_SIGMA;
    s.most = m->noise == DP_NOISE_RANDOMISED_RESPONSE ? 1 : MOST_SIGMA;
    bracket b;
    dp_status status = finest(m, &tolerance, err);
    if (status == DP_OK)
        status = find_root(&s, &b, err);
    if (status != DP_OK)
        return status;
    bool found = fabs(b.log_ratio) < 1e-3 || (b.safe == b.safe && b.unsafe == b.unsafe);
    return found ? settle(&s, &b, tolerance, sigma, err) : outside(&s, err);
}

static dp_status check_goal(double epsilon, double delta, dp_error *err)
{
    dp_status status = dpi_check_epsilon(epsilon, false, err);
    return status == DP_OK ? dpi_check_delta(delta, err) : status;
}

dp_status dp_calibrate_sigma(const dp_mechanism *m, double epsilon, double delta, double tolerance,
                             double *sigma, dp_error *err)
{
    *sigma = INFINITY;
    double found = INFINITY;
    dp_mechanism any = *m;
    any.sigma = m->noise == DP_NOISE_RANDOMISED_RESPONSE ? 0.5 : 1;
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK && !(tolerance >= 0 && tolerance < 1))
        status = dpi_fail(err, DP_EDOMAIN,
                          "tolerance is %g; give a relative one above 0 and below 1, or 0 for %g",
                          tolerance, TOLERANCE);
    if (status == DP_OK)
        status =
            search_sigma(&any, epsilon, delta, tolerance > 0 ? tolerance : TOLERANCE, &found, err);
    if (status == DP_OK)
        *sigma = found;
    return status;
}

dp_status dp_approximate_sigma(double epsilon, double delta, double q, uint64_t steps,
                               dp_sampling sampling, double *sigma, dp_error *err)
{
    *sigma = INFINITY;
    dp_mechanism m = {.sampling = sampling, .sigma = 1, .rate = q, .steps = steps};
    dp_status status = dpi_check_sampling(sampling, q, steps, err);
    return status == DP_OK ? dp_calibrate_sigma(&m, epsilon, delta, 0, sigma, err) : status;
}

/* ---- rate ---- */

static dp_status search_rate(const dp_mechanism *m, double epsilon, double delta, double *rate,
                             dp_error *err)
{
    parameter_search s = {.m = *m, .what = RATE, .epsilon = epsilon, .delta = delta};
    s.least = LEAST_RATE;
    s.most = 1;
    bracket b;
    dp_status status = find_root(&s, &b, err);
    if (status != DP_OK)
        return status;
    double bound;
    if (!(b.unsafe == b.unsafe)) { /* even all records fit */
        status = certify(&s, 1, FINE, &bound, err);
        if (status != DP_OK || bound <= epsilon) {
            *rate = 1;
            return status;
        }
    }
    if (!(b.safe == b.safe) && !(fabs(b.log_ratio) < 1e-3))
        return DP_OK; /* none fits */
    return settle(&s, &b, TOLERANCE, rate, err);
}

dp_status dp_calibrate_rate(const dp_mechanism *m, double epsilon, double delta, double *rate,
                            dp_error *err)
{
    *rate = 0;
    double found = 0;
    dp_mechanism any = *m;
    any.rate = 0.5;
    if (m->sampling != DP_SAMPLING_POISSON && m->sampling != DP_SAMPLING_FIXED)
        return dpi_fail(err, DP_EDOMAIN,
                        "sampling is %d; a rate is searched for DP_SAMPLING_POISSON and "
                        "DP_SAMPLING_FIXED only",
                        (int)m->sampling);
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK)
        status = search_rate(&any, epsilon, delta, &found, err);
    if (status == DP_OK)
        *rate = found;
    return status;
}

/* ---- whole numbers: steps and cap ---- */

/* *root [out] the greatest (STEPS) or smallest (CAP) whole x at which epsilon is not exceeded, by
 * the contour; NaN when there is none.  Strides from the guess, then halves. */
static dp_status whole_root(parameter_search *s, double guess, double *root, dp_error *err)
{
    double safe = NAN, unsafe = NAN, x = fmin(fmax(floor(guess), s->least), s->most), stride = 1;
    double way = rises(s) ? 1 : -1; /* towards safety */
    for (int i = 0; i < MAX_LOOKS; i++) {
        double epsilon;
        dp_status status = look(s, x, &epsilon, err);
        if (status != DP_OK)
            return status;
        bool fits = epsilon <= s->epsilon;
        if (fits)
            safe = x;
        else
            unsafe = x;
        bool end = x == (fits == rises(s) ? s->least : s->most);
        *root = safe;
        if (end || fabs(safe - unsafe) <= 1)
            return DP_OK;
        if (safe == safe && unsafe == unsafe)
            x = floor((safe + unsafe) / 2);
        else
            x = fmin(fmax(x + (fits ? -way : way) * stride, s->least), s->most);
        stride *= 4;
    }
    return lost(s, err);
}

/* From the root to the safe side until a certificate fits; *answer stays when none does. */
static dp_status whole_settle(parameter_search *s, double root, double *answer, dp_error *err)
{
    double way = rises(s) ? 1 : -1, x = root;
    for (int i = 0; i < MAX_CERTIFICATES && x >= s->least && x <= s->most; i++) {
        double bound;
        dp_status status = certify(s, x, FINE, &bound, err);
        if (status != DP_OK)
            return status;
        if (bound <= s->epsilon) {
            *answer = x;
            return DP_OK;
        }
        x += way * fmax(1, floor(x * log(bound / s->epsilon)));
    }
    return x < s->least ? DP_OK : lost(s, err);
}

static dp_status search_steps(const dp_mechanism *m, double epsilon, double delta, double *units,
                              dp_error *err)
{
    parameter_search s = {
        .m = *m, .what = STEPS, .epsilon = epsilon, .delta = delta, .least = 1, .unit = 1};
    if (m->sampling == DP_SAMPLING_ALLOCATION)
        s.unit = (double)m->epoch;
    s.most = floor((double)MOST_STEPS / s.unit);
    double root = NAN;
    dp_status status = whole_root(&s, first_guess(&s), &root, err);
    if (status != DP_OK || !(root == root))
        return status;
    /* Where a step more or less is far below the bound's excess, begin behind it. */
    return whole_settle(&s, root - floor(root * EXCESS), units, err);
}

dp_status dp_calibrate_steps(const dp_mechanism *m, double epsilon, double delta, uint64_t *steps,
                             dp_error *err)
{
    *steps = 0;
    double units = 0;
    dp_mechanism any = *m;
    any.steps = m->sampling == DP_SAMPLING_ALLOCATION && m->epoch > 0 ? m->epoch : 1;
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = check_goal(epsilon, delta, err);
    if (status == DP_OK)
        status = search_steps(&any, epsilon, delta, &units, err);
    if (status == DP_OK)
        *steps = (uint64_t)units * any.steps;
    return status;
}

/* epsilon of plain Poisson sampling: exact where the contour applies. */
static dp_status plain_epsilon(const dp_mechanism *m, double delta, double *epsilon, dp_error *err)
{
    parameter_search s = {.m = *m, .what = NOISE, .delta = delta};
    s.m.sampling = DP_SAMPLING_POISSON;
    s.m.records = s.m.cap = 0;
    return look(&s, m->sigma, epsilon, err);
}

dp_status dp_calibrate_cap(const dp_mechanism *m, double delta, double excess, uint64_t *cap,
                           dp_error *err)
{
    *cap = 0;
    double plain = 0, root = NAN, found = 0;
    dp_mechanism any = *m;
    any.cap = m->records;
    if (m->sampling != DP_SAMPLING_TRUNCATED)
        return dpi_fail(err, DP_EDOMAIN, "sampling is %d; a cap belongs to DP_SAMPLING_TRUNCATED",
                        (int)m->sampling);
    dp_status status = dpi_check_mechanism(&any, err);
    if (status == DP_OK)
        status = dpi_check_delta(delta, err);
    if (status == DP_OK && !(excess >= 0 && excess < INFINITY))
        status = dpi_fail(err, DP_EDOMAIN,
                          "excess is %g; give a relative one above 0, or 0 for 1e-3", excess);
    if (status == DP_OK)
        status = plain_epsilon(&any, delta, &plain, err);
    parameter_search s = {
        .m = any, .what = CAP, .delta = delta, .least = 1, .most = (double)m->records};
    s.epsilon = plain * (1 + (excess > 0 ? excess : 1e-3));
    double mean = (double)m->records * m->rate;
    if (status == DP_OK)
        status = whole_root(&s, mean + 6 * sqrt(mean) + 1, &root, err);
    if (status == DP_OK)
        status = whole_settle(&s, root == root ? root : s.most, &found, err);
    if (status == DP_OK)
        *cap = (uint64_t)found;
    return status;
}
