/* What a hostile client sends under CKKS, keys and a ciphertext, and what a hostile provider
 * answers.  The first byte says which, the next three where the rest is laid over bytes that are
 * good: so more is reached than lengths and residues.  Whatever comes, a call gives a message and
 * nothing, or a session; an answer of ciphertexts that are read is one that is read; and numbers
 * that come out are within their bits. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "serve/ckks.h"

enum { INPUTS = 2, OUTPUTS = 1, HEAD = 4 };

typedef struct both {
    dp_program *p;
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    void *compiled, *session, *client;
    unsigned char *key, *up, *down;
} both;

static const dpi_serve_row *const row = &dpi_ckks_row;

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static unsigned char *room(size_t n)
{
    unsigned char *made = calloc(n, 1);
    expect(made != NULL);
    return made;
}

/* Both sides of a regression, and what they tell each other. */
static void make(both *b)
{
    const double w[INPUTS] = {1, -.5};
    const int64_t x[INPUTS] = {100, -100};
    b->p = dp_program_new();
    dp_program_dense(b->p, dp_program_input(b->p, INPUTS, "x", -1, 1), OUTPUTS, w, NULL);
    expect(dp_program_fix(b->p, NULL, NULL) == DP_OK);
    expect(dpi_serve_plan_of(row, b->p, DPI_MODE_LINEAR, &b->plan, NULL) == DP_OK);
    expect(row->cost(&b->plan, DPI_MODE_LINEAR, NULL, &b->cost, NULL) == DP_OK);
    expect(row->compile(&b->plan, DPI_MODE_LINEAR, NULL, &b->compiled, NULL) == DP_OK);
    expect(row->client_new(&b->plan, DPI_MODE_LINEAR, NULL, &b->client, NULL) == DP_OK);
    b->key = room(b->cost.key);
    b->up = room(b->cost.up[0]);
    b->down = room(b->cost.down[0]);
    row->write_key(b->client, b->key);
    expect(row->open(b->compiled, b->key, &b->session, NULL) == DP_OK);
    expect(row->encrypt(b->client, 0, x, b->up, NULL, 1, NULL) == DP_OK);
    expect(row->layer(b->session, 0, NULL, b->up, b->down, NULL, 1, NULL) == DP_OK);
}

/* Good bytes with others over them, in a block that shows any overrun. */
static unsigned char *laid_over(const unsigned char *good, size_t n, const uint8_t *data,
                                size_t size)
{
    unsigned char *made = room(n);
    memcpy(made, good, n);
    const size_t at = (data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16) % n;
    const size_t rest = size - HEAD;
    memcpy(made + at, data + HEAD, rest < n - at ? rest : n - at);
    return made;
}

static bool is_told(dp_status status, const dp_error *err)
{
    expect(status == DP_OK || (status == DP_EPEER && err->text[0] != 0));
    return status == DP_OK;
}

static void open_answer(const both *b, const unsigned char *down)
{
    int64_t y[OUTPUTS] = {1};
    dp_error err = {DP_OK, ""};
    const bool good = is_told(row->decrypt(b->client, 0, down, y, NULL, 1, &err), &err);
    const int64_t most = ((int64_t)1 << b->plan.layer[0].bits) - 1;
    expect(good ? y[0] >= -most && y[0] <= most : y[0] == 0);
}

static void ask(const both *b, void *session, const unsigned char *up)
{
    unsigned char *down = room(b->cost.down[0]);
    dp_error err = {DP_OK, ""};
    if (is_told(row->layer(session, 0, NULL, up, down, NULL, 1, &err), &err))
        open_answer(b, down);
    else
        expect(down[0] == 0);
    free(down);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static both b; /* made once, and kept */
    void *session;
    dp_error err = {DP_OK, ""};
    if (b.p == NULL)
        make(&b);
    if (size < HEAD)
        return 0;
    const unsigned char *good = data[0] % 3 == 0 ? b.key : data[0] % 3 == 1 ? b.up : b.down;
    const size_t n = data[0] % 3 == 0   ? b.cost.key
                     : data[0] % 3 == 1 ? b.cost.up[0]
                                        : b.cost.down[0];
    unsigned char *bytes = laid_over(good, n, data, size);
    if (data[0] % 3 == 0) {
        if (is_told(row->open(b.compiled, bytes, &session, &err), &err))
            ask(&b, session, b.up);
        else
            expect(session == NULL);
        row->close(session);
    } else if (data[0] % 3 == 1) {
        ask(&b, b.session, bytes);
    } else {
        open_answer(&b, bytes);
    }
    free(bytes);
    return 0;
}
