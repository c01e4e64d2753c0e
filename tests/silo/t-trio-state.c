/* What three parties keep, without the parties: runs that are drawn, in which each ends at any
 * moment of an opening and comes again, and one may put back an older copy.  Of each step one sum
 * comes about for anybody, whatever was drawn; without older copies all come to the end. */
#define _XOPEN_SOURCE 700
#include "silo/trio-state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"

enum { PARTIES = 3, D = 2, STEPS = 3, COPIES = 64, FILE_MOST = 4096, RUNS = 1000 };

static char folder[64];
static uint64_t seed = 7;

static uint64_t draw(uint64_t below)
{
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return (seed >> 33) % below;
}

static int make(void **state)
{
    (void)state;
    (void)strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/trio-state-XXXXXX"
                                                       : "./trio-state-XXXXXX");
    assert_non_null(mkdtemp(folder));
    return 0;
}

static const char *path_of(size_t k)
{
    static char path[PARTIES][96];
    (void)snprintf(path[k], sizeof path[k], "%s/%zu", folder, k);
    return path[k];
}

static int clear(void **state)
{
    (void)state;
    for (size_t k = 0; k < PARTIES; k++) {
        char lock[400];
        (void)snprintf(lock, sizeof lock, "%s.lock", path_of(k));
        (void)unlink(path_of(k));
        (void)unlink(lock);
    }
    (void)rmdir(folder);
    return 0;
}

static dp_status open_state(size_t k, unsigned char of_records, dpi_trio_state **s, dp_error *err)
{
    static const unsigned char whose[DPI_SILO_HASH] = {1}, secret[DPI_SILO_SECRET] = {2};
    const unsigned char records[32] = {of_records};
    const dpi_trio_state_opts o = {.path = path_of(k),
                                   .whose = whose,
                                   .secret = secret,
                                   .records = records,
                                   .self = k,
                                   .d = D,
                                   .openings = STEPS};
    return dpi_trio_state_new(&o, s, err);
}

/* ---- a run that is drawn ---- */

typedef struct side {
    dpi_trio_state *state;
    bool gone; /* in this try */
    int64_t w[D];
    uint64_t piece[D];
} side;

typedef struct world {
    side side[PARTIES];
    bool there[STEPS + 1];     /* a sum of the step came about for somebody */
    int64_t sum[STEPS + 1][D]; /* from 1 */
    size_t copied;             /* the party of which older files are put back; PARTIES: none */
    size_t n_copies, sizes[COPIES];
    unsigned char copies[COPIES][FILE_MOST];
    uint64_t step; /* that is opened */
} world;

/* It ends here, one time in so many. */
static bool ends(side *s, uint64_t times)
{
    s->gone = s->gone || draw(times) == 0;
    return s->gone;
}

static void save_copy(world *v)
{
    FILE *f = v->copied < PARTIES && v->n_copies < COPIES ? fopen(path_of(v->copied), "rb") : NULL;
    if (f == NULL)
        return;
    v->sizes[v->n_copies] = fread(v->copies[v->n_copies], 1, FILE_MOST, f);
    assert_true(v->sizes[v->n_copies] < FILE_MOST);
    v->n_copies++;
    (void)fclose(f);
}

static void put_copy(const world *v, size_t which)
{
    FILE *f = fopen(path_of(v->copied), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(v->copies[which], 1, v->sizes[which], f), v->sizes[which]);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path_of(v->copied), 0600), 0);
}

/* As soon as P0 or P1 has told its piece, the other one has the sum: there is no other. */
static void comes_about(world *v, int64_t h[D])
{
    for (size_t j = 0; j < D; j++)
        h[j] = (int64_t)(v->side[1].piece[j] - v->side[0].piece[j]);
    if (v->there[v->step])
        assert_memory_equal(v->sum[v->step], h, sizeof v->sum[v->step]);
    v->there[v->step] = true;
    memcpy(v->sum[v->step], h, sizeof v->sum[v->step]);
}

