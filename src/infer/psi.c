/* The centre of a clipped score, by Newton's method on few nodes.
 *
 * In standard scores t (law.h) and g = D gamma D / C^2, D the units of the scores, the clip norm is
 * 1.  With v = t - a, q = v' g v, w = min(1, q^-1/2):
 *
 *   f(a) = E w v,   -df/da = M = E w I - E o v v' g,   o = w / q where q > 1, else 0;
 *
 * g f is minus the gradient of the convex E rho(|v|), rho being Huber's function, so that both
 * steps, a + M^-1 f (Newton) and a + f / E w (reweighted mean), lead down where they are not too
 * long; the latter never is.  A Newton step after which |f| has grown is taken back for one of the
 * others.
 *
 * Kinks.  Nodes of a smooth law are equally spaced in a variable in which all but the clip is
 * smooth, and there sums are exact to many digits.  Where |v| passes 1 between two nodes, a share
 * theta of the way from one to the other, the sum of w v is too large by
 *
 *   m v d (1/12 - theta (1 - theta) / 2),
 *
 * m, v there, d the difference of |v| between the nodes (Euler and Maclaurin's formula on both
 * sides), up to terms of the third order in the distance of the nodes.
 *
 * No solution is needed for two outcomes, whose scores lie on opposite sides of 0, and the mean of
 * clip(s) is 0 if both are multiplied by the same; nor for one number in which the law is even. */
#include "infer/psi.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"

enum { MOST = DPI_MOST_OUTCOMES, K = DPI_READ_MOST, LANES = DPI_LAW_LANES, ROUNDS = 24 };

/* A last step is made from a residual below this.  For smooth laws it leaves about the square. */
static const double near_smooth = 2e-3, near_other = 1e-5;

/* Kinks matter where the residual is below this. */
static const double kinks_from = 2e-2;

/* The law in clip norms. */
typedef struct cloud {
    size_t k, n; /* n: a multiple of LANES, the last of mass 0 */
    const double *mass, *t[K];
    bool smooth;
    double g[K * K];
} cloud;

/* At a centre: nodes, and sums over them. */
typedef struct nodes {
    double v[K][MOST], q[MOST], w[MOST] /* times mass */, o[MOST], product[MOST];
    unsigned char beyond[MOST];        /* q > 1 */
    double weight, f[K], outer[K * K]; /* E w, E w v, E o v v' */
} nodes;

/* ---- sums over nodes ---- */

/* Sum of x y: LANES sums side by side. */
DPI_INLINE double dot(size_t n, const double *x, const double *y)
{
    double lane[LANES] = {0}, sum = 0;
    for (size_t i = 0; i < n; i += LANES)
        for (size_t l = 0; l < LANES; l++)
            lane[l] += x[i + l] * y[i + l];
    for (size_t l = 0; l < LANES; l++)
        sum += lane[l];
    return sum;
}

/* v and q. */
DPI_INLINE void move(const cloud *c, size_t k, const double *a, nodes *restrict at)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < c->n; i++)
            at->v[j][i] = c->t[j][i] - a[j];
    for (size_t i = 0; i < c->n; i++)
        at->q[i] = c->g[0] * at->v[0][i] * at->v[0][i];
    for (size_t j = 1; j < k; j++)
        for (size_t l = 0; l <= j; l++) {
            double g = (l == j ? 1 : 2) * c->g[j * k + l];
            for (size_t i = 0; i < c->n; i++)
                at->q[i] += g * at->v[j][i] * at->v[l][i];
        }
}

/* The same of two numbers. */
DPI_INLINE void move_two(const cloud *c, const double *a, nodes *restrict at)
{
    const double *s = c->t[0], *t = c->t[1], a0 = a[0], a1 = a[1];
    const double g = c->g[0], cross = 2 * c->g[2], h = c->g[3];
    double *restrict u = at->v[0], *restrict v = at->v[1], *restrict q = at->q;
    const size_t n = c->n;
    for (size_t i = 0; i < n; i++) {
        const double x = s[i] - a0, y = t[i] - a1;
        u[i] = x;
        v[i] = y;
        q[i] = g * x * x + cross * y * x + h * y * y;
    }
}

