/* Plans, searches and simulations with each allocation failing in turn. */
#include <stdlib.h>

#include "cluster/network.h"
#include "tests/lib/check.h"

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

static const dpi_costs costs = {.operation = {1, 1, .02, .02}, .bytes = .7, .bandwidth = 1};
static const double none[60];
static const dpi_network few = {"few", 1, {{1, 3, 5}}};

static dpi_ways ways(void)
{
    dpi_ways w = {.a = none};
    for (uint32_t k = 0; k < DPI_GROUPS; k++) {
        w.boot[k] = (dpi_spread_boot){.dft = {{2, 2, 2}, {1, 2, 2}, 0},
                                      .way = {1U << (k < 2 ? k : 2), 2, true},
                                      .degree = 15,
                                      .doublings = 1,
                                      .a = none};
        w.sign[k] = w.boot[k].way;
    }
    return w;
}

/* Three ciphertexts on two or four cards. */
static dp_status networks(size_t cards, dpi_rest rest, dp_error *err)
{
    const dpi_ways w = ways();
    const dpi_mapping m = {.cards = cards, .costs = &costs, .ways = &w, .rest = rest};
    dpi_network_times t;
    const dp_status status = dpi_network_simulate(&few, &m, 5, &t, err);
    assert_true(status == DP_OK ? t.total < 1e9 : t.total > 1e9);
    return status;
}

static dp_status searches(dp_error *err)
{
    dpi_polynomial_way way;
    dpi_dft dft;
    double seconds;
    const dp_status status = dpi_polynomial_search(3, 1, 2, &costs, &way, &seconds, err);
    return status != DP_OK ? status : dpi_dft_find(3, 1, &costs, &dft, err);
}

static dp_status all(dp_error *err)
{
    dp_status status = DP_OK;
    for (int rest = 0; rest < 3 && status == DP_OK; rest++)
        status = networks(2, (dpi_rest)rest, err);
    if (status == DP_OK)
        status = networks(4, DPI_REST_ALONE, err);
    return status == DP_OK ? searches(err) : status;
}

static void each_allocation_may_fail(void **state)
{
    dp_error err = {0};
    (void)state;
    allocations = failing = 0;
    assert_ok(all(&err), err.text);
    const int most = allocations < 400 ? allocations : 400;
    for (int k = 1; k <= most; k++) {
        allocations = 0;
        failing = k;
        assert_int_equal(all(&err), DP_ENOMEM);
    }
    failing = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
