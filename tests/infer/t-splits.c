/* Whole fits with noise are the same to the bit for 1, 2, 3 and 8 owners, whichever has which
 * records, and for 1, 2 and 4 ranks of each owner: what is opened in each release, and the file of
 * the fit.
 *
 * There are always eight shares of noise, each a function of its number and the question; the first
 * of fewer owners adds those of owners that there are not.  One owner is a central run. */
#include <pthread.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/models.h>
#include <tacit/tacit.h>

#include "random/grid.h"
#include "random/stream.h"
#include "tests/infer/loop-models.h"
#include "tests/infer/table.h"
#include "tests/ledger/folder.h"
#include "tests/lib/check.h"
#include "tests/lib/crew.h"

enum { SHARES = 8, N = 160, SIDE = 8, PIXELS = SIDE * SIDE, GROUPS = 7, PAIRS = N / 2 };

typedef enum kind { RECORDS, PEOPLE, IMAGES } kind; /* people have two records, or one */

static loop_records records;
static double image[N * PIXELS];
static int32_t group[N], person[N];
static table place;

/* ---- records in another order ---- */

typedef struct some {
    double x[N * LOOP_D], y[N], image[N * PIXELS];
    int32_t kind[N], group[N], person[N];
} some;

static some held[SHARES][CREW_MOST];

/* The records at order[first ... end - 1]. */
static dp_dataset *take(some *s, const size_t *order, size_t first, size_t end, kind of)
{
    const size_t n = end - first;
    for (size_t i = 0; i < n; i++) {
        const size_t at = order[first + i];
        memcpy(s->x + i * LOOP_D, records.x + at * LOOP_D, LOOP_D * sizeof *s->x);
        memcpy(s->image + i * PIXELS, image + at * PIXELS, PIXELS * sizeof *image);
        s->y[i] = records.y[at];
        s->kind[i] = records.kind[at];
        s->group[i] = group[at];
        s->person[i] = person[at];
    }
    dp_dataset *d = dp_dataset_new(n);
    if (of == IMAGES) {
        dp_dataset_real(d, "x", PIXELS, s->image);
        dp_dataset_index(d, "y", s->kind);
        return d;
    }
    dp_dataset_real(d, "x", LOOP_D, s->x);
    dp_dataset_real(d, "value", 1, s->y);
    dp_dataset_index(d, "kind", s->kind);
    dp_dataset_index(d, "group", s->group);
    dp_dataset_index(d, "person", s->person);
    if (of == PEOPLE)
        dp_dataset_unit(d, "person");
    return d;
}

/* ---- models ---- */

/* Fitted by rounds. */
static dp_model *levels(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample(m, "w", LOOP_D, dp_normal(0, 2));
    dp_expr level = dp_sample_in(groups, "level", 1, dp_normal(0, 1));
    dp_expr to = dp_add(dp_pick(level, dp_index(rows, "group", groups)),
                        dp_dot(dp_data(rows, "x", LOOP_D), w));
    dp_observe(rows, "value", dp_normal_v(to, dp_sample(m, "sd", 1, dp_half_normal(1))));
    return m;
}

/* By steps, as what follows. */
static dp_model *classes(void)
{
    return loop_models[LOOP_NETWORK].make();
}

static dp_model *columns(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr level = dp_sample(m, "level", LOOP_D, dp_normal(0, 2));
    dp_observe(rows, "x", dp_normal_v(level, dp_num(2)));
    dp_observe(rows, "value", dp_normal_v(dp_sample(m, "mean", 1, dp_normal(0, 2)), dp_num(1)));
    return m;
}

static dp_model *convolutions(void)
{
    static const dp_cnn_layer layers[] = {{2, 3, 1, 1, 2, 2}, {3, 3, 1, 1, 2, 2}};
    const dp_cnn_opts o = {SIDE, SIDE, 1, layers, 2, 4, LOOP_K, 0, 3};
    dp_model *m;
    dp_error err = {0};
    assert_ok(dp_cnn(&o, &m, &err), err.text);
    return m;
}

typedef struct problem {
    dp_model *(*make)(void);
    kind of;
    bool rounds, noisy;
} problem;

/* ---- owners ---- */

/* Or a rank of one, of which the first opens. */
typedef struct owner {
    const problem *p;
    size_t number, of; /* which one, and how many there are */
    size_t opens;      /* sums that it was asked to open */
    dp_dataset *data;
    dp_owners together;
    crypto_generichash_state seen;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} owner;

