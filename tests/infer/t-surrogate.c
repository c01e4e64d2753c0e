/* The likelihood of a release whose variance rounding has made indefinite. */
#include "infer/surrogate.h"

#include <math.h>

#include "tests/infer/readers.h"
#include "tests/lib/check.h"

enum { D = 2 };

/* Where the second number's variance is `least`. */
static dp_status set(const reading *r, double least, dpi_surrogate *s, dp_error *err)
{
    const double centre[D] = {0.3, -0.7}, score[D] = {2, 1}, slope[D * D] = {1, 0, 0, 1},
                 variance[D * D] = {1, 0, 0, least}, noise[D] = {0};
    double square[D * D], back[D * D];
    dpi_released what = {.square = square,
                         .back = back,
                         .centre = centre,
                         .score = score,
                         .noise = noise,
                         .slope = slope,
                         .variance = variance,
                         .scale = D,
                         .ratio = 1};
    assert_ok(dpi_metric_back(&r->metric, square, back, err), err->text);
    assert_int_equal(r->view.objective.n_theta, D);
    assert_ok(dpi_surrogate_init(s, &r->view, err), err->text);
    return dpi_surrogate_set(s, &what, err);
}

static void what_rounding_hides_is_no_error(void **state)
{
    reading r;
    dpi_surrogate s;
    dp_error err = {0};
    (void)state;
    reading_make(&r, reader_named("bernoulli"));
    assert_ok(set(&r, -1e-8, &s, &err), err.text);
    assert_int_equal(err.status, DP_OK);
    assert_close(s.precision[0], 1, 1e-6, 0);
    dpi_surrogate_free(&s);
    assert_fails(set(&r, -1, &s, &err), DP_EDOMAIN, &err, "variance");
    dpi_surrogate_free(&s);
    reading_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rounding_hides_is_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
