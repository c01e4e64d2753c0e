/* What tells all or nothing: its delta is added to that of the rest, and nothing else takes it. */
#include <tacit/accountant.h>

#include <math.h>
#include <string.h>

#include "accountant/answers/rare.h"
#include "tests/lib/check.h"

static dp_mechanism rare(double chance, uint64_t steps)
{
    return (dp_mechanism){.sampling = DP_SAMPLING_FULL,
                          .rate = 1,
                          .steps = steps,
                          .sigma = chance,
                          .noise = DP_NOISE_ALL_OR_NOTHING,
                          .adjacency = DP_REPLACE_ONE};
}

static const dp_mechanism normal = {.sampling = DP_SAMPLING_FULL,
                                    .rate = 1,
                                    .steps = 20,
                                    .sigma = 12.5,
                                    .adjacency = DP_REPLACE_ONE};

/* mu = 2 sqrt(20) / 12.5; delta of the closed form. */
static double gaussian_delta(double epsilon)
{
    const double mu = 2 * sqrt(20) / 12.5;
    return erfc((epsilon / mu - mu / 2) / sqrt(2)) / 2 -
           exp(epsilon) * erfc((epsilon / mu + mu / 2) / sqrt(2)) / 2;
}

static void its_chance_is_added_to_delta(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval d;
    const dp_mechanism list[] = {normal, rare(1e-3, 7)};
    const double told = 1 - pow(1 - 1e-3, 7);
    assert_ok(dp_account_delta(list, 2, 1.5, 0, &d, &err), err.text);
    const double whole = told + (1 - told) * gaussian_delta(1.5);
    assert_true(d.lower <= whole && whole <= d.upper);
    assert_close(d.upper, whole, 1e-9, 0);
    assert_close(d.lower, whole, 1e-9, 0);
    assert_true(isnan(d.estimate));
}

static void epsilon_is_that_of_the_rest_at_what_is_left(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval e, whole;
    const dp_mechanism list[] = {rare(2e-6, 1), normal};
    const double delta = 1e-5, left = (delta - 2e-6) / (1 - 2e-6);
    assert_ok(dp_account_epsilon(list, 2, delta, 0, &e, &err), err.text);
    assert_ok(dp_account_epsilon(&normal, 1, left, 0, &whole, &err), err.text);
    assert_close(e.upper, whole.upper, 1e-9, 0);
    assert_close(e.lower, whole.lower, 1e-9, 0);
    assert_true(e.lower <= whole.upper && e.upper >= whole.lower);
    assert_close(gaussian_delta(e.upper), left, 1e-6, 0);
}

/* Randomised response of two answers and this are the worst that is (epsilon, delta)-private. */
static void a_plain_epsilon_and_delta_can_be_written(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_interval d;
    const double epsilon = 1.2;
    const dp_mechanism response = {.sampling = DP_SAMPLING_FULL,
                                   .rate = 1,
                                   .steps = 1,
                                   .sigma = 2 / (1 + exp(epsilon)),
                                   .categories = 2,
                                   .noise = DP_NOISE_RANDOMISED_RESPONSE,
                                   .adjacency = DP_REPLACE_ONE};
    const dp_mechanism list[] = {response, rare(1e-4, 1)};
    assert_ok(dp_account_delta(list, 2, epsilon + 1e-9, 0, &d, &err), err.text);
    assert_close(d.upper, 1e-4, 1e-6, 0);
    assert_ok(dp_account_delta(list, 2, 0, 0, &d, &err), err.text);
    assert_close(d.upper, 1e-4 + (1 - 1e-4) * (exp(epsilon) - 1) / (exp(epsilon) + 1), 1e-6, 0);
}

static void alone_it_has_no_epsilon_or_no_bound(void **state)
{
    (void)state;
    dp_error err = {0};
    double epsilon, delta;
    dp_interval e;
    const dp_mechanism m = rare(1e-6, 1);
    assert_ok(dp_epsilon(&m, 1e-5, &epsilon, &err), err.text);
    assert_close(epsilon, 0, 0, 0);
    assert_ok(dp_delta(&m, 3, &delta, &err), err.text);
    assert_close(delta, 1e-6, 1e-9, 0);
    assert_fails(dp_account_epsilon(&m, 1, 1e-6, 0, &e, &err), DP_EACCURACY, &err,
                 "nothing of delta");
    assert_true(isinf(e.upper) && e.lower <= 0);
}

