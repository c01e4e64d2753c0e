/* Who may not ask or share, and what does not fit together, is refused with the reason; the next
 * session works. */
#include <stdlib.h>
#include <string.h>

#include "serve/party-parts.h"
#include "tests/lib/pause.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

enum { PARTIES = 3, LONG = 20000 };

static void begin(daemons *d, const daemons_opts *o)
{
    dp_error err = {0};
    if (!daemons_start(d, o, &err))
        fail_msg("%s", err.text);
}

static void share(const daemons *d, const dp_program *p)
{
    dp_error err = {0};
    assert_ok(daemons_share(d, p, &err), err.text);
}

static dp_status try_open(const dp_ask_parties_opts *o, dp_error *err)
{
    dp_ask *ask;
    dp_status status = dp_ask_parties_new(o, &ask, err);
    assert_true((status == DP_OK) == (ask != NULL));
    dp_ask_free(ask);
    return status;
}

static dp_ask_parties_opts opts_of(const daemons *d)
{
    return (dp_ask_parties_opts){.identity = d->client, .parties = d->parties, .timeout_ms = LONG};
}

static void works(const daemons *d)
{
    const dp_ask_parties_opts o = opts_of(d);
    const double timeout = d->opts.timeout_ms > 0 ? d->opts.timeout_ms : LONG;
    dp_error err;
    dp_status status;
    double begun;
    int tries = 0;
    do {
        err = (dp_error){0};
        begun = clock_now();
        status = try_open(&o, &err);
    } while (status != DP_OK && stood_still(begun, timeout, &tries));
    assert_ok(status, err.text);
}

/* ---- clients ---- */

static void clients_are_refused_with_the_reason(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES});
    const unsigned char other[DP_PROGRAM_HASH] = {7};
    dp_ask_parties_opts o = opts_of(&d);
    dp_error err = {0};
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "no model has been shared");
    share(&d, p);
    o.hash = other;
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "another program");
    o = opts_of(&d);
    o.identity = d.stranger;
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "");
    o.identity = NULL;
    assert_fails(try_open(&o, &err), DP_EINVAL, &err, "an identity");
    works(&d);
    daemons_stop(&d);
    dp_program_free(p);
}

static void another_list_is_refused(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d, other;
    begin(&d, &(daemons_opts){.n = PARTIES});
    other = d;
    const int own[DAEMONS] = {0};
    dp_error err = {0};
    share(&d, p);
    other.provider = d.stranger;
    dp_parties *list = daemons_list(&other, own, &err);
    assert_non_null(list);
    dp_ask_parties_opts o = opts_of(&d);
    o.parties = list;
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "another list");
    daemons_end(&d, 2); /* a party that has another one */
    assert_true(daemons_run(&d, 2, list, &err));
    o = opts_of(&d);
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "party 2");
    daemons_end(&d, 2);
    assert_true(daemons_run(&d, 2, NULL, &err));
    assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "no model");
    share(&d, p);
    works(&d);
    dp_parties_free(list);
    daemons_stop(&d);
    dp_program_free(p);
}

static void another_certificate_is_refused(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d, other;
    begin(&d, &(daemons_opts){.n = PARTIES});
    other = d;
    const int own[DAEMONS] = {0};
    dp_error err = {0};
    share(&d, p);
    other.own[1] = d.stranger; /* is expected where party 1 is */
    dp_parties *list = daemons_list(&other, own, &err);
    dp_ask_parties_opts o = opts_of(&d);
    o.parties = list;
    assert_fails(try_open(&o, &err), DP_EPEER, &err, "party 1: the other side is not who");
    works(&d);
    dp_parties_free(list);
    daemons_stop(&d);
    dp_program_free(p);
}

