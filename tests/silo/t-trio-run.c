/* dp_silo_trio_run: three processes' worth of parties as threads, over TCP. */
#include <tacit/silo-trio.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tacit/dataset.h>

#include "tests/lib/check.h"
#include "wire/socket.h"

enum { N = 200, D0 = 3, D1 = 2, D = D0 + D1, PATIENCE = 60000, MS = 1000 };

static char folder[64], path[3][96], book[96], port[2][16];
static dp_identity *who[3];
static double x[2][N * D0], y[N];

typedef struct side {
    dp_silo_trio terms;
    dp_silo_trio_opts opts;
    dp_silo_trio_data data;
    double w[D];
    size_t rows;
    dp_status status;
    dp_error err;
    bool late;
} side;

static side sides[3];

/* ---- the scene ---- */

static double draw(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

static int make(void **state)
{
    uint64_t seed = 3;
    (void)state;
    (void)strcpy(folder, "/tmp/tacit-trio-XXXXXX");
    assert_non_null(mkdtemp(folder));
    (void)snprintf(book, sizeof book, "%s/ledger", folder);
    for (size_t k = 0; k < 3; k++) {
        dp_error err = {DP_OK, ""};
        (void)snprintf(path[k], sizeof path[k], "%s/%zu", folder, k);
        assert_ok(dp_identity_new(path[k], &who[k], &err), err.text);
    }
    for (size_t i = 0; i < N; i++) {
        double score = .1 * draw(&seed);
        for (size_t j = 0; j < D; j++) {
            const size_t owner = j < D0 ? 0 : 1, at = owner == 0 ? i * D0 + j : i * D1 + j - D0;
            x[owner][at] = draw(&seed) / 2;
            score += x[owner][at] * ((double)j - 1.5);
        }
        y[i] = score / 2;
    }
    return 0;
}

static int clear(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        dp_identity_free(who[k]);
        (void)unlink(path[k]);
    }
    (void)unlink(book);
    (void)rmdir(folder);
    return 0;
}

/* Ports that are free, and most likely still are when they are listened at. */
static void find_ports(void)
{
    int sockets[2];
    for (int k = 0; k < 2; k++) {
        assert_int_equal(dpi_socket_listen("127.0.0.1", "0", &sockets[k], NULL), DP_OK);
        (void)snprintf(port[k], sizeof port[k], "%d", dpi_socket_port(sockets[k]));
    }
    for (int k = 0; k < 2; k++)
        (void)close(sockets[k]);
}

/* Two owners, the second of whom has outcomes, and a helper. */
static void set_up(double epsilon)
{
    static int runs;
    static char name[32];
    find_ports();
    (void)snprintf(name, sizeof name, "run %d", ++runs);
    for (size_t k = 0; k < 3; k++) {
        sides[k] = (side){
            .terms = {.name = name,
                      .rows = N,
                      .outcome = 1,
                      .columns = {D0, D1, 0},
                      .row_most = {1, 1, 0},
                      .outcome_most = 2,
                      .residual_most = epsilon > 0 ? 1 : 0,
                      .steps = 20,
                      .step = .5,
                      .ridge = .01,
                      .epsilon = epsilon,
                      .delta = epsilon > 0 ? 1e-5 : 0},
            .opts = {.identity = who[k], .patience_ms = PATIENCE},
            .data = {.rows = k < 2 ? N : 0, .x = k < 2 ? x[k] : NULL, .y = k == 1 ? y : NULL}};
        for (size_t j = 0; j < 3; j++)
            sides[k].opts.party[j] =
                (dp_silo_trio_party){.host = "127.0.0.1",
                                     .port = j < 2 ? port[j] : NULL,
                                     .fingerprint = dp_identity_fingerprint(who[j])};
    }
    sides[2].opts.party[2].host = NULL;
}

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *act(void *of)
{
    side *s = of;
    if (s->late)
        (void)usleep(300 * MS);
    memset(s->w, 1, sizeof s->w);
    s->err = (dp_error){DP_OK, ""};
    s->status = dp_silo_trio_run(&s->terms, &s->opts, &s->data, &s->rows, s->w, &s->err);
    return NULL;
}

static void run(void)
{
    pthread_t threads[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, act, &sides[k]), 0);
    for (int k = 0; k < 3; k++)
        (void)pthread_join(threads[k], NULL);
}

