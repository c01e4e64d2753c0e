/* A release is kept as one of its phase, with the noise that the phase is accounted for with. */
#include "infer/loop-keep.h"

#include <sodium.h>
#include <string.h>

static bool made(void *of)
{
    const dpi_loop_keep *k = of;
    return dpi_keeper_is_ahead(k->keeper);
}

static dp_status keep(void *of, const unsigned char question[DP_OWNERS_QUESTION],
                      const dpi_release *r, dp_error *err)
{
    const dpi_loop_keep *k = of;
    dpi_journal_release what = {
        .phase = k->phase, .n = r->n, .sigma = k->budget->list[k->phase].sigma};
    memcpy(what.question, question, sizeof what.question);
    dp_status status = made(of) ? dpi_journal_read(k->keeper->journal, &what, r->out, err)
                                : dpi_keeper_keep(k->keeper, &what, r->out, err);
    if (status != DP_OK)
        sodium_memzero(r->out, r->n * sizeof *r->out);
    return status;
}

dpi_svi_keep dpi_loop_keeps(dpi_loop_keep *k)
{
    return (dpi_svi_keep){.of = k, .made = made, .keep = keep};
}