/* w and o, from q. */
DPI_INLINE void weigh(const cloud *c, nodes *restrict at)
{
    const double *mass = c->mass, *q = at->q;
    double *restrict w = at->w, *restrict o = at->o;
    unsigned char *restrict beyond = at->beyond;
    const size_t n = c->n;
    /* Seven digits of the root are enough, and much faster. */
    for (size_t i = 0; i < n; i++) {
        const double r = 1 / sqrtf(q[i] > 1 ? (float)q[i] : 1), here = mass[i] * r;
        w[i] = here;
        o[i] = q[i] > 1 ? here * r * r : 0;
    }
    for (size_t i = 0; i < n; i++)
        beyond[i] = q[i] > 1;
}

DPI_INLINE void add_up(const cloud *c, size_t k, nodes *restrict at)
{
    for (size_t i = 0; i < c->n; i++)
        at->product[i] = 1;
    at->weight = dot(c->n, at->w, at->product);
    for (size_t j = 0; j < k; j++) {
        at->f[j] = dot(c->n, at->w, at->v[j]);
        for (size_t i = 0; i < c->n; i++)
            at->product[i] = at->o[i] * at->v[j][i];
        for (size_t l = 0; l <= j; l++)
            at->outer[j * k + l] = at->outer[l * k + j] = dot(c->n, at->product, at->v[l]);
    }
}

