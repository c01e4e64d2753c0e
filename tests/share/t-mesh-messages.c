/* Messages between three and four parties: of all sizes, ahead of whoever is late, while others are
 * waited for, and kept on tapes; and how whoever is lost ends it for all. */
#include "share/mesh.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/pause.h"
#include "tests/share/scene.h"

static const dpi_roles pairs[] = {3, 5, 6}, triples[] = {7, 11, 13, 14, 3};
static const dpi_share_row three = {.name = "three", .parties = 3, .sets = pairs, .n_sets = 3};
static const dpi_share_row four = {
    .name = "four", .parties = 4, .sets = triples, .n_sets = 5, .compares = true};

static unsigned char byte_of(size_t from, size_t to, size_t k, size_t i)
{
    return (unsigned char)(from * 50 + to * 17 + k * 5 + (i * 7 >> 3));
}

/* ---- messages ---- */

static const size_t sizes[] = {0, 1,       16383,   16384,   16385,   1 << 20,
                               0, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 3};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

typedef struct sent {
    unsigned wrong[DPI_SHARE_PARTIES];
    atomic_bool begun;
} sent;

static bool comes(const dpi_party *p, size_t from, size_t k, size_t n, unsigned char *to)
{
    memset(to, 0xa5, n);
    dpi_mesh_take(p->mesh, from, to, n);
    for (size_t i = 0; i < n; i++)
        if (to[i] != byte_of(from, p->role, k, i))
            return false;
    return true;
}

static void give(const dpi_party *p, size_t to, size_t k, size_t n)
{
    unsigned char *room = dpi_mesh_room(p->mesh, to, n);
    if ((uintptr_t)room % 64 != 0)
        abort();
    for (size_t i = 0; i < n; i++)
        room[i] = byte_of(p->role, to, k, i);
    dpi_mesh_post(p->mesh, to);
}

/* Everybody posts everything before anything is taken. */
static void post_and_take(dpi_party *p, void *user)
{
    sent *s = user;
    unsigned char *to = malloc(DPI_MESH_MOST);
    for (size_t j = 0; j < p->row->parties; j++)
        for (size_t k = 0; k < N_SIZES && j != p->role; k++)
            give(p, j, k, sizes[k]);
    for (size_t k = 0; k < N_SIZES; k++)
        for (size_t j = 0; j < p->row->parties; j++)
            s->wrong[p->role] += j != p->role && !comes(p, j, k, sizes[k], to);
    free(to);
}

static void messages_of_all_sizes_pass_each_other(void **state)
{
    const dpi_share_row *rows[] = {&three, &four};
    for (int k = 0; k < 2; k++) {
        sent s = {.begun = false};
        scene_end end[DPI_SHARE_PARTIES];
        const scene_opts o = {.row = rows[k], .body = post_and_take, .user = &s};
        scene_run_well(*state, &o, end);
        for (size_t r = 0; r < rows[k]->parties; r++) {
            assert_int_equal(s.wrong[r], 0);
            assert_int_equal(end[r].traffic.turns, 1);
            for (size_t j = 0; j < rows[k]->parties; j++)
                assert_int_equal(end[r].traffic.messages[j], j != r ? N_SIZES : 0);
        }
    }
}

enum { MANY = 40, BIG = 1 << 20 };

/* Role 0 posts 40 MB ahead of a role that is late: of which more than what may wait and what the
 * system has room for. */
static void run_ahead(dpi_party *p, void *user)
{
    sent *s = user;
    unsigned char *to = malloc(BIG);
    if (p->role == 1) {
        pause_for(100);
        atomic_store(&s->begun, true);
    }
    for (size_t k = 0; k < MANY; k++) {
        if (p->role == 0)
            give(p, 1, k, BIG);
        if (p->role == 1)
            s->wrong[1] += !comes(p, 0, k, BIG, to);
    }
    if (p->role == 2)
        give(p, 1, 0, BIG); /* which goes on its way though nobody takes it for long */
    if (p->role == 1)
        s->wrong[1] += !comes(p, 2, 0, BIG, to);
    if (p->role == 0)
        s->wrong[0] += !atomic_load(&s->begun);
    free(to);
}

