/* A client who keeps to nothing: sizes that were not agreed on, and other numbers of records for
 * each party.  He is answered no more than every party has counted, and the next session works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "serve/ask-parties.h"
#include "tests/lib/pause.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

enum { INPUTS = 150, OUTPUTS = 2, RECORDS = 4, LANES = 2, LONG = 20000, SHORT = 1000 };

static void begin(daemons *d, size_t n, uint32_t timeout, const dp_program *p)
{
    dp_error err = {0};
    const daemons_opts o = {.n = n, .lanes = LANES, .records = RECORDS, .timeout_ms = timeout};
    if (!daemons_start(d, &o, &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(d, p, &err), err.text);
}

static dp_status opening(const daemons *d, size_t lanes, dp_ask **ask, dp_error *err)
{
    const dp_ask_parties_opts o = {.identity = d->client,
                                   .parties = d->parties,
                                   .records = RECORDS,
                                   .lanes = lanes,
                                   .timeout_ms = LONG};
    *err = (dp_error){0};
    return dp_ask_parties_new(&o, ask, err);
}

static dp_ask *opened(const daemons *d, size_t lanes)
{
    dp_error err;
    dp_ask *ask;
    assert_ok(opening(d, lanes, &ask, &err), err.text);
    return ask;
}

static void works(const daemons *d)
{
    double x[INPUTS] = {0}, begun;
    int64_t y[OUTPUTS];
    dp_error err;
    dp_ask *ask;
    dp_status status;
    int tries = 0;
    do {
        begun = clock_now();
        status = opening(d, 1, &ask, &err);
        if (status == DP_OK)
            status = dp_ask_query(ask, x, y, &err);
        dp_ask_free(ask);
    } while (status != DP_OK && stood_still(begun, d->opts.timeout_ms, &tries));
    assert_ok(status, err.text);
}

/* Queries that party i has counted. */
static size_t counted(const daemons *d, size_t i)
{
    char path[DAEMONS_PATH], line[512];
    size_t n = 0;
    daemons_path(d, i, "log", path);
    FILE *log = fopen(path, "r");
    while (log != NULL && fgets(line, sizeof line, log) != NULL)
        n += strstr(line, " asked ") != NULL;
    if (log != NULL)
        (void)fclose(log);
    return n;
}

/* ---- what is agreed on ---- */

static void sessions_beyond_what_was_offered_are_refused(void **state)
{
    (void)state;
    static const uint64_t starts[][2] = {{0, 1},           {LANES + 1, 1},  {1, 0},
                                         {1, RECORDS + 1}, {UINT64_MAX, 1}, {1, UINT64_MAX}};
    dp_program *p = wide(OUTPUTS);
    daemons d;
    begin(&d, 3, LONG, p);
    for (size_t k = 0; k < sizeof starts / sizeof *starts; k++) {
        dp_error err = {0};
        dpi_wire_session *wire;
        dpi_party_hello h = dpi_party_hello_of(d.parties, DPI_PURPOSE_ASK);
        unsigned char bytes[DPI_PARTY_OFFER_BYTES], start[DPI_PARTY_START_BYTES], ready;
        dpi_party_offer offer;
        h.token[0] = (unsigned char)(k + 1);
        assert_ok(dpi_parties_connect(d.parties, 1, d.client, LONG, &wire, &err), err.text);
        assert_ok(dpi_party_send_hello(wire, &h, LONG), "");
        assert_ok(dpi_wire_receive(wire, DPI_PARTY_OFFER, 0, bytes, sizeof bytes, LONG), "");
        dpi_party_read_offer(bytes, &offer);
        unsigned char *sheet = malloc(offer.sheet_bytes);
        assert_ok(dpi_wire_receive(wire, DPI_PARTY_SHEET, 0, sheet, offer.sheet_bytes, LONG), "");
        free(sheet);
        dpi_put_number(start, starts[k][0]);
        dpi_put_number(start + 8, starts[k][1]);
        assert_ok(dpi_wire_send(wire, DPI_PARTY_START, 0, start, sizeof start, LONG), "");
        assert_int_equal(dpi_wire_receive(wire, DPI_PARTY_READY, 0, &ready, 1, LONG), DP_EREFUSED);
        assert_contains(dpi_wire_error(wire)->text, "so many records");
        dpi_wire_close(wire);
    }
    works(&d);
    daemons_stop(&d);
    dp_program_free(p);
}

