/* phi(u) - 1 = sum p_j (e^(i u l_j) - 1), l_j the losses less their mean, by rotation.
 *
 * A node's term is carried from one frequency to the next by
 *     (a, b) <- (a, b) + (p + a, b) * (cos t - 1, sin t),   a = p (cos th - 1), b = p sin th:
 * ten multiplications and additions instead of a sine and a cosine, and the small numbers a and b
 * keep their relative accuracy where all angles are small, as they are after many steps: the
 * T-th power multiplies an error of phi by T.  Terms are seeded afresh every DPI_PHASES
 * frequencies, so that rounding grows no further than that.  Four nodes at a time fill the
 * registers of any machine; the sums stay in the first-level cache. */
#include "accountant/phase.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

enum { LANES = 4 };

static size_t padded(size_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

bool dpi_tilted_new(const dpi_contour_nodes *nodes, double c, double log_total, double mean,
                    double least, dpi_tilted *tilted)
{
    size_t room = padded(nodes->n_atoms) + padded(nodes->n - nodes->n_atoms), n = 0;
    *tilted = (dpi_tilted){.mass = dpi_alloc(room, 2 * sizeof(double))};
    if (tilted->mass == NULL)
        return false;
    tilted->angle = tilted->mass + room;
    for (size_t j = 0; j < nodes->n; j++) {
        if (j == nodes->n_atoms)
            tilted->n_atoms = n = padded(n);
        double p = nodes->weight[j] * exp(c * nodes->loss[j] - log_total);
        if (!(p >= least))
            continue;
        tilted->mass[n] = p;
        tilted->angle[n] = nodes->loss[j] - mean;
        n++;
    }
    tilted->n = padded(n);
    if (nodes->n == nodes->n_atoms)
        tilted->n_atoms = tilted->n;
    return true;
}

void dpi_tilted_free(dpi_tilted *tilted)
{
    dpi_free(tilted->mass);
    *tilted = (dpi_tilted){0};
}

/* Adds four nodes to the lanes of all frequencies. */
static void rotate(const double *mass, const double *angle, double h, double start,
                   double (*restrict re)[LANES], double (*restrict im)[LANES])
{
    double a[LANES], b[LANES], p[LANES], turn_a[LANES], turn_b[LANES];
    for (int i = 0; i < LANES; i++) {
        double half = 0.5 * start * angle[i], quarter = 0.5 * h * angle[i];
        double s = sin(half), t = sin(quarter);
        p[i] = mass[i];
        a[i] = -2 * p[i] * s * s;
        b[i] = 2 * p[i] * s * cos(half);
        turn_a[i] = -2 * t * t;
        turn_b[i] = 2 * t * cos(quarter);
    }
    for (int k = 0; k < DPI_PHASES; k++) {
        for (int i = 0; i < LANES; i++) {
            re[k][i] += a[i];
            im[k][i] += b[i];
            double whole = p[i] + a[i], old = b[i];
            b[i] = old + (whole * turn_b[i] + old * turn_a[i]);
            a[i] = a[i] + (whole * turn_a[i] - old * turn_b[i]);
        }
    }
}

void dpi_phases(const dpi_tilted *tilted, double h, size_t first, double re[DPI_PHASES],
                double im[DPI_PHASES])
{
    double lane_re[DPI_PHASES][LANES], lane_im[DPI_PHASES][LANES];
    memset(lane_re, 0, sizeof lane_re);
    memset(lane_im, 0, sizeof lane_im);
    for (size_t j = 0; j < tilted->n; j += LANES)
        rotate(tilted->mass + j, tilted->angle + j, h, (double)first * h, lane_re, lane_im);
    for (int k = 0; k < DPI_PHASES; k++) {
        re[k] = (lane_re[k][0] + lane_re[k][1]) + (lane_re[k][2] + lane_re[k][3]);
        im[k] = (lane_im[k][0] + lane_im[k][1]) + (lane_im[k][2] + lane_im[k][3]);
    }
}

double dpi_phase_envelope(const dpi_tilted *tilted, double u)
{
    double atoms = 0, re = 0, im = 0;
    for (size_t j = 0; j < tilted->n_atoms; j++)
        atoms += tilted->mass[j];
    for (size_t j = tilted->n_atoms; j < tilted->n; j++) {
        re += tilted->mass[j] * cos(u * tilted->angle[j]);
        im += tilted->mass[j] * sin(u * tilted->angle[j]);
    }
    return atoms + hypot(re, im);
}
