/* Times of decryption and encryption tell nothing of the secret, as far as a few seconds of each
 * show; and the same comparison sees a leak of a quarter of the time. */
#include "tests/crypto/timing.h"
#include "tests/lib/check.h"

enum { KEY_BITS = 1024, INPUTS = 128, LEAST = 2000, SECONDS = 2 };

static void times_tell_nothing(void **state)
{
    (void)state;
    timing_case c;
    timing_scene *scene = timing_scene_new(KEY_BITS, INPUTS);
    for (size_t k = 0; timing_scene_case(scene, k, &c); k++) {
        if (c.run == NULL)
            continue;
        timing_result r = timing_measure(&c, timing_samples(&c, SECONDS, LEAST), 0);
        print_message("%s, %s: |t| = %.2f; %.2f %% would be certain\n", c.name, c.backend, r.t,
                      100 * r.seen / r.mean);
        assert_true(r.t < TIMING_CERTAIN);
    }
    timing_scene_free(scene);
}

static void a_leak_is_seen(void **state)
{
    (void)state;
    timing_case c;
    timing_scene *scene = timing_scene_new(KEY_BITS, INPUTS);
    for (size_t k = 0; timing_scene_case(scene, k, &c); k++) {
        if (c.run == NULL)
            continue;
        timing_result r =
            timing_measure(&c, timing_samples(&c, SECONDS, LEAST), timing_steps(&c, .25));
        print_message("%s, %s: |t| = %.1f with a leak\n", c.name, c.backend, r.t);
        assert_true(r.t > TIMING_CERTAIN);
    }
    timing_scene_free(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_tell_nothing),
        cmocka_unit_test(a_leak_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
