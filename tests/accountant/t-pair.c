/* The pair of every mechanism, against direct formulas and its own laws. */
#include "accountant/pairs/pair.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tests/accountant/naive.h"
#include "tests/lib/check.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static long until_failure = -1; /* allocations left; negative: no end */

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    if (until_failure == 0)
        return NULL;
    until_failure -= until_failure > 0;
    return __real_aligned_alloc(alignment, size);
}

static const double jumps_a[] = {0, 1, 2}, chances_a[] = {0.9, 0.08, 0.02};
static const double jumps_b[] = {0.3, 1.7, 1, 2.6}, chances_b[] = {0.2, 0.05, 0.7, 0.05};
static const double jumps_c[] = {0, 0.25}, chances_c[] = {0.03, 0.97};

#define MORE .steps = 7
#define REPLACED .adjacency = DP_REPLACE_ONE
#define POISSON(s, r) .sampling = DP_SAMPLING_POISSON, .sigma = (s), .rate = (r), MORE
#define FULL(s) .sampling = DP_SAMPLING_FULL, .sigma = (s), .rate = 1, MORE
#define FIXED(s, r) .sampling = DP_SAMPLING_FIXED, .sigma = (s), .rate = (r), MORE
#define LAW(l) .noise = DP_NOISE_##l
#define JUMPS(x, n) .jumps = jumps_##x, .chances = chances_##x, .n_jumps = (n)

static const dp_mechanism all[] = {
    {POISSON(1.3, 0.021)},
    {POISSON(0.4, 0.3)},
    {POISSON(17, 1e-6)},
    {POISSON(0.9, 0.9999)},
    {POISSON(0.9, 1)},
    {FULL(1.7)},
    {FULL(0.31), REPLACED},
    {FULL(40), REPLACED},
    {POISSON(1.3, 0.021), REPLACED},
    {POISSON(0.35, 1e-4), REPLACED},
    {POISSON(9, 0.7), REPLACED},
    {POISSON(2.1, 0.9999), REPLACED},
    {FIXED(1.5, 0.0213)},
    {FIXED(0.6, 1e-5)},
    {FIXED(21, 0.83), REPLACED},
    {FIXED(3.3, 1)},
    {.sampling = DP_SAMPLING_TRUNCATED,
     .sigma = 1.2,
     .rate = 0.03,
     MORE,
     .records = 900,
     .cap = 33},
    {.sampling = DP_SAMPLING_TRUNCATED, .sigma = 0.7, .rate = 0.4, MORE, .records = 50, .cap = 12},
    {.sampling = DP_SAMPLING_TRUNCATED, .sigma = 2, .rate = 0.01, MORE, .records = 500, .cap = 80},
    {POISSON(1.1, 0.013), .rows = 2},
    {POISSON(3.7, 0.21), .rows = 17},
    {POISSON(8.5, 1e-4), .rows = 64},
    {POISSON(2.3, 0.6), .rows = 5},
    {FULL(1), JUMPS(a, 3)},
    {POISSON(0.8, 1), JUMPS(b, 4)},
    {FULL(0.5), JUMPS(c, 2)},
    {FULL(0.7), LAW(LAPLACE)},
    {FULL(5.2), LAW(LAPLACE), REPLACED},
    {POISSON(1.3, 0.01), LAW(LAPLACE)},
    {POISSON(0.2, 0.73), LAW(LAPLACE)},
    {FULL(1.2), LAW(DISCRETE_GAUSSIAN)},
    {FULL(0.33), LAW(DISCRETE_GAUSSIAN)},
    {POISSON(2.4, 0.1), LAW(DISCRETE_GAUSSIAN)},
    {POISSON(0.6, 0.97), LAW(DISCRETE_GAUSSIAN)},
    {POISSON(31, 1e-3), LAW(DISCRETE_GAUSSIAN)},
    {FULL(0.8), LAW(ROUNDED_GAUSSIAN)},
    {FULL(0.2), LAW(ROUNDED_GAUSSIAN)},
    {POISSON(2.4, 0.1), LAW(ROUNDED_GAUSSIAN)},
    {POISSON(0.41, 0.02), LAW(ROUNDED_GAUSSIAN)},
    {POISSON(12, 0.4), LAW(ROUNDED_GAUSSIAN)},
    {FULL(0.5), LAW(RANDOMISED_RESPONSE), .categories = 2},
    {FULL(0.2), LAW(RANDOMISED_RESPONSE), .categories = 10},
    {FULL(1), LAW(RANDOMISED_RESPONSE), .categories = 3},
};
enum { N_ALL = sizeof all / sizeof *all };

