/* A sampler and its account are of one law: what is drawn is compared with the fields of the
 * mechanism that the accountant is given, for every row of the table. */
#include "svi/sampling.h"

#include <math.h>

#include "random/noise.h"
#include "svi/cost.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/svi/scene.h"

enum { UNITS = 40, DRAWS = 30000 };

/* Each scheme with options as a caller gives them. */
static const dp_svi_opts asked[] = {
    {.sampling = DP_SAMPLING_FULL},
    {.sampling = DP_SAMPLING_POISSON, .rate = 0.3},
    {.sampling = DP_SAMPLING_POISSON, .rate = 0.01},
    {.sampling = DP_SAMPLING_POISSON, .rate = 1},
    {.sampling = DP_SAMPLING_TRUNCATED, .rate = 0.3, .cap = 12, .public_units = 50},
    {.sampling = DP_SAMPLING_TRUNCATED, .rate = 1, .cap = 7, .public_units = UNITS},
    {.sampling = DP_SAMPLING_FIXED, .batch = 9},
    {.sampling = DP_SAMPLING_ALLOCATION, .epoch = 5},
};
enum { N_ASKED = sizeof asked / sizeof *asked };

static dp_svi_opts resolve(size_t k)
{
    dp_error err = {0};
    dp_svi_opts o = asked[k];
    o.steps = DRAWS;
    assert_ok(dpi_sampling_resolve(&o, UNITS, &err), err.text);
    return o;
}

/* Draws DRAWS batches: in how many each unit was, and how many had each size. */
static void draw(const dp_svi_opts *o, size_t n, size_t units[UNITS], size_t sizes[UNITS + 1])
{
    dp_error err = {0};
    dpi_arena arena = {NULL}, members = {NULL};
    dpi_batch b;
    dp_noise *source;
    for (size_t i = 0; i <= UNITS; i++)
        sizes[i] = units[i < UNITS ? i : 0] = 0;
    assert_ok(dp_noise_new_seeded(5, &source, &err), err.text);
    assert_ok(dpi_batch_init(&b, o, n, &arena, &members, &err), err.text);
    for (uint64_t t = 0; t < DRAWS; t++) {
        dpi_members chosen;
        bool seen[UNITS] = {false};
        assert_ok(dpi_batch_draw(&b, t, source, &chosen, &err), err.text);
        assert_true(chosen.size <= n);
        sizes[chosen.size]++;
        for (size_t i = 0; i < chosen.size; i++) {
            size_t unit = chosen.unit != NULL ? chosen.unit[i] : i;
            assert_true(unit < n && !seen[unit]);
            seen[unit] = true;
            units[unit]++;
        }
    }
    dpi_batch_free(&b);
    dp_noise_free(source);
    dpi_arena_free(&arena);
    dpi_arena_free(&members);
}

/* Chance of j of n, each with chance q. */
static double binomial(size_t n, size_t j, double q)
{
    if (q == 1)
        return j == n;
    return exp(lgamma((double)n + 1) - lgamma((double)j + 1) - lgamma((double)(n - j) + 1) +
               (double)j * log(q) + (double)(n - j) * log1p(-q));
}

/* What the accountant takes for granted of a batch's size, by the fields of the mechanism alone. */
static double chance_of_size(const dp_mechanism *m, size_t n, size_t size)
{
    double above = 0;
    switch (m->sampling) {
    case DP_SAMPLING_FULL:
        return size == n;
    case DP_SAMPLING_FIXED:
        return size == (size_t)lround(m->rate * (double)n);
    case DP_SAMPLING_TRUNCATED:
        for (size_t j = size; j <= n; j++)
            above += binomial(n, j, m->rate);
        return size > m->cap ? 0 : size == m->cap ? above : binomial(n, size, m->rate);
    case DP_SAMPLING_ALLOCATION:
        return binomial(n, size, 1 / (double)m->epoch);
    default:
        return binomial(n, size, m->rate);
    }
}

/* Shares of DRAWS batches are within 7 standard deviations of a chance p, and 10 batches for their
 * skewness: one of 700 comparisons fails by chance with a probability of 700 erfc(7 / sqrt 2) =
 * 2e-9 at most for another seed, and for this one never. */
static void assert_share(size_t found, double p)
{
    assert_close((double)found, DRAWS * p, 0, 7 * sqrt(DRAWS * p * (1 - p)) + 10);
}

static void batches_have_the_law_that_is_accounted_for(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_ASKED; k++) {
        const dp_svi_opts o = resolve(k);
        const dp_mechanism m = dpi_sampling_mechanism(&o, DRAWS);
        size_t units[UNITS], sizes[UNITS + 1];
        double chance = 0;
        draw(&o, UNITS, units, sizes);
        assert_int_equal(m.steps, DRAWS);
        for (size_t i = 0; i <= UNITS; i++) {
            double p = chance_of_size(&m, UNITS, i);
            chance += p * (double)i / UNITS; /* all units being alike */
            assert_share(sizes[i], p);
            if (p == 0 || p == 1) /* what cannot be, is not */
                assert_int_equal(sizes[i], p * DRAWS);
        }
        for (size_t i = 0; i < UNITS; i++)
            assert_share(units[i], chance);
        assert_true(chance <= m.rate * (1 + 1e-12));
        assert_true(m.records == 0 || m.records >= UNITS);
    }
}