static void a_budget_that_one_party_ends_is_told(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES});
    double x[6 * 150] = {0};
    int64_t y[6 * 2];
    size_t answered;
    dp_ask *ask;
    dp_error err = {0};
    daemons_end(&d, 1);
    assert_true(daemons_policy(&d, 1, 5, NULL));
    assert_true(daemons_run(&d, 1, NULL, &err));
    share(&d, p);
    const dp_ask_parties_opts o = {
        .identity = d.client, .parties = d.parties, .records = 3, .timeout_ms = LONG};
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_fails(dp_ask_many(ask, 6, x, y, &answered, &err), DP_EREFUSED, &err, "used up");
    assert_int_equal(answered, 3);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_ok(dp_ask_many(ask, 2, x, y, &answered, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    daemons_stop(&d);
    dp_program_free(p);
}

/* More than connections hold is then on its way to the party that refuses. */
static void a_refusal_is_heard_beside_many_records(void **state)
{
    enum { MANY = 16384 };
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES, .records = MANY});
    double *x = calloc((size_t)MANY * 150, sizeof *x);
    int64_t *y = calloc((size_t)MANY * 2, sizeof *y);
    size_t answered;
    dp_ask *ask;
    dp_error err = {0};
    assert_true(x != NULL && y != NULL);
    daemons_end(&d, 1);
    assert_true(daemons_policy(&d, 1, 5, NULL));
    assert_true(daemons_run(&d, 1, NULL, &err));
    share(&d, p);
    const dp_ask_parties_opts o = {
        .identity = d.client, .parties = d.parties, .records = MANY, .timeout_ms = LONG};
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    assert_fails(dp_ask_many(ask, MANY, x, y, &answered, &err), DP_EREFUSED, &err, "used up");
    assert_int_equal(answered, 0);
    dp_ask_free(ask);
    daemons_stop(&d);
    free(x);
    free(y);
    dp_program_free(p);
}

static void records_beyond_the_bounds_cost_nothing(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES, .queries = 2});
    double x[4 * 150] = {0};
    int64_t y[4 * 2];
    size_t answered;
    dp_ask *ask;
    dp_error err = {0};
    share(&d, p);
    const dp_ask_parties_opts o = {
        .identity = d.client, .parties = d.parties, .records = 2, .timeout_ms = LONG};
    assert_ok(dp_ask_parties_new(&o, &ask, &err), err.text);
    x[3 * 150] = 2;
    assert_fails(dp_ask_many(ask, 4, x, y, &answered, &err), DP_EDOMAIN, &err, "");
    assert_int_equal(answered, 0);
    assert_fails(dp_ask_query(ask, x + 450, y, &err), DP_EDOMAIN, &err, "");
    assert_ok(dp_ask_many(ask, 2, x, y, &answered, &err), err.text);
    dp_ask_free(ask);
    daemons_stop(&d);
    dp_program_free(p);
}

/* ---- hellos ---- */

static dpi_wire_session *connected(const daemons *d, const dp_identity *who, size_t i)
{
    dpi_wire_session *wire;
    dp_error err = {0};
    assert_ok(dpi_parties_connect(d->parties, i, who, LONG, &wire, &err), err.text);
    return wire;
}

/* What a party says to it; the session, still open where it offers. */
static dpi_wire_session *says(const daemons *d, const dp_identity *who, const dpi_party_hello *h,
                              dp_status status, const char *why)
{
    unsigned char offer[DPI_PARTY_OFFER_BYTES];
    dpi_wire_session *wire = connected(d, who, 1);
    assert_ok(dpi_party_send_hello(wire, h, LONG), "");
    assert_int_equal(dpi_wire_receive(wire, DPI_PARTY_OFFER, 0, offer, sizeof offer, LONG), status);
    if (status != DP_OK)
        assert_contains(dpi_wire_error(wire)->text, why);
    return wire;
}

