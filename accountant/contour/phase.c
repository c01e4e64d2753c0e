/* phi(u) - 1 = sum p_j (e^(i u l_j) - 1), l_j the losses less their mean, by rotation.
 *
 * A node's term is carried from one frequency to the next by
 *     f <- f + (p + f) (e^(it) - 1),   f = p (e^(i th) - 1):
 * a dozen multiplications and additions instead of a sine and a cosine, and the small numbers f
 * keep their relative accuracy where all angles are small, as they are after many steps: the
 * T-th power multiplies an error of phi by T.  Masses and angles are complex on a moved line
 * (nodes.c).  Terms are seeded afresh every DPI_PHASES frequencies, so that rounding grows no
 * further than that.  Four nodes at a time fill the registers of any machine; the sums stay in the
 * first-level cache. */
#include "accountant/contour/phase.h"

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
    *tilted = (dpi_tilted){.mass = dpi_alloc(room, 4 * sizeof(double))};
    if (tilted->mass == NULL)
        return false;
    tilted->angle = tilted->mass + room;
    tilted->mass_im = tilted->mass + 2 * room;
    tilted->angle_im = tilted->mass + 3 * room;
    for (size_t j = 0; j < nodes->n; j++) {
        if (j == nodes->n_atoms)
            tilted->n_atoms = n = padded(n);
        double size = exp(c * nodes->loss[j] - log_total), angle = c * nodes->loss_im[j];
        double re = nodes->weight[j] * size, im = nodes->weight_im[j] * size;
        if (!(fabs(re) + fabs(im) >= least))
            continue;
        tilted->mass[n] = angle == 0 ? re : re * cos(angle) - im * sin(angle);
        tilted->mass_im[n] = angle == 0 ? im : re * sin(angle) + im * cos(angle);
        tilted->angle[n] = nodes->loss[j] - mean;
        tilted->angle_im[n] = nodes->loss_im[j];
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

/* e^(i step (angle + i angle_im)) - 1, small where the exponent is. */
static void turn(double step, double angle, double angle_im, double *re, double *im)
{
    double s = sin(0.5 * step * angle), c = cos(0.5 * step * angle);
    double shrink = angle_im > 0 ? expm1(-step * angle_im) : 0;
    *re = -2 * s * s + shrink * (1 - 2 * s * s);
    *im = 2 * s * c * (1 + shrink);
}

/* Adds nodes j ... j + 3 to the lanes of all frequencies. */
static void rotate(const dpi_tilted *tilted, size_t j, double h, double start,
                   double (*restrict re)[LANES], double (*restrict im)[LANES])
{
    double a[LANES], b[LANES], p[LANES], q[LANES], turn_a[LANES], turn_b[LANES];
    for (int i = 0; i < LANES; i++) {
        double angle = tilted->angle[j + i], angle_im = tilted->angle_im[j + i], x, y;
        turn(start, angle, angle_im, &x, &y);
        turn(h, angle, angle_im, &turn_a[i], &turn_b[i]);
        p[i] = tilted->mass[j + i];
        q[i] = tilted->mass_im[j + i];
        a[i] = p[i] * x - q[i] * y;
        b[i] = p[i] * y + q[i] * x;
    }
    for (int k = 0; k < DPI_PHASES; k++) {
        for (int i = 0; i < LANES; i++) {
            re[k][i] += a[i];
            im[k][i] += b[i];
            double x = p[i] + a[i], y = q[i] + b[i];
            a[i] += x * turn_a[i] - y * turn_b[i];
            b[i] += x * turn_b[i] + y * turn_a[i];
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
        rotate(tilted, j, h, (double)first * h, lane_re, lane_im);
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
        double size = exp(-u * tilted->angle_im[j]);
        double x = size * cos(u * tilted->angle[j]), y = size * sin(u * tilted->angle[j]);
        re += tilted->mass[j] * x - tilted->mass_im[j] * y;
        im += tilted->mass[j] * y + tilted->mass_im[j] * x;
    }
    return atoms + hypot(re, im);
}
