/* Programs: stages against naive loops, integers against reals, ranges that hold and that inputs
 * reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static void fill(uint64_t *state, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = next_number(state);
}

/* ---- single stages ---- */

enum { ROWS = 5, COLUMNS = 6, CHANNELS = 2, OUT = 3, HIGH = 3, WIDE = 2, PAD_R = 2, PAD_C = 1 };

/* The image with its padding as an array, so that nothing is shared with the code under test. */
static double padded(const double *x, int row, int column, int c)
{
    row -= PAD_R;
    column -= PAD_C;
    bool inside = row >= 0 && row < ROWS && column >= 0 && column < COLUMNS;
    return inside ? x[(row * COLUMNS + column) * CHANNELS + c] : 0;
}

static const dp_window window = {.size = {HIGH, WIDE}, .stride = {2, 1}, .padding = {PAD_R, PAD_C}};
enum { STOPS_R = (ROWS + 2 * PAD_R - HIGH) / 2 + 1, STOPS_C = COLUMNS + 2 * PAD_C - WIDE + 1 };

static void convolution_is_the_sum_it_says(void **state)
{
    (void)state;
    dp_error err = {0};
    uint64_t numbers = 3;
    double x[ROWS * COLUMNS * CHANNELS], w[OUT * HIGH * WIDE * CHANNELS], b[OUT];
    double y[STOPS_R * STOPS_C * OUT];
    fill(&numbers, sizeof x / sizeof *x, x);
    fill(&numbers, sizeof w / sizeof *w, w);
    fill(&numbers, OUT, b);
    dp_program *p = dp_program_new();
    int in = dp_program_image(p, ROWS, COLUMNS, CHANNELS, "pixel", -1, 1);
    assert_int_equal(dp_program_convolution(p, in, OUT, &window, w, b), 1);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    assert_int_equal(dp_program_outputs(p), STOPS_R * STOPS_C * OUT);
    assert_int_equal(dp_program_run(p, 1, x, y, &err), DP_OK);
    for (int r = 0; r < STOPS_R; r++)
        for (int q = 0; q < STOPS_C; q++)
            for (int o = 0; o < OUT; o++) {
                double sum = b[o];
                for (int i = 0; i < HIGH; i++)
                    for (int j = 0; j < WIDE; j++)
                        for (int c = 0; c < CHANNELS; c++)
                            sum += w[((o * HIGH + i) * WIDE + j) * CHANNELS + c] *
                                   padded(x, 2 * r + i, q + j, c);
                assert_close(y[(r * STOPS_C + q) * OUT + o], sum, 1e-13, 1e-14);
            }
    dp_program_free(p);
}

static void pools_are_means_and_maxima(void **state)
{
    (void)state;
    dp_error err = {0};
    uint64_t numbers = 4;
    double x[ROWS * COLUMNS * CHANNELS];
    double mean[STOPS_R * STOPS_C * CHANNELS], most[STOPS_R * STOPS_C * CHANNELS];
    fill(&numbers, sizeof x / sizeof *x, x);
    for (int kind = 0; kind < 2; kind++) {
        dp_program *p = dp_program_new();
        int in = dp_program_image(p, ROWS, COLUMNS, CHANNELS, "pixel", -1, 1);
        (void)(kind == 0 ? dp_program_average_pool : dp_program_max_pool)(p, in, &window);
        assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
        assert_int_equal(dp_program_run(p, 1, x, kind == 0 ? mean : most, &err), DP_OK);
        dp_program_free(p);
    }
    for (int at = 0; at < STOPS_R * STOPS_C * CHANNELS; at++) {
        int c = at % CHANNELS, q = at / CHANNELS % STOPS_C, r = at / CHANNELS / STOPS_C;
        double sum = 0, largest = -2;
        for (int i = 0; i < HIGH; i++)
            for (int j = 0; j < WIDE; j++) {
                double v = padded(x, 2 * r + i, q + j, c);
                sum += v;
                largest = v != 0 && v > largest ? v : largest; /* no pixel is 0 */
            }
        assert_close(mean[at], sum / (HIGH * WIDE), 1e-13, 1e-14);
        assert_true(most[at] == largest);
    }
}