/* What decides neighbours, and the accountant takes the mechanism with just these. */
static void neighbours_are_those_of_the_account(void **state)
{
    (void)state;
    for (size_t k = 0; k < N_ASKED; k++) {
        const dp_svi_opts o = resolve(k);
        const dpi_sampler *sampler = dpi_sampler_of(o.sampling);
        dp_error err = {0};
        double implied, stated;
        dp_mechanism m = dpi_sampling_mechanism(&o, 20);
        m.sigma = 3;
        assert_ok(dp_epsilon(&m, 1e-5, &implied, &err), err.text);
        m.adjacency = sampler->replaces ? DP_REPLACE_ONE : DP_ADD_REMOVE;
        assert_ok(dp_epsilon(&m, 1e-5, &stated, &err), err.text);
        assert_true(implied == stated && stated > 0 && isfinite(stated));
        for (int form = 0; form < 2; form++)
            for (int grouped = 0; grouped < 2; grouped++) {
                const char *words = sampler->neighbours[form][grouped];
                assert_contains(words, sampler->replaces ? "replace" : "add or remove");
                assert_contains(words, grouped ? "one unit" : "one record");
            }
    }
}

/* The schemes that the accountant knows are rows under their own number, or are refused. */
static void every_scheme_has_a_row_or_is_refused(void **state)
{
    (void)state;
    size_t n, found = 0;
    const dpi_sampler *const *rows = dpi_samplers(&n);
    for (size_t k = 0; k < n; k++)
        assert_ptr_equal(dpi_sampler_of(rows[k]->sampling), rows[k]);
    for (int s = DP_SAMPLING_NONE_GIVEN; s <= DP_SAMPLING_SHUFFLE; s++) {
        const dpi_sampler *row = dpi_sampler_of((dp_sampling)s);
        bool is_asked = false;
        for (size_t k = 0; k < N_ASKED; k++)
            is_asked = is_asked || (int)asked[k].sampling == s;
        assert_int_equal(row != NULL, is_asked); /* by the tests above, too */
        found += row != NULL;
    }
    assert_int_equal(found, n);
    const dp_svi_opts none = {.sampling = DP_SAMPLING_SHUFFLE, .rate = 0.5};
    dp_mechanism m = dpi_sampling_mechanism(&none, 5);
    double epsilon;
    m.sigma = 1;
    assert_int_not_equal(dp_epsilon(&m, 1e-5, &epsilon, NULL), DP_OK);
}

/* Every set of `cap` of a sample's units is as likely as any other, whatever stood before. */
static void what_a_cut_sample_keeps_is_uniform(void **state)
{
    (void)state;
    dp_svi_opts o = {
        .sampling = DP_SAMPLING_TRUNCATED, .rate = 1, .cap = 2, .public_units = 5, .steps = DRAWS};
    dp_error err = {0};
    dpi_arena arena = {NULL}, members = {NULL};
    dpi_batch b;
    dp_noise *source;
    size_t pairs[5][5] = {{0}};
    assert_ok(dpi_sampling_resolve(&o, 5, &err), err.text);
    assert_ok(dp_noise_new_seeded(6, &source, &err), err.text);
    assert_ok(dpi_batch_init(&b, &o, 5, &arena, &members, &err), err.text);
    for (uint64_t t = 0; t < DRAWS; t++) {
        dpi_members chosen;
        assert_ok(dpi_batch_draw(&b, t, source, &chosen, &err), err.text);
        assert_int_equal(chosen.size, 2);
        pairs[chosen.unit[0]][chosen.unit[1]]++;
    }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            assert_share(pairs[i][j], i == j ? 0 : 1. / 20);
    dpi_batch_free(&b);
    dp_noise_free(source);
    dpi_arena_free(&arena);
    dpi_arena_free(&members);
}

/* A run of that scheme, from options to guarantee. */
static void a_truncated_run_is_accounted_for_as_such(void **state)
{
    (void)state;
    static double y[UNITS];
    static int32_t group[UNITS];
    dp_error err = {0};
    dp_privacy privacy;
    double poisson;
    for (int32_t i = 0; i < UNITS; i++)
        y[i] = 1, group[i] = i;
    const groups g = {.n = UNITS, .n_groups = UNITS, .y = y, .group = group, .mean = 0};
    dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                     .optimizer = DP_SGD,
                     .step_size = 0x1p-100,
                     .steps = 10,
                     .sampling = DP_SAMPLING_TRUNCATED,
                     .rate = 0.5,
                     .cap = 20,
                     .public_units = 60,
                     .seed = 3};
    scene s = begin_groups(&g, &o);
    size_t most = 0;
    for (int t = 0; t < 10; t++) {
        size_t in = 0;
        step(&s);
        for (size_t i = 0; i < UNITS; i++)
            in += s.svi->release.out[i] != 0;
        most = in > most ? in : most;
    }
    assert_int_equal(most, 20); /* reached in ten steps but with a probability of 2e-5 */
    end(&s);
    o.mode = DP_PRIVATE, o.epsilon = 1, o.delta = 1e-6, o.clip = 1, o.seed = 0;
    s = begin_groups(&g, &o);
    for (int t = 0; t < 10; t++)
        step(&s);
    assert_ok(dp_svi_privacy(s.svi, &privacy, &err), err.text);
    assert_true(privacy.is_private && privacy.epsilon <= 1 && privacy.epsilon > 0.99);
    assert_contains(privacy.adjacency, "public_units");
    dp_mechanism m = {
        .sampling = DP_SAMPLING_POISSON, .sigma = privacy.sigma, .rate = 0.5, .steps = 10};
    assert_ok(dp_epsilon(&m, 1e-6, &poisson, &err), err.text);
    assert_true(poisson < 0.7 * privacy.epsilon); /* a cut so frequent costs */
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_have_the_law_that_is_accounted_for),
        cmocka_unit_test(neighbours_are_those_of_the_account),
        cmocka_unit_test(every_scheme_has_a_row_or_is_refused),
        cmocka_unit_test(what_a_cut_sample_keeps_is_uniform),
        cmocka_unit_test(a_truncated_run_is_accounted_for_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
