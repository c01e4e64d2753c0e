/* Releases of a convolutional network with a shared kernel, in both precisions, short ones (each
 * record's gradient made) and long ones (waves): the same bits on any number of threads, and a
 * record more changes them by at most the clip norm. */
#include <math.h>
#include <string.h>

#include "exec/single.h"
#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

/* Images of SIDE x SIDE pixels; kernels of 3 x 3 places.  The second kernel has many channels for
 * the 2 x 2 places where it stops, so that its norms come from factors, with cross terms of its two
 * uses. */
enum { ROWS = 300, SIDE = 8, PIXELS = SIDE * SIDE, CHANNELS = 16 };
enum { SHORT = 6, LONG = 2500, CLASSES = 11, MOST = 80000 };

static double x[ROWS * PIXELS], numbers[MOST];
static int32_t y[ROWS];

static void fill(void)
{
    uint64_t r = 7;
    for (size_t i = 0; i < (size_t)ROWS * PIXELS; i++)
        x[i] = 2 * next_number(&r);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = (int32_t)(5.5 * (1 + next_number(&r)));
}

/* Convolution, maximum, the second kernel twice, mean, two dense layers. */
static dp_model *write_model(size_t hidden)
{
    const dp_window first = {.image = {SIDE, SIDE}, .size = {3, 3}, .padding = {1, 1}};
    const dp_window second = {.image = {4, 4}, .size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}};
    const dp_window again = {.image = {2, 2}, .size = {3, 3}, .padding = {1, 1}};
    const dp_window half = {.image = {SIDE, SIDE}, .size = {2, 2}, .stride = {2, 2}};
    const dp_window all = {.image = {2, 2}, .size = {2, 2}};
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), nine = dp_plate_new(m, "nine", 9);
    dp_plate places = dp_plate_new(m, "places", 9 * (size_t)CHANNELS);
    dp_plate pooled = dp_plate_new(m, "pooled", CHANNELS), units = dp_plate_new(m, "units", hidden);
    dp_expr one = dp_param_in(nine, "one", CHANNELS, 0), b = dp_param(m, "b", CHANNELS, 0);
    dp_expr two = dp_param_in(places, "two", CHANNELS, 0);
    dp_expr h = dp_tanh(dp_add(dp_conv2d(dp_data(rows, "x", PIXELS), one, &first), b));
    h = dp_max_pool2d(h, &half);
    h = dp_tanh(dp_add(dp_conv2d(h, two, &second), b));
    h = dp_relu(dp_conv2d(h, two, &again));
    h = dp_flatten(dp_avg_pool2d(h, &all));
    h = dp_dense(h, dp_param_in(pooled, "three", hidden, 0), dp_param(m, "c", hidden, 0));
    h = dp_dense(dp_gelu(h), dp_param_in(units, "four", CLASSES, 0), dp_param(m, "d", CLASSES, 0));
    dp_observe(rows, "y", dp_categorical_logit(h));
    return m;
}

static void start(dp_svi *svi, size_t hidden)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    const size_t sizes[] = {9 * CHANNELS, 9 * CHANNELS * CHANNELS, CHANNELS * hidden,
                            hidden * CLASSES};
    const double scales[] = {0.4, 0.2, 0.5, 2 / sqrt((double)hidden)};
    dp_error err = {0};
    uint64_t r = 11;
    for (int k = 0; k < 4; k++) {
        assert_true(sizes[k] <= MOST);
        for (size_t i = 0; i < sizes[k]; i++)
            numbers[i] = scales[k] * next_number(&r);
        assert_ok(dp_svi_set(svi, names[k], sizes[k], numbers, &err), err.text);
    }
}

/* What is released of the first n records in the last of o.steps steps; returns how many
 * numbers. */
static size_t sum_of(size_t n, size_t hidden, dp_svi_opts o, double *release)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_model *m = write_model(hidden);
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", PIXELS, x);
    dp_dataset_index(data, "y", y);
    o.seed = 5;
    o.step_size = 0.01;
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    assert_true((svi->sum.factors != NULL) == (hidden == LONG));
    start(svi, hidden);
    for (uint64_t k = 0; k < o.steps; k++)
        assert_ok(dp_svi_step(svi, &err), err.text);
    size_t size = svi->objective.n_release;
    assert_true(size <= MOST);
    memcpy(release, svi->release.out, size * sizeof *release);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return size;
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    static double one[MOST], release[MOST];
    const size_t widths[] = {SHORT, LONG}, threads[] = {2, 3, 7};
    for (int single = 0; single < 2; single++)
        for (int wide = 0; wide < 2; wide++) {
            dp_svi_opts o = {.sigma = 1,
                             .delta = 1e-6,
                             .clip = 0.5,
                             .steps = 2,
                             .precision = single ? DP_SINGLE : DP_DOUBLE};
            size_t size = sum_of(ROWS, widths[wide], o, one);
            for (int k = 0; k < 3; k++) {
                o.threads = threads[k];
                assert_int_equal(sum_of(ROWS, widths[wide], o, release), size);
                assert_memory_equal(release, one, size * sizeof *one);
            }
        }
}

/* In single precision nothing of a record is computed in double: what this network is made of, as
 * that of examples/cnn is, and its gradient, has kernels for floats. */
static void the_network_runs_wholly_in_floats(void **state)
{
    (void)state;
    dp_error err = {0};
    dp_svi *svi;
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 1, .precision = DP_SINGLE};
    dp_model *m = write_model(SHORT);
    dp_dataset *data = dp_dataset_new(ROWS);
    dp_dataset_real(data, "x", PIXELS, x);
    dp_dataset_index(data, "y", y);
    assert_ok(dp_svi_new(m, NULL, data, &o, &svi, &err), err.text);
    size_t computed = 0;
    for (size_t i = 0; i < svi->objective.graph.n_nodes; i++) {
        const dpi_node *node = dpi_get(&svi->objective.graph, (dpi_id)i);
        if (!node->shape.per_record || dpi_is_source(node))
            continue;
        assert_non_null(dpi_kernels_single[node->op->id].run);
        computed++;
    }
    assert_true(computed > 50);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}

/* The sums themselves, without noise.  With half of the cross terms left out it was 1.00175. */
static void a_record_changes_a_sum_by_its_clip_at_most(void **state)
{
    (void)state;
    static double before[MOST], after[MOST];
    const size_t widths[] = {SHORT, LONG}, sizes[] = {1, 63, 64, 127, 128, 256, ROWS - 1};
    const double clip = 0.25;
    for (int single = 0; single < 2; single++)
        for (int wide = 0; wide < 2; wide++) {
            double most = 0;
            dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                             .clip = clip,
                             .steps = 1,
                             .precision = single ? DP_SINGLE : DP_DOUBLE};
            for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
                double norm2 = 0;
                size_t size = sum_of(sizes[k], widths[wide], o, before);
                assert_int_equal(sum_of(sizes[k] + 1, widths[wide], o, after), size);
                for (size_t e = 0; e < size; e++)
                    norm2 += (after[e] - before[e]) * (after[e] - before[e]);
                most = fmax(most, sqrt(norm2) / clip);
            }
            print_message("# a record changes a sum by up to %.6f clips\n", most);
            assert_true(most <= 1 && most > 0.998);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
        cmocka_unit_test(the_network_runs_wholly_in_floats),
        cmocka_unit_test(a_record_changes_a_sum_by_its_clip_at_most),
    };
    fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
