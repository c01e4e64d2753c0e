#include "infer/law.h"

#include <float.h>
#include <math.h>
#include <string.h>

static size_t width_of(const dpi_model_view *r, size_t arg_size)
{
    const dpi_family *family = r->seen->family;
    return family->vector_arg ? arg_size : (size_t)family->n_args;
}

/* The numbers of a whole score that are inferred. */
static void choose(const dpi_model_view *r, const double *all, double *score)
{
    bool vector = r->seen->family->vector_arg;
    for (size_t j = 0; j < r->k; j++)
        score[j] = all[vector ? r->element[j] : (size_t)r->arg_of[j]];
}

bool dpi_law_of(const dpi_model_view *r, const dpi_record *record, dpi_law *law)
{
    const dpi_family *family = r->seen->family;
    double all[DPI_READ_MOST];
    law->view = r;
    if (width_of(r, record->arg_size) > DPI_READ_MOST)
        return false;
    law->n = dpi_outcomes(family, record->arg, record->arg_size, law->y, law->mass);
    for (size_t i = 0; i < law->n; i++) {
        family->score(1, &law->y[i], record->arg, record->arg_size, all);
        choose(r, all, law->score + i * r->k);
    }
    return law->n > 0;
}

void dpi_law_fisher(const dpi_law *law, double *fisher)
{
    size_t k = law->view->k;
    memset(fisher, 0, k * k * sizeof *fisher);
    for (size_t i = 0; i < law->n; i++)
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++)
                fisher[j * k + l] += law->mass[i] * law->score[i * k + j] * law->score[i * k + l];
}

static double size_of(size_t k, const double *s, const double *a, const double *gamma)
{
    double sum = 0;
    for (size_t j = 0; j < k; j++)
        for (size_t l = 0; l < k; l++)
            sum += (s[j] - a[j]) * gamma[j * k + l] * (s[l] - a[l]);
    return sqrt(fmax(sum, 0));
}

static double weight_of(double size, double clip)
{
    return size > clip ? clip / size : 1;
}

static bool centre_of(const dpi_law *law, const double *gamma, double clip, double *a)
{
    size_t k = law->view->k;
    memset(a, 0, k * sizeof *a);
    for (int round = 0; round < 12; round++) {
        double total = 0, next[DPI_READ_MOST] = {0};
        bool whole = true;
        for (size_t i = 0; i < law->n; i++) {
            double w = weight_of(size_of(k, law->score + i * k, a, gamma), clip);
            whole = whole && w == 1;
            w *= law->mass[i];
            total += w;
            for (size_t j = 0; j < k; j++)
                next[j] += w * law->score[i * k + j];
        }
        if (whole)
            break;
        for (size_t j = 0; j < k; j++)
            a[j] = next[j] / total;
    }
    return true;
}

bool dpi_law_score(const dpi_law *law, const dpi_record *record, const double *gamma, double clip,
                   double *psi)
{
    const dpi_model_view *r = law->view;
    double all[DPI_READ_MOST], a[DPI_READ_MOST];
    r->seen->family->score(1, &record->y, record->arg, record->arg_size, all);
    choose(r, all, psi);
    centre_of(law, gamma, clip, a);
    double w = weight_of(size_of(r->k, psi, a, gamma), clip);
    bool finite = w > 0;
    for (size_t j = 0; j < r->k; j++) {
        psi[j] = w * (psi[j] - a[j]);
        finite = finite && isfinite(psi[j]);
    }
    return finite;
}

bool dpi_law_moments(const dpi_law *law, const double *gamma, double clip, double *slope,
                     double *variance)
{
    size_t k = law->view->k;
    double a[DPI_READ_MOST], psi[DPI_READ_MOST];
    centre_of(law, gamma, clip, a);
    memset(slope, 0, k * k * sizeof *slope);
    memset(variance, 0, k * k * sizeof *variance);
    for (size_t i = 0; i < law->n; i++) {
        const double *s = law->score + i * k;
        double w = weight_of(size_of(k, s, a, gamma), clip);
        for (size_t j = 0; j < k; j++)
            psi[j] = w * (s[j] - a[j]);
        for (size_t j = 0; j < k; j++)
            for (size_t l = 0; l < k; l++) {
                slope[j * k + l] += law->mass[i] * psi[j] * s[l];
                variance[j * k + l] += law->mass[i] * psi[j] * psi[l];
            }
    }
    return true;
}

double dpi_law_excess(const dpi_law *law, const dpi_record *record, const double *gamma,
                      double beyond)
{
    const dpi_model_view *r = law->view;
    double all[DPI_READ_MOST], seen[DPI_READ_MOST], none[DPI_READ_MOST] = {0};
    r->seen->family->score(1, &record->y, record->arg, record->arg_size, all);
    choose(r, all, seen);
    double more = size_of(r->k, seen, none, gamma) > beyond;
    for (size_t i = 0; i < law->n; i++)
        if (size_of(r->k, law->score + i * r->k, none, gamma) > beyond)
            more -= law->mass[i];
    return more;
}
