#include "tests/cluster/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/transform.h"
#include "fhe/polynomial.h"

static void make_numbers(card_scene *s)
{
    for (size_t i = 0; i < PLACES; i++)
        s->x[i] = sin(1.37 * (double)i + 1);
    for (size_t i = 0; i < PLACES; i++)
        for (size_t j = 0; j < PLACES; j++)
            s->matrix[i][j] = cos(.71 * (double)(i * PLACES + j)) / PLACES;
    for (size_t k = 0; k <= DEGREE; k++)
        s->a[k] = sin(2.385 * (double)k + 1);
}

/* Diagonal k = BABY j + i, turned back by BABY j. */
static void encode_diagonals(card_scene *s)
{
    dp_error err = {0};
    for (size_t k = 0; k < PLACES; k++) {
        double d[PLACES];
        const size_t back = k - k % BABY;
        for (size_t i = 0; i < PLACES; i++) {
            const size_t row = (i + PLACES - back) % PLACES;
            d[i] = s->matrix[row][(row + k) % PLACES];
        }
        assert_ok(dpi_ckks_plain_new(s->t.c, DEPTH, &s->plain[k], &err), err.text);
        assert_ok(dpi_ckks_encode(s->t.c, DEPTH, 0, PLACES, d, NULL, s->t.room, &s->plain[k], &err),
                  err.text);
    }
}

static void make_keys(card_scene *s)
{
    for (int k = 1; k < BABY; k++)
        toy_add_turn(&s->t, k);
    for (int k = BABY; k < PLACES; k += BABY)
        toy_add_turn(&s->t, k);
    s->keys = (dpi_card_keys){
        .c = s->t.c, .top = DEPTH, .square = s->t.square, .turns = s->t.turns, .plain = s->plain};
}

void card_scene_begin(card_scene *s)
{
    const dpi_ckks_spec spec = {.log_n = 10,
                                .first_bits = 50,
                                .scale_bits = 40,
                                .depth = DEPTH,
                                .special = 2,
                                .alpha = 2,
                                .toy = true};
    memset(s, 0, sizeof *s);
    make_numbers(s);
    toy_begin(&s->t, &spec, NULL, 11, "a test of cards");
    make_keys(s);
    encode_diagonals(s);
    s->sent = toy_encrypted(&s->t, DEPTH, PLACES, s->x);
}

void card_scene_end(card_scene *s)
{
    dpi_ckks_cipher_free(&s->sent);
    for (size_t k = 0; k < PLACES; k++)
        dpi_ckks_plain_free(&s->plain[k]);
    toy_end(&s->t);
}

void card_scene_plan(dpi_plan *p, const card_scene *s, size_t cards, uint32_t *result)
{
    enum { GIANT = PLACES / BABY };
    const dpi_spread_map map = {.places = PLACES, .diagonals = PLACES, .baby = BABY, .stride = 1};
    const dpi_polynomial_way way = dpi_polynomial_tree(DEGREE, cards);
    dpi_plan_begin(p, cards);
    const uint32_t x = dpi_plan_input(p, 0);
    const uint32_t y = dpi_plan_map(p, 0, cards < GIANT ? (uint32_t)cards : GIANT, &map, x);
    *result = dpi_plan_polynomial(p, 0, &way, DEGREE, s->a, y);
    assert_int_equal(p->status, DP_OK);
}

void card_scene_expected(const card_scene *s, double y[PLACES])
{
    for (size_t i = 0; i < PLACES; i++) {
        double sum = 0;
        for (size_t j = 0; j < PLACES; j++)
            sum += s->matrix[i][j] * s->x[j];
        y[i] = dpi_ckks_polynomial_at(DEGREE, s->a, sum);
    }
}

dp_status card_scene_value(const card_scene *s, const dpi_plan *p, uint32_t result, size_t threads,
                           card_scene_run *run, dpi_ckks_cipher *y, dp_error *err)
{
    dpi_cards *cards;
    assert_ok(dpi_cards_new(&s->keys, threads, &cards, err), err->text);
    const dpi_card_kind kind = dpi_cards_kind(cards);
    void *in = aligned_alloc(64, kind.bytes(kind.self, 0));
    void *out = aligned_alloc(64, kind.bytes(kind.self, p->value[result].level));
    const void **input = calloc(p->n_values, sizeof *input);
    assert_true(in != NULL && out != NULL && input != NULL);
    dpi_card_write(cards, &s->sent, in);
    input[0] = in;
    const dpi_plan_job job = {.p = p, .kind = kind, .input = input, .result = result, .to = out};
    const dp_status status = run(&job, threads, err);
    if (status == DP_OK && y != NULL)
        dpi_card_read(cards, out, y);
    free(input);
    free(in);
    free(out);
    dpi_cards_free(cards);
    return status;
}
