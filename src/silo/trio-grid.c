/* Integers of a regression by three parties (doc/design/silo-trio.md has the derivation).
 *
 * x, w and residuals are integers of a x, b w and c r.  Scores have a b, sums a c; scores are
 * shifted down by s1, to residuals or to the table's 2^10, and without noise sums by s2.  All of
 * them stay below 2^60 whatever the data are, within the bounds of rows and outcomes: there the
 * comparisons still see their sign when a bound is added.
 *
 * L: curvature at most; R: norm of a row; W: norm of coefficients. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "silo/trio.h"

enum {
    TABLE = 10,      /* fraction of the table's argument */
    RESIDUAL = 14,   /* and of its values; bits of residuals that are cut */
    LEAST_ROW = 64,  /* integers of the longest row, at least */
    MOST_ROW = 24,   /* bits of it, without noise */
    FINEST = 40,     /* bits of coefficients by one, at most */
    MOST_SHIFT = 47, /* to the table: dpi_table_bits of 60 bits and of it fit the ring */
    PUBLIC = 46      /* bits of scores by one, with noise */
};

static const double outward = 1 - 0x1p-40; /* beyond rounding errors of what is computed here */
static const double room = 0x1p60, whole = 1 << RESIDUAL;
static const double sigmoid_off = 0x1p-10; /* of the table, at most */

/* ---- terms ---- */

static bool is_positive(double v)
{
    return v > 0x1p-200 && v < 0x1p200;
}

bool dpi_silo_trio_by_rows(const dpi_silo_trio_terms *t)
{
    return t->rows_of[0] > 0 || t->rows_of[1] > 0 || t->rows_of[2] > 0;
}

bool dpi_silo_trio_outcomes(const dpi_silo_trio_terms *t, size_t k)
{
    return dpi_silo_trio_by_rows(t) ? t->rows_of[k] > 0 : t->outcome == k;
}

size_t dpi_silo_trio_rows_at(const dpi_silo_trio_terms *t, size_t k)
{
    return dpi_silo_trio_by_rows(t) ? t->rows_of[k] : t->rows;
}

/* Of a whole row, whose columns lie at all, or which lies at one of them. */
static double norm_of(const dpi_silo_trio_terms *t, const double v[DPI_TRIO_ROLES])
{
    return dpi_silo_trio_by_rows(t) ? fmax(fmax(v[0], v[1]), v[2])
                                    : sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double integer_norm(const dpi_silo_trio_terms *t, const dpi_silo_trio_grid *g)
{
    const double v[DPI_TRIO_ROLES] = {(double)g->x_most[0], (double)g->x_most[1],
                                      (double)g->x_most[2]};
    return norm_of(t, v);
}

static dp_status check_columns(const dpi_silo_trio_terms *t, dpi_silo_trio_grid *g, dp_error *err)
{
    const bool by_rows = dpi_silo_trio_by_rows(t);
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        const bool has = t->columns[p] > 0;
        if (t->columns[p] > DPI_SILO_TRIO_COLUMNS ||
            (has ? !is_positive(t->row_most[p]) : t->row_most[p] != 0))
            return dpi_fail(err, DP_EDOMAIN,
                            "party %zu has %zu columns and rows of norm up to %g; there are at "
                            "most %d, and a bound above 0 where there is one, else 0",
                            p, t->columns[p], t->row_most[p], (int)DPI_SILO_TRIO_COLUMNS);
        g->first[p] = by_rows ? 0 : g->d;
        if (!by_rows)
            g->d += t->columns[p];
        else if (t->columns[p] > g->d)
            g->d = t->columns[p];
    }
    if (g->d == 0 || t->outcome >= DPI_TRIO_ROLES || t->rows < 1 || t->rows > DPI_SILO_TRIO_ROWS)
        return dpi_fail(err, DP_EDOMAIN,
                        "%zu rows of %zu columns, outcomes at party %zu; there are 1 to 2^20 rows, "
                        "a column at least, and parties 0, 1 and 2",
                        t->rows, g->d, t->outcome);
    return DP_OK;
}

/* Rows of one table, as many as there are, with the same columns. */
static dp_status check_rows(const dpi_silo_trio_terms *t, const dpi_silo_trio_grid *g,
                            dp_error *err)
{
    size_t rows = 0;
    bool good = t->outcome == 0;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        good = good && t->rows_of[p] <= DPI_SILO_TRIO_ROWS &&
               t->columns[p] == (t->rows_of[p] > 0 ? g->d : 0);
        rows += good ? t->rows_of[p] : 0;
    }
    return !dpi_silo_trio_by_rows(t) || (good && rows == t->rows)
               ? DP_OK
               : dpi_fail(err, DP_EDOMAIN,
                          "owners of rows have %zu, %zu and %zu of %zu rows, and %zu, %zu and %zu "
                          "columns; all rows are somebody's, who has them has all columns, and "
                          "outcome is 0",
                          t->rows_of[0], t->rows_of[1], t->rows_of[2], t->rows, t->columns[0],
                          t->columns[1], t->columns[2]);
}

