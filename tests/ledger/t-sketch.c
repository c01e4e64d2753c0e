/* The smallest hashes with their numbers, the bound on chance, and sketches as bytes. */
#include "ledger/sketch.h"

#include <math.h>
#include <string.h>

#include "tests/lib/check.h"

enum { MOST = 64 };

static uint64_t chance_state = 5;

static uint64_t chance(void) /* splitmix64 (Steele, Lea and Flood 2014) */
{
    uint64_t z = chance_state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* Hash of value v, the same in all tests. */
static uint64_t hash_of(uint64_t v)
{
    uint64_t kept = chance_state;
    chance_state = v * 77 + 1;
    uint64_t hash = chance();
    chance_state = kept;
    return hash;
}

/* Values value(i), i < n, of which `most` are kept. */
static dpi_sketch sketch_of(dpi_arena *arena, size_t most, size_t n, uint64_t (*value)(size_t i))
{
    dp_error err = {0};
    dpi_sketcher s;
    dpi_sketch made;
    assert_ok(dpi_sketcher_begin(&s, most, &err), err.text);
    for (size_t i = 0; i < n; i++)
        dpi_sketcher_add(&s, hash_of(value(i)));
    assert_true(dpi_sketcher_end(&s, arena, &made));
    return made;
}

static uint64_t thrice(size_t i)
{
    return i * 7 % 1000 % 400;
}

static void the_smallest_are_kept_with_all_their_occurrences(void **state)
{
    (void)state;
    dpi_arena arena = {NULL};
    dpi_sketch s = sketch_of(&arena, MOST, 1000, thrice);
    assert_true(s.n == 1000 && s.full && s.n_items == MOST);
    for (size_t k = 0; k < s.n_items; k++) {
        size_t below = 0, count = 0;
        for (uint64_t v = 0; v < 400; v++)
            below += hash_of(v) < s.items[k].hash;
        for (size_t i = 0; i < 1000; i++)
            count += hash_of(thrice(i)) == s.items[k].hash;
        assert_int_equal(below, k);
        assert_int_equal(count, s.items[k].count);
    }
    s = sketch_of(&arena, 400, 1000, thrice);
    assert_true(!s.full && s.n_items == 400);
    dpi_arena_free(&arena);
}

static uint64_t one(size_t i)
{
    return i;
}

static uint64_t later(size_t i)
{
    return i + 950;
}

static uint64_t far(size_t i)
{
    return i + 5000;
}

static uint64_t coin(size_t i)
{
    (void)i;
    return chance() % 2;
}

static uint64_t die(size_t i)
{
    (void)i;
    return chance() % 1000;
}

static void the_bound_is_that_of_fair_coins(void **state)
{
    (void)state;
    dpi_arena arena = {NULL};
    dpi_sketch a = sketch_of(&arena, 2000, 1000, one), b = sketch_of(&arena, 2000, 1000, later);
    dpi_sketch c = sketch_of(&arena, 2000, 1000, far), few = sketch_of(&arena, MOST, 1000, later);
    assert_close(dpi_sketch_log_chance(&a, &a), log(8000) - 1000 * log(2), 1e-12, 0);
    assert_close(dpi_sketch_log_chance(&a, &b), log(8000) - 50 * log(2), 1e-12, 0);
    assert_close(dpi_sketch_log_chance(&b, &a), log(8000) - 50 * log(2), 1e-12, 0);
    assert_true(dpi_sketch_log_chance(&a, &c) == 0);
    assert_close(dpi_sketch_log_chance(&few, &b), log(8000) - MOST * log(2), 1e-12, 0);
    a.rows = c.rows = true; /* the same records, but for order */
    b = a;
    assert_true(dpi_sketch_log_chance(&a, &b) <= log(8000) - 1000 * log(2));
    b.items = NULL;
    b.n_items = b.n = 0;
    assert_true(dpi_sketch_log_chance(&a, &b) == 0);
    dpi_arena_free(&arena);
}

/* Independent draws from one population, of few and of many values.  The bound is below 2^-20 in
 * fewer than 2^-20 of all pairs. */
static void independent_values_are_no_surprise(void **state)
{
    (void)state;
    const size_t sizes[] = {10, 100, 1000};
    for (int round = 0; round < 300; round++) {
        dpi_arena arena = {NULL};
        size_t n = sizes[round % 3];
        uint64_t (*value)(size_t) = round % 2 ? die : coin;
        dpi_sketch a = sketch_of(&arena, MOST, n, value), b = sketch_of(&arena, MOST, n, value);
        a.rows = b.rows = true;
        assert_true(dpi_sketch_log_chance(&a, &b) > -20 * log(2));
        dpi_arena_free(&arena);
    }
}

static void bytes_come_back_and_others_are_refused(void **state)
{
    (void)state;
    dp_error err = {0};
    dpi_sketches s = {.n = 2}, back;
    dpi_sketch list[2];
    unsigned char *bytes;
    size_t size;
    s.list = list;
    list[0] = sketch_of(&s.arena, MOST, 1000, thrice);
    list[0].rows = list[0].varied = true;
    list[1] = sketch_of(&s.arena, MOST, 10, one);
    assert_ok(dpi_sketches_write(&s, &bytes, &size, &err), err.text);
    assert_ok(dpi_sketches_read(bytes, size, &back, &err), err.text);
    assert_int_equal(back.n, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(back.list[i].n == list[i].n && back.list[i].rows == list[i].rows);
        assert_true(back.list[i].full == list[i].full && back.list[i].varied == list[i].varied);
        assert_memory_equal(back.list[i].sum, list[i].sum, sizeof list[i].sum);
        assert_int_equal(back.list[i].n_items, list[i].n_items);
        for (size_t k = 0; k < list[i].n_items; k++)
            assert_true(back.list[i].items[k].hash == list[i].items[k].hash &&
                        back.list[i].items[k].count == list[i].items[k].count);
    }
    dpi_sketches_free(&back);
    for (size_t cut = 0; cut < size; cut++) {
        assert_fails(dpi_sketches_read(bytes, cut, &back, &err), DP_EDATA, &err, "intact copy");
        dpi_sketches_free(&back);
    }
    for (size_t at = 0; at < size; at++) { /* read, or refused, and never beyond the end */
        unsigned char *copy = dpi_alloc(1, size);
        memcpy(copy, bytes, size);
        copy[at] ^= 0xff;
        (void)!dpi_sketches_read(copy, size, &back, NULL);
        dpi_sketches_free(&back);
        dpi_free(copy);
    }
    dpi_sketches_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_are_kept_with_all_their_occurrences),
        cmocka_unit_test(the_bound_is_that_of_fair_coins),
        cmocka_unit_test(independent_values_are_no_surprise),
        cmocka_unit_test(bytes_come_back_and_others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
