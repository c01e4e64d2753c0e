/* The way of the contour (the integral is in contour.c).
 *
 * Tilt.  The saddle for epsilon solves  K'(c) = eps + 1/c + 1/(c+1);  for delta it is where the
 * second-order estimate  K(c) - c eps - log(c (c+1)) - log(2 pi V) / 2,  V = K'' + c^-2 + (c+1)^-2,
 * is log delta, which falls with c.  A percent is near enough.
 *
 * Period.  The trapezoidal rule of step h = 2 pi / Lam gives the sum over k of e^(c k Lam)
 * delta(eps + k Lam): all terms positive.  With delta(e) <= min(1, e^(K(c') - c' e) kappa(c')),
 * kappa(c) = c^c / (c+1)^(c+1), the terms k < 0 ask for the least of
 *     (ALIAS - log delta) / c   and   (ALIAS + K(c/2) - c eps / 2 + log kappa - log delta) / (c/2),
 * those k > 0 for the least over c' > c of
 *     (ALIAS + K(c') - c' eps + log kappa(c') - log delta) / (c' - c)   and   (greatest loss) -
 *     eps.
 * Rare large losses make the right one long; moving c to the left shortens it, at the price of
 * cancellation, of which CANCEL is allowed.
 *
 * Frequencies.  They end where  |phi(u)| / |z (z+1)| u / pi  is e^-FALL of the sum, |phi| taken as
 * product of envelopes (phase.h), so that losses on a lattice never end.
 *
 * Nodes.  Doubling the trapezoidal rule's step shows its error (nodes.c); it is looked at at every
 * frequency tried, and at a tilt of c/2 or more: there the end of the range carries no weight, and
 * moving the contour back to c only adds segments at |Im z| = u, where both integrands vanish. */
#include "accountant/contour/path.h"

#include <math.h>

#include "base/alloc.h"
#include "base/error.h"

static const double ALIAS = 30; /* e^-30 = 1e-13 */
static const double FALL = 30;
static const double CUT = 28;        /* P-mass left out, against delta */
static const double CANCEL = 8;      /* log of the cancellation that leaving the saddle may bring */
static const double ROOM = 8;        /* log of what two tilts' sizes may differ by */
static const double OPENING = 1e-11; /* see opening() */
static const size_t MAX_NODES = 1 << 17; /* of a step, beyond which they are not doubled */
static const double MAX_WORK = 6e7;      /* rotations */
static const double LEAST_TILT = 1e-9, MOST_TILT = 1e12;
static const double LEAST_LOG_DELTA = -1e5;

enum {
    MAX_FREQUENCIES = 1 << 20,
    MAX_SHARPNESS = 24,
    MOVE = 4,
    BELOW = 20,
    SEARCH = 200,
    LOOKS = 20
};

/* ---- parts ---- */

dp_status dpi_path_new(const dpi_pair_times *terms, size_t n, dpi_path *path, dp_error *err)
{
    *path = (dpi_path){.n = n, .part = dpi_alloc(n, sizeof *path->part)};
    if (path->part == NULL)
        return dpi_fail_nomem(err);
    double log_finite = 0;
    for (size_t i = 0; i < n; i++) {
        path->part[i].pair = terms[i].pair;
        path->part[i].times = terms[i].times;
        path->part[i].fineness.speed = 1;
        log_finite += terms[i].times * log1p(-terms[i].pair->infinite);
    }
    path->log_infinite = log_finite < 0 ? log(-expm1(log_finite)) : -INFINITY;
    return DP_OK;
}

void dpi_path_free(dpi_path *path)
{
    for (size_t i = 0; path->part != NULL && i < path->n; i++) {
        dpi_contour_nodes_free(&path->part[i].nodes);
        dpi_contour_nodes_free(&path->part[i].wave);
        dpi_tilted_free(&path->part[i].tilted);
    }
    dpi_free(path->part);
    *path = (dpi_path){0};
}

static dp_status build(dpi_path_term *part, dp_error *err)
{
    dpi_contour_nodes_free(&part->nodes);
    return dpi_contour_nodes_new(part->pair, &part->fineness, &part->nodes, err);
}

