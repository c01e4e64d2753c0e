/* Clipped scores around their centres.
 *
 * No centre is looked for with two outcomes, whose scores lie on opposite sides of 0, and the mean
 * of clip(s) is 0 if both are multiplied by the same; nor for a number in which the law is even and
 * which stands alone in the norm: outcomes on both sides of its middle have scores that differ in
 * its sign alone.  Nodes of an even law lie so, too (dist/outcomes.h), and half of them are
 * enough. */
#include "infer/psi.h"

#include <string.h>

#include "infer/centre.h"

enum { K = DPI_READ_MOST };

/* The law where clip norms are `most` long. */
static void take_cloud(const dpi_law *law, const double *gamma, double most, dpi_cloud *c)
{
    size_t k = law->view->k;
    c->k = k;
    c->n = (law->n + DPI_LAW_LANES - 1) / DPI_LAW_LANES * DPI_LAW_LANES;
    c->mass = law->mass;
    c->smooth = law->smooth;
    c->whole = 1;
    c->beside = NULL;
    c->beside_g = 0;
    double unit[K];
    for (size_t j = 0; j < k; j++)
        unit[j] = law->unit[j] / most;
    for (size_t j = 0; j < k; j++) {
        c->t[j] = dpi_law_score(law, j);
        for (size_t l = 0; l < k; l++)
            c->g[j * k + l] = unit[j] * gamma[j * k + l] * unit[l];
    }
}

/* The number in which the law is even, its score odd; k where there is none. */
static size_t odd_number(const dpi_law *law)
{
    const dpi_model_view *r = law->view;
    size_t j = 0;
    while (j < r->k && law->family->odd_in != r->arg_of[j] - law->first + 1)
        j++;
    return j;
}

/* Whether the mean of clip(s - a) is 0 for a = 0, or that of w clip(s) for one w. */
static bool is_balanced(const dpi_law *law)
{
    return law->n == 2 || (law->view->k == 1 && odd_number(law) == 0);
}

/* Whether the norm knows number j by its square alone. */
static bool stands_alone(const dpi_cloud *c, size_t j)
{
    for (size_t l = 0; l < c->k; l++)
        if (l != j && (c->g[j * c->k + l] != 0 || c->g[l * c->k + j] != 0))
            return false;
    return true;
}

/* The upper half of an even law, in the numbers but `odd`: the lower half has the same sums. */
static void fold(const dpi_cloud *c, size_t odd, dpi_cloud *half)
{
    const size_t n = c->n / 2, k = c->k - 1;
    half->k = k;
    half->n = n;
    half->mass = c->mass + n;
    half->smooth = c->smooth;
    half->whole = 0.5 * c->whole;
    half->beside = c->t[odd] + n;
    half->beside_g = c->g[odd * c->k + odd];
    for (size_t j = 0; j < k; j++) {
        const size_t from = j + (j >= odd);
        half->t[j] = c->t[from] + n;
        for (size_t l = 0; l < k; l++)
            half->g[j * k + l] = c->g[from * c->k + l + (l >= odd)];
    }
}

/* The centre by half of the nodes; an odd number that stands alone has it at 0. */
static void find_folded(const dpi_cloud *c, size_t odd, dpi_cloud_nodes *at, double *a)
{
    dpi_cloud half;
    double rest[K];
    fold(c, odd, &half);
    dpi_find_centre(&half, at, rest);
    for (size_t j = 0; j < c->k; j++)
        a[j] = j == odd ? 0 : rest[j - (j > odd)];
}

/* Share of s that remains where the two outcomes' larger one is clipped; else 1. */
static double share_of_two(const dpi_law *law, const dpi_cloud *c)
{
    double most = 1;
    for (size_t i = 0; i < 2 && law->n == 2; i++) {
        double s[K];
        for (size_t j = 0; j < c->k; j++)
            s[j] = c->t[j][i];
        most = fmax(most, dpi_norm_by(c->k, s, c->g));
    }
    return 1 / most;
}

/* Centre in units of the score, and the share that what is away from it is multiplied by. */
static double centre_of(const dpi_law *law, const dpi_cloud *c, dpi_cloud_nodes *at, double *a)
{
    if (is_balanced(law)) {
        for (size_t j = 0; j < c->k; j++)
            a[j] = 0;
        return share_of_two(law, c);
    }
    const size_t odd = odd_number(law);
    if (odd < c->k && law->n % (2 * DPI_LAW_LANES) == 0 && stands_alone(c, odd))
        find_folded(c, odd, at, a);
    else
        dpi_find_centre(c, at, a);
    return 1;
}