static void whoever_runs_ahead_waits_for_the_others(void **state)
{
    sent s = {.begun = false};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &three, .body = run_ahead, .user = &s};
    scene_run_well(*state, &o, end);
    assert_int_equal(s.wrong[0], 0);
    assert_int_equal(s.wrong[1], 0);
    assert_int_equal(end[0].traffic.online[1], (uint64_t)MANY * BIG);
    assert_int_equal(end[0].traffic.online[2], 0);
    assert_int_equal(end[1].traffic.turns, 0);
}

/* Role 0 waits for role 2, who waits for role 1, who waits for what role 0 has not sent yet. */
static void wait_in_a_row(dpi_party *p, void *user)
{
    sent *s = user;
    unsigned char *to = malloc(BIG);
    for (size_t k = 0; k < 6 && p->role == 0; k++)
        give(p, 1, k, BIG);
    for (size_t k = 0; k < 6 && p->role == 1; k++)
        s->wrong[1] += !comes(p, 0, k, BIG, to);
    if (p->role > 0)
        give(p, p->role == 1 ? 2 : 0, 9, 10);
    if (p->role == 2)
        s->wrong[2] += !comes(p, 1, 9, 10, to);
    if (p->role == 0)
        s->wrong[0] += !comes(p, 2, 9, 10, to);
    free(to);
}

static void what_is_posted_goes_out_while_others_are_waited_for(void **state)
{
    sent s = {.begun = false};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &three, .body = wait_in_a_row, .user = &s};
    scene_run_well(*state, &o, end);
    for (size_t r = 0; r < 3; r++)
        assert_int_equal(s.wrong[r], 0);
}

/* Role 0 posts little, and then is busy with something else for longer than role 1 waits. */
static void post_and_compute(dpi_party *p, void *user)
{
    sent *s = user;
    unsigned char to[10];
    for (uint32_t k = 0; k < 3 && p->role < 2; k++) {
        if (p->role == 0)
            give(p, 1, k, k > 0 ? 10 : 0);
        dpi_mesh_layer(p->mesh, 2 + k);
        if (p->role == 1)
            s->wrong[1] += !comes(p, 0, k, k > 0 ? 10 : 0, to);
    }
    if (p->role == 0)
        pause_for(2500);
}

static void what_is_posted_goes_out_when_a_layer_begins(void **state)
{
    sent s = {.begun = false};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &three, .body = post_and_compute, .user = &s, .timeout = 2000};
    scene_run_well(*state, &o, end);
    assert_int_equal(s.wrong[1], 0);
}

/* Rounds, each of a message to everybody, of which some belong to a preparation. */
static void prepare_and_answer(dpi_party *p, void *user)
{
    sent *s = user;
    unsigned char to[300];
    dpi_mesh_preparing(p->mesh, true);
    for (size_t k = 0; k < 3 && p->role == 0 && p->phase != DPI_ONLINE; k++)
        give(p, 2, k, 100 * k);
    dpi_mesh_preparing(p->mesh, false);
    for (size_t k = 0; k < 3 && p->role == 2; k++) {
        memset(to, 0xa5, sizeof to);
        if (p->phase == DPI_PREPARE)
            dpi_mesh_keep(p->mesh, 0, 100 * k);
        if (p->phase == DPI_ONLINE)
            dpi_mesh_take_kept(p->mesh, 0, to, 100 * k);
        if (p->phase == DPI_TOGETHER)
            dpi_mesh_take(p->mesh, 0, to, 100 * k);
        for (size_t i = 0; i < 100 * k && p->phase != DPI_PREPARE; i++)
            s->wrong[2] += to[i] != byte_of(0, 2, k, i);
    }
    if (p->phase == DPI_PREPARE || p->role == 0)
        return;
    for (size_t k = 0; k < 5; k++) {
        give(p, 3 - p->role, k, 8);
        s->wrong[p->role] += !comes(p, 3 - p->role, k, 8, to);
    }
}

static void what_is_prepared_is_kept_until_it_is_read(void **state)
{
    for (int apart = 0; apart < 2; apart++) {
        sent s = {.begun = false};
        scene_end end[DPI_SHARE_PARTIES];
        const scene_opts o = {
            .row = &three, .body = prepare_and_answer, .user = &s, .apart = apart != 0};
        scene_run_well(*state, &o, end);
        for (size_t r = 0; r < 3; r++) {
            assert_int_equal(s.wrong[r], 0);
            assert_int_equal(end[r].traffic.prepared[2], r == 0 ? 300 : 0);
            assert_int_equal(end[r].traffic.turns, r == 0 ? 0 : 5);
        }
        assert_int_equal(end[1].traffic.online[2], 40);
        assert_int_equal(end[1].traffic.messages[2], 5);
    }
}