static dp_status check_numbers(const dpi_silo_trio_terms *t, dp_error *err)
{
    if (t->steps < 1 || t->steps > DPI_SILO_TRIO_STEPS || !is_positive(t->step) ||
        !(t->ridge == 0 || is_positive(t->ridge)) || !(t->z == 0 || is_positive(t->z)))
        return dpi_fail(err, DP_EDOMAIN,
                        "%llu steps of %g, ridge %g, noise %g; there are 1 to %d, a step is above "
                        "0, a ridge and noise 0 or more",
                        (unsigned long long)t->steps, t->step, t->ridge, t->z,
                        (int)DPI_SILO_TRIO_STEPS);
    if (!t->logistic && (!is_positive(t->outcome_most) ||
                         (t->z > 0 && !(is_positive(t->residual_most) &&
                                        t->residual_most <= 1024 * t->outcome_most))))
        return dpi_fail(err, DP_EDOMAIN,
                        "outcomes of magnitude up to %g and residuals up to %g; both are above 0, "
                        "and a residual's bound at most 1024 times the outcomes'",
                        t->outcome_most, t->residual_most);
    return DP_OK;
}

/* ---- without noise: a is such that one step is a shift ---- */

/* The greatest a = sqrt(2^*bits step / rows / by) that is at most `most`. */
static double row_scale(const dpi_silo_trio_terms *t, double by, double most, int *bits)
{
    const double one = t->step / ((double)t->rows * by);
    *bits = (int)floor(2 * log2(most) - log2(one));
    return sqrt(ldexp(one, *bits));
}

static dp_status too_wide(const dpi_silo_trio_terms *t, dp_error *err)
{
    return dpi_fail(err, DP_EUNSUPPORTED,
                    "no integers of 64 bits hold %llu steps of %g over %zu rows with these bounds; "
                    "take fewer steps, a ridge, or bounds nearer to the data",
                    (unsigned long long)t->steps, t->step, t->rows);
}

/* What an error of one in each step comes to: steps bring any two w nearer by at least this. */
static double times_of(const dpi_silo_trio_terms *t)
{
    const double nearer = fmin(t->step * t->ridge, .24), steps = (double)t->steps;
    return nearer * steps > 1 ? 1 / nearer : steps;
}

/* Norm of coefficients, at most: without what rounding adds.  The loss is `begun` at most at 0. */
static double most_w(const dpi_silo_trio_terms *t, double norm, double curvature)
{
    const double path = t->step * (double)t->steps, kept = 1 - t->step * curvature / 2;
    const double begun = t->logistic ? M_LN2 : t->outcome_most * t->outcome_most / 2;
    const double walked = sqrt(path * begun / kept), held = sqrt(2 * begun / t->ridge);
    const double most = t->ridge > 0 && held < walked ? held : walked;
    return t->logistic ? fmin(most + times_of(t) * t->step * norm * sigmoid_off, path * norm)
                       : most;
}

/* s1, c and b of scores a b: of a logistic regression scores come to the table.  Sums are lifted by
 * the bits that they leave, which makes rho finer. */
static bool share_bits(const dpi_silo_trio_terms *t, double norm, double w, double sums, int bits,
                       dpi_silo_trio_grid *g)
{
    const double a = g->x_scale, n = (double)t->rows;
    if (t->logistic) {
        const double fit = floor(log2(room / (2 * norm * w))) - TABLE;
        g->score_shift = (int)fmin(fmin(fit, bits - 1), MOST_SHIFT);
        g->w_scale = ldexp(1, TABLE + g->score_shift) / a;
        g->r_scale = whole;
    } else {
        g->w_scale = fmin(room / (a * (2 * norm * w + t->outcome_most)), ldexp(1, FINEST) / w);
        g->score_shift = (int)ceil(log2(a * g->w_scale * n * a * sums / room));
        g->score_shift = g->score_shift < 1 ? 1 : g->score_shift;
        g->r_scale = ldexp(a * g->w_scale, -g->score_shift);
        g->y_scale = a * g->w_scale;
    }
    const int shift = bits - g->score_shift;
    g->lift = (int)floor(log2(room / (n * a * g->r_scale * sums)));
    g->lift = g->lift + shift < DPI_SILO_TRIO_BITS ? g->lift : DPI_SILO_TRIO_BITS - 1 - shift;
    g->sum_shift = shift + g->lift;
    return g->score_shift >= 0 && g->score_shift < DPI_SILO_TRIO_BITS && shift >= 1 && g->lift >= 0;
}

