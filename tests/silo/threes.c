#define _XOPEN_SOURCE 700
#include "tests/silo/threes.h"

#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/ledger.h>

#include "share/mesh-parts.h"
#include "share/trio.h"
#include "silo/plan.h"
#include "silo/trio-state.h"
#include "tests/lib/pause.h"
#include "wire/session.h"

/* ---- moments ---- */

static int moment, killed_at; /* of this process; 0: never */

static void pass_moment(void)
{
    if (++moment == killed_at)
        (void)raise(SIGKILL);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    pass_moment();
    const int got = __real_rename(from, to);
    pass_moment();
    return got;
}

dp_status __real_dpi_wire_move(dpi_wire_task *tasks, size_t n, uint32_t patience);
dp_status __wrap_dpi_wire_move(dpi_wire_task *tasks, size_t n, uint32_t patience);
dp_status __wrap_dpi_wire_move(dpi_wire_task *tasks, size_t n, uint32_t patience)
{
    pass_moment();
    const dp_status status = __real_dpi_wire_move(tasks, n, patience);
    pass_moment();
    return status;
}

void __real_dpi_mesh_post(dpi_mesh *m, size_t to);
void __wrap_dpi_mesh_post(dpi_mesh *m, size_t to);
void __wrap_dpi_mesh_post(dpi_mesh *m, size_t to)
{
    pass_moment();
    __real_dpi_mesh_post(m, to);
}

void __real_dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes);
void __wrap_dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes);
void __wrap_dpi_mesh_take(dpi_mesh *m, size_t from, void *to, size_t bytes)
{
    pass_moment();
    __real_dpi_mesh_take(m, from, to, bytes);
    pass_moment();
}

/* ---- what is opened ---- */

/* What a party was about to tell of numbers, and what it was told. */
typedef struct sight {
    uint64_t step, block;
    int what; /* 0: its piece; 1: the numbers */
    unsigned char hash[32];
} sight;

static uint64_t first_step, block;
static char sights[300]; /* a file of this process */

static void note(const dpi_party *p, int what, size_t n, const void *numbers)
{
    sight s;
    memset(&s, 0, sizeof s);
    s.step = p->mesh->layer == 0 ? first_step - 1 : p->mesh->layer;
    s.block = block;
    s.what = what;
    (void)crypto_generichash(s.hash, sizeof s.hash, numbers, n * sizeof(uint64_t), NULL, 0);
    const int file = open(sights, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file < 0 || write(file, &s, sizeof s) != (ssize_t)sizeof s || close(file) != 0)
        _exit(97);
}

dp_status __real_dpi_trio_state_opening(dpi_trio_state *s, dp_error *err);
dp_status __wrap_dpi_trio_state_opening(dpi_trio_state *s, dp_error *err);
dp_status __wrap_dpi_trio_state_opening(dpi_trio_state *s, dp_error *err)
{
    first_step = dpi_trio_state_first(s);
    block = 0;
    return __real_dpi_trio_state_opening(s, err);
}

joint threes_scene;

/* Whether noise is drawn.  Without it there is one opening, behind whichever steps. */
static bool is_noisy;

/* A file of the folder of a party's state. */
const char *threes_state(size_t k)
{
    static char paths[DP_SILO_TRIO][300];
    (void)snprintf(paths[k], sizeof paths[k], "%s/three", joint_path("state", k));
    return paths[k];
}

/* Nothing is told before all three have on their disks that it may be. */
static void look_at_all(const dpi_party *p)
{
    const uint64_t step = p->mesh->layer == 0 ? first_step - 1 : p->mesh->layer;
    for (size_t k = 0; k < DP_SILO_TRIO; k++) {
        unsigned char whose[DPI_SILO_HASH];
        dpi_silo_state s;
        bool there;
        dpi_silo_state_whose(threes_scene.plan->hash, threes_scene.plan->keys[k], whose);
        if (dpi_silo_state_peek(threes_state(k), whose, &s, &there, NULL) != DP_OK || !there ||
            s.round < 2 * (is_noisy ? step : 1))
            _exit(96);
        dpi_silo_state_free(&s);
    }
}

void __real_dpi_trio_open(dpi_party *p, dpi_roles to, const dpi_share *x, int64_t *out);
void __wrap_dpi_trio_open(dpi_party *p, dpi_roles to, const dpi_share *x, int64_t *out);
void __wrap_dpi_trio_open(dpi_party *p, dpi_roles to, const dpi_share *x, int64_t *out)
{
    if (dpi_mesh_status(p->mesh) == DP_OK)
        look_at_all(p);
    note(p, 0, x->n, x->part[0]);
    pass_moment();
    __real_dpi_trio_open(p, to, x, out);
    pass_moment();
    if (out != NULL && dpi_mesh_status(p->mesh) == DP_OK)
        note(p, 1, x->n, out);
    block++;
    pass_moment();
}

