/* Loops over the nodes of a law, eight lanes wide. */
#include "infer/cloud.h"

#include <stdint.h>
#include <string.h>

enum { LANES = DPI_LAW_LANES };

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
DPI_INLINE void move(const dpi_cloud *c, size_t k, const double *a, dpi_cloud_nodes *restrict at)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < c->n; i++)
            at->v[j][i] = c->t[j][i] - a[j];
    for (size_t i = 0; i < c->n; i++)
        at->q[i] = 0;
    for (size_t i = 0; i < c->n && c->beside != NULL; i++)
        at->q[i] = c->beside_g * c->beside[i] * c->beside[i];
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l <= j; l++) {
            double g = (l == j ? 1 : 2) * c->g[j * k + l];
            for (size_t i = 0; i < c->n; i++)
                at->q[i] += g * at->v[j][i] * at->v[l][i];
        }
}

/* The same of one number. */
DPI_INLINE void move_one(const dpi_cloud *c, double a, dpi_cloud_nodes *restrict at)
{
    const double *s = c->beside, *t = c->t[0], g = c->beside_g, h = c->g[0];
    double *restrict v = at->v[0], *restrict q = at->q;
    const size_t n = c->n;
    for (size_t i = 0; i < n; i++)
        v[i] = t[i] - a;
    if (s == NULL)
        for (size_t i = 0; i < n; i++)
            q[i] = h * v[i] * v[i];
    else
        for (size_t i = 0; i < n; i++)
            q[i] = g * s[i] * s[i] + h * v[i] * v[i];
}

/* And of two. */
DPI_INLINE void move_two(const dpi_cloud *c, const double *a, dpi_cloud_nodes *restrict at)
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
DPI_INLINE void weigh(const dpi_cloud *c, dpi_cloud_nodes *restrict at)
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

DPI_INLINE void add_up(const dpi_cloud *c, size_t k, dpi_cloud_nodes *restrict at)
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
DPI_INLINE void add_up_one(const dpi_cloud *c, dpi_cloud_nodes *restrict at)
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
DPI_INLINE void add_up_two(const dpi_cloud *c, dpi_cloud_nodes *restrict at)
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
DPI_LOOPS static void visit(const dpi_cloud *c, const double *a, dpi_cloud_nodes *restrict at)
{
    if (c->k == 1) {
        move_one(c, a[0], at);
        weigh(c, at);
        add_up_one(c, at);
    } else if (c->k == 2 && c->beside == NULL) {
        move_two(c, a, at);
        weigh(c, at);
        add_up_two(c, at);
    } else {
        move(c, c->k, a, at);
        weigh(c, at);
        add_up(c, c->k, at);
    }
}

void dpi_visit(const dpi_cloud *c, const double *a, dpi_cloud_nodes *at)
{
    visit(c, a, at);
}

/* The first node from `from` on of which the next is on the other side of the clip norm; the last
 * node where there is none. */
static size_t last_alike(const dpi_cloud *c, const dpi_cloud_nodes *at, size_t from)
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

bool dpi_next_kink(const dpi_cloud *c, const dpi_cloud_nodes *at, size_t from, dpi_kink *next)
{
    size_t i = c->smooth ? last_alike(c, at, from) : c->n - 1;
    if (i + 1 >= c->n)
        return false;
    double here = sqrt(at->q[i]), d = sqrt(at->q[i + 1]) - here, theta = (1 - here) / d;
    double mass = c->mass[i] + theta * (c->mass[i + 1] - c->mass[i]);
    *next = (dpi_kink){i, theta, mass * fabs(d) * (1.0 / 12 - 0.5 * theta * (1 - theta))};
    return true;
}

void dpi_mind_kinks(const dpi_cloud *c, dpi_cloud_nodes *at)
{
    dpi_kink k;
    for (size_t i = 0; dpi_next_kink(c, at, i, &k); i = k.i + 1)
        for (size_t j = 0; j < c->k; j++)
            at->f[j] -= k.more * dpi_at_kink(&k, at->v[j]);
}
