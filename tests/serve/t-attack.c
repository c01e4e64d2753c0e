/* Against the protocol as published (without masks) all weights of the first layer come out,
 * exactly, in a few queries; against masks none do, in either mode.  What masks cannot stop, since
 * it is what mode permute shows, takes a query for each input. */
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"
#include "tests/serve/attack.h"

enum { KEY = 512, INPUTS = 42, NEURONS = 12 };

static dp_program *network(bool hidden)
{
    double w[NEURONS * INPUTS], b[NEURONS], v[3 * NEURONS];
    uint64_t numbers = 8;
    dp_error err = {0};
    for (int i = 0; i < NEURONS * INPUTS; i++)
        w[i] = next_number(&numbers);
    for (int i = 0; i < NEURONS; i++)
        b[i] = next_number(&numbers);
    for (int i = 0; i < 3 * NEURONS; i++)
        v[i] = next_number(&numbers);
    dp_program *p = dp_program_new();
    int h = dp_program_dense(p, dp_program_input(p, INPUTS, "x", -1, 1), NEURONS, w, b);
    if (hidden)
        (void)dp_program_dense(p, dp_program_relu(p, h), 3, v, NULL);
    const dp_scale_opts opts = {.weight_bits = 10, .activation_bits = 12};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

static size_t recovered(const dp_program *p, dpi_mode mode, attack_how how, bool bare,
                        size_t *queries)
{
    dp_error err = {0};
    size_t found;
    const attack_opts o = {.program = p, .mode = mode, .how = how, .bare = bare, .key_bits = KEY};
    assert_ok(attack(&o, &found, queries, &err), err.text);
    return found;
}

static void published_permutations_give_all_weights(void **state)
{
    (void)state;
    size_t queries;
    dp_program *p = network(true);
    assert_int_equal(recovered(p, DPI_MODE_PERMUTE, ATTACK_DIGITS, true, &queries), NEURONS);
    assert_int_equal(queries, 3);
    dp_program_free(p);
}

static void masks_give_none(void **state)
{
    (void)state;
    size_t queries;
    dp_program *p = network(true), *q = network(false);
    assert_int_equal(recovered(p, DPI_MODE_PERMUTE, ATTACK_DIGITS, false, &queries), 0);
    assert_int_equal(recovered(q, DPI_MODE_LINEAR, ATTACK_DIGITS, false, &queries), 0);
    /* It is the mask that does it. */
    assert_int_equal(recovered(q, DPI_MODE_LINEAR, ATTACK_DIGITS, true, &queries), NEURONS);
    dp_program_free(p);
    dp_program_free(q);
}

static void permutations_give_a_weight_a_query(void **state)
{
    (void)state;
    size_t queries;
    dp_program *p = network(true);
    assert_int_equal(recovered(p, DPI_MODE_PERMUTE, ATTACK_UNITS, false, &queries), NEURONS);
    assert_int_equal(queries, INPUTS + 1);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_permutations_give_all_weights),
        cmocka_unit_test(masks_give_none),
        cmocka_unit_test(permutations_give_a_weight_a_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
