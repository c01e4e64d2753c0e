/* Hostile sheets of programs that parties are to share, and hostile numbers: whatever the bytes
 * are, a plan is made or refused, and what it says about rooms, costs and answers holds when it is
 * run on the numbers, as one party that holds all does it.
 *
 * The first byte says how many bytes at the end are numbers, in eights, and chooses the options;
 * the sheet is what is between. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/program.h>

#include "fuzz/fuzz.h"
#include "serve/party-lane.h"
#include "share/run.h"

enum { MOST_WORK = 1 << 15, RECORDS = 2 };

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Whether a run is no matter of seconds: multiplications and numbers of all stages. */
static bool is_small(const dp_program *p)
{
    size_t work = 0;
    for (size_t k = 0; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k);
        const bool sees = s->window.size[0] > 0;
        const size_t stops = s->kind == DP_STAGE_CONVOLUTION ? s->shape[0] * s->shape[1] : 1;
        const size_t places = sees ? s->window.size[0] * s->window.size[1] : 1;
        if (s->size > MOST_WORK || s->n_weights > MOST_WORK || stops > MOST_WORK ||
            places > MOST_WORK || s->n_bias > MOST_WORK)
            return false;
        work += s->size * places + s->n_weights * stops;
        if (work > MOST_WORK)
            return false;
    }
    return true;
}

/* n numbers of the ring, which come again when they are used up. */
static dpi_share share_of(const dpi_party *party, dpi_ring ring, size_t n, const uint8_t *numbers,
                          size_t bytes)
{
    dpi_share x;
    expect(dpi_share_new(party, ring, n, &x, NULL) == DP_OK);
    unsigned char *to = x.part[0];
    for (size_t i = 0; i < n * dpi_ring_bytes(ring); i++)
        to[i] = bytes > 0 ? numbers[i % bytes] : (unsigned char)(i * 37);
    return x;
}

static void run(const dp_program *p, const dpi_share_plan *plan, const uint8_t *numbers,
                size_t bytes)
{
    dpi_party party = {.row = &dpi_clear};
    dpi_share_room *room;
    const dpi_ring ring = dpi_share_plan_ring(plan);
    expect(dpi_party_start(&party, NULL) == DP_OK);
    expect(dpi_share_room_new(&party, plan, &room, NULL) == DP_OK);
    dpi_share x = share_of(&party, ring, RECORDS * dp_program_inputs(p), numbers, bytes);
    dpi_share model = share_of(&party, ring, dpi_share_model_size(p), numbers, bytes);
    dpi_share y = share_of(&party, ring, RECORDS * dpi_share_answers(plan), NULL, 0);
    dpi_share_run(&party, plan, room, &model, 0, RECORDS, &x, &y);
    dpi_share_free(&x);
    dpi_share_free(&model);
    dpi_share_free(&y);
    dpi_share_room_free(room);
    dpi_party_end(&party);
}

static void check_plan(dp_program *p, unsigned choice, const uint8_t *numbers, size_t bytes)
{
    const dpi_share_opts o = {
        .batch = RECORDS, .probabilistic = choice % 2 > 0, .label = choice / 2 % 2 > 0};
    dp_error err = {0};
    dpi_share_plan *plan;
    dpi_share_cost cost;
    dpi_party_model model = {.program = p, .row = &dpi_quad, .probabilistic = o.probabilistic};
    const dp_status status = dpi_share_plan_new(p, &o, &plan, &err);
    expect((status == DP_OK) == (plan != NULL));
    expect(status == DP_OK || status == DP_EUNSUPPORTED || status == DP_ENOMEM);
    expect(status == DP_OK || strlen(err.text) > 10);
    if (status == DP_OK && dpi_lane_fits(&model, RECORDS) && is_small(p)) {
        expect(dpi_share_plan_ring(plan) == DPI_RING_64 || dp_program_bits(p) <= 30);
        expect(dpi_share_answer_bits(plan) <= dpi_ring_bits(dpi_share_plan_ring(plan)));
        expect(dpi_share_cost_of(plan, &dpi_trio, RECORDS, &cost, &err) == DP_OK);
        expect(cost.online[1][2] == cost.online[2][1]);
        run(p, plan, numbers, bytes);
    }
    dpi_share_plan_free(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = size > 0 ? data[0] : 0;
    const size_t left = size > 0 ? size - 1 : 0, asked = choice / 4 * (size_t)8;
    const size_t bytes = asked < left ? asked : left;
    unsigned char *sheet = malloc(left - bytes > 0 ? left - bytes : 1); /* shows any overrun */
    dp_program *p;
    dp_error err = {0};
    expect(sheet != NULL);
    if (left > bytes)
        memcpy(sheet, data + 1, left - bytes);
    if (dp_program_of_sheet(left - bytes, sheet, &p, &err) == DP_OK)
        check_plan(p, choice, data + size - bytes, bytes);
    dp_program_free(p);
    free(sheet);
    return 0;
}