DPI_INLINE double sum_of(const double *lane)
{
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* The same of one number, all sums at a time. */
DPI_INLINE void add_up_one(const cloud *c, nodes *restrict at)
{
    double weight[LANES] = {0}, f[LANES] = {0}, outer[LANES] = {0};
    const double *w = at->w, *o = at->o, *v = at->v[0];
    for (size_t i = 0; i < c->n; i += LANES) {
        for (size_t l = 0; l < LANES; l++)
            weight[l] += w[i + l];
        for (size_t l = 0; l < LANES; l++)
            f[l] += w[i + l] * v[i + l];
        for (size_t l = 0; l < LANES; l++)
            outer[l] += o[i + l] * v[i + l] * v[i + l];
    }
    at->weight = sum_of(weight);
    at->f[0] = sum_of(f);
    at->outer[0] = sum_of(outer);
}

/* And of two. */
DPI_INLINE void add_up_two(const cloud *c, nodes *restrict at)
{
    double weight[LANES] = {0}, f[LANES] = {0}, g[LANES] = {0};
    double ff[LANES] = {0}, fg[LANES] = {0}, gg[LANES] = {0};
    const double *w = at->w, *o = at->o, *u = at->v[0], *v = at->v[1];
    for (size_t i = 0; i < c->n; i += LANES) {
        for (size_t l = 0; l < LANES; l++)
            weight[l] += w[i + l];
        for (size_t l = 0; l < LANES; l++)
            f[l] += w[i + l] * u[i + l];
        for (size_t l = 0; l < LANES; l++)
            g[l] += w[i + l] * v[i + l];
        for (size_t l = 0; l < LANES; l++)
            ff[l] += o[i + l] * u[i + l] * u[i + l];
        for (size_t l = 0; l < LANES; l++)
            fg[l] += o[i + l] * v[i + l] * u[i + l];
        for (size_t l = 0; l < LANES; l++)
            gg[l] += o[i + l] * v[i + l] * v[i + l];
    }
    at->weight = sum_of(weight);
    at->f[0] = sum_of(f);
    at->f[1] = sum_of(g);
    at->outer[0] = sum_of(ff);
    at->outer[1] = at->outer[2] = sum_of(fg);
    at->outer[3] = sum_of(gg);
}

/* Loops over the numbers of a score are written out for one and two. */
DPI_LOOPS static void visit(const cloud *c, const double *a, nodes *restrict at)
{
    if (c->k == 1) {
        move(c, 1, a, at);
        weigh(c, at);
        add_up_one(c, at);
    } else if (c->k == 2) {
        move_two(c, a, at);
        weigh(c, at);
        add_up_two(c, at);
    } else {
        move(c, c->k, a, at);
        weigh(c, at);
        add_up(c, c->k, at);
    }
}

/* Where |v| passes 1 between nodes i and i + 1, a share theta of the way. */
typedef struct kink {
    size_t i;
    double theta, more; /* m d (1/12 - theta (1 - theta) / 2) */
} kink;

/* The first node from `from` on of which the next is on the other side of the clip norm; the last
 * node where there is none. */
static size_t last_alike(const cloud *c, const nodes *at, size_t from)
{
    size_t i = from, last = c->n - 1;
    uint64_t here, next;
    for (; i + sizeof here <= last; i += sizeof here) {
        memcpy(&here, at->beyond + i, sizeof here);
        memcpy(&next, at->beyond + i + 1, sizeof next);
        if (here != next)
            break;
    }
    while (i < last && at->beyond[i] == at->beyond[i + 1])
        i++;
    return i;
}

/* The next one from node `from`; false where there is none. */
static bool next_kink(const cloud *c, const nodes *at, size_t from, kink *next)
{
    size_t i = c->smooth ? last_alike(c, at, from) : c->n - 1;
    if (i + 1 >= c->n)
        return false;
    double here = sqrt(at->q[i]), d = sqrt(at->q[i + 1]) - here, theta = (1 - here) / d;
    double mass = c->mass[i] + theta * (c->mass[i + 1] - c->mass[i]);
    *next = (kink){i, theta, mass * fabs(d) * (1.0 / 12 - 0.5 * theta * (1 - theta))};
    return true;
}

/* A value at it, from those at the nodes. */
static double at_kink(const kink *k, const double *x)
{
    return x[k->i] + k->theta * (x[k->i + 1] - x[k->i]);
}

/* Takes from f what the sum has too much by the kinks. */
static void mind_kinks(const cloud *c, nodes *at)
{
    kink k;
    for (size_t i = 0; next_kink(c, at, i, &k); i = k.i + 1)
        for (size_t j = 0; j < c->k; j++)
            at->f[j] -= k.more * at_kink(&k, at->v[j]);
}

/* ---- the centre ---- */

DPI_INLINE double square_of(size_t k, const double *u, const double *g)
{
    double sum = 0;
    if (k == 2)
        sum = u[0] * (g[0] * u[0] + g[1] * u[1]) + u[1] * (g[2] * u[0] + g[3] * u[1]);
    for (size_t j = 0; j < k && k != 2; j++)
        for (size_t l = 0; l < k; l++)
            sum += u[j] * g[j * k + l] * u[l];
    return sum > 0 ? sum : 0;
}

DPI_INLINE double norm_of(size_t k, const double *u, const double *g)
{
    return sqrt(square_of(k, u, g));
}

/* x = m^-1 x by elimination, m[k][k] being used up; not finite where there is none. */
static void solve(size_t k, double *m, double *x)
{
    for (size_t j = 0; j < k; j++) {
        size_t best = j;
        for (size_t i = j + 1; i < k; i++)
            best = fabs(m[i * k + j]) > fabs(m[best * k + j]) ? i : best;
        for (size_t l = 0; l < k && best != j; l++) {
            double swap = m[j * k + l];
            m[j * k + l] = m[best * k + l];
            m[best * k + l] = swap;
        }
        double swap = x[j];
        x[j] = x[best];
        x[best] = swap;
        for (size_t i = j + 1; i < k; i++) {
            double factor = m[i * k + j] / m[j * k + j];
            x[i] -= factor * x[j];
            for (size_t l = j; l < k; l++)
                m[i * k + l] -= factor * m[j * k + l];
        }
    }
    for (size_t j = k; j-- > 0;) {
        for (size_t l = j + 1; l < k; l++)
            x[j] -= m[j * k + l] * x[l];
        x[j] /= m[j * k + j];
    }
}

/* M^-1 f for two numbers. */
static void newton_step_of_two(const cloud *c, const nodes *at, double *step)
{
    const double *o = at->outer, *g = c->g, *f = at->f;
    const double a = at->weight - (o[0] * g[0] + o[1] * g[2]), b = -(o[0] * g[1] + o[1] * g[3]);
    const double d = -(o[2] * g[0] + o[3] * g[2]), e = at->weight - (o[2] * g[1] + o[3] * g[3]);
    const double whole = a * e - b * d;
    const double once = 1 / whole;
    step[0] = (e * f[0] - b * f[1]) * once;
    step[1] = (a * f[1] - d * f[0]) * once;
}

/* M^-1 f. */
static void newton_step(const cloud *c, const nodes *at, double *step)
{
    size_t k = c->k;
    double m[K * K];
    if (k == 2) {
        newton_step_of_two(c, at, step);
        return;
    }
    for (size_t j = 0; j < k; j++) {
        step[j] = at->f[j];
        for (size_t l = 0; l < k; l++) {
            m[j * k + l] = j == l ? at->weight : 0;
            for (size_t i = 0; i < k; i++)
                m[j * k + l] -= at->outer[j * k + i] * c->g[i * k + l];
        }
    }
    solve(k, m, step);
}

static bool is_finite(size_t k, const double *x)
{
    bool finite = true;
    for (size_t j = 0; j < k; j++)
        finite = finite && isfinite(x[j]);
    return finite;
}

static void set_zero(size_t k, double *a)
{
    for (size_t j = 0; j < k; j++)
        a[j] = 0;
}

/* a[k]; 0 where numbers overflow.  Sizes of residuals are squared. */
static void find_centre(const cloud *c, nodes *at, double *a)
{
    const size_t k = c->k;
    const double near = c->smooth ? near_smooth : near_other;
    double last = INFINITY, back[K], f[K], step[K], weight = 1;
    set_zero(k, a);
    for (int round = 0; round < ROUNDS; round++) {
        visit(c, a, at);
        double size = square_of(k, at->f, c->g);
        if (size < kinks_from * kinks_from) {
            mind_kinks(c, at);
            size = square_of(k, at->f, c->g);
        }
        if (size > last) { /* the step was too long */
            for (size_t j = 0; j < k; j++)
                a[j] = back[j] + f[j] / weight;
            last = INFINITY;
            continue;
        }
        newton_step(c, at, step);
        weight = at->weight;
        for (size_t j = 0; j < k; j++) {
            back[j] = a[j];
            f[j] = at->f[j];
            a[j] += step[j];
        }
        if (size < near * near || !is_finite(k, a))
            break;
        last = size;
    }
    if (!is_finite(k, a))
        set_zero(k, a);
}

/* ---- a record ---- */

/* The law where clip norms are `most` long. */
static void take_cloud(const dpi_law *law, const double *gamma, double most, cloud *c)
{
    size_t k = law->view->k;
    c->k = k;
    c->n = (law->n + LANES - 1) / LANES * LANES;
    c->mass = law->mass;
    c->smooth = law->smooth;
    double unit[K];
    for (size_t j = 0; j < k; j++)
        unit[j] = law->unit[j] / most;
    for (size_t j = 0; j < k; j++) {
        c->t[j] = dpi_law_score(law, j);
        for (size_t l = 0; l < k; l++)
            c->g[j * k + l] = unit[j] * gamma[j * k + l] * unit[l];
    }
}

/* Whether the mean of clip(s - a) is 0 for a = 0, or that of w clip(s) for one w. */
static bool is_balanced(const dpi_law *law)
{
    const dpi_model_view *r = law->view;
    return law->n == 2 || (r->k == 1 && law->family->odd_in == r->arg_of[0] - law->first + 1);
}

/* Share of s that remains where the two outcomes' larger one is clipped; else 1. */
static double share_of_two(const dpi_law *law, const cloud *c)
{
    double most = 1;
    for (size_t i = 0; i < 2 && law->n == 2; i++) {
        double s[K];
        for (size_t j = 0; j < c->k; j++)
            s[j] = c->t[j][i];
        most = fmax(most, norm_of(c->k, s, c->g));
    }
    return 1 / most;
}

/* Centre in units of the score, and the share that what is away from it is multiplied by. */
static double centre_of(const dpi_law *law, const cloud *c, nodes *at, double *a)
{
    if (is_balanced(law)) {
        set_zero(c->k, a);
        return share_of_two(law, c);
    }
    find_centre(c, at, a);
    return 1;
}

/* clip(share t - a) at node i, in clip norms. */
static void clip_node(const cloud *c, const double *a, double share, size_t i, double *u)
{
    for (size_t j = 0; j < c->k; j++)
        u[j] = share * c->t[j][i] - a[j];
    const double size = norm_of(c->k, u, c->g);
    for (size_t j = 0; j < c->k; j++)
        u[j] /= fmax(size, 1);
}

/* An outcome that is not seen: the mean of what psi may be, which the law gives a mean of 0 too. */
static void psi_inside(const dpi_law *law, const cloud *c, const double *a, double share,
                       double *psi)
{
    double u[K];
    memset(psi, 0, c->k * sizeof *psi);
    for (size_t i = 0; i < law->n; i++) {
        if (law->inside[i] == 0)
            continue;
        clip_node(c, a, share, i, u);
        for (size_t j = 0; j < c->k; j++)
            psi[j] += law->inside[i] * law->unit[j] * u[j];
    }
}

bool dpi_psi(const dpi_law *law, const double *gamma, double clip, double *psi)
{
    cloud c;
    nodes at;
    double a[K];
    take_cloud(law, gamma, clip, &c);
    double share = centre_of(law, &c, &at, a);
    for (size_t j = 0; j < c.k && law->seen; j++)
        psi[j] = share * (law->own[j] - law->unit[j] * a[j]);
    if (!law->seen)
        psi_inside(law, &c, a, share, psi);
    double size = norm_of(c.k, psi, gamma), w = size > clip ? clip / size : 1;
    for (size_t j = 0; j < c.k; j++)
        psi[j] *= w;
    return w > 0 && is_finite(c.k, psi);
}

/* at->product = min(1, q^-1/2), to all digits. */
static void take_shares(const cloud *c, nodes *at)
{
    for (size_t i = 0; i < c->n; i++)
        at->product[i] = at->q[i] > 1 ? 1 / sqrt(at->q[i]) : 1;
}

/* E w v_j t_l and E w^2 v_j v_l. */
static void moments_of(const cloud *c, const nodes *at, size_t j, size_t l, double *slope,
                       double *variance)
{
    double s = 0, v = 0;
    kink k;
    for (size_t i = 0; i < c->n; i++) {
        const double share = at->product[i], psi = share * at->v[j][i];
        s += c->mass[i] * psi * c->t[l][i];
        v += c->mass[i] * psi * share * at->v[l][i];
    }
    for (size_t i = 0; next_kink(c, at, i, &k); i = k.i + 1) {
        s -= k.more * at_kink(&k, at->v[j]) * at_kink(&k, c->t[l]);
        v -= 2 * k.more * at_kink(&k, at->v[j]) * at_kink(&k, at->v[l]);
    }
    *slope = s;
    *variance = v;
}

/* What slope and variance lose of an outcome that is not seen: the covariances inside of psi with s
 * and with itself. */
static void hide_moments(const dpi_law *law, const cloud *c, const double *a, double share,
                         double *slope, double *variance)
{
    const size_t k = c->k;
    double psi[K], score[K], u[K], unit[K];
    for (size_t j = 0; j < k; j++) {
        unit[j] = law->unit[j];
        score[j] = unit[j] * dpi_law_inside(law, c->t[j]);
    }
    psi_inside(law, c, a, share, psi);
    for (size_t i = 0; i < law->n; i++) {
        if (law->inside[i] == 0)
            continue;
        clip_node(c, a, share, i, u);
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++) {
                const double away = law->inside[i] * (unit[j] * u[j] - psi[j]);
                slope[j * k + l] -= away * (unit[l] * c->t[l][i] - score[l]);
                variance[j * k + l] -= away * (unit[l] * u[l] - psi[l]);
            }
    }
}

