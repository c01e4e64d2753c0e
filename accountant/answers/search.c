/* One parameter x is searched for; its other side is monotone.
 *
 * First the contour, which is exact for all that matters here and takes a tenth of a millisecond,
 * is followed to where it gives epsilon: secants in log x and log epsilon, kept inside what is
 * known of either side.  Then certificates: the bound lies about DPI_SEARCH_EXCESS above the exact
 * value, so it is asked for that much on the safe side; if it is at most epsilon, x is answered.
 * The exact root is known, and with it that nothing further than the tolerance on the unsafe side
 * of x would do.  If not, the interval between the root and a certified point is halved by
 * certificates.  Where the contour does not apply the certified bound takes its place from the
 * start.  Whatever the way, what is answered has a certificate.
 *
 * Starting point: q sqrt(T (e^(1/sigma^2) - 1)) = mu, the central limit of sampled Gaussian steps
 * (Dong, Roth and Su, JRSS B 2022), with mu by the closed form; a bad one costs steps, nothing
 * else. */
#include "accountant/answers/search.h"

#include <math.h>

#include "accountant/answers/bound.h"
#include "accountant/answers/composition.h"
#include "accountant/answers/gaussian.h"
#include "accountant/contour/contour.h"
#include "base/error.h"

enum { MAX_LOOKS = 100, MAX_CERTIFICATES = 40, HALVINGS = 24, PATIENCE = 2 };

static const double ROOT = 2e-6;   /* relative error of epsilon at the root */
static const double COARSE = 0.05; /* width of bounds that need not be close */
static const double STRIDE = 1.5;  /* furthest step in log x without a slope */

static void put(dpi_search *s, double x)
{
    switch (s->what) {
    case DPI_NOISE:
        s->m.sigma = x;
        break;
    case DPI_RATE:
        s->m.rate = x;
        break;
    case DPI_STEPS:
        s->m.steps = (uint64_t)x * (uint64_t)s->unit;
        break;
    case DPI_CAP:
        s->m.cap = (uint64_t)x;
        break;
    }
}

/* Larger is safer? */
static bool rises(const dpi_search *s)
{
    return s->what == DPI_NOISE || s->what == DPI_CAP;
}

/* The bound of one direction, as fine as `width` unless it is enough already. */
static dp_status certify_way(const dpi_search *s, dpi_direction direction, double width,
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

dp_status dpi_search_certify(dpi_search *s, double x, double width, double *bound, dp_error *err)
{
    put(s, x);
    dp_status status = certify_way(s, DPI_REMOVE, width, bound, err);
    if (status != DP_OK || *bound > s->epsilon || dpi_composition_directions(&s->m) == 1)
        return status;
    double added = INFINITY;
    status = certify_way(s, DPI_ADD, width, &added, err);
    *bound = fmax(*bound, added);
    return status;
}

dp_status dpi_search_look(dpi_search *s, double x, double *epsilon, dp_error *err)
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

static dp_status lost(const dpi_search *s, dp_error *err)
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

double dpi_search_guess(const dpi_search *s)
{
    const dp_mechanism *m = &s->m;
    double mu = mu_for(s->epsilon, s->delta), steps = (double)m->steps, guess;
    double noise = expm1(1 / (m->sigma * m->sigma)), rate = m->rate > 0 ? m->rate : 1;
    if (s->what == DPI_NOISE)
        guess = 1 / sqrt(log1p(mu * mu / (rate * rate * steps)));
    else if (s->what == DPI_RATE)
        guess = mu / sqrt(steps * noise);
    else
        guess = mu * mu / (rate * rate * noise) / s->unit;
    return fmin(fmax(guess, s->least), s->most);
}

static void note(const dpi_search *s, dpi_bracket *b, double x, double epsilon)
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
static double next(const dpi_search *s, const dpi_bracket *b, int i)
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

dp_status dpi_search_root(dpi_search *s, dpi_bracket *b, dp_error *err)
{
    *b = (dpi_bracket){.unsafe = NAN, .safe = NAN, .x = NAN, .log_ratio = NAN};
    double x = dpi_search_guess(s);
    for (int i = 0; i < MAX_LOOKS; i++) {
        double epsilon;
        dp_status status = dpi_search_look(s, x, &epsilon, err);
        if (status != DP_OK)
            return status;
        note(s, b, x, epsilon);
        bool at_end = x == s->least || x == s->most;
        double gap = fabs(log(b->safe / b->unsafe));
        if (fabs(b->log_ratio) < (s->refused ? DPI_SEARCH_EXCESS / 4 : ROOT) || gap < 1e-9)
            return DP_OK;
        if (at_end && ((x == s->most) == rises(s)) == (b->log_ratio > 0))
            return DP_OK; /* there is nothing beyond */
        x = next(s, b, i);
    }
    return lost(s, err);
}

/* Starts where the bound is likely to be enough. */
dp_status dpi_search_settle(dpi_search *s, const dpi_bracket *b, double tolerance, double *answer,
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
        dp_status status = dpi_search_certify(s, x, width, &bound, err);
        if (status != DP_OK)
            return status;
        bool coarse = width > DPI_SEARCH_FINE;
        width = DPI_SEARCH_FINE;
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

/* ---- whole numbers ---- */

/* Strides from the guess, then halves. */
dp_status dpi_search_whole_root(dpi_search *s, double guess, double *root, dp_error *err)
{
    double safe = NAN, unsafe = NAN, x = fmin(fmax(floor(guess), s->least), s->most), stride = 1;
    double way = rises(s) ? 1 : -1; /* towards safety */
    for (int i = 0; i < MAX_LOOKS; i++) {
        double epsilon;
        dp_status status = dpi_search_look(s, x, &epsilon, err);
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

/* From the root to the safe side until a certificate fits. */
dp_status dpi_search_whole_settle(dpi_search *s, double root, double *answer, dp_error *err)
{
    double way = rises(s) ? 1 : -1, x = root;
    for (int i = 0; i < MAX_CERTIFICATES && x >= s->least && x <= s->most; i++) {
        double bound;
        dp_status status = dpi_search_certify(s, x, DPI_SEARCH_FINE, &bound, err);
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
