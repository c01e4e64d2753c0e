/* Programs, rules and what parties run of them, as text. */
#include <string.h>

#include "silo/check.h"
#include "silo/joint.h"
#include "silo/print.h"
#include "silo/split.h"
#include "tests/lib/check.h"

static const dp_opening openings[] = {{"scales", 1, 12, 40, false}, {"main", 16, 52, 20, false}};

static dpi_silo_parties two(void)
{
    return (dpi_silo_parties){
        .n = 2, .names = {"north", "south"}, .colluders = 1, .most_records = 1000};
}

static void begin(dpi_silo_program *p)
{
    dpi_silo_parties who = two();
    dpi_silo_program_begin(p, &who);
}

static const char *const secagg[] = {
    "every step",
    "  q : state@*",
    "  x : f64[?]@0, of records",
    "  v : i64[?,n]@0 = inquire q x",
    "  S : i64[n]@+ = s_sum v",
    "  N : i64[n]@+ = s_gauss S",
    "  h : i64[n]@* = s_reveal N",
    "  q' : state@* = advance q h",
    "  then q is q'",
    "north runs",
    "  v = inquire q x",
    "  S = isum v",
    "  N = dgauss S",
    "  h.m = mask N",
    "  h.m from south",
    "  h.u = roster h.m",
    "  send h.u to south",
    "  h.c = consent h.u",
    "  send h.c to south",
    "  h.c from south",
    "  h.k = unlock h.u h.c",
    "  h.k from south",
    "  h.s = addall h.m h.u h.k",
    "  send h.s to south",
    "  h = open h.s",
    "  q' = advance q h",
    "south runs",
    "  v = inquire q x",
    "  S = isum v",
    "  N = dgauss S",
    "  h.m = mask N",
    "  send h.m to north",
    "  h.u from north",
    "  h.c = consent h.u",
    "  send h.c to north",
    "  h.c from north",
    "  h.k = unlock h.u h.c",
    "  send h.k to north",
    "  h.s from north",
    "  h = open h.s",
    "  q' = advance q h",
    "seen of others",
    "  north sees h.s, of records of north, south: with noise of all",
    "  south sees h.s, of records of north, south: with noise of all",
    "sent in all, before sealing",
    /* 17 openings: h.u 8, h.c 64, h.s 8 n + 8; and h.m 8 n + 8, h.c 64, h.k 64 */
    "  north sends 51 letters of 8112 bytes together",
    "  south sends 51 letters of 9064 bytes together",
};

static const char *const fedsgd_end[] = {
    "seen of others",
    "  north sees h.m, of records of north, south: NO NOISE: what an owner's records add up to, "
    "without "
    "noise",
    "  north sees h.s, of records of north, south: NO NOISE: what all records add up to, without "
    "noise; less one's own, what all others' do",
    "  south sees h.s, of records of north, south: NO NOISE: what all records add up to, without "
    "noise; less one's own, what all others' do",
};

static const char *const means[] = {
    "every step",
    "  q : state@*",
    "  x : f64[?]@0, of records",
    "  W : i64[n]@+ = s_walk q x",
    "  h : i64[n]@* = s_reveal W",
    "  q' : state@* = advance q h",
    "  then q is q'",
    "north runs",
    "  W = walk q x",
    "  h.m = plain W",
    "  h.m from south",
    "  h.s = addplain h.m",
    "  send h.s to south",
    "  h = open h.s",
    "  q' = advance q h",
    "south runs",
    "  W = walk q x",
    "  h.m = plain W",
    "  send h.m to north",
    "  h.s from north",
    "  h = open h.s",
    "  q' = advance q h",
    "seen of others",
    "  north sees h.m, of records of north, south: NO NOISE: how many records an owner has, "
    "and, times that, its parameters after steps on them alone and moments of their gradients",
    "  north sees h.s, of records of north, south: NO NOISE: how many records there are, and the "
    "mean of all owners' parameters and moments of gradients; less one's own, of all others'",
    "  south sees h.s, of records of north, south: NO NOISE: how many records there are, and the "
    "mean of all owners' parameters and moments of gradients; less one's own, of all others'",
};

static const char *const key_end[] = {
    "south runs",
    "  v = inquire q x",
    "  S = isum v",
    "  once: h.b = keypart",
    "  once: send h.b to west",
    "  once: h.b from west",
    "  h.h = sealed S h.b",
    "  h.c = cover S h.h",
    "  send h.h to west",
    "  h.h from west",
    "  send h.c to north",
    "  h.g = agree h.h",
    "  send h.g to west",
    "  h.g from west",
    "  h.d = partial h.h h.g",
    "  send h.d to north",
    "  h.s from north",
    "  h = open h.s",
    "  q' = advance q h",
};

