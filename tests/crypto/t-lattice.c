#include "crypto/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/crypto/bfv-case.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

static const dpi_lattice_shape dense_784_128 = {784, 1, 1, 128, 1, 1, 1, 0, 65536};

/* Dense layers, first, last and single; convolutions with stride and padding, cut into groups,
 * packs and tiles, kernels as large as the picture, strides beyond the kernel. */
static const dpi_lattice_shape shapes[] = {
    {784, 1, 1, 128, 1, 1, 1, 0, 65536}, {1, 1, 1, 1, 1, 1, 1, 0, 5},
    {30, 1, 1, 32, 1, 1, 1, 0, 127},     {5000, 1, 1, 3, 1, 1, 1, 0, 9},
    {3, 1, 1, 5000, 1, 1, 1, 0, 9},      {1, 28, 28, 5, 5, 5, 2, 1, 65536},
    {1, 28, 28, 16, 5, 5, 1, 0, 65536},  {16, 12, 12, 16, 5, 5, 1, 0, 65536},
    {3, 7, 11, 4, 3, 2, 1, 2, 100},      {2, 9, 9, 3, 9, 9, 1, 0, 100},
    {1, 90, 70, 2, 3, 3, 1, 1, 100},     {2, 61, 40, 3, 2, 2, 3, 0, 100},
    {7, 6, 6, 5, 1, 1, 2, 0, 100},       {1, 50, 1, 2, 4, 1, 1, 3, 100},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct layer_case {
    bfv_case b;
    dpi_lattice_plan plan;
    dpi_lattice_layer *layer;
    int32_t *w;
    int64_t *x, *y, *expected, *added;
    unsigned char *query, *answer;
} layer_case;

static void *room(size_t n, size_t size)
{
    void *block = calloc(n, size);
    assert_non_null(block);
    return block;
}

/* y = W x + added from the definition. */
static void plainly(const layer_case *t)
{
    const dpi_lattice_shape *s = &t->plan.shape;
    const size_t oh = t->plan.out_height, ow = t->plan.out_width;
    for (size_t o = 0; o < t->plan.outputs; o++) {
        const size_t m = o / (oh * ow), i = o / ow % oh, j = o % ow;
        int64_t sum = t->added[o];
        for (size_t c = 0; c < s->channels; c++)
            for (size_t a = 0; a < s->kernel_height; a++)
                for (size_t b = 0; b < s->kernel_width; b++) {
                    const size_t y = i * s->stride + a, x = j * s->stride + b;
                    if (y < s->padding || y - s->padding >= s->height || x < s->padding ||
                        x - s->padding >= s->width)
                        continue;
                    sum +=
                        (int64_t)
                            t->w[((m * s->channels + c) * s->kernel_height + a) * s->kernel_width +
                                 b] *
                        t->x[(c * s->height + y - s->padding) * s->width + x - s->padding];
                }
        t->expected[o] = sum;
    }
}

/* Whole numbers up to `most`, one in four of them an extreme. */
static int64_t whole(uint64_t *seed, int64_t most)
{
    const double r = next_number(seed);
    return next_number(seed) > 0.5 ? (r > 0 ? most : -most) : (int64_t)rint(r * (double)most);
}

static void start(layer_case *t, const dpi_lattice_shape *shape, const dpi_bfv_spec *spec,
                  int64_t input_most)
{
    dp_error err = {0};
    uint64_t seed = 31;
    case_start(&t->b, spec->n, spec->levels, spec->prime_bits, spec->plain_bits);
    assert_ok(dpi_lattice_plan_make(t->b.f, shape, &t->plan, &err), err.text);
    const size_t n_w =
        shape->filters * shape->channels * shape->kernel_height * shape->kernel_width;
    t->w = room(n_w, sizeof *t->w);
    t->x = room(t->plan.inputs, sizeof *t->x);
    t->y = room(t->plan.outputs, sizeof *t->y);
    t->expected = room(t->plan.outputs, sizeof *t->y);
    t->added = room(t->plan.outputs, sizeof *t->y);
    t->query = room(t->plan.query_bytes, 1);
    t->answer = room(t->plan.answer_bytes, 1);
    for (size_t i = 0; i < n_w; i++)
        t->w[i] = (int32_t)whole(&seed, shape->weight_most);
    for (size_t i = 0; i < t->plan.inputs; i++)
        t->x[i] = whole(&seed, input_most);
    for (size_t i = 0; i < t->plan.outputs; i++)
        t->added[i] = whole(&seed, 1000);
    plainly(t);
    assert_ok(dpi_lattice_layer_new(&t->plan, t->w, &t->layer, &err), err.text);
}

static void end(layer_case *t)
{
    dpi_lattice_layer_free(t->layer);
    free(t->w);
    free(t->x);
    free(t->y);
    free(t->expected);
    free(t->added);
    free(t->query);
    free(t->answer);
    case_end(&t->b);
}

static void query(layer_case *t)
{
    dp_error err = {0};
    assert_ok(dpi_lattice_query(&t->plan, t->b.secret, t->x, &t->b.random, t->query, &err),
              err.text);
}

static void serve(layer_case *t)
{
    dp_error err = {0};
    assert_ok(dpi_lattice_answer(t->layer, t->b.key, t->plan.query_bytes, t->query, t->added,
                                 &t->b.random, t->answer, &err),
              err.text);
}

static void open_answer(layer_case *t)
{
    dp_error err = {0};
    assert_ok(dpi_lattice_open(&t->plan, t->b.secret, t->plan.answer_bytes, t->answer, t->y, &err),
              err.text);
}

/* Weights, inputs and plaintexts of 17 bits and 46, with the largest weights and inputs. */
static void layers_are_exact_with_extreme_weights(void **state)
{
    (void)state;
    static const dpi_bfv_spec specs[] = {{4096, 2, 50, 34}, {8192, 4, 50, 46}};
    for (size_t i = 0; i < SHAPES; i++)
        for (size_t k = 0; k < 2; k++) {
            layer_case t;
            const int bits = dpi_lattice_plain_bits(&shapes[i], 65536, 1000);
            assert_true(bits <= specs[1].plain_bits);
            if (bits > specs[k].plain_bits)
                continue;
            start(&t, &shapes[i], &specs[k], 65536);
            query(&t);
            serve(&t);
            open_answer(&t);
            assert_memory_equal(t.y, t.expected, t.plan.outputs * sizeof *t.y);
            end(&t);
        }
}

/* A dense layer whose factors are written while it is answered. */
static void write_factors(const void *user, size_t pack, int32_t *factors)
{
    const layer_case *t = user;
    const size_t first = pack * t->plan.pack_filters;
    for (size_t m = 0; m < t->plan.pack_filters && first + m < t->plan.outputs; m++)
        for (size_t i = 0; i < t->plan.inputs; i++)
            factors[dpi_lattice_output_at(&t->plan, m) + dpi_lattice_input_at(&t->plan, i)] =
                t->w[(first + m) * t->plan.inputs + i];
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    static const dpi_bfv_spec spec = {4096, 2, 50, 46};
    const dpi_lattice_shape shape = dpi_lattice_dense(700, 130, 65536);
    layer_case t;
    dp_error err = {0};
    dpi_lattice_queries *queries;
    start(&t, &shape, &spec, 65536);
    const dpi_lattice_plan *p = &t.plan;
    const dpi_lattice_layer layer = {.plan = p, .fill = write_factors, .user = &t};
    assert_true(p->queries > 2 && p->answers > 2 && p->outputs % p->pack_filters != 0);
    assert_ok(dpi_lattice_queries_new(t.b.f, p->queries, &queries, &err), err.text);
    const dpi_lattice_ask ask = {&layer, queries, t.b.key, t.added};
    const size_t cut[] = {0, 2, p->queries, 0, p->answers - 1, p->answers};
    for (int i = 1; i >= 0; i--)
        assert_ok(dpi_lattice_query_some(p, t.b.secret, t.x, cut[i], cut[i + 1], &t.b.random,
                                         t.query, &err),
                  err.text);
    for (int i = 1; i >= 0; i--)
        assert_ok(dpi_lattice_read(p, cut[i], cut[i + 1], t.query, queries, &err), err.text);
    for (int i = 4; i >= 3; i--)
        assert_ok(dpi_lattice_answer_some(&ask, cut[i], cut[i + 1], &t.b.random, t.answer, &err),
                  err.text);
    for (int i = 4; i >= 3; i--)
        assert_ok(dpi_lattice_open_some(p, t.b.secret, cut[i], cut[i + 1], t.answer, t.y, &err),
                  err.text);
    assert_memory_equal(t.y, t.expected, p->outputs * sizeof *t.y);
    dpi_lattice_queries_free(queries);
    end(&t);
}

/* The same of small polynomials without encryption, so that a failure above says where. */
static void cut_polynomials_multiply_to_the_layer(void **state)
{
    (void)state;
    static const dpi_bfv_spec spec = {2048, 1, 50, 40};
    static uint64_t message[2048], product[2048];
    static int64_t factor[2048];
    static size_t places[2048], results[2048];
    const uint64_t mask = ((uint64_t)1 << 40) - 1;
    bfv_case b;
    case_start(&b, spec.n, spec.levels, spec.prime_bits, 12);
    for (size_t i = 0; i < SHAPES; i++) {
        dp_error err = {0};
        dpi_lattice_shape shape = shapes[i];
        shape.weight_most = 1;
        layer_case t;
        start(&t, &shape, &(dpi_bfv_spec){2048, 1, 50, 12}, 7);
        size_t seen = 0;
        for (size_t a = 0; a < t.plan.answers; a++) {
            memset(product, 0, sizeof product);
            for (size_t g = 0; g < t.plan.groups; g++) {
                dpi_lattice_message(&t.plan, a / t.plan.packs * t.plan.groups + g, t.x, message);
                for (size_t j = 0; j < spec.n; j++) /* from 12 bits to 40, with sign */
                    message[j] = ((message[j] ^ 2048) - 2048) & mask;
                dpi_lattice_factor(&t.plan, t.w, a % t.plan.packs, g, factor);
                case_schoolbook(spec.n, 40, factor, message, product);
            }
            const size_t count = dpi_lattice_places(&t.plan, a, places, results);
            for (size_t k = 0; k < count; k++, seen++)
                assert_int_equal(product[places[k]],
                                 (uint64_t)(t.expected[results[k]] - t.added[results[k]]) & mask);
        }
        assert_int_equal(seen, t.plan.outputs);
        assert_int_equal(err.status, DP_OK);
        end(&t);
    }
    case_end(&b);
}

/* Noise of a whole layer, all weights at their bound, before flooding: below what the plan takes
 * it to be, and above a thousandth of it, so that a bound that forgets n, weights or groups
 * fails. */
static void noise_is_within_the_bound_of_the_plan(void **state)
{
    (void)state;
    layer_case t;
    dp_error err = {0};
    static uint64_t message[CASE_MOST], product[CASE_MOST];
    static int64_t factor[CASE_MOST];
    const dpi_bfv_spec spec = {4096, 2, 50, 46};
    start(&t, &dense_784_128, &spec, 65536);
    memset(product, 0, sizeof product);
    for (size_t i = 0; i < 784 * 128; i++)
        t.w[i] = t.w[i] < 0 ? -65536 : 65536;
    for (size_t g = 0; g < t.plan.groups; g++) {
        dpi_lattice_message(&t.plan, g, t.x, message);
        dpi_lattice_factor(&t.plan, t.w, 0, g, factor);
        case_schoolbook(spec.n, spec.plain_bits, factor, message, product);
        assert_ok(dpi_bfv_encrypt(t.b.f, t.b.secret, message, &t.b.random, t.b.c, &err), err.text);
        dpi_bfv_plain(t.b.f, factor, t.b.plain);
        dpi_bfv_multiply_add(t.b.f, t.b.plain, t.b.c, t.b.sum);
    }
    const double bound = 21.5 * 26 * 784 * 65536, noise = case_noise(&t.b, t.b.sum, product);
    assert_true(noise < bound && noise > bound / 1000);
    assert_close(t.plan.bits, t.plan.flood + 1 - log2((bound + 21 * 4096 * 3 + 0.5) * 128), 0,
                 1e-9);
    end(&t);
}

static void answers_to_one_query_differ(void **state)
{
    (void)state;
    layer_case t;
    const dpi_lattice_shape shape = dpi_lattice_dense(100, 10, 65536);
    const dpi_bfv_spec spec = {4096, 2, 50, 46};
    start(&t, &shape, &spec, 65536);
    query(&t);
    serve(&t);
    unsigned char *first = room(t.plan.answer_bytes, 1);
    memcpy(first, t.answer, t.plan.answer_bytes);
    serve(&t);
    size_t same = 0;
    for (size_t i = 0; i < t.plan.answer_bytes; i++)
        same += first[i] == t.answer[i];
    /* One byte in 256 by chance; twice as many never. */
    assert_true(same < t.plan.answer_bytes / 128);
    open_answer(&t);
    assert_memory_equal(t.y, t.expected, t.plan.outputs * sizeof *t.y);
    free(first);
    end(&t);
}

/* The noise in 9216 results has the mean square of numbers uniform in [-2^flood, 2^flood), to 10 %;
 * chance stays below 1 % but for 1e-20, and all other noise below it too. */
static void results_are_flooded(void **state)
{
    (void)state;
    layer_case t;
    dp_error err = {0};
    const dpi_lattice_shape shape = {1, 28, 28, 16, 5, 5, 1, 0, 65536};
    const dpi_bfv_spec spec = {4096, 2, 50, 40};
    static size_t places[4096], results[4096];
    start(&t, &shape, &spec, 65536);
    query(&t);
    serve(&t);
    const unsigned char *at = t.answer;
    double squares = 0;
    for (size_t i = 0; i < t.plan.answers; i++) {
        dpi_bfv_answer *a;
        const size_t count = dpi_lattice_places(&t.plan, i, places, results);
        const size_t size = dpi_bfv_answer_size(t.b.f, count);
        assert_ok(dpi_bfv_answer_new(t.b.f, count, &a, &err), err.text);
        assert_ok(dpi_bfv_answer_read(t.b.f, size, at, a, &err), err.text);
        at += size;
        for (size_t k = 0; k < count; k++) {
            const uint64_t off =
                case_phase(&t.b, a, k, places[k]) - ((uint64_t)t.expected[results[k]] << (64 - 40));
            const double noise = (double)(int64_t)off * exp2(t.b.f->log_q - 64 - t.plan.flood);
            squares += noise * noise / (double)t.plan.outputs;
        }
        dpi_bfv_answer_free(a);
    }
    assert_close(squares, 1.0 / 3, 0.1, 0);
    end(&t);
}

/* With a mask uniform modulo 2^k the result and the mask are additive shares. */
static void masks_make_shares(void **state)
{
    (void)state;
    layer_case t;
    const dpi_lattice_shape shape = dpi_lattice_dense(40, 30, 100);
    const dpi_bfv_spec spec = {4096, 2, 50, 32};
    uint64_t seed = 77;
    start(&t, &shape, &spec, 100);
    query(&t);
    for (size_t i = 0; i < 30; i++) {
        t.expected[i] -= t.added[i];
        (void)next_number(&seed);
        t.added[i] = (int64_t)seed;
    }
    serve(&t);
    open_answer(&t);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal((uint32_t)(t.y[i] - t.added[i]), (uint32_t)t.expected[i]);
    end(&t);
}

static void malformed_bytes_are_refused(void **state)
{
    (void)state;
    layer_case t;
    dp_error err = {0};
    const dpi_bfv_spec spec = {4096, 2, 50, 46};
    const dpi_lattice_shape shape = dpi_lattice_dense(5000, 3, 100);
    start(&t, &shape, &spec, 65536);
    query(&t);
    const size_t size = t.plan.query_bytes;
    assert_fails(
        dpi_lattice_answer(t.layer, t.b.key, size - 1, t.query, NULL, &t.b.random, t.answer, &err),
        DP_EPEER, &err, "was expected");
    memset(t.query + size - 13, 0xff, 13); /* the last residues of the last query */
    t.answer[0] = 1;
    assert_fails(
        dpi_lattice_answer(t.layer, t.b.key, size, t.query, NULL, &t.b.random, t.answer, &err),
        DP_EPEER, &err, "not below prime");
    for (size_t i = 0; i < t.plan.answer_bytes; i++)
        assert_int_equal(t.answer[i], 0);
    t.y[0] = 1;
    assert_fails(
        dpi_lattice_open(&t.plan, t.b.secret, t.plan.answer_bytes + 1, t.answer, t.y, &err),
        DP_EPEER, &err, "were expected");
    assert_int_equal(t.y[0], 0);
    t.answer[t.plan.answer_bytes - 1] = 0xff;
    assert_fails(dpi_lattice_open(&t.plan, t.b.secret, t.plan.answer_bytes, t.answer, t.y, &err),
                 DP_EPEER, &err, "behind");
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_polynomials_multiply_to_the_layer),
        cmocka_unit_test(layers_are_exact_with_extreme_weights),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(noise_is_within_the_bound_of_the_plan),
        cmocka_unit_test(answers_to_one_query_differ),
        cmocka_unit_test(results_are_flooded),
        cmocka_unit_test(masks_make_shares),
        cmocka_unit_test(malformed_bytes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
