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

bool dpi_silo_step_is_of_key(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_KEYPART || kind == DPI_SILO_SEALED || kind == DPI_SILO_COVER ||
           kind == DPI_SILO_AGREE || kind == DPI_SILO_PARTIAL || kind == DPI_SILO_COMBINE;
}

bool dpi_silo_step_is_of_shares(dpi_silo_step_kind kind)
{
    return kind == DPI_SILO_DEAL || kind == DPI_SILO_GATHER || kind == DPI_SILO_RESIDUAL ||
           kind == DPI_SILO_TALLY || kind == DPI_SILO_SHROUD || kind == DPI_SILO_BLEND ||
           kind == DPI_SILO_DESCEND || kind == DPI_SILO_DISCLOSE || kind == DPI_SILO_JOIN;
}

bool dpi_silo_has_shares(const dpi_silo_part *part)
{
    for (size_t j = 0; j < part->n_steps; j++)
        if (dpi_silo_step_is_of_shares(part->steps[j].kind))
            return true;
    return false;
}

bool dpi_silo_has_key(const dpi_silo_part *part)
{
    for (size_t j = 0; j < part->n_steps; j++)
        if (dpi_silo_step_is_of_key(part->steps[j].kind))
            return true;
    return false;
}

dpi_silo_step_kind dpi_silo_step_named(const char *name)
{
    int k = 0;
    while (k < DPI_SILO_N_STEPS && strcmp(steps[k].name, name) != 0)
        k++;
    return (dpi_silo_step_kind)k;
}