/* The pair numbered i: mechanism, direction and side in turn. */
static dpi_pair pair_of(int i, dpi_side side)
{
    dpi_pair pair;
    double times = 0;
    dp_error err = {0};
    assert_ok(dpi_pair_of(&all[i / 2], i % 2 ? DPI_ADD : DPI_REMOVE, side, &pair, &times, &err),
              err.text);
    assert_true(times == 7);
    return pair;
}

/* Gauss-Legendre on [0, 1]. */
static const double node[] = {0.019855071751231884, 0.10166676129318664, 0.2372337950418355,
                              0.40828267875217511,  0.59171732124782489, 0.7627662049581645,
                              0.89833323870681336,  0.98014492824876812};
static const double weight[] = {0.050614268145188130, 0.11119051722668724, 0.15685332293894364,
                                0.18134189168918100,  0.18134189168918100, 0.15685332293894364,
                                0.11119051722668724,  0.050614268145188130};

/* P-mass, Q-mass and delta of a piece between two points. */
typedef struct sums {
    double p, q, delta;
} sums;

static void integrate(const dpi_pair *pair, const dpi_piece *piece, double from, double to,
                      double epsilon, sums *sum)
{
    const dpi_piece_ops *ops = piece->ops;
    for (double x = from; x < to;) {
        double width = fmin(1 / ops->roughness(piece, x), to - x);
        if (!(x + width > x))
            break;
        for (int i = 0; i < 8; i++) {
            double at = x + width * node[i], s = ops->excess(piece, at);
            double p = width * weight[i] * exp(ops->log_density(piece, at, s));
            double loss = pair->base + piece->sign * s;
            assert_true(s >= 0 && p >= 0);
            sum->p += p;
            sum->q += p * exp(-loss);
            sum->delta += loss > epsilon ? p * -expm1(epsilon - loss) : 0;
        }
        x += width;
    }
}

/* All of a pair, pieces cut where the loss passes epsilon. */
static sums sum_up(const dpi_pair *pair, double epsilon)
{
    sums sum = {.delta = pair->infinite};
    for (size_t i = 0; i < pair->n_pieces; i++) {
        const dpi_piece *piece = &pair->piece[i];
        double low = piece->ops->quantile(piece, -150, -1);
        double high = piece->ops->quantile(piece, -150, 1);
        double s = piece->sign * (epsilon - pair->base);
        double cut = s > 0 ? piece->ops->inverse(piece, s) : low;
        cut = fmin(fmax(cut, low), high);
        integrate(pair, piece, low, cut, epsilon, &sum);
        integrate(pair, piece, cut, high, epsilon, &sum);
    }
    for (size_t i = 0; i < pair->n_atoms; i++) {
        double loss = pair->base + pair->atom[i].offset, p = pair->atom[i].mass;
        assert_true(i == 0 || pair->atom[i].offset > pair->atom[i - 1].offset);
        sum.p += p;
        sum.q += p * exp(-loss);
        sum.delta += loss > epsilon ? p * -expm1(epsilon - loss) : 0;
    }
    return sum;
}

static void both_masses_are_one(void **state)
{
    (void)state;
    for (int i = 0; i < 4 * N_ALL; i++) {
        dpi_pair pair = pair_of(i / 2, i % 2 ? DPI_LOWER : DPI_UPPER);
        sums sum = sum_up(&pair, 0);
        if (!(fabs(sum.p - 1) < 2e-12 && fabs(sum.q - 1) < 4e-12))
            fail_msg("pair %d of mechanism %d: P %.17g, Q %.17g", i % 4, i / 4, sum.p, sum.q);
        dpi_pair_free(&pair);
    }
}

