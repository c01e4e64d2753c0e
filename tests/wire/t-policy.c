/* The provider's policy file. */
#define _XOPEN_SOURCE 700
#include "wire/policy.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/wire/pair.h"

#define A "tacit:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "tacit:10112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define CLIENT_LINE "client = " A " Anna\n"
#define BUDGET "queries = 100\nwindow = 86400\n"
#define WAY "protocols = he2-lattice\nmodes = linear\n"
#define USUAL CLIENT_LINE BUDGET WAY "returns = label\n"

static dp_status parse(const char *text, dpi_policy *policy, dp_error *err)
{
    return dpi_policy_parse(text, strlen(text), "policy", policy, err);
}

static void all_keys_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "# of the clinic\n" CLIENT_LINE "client=" B "\tBert  Brown # our own\n"
        "queries = 3155760000\r\n  window=1\n\n"
        "returns = noisy-scores\nepsilon = 5e-1\nsensitivity = 2.25\n"
        "protocols = hm4 he2-paillier\nmodes = permute\tlinear shared\n"
        "allow-activation-leak = yes";
    dpi_policy p;
    dp_error err = {0};
    assert_ok(parse(text, &p, &err), err.text);
    assert_int_equal(p.clients.n, 2);
    assert_string_equal(p.clients.list[1].name, "Bert  Brown");
    assert_int_equal(p.queries, 3155760000);
    assert_int_equal(p.window, 1);
    assert_int_equal(p.returns, DPI_RETURN_NOISY_SCORES);
    assert_close(p.epsilon, 0.5, 0, 0);
    assert_close(p.sensitivity, 2.25, 0, 0);
    assert_int_equal(p.top, 0);
    assert_int_equal(p.protocols, 1u << DPI_PROTOCOL_HM4 | 1u << DPI_PROTOCOL_HE2_PAILLIER);
    assert_int_equal(p.modes, 7);
    dpi_policy_free(&p);
    assert_null(p.clients.list);
    assert_ok(parse(CLIENT_LINE BUDGET WAY "returns = top\ntop = 3", &p, &err), err.text);
    assert_int_equal(p.top, 3);
    dpi_policy_free(&p);
    assert_ok(parse(USUAL, &p, &err), err.text);
    assert_int_equal(p.returns, DPI_RETURN_LABEL);
    dpi_policy_free(&p);
}

static const struct {
    const char *text, *why;
} faults[] = {
    {"", "policy: there is no line 'client = ...'"},
    {BUDGET WAY "returns = label", "no line 'client"},
    {CLIENT_LINE "window = 1\n" WAY "returns = label", "no line 'queries"},
    {CLIENT_LINE "queries = 1\n" WAY "returns = label", "no line 'window"},
    {CLIENT_LINE BUDGET WAY, "no line 'returns"},
    {CLIENT_LINE BUDGET "modes = linear\nreturns = label", "no line 'protocols"},
    {CLIENT_LINE BUDGET "protocols = hm3\nreturns = label", "no line 'modes"},
    {"client " A " Anna", "policy:1: this is not `key = value`"},
    {"\n#\nclient = tacit:1 Anna", "policy:3: a fingerprint is"},
    {CLIENT_LINE "client = " A " Bert", "policy:2: this fingerprint has a name"},
    {CLIENT_LINE "client = " B " Anna", "policy:2: this name has a fingerprint"},
    {"client = " A, "a name must follow"},
    {"Queries = 1", "policy:1: there is no such key"},
    {"= 1", "there is no such key"},
    {"queries =", "no value behind the key: 'queries'"},
    {"queries = 1\nqueries = 1", "policy:2: this key stands twice: 'queries'"},
    {"queries = 0", "whole number from 1"},
    {"queries = -1", "whole number from 1"},
    {"queries = +1", "whole number from 1"},
    {"queries = 1.5", "whole number from 1"},
    {"queries = 1 2", "whole number from 1"},
    {"queries = 0x10", "whole number from 1"},
    {"queries = 3155760001", "whole number from 1"},
    {"window = 18446744073709551617", "whole number from 1"},
    {"window = 999999999999999999999999999999999999999999", "whole number from 1"},
    {"returns = all", "one of label, top, scores and noisy-scores: 'all'"},
    {"returns = label scores", "one of label, top"},
    {"epsilon = 0", "number above 0"},
    {"epsilon = -0.5", "number above 0"},
    {"epsilon = nan", "number above 0"},
    {"epsilon = inf", "number above 0"},
    {"epsilon = 1e999", "number above 0"},
    {"epsilon = 0x1p3", "number above 0"},
    {"epsilon = 0,5", "number above 0"},
    {"epsilon = 0.5 x", "number above 0"},
    {"protocols = he2", "a protocol is he2-paillier, he2-lattice, hm3, hm4 or ckks: 'he2'"},
    {"protocols = hm3 hm3", "this stands here twice: 'hm3'"},
    {"modes = mask", "a mode is linear, permute or shared: 'mask'"},
    {"allow-activation-leak = no", "allowed by yes"},
    {USUAL "top = 3", "policy: returns = top and top = K belong together"},
    {CLIENT_LINE BUDGET WAY "returns = top", "returns = top and top = K"},
    {USUAL "epsilon = 1", "noisy-scores, epsilon and sensitivity"},
    {USUAL "epsilon = 1\nsensitivity = 1", "noisy-scores, epsilon and sensitivity"},
    {CLIENT_LINE BUDGET WAY "returns = noisy-scores\nepsilon = 1", "neither number has a default"},
    {CLIENT_LINE BUDGET WAY "returns = noisy-scores", "neither number has a default"},
    {CLIENT_LINE BUDGET "returns = label\nprotocols = hm3\nmodes = permute",
     "clients can learn the weights of the model"},
    {USUAL "allow-activation-leak = yes", "leave the line out"},
    {USUAL "\x01", "policy:7: a control character"},
};