static void run_well(void)
{
    run();
    for (int k = 0; k < 3; k++)
        assert_ok(sides[k].status, sides[k].err.text);
}

static void assert_nothing(const side *s)
{
    assert_int_equal(s->rows, 0);
    for (size_t j = 0; j < D; j++)
        assert_true(s->w[j] == 0);
}

/* ---- runs ---- */

static void solve(size_t n, double w[D])
{
    memset(w, 0, D * sizeof *w);
    for (int k = 0; k < 20; k++) {
        double g[D] = {0};
        for (size_t i = 0; i < n; i++) {
            double r = -y[i];
            for (size_t j = 0; j < D; j++)
                r += w[j] * (j < D0 ? x[0][i * D0 + j] : x[1][i * D1 + j - D0]);
            for (size_t j = 0; j < D; j++)
                g[j] += r * (j < D0 ? x[0][i * D0 + j] : x[1][i * D1 + j - D0]);
        }
        for (size_t j = 0; j < D; j++)
            w[j] -= .5 * (g[j] / (double)n + .01 * w[j]);
    }
}

static void owners_get_the_coefficients_of_one_table(void **state)
{
    double w[D];
    (void)state;
    solve(N, w);
    for (int told = 0; told < 2; told++) {
        set_up(0);
        for (int k = 0; k < 3; k++) {
            sides[k].terms.told = told == 1;
            sides[k].late = k == told; /* whoever is first waits */
        }
        run_well();
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(sides[k].rows, N);
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < D; j++)
                assert_close(sides[k].w[j], told == 1 || k == (j < D0 ? 0 : 1) ? w[j] : 0, 1e-6,
                             1e-7);
    }
}

static void with_noise_all_get_the_same(void **state)
{
    (void)state;
    set_up(4);
    run_well();
    assert_true(sides[0].w[0] != 0 && sides[0].w[D - 1] != 0);
    for (int k = 1; k < 3; k++)
        assert_memory_equal(sides[k].w, sides[0].w, sizeof sides[0].w);
}

/* ---- ids ---- */

static char names[N + 40][16];
static const char *ids[2][N];

/* The first owner has rows 0 ... N - 1 of the table; the second lacks the last `lacking`, has as
 * many others before them, and all in another order, its x and y with them. */
static void set_up_ids(double epsilon, size_t lacking)
{
    static double other_x[N * D1], other_y[N];
    set_up(epsilon);
    for (size_t i = 0; i < N + lacking; i++)
        (void)snprintf(names[i], sizeof names[i], i % 2 == 0 ? "T%03zu" : " t%03zu", i);
    for (size_t i = 0; i < N; i++) {
        const size_t at = i * 73 % N, of = at < lacking ? N + at : at - lacking;
        ids[0][i] = names[i];
        ids[1][i] = names[of];
        other_y[i] = of < N ? y[of] : 1;
        for (size_t j = 0; j < D1; j++)
            other_x[i * D1 + j] = of < N ? x[1][of * D1 + j] : .3;
    }
    for (size_t k = 0; k < 3; k++) {
        sides[k].terms.ids = "people";
        sides[k].terms.told = epsilon == 0;
        sides[k].data.ids = k < 2 ? ids[k] : NULL;
    }
    sides[1].data.x = other_x;
    sides[1].data.y = other_y;
}

static void owners_link_their_rows_by_ids(void **state)
{
    enum { LACKING = 40 };
    double w[D];
    (void)state;
    set_up_ids(0, LACKING);
    for (size_t k = 0; k < 3; k++)
        sides[k].terms.rows = N + 10; /* the most */
    run_well();
    solve(N - LACKING, w);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(sides[k].rows, N - LACKING);
        for (size_t j = 0; j < D; j++)
            assert_close(sides[k].w[j], w[j], 1e-6, 1e-7);
    }
    set_up_ids(4, LACKING);
    run_well();
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(sides[k].rows, N - LACKING);
        assert_memory_equal(sides[k].w, sides[0].w, sizeof w);
    }
}

