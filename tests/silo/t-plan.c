/* Plans: one text for one plan, and nothing in it can be changed without being found. */
#define _XOPEN_SOURCE 700
#include "silo/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/comma.h"
#include "tests/silo/plans.h"

enum { ROOM = 64 * 1024 };

static plans p;
static char text[ROOM];

static int set_up(void **state)
{
    (void)state;
    plans_make(&p);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    plans_free(&p);
    return 0;
}

/* The text of a plan that those have signed. */
static size_t write_plan(unsigned signers)
{
    dp_silo_plan *plan = plans_plan(&p, signers);
    size_t n = strlen(dp_silo_plan_text(plan));
    assert_true(n > 500 && n < ROOM);
    memcpy(text, dp_silo_plan_text(plan), n + 1);
    dp_silo_plan_free(plan);
    return n;
}

static dp_status parse(const char *of, size_t n, dp_silo_plan **plan, dp_error *err)
{
    *err = (dp_error){0};
    dp_status status = dp_silo_plan_parse(of, n, "joint.plan", plan, err);
    assert_true((status == DP_OK) == (*plan != NULL));
    assert_int_equal(status, err->status);
    return status;
}

static void refuses(size_t n, dp_status expected, const char *why)
{
    dp_silo_plan *plan;
    dp_error err;
    assert_fails(parse(text, n, &plan, &err), expected, &err, why);
}

/* ---- one text ---- */

static void a_plan_is_read_as_it_was_written(void **state)
{
    unsigned char hash[2][DP_SILO_HASH];
    dp_error err = {0};
    (void)state;
    for (unsigned signers = 0; signers < 8; signers++) {
        dp_silo_plan *made = plans_plan(&p, signers), *read;
        const char *of = dp_silo_plan_text(made);
        assert_ok(parse(of, strlen(of), &read, &err), err.text);
        assert_string_equal(dp_silo_plan_text(read), of);
        dp_silo_plan_hash(made, hash[0]);
        dp_silo_plan_hash(read, hash[1]);
        assert_memory_equal(hash[0], hash[1], DP_SILO_HASH);
        for (size_t k = 0; k < PLANS_MOST; k++)
            assert_int_equal(dp_silo_plan_signed(read, k), k < 3 && (signers >> k & 1) != 0);
        dp_silo_plan_free(made);
        dp_silo_plan_free(read);
    }
}

/* Of so many numbers as a network may have. */
static void a_wide_plan_is_read_too(void **state)
{
    dp_silo_plan *read;
    dp_error err = {0};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_weights(m, "W", PLANS_X, 1 << 15, dp_init_glorot(1));
    (void)state;
    dp_observe(rows, "y",
               dp_normal_v(dp_dense(dp_data(rows, "x", PLANS_X), w, dp_param(m, "b", 1 << 15, 0)),
                           dp_num(1)));
    p.opts.model = m;
    p.opts.source = NULL;
    p.opts.rounds = p.opts.draws = 0;
    dp_silo_plan *made = plans_plan(&p, 7);
    const char *of = dp_silo_plan_text(made);
    assert_true(made->openings[made->n_openings - 1].numbers > 1 << 16);
    assert_ok(parse(of, strlen(of), &read, &err), err.text);
    assert_string_equal(dp_silo_plan_text(read), of);
    dp_silo_plan_free(read);
    dp_silo_plan_free(made);
    dp_model_free(m);
}

/* Whoever calls may have set another locale than who reads. */
static void a_decimal_comma_changes_no_text(void **state)
{
    dp_error err = {0};
    dp_silo_plan *usual, *under, *read;
    (void)state;
    p.opts.epsilon = 2.5;
    usual = plans_plan(&p, 7);
    bool has_comma = comma_set();
    if (has_comma) {
        under = plans_plan(&p, 7);
        assert_string_equal(dp_silo_plan_text(under), dp_silo_plan_text(usual));
        assert_ok(parse(dp_silo_plan_text(usual), strlen(dp_silo_plan_text(usual)), &read, &err),
                  err.text);
        assert_true(dp_silo_plan_opts(read)->epsilon == 2.5);
        dp_silo_plan_free(read);
        dp_silo_plan_free(under);
    }
    comma_end();
    dp_silo_plan_free(usual);
    if (!has_comma)
        skip();
}

