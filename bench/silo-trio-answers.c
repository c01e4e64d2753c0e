/* How far logistic regressions over columns of two owners are from that of one table: by encrypted
 * columns (columns+dp, columns), and with a third party on shares.
 *   make bench/silo-trio-answers && bench/silo-trio-answers
 * One JSON line for each way, epsilon (0: no noise) and number of steps: the mean of |w - w*| /
 * |w*| over `RUNS` runs, and its standard deviation; w* is where steps without noise and with the
 * sigmoid itself come to.  2000 people, four columns of either owner, the same rows, bounds of rows
 * and steps for both ways. */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacit/random.h>
#include <tacit/silo-trio.h>
#include <tacit/silo.h>

#include "bench.h"

enum { PEOPLE = 2000, D = 4, ALL = 2 * D, RUNS = 10, MANY = 4000, PARTIES = 3 };

static const double row_most = 1.5, delta = 1e-5;
static double x[2][PEOPLE][D], y[PEOPLE], best[ALL];
static char ids[PEOPLE][16];
static const char *who[PEOPLE];
static dp_identity *identity[PARTIES];
static dp_silo_key *key[2];

static void must(bool good, const char *what)
{
    if (good)
        return;
    (void)fprintf(stderr, "silo-trio-answers: %s\n", what);
    exit(1);
}

