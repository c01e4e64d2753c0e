/* dp_silo_trio_run: runs, what is spent and paid, and refusals. */
#include <tacit/silo-trio.h>

#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/dataset.h>

#include "share/mesh.h"
#include "tests/lib/pause.h"
#include "tests/silo/trio-town.h"

static void owners_get_the_coefficients_of_one_table(void **state)
{
    double w[TOWN_D];
    (void)state;
    town_solve(TOWN_N, w);
    for (int told = 0; told < 2; told++) {
        town_set_up(0);
        for (int k = 0; k < 3; k++) {
            town_sides[k].terms.told = told == 1;
            town_sides[k].late = k == told; /* whoever is first waits */
        }
        town_run_well();
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(town_sides[k].rows, TOWN_N);
        for (size_t k = 0; k < 3; k++)
            for (size_t j = 0; j < TOWN_D; j++)
                assert_close(town_sides[k].w[j], told == 1 || k == (j < TOWN_D0 ? 0 : 1) ? w[j] : 0,
                             1e-6, 1e-7);
    }
}

static void with_noise_all_get_the_same(void **state)
{
    (void)state;
    town_set_up(4);
    town_run_well();
    assert_true(town_sides[0].w[0] != 0 && town_sides[0].w[TOWN_D - 1] != 0);
    for (int k = 1; k < 3; k++)
        assert_memory_equal(town_sides[k].w, town_sides[0].w, sizeof town_sides[0].w);
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
    town_set_up(4);
    for (size_t known = 0; known < 3; known++)
        assert_int_equal(dp_silo_trio_spent(&town_sides[0].terms, known, &e[known], NULL), DP_OK);
    assert_close(e[1], 4, 1e-3, 0);
    for (double low = .01, high = 20; high - low > 1e-9; mu = (low + high) / 2)
        if (delta_of(mu, 4) > 1e-5)
            high = mu;
        else
            low = mu;
    assert_close(delta_of(mu / sqrt(1.5), e[0]), 1e-5, 5e-3, 0);
    assert_true(e[2] == INFINITY);
    town_set_up(0);
    assert_int_equal(dp_silo_trio_spent(&town_sides[0].terms, 1, &e[0], NULL), DP_OK);
    assert_true(e[0] == INFINITY);
}

/* ---- ledgers ---- */

static dp_ledger *ledger_of(double epsilon, dp_adjacency adjacency)
{
    const dp_budget budget = {.epsilon = epsilon, .delta = 1e-5, .adjacency = adjacency};
    dp_ledger *ledger = NULL;
    dp_error err = {DP_OK, ""};
    dp_dataset *data = dp_dataset_new(TOWN_N);
    const dp_ledger_source source = {.records = data};
    dp_dataset_real(data, "x", TOWN_D0, town_x[0]);
    (void)unlink(town_ledger);
    assert_ok(dp_ledger_create(town_ledger, &ledger, &err), err.text);
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
    town_side *s = &town_sides[0];
    (void)state;
    town_set_up(4);
    s->opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    s->opts.patience_ms = 300;
    town_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "no ledger_data");
    s->opts.ledger_data = "records";
    town_act(s); /* nobody comes: nothing is spent */
    assert_fails(s->status, DP_ETIMEOUT, &s->err, "party 1 has not come");
    assert_close(spent_in(s->opts.ledger), 0, 0, 0);
    s->opts.patience_ms = TOWN_PATIENCE;
    town_run_well();
    assert_true(spent_in(s->opts.ledger) <= 4 && spent_in(s->opts.ledger) > 3.99);
    town_act(s);
    assert_fails(s->status, DP_EPRIVACY, &s->err, "is spent");
    town_assert_nothing(s);
    dp_ledger_close(s->opts.ledger);
    s->opts.ledger = ledger_of(4, DP_ADD_REMOVE);
    town_act(s);
    assert_fails(s->status, DP_EMISMATCH, &s->err, "--adjacency replace-one");
    dp_ledger_close(s->opts.ledger);
    s = &town_sides[2];
    s->opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    s->opts.ledger_data = "records";
    town_act(s);
    assert_fails(s->status, DP_EINVAL, &s->err, "none of the former");
    dp_ledger_close(s->opts.ledger);
}

/* Noise of this size ends the first step, which was opened. */
static void a_run_that_has_opened_anything_stays_spent(void **state)
{
    (void)state;
    town_set_up(4);
    for (int k = 0; k < 3; k++)
        town_sides[k].terms.step = 1e9;
    town_sides[0].opts.ledger = ledger_of(4, DP_REPLACE_ONE);
    town_sides[0].opts.ledger_data = "records";
    town_run();
    for (int k = 0; k < 3; k++) {
        assert_fails(town_sides[k].status, DP_EACCURACY, &town_sides[k].err, "left the integers");
        town_assert_nothing(&town_sides[k]);
    }
    assert_true(spent_in(town_sides[0].opts.ledger) > 3.99);
    dp_ledger_close(town_sides[0].opts.ledger);
}

/* ---- refusals ---- */

static void other_terms_end_it_before_a_row_leaves(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        dp_silo_trio *t;
        town_set_up(k == 5 ? 4 : 0);
        t = &town_sides[2].terms;
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
        town_run();
        for (int j = 0; j < 3; j++) {
            assert_int_equal(town_sides[j].status, DP_EPEER);
            town_assert_nothing(&town_sides[j]);
        }
        assert_non_null(strstr(town_sides[2].err.text, "other terms"));
    }
}

static void refuse(dp_status status, const char *why)
{
    town_side *s = &town_sides[0];
    town_act(s);
    assert_fails(s->status, status, &s->err, why);
    if (status != DP_EDOMAIN)
        town_assert_nothing(s);
    town_set_up(s->terms.epsilon);
}

