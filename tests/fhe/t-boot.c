/* Bootstrapping: what comes out at the top is what went in at the bottom, within the bound that it
 * carries, to 15 bits and more, and in two rounds to 20 and more; in a toy ring, and with BOOTS=n in
 * the environment n times.  BOOT_LOG_N=16 does the same at a secure degree, which takes 9 gigabytes
 * and a minute; BOOT_BITS are those of scales. */
#define _XOPEN_SOURCE 700
#include "fhe/boot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/fhe/toy.h"
#include "tests/lib/check.h"
#include "tests/lib/numbers.h"

enum { MOST = 1 << 15 };

typedef struct scene {
    toy t;
    dpi_ckks_boot *boot;
    dpi_ckks_boot_keys *keys;
    dpi_ckks_cipher x, y;
    size_t places, stages;
    double of[MOST], re[MOST], im[MOST];
} scene;

static uint64_t seed = 1;

static size_t number(const char *name, size_t usual)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : usual;
}

static void begin(scene *s, int log_n, size_t usable, size_t stages)
{
    dpi_ckks_boot_spec spec;
    dp_error err = {0};
    memset(s, 0, sizeof *s);
    s->stages = stages;
    assert_ok(dpi_ckks_boot_choose(log_n, usable, (int)number("BOOT_BITS", 40), stages, log_n < 16,
                                   &spec, &err),
              err.text);
    toy_begin(&s->t, &spec.below, &spec.above, 3, "a test of bootstrapping");
    assert_ok(dpi_ckks_boot_new(s->t.c, 1, s->t.room, &s->boot, &err), err.text);
    assert_ok(dpi_ckks_boot_keys_new(s->boot, s->t.secret, &s->t.random, &s->keys, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, s->t.top, &s->x, &err), err.text);
    assert_ok(dpi_ckks_cipher_new(s->t.c, s->t.top, &s->y, &err), err.text);
    s->places = s->t.places;
}

static void end(scene *s)
{
    dpi_ckks_cipher_free(&s->x);
    dpi_ckks_cipher_free(&s->y);
    dpi_ckks_boot_keys_free(s->keys);
    dpi_ckks_boot_free(s->boot);
    toy_end(&s->t);
}

/* x = numbers of [-1, 1], both ends among them. */
static void draw(scene *s, size_t level)
{
    dpi_ckks_plain p;
    dp_error err = {0};
    for (size_t i = 0; i < s->places; i++)
        s->of[i] = i < 2 ? 1 - 2 * (double)i : next_number(&seed);
    assert_ok(dpi_ckks_plain_new(s->t.c, level, &p, &err), err.text);
    assert_ok(dpi_ckks_encode(s->t.c, level, 0, s->places, s->of, NULL, s->t.room, &p, &err),
              err.text);
    dpi_ckks_encrypt(s->t.secret, &p, &s->t.random, s->t.room, &s->x);
    dpi_ckks_plain_free(&p);
}

/* The largest error, and the mean of magnitudes. */
static double off(scene *s, const dpi_ckks_cipher *x, double *mean)
{
    double most = 0, sum = 0;
    toy_decrypted(&s->t, x, s->places, s->re, s->im);
    for (size_t i = 0; i < s->places; i++) {
        const double e = fabs(s->re[i] - s->of[i]);
        most = fmax(most, e);
        sum += e;
        assert_true(fabs(s->im[i]) <= dpi_ckks_error(x));
    }
    *mean = sum / (double)s->places;
    return most;
}

typedef dp_status rounds(const dpi_ckks_boot *b, const dpi_ckks_boot_keys *k,
                         const dpi_ckks_cipher *x, const dpi_ckks_switch *square,
                         dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err);

static void boot_by(scene *s, rounds *apply)
{
    dp_error err = {0};
    assert_ok(apply(s->boot, s->keys, &s->x, s->t.square, s->t.room, &s->y, &err), err.text);
    assert_int_equal(s->y.level, dpi_ckks_depth(s->t.c));
}

