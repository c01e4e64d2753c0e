/* What a program's queries cost under a protocol. */
#include "base/error.h"
#include "serve/talk.h"

dp_status dp_serve_cost(const dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode,
                        size_t key_bits, dp_query_cost *cost, dp_error *err)
{
    const dpi_serve_opts opts = {.key_bits = key_bits};
    dpi_serve_plan plan;
    dpi_serve_cost c;
    *cost = (dp_query_cost){0};
    if (dpi_serve_protocol_of(protocol) == DPI_N_PROTOCOLS ||
        dpi_serve_mode_of(mode) == DPI_N_MODES)
        return dpi_fail(err, DP_EINVAL, "there is no such protocol or mode");
    dp_status status = dpi_serve_check_key(key_bits, 0, err);
    if (status == DP_OK)
        status = dpi_serve_plan_make(p, dpi_serve_mode_of(mode), &plan, err);
    if (status == DP_OK)
        status = dpi_serve_rows[dpi_serve_protocol_of(protocol)]->cost(
            &plan, dpi_serve_mode_of(mode), &opts, &c, err);
    if (status != DP_OK)
        return status;
    *cost = (dp_query_cost){.rounds = dpi_serve_rounds(&plan),
                            .key = c.key,
                            .up = DPI_QUERY_BYTES,
                            .down = DPI_QUERY_BYTES,
                            .encrypted = c.encrypted,
                            .products = c.products,
                            .decrypted = c.decrypted};
    for (size_t k = 0; k < plan.n_layers; k++) {
        cost->up += c.up[k];
        cost->down += c.down[k];
    }
    return DP_OK;
}