static void key_of(size_t share, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                   unsigned char key[DP_OWNERS_KEY])
{
    const uint64_t whose[] = {share, n};
    (void)crypto_generichash(key, DP_OWNERS_KEY, question, DP_OWNERS_QUESTION,
                             (const unsigned char *)whose, sizeof whose);
}

static dp_status share(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                       const uint64_t *values, unsigned char key[DP_OWNERS_KEY], dp_error *err)
{
    const owner *o = context;
    (void)values;
    (void)err;
    key_of(o->number, question, n, key);
    return DP_OK;
}

static void add_share(size_t which, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      uint64_t *values)
{
    unsigned char key[DP_OWNERS_KEY];
    static int64_t noise[TABLE_NUMBERS];
    dpi_stream stream;
    key_of(which, question, n, key);
    dpi_stream_start(&stream, key);
    dpi_stream_grid(&stream, n, noise);
    dpi_stream_end(&stream);
    for (size_t e = 0; e < n; e++)
        values[e] += (uint64_t)noise[e];
}

static dp_status open_sum(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *err)
{
    owner *o = context;
    o->opens++;
    assert_true(n <= TABLE_NUMBERS);
    for (size_t k = o->of; k < SHARES && o->number == 0 && o->p->noisy; k++)
        add_share(k, question, n, values);
    dp_status status = table_open(&place, question, n, values, err);
    (void)crypto_generichash_update(&o->seen, question, DP_OWNERS_QUESTION);
    (void)crypto_generichash_update(&o->seen, (const unsigned char *)values, n * sizeof *values);
    return status;
}

static void *run(void *of)
{
    owner *o = of;
    dp_model *m = o->p->make();
    dp_fit_opts opts = {.mode = DP_NO_PRIVACY, .owners = &o->together};
    if (o->p->rounds)
        opts.rounds = 2, opts.draws = 100;
    if (o->p->noisy) {
        opts.mode = DP_PRIVATE;
        opts.epsilon = 4;
        opts.delta = 1e-5;
        opts.hopeless_allowed = true;
    }
    o->status = dp_fit_private(m, o->data, &opts, &o->fit, &o->err);
    if (o->status != DP_OK) { /* the others would wait for it */
        (void)fprintf(stderr, "owner %zu: %s\n", o->number, o->err.text);
        abort();
    }
    dp_model_free(m);
    return NULL;
}

/* ---- fits ---- */

enum { FILE_MOST = 1 << 18 };

/* What a fit is: all that was opened, and its file. */
typedef struct outcome {
    unsigned char opened[32], file[FILE_MOST];
    size_t times, n;
} outcome;

static void keep(const dp_fit *fit, outcome *to)
{
    dp_error err = {0};
    const char *path = folder_path("fit");
    assert_ok(dp_fit_save(fit, path, &err), err.text);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    to->n = fread(to->file, 1, FILE_MOST, f);
    assert_true(to->n > 100 && to->n < FILE_MOST);
    assert_int_equal(fclose(f), 0);
}

static crew crews[SHARES];
static owner all[SHARES][CREW_MOST];
static pthread_t threads[SHARES][CREW_MOST];

/* Of an owner's records, order[first ... end - 1], each of its ranks has as many, but for pairs; a
 * pair alone has one. */
static void start(const problem *p, size_t k, size_t n, size_t most, const size_t *order,
                  size_t first, size_t end)
{
    const size_t ranks = end - first < 2 * most ? 1 : most;
    crew_begin(&crews[k], ranks);
    for (size_t r = 0, at = first; r < ranks; r++) {
        owner *o = &all[k][r];
        const size_t to = r + 1 < ranks ? at + (end - at) / (ranks - r) / 2 * 2 : end;
        *o = (owner){.p = p, .number = k, .of = n};
        o->data = take(&held[k][r], order, at, to, p->of);
        o->together = (dp_owners){.size = SHARES,
                                  .honest = 3,
                                  .seed = 7,
                                  .most_records = N,
                                  .group = ranks > 1 ? crew_rank(&crews[k], r) : NULL,
                                  .context = o,
                                  .share = p->noisy ? share : NULL,
                                  .open = open_sum};
        (void)crypto_generichash_init(&o->seen, NULL, 0, 32);
        assert_int_equal(pthread_create(&threads[k][r], NULL, run, o), 0);
        at = to;
    }
}

static void finish(owner *o, bool opens, outcome *to)
{
    static outcome own;
    keep(o->fit, &own);
    assert_int_equal(own.n, to->n);
    assert_memory_equal(own.file, to->file, to->n);
    assert_int_equal(o->opens, opens ? place.times : 0);
    if (opens)
        (void)crypto_generichash_final(&o->seen, to->opened, sizeof to->opened);
    dp_fit_free(o->fit);
    dp_dataset_free(o->data);
}