static void a_plan_says_what_it_was_made_of(void **state)
{
    dp_silo_plan *read;
    unsigned char hash[DP_MODEL_HASH];
    dp_error err;
    (void)state;
    size_t n = write_plan(7);
    assert_ok(parse(text, n, &read, &err), err.text);
    const dp_silo_opts *o = dp_silo_plan_opts(read);
    dp_model_hash(p.model, hash);
    assert_memory_equal(read->model, hash, sizeof hash);
    assert_string_equal(o->name, "joint");
    assert_string_equal(o->scheme, "secagg+dp");
    assert_string_equal(o->source->formula, p.source.formula);
    assert_string_equal(o->source->family, p.source.family);
    assert_string_equal(o->source->schema, p.source.schema);
    assert_string_equal(o->source->priors, p.source.priors);
    assert_null(o->model);
    assert_int_equal(o->n_owners, 3);
    for (size_t k = 0; k < 3; k++) {
        assert_string_equal(o->owners[k].name, p.owners[k].name);
        assert_string_equal(o->owners[k].key, p.owners[k].key);
    }
    assert_true(o->epsilon == 4 && o->delta == 1e-5 && o->rounds == 2 && o->draws == 400);
    assert_true(o->colluders == 1 && o->dropouts == 0 && !o->trusting);
    assert_true(o->most_records == 1000 && o->seed == 11);
    assert_int_equal(dpi_silo_honest(o), 2);
    dp_silo_plan_free(read);
}

static void defaults_are_written_down(void **state)
{
    dp_silo_plan *plan;
    uint64_t seed = 0;
    (void)state;
    p.opts.source = NULL;
    p.opts.most_records = p.opts.seed = 0;
    for (int turn = 0; turn < 2; turn++) {
        plan = plans_plan(&p, 0);
        const dp_silo_opts *o = dp_silo_plan_opts(plan);
        assert_true(o->most_records == 1 << 20 && o->seed != 0 && o->seed != seed);
        assert_null(strstr(dp_silo_plan_text(plan), "formula"));
        assert_null(strstr(dp_silo_plan_text(plan), "schema"));
        seed = o->seed;
        dp_silo_plan_free(plan);
    }
    p.opts.trusting = true;
    plan = plans_plan(&p, 0);
    assert_int_equal(dp_silo_plan_opts(plan)->colluders, 0);
    assert_int_equal(dpi_silo_honest(dp_silo_plan_opts(plan)), 3);
    dp_silo_plan_free(plan);
    p.opts.trusting = false;
    p.opts.n_owners = 1; /* there is nobody to join */
    plan = plans_plan(&p, 0);
    assert_int_equal(dp_silo_plan_opts(plan)->colluders, 0);
    dp_silo_plan_free(plan);
}

/* The more shares somebody knows the less is hidden; the plan's epsilon is against its
 * colluders. */
static void what_is_spent_depends_on_who_looks(void **state)
{
    dp_silo_plan *plan = plans_plan(&p, 0);
    double spent[4];
    dp_error err = {0};
    (void)state;
    for (size_t known = 0; known < 4; known++)
        assert_ok(dp_silo_plan_spent(plan, known, &spent[known], &err), err.text);
    assert_true(0 < spent[0] && spent[0] < spent[1] && spent[1] < spent[2]);
    assert_close(spent[1], 4, 1e-2, 0);
    assert_true(spent[1] <= 4 * (1 + 1e-9) && spent[3] == INFINITY);
    dp_silo_plan_free(plan);
    p.opts.scheme = "fedsgd";
    p.opts.epsilon = p.opts.delta = 0;
    plan = plans_plan(&p, 0);
    assert_ok(dp_silo_plan_spent(plan, 0, spent, &err), err.text);
    assert_true(spent[0] == INFINITY);
    dp_silo_plan_free(plan);
}

/* ---- nothing can be changed ---- */

static void each_changed_byte_is_found(void **state)
{
    static const unsigned char by[] = {1, 2, 16, 32, 128};
    (void)state;
    size_t n = write_plan(7);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof by; k++) {
            dp_silo_plan *plan;
            dp_error err;
            text[i] = (char)(text[i] ^ by[k]);
            if (parse(text, n, &plan, &err) == DP_OK)
                fail_msg("byte %zu may be %d", i, text[i]);
            text[i] = (char)(text[i] ^ by[k]);
        }
    for (size_t i = 0; i < n; i++) { /* what is cut off, but for whole signatures */
        dp_silo_plan *plan;
        dp_error err;
        bool is_whole = i > 0 && text[i - 1] == '\n' && strncmp(text + i, "signed = ", 9) == 0;
        assert_true((parse(text, i, &plan, &err) == DP_OK) == is_whole);
        dp_silo_plan_free(plan);
    }
    memcpy(text + n, "\n", 2);
    refuses(n + 1, DP_EDATA, "belongs to no plan");
    text[n] = '\0';
    refuses(n + 1, DP_EDATA, "belongs to no plan");
}

