/* Plans that threads run: the right numbers, and the same bits whatever the cards and threads. */
#include "cluster/run.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cluster/scene.h"

static void is_right(card_scene *s, const dpi_ckks_cipher *y)
{
    double expected[PLACES], found[PLACES];
    card_scene_expected(s, expected);
    toy_decrypted(&s->t, y, PLACES, found, NULL);
    for (size_t i = 0; i < PLACES; i++)
        assert_close(found[i], expected[i], 0, 1e-7);
    assert_true(dpi_ckks_error(y) < 1e-2);
}

static void same_bits(const card_scene *s, const dpi_ckks_cipher *x, const dpi_ckks_cipher *y)
{
    const size_t words = (x->level + 1) * dpi_ckks_n(s->t.c);
    assert_int_equal(x->level, y->level);
    for (size_t k = 0; k < 2; k++)
        assert_memory_equal(x->part[k], y->part[k], words * sizeof(uint64_t));
}

static void all_cards_and_threads_make_the_same(void **state)
{
    (void)state;
    static card_scene s;
    dpi_ckks_cipher y[2] = {{0}, {0}};
    dp_error err = {0};
    card_scene_begin(&s);
    for (size_t k = 0; k < 2; k++)
        assert_ok(dpi_ckks_cipher_new(s.t.c, DEPTH, &y[k], &err), err.text);
    for (size_t cards = 1; cards <= 8; cards *= 2)
        for (size_t threads = 1; threads <= 4; threads += cards == 4 ? 1 : 3) {
            const size_t k = cards > 1 || threads > 1;
            dpi_plan p;
            uint32_t result;
            card_scene_plan(&p, &s, cards, &result);
            assert_true((dpi_plan_messages(&p) > 0) == (cards > 1));
            assert_ok(card_scene_value(&s, &p, result, threads, dpi_run_threads, &y[k], &err),
                      err.text);
            dpi_plan_free(&p);
            if (k == 0)
                is_right(&s, &y[0]);
            else
                same_bits(&s, &y[0], &y[1]);
        }
    for (size_t k = 0; k < 2; k++)
        dpi_ckks_cipher_free(&y[k]);
    card_scene_end(&s);
}

/* ---- numbers that nothing hides ---- */

static size_t word(const void *self, uint32_t level)
{
    (void)self, (void)level;
    return sizeof(double);
}

/* Sums; the step that makes value *self fails. */
static dp_status add(void *self, size_t worker, const dpi_plan *p, const dpi_step *s,
                     const void *const *in, void *out, dp_error *err)
{
    (void)worker, (void)p;
    double sum = 0;
    for (uint32_t i = 0; i < s->n_in; i++)
        sum += *(const double *)in[i];
    *(double *)out = sum;
    if (s->out != *(const uint32_t *)self)
        return DP_OK;
    *err = (dp_error){.status = DP_EDOMAIN, .text = "the step fails"};
    return DP_EDOMAIN;
}

/* 2^30 x, each value read twice. */
static void values_are_kept_until_they_are_read(void **state)
{
    (void)state;
    enum { DOUBLES = 30 };
    for (uint32_t bad = 0; bad <= DOUBLES; bad += 5)
        for (size_t threads = 1; threads <= 3; threads++) {
            dpi_plan p;
            const double x = 1.5;
            double y = 0;
            const void *input[DOUBLES + 1] = {&x};
            dp_error err = {0};
            dpi_plan_begin(&p, 3);
            uint32_t v = dpi_plan_input(&p, 0);
            for (uint32_t k = 0; k < DOUBLES; k++) {
                const uint32_t pair[] = {v, v};
                v = dpi_plan_do(&p, (dpi_step){.op = DPI_OP_ADD, .card = k % 3}, 2, pair);
            }
            const dpi_plan_job job = {.p = &p,
                                      .kind = {.self = &bad, .bytes = word, .compute = add},
                                      .input = input,
                                      .result = v,
                                      .to = &y};
            if (bad == 0) {
                assert_ok(dpi_run_threads(&job, threads, &err), err.text);
                assert_close(y, x * (1 << DOUBLES), 0, 0);
            } else {
                assert_int_equal(dpi_run_threads(&job, threads, &err), DP_EDOMAIN);
                assert_string_equal(err.text, "the step fails");
            }
            dpi_plan_free(&p);
        }
}

/* ---- memory ---- */

static int allocations, failing;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

/* By one thread, so that the n-th allocation is the same each time. */
static dp_status run_all(const card_scene *s, const dpi_plan *p, uint32_t result, dp_error *err)
{
    dpi_cards *cards;
    dp_status status = dpi_cards_new(&s->keys, 1, &cards, err);
    if (status != DP_OK)
        return status;
    const dpi_card_kind kind = dpi_cards_kind(cards);
    void *in = malloc(kind.bytes(kind.self, 0));
    void *out = malloc(kind.bytes(kind.self, p->value[result].level));
    const void **input = calloc(p->n_values, sizeof *input);
    assert_true(in != NULL && out != NULL && input != NULL);
    dpi_card_write(cards, &s->sent, in);
    input[0] = in;
    const dpi_plan_job job = {.p = p, .kind = kind, .input = input, .result = result, .to = out};
    status = dpi_run_threads(&job, 1, err);
    free(input);
    free(in);
    free(out);
    dpi_cards_free(cards);
    return status;
}

static void each_failed_allocation_is_told(void **state)
{
    (void)state;
    static card_scene s;
    dpi_plan p;
    uint32_t result;
    dp_error err = {0};
    card_scene_begin(&s);
    card_scene_plan(&p, &s, 2, &result);
    allocations = failing = 0;
    assert_ok(run_all(&s, &p, result, &err), err.text);
    const int all = allocations;
    assert_true(all > 40);
    for (int k = 1; k <= all; k++) {
        allocations = 0;
        failing = k;
        assert_int_equal(run_all(&s, &p, result, &err), DP_ENOMEM);
    }
    failing = 0;
    dpi_plan_free(&p);
    card_scene_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cards_and_threads_make_the_same),
        cmocka_unit_test(values_are_kept_until_they_are_read),
        cmocka_unit_test(each_failed_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
