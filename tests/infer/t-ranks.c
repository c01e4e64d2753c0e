/* Fits of one owner by several ranks: errors of one end all of them at once, what was kept goes on,
 * rank 0 alone keeps, and samples of shards are one of the whole.  That ranks come to what one process comes to: t-splits. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacit/tacit.h>

#include "base/error.h"
#include "svi/together.h"
#include "tests/infer/loop-models.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/lib/crew.h"

enum { RANKS = 3, N = 150, SHARD = N / RANKS, FILE_MOST = 1 << 18 };

static loop_records records;
static crew all;

/* What goes wrong, at rank 1 but for what is opened. */
typedef enum oddity {
    NONE,
    BAD_DATA,
    OTHER_MODEL,
    OTHER_ROUNDS,
    STOPPED,
    NOT_OPENED,
    NO_SHARE,
    TOO_MANY
} oddity;

typedef struct rank {
    size_t number;
    oddity odd;
    bool rounds, keeps, goes_on, open; /* open: without noise */
    uint64_t made, opens, at;          /* releases; sums that were opened; where it is odd */
    dp_owners owner;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} rank;

static rank ranks[RANKS];
static char journal[300];

/* ---- one rank ---- */

static dp_model *line(double scale)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", LOOP_D, dp_normal(0, scale));
    dp_observe(rows, "value", dp_normal_v(dp_dot(dp_data(rows, "x", LOOP_D), w), dp_num(1)));
    return m;
}

static dp_status open_sum(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    rank *r = context;
    (void)question;
    (void)n;
    (void)values;
    r->opens++;
    return r->odd == NOT_OPENED && r->opens == r->at
               ? dpi_fail(err, DP_ETIMEOUT, "the other owner is not heard")
               : DP_OK;
}

static dp_status share(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       const uint64_t *values, unsigned char key[DP_OWNERS_KEY], dp_error *err)
{
    rank *r = context;
    if (r->odd == NO_SHARE && r->opens == r->at)
        return dpi_fail(err, DP_EENTROPY, "there is no share");
    (void)crypto_generichash(key, DP_OWNERS_KEY, (const unsigned char *)values, n * sizeof *values,
                             question, DP_OWNERS_QUESTION);
    return DP_OK;
}

static int watch(void *user, const dp_fit_progress *at)
{
    rank *r = user;
    r->made = at->made;
    return r->odd == STOPPED && at->made == r->at;
}

static void *act(void *of)
{
    rank *r = of;
    double x[SHARD * LOOP_D];
    const size_t first = r->number * SHARD;
    memcpy(x, records.x + first * LOOP_D, sizeof x);
    if (r->odd == BAD_DATA)
        x[3] = NAN;
    dp_dataset *data = dp_dataset_new(SHARD);
    dp_dataset_real(data, "x", LOOP_D, x);
    dp_dataset_real(data, "value", 1, records.y + first);
    dp_dataset_index(data, "kind", records.kind + first);
    const bool other = r->odd == OTHER_MODEL;
    dp_model *m =
        r->rounds ? line(other ? 3 : 2) : loop_models[other ? LOOP_CODES : LOOP_NETWORK].make();
    r->owner = (dp_owners){.size = 2,
                           .honest = 1,
                           .seed = 7,
                           .most_records = r->odd == TOO_MANY ? N - 1 : N,
                           .group = crew_rank(&all, r->number),
                           .context = r,
                           .share = share,
                           .open = open_sum};
    const dp_fit_opts o = {.mode = r->open ? DP_NO_PRIVACY : DP_PRIVATE,
                           .epsilon = r->open ? 0 : 4,
                           .delta = r->open ? 0 : 1e-5,
                           .rounds = !r->rounds               ? 0
                                     : r->odd == OTHER_ROUNDS ? 3
                                                              : 2,
                           .draws = r->rounds ? 100 : 0,
                           .hopeless_allowed = !r->open,
                           .owners = &r->owner,
                           .journal = r->keeps ? journal : NULL,
                           .resume = r->goes_on,
                           .watch = watch,
                           .watch_user = r};
    r->status = dp_fit_private(m, data, &o, &r->fit, &r->err);
    dp_model_free(m);
    dp_dataset_free(data);
    return NULL;
}

/* ---- all of them ---- */

