/* How far the answers of few rounds are from that of all records: dp-pvi beside secagg+dp, and one
 * process with all records, by rounds of the fit and by noisy steps.
 *   make bench/silo-pvi
 *   bench/silo-pvi --problem NAME --scheme SCHEME [--data CSV] [--records N] [--owners M]
 *                  [--epsilon E] [--local K] [--damping R] [--fits F]
 * NAME is contraception (--data contraception.csv: seven coefficients of the women's use) or
 * logistic (--records of ten coefficients, drawn here).  SCHEME is central (one process, as tacit
 * fit), loop (the same by noisy steps), secagg+dp (noise that one other owner cannot see through),
 * or dp-pvi with K steps of each owner between openings.  Owners have every M-th record, in threads
 * that add up what they open.  Without --epsilon, dp-pvi and loop have no privacy.  Delta is 10^-5.
 * One JSON line: over F fits the mean and standard deviation of the mean distance of coefficients
 * from the posterior means of all records without privacy, in their standard deviations; the mean
 * of the told standard deviations by those; openings and numbers opened. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacit/tacit.h>

#include "bench.h"
#include "options.h"
#include "women.h"

enum { MOST = 16, D_MOST = 16, DRAWN_D = 10, NUMBERS = 1 << 12 };

static dp_error err;

static void must(dp_status status, const char *what, const dp_error *e)
{
    if (status != DP_OK)
        bench_stop(what, e->text);
}

/* ---- records ---- */

typedef struct records {
    size_t n, d;
    const double *x, *y;
} records;

static records drawn(size_t n)
{
    double *x = calloc(n * DRAWN_D, sizeof *x), *y = calloc(n, sizeof *y);
    dp_rng *rng;
    if (x == NULL || y == NULL)
        bench_stop("memory", "none left");
    must(dp_rng_new(7, &rng, &err), "draws", &err);
    for (size_t i = 0; i < n; i++) {
        double eta = 0, u;
        dp_rng_uniform(rng, DRAWN_D, x + i * DRAWN_D);
        for (size_t k = 0; k < DRAWN_D; k++) {
            double *at = x + i * DRAWN_D + k;
            *at = k == 0 ? 1 : 2 * *at - 1;
            eta += *at * ((double)k - 4) / 5;
        }
        dp_rng_uniform(rng, 1, &u);
        y[i] = u < 1 / (1 + exp(-eta));
    }
    dp_rng_free(rng);
    return (records){n, DRAWN_D, x, y};
}

static dp_model *model_of(size_t d)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", d, dp_normal(0, 2.5));
    dp_observe(rows, "y", dp_bernoulli_logit(dp_dot(dp_data(rows, "x", d), w)));
    return m;
}

/* Every step-th record from the first on. */
static dp_dataset *take(const records *r, size_t first, size_t step)
{
    const size_t n = (r->n - first + step - 1) / step;
    double *x = calloc(n * r->d, sizeof *x), *y = calloc(n, sizeof *y);
    if (x == NULL || y == NULL)
        bench_stop("memory", "none left");
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * r->d, r->x + (first + i * step) * r->d, r->d * sizeof *x);
        y[i] = r->y[first + i * step];
    }
    dp_dataset *data = dp_dataset_new(n); /* never given back */
    dp_dataset_real(data, "x", r->d, x);
    dp_dataset_real(data, "y", 1, y);
    return data;
}

/* ---- owners at one table ---- */

typedef struct table {
    pthread_mutex_t lock;
    pthread_cond_t turn;
    size_t owners, here, times, numbers;
    uint64_t sum[NUMBERS], opened[NUMBERS];
} table;

static dp_status open_sum(void *context, const unsigned char question[DP_OWNERS_QUESTION], size_t n,
                          uint64_t *values, dp_error *e)
{
    table *t = context;
    (void)question, (void)e;
    (void)pthread_mutex_lock(&t->lock);
    const size_t turn = t->times;
    for (size_t k = 0; k < n; k++)
        t->sum[k] += values[k];
    if (++t->here == t->owners) {
        memcpy(t->opened, t->sum, sizeof t->sum);
        memset(t->sum, 0, sizeof t->sum);
        t->here = 0;
        t->times++;
        t->numbers += n;
        (void)pthread_cond_broadcast(&t->turn);
    }
    while (t->times == turn)
        (void)pthread_cond_wait(&t->turn, &t->lock);
    memcpy(values, t->opened, n * sizeof *values);
    (void)pthread_mutex_unlock(&t->lock);
    return DP_OK;
}

typedef struct owner {
    const dp_model *model;
    const dp_dataset *data;
    dp_fit_opts opts;
    dp_fit *fit;
    dp_status status;
    dp_error err;
} owner;

static void *run(void *of)
{
    owner *o = of;
    o->status = dp_fit_private(o->model, o->data, &o->opts, &o->fit, &o->err);
    return NULL;
}

