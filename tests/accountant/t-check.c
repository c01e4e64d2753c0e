/* What is refused, and with which words; nothing that passes is left without a pair. */
#include "accountant/answers/check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "accountant/answers/shuffle.h"
#include "accountant/pairs/pair.h"
#include "tests/lib/check.h"

static const dp_mechanism poisson = {
    .sampling = DP_SAMPLING_POISSON, .sigma = 1, .rate = 0.01, .steps = 100, .records = 1000};
static const dp_mechanism full = {
    .sampling = DP_SAMPLING_FULL, .sigma = 1, .rate = 1, .steps = 100};
static const dp_mechanism fixed = {
    .sampling = DP_SAMPLING_FIXED, .sigma = 1, .rate = 0.01, .steps = 100};
static const dp_mechanism allocation = {
    .sampling = DP_SAMPLING_ALLOCATION, .sigma = 1, .rate = 0.1, .steps = 100, .epoch = 10};
static const dp_mechanism truncated = {.sampling = DP_SAMPLING_TRUNCATED,
                                       .sigma = 1,
                                       .rate = 0.01,
                                       .steps = 100,
                                       .records = 1000,
                                       .cap = 20};
static const dp_mechanism response = {.sampling = DP_SAMPLING_FULL,
                                      .sigma = 0.5,
                                      .rate = 1,
                                      .steps = 10,
                                      .noise = DP_NOISE_RANDOMISED_RESPONSE,
                                      .categories = 4};
static const double jumps[] = {0, 1, 2}, chances[] = {0.9, 0.08, 0.02};

static void accepts(dp_mechanism m)
{
    dp_error err = {0};
    assert_ok(dpi_check_mechanism(&m, &err), err.text);
}

static void refuses(dp_mechanism m, dp_status status, const char *says)
{
    dp_error err = {0};
    assert_int_equal(dpi_check_mechanism(&m, &err), status);
    assert_contains(err.text, says);
    assert_true(sizeof err.text > 1 && err.text[sizeof err.text - 2] == 0); /* not cut off */
    assert_int_equal(dpi_check_mechanism(&m, NULL), status);
}

/* A mechanism x that differs from a good one. */
#define REFUSES(good, change, status, says)                                                        \
    do {                                                                                           \
        dp_mechanism x = good;                                                                     \
        (void)(change);                                                                            \
        refuses(x, status, says);                                                                  \
    } while (0)
#define ACCEPTS(good, change)                                                                      \
    do {                                                                                           \
        dp_mechanism x = good;                                                                     \
        (void)(change);                                                                            \
        accepts(x);                                                                                \
    } while (0)

static void accepts_what_has_an_account(void **state)
{
    (void)state;
    accepts(poisson);
    accepts(full);
    accepts(fixed);
    accepts(allocation);
    accepts(truncated);
    accepts(response);
    ACCEPTS(poisson, (x.adjacency = DP_REPLACE_ONE));
    ACCEPTS(full, (x.adjacency = DP_REPLACE_ONE));
    ACCEPTS(fixed, (x.adjacency = DP_REPLACE_ONE));
    ACCEPTS(response, (x.adjacency = DP_REPLACE_ONE));
    ACCEPTS(poisson, (x.rows = 64));
    ACCEPTS(full, (x.jumps = jumps, x.chances = chances, x.n_jumps = 3));
    for (dp_noise_law law = DP_NOISE_LAPLACE; law <= DP_NOISE_ROUNDED_GAUSSIAN; law++) {
        dp_mechanism m = poisson;
        m.noise = law;
        accepts(m);
    }
}

