/* Whole runs of plans, letters, masks and all: the same fit to the bit for 1, 2, 3 and 8 owners
 * without noise, and with noise, whose shares are fixed here, the fit of a central run that adds
 * the same shares, however records are split, and of however many ranks an owner is.  What is below
 * the protocol, for each number of owners with noise and for steps: tests/infer/t-splits. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tacit/tacit.h>

#include "random/grid.h"
#include "random/stream.h"
#include "silo/describe.h"
#include "silo/plan.h"
#include "svi/together.h"
#include "tests/lib/check.h"
#include "tests/svi/ranks.h"

enum { MOST = 8, RANKS = 3, N = 160, X = 2, GROUPS = 5, FILE_MOST = 1 << 18, NUMBERS = 1 << 14 };

static double x[N * X], y[N];
static int32_t group[N];
static char folder[] = "/tmp/t-splits-XXXXXX";
static dp_silo_key *keys[MOST];
static dp_model *model;

/* ---- noise that is fixed ---- */

/* Owners whose shares this process adds: from `mine` on, `shares` of them. */
static size_t mine, shares;

static void add_share(size_t owner, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                      int64_t *whole)
{
    static int64_t noise[NUMBERS];
    unsigned char key[DP_OWNERS_KEY], who = (unsigned char)owner;
    dpi_stream stream;
    assert_true(n <= NUMBERS);
    (void)crypto_generichash(key, sizeof key, question, DP_OWNERS_QUESTION, &who, 1);
    dpi_stream_start(&stream, key);
    dpi_stream_grid(&stream, n, noise);
    dpi_stream_end(&stream);
    for (size_t e = 0; e < n; e++)
        whole[e] += noise[e];
}

dp_status __wrap_dpi_together_noise(const dp_owners *o, dp_noise *source,
                                    const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                                    int64_t *whole, dp_error *err);

dp_status __wrap_dpi_together_noise(const dp_owners *o, dp_noise *source,
                                    const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                                    int64_t *whole, dp_error *err)
{
    (void)o;
    (void)source;
    (void)err;
    for (size_t k = 0; k < shares; k++)
        add_share(mine + k, question, n, whole);
    return DP_OK;
}

/* ---- records ---- */

static dp_model *levels(void)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows"), groups = dp_plate_new(m, "groups", GROUPS);
    dp_expr w = dp_sample(m, "w", X, dp_normal(0, 2));
    dp_expr level = dp_sample_in(groups, "level", 1, dp_normal(0, 1));
    dp_expr to =
        dp_add(dp_pick(level, dp_index(rows, "group", groups)), dp_dot(dp_data(rows, "x", X), w));
    dp_observe(rows, "y", dp_bernoulli_logit(to));
    return m;
}

/* Records order[first ... end - 1]; what is borrowed stays until the process ends. */
static dp_dataset *take(const size_t *order, size_t first, size_t end)
{
    static double some_x[N * X], some_y[N];
    static int32_t some_group[N];
    for (size_t i = first; i < end; i++) {
        memcpy(some_x + i * X, x + order[i] * X, X * sizeof *x);
        some_y[i] = y[order[i]];
        some_group[i] = group[order[i]];
    }
    dp_dataset *d = dp_dataset_new(end - first);
    dp_dataset_real(d, "x", X, some_x + first * X);
    dp_dataset_real(d, "y", 1, some_y + first);
    dp_dataset_index(d, "group", some_group + first);
    return d;
}

