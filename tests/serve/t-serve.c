/* Both sides over loopback: every answer is the oracle's, and who may not ask is told why. */
#include "tests/lib/numbers.h"
#include "tests/serve/scene.h"

static void serves(dp_program *p, dp_serve_protocol protocol, dp_serve_mode mode, int n)
{
    scene *s = new_scene();
    const dp_server_opts server = server_opts(s, p, protocol, mode);
    start(s, &server);
    const dp_ask_opts opts = ask_opts(s, protocol, mode);
    answers_are_exact(p, &opts, n);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

static void paillier_answers_regressions(void **state)
{
    (void)state;
    serves(regression(), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 5);
    serves(image(false), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(wide(1), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(wide(7), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
    serves(image(true), DP_SERVE_PAILLIER, DP_SERVE_LINEAR, 2);
}

/* Each side by itself, so that they must mean the same numbers. */
static void paillier_answers_without_vector_instructions(void **state)
{
    (void)state;
    dp_program *p = wide(1);
    for (int side = 0; side < 2; side++) {
        scene *s = new_scene();
        dp_server_opts server = server_opts(s, p, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
        server.flags |= side == 0 ? DPI_PORTABLE : 0;
        start(s, &server);
        dp_ask_opts opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
        opts.flags |= side == 1 ? DPI_PORTABLE : 0;
        answers_are_exact(p, &opts, 2);
        stop(s);
        free_scene(s);
    }
    dp_program_free(p);
}

static void lattice_answers_regressions(void **state)
{
    (void)state;
    serves(regression(), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 5);
    serves(image(false), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 2);
    serves(image(true), DP_SERVE_LATTICE, DP_SERVE_LINEAR, 2);
}

/* A convolution and a max pool of 1 x 1 that leaves out every other pixel. */
static dp_program *thinned(void)
{
    double w[2 * 4 * 3], b[3], v[3 * 18];
    uint64_t numbers = 9;
    const dp_window two = {.size = {2, 2}}, thin = {.size = {1, 1}, .stride = {2, 2}};
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, 3, b);
    fill(&numbers, sizeof v / sizeof *v, v);
    dp_program *p = dp_program_new();
    int h = dp_program_image(p, 6, 7, 2, "pixel", -1, 1);
    h = dp_program_relu(p, dp_program_convolution(p, h, 3, &two, w, b)); /* 5 x 6 x 3 */
    h = dp_program_max_pool(p, h, &thin);                                /* 3 x 3 x 3 */
    (void)dp_program_dense(p, h, 2, v, b);
    return finish(p);
}

static void networks_are_answered_with_consent(void **state)
{
    (void)state;
    serves(thinned(), DP_SERVE_PAILLIER, DP_SERVE_PERMUTE, 2);
    serves(thinned(), DP_SERVE_LATTICE, DP_SERVE_PERMUTE, 2);
    serves(network(), DP_SERVE_PAILLIER, DP_SERVE_PERMUTE, 3);
    serves(network(), DP_SERVE_LATTICE, DP_SERVE_PERMUTE, 3);
}

/* ---- refusals ---- */

static void servers_refuse_what_was_not_agreed_to(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_error err = {0};
    dp_server *server;
    dp_program *p = network(), *q = regression();
    dp_server_opts opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    opts.flags = WEAK;
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "every hidden number");
    opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "one linear stage");
    opts = server_opts(s, q, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    opts.flags = 0;
    assert_fails(dp_server_new(&opts, &server, &err), DP_EINVAL, &err, "2048 or 3072");
    write_policy(s, 5, "returns = scores\nmodes = linear\n");
    opts = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EPRIVACY, &err, "does not allow");
    write_policy(s, 5, "returns = label\nmodes = linear\n");
    opts = server_opts(s, q, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_fails(dp_server_new(&opts, &server, &err), DP_EUNSUPPORTED, &err, "returns = scores");
    assert_null(server);
    dp_program_free(p);
    dp_program_free(q);
    free_scene(s);
}

static void askers_are_told_why_not(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_error err = {0};
    dp_ask *ask;
    dp_program *p = regression(), *other = image(true);
    unsigned char hash[DP_PROGRAM_HASH];
    double x[20] = {0};
    int64_t y[1];
    write_policy(s, 2, scores);
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);

    dp_ask_opts opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.identity = s->stranger;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "does not know");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    opts.provider = dp_identity_fingerprint(s->stranger);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EPEER, &err, "");
    opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "protocol or mode");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_PERMUTE);
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "protocol or mode");
    opts.flags = WEAK;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EPRIVACY, &err, "every hidden number");
    opts = ask_opts(s, DP_SERVE_PAILLIER, DP_SERVE_LINEAR);
    opts.flags = 0;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EINVAL, &err, "2048 or 3072");
    opts = ask_opts(s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    assert_ok(dp_program_hash(other, hash, &err), err.text);
    opts.hash = hash;
    assert_fails(dp_ask_new(&opts, &ask, &err), DP_EREFUSED, &err, "another program");

    /* None of these was a query; the third is one too many. */
    assert_ok(dp_program_hash(p, hash, &err), err.text);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    x[3] = 1.5;
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EDOMAIN, &err, "not within");
    x[3] = .5;
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_ok(dp_ask_query(ask, x, y, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    assert_fails(dp_ask_query(ask, x, y, &err), DP_EREFUSED, &err, "used up");
    dp_ask_free(ask);
    stop(s);
    dp_program_free(p);
    dp_program_free(other);
    free_scene(s);
}

typedef struct asker {
    scene *s;
    const dp_program *p;
} asker;

static void *ask_many(void *of)
{
    const asker *a = of;
    const dp_ask_opts opts = ask_opts(a->s, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    answers_are_exact(a->p, &opts, 4);
    return NULL;
}

static void clients_ask_at_the_same_time(void **state)
{
    (void)state;
    enum { CLIENTS = 3 };
    scene *s = new_scene();
    dp_program *p = regression();
    pthread_t threads[CLIENTS];
    asker a = {.s = s, .p = p};
    const dp_server_opts server = server_opts(s, p, DP_SERVE_LATTICE, DP_SERVE_LINEAR);
    start(s, &server);
    for (int k = 0; k < CLIENTS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, ask_many, &a), 0);
    for (int k = 0; k < CLIENTS; k++)
        assert_int_equal(pthread_join(threads[k], NULL), 0);
    stop(s);
    dp_program_free(p);
    free_scene(s);
}

/* What moves is a function of the program alone. */
static void traffic_does_not_depend_on_the_record(void **state)
{
    (void)state;
    dp_program *p = network();
    double x[84];
    int64_t y[4];
    dp_error err = {0};
    for (int protocol = 0; protocol < 2; protocol++) {
        scene *s = new_scene();
        const dp_server_opts server =
            server_opts(s, p, (dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        start(s, &server);
        const dp_ask_opts opts = ask_opts(s, (dp_serve_protocol)protocol, DP_SERVE_PERMUTE);
        dp_ask *ask;
        dp_ask_traffic before, after, first = {0};
        assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
        for (int r = 0; r < 4; r++) {
            uint64_t numbers = (uint64_t)r;
            fill(&numbers, 84, x);
            for (int i = 0; i < 84; i++)
                x[i] = r == 0 ? 0 : r == 1 ? 1 : r == 2 ? -1 : x[i];
            before = dp_ask_counts(ask);
            assert_ok(dp_ask_query(ask, x, y, &err), err.text);
            after = dp_ask_counts(ask);
            if (r == 0)
                first =
                    (dp_ask_traffic){.up = after.up - before.up, .down = after.down - before.down};
            assert_true(after.up - before.up == first.up && first.up > 0);
            assert_true(after.down - before.down == first.down && first.down > 0);
        }
        assert_int_equal(after.rounds, 4);
        dp_query_cost cost;
        assert_ok(dp_serve_cost(p, server.protocol, server.mode, 0, &cost, &err), err.text);
        assert_int_equal(cost.rounds, 4);
        /* Paillier's key is shorter here. */
        assert_true(protocol == DP_SERVE_PAILLIER || cost.up == first.up);
        assert_true(protocol == DP_SERVE_PAILLIER || cost.down == first.down);
        dp_ask_free(ask);
        stop(s);
        free_scene(s);
    }
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paillier_answers_regressions),
        cmocka_unit_test(paillier_answers_without_vector_instructions),
        cmocka_unit_test(lattice_answers_regressions),
        cmocka_unit_test(networks_are_answered_with_consent),
        cmocka_unit_test(servers_refuse_what_was_not_agreed_to),
        cmocka_unit_test(askers_are_told_why_not),
        cmocka_unit_test(clients_ask_at_the_same_time),
        cmocka_unit_test(traffic_does_not_depend_on_the_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