static void what_does_not_fit_is_refused(void **state)
{
    dp_silo_trio *t = &town_sides[0].terms;
    dp_silo_trio_opts *o = &town_sides[0].opts;
    static double bad[TOWN_N * TOWN_D0];
    (void)state;
    town_set_up(0);
    town_sides[0].data.x = NULL;
    refuse(DP_EINVAL, "x is needed");
    town_sides[0].data.y = town_y;
    refuse(DP_EINVAL, "no outcomes");
    memcpy(bad, town_x[0], sizeof bad);
    bad[TOWN_D0 * 7 + 1] = NAN;
    town_sides[0].data.x = bad;
    refuse(DP_EDATA, "row 8");
    o->party[1].fingerprint = o->party[0].fingerprint;
    refuse(DP_EINVAL, "the same one");
    o->party[1].fingerprint = "tacit:12";
    refuse(DP_EINVAL, "party 1 has no fingerprint");
    o->party[0].port = NULL;
    refuse(DP_EINVAL, "no address");
    o->identity = town_who[1];
    o->party[1].fingerprint =
        "tacit:0000000000000000000000000000000000000000000000000000000000000000";
    refuse(DP_ENAME, "none of the three");
    o->ledger_data = "records";
    refuse(DP_EINVAL, "no ledger");
    t->epsilon = 1;
    town_act(&town_sides[0]);
    assert_fails(town_sides[0].status, DP_EDOMAIN, &town_sides[0].err, "epsilon 1 at delta 0");
    town_set_up(4);
    t->delta = 1e-60;
    town_act(&town_sides[0]);
    assert_int_equal(town_sides[0].status, DP_EDOMAIN);
}

static void what_is_of_no_use_is_refused(void **state)
{
    dp_silo_trio *t = &town_sides[0].terms;
    dp_error err = {DP_OK, ""};
    (void)state;
    for (int k = 0; k < 6; k++) {
        town_set_up(k < 3 ? 0 : 4);
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

/* How many steps have begun at each role, in memory that processes share. */
static struct steps {
    size_t role;
    atomic_uint *begun;
} steps;

void __real_dpi_mesh_layer(dpi_mesh *m, uint32_t layer);
void __wrap_dpi_mesh_layer(dpi_mesh *m, uint32_t layer);
void __wrap_dpi_mesh_layer(dpi_mesh *m, uint32_t layer)
{
    if (steps.begun != NULL)
        atomic_fetch_add(&steps.begun[steps.role], 1);
    __real_dpi_mesh_layer(m, layer);
}

/* Until all three are in the middle; false where that does not come. */
static bool all_step(void)
{
    enum { SOME = 20 };
    const double begun = town_now();
    for (int k = 0; k < 3; k++)
        while (steps.begun[k] < SOME) {
            if (town_now() - begun > TOWN_PATIENCE / MS)
                return false;
            pause_for(1);
        }
    return true;
}

/* Each role as a process of its own is killed in the middle; what the others end with, and when. */
static void who_is_killed_ends_it_for_all(void **state)
{
    (void)state;
    steps.begun = mmap(NULL, 3 * sizeof *steps.begun, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(steps.begun != MAP_FAILED);
    for (int victim = 0; victim < 3; victim++) {
        pid_t child[3];
        town_set_up(0);
        memset(steps.begun, 0, 3 * sizeof *steps.begun);
        for (int k = 0; k < 3; k++) {
            town_sides[k].terms.steps = 100000;
            town_sides[k].terms.rows = town_sides[k].data.rows = 20;
            town_sides[k].terms.step = .01;
            child[k] = fork();
            if (child[k] != 0)
                continue;
            steps.role = (size_t)k;
            if (k == 2)
                town_sides[k].data.rows = 0;
            town_act(&town_sides[k]);
            bool zeros = true;
            for (size_t j = 0; j < TOWN_D; j++)
                zeros = zeros && town_sides[k].w[j] == 0;
            _exit(town_sides[k].status == DP_EPEER && zeros ? 0 : 1);
        }
        const bool in_the_middle = all_step();
        const double killed = town_now();
        assert_int_equal(kill(child[victim], SIGKILL), 0);
        for (int k = 0; k < 3; k++) {
            int end;
            assert_int_equal(waitpid(child[k], &end, 0), child[k]);
            assert_true(k == victim ? WIFSIGNALED(end) : WIFEXITED(end) && WEXITSTATUS(end) == 0);
        }
        assert_true(in_the_middle);
        assert_true(town_now() - killed <
                    TOWN_PATIENCE / MS / 2); /* s: nobody waits for patience */
    }
    (void)munmap(steps.begun, 3 * sizeof *steps.begun);
    steps.begun = NULL;
}

static void a_party_that_does_not_come_is_named(void **state)
{
    (void)state;
    town_set_up(0);
    town_sides[1].opts.patience_ms = 400;
    town_act(&town_sides[1]);
    assert_fails(town_sides[1].status, DP_ETIMEOUT, &town_sides[1].err, "party 0 at 127.0.0.1");
    town_assert_nothing(&town_sides[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(owners_get_the_coefficients_of_one_table),
        cmocka_unit_test(with_noise_all_get_the_same),
        cmocka_unit_test(what_is_spent_is_that_of_two_shares_and_three),
        cmocka_unit_test(a_run_is_paid_before_anything_leaves),
        cmocka_unit_test(a_run_that_has_opened_anything_stays_spent),
        cmocka_unit_test(other_terms_end_it_before_a_row_leaves),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_of_no_use_is_refused),
        cmocka_unit_test(who_is_killed_ends_it_for_all),
        cmocka_unit_test(a_party_that_does_not_come_is_named),
    };
    return cmocka_run_group_tests(tests, town_make, town_clear);
}
