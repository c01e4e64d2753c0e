#include "tests/svi/factors.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "svi/svi.h"
#include "tests/lib/check.h"

double predictors[N * D], normal[N], yes[N];
const size_t thirds[] = {200, 400, N}, unequal[] = {20, 490, 530, N};
const double prior_sd = 2, outcome_sd = 0.5;

void factors_draw(void)
{
    dp_rng *rng;
    double u[N];
    assert_ok(dp_rng_new(4, &rng, NULL), "");
    dp_rng_normal(rng, N * D, predictors);
    dp_rng_normal(rng, N, normal);
    dp_rng_uniform(rng, N, u);
    for (size_t i = 0; i < N; i++) {
        predictors[i * D + 1] += 0.3 * predictors[i * D];
        normal[i] = 0.7 * predictors[i * D] - 1.1 * predictors[i * D + 1] + outcome_sd * normal[i];
        yes[i] = u[i] < 1 / (1 + exp(-predictors[i * D] + 0.6 * predictors[i * D + 1]));
    }
    dp_rng_free(rng);
}

dp_model *model_of(bool conjugate)
{
    dp_model *m = dp_model_new();
    dp_plate rows = dp_unit_plate(m, "rows");
    dp_expr w = dp_sample(m, "w", D, dp_normal(0, prior_sd)), at = dp_dot(dp_data(rows, "x", D), w);
    dp_observe(rows, "y", conjugate ? dp_normal_v(at, dp_num(outcome_sd)) : dp_bernoulli_logit(at));
    return m;
}

static bool not_made(void *of)
{
    (void)of;
    return false;
}

static dp_status keep(void *of, const unsigned char question[DP_OWNERS_QUESTION],
                      const dpi_release *r, dp_error *err)
{
    kept *k = of;
    (void)question, (void)err;
    for (size_t d = 0; d < D && k->n < KEPT; d++)
        k->first[k->n * D + d] = r->out[d] * r->rate / r->sd;
    k->n++;
    return DP_OK;
}

void *act(void *of)
{
    owner *o = of;
    const size_t n = o->end - o->first;
    double *mine = calloc(n * D, sizeof *mine), *y = calloc(n, sizeof *y);
    dp_svi *run = NULL;
    if (mine == NULL || y == NULL)
        abort();
    for (size_t k = 0; k < n * D; k++) /* the first half of records has the first coefficient */
        mine[k] = o->nothing                                        ? 0
                  : o->conjugate && (o->first + k / D) % D != k % D ? 0
                                                                    : predictors[o->first * D + k];
    for (size_t i = 0; i < n; i++)
        y[i] = (o->conjugate ? normal : yes)[o->first + i];
    if (o->broken != 0)
        mine[0] = o->broken;
    dp_model *m = model_of(o->conjugate);
    dp_dataset *data = dp_dataset_new(n);
    dp_dataset_real(data, "x", D, mine);
    dp_dataset_real(data, "y", 1, y);
    o->opts.owners = &o->owners;
    const dpi_svi_keep keeps = {.of = o->kept, .made = not_made, .keep = keep};
    const dpi_svi_spec spec = {.model = m,
                               .data = data,
                               .opts = &o->opts,
                               .chunk = DPI_SVI_CHUNK,
                               .keep = o->kept != NULL ? &keeps : NULL};
    o->status = dpi_svi_new(&spec, &run, &o->err);
    while (o->status == DP_OK && !dp_svi_done(run))
        o->status = dp_svi_step(run, &o->err);
    if (o->status == DP_OK) {
        memcpy(o->theta, dpi_optimizer_result(&run->optimizer), sizeof o->theta);
        o->clip = run->opts.clip;
    }
    if (o->status == DP_OK && run->factor.n > 0) {
        memcpy(o->all, run->factor.all, sizeof o->all);
        memcpy(o->own, run->factor.own, sizeof o->own);
    }
    dp_svi_free(run);
    dp_dataset_free(data);
    dp_model_free(m);
    free(y);
    free(mine);
    return NULL;
}

owner owner_of(bool conjugate, uint64_t steps)
{
    return (owner){.conjugate = conjugate,
                   .opts = {.mode = DP_NO_PRIVACY,
                            .sampling = DP_SAMPLING_FULL,
                            .step_size = 0.05,
                            .steps = steps,
                            .average = 0.5}};
}

table shared;

/* Owners whose parts end there, with `local` steps each between two openings. */
static void start(size_t n, const size_t *ends, const owner *like, uint64_t local, owner *all)
{
    pthread_t thread[MOST];
    table_begin(&shared, n);
    for (size_t k = 0; k < n; k++) {
        kept *own = all[k].kept;
        all[k] = *like;
        all[k].kept = own;
        all[k].first = k > 0 ? ends[k - 1] : 0;
        all[k].end = ends[k];
        all[k].owners =
            (dp_owners){.size = n,
                        .honest = 1,
                        .seed = 5,
                        .most_records = N,
                        .local_steps = local,
                        .damping = like->owners.damping > 0 ? like->owners.damping : 1 / (double)n,
                        .context = &shared,
                        .open = table_open};
    }
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_create(&thread[k], NULL, act, &all[k]), 0);
    for (size_t k = 0; k < n; k++)
        assert_int_equal(pthread_join(thread[k], NULL), 0);
    assert_false(shared.differ);
    table_end(&shared);
}

void together(size_t n, const size_t *ends, const owner *like, uint64_t local, owner *all)
{
    start(n, ends, like, local, all);
    for (size_t k = 0; k < n; k++) {
        assert_ok(all[k].status, all[k].err.text);
        assert_memory_equal(all[k].theta, all[0].theta, sizeof all[0].theta);
        assert_memory_equal(all[k].all, all[0].all, sizeof all[0].all);
    }
}

owner private_owner(uint64_t steps)
{
    owner o = owner_of(false, steps);
    o.opts.mode = DP_PRIVATE;
    o.opts.sigma = 3;
    o.opts.delta = 1e-5;
    o.opts.rate = 1;
    o.opts.clip = 0.5;
    return o;
}
