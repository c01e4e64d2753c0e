#include "dist/veil.h"

#include <math.h>

#include "dist/form.h"

const dpi_family *dpi_behind(const dpi_family *row, int *first)
{
    *first = 0;
    for (; row->form != NULL && row->form->veil != NULL; row = row->base)
        *first += row->form->n_args;
    return row;
}

static bool has_form(const dpi_family *row, dpi_form_code one, dpi_form_code other)
{
    for (; row->form != NULL; row = row->base)
        if (row->form->code == one || row->form->code == other)
            return true;
    return false;
}

bool dpi_is_weighted(const dpi_family *row)
{
    return has_form(row, DPI_WEIGHTED, DPI_WEIGHTED);
}

bool dpi_is_censored(const dpi_family *row)
{
    return has_form(row, DPI_CENSORED, DPI_INTERVAL_CENSORED);
}

dpi_veil dpi_veil_of(const dpi_family *row, double y, const double *const arg[])
{
    dpi_veil veil = {.times = 1, .seen = true};
    for (; row->form != NULL && row->form->veil != NULL && veil.times > 0; row = row->base) {
        row->form->veil(row, y, arg, &veil);
        arg += row->form->n_args;
    }
    return veil;
}

double dpi_open_argument(const dpi_family *row, int k)
{
    for (; k >= row->form->n_args; row = row->base)
        k -= row->form->n_args;
    return row->form->open[k];
}