static void shifts_round_to_nearest(void **state)
{
    (void)state;
    for (int shift = 0; shift <= 20; shift++)
        for (int64_t v = -3000; v <= 3000; v++)
            assert_true((double)dpi_round_shift(v, shift) == floor(ldexp((double)v, -shift) + .5));
    /* A maximum with 0 may be taken before or after. */
    for (int64_t v = -3000; v <= 3000; v++) {
        int64_t after = dpi_round_shift(v, 7);
        assert_true(dpi_round_shift(v > 0 ? v : 0, 7) == (after > 0 ? after : 0));
    }
    const int64_t most = ((int64_t)1 << 62) - 1;
    assert_true(dpi_round_shift(-most, 62) == -1 && dpi_round_shift(most, 62) == 1);
}

static void sigmoid_table_is_as_near_as_it_says(void **state)
{
    (void)state;
    double worst = 0, before = 0;
    for (int64_t x = -20 * 1024; x <= 20 * 1024; x++) {
        double y = ldexp((double)dpi_sigmoid_table(x), -DPI_TABLE_FRACTION);
        worst = fmax(worst, fabs(y - 1 / (1 + exp(-ldexp((double)x, -DPI_KNOT_FRACTION)))));
        assert_true(y >= before); /* which the proof of ranges takes for granted */
        before = y;
    }
    assert_true(worst < 7.6e-4 + 6.2e-5 && worst > 5e-4);
    assert_true(dpi_to_knots((int64_t)1 << 61, 50) == 2048);
    assert_true(dpi_to_knots(-5, -3) == -40 && dpi_to_knots((int64_t)1 << 61, -20) == 1 << 20);
}

/* ---- networks ---- */

/* A little of everything. */
static dp_program *network(uint64_t *numbers, const dp_scale_opts *opts, double bound)
{
    dp_error err = {0};
    double w[OUT * 9 * CHANNELS], b[5], v[8 * OUT * 9], u[5 * 8];
    const dp_window three = {.size = {3, 3}, .padding = {1, 1}};
    const dp_window halves = {.size = {2, 2}, .stride = {2, 2}};
    fill(numbers, sizeof w / sizeof *w, w);
    fill(numbers, 5, b);
    dp_program *p = dp_program_new();
    int in = dp_program_image(p, 6, 6, CHANNELS, "pixel", -bound, bound);
    int a = dp_program_relu(p, dp_program_convolution(p, in, OUT, &three, w, b));
    int pooled = dp_program_max_pool(p, a, &halves);
    int mean = dp_program_average_pool(p, a, &halves);
    int both = dp_program_add(p, pooled, mean);
    fill(numbers, sizeof v / sizeof *v, v);
    fill(numbers, sizeof u / sizeof *u, u);
    int s = dp_program_sigmoid(p, dp_program_dense(p, both, 8, v, NULL));
    int t = dp_program_tanh(p, dp_program_dense(p, both, 8, v, NULL));
    (void)dp_program_dense(p, dp_program_add(p, s, t), 5, u, b);
    assert_int_equal(dp_program_fix(p, opts, &err), DP_OK);
    return p;
}

static void integers_follow_the_reals(void **state)
{
    (void)state;
    dp_error err = {0};
    const dp_scale_opts fine = {.weight_bits = 18, .activation_bits = 22};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t numbers = seed;
        dp_program *p = network(&numbers, &fine, 1.25);
        double x[6 * 6 * CHANNELS], y[5], mean[5];
        int64_t v[6 * 6 * CHANNELS], z[5];
        fill(&numbers, sizeof x / sizeof *x, x);
        assert_int_equal(dp_program_run(p, 1, x, y, &err), DP_OK);
        assert_int_equal(dp_program_encode(p, 1, x, v, &err), DP_OK);
        assert_int_equal(dp_program_run_exact(p, 1, v, z, &err), DP_OK);
        dp_program_decode(p, z, mean, NULL);
        /* 8 sigmoids and tanhs, each off by at most 8e-4 and 1.7e-3, times weights below 1. */
        for (int i = 0; i < 5; i++)
            assert_close(mean[i], y[i], 0, 8 * 2.5e-3);
        dp_program_free(p);
    }
}

