/* Whole programs under CKKS: answers are near, and what is none is turned away. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "serve/ckks.h"
#include "tests/lib/numbers.h"
#include "tests/serve/scene.h"

enum { MOST = 1024, WEIGHT_BITS = 14 };

/* ---- programs ---- */

static dp_program *fixed(dp_program *p)
{
    const dp_scale_opts opts = {.weight_bits = WEIGHT_BITS, .activation_bits = 15};
    dp_error err = {0};
    assert_ok(dp_program_fix(p, &opts, &err), err.text);
    return p;
}

static int dense(dp_program *p, uint64_t *numbers, int in, size_t columns, size_t rows)
{
    static double w[64 * MOST], b[MOST];
    fill(numbers, rows * columns, w);
    fill(numbers, rows, b);
    for (size_t i = 0; i < rows * columns; i++)
        w[i] /= sqrt((double)columns);
    return dp_program_dense(p, in, rows, w, b);
}

static int convolve(dp_program *p, uint64_t *numbers, int in, const dp_window *window,
                    size_t channels, size_t n_out)
{
    double w[512], b[16];
    const size_t n = window->size[0] * window->size[1] * channels * n_out;
    fill(numbers, n, w);
    fill(numbers, n_out, b);
    for (size_t i = 0; i < n; i++)
        w[i] *= .4;
    return dp_program_convolution(p, in, n_out, window, w, b);
}

static dp_program *regression_of(size_t columns, size_t rows)
{
    uint64_t numbers = 5;
    dp_program *p = dp_program_new();
    const int x = dp_program_input(p, columns, "x", -1, 1);
    dense(p, &numbers, x, columns, rows);
    return fixed(p);
}

static dp_program *squares(void)
{
    uint64_t numbers = 6;
    dp_program *p = dp_program_new();
    int x = dp_program_input(p, 100, "x", 0, 1);
    x = dp_program_square(p, dense(p, &numbers, x, 100, 33));
    dense(p, &numbers, x, 33, 3);
    return fixed(p);
}

static dp_program *logistic_of(bool tangent)
{
    uint64_t numbers = 7;
    dp_program *p = dp_program_new();
    int x = dp_program_input(p, 20, "x", -.5, .5);
    x = dense(p, &numbers, x, 20, 7);
    x = tangent ? dp_program_tanh(p, x) : dp_program_sigmoid(p, x);
    dense(p, &numbers, x, 7, 2);
    return fixed(p);
}

