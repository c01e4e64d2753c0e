/* Programs that CKKS cannot compute, and sheets of anybody: told with the stage, before there is room
 * for what they ask. */
#include "serve/circuit.h"
#include "tests/serve/scene.h"

static dp_program *fixed(dp_program *p)
{
    const dp_scale_opts opts = {.weight_bits = 14, .activation_bits = 15};
    dp_error err = {0};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

static void other_stages_are_refused(void **state)
{
    (void)state;
    dpi_serve_plan plan;
    dpi_circuit c;
    dp_error err = {0};
    dp_program *p = network();
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_fails(dpi_circuit_make(&plan, &c, &err), DP_EUNSUPPORTED, &err, "with squares");
    dpi_circuit_free(&c);
    assert_fails(dpi_serve_plan_whole(p, DPI_MODE_PERMUTE, &plan, &err), DP_EUNSUPPORTED, &err,
                 "mode linear");
    dp_program_free(p);
}

static void far_sigmoids_are_refused(void **state)
{
    (void)state;
    const double w = 1000;
    dpi_serve_plan plan;
    dpi_circuit c;
    dp_error err = {0};
    dp_program *p = dp_program_new();
    dp_program_sigmoid(p, dp_program_dense(p, dp_program_input(p, 1, "x", -1, 1), 1, &w, NULL));
    fixed(p);
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_fails(dpi_circuit_make(&plan, &c, &err), DP_EUNSUPPORTED, &err, "can reach 1024");
    dpi_circuit_free(&c);
    dp_program_free(p);
}

/* Whoever asks reads sheets of anybody: what is too large is refused before there is room for it. */
static void large_stages_are_refused(void **state)
{
    (void)state;
    const dp_window window = {.size = {7, 7}, .padding = {3, 3}};
    static double w[32 * 7 * 7 * 32];
    dp_error err = {0};
    for (size_t side = 32; side <= 33; side++) {
        dpi_serve_plan plan;
        dpi_circuit c;
        dp_program *p = dp_program_new();
        dp_program_convolution(p, dp_program_image(p, side, side, 32, "x", 0, 1), 32, &window, w,
                               NULL);
        fixed(p);
        assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
        assert_fails(dpi_circuit_make(&plan, &c, &err), DP_EUNSUPPORTED, &err,
                     side == 32 ? "stage 1 (convolution) cannot be computed under CKKS: it has too"
                                : "stage 0 (input) cannot be computed under CKKS: it has too");
        dpi_circuit_free(&c);
        dp_program_free(p);
    }
}

/* `side` x `side` of 32 channels, `stages` means of `size` x `size` that leave that. */
static dp_program *means(size_t side, size_t size, size_t stages)
{
    const dp_window window = {.size = {size, size}, .padding = {size / 2, size / 2}};
    dp_program *p = dp_program_new();
    int x = dp_program_image(p, side, side, 32, "x", 0, 1);
    for (size_t k = 0; k < stages; k++)
        x = dp_program_average_pool(p, x, &window);
    return fixed(p);
}

/* Means need no weights, so that a sheet of many is short: what all stages take together counts. */
static void many_stages_are_refused(void **state)
{
    (void)state;
    dp_program *of[] = {means(32, 17, 2), means(1, 1, 64)};
    dp_error err = {0};
    for (size_t k = 0; k < 2; k++) {
        dpi_serve_plan plan;
        dpi_circuit c;
        assert_ok(dpi_serve_plan_whole(of[k], DPI_MODE_LINEAR, &plan, &err), err.text);
        assert_fails(dpi_circuit_make(&plan, &c, &err), k == 0 ? DP_EUNSUPPORTED : DP_EPRIVACY,
                     &err,
                     k == 0 ? "stage 2 (average pool) cannot be computed under CKKS: it has too "
                              "many products"
                            : "64 stages, a level each");
        dpi_circuit_free(&c);
        dp_program_free(of[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_stages_are_refused),
        cmocka_unit_test(far_sigmoids_are_refused),
        cmocka_unit_test(large_stages_are_refused),
        cmocka_unit_test(many_stages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
