/* Each allocation of a party in a regression by three fails in turn: it says so, the others end
 * too, and nobody has coefficients. */
#include "silo/trio.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "tests/silo/trio-scene.h"

enum { MOST = 400 };

static _Thread_local size_t countdown;
static atomic_bool failed;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (countdown > 0 && --countdown == 0) {
        atomic_store(&failed, true);
        return NULL;
    }
    return __real_aligned_alloc(alignment, size);
}

static size_t victim, which;

static void begin(void *user, size_t role)
{
    (void)user;
    countdown = role == victim ? which : 0;
}

static bool ends_well(const scene *s, double z)
{
    trio_table t = {.terms = {.logistic = z > 0,
                              .rows = 64,
                              .outcome = 1,
                              .columns = {2, 1, 0},
                              .row_most = {1, 1, 0},
                              .outcome_most = 1,
                              .residual_most = z > 0,
                              .steps = 2,
                              .step = .5,
                              .z = z,
                              .told = z == 0},
                    .begin = begin};
    trio_draw(&t);
    trio_run(s, &t);
    const bool good = !atomic_load(&failed);
    bool all = true;
    for (size_t p = 0; p < DPI_TRIO_ROLES; p++) {
        const trio_side *side = &t.side[p];
        assert_true((side->status == DP_OK) == (side->w[0] != 0));
        assert_true(!good || side->status == DP_OK);
        all = all && side->status == DP_OK;
    }
    /* All may have come to an end before it failed; else there was no memory, or no mesh. */
    const dp_status status = t.side[victim].status;
    assert_true(all || status == DP_ENOMEM || status == DP_ESTATE);
    trio_drop(&t);
    return good;
}

static void each_allocation_may_fail(void **state)
{
    for (victim = 0; victim < DPI_TRIO_ROLES; victim++)
        for (int noisy = 0; noisy < 2; noisy++) {
            bool good = false;
            for (which = 1; !good && which < MOST; which++) {
                atomic_store(&failed, false);
                good = ends_well(*state, noisy == 1 ? 5 : 0);
            }
            assert_true(good && which > 20);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