static void delta_of_one_release_is_the_direct_one(void **state)
{
    (void)state;
    const double part[] = {0, 1e-3, 0.1, 0.35, 0.8, 1.7, -0.4};
    for (int i = 0; i < 4 * N_ALL; i++) {
        dpi_side side = i % 2 ? DPI_LOWER : DPI_UPPER;
        const dp_mechanism *m = &all[i / 4];
        dpi_pair pair = pair_of(i / 2, side);
        double scale = fmax(fabs(pair.base), fmin(3, 2 * m->rate / m->sigma));
        for (int k = 0; k < 7; k++) {
            double epsilon = scale * part[k], found = sum_up(&pair, epsilon).delta;
            long double exact = naive_delta(m, i / 2 % 2 ? DPI_ADD : DPI_REMOVE, side, epsilon);
            double relative = m->noise == DP_NOISE_LAPLACE           ? 2e-6
                              : m->sampling == DP_SAMPLING_TRUNCATED ? 3e-8
                                                                     : 2e-10;
            if (!(fabs(found - (double)exact) <= relative * (double)exact + 2e-15))
                fail_msg("pair %d of mechanism %d: delta(%g) is %.15g, not %.15Lg", i % 4, i / 4,
                         epsilon, found, exact);
        }
        dpi_pair_free(&pair);
    }
}

/* The privacy profile at 0 is the total variation distance, whichever comes first. */
static void directions_agree_at_epsilon_zero(void **state)
{
    (void)state;
    for (int i = 0; i < N_ALL; i++) {
        dpi_pair remove = pair_of(2 * i, DPI_UPPER), add = pair_of(2 * i + 1, DPI_UPPER);
        assert_close(sum_up(&remove, 0).delta, sum_up(&add, 0).delta, 1e-11, 1e-16);
        dpi_pair_free(&remove);
        dpi_pair_free(&add);
    }
}

static void lower_pairs_leak_no_more_than_upper_ones(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * N_ALL; i++) {
        dpi_pair low = pair_of(i, DPI_LOWER), high = pair_of(i, DPI_UPPER);
        for (double epsilon = 0; epsilon < 3; epsilon = 2 * epsilon + 1e-3)
            assert_true(sum_up(&low, epsilon).delta <=
                        sum_up(&high, epsilon).delta * (1 + 1e-11) + 1e-16);
        dpi_pair_free(&low);
        dpi_pair_free(&high);
    }
}

static void tails_bound_what_lies_beyond(void **state)
{
    (void)state;
    const double log_p[] = {-0.1, -1, -4, -20, -70};
    for (int i = 0; i < 2 * N_ALL; i++) {
        dpi_pair pair = pair_of(i, DPI_UPPER);
        for (size_t k = 0; k < pair.n_pieces; k++) {
            const dpi_piece *piece = &pair.piece[k];
            const dpi_piece_ops *ops = piece->ops;
            double end[2] = {ops->quantile(piece, -200, -1), ops->quantile(piece, -200, 1)};
            for (int side = -1; side <= 1; side += 2)
                for (int j = 0; j < 5; j++) {
                    double x = ops->quantile(piece, log_p[j], side);
                    sums sum = {0};
                    integrate(&pair, piece, side < 0 ? end[0] : x, side < 0 ? x : end[1], 0, &sum);
                    double bound = ops->tail(piece, x, side);
                    assert_true(x >= piece->from && x <= piece->to);
                    assert_true(bound >= sum.p * (1 - 1e-12));
                    assert_true(bound <= sum.p * (1 + 1e-10) + 1e-60);
                    bool far = log_p[j] <= -20 + fmin(0, log(piece->weight)) && x > piece->from &&
                               x < piece->to;
                    if (far && fabs(log(bound) - log_p[j]) > 6)
                        fail_msg("pair %d: tail at quantile %g is %g", i, log_p[j], log(bound));
                    double x_finite = side < 0 ? piece->from : piece->to;
                    if (isfinite(x_finite)) /* and inside */
                        x = x_finite - side * 0.3 / ops->roughness(piece, x_finite);
                    sum = (sums){0};
                    integrate(&pair, piece, side < 0 ? end[0] : x, side < 0 ? x : end[1], 0, &sum);
                    bound = ops->tail(piece, x, side);
                    assert_true(bound >= sum.p * (1 - 1e-12));
                    bool short_piece = isfinite(piece->from) && isfinite(piece->to);
                    assert_true(!short_piece || bound <= sum.p * (1 + 1e-10));
                }
        }
        dpi_pair_free(&pair);
    }
}

