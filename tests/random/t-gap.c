#include "random/gap.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include "tests/random/chi.h"

static dpi_stream stream;

static dpi_gap gap_of(double q)
{
    dpi_gap gap;
    assert_true(dpi_gap_serves(q));
    dpi_gap_set(&gap, q);
    return gap;
}

static void only_rates_that_the_proof_covers_are_served(void **state)
{
    (void)state;
    assert_false(dpi_gap_serves(0x1.fffffffffffffp-41) || dpi_gap_serves(0.50000000000000011) ||
                 dpi_gap_serves(0) || dpi_gap_serves(NAN) || dpi_gap_serves(-1));
    assert_true(dpi_gap_serves(0x1p-40) && dpi_gap_serves(0.5));
}

/* At q = 1/2 a gap is the number of leading zeros. */
static void halves_count_zeros(void **state)
{
    (void)state;
    const uint64_t zeros[3] = {0}, ones[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    dpi_gap gap = gap_of(0.5);
    for (int k = 0; k < 64; k++) {
        uint64_t first = UINT64_C(1) << (63 - k), got;
        assert_int_equal(dpi_gap_exact(&gap, first, zeros), k);
        assert_int_equal(dpi_gap_exact(&gap, first - 1, ones), k + 1);
        assert_false(dpi_gap_fast(&gap, first, &got)); /* too near to say */
        if (k < 50) {
            assert_true(dpi_gap_fast(&gap, first + first / 2, &got));
            assert_int_equal(got, k);
        }
    }
    for (int k = 0; k < 192; k++) {
        uint64_t more[3] = {0};
        more[k / 64] = UINT64_C(1) << (63 - k % 64);
        assert_int_equal(dpi_gap_exact(&gap, 0, more), 64 + k);
    }
    assert_true(dpi_gap_exact(&gap, 0, zeros) == UINT64_MAX);
}

/* At q = 1/4 the bounds are 3^k 2^-2k, whose digits are those of whole numbers. */
static void bounds_are_met_to_the_last_digit(void **state)
{
    (void)state;
    dpi_gap gap = gap_of(0.25);
    uint64_t power[4] = {1}; /* 3^k, lowest word first */
    for (unsigned k = 1; k <= 120; k++) {
        uint64_t carry = 0, digits[4] = {0}, more[3];
        for (int i = 0; i < 4; i++) {
            uint64_t high, low;
            dpi_multiply_words(power[i], 3, &high, &low);
            power[i] = low + carry;
            carry = high + (power[i] < low);
        }
        unsigned shift = 256 - 2 * k, words = shift / 64, bits = shift % 64;
        for (unsigned i = words; i < 4; i++)
            digits[i] = power[i - words] << bits |
                        (bits > 0 && i > words ? power[i - words - 1] >> (64 - bits) : 0);
        for (int i = 0; i < 3; i++)
            more[i] = digits[2 - i];
        assert_int_equal(dpi_gap_exact(&gap, digits[3], more), k - 1); /* just above the bound */
        for (int i = 0; i < 4 && digits[i]-- == 0; i++) {
        }
        for (int i = 0; i < 3; i++)
            more[i] = digits[2 - i];
        assert_int_equal(dpi_gap_exact(&gap, digits[3], more), k); /* just below */
    }
}

/* Where the first 64 bits decide, all bits decide the same; and they decide nearly always. */
static void the_fast_way_agrees_with_the_exact_one(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 1, "test");
    size_t undecided = 0;
    for (int i = 0; i < 3000; i++) {
        uint64_t more[3] = {0}, fast, first = dpi_stream_u64(&stream);
        double q = i % 10 == 0 ? 0x1p-40 : ldexp(dpi_stream_uniform(&stream) + 1, -2 - i % 38);
        dpi_gap gap = gap_of(q);
        if (i % 3 == 0) /* small and large U */
            first = i % 2 == 0 ? first >> i % 50 : ~(first >> i % 50);
        if (i % 2 == 0)
            memset(more, 0xff, sizeof more);
        if (dpi_gap_fast(&gap, first, &fast))
            assert_true(fast == dpi_gap_exact(&gap, first, more));
        else
            undecided++;
    }
    assert_in_range(undecided, 0, 300);
}

/* The exact way against the bounds themselves in long double. */
static void gaps_lie_between_their_bounds(void **state)
{
    (void)state;
    dpi_stream_start_seeded(&stream, 2, "test");
    for (int i = 0; i < 3000; i++) {
        const uint64_t more[3] = {dpi_stream_u64(&stream)};
        uint64_t first = dpi_stream_u64(&stream);
        double q = ldexp(dpi_stream_uniform(&stream) + 1, -2 - i % 30);
        dpi_gap gap = gap_of(q);
        long double decay = -log1pl(-(long double)q),
                    log_u = -logl(((long double)first + 0.5L) * 0x1p-64L);
        long double k = (long double)dpi_gap_exact(&gap, first, more);
        assert_true(k * decay <= log_u * (1 + 1e-15L) && (k + 1) * decay >= log_u * (1 - 1e-15L));
    }
}

static void gaps_are_geometric(void **state)
{
    (void)state;
    enum { CELLS = 60, DRAWS = 200000 };
    const double rates[] = {0.5, 0.11, 0.01};
    dpi_stream_start_seeded(&stream, 3, "test");
    for (int r = 0; r < 3; r++) {
        dpi_gap gap = gap_of(rates[r]);
        size_t count[CELLS + 1] = {0}, cells = r == 0 ? 12 : CELLS;
        double p[CELLS + 1];
        for (int i = 0; i < DRAWS; i++) {
            uint64_t k = dpi_gap_draw(&stream, &gap);
            count[k < cells ? k : cells]++;
        }
        for (size_t k = 0; k < cells; k++)
            p[k] = rates[r] * pow(1 - rates[r], (double)k);
        p[cells] = pow(1 - rates[r], (double)cells);
        assert_plausible(chi_square_p(cells + 1, count, p));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_rates_that_the_proof_covers_are_served),
        cmocka_unit_test(halves_count_zeros),
        cmocka_unit_test(bounds_are_met_to_the_last_digit),
        cmocka_unit_test(the_fast_way_agrees_with_the_exact_one),
        cmocka_unit_test(gaps_lie_between_their_bounds),
        cmocka_unit_test(gaps_are_geometric),
    };
    return sodium_init() < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