/* All parts, cut as a delta of about e^log_delta allows. */
static dp_status look(dpi_path *path, double log_delta, dp_error *err)
{
    path->log_cut = fmin(log_delta, 0) - CUT;
    path->greatest = 0;
    for (size_t i = 0; i < path->n; i++) {
        dpi_path_term *part = &path->part[i];
        part->fineness.log_cut = path->log_cut - log(part->times);
        part->moved.moved = false;
        part->unmovable = !dpi_contour_movable(part->pair);
        dp_status status = build(part, err);
        if (status != DP_OK)
            return status;
        path->greatest += part->times * part->nodes.greatest;
    }
    return DP_OK;
}

/* ---- the saddle ---- */

static dpi_tilt tilt_at(const dpi_path *path, double c)
{
    dpi_tilt t = {.c = c};
    for (size_t i = 0; i < path->n; i++) {
        double mean, variance, times = path->part[i].times;
        t.cumulant += times * dpi_contour_cumulant(&path->part[i].nodes, c, &mean, &variance);
        t.mean += times * mean;
        t.variance += times * variance;
    }
    t.epsilon = t.mean - 1 / c - 1 / (1 + c);
    double v = t.variance + 1 / (c * c) + 1 / ((1 + c) * (1 + c));
    t.log_delta = t.cumulant - c * t.epsilon - log(c) - log1p(c) - 0.5 * log(2 * M_PI * v);
    return t;
}

/* By triples until the saddle is enclosed, then by halves. */
static dpi_tilt find_saddle(const dpi_path *path, dpi_goal goal, double given)
{
    double low = LEAST_TILT, high = MOST_TILT;
    double variance = tilt_at(path, 1e-3).variance;
    double start = goal == DPI_GOAL_LOG_DELTA ? sqrt(fmax(-2 * given, 0.01) / variance) : 1;
    double c = fmin(fmax(start, 10 * low), high / 10);
    dpi_tilt t = {0};
    for (int i = 0; i < SEARCH && high > 1.02 * low; i++) {
        t = tilt_at(path, c);
        bool rise = goal == DPI_GOAL_LOG_DELTA ? t.log_delta > given : t.epsilon < given;
        if (rise)
            low = c;
        else
            high = c;
        if (high == MOST_TILT)
            c = fmin(3 * low, MOST_TILT);
        else
            c = low == LEAST_TILT ? fmax(high / 3, LEAST_TILT) : sqrt(low * high);
    }
    return t;
}

/* log delta at epsilon as the second-order expansion at a tilt nearby has it. */
static double log_delta_near(const dpi_tilt *t, double epsilon)
{
    return t->log_delta - t->c * (epsilon - t->epsilon);
}

/* Which delta is to be expected decides the cut, and the cut what is expected. */
static dp_status estimate_delta(dpi_path *path, double epsilon, dp_error *err)
{
    double guess = -10;
    for (int i = 0; i < LOOKS; i++) {
        dp_status status = look(path, guess, err);
        if (status != DP_OK)
            return status;
        double found = 4 * guess;
        if (epsilon < path->greatest) {
            path->at = find_saddle(path, DPI_GOAL_EPSILON, epsilon);
            found = fmax(fmin(log_delta_near(&path->at, epsilon), 0), 4 * guess);
        }
        if (fabs(found - guess) < 2 || guess < LEAST_LOG_DELTA)
            break;
        guess = found;
    }
    path->epsilon = epsilon;
    path->log_goal = guess;
    return DP_OK;
}

dp_status dpi_path_estimate(dpi_path *path, dpi_goal goal, double given, dp_error *err)
{
    if (goal == DPI_GOAL_EPSILON)
        return estimate_delta(path, given, err);
    dp_status status = look(path, given, err);
    if (status != DP_OK)
        return status;
    dpi_tilt t = find_saddle(path, goal, given);
    double epsilon = t.epsilon + (t.log_delta - given) / t.c;
    path->epsilon = epsilon < path->greatest ? epsilon : t.epsilon;
    path->log_goal = given;
    return DP_OK;
}

/* ---- the period ---- */

/* log of Markov's bound on delta(epsilon) at the tilt of t. */
static double log_markov(const dpi_tilt *t, double epsilon)
{
    double c = t->c;
    return t->cumulant - c * epsilon + c * log(c) - (1 + c) * log1p(c);
}

