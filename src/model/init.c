/* Starting values of parameters.
 *
 *   constant  v
 *   normal    sd z,  z ~ N(0, 1)
 *   Glorot    uniform on (-a, a), a = sqrt(6 / (fan in + fan out))   Glorot and Bengio 2010, eq. 16
 *   He        sqrt(2 / fan in) z                                     He et al. 2015, eq. 10
 *
 * Of a weight [rows][columns] fan in is rows, the numbers that a unit reads.  Fan out is columns
 * times the places of the window, in as many of whose stops a number is read.
 *
 * A parameter's numbers come from the stream of the model's seed under the parameter's name, and
 * from nothing else: a start is public, the same in all ranks and on any number of threads, and
 * does not change when another parameter is added. */
#include "model/init.h"

#include <math.h>
#include <string.h>

#include "random/entropy.h"
#include "random/normal.h"

static const char purpose[] = "tacit start of ";

dp_extent dp_extent_of(size_t rows, size_t columns)
{
    return (dp_extent){rows, columns};
}

dp_init dp_init_zeros(void)
{
    return dp_init_constant(0);
}

dp_init dp_init_constant(double value)
{
    return (dp_init){.rule = DP_INIT_CONSTANT, .value = value};
}

dp_init dp_init_normal(double sd)
{
    return (dp_init){.rule = DP_INIT_NORMAL, .value = sd};
}

dp_init dp_init_glorot(size_t places)
{
    return (dp_init){.rule = DP_INIT_GLOROT, .places = places};
}

dp_init dp_init_he(void)
{
    return (dp_init){.rule = DP_INIT_HE};
}

const char *dpi_init_wrong(const dp_init *init, size_t rows)
{
    switch (init->rule) {
    case DP_INIT_CONSTANT:
        return isfinite(init->value) ? NULL : "its start is not a finite number";
    case DP_INIT_NORMAL:
        return isfinite(init->value) && init->value > 0
                   ? NULL
                   : "the standard deviation of its start must be above 0 and finite";
    case DP_INIT_GLOROT:
        return init->places > 0 && rows % init->places == 0
                   ? NULL
                   : "rows are places of the window times channels; give dp_init_glorot the "
                     "places, "
                     "1 for a dense layer";
    case DP_INIT_HE:
        return NULL;
    }
    return "its start is by no known rule; make one with dp_init_zeros, dp_init_glorot, ...";
}

static void fill(dpi_stream *stream, const dpi_start *start, const dpi_shape *shape, double *out)
{
    const size_t n = dpi_shape_size(shape);
    const double rows = (double)shape->dim[0], columns = (double)shape->dim[1];
    if (start->init.rule == DP_INIT_GLOROT) {
        const double a = sqrt(6 / (rows + columns * (double)start->init.places));
        for (size_t i = 0; i < n; i++)
            out[i] = a * (2 * dpi_stream_uniform(stream) - 1);
        return;
    }
    const double sd = start->init.rule == DP_INIT_HE ? sqrt(2 / rows) : start->init.value;
    dpi_stream_normals(stream, n, out);
    for (size_t i = 0; i < n; i++)
        out[i] *= sd;
}

dp_status dpi_start_values(const dpi_start *start, const char *name, const dpi_shape *shape,
                           double *out, dp_error *err)
{
    if (start->init.rule == DP_INIT_CONSTANT) {
        for (size_t i = 0; i < dpi_shape_size(shape); i++)
            out[i] = start->init.value;
        return DP_OK;
    }
    const size_t size = sizeof purpose + strlen(name);
    char *text = dpi_alloc(size, 1);
    dpi_stream *stream = dpi_alloc(1, sizeof *stream);
    dp_status status = text != NULL && stream != NULL ? dpi_sodium_start(err) : dpi_fail_nomem(err);
    if (status == DP_OK) {
        (void)snprintf(text, size, "%s%s", purpose, name);
        dpi_stream_start_seeded(stream, start->seed, text);
        fill(stream, start, shape, out);
        dpi_stream_end(stream);
    }
    dpi_free(stream);
    dpi_free(text);
    return status;
}
