/* GSL's random variates drawn from a dp_rng.
 *
 * The state of the generator is the dp_rng itself.  Its size is given as 0, so that GSL's own
 * copying and printing of states see nothing of it.  There is no such generator for dp_noise. */
#include "random/gsl.h"

#include <limits.h>

static void set(void *state, unsigned long seed)
{
    dpi_rng_reseed(state, seed);
}

static unsigned long get(void *state)
{
    return (unsigned long)dpi_stream_u64(dpi_rng_stream(state));
}

static double get_double(void *state)
{
    return dpi_stream_uniform(dpi_rng_stream(state));
}

static const gsl_rng_type type = {"tacit", ULONG_MAX, 0, 0, set, get, get_double};

gsl_rng dpi_rng_gsl(dp_rng *rng)
{
    return (gsl_rng){.type = &type, .state = rng};
}