static void read_what_is_not_there(dpi_party *p, void *user)
{
    unsigned char to[8];
    (void)user;
    if (p->role == 0)
        give(p, 1, 0, 8);
    if (p->role != 1)
        return;
    dpi_mesh_keep(p->mesh, 0, 8);
    dpi_mesh_take_kept(p->mesh, 0, to, 4);
    for (size_t i = 0; i < 4; i++)
        if (to[i] != 0)
            abort();
}

static void a_tape_is_read_as_it_was_kept(void **state)
{
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &three, .body = read_what_is_not_there};
    scene_run(*state, &o, end);
    assert_int_equal(end[1].err.status, DP_ESTATE);
}

/* ---- errors ---- */

typedef enum ending { GOES, IS_SILENT, FAILS, SENDS_LESS } ending;

typedef struct lost {
    size_t who;
    ending how;
    unsigned wrong[DPI_SHARE_PARTIES];
    atomic_uint ended; /* roles */
} lost;

/* Whether the others end while this role still has its links: in a minute, which is less than they
 * would wait for it. */
static bool others_end(lost *l)
{
    for (int k = 0; k < 6000 && atomic_load(&l->ended) < 2; k++)
        pause_for(10);
    return atomic_load(&l->ended) == 2;
}

static void stop_in_the_middle(dpi_party *p, void *user)
{
    lost *l = user;
    unsigned char to[64];
    for (size_t k = 0; k < 10; k++) {
        if (k == 5 && p->role == l->who) {
            if (l->how == FAILS) { /* which the others hear at once */
                dpi_mesh_fail(p->mesh, DP_EDATA, "something is not as it should be");
                l->wrong[p->role] += !others_end(l);
            }
            if (l->how == IS_SILENT)
                pause_for(700);
            if (l->how == GOES || l->how == IS_SILENT)
                return;
        }
        bool less = l->how == SENDS_LESS && k == 5 && p->role == l->who;
        for (size_t j = 0; j < p->row->parties; j++)
            if (j != p->role)
                give(p, j, k, less ? 63 : 64);
        for (size_t j = 0; j < p->row->parties; j++) {
            if (j == p->role)
                continue;
            bool good = comes(p, j, k, 64, to);
            for (size_t i = 0; i < 64 && dpi_mesh_status(p->mesh) != DP_OK; i++)
                l->wrong[p->role] += to[i] != 0; /* zeros after an error */
            l->wrong[p->role] += !good && dpi_mesh_status(p->mesh) == DP_OK;
        }
    }
    (void)dpi_mesh_room(p->mesh, (p->role + 1) % p->row->parties, DPI_MESH_MOST);
    atomic_fetch_add(&l->ended, 1);
}

static void whoever_is_lost_ends_it_for_all(void **state)
{
    static const ending endings[] = {GOES, IS_SILENT, FAILS, SENDS_LESS};
    for (size_t who = 0; who < 3; who++)
        for (int k = 0; k < 4; k++) {
            lost l = {.who = who, .how = endings[k]};
            scene_end end[DPI_SHARE_PARTIES];
            const scene_opts o = {.row = &three,
                                  .body = stop_in_the_middle,
                                  .user = &l,
                                  .unverified = true,
                                  .timeout = l.how == IS_SILENT ? 200 : 0};
            scene_run(*state, &o, end);
            for (size_t r = 0; r < 3; r++) {
                int status = end[r].err.status;
                assert_int_equal(l.wrong[r], 0);
                if (r != who)
                    assert_true(status == DP_EPEER ||
                                (l.how == IS_SILENT && status == DP_ETIMEOUT));
                else if (l.how == FAILS)
                    assert_int_equal(status, DP_EDATA);
            }
            if (l.how == FAILS)
                assert_contains(end[who].err.text, "as it should be");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_all_sizes_pass_each_other),
        cmocka_unit_test(whoever_runs_ahead_waits_for_the_others),
        cmocka_unit_test(what_is_posted_goes_out_while_others_are_waited_for),
        cmocka_unit_test(what_is_posted_goes_out_when_a_layer_begins),
        cmocka_unit_test(what_is_prepared_is_kept_until_it_is_read),
        cmocka_unit_test(a_tape_is_read_as_it_was_kept),
        cmocka_unit_test(whoever_is_lost_ends_it_for_all),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
