/* What several roles must have seen alike, and how they find out. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "share/mesh-parts.h"
#include "tests/share/scene.h"

static const dpi_roles triples[] = {7, 11, 13, 14};
static const dpi_share_row four = {
    .name = "four", .parties = 4, .sets = triples, .n_sets = 4, .compares = true};

enum { SEEN = 50000 }; /* bytes of a view */

typedef struct seen {
    dpi_roles set; /* in which somebody sees something else */
    size_t who, at;
    size_t times; /* comparisons */
    dp_status last[DPI_SHARE_PARTIES];
} seen;

static void see(dpi_party *p, void *user)
{
    seen *s = user;
    unsigned char *bytes = malloc(SEEN);
    for (size_t time = 0; time < s->times; time++) {
        for (dpi_roles set = 3; set < 16; set++) {
            if ((set & (set - 1)) == 0 || (set >> p->role & 1) == 0)
                continue;
            for (size_t i = 0; i < SEEN; i++)
                bytes[i] = (unsigned char)(set * 50 + time * 17 + (i * 7 >> 3));
            if (set == s->set && p->role == s->who && time + 1 == s->times)
                bytes[s->at / 8] ^= (unsigned char)(1 << s->at % 8);
            size_t first = 1 + p->role * 5555; /* pieces do not matter */
            dpi_mesh_view(p->mesh, set, bytes, first);
            dpi_mesh_view(p->mesh, set, bytes + first, SEEN - first);
        }
        if (time + 1 < s->times)
            s->last[p->role] = dpi_mesh_verify(p->mesh);
    }
    free(bytes);
}

static void views_that_are_alike_are_accepted(void **state)
{
    for (size_t times = 0; times < 4; times++) {
        seen s = {.times = times};
        scene_end end[DPI_SHARE_PARTIES];
        const scene_opts o = {.row = &four, .body = see, .user = &s};
        scene_run_well(*state, &o, end);
        for (size_t r = 0; r < 4; r++)
            assert_int_equal(s.last[r], DP_OK);
    }
}

static void a_bit_that_differs_in_a_view_ends_it_for_all(void **state)
{
    size_t tried = 0;
    for (dpi_roles set = 3; set < 16; set++)
        for (size_t who = 0; who < 4; who++) {
            seen s = {
                .set = set, .who = who, .at = tried * 37501 % (8 * SEEN), .times = 1 + tried % 2};
            if ((set & (set - 1)) == 0 || (set >> who & 1) == 0)
                continue;
            tried++;
            scene_end end[DPI_SHARE_PARTIES];
            const scene_opts o = {.row = &four, .body = see, .user = &s};
            scene_run(*state, &o, end);
            for (size_t r = 0; r < 4; r++) {
                assert_int_equal(s.last[r], DP_OK);
                assert_int_equal(end[r].err.status, DP_EPEER);
            }
        }
    assert_int_equal(tried, 28); /* of 11 sets: 6 of two, 4 of three and one of four */
}

typedef struct liar {
    dpi_mesh_kind kind;
    size_t who, to;
    seen s;
} liar;

static void lie(void *user, const scene_message *message)
{
    liar *l = user;
    if (message->kind == l->kind && message->from == l->who && message->to == l->to)
        message->bytes[message->n / 2] ^= 4;
}

static void see_honestly(dpi_party *p, void *user)
{
    liar *l = user;
    see(p, &l->s);
}

/* To one role, of a hash or a tag: that one ends.  The others have nothing against each other. */
static void who_lies_in_a_comparison_is_found_by_whom_it_lies_to(void **state)
{
    for (size_t who = 0; who < 4; who++)
        for (int k = 0; k < 2; k++) {
            liar l = {.kind = k == 0 ? DPI_MESH_DIGEST : DPI_MESH_TAG,
                      .who = who,
                      .to = (who + 1 + (size_t)k) % 4,
                      .s = {.times = 1}};
            scene_end end[DPI_SHARE_PARTIES];
            const scene_opts o = {.row = &four, .body = see_honestly, .user = &l, .tamper = lie};
            scene_run(*state, &o, end);
            assert_int_equal(end[l.to].err.status, DP_EPEER);
        }
}

/* ---- keys ---- */

typedef struct hashes {
    unsigned char of[DPI_MESH_SETS][DPI_SHARE_PARTIES][DPI_SHARE_PARTIES][16];
} hashes;