static void place_inverts_excess(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * N_ALL; i++) {
        dpi_pair pair = pair_of(i, DPI_UPPER);
        for (size_t k = 0; k < pair.n_pieces; k++) {
            const dpi_piece *piece = &pair.piece[k];
            double low = piece->ops->quantile(piece, -60, -1);
            double high = piece->ops->quantile(piece, -60, 1), last = -1;
            for (int j = 0; j <= 100 && high > low; j++) {
                double x = low + (high - low) * j / 100.0, s = piece->ops->excess(piece, x);
                if (!(s > last))
                    fail_msg("pair %d: excess %.17g at %.17g is not above %.17g", i, s, x, last);
                double error = piece->ops->excess_error(piece, x, x) + 1e-15 * s;
                double back = piece->ops->inverse(piece, s);
                assert_true(back >= piece->from && back <= piece->to);
                assert_close(piece->ops->excess(piece, back), s, 1e-13, 8 * error);
                last = s;
            }
            assert_true(piece->ops->inverse(piece, 0) <= low + 1e-9);
        }
        dpi_pair_free(&pair);
    }
}

/* x of the plain line that piece k of pair i speaks of at its own x; NaN where there is none. */
static double plain_x(const dp_mechanism *m, const dpi_piece *piece, dpi_direction direction,
                      double x)
{
    if (piece->mirror != 0)
        return piece->mirror * x;
    if (!isfinite(piece->from) && m->sampling == DP_SAMPLING_POISSON)
        return x;
    if (m->rate < 1 && m->sampling == DP_SAMPLING_POISSON)
        return piece->sign * x; /* replaced */
    bool halved = m->adjacency == DP_REPLACE_ONE, turned = direction == DPI_ADD && !halved;
    double here = piece->sign * (turned ? -1 : 1) * x; /* P = N(1), Q = N(0), or the reverse */
    if (m->rate == 1 && m->sampling != DP_SAMPLING_FIXED)
        return halved ? 2 * here : here + 0.5;
    return NAN;
}

static double between(uint64_t *seed, double low, double high)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

/* Errors at one x of a piece, as parts of what is allowed. */
static double error_at(int i, const dpi_pair *pair, const dpi_piece *piece, double x, bool *known)
{
    const dp_mechanism *m = &all[i / 2];
    dpi_direction direction = i % 2 ? DPI_ADD : DPI_REMOVE;
    naive_pair exact = naive_normals(m, direction);
    double at = plain_x(m, piece, direction, x);
    *known = at == at;
    if (!*known)
        return 0;
    double s = piece->ops->excess(piece, x), loss = pair->base + piece->sign * s;
    double allowed =
        piece->ops->excess_error(piece, x, x) + 4 * 0x1p-53 * (fabs(pair->base) + fabs(loss));
    long double log_p = naive_log_density(&exact.p, exact.sigma, at), size = fabsl(log_p) + 10;
    allowed += (double)(8 * LDBL_EPSILON * (size + fabsl(size - loss))); /* the reference's own */
    double error = fabs((double)(naive_loss(&exact, at) - loss)) / allowed;
    if (m->adjacency == DP_REPLACE_ONE && m->rate == 1)
        log_p += logl(2); /* x counts in steps of 2 there */
    double density = piece->ops->log_density(piece, x, s);
    return fmax(error, (double)fabsl(density - log_p) / piece->ops->density_error(piece, x, x));
}

