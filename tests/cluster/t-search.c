/* Hydra's table V: its rows for 1 and 8 cards are optima, and those for 64 are near them. */
#include "cluster/search.h"

#include "tests/lib/check.h"

static const dpi_dft_costs costs = {
    .rotation = 1, .times = .02, .sum = .02, .send = .7, .falling = .1};

static const dpi_dft table[4][3] = {
    {{{16, 16, 16}, {4, 4, 4}, 0}, {{16, 16, 16}, {1, 2, 2}, 0}, {{8, 4, 128}, {1, 1, 2}, 0}},
    {{{16, 16, 32}, {4, 4, 8}, 0}, {{32, 16, 16}, {2, 2, 2}, 0}, {{8, 8, 128}, {1, 1, 2}, 0}},
    {{{32, 16, 32}, {4, 4, 8}, 0}, {{32, 16, 32}, {2, 2, 2}, 0}, {{8, 16, 128}, {1, 1, 2}, 0}},
    {{{32, 32, 32}, {4, 8, 8}, 0}, {{32, 16, 64}, {2, 2, 4}, 0}, {{8, 32, 128}, {1, 1, 2}, 0}}};

static void table_v_is_found(void **state)
{
    (void)state;
    for (size_t row = 0; row < 4; row++)
        for (size_t column = 0; column < 3; column++) {
            const size_t cards = (size_t)1 << 3 * column;
            const dpi_dft found = dpi_dft_search(12 + row, cards, &costs);
            const double paper = dpi_dft_seconds(&table[row][column], &costs, cards);
            assert_true(paper >= found.seconds * (1 - 1e-12));
            assert_true(paper <= found.seconds * (column < 2 ? 1 + 1e-12 : 1.025));
        }
}

static void many_cards_help_one_dft_little(void **state)
{
    static const double speedup[] = {1, 1.28, 1.68, 2.01, 2.29, 2.47, 2.62};
    const double one = dpi_dft_search(15, 1, &costs).seconds;
    (void)state;
    for (size_t k = 0; k < 7; k++)
        assert_close(one / dpi_dft_search(15, (size_t)1 << k, &costs).seconds, speedup[k], 0, .005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(table_v_is_found),
                                       cmocka_unit_test(many_cards_help_one_dft_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