static void what_is_none_is_refused(void **state)
{
    (void)state;
    dp_interval e;
    double found;
    uint64_t steps;
    const double jump = 1;
#define REFUSED(change, status_, why)                                                              \
    do {                                                                                           \
        dp_error err = {0};                                                                        \
        dp_mechanism m = rare(1e-9, 1);                                                            \
        (change);                                                                                  \
        dp_status status = dp_account_epsilon(&m, 1, 1e-5, 0, &e, &err);                           \
        assert_fails(status, status_, &err, why);                                                  \
        assert_true(isinf(e.upper));                                                               \
    } while (0)
    REFUSED(m.sigma = 0, DP_EDOMAIN, "sigma is 0");
    REFUSED(m.sigma = 1, DP_EDOMAIN, "sigma is 1");
    REFUSED(m.sigma = (double)NAN, DP_EDOMAIN, "sigma is");
    REFUSED(m.steps = 0, DP_EDOMAIN, "steps is 0");
    REFUSED(m.sampling = DP_SAMPLING_POISSON, DP_EMISMATCH, "DP_SAMPLING_FULL");
    REFUSED(m.rate = .5, DP_EMISMATCH, "rate 1");
    REFUSED(m.categories = 2, DP_EMISMATCH, "none of the fields");
    REFUSED(m.jumps = &jump, DP_EMISMATCH, "none of the fields");
    REFUSED(m.adjacency = (dp_adjacency)7, DP_EDOMAIN, "adjacency is 7");
#undef REFUSED
    const dp_mechanism list[] = {normal, rare(1e-9, 1)};
    dp_error err = {0};
    assert_fails(dp_account_mu(list, 2, 1e-6, &found, &err), DP_EMISMATCH, &err, "alone");
    err = (dp_error){0};
    assert_fails(dp_account_renyi(list, 2, 2, &found, &err), DP_EMISMATCH, &err, "alone");
    err = (dp_error){0};
    assert_fails(dp_account_tpr(list, 2, .1, 0, &e, &err), DP_EMISMATCH, &err, "alone");
    err = (dp_error){0};
    assert_fails(dp_contour_epsilon(list, 2, 1e-5, &found, &err), DP_EMISMATCH, &err, "alone");
    err = (dp_error){0};
    assert_fails(dp_calibrate_steps(&list[1], 1, 1e-5, &steps, &err), DP_EMISMATCH, &err, "alone");
}

/* Each of the small chances is just below half an ulp of the large one's logarithm. */
static void many_small_chances_add_up(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    enum { MANY = 40000 };
    static dp_mechanism list[1 + MANY];
    long double log_kept = 0;
    for (size_t k = 0; k <= MANY; k++) {
        list[k] = (dp_mechanism){.noise = DP_NOISE_ALL_OR_NOTHING,
                                 .sampling = DP_SAMPLING_FULL,
                                 .sigma = k == 0 ? 0.5 : 5.4e-17,
                                 .rate = 1,
                                 .steps = 1};
        log_kept += log1pl(-(long double)list[k].sigma);
    }
    dpi_rare rare;
    dp_error err = {0};
    assert_ok(dpi_rare_take(list, 1 + MANY, &rare, &err), err.text);
    assert_true(rare.least <= -expm1l(log_kept) && rare.most >= -expm1l(log_kept));
    dpi_rare_free(&rare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_small_chances_add_up),
        cmocka_unit_test(its_chance_is_added_to_delta),
        cmocka_unit_test(epsilon_is_that_of_the_rest_at_what_is_left),
        cmocka_unit_test(a_plain_epsilon_and_delta_can_be_written),
        cmocka_unit_test(alone_it_has_no_epsilon_or_no_bound),
        cmocka_unit_test(what_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