static void rounding_errors_keep_to_their_bounds(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    uint64_t seed = 5;
    int tried = 0;
    double largest = 0;
    for (int i = 0; i < 2 * N_ALL; i++) {
        if (all[i / 2].noise != DP_NOISE_GAUSSIAN || all[i / 2].sampling == DP_SAMPLING_TRUNCATED ||
            all[i / 2].sampling == DP_SAMPLING_FIXED)
            continue;
        dpi_pair pair = pair_of(i, DPI_UPPER);
        for (int k = 0; k < 200; k++) {
            const dpi_piece *piece = &pair.piece[k % (int)pair.n_pieces];
            double low = piece->ops->quantile(piece, -60, -1);
            double high = piece->ops->quantile(piece, -60, 1);
            bool known;
            double error = error_at(i, &pair, piece, between(&seed, low, high), &known);
            if (!(error <= 1))
                fail_msg("pair %d: error is %g times its bound", i, error);
            largest = fmax(largest, error);
            tried += known;
        }
        dpi_pair_free(&pair);
    }
    assert_true(tried > 5000);
    assert_true(largest > 0.01); /* the bounds are not idle */
}

static const double gauss_node[3][4] = {
    {0.21132486540518712, 0.78867513459481288},
    {0.11270166537925831, 0.5, 0.88729833462074169},
    {0.069431844202973713, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629}};
static const double gauss_weight[3][4] = {
    {0.5, 0.5},
    {0.27777777777777778, 0.44444444444444444, 0.27777777777777778},
    {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693}};

/* Share of the P-mass of [x, x + width] that goes to the knot with the larger loss when its ends
 * are knots, by a rule of n points; the mass itself. */
static double share(const dpi_piece *piece, double x, double width, const double *nodes,
                    const double *weights, int n, double *mass)
{
    const dpi_piece_ops *ops = piece->ops;
    double s0 = ops->excess(piece, x), dx = ops->excess(piece, x + width) - s0, sum = 0;
    *mass = 0;
    for (int i = 0; i < n; i++) {
        double at = x + width * nodes[i], s = ops->excess(piece, at);
        double p = width * weights[i] * exp(ops->log_density(piece, at, s));
        double above = piece->sign > 0 ? s - s0 : s0 + dx - s;
        sum += p * expm1(-above) / expm1(-dx);
        *mass += p;
    }
    return sum;
}

/* What mass.c builds on: n points err by at most 300 (1 + 21/h) (h/8)^2n of the mass of a stretch
 * of width h / roughness. */
static void roughness_covers_the_error_of_quadrature(void **state)
{
    (void)state;
    uint64_t seed = 11;
    double largest = 0;
    for (int i = 0; i < 2 * N_ALL; i++) {
        dpi_pair pair = pair_of(i, DPI_UPPER);
        for (int k = 0; k < 300 && pair.n_pieces > 0; k++) {
            const dpi_piece *piece = &pair.piece[k % (int)pair.n_pieces];
            double low = piece->ops->quantile(piece, -40, -1);
            double high = piece->ops->quantile(piece, -40, 1), h = between(&seed, 0.1, 0.25);
            double x = between(&seed, low, high), total;
            double width = h / piece->ops->roughness(piece, x);
            double exact = share(piece, x, width, node, weight, 8, &total);
            if (!(x + width < high) || !(piece->ops->excess(piece, x) > 1e-9))
                continue; /* beyond the end; differences of tiny losses are all rounding */
            for (int n = 2; n <= 4; n++) {
                double mass, bound = 300 * (1 + 21 / h) * pow(h / 8, 2 * n);
                double found =
                    share(piece, x, width, gauss_node[n - 2], gauss_weight[n - 2], n, &mass);
                double error = fmax(fabs(found - exact), fabs(mass - total)) / total;
                largest = fmax(largest, error / bound);
                if (!(error <= bound + 1e-11))
                    fail_msg("pair %d at %g: %d points err by %g, not %g", i, x, n, error, bound);
            }
        }
        dpi_pair_free(&pair);
    }
    assert_true(largest > 1e-3);
}

