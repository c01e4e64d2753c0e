/* Looks at a matrix that stays are averaged; of one that goes, the last one counts. */
#include "infer/looks.h"

#include <math.h>

#include <tacit/random.h>

#include "tests/lib/check.h"

enum { DENSE = 10, ALL = 16, LOOKS = 4, SETS = 200 };

typedef struct scene {
    dpi_arena arena;
    dpi_looks looks;
    dp_rng *rng;
} scene;

static void set_up(scene *s, uint64_t seed)
{
    dp_error err = {0};
    *s = (scene){.rng = NULL};
    assert_ok(dp_rng_new(seed, &s->rng, &err), err.text);
    assert_true(dpi_looks_init(&s->looks, ALL, DENSE, &s->arena));
}

static void tear_down(scene *s)
{
    dp_rng_free(s->rng);
    dpi_arena_free(&s->arena);
}

/* A look at numbers that are all x. */
static void look(scene *s, double x, double sd)
{
    double found[ALL];
    dp_rng_normal(s->rng, ALL, found);
    for (size_t e = 0; e < ALL; e++)
        found[e] = x + sd * found[e];
    dpi_looks_join(&s->looks, found, sd);
}

/* Noise is taken for a change in 1 of 40 sets (chi-square, three times); in all the others the mean
 * of the looks is what is known, to rounding. */
static void what_stays_is_averaged(void **state)
{
    size_t averaged = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        scene s;
        double mean[ALL] = {0}, found[ALL];
        set_up(&s, seed);
        for (size_t k = 0; k < LOOKS; k++) {
            dp_rng_normal(s.rng, ALL, found);
            for (size_t e = 0; e < ALL; e++) {
                found[e] = 3 + 0.5 * found[e];
                mean[e] += found[e] / LOOKS;
            }
            dpi_looks_join(&s.looks, found, 0.5);
        }
        bool same = fabs(s.looks.variance - 1.0 / LOOKS) < 1e-12;
        for (size_t e = 0; e < ALL && same; e++)
            assert_close(s.looks.known[e], mean[e], 1e-12, 0);
        averaged += same;
        tear_down(&s);
    }
    if (averaged < SETS - 12)
        fail_msg("averaged in %zu of %d sets", averaged, SETS);
}

/* Behind a move of ten standard deviations next to nothing is left of what was known before, in the
 * numbers beside the dense block, too. */
static void what_goes_is_followed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SETS; seed++) {
        scene s;
        set_up(&s, seed);
        look(&s, 0, 1);
        look(&s, 0, 1);
        look(&s, 10, 1);
        if (!(s.looks.variance > 0.9 && s.looks.variance < 1))
            fail_msg("seed %zu: variance %g", (size_t)seed, s.looks.variance);
        for (size_t e = 0; e < ALL; e++)
            assert_true(s.looks.known[e] > 4);
        look(&s, 10, 1);
        assert_true(s.looks.variance < 0.9);
        tear_down(&s);
    }
}

static void without_noise_the_last_look_is_right(void **state)
{
    scene s;
    (void)state;
    set_up(&s, 1);
    for (size_t k = 0; k < LOOKS; k++)
        look(&s, (double)k, 0);
    for (size_t e = 0; e < ALL; e++)
        assert_true(s.looks.known[e] == LOOKS - 1);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_is_averaged),
        cmocka_unit_test(what_goes_is_followed),
        cmocka_unit_test(without_noise_the_last_look_is_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
