/* Ten thousand vectors, encrypted, summed and opened. */
#include "tests/crypto/threshold-scene.h"
#include "tests/lib/check.h"

static void ten_thousand_vectors_are_summed_exactly(void **state)
{
    static const size_t owners[] = {2, 3, 5, 8};
    size_t vectors = 0;
    (void)state;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        scene x;
        scene_start(&x, owners[i], 1 << 20);
        for (size_t round = 0; round * owners[i] < 2500; round++, vectors += owners[i]) {
            scene_make(&x, 1 + round * 7 % 8192, (int)round % 3);
            scene_partials(&x);
            scene_check(&x);
        }
        scene_end(&x);
    }
    assert_true(vectors >= 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_vectors_are_summed_exactly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
