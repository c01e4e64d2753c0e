/* Each allocation of a party fails in turn: it says so, all others end too, and nobody keeps
 * anything. */
#define _XOPEN_SOURCE 700
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/share/scene.h"

static const dpi_roles triples[] = {7, 11, 13, 14, 3};
static const dpi_share_row four = {
    .name = "four", .parties = 4, .sets = triples, .n_sets = 5, .compares = true};

/* ---- allocations, counted in one thread and alive in all ---- */

enum { MOST = 4096 };

static _Thread_local size_t countdown;
static atomic_bool failed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *live[MOST];
static size_t n_live;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (countdown > 0 && --countdown == 0) {
        atomic_store(&failed, true);
        return NULL;
    }
    void *block = __real_aligned_alloc(alignment, size);
    (void)pthread_mutex_lock(&lock);
    scene_must(block != NULL && n_live < MOST, "too many blocks");
    live[n_live++] = block;
    (void)pthread_mutex_unlock(&lock);
    return block;
}

void __wrap_free(void *block)
{
    (void)pthread_mutex_lock(&lock);
    for (size_t i = n_live; block != NULL && i > 0; i--)
        if (live[i - 1] == block) {
            live[i - 1] = live[--n_live];
            break;
        }
    (void)pthread_mutex_unlock(&lock);
    __real_free(block);
}

/* ---- a bit of everything ---- */

typedef struct victim {
    size_t role, k;
} victim;

static void begin(void *user, size_t role)
{
    const victim *v = user;
    countdown = role == v->role ? v->k : 0;
}

enum { LONG_MESSAGE = 100000 };

static void do_everything(dpi_party *p, void *user)
{
    unsigned char *to = malloc(LONG_MESSAGE);
    (void)user;
    for (size_t j = 0; j < 4; j++)
        for (size_t k = 0; k < 3 && j != p->role; k++) {
            memset(dpi_mesh_room(p->mesh, j, LONG_MESSAGE), (int)k, LONG_MESSAGE);
            dpi_mesh_post(p->mesh, j);
        }
    for (size_t j = 0; j < 4; j++) {
        if (j == p->role)
            continue;
        dpi_mesh_keep(p->mesh, j, LONG_MESSAGE);
        for (size_t k = 1; k < 3; k++)
            dpi_mesh_take(p->mesh, j, to, LONG_MESSAGE);
        dpi_mesh_take_kept(p->mesh, j, to, LONG_MESSAGE);
    }
    for (size_t s = 0; s < p->row->n_sets; s++) {
        if ((p->row->sets[s] >> p->role & 1) == 0)
            continue;
        dpi_mesh_draw(p->mesh, p->row->sets[s], to, LONG_MESSAGE);
        dpi_mesh_view(p->mesh, p->row->sets[s], to, LONG_MESSAGE);
    }
    free(to);
}

static void each_allocation_fails_in_turn(void **state)
{
    size_t seen = 0;
    for (size_t role = 0; role < 4; role += 3) {
        bool more = true;
        for (size_t k = 1; more; k++) {
            victim v = {.role = role, .k = k};
            scene_end end[DPI_SHARE_PARTIES];
            const scene_opts o = {.row = &four, .body = do_everything, .user = &v, .begin = begin};
            size_t before = n_live;
            atomic_store(&failed, false);
            scene_run(*state, &o, end);
            assert_int_equal(n_live, before);
            more = atomic_load(&failed);
            if (end[role].err.status != DP_OK)
                assert_int_equal(end[role].err.status, DP_ENOMEM);
            for (size_t r = 0; r < 4; r++) { /* buffers of links need not grow */
                if (r == role)
                    continue;
                assert_int_equal(end[r].err.status,
                                 end[role].err.status == DP_OK ? DP_OK : DP_EPEER);
            }
            seen += end[role].err.status != DP_OK;
            assert_true(more || end[role].err.status == DP_OK);
        }
    }
    assert_true(seen > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_in_turn),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
