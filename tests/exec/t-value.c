/* Values that are written into a run and read from it, and draws that are made in it. */
#include <math.h>
#include <string.h>

#include <tacit/random.h>

#include "exec/run.h"
#include "graph/op.h"
#include "tests/lib/check.h"

enum { CHUNK = 4, ODD = 3, EVEN = 2, SEED = 385 };

/* y = sum (z f)^2 + sum e of each record, with inputs z[ODD], e[EVEN] of records and f[ODD] of
 * all. */
typedef struct world {
    dpi_graph g;
    dp_error err;
    dpi_arena arena;
    dpi_id z, e, f, product, y, apart;
    dpi_run *run;
} world;

static dpi_id input(world *w, const char *name, size_t size, bool per_record)
{
    return dpi_source(&w->g, &dpi_op_input, name,
                      (dpi_attr){.shape = dpi_vector(size, per_record)});
}

static void open(world *w, bool single)
{
    memset(w, 0, sizeof *w);
    dpi_graph_init(&w->g, &w->arena, &w->err);
    w->z = input(w, "z", ODD, true);
    w->e = input(w, "e", EVEN, true);
    w->f = input(w, "f", ODD, false);
    w->apart = input(w, "apart", 1, false);
    w->product = dpi_times(&w->g, w->z, w->f);
    w->y = dpi_add(&w->g, dpi_sum(&w->g, dpi_unary(&w->g, &dpi_op_square, w->product)),
                   dpi_sum(&w->g, w->e));
    assert_ok(w->err.status, w->err.text);
    const dpi_run_spec spec = {.graph = &w->g,
                               .wanted = &w->y,
                               .n_wanted = 1,
                               .chunk = CHUNK,
                               .single = single,
                               .strip = 1}; /* records one by one: products have no chunk */
    assert_ok(dpi_run_new(&spec, &w->run, &w->err), w->err.text);
}

static void shut(world *w)
{
    dpi_run_free(w->run);
    dpi_arena_free(&w->arena);
}

static void what_is_written_is_computed_with_and_read(void **state)
{
    (void)state;
    for (int single = 0; single < 2; single++) {
        world w;
        open(&w, single == 1);
        const double f[ODD] = {1, 0.5, -2}, z[CHUNK * ODD] = {1, 2, 3, 4, 5, 6, 7, 8},
                     e[CHUNK * EVEN] = {0.25, 0.125};
        dpi_run_write(w.run, w.f, 0, 1, f);
        dpi_run_write(w.run, w.f, 1, ODD - 1, f + 1);
        dpi_run_write(w.run, w.z, 0, 5, z);
        dpi_run_write(w.run, w.z, 5, CHUNK * ODD - 5, z + 5);
        dpi_run_write(w.run, w.e, 0, CHUNK * EVEN, e);
        dpi_run_globals(w.run);
        dpi_run_records(w.run, CHUNK, NULL, 0);
        double y[CHUNK] = {NAN, NAN, NAN, NAN}, back[CHUNK * ODD];
        const double expected[CHUNK] = {1 + 1 + 36 + 0.375, 16 + 6.25 + 144, 49 + 16, 0};
        dpi_run_read(w.run, w.y, 0, 2, y);
        assert_true(isnan(y[2])); /* and no further */
        for (size_t r = 2; r < CHUNK; r++)
            dpi_run_read(w.run, w.y, r, 1, &y[r]);
        for (size_t r = 0; r < CHUNK; r++)
            assert_close(y[r], expected[r], 0, 0);
        dpi_run_read(w.run, w.z, 0, CHUNK * ODD, back);
        assert_memory_equal(back, z, sizeof z);
        shut(&w);
    }
}

static void a_run_knows_how_many_numbers_it_has(void **state)
{
    (void)state;
    world w;
    open(&w, false);
    assert_int_equal(dpi_run_numbers(w.run, w.f), ODD);
    assert_int_equal(dpi_run_numbers(w.run, w.z), CHUNK * ODD);
    assert_int_equal(dpi_run_numbers(w.run, w.y), CHUNK);
    assert_int_equal(dpi_run_numbers(w.run, w.apart), 0);   /* nothing reads it */
    assert_int_equal(dpi_run_numbers(w.run, w.product), 0); /* kept for a strip only */
    assert_int_equal(dpi_run_numbers(w.run, DPI_NONE), 0);
    assert_int_equal(dpi_run_numbers(w.run, (dpi_id)w.g.n_nodes), 0);
    dpi_run_wipe(w.run, w.apart); /* nothing to wipe */
    shut(&w);
}

/* Numbers that a run does not have. */
typedef struct beyond {
    world w;
    dpi_id id;
    size_t first, n;
} beyond;

static void write_beyond(void *of)
{
    beyond *b = of;
    const double values[CHUNK * ODD] = {0};
    dpi_run_write(b->w.run, b->id, b->first, b->n, values);
}

static void read_beyond(void *of)
{
    beyond *b = of;
    double values[CHUNK * ODD];
    dpi_run_read(b->w.run, b->id, b->first, b->n, values);
}

static void draw_beyond(void *of)
{
    beyond *b = of;
    dp_rng *rng;
    if (dp_rng_new(SEED, &rng, NULL) == DP_OK)
        dpi_run_normal(b->w.run, b->id, b->n, rng);
}