static void refuses_numbers_out_of_their_domain(void **state)
{
    (void)state;
    const double wrong[] = {0, -1, NAN, INFINITY, -INFINITY, -DBL_TRUE_MIN, 1e300};
    for (int i = 0; i < 6; i++) {
        dp_mechanism m = poisson;
        m.sigma = wrong[i];
        refuses(m, DP_EDOMAIN, "sigma is");
        m = poisson;
        m.rate = wrong[i];
        refuses(m, DP_EDOMAIN, "rate is");
        m = response;
        m.sigma = wrong[i];
        refuses(m, DP_EDOMAIN, "probability that an answer is replaced");
        assert_int_equal(dpi_check_delta(wrong[i], NULL), DP_EDOMAIN);
        assert_int_equal(dpi_check_epsilon(wrong[i], false, NULL), DP_EDOMAIN);
    }
    REFUSES(poisson, (x.steps = 0), DP_EDOMAIN, "steps is 0");
    REFUSES(full, (x.rate = 0.5), DP_EDOMAIN, "full batches have rate 1");
    REFUSES(poisson, (x.sampling = DP_SAMPLING_NONE_GIVEN), DP_EDOMAIN, "name the sampler");
    REFUSES(poisson, (x.sampling = (dp_sampling)77), DP_EDOMAIN, "name the sampler");
    REFUSES(poisson, (x.noise = (dp_noise_law)9), DP_EDOMAIN, "noise is 9");
    REFUSES(poisson, (x.adjacency = (dp_adjacency)3), DP_EDOMAIN, "adjacency is 3");
    REFUSES(response, (x.categories = 1), DP_EDOMAIN, "at least 2");
    REFUSES(truncated, (x.cap = 0), DP_EDOMAIN, "largest batch");
    REFUSES(truncated, (x.records = 0), DP_EDOMAIN, "number of records");
    REFUSES(allocation, (x.epoch = 1), DP_EDOMAIN, "at least 2");
    REFUSES(allocation, (x.epoch = 7), DP_EDOMAIN, "no multiple");
    REFUSES(allocation, (x.rate = 0.2), DP_EDOMAIN, "1 / epoch");
    assert_int_equal(dpi_check_epsilon(0, true, NULL), DP_OK);
    assert_int_equal(dpi_check_delta(1, NULL), DP_EDOMAIN);
}

static void refuses_what_the_engines_do_not_cover(void **state)
{
    (void)state;
    REFUSES(poisson, (x.sigma = 0.049), DP_EACCURACY, "sigma is");
    REFUSES(poisson, (x.sigma = DBL_TRUE_MIN), DP_EACCURACY, "sigma is");
    REFUSES(poisson, (x.sigma = DBL_MAX), DP_EACCURACY, "sigma is");
    REFUSES(poisson, (x.sigma = 2e4, x.noise = DP_NOISE_DISCRETE_GAUSSIAN), DP_EACCURACY,
            "sigma is");
    REFUSES(poisson, (x.rate = DBL_TRUE_MIN), DP_EACCURACY, "rate is");
    REFUSES(poisson, (x.steps = UINT64_MAX), DP_EACCURACY, "steps is");
    REFUSES(poisson, (x.steps = 1000000001), DP_EACCURACY, "steps is");
    ACCEPTS(poisson, (x.steps = 1000000000));
    ACCEPTS(poisson, (x.sigma = 0.05, x.rate = 1e-9));
    ACCEPTS(poisson, (x.sigma = 1e6, x.rate = 1));
    REFUSES(poisson, (x.rows = UINT32_MAX), DP_EACCURACY, "rows is");
    REFUSES(truncated, (x.records = UINT64_MAX), DP_EACCURACY, "records is");
    REFUSES(response, (x.sigma = 1e-30), DP_EACCURACY, "sigma is");
    ACCEPTS(truncated, (x.cap = UINT64_MAX));
    assert_int_equal(dpi_check_delta(1e-31, NULL), DP_EACCURACY);
}

static void refuses_fields_of_other_mechanisms(void **state)
{
    (void)state;
    REFUSES(poisson, (x.epoch = 10), DP_EDOMAIN, "belongs to DP_SAMPLING_ALLOCATION");
    REFUSES(poisson, (x.cap = 30), DP_EDOMAIN, "are DP_SAMPLING_TRUNCATED");
    REFUSES(fixed, (x.cap = UINT64_MAX), DP_EDOMAIN, "are DP_SAMPLING_TRUNCATED");
    REFUSES(poisson, (x.categories = 2), DP_EDOMAIN, "RANDOMISED_RESPONSE");
    REFUSES(poisson, (x.n_jumps = 1), DP_EDOMAIN, "belong together");
    REFUSES(full, (x.jumps = jumps, x.n_jumps = 3), DP_EDOMAIN, "belong together");
    REFUSES(full, (x.chances = jumps), DP_EDOMAIN, "belong together");
}

