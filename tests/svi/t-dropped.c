/* Units whose gradient is not a finite number: counted where there is no privacy to protect. */
#include <math.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"

enum { N = 600, WIDE = 256 };

static double x[N], y[N], wide[N][WIDE];
static int32_t person[N];

typedef struct world {
    dp_model *m;
    dp_dataset *data;
    dp_svi *svi;
} world;

/* y ~ N(log(w x), 1) with w near 1, of which a third of the x are negative; a person is one record,
 * `rows` of them, or the first person has 400. */
static world with_logs(const dp_svi_opts *o, size_t rows)
{
    dp_error err = {0};
    const double one = 1, log_scale = -60;
    world u = {.m = dp_model_new(), .data = dp_dataset_new(N)};
    dp_plate plate = dp_unit_plate(u.m, "rows");
    dp_expr w = dp_sample(u.m, "w", 1, dp_normal(0, 1));
    dp_observe(plate, "y", dp_normal_v(dp_log(dp_mul(dp_data(plate, "x", 1), w)), dp_num(1)));
    for (size_t i = 0; i < N; i++) {
        x[i] = i % 3 == 0 ? -1 : 1;
        y[i] = 1;
        person[i] = (int32_t)(rows == 400 ? i < 400 ? 0 : i : i / rows);
    }
    dp_dataset_real(u.data, "x", 1, x);
    dp_dataset_real(u.data, "y", 1, y);
    dp_dataset_index(u.data, "person", person);
    if (rows > 1)
        dp_dataset_unit(u.data, "person");
    assert_ok(dp_svi_new(u.m, NULL, u.data, o, &u.svi, &err), err.text);
    assert_ok(dp_svi_set(u.svi, "w.loc", 1, &one, &err), err.text);
    assert_ok(dp_svi_set(u.svi, "w.log_scale", 1, &log_scale, &err), err.text);
    return u;
}

static void end(world *u)
{
    dp_svi_free(u->svi);
    dp_dataset_free(u->data);
    dp_model_free(u->m);
}

static uint64_t dropped(const dp_svi *svi)
{
    dp_error err = {0};
    uint64_t units;
    assert_ok(dp_svi_dropped(svi, &units, &err), err.text);
    return units;
}

static void units_that_add_nothing_are_counted(void **state)
{
    (void)state;
    /* With two rows a person two of three persons have a bad row; of the 200 records behind the
     * person of 400, one in three is bad. */
    const struct {
        size_t rows, expected;
    } cases[] = {{1, 200}, {2, 200}, {400, 1 + 66}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (size_t threads = 1; threads <= 3; threads += 2) {
            dp_error err = {0};
            dp_privacy privacy;
            const dp_svi_opts o = {.mode = DP_NO_PRIVACY,
                                   .steps = 3,
                                   .step_size = 1e-3,
                                   .threads = threads,
                                   .seed = 1};
            world u = with_logs(&o, cases[k].rows);
            assert_int_equal(dropped(u.svi), 0);
            assert_ok(dp_svi_privacy(u.svi, &privacy, &err), err.text);
            assert_null(privacy.warning);
            for (size_t t = 1; t <= 3; t++) {
                assert_ok(dp_svi_step(u.svi, &err), err.text);
                assert_int_equal(dropped(u.svi), t * cases[k].expected);
            }
            assert_ok(dp_svi_privacy(u.svi, &privacy, &err), err.text);
            assert_contains(privacy.warning, "dp_svi_dropped");
            end(&u);
        }
}

static void progress_tells_of_them(void **state)
{
    (void)state;
    dp_error err = {0};
    char text[512];
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 2, .seed = 1};
    world u = with_logs(&o, 1);
    FILE *progress = tmpfile();
    assert_non_null(progress);
    assert_ok(dp_svi_run(u.svi, progress, &err), err.text);
    rewind(progress);
    text[fread(text, 1, sizeof text - 1, progress)] = 0;
    (void)fclose(progress);
    assert_contains(text, ", 400 gradients dropped");
    assert_contains(text, "tacit: warning: gradients of some units");
    end(&u);
}