/* Pieces are ready.  False: nobody comes further. */
static bool open_pieces(world *v, const bool news[PARTIES])
{
    bool ready = true, opening, told[PARTIES] = {false};
    int64_t h[D];
    dp_error err = {DP_OK, ""};
    for (size_t k = 0; k < PARTIES; k++)
        ready = ready && !ends(&v->side[k], 40);
    opening = ready;
    for (size_t k = 0; k < PARTIES && ready; k++) {
        side *s = &v->side[k];
        if (ends(s, 12)) { /* it has said that it is ready */
            opening = false;
            continue;
        }
        assert_ok(dpi_trio_state_opening(s->state, &err), err.text);
        save_copy(v);
        opening = !ends(s, 12) && opening;
    }
    for (size_t k = 0; k < PARTIES && opening; k++)
        told[k] = !ends(&v->side[k], 12);
    if (told[0] || told[1])
        comes_about(v, h);
    bool all = true;
    for (size_t k = 0; k < PARTIES; k++) {
        side *s = &v->side[k];
        if (!s->gone && !told[k == 0 ? 1 : 0])
            s->gone = true; /* it hears nothing */
        all = all && !ends(s, 12);
        if (s->gone)
            continue;
        dp_status status = dpi_trio_state_opened(s->state, h, &err);
        assert_ok(status, err.text);
        for (size_t j = 0; j < D && news[k]; j++)
            s->w[j] += h[j];
    }
    return all;
}

static bool take_step(world *v)
{
    static const bool news[PARTIES] = {true, true, true};
    dp_error err = {DP_OK, ""};
    for (size_t k = 0; k < PARTIES; k++) {
        side *s = &v->side[k];
        for (size_t j = 0; j < D; j++)
            s->piece[j] = draw(1U << 30) << 31 ^ draw(1U << 30);
        if (ends(s, 20))
            continue;
        assert_ok(dpi_trio_state_ready(s->state, v->step, s->w, s->piece, &err), err.text);
        save_copy(v);
        (void)ends(s, 20);
    }
    return open_pieces(v, news);
}

/* All meet and go on until one is gone, or they are over.  What meeting came to. */
static dp_status try_once(world *v, bool *over)
{
    unsigned char own[PARTIES][DPI_TRIO_TOLD];
    unsigned char *const told[PARTIES] = {own[0], own[1], own[2]};
    static const char *const called[PARTIES] = {"a", "b", "c"};
    bool news[PARTIES], going = true;
    dp_status met = DP_OK;
    dp_error err = {DP_OK, ""};
    *over = true;
    for (size_t k = 0; k < PARTIES; k++) {
        v->side[k] = (side){.gone = false};
        assert_ok(open_state(k, 3, &v->side[k].state, &err), err.text);
        dpi_trio_state_tell(v->side[k].state, own[k]);
    }
    for (size_t k = 0; k < PARTIES; k++) {
        dp_status status = dpi_trio_state_meet(v->side[k].state, told, called, &err);
        met = status != DP_OK ? status : met;
    }
    v->step = dpi_trio_state_first(v->side[0].state) - 1;
    for (size_t k = 0; k < PARTIES && met == DP_OK; k++) {
        side *s = &v->side[k];
        assert_int_equal(dpi_trio_state_first(s->state), v->step + 1);
        assert_true(dpi_trio_state_opens_again(s->state) ==
                    dpi_trio_state_opens_again(v->side[0].state));
        dpi_trio_state_coefficients(s->state, s->w);
        news[k] = dpi_trio_state_piece(s->state, s->piece);
    }
    if (met == DP_OK && dpi_trio_state_opens_again(v->side[0].state))
        going = open_pieces(v, news);
    while (met == DP_OK && going && ++v->step <= STEPS)
        going = take_step(v);
    for (size_t k = 0; k < PARTIES; k++) {
        side *s = &v->side[k];
        if (met == DP_OK && going && !ends(s, 20)) {
            assert_ok(dpi_trio_state_over(s->state, s->w, &err), err.text);
            save_copy(v);
        }
        *over = *over && dpi_trio_state_is_over(s->state);
        dpi_trio_state_free(s->state);
    }
    return met;
}

