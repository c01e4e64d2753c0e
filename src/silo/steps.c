/* The table of steps. */
#include <string.h>

#include "silo/part.h"

static const struct {
    const char *name;
    int args;
    bool host;
} steps[DPI_SILO_N_STEPS] = {
#define ROW(kind, text, args, host) [DPI_SILO_##kind] = {text, args, host},
    DPI_SILO_STEP_LIST(ROW)
#undef ROW
};

const char *dpi_silo_step_name(dpi_silo_step_kind kind)
{
    return steps[kind].name;
}

int dpi_silo_step_args(dpi_silo_step_kind kind)
{
    return steps[kind].args;
}

bool dpi_silo_step_is_host(dpi_silo_step_kind kind)
{
    return steps[kind].host;
}

dpi_silo_step_kind dpi_silo_step_named(const char *name)
{
    int k = 0;
    while (k < DPI_SILO_N_STEPS && strcmp(steps[k].name, name) != 0)
        k++;
    return (dpi_silo_step_kind)k;
}
