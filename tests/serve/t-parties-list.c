/* The file of parties, and who plays what. */
#define _XOPEN_SOURCE 700
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/party-talk.h"
#include "tests/lib/check.h"

#define PRINT(digit)                                                                               \
    "tacit:" digit "0112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define P0 "party = 0 a.example 7000 " PRINT("0") "\n"
#define P1 "party = 1 127.0.0.1 7001 " PRINT("1") "\n"
#define P2 "party = 2 ::1 7002 " PRINT("2") "\n"
#define P3 "party = 3 d 7003 " PRINT("3") "\n"
#define PROVIDER "provider = " PRINT("4") "\n"

static dp_status parse(const char *text, dp_parties **p, dp_error *err)
{
    return dp_parties_parse(strlen(text), text, "parties", p, err);
}

static dp_parties *good(const char *text)
{
    dp_parties *p;
    dp_error err = {0};
    assert_ok(parse(text, &p, &err), err.text);
    return p;
}

static void three_and_four_are_read(void **state)
{
    (void)state;
    dp_parties *p =
        good("# ours\n" PROVIDER P0 "\tparty =\t1 127.0.0.1  7001 " PRINT("1") " # b\n" P2);
    assert_int_equal(dp_parties_count(p), 3);
    assert_string_equal(p->line[0].host, "a.example");
    assert_string_equal(p->line[2].host, "::1");
    assert_string_equal(p->line[1].port, "7001");
    assert_string_equal(p->line[1].peer.name, "party 1");
    assert_int_equal(dpi_parties_protocol(p), DPI_PROTOCOL_HM3);
    assert_int_equal(dpi_parties_find(p, p->line[1].peer.fingerprint), 1);
    assert_int_equal(dpi_parties_find(p, p->provider.fingerprint), 3);
    dp_parties_free(p);
    p = good(P0 P1 P2 P3 PROVIDER);
    assert_int_equal(dp_parties_count(p), 4);
    assert_int_equal(dpi_parties_protocol(p), DPI_PROTOCOL_HM4);
    dp_parties_free(p);
}

static void the_hash_is_of_who_they_are_and_of_their_order(void **state)
{
    (void)state;
    static const char *const others[] = {
        "party = 0 h 1 " PRINT("1") "\nparty = 1 h 1 " PRINT("0") "\n" P2 PROVIDER,
        P0 P1 P2 P3 PROVIDER,
        P0 P1 P2 "provider = " PRINT("5"),
        P0 P1 "party = 2 ::1 7002 " PRINT("3") "\n" PROVIDER,
    };
    dp_parties *p = good(P0 P1 P2 PROVIDER);
    dp_parties *moved = good("party = 0 b 1 " PRINT("0") "\n" P1 P2 PROVIDER);
    assert_memory_equal(p->hash, moved->hash, sizeof p->hash);
    dp_parties_free(moved);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        dp_parties *other = good(others[i]);
        assert_memory_not_equal(p->hash, other->hash, sizeof p->hash);
        dp_parties_free(other);
    }
    dp_parties_free(p);
}

static const struct {
    const char *text, *why;
} faults[] = {
    {"", "there are not three parties"},
    {P0 P1 PROVIDER, "there are not three parties"},
    {P0 P1 P2, "no line 'provider"},
    {P0 P1 P2 PROVIDER PROVIDER, "parties:5: there is one provider"},
    {P0 P1 P2 P3 P3, "parties:5: there are three or four"},
    {P0 P2, "parties:2: parties are numbered 0, 1, 2"},
    {"party = 00 a 1 " PRINT("0"), "are numbered"},
    {P0 "party = 1 b 1 " PRINT("0"), "parties:2: this fingerprint is that of a party before"},
    {P0 P1 P2 "provider = " PRINT("1"), "must not know the model"},
    {"party = 0 a " PRINT("0"), "NUMBER HOST PORT"},
    {"party = 0 a 1 " PRINT("0") " x", "comes the fingerprint alone"},
    {"party = 0 a 1 tacit:12", "comes the fingerprint alone"},
    {"party = 0", "`party = NUMBER HOST PORT FINGERPRINT`"},
    {"party = 0 a 123456789012345678901234567890123 " PRINT("0"), "NUMBER HOST PORT"},
    {"party 0 a 1 " PRINT("0"), "a line is `party"},
    {"parties = 3", "a line is `party"},
    {"provider = me", "a provider is a fingerprint"},
    {"provider =", "a provider is a fingerprint"},
    {P0 "\x01", "parties:2: a control character"},
};