/* All that was seen of one thing is one, at any time; and of sums at any party. */
size_t threes_sights(void)
{
    static sight all[1 << 12];
    static size_t of[1 << 12];
    size_t n = 0;
    for (size_t k = 0; k < THREES; k++) {
        size_t bytes;
        if (access(joint_path("sights", k), F_OK) != 0)
            continue;
        const unsigned char *file = joint_load("sights", k, 0, &bytes);
        for (size_t at = 0; at + sizeof(sight) <= bytes; at += sizeof(sight)) {
            assert_true(n < 1 << 12);
            memcpy(&all[n], file + at, sizeof(sight));
            if (!is_noisy)
                all[n].step = 1;
            of[n++] = k;
        }
    }
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a; b++)
            if (all[a].what == all[b].what && all[a].step == all[b].step &&
                all[a].block == all[b].block && (of[a] == of[b] || (is_noisy && all[a].what == 1)))
                assert_memory_equal(all[a].hash, all[b].hash, sizeof all[a].hash);
    return n;
}

/* ---- scenes ---- */

static dp_silo_trio_data data[THREES];
static dp_silo_trio_party at[THREES];
char threes_names[TOWN_N + THREES_LACKING][16];
const char *threes_ids[2][TOWN_N];
double threes_x[TOWN_N * TOWN_D1];
static double second_y[TOWN_N];
static bool pays;

/* Two owners, in other orders and not of all the same people, and a helper. */
static void make_data(void)
{
    for (size_t i = 0; i < TOWN_N + THREES_LACKING; i++)
        (void)snprintf(threes_names[i], sizeof threes_names[i], "t%03zu", i);
    for (size_t i = 0; i < TOWN_N; i++) {
        const size_t place = i * 73 % TOWN_N,
                     of = place < THREES_LACKING ? TOWN_N + place : place - THREES_LACKING;
        threes_ids[0][i] = threes_names[i];
        threes_ids[1][i] = threes_names[of];
        second_y[i] = of < TOWN_N ? town_y[of] : 1;
        for (size_t c = 0; c < TOWN_D1; c++)
            threes_x[i * TOWN_D1 + c] = of < TOWN_N ? town_x[1][of * TOWN_D1 + c] : .3;
    }
    for (size_t k = 0; k < THREES; k++) {
        data[k] = town_sides[k].data;
        data[k].ids = k < 2 ? threes_ids[k] : NULL;
    }
    data[1].x = threes_x;
    data[1].y = second_y;
}

void threes_begin(bool noisy)
{
    static dp_silo_trio terms;
    is_noisy = noisy;
    pays = false;
    town_set_up(noisy ? 4 : 0);
    make_data();
    memset(&threes_scene, 0, sizeof threes_scene);
    plans_make(&threes_scene.p);
    terms = town_sides[0].terms;
    terms.name = NULL;
    terms.told = !noisy;
    terms.ids = "people";
    terms.steps = THREES_STEPS;
    threes_scene.p.opts = (dp_silo_opts){.name = "again",
                                         .scheme = noisy ? "trio+dp" : "trio",
                                         .trio = &terms,
                                         .n_owners = THREES,
                                         .owners = threes_scene.p.owners,
                                         .epsilon = noisy ? 4 : 0,
                                         .delta = noisy ? 1e-5 : 0,
                                         .seed = 11};
    joint_begin(&threes_scene);
    memcpy(at, town_sides[0].opts.party, sizeof at);
}

void threes_begin_again(void)
{
    for (size_t k = 0; k < THREES; k++) {
        (void)unlink(threes_state(k));
        (void)unlink(joint_path("sights", k));
    }
}

/* ---- processes ---- */

void threes_put(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

pid_t threes_start(size_t k, int when, uint32_t patience)
{
    threes_outcome got;
    dp_error err = {DP_OK, ""};
    dp_ledger *ledger = NULL;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child != 0)
        return child;
    memset(&got, 0, sizeof got);
    (void)snprintf(sights, sizeof sights, "%s", joint_path("sights", k));
    dp_silo_run_opts o = {.key = threes_scene.p.keys[k],
                          .state = joint_path("state", k),
                          .patience_ms = patience,
                          .at = at};
    if (pays && k < 2) {
        if (dp_ledger_open(joint_path("ledger", k), &ledger, NULL) != DP_OK)
            _exit(98);
        o.ledger = ledger;
        o.ledger_data = "records";
    }
    moment = 0;
    killed_at = when;
    dp_status status = dp_silo_run_trio(threes_scene.plan, &data[k], &o, &got.rows, got.w, &err);
    killed_at = 0;
    got.moments = moment;
    threes_put(joint_path("result", k), &got, sizeof got);
    threes_put(joint_path("message", k), err.text, strlen(err.text) + 1);
    dp_ledger_close(ledger);
    _exit((int)status);
}