/* A line is taken out, or stands twice, or changes places with the next one. */
static void each_moved_line_is_found(void **state)
{
    static char moved[ROOM];
    (void)state;
    size_t n = write_plan(7), lines = 0;
    for (size_t from = 0, to; from < n; from = to) {
        to = from + strcspn(text + from, "\n") + 1;
        size_t end = to < n ? to + strcspn(text + to, "\n") + 1 : to;
        bool is_signature = strncmp(text + from, "signed = ", 9) == 0;
        dp_silo_plan *plan;
        dp_error err;
        memcpy(moved, text, from);
        memcpy(moved + from, text + to, n - to);
        assert_true((parse(moved, n - (to - from), &plan, &err) == DP_OK) == is_signature);
        dp_silo_plan_free(plan);
        memcpy(moved, text, to);
        memcpy(moved + to, text + from, n - from);
        assert_int_not_equal(parse(moved, n + (to - from), &plan, &err), DP_OK);
        memcpy(moved, text, n);
        memcpy(moved + from, text + to, end - to);
        memcpy(moved + from + (end - to), text + from, to - from);
        if (end > to && memcmp(moved, text, n) != 0)
            assert_int_not_equal(parse(moved, n, &plan, &err), DP_OK);
        lines++;
    }
    assert_true(lines > 30);
}

/* A plan that is consistent in itself, but not what its checks say. */
static void what_no_plan_can_say_is_refused(void **state)
{
    static const char *const changes[][3] = {
        {"epsilon = 4\n", "epsilon = 3\n", "cost epsilon"},
        {"epsilon = 4\n", "epsilon = 0\n", "no budget"},
        {"epsilon = 4\n", "epsilon = 1e999\n", "not what a plan has"},
        {"epsilon = 4\n", "epsilon = nan\n", "not what a plan has"},
        {"epsilon = 4\n", "epsilon = -4\n", "not what a plan has"},
        {"delta = 1.0000000000000001e-05\n", "delta = 1\n", "no budget"},
        {"rounds = 2\n", "rounds = 2 \n", "not what a plan has"},
        {"rounds = 2\n", "rounds = -2\n", "not what a plan has"},
        {"records = 1000\n", "records = 0\n", "2^26 records"},
        {"records = 1000\n", "records = 67108865\n", "not what a plan has"},
        {"seed = 11\n", "seed = 0\n", "not what a plan has"},
        {"seed = 11\n", "seed = 18446744073709551616\n", "not what a plan has"},
        {"seed = 11\n", "seed = 011\n", "was changed"},
        {"colluders = 1\n", "colluders = 3\n", "no share of noise"},
        {"dropouts = 0\n", "dropouts = 2\n", "no share of noise"},
        {"dropouts = 0\n", "dropouts = 1\n", "must be of 3"},
        {"plan = joint\n", "plan = Joint\n", "needs a name"},
        {"scheme = secagg+dp\n", "scheme = trust\n", "no scheme trust"},
        {"scheme = secagg+dp\n", "scheme = fedsgd\n", "has no noise"},
        {"owner = west ", "owner = east ", "same name"},
        {"owner = west ", "owner = we\033st ", "not what a plan has"},
        {"owner = west ", "owner = ", "not what a plan has"},
        {"tacit silo plan 1", "tacit silo plan 2", "another version"},
    };
    (void)state;
    size_t n = write_plan(0);
    for (size_t k = 0; k < sizeof changes / sizeof *changes; k++) {
        static char was[ROOM];
        memcpy(was, text, n + 1);
        char *at = strstr(text, changes[k][0]);
        if (at == NULL)
            fail_msg("no '%s' in the plan", changes[k][0]);
        size_t more = strlen(changes[k][1]), less = strlen(changes[k][0]);
        memmove(at + more, at + less, n - (size_t)(at - text) - less + 1);
        memcpy(at, changes[k][1], more);
        dp_silo_plan *plan;
        dp_error err;
        dp_status status = parse(text, n + more - less, &plan, &err);
        assert_int_not_equal(status, DP_OK);
        assert_contains(err.text, changes[k][2]);
        memcpy(text, was, n + 1);
    }
}