/* As they are, or in an order that a seed has. */
static void put_in_order(uint64_t seed, size_t order[N])
{
    double at[N];
    dp_rng *rng = NULL;
    dp_error err = {0};
    for (size_t i = 0; i < N; i++)
        order[i] = i;
    if (seed == 0)
        return;
    assert_ok(dp_rng_new(seed, &rng, &err), err.text);
    dp_rng_uniform(rng, N, at);
    dp_rng_free(rng);
    for (size_t i = N - 1; i > 0; i--) {
        const size_t j = (size_t)(at[i] * (double)(i + 1)), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

/* ---- runs ---- */

static const char *path_of(const char *name, size_t k)
{
    static char path[4][300];
    static int turn;
    turn = (turn + 1) % 4;
    (void)snprintf(path[turn], sizeof path[turn], "%s/%s-%zu", folder, name, k);
    return path[turn];
}

static dp_silo_plan *agree(const char *scheme, bool noisy, size_t n)
{
    static const char *const names[MOST] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    dp_silo_owner owners[MOST];
    dp_silo_plan *plan = NULL;
    dp_error err = {0};
    for (size_t k = 0; k < n; k++)
        owners[k] = (dp_silo_owner){names[k], dp_silo_key_public(keys[k])};
    const dp_silo_opts o = {.name = "splits",
                            .scheme = scheme,
                            .model = model,
                            .n_owners = n,
                            .owners = owners,
                            .epsilon = noisy ? 4 : 0,
                            .delta = noisy ? 1e-5 : 0,
                            .rounds = 2,
                            .draws = 100,
                            .most_records = N,
                            .seed = 11};
    assert_ok(dp_silo_plan_new(&o, &plan, &err), err.text);
    for (size_t k = 0; k < n; k++)
        assert_ok(dp_silo_plan_sign(plan, keys[k], &err), err.text);
    return plan;
}

typedef struct owner {
    const dp_silo_plan *plan;
    size_t k, ranks;
    const size_t *order; /* of whose records it has those from first to end - 1 */
    size_t first, end;
} owner;

/* Where a rank of an owner leaves its fit. */
static const char *fit_of(size_t k, size_t rank)
{
    return path_of("fit", k * RANKS + rank);
}

/* One process of an owner's, of which the first alone has the key. */
static int act(const dp_group *g, void *of)
{
    const owner *w = of;
    const size_t n = w->end - w->first, first = w->first + n * g->rank / g->size;
    dp_dataset *data = take(w->order, first, w->first + n * (g->rank + 1) / g->size);
    dp_fit *fit;
    dp_error err = {0};
    const dp_silo_run_opts o = {.key = g->rank == 0 ? keys[w->k] : NULL,
                                .group = w->ranks > 1 ? g : NULL,
                                .mailbox = g->rank == 0 ? path_of("letters", 0) : NULL,
                                .patience_ms = 60000,
                                .hopeless_allowed = true};
    mine = w->k;
    shares = 1;
    dp_status status = dp_silo_run(w->plan, model, data, &o, &fit, &err);
    if (status == DP_OK)
        status = dp_fit_save(fit, fit_of(w->k, g->rank), &err);
    if (status != DP_OK)
        (void)fprintf(stderr, "owner %zu, rank %zu: %s\n", w->k, g->rank, err.text);
    return status != DP_OK;
}

typedef struct bytes {
    size_t n;
    unsigned char of[FILE_MOST];
} bytes;

static void load(const char *path, bytes *b)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    b->n = fread(b->of, 1, FILE_MOST, f);
    assert_true(b->n > 100 && b->n < FILE_MOST);
    assert_int_equal(fclose(f), 0);
}

static int take_away(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s;
    (void)kind;
    (void)at;
    return remove(path);
}

/* The fit, which all have, of records in an order, cut after each of `ends`; the last owner has so
 * many ranks. */
static void run(const dp_silo_plan *plan, const size_t *order, size_t n, const size_t *ends,
                size_t ranks, bytes *fit)
{
    static bytes other;
    assert_int_equal(mkdir(path_of("letters", 0), 0700), 0);
    for (size_t k = 0; k < n; k++) {
        owner w = {plan, k, k + 1 == n ? ranks : 1, order, k > 0 ? ends[k - 1] : 0, ends[k]};
        if (fork() == 0)
            _exit(run_ranks(w.ranks, act, &w));
    }
    for (size_t k = 0; k < n; k++) {
        int how = 1;
        assert_true(wait(&how) > 0);
        assert_int_equal(how, 0);
    }
    load(fit_of(0, 0), fit);
    for (size_t k = 0; k < n; k++)
        for (size_t r = 0; r < (k + 1 == n ? ranks : 1); r++) {
            load(fit_of(k, r), &other);
            assert_int_equal(other.n, fit->n);
            assert_memory_equal(other.of, fit->of, fit->n);
        }
    assert_int_equal(nftw(path_of("letters", 0), take_away, 8, FTW_DEPTH), 0);
}

static dp_status adds_nothing(void *context, const unsigned char question[DP_OWNERS_QUESTION],
                              size_t n, uint64_t *values, dp_error *err)
{
    (void)context;
    (void)question;
    (void)n;
    (void)values;
    (void)err;
    return DP_OK;
}

/* All records in one process, which adds the shares of all owners. */
static void run_central(const dp_silo_plan *plan, bytes *file)
{
    const dp_silo_opts *p = dp_silo_plan_opts(plan);
    const dp_owners all = {.size = p->n_owners,
                           .honest = dpi_silo_honest(p),
                           .seed = p->seed,
                           .most_records = p->most_records,
                           .open = adds_nothing};
    const dp_fit_opts o = {.mode = p->epsilon > 0 ? DP_PRIVATE : DP_NO_PRIVACY,
                           .epsilon = p->epsilon,
                           .delta = p->delta,
                           .rounds = p->rounds,
                           .draws = p->draws,
                           .hopeless_allowed = true,
                           .owners = &all};
    size_t order[N];
    dp_fit *fit;
    dp_error err = {0};
    put_in_order(0, order);
    dp_dataset *data = take(order, 0, N);
    mine = 0;
    shares = p->n_owners;
    assert_ok(dp_fit_private(model, data, &o, &fit, &err), err.text);
    assert_ok(dp_fit_save(fit, path_of("central", 0), &err), err.text);
    load(path_of("central", 0), file);
    dp_fit_free(fit);
    dp_dataset_free(data);
}

/* ---- ---- */

typedef struct split {
    size_t n, ranks; /* of the last owner */
    uint64_t seed;   /* of the order */
    size_t ends[MOST];
} split;

static const split without[] = {{1, 1, 0, {N}},
                                {1, RANKS, 0, {N}},
                                {2, 2, 1, {3, N}},
                                {3, 1, 0, {50, 100, N}},
                                {8, 2, 3, {1, 2, 3, 4, 5, 6, 7, N}}};
static const split with[] = {{3, 2, 0, {1, 2, N}},
                             {3, RANKS, 4, {50, 100, N}},
                             {8, 1, 5, {20, 40, 60, 80, 81, 120, 140, N}}};

static void same_as_central(const char *scheme, bool noisy, const split *of, size_t n)
{
    static bytes central, apart;
    size_t order[N];
    for (size_t k = 0; k < n; k++) {
        dp_silo_plan *plan = agree(scheme, noisy, of[k].n);
        run_central(plan, &central);
        put_in_order(of[k].seed, order);
        run(plan, order, of[k].n, of[k].ends, of[k].ranks, &apart);
        assert_int_equal(apart.n, central.n);
        assert_memory_equal(apart.of, central.of, central.n);
        dp_silo_plan_free(plan);
    }
}

static void sums_that_are_sent_as_they_are(void **state)
{
    (void)state;
    same_as_central("fedsgd", false, without, sizeof without / sizeof *without);
}

static void masked_sums_with_noise_of_all(void **state)
{
    (void)state;
    same_as_central("secagg+dp", true, with, sizeof with / sizeof *with);
}

static int set_up(void **state)
{
    dp_rng *rng = NULL;
    dp_error err = {0};
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_ok(dp_rng_new(5, &rng, &err), err.text);
    dp_rng_normal(rng, N * X, x);
    dp_rng_uniform(rng, N, y);
    dp_rng_free(rng);
    for (size_t i = 0; i < N; i++) {
        y[i] = dp_logistic(dp_num(x[i * X] - 0.5 * x[i * X + 1])).value > y[i];
        group[i] = (int32_t)(i % GROUPS);
    }
    for (size_t k = 0; k < MOST; k++)
        assert_ok(dp_silo_key_new(path_of("key", k), &keys[k], &err), err.text);
    model = levels();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dp_model_free(model);
    for (size_t k = 0; k < MOST; k++)
        dp_silo_key_free(keys[k]);
    return nftw(folder, take_away, 8, FTW_DEPTH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_that_are_sent_as_they_are),
        cmocka_unit_test(masked_sums_with_noise_of_all),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