static void hellos_are_checked(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES});
    const dpi_party_hello good = dpi_party_hello_of(d.parties, DPI_PURPOSE_ASK);
    dpi_party_hello h = good;
    share(&d, p);
    h.version++;
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "another version"));
    h = good;
    h.parties[31] ^= 1;
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "another list"));
    h = good;
    h.protocol = DPI_PROTOCOL_HM4;
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "does not allow"));
    h = good;
    h.probabilistic = 2;
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "does not allow"));
    h = good;
    h.purpose = DPI_PURPOSE_SHARE; /* not by a client */
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "does not know"));
    h.purpose = DPI_PURPOSE_JOIN;
    dpi_wire_close(says(&d, d.client, &h, DP_EPEER, ""));
    h.purpose = DPI_PURPOSE_ASK; /* not by a fellow, nor by the provider, whom no policy names */
    dpi_wire_close(says(&d, d.own[0], &h, DP_EPEER, ""));
    dpi_wire_close(says(&d, d.provider, &h, DP_EREFUSED, "does not know"));
    h = good;
    h.token[0] = 1; /* the provider's session may not have ended yet, nor let go of its token */
    dpi_wire_session *first = says(&d, d.client, &h, DP_OK, "");
    dpi_wire_close(says(&d, d.client, &h, DP_EREFUSED, "token already"));
    dpi_wire_close(first);
    works(&d);
    daemons_stop(&d);
    dp_program_free(p);
}

/* ---- hellos between parties ---- */

/* What a party says to those before it when it joins is changed at a byte of dpi_party_hello. */
static atomic_bool joins_changed;
static _Atomic size_t changed_at;

dp_status __real_dpi_party_send_hello(dpi_wire_session *wire, const dpi_party_hello *h,
                                      uint32_t within);
dp_status __wrap_dpi_party_send_hello(dpi_wire_session *wire, const dpi_party_hello *h,
                                      uint32_t within);
dp_status __wrap_dpi_party_send_hello(dpi_wire_session *wire, const dpi_party_hello *h,
                                      uint32_t within)
{
    dpi_party_hello own = *h;
    if (h->purpose == DPI_PURPOSE_JOIN && joins_changed)
        ((unsigned char *)&own)[changed_at] ^= 1;
    return __real_dpi_party_send_hello(wire, &own, within);
}

/* They refuse for that reason, also where they have told of another because the machine stood
 * still. */
static void does_not_join(const daemons *d, const char *why)
{
    const dp_ask_parties_opts o = opts_of(d);
    dp_error err;
    dp_status status;
    double begun;
    int tries = 0;
    joins_changed = true;
    do {
        err = (dp_error){0};
        begun = clock_now();
        status = try_open(&o, &err);
    } while ((status != DP_EREFUSED || strstr(err.text, why) == NULL) &&
             stood_still(begun, 2 * d->opts.timeout_ms, &tries));
    joins_changed = false;
    assert_fails(status, DP_EREFUSED, &err, why);
}

/* For another lane or token nobody waits. */
static void parties_that_do_not_say_the_same_do_not_join(void **state)
{
    static const struct {
        size_t at;
        const char *why;
    } changes[] = {{offsetof(dpi_party_hello, version), "another version"},
                   {offsetof(dpi_party_hello, protocol), "another list"},
                   {offsetof(dpi_party_hello, lane), "party"},
                   {offsetof(dpi_party_hello, lanes), "so many records"},
                   {offsetof(dpi_party_hello, records), "so many records"},
                   {offsetof(dpi_party_hello, token) + 3, "party"},
                   {offsetof(dpi_party_hello, share) + 3, "same model"},
                   {offsetof(dpi_party_hello, client) + 5, "token"},
                   {offsetof(dpi_party_hello, hash) + 5, "same model"},
                   {offsetof(dpi_party_hello, view) + 5, "same model"},
                   {offsetof(dpi_party_hello, parties) + 31, "another list"}};
    (void)state;
    dp_program *p = wide(2);
    daemons d;
    begin(&d, &(daemons_opts){.n = PARTIES, .timeout_ms = 1000});
    share(&d, p);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        changed_at = changes[i].at;
        does_not_join(&d, changes[i].why);
        works(&d);
    }
    daemons_stop(&d);
    dp_program_free(p);
}

/* ---- providers ---- */