static void who_has_nobody_in_common_ends(void **state)
{
    (void)state;
    set_up_ids(0, 10);
    for (size_t i = 0; i < N; i++)
        ids[1][i] = i % 2 == 0 ? "nobody" : "none";
    act(&sides[1]);
    assert_fails(sides[1].status, DP_EDATA, &sides[1].err, "id");
    set_up_ids(0, 10);
    sides[1].data.rows = 1;
    ids[1][0] = "nobody";
    run();
    for (int k = 0; k < 3; k++) {
        assert_fails(sides[k].status, DP_EDATA, &sides[k].err, "no id in common");
        assert_nothing(&sides[k]);
    }
}

/* Outcomes at the third party. */
static void set_up_three(int k)
{
    set_up_ids(0, 0);
    for (size_t j = 0; j < 3; j++)
        sides[j].terms.outcome = 2;
    sides[1].data = (dp_silo_trio_data){.rows = N, .ids = ids[0], .x = x[1]};
    sides[2].data = (dp_silo_trio_data){.rows = N, .ids = ids[k], .y = y};
}

static void three_owners_have_the_same_ids_in_the_same_order(void **state)
{
    double w[D];
    (void)state;
    solve(N, w);
    set_up_three(0);
    run_well();
    for (size_t k = 0; k < 3; k++)
        for (size_t j = 0; j < D; j++)
            assert_close(sides[k].w[j], w[j], 1e-6, 1e-7);
    set_up_three(1); /* in another order */
    run();
    size_t told = 0;
    for (size_t k = 0; k < 3; k++) {
        assert_true(sides[k].status == DP_EDATA || sides[k].status == DP_EPEER);
        told += sides[k].status == DP_EDATA;
        assert_nothing(&sides[k]);
    }
    assert_true(told > 0);
    set_up_three(0);
    sides[2].data.rows--;
    run();
    for (size_t k = 0; k < 3; k++)
        assert_nothing(&sides[k]);
}

static void ids_are_of_those_who_have_records(void **state)
{
    (void)state;
    set_up_ids(0, 10);
    sides[0].terms.outcome = 0;
    sides[0].terms.columns[1] = 0;
    sides[0].terms.row_most[1] = 0;
    assert_int_equal(dp_silo_trio_check(&sides[0].terms, NULL), DP_EINVAL);
    set_up_ids(0, 10);
    sides[0].data.ids = NULL;
    act(&sides[0]);
    assert_fails(sides[0].status, DP_EINVAL, &sides[0].err, "ids needed");
    set_up_ids(0, 10);
    sides[2].data.rows = 1;
    act(&sides[2]);
    assert_fails(sides[2].status, DP_EINVAL, &sides[2].err, "no columns and no outcomes");
    set_up_ids(0, 10);
    sides[0].data.rows = N + 1;
    act(&sides[0]);
    assert_fails(sides[0].status, DP_EINVAL, &sides[0].err, "at most");
}

/* ---- epsilon ---- */

static double phi(double v)
{
    return erfc(-v * M_SQRT1_2) / 2;
}

/* Of T steps at z against one who knows `known` shares: one Gaussian mechanism. */
static double delta_of(double mu, double epsilon)
{
    return phi(-epsilon / mu + mu / 2) - exp(epsilon) * phi(-epsilon / mu - mu / 2);
}

static void what_is_spent_is_that_of_two_shares_and_three(void **state)
{
    double mu = 1, e[3];
    (void)state;
    set_up(4);
    for (size_t known = 0; known < 3; known++)
        assert_int_equal(dp_silo_trio_spent(&sides[0].terms, known, &e[known], NULL), DP_OK);
    assert_close(e[1], 4, 1e-3, 0);
    for (double low = .01, high = 20; high - low > 1e-9; mu = (low + high) / 2)
        if (delta_of(mu, 4) > 1e-5)
            high = mu;
        else
            low = mu;
    assert_close(delta_of(mu / sqrt(1.5), e[0]), 1e-5, 5e-3, 0);
    assert_true(e[2] == INFINITY);
    set_up(0);
    assert_int_equal(dp_silo_trio_spent(&sides[0].terms, 1, &e[0], NULL), DP_OK);
    assert_true(e[0] == INFINITY);
}

/* ---- ledgers ---- */