/* Of records in this order, cut after each of `ends`, of owners with so many ranks. */
static void fit(const problem *p, const size_t *order, size_t n, const size_t *ends, size_t ranks,
                outcome *to)
{
    table_begin(&place, n);
    for (size_t k = 0; k < n; k++)
        start(p, k, n, ranks, order, k > 0 ? ends[k - 1] : 0, ends[k]);
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < crews[k].size; r++)
            assert_int_equal(pthread_join(threads[k][r], NULL), 0);
    keep(all[0][0].fit, to);
    for (size_t k = 0; k < n; k++) {
        for (size_t r = 0; r < crews[k].size; r++)
            finish(&all[k][r], r == 0, to);
        crew_end(&crews[k]);
    }
    to->times = place.times;
    assert_false(place.differ);
    table_end(&place);
}

/* ---- splits ---- */

static const size_t ends[][SHARES] = {{N},
                                      {N / 2, N},
                                      {2, N},
                                      {66, 134, N},
                                      {N - 4, N - 2, N},
                                      {2, 4, 6, 8, 10, 12, 14, N},
                                      {20, 40, 60, 80, 100, 120, 140, N}};
static const size_t owners_of[] = {1, 2, 2, 3, 3, 8, 8}, ranks_of[] = {1, 2, 2, 4, 1, 1, 2};
enum { SPLITS = sizeof owners_of / sizeof *owners_of };

/* As they are, or shuffled by twos, which are the records of one person. */
static void put_in_order(uint64_t seed, size_t order[N])
{
    double at[PAIRS];
    dp_rng *rng = NULL;
    dp_error err = {0};
    for (size_t i = 0; i < N; i++)
        order[i] = i;
    if (seed == 0)
        return;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_uniform(rng, PAIRS, at);
    dp_rng_free(rng);
    for (size_t i = PAIRS - 1; i > 0; i--) {
        const size_t j = (size_t)(at[i] * (double)(i + 1));
        for (size_t k = 0; k < 2; k++) {
            const size_t kept = order[2 * i + k];
            order[2 * i + k] = order[2 * j + k];
            order[2 * j + k] = kept;
        }
    }
}

/* Of the splits above the first, and then each `every`-th. */
static void same_however_split(const problem *p, size_t every, size_t least_times)
{
    static outcome alone, other;
    size_t order[N];
    for (size_t s = 0; s < SPLITS; s += every) {
        put_in_order(s == 1 ? 0 : s, order);
        fit(p, order, owners_of[s], ends[s], ranks_of[s], s == 0 ? &alone : &other);
        assert_true(s > 0 || alone.times >= least_times);
        if (s == 0)
            continue;
        assert_int_equal(other.times, alone.times);
        assert_memory_equal(other.opened, alone.opened, sizeof alone.opened);
        assert_int_equal(other.n, alone.n);
        assert_memory_equal(other.file, alone.file, alone.n);
    }
}

static void fits_by_rounds(void **state)
{
    (void)state;
    same_however_split(&(problem){levels, RECORDS, true, true}, 1, 20);
    same_however_split(&(problem){levels, RECORDS, true, false}, 1, 10);
}

static void fits_by_steps(void **state)
{
    (void)state;
    same_however_split(&(problem){classes, RECORDS, false, true}, 1, 545);
    same_however_split(&(problem){columns, RECORDS, false, true}, 3, 545);
}

static void fits_of_people_with_several_records(void **state)
{
    (void)state;
    same_however_split(&(problem){classes, PEOPLE, false, true}, 2, 545);
}

static void fits_of_convolutions(void **state)
{
    (void)state;
    same_however_split(&(problem){convolutions, IMAGES, false, true}, 3, 545);
}

static int set_up(void **state)
{
    dp_rng *rng = NULL;
    dp_error err = {0};
    loop_draw(&records);
    assert_ok(dp_rng_new(3, &rng, &err), err.text);
    dp_rng_normal(rng, N * PIXELS, image);
    dp_rng_free(rng);
    for (size_t i = 0; i < N; i++) {
        group[i] = (int32_t)(i % GROUPS);
        person[i] = (int32_t)(i < N / 2 ? i / 2 : i); /* the others have one */
        image[i * PIXELS + (size_t)records.kind[i]] += 3;
    }
    return folder_make(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_by_rounds),
        cmocka_unit_test(fits_by_steps),
        cmocka_unit_test(fits_of_people_with_several_records),
        cmocka_unit_test(fits_of_convolutions),
    };
    return cmocka_run_group_tests(tests, set_up, folder_remove);
}