static dp_status make_exact(const dpi_silo_trio_terms *t, double norm, dpi_silo_trio_grid *g,
                            dp_error *err)
{
    const double curvature = norm * norm / (t->logistic ? 4 : 1) + t->ridge, n = (double)t->rows;
    if (!(t->step * curvature <= 1.75))
        return dpi_fail(err, DP_EDOMAIN,
                        "steps of %g are too long for rows of norm %g and ridge %g: coefficients "
                        "have no bound; take at most %g",
                        t->step, norm, t->ridge, 1.75 / curvature);
    const double w = most_w(t, norm, curvature), most_r = t->logistic ? 1 : 2 * t->outcome_most;
    const double sums = norm * most_r + 2 * t->ridge * w; /* by rows, a and c; times 2 of w */
    double a = ldexp(1, MOST_ROW);
    int bits;
    if (t->logistic)
        a = fmin(a, room / (whole * n) * norm / sums);
    else
        a = fmin(a, sqrt(room / n)); /* as much for a as for c */
    g->x_scale = row_scale(t, t->logistic ? ldexp(1, RESIDUAL - TABLE) : 1, a / norm, &bits);
    if (!share_bits(t, norm, w, sums, bits, g))
        return too_wide(t, err);
    const double ridge = ldexp(t->step * t->ridge, g->sum_shift);
    g->ridge = (uint64_t)nearbyint(ridge);
    g->off = times_of(t) * (sqrt((double)g->d) / (2 * g->w_scale) +
                            (t->logistic ? 0 : t->step * norm / (2 * g->r_scale)) +
                            fabs(ridge - (double)g->ridge) * 2 * w / ldexp(1, g->sum_shift));
    return g->off <= w && norm * g->off <= 0x1p-10 * (t->logistic ? 1 : t->outcome_most)
               ? DP_OK
               : too_wide(t, err);
}

/* ---- with noise: a is such that noise covers what a record adds ---- */

static dp_status make_noisy(const dpi_silo_trio_terms *t, double norm, dpi_silo_trio_grid *g,
                            dp_error *err)
{
    const double most = outward * M_SQRT2 * 0x1p32 / (t->z * whole);
    g->x_scale = most / norm;
    g->r_scale = whole / (t->logistic ? 1 : t->residual_most);
    g->r_most = t->logistic ? 0 : (int64_t)whole;
    if (!(most >= LEAST_ROW) || !(most <= 0x1p28) || !((double)t->rows * most * whole < room / 2))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "noise of %g on sums of %zu rows leaves no integers to compute with; plan "
                        "for another epsilon, or fewer steps",
                        t->z, t->rows);
    const double q = t->logistic ? ldexp(1, TABLE) : g->r_scale;
    const double by = t->logistic ? 1 : t->outcome_most;
    g->score_shift = (int)floor(PUBLIC - log2(q * by));
    g->w_scale = ldexp(q, g->score_shift) / g->x_scale;
    g->y_scale = ldexp(q, g->score_shift);
    return g->score_shift >= 0 && g->score_shift < PUBLIC ? DP_OK : too_wide(t, err);
}

dp_status dpi_silo_trio_grid_make(const dpi_silo_trio_terms *t, dpi_silo_trio_grid *g,
                                  dp_error *err)
{
    *g = (dpi_silo_trio_grid){0};
    dp_status status = check_columns(t, g, err);
    if (status == DP_OK)
        status = check_rows(t, g, err);
    if (status == DP_OK)
        status = check_numbers(t, err);
    if (status != DP_OK)
        return status;
    const double norm = norm_of(t, t->row_most);
    status = t->z > 0 ? make_noisy(t, norm, g, err) : make_exact(t, norm, g, err);
    if (status != DP_OK)
        return status;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        g->x_most[p] = (int64_t)floor(g->x_scale * t->row_most[p]);
        if (t->columns[p] > 0 && g->x_most[p] < 1)
            return dpi_fail(err, DP_EUNSUPPORTED,
                            "rows of party %zu are too short beside the others; scale columns so "
                            "that bounds are alike",
                            p);
    }
    if (t->logistic)
        g->y_scale = whole;
    g->y_most = (int64_t)floor(g->y_scale * (t->logistic ? 1 : t->outcome_most));
    return t->z == 0 || t->z * integer_norm(t, g) * whole <= M_SQRT2 * 0x1p32
               ? DP_OK
               : dpi_fail(err, DP_EACCURACY, "integers of noise %g cannot be found", t->z);
}

bool dpi_silo_trio_holds(const dpi_silo_trio_terms *t, const dpi_silo_trio_grid *g,
                         const int64_t *w)
{
    const double row = integer_norm(t, g);
    double norm = 0;
    for (size_t j = 0; j < g->d; j++)
        norm = hypot(norm, (double)w[j]);
    return norm * row * (1 + 0x1p-20) + (t->logistic ? 0 : (double)g->y_most) < room / 2;
}