static void faults_are_told_with_their_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        dp_parties *p;
        dp_error err = {0};
        assert_int_equal(parse(faults[i].text, &p, &err), DP_EDATA);
        assert_null(p);
        if (strstr(err.text, faults[i].why) == NULL)
            fail_msg("%zu: %s", i, err.text);
    }
}

static void files_that_others_write_are_refused(void **state)
{
    (void)state;
    char path[] = "/tmp/t-parties-XXXXXX";
    int file = mkstemp(path);
    dp_parties *p;
    dp_error err = {0};
    assert_true(file >= 0);
    assert_true(write(file, P0 P1 P2 PROVIDER, strlen(P0 P1 P2 PROVIDER)) > 0);
    (void)close(file);
    assert_ok(dp_parties_load(path, &p, &err), err.text);
    dp_parties_free(p);
    assert_int_equal(chmod(path, 0622), 0);
    assert_int_equal(dp_parties_load(path, &p, &err), DP_EPRIVACY);
    assert_null(p);
    (void)unlink(path);
    err = (dp_error){0};
    assert_int_equal(dp_parties_load(path, &p, &err), DP_EIO);
}

/* n! lanes in a row have each assignment once, and every n of them each machine in each role. */
static void every_machine_plays_every_role(void **state)
{
    (void)state;
    for (size_t n = 3; n <= 4; n++) {
        size_t all = n == 3 ? 6 : 24, seen[24];
        for (size_t lane = 0; lane < all; lane++) {
            unsigned machines = 0;
            seen[lane] = 0;
            for (size_t role = 0; role < n; role++) {
                size_t machine = dpi_parties_machine(n, lane, role);
                assert_int_equal(dpi_parties_role(n, lane, machine), role);
                machines |= 1u << machine;
                seen[lane] = 4 * seen[lane] + machine;
            }
            assert_int_equal(machines, (1u << n) - 1);
            for (size_t before = 0; before < lane; before++)
                assert_int_not_equal(seen[before], seen[lane]);
        }
        for (size_t role = 0; role < n; role++) {
            assert_int_equal(dpi_parties_machine(n, 0, role), role);
            unsigned machines = 0;
            for (size_t lane = 0; lane < n; lane++)
                machines |= 1u << dpi_parties_machine(n, lane, role);
            assert_int_equal(machines, (1u << n) - 1);
        }
    }
}

/* Of records that are as many as may be each frame fits in one of a session's, and one more does
 * not to whoever takes the most. */
static void frames_of_a_query_fit(void **state)
{
    (void)state;
    const dpi_share_row *const rows[] = {&dpi_trio, &dpi_quad};
    const size_t numbers[][2] = {{150528, 1000}, {3, 150528}, {1, 1}, {16777216, 16777216}};
    for (size_t i = 0; i < 2 * 4 * 2; i++) {
        const dpi_party_sizes s = {.row = rows[i % 2],
                                   .ring = i / 2 % 2 == 0 ? DPI_RING_32 : DPI_RING_64,
                                   .inputs = numbers[i / 4][0],
                                   .outputs = numbers[i / 4][1],
                                   .lanes = 1 + i};
        const size_t n = dpi_party_most_records(&s);
        assert_true(n >= 1);
        for (size_t machine = 0; machine < s.row->parties; machine++) {
            assert_true(dpi_party_input_bytes(&s, machine, n) <= DPI_WIRE_MOST);
            assert_true(dpi_party_output_bytes(&s, machine, n) <= DPI_WIRE_MOST);
        }
        const size_t digests = s.lanes * DPI_PARTY_DIGEST;
        dpi_party_sizes one = s;
        one.lanes = 1; /* of which a machine takes all */
        assert_true(dpi_party_input_bytes(&one, 1, n + 1) > DPI_WIRE_MOST - digests ||
                    dpi_party_output_bytes(&one, 1, n + 1) > DPI_WIRE_MOST - digests);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_and_four_are_read),
        cmocka_unit_test(the_hash_is_of_who_they_are_and_of_their_order),
        cmocka_unit_test(faults_are_told_with_their_line),
        cmocka_unit_test(files_that_others_write_are_refused),
        cmocka_unit_test(every_machine_plays_every_role),
        cmocka_unit_test(frames_of_a_query_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
