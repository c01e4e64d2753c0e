/* Student's t as nodes: its density, of which those of its tails are made.
 *
 * The normalising constant holds lgamma((df + 1) / 2) - lgamma(df / 2) - log(df) / 2, in which all
 * digits cancel when df is large (at df = 1e12 each term is about 1e13).  Instead, with a = df / 2
 * shifted up n times by Gamma(y + 1) = y Gamma(y), and w = a + n - 1/4,
 *
 *   log Gamma(a + 1/2) - log Gamma(a)
 *     = log(w) / 2 + sum_k c_k / w^(2k) - sum_{j < n} log(1 + 1 / (2 (a + j))).
 *
 * The series is that of log Gamma(w + 3/4) - log Gamma(w + 1/4), in which the odd powers vanish by
 * symmetry (Tricomi and Erdelyi 1951, Pacific J. Math. 1, 133; Fields 1966, Proc. Edinburgh Math.
 * Soc. 15, 43): c_k = -E_2k / (k 4^(2k+1)) with the Euler numbers E_2k.  With n = 10 and six terms
 * the first term left out, c_7 / w^14, is below 4e-16 for every df > 0.  log(w) - log(2 a) is taken
 * as log(1 + (n - 1/4) / a) - log 2, so that derivatives in df keep their digits too. */
#include <gsl/gsl_math.h>

#include "graph/op.h"

enum { SHIFTS = 10, TERMS = 6 };

/* c_1 ... c_6, from E_2 ... E_12 = -1, 5, -61, 1385, -50521, 2702765. */
static const double series[TERMS] = {
    1.0 / 64,          -5.0 / 2048,        61.0 / 49152,
    -1385.0 / 1048576, 50521.0 / 20971520, -2702765.0 / 402653184,
};

/* sum_k c_k v^k with v = w^-2, by Horner's rule. */
static dpi_id series_at(dpi_graph *g, dpi_id w)
{
    dpi_id v = dpi_div(g, dpi_constant(g, 1), dpi_unary(g, &dpi_op_square, w));
    dpi_id sum = dpi_constant(g, series[TERMS - 1]);
    for (int k = TERMS - 2; k >= 0; k--)
        sum = dpi_add(g, dpi_times(g, sum, v), dpi_constant(g, series[k]));
    return dpi_times(g, sum, v);
}

dpi_id dpi_log_gamma_ratio(dpi_graph *g, dpi_id df)
{
    dpi_id a = dpi_scale(g, 0.5, df);
    dpi_id w = dpi_add(g, a, dpi_constant(g, SHIFTS - 0.25));
    dpi_id grown = dpi_unary(g, &dpi_op_log1p, dpi_div(g, dpi_constant(g, SHIFTS - 0.25), a));
    dpi_id product = dpi_constant(g, 1);
    for (int j = 0; j < SHIFTS; j++) {
        dpi_id factor = dpi_div(g, dpi_constant(g, 0.5), dpi_add(g, a, dpi_constant(g, j)));
        product = dpi_times(g, product, dpi_add(g, factor, dpi_constant(g, 1)));
    }
    dpi_id top = dpi_add(g, dpi_scale(g, 0.5, grown), series_at(g, w));
    dpi_id rest = dpi_add(g, dpi_unary(g, &dpi_op_log, product), dpi_constant(g, 0.5 * M_LN2));
    return dpi_sub(g, top, rest);
}

dpi_id dpi_log_student_density(dpi_graph *g, dpi_id df, dpi_id z)
{
    dpi_id share = dpi_div(g, dpi_unary(g, &dpi_op_square, z), df);
    dpi_id power = dpi_scale(g, 0.5, dpi_add(g, df, dpi_constant(g, 1)));
    dpi_id kernel = dpi_times(g, power, dpi_unary(g, &dpi_op_log1p, share));
    dpi_id norm = dpi_sub(g, dpi_log_gamma_ratio(g, df), dpi_constant(g, 0.5 * log(M_PI)));
    return dpi_sub(g, norm, kernel);
}