static void run(const rank *as, oddity odd, size_t odd_rank)
{
    pthread_t thread[RANKS];
    crew_begin(&all, RANKS);
    for (size_t k = 0; k < RANKS; k++) {
        dp_fit_free(ranks[k].fit);
        ranks[k] = *as;
        ranks[k].number = k;
        ranks[k].odd = k == odd_rank || odd == TOO_MANY ? odd : NONE;
        assert_int_equal(pthread_create(&thread[k], NULL, act, &ranks[k]), 0);
    }
    for (size_t k = 0; k < RANKS; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_false(all.broken);
    crew_end(&all);
}

static void expect(dp_status first, dp_status second, dp_status third)
{
    const dp_status want[RANKS] = {first, second, third};
    for (size_t k = 0; k < RANKS; k++) {
        if (ranks[k].status != want[k])
            fail_msg("rank %zu: %d, %s", k, (int)ranks[k].status, ranks[k].err.text);
        assert_true((ranks[k].fit != NULL) == (want[k] == DP_OK));
    }
}

static void all_end_where_one_fails(const rank *as)
{
    rank late = *as;
    run(as, BAD_DATA, 1);
    expect(DP_ESTATE, DP_EDATA, DP_ESTATE);
    assert_contains(ranks[1].err.text, "dp_check_data");
    run(as, OTHER_MODEL, 1);
    expect(DP_EMISMATCH, DP_EMISMATCH, DP_EMISMATCH);
    assert_int_equal(ranks[0].opens, 0);
    run(as, TOO_MANY, 1);
    expect(DP_EDATA, DP_EDATA, DP_EDATA);
    assert_int_equal(ranks[0].opens, 0);
    for (late.at = 1; late.at < 12; late.at += 5) {
        run(&late, STOPPED, 1);
        expect(DP_ESTATE, DP_ESTOPPED, DP_ESTATE);
        assert_int_equal(ranks[0].opens, late.at);
        run(&late, NOT_OPENED, 0);
        expect(DP_ETIMEOUT, DP_ESTATE, DP_ESTATE);
        assert_int_equal(ranks[0].opens, late.at);
        run(&late, NO_SHARE, 0);
        expect(DP_EENTROPY, DP_ESTATE, DP_ESTATE);
        assert_int_equal(ranks[0].opens, late.at);
    }
    assert_int_equal(ranks[1].opens, 0);
}

static void rounds_end_where_one_fails(void **state)
{
    (void)state;
    const rank by_rounds = {.rounds = true};
    all_end_where_one_fails(&by_rounds);
    run(&by_rounds, OTHER_ROUNDS, 1);
    expect(DP_EMISMATCH, DP_EMISMATCH, DP_EMISMATCH);
}

static void steps_end_where_one_fails(void **state)
{
    (void)state;
    all_end_where_one_fails(&(rank){.rounds = false});
}

static size_t load(const dp_fit *fit, unsigned char file[FILE_MOST])
{
    dp_error err = {0};
    assert_ok(dp_fit_save(fit, folder_path("fit"), &err), err.text);
    FILE *f = fopen(folder_path("fit"), "rb");
    assert_non_null(f);
    const size_t n = fread(file, 1, FILE_MOST, f);
    assert_true(n > 100 && n < FILE_MOST);
    assert_int_equal(fclose(f), 0);
    return n;
}

/* Stopped after some releases by one rank, and then by rank 0: they go on by the journal of rank 0,
 * which opens what is not in it. */
static void goes_on(const rank *as)
{
    static unsigned char whole[FILE_MOST], again[FILE_MOST];
    rank kept = *as;
    run(as, NONE, 0);
    expect(DP_OK, DP_OK, DP_OK);
    const uint64_t sums = ranks[0].opens;
    const size_t n = load(ranks[0].fit, whole);
    kept.keeps = true;
    kept.at = 4;
    run(&kept, STOPPED, 1);
    expect(DP_ESTATE, DP_ESTOPPED, DP_ESTATE);
    const uint64_t before = ranks[0].opens;
    kept.goes_on = true;
    kept.at = 7;
    run(&kept, STOPPED, 0);
    expect(DP_ESTOPPED, DP_ESTATE, DP_ESTATE);
    assert_true(ranks[0].opens == 7 - before && ranks[2].opens == 0);
    run(&kept, NONE, 0);
    expect(DP_OK, DP_OK, DP_OK);
    assert_int_equal(ranks[0].opens, sums - 7);
    for (size_t k = 0; k < RANKS; k++) {
        assert_int_equal(load(ranks[k].fit, again), n);
        assert_memory_equal(again, whole, n);
        assert_int_equal(ranks[k].made, sums);
    }
    assert_int_equal(unlink(journal), 0);
}

static void rounds_go_on(void **state)
{
    (void)state;
    goes_on(&(rank){.rounds = true});
}

static void steps_go_on(void **state)
{
    (void)state;
    goes_on(&(rank){.rounds = false});
}

/* ---- steps of a Poisson sample ---- */

typedef struct sampler {
    size_t number;
    uint64_t turn;
    double w;
    dp_status status;
    dp_error err;
} sampler;

static dp_status key_of_turn(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                             size_t n, const uint64_t *values, unsigned char key[DP_OWNERS_KEY],
                             dp_error *err)
{
    const uint64_t what[] = {((const sampler *)context)->turn, n};
    (void)values;
    (void)err;
    (void)crypto_generichash(key, DP_OWNERS_KEY, (const unsigned char *)what, sizeof what, question,
                             DP_OWNERS_QUESTION);
    return DP_OK;
}

static dp_status open_as_it_is(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                               size_t n, uint64_t *values, dp_error *err)
{
    (void)context;
    (void)question;
    (void)n;
    (void)values;
    (void)err;
    return DP_OK;
}

static const double rate = 0.25;

/* y ~ Normal(w, 1), all y are 1 and w is 0: a step adds 1 / (rate N) for each record that is in
 * it. */
static void *sample(void *of)
{
    sampler *s = of;
    double y[SHARD];
    dp_svi *svi = NULL;
    for (size_t i = 0; i < SHARD; i++)
        y[i] = 1;
    dp_model *m = dp_model_new();
    dp_observe(dp_unit_plate(m, "rows"), "y", dp_normal_v(dp_param(m, "w", 1, 0), dp_num(1)));
    dp_dataset *data = dp_dataset_new(SHARD);
    dp_dataset_real(data, "y", 1, y);
    const dp_owners owner = {.size = 1,
                             .honest = 1,
                             .seed = 7,
                             .most_records = N,
                             .group = crew_rank(&all, s->number),
                             .context = s,
                             .share = key_of_turn,
                             .open = open_as_it_is};
    const dp_svi_opts o = {.mode = DP_WITHOUT_GUARANTEE,
                           .sigma = 0x1p-13,
                           .clip = 16,
                           .steps = 1,
                           .sampling = DP_SAMPLING_POISSON,
                           .rate = rate,
                           .optimizer = DP_SGD,
                           .schedule = DP_CONSTANT,
                           .step_size = 1.0 / N,
                           .owners = &owner};
    s->status = dp_svi_new(m, NULL, data, &o, &svi, &s->err);
    if (s->status == DP_OK)
        s->status = dp_svi_run(svi, NULL, &s->err);
    if (s->status == DP_OK)
        s->status = dp_svi_get(svi, "w", 1, &s->w, &s->err);
    dp_svi_free(svi);
    dp_dataset_free(data);
    dp_model_free(m);
    return NULL;
}

static double sample_together(uint64_t turn)
{
    pthread_t thread[RANKS];
    sampler s[RANKS];
    crew_begin(&all, RANKS);
    for (size_t k = 0; k < RANKS; k++) {
        s[k] = (sampler){.number = k, .turn = turn};
        assert_int_equal(pthread_create(&thread[k], NULL, sample, &s[k]), 0);
    }
    for (size_t k = 0; k < RANKS; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    crew_end(&all);
    for (size_t k = 0; k < RANKS; k++) {
        assert_ok(s[k].status, s[k].err.text);
        assert_true(s[k].w == s[0].w);
    }
    return s[0].w;
}

/* Were samples of shards copies of each other, the variance would be three times as large. */
static void samples_of_shards_are_independent(void **state)
{
    enum { TURNS = 150 };
    double sum = 0, squares = 0;
    (void)state;
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        const double z = (sample_together(turn) - 1) / sqrt((1 - rate) / (rate * N));
        sum += z;
        squares += z * z;
    }
    /* To 6.2 standard deviations of TURNS standard normal numbers; draws are fixed. */
    assert_true(fabs(sum) < 6.2 * sqrt(TURNS));
    assert_true(fabs(squares - TURNS) < 6.2 * sqrt(2.0 * TURNS));
    assert_true(sample_together(3) == sample_together(3)); /* a step that is made again */
}

/* ---- without noise ---- */

enum { SUMS = 4 };

typedef struct adder {
    size_t number;
    double out[SUMS];
    dp_status status;
    dp_error err;
} adder;

/* Numbers that three words have, whose sums have to be carried, and one that is cut. */
static void *add_open(void *of)
{
    static const double x[SUMS] = {0.1, -1e20 + 4096, 0x1.fffffffffffffp-29, 0x1.cp83};
    static const unsigned char question[DP_OWNERS_QUESTION];
    adder *a = of;
    int64_t whole[3 * SUMS + 1];
    memcpy(a->out, x, sizeof x);
    const dp_owners owner = {
        .size = 1, .honest = 1, .group = crew_rank(&all, a->number), .open = open_as_it_is};
    const dpi_release r = {.n = SUMS, .out = a->out, .whole = whole};
    a->status = dpi_together_open(&owner, NULL, question, &r, DP_OK, &a->err);
    return NULL;
}

static void sums_without_noise_are_exact_until_they_are_cut(void **state)
{
    adder a[RANKS];
    pthread_t thread[RANKS];
    (void)state;
    crew_begin(&all, RANKS);
    for (size_t k = 0; k < RANKS; k++) {
        a[k] = (adder){.number = k};
        assert_int_equal(pthread_create(&thread[k], NULL, add_open, &a[k]), 0);
    }
    for (size_t k = 0; k < RANKS; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    crew_end(&all);
    assert_ok(a[0].status, a[0].err.text);
    assert_close(a[0].out[0], 0.3, 1e-15, 0);
    assert_true(a[0].out[1] == 3 * (-1e20 + 4096));
    assert_close(a[0].out[2], 3 * 0x1.fffffffffffffp-29, 0x1p-50, 0);
    assert_close(a[0].out[3], 0x1p84, 0x1p-40, 0); /* as that of one process is */
}

/* Whose steps go on from sums that are rounded otherwise. */
static void steps_without_noise_are_near_those_of_one_process(void **state)
{
    static unsigned char one[FILE_MOST], three[FILE_MOST];
    double b[2][LOOP_K];
    dp_error err = {0};
    (void)state;
    run(&(rank){.open = true}, NONE, 0);
    expect(DP_OK, DP_OK, DP_OK);
    assert_int_equal(load(ranks[0].fit, one), load(ranks[2].fit, three));
    assert_memory_equal(one, three, load(ranks[0].fit, one));
    assert_ok(dp_fit_parameter(ranks[0].fit, "b", LOOP_K, b[0], &err), err.text);
    dp_model *m = loop_models[LOOP_NETWORK].make();
    dp_dataset *data = loop_data(&records, N);
    const dp_owners alone = {
        .size = 2, .honest = 1, .seed = 7, .most_records = N, .open = open_as_it_is};
    const dp_fit_opts o = {.mode = DP_NO_PRIVACY, .owners = &alone};
    dp_fit *fit;
    assert_ok(dp_fit_private(m, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_parameter(fit, "b", LOOP_K, b[1], &err), err.text);
    for (size_t k = 0; k < LOOP_K; k++)
        assert_close(b[0][k], b[1][k], 1e-6, 1e-6);
    dp_fit_free(fit);
    dp_dataset_free(data);
    dp_model_free(m);
}

static int set_up(void **state)
{
    loop_draw(&records);
    const int made = folder_make(state);
    (void)snprintf(journal, sizeof journal, "%s", folder_path("journal"));
    return made;
}

static int tear_down(void **state)
{
    for (size_t k = 0; k < RANKS; k++)
        dp_fit_free(ranks[k].fit);
    return folder_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounds_end_where_one_fails),
        cmocka_unit_test(steps_end_where_one_fails),
        cmocka_unit_test(rounds_go_on),
        cmocka_unit_test(steps_go_on),
        cmocka_unit_test(samples_of_shards_are_independent),
        cmocka_unit_test(sums_without_noise_are_exact_until_they_are_cut),
        cmocka_unit_test(steps_without_noise_are_near_those_of_one_process),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
