/* Tails of Student's t, and their derivatives in the degrees of freedom.
 *
 * With w = df / (df + z^2) and a = df / 2 the tail beyond |z| is I_w(a, 1/2) / 2, and what lies
 * within -|z| and |z| is I_(1-w)(1/2, a): both are w^a sqrt(1 - w) / B(a, 1/2) times a continued
 * fraction (Abramowitz and Stegun 26.5.8, 26.7.1).  The one that converges fast is taken, in Taylor
 * polynomials of df, as by Boik and Robison-Cox (1998, Derivatives of the incomplete beta function,
 * J. Stat. Software 3(1)). */
#include <gsl/gsl_math.h>
#include <stdbool.h>

#include "num/jet.h"
#include "num/tail.h"

static const double largest_df = 1e7, largest_z = 1e150;
enum { MOST_STEPS = 200000, SHIFTS = 10, TERMS = 6 };

/* As in dist/student-t.c, where the series is derived. */
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
    for (int j = 0; j < SHIFTS; j++) {
        dpi_jet q = dpi_jet_div(dpi_jet_linear(0.5, 0), dpi_jet_linear(df / 2 + j, 0.5));
        dpi_jet factor = dpi_jet_log(dpi_jet_add(one, q), log1p(q.v[0]));
        sum = dpi_jet_add(sum, dpi_jet_scale(-1, factor));
    }
    return sum;
}

/* I_x(a, b) B(a, b) / (x^a y^b), y = 1 - x, by the even part of the fraction; no difference cancels
 * in it where x is near 1 (DiDonato and Morris 1992, ACM Trans. Math. Software 18, 360). */
static dpi_jet fraction(dpi_jet a, dpi_jet b, dpi_jet x, dpi_jet y)
{
    dpi_jet sum = dpi_jet_add(a, b);
    /* a - (a + b) x = (a + b) y - b, and 1 */
    bool low = x.v[0] < y.v[0];
    dpi_jet part = dpi_jet_mul(sum, dpi_jet_scale(low ? -1 : 1, low ? x : y));
    dpi_jet start = dpi_jet_add(dpi_jet_add(part, dpi_jet_scale(low ? 1 : -1, low ? a : b)), one);
    dpi_jet down = dpi_jet_mul(dpi_jet_div(a, dpi_jet_add(a, one)), start);
    dpi_jet d = dpi_jet_div(one, down), c = d, value = d;
    for (int n = 1; n < MOST_STEPS; n++) {
        const dpi_jet count = {{n}}, before = {{n - 1}}, middle = {{2 * n - 1}}, next = {{2}};
        dpi_jet at = dpi_jet_add(a, middle);
        dpi_jet left = dpi_jet_scale(n, dpi_jet_add(b, dpi_jet_scale(-1, count)));
        left = dpi_jet_mul(dpi_jet_div(left, at), x);
        dpi_jet up = dpi_jet_mul(dpi_jet_add(a, before), dpi_jet_add(sum, before));
        up = dpi_jet_mul(dpi_jet_mul(dpi_jet_div(up, at), x), left);
        dpi_jet right = dpi_jet_div(dpi_jet_add(a, count), dpi_jet_add(at, next));
        right = dpi_jet_mul(right, dpi_jet_add(start, dpi_jet_scale(n, dpi_jet_add(one, y))));
        down = dpi_jet_add(dpi_jet_add(count, left), right);
        d = dpi_jet_div(one, dpi_jet_add(down, dpi_jet_mul(up, d)));
        c = n == 1 ? down : dpi_jet_add(down, dpi_jet_div(up, c));
        dpi_jet change = dpi_jet_mul(c, d);
        value = dpi_jet_mul(value, change);
        double slope = fabs(value.v[1] / value.v[0]), bend = fabs(value.v[2] / value.v[0]);
        if (fabs(change.v[0] - 1) < 4e-16 && fabs(change.v[1]) <= 1e-16 * slope &&
            fabs(change.v[2]) <= 1e-16 * (bend + slope))
            return value;
    }
    return dpi_jet_linear(NAN, NAN);
}

/* What depends on df in all probabilities. */
typedef struct student_parts {
    dpi_jet a, within, w, log_within, log_w, ratio; /* within = 1 - w */
} student_parts;

static student_parts parts_of(double df, double z)
{
    double sum = df + z * z;
    student_parts p = {.a = dpi_jet_linear(df / 2, 0.5), .ratio = log_gamma_ratio(df)};
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
    const dpi_jet half = {{0.5}};
    double a = p->a.v[0];
    bool far = p->w.v[0] < (a + 1) / (a + 2.5);
    dpi_jet sum =
        far ? fraction(p->a, half, p->w, p->within) : fraction(half, p->a, p->within, p->w);
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

static dpi_jet log_density(const student_parts *p, double df)
{
    dpi_jet root = dpi_jet_log(dpi_jet_linear(df, 1), log(df));
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
    const student_parts p = parts_of(df, z);
    dpi_jet tail = log_probability(of.side, &p, z);
    if (of.second == 0)
        return dpi_jet_derivative(tail, of.first);
    dpi_jet slope = dpi_jet_exp(dpi_jet_add(log_density(&p, df), dpi_jet_scale(-1, tail)));
    slope = dpi_jet_scale(of.side == DPI_LOWER ? 1 : of.side == DPI_UPPER ? -1 : 2, slope);
    if (of.second == 1)
        return dpi_jet_derivative(slope, of.first);
    return slope.v[0] * (-(df + 1) * z / (df + z * z) - slope.v[0]);
}
