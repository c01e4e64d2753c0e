/* Each allocation of the library fails in turn: the call says so, gives nothing, keeps nothing. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/graph/faulty.h"
#include "tests/wire/pair.h"
#include "wire/listener.h"
#include "wire/log.h"

#define A "tacit:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const char policy_text[] = "client = " A " Anna\nqueries = 9\nwindow = 60\nreturns = label\n"
                                  "protocols = hm3\nmodes = shared\n";

static dp_status try_identity(wire_pair *p, dp_error *err)
{
    dp_identity *i;
    dp_status status = dp_identity_load(pair_path(p, "client"), &i, err);
    assert_int_equal(status == DP_OK, i != NULL);
    dp_identity_free(i);
    return status;
}

static dp_status try_new_identity(wire_pair *p, dp_error *err)
{
    dp_identity *i;
    dp_status status = dp_identity_new(pair_path(p, "another"), &i, err);
    assert_int_equal(status == DP_OK, i != NULL);
    dp_identity_free(i);
    assert_int_equal(unlink(pair_path(p, "another")), status == DP_OK ? 0 : -1);
    return status;
}

static dp_status try_peers(wire_pair *p, dp_error *err)
{
    dpi_peers peers;
    char text[40 * 90] = "";
    (void)p;
    for (int i = 0; i < 40; i++)
        (void)sprintf(text + strlen(text), "tacit:%064x peer %d\n", i, i);
    dp_status status = dpi_peers_parse(text, strlen(text), "peers", &peers, err);
    assert_int_equal(peers.n, status == DP_OK ? 40 : 0);
    dpi_peers_free(&peers);
    return status;
}

static dp_status try_policy(wire_pair *p, dp_error *err)
{
    dpi_policy policy;
    FILE *f = fopen(pair_path(p, "policy"), "w");
    assert_non_null(f);
    assert_true(fputs(policy_text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    dp_status status = dpi_policy_load(pair_path(p, "policy"), &policy, err);
    assert_int_equal(policy.clients.n, status == DP_OK);
    dpi_policy_free(&policy);
    return status;
}

/* A log of 70 queries, more than there is room for at first. */
static dp_status try_log(wire_pair *p, dp_error *err)
{
    dpi_query_log *log;
    const dpi_log_query q = {.protocol = DPI_PROTOCOL_HM3, .mode = DPI_MODE_SHARED};
    FILE *f = fopen(pair_path(p, "log"), "w");
    assert_non_null(f);
    for (int i = 1; i <= 70; i++)
        (void)fprintf(f, "2999-11-23T18:12:27Z %d asked " A " hm3 shared\n", i);
    assert_int_equal(fclose(f), 0);
    dp_status status = dpi_query_log_open(pair_path(p, "log"), 2, 60, &log, err);
    assert_int_equal(status == DP_OK, log != NULL);
    dpi_log_spent spent = {0};
    if (status == DP_OK)
        status = dpi_query_log_reserve(log, &q, &spent, err);
    assert_int_equal(spent.number, status == DP_OK ? 71 : 0);
    dpi_query_log_close(log);
    return status;
}

static dp_status try_listener(wire_pair *p, dp_error *err)
{
    dpi_wire_listener *l;
    const dpi_wire_opts o = pair_opts(p, SERVER);
    dp_status status = dpi_wire_listen("127.0.0.1", "0", &o, NULL, &l, err);
    assert_int_equal(status == DP_OK, l != NULL);
    dpi_wire_listener_free(l);
    return status;
}

/* The other side is silent: a session that could be made waits for it in vain. */
static dp_status try_session(wire_pair *p, dp_error *err)
{
    dpi_wire_session *s;
    int sockets[2];
    const dpi_wire_opts o = pair_opts(p, CLIENT);
    socket_pair(sockets);
    dp_status status = dpi_wire_open(sockets[0], DPI_WIRE_CLIENT, &o, 1, &s, err);
    assert_null(s);
    assert_int_equal(close(sockets[1]), 0);
    if (status != DP_ETIMEOUT)
        return status;
    *err = (dp_error){DP_OK, ""};
    return DP_OK;
}

static void each_allocation_fails_in_turn(void **state)
{
    static dp_status (*const tries[])(wire_pair * p, dp_error * err) = {
        try_identity, try_new_identity, try_peers, try_policy, try_log, try_listener, try_session};
    wire_pair *p = *state;
    const int files = open_files();
    const size_t live = faulty_live();
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        size_t failures = 0;
        for (size_t k = 1;; k++) {
            dp_error err = {DP_OK, ""};
            faulty_fail(k);
            dp_status status = tries[i](p, &err);
            int failed = faulty_failed();
            faulty_fail(0);
            assert_int_equal(faulty_live(), live);
            assert_int_equal(open_files(), files);
            if (!failed) {
                assert_ok(status, err.text);
                break;
            }
            failures++;
            assert_int_equal(status, DP_ENOMEM);
        }
        assert_true(failures > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails_in_turn)};
    return cmocka_run_group_tests(tests, pair_make, pair_remove);
}