static void what_a_run_does_not_have_aborts(void **state)
{
    (void)state;
    beyond b = {.first = 0};
    open(&b.w, false);
    const beyond cases[] = {
        {.id = b.w.f, .first = 1, .n = ODD},     {.id = b.w.f, .first = SIZE_MAX, .n = 2},
        {.id = b.w.f, .first = ODD + 1, .n = 0}, {.id = b.w.y, .first = CHUNK, .n = 1},
        {.id = b.w.apart, .first = 0, .n = 1},   {.id = b.w.product, .first = 0, .n = 1},
        {.id = DPI_NONE, .first = 0, .n = 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        b.id = cases[k].id;
        b.first = cases[k].first;
        b.n = cases[k].n;
        assert_aborts(write_beyond, &b);
        assert_aborts(read_beyond, &b);
    }
    b.id = b.w.z;
    b.n = CHUNK + 1;
    assert_aborts(draw_beyond, &b);
    dpi_run_write(b.w.run, b.w.f, ODD, 0, NULL); /* nothing of nothing */
    shut(&b.w);
}

static void wiped_numbers_are_zero(void **state)
{
    (void)state;
    world w;
    open(&w, false);
    double z[CHUNK * ODD];
    for (size_t i = 0; i < CHUNK * ODD; i++)
        z[i] = (double)i + 1;
    dpi_run_write(w.run, w.z, 0, CHUNK * ODD, z);
    dpi_run_wipe(w.run, w.z);
    dpi_run_read(w.run, w.z, 0, CHUNK * ODD, z);
    for (size_t i = 0; i < CHUNK * ODD; i++)
        assert_close(z[i], 0, 0, 0);
    shut(&w);
}

static void normal_draws_are_those_of_the_source(void **state)
{
    (void)state;
    world w;
    open(&w, false);
    dp_rng *one, *two;
    assert_int_equal(dp_rng_new(SEED, &one, NULL), DP_OK);
    assert_int_equal(dp_rng_new(SEED, &two, NULL), DP_OK);
    double drawn[2 * ODD], z[2 * ODD];
    dp_rng_normal(one, 2 * ODD, drawn);
    dpi_run_normal(w.run, w.z, 2, two);
    dpi_run_read(w.run, w.z, 0, 2 * ODD, z);
    assert_memory_equal(z, drawn, sizeof z);
    dp_rng_normal(one, ODD, drawn);
    dpi_run_normal(w.run, w.f, 1, two);
    dpi_run_read(w.run, w.f, 0, ODD, z);
    assert_memory_equal(z, drawn, ODD * sizeof *z);
    dp_rng_free(one);
    dp_rng_free(two);
    shut(&w);
}

/* Draws an input of m records from a source that has just been seeded. */
static void draw_noise(world *w, dpi_id id, size_t m)
{
    dp_noise *noise;
    double room[CHUNK * (ODD + 1)];
    assert_int_equal(dp_noise_new_seeded(SEED, &noise, NULL), DP_OK);
    for (size_t i = 0; i < CHUNK * (ODD + 1); i++)
        room[i] = 385;
    assert_ok(dpi_run_noise(w->run, id, 0, m, noise, room, &w->err), w->err.text);
    size_t used = m * dpi_run_noise_room(w->run, id);
    for (size_t i = 0; i < CHUNK * (ODD + 1); i++)
        assert_close(room[i], i < used ? 0 : 385, 0, 0); /* wiped, and used no further */
    dp_noise_free(noise);
}

/* Draws come in pairs whose two are independent but for rounding: no record may have one half of
 * its neighbour's. */
static void records_share_no_pair_of_draws(void **state)
{
    (void)state;
    world w;
    open(&w, false);
    assert_int_equal(dpi_run_noise_room(w.run, w.z), ODD + 1);
    assert_int_equal(dpi_run_noise_room(w.run, w.e), 0);
    dp_noise *noise;
    double pairs[CHUNK * (ODD + 1)], z[CHUNK * ODD], e[CHUNK * EVEN];
    assert_int_equal(dp_noise_new_seeded(SEED, &noise, NULL), DP_OK);
    assert_int_equal(dp_noise_normal(noise, CHUNK * (ODD + 1), 1, pairs, NULL), DP_OK);
    dp_noise_free(noise);
    draw_noise(&w, w.z, CHUNK);
    dpi_run_read(w.run, w.z, 0, CHUNK * ODD, z);
    for (size_t r = 0; r < CHUNK; r++)
        assert_memory_equal(z + r * ODD, pairs + r * (ODD + 1), ODD * sizeof *z);
    draw_noise(&w, w.e, CHUNK);
    dpi_run_read(w.run, w.e, 0, CHUNK * EVEN, e);
    assert_memory_equal(e, pairs, sizeof e);
    shut(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_computed_with_and_read),
        cmocka_unit_test(a_run_knows_how_many_numbers_it_has),
        cmocka_unit_test(what_a_run_does_not_have_aborts),
        cmocka_unit_test(wiped_numbers_are_zero),
        cmocka_unit_test(normal_draws_are_those_of_the_source),
        cmocka_unit_test(records_share_no_pair_of_draws),
    };
    return cmocka_run_group_tests_name("exec values", tests, NULL, NULL);
}