static double left_period(const dpi_path *path, const dpi_tilt *t)
{
    dpi_tilt half = tilt_at(path, t->c / 2);
    double plain = (ALIAS - path->log_goal) / t->c;
    double markov = 2 * (ALIAS + log_markov(&half, path->epsilon) - path->log_goal) / t->c;
    return fmin(plain, markov);
}

static double right_period(const dpi_path *path, const dpi_tilt *t)
{
    static const double ratio[] = {1.1, 1.25, 1.5, 2, 3, 5, 10, 30};
    double least = path->greatest - path->epsilon;
    for (size_t i = 0; i < sizeof ratio / sizeof *ratio; i++) {
        dpi_tilt far = tilt_at(path, ratio[i] * t->c);
        double needed = (ALIAS + log_markov(&far, path->epsilon) - path->log_goal) / (far.c - t->c);
        if (needed < least)
            least = fmax(needed, 0);
    }
    return least;
}

/* log of the integrand's size on the real line. */
static double log_size(const dpi_tilt *t, double epsilon)
{
    return t->cumulant - t->c * epsilon - log(t->c) - log1p(t->c);
}

/* From the saddle to the tilt with the shortest period. */
static void choose_period(dpi_path *path)
{
    dpi_tilt saddle = path->at;
    double left = left_period(path, &saddle), right = right_period(path, &saddle);
    double best = fmax(left, right);
    double most = fmax(path->log_goal + CANCEL, log_size(&saddle, path->epsilon) + 0.5);
    for (double factor = 0.85; right > left && factor > 0.05; factor *= 0.85) {
        dpi_tilt t = tilt_at(path, factor * saddle.c);
        if (log_size(&t, path->epsilon) > most)
            break;
        left = left_period(path, &t);
        right = right_period(path, &t);
        if (fmax(left, right) < best) {
            best = fmax(left, right);
            path->at = t;
        }
    }
    path->h = 2 * M_PI / best;
}

/* ---- the frequencies ---- */

/* The nodes that serve frequencies. */
static const dpi_contour_nodes *waves(const dpi_path_term *part)
{
    return part->moved.moved ? &part->wave : &part->nodes;
}

/* The law of one part at the path's tilt. */
static dp_status tilt_part(const dpi_path *path, dpi_path_term *part, dp_error *err)
{
    double mean, variance;
    double total = dpi_contour_cumulant(&part->nodes, path->at.c, &mean, &variance);
    dpi_tilted_free(&part->tilted);
    if (part->pair->normal_mu > 0 ||
        dpi_tilted_new(waves(part), path->at.c, total, mean, 1e-18 / part->times, &part->tilted))
        return DP_OK;
    return dpi_fail_nomem(err);
}

/* At the frequency u and, on a moved line, where high frequencies fade, at all below it. */
static double worst_error(const dpi_path_term *part, double tilt, double u, double log_total)
{
    double worst = dpi_contour_nodes_error(waves(part), tilt, u, log_total);
    for (int i = 0; i <= BELOW && part->moved.moved; i++) {
        u = i < BELOW ? u / 1.5 : 0;
        worst = fmax(worst, dpi_contour_nodes_error(waves(part), tilt, u, log_total));
    }
    return worst;
}

/* More nodes; beyond MOVE, beside the real axis. */
static dp_status sharpen(dpi_path_term *part, dp_error *err)
{
    dpi_fineness *f = part->moved.moved ? &part->moved : &part->fineness;
    if (!part->moved.moved && f->sharpness >= MOVE && !part->unmovable) {
        part->moved = *f;
        part->moved.moved = true;
        part->moved.sharpness = 0;
    } else if (f->sharpness++ == MAX_SHARPNESS || waves(part)->n > MAX_NODES) {
        return dpi_fail(err, DP_EACCURACY,
                        "the inversion integral cannot resolve the privacy loss of a step; "
                        "take the certified interval");
    }
    if (!part->moved.moved)
        return build(part, err);
    dpi_contour_nodes_free(&part->wave);
    return dpi_contour_nodes_new(part->pair, &part->moved, &part->wave, err);
}

/* How far the moved line's total mass is from the 1 of the real one.  They are connected at
 * infinity, not at the end of the range, so what lies beyond must not be felt at this tilt. */
static double opening(const dpi_path_term *part)
{
    double re = -1, im = 0;
    for (size_t j = 0; j < part->tilted.n; j++) {
        re += part->tilted.mass[j];
        im += part->tilted.mass_im[j];
    }
    return hypot(re, im);
}

