/* Softmaxes in a toy ring: polynomials as near as is told, encrypted ones within the tracked bound
 * of them; rotations; and each failed allocation is told. */
#include "fhe/softmax.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tests/fhe/toy.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { PLACES = 16, TURNS = 4, BITS = 10 };

static uint64_t seed = 3;
static int allocations, failing, rotations;

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __real_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to);
void __wrap_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return ++allocations == failing ? NULL : __real_aligned_alloc(alignment, size);
}

void __wrap_dpi_ckks_rotate(const dpi_ckks *c, const dpi_ckks_cipher *x, const dpi_ckks_switch *k,
                            dpi_ckks_room *room, dpi_ckks_cipher *to)
{
    rotations++;
    __real_dpi_ckks_rotate(c, x, k, room, to);
}

/* Numbers that are drawn; all low; all high; one high and others low. */
static void draw(size_t kind, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        const double ends = kind == 2 || (kind == 3 && i == 1) ? 1 : -1;
        x[i] = kind == 0 || kind > 3 ? next_number(&seed) : ends;
    }
}

static void softmax(size_t n, double r, const double *x, double *y)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += y[i] = exp(r * x[i]);
    for (size_t i = 0; i < n; i++)
        y[i] /= sum;
}

/* ---- without encryption ---- */

/* By degree 63 tanh(1)^63 = 2^-25 and tanh(1.5)^127 = 2^-18; at r = 3.5 it is 2^-11. */
static void softmaxes_are_as_near_as_told(void **state)
{
    static const struct {
        size_t places, degree, inverse;
        double r;
        int bits;
    } row[] = {{2, 7, 15, 1, 8}, {16, 15, 63, 2, 10}, {128, 15, 127, 3, 10}};
    double x[128], y[128], got[128];
    dpi_ckks_softmax s;
    dp_error err = {0};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        double off = 0;
        assert_ok(dpi_ckks_softmax_make(row[k].places, row[k].r, row[k].bits, &s, &err), err.text);
        for (size_t kind = 0; kind < 200; kind++) {
            draw(kind, row[k].places, x);
            softmax(row[k].places, row[k].r, x, y);
            dpi_ckks_softmax_at(&s, x, got);
            off = fmax(off, toy_largest(row[k].places, y, got));
        }
        print_message("# %zu places, r %g: degrees %zu and %zu, off by 2^%.2f, at most 2^%.2f\n",
                      row[k].places, row[k].r, s.degree, s.inverse, log2(off), log2(s.off));
        assert_true(off > 0 && off <= s.off && s.off < exp2(-row[k].bits));
        assert_int_equal(s.degree, row[k].degree);
        assert_int_equal(s.inverse, row[k].inverse);
    }
}

static void rejects_what_has_no_polynomials(void **state)
{
    dpi_ckks_softmax s;
    dp_error err = {0};
    (void)state;
    assert_fails(dpi_ckks_softmax_make(12, 1, 8, &s, &err), DP_EDOMAIN, &err, "not of 12");
    assert_fails(dpi_ckks_softmax_make(16, 0, 8, &s, &err), DP_EDOMAIN, &err, "not 0");
    assert_fails(dpi_ckks_softmax_make(16, NAN, 8, &s, &err), DP_EDOMAIN, &err, "nan");
    assert_fails(dpi_ckks_softmax_make(16, 1, 21, &s, &err), DP_EDOMAIN, &err, "not 21");
    assert_fails(dpi_ckks_softmax_make(16, 5, 8, &s, &err), DP_EACCURACY, &err, "smaller r");
}

/* ---- under encryption ---- */

typedef struct scene {
    toy t;
    dpi_ckks_plain plain;
    dpi_ckks_cipher x, y;
} scene;

static void begin(scene *s, const dpi_ckks_softmax *of)
{
    const dpi_ckks_spec spec = {10, 50, 40, dpi_ckks_softmax_levels(of), 3, 3, true};
    int steps[TURNS];
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    toy_begin(&s->t, &spec, NULL, 3, "a test of softmaxes");
    const size_t n = dpi_ckks_softmax_turns(of, NULL);
    assert_true(n <= TURNS);
    assert_int_equal(dpi_ckks_softmax_turns(of, steps), n);
    for (size_t k = 0; k < n; k++)
        toy_add_turn(&s->t, steps[k]);
    assert_ok(dpi_ckks_plain_new(s->t.c, spec.depth, &s->plain, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, spec.depth, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, spec.depth, &s->y, &err), err.text);
}