/* Padding, strides, channels in planes and in gaps, and a square at the end. */
static dp_program *images(size_t channels)
{
    uint64_t numbers = 8;
    const dp_window padded = {.size = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
                    whole = {.size = {2, 3}}, mean = {.size = {2, 2}, .stride = {2, 2}};
    dp_program *p = dp_program_new();
    int x = dp_program_image(p, 14, 15, channels, "x", 0, 1);
    x = dp_program_square(p, convolve(p, &numbers, x, &padded, channels, 5));
    x = dp_program_average_pool(p, x, &mean);
    x = dp_program_square(p, convolve(p, &numbers, x, &whole, 5, 6));
    x = dense(p, &numbers, x, 6 * 2 * 2, 4);
    dp_program_square(p, x);
    return fixed(p);
}

/* Strides beyond the image, whose product is beyond 2^32. */
static dp_program *far_strides(void)
{
    uint64_t numbers = 9;
    const dp_window far = {.size = {1, 1}, .stride = {1 << 16, 1 << 16}};
    dp_program *p = dp_program_new();
    const int x = dp_program_image(p, 32, 32, 1, "x", 0, 1);
    convolve(p, &numbers, convolve(p, &numbers, x, &far, 1, 8), &far, 8, 8);
    return fixed(p);
}

/* ---- both sides in one place ---- */

typedef struct both {
    dp_program *p;
    dpi_serve_plan plan;
    dpi_serve_cost cost;
    void *compiled, *session, *client;
    unsigned char *key, *up, *down;
} both;

static unsigned char *bytes(size_t n)
{
    unsigned char *to = dpi_alloc(n, 1);
    assert_non_null(to);
    return to;
}

static void open_both(dp_program *p, both *b)
{
    const dpi_serve_row *row = &dpi_ckks_row;
    dp_error err = {0};
    *b = (both){.p = p};
    assert_ok(dpi_serve_plan_of(row, p, DPI_MODE_LINEAR, &b->plan, &err), err.text);
    assert_ok(row->cost(&b->plan, DPI_MODE_LINEAR, NULL, &b->cost, &err), err.text);
    assert_ok(row->compile(&b->plan, DPI_MODE_LINEAR, NULL, &b->compiled, &err), err.text);
    assert_ok(row->client_new(&b->plan, DPI_MODE_LINEAR, NULL, &b->client, &err), err.text);
    b->key = bytes(b->cost.key);
    b->up = bytes(b->cost.up[0]);
    b->down = bytes(b->cost.down[0]);
    row->write_key(b->client, b->key);
    assert_ok(row->open(b->compiled, b->key, &b->session, &err), err.text);
}

static void close_both(both *b)
{
    dpi_ckks_row.close(b->session);
    dpi_ckks_row.client_free(b->client);
    dpi_ckks_row.discard(b->compiled);
    dpi_free(b->key);
    dpi_free(b->up);
    dpi_free(b->down);
    dp_program_free(b->p);
}

static dp_status ask_both(both *b, const double *x, double *y, dp_error *err)
{
    int64_t v[MOST], w[MOST];
    const size_t last = b->plan.layer[0].first - 1;
    assert_ok(dp_program_encode(b->p, 1, x, v, err), err->text);
    assert_ok(dpi_ckks_row.encrypt(b->client, 0, v, b->up, NULL, 1, err), err->text);
    dp_status status = dpi_ckks_row.layer(b->session, 0, NULL, b->up, b->down, NULL, 1, err);
    if (status == DP_OK)
        status = dpi_ckks_row.decrypt(b->client, 0, b->down, w, NULL, 1, err);
    for (size_t i = 0; i < b->plan.layer[0].sent; i++)
        y[i] = ldexp((double)w[i], -dp_program_stage(b->p, last)->fraction);
    return status;
}

static void draw(const dp_program *p, uint64_t *numbers, double *x)
{
    fill(numbers, dp_program_inputs(p), x);
    for (size_t i = 0; i < dp_program_inputs(p); i++) {
        const dp_program_number n = dp_program_number_at(p, i);
        x[i] = n.low + (n.high - n.low) * (x[i] + 1) / 2;
    }
}

static void is_near(dp_program *p, double within)
{
    both b;
    double x[MOST], y[MOST], real[MOST];
    uint64_t numbers = 11;
    dp_error err = {0};
    open_both(p, &b);
    for (int k = 0; k < 2; k++) {
        draw(p, &numbers, x);
        assert_ok(ask_both(&b, x, y, &err), err.text);
        assert_ok(dp_program_run(p, 1, x, real, &err), err.text);
        for (size_t i = 0; i < dp_program_outputs(p); i++)
            assert_close(y[i], real[i], 0, within);
    }
    close_both(&b);
}

/* At the ends of the bounds that a row of the first stage has most of, and least: what is proved of
 * arguments is reached there, and polynomials are at their ends. */
static void ends_are_near(void **state)
{
    (void)state;
    dp_error err = {0};
    for (int tangent = 0; tangent < 2; tangent++) {
        both b;
        double x[MOST], y[MOST], real[MOST];
        open_both(logistic_of(tangent == 1), &b);
        const dp_stage *s = dp_program_stage(b.p, 1);
        const size_t n = dp_program_inputs(b.p);
        for (size_t o = 0; o < 4; o++) {
            for (size_t i = 0; i < n; i++) {
                const dp_program_number of = dp_program_number_at(b.p, i);
                x[i] = (s->weights[o / 2 * n + i] > 0) == (o % 2 == 0) ? of.high : of.low;
            }
            assert_ok(ask_both(&b, x, y, &err), err.text);
            assert_ok(dp_program_run(b.p, 1, x, real, &err), err.text);
            for (size_t k = 0; k < dp_program_outputs(b.p); k++)
                assert_close(y[k], real[k], 0, 0x1p-9);
        }
        close_both(&b);
    }
}

static void regressions_are_near(void **state)
{
    (void)state;
    is_near(regression_of(1, 1), 0x1p-10);
    is_near(regression_of(37, 5), 0x1p-10);
    is_near(regression_of(5, 37), 0x1p-10);
}

static void networks_are_near(void **state)
{
    (void)state;
    is_near(squares(), 0x1p-9);
    is_near(logistic_of(false), 0x1p-9);
    is_near(logistic_of(true), 0x1p-9);
}

static void images_are_near(void **state)
{
    (void)state;
    is_near(images(1), 0x1p-5);
    is_near(images(3), 0x1p-4);
    is_near(far_strides(), 0x1p-9);
}

/* ---- layouts ---- */

/* Of a convolution in planes there is a diagonal a pixel of its window and pair of planes at the
 * most, and not one an output. */
static void windows_take_few_diagonals(void **state)
{
    (void)state;
    const dp_window window = {.size = {5, 5}};
    double w[4 * 25];
    uint64_t numbers = 3;
    dpi_serve_plan plan;
    dpi_circuit c;
    dp_error err = {0};
    dp_program *p = dp_program_new();
    fill(&numbers, sizeof w / sizeof *w, w);
    const int x = dp_program_image(p, 28, 28, 1, "x", 0, 1);
    dense(p, &numbers, dp_program_convolution(p, x, 4, &window, w, NULL), 24 * 24 * 4, 2);
    fixed(p);
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(dpi_circuit_make(&plan, &c, &err), err.text);
    assert_int_equal(c.diagonals, 25 + 2);
    assert_true(c.n_turns < 25);
    dpi_circuit_free(&c);
    dp_program_free(p);
}

/* Nor does what is computed follow from weights: zeros are diagonals as others are, and the sheet,
 * which has no weights, says the same. */
static void zeros_are_computed_with(void **state)
{
    (void)state;
    double w[64] = {0};
    dpi_serve_plan plan;
    dpi_circuit c, of_sheet;
    size_t n;
    unsigned char *sheet;
    dp_error err = {0};
    dp_program *q, *p = dp_program_new();
    w[0] = 1;
    dp_program_dense(p, dp_program_input(p, 8, "x", 0, 1), 8, w, NULL);
    fixed(p);
    assert_ok(dp_program_sheet(p, &n, &sheet, &err), err.text);
    assert_ok(dp_program_of_sheet(n, sheet, &q, &err), err.text);
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(dpi_circuit_make(&plan, &c, &err), err.text);
    assert_ok(dpi_serve_plan_whole(q, DPI_MODE_LINEAR, &plan, &err), err.text);
    assert_ok(dpi_circuit_make(&plan, &of_sheet, &err), err.text);
    assert_int_equal(c.diagonals, 8);
    assert_int_equal(of_sheet.diagonals, 8);
    assert_int_equal(c.n_turns, of_sheet.n_turns);
    assert_memory_equal(c.turns, of_sheet.turns, c.n_turns * sizeof *c.turns);
    dpi_circuit_free(&c);
    dpi_circuit_free(&of_sheet);
    dp_program_sheet_free(sheet);
    dp_program_free(p);
    dp_program_free(q);
}

/* ---- what a made-up key can show ---- */

static dp_status circuit_of(dp_program *p, dpi_circuit *c, dp_error *err)
{
    dpi_serve_plan plan;
    assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, err), err->text);
    return dpi_circuit_make(&plan, c, err);
}

