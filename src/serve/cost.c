/* What a program's queries cost under a protocol. */
#include "base/error.h"
#include "serve/party-talk.h"
#include "serve/talk.h"
#include "share/run.h"

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
    const dpi_serve_row *row = dpi_serve_rows[dpi_serve_protocol_of(protocol)];
    if (status == DP_OK)
        status = dpi_serve_plan_of(row, p, dpi_serve_mode_of(mode), &plan, err);
    if (status == DP_OK)
        status = row->cost(&plan, dpi_serve_mode_of(mode), &opts, &c, err);
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

/* ---- among parties ---- */

/* Between parties: what the dealer sends, and what the others do. */
static void add_links(const dpi_share_cost *c, dp_shared_cost *cost)
{
    cost->rounds = (size_t)c->rounds;
    for (size_t from = 0; from < DPI_SHARE_PARTIES; from++)
        for (size_t to = 0; to < DPI_SHARE_PARTIES; to++) {
            cost->dealt += c->prepared[from][to];
            cost->online += c->online[from][to];
        }
}

/* Between the client and each of them: how many records, and go; components, and pieces. */
static void add_ends(const dpi_party_sizes *sizes, size_t n, dp_shared_cost *cost)
{
    for (size_t machine = 0; machine < sizes->row->parties; machine++) {
        cost->up += sizeof(uint64_t) + dpi_party_input_bytes(sizes, machine, n);
        cost->down += 1 + dpi_party_output_bytes(sizes, machine, n);
    }
}

dp_status dp_parties_cost(const dp_program *p, size_t parties, size_t records, bool probabilistic,
                          dp_shared_cost *cost, dp_error *err)
{
    const dpi_share_row *row = parties == 4 ? &dpi_quad : &dpi_trio;
    const dpi_share_opts opts = {.batch = records, .probabilistic = probabilistic};
    dpi_share_plan *plan;
    dpi_share_cost between;
    *cost = (dp_shared_cost){0};
    if (parties != row->parties)
        return dpi_fail(err, DP_EINVAL, "three or four parties compute together, not %zu", parties);
    if (records < 1 || records > DPI_PARTY_RECORDS)
        return dpi_fail(err, DP_EINVAL, "a query is of 1 to %d records, not %zu", DPI_PARTY_RECORDS,
                        records);
    dp_status status = dpi_share_plan_new(p, &opts, &plan, err);
    if (status == DP_OK)
        status = dpi_share_cost_of(plan, row, records, &between, err);
    if (status == DP_OK) {
        const dpi_party_sizes sizes = {.row = row,
                                       .ring = dpi_share_plan_ring(plan),
                                       .inputs = dp_program_inputs(p),
                                       .outputs = dpi_share_answers(plan),
                                       .lanes = 1};
        cost->bits = dpi_ring_bits(sizes.ring);
        add_links(&between, cost);
        add_ends(&sizes, records, cost);
    }
    dpi_share_plan_free(plan);
    return status;
}