/* Losses of atoms, against long double. */
static void atoms_of_lattices_keep_to_their_bounds(void **state)
{
    (void)state;
    SKIP_WITHOUT_LONG_DOUBLE();
    for (int i = 0; i < N_ALL; i++) {
        const dp_mechanism *m = &all[i];
        if (m->noise != DP_NOISE_DISCRETE_GAUSSIAN && m->noise != DP_NOISE_ROUNDED_GAUSSIAN)
            continue;
        dpi_pair pair = pair_of(2 * i, DPI_UPPER);
        int reach = (int)(17 * m->sigma) + 5;
        size_t met = 0;
        for (int k = -reach; k <= reach; k++) {
            long double still = naive_lattice_mass(m, k), q = m->rate;
            long double mixed = (1 - q) * still + q * naive_lattice_mass(m, k - 1);
            long double loss = logl(mixed / still);
            double p = (double)mixed, nearest = INFINITY;
            if (!(p > 1e-60) || !isfinite(loss) || still < 1e-300L)
                continue;
            for (size_t j = 0; j < pair.n_atoms; j++)
                nearest = fmin(nearest, (double)fabsl(loss - pair.base - pair.atom[j].offset));
            assert_true(nearest <= pair.offset_error + 4 * 0x1p-53 * fabs(pair.base) + 4e-18);
            met++;
        }
        assert_true(met >= 3);
        dpi_pair_free(&pair);
    }
}

/* Parts too rare to matter count against the attacker's limits on the right side. */
static void negligible_parts_are_rounded_outward(void **state)
{
    (void)state;
    const double jumps[] = {0, 1, 3}, chances[] = {0.5, 0.5, 1e-80};
    const dp_mechanism m = {FULL(1), .jumps = jumps, .chances = chances, .n_jumps = 3};
    dpi_pair pair;
    double times;
    assert_int_equal(dpi_pair_of(&m, DPI_REMOVE, DPI_UPPER, &pair, &times, NULL), DP_OK);
    assert_true(pair.infinite >= 1e-80 && pair.infinite < 2e-80);
    dpi_pair_free(&pair);
    assert_int_equal(dpi_pair_of(&m, DPI_REMOVE, DPI_LOWER, &pair, &times, NULL), DP_OK);
    assert_true(pair.infinite == 0);
    dpi_pair_free(&pair);
}

static void survives_every_failed_allocation(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * N_ALL; i++) {
        dp_status status = DP_ENOMEM;
        for (long k = 0; status != DP_OK; k++) {
            dpi_pair pair;
            double times;
            until_failure = k;
            status = dpi_pair_of(&all[i / 2], i % 2 ? DPI_ADD : DPI_REMOVE, DPI_UPPER, &pair,
                                 &times, NULL);
            until_failure = -1;
            assert_true(status == DP_OK || status == DP_ENOMEM);
            assert_true(status == DP_OK || (pair.atom == NULL && pair.n_pieces == 0));
            dpi_pair_free(&pair);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_masses_are_one),
        cmocka_unit_test(delta_of_one_release_is_the_direct_one),
        cmocka_unit_test(directions_agree_at_epsilon_zero),
        cmocka_unit_test(lower_pairs_leak_no_more_than_upper_ones),
        cmocka_unit_test(tails_bound_what_lies_beyond),
        cmocka_unit_test(place_inverts_excess),
        cmocka_unit_test(rounding_errors_keep_to_their_bounds),
        cmocka_unit_test(roughness_covers_the_error_of_quadrature),
        cmocka_unit_test(atoms_of_lattices_keep_to_their_bounds),
        cmocka_unit_test(negligible_parts_are_rounded_outward),
        cmocka_unit_test(survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
