/* Sheets of hostile providers under CKKS: whatever the bytes are, whoever asks finds what it would
 * encrypt and which keys it would make, or a message, in bounds and with little room. */
#include <stdbool.h>
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "serve/ckks.h"

enum {
    TERMS = 1 << 16,     /* for the fuzzer's time */
    MOST_TERMS = 1 << 24 /* of the row: more are refused, which takes none */
};

static void expect(bool holds)
{
    if (!holds)
        abort();
}

/* Of all stages, of padding too; sizes are anybody's, so in doubles. */
static double terms_of(const dp_program *p)
{
    double terms = 0;
    for (size_t k = 1; k < dp_program_stages(p); k++) {
        const dp_stage *s = dp_program_stage(p, k), *a = dp_program_stage(p, (size_t)s->in[0]);
        const double window = (double)s->window.size[0] * (double)s->window.size[1];
        if (s->kind == DP_STAGE_DENSE)
            terms += (double)s->size * (double)a->size;
        else if (s->kind == DP_STAGE_CONVOLUTION)
            terms += (double)s->size * window * (double)a->shape[2];
        else if (s->kind == DP_STAGE_AVERAGE_POOL)
            terms += (double)s->size * window;
    }
    return terms;
}

static void check_circuit(const dpi_circuit *c)
{
    const size_t places = dpi_ckks_n(c->c) / 2;
    expect(c->n_steps > 0 && c->in.period <= places && c->flood >= 0);
    expect(dpi_circuit_last(c)->out.period <= places / 64);
    for (size_t i = 0; i < c->in.n; i++)
        expect(c->in.place[i] < c->in.period);
    for (size_t i = 0; i < c->n_steps; i++) {
        const dpi_circuit_step *s = &c->step[i];
        expect(s->level > 0 && s->level <= dpi_ckks_depth(c->c) && s->out.period <= places);
        for (size_t k = 0; k < s->out.n; k++)
            expect(s->out.place[k] < s->out.period);
        for (size_t t = 0; t < s->map.n; t++)
            expect(s->map.term[t].to < s->map.places && s->map.term[t].from < s->map.places);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    dp_program *p;
    dpi_serve_plan plan;
    dpi_circuit c;
    dp_error err = {DP_OK, ""};
    dp_status status = dp_program_of_sheet(size, data, &p, &err);
    if (status != DP_OK)
        return 0;
    const double terms = terms_of(p);
    status = terms <= TERMS || terms > MOST_TERMS
                 ? dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err)
                 : DP_EUNSUPPORTED;
    if (status == DP_OK) {
        status = dpi_circuit_make(&plan, &c, &err);
        expect(status != DP_OK || terms <= TERMS);
        if (status == DP_OK)
            check_circuit(&c);
        else
            expect(status != DP_ENOMEM && err.text[0] != 0);
        dpi_circuit_free(&c);
    }
    dp_program_free(p);
    return 0;
}
