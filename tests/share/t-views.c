/* What a party learns in things made of several gates: relus and their shifts, maxima, labels and
 * tables, among three and among four.
 *
 * A view are the bits of all numbers that a party draws, takes and does gates with, over 16384
 * numbers that are all the same.  Each bit of a message must be set in half of them, and so must
 * its sum with any other bit that the party had by the end of the gate, of whatever gate before,
 * and with all bits that it draws in gates after it.  So must sums of the same bit of two parts of
 * one operand.  All of it holds for numbers 0 and -1, so that what is seen does not tell one from
 * the other.
 *
 * By Hoeffding's inequality a sum of S fair bits is c sqrt(S) from S / 2 with a probability of
 * 2 exp(-2 c^2): for c = 5, 4e-22.  There are less than 1e9 sums: 4e-13 in all.  Seeds are
 * fixed. */
#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "share/max.h"
#include "share/table.h"
#include "tests/share/watch.h"

/* How many of the things below, and of so many draws one is left out. */
#ifndef FIRST_THINGS
#define FIRST_THINGS 4
#define EACH_DRAW 23
#endif

/* ---- what is looked at ---- */

typedef enum thing_kind { RELU, LARGEST, LABEL, TABLE } thing_kind;

typedef struct thing {
    const char *name;
    thing_kind kind;
    dpi_ring ring;
    int bits, shift;
    int64_t v;
} thing;

static const thing things[] = {
    {"relu", RELU, DPI_RING_32, 31, 0, 0},
    {"shifted relu", RELU, DPI_RING_32, 20, 7, 0},
    {"largest of 3", LARGEST, DPI_RING_32, 20, 0, 0},
    {"label of 3", LABEL, DPI_RING_32, 12, 0, 0},
    {"relu", RELU, DPI_RING_64, 63, 0, 0},
    {"shifted relu", RELU, DPI_RING_64, 40, 13, 0},
    {"largest of 3", LARGEST, DPI_RING_64, 40, 0, 0},
    {"label of 3", LABEL, DPI_RING_64, 20, 0, 0},
    {"sigmoid", TABLE, DPI_RING_32, 15, 2, 0},
};
enum { OF = 3 };

/* The numbers that it is done with: 0, -1 and one that is above, when half of what is shifted away
 * has been added, so that bits of both addends are equal or opposite. */
enum { NUMBERS = 3 };
static int64_t number_of(const thing *t, size_t k)
{
    static const int64_t some[NUMBERS] = {0, -1, 1234};
    return some[k] - (t->shift > 0 ? INT64_C(1) << (t->shift - 1) : 0);
}

static void run_relu(dpi_party *p, const thing *t, dpi_blocks *room, dpi_share *x, dpi_share *z)
{
    dpi_relu r;
    dpi_relu_make(t->ring, t->bits, t->shift, &r);
    dpi_relu_run(p, t->ring, &r, room, x, z);
}

static void run_largest(dpi_party *p, const thing *t, dpi_blocks *room, dpi_share *x)
{
    dpi_carries tree;
    dpi_carries_make(t->ring, t->bits + 2, 0, false, &tree);
    if (t->kind == LARGEST) {
        dpi_max_of(p, t->ring, &tree, room, OF, WATCH_N, x);
        return;
    }
    dpi_share place = scene_share(p, t->ring, OF * WATCH_N);
    for (size_t i = 0; i < OF; i++) {
        dpi_share row = dpi_share_from(t->ring, &place, i * WATCH_N, WATCH_N);
        p->row->add_public(p, t->ring, NULL, i, &row);
    }
    dpi_argmax_of(p, t->ring, &tree, room, OF, WATCH_N, x, &place);
    dpi_share_free(&place);
}

static void body(dpi_party *p, void *user)
{
    const thing *t = user;
    const size_t n = t->kind == LARGEST || t->kind == LABEL ? OF * WATCH_N : WATCH_N;
    dpi_blocks room;
    dpi_table table;
    if (dpi_blocks_new(p, t->ring, DPI_CARRIES_PLANES, WATCH_N, &room, NULL) != DP_OK)
        abort();
    dpi_share x = watch_give(p, t->ring, n, t->v, 1), z = scene_share(p, t->ring, WATCH_N);
    if (t->kind == RELU) {
        run_relu(p, t, &room, &x, &z);
    } else if (t->kind == TABLE) {
        dpi_table_make(t->ring, t->bits, t->shift, false, &table);
        dpi_table_run(p, t->ring, &table, &room, &x, &z);
    } else {
        run_largest(p, t, &room, &x);
    }
    dpi_blocks_free(&room);
    dpi_share_free(&x);
    dpi_share_free(&z);
}

/* ---- half of them ---- */

