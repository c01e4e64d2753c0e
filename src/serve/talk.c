#include "serve/talk.h"

#include "base/error.h"

dpi_protocol dpi_serve_protocol_of(dp_serve_protocol protocol)
{
    return protocol == DP_SERVE_PAILLIER  ? DPI_PROTOCOL_HE2_PAILLIER
           : protocol == DP_SERVE_LATTICE ? DPI_PROTOCOL_HE2_LATTICE
           : protocol == DP_SERVE_CKKS    ? DPI_PROTOCOL_CKKS
                                          : DPI_N_PROTOCOLS;
}

dpi_mode dpi_serve_mode_of(dp_serve_mode mode)
{
    return mode == DP_SERVE_LINEAR    ? DPI_MODE_LINEAR
           : mode == DP_SERVE_PERMUTE ? DPI_MODE_PERMUTE
                                      : DPI_N_MODES;
}

dp_status dpi_serve_consent(dpi_mode mode, unsigned flags, dp_error *err)
{
    if (mode != DPI_MODE_PERMUTE || (flags & DP_ALLOW_ACTIVATION_LEAK) != 0)
        return DP_OK;
    return dpi_fail(err, DP_EPRIVACY,
                    "mode permute shows every hidden number to whoever asks, from which a few "
                    "queries read off the model's weights; it runs with the flag "
                    "DP_ALLOW_ACTIVATION_LEAK (--allow-activation-leak) alone");
}

dp_status dpi_serve_check_key(size_t bits, unsigned flags, dp_error *err)
{
    if (bits == 0 || bits == 2048 || bits == 3072 || (flags & DPI_ALLOW_WEAK_KEYS) != 0)
        return DP_OK;
    return dpi_fail(err, DP_EINVAL, "a key of %zu bits; ask for 2048 or 3072", bits);
}

size_t dpi_serve_largest(size_t layers, const size_t *bytes, const size_t *masked)
{
    size_t most = 1;
    for (size_t k = 0; k < layers; k++) {
        most = bytes[k] > most ? bytes[k] : most;
        most = masked[k] > most ? masked[k] : most;
    }
    return most;
}

size_t dpi_serve_rounds(const dpi_serve_plan *plan)
{
    return plan->n_layers + 1;
}

dp_status dpi_serve_check_cost(const dpi_serve_plan *plan, const dpi_serve_cost *cost,
                               size_t in_flight, dp_error *err)
{
    size_t bytes = cost->key;
    for (size_t k = 0; k < plan->n_layers; k++)
        for (int way = 0; way < 2; way++) {
            size_t more = way == 0 ? cost->up[k] : cost->down[k];
            if (more > (DPI_QUERY_MOST - bytes) / in_flight)
                return dpi_fail(err, DP_EUNSUPPORTED,
                                "queries of this program, %zu at a time, would move more than "
                                "512 MB; other protocols may need fewer",
                                in_flight);
            bytes += in_flight * more;
        }
    return DP_OK;
}

dp_status dpi_serve_fail(const dpi_wire_session *wire, dp_status status, dp_error *err)
{
    const dp_error *own = dpi_wire_error(wire);
    return dpi_fail(err, status, "%s", own->status != DP_OK ? own->text : dp_status_text(status));
}

/* ---- rows ---- */

const dpi_serve_row *const dpi_serve_rows[DPI_N_PROTOCOLS] = {
    [DPI_PROTOCOL_HE2_PAILLIER] = &dpi_he2_paillier,
    [DPI_PROTOCOL_HE2_LATTICE] = &dpi_he2_lattice,
    [DPI_PROTOCOL_CKKS] = &dpi_ckks_row};

dp_status dpi_serve_plan_of(const dpi_serve_row *row, const dp_program *p, dpi_mode mode,
                            dpi_serve_plan *plan, dp_error *err)
{
    return (row->whole ? dpi_serve_plan_whole : dpi_serve_plan_make)(p, mode, plan, err);
}
