/* Newton's method for the centre. */
#include "infer/centre.h"

enum { K = DPI_READ_MOST, ROUNDS = 24 };

/* A last step is made from a residual below this, of a law whose masses sum to 1.  For smooth laws
 * it leaves about the square. */
static const double near_smooth = 2e-3, near_other = 1e-5;

/* Kinks matter where the residual is below this. */
static const double kinks_from = 2e-2;

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
static void newton_step_of_two(const dpi_cloud *c, const dpi_cloud_nodes *at, double *step)
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
DPI_INLINE void newton_step(const dpi_cloud *c, size_t k, const dpi_cloud_nodes *at, double *step)
{
    double m[K * K];
    if (k == 1) {
        step[0] = at->f[0] / (at->weight - at->outer[0] * c->g[0]);
        return;
    }
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

DPI_INLINE void set_zero(size_t k, double *a)
{
    for (size_t j = 0; j < k; j++)
        a[j] = 0;
}

/* Sizes of residuals are squared. */
DPI_INLINE void find(const dpi_cloud *c, size_t k, dpi_cloud_nodes *at, double *a)
{
    const double near = c->whole * (c->smooth ? near_smooth : near_other);
    const double mended = c->whole * kinks_from;
    double last = INFINITY, back[K] = {0}, f[K] = {0}, step[K], weight = 1;
    set_zero(k, a);
    for (int round = 0; round < ROUNDS; round++) {
        dpi_visit(c, a, at);
        double size = dpi_square_by(k, at->f, c->g);
        if (size < mended * mended) {
            dpi_mind_kinks(c, at);
            size = dpi_square_by(k, at->f, c->g);
        }
        if (size > last) { /* the step was too long */
            for (size_t j = 0; j < k; j++)
                a[j] = back[j] + f[j] / weight;
            last = INFINITY;
            continue;
        }
        newton_step(c, k, at, step);
        weight = at->weight;
        for (size_t j = 0; j < k; j++) {
            back[j] = a[j];
            f[j] = at->f[j];
            a[j] += step[j];
        }
        if (size < near * near || !dpi_finite(k, a))
            break;
        last = size;
    }
    if (!dpi_finite(k, a))
        set_zero(k, a);
}

/* Loops over one or two numbers are none. */
void dpi_find_centre(const dpi_cloud *c, dpi_cloud_nodes *at, double *a)
{
    if (c->k == 1)
        find(c, 1, at, a);
    else if (c->k == 2)
        find(c, 2, at, a);
    else
        find(c, c->k, at, a);
}