static void begin(world *v, size_t copied)
{
    memset(v, 0, sizeof *v);
    v->copied = copied;
    for (size_t k = 0; k < PARTIES; k++)
        (void)unlink(path_of(k));
}

/* That all have the sum of sums. */
static void check_end(const world *v)
{
    dp_error err = {DP_OK, ""};
    for (size_t k = 0; k < PARTIES; k++) {
        dpi_trio_state *s;
        int64_t w[D], all[D] = {0};
        assert_ok(open_state(k, 3, &s, &err), err.text);
        dpi_trio_state_coefficients(s, w);
        for (size_t t = 1; t <= STEPS; t++)
            for (size_t j = 0; j < D; j++)
                all[j] += v->sum[t][j];
        assert_memory_equal(w, all, sizeof w);
        dpi_trio_state_free(s);
    }
}

static void whoever_ends_all_come_to_the_end(void **state)
{
    static world v;
    size_t tries = 0;
    (void)state;
    for (int n = 0; n < RUNS; n++) {
        bool over = false;
        begin(&v, PARTIES);
        while (!over) {
            assert_int_equal(try_once(&v, &over), DP_OK);
            assert_true(++tries < 100 * RUNS);
        }
        check_end(&v);
    }
    assert_true(tries > 2 * RUNS);
}

/* Any of its copies at any time: it is refused, or nothing comes of it that was not there. */
static void an_older_copy_of_one_opens_nothing_else(void **state)
{
    static world v;
    size_t refused = 0, ended = 0;
    (void)state;
    for (int n = 0; n < RUNS; n++) {
        bool over = false;
        begin(&v, (size_t)n % PARTIES);
        for (int tries = 0; tries < 12 && !over; tries++) {
            refused += try_once(&v, &over) != DP_OK;
            if (v.n_copies > 0 && draw(2) == 0) /* most often one of the newest */
                put_copy(&v, draw(4) == 0 ? draw(v.n_copies)
                                          : v.n_copies - 1 - draw(v.n_copies < 5 ? v.n_copies : 5));
        }
        ended += over;
    }
    assert_true(refused > RUNS / 4 && ended > RUNS / 20);
}

/* ---- what others say ---- */

/* The three meet, all with new objects; what party k's call came to. */
static dp_status meet(world *v, size_t k, dp_error *err)
{
    unsigned char own[PARTIES][DPI_TRIO_TOLD];
    unsigned char *const told[PARTIES] = {own[0], own[1], own[2]};
    static const char *const called[PARTIES] = {"a", "b", "c"};
    dp_status status[PARTIES];
    for (size_t p = 0; p < PARTIES; p++) {
        dpi_trio_state_free(v->side[p].state);
        assert_ok(open_state(p, 3, &v->side[p].state, err), err->text);
        dpi_trio_state_tell(v->side[p].state, own[p]);
    }
    for (size_t p = 0; p < PARTIES; p++) {
        dp_error of = {DP_OK, ""};
        status[p] = dpi_trio_state_meet(v->side[p].state, told, called, p == k ? err : &of);
    }
    return status[k];
}

static void be_ready(world *v, size_t k, uint64_t step)
{
    const int64_t w[D] = {0};
    dp_error err = {DP_OK, ""};
    assert_ok(dpi_trio_state_ready(v->side[k].state, step, w, v->side[k].piece, &err), err.text);
}

static void open_all(world *v)
{
    dp_error err = {DP_OK, ""};
    for (size_t k = 0; k < PARTIES; k++)
        assert_ok(dpi_trio_state_opening(v->side[k].state, &err), err.text);
}

