#include "tests/svi/release.h"

#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { ROWS = RELEASE_ROWS, WIDTH = 12, HIDDEN = 8, GROUPS = 9 };

static double x[ROWS * WIDTH], y[ROWS];
static int32_t group[ROWS], person[ROWS];

static void fill(void)
{
    uint64_t r = 77;
    for (size_t i = 0; i < ROWS * WIDTH; i++)
        x[i] = 2.385 * next_number(&r);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = next_number(&r) > 0;
        group[i] = (int32_t)(i * 5 % GROUPS);
        person[i] = i % 10 < 3 ? -1 : (int32_t)(sqrt((double)i) * 12);
    }
}

/* A network with a hidden layer, group effects and a scale. */
static void write_model(dp_model *m)
{
    dp_plate rows = dp_unit_plate(m, "rows"), inputs = dp_plate_new(m, "inputs", WIDTH),
             groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample_in(inputs, "w", HIDDEN, dp_normal(0, 1));
    dp_expr hidden = dp_tanh(dp_matmul(dp_data(rows, "x", WIDTH), w));
    dp_expr v = dp_sample(m, "v", 6, dp_normal(0, 1)), s = dp_sample(m, "s", 1, dp_half_normal(1));
    dp_expr a = dp_pick(dp_sample_in(groups, "a", 1, dp_normal(0, 1)), dp_index(rows, "g", groups));
    dp_expr at = dp_add(dp_dot(dp_slice(hidden, 0, 6), v), dp_sum(hidden));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_add(dp_mul(s, a), at)));
}

void release_of(size_t chunk, bool grouped, double clip, double release[RELEASE_SIZE],
                size_t *units)
{
    dp_error err = {0};
    dp_svi *svi;
    dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE, .clip = clip, .steps = 1, .seed = 6};
    dp_model *m = dp_model_new();
    dp_dataset *data = dp_dataset_new(ROWS);
    fill();
    write_model(m);
    dp_dataset_real(data, "x", WIDTH, x);
    dp_dataset_real(data, "y", 1, y);
    dp_dataset_index(data, "g", group);
    dp_dataset_index(data, "person", person);
    if (grouped)
        dp_dataset_unit(data, "person");
    dpi_svi_spec spec = {.model = m, .data = data, .opts = &o, .chunk = chunk};
    assert_ok(dpi_svi_new(&spec, &svi, &err), err.text);
    assert_int_equal(svi->objective.n_release, RELEASE_SIZE);
    assert_ok(dp_svi_step(svi, &err), err.text);
    memcpy(release, svi->release.out, RELEASE_SIZE * sizeof *release);
    *units = svi->n;
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
}