const char *threes_message(size_t k)
{
    size_t n;
    return (const char *)joint_load("message", k, 0, &n);
}

const threes_outcome *threes_result(size_t k)
{
    size_t n;
    const threes_outcome *got =
        (const threes_outcome *)(const void *)joint_load("result", k, 0, &n);
    assert_int_equal(n, sizeof *got);
    return got;
}

/* All three run, and each that ends early runs again, with those that it may need, until all have
 * come to something.  Which were killed. */
unsigned threes_run(const int when[THREES])
{
    unsigned killed = 0, over = 0;
    pid_t process[THREES];
    for (size_t k = 0; k < THREES; k++)
        process[k] = threes_start(k, when[k], THREES_PATIENCE);
    for (int left = 60; over != 7;) {
        bool again = false;
        for (size_t k = 0; k < THREES; k++) {
            const int how = (over >> k & 1) != 0 ? JOINT_RUNNING : joint_look(process[k]);
            if (how == DP_OK) {
                over |= 1U << k;
            } else if (how != JOINT_RUNNING) {
                if (how != JOINT_KILLED && how != DP_EPEER && how != DP_ETIMEOUT)
                    fail_msg("party %zu: %d, %s", k, how, threes_message(k));
                killed |= how == JOINT_KILLED ? 1U << k : 0;
                process[k] = threes_start(k, 0, THREES_PATIENCE);
                again = true;
                assert_true(left-- > 0);
            }
        }
        for (size_t k = 0; k < THREES && again; k++)
            if ((over >> k & 1) != 0) {
                over &= ~(1U << k);
                process[k] = threes_start(k, 0, THREES_PATIENCE);
            }
        pause_for(1);
    }
    return killed;
}

const int threes_never[THREES];

void threes_same(const double *w /* nullable */)
{
    threes_outcome first = *threes_result(0);
    assert_int_equal(first.rows, TOWN_N - THREES_LACKING);
    assert_true(first.w[0] != 0);
    for (size_t k = 0; k < THREES; k++) {
        assert_int_equal(threes_result(k)->rows, first.rows);
        assert_memory_equal(threes_result(k)->w, w != NULL ? w : first.w, sizeof first.w);
    }
    assert_true(threes_sights() >= (is_noisy ? 6 * THREES_STEPS : 6));
}

/* ---- ledgers ---- */

void threes_make_ledgers(void)
{
    static const dp_budget budget = {.epsilon = 4, .delta = 1e-5, .adjacency = DP_REPLACE_ONE};
    for (size_t k = 0; k < 2; k++) {
        dp_ledger *ledger = NULL;
        dp_error err = {0};
        dp_dataset *records = plans_data(&threes_scene.p, k);
        const dp_ledger_source source = {.records = records};
        (void)unlink(joint_path("ledger", k));
        assert_ok(dp_ledger_create(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_add_data(ledger, "records", &source, &budget, &err), err.text);
        dp_ledger_close(ledger);
        dp_dataset_free(records);
    }
    pays = true;
}

void threes_ledgers(void)
{
    for (size_t k = 0; k < 2; k++) {
        dp_ledger *ledger = NULL;
        const dp_ledger_statement *all;
        dp_error err = {0};
        assert_ok(dp_ledger_open(joint_path("ledger", k), &ledger, &err), err.text);
        assert_ok(dp_ledger_read(ledger, &all, &err), err.text);
        size_t paid = 0; /* others were given back, as nothing was opened */
        for (size_t i = 0; i < all->data[0].n; i++) {
            const dp_ledger_entry *e = &all->data[0].entries[i];
            assert_true(e->settled != 0 && e->list[0].steps == e->begun[0]);
            assert_true(e->begun[0] == THREES_STEPS || e->begun[0] == 0);
            paid += e->begun[0] > 0;
        }
        assert_int_equal(paid, 1);
        dp_ledger_statement_free(all);
        dp_ledger_close(ledger);
    }
}

/* ---- moments of a run ---- */

/* Moments of a run that is not interrupted. */
void threes_count(int count[THREES])
{
    threes_begin_again();
    assert_int_equal(threes_run(threes_never), 0);
    for (size_t k = 0; k < THREES; k++)
        count[k] = threes_result(k)->moments;
    assert_true(count[0] > 30 && count[1] > 30 && count[2] > 30);
}