/* A client whose public key is 0 reads 2 P of an answer's coefficients as they are: of c1's secret
 * it knows less than half where the ring has 128 P (doc/design/serve-ckks.md). */
static void answers_are_few_beside_the_ring(void **state)
{
    (void)state;
    static const size_t known[][2] = {{1, 1}, {8, 8}, {17, 32}, {100, 128}, {512, 512}};
    dp_error err = {0};
    dpi_circuit c;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        dp_program *p = regression_of(20, known[k][0]);
        assert_ok(circuit_of(p, &c, &err), err.text);
        assert_int_equal(dpi_circuit_last(&c)->out.period, known[k][1]);
        assert_true(dpi_ckks_n(c.c) >= 128 * known[k][1]);
        dpi_circuit_free(&c);
        dp_program_free(p);
    }
    dp_program *p = regression_of(20, 513);
    assert_fails(circuit_of(p, &c, &err), DP_EPRIVACY, &err, "more than 512 numbers (here 513)");
    dpi_circuit_free(&c);
    dp_program_free(p);
}

/* Nor does an answer bring the places of an image with it. */
static void answers_are_in_a_row(void **state)
{
    (void)state;
    const dp_window mean = {.size = {2, 2}, .stride = {2, 2}};
    dp_error err = {0};
    dpi_circuit c;
    dp_program *p = dp_program_new();
    dp_program_square(p,
                      dp_program_average_pool(p, dp_program_image(p, 8, 8, 1, "x", 0, 1), &mean));
    fixed(p);
    assert_ok(circuit_of(p, &c, &err), err.text);
    assert_int_equal(dpi_circuit_last(&c)->out.period, 16);
    dpi_circuit_free(&c);
    is_near(p, 0x1p-9);
}

/* ---- what is turned away ---- */

/* When a server starts, and not when somebody asks about a record at the end of its bounds. */
static void far_inputs_are_refused(void **state)
{
    (void)state;
    const double w = 1e-6;
    dp_error err = {0};
    for (int bits = 21; bits <= 22; bits++) {
        dpi_serve_plan plan;
        dpi_circuit c;
        double y;
        const double end = ldexp(1, bits) - ldexp(1, bits - 10);
        dp_program *p = dp_program_new();
        dp_program_dense(p, dp_program_input(p, 1, "x", -end, end), 1, &w, NULL);
        fixed(p);
        if (bits == 21) {
            both b;
            open_both(p, &b);
            assert_ok(ask_both(&b, &end, &y, &err), err.text);
            assert_close(y, w * end, 0, 0x1p-8); /* weights have 14 bits */
            close_both(&b);
            continue;
        }
        assert_ok(dpi_serve_plan_whole(p, DPI_MODE_LINEAR, &plan, &err), err.text);
        assert_fails(dpi_circuit_make(&plan, &c, &err), DP_EUNSUPPORTED, &err, "nearer to 1");
        dpi_circuit_free(&c);
        dp_program_free(p);
    }
}