void dpi_psi_moments(const dpi_law *law, const double *gamma, double clip, double *slope,
                     double *variance)
{
    cloud c;
    nodes at;
    double a[K];
    take_cloud(law, gamma, clip, &c);
    double share = centre_of(law, &c, &at, a);
    visit(&c, a, &at);
    take_shares(&c, &at);
    for (size_t j = 0; j < c.k; j++)
        for (size_t l = 0; l < c.k; l++) {
            double s, v, unit = law->unit[j] * law->unit[l];
            size_t e = j * c.k + l;
            moments_of(&c, &at, j, l, &s, &v);
            if (law->n == 2)
                s = v = c.mass[0] * c.t[j][0] * c.t[l][0] + c.mass[1] * c.t[j][1] * c.t[l][1];
            slope[e] = law->n == 2 ? share * unit * s : unit * s;
            variance[e] = law->n == 2 ? share * share * unit * v : unit * v;
        }
    if (!law->seen)
        hide_moments(law, &c, a, share, slope, variance);
    for (size_t e = 0; e < c.k * c.k; e++) {
        slope[e] /= law->times;
        variance[e] /= law->times;
    }
}

double dpi_psi_excess(const dpi_law *law, const double *gamma, double beyond)
{
    cloud c;
    nodes at;
    kink k;
    const double none[K] = {0};
    take_cloud(law, gamma, beyond, &c);
    visit(&c, none, &at);
    double more = law->seen && norm_of(c.k, law->own, gamma) > beyond;
    for (size_t i = 0; i < law->n; i++)
        more += at.q[i] > 1 ? (law->seen ? 0 : law->inside[i]) - law->mass[i] : 0;
    /* Nodes stand for half of the way to their neighbours. */
    for (size_t i = 0; next_kink(&c, &at, i, &k); i = k.i + 1)
        more -= at_kink(&k, c.mass) * (at.q[k.i] > 1 ? k.theta - 0.5 : 0.5 - k.theta);
    return more;
}