static void boot(scene *s)
{
    boot_by(s, dpi_ckks_boot_apply);
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Bootstraps drawn numbers `boots` times: all are within `least`, and the bound. */
static void come_back(scene *s, const char *how, rounds *apply, size_t boots, double least)
{
    double worst = 0, means = 0, took = 0, mean;
    for (size_t k = 0; k < boots; k++) {
        draw(s, s->stages + k % 2);
        const double from = seconds();
        boot_by(s, apply);
        took += seconds() - from;
        const double most = off(s, &s->y, &mean);
        worst = fmax(worst, most);
        means += mean / (double)boots;
        if (!(most < least) || !(most <= dpi_ckks_error(&s->y)))
            fail_msg("bootstrap %zu is off by 2^%.1f, bound 2^%.1f", k, log2(most),
                     log2(dpi_ckks_error(&s->y)));
    }
    print_message("# %s, %zu times: %.3f s each, off by 2^%.2f in the mean and 2^%.2f at the most, "
                  "bound 2^%.2f\n",
                  how, boots, took / (double)boots, log2(means), log2(worst),
                  log2(dpi_ckks_error(&s->y)));
}

/* Errors grow with the degree. */
static void numbers_come_back_at_the_top(void **state)
{
    const size_t boots = number("BOOTS", 3);
    const int log_n = (int)number("BOOT_LOG_N", 11);
    static scene s;
    (void)state;
    begin(&s, log_n, log_n < 16 ? 2 : 9, log_n < 16 ? 2 : 3);
    print_message("# 2^%d, log QP %.0f: sine 2^%.1f, bend 2^%.1f, keys %.0f MB, failure 2^%.1f\n",
                  log_n, dpi_ckks_bits(s.t.c), log2(dpi_ckks_boot_sine(s.boot)),
                  log2(dpi_ckks_boot_bend(s.boot)), (double)dpi_ckks_boot_keys_memory(s.keys) / 1e6,
                  dpi_ckks_boot_failure(s.boot));
    come_back(&s, "one round", dpi_ckks_boot_apply, boots, log_n < 15 ? 0x1p-15 : 0x1p-14);
    come_back(&s, "two rounds", dpi_ckks_boot_apply_twice, boots, log_n < 15 ? 0x1p-25 : 0x1p-20);
    end(&s);
}

/* What numbers are off by after one bootstrap and after so many, one after another. */
typedef struct off_by {
    double most, mean;
} off_by;

static void in_a_row(scene *s, rounds *apply, size_t row, off_by *one, off_by *all)
{
    draw(s, s->stages);
    for (size_t k = 0; k < row; k++) {
        boot_by(s, apply);
        all->most = off(s, &s->y, &all->mean);
        if (k == 0)
            *one = *all;
        dpi_ckks_cipher kept = s->x;
        s->x = s->y;
        s->y = kept;
        for (size_t i = 0; i < s->places; i++)
            assert_true(fabs(s->im[i]) < 0x1p-15);
    }
    print_message("# off by 2^%.2f, after %zu by 2^%.2f; means 2^%.2f, 2^%.2f\n", log2(one->most),
                  row, log2(all->most), log2(one->mean), log2(all->mean));
    assert_true(all->most <= dpi_ckks_error(&s->x));
}

/* Of one round the bend is the same each time, and twenty are within twenty times the largest of
 * one.  Of two rounds what is left is noise: its mean grows by the root of twenty, and some.
 * Imaginary parts do not grow. */
static void twenty_in_a_row_do_not_drift(void **state)
{
    enum { ROW = 20 };
    static scene s;
    off_by one, all;
    (void)state;
    begin(&s, 10, 1, 2);
    in_a_row(&s, dpi_ckks_boot_apply, ROW, &one, &all);
    assert_true(all.most < ROW * one.most);
    in_a_row(&s, dpi_ckks_boot_apply_twice, ROW, &one, &all);
    assert_true(all.mean < 3 * sqrt(ROW) * one.mean && all.most < 0x1p-25);
    end(&s);
}

/* Multiples of q_0 are sums of 33 uniform numbers, of variance 33 / 12, and a rounding. */
static void multiples_are_as_the_sparse_secret_has_them(void **state)
{
    static scene s;
    static double re[MOST], im[MOST];
    dp_error err = {0};
    double squares = 0, most = 0, n = 0;
    (void)state;
    begin(&s, 11, 1, 2);
    for (int k = 0; k < 8; k++) {
        draw(&s, s.stages);
        assert_ok(dpi_ckks_boot_raise(s.boot, s.keys, &s.x, s.t.room, &s.y, &err), err.text);
        toy_decrypted(&s.t, &s.y, s.places, s.re, s.im);
        dpi_embedding *e;
        assert_ok(dpi_embedding_new(dpi_ckks_n(s.t.c), &e, &err), err.text);
        memcpy(re, s.re, s.places * sizeof *re);
        memcpy(im, s.im, s.places * sizeof *im);
        dpi_embedding_inverse(e, s.places, re, im);
        dpi_embedding_free(e);
        for (size_t i = 0; i < 2 * s.places; i++) {
            const double v = (i < s.places ? re[i] : im[i - s.places]) * s.y.scale * 0x1p-50;
            squares += v * v;
            most = fmax(most, fabs(v));
            assert_true(fabs(v - nearbyint(v)) < 1.01 * dpi_ckks_scale(s.t.c, 0) * 0x1p-50);
        }
        n += 2 * (double)s.places;
    }
    print_message("# multiples of q_0: variance %.3f, at the most %.2f of %d\n", squares / n, most,
                  (int)DPI_CKKS_BOOT_RANGE);
    assert_close(squares / n, 33. / 12, .05, 0);
    assert_true(most > 5 && most < DPI_CKKS_BOOT_RANGE);
    assert_true(dpi_ckks_boot_failure(s.boot) < -138);
    end(&s);
}

/* Of sines with three doublings on 16 multiples, and with two, by the degree in y. */
static void the_sine_is_as_near_as_its_degree(void **state)
{
    static const struct {
        size_t degree, doublings;
        double bits;
    } known[] = {{14, 3, 20}, {16, 3, 30}, {18, 3, 38}, {22, 2, 20}, {25, 2, 30}, {27, 2, 37}};
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        const double got =
            -log2(dpi_ckks_boot_sine_of(known[k].degree, known[k].doublings, DPI_CKKS_BOOT_RANGE));
        print_message("# degree %zu, %zu doublings: 2^-%.1f\n", 2 * known[k].degree,
                      known[k].doublings, got);
        assert_true(got > known[k].bits);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    static scene s;
    dpi_ckks_boot_spec spec;
    dpi_ckks_boot *b;
    dp_error err = {0};
    (void)state;
    assert_fails(dpi_ckks_boot_choose(15, 2, 40, 3, false, &spec, &err), DP_EPRIVACY, &err,
                 "does not fit degree 2^15");
    assert_fails(dpi_ckks_boot_choose(16, 30, 40, 3, false, &spec, &err), DP_EPRIVACY, &err,
                 "take fewer");
    assert_ok(dpi_ckks_boot_choose(16, 9, 40, 3, false, &spec, &err), err.text);
    begin(&s, 11, 1, 2);
    assert_fails(dpi_ckks_boot_new(s.t.c, 100, s.t.room, &b, &err), DP_EDOMAIN, &err, "sixteenth");
    assert_fails(dpi_ckks_boot_new(s.t.c, 0, s.t.room, &b, &err), DP_EDOMAIN, &err, "above 0");
    end(&s);
}

/* Keys that were sent do what those that were made do. */
static void keys_come_through_bytes(void **state)
{
    static scene s;
    dpi_ckks_boot_keys *sent;
    dp_error err = {0};
    double mean;
    (void)state;
    begin(&s, 10, 0, 2);
    const size_t n = dpi_ckks_boot_keys_size(s.boot);
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    dpi_ckks_boot_keys_write(s.keys, bytes);
    assert_fails(dpi_ckks_boot_keys_read(s.boot, n - 1, bytes, &sent, &err), DP_EPEER, &err,
                 "were expected");
    assert_ok(dpi_ckks_boot_keys_read(s.boot, n, bytes, &sent, &err), err.text);
    dpi_ckks_boot_keys_free(s.keys);
    s.keys = sent;
    draw(&s, 2);
    boot(&s);
    assert_true(off(&s, &s.y, &mean) < 0x1p-15);
    memset(bytes + DPI_RLWE_SEED, 0xff, 16); /* no residue of q_0 is as large */
    assert_fails(dpi_ckks_boot_keys_read(s.boot, n, bytes, &sent, &err), DP_EPEER, &err,
                 "not below their primes");
    assert_null(sent);
    free(bytes);
    end(&s);
}

static void boot_above_the_bound(void *of)
{
    scene *s = of;
    s->x.size = 1.5;
    boot(s);
}

static void boot_without_levels(void *of)
{
    scene *s = of;
    draw(s, 1);
    boot(s);
}

static void misuse_aborts(void **state)
{
    static scene s;
    (void)state;
    begin(&s, 10, 0, 2);
    draw(&s, 2);
    assert_aborts(boot_above_the_bound, &s);
    assert_aborts(boot_without_levels, &s);
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back_at_the_top),
        cmocka_unit_test(twenty_in_a_row_do_not_drift),
        cmocka_unit_test(multiples_are_as_the_sparse_secret_has_them),
        cmocka_unit_test(the_sine_is_as_near_as_its_degree),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(keys_come_through_bytes),
        cmocka_unit_test(misuse_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