/* No input leaves the proven bounds, and inputs at the ends, by the signs of one output's weights,
 * reach them. */
static void ranges_hold_and_are_reached(void **state)
{
    (void)state;
    dp_error err = {0};
    enum { N = 40, M = 7 };
    uint64_t numbers = 11;
    double w[M * N], b[M], x[N];
    fill(&numbers, M * N, w);
    fill(&numbers, M, b);
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, N, "x", -3, 1.5), M, w, b);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    for (int o = 0; o < M; o++)
        for (int end = 0; end < 2; end++) {
            int64_t v[N], y[M];
            for (int i = 0; i < N; i++)
                x[i] = (w[o * N + i] > 0) == (end == 1) ? 1.5 : -3;
            assert_int_equal(dp_program_encode(p, 1, x, v, &err), DP_OK);
            assert_int_equal(dp_program_run_exact(p, 1, v, y, &err), DP_OK);
            assert_true(y[o] == (end == 1 ? p->high : p->low)[1][o]);
        }
    int64_t most = 0;
    for (int o = 0; o < M; o++) {
        most = llabs(p->low[1][o]) > most ? llabs(p->low[1][o]) : most;
        most = p->high[1][o] > most ? p->high[1][o] : most;
    }
    assert_int_equal(p->stages[1].bits, dpi_bits(most));
    dp_program_free(p);
}

static void all_stages_stay_within_their_bits(void **state)
{
    (void)state;
    dp_error err = {0};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t numbers = seed;
        dp_program *p = network(&numbers, NULL, 1);
        double x[6 * 6 * CHANNELS];
        int64_t value[12][6 * 6 * OUT] = {{0}};
        for (size_t i = 0; i < sizeof x / sizeof *x; i++)
            x[i] = seed % 2 == 0 ? (next_number(&numbers) > 0 ? 1 : -1) : next_number(&numbers);
        assert_int_equal(dp_program_encode(p, 1, x, value[0], &err), DP_OK);
        for (size_t k = 1; k < dp_program_stages(p); k++) {
            const dp_stage *s = dp_program_stage(p, k);
            dp_stage_run_exact(p, k, value[s->in[0]], s->in[1] < 0 ? NULL : value[s->in[1]],
                               value[k]);
            for (size_t i = 0; i < s->size; i++) {
                assert_true(value[k][i] >= p->low[k][i] && value[k][i] <= p->high[k][i]);
                assert_true(llabs(value[k][i]) >> s->bits == 0);
            }
        }
        dp_program_free(p);
    }
}

static void weights_keep_their_bits(void **state)
{
    (void)state;
    dp_error err = {0};
    const double w[] = {1000, -3.25, 0, .001};
    for (int bits = 2; bits <= 30; bits++) {
        const dp_scale_opts opts = {.weight_bits = bits};
        dp_program *p = dp_program_new();
        (void)dp_program_dense(p, dp_program_input(p, 4, "x", 0, 1), 1, w, NULL);
        assert_int_equal(dp_program_fix(p, &opts, &err), DP_OK);
        const dp_stage *s = dp_program_stage(p, 1);
        int own = s->fraction - dp_program_stage(p, 0)->fraction;
        for (int i = 0; i < 4; i++)
            assert_true(fabs(ldexp(s->weights[i], -own) - w[i]) <= ldexp(.5, -own));
        assert_true(s->weights[0] >= 1 << (bits - 2) && s->weights[0] < 1 << bits);
        assert_int_equal(s->weight_bits, bits);
        dp_program_free(p);
    }
}

/* ---- refusals ---- */