static void providers_are_refused_with_the_reason(void **state)
{
    (void)state;
    dp_program *p = wide(2), *labels = regression();
    daemons d, other;
    begin(&d, &(daemons_opts){.n = PARTIES, .returns = "label"});
    other = d;
    const int own[DAEMONS] = {0};
    dp_error err = {0};
    assert_fails(daemons_share(&d, p, &err), DP_EREFUSED, &err, "labels alone");
    share(&d, labels);
    works(&d);
    other.provider = d.client;
    assert_fails(daemons_share(&other, labels, &err), DP_EINVAL, &err, "another provider");
    other.parties = daemons_list(&other, own, &err);
    assert_fails(daemons_share(&other, labels, &err), DP_EREFUSED, &err, "another list");
    dp_parties_free(other.parties);
    works(&d);
    daemons_stop(&d);
    dp_program_free(p);
    dp_program_free(labels);
}

/* A party, or its provider, changes a component. */
static void parties_that_were_given_different_models_refuse(void **state)
{
    (void)state;
    dp_program *p = wide(2);
    for (size_t n = 3; n <= 4; n++) {
        daemons d;
        begin(&d, &(daemons_opts){.n = n});
        dp_ask_parties_opts o = opts_of(&d);
        dp_error err = {0};
        share(&d, p);
        d.party[1]->model->digest[0][5] ^= 1;
        assert_fails(try_open(&o, &err), DP_EREFUSED, &err, "the same model");
        d.party[1]->model->digest[0][5] ^= 1;
        works(&d);
        d.party[2]->model->share[0] ^= 1;
        assert_fails(try_open(&o, &err), DP_EPEER, &err, "have other models");
        share(&d, p);
        works(&d);
        daemons_stop(&d);
    }
    dp_program_free(p);
}

/* ---- parties ---- */

static dp_status try_party(const daemons *d, size_t i, const dp_identity *who, dp_error *err)
{
    char policy[DAEMONS_PATH], log[DAEMONS_PATH];
    dp_party *party;
    daemons_path(d, i, "policy", policy);
    daemons_path(d, i, "log", log);
    const dp_party_opts o = {.parties = d->parties,
                             .id = i,
                             .identity = who,
                             .policy = policy,
                             .log = log,
                             .host = "127.0.0.1",
                             .port = "0"};
    dp_status status = dp_party_new(&o, &party, err);
    dp_party_free(party);
    return status;
}

static void parties_that_cannot_be_are_refused(void **state)
{
    (void)state;
    daemons d, other;
    begin(&d, &(daemons_opts){.n = PARTIES});
    other = d;
    dp_error err = {0};
    assert_ok(try_party(&d, 0, d.own[0], &err), err.text);
    assert_fails(try_party(&d, 0, d.own[1], &err), DP_EINVAL, &err, "another fingerprint");
    assert_fails(try_party(&d, 3, d.own[0], &err), DP_EINVAL, &err,
                 "parties 0 to 2, and no party 3");
    assert_true(daemons_policy(&d, 0, 5, "top\ntop = 3"));
    assert_fails(try_party(&d, 0, d.own[0], &err), DP_EUNSUPPORTED, &err, "sorted out");
    other.opts.n = 4;
    assert_true(daemons_policy(&other, 0, 5, NULL));
    assert_fails(try_party(&d, 0, d.own[0], &err), DP_EPRIVACY, &err, "protocol hm3");
    other = d;
    other.client = d.own[2];
    assert_true(daemons_policy(&other, 0, 5, NULL));
    assert_fails(try_party(&d, 0, d.own[0], &err), DP_EPRIVACY, &err, "is a party");
    daemons_stop(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_are_refused_with_the_reason),
        cmocka_unit_test(another_list_is_refused),
        cmocka_unit_test(another_certificate_is_refused),
        cmocka_unit_test(a_budget_that_one_party_ends_is_told),
        cmocka_unit_test(a_refusal_is_heard_beside_many_records),
        cmocka_unit_test(records_beyond_the_bounds_cost_nothing),
        cmocka_unit_test(hellos_are_checked),
        cmocka_unit_test(parties_that_do_not_say_the_same_do_not_join),
        cmocka_unit_test(providers_are_refused_with_the_reason),
        cmocka_unit_test(parties_that_were_given_different_models_refuse),
        cmocka_unit_test(parties_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