static dp_ledger *ledger_of(double epsilon, dp_adjacency adjacency)
{
    const dp_budget budget = {.epsilon = epsilon, .delta = 1e-5, .adjacency = adjacency};
    dp_ledger *ledger = NULL;
    dp_error err = {DP_OK, ""};
    dp_dataset *data = dp_dataset_new(N);
    const dp_ledger_source source = {.records = data};
    dp_dataset_real(data, "x", D0, x[0]);
    (void)unlink(book);
    assert_ok(dp_ledger_create(book, &ledger, &err), err.text);
    assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
    dp_dataset_free(data);
    return ledger;
}

static double spent_in(dp_ledger *ledger)
{
    dp_interval spent;
    dp_error err = {DP_OK, ""};
    assert_ok(dp_ledger_spent(ledger, "records", &spent, &err), err.text);
    return spent.upper;
}

static void a_run_is_paid_before_anything_leaves(void **state)
{
    side *s = &sides[0];
    (void)state;
    set_up(4);
    s->opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    s->opts.patience_ms = 300;
    act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "no ledger_data");
    s->opts.ledger_data = "records";
    act(s); /* nobody comes: nothing is spent */
    assert_fails(s->status, DP_ETIMEOUT, &s->err, "party 1 has not come");
    assert_close(spent_in(s->opts.ledger), 0, 0, 0);
    s->opts.patience_ms = PATIENCE;
    run_well();
    assert_true(spent_in(s->opts.ledger) <= 4 && spent_in(s->opts.ledger) > 3.99);
    act(s);
    assert_fails(s->status, DP_EPRIVACY, &s->err, "is spent");
    assert_nothing(s);
    dp_ledger_close(s->opts.ledger);
    s->opts.ledger = ledger_of(4, DP_ADD_REMOVE);
    act(s);
    assert_fails(s->status, DP_EMISMATCH, &s->err, "--adjacency replace-one");
    dp_ledger_close(s->opts.ledger);
    s = &sides[2];
    s->opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    s->opts.ledger_data = "records";
    act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "none of the former");
    dp_ledger_close(s->opts.ledger);
}

/* Noise of this size ends the first step, which was opened. */
static void a_run_that_has_opened_anything_stays_spent(void **state)
{
    (void)state;
    set_up(4);
    for (int k = 0; k < 3; k++)
        sides[k].terms.step = 1e9;
    sides[0].opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    sides[0].opts.ledger_data = "records";
    run();
    for (int k = 0; k < 3; k++) {
        assert_fails(sides[k].status, DP_EACCURACY, &sides[k].err, "left the integers");
        assert_nothing(&sides[k]);
    }
    assert_true(spent_in(sides[0].opts.ledger) > 3.99);
    dp_ledger_close(sides[0].opts.ledger);
}

/* ---- refusals ---- */

static void other_terms_end_it_before_a_row_leaves(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        dp_silo_trio *t;
        set_up(k == 5 ? 4 : 0);
        t = &sides[2].terms;
        if (k == 0)
            t->name = "another run";
        else if (k == 1)
            t->ridge = .02;
        else if (k == 2)
            t->told = true;
        else if (k == 3)
            t->row_most[0] = 1.01;
        else if (k == 4)
            t->steps++;
        else
            t->epsilon = 3.9;
        run();
        for (int j = 0; j < 3; j++) {
            assert_int_equal(sides[j].status, DP_EPEER);
            assert_nothing(&sides[j]);
        }
        assert_non_null(strstr(sides[2].err.text, "other terms"));
    }
}

static void refuse(dp_status status, const char *why)
{
    side *s = &sides[0];
    act(s);
    assert_fails(s->status, status, &s->err, why);
    if (status != DP_EDOMAIN)
        assert_nothing(s);
    set_up(s->terms.epsilon);
}