static void refuses_combinations_without_an_account(void **state)
{
    (void)state;
    REFUSES(fixed, (x.adjacency = DP_ADD_REMOVE), DP_EMISMATCH, "use DP_REPLACE_ONE");
    REFUSES(allocation, (x.adjacency = DP_REPLACE_ONE), DP_EMISMATCH, "use DP_ADD_REMOVE");
    REFUSES(truncated, (x.adjacency = DP_REPLACE_ONE), DP_EMISMATCH, "use DP_ADD_REMOVE");
    REFUSES(fixed, (x.noise = DP_NOISE_LAPLACE), DP_EMISMATCH, "Gaussian noise only");
    REFUSES(truncated, (x.noise = DP_NOISE_DISCRETE_GAUSSIAN), DP_EMISMATCH, "Gaussian");
    REFUSES(poisson, (x.noise = DP_NOISE_LAPLACE, x.adjacency = DP_REPLACE_ONE), DP_EMISMATCH,
            "use DP_ADD_REMOVE");
    REFUSES(full, (x.noise = DP_NOISE_DISCRETE_GAUSSIAN, x.adjacency = DP_REPLACE_ONE),
            DP_EMISMATCH, "use DP_ADD_REMOVE");
    REFUSES(response, (x.adjacency = DP_ADD_REMOVE), DP_EMISMATCH, "an answer of its own");
    REFUSES(response, (x.sampling = DP_SAMPLING_POISSON), DP_EMISMATCH, "DP_SAMPLING_FULL");
    REFUSES(full, (x.rows = 2), DP_EMISMATCH, "sigma / rows");
    REFUSES(fixed, (x.rows = 2), DP_EMISMATCH, "rows is 2");
    REFUSES(poisson, (x.rows = 2, x.adjacency = DP_REPLACE_ONE), DP_EMISMATCH, "DP_ADD_REMOVE");
    REFUSES(poisson, (x.rows = 2, x.noise = DP_NOISE_LAPLACE), DP_EMISMATCH, "Gaussian");
    REFUSES(fixed, (x.jumps = jumps, x.chances = chances, x.n_jumps = 3), DP_EMISMATCH, "jumps");
}

static void refuses_wrong_jumps(void **state)
{
    (void)state;
    double x[65] = {0}, p[65] = {1};
    dp_mechanism m = full;
    m.jumps = x;
    m.chances = p;
    m.n_jumps = 2;
    accepts(m);
    m.n_jumps = 65;
    refuses(m, DP_EACCURACY, "n_jumps is 65");
    m.n_jumps = SIZE_MAX;
    refuses(m, DP_EACCURACY, "n_jumps is");
    m.n_jumps = 2;
    const double wrong[] = {-1, NAN, INFINITY};
    for (int i = 0; i < 3; i++) {
        x[1] = wrong[i];
        refuses(m, DP_EDOMAIN, "jumps[1] is");
        x[1] = 0;
        p[1] = wrong[i];
        refuses(m, DP_EDOMAIN, "chances[1] is");
        p[1] = 0;
    }
    x[1] = DBL_TRUE_MIN;
    refuses(m, DP_EACCURACY, "jumps[1] is");
    x[1] = DBL_MAX;
    refuses(m, DP_EACCURACY, "jumps[1] is");
    x[1] = 1;
    p[1] = 1e-6;
    refuses(m, DP_EDOMAIN, "must sum to 1");
    p[1] = 0;
    m.rate = 0.5;
    m.sampling = DP_SAMPLING_POISSON;
    refuses(m, DP_EDOMAIN, "give rate 1");
}

/* Rows of a published table of lower bounds for one epoch (Chua et al.'s event), delta = 1e-5. */
static void shuffled_batches_are_refused_with_their_floor(void **state)
{
    (void)state;
    const double table[][2] = {{0.3, 19.1308}, {0.5, 9.99696},  {0.7, 6.59215},
                               {1.0, 3.3936},  {1.5, 0.620949}, {2.0, 0.133572}};
    for (int i = 0; i < 6; i++)
        assert_close(dpi_shuffle_floor(table[i][0], 469, 1e-5), table[i][1], 1e-3, 0);
    dp_mechanism m = {
        .sampling = DP_SAMPLING_SHUFFLE, .sigma = 1, .rate = 1.0 / 469, .steps = 9380};
    refuses(m, DP_EMISMATCH, "above 3.39 at delta 1e-5");
    refuses(m, DP_EMISMATCH, "DP_SAMPLING_ALLOCATION");
    const double wrong[] = {0, -1, NAN, INFINITY, 1e-320, 1e300};
    for (int i = 0; i < 6; i++) {
        refuses((dp_mechanism){.sampling = DP_SAMPLING_SHUFFLE, .sigma = wrong[i], .rate = 0.1},
                DP_EMISMATCH, "shuffled");
        refuses((dp_mechanism){.sampling = DP_SAMPLING_SHUFFLE, .sigma = 1, .rate = wrong[i]},
                DP_EMISMATCH, "shuffled");
    }
    assert_int_equal(dpi_check_sampling(DP_SAMPLING_SHUFFLE, 0.1, 1, NULL), DP_EMISMATCH);
}