/* ---- signatures ---- */

static void signatures_are_of_one_plan(void **state)
{
    static char other[ROOM];
    (void)state;
    p.opts.seed = 12;
    (void)write_plan(1);
    memcpy(other, strstr(text, "signed = "), 9 + 5 + 128 + 2);
    p.opts.seed = 11;
    size_t n = write_plan(0), more = strlen(other);
    memcpy(text + n, other, more + 1);
    refuses(n + more, DP_EDATA, "not of this plan");
    memcpy(text + n, "signed = south ", 15); /* of nobody */
    memmove(text + n + 15, other + 14, more - 13);
    refuses(n + more + 1, DP_EDATA, "of nobody");
    n = write_plan(3); /* east's in the name of north, and in another order */
    char *east = strstr(text, "signed = east "), *west = strstr(text, "signed = west ");
    memcpy(other, west, 143);
    memcpy(other + 143, east, 143);
    memcpy(east, other, 286);
    refuses(n, DP_EDATA, "was changed");
    n = write_plan(1);
    memmove(strstr(text, "signed = east ") + 15, strstr(text, "signed = east ") + 14, 130);
    memcpy(strstr(text, "signed = east "), "signed = north", 14);
    strstr(text, "signed = north")[14] = ' ';
    refuses(n + 1, DP_EDATA, "not of this plan");
}

static void who_is_no_owner_cannot_sign(void **state)
{
    dp_silo_plan *plan = plans_plan(&p, 0);
    dp_error err = {0};
    (void)state;
    assert_fails(dp_silo_plan_sign(plan, p.keys[3], &err), DP_ENAME, &err, "none of the plan's");
    assert_null(strstr(dp_silo_plan_text(plan), "signed"));
    dp_silo_plan_free(plan);
}

static void signatures_of_copies_are_joined(void **state)
{
    dp_silo_plan *all = plans_plan(&p, 7), *one = plans_plan(&p, 1), *two = plans_plan(&p, 6);
    dp_error err = {0};
    (void)state;
    assert_ok(dp_silo_plan_join(one, two, &err), err.text);
    assert_string_equal(dp_silo_plan_text(one), dp_silo_plan_text(all));
    p.opts.epsilon = 3;
    dp_silo_plan *other = plans_plan(&p, 0);
    assert_fails(dp_silo_plan_join(other, all, &err), DP_EMISMATCH, &err, "another plan");
    assert_false(dp_silo_plan_signed(other, 0));
    dp_silo_plan_free(all);
    dp_silo_plan_free(one);
    dp_silo_plan_free(two);
    dp_silo_plan_free(other);
    dp_silo_plan_free(NULL);
}

/* ---- what cannot be planned ---- */

static void cannot(dp_silo_opts o, dp_status expected, const char *why)
{
    dp_silo_plan *plan;
    dp_error err = {0};
    assert_fails(dp_silo_plan_new(&o, &plan, &err), expected, &err, why);
    assert_null(plan);
}

/* Where all are waited for, none may drop out; enough owners make the shares right. */
static void nobody_drops_out_of_sums_of_all(void **state)
{
    static const char *const schemes[] = {"fedsgd", "fedsgd+he"};
    dp_silo_opts o = p.opts;
    (void)state;
    o.n_owners = PLANS_MOST;
    o.dropouts = 1;
    dp_silo_plan *plan = NULL;
    dp_error err = {0};
    assert_ok(dp_silo_plan_new(&o, &plan, &err), err.text);
    dp_silo_plan_free(plan);
    o.epsilon = o.delta = 0;
    for (size_t k = 0; k < 2; k++) {
        o.scheme = schemes[k];
        o.dropouts = 1;
        cannot(o, DP_EINVAL, "plan without dropouts, or take scheme secagg+dp");
        o.dropouts = 0;
        assert_ok(dp_silo_plan_new(&o, &plan, &err), err.text);
        dp_silo_plan_free(plan);
    }
}

