/* Signatures of a plan. */
#include <string.h>

#include "base/error.h"
#include "silo/keys.h"
#include "silo/plan.h"

void dpi_silo_plan_statement(const dp_silo_plan *p, unsigned char to[DPI_SILO_SIGNED])
{
    static const char purpose[DPI_SILO_SIGNED - DP_SILO_HASH] = "tacit silo plan";
    memcpy(to, purpose, sizeof purpose);
    memcpy(to + sizeof purpose, p->hash, DP_SILO_HASH);
}

bool dp_silo_plan_signed(const dp_silo_plan *p, size_t k)
{
    return k < p->opts.n_owners && p->is_signed[k];
}

dp_status dp_silo_plan_sign(dp_silo_plan *p, const dp_silo_key *key, dp_error *err)
{
    for (size_t k = 0; k < p->opts.n_owners; k++)
        if (strcmp(p->owners[k].key, dp_silo_key_public(key)) == 0) {
            unsigned char statement[DPI_SILO_SIGNED];
            dpi_silo_plan_statement(p, statement);
            dpi_silo_key_sign(key, sizeof statement, statement, p->signature[k]);
            p->is_signed[k] = true;
            return dpi_silo_plan_finish(p, err);
        }
    return dpi_fail(err, DP_ENAME,
                    "%s is the key of none of the plan's owners; give the one that the plan has, "
                    "or plan anew with this one",
                    dp_silo_key_public(key));
}

dp_status dp_silo_plan_join(dp_silo_plan *p, const dp_silo_plan *other, dp_error *err)
{
    if (memcmp(p->hash, other->hash, sizeof p->hash) != 0)
        return dpi_fail(err, DP_EMISMATCH, "that is another plan; signatures are of one alone");
    for (size_t k = 0; k < p->opts.n_owners; k++)
        if (other->is_signed[k] && !p->is_signed[k]) {
            memcpy(p->signature[k], other->signature[k], DPI_SILO_SIGNATURE);
            p->is_signed[k] = true;
        }
    return dpi_silo_plan_finish(p, err);
}