static void what_does_not_fit_is_refused(void **state)
{
    dp_silo_trio *t = &sides[0].terms;
    dp_silo_trio_opts *o = &sides[0].opts;
    static double bad[N * D0];
    (void)state;
    set_up(0);
    sides[0].data.x = NULL;
    refuse(DP_EINVAL, "x is needed");
    sides[0].data.y = y;
    refuse(DP_EINVAL, "no outcomes");
    memcpy(bad, x[0], sizeof bad);
    bad[D0 * 7 + 1] = NAN;
    sides[0].data.x = bad;
    refuse(DP_EDATA, "row 8");
    o->party[1].fingerprint = o->party[0].fingerprint;
    refuse(DP_EINVAL, "the same one");
    o->party[1].fingerprint = "tacit:12";
    refuse(DP_EINVAL, "party 1 has no fingerprint");
    o->party[0].port = NULL;
    refuse(DP_EINVAL, "no address");
    o->identity = who[1];
    o->party[1].fingerprint =
        "tacit:0000000000000000000000000000000000000000000000000000000000000000";
    refuse(DP_ENAME, "none of the three");
    o->ledger_data = "records";
    refuse(DP_EINVAL, "no ledger");
    t->epsilon = 1;
    act(&sides[0]);
    assert_fails(sides[0].status, DP_EDOMAIN, &sides[0].err, "epsilon 1 at delta 0");
    set_up(4);
    t->delta = 1e-60;
    act(&sides[0]);
    assert_int_equal(sides[0].status, DP_EDOMAIN);
}

static void what_is_of_no_use_is_refused(void **state)
{
    dp_silo_trio *t = &sides[0].terms;
    dp_error err = {DP_OK, ""};
    (void)state;
    for (int k = 0; k < 6; k++) {
        set_up(k < 3 ? 0 : 4);
        assert_ok(dp_silo_trio_check(t, &err), err.text);
        if (k == 0)
            t->residual_most = 1;
        else if (k == 1)
            t->logistic = true;
        else if (k == 2)
            t->name = "";
        else if (k == 3)
            t->told = true;
        else if (k == 4)
            t->name = "two\nlines";
        else
            t->logistic = true, t->outcome_most = 0;
        assert_int_equal(dp_silo_trio_check(t, &err), DP_EINVAL);
        err = (dp_error){DP_OK, ""};
    }
}

/* Each role as a process of its own is killed in the middle; what the others end with, and when. */
static void who_is_killed_ends_it_for_all(void **state)
{
    enum { WAIT = 400 * MS };
    (void)state;
    for (int victim = 0; victim < 3; victim++) {
        pid_t child[3];
        set_up(0);
        for (int k = 0; k < 3; k++) {
            sides[k].terms.steps = 100000;
            sides[k].terms.rows = sides[k].data.rows = 20;
            sides[k].terms.step = .01;
            child[k] = fork();
            if (child[k] != 0)
                continue;
            if (k == 2)
                sides[k].data.rows = 0;
            act(&sides[k]);
            bool zeros = true;
            for (size_t j = 0; j < D; j++)
                zeros = zeros && sides[k].w[j] == 0;
            _exit(sides[k].status == DP_EPEER && zeros ? 0 : 1);
        }
        (void)usleep(WAIT);
        const double killed = now();
        assert_int_equal(kill(child[victim], SIGKILL), 0);
        for (int k = 0; k < 3; k++) {
            int end;
            assert_int_equal(waitpid(child[k], &end, 0), child[k]);
            assert_true(k == victim ? WIFSIGNALED(end) : WIFEXITED(end) && WEXITSTATUS(end) == 0);
        }
        assert_true(now() - killed < PATIENCE / MS / 2); /* s: nobody waits for patience */
    }
}

static void a_party_that_does_not_come_is_named(void **state)
{
    (void)state;
    set_up(0);
    sides[1].opts.patience_ms = 400;
    act(&sides[1]);
    assert_fails(sides[1].status, DP_ETIMEOUT, &sides[1].err, "party 0 at 127.0.0.1");
    assert_nothing(&sides[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_get_the_coefficients_of_one_table),
        cmocka_unit_test(with_noise_all_get_the_same),
        cmocka_unit_test(owners_link_their_rows_by_ids),
        cmocka_unit_test(who_has_nobody_in_common_ends),
        cmocka_unit_test(three_owners_have_the_same_ids_in_the_same_order),
        cmocka_unit_test(ids_are_of_those_who_have_records),
        cmocka_unit_test(what_is_spent_is_that_of_two_shares_and_three),
        cmocka_unit_test(a_run_is_paid_before_anything_leaves),
        cmocka_unit_test(a_run_that_has_opened_anything_stays_spent),
        cmocka_unit_test(other_terms_end_it_before_a_row_leaves),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_of_no_use_is_refused),
        cmocka_unit_test(who_is_killed_ends_it_for_all),
        cmocka_unit_test(a_party_that_does_not_come_is_named),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