/* ---- queries ---- */

static void say_query(const dp_ask *ask, size_t i, uint64_t n)
{
    unsigned char query[8];
    dpi_put_number(query, n);
    assert_ok(dpi_wire_send(ask->parties->wire[i], DPI_PARTY_QUERY, 0, query, sizeof query, LONG),
              "");
}

static dp_status hear_go(const dp_ask *ask, size_t i)
{
    unsigned char go;
    return dpi_wire_receive(ask->parties->wire[i], DPI_PARTY_GO, 0, &go, 1, LONG);
}

static void queries_of_other_sizes_end_the_session_uncounted(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {0, RECORDS + 1, UINT64_MAX};
    dp_program *p = wide(OUTPUTS);
    daemons d;
    begin(&d, 3, LONG, p);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        dp_ask *ask = opened(&d, 1);
        say_query(ask, 0, sizes[k]);
        assert_int_equal(hear_go(ask, 0), DP_EPEER);
        dp_ask_free(ask);
    }
    assert_int_equal(counted(&d, 0), 0);
    works(&d);
    daemons_stop(&d);
    dp_program_free(p);
}

/* Parties are told of n[i] records: who answers, where all of them have let it go on. */
static dp_status ask_differently(const daemons *d, size_t lanes, const size_t n[], bool answers[])
{
    dp_error err;
    dp_ask *ask;
    dp_status status = opening(d, lanes, &ask, &err);
    if (status != DP_OK)
        return status;
    struct dpi_parties_ask *a = ask->parties;
    for (size_t i = 0; i < a->n; i++)
        say_query(ask, i, n[i]);
    for (size_t i = 0; status == DP_OK && i < a->n; i++)
        status = hear_go(ask, i);
    for (size_t i = 0; status == DP_OK && i < a->n; i++)
        status = dpi_wire_send(a->wire[i], DPI_PARTY_INPUT, 1, a->in[i],
                               dpi_party_input_bytes(&a->sizes, i, n[i]), LONG);
    for (size_t i = 0; status == DP_OK && i < a->n; i++)
        answers[i] = dpi_wire_receive(a->wire[i], DPI_PARTY_OUTPUT, 1, a->out[i],
                                      dpi_party_output_bytes(&a->sizes, i, n[i]), LONG) == DP_OK;
    dp_ask_free(ask);
    return status;
}

/* The same, and that each has counted what it was told. */
static void all_count(const daemons *d, size_t lanes, const size_t n[], bool answers[])
{
    size_t before[DAEMONS];
    dp_status status;
    double begun;
    int tries = 0;
    do {
        for (size_t i = 0; i < d->opts.n; i++)
            before[i] = counted(d, i);
        begun = clock_now();
        status = ask_differently(d, lanes, n, answers);
    } while (status != DP_OK && stood_still(begun, d->opts.timeout_ms, &tries));
    assert_ok(status, "");
    for (size_t i = 0; i < d->opts.n; i++)
        assert_int_equal(counted(d, i), before[i] + n[i]);
}

/* Nobody tells his piece of a record that another party has not counted, but for Trio's dealer, who
 * knows nothing but masks and waits for nobody: machine 0 in lane 0, machine 1 in lane 1. */
static void what_parties_count_differently_is_not_answered(void **state)
{
    (void)state;
    static const size_t sizes[][4] = {{2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}};
    dp_program *p = wide(OUTPUTS);
    for (size_t parties = 3; parties <= 4; parties++) {
        daemons d;
        bool answers[DAEMONS];
        begin(&d, parties, SHORT, p);
        for (size_t lanes = 1; lanes <= LANES; lanes++)
            for (size_t k = 0; k < parties; k++) {
                all_count(&d, lanes, sizes[k], answers);
                for (size_t i = 0; i < parties; i++)
                    if (lanes == 1 ? parties == 4 || i != 0 : i == k && (parties == 4 || i != 1))
                        assert_false(answers[i]);
            }
        works(&d);
        daemons_stop(&d);
    }
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_beyond_what_was_offered_are_refused),
        cmocka_unit_test(queries_of_other_sizes_end_the_session_uncounted),
        cmocka_unit_test(what_parties_count_differently_is_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