/* How many there are is a function of the records. */
static void a_run_with_privacy_does_not_count_them(void **state)
{
    (void)state;
    dp_error err = {0};
    uint64_t units = 0;
    char text[512];
    const dp_svi_opts o = {.sigma = 3, .delta = 1e-6, .clip = 1, .steps = 2, .seed = 1};
    world u = with_logs(&o, 1);
    FILE *progress = tmpfile();
    assert_non_null(progress);
    assert_ok(dp_svi_run(u.svi, progress, &err), err.text);
    rewind(progress);
    text[fread(text, 1, sizeof text - 1, progress)] = 0;
    (void)fclose(progress);
    assert_null(strstr(text, "dropped"));
    assert_fails(dp_svi_dropped(u.svi, &units, &err), DP_EPRIVACY, &err, "DP_NO_PRIVACY");
    assert_true(units == UINT64_MAX && u.svi->dropped == 0 && u.svi->sum.dropped == 0);
    end(&u);
}

/* y ~ N(w x, 1), or with x repeated a release long enough for waves. */
static world with_values(double value, bool wave)
{
    dp_error err = {0};
    world u = {.m = dp_model_new(), .data = dp_dataset_new(N)};
    dp_plate plate = dp_unit_plate(u.m, "rows"), in = dp_plate_new(u.m, "in", WIDE);
    dp_expr at = dp_data(plate, "x", wave ? WIDE : 1);
    dp_expr mean = wave ? dp_sum(dp_softplus(dp_matmul(at, dp_param_in(in, "W", WIDE, 1e-3))))
                        : dp_mul(at, dp_sample(u.m, "w", 1, dp_normal(0, 1)));
    dp_observe(plate, "y", dp_normal_v(mean, dp_num(1)));
    for (size_t i = 0; i < N; i++) {
        x[i] = value;
        y[i] = 1;
        for (size_t k = 0; k < WIDE; k++)
            wide[i][k] = i % 4 == 0 ? value : 1;
    }
    dp_dataset_real(u.data, "x", wave ? WIDE : 1, wave ? &wide[0][0] : x);
    dp_dataset_real(u.data, "y", 1, y);
    const dp_svi_opts o = {.mode = DP_NO_PRIVACY, .steps = 1, .seed = 1};
    assert_ok(dp_svi_new(u.m, NULL, u.data, &o, &u.svi, &err), err.text);
    return u;
}

static void waves_count_them_too(void **state)
{
    (void)state;
    dp_error err = {0};
    world u = with_values(1e160, true);
    assert_non_null(u.svi->sum.factors);
    assert_ok(dp_svi_step(u.svi, &err), err.text);
    assert_int_equal(dropped(u.svi), N / 4);
    end(&u);
}

static void a_step_of_which_nothing_is_left_fails(void **state)
{
    (void)state;
    dp_error err = {0};
    world u = with_values(1e200, false);
    assert_fails(dp_svi_run(u.svi, NULL, &err), DP_EDATA, &err, "all its 600 units");
    assert_int_equal(u.svi->optimizer.done, 0);
    end(&u);
}

static void the_owner_is_told_of_values_that_can_cause_it(void **state)
{
    (void)state;
    dp_error err = {0};
    world u = with_values(1, false);
    assert_ok(dp_check_data(u.m, NULL, u.data, &err), err.text);
    x[7] = -1.1e75;
    assert_fails(dp_check_data(u.m, NULL, u.data, &err), DP_EDATA, &err, "'x', record 7");
    x[7] = 1e75;
    assert_ok(dp_check_data(u.m, NULL, u.data, &err), err.text);
    end(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_that_add_nothing_are_counted),
        cmocka_unit_test(progress_tells_of_them),
        cmocka_unit_test(a_run_with_privacy_does_not_count_them),
        cmocka_unit_test(waves_count_them_too),
        cmocka_unit_test(a_step_of_which_nothing_is_left_fails),
        cmocka_unit_test(the_owner_is_told_of_values_that_can_cause_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