static void each_fault_is_told_with_its_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        dpi_policy p;
        dp_error err = {0};
        assert_fails(parse(faults[i].text, &p, &err), DP_EDATA, &err, faults[i].why);
        assert_null(p.clients.list);
        assert_int_equal(p.protocols | p.modes, 0);
    }
}

static void a_decimal_comma_elsewhere_changes_nothing(void **state)
{
    (void)state;
    static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (int i = 0; i < 3; i++)
        if (setlocale(LC_ALL, locales[i]) != NULL)
            break;
    dpi_policy p;
    dp_error err = {0};
    dp_status status =
        parse(CLIENT_LINE BUDGET WAY "returns = noisy-scores\nepsilon = 0.5\nsensitivity = 1.5", &p,
              &err);
    (void)setlocale(LC_ALL, "C");
    assert_ok(status, err.text);
    assert_close(p.epsilon, 0.5, 0, 0);
    assert_close(p.sensitivity, 1.5, 0, 0);
    dpi_policy_free(&p);
}

static void only_what_is_said_is_allowed(void **state)
{
    (void)state;
    dpi_policy p;
    dp_error err = {0};
    assert_ok(parse(USUAL, &p, &err), err.text);
    unsigned char who[DPI_FINGERPRINT];
    memcpy(who, p.clients.list[0].fingerprint, sizeof who);
    for (int protocol = 0; protocol <= DPI_N_PROTOCOLS; protocol++)
        for (int mode = 0; mode <= DPI_N_MODES; mode++) {
            bool said = protocol == DPI_PROTOCOL_HE2_LATTICE && mode == DPI_MODE_LINEAR;
            assert_int_equal(dpi_policy_check(&p, who, (dpi_protocol)protocol, (dpi_mode)mode),
                             said ? DPI_REFUSED_NOTHING : DPI_REFUSED_MODE);
        }
    who[5] ^= 1;
    assert_int_equal(dpi_policy_check(&p, who, DPI_PROTOCOL_HE2_LATTICE, DPI_MODE_LINEAR),
                     DPI_REFUSED_CLIENT);
    assert_string_equal(dpi_protocol_name(DPI_PROTOCOL_HE2_LATTICE), "he2-lattice");
    assert_string_equal(dpi_mode_name(DPI_MODE_SHARED), "shared");
    assert_string_equal(dpi_mode_name(DPI_N_MODES), "?");
    assert_string_equal(dpi_protocol_name(DPI_N_PROTOCOLS), "?");
    dpi_policy_free(&p);
}

/* The first block of code in doc/policy.md. */
static void the_example_of_the_manual_is_one(void **state)
{
    (void)state;
    const char *top = getenv("top_srcdir");
    char path[1000], text[10000];
    (void)snprintf(path, sizeof path, "%s/doc/policy.md", top != NULL ? top : ".");
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    assert_int_equal(fclose(f), 0);
    char *begin = strstr(text, "```\n");
    assert_non_null(begin);
    char *end = strstr(begin + 4, "```");
    assert_non_null(end);
    *end = 0;
    dpi_policy p;
    dp_error err = {0};
    assert_ok(parse(begin + 4, &p, &err), err.text);
    assert_int_equal(p.clients.n, 2);
    assert_string_equal(p.clients.list[0].name, "Anna at the hospital");
    assert_int_equal(p.queries, 1000);
    assert_int_equal(p.returns, DPI_RETURN_SCORES);
    dpi_policy_free(&p);
}

static void a_file_is_read_that_others_cannot_write(void **state)
{
    wire_pair *p = *state;
    dpi_policy policy;
    dp_error err = {0};
    FILE *f = fopen(pair_path(p, "policy"), "w");
    assert_non_null(f);
    assert_true(fputs(USUAL, f) >= 0);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(pair_path(p, "policy"), 0644), 0);
    assert_ok(dpi_policy_load(pair_path(p, "policy"), &policy, &err), err.text);
    assert_string_equal(policy.clients.list[0].name, "Anna");
    dpi_policy_free(&policy);
    assert_int_equal(chmod(pair_path(p, "policy"), 0646), 0);
    assert_fails(dpi_policy_load(pair_path(p, "policy"), &policy, &err), DP_EPRIVACY, &err,
                 "others may write");
    assert_int_equal(chmod(pair_path(p, "policy"), 0644), 0);
    if (geteuid() == 0) { /* who else could give a file away */
        assert_int_equal(chown(pair_path(p, "policy"), 12345, (gid_t)-1), 0);
        assert_fails(dpi_policy_load(pair_path(p, "policy"), &policy, &err), DP_EPRIVACY, &err,
                     "another user");
    }
    assert_fails(dpi_policy_load("/dev/full", &policy, &err), DP_EIO, &err, "no regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_keys_are_read),
        cmocka_unit_test(each_fault_is_told_with_its_line),
        cmocka_unit_test(a_decimal_comma_elsewhere_changes_nothing),
        cmocka_unit_test(only_what_is_said_is_allowed),
        cmocka_unit_test(the_example_of_the_manual_is_one),
        cmocka_unit_test_setup_teardown(a_file_is_read_that_others_cannot_write, pair_make,
                                        pair_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