/* How many of a's bits, each added to b's, are set. */
DPI_LOOPS static uint64_t count_sums(const uint64_t *a, const uint64_t *b)
{
    uint64_t total = 0;
    for (size_t i = 0; i < WATCH_WORDS; i++) {
        uint64_t v = a[i] ^ b[i];
        v -= v >> 1 & UINT64_C(0x5555555555555555);
        v = (v & UINT64_C(0x3333333333333333)) + (v >> 2 & UINT64_C(0x3333333333333333));
        v = (v + (v >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
        total += v * UINT64_C(0x0101010101010101) >> 56;
    }
    return total;
}

static const uint64_t zeros[WATCH_WORDS];

/* Half of the distance that is too far is 5 sqrt(S). */
static bool is_far(uint64_t set)
{
    return fabs((double)set - WATCH_SAMPLES / 2.0) > 5 * sqrt(WATCH_SAMPLES);
}

static bool is_constant(const watch_column *c)
{
    const uint64_t set = count_sums(c->word, zeros);
    return set == 0 || set == WATCH_SAMPLES;
}

/* Whether both are known when the message a is taken, or one is drawn and so is nobody else's. */
static bool are_compared(const watch_column *a, const watch_column *b)
{
    return a->source == WATCH_TAKEN && (b->source == WATCH_DRAWN || b->gate <= a->gate);
}

/* Parts of one number that is shared anew: of public numbers both are constant. */
static bool are_parts(const watch_column *a, const watch_column *b)
{
    return a->source == WATCH_HELD && b->source == WATCH_HELD && a->gate == b->gate &&
           a->share == b->share && a->array == b->array && a->bit == b->bit && a->part != b->part &&
           !a->of_masks && !(is_constant(a) && is_constant(b));
}

/* A bit, or a sum of two, that tells something: a pair of columns, the second one SIZE_MAX where
 * there is none.  False: there is none. */
static bool find_far(const watch_view *v, size_t pair[2], size_t *sums)
{
    for (size_t i = 0; i < v->n; i++) {
        const watch_column *a = v->column[i];
        pair[0] = i;
        pair[1] = SIZE_MAX;
        if (a->source == WATCH_DRAWN)
            continue;
        if (a->source == WATCH_TAKEN && is_far(count_sums(a->word, zeros)))
            return true;
        for (size_t j = 0; j < v->n; j++) {
            const watch_column *b = v->column[j];
            if (i == j || (!are_compared(a, b) && !are_parts(a, b)))
                continue;
            (*sums)++;
            pair[1] = j;
            if (is_far(count_sums(a->word, b->word)))
                return true;
        }
    }
    return false;
}

static const dpi_share_row *const rows[] = {&dpi_trio, &dpi_quad};

static void check(const dpi_share_row *row, thing t, size_t *sums)
{
    size_t pair[2];
    watch w = {.row = row, .body = body, .user = &t};
    watch_run(&w);
    for (size_t role = 0; role < row->parties; role++)
        if (find_far(&w.view[role], pair, sums)) {
            const watch_column *a = w.view[role].column[pair[0]];
            const watch_column *b = pair[1] == SIZE_MAX ? a : w.view[role].column[pair[1]];
            fail_msg("%s of ring %d, %lld, %s, role %zu: bit %zu of array %zu of part %zu of "
                     "operand %zu, source %d of gate %zu, "
                     "and bit %zu of array %zu, part %zu of %zu, source %d of gate %zu, %llu",
                     t.name, (int)t.ring, (long long)t.v, row->name, role, a->bit, a->array,
                     a->part, a->share, (int)a->source, a->gate, b->bit, b->array, b->part,
                     b->share, (int)b->source, b->gate,
                     (unsigned long long)count_sums(a->word, b->word));
        }
    watch_forget(&w);
}

static void what_a_party_sees_does_not_depend_on_the_numbers(void **state)
{
    size_t sums = 0;
    (void)state;
    for (size_t k = 0; k < FIRST_THINGS; k++)
        for (size_t r = 0; r < 2; r++)
            for (size_t i = 0; i < NUMBERS; i++) {
                thing t = things[k];
                t.v = number_of(&t, i);
                check(rows[r], t, &sums);
            }
    print_message("# %zu sums\n", sums);
    assert_true(sums < 1000000000);
}

/* ---- a mask that is missing ---- */

static bool tells_something(const dpi_share_row *row, const thing *t, const quiet_draw *without)
{
    size_t pair[2], sums = 0;
    bool found = false;
    watch w = {.row = row, .body = body, .user = (void *)(uintptr_t)t, .without = *without};
    watch_run(&w);
    for (size_t role = 0; role < row->parties && !found; role++)
        found = find_far(&w.view[role], pair, &sums);
    watch_forget(&w);
    return found;
}

/* Of relus with a shift, which have all gates but plain products. */
static void an_array_of_masks_that_is_not_drawn_is_found(void **state)
{
    (void)state;
    for (size_t r = 0; r < 2; r++) {
        thing t = things[1];
        watch w = {.row = rows[r], .body = body, .user = &t};
        size_t tried = 0;
        watch_run(&w);
        for (size_t k = 0; k < w.n_draws; k += EACH_DRAW, tried++) {
            const quiet_draw *d = &w.draw[k];
            bool found = false;
            for (size_t i = 0; i < NUMBERS && !found; i++) {
                t.v = number_of(&t, i);
                found = tells_something(rows[r], &t, d);
            }
            if (!found)
                fail_msg("%s: call %zu of set %u, bytes %zu ... %zu", rows[r]->name, d->call,
                         d->set, d->first, d->last);
        }
        print_message("# %s: %zu of %zu arrays\n", rows[r]->name, tried, w.n_draws);
        watch_forget(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_party_sees_does_not_depend_on_the_numbers),
        cmocka_unit_test(an_array_of_masks_that_is_not_drawn_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
