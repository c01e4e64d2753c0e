/* What provider and client give to each party, and what parties tell: element by element, as they
 * are received and sent in sessions.
 *
 * A number has as many components as there are parties, of which all but one follow from seeds; the
 * one that does not is sent to all parties but one.  (Published, whoever gives a number to three
 * sends six elements, or four seeds and two.)  An answer is told by two roles, an element each, and
 * among four by two more as a hash. */
#include <pthread.h>
#include <string.h>

#include "serve/party-talk.h"
#include "share/deal.h"
#include "tests/lib/numbers.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

enum { KINDS = DPI_PARTY_OUTPUT + 1, INPUTS = 7, OUTPUTS = 5, RECORDS = 5 };

/* Bytes that all parties, which are threads of this program, have received and sent; the client and
 * the provider send by other calls, and receive by this one what is not counted here. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t received[KINDS], sent[KINDS];

dp_status __real_dpi_wire_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *bytes,
                                  size_t n, uint32_t within);
dp_status __wrap_dpi_wire_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *bytes,
                                  size_t n, uint32_t within);
dp_status __wrap_dpi_wire_receive(dpi_wire_session *s, uint16_t kind, uint32_t layer, void *bytes,
                                  size_t n, uint32_t within)
{
    const dp_status status = __real_dpi_wire_receive(s, kind, layer, bytes, n, within);
    (void)pthread_mutex_lock(&lock);
    received[kind] += status == DP_OK ? n : 0;
    (void)pthread_mutex_unlock(&lock);
    return status;
}

dp_status __real_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);
dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within);
dp_status __wrap_dpi_wire_send(dpi_wire_session *s, uint16_t kind, uint32_t layer,
                               const void *bytes, size_t n, uint32_t within)
{
    (void)pthread_mutex_lock(&lock);
    sent[kind] += n;
    (void)pthread_mutex_unlock(&lock);
    return __real_dpi_wire_send(s, kind, layer, bytes, n, within);
}

static void forget(void)
{
    memset(received, 0, sizeof received);
    memset(sent, 0, sizeof sent);
}

static void ask(const daemons *d, size_t lanes)
{
    double x[RECORDS * INPUTS];
    int64_t y[RECORDS * OUTPUTS];
    uint64_t numbers = 9;
    size_t answered;
    dp_ask *made;
    dp_error err = {0};
    const dp_ask_parties_opts o = {
        .identity = d->client, .parties = d->parties, .records = RECORDS, .lanes = lanes};
    fill(&numbers, RECORDS * INPUTS, x);
    assert_ok(dp_ask_parties_new(&o, &made, &err), err.text);
    assert_ok(dp_ask_many(made, RECORDS, x, y, &answered, &err), err.text);
    dp_ask_free(made);
}

/* Element sizes: of 64 bits, since the program needs more than 30. */
static void check_bytes(size_t n, size_t lanes)
{
    double w[INPUTS * OUTPUTS];
    uint64_t numbers = 5;
    const size_t element = sizeof(uint64_t), model = INPUTS * OUTPUTS + OUTPUTS;
    daemons d;
    dp_error err = {0};
    fill(&numbers, INPUTS * OUTPUTS, w);
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, INPUTS, "x", -1, 1), OUTPUTS, w, w);
    const dp_scale_opts wide = {.activation_bits = 18, .weight_bits = 14};
    assert_ok(dp_program_fix(p, &wide, &err), err.text);
    assert_true(dp_program_bits(p) > 30);
    if (!daemons_start(&d, &(daemons_opts){.n = n, .lanes = lanes}, &err))
        fail_msg("%s", err.text);
    forget();
    assert_ok(daemons_share(&d, p, &err), err.text);
    assert_int_equal(received[DPI_PARTY_PART], (n - 1) * model * element);
    assert_int_equal(received[DPI_PARTY_SEEDS], n * DPI_SHARE_PARTIES * DPI_DEAL_SEED);
    forget();
    ask(&d, lanes);
    daemons_stop(&d); /* no thread counts any more */
    assert_int_equal(received[DPI_PARTY_INPUT], (n - 1) * RECORDS * INPUTS * element);
    assert_int_equal(received[DPI_PARTY_SEEDS], n * lanes * n * DPI_DEAL_SEED);
    const size_t hashes = n == 4 ? 2 * lanes * DPI_PARTY_DIGEST : 0;
    assert_int_equal(sent[DPI_PARTY_OUTPUT], 2 * RECORDS * OUTPUTS * element + hashes);
    dp_program_free(p);
}

static void a_number_is_given_to_all_but_one_and_told_by_two(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++)
        for (size_t lanes = 1; lanes <= 3; lanes += 2)
            check_bytes(n, lanes);
}

/* Who tells what, of each protocol: lambda, X or m, and hashes of both. */
static void who_tells_is_what_the_protocols_say(void **state)
{
    (void)state;
    static const dpi_party_tells three[] = {DPI_TELLS_ALL, DPI_TELLS_ALL, DPI_TELLS_NOTHING};
    static const dpi_party_tells four[] = {DPI_TELLS_ALL, DPI_TELLS_ALL, DPI_TELLS_HASH,
                                           DPI_TELLS_HASH};
    for (size_t role = 0; role < 3; role++)
        assert_int_equal(dpi_party_told(&dpi_trio, role), three[role]);
    for (size_t role = 0; role < 4; role++)
        assert_int_equal(dpi_party_told(&dpi_quad, role), four[role]);
}

/* By machine and lane; what is given, the dealer of a lane lacks, which so can begin before it. */
static void sizes_follow_from_lanes_and_records(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++)
        for (size_t lanes = 1; lanes <= 24; lanes++)
            for (size_t records = 1; records <= 50; records += 7) {
                const dpi_share_row *row = n == 3 ? &dpi_trio : &dpi_quad;
                const dpi_party_sizes s = {row, DPI_RING_32, INPUTS, OUTPUTS, lanes};
                size_t in = 0, out = 0, all = 0;
                for (size_t k = 0; k < lanes; k++)
                    all += dpi_party_share_of(records, lanes, k);
                assert_int_equal(all, records);
                for (size_t i = 0; i < n; i++) {
                    in += dpi_party_input_bytes(&s, i, records);
                    out += dpi_party_output_bytes(&s, i, records);
                }
                assert_int_equal(in, (n - 1) * records * INPUTS * 4);
                assert_int_equal(out, 2 * records * OUTPUTS * 4 +
                                          (n == 4 ? 2 * lanes * DPI_PARTY_DIGEST : 0));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_given_to_all_but_one_and_told_by_two),
        cmocka_unit_test(who_tells_is_what_the_protocols_say),
        cmocka_unit_test(sizes_follow_from_lanes_and_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