static void overflow_is_refused_by_name(void **state)
{
    (void)state;
    dp_error err = {0};
    double w[64];
    for (int i = 0; i < 64; i++)
        w[i] = 1;
    dp_program *p = dp_program_new();
    int h = dp_program_dense(p, dp_program_input(p, 8, "x", -1, 1), 8, w, NULL);
    (void)dp_program_dense(p, h, 8, w, NULL);
    const dp_scale_opts tight = {.most_bits = 31}, wide = {.most_bits = 45};
    assert_fails(dp_program_fix(p, &tight, &err), DP_EDOMAIN, &err, "stage 2 (dense)");
    dp_program_free(p);
    p = dp_program_new();
    h = dp_program_dense(p, dp_program_input(p, 8, "x", -1, 1), 8, w, NULL);
    (void)dp_program_dense(p, h, 8, w, NULL);
    err = (dp_error){0};
    assert_int_equal(dp_program_fix(p, &wide, &err), DP_OK); /* 16 + 2 (11 + 3) and one for 2^k */
    assert_int_equal(dp_program_bits(p), 45);
    dp_program_free(p);
    /* Beyond 62 bits nothing is computed that could wrap. */
    p = dp_program_new();
    h = dp_program_input(p, 8, "x", -1, 1);
    for (int i = 0; i < 6; i++)
        h = dp_program_dense(p, h, 8, w, NULL);
    assert_fails(dp_program_fix(p, NULL, &err), DP_EDOMAIN, &err, "stage 4 (dense)");
    dp_program_free(p);
}

static void wrong_stages_stick(void **state)
{
    (void)state;
    const double w[4] = {1, 2, NAN, 4};
    const dp_window large = {.size = {7, 7}};
    for (int wrong = 0; wrong < 7; wrong++) {
        static const char *const words[] = {
            "not finite", "larger than",    "a stage that there is", "the input",
            "bounds are", "after an error", "different lengths"};
        dp_error err = {0};
        dp_program *p = dp_program_new();
        int x = dp_program_image(p, 2, 2, 1, "x", 0, wrong == 4 ? INFINITY : 1);
        if (wrong == 0)
            x = dp_program_dense(p, x, 1, w, NULL);
        else if (wrong == 1)
            x = dp_program_max_pool(p, x, &large);
        else if (wrong == 2)
            x = dp_program_relu(p, 3);
        else if (wrong == 3)
            x = dp_program_input(p, 3, "y", 0, 1);
        else if (wrong == 5)
            x = dp_program_relu(p, dp_program_relu(p, -1));
        else if (wrong == 6)
            x = dp_program_add(p, x, dp_program_dense(p, x, 1, (double[]){1, 1, 1, 1}, NULL));
        assert_int_equal(x, -1);
        assert_int_equal(dp_program_relu(p, 0), -1);
        const char *expected = wrong == 5 ? "a stage that there is" : words[wrong];
        dp_status status = dp_program_fix(p, NULL, &err);
        assert_fails(status, wrong == 4 ? DP_EINVAL : DP_ESHAPE, &err, expected);
        dp_program_free(p);
    }
}

static void inputs_outside_their_bounds_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    const double w[2] = {1, 1};
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 2, "age", 18, 80), 1, w, NULL);
    const dp_program_number urban = {
        .low = 0, .high = 1, .n_factors = 1, .factor = {{.column = "urban", .level = 1}}};
    dp_program_declare(p, 1, &urban);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    assert_string_equal(dp_program_number_at(p, 1).factor[0].column, "urban");
    assert_string_equal(dp_program_number_at(p, 0).factor[0].column, "age");
    int64_t v[2], y[1];
    assert_int_equal(dp_program_encode(p, 1, (double[]){18, 1}, v, &err), DP_OK);
    assert_fails(dp_program_encode(p, 1, (double[]){18, 1.5}, v, &err), DP_EDOMAIN, &err, "urban");
    assert_true(v[0] == 0 && v[1] == 0);
    assert_fails(dp_program_encode(p, 1, (double[]){NAN, 1}, v, &err), DP_EDOMAIN, &err, "age");
    v[0] = (int64_t)1 << 40;
    assert_fails(dp_program_run_exact(p, 1, v, y, &err), DP_EDOMAIN, &err, "outside the bounds");
    dp_program_free(p);
}

/* Without an indicator of group 0, as where that is the one that others are compared with, a group
 * that the program does not know is no group 0. */
