/* Tails of Student's t, and their derivatives in the degrees of freedom.
 *
 * With w = df / (df + z^2) and a = df / 2 the tail beyond |z| is I_w(a, 1/2) / 2, and what lies
 * within -|z| and |z| is I_(1-w)(1/2, a): both are w^a sqrt(1 - w) / B(a, 1/2) times a continued
 * fraction (Abramowitz and Stegun 26.5.8, 26.7.1).  The one that converges fast is taken, in Taylor
 * polynomials of df, as by Boik and Robison-Cox (1998, Derivatives of the incomplete beta function,
 * J. Stat. Software 3(1)).  Many degrees of freedom: student-large.h. */
#include <gsl/gsl_math.h>
#include <stdbool.h>

#include "num/beta-fraction.h"
#include "num/jet.h"
#include "num/student-large.h"
#include "num/tail.h"

static const double large_df = 1e4, largest_df = 1e150, largest_z = 1e150;
enum { SHIFTS = 10, TERMS = 6 };

/* As in graph/student-density.c, where the series is derived. */
static const double series[TERMS] = {
    1.0 / 64,          -5.0 / 2048,        61.0 / 49152,
    -1385.0 / 1048576, 50521.0 / 20971520, -2702765.0 / 402653184,
};

static const dpi_jet one = {{1}};

/* log Gamma((df + 1) / 2) - log Gamma(df / 2), which as a difference would lose its digits. */
static dpi_jet log_gamma_ratio(double df)
{
    dpi_jet w = dpi_jet_linear(df / 2 + SHIFTS - 0.25, 0.5);
    dpi_jet v = dpi_jet_div(one, dpi_jet_mul(w, w)), sum = {{0}};
    for (int k = TERMS - 1; k >= 0; k--)
        sum = dpi_jet_mul(v, dpi_jet_add(sum, dpi_jet_linear(series[k], 0)));
    sum = dpi_jet_add(sum, dpi_jet_scale(0.5, dpi_jet_log(w, log(w.v[0]))));
    /* The product of 1 + 1 / (df + 2 j), less 1. */
    dpi_jet more = {{0}};
    for (int j = 0; j < SHIFTS; j++) {
        dpi_jet q = dpi_jet_div(one, dpi_jet_linear(df + 2 * j, 1));
        more = dpi_jet_add(dpi_jet_add(more, q), dpi_jet_mul(more, q));
    }
    dpi_jet factors = dpi_jet_log(dpi_jet_add(one, more), log1p(more.v[0]));
    sum = dpi_jet_add(sum, dpi_jet_scale(-1, factors));
    return sum;
}

/* What depends on df in all probabilities. */
typedef struct student_parts {
    dpi_jet a, within, w, log_within, log_w, ratio; /* within = 1 - w */
    size_t order;                                   /* derivatives in df that are asked for */
    double df, z;
} student_parts;

static student_parts parts_of(size_t order, double df, double z)
{
    student_parts p = {.order = order, .df = df, .z = z};
    if (df > large_df)
        return p;
    double sum = df + z * z;
    p.a = dpi_jet_linear(df / 2, 0.5);
    p.ratio = log_gamma_ratio(df);
    p.within = dpi_jet_div(dpi_jet_linear(z * z, 0), dpi_jet_linear(sum, 1));
    p.log_within = (dpi_jet){{2 * log(fabs(z)) - log(sum), -1 / sum, 0.5 / (sum * sum)}};
    p.w = dpi_jet_scale(-1, p.within);
    p.w.v[0] = df / sum;
    p.log_w = dpi_jet_log(p.w, -log1p(z * z / df));
    return p;
}

/* log P(|T| > |z|), or with `within` log P(|T| <= |z|). */
static dpi_jet log_share(const student_parts *p, bool within)
{
    if (p->df > large_df)
        return dpi_student_large_share(within, p->df, p->z);
    const dpi_jet half = {{0.5}};
    double a = p->a.v[0];
    bool far = p->w.v[0] < (a + 1) / (a + 2.5);
    dpi_jet sum = far ? dpi_beta_fraction(p->order, p->a, half, p->w, p->within)
                      : dpi_beta_fraction(p->order, half, p->a, p->within, p->w);
    dpi_jet share = dpi_jet_add(dpi_jet_mul(p->a, p->log_w), dpi_jet_scale(0.5, p->log_within));
    share = dpi_jet_add(share, dpi_jet_add(p->ratio, dpi_jet_log(sum, log(sum.v[0]))));
    share.v[0] -= 0.5 * log(M_PI);
    return within == far ? dpi_jet_log1mexp(share) : share;
}

static dpi_jet log_probability(dpi_tail_side side, const student_parts *p, double z)
{
    if (side == DPI_WITHIN)
        return log_share(p, true);
    dpi_jet tail = z == 0 ? dpi_jet_linear(0, 0) : log_share(p, false);
    tail.v[0] -= M_LN2;
    return (side == DPI_UPPER ? z < 0 : z > 0) ? dpi_jet_log1mexp(tail) : tail;
}

static dpi_jet log_density(const student_parts *p)
{
    if (p->df > large_df)
        return dpi_student_large_density(p->df, p->z);
    dpi_jet root = dpi_jet_log(dpi_jet_linear(p->df, 1), log(p->df));
    dpi_jet power = dpi_jet_add(p->a, dpi_jet_linear(0.5, 0));
    dpi_jet sum = dpi_jet_add(dpi_jet_scale(-0.5, root), dpi_jet_mul(power, p->log_w));
    sum = dpi_jet_add(sum, p->ratio);
    sum.v[0] -= 0.5 * log(M_PI);
    return sum;
}

double dpi_log_student_tail(dpi_tail_of of, double df, double z)
{
    if (of.first + of.second >= DPI_JET || !(df > 0 && df < largest_df) || !(fabs(z) < largest_z))
        return NAN;
    if (of.side == DPI_WITHIN && !(z > 0))
        return NAN;
    const student_parts p = parts_of(of.first, df, z);
    dpi_jet tail = log_probability(of.side, &p, z);
    if (of.second == 0)
        return dpi_jet_derivative(tail, of.first);
    dpi_jet slope = dpi_jet_exp(dpi_jet_add(log_density(&p), dpi_jet_scale(-1, tail)));
    slope = dpi_jet_scale(of.side == DPI_LOWER ? 1 : of.side == DPI_UPPER ? -1 : 2, slope);
    if (of.second == 1)
        return dpi_jet_derivative(slope, of.first);
    return slope.v[0] * (-(df + 1) * z / (df + z * z) - slope.v[0]);
}