static void end(scene *s)
{
    dpi_ckks_plain_free(&s->plain);
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    toy_end(&s->t);
}

static void encrypt(scene *s, size_t places, const double *x)
{
    dp_error err = {0};
    assert_ok(dpi_ckks_encode(s->t.c, dpi_ckks_depth(s->t.c), 0, places, x, NULL, s->t.room,
                              &s->plain, &err),
              err.text);
    dpi_ckks_encrypt(s->t.secret, &s->plain, &s->t.random, s->t.room, &s->x);
}

static void encrypted_ones_are_within_their_bound(void **state)
{
    static scene s;
    double x[PLACES], y[PLACES], got[PLACES], most = 0, bound = 0;
    dpi_ckks_softmax of;
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_ckks_softmax_make(PLACES, 2, BITS, &of, &err), err.text);
    begin(&s, &of);
    assert_int_equal(dpi_ckks_depth(s.t.c), 5 + 7 + 1);
    for (size_t kind = 0; kind < 6; kind++) {
        dpi_ckks_cipher *to = kind == 5 ? &s.x : &s.y; /* itself */
        draw(kind, PLACES, x);
        dpi_ckks_softmax_at(&of, x, y);
        encrypt(&s, PLACES, x);
        rotations = 0;
        assert_ok(
            dpi_ckks_softmax_apply(s.t.c, &of, &s.x, &s.t.turns, s.t.square, s.t.room, to, &err),
            err.text);
        assert_int_equal(rotations, 4);
        assert_int_equal(to->level, 0);
        dpi_ckks_decrypt(s.t.secret, to, &s.plain);
        dpi_ckks_decode(s.t.c, &s.plain, PLACES, s.t.room, got, NULL);
        most = fmax(most, toy_largest(PLACES, y, got));
        bound = dpi_ckks_error(to);
        softmax(PLACES, 2, x, y);
        assert_true(toy_largest(PLACES, y, got) < 0x1p-10);
    }
    print_message("# off by %.3g of the polynomials, at most %.3g\n", most, bound);
    assert_true(most > 0 && most <= bound && bound < 0x1p-10);
    end(&s);
}

static void each_failed_allocation_is_told(void **state)
{
    static const double x[2] = {.5, -.25};
    static scene s;
    dpi_ckks_softmax of;
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_ckks_softmax_make(2, .5, 4, &of, &err), err.text);
    begin(&s, &of);
    encrypt(&s, 2, x);
    int all = 0;
    for (int k = 0; k <= all; k++) {
        toy_empty_room(&s.t);
        allocations = 0;
        failing = k;
        const dp_status status =
            dpi_ckks_softmax_apply(s.t.c, &of, &s.x, &s.t.turns, s.t.square, s.t.room, &s.y, &err);
        failing = 0;
        all = k == 0 ? allocations : all;
        assert_int_equal(status, k == 0 ? DP_OK : DP_ENOMEM);
    }
    assert_true(all > 20);
    end(&s);
}

static void too_few_levels(void *of)
{
    scene *s = ((void **)of)[0];
    dp_error err = {0};
    dpi_ckks_lower(s->t.c, dpi_ckks_depth(s->t.c) - 1, s->t.room, &s->x);
    (void)!dpi_ckks_softmax_apply(s->t.c, ((void **)of)[1], &s->x, &s->t.turns, s->t.square,
                                  s->t.room, &s->y, &err);
}

static void misuse_aborts(void **state)
{
    static const double x[2] = {.5, -.25};
    static scene s;
    dpi_ckks_softmax of;
    dp_error err = {0};
    (void)state;
    assert_ok(dpi_ckks_softmax_make(2, .5, 4, &of, &err), err.text);
    begin(&s, &of);
    encrypt(&s, 2, x);
    assert_aborts(too_few_levels, ((void *[]){&s, &of}));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmaxes_are_as_near_as_told),
        cmocka_unit_test(rejects_what_has_no_polynomials),
        cmocka_unit_test(encrypted_ones_are_within_their_bound),
        cmocka_unit_test(each_failed_allocation_is_told),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
