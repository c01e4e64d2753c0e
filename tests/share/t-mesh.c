/* Common randomness of three and four parties, whom it makes meet, what no party may ask for. */
#include "share/mesh.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/share/scene.h"

static const dpi_roles pairs[] = {3, 5, 6}, triples[] = {7, 11, 13, 14, 3};
static const dpi_share_row three = {.name = "three", .parties = 3, .sets = pairs, .n_sets = 3};
static const dpi_share_row four = {
    .name = "four", .parties = 4, .sets = triples, .n_sets = 5, .compares = true};

/* ---- randomness ---- */

enum { SETS = 16, DRAWN = 20000 };

typedef struct drawn {
    const dpi_share_row *row;
    unsigned char once[DPI_SHARE_PARTIES][SETS][DRAWN], pieces[DPI_SHARE_PARTIES][SETS][DRAWN];
    unsigned char later[DPI_SHARE_PARTIES][SETS][DRAWN], again[DPI_SHARE_PARTIES][SETS][DRAWN];
} drawn;

static void draw_all(dpi_party *p, void *user)
{
    static const size_t sizes[] = {1, 15, 16, 17, 4095, 4096, 4097, 5000};
    drawn *d = user;
    for (size_t s = 0; s < p->row->n_sets; s++) {
        dpi_roles set = p->row->sets[s];
        if ((set >> p->role & 1) == 0)
            continue;
        dpi_mesh_layer(p->mesh, 7);
        dpi_mesh_draw(p->mesh, set, d->once[p->role][set], DRAWN);
        dpi_mesh_layer(p->mesh, 8);
        dpi_mesh_draw(p->mesh, set, d->later[p->role][set], DRAWN);
        dpi_mesh_layer(p->mesh, 7);
        dpi_mesh_draw(p->mesh, set, d->again[p->role][set], DRAWN);
        dpi_mesh_layer(p->mesh, 7);
        for (size_t at = 0, k = 0; at < DRAWN; k++) {
            size_t n = sizes[k % (sizeof sizes / sizeof *sizes)];
            n = n < DRAWN - at ? n : DRAWN - at;
            dpi_mesh_draw(p->mesh, set, d->pieces[p->role][set] + at, n);
            at += n;
        }
    }
}

static bool alike(const unsigned char *a, const unsigned char *b)
{
    return memcmp(a, b, DRAWN) == 0;
}

static void check_drawn(const drawn *d)
{
    for (size_t s = 0; s < d->row->n_sets; s++) {
        dpi_roles set = d->row->sets[s];
        size_t first = 0;
        while ((set >> first & 1) == 0)
            first++;
        for (size_t r = first; r < d->row->parties; r++) {
            if ((set >> r & 1) == 0)
                continue;
            assert_true(alike(d->once[first][set], d->once[r][set]));
            assert_true(alike(d->later[first][set], d->later[r][set]));
        }
        assert_true(alike(d->once[first][set], d->pieces[first][set]));
        assert_true(alike(d->once[first][set], d->again[first][set]));
        assert_false(alike(d->once[first][set], d->later[first][set]));
        for (size_t t = 0; t < s; t++)
            for (size_t r = 0; r < d->row->parties; r++)
                assert_false((set >> r & d->row->sets[t] >> r & 1) != 0 &&
                             alike(d->once[r][set], d->once[r][d->row->sets[t]]));
    }
}

static void members_of_a_set_draw_the_same(void **state)
{
    const dpi_share_row *rows[] = {&three, &four};
    unsigned char *before = calloc(1, DRAWN);
    scene_end end[DPI_SHARE_PARTIES];
    drawn *d = calloc(1, sizeof *d);
    for (int k = 0; k < 4; k++) {
        d->row = rows[k % 2];
        const scene_opts o = {.row = d->row, .body = draw_all, .user = d};
        scene_run_well(*state, &o, end);
        check_drawn(d);
        assert_false(alike(before, d->once[0][3])); /* each session has others */
        memcpy(before, d->once[0][3], DRAWN);
    }
    free(before);
    free(d);
}

static void nothing(dpi_party *p, void *user)
{
    (void)p;
    (void)user;
}

static void sessions_of_another_context_do_not_meet(void **state)
{
    scene_end end[DPI_SHARE_PARTIES];
    for (size_t r = 0; r < 3; r++) {
        scene_opts o = {.row = &three, .body = nothing};
        o.lies_about[r] = 1;
        scene_run(*state, &o, end);
        for (size_t j = 0; j < 3; j++) {
            assert_false(end[j].met);
            assert_int_equal(end[j].err.status, DP_EPEER);
        }
    }
}

/* The first share that role 2 tells role 1, or its first digest. */
static void lie_in_keys(void *user, const scene_message *message)
{
    const size_t *number = user;
    if (message->kind == DPI_MESH_KEYS && message->from == 2 && message->to == 1 &&
        message->number == *number)
        message->bytes[message->n - 1] ^= 1;
}

static void a_role_that_gives_others_different_key_shares_is_found(void **state)
{
    scene_end end[DPI_SHARE_PARTIES];
    for (size_t number = 0; number < 2; number++) {
        const scene_opts o = {
            .row = &four, .body = nothing, .user = &number, .tamper = lie_in_keys};
        scene_run(*state, &o, end);
        for (size_t j = 0; j < 4; j++)
            assert_int_equal(end[j].err.status, DP_EPEER);
    }
}

/* ---- misuse ---- */

static void draw_of_others(dpi_party *p, void *user)
{
    unsigned char to[8];
    (void)user;
    if (p->role == 0)
        dpi_mesh_draw(p->mesh, 6, to, sizeof to);
}

static void ask_too_much(dpi_party *p, void *user)
{
    (void)user;
    if (p->role == 0)
        (void)dpi_mesh_room(p->mesh, 1, DPI_MESH_MOST + 1);
}

typedef struct misuse {
    const scene *s;
    const dpi_share_row *row;
    void (*body)(dpi_party *p, void *user);
} misuse;

static void run_misuse(void *of)
{
    const misuse *u = of;
    scene_end end[DPI_SHARE_PARTIES];
    (void)open("/dev/null", O_WRONLY); /* as standard error, which no socket must become */
    const scene_opts o = {.row = u->row, .body = u->body};
    scene_run(u->s, &o, end);
}

static void contracts_are_kept(void **state)
{
    misuse u[] = {{*state, &three, draw_of_others}, {*state, &three, ask_too_much}};
    for (int k = 0; k < 2; k++)
        assert_aborts(run_misuse, &u[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contracts_are_kept),
        cmocka_unit_test(members_of_a_set_draw_the_same),
        cmocka_unit_test(sessions_of_another_context_do_not_meet),
        cmocka_unit_test(a_role_that_gives_others_different_key_shares_is_found),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