static const char *const key_seen[] = {
    "seen of others",
    "  north sees h.s, of records of north, south, west: NO NOISE: what all records add up to, "
    "without noise; less one's own, what all others' do",
    "  south sees h.s, of records of north, south, west: NO NOISE: what all records add up to, "
    "without noise; less one's own, what all others' do",
    "  west sees h.s, of records of north, south, west: NO NOISE: what all records add up to, "
    "without noise; less one's own, what all others' do",
    "sent in all, before sealing",
    /* 17 openings of 12 and 52 numbers: h.s 8 n + 8 to two; and once 192544, h.h 192512, h.c and
     * h.d 9 n + 9, h.g 32 */
    "  north sends 34 letters of 13776 bytes together",
    "  south sends 69 letters of 3481290 bytes together",
    "  west sends 69 letters of 3481290 bytes together",
};

/* The text of a fit's program under a scheme; the caller frees it. */
static dpi_bytes text_of(const char *name, dpi_silo_parties who)
{
    const dpi_silo_scheme *scheme = dpi_silo_scheme_named(name);
    dpi_silo_program p;
    dpi_silo_part parts[DPI_SILO_PARTIES];
    dpi_arena arena = {NULL};
    dpi_bytes text = {NULL, 0, 0, false};
    dpi_silo_view *views;
    size_t n;
    dp_error err = {0};
    assert_ok(dpi_silo_joint(&p, &who, dpi_silo_joint_kind(scheme), 1e-5, 2, openings, &err),
              err.text);
    assert_ok(dpi_silo_split(&p, scheme, &arena, parts, &err), err.text);
    assert_ok(dpi_silo_check(&p, scheme, parts, &arena, &n, &views, &err), err.text);
    dpi_silo_print(&p, parts, n, views, &text);
    dpi_bytes_add(&text, "", 1);
    assert_false(text.failed);
    dpi_arena_free(&arena);
    return text;
}

static void assert_lines(const char *text, const char *const *lines, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        size_t length = strcspn(text, "\n");
        if (strlen(lines[k]) != length || strncmp(lines[k], text, length) != 0)
            fail_msg("line %zu is \"%.*s\", and not \"%s\"", k + 1, (int)length, text, lines[k]);
        text += length + 1;
    }
}

static void texts_are_as_they_were(void **state)
{
    (void)state;
    dpi_silo_parties three = two();
    three.n = 3;
    memcpy(three.names[2], "west", sizeof "west");
    dpi_bytes one = text_of("secagg+dp", two()), other = text_of("fedsgd", two()),
              key = text_of("fedsgd+he", three), mean = text_of("fedavg", two());
    assert_lines((const char *)mean.at, means, sizeof means / sizeof *means);
    assert_lines((const char *)one.at, secagg, sizeof secagg / sizeof *secagg);
    const char *seen = strstr((const char *)other.at, "seen of others");
    assert_non_null(seen);
    assert_lines(seen, fedsgd_end, sizeof fedsgd_end / sizeof *fedsgd_end);
    const char *south = strstr((const char *)key.at, "south runs");
    assert_non_null(south);
    assert_lines(south, key_end, sizeof key_end / sizeof *key_end);
    seen = strstr((const char *)key.at, "seen of others");
    assert_non_null(seen);
    assert_lines(seen, key_seen, sizeof key_seen / sizeof *key_seen);
    dpi_bytes_free(&mean);
    dpi_bytes_free(&key);
    dpi_bytes_free(&one);
    dpi_bytes_free(&other);
}

/* ---- what types refuse ---- */

static const dpi_silo_type rows = {
    .dtype = DPI_SILO_F64, .n_dims = 1, .dims = {DPI_SILO_UNTOLD}, .place = {DPI_SILO_BY_ROWS, 0}};
static const dpi_silo_type everywhere = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_SAME, 0}};

