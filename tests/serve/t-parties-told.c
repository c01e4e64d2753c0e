/* One of four parties tells the client something else than what it has: the client is given no
 * answer, whatever the right one would have been.  It is 0 where both pieces of it are alike. */
#include <stdlib.h>
#include <string.h>

#include "serve/party-talk.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"
#include "wire/parts.h"

enum { PARTIES = 4, LANES = 2, INPUTS = 20, LABELS = 3, LONG = 20000 };

/* What a party sends goes by here; that of the liar to a client is changed. */
dp_status __real_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);
dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);

/* Written while nobody asks. */
static unsigned char liar[DPI_FINGERPRINT];
static bool lies_last; /* in the last byte, of the last lane, and not in the first */

dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within)
{
    unsigned char *lie = NULL;
    if (kind == DPI_PARTY_OUTPUT && memcmp(s->own, liar, sizeof liar) == 0)
        lie = malloc(n);
    if (lie == NULL)
        return __real_dpi_wire_send(s, kind, layer, bytes, n, within);
    memcpy(lie, bytes, n);
    lie[lies_last ? n - 1 : 0] ^= 1;
    dp_status status = __real_dpi_wire_send(s, kind, layer, lie, n, within);
    free(lie);
    return status;
}

/* Records by their label. */
static void find_records(const dp_program *p, double x[LABELS][INPUTS])
{
    uint64_t numbers = 5;
    int64_t v[INPUTS], label;
    dp_error err = {0};
    for (unsigned found = 0; found != (1U << LABELS) - 1;) {
        double one[INPUTS];
        fill(&numbers, INPUTS, one);
        assert_ok(dp_program_encode(p, 1, one, v, &err), err.text);
        assert_ok(dp_program_run_exact(p, 1, v, &label, &err), err.text);
        memcpy(x[label], one, sizeof one);
        found |= 1U << label;
    }
}

/* Asks about the record once in each lane. */
static void ask(const daemons *d, size_t lanes, const double *x, dp_status expected, int64_t label)
{
    const dp_ask_parties_opts o = {
        .identity = d->client, .parties = d->parties, .lanes = lanes, .timeout_ms = LONG};
    double all[LANES * INPUTS];
    dp_error err = {0};
    dp_ask *session;
    int64_t y[LANES];
    size_t answered;
    for (size_t k = 0; k < lanes; k++)
        memcpy(all + k * INPUTS, x, INPUTS * sizeof *x);
    assert_ok(dp_ask_parties_new(&o, &session, &err), err.text);
    dp_status status = dp_ask_many(session, lanes, all, y, &answered, &err);
    if (expected == DP_OK)
        assert_ok(status, err.text);
    else
        assert_fails(status, expected, &err, "different answers");
    for (size_t k = 0; k < lanes; k++)
        assert_int_equal(y[k], expected == DP_OK ? label : 0);
    assert_int_equal(answered, expected == DP_OK ? lanes : 0);
    dp_ask_free(session);
}

static void what_one_party_changes_is_refused_whatever_the_answer(void **state)
{
    (void)state;
    double x[LABELS][INPUTS];
    dp_program *p = regression();
    daemons d;
    dp_error err = {0};
    find_records(p, x);
    memset(liar, 0, sizeof liar);
    if (!daemons_start(&d, &(daemons_opts){.n = PARTIES, .lanes = LANES}, &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(&d, p, &err), err.text);
    for (size_t lanes = 1; lanes <= LANES; lanes++)
        for (int64_t label = 0; label < LABELS; label++) {
            lies_last = lanes > 1;
            ask(&d, lanes, x[label], DP_OK, label);
            for (size_t i = 0; i < PARTIES; i++) {
                assert_true(dpi_fingerprint_read(dp_identity_fingerprint(d.own[i]),
                                                 DPI_FINGERPRINT_TEXT - 1, liar));
                ask(&d, lanes, x[label], DP_EPEER, label);
            }
            memset(liar, 0, sizeof liar);
        }
    daemons_stop(&d);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_one_party_changes_is_refused_whatever_the_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