static uint64_t random_bits(uint64_t *seed)
{
    *seed += 0x9e3779b97f4a7c15u;
    uint64_t z = (*seed ^ (*seed >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Doubles of all kinds: any bits, or numbers of ordinary size. */
static double any_double(uint64_t *seed)
{
    union {
        uint64_t bits;
        double number;
    } u = {random_bits(seed)};
    return u.bits % 4 ? exp(12 * ((double)(random_bits(seed) >> 11) * 0x1p-53 - 0.3)) : u.number;
}

static uint64_t any_count(uint64_t *seed)
{
    uint64_t bits = random_bits(seed);
    return bits % 2 ? 0 : random_bits(seed) >> (bits >> 2 & 63);
}

static dp_mechanism any_mechanism(uint64_t *seed)
{
    dp_mechanism m = {.sampling = (dp_sampling)(random_bits(seed) % 7),
                      .sigma = any_double(seed),
                      .rate = random_bits(seed) % 2 ? 1 : any_double(seed),
                      .steps = any_count(seed) % 2000000000 + (random_bits(seed) % 8 > 0),
                      .noise = (dp_noise_law)(random_bits(seed) % 3 ? 0 : random_bits(seed) % 6),
                      .adjacency =
                          (dp_adjacency)(random_bits(seed) % 2 ? 0 : random_bits(seed) % 4)};
    if (m.sampling == DP_SAMPLING_ALLOCATION || random_bits(seed) % 16 == 0)
        m.epoch = any_count(seed);
    if (m.sampling == DP_SAMPLING_TRUNCATED || random_bits(seed) % 16 == 0) {
        m.records = any_count(seed) % 1000000;
        m.cap = any_count(seed);
    }
    if (m.noise == DP_NOISE_RANDOMISED_RESPONSE)
        m.categories = (uint32_t)any_count(seed);
    if (random_bits(seed) % 4 == 0)
        m.rows = (uint32_t)any_count(seed) % 80;
    return m;
}

/* All fields at random: a status and never a crash, and where it is DP_OK a pair of finite
 * numbers. */
static void whatever_passes_has_a_pair(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int passed = 0;
    for (int i = 0; i < 20000; i++) {
        dp_mechanism m = any_mechanism(&seed);
        if (dpi_check_mechanism(&m, NULL) != DP_OK || m.sampling == DP_SAMPLING_ALLOCATION)
            continue;
        for (int j = 0; j < 4; j++) {
            dpi_pair pair;
            double times, mass;
            assert_int_equal(dpi_pair_of(&m, j % 2 ? DPI_ADD : DPI_REMOVE,
                                         j / 2 ? DPI_LOWER : DPI_UPPER, &pair, &times, NULL),
                             DP_OK);
            mass = pair.infinite;
            assert_true(isfinite(pair.base) && pair.infinite >= 0 && times >= 1);
            for (size_t k = 0; k < pair.n_atoms; k++) {
                assert_true(isfinite(pair.atom[k].offset) && pair.atom[k].mass >= 0);
                mass += pair.atom[k].mass;
            }
            for (size_t k = 0; k < pair.n_pieces; k++) {
                const dpi_piece *piece = &pair.piece[k];
                double x = piece->ops->quantile(piece, -3, 1), s = piece->ops->excess(piece, x);
                assert_true(isfinite(x) && s >= 0 && isfinite(s));
                assert_true(piece->ops->log_density(piece, x, s) < 50);
                assert_true(piece->ops->roughness(piece, x) > 0);
                assert_true(piece->ops->excess_error(piece, x, x) < 1e-3 * (1 + s));
                assert_true(piece->ops->density_error(piece, x, x) < 1e-3 * (1 + s));
            }
            assert_true(pair.n_pieces > 0 || fabs(mass - 1) < 1e-9);
            assert_true(mass < 1 + 1e-9);
            dpi_pair_free(&pair);
        }
        passed++;
    }
    assert_true(passed > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_what_has_an_account),
        cmocka_unit_test(refuses_numbers_out_of_their_domain),
        cmocka_unit_test(refuses_what_the_engines_do_not_cover),
        cmocka_unit_test(refuses_fields_of_other_mechanisms),
        cmocka_unit_test(refuses_combinations_without_an_account),
        cmocka_unit_test(refuses_wrong_jumps),
        cmocka_unit_test(shuffled_batches_are_refused_with_their_floor),
        cmocka_unit_test(whatever_passes_has_a_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