static void assert_refused(const dpi_silo_program *p, dp_status status, const char *part)
{
    dp_error err = {0};
    assert_int_equal(dpi_silo_program_end(p, &err), status);
    if (strstr(err.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void places_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    dpi_silo_program p;
    begin(&p);
    uint16_t q = dpi_silo_input(&p, "q", everywhere, false),
             x = dpi_silo_input(&p, "x", rows, true);
    uint16_t sum = dpi_silo_call(&p, "S", DPI_SILO_OP_SUM,
                                 dpi_silo_call(&p, "v", DPI_SILO_OP_INQUIRE, q, x), 0);
    dpi_silo_program unopened = p, early = p, opened = p, again = p, later = p;
    (void)dpi_silo_call(&unopened, "t", DPI_SILO_OP_ADVANCE, q, sum);
    assert_refused(&unopened, DP_ESHAPE, "t = advance q S, of places *, +: this is no sum");
    (void)dpi_silo_call(&early, "N", DPI_SILO_OP_GAUSS, x, 0);
    assert_refused(&early, DP_ESHAPE, "noise is added to a sum (+)");
    (void)dpi_silo_call(&opened, "h", DPI_SILO_OP_REVEAL, x, 0);
    assert_refused(&opened, DP_ESHAPE, "a sum (+) is opened, and nothing else");
    (void)dpi_silo_call(&again, "v", DPI_SILO_OP_SUM, x, 0);
    assert_refused(&again, DP_ENAME, "a value cannot be called \"v\"");
    (void)dpi_silo_call(&later, "w", DPI_SILO_OP_SUM, 99, 0);
    assert_refused(&later, DP_ENAME, "is no value before it");
    dpi_silo_program twice = p, nowhere = p;
    (void)dpi_silo_call(&twice, "W", DPI_SILO_OP_WALK, sum, x);
    assert_refused(&twice, DP_ESHAPE, "W = walk S x, of places +, 0: owners take steps from what");
    (void)dpi_silo_call(&nowhere, "W", DPI_SILO_OP_WALK, q, q);
    assert_refused(&nowhere, DP_ESHAPE, "on records that are split (0)");
    dpi_silo_carried(&p, q, sum);
    assert_refused(&p, DP_ESHAPE, "S is to be q in the next step");
}

static void an_effect_of_one_owner_does_not_meet_records_of_others(void **state)
{
    (void)state;
    dpi_silo_program p;
    dpi_silo_type at_south = {.dtype = DPI_SILO_STATE, .place = {DPI_SILO_AT, 1}};
    begin(&p);
    uint16_t b = dpi_silo_input(&p, "b", at_south, false), x = dpi_silo_input(&p, "x", rows, true);
    (void)dpi_silo_call(&p, "v", DPI_SILO_OP_INQUIRE, b, x);
    assert_refused(&p, DP_ESHAPE, "v = inquire b x, of places south, 0: these are at different");
}

static void parties_leave_somebody(void **state)
{
    (void)state;
    dpi_silo_program p;
    dpi_silo_parties who = two();
    who.colluders = 1;
    who.dropouts = 1;
    dpi_silo_program_begin(&p, &who);
    assert_refused(&p, DP_EPRIVACY, "no share of the noise is left");
}

/* ---- rules ---- */

static void assert_unread(const char *steps, const char *part)
{
    const dpi_silo_rule rule = {"reveal", "+", steps};
    dpi_silo_statement list[DPI_SILO_STATEMENTS];
    dp_error err = {0};
    size_t n;
    assert_int_equal(dpi_silo_rule_read(&rule, &n, list, &err), DP_EINVAL);
    if (strstr(err.text, part) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void rules_that_cannot_be_read_are_refused(void **state)
{
    (void)state;
    assert_unread("o = open s", "it must begin with who does it");
    assert_unread("some: o = open s", "nobody is called so");
    assert_unread("each:", "nothing is done");
    assert_unread("each: o = burn s", "there is no such step");
    assert_unread("each: o = open s t", "another number of arguments");
    assert_unread("each: send m", "what is sent, and to whom");
    assert_unread("each: send m all", "sent to nobody");
    assert_unread("each: O = open s", "NAME = STEP NAME");
    assert_unread("each: o = open S", "small letters");
    assert_unread("each: o = open abcdefghijkl", "small letters");
    assert_unread("each: o = open abcdefghijklmno", "too long ones");
    assert_unread("each: a = plain b; each: a = plain b; each: a = plain b; each: a = plain b;"
                  "each: a = plain b; each: a = plain b; each: a = plain b; each: a = plain b;"
                  "each: a = plain b; each: a = plain b; each: a = plain b; each: a = plain b;"
                  "each: a = plain b; each: a = plain b; each: a = plain b; each: a = plain b;"
                  "each: a = plain b",
                  "the rule is too long");
}

/* Rules of any letters are read or refused, and what is split of them never passes unlooked at. */
static void rules_of_any_letters_do_no_harm(void **state)
{
    static const char letters[] = "each: agg; send? send mask open s m x0 o = plain k u addall c ";
    uint64_t seed = 7;
    (void)state;
    for (int run = 0; run < 20000; run++) {
        char text[64];
        dpi_silo_statement list[DPI_SILO_STATEMENTS];
        size_t n, length = 1 + (size_t)(run % 60);
        for (size_t k = 0; k < length; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[k] = letters[(seed >> 33) % (sizeof letters - 1)];
        }
        text[length] = '\0';
        const dpi_silo_rule rule = {"reveal", "+", text};
        dp_error err = {0};
        dp_status status = dpi_silo_rule_read(&rule, &n, list, &err);
        assert_true(status == DP_OK || (status == DP_EINVAL && err.text[0] != '\0'));
        assert_true(n <= DPI_SILO_STATEMENTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_as_they_were),
        cmocka_unit_test(places_that_do_not_fit_are_refused),
        cmocka_unit_test(an_effect_of_one_owner_does_not_meet_records_of_others),
        cmocka_unit_test(parties_leave_somebody),
        cmocka_unit_test(rules_that_cannot_be_read_are_refused),
        cmocka_unit_test(rules_of_any_letters_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