/* clip(share t - a) at node i, in clip norms. */
static void clip_node(const dpi_cloud *c, const double *a, double share, size_t i, double *u)
{
    for (size_t j = 0; j < c->k; j++)
        u[j] = share * c->t[j][i] - a[j];
    const double size = dpi_norm_by(c->k, u, c->g);
    for (size_t j = 0; j < c->k; j++)
        u[j] /= fmax(size, 1);
}

/* An outcome that is not seen: the mean of what psi may be, which the law gives a mean of 0 too. */
static void psi_inside(const dpi_law *law, const dpi_cloud *c, const double *a, double share,
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
    dpi_cloud c;
    dpi_cloud_nodes at;
    double a[K];
    take_cloud(law, gamma, clip, &c);
    double share = centre_of(law, &c, &at, a);
    for (size_t j = 0; j < c.k && law->seen; j++)
        psi[j] = share * (law->own[j] - law->unit[j] * a[j]);
    if (!law->seen)
        psi_inside(law, &c, a, share, psi);
    double size = dpi_norm_by(c.k, psi, gamma), w = size > clip ? clip / size : 1;
    for (size_t j = 0; j < c.k; j++)
        psi[j] *= w;
    return w > 0 && dpi_finite(c.k, psi);
}

/* at->product = min(1, q^-1/2), to all digits. */
static void take_shares(const dpi_cloud *c, dpi_cloud_nodes *at)
{
    for (size_t i = 0; i < c->n; i++)
        at->product[i] = at->q[i] > 1 ? 1 / sqrt(at->q[i]) : 1;
}

/* E w v_j t_l and E w^2 v_j v_l. */
static void moments_of(const dpi_cloud *c, const dpi_cloud_nodes *at, size_t j, size_t l,
                       double *slope, double *variance)
{
    double s = 0, v = 0;
    dpi_kink k;
    for (size_t i = 0; i < c->n; i++) {
        const double share = at->product[i], psi = share * at->v[j][i];
        s += c->mass[i] * psi * c->t[l][i];
        v += c->mass[i] * psi * share * at->v[l][i];
    }
    for (size_t i = 0; dpi_next_kink(c, at, i, &k); i = k.i + 1) {
        s -= k.more * dpi_at_kink(&k, at->v[j]) * dpi_at_kink(&k, c->t[l]);
        v -= 2 * k.more * dpi_at_kink(&k, at->v[j]) * dpi_at_kink(&k, at->v[l]);
    }
    *slope = s;
    *variance = v;
}

/* What slope and variance lose of an outcome that is not seen: the covariances inside of psi with s
 * and with itself. */
static void hide_moments(const dpi_law *law, const dpi_cloud *c, const double *a, double share,
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
    dpi_cloud c;
    dpi_cloud_nodes at;
    double a[K];
    take_cloud(law, gamma, clip, &c);
    double share = centre_of(law, &c, &at, a);
    dpi_visit(&c, a, &at);
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
    dpi_cloud c;
    dpi_cloud_nodes at;
    dpi_kink k;
    const double none[K] = {0};
    take_cloud(law, gamma, beyond, &c);
    dpi_visit(&c, none, &at);
    double more = law->seen && dpi_norm_by(c.k, law->own, gamma) > beyond;
    for (size_t i = 0; i < law->n; i++)
        more += at.q[i] > 1 ? (law->seen ? 0 : law->inside[i]) - law->mass[i] : 0;
    /* Nodes stand for half of the way to their neighbours. */
    for (size_t i = 0; dpi_next_kink(&c, &at, i, &k); i = k.i + 1)
        more -= dpi_at_kink(&k, c.mass) * (at.q[k.i] > 1 ? k.theta - 0.5 : 0.5 - k.theta);
    return more;
}

dpi_lengths dpi_psi_lengths(const dpi_law *law, const double *gamma, double unit, double most)
{
    dpi_cloud c;
    dpi_cloud_nodes at;
    const double none[K] = {0};
    dpi_lengths sum = {0};
    take_cloud(law, gamma, unit, &c);
    dpi_visit(&c, none, &at);
    for (size_t i = 0; i < law->n; i++) {
        const double told = c.mass[i] * at.q[i];
        if (!(told > 0))
            continue;
        const double l = fmin(fmax(0.5 * log(at.q[i]), -most), most);
        sum.square += told;
        sum.first += told * l;
        sum.second += told * l * l;
    }
    const double square = sum.square * unit * unit;
    if (!(sum.square > 0 && isfinite(square)))
        return (dpi_lengths){0};
    return (dpi_lengths){square, sum.first / sum.square, sum.second / sum.square};
}
