/* The probabilistic shift of Trio's linear layers: how often it rounds up, and how often it is
 * wrong.
 *
 * With R uniform, z = T(v + R) - T(R) is floor(v / 2^s) + 1 in (v mod 2^s) of 2^s cases, and off by
 * 2^(bits - s), upwards for a negative v and downwards for a positive one, in |v| of 2^bits cases.
 * A count of n trials is taken to be none that comes in fewer than 1e-11 of runs, to either side,
 * by the binomial law itself: of some rates a single one in 163 840 is expected in one run of a
 * hundred, where deviations say nothing.  With eight counts right code fails in fewer than
 * 2e-10. */
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

#include "tests/share/scene.h"

enum { TRIALS = 5 * DPI_SHARE_TILE };

static const double rare = 1e-11;

typedef struct trials {
    dpi_ring ring;
    int shift;
    int64_t v;
    scene_told told;
} trials;

/* TRIALS records of v, and a weight of 1. */
static void body(dpi_party *p, void *user)
{
    trials *t = user;
    const dpi_linear l = {.records = TRIALS, .outputs = 1, .terms = 1, .inputs = 1, .stops = 1};
    const int64_t one = 1;
    int64_t *v = calloc(TRIALS, sizeof *v);
    if (v == NULL)
        abort();
    for (size_t i = 0; i < TRIALS; i++)
        v[i] = t->v;
    dpi_share x = scene_give(p, t->ring, TRIALS, v, 1), w = scene_give(p, t->ring, 1, &one, 2);
    dpi_share z = scene_share(p, t->ring, TRIALS);
    p->row->linear(p, t->ring, &l, &x, &w, NULL, t->shift, &z);
    scene_tell(p, &t->told, t->ring, dpi_ring_bits(t->ring), &z);
    dpi_share_free(&x);
    dpi_share_free(&w);
    dpi_share_free(&z);
    free(v);
}

static void assert_count(size_t count, double rate)
{
    const unsigned n = TRIALS, k = (unsigned)count;
    const double below = gsl_cdf_binomial_P(k, rate, n);
    const double above = k > 0 ? gsl_cdf_binomial_Q(k - 1, rate, n) : 1;
    if (below < rare || above < rare)
        print_error("%zu of %u, expected %g\n", count, n, n * rate);
    assert_true(below >= rare && above >= rare);
}

static void check(const scene *s, dpi_ring ring, int shift, int64_t v)
{
    trials t = {.ring = ring, .shift = shift, .v = v};
    const scene_opts o = {.row = &dpi_trio, .body = body, .user = &t};
    scene_end end[DPI_SHARE_PARTIES];
    int bits = dpi_ring_bits(ring);
    int64_t *z = calloc(TRIALS, sizeof *z), below = v >> shift;
    int64_t off = (v < 0 ? 1 : -1) * (INT64_C(1) << (bits - shift));
    size_t above = 0, wrong = 0;
    assert_non_null(z);
    scene_run_well(s, &o, end);
    scene_join(&dpi_trio, &t.told, z);
    for (size_t i = 0; i < TRIALS; i++) {
        bool is_wrong = z[i] != below && z[i] != below + 1;
        int64_t right = is_wrong ? z[i] - off : z[i];
        assert_true(right == below || right == below + 1);
        above += right == below + 1;
        wrong += is_wrong;
    }
    assert_count(above, ldexp((double)(v - below * (INT64_C(1) << shift)), -shift));
    assert_count(wrong, ldexp(fabs((double)v), -bits));
    free(z);
}

static void it_rounds_up_as_often_as_the_rest_says(void **state)
{
    check(*state, DPI_RING_64, 13, INT64_C(123456789) * 8192 + 3072);
    check(*state, DPI_RING_64, 4, -INT64_C(16) * 5000 - 3);
}

static void it_is_wrong_as_often_as_the_ring_is_small(void **state)
{
    check(*state, DPI_RING_32, 7, (1 << 26) + 32);
    check(*state, DPI_RING_32, 9, -(1 << 28) - 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_rounds_up_as_often_as_the_rest_says),
        cmocka_unit_test(it_is_wrong_as_often_as_the_ring_is_small),
    };
    return cmocka_run_group_tests(tests, scene_make, scene_remove);
}