static void unknown_groups_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    const double w[2] = {1, 1};
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 2, "region", 0, 1), 1, w, NULL);
    for (int32_t level = 1; level <= 2; level++) {
        const dp_program_number one = {
            .low = 0, .high = 1, .n_factors = 1, .factor = {{.column = "region", .level = level}}};
        dp_program_declare(p, (size_t)level - 1, &one);
    }
    assert_ok(dp_program_fix(p, NULL, &err), err.text);
    int32_t groups[3] = {2, 0, 1};
    double x[6];
    dp_dataset *data = dp_dataset_new(3);
    dp_dataset_index(data, "region", groups);
    assert_ok(dp_program_read(p, data, 6, x, &err), err.text);
    assert_true(x[0] == 0 && x[1] == 1 && x[2] == 0 && x[3] == 0 && x[4] == 1 && x[5] == 0);
    for (int32_t wrong = -1; wrong <= 3; wrong += 4) {
        groups[1] = wrong;
        dp_dataset *other = dp_dataset_new(3);
        dp_dataset_index(other, "region", groups);
        assert_fails(dp_program_read(p, other, 6, x, &err), DP_EDATA, &err, "0 ... 2");
        assert_true(isnan(x[0]) && isnan(x[5]));
        dp_dataset_free(other);
    }
    dp_dataset_free(data);
    dp_program_free(p);
}

static void answers_of_draws_have_a_mean_and_a_spread(void **state)
{
    (void)state;
    dp_error err = {0};
    const double w[4] = {1, 2, 3, -1};
    dp_program *p = dp_program_new();
    (void)dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), 4, w, NULL);
    dp_program_answer(p, DP_LINK_LOGISTIC, 4);
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    int64_t v[1], y[4];
    double mean, sd, sum = 0, square = 0;
    assert_int_equal(dp_program_encode(p, 1, (double[]){.5}, v, &err), DP_OK);
    assert_int_equal(dp_program_run_exact(p, 1, v, y, &err), DP_OK);
    dp_program_decode(p, y, &mean, &sd);
    for (int d = 0; d < 4; d++)
        sum += 1 / (1 + exp(-w[d] / 2)) / 4;
    for (int d = 0; d < 4; d++)
        square += pow(1 / (1 + exp(-w[d] / 2)) - sum, 2) / 3;
    assert_close(mean, sum, 1e-4, 0);
    assert_close(sd, sqrt(square), 1e-3, 0);
    dp_program_free(p);
}

static void argmax_takes_the_first(void **state)
{
    (void)state;
    dp_error err = {0};
    const double w[4] = {1, 2, 2, 0};
    dp_program *p = dp_program_new();
    (void)dp_program_argmax(p, dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), 4, w, NULL));
    assert_int_equal(dp_program_fix(p, NULL, &err), DP_OK);
    int64_t v[3], y[3];
    assert_int_equal(dp_program_encode(p, 3, (double[]){1, 0, -1}, v, &err), DP_OK);
    assert_int_equal(dp_program_run_exact(p, 3, v, y, &err), DP_OK);
    assert_true(y[0] == 1 && y[1] == 0 && y[2] == 3);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolution_is_the_sum_it_says),
        cmocka_unit_test(pools_are_means_and_maxima),
        cmocka_unit_test(shifts_round_to_nearest),
        cmocka_unit_test(sigmoid_table_is_as_near_as_it_says),
        cmocka_unit_test(integers_follow_the_reals),
        cmocka_unit_test(ranges_hold_and_are_reached),
        cmocka_unit_test(all_stages_stay_within_their_bits),
        cmocka_unit_test(weights_keep_their_bits),
        cmocka_unit_test(overflow_is_refused_by_name),
        cmocka_unit_test(wrong_stages_stick),
        cmocka_unit_test(inputs_outside_their_bounds_are_refused),
        cmocka_unit_test(unknown_groups_are_refused),
        cmocka_unit_test(answers_of_draws_have_a_mean_and_a_spread),
        cmocka_unit_test(argmax_takes_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