/* P0 can tell the others two sums: they do not go on from there. */
static void who_was_told_another_sum_is_found(void **state)
{
    const int64_t sum[D] = {5, 6}, other[D] = {5, 7};
    static world v;
    dp_error err = {DP_OK, ""};
    (void)state;
    begin(&v, PARTIES);
    assert_ok(meet(&v, 0, &err), err.text);
    for (size_t k = 0; k < PARTIES; k++)
        be_ready(&v, k, 1);
    open_all(&v);
    for (size_t k = 0; k < PARTIES; k++) {
        assert_ok(dpi_trio_state_opened(v.side[k].state, k == 2 ? other : sum, &err), err.text);
        be_ready(&v, k, 2);
    }
    for (size_t k = 0; k < PARTIES; k++) {
        assert_fails(meet(&v, k, &err), DP_ESTATE, &err, "older copy");
        err = (dp_error){DP_OK, ""};
    }
    for (size_t k = 0; k < PARTIES; k++)
        dpi_trio_state_free(v.side[k].state);
}

/* Also when it is told again to who has not heard it. */
static void a_sum_is_the_same_when_it_is_told_again(void **state)
{
    const int64_t sum[D] = {5, 6}, other[D] = {5, 7};
    static world v;
    dp_error err = {DP_OK, ""};
    (void)state;
    begin(&v, PARTIES);
    assert_ok(meet(&v, 0, &err), err.text);
    for (size_t k = 0; k < PARTIES; k++)
        be_ready(&v, k, 1);
    open_all(&v);
    assert_ok(dpi_trio_state_opened(v.side[0].state, sum, &err), err.text);
    be_ready(&v, 0, 2);
    assert_ok(meet(&v, 1, &err), err.text);
    assert_true(dpi_trio_state_opens_again(v.side[1].state));
    assert_ok(dpi_trio_state_opened(v.side[1].state, sum, &err), err.text);
    assert_fails(dpi_trio_state_opened(v.side[2].state, other, &err), DP_EPEER, &err,
                 "not what it was");
    for (size_t k = 0; k < PARTIES; k++)
        dpi_trio_state_free(v.side[k].state);
}

/* ---- what is no state of this run ---- */

static void records_are_those_of_then(void **state)
{
    dpi_trio_state *s;
    dp_error err = {DP_OK, ""};
    static world v;
    (void)state;
    begin(&v, PARTIES);
    assert_ok(open_state(0, 3, &s, &err), err.text);
    dpi_trio_state_free(s);
    assert_fails(open_state(0, 4, &s, &err), DP_ESTATE, &err, "begun with other rows");
    assert_null(s);
}

static void one_list_of_ids_is_answered(void **state)
{
    const unsigned char first[32] = {1}, other[32] = {2};
    dpi_trio_state *s;
    dp_error err = {DP_OK, ""};
    static world v;
    (void)state;
    begin(&v, PARTIES);
    for (int times = 0; times < 2; times++) {
        assert_ok(open_state(0, 3, &s, &err), err.text);
        assert_ok(dpi_trio_state_heard(s, 1, first, &err), err.text);
        assert_ok(dpi_trio_state_heard(s, 2, other, &err), err.text);
        assert_fails(dpi_trio_state_heard(s, 1, other, &err), DP_EPRIVACY, &err, "other ids");
        err = (dp_error){DP_OK, ""};
        dpi_trio_state_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whoever_ends_all_come_to_the_end),
        cmocka_unit_test(an_older_copy_of_one_opens_nothing_else),
        cmocka_unit_test(who_was_told_another_sum_is_found),
        cmocka_unit_test(a_sum_is_the_same_when_it_is_told_again),
        cmocka_unit_test(records_are_those_of_then),
        cmocka_unit_test(one_list_of_ids_is_answered),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