static void bytes_that_are_none_are_told(void **state)
{
    (void)state;
    both b;
    void *session;
    int64_t y[MOST];
    dp_error err = {0};
    open_both(regression_of(3, 2), &b);
    memset(b.key, 255, b.cost.key);
    assert_fails(dpi_ckks_row.open(b.compiled, b.key, &session, &err), DP_EPEER, &err, "residues");
    assert_null(session);
    memset(b.up, 255, b.cost.up[0]);
    assert_fails(dpi_ckks_row.layer(b.session, 0, NULL, b.up, b.down, NULL, 1, &err), DP_EPEER,
                 &err, "residues");
    memset(b.down, 255, b.cost.down[0]);
    assert_fails(dpi_ckks_row.decrypt(b.client, 0, b.down, y, NULL, 1, &err), DP_EPEER, &err,
                 "residues");
    memset(b.down, 0, b.cost.down[0]);
    memset(b.down + b.cost.down[0] / 2, 0x55, b.cost.down[0] / 2);
    assert_fails(dpi_ckks_row.decrypt(b.client, 0, b.down, y, NULL, 1, &err), DP_EPEER, &err,
                 "beyond");
    assert_int_equal(y[0], 0);
    close_both(&b);
}

/* The same ciphertext is answered anew: other bytes, and other errors. */
static void answers_are_renewed(void **state)
{
    (void)state;
    both b;
    double x[MOST], y[2][MOST];
    int64_t v[MOST];
    uint64_t numbers = 13;
    dp_error err = {0};
    open_both(regression_of(3, 2), &b);
    draw(b.p, &numbers, x);
    assert_ok(ask_both(&b, x, y[0], &err), err.text);
    unsigned char *before = bytes(b.cost.down[0]);
    memcpy(before, b.down, b.cost.down[0]);
    assert_ok(dpi_ckks_row.layer(b.session, 0, NULL, b.up, b.down, NULL, 1, &err), err.text);
    assert_true(memcmp(before, b.down, b.cost.down[0]) != 0);
    assert_ok(dpi_ckks_row.decrypt(b.client, 0, b.down, v, NULL, 1, &err), err.text);
    y[1][0] = ldexp((double)v[0], -dp_program_stage(b.p, 1)->fraction);
    assert_true(y[0][0] != y[1][0]); /* 2^-17 off, of steps of 2^-40 */
    assert_close(y[0][0], y[1][0], 0, 0x1p-11);
    dpi_free(before);
    close_both(&b);
}

/* ---- over loopback ---- */

static void a_server_answers(void **state)
{
    (void)state;
    scene *s = new_scene();
    dp_program *p = squares();
    const dp_server_opts server = server_opts(s, p, DP_SERVE_CKKS, DP_SERVE_LINEAR);
    double x[MOST], real[MOST], mean[MOST];
    int64_t y[MOST];
    uint64_t numbers = 17;
    dp_ask *ask;
    dp_error err = {0};
    start(s, &server);
    const dp_ask_opts opts = ask_opts(s, DP_SERVE_CKKS, DP_SERVE_LINEAR);
    assert_ok(dp_ask_new(&opts, &ask, &err), err.text);
    for (int k = 0; k < 2; k++) {
        draw(p, &numbers, x);
        assert_ok(dp_ask_query(ask, x, y, &err), err.text);
        assert_ok(dp_program_run(p, 1, x, real, &err), err.text);
        dp_program_decode(p, y, mean, NULL);
        for (size_t i = 0; i < dp_program_outputs(p); i++)
            assert_close(mean[i], real[i], 0, 0x1p-9);
    }
    assert_int_equal(dp_ask_counts(ask).rounds, 2); /* with the one that asks leave */
    dp_ask_free(ask);
    stop(s);
    free_scene(s);
    dp_program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_are_near),
        cmocka_unit_test(regressions_are_near),
        cmocka_unit_test(networks_are_near),
        cmocka_unit_test(images_are_near),
        cmocka_unit_test(windows_take_few_diagonals),
        cmocka_unit_test(zeros_are_computed_with),
        cmocka_unit_test(answers_are_few_beside_the_ring),
        cmocka_unit_test(answers_are_in_a_row),
        cmocka_unit_test(far_inputs_are_refused),
        cmocka_unit_test(bytes_that_are_none_are_told),
        cmocka_unit_test(answers_are_renewed),
        cmocka_unit_test(a_server_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