static void what_cannot_be_planned_is_refused(void **state)
{
    dp_silo_owner owners[DP_OWNERS_MOST + 1];
    dp_fit_source source = p.source;
    dp_silo_opts o = p.opts;
    (void)state;
    cannot((o.name = "Joint", o), DP_EINVAL, "needs a name");
    cannot((o.name = NULL, o), DP_EINVAL, "needs a name");
    cannot((o.name = "a23456789012345z", o), DP_EINVAL, "needs a name");
    o = p.opts;
    cannot((o.scheme = "trust", o), DP_ENAME, "no scheme trust");
    cannot((o.scheme = "fedsgd", o), DP_EINVAL, "");
    cannot((o.scheme = NULL, o), DP_ENAME, "no scheme");
    o = p.opts;
    o.epsilon = o.delta = 0;
    cannot((o.scheme = "fedsgd+he", o.colluders = 2, o), DP_EPRIVACY, "it is one owner's");
    cannot((o.colluders = 1, o.n_owners = 2, o), DP_EPRIVACY, "it is one owner's");
    o = p.opts;
    cannot((o.epsilon = 0, o), DP_EDOMAIN, "epsilon");
    o = p.opts;
    cannot((o.delta = 0, o), DP_EDOMAIN, "delta");
    o = p.opts;
    cannot((o.colluders = 3, o), DP_EPRIVACY, "no share of noise");
    cannot((o.colluders = SIZE_MAX, o.dropouts = 1, o), DP_EPRIVACY, "no share of noise");
    cannot((o.colluders = 1, o.dropouts = 1, o), DP_EPRIVACY, "must be of 3");
    o = p.opts;
    cannot((o.most_records = ((uint64_t)1 << 26) + 1, o), DP_EDOMAIN, "2^26");
    o = p.opts;
    cannot((o.n_owners = 0, o), DP_EINVAL, "owners");
    cannot((o.n_owners = DP_OWNERS_MOST + 1, o), DP_EINVAL, "64 owners");
    o.n_owners = 3;
    o.owners = owners;
    memcpy(owners, p.owners, sizeof p.owners);
    cannot((owners[2].name = "east", o), DP_EINVAL, "same name");
    cannot((owners[2].name = "9th", o), DP_EINVAL, "needs a name");
    memcpy(owners, p.owners, sizeof p.owners);
    cannot((owners[2].key = owners[0].key, o), DP_EINVAL, "key");
    cannot((owners[2].key = "tacit-owner:", o), DP_EINVAL, "has no key");
    cannot((owners[2].key = NULL, o), DP_EINVAL, "has no key");
    o = p.opts;
    o.source = &source;
    cannot((source.formula = "y ~ x\ndelta = 1", o), DP_EINVAL, "one line");
    cannot((source.formula = "", o), DP_EINVAL, "one line");
    source = p.source;
    cannot((source.priors = "a \033[2K b", o), DP_EINVAL, "one line");
    source = p.source;
    cannot((source.schema = "x number", o), DP_EINVAL, "each end");
    cannot((source.schema = NULL, o), DP_EINVAL, "each end");
}

/* ---- files ---- */

static void a_plan_is_read_from_its_file(void **state)
{
    char path[64];
    dp_silo_plan *plan;
    dp_error err = {0};
    (void)state;
    size_t n = write_plan(2);
    (void)snprintf(path, sizeof path, "silo-plan-%ld", (long)getpid());
    (void)unlink(path);
    assert_fails(dp_silo_plan_load(path, &plan, &err), DP_EIO, &err, "cannot open");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    assert_ok(dp_silo_plan_load(path, &plan, &err), err.text);
    assert_string_equal(dp_silo_plan_text(plan), text);
    dp_silo_plan_free(plan);
    f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_fails(dp_silo_plan_load(path, &plan, &err), DP_EDATA, &err, "no plan");
    (void)unlink(path);
}

#define ONE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ONE(a_wide_plan_is_read_too),          ONE(a_decimal_comma_changes_no_text),
        ONE(a_plan_is_read_as_it_was_written), ONE(a_plan_says_what_it_was_made_of),
        ONE(defaults_are_written_down),        ONE(what_is_spent_depends_on_who_looks),
        ONE(each_changed_byte_is_found),       ONE(each_moved_line_is_found),
        ONE(what_no_plan_can_say_is_refused),  ONE(signatures_are_of_one_plan),
        ONE(who_is_no_owner_cannot_sign),      ONE(signatures_of_copies_are_joined),
        ONE(nobody_drops_out_of_sums_of_all),  ONE(what_cannot_be_planned_is_refused),
        ONE(a_plan_is_read_from_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