static int remove_one(const char *path, const struct stat *of, int kind, struct FTW *at)
{
    (void)of;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_all(const char *folder)
{
    enum { OPEN = 8 };
    (void)nftw(folder, remove_one, OPEN, FTW_DEPTH | FTW_PHYS);
}

/* ---- one table ---- */

static double sigmoid(const double *w, size_t i)
{
    double u = 0;
    for (size_t j = 0; j < ALL; j++)
        u += w[j] * x[j / D][i][j % D];
    return 1 / (1 + exp(-u));
}

static void find_best(void)
{
    for (int k = 0; k < MANY; k++) {
        double g[ALL] = {0};
        for (size_t i = 0; i < PEOPLE; i++)
            for (size_t j = 0; j < ALL; j++)
                g[j] += (sigmoid(best, i) - y[i]) * x[j / D][i][j % D];
        for (size_t j = 0; j < ALL; j++)
            best[j] -= 1.5 * g[j] / PEOPLE;
    }
}

static void draw(void)
{
    static const double truth[ALL] = {2, -1, .5, 0, 1, -1.5, .5, 0};
    static double chance[PEOPLE];
    dp_rng *rng;
    must(dp_rng_new(11, &rng, NULL) == DP_OK, "no random numbers");
    dp_rng_uniform(rng, sizeof x / sizeof(double), &x[0][0][0]);
    dp_rng_uniform(rng, PEOPLE, chance);
    dp_rng_free(rng);
    for (size_t i = 0; i < PEOPLE; i++) {
        for (size_t j = 0; j < ALL; j++)
            x[j / D][i][j % D] = 2 * x[j / D][i][j % D] - 1;
        for (size_t k = 0; k < 2; k++) { /* within the bound, so that all ways have the same */
            double norm = 0;
            for (size_t j = 0; j < D; j++)
                norm = hypot(norm, x[k][i][j]);
            for (size_t j = 0; j < D && norm > row_most; j++)
                x[k][i][j] *= row_most * (1 - 1e-9) / norm;
        }
        y[i] = chance[i] < sigmoid(truth, i);
        (void)snprintf(ids[i], sizeof ids[i], "%zu", i);
        who[i] = ids[i];
    }
}

static double step_size(void)
{
    return 1.5 / (.25 * 2 * row_most * row_most);
}

/* ---- the two ways ---- */

typedef struct bench_side {
    size_t k;
    const dp_silo_plan *plan;
    const dp_silo_trio *terms;
    const dp_silo_trio_opts *opts;
    double w[ALL], others[D];
    dp_status status;
    dp_error err;
} bench_side;

static void *act_columns(void *of)
{
    static const char *const states[] = {"state-0", "state-1"};
    bench_side *s = of;
    const dp_silo_columns_data data = {
        .rows = PEOPLE, .ids = who, .x = x[s->k][0], .y = s->k == 1 ? y : NULL};
    const dp_silo_run_opts o = {
        .key = key[s->k], .mailbox = "letters", .state = states[s->k], .others = s->others};
    size_t common;
    s->status = dp_silo_run_columns(s->plan, &data, &o, &common, s->w, &s->err);
    return NULL;
}

static void *act_trio(void *of)
{
    bench_side *s = of;
    dp_silo_trio_opts o = *s->opts;
    const dp_silo_trio_data data = {.rows = s->k < 2 ? PEOPLE : 0,
                                    .x = s->k < 2 ? x[s->k][0] : NULL,
                                    .y = s->k == 1 ? y : NULL};
    size_t rows;
    o.identity = identity[s->k];
    s->status = dp_silo_trio_run(s->terms, &o, &data, &rows, s->w, &s->err);
    return NULL;
}

static void run(bench_side *sides, size_t n, void *(*act)(void *))
{
    pthread_t threads[PARTIES];
    for (size_t k = 0; k < n; k++) {
        sides[k].k = k;
        must(pthread_create(&threads[k], NULL, act, &sides[k]) == 0, "no thread");
    }
    for (size_t k = 0; k < n; k++)
        (void)pthread_join(threads[k], NULL);
    for (size_t k = 0; k < n; k++)
        must(sides[k].status == DP_OK, sides[k].err.text);
}

static void by_columns(double epsilon, uint64_t steps, int number, double w[ALL])
{
    char name[16];
    bench_side sides[2] = {{.k = 0}};
    dp_silo_plan *plan;
    dp_error err = {DP_OK, ""};
    const dp_silo_columns c = {.logistic = true,
                               .outcome = 1,
                               .columns = {D, D},
                               .row_most = {row_most, row_most},
                               .addend_most = {epsilon > 0 ? .5 : 8, epsilon > 0 ? 1 : 8},
                               .steps = steps,
                               .step = step_size(),
                               .ids = "people",
                               .told = true};
    const dp_silo_owner owner[] = {{"first", dp_silo_key_public(key[0])},
                                   {"other", dp_silo_key_public(key[1])}};
    (void)snprintf(name, sizeof name, "run-%d", number);
    const dp_silo_opts o = {.name = name,
                            .scheme = epsilon > 0 ? "columns+dp" : "columns",
                            .columns = &c,
                            .n_owners = 2,
                            .owners = owner,
                            .epsilon = epsilon,
                            .delta = epsilon > 0 ? delta : 0};
    remove_all("letters");
    remove_all("state-0");
    remove_all("state-1");
    must(mkdir("letters", 0700) == 0, "no folder");
    must(dp_silo_plan_new(&o, &plan, &err) == DP_OK, err.text);
    for (int k = 0; k < 2; k++) {
        must(dp_silo_plan_sign(plan, key[k], &err) == DP_OK, err.text);
        sides[k].plan = plan;
    }
    run(sides, 2, act_columns);
    memcpy(w, sides[0].w, D * sizeof *w);
    memcpy(w + D, sides[1].w, D * sizeof *w);
    dp_silo_plan_free(plan);
}

static void by_trio(double epsilon, uint64_t steps, int number, double w[ALL])
{
    char name[16], port[2][16];
    bench_side sides[PARTIES] = {{.k = 0}};
    dp_silo_trio_opts o = {.patience_ms = 20000};
    (void)snprintf(name, sizeof name, "run-%d", number);
    const dp_silo_trio t = {.name = name,
                            .logistic = true,
                            .rows = PEOPLE,
                            .outcome = 1,
                            .columns = {D, D},
                            .row_most = {row_most, row_most},
                            .steps = steps,
                            .step = step_size(),
                            .epsilon = epsilon,
                            .delta = epsilon > 0 ? delta : 0,
                            .told = !(epsilon > 0)};
    for (int k = 0; k < PARTIES; k++) {
        if (k < 2)
            (void)snprintf(port[k], sizeof port[k], "%d", 16100 + 2 * (number % 300) + k);
        o.party[k] = (dp_silo_trio_party){.host = "127.0.0.1",
                                          .port = k < 2 ? port[k] : NULL,
                                          .fingerprint = dp_identity_fingerprint(identity[k])};
        sides[k].terms = &t;
        sides[k].opts = &o;
    }
    run(sides, PARTIES, act_trio);
    memcpy(w, sides[0].w, ALL * sizeof *w);
}

static void measure(bool shares, double epsilon, uint64_t steps)
{
    static int number;
    const int runs = epsilon > 0 ? RUNS : 1;
    double sum = 0, squares = 0;
    for (int r = 0; r < runs; r++) {
        double w[ALL], off = 0, size = 0;
        (shares ? by_trio : by_columns)(epsilon, steps, ++number, w);
        for (size_t j = 0; j < ALL; j++) {
            off += (w[j] - best[j]) * (w[j] - best[j]);
            size += best[j] * best[j];
        }
        sum += sqrt(off / size);
        squares += off / size;
    }
    const double mean = sum / runs;
    printf("{\"bench\": \"silo-trio-answers\", \"way\": \"%s\", \"epsilon\": %g, \"steps\": %llu, "
           "\"runs\": %d, ",
           shares ? "three parties" : "columns", epsilon, (unsigned long long)steps, runs);
    bench_number("off", mean);
    bench_number("off_sd", sqrt(fmax(squares / runs - mean * mean, 0)));
    bench_end_line();
    (void)fflush(stdout);
}

int main(void)
{
    static const double epsilons[] = {.5, 1, 2, 4, 0};
    char folder[] = "/tmp/tacit-answers-XXXXXX";
    must(mkdtemp(folder) != NULL && chdir(folder) == 0, "no folder");
    draw();
    find_best();
    for (int k = 0; k < PARTIES; k++) {
        char name[16];
        (void)snprintf(name, sizeof name, "identity-%d", k);
        must(dp_identity_new(name, &identity[k], NULL) == DP_OK, "no identity");
        (void)snprintf(name, sizeof name, "key-%d", k);
        must(k > 1 || dp_silo_key_new(name, &key[k], NULL) == DP_OK, "no key");
    }
    for (size_t e = 0; e < sizeof epsilons / sizeof *epsilons; e++)
        for (int k = 0; k < 4; k++)
            measure(k % 2 == 1, epsilons[e], k / 2 == 0 ? 20 : 60);
    for (int k = 0; k < PARTIES; k++)
        dp_identity_free(identity[k]);
    dp_silo_key_free(key[0]);
    dp_silo_key_free(key[1]);
    remove_all(folder);
    return 0;
}
