/* Models whose shifts round by chance: who consents has answers near the oracle's, and nobody is
 * given such an answer unasked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "serve/party-parts.h"
#include "share/run.h"
#include "tests/serve/daemons.h"
#include "tests/serve/scene.h"

enum { RECORDS = 64, SIDE = 20, OUT = 5 };

/* Two layers of 20 with relu, and 5 scores. */
static dp_program *layers(void)
{
    double w[SIDE * SIDE], v[SIDE * SIDE], u[SIDE * OUT], b[SIDE];
    uint64_t numbers = 77;
    fill(&numbers, SIDE * SIDE, w);
    fill(&numbers, SIDE * SIDE, v);
    fill(&numbers, SIDE * OUT, u);
    fill(&numbers, SIDE, b);
    dp_program *p = dp_program_new();
    int h = dp_program_input(p, SIDE, "x", -1, 1);
    h = dp_program_relu(p, dp_program_dense(p, h, SIDE, w, b));
    h = dp_program_relu(p, dp_program_dense(p, h, SIDE, v, b));
    (void)dp_program_dense(p, h, OUT, u, NULL);
    const dp_scale_opts scales = {.weight_bits = 14};
    dp_error err = {0};
    assert_ok(dp_program_fix(p, &scales, &err), err.text);
    return p;
}

static void begin(daemons *d, const daemons_opts *o, const dp_program *p)
{
    dp_error err = {0};
    if (!daemons_start(d, o, &err))
        fail_msg("%s", err.text);
    assert_ok(daemons_share(d, p, &err), err.text);
}

static dp_ask_parties_opts opts_of(const daemons *d, size_t lanes)
{
    return (dp_ask_parties_opts){.identity = d->client,
                                 .parties = d->parties,
                                 .records = RECORDS / 2,
                                 .lanes = lanes,
                                 .flags = DP_ALLOW_PROBABILISTIC};
}

/* Records with a number that is off by more than `most`, and in *other those with any that is. */
static size_t ask(const daemons *d, const dp_program *p, size_t lanes, double most, size_t *other)
{
    static double x[RECORDS * SIDE];
    static int64_t v[RECORDS * SIDE], y[RECORDS * OUT], exact[RECORDS * OUT];
    uint64_t numbers = 4;
    size_t answered, wrong = 0;
    dp_error err = {0};
    dp_ask *asked;
    const dp_ask_parties_opts o = opts_of(d, lanes);
    fill(&numbers, RECORDS * SIDE, x);
    assert_ok(dp_ask_parties_new(&o, &asked, &err), err.text);
    assert_ok(dp_ask_many(asked, RECORDS, x, y, &answered, &err), err.text);
    dp_ask_free(asked);
    assert_ok(dp_program_encode(p, RECORDS, x, v, &err), err.text);
    assert_ok(dp_program_run_exact(p, RECORDS, v, exact, &err), err.text);
    *other = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        double far = 0;
        for (size_t k = i * OUT; k < (i + 1) * OUT; k++)
            far = fmax(far, fabs((double)(y[k] - exact[k])));
        wrong += far > most;
        *other += far > 0;
    }
    return wrong;
}

/* What is said of the answer's last places. */
static double said(const dp_program *p)
{
    const dpi_share_opts o = {.probabilistic = true};
    dpi_share_plan *plan;
    double most;
    dp_error err = {0};
    assert_ok(dpi_share_plan_new(p, &o, &plan, &err), err.text);
    assert_ok(dpi_share_rounding(plan, &most, &err), err.text);
    dpi_share_plan_free(plan);
    return most;
}

/* 40 numbers of a record are shifted, each of which is wrong altogether with a probability below
 * 2^-29: three of 64 records are, in one of four runs, with one below 1e-16. */
static void answers_are_near(void **state)
{
    (void)state;
    dp_program *p = layers();
    const double most = said(p);
    assert_true(dp_program_bits(p) <= 34);
    for (size_t n = 3; n <= 4; n++) {
        daemons d;
        size_t other;
        begin(&d, &(daemons_opts){.n = n, .lanes = 3, .probabilistic = true}, p);
        for (size_t lanes = 1; lanes <= 3; lanes += 2) {
            assert_true(ask(&d, p, lanes, most, &other) <= 2);
            assert_true(other > RECORDS / 2);
        }
        daemons_stop(&d);
    }
    dp_program_free(p);
}

/* Consent to it asks for nothing. */
static void exact_models_stay_exact(void **state)
{
    (void)state;
    dp_program *p = layers();
    daemons d;
    size_t other;
    begin(&d, &(daemons_opts){.n = 4}, p);
    assert_int_equal(ask(&d, p, 1, 0, &other), 0);
    assert_int_equal(other, 0);
    daemons_stop(&d);
    dp_program_free(p);
}

static dp_status try_open(const dp_ask_parties_opts *o, dp_error *err)
{
    dp_ask *asked;
    dp_status status = dp_ask_parties_new(o, &asked, err);
    assert_true((status == DP_OK) == (asked != NULL));
    dp_ask_free(asked);
    return status;
}

static void nobody_is_asked_without_consent(void **state)
{
    (void)state;
    dp_program *p = layers();
    daemons d;
    size_t other;
    begin(&d, &(daemons_opts){.n = 3, .queries = RECORDS, .probabilistic = true}, p);
    dp_ask_parties_opts o = opts_of(&d, 1);
    dp_error err = {0};
    o.flags = 0;
    assert_fails(try_open(&o, &err), DP_EPRIVACY, &err, "--allow-probabilistic");
    (void)ask(&d, p, 1, 0, &other); /* and the whole budget is there */
    daemons_stop(&d);
    dp_program_free(p);
}

/* A provider, or a party, says one thing here and another there. */
static void parties_that_were_told_otherwise_refuse(void **state)
{
    (void)state;
    dp_program *p = layers();
    for (size_t n = 3; n <= 4; n++) {
        daemons d;
        unsigned char view[2][DPI_PARTY_DIGEST];
        begin(&d, &(daemons_opts){.n = n, .probabilistic = true}, p);
        dp_ask_parties_opts o = opts_of(&d, 1);
        dp_error err = {0};
        dpi_party_model *model = d.party[1]->model;
        dpi_party_model_view(model, 2, view[0]);
        model->probabilistic = false;
        assert_fails(try_open(&o, &err), DP_EPEER, &err, "have other models");
        dpi_party_model_view(model, 2, view[1]);
        assert_memory_not_equal(view[0], view[1], sizeof view[0]);
        model->probabilistic = true;
        assert_ok(try_open(&o, &err), err.text);
        daemons_stop(&d);
    }
    dp_program_free(p);
}

static void programs_that_gain_nothing_are_not_shared_so(void **state)
{
    (void)state;
    dp_program *p = layers(), *linear = wide(2);
    daemons d;
    dp_error err = {0};
    begin(&d, &(daemons_opts){.n = 3, .probabilistic = true}, p);
    assert_fails(daemons_share(&d, linear, &err), DP_EUNSUPPORTED, &err, "no shift");
    daemons_stop(&d);
    dp_program_free(p);
    dp_program_free(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_near),
        cmocka_unit_test(exact_models_stay_exact),
        cmocka_unit_test(nobody_is_asked_without_consent),
        cmocka_unit_test(parties_that_were_told_otherwise_refuse),
        cmocka_unit_test(programs_that_gain_nothing_are_not_shared_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