/* Everybody sees the same in all sets; what is hashed for each other role is looked at. */
static void look_at_hashes(dpi_party *p, void *user)
{
    hashes *h = user;
    for (dpi_roles set = 3; set < DPI_MESH_SETS; set++) {
        if ((set & (set - 1)) == 0 || (set >> p->role & 1) == 0)
            continue;
        dpi_mesh_view(p->mesh, set, "the same", 8);
        for (size_t j = 0; j < 4; j++) {
            EVP_CIPHER_CTX *copy = EVP_CIPHER_CTX_new(), *of = p->mesh->seen[set].hash[j];
            unsigned char none[16];
            int n;
            if (of != NULL &&
                (EVP_CIPHER_CTX_copy(copy, of) != 1 || EVP_EncryptFinal_ex(copy, none, &n) != 1 ||
                 EVP_CIPHER_CTX_ctrl(copy, EVP_CTRL_GCM_GET_TAG, 16, h->of[set][p->role][j]) != 1))
                abort();
            EVP_CIPHER_CTX_free(copy);
        }
    }
}

/* Two roles have the same, which nobody else has, in no other set and in no other session: a role
 * that knew it could make others see what is not the same and has the same hash. */
static void a_view_is_hashed_under_a_key_of_the_two(void **state)
{
    static hashes h[2];
    const unsigned char *all[2 * DPI_MESH_SETS * 6];
    size_t n = 0;
    for (int session = 0; session < 2; session++) {
        scene_end end[DPI_SHARE_PARTIES];
        const scene_opts o = {.row = &four, .body = look_at_hashes, .user = &h[session]};
        scene_run_well(*state, &o, end);
        for (dpi_roles set = 3; set < DPI_MESH_SETS; set++)
            for (size_t i = 0; i < 4; i++)
                for (size_t j = i + 1; j < 4; j++) {
                    if ((set >> i & 1) == 0 || (set >> j & 1) == 0)
                        continue;
                    all[n++] = h[session].of[set][i][j];
                    assert_memory_equal(h[session].of[set][i][j], h[session].of[set][j][i], 16);
                }
    }
    assert_int_equal(n, 2 * (6 + 4 * 3 + 6));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(all[i], all[j], 16);
}

/* Of the same views, of which there are none, with tags of their own each time: else one could put
 * together what it has heard before. */
enum { TIMES = 3 };

typedef struct heard {
    unsigned char tag[DPI_SHARE_PARTIES][TIMES][32];
} heard;

static void compare_nothing(dpi_party *p, void *user)
{
    (void)user;
    for (int time = 1; time < TIMES; time++)
        if (dpi_mesh_verify(p->mesh) != DP_OK)
            abort();
}

static void hear(void *user, const scene_message *message)
{
    heard *h = user;
    if (message->kind == DPI_MESH_TAG && message->to == (message->from + 1) % 4)
        memcpy(h->tag[message->from][message->number], message->bytes, message->n);
}

static void tags_never_repeat(void **state)
{
    heard h = {{{{0}}}};
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &four, .body = compare_nothing, .user = &h, .tamper = hear};
    scene_run_well(*state, &o, end);
    for (size_t i = 0; i < 4 * TIMES; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(h.tag[i / TIMES][i % TIMES], h.tag[j / TIMES][j % TIMES], 32);
}

static void view_of_others(dpi_party *p, void *user)
{
    (void)user;
    if (p->role == 0)
        dpi_mesh_view(p->mesh, 6, "", 1);
}

static void run_misuse(void *of)
{
    scene_end end[DPI_SHARE_PARTIES];
    const scene_opts o = {.row = &four, .body = view_of_others};
    (void)open("/dev/null", O_WRONLY); /* as standard error, which no socket must become */
    scene_run(of, &o, end);
}

static void a_role_adds_to_its_own_views(void **state)
{
    assert_aborts(run_misuse, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_adds_to_its_own_views),
        cmocka_unit_test(views_that_are_alike_are_accepted),
        cmocka_unit_test(a_bit_that_differs_in_a_view_ends_it_for_all),
        cmocka_unit_test(who_lies_in_a_comparison_is_found_by_whom_it_lies_to),
        cmocka_unit_test(a_view_is_hashed_under_a_key_of_the_two),
        cmocka_unit_test(tags_never_repeat),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