/* Makes the part's nodes fine enough for frequency u; log_allowed is of the error in all steps. */
static dp_status resolve(const dpi_path *path, dpi_path_term *part, double u, double log_allowed,
                         dp_error *err)
{
    dpi_fineness *f = &part->fineness;
    bool panels = part->nodes.n_lines < part->pair->n_pieces && part->pair->normal_mu == 0;
    double speed = path->at.c + u;
    dp_status status = DP_OK;
    if (panels && speed > f->speed) {
        f->speed = 1.7 * speed;
        status = build(part, err);
    }
    double mean, variance;
    double total = dpi_contour_cumulant(&part->nodes, path->probe, &mean, &variance);
    while (status == DP_OK) {
        double root = worst_error(part, path->probe, u, total);
        if (log(part->times) + 2 * log(root) <= log_allowed)
            break;
        status = sharpen(part, err);
    }
    if (status == DP_OK)
        status = tilt_part(path, part, err);
    if (status != DP_OK || !part->moved.moved || part->times * opening(part) <= OPENING)
        return status;
    part->moved.moved = false;
    part->unmovable = true;
    return resolve(path, part, u, log_allowed, err);
}

/* log of the integrand's envelope at u, times u / pi. */
static double log_envelope(const dpi_path *path, double u)
{
    double c = path->at.c, sum = log(u / M_PI) - log(hypot(c, u)) - log(hypot(1 + c, u));
    for (size_t i = 0; i < path->n; i++) {
        const dpi_path_term *part = &path->part[i];
        double mu = part->pair->normal_mu;
        double log_phi = mu > 0 ? -mu * mu * u * u / 2 : log(dpi_phase_envelope(&part->tilted, u));
        sum += part->times * log_phi;
    }
    return sum;
}

static dp_status does_not_fall(dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "the inversion integral does not converge: too few sampled steps, or losses "
                    "on a lattice; take the certified interval");
}

static double work(const dpi_path *path)
{
    double nodes = 0;
    for (size_t i = 0; i < path->n; i++)
        nodes += (double)path->part[i].tilted.n;
    return nodes * (double)path->count;
}

/* Chooses the tilt at which nodes are looked at; log of the error allowed there. */
static double choose_probe(dpi_path *path)
{
    double size = log_size(&path->at, path->epsilon), room = INFINITY;
    for (double factor = 0.5; factor < 0.99 && room > ROOM; factor = (1 + factor) / 2) {
        dpi_tilt probe = tilt_at(path, factor * path->at.c);
        room = fmax(log_size(&probe, path->epsilon) - size, 0);
        path->probe = probe.c;
    }
    return -FALL - fmin(room, ROOM);
}

static dp_status reach(dpi_path *path, dp_error *err)
{
    double log_allowed = choose_probe(path);
    double c = path->at.c;
    double goal = path->log_goal - (path->at.cumulant - c * path->epsilon) - FALL;
    double u = 5 / sqrt(path->at.variance + 1 / (c * c)), envelope = INFINITY;
    while (envelope > goal) {
        u *= 1.25;
        path->count = (size_t)(u / path->h) + 2;
        if (!(u / path->h < MAX_FREQUENCIES) || work(path) > MAX_WORK)
            return does_not_fall(err);
        for (size_t i = 0; i < path->n; i++) {
            dp_status status = resolve(path, &path->part[i], u, log_allowed, err);
            if (status != DP_OK)
                return status;
        }
        envelope = log_envelope(path, u);
    }
    path->at = tilt_at(path, c); /* with the final nodes */
    return DP_OK;
}

dp_status dpi_path_plan(dpi_path *path, double epsilon, double log_goal, dp_error *err)
{
    path->count = 0;
    path->epsilon = epsilon;
    path->log_goal = log_goal;
    dp_status status = look(path, log_goal, err);
    if (status != DP_OK || epsilon >= path->greatest)
        return status;
    path->at = find_saddle(path, DPI_GOAL_EPSILON, epsilon);
    choose_period(path);
    if (!(path->h > 0 && path->h < INFINITY) || !(path->at.cumulant < INFINITY))
        return does_not_fall(err);
    return reach(path, err);
}