static dp_fit *together(const records *r, const dp_model *m, const dp_owners *like,
                        const dp_fit_opts *opts, table *t)
{
    static owner all[MOST];
    pthread_t thread[MOST];
    dp_owners owners = *like;
    *t = (table){.owners = like->size};
    (void)pthread_mutex_init(&t->lock, NULL);
    (void)pthread_cond_init(&t->turn, NULL);
    owners.context = t;
    owners.open = open_sum;
    for (size_t k = 0; k < like->size; k++) {
        all[k] = (owner){.model = m, .data = take(r, k, like->size), .opts = *opts};
        all[k].opts.owners = &owners;
        if (pthread_create(&thread[k], NULL, run, &all[k]) != 0)
            bench_stop("thread", "none");
    }
    for (size_t k = 0; k < like->size; k++)
        (void)pthread_join(thread[k], NULL);
    for (size_t k = 0; k < like->size; k++) {
        must(all[k].status, "owner", &all[k].err);
        if (k > 0)
            dp_fit_free(all[k].fit);
    }
    return all[0].fit;
}

/* ---- figures ---- */

/* The mean distance from what `exact` says, and the mean ratio of standard deviations. */
static void compare(const dp_fit *fit, const dp_fit *exact, size_t d, double *off, double *wide)
{
    dp_summary is[D_MOST], should[D_MOST];
    *off = *wide = 0;
    must(dp_fit_summary(fit, "w", d, is, &err), "summary", &err);
    must(dp_fit_summary(exact, "w", d, should, &err), "summary", &err);
    for (size_t k = 0; k < d; k++) {
        *off += fabs(is[k].mean - should[k].mean) / should[k].sd / (double)d;
        *wide += is[k].sd / should[k].sd / (double)d;
    }
}

/* Who else there is in a scheme; damping 0: the share that is safe. */
static dp_owners owners_of(const char *scheme, uint64_t owners, uint64_t local, double damping)
{
    const bool factors = strcmp(scheme, "dp-pvi") == 0, sums = strcmp(scheme, "secagg+dp") == 0;
    dp_owners o = {.size = factors || sums ? owners : 1, .honest = 1};
    if (sums)
        o.honest = owners > 1 ? owners - 1 : 1;
    else
        o.local_steps = factors ? local : DP_OWNERS_LOCAL_STEPS;
    if (!sums)
        o.damping = damping > 0 ? damping : 1 / (double)o.size;
    return o;
}

int main(int argc, char **argv)
{
    const char *problem = "logistic", *scheme = "dp-pvi", *data = NULL;
    uint64_t n = 30000, owners = 3, local = 64, fits = 1;
    double epsilon = 0, damping = 0;
    const bench_option list[] = {
        {.name = "--problem", .text = &problem}, {.name = "--scheme", .text = &scheme},
        {.name = "--data", .text = &data},       {.name = "--records", .count = &n},
        {.name = "--owners", .count = &owners},  {.name = "--epsilon", .number = &epsilon},
        {.name = "--local", .count = &local},    {.name = "--damping", .number = &damping},
        {.name = "--fits", .count = &fits},
    };
    static table t;
    women w = {0};
    records r;
    bench_options(argc, argv, sizeof list / sizeof *list, list);
    if (owners < 1 || owners > MOST || fits < 1)
        bench_stop("--owners", "1 to 16, and a fit at least");
    if (strcmp(problem, "contraception") == 0) {
        must(women_read(data, &w, &err), "--data", &err);
        r = (records){w.n, WOMEN_D, w.x, w.use};
    } else {
        r = drawn(n);
    }
    dp_model *m = model_of(r.d);
    const dp_dataset *all = take(&r, 0, 1);
    const dp_fit_opts plain = {.mode = DP_NO_PRIVACY};
    dp_fit *exact;
    must(dp_fit_private(m, all, &plain, &exact, &err), "without privacy", &err);
    double sum = 0, squares = 0, widths = 0;
    for (uint64_t k = 0; k < fits; k++) {
        dp_fit_opts o = {.mode = epsilon > 0 ? DP_PRIVATE : DP_NO_PRIVACY,
                         .method = DP_METHOD_ROUNDS,
                         .epsilon = epsilon,
                         .delta = epsilon > 0 ? 1e-5 : 0,
                         .hopeless_allowed = true};
        dp_owners like = owners_of(scheme, owners, local, damping);
        like.seed = 1 + k;
        like.most_records = r.n;
        dp_fit *fit;
        double off, wide;
        if (strcmp(scheme, "central") == 0)
            must(dp_fit_private(m, all, &o, &fit, &err), "central", &err);
        else
            fit = together(&r, m, &like, &o, &t);
        compare(fit, exact, r.d, &off, &wide);
        sum += off, squares += off * off, widths += wide;
        dp_fit_free(fit);
    }
    const double mean = sum / (double)fits;
    (void)printf("{\"bench\": \"silo-pvi\", \"problem\": \"%s\", \"records\": %zu, \"scheme\": "
                 "\"%s\", \"owners\": %llu, \"local\": %llu, \"fits\": %llu, ",
                 problem, r.n, scheme, (unsigned long long)owners, (unsigned long long)local,
                 (unsigned long long)fits);
    bench_number("epsilon", epsilon > 0 ? epsilon : INFINITY);
    bench_number("damping", damping);
    bench_number("off", mean);
    bench_number("off_sd", fits > 1 ? sqrt(fmax(squares / (double)fits - mean * mean, 0)) : NAN);
    bench_number("sd_ratio", widths / (double)fits);
    bench_number("openings", (double)t.times);
    bench_number("opened", (double)t.numbers);
    bench_end_line();
    return 0;
}
