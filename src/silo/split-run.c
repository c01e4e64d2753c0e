/* The steps of a part, one after the other, round after round.  Numbers of records go as doubles,
 * their low byte first; what has come is looked at before it is used. */
#include "silo/split-run.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include <tacit/random.h>

#include "base/alloc.h"
#include "base/bytes.h"
#include "base/error.h"

typedef struct split_run {
    const dpi_split_run_opts *o;
    size_t n, width, batch;   /* own parameters; numbers at the cut; most rows of a step */
    double *theta, *velocity; /* [n] */
    double *gradient;         /* [n] of the log likelihood, summed over the batch */
    double *told, *came;      /* [batch][width] of single records, of this owner and of the other */
    unsigned char *bytes;     /* [batch][width][8] */
    size_t *order, *index;    /* [rows] of a pass; [batch] of a step, as the half has them */
    uint64_t at;              /* step, from 1 */
    size_t m;                 /* rows of it */
} split_run;

/* ---- which rows ---- */

/* In the order of the common rows; or drawn. */
static dp_status draw_order(split_run *r, uint64_t pass, dp_error *err)
{
    dp_rng *rng;
    dp_status status = dp_rng_new(r->o->terms->seed + pass, &rng, err);
    if (status != DP_OK)
        return status;
    for (size_t i = 0; i < r->o->rows; i++)
        r->order[i] = i;
    for (size_t i = r->o->rows; i > 1; i--) {
        uint64_t k = 0;
        status = status == DP_OK ? dp_rng_below(rng, i, 1, &k, err) : status;
        const size_t last = r->order[i - 1];
        r->order[i - 1] = r->order[k];
        r->order[k] = last;
    }
    dp_rng_free(rng);
    return status;
}

static dp_status choose_rows(split_run *r, dp_error *err)
{
    const size_t rows = r->o->rows, passes = (rows + r->batch - 1) / r->batch;
    const size_t first = (size_t)((r->at - 1) % passes) * r->batch;
    dp_status status = DP_OK;
    if (first == 0 && r->batch < rows)
        status = draw_order(r, (r->at - 1) / passes, err);
    r->m = first + r->batch <= rows ? r->batch : rows - first;
    for (size_t i = 0; i < r->m; i++)
        r->index[i] = r->o->index[r->order[first + i]];
    return status;
}

/* ---- letters ---- */

static dp_status too_long(const split_run *r, const char *what, dp_error *err)
{
    return dpi_fail(err, DP_EACCURACY,
                    "%s left all numbers in step %llu: steps of %g are too long for these columns; "
                    "plan for shorter ones",
                    what, (unsigned long long)r->at, r->o->terms->step);
}

static dp_status send(split_run *r, const dpi_silo_step *s, const char *name, dp_error *err)
{
    dpi_bytes body = {NULL, 0, 0, false};
    bool finite = true;
    for (size_t j = 0; j < r->m * r->width; j++) {
        finite = finite && isfinite(r->told[j]);
        dpi_bytes_real(&body, r->told[j]);
    }
    if (!finite) {
        dpi_bytes_free(&body);
        return too_long(r, "what records come to", err);
    }
    dp_status status =
        body.failed ? dpi_fail_nomem(err)
                    : dpi_post_send(r->o->post, s->peer, r->at, 0, name, body.n, body.at, err);
    if (body.at != NULL)
        sodium_memzero(body.at, body.n);
    dpi_bytes_free(&body);
    return status;
}

static dp_status receive(split_run *r, const dpi_silo_step *s, const char *name, dp_error *err)
{
    const size_t n = r->m * r->width;
    dp_status status =
        dpi_post_receive(r->o->post, s->peer, r->at, 0, name, 0, n * sizeof(double), r->bytes, err);
    dpi_reader from = {.at = r->bytes, .left = n * sizeof(double)};
    for (size_t j = 0; j < n && status == DP_OK; j++) {
        r->came[j] = dpi_read_real(&from);
        if (!isfinite(r->came[j]))
            status =
                dpi_fail(err, DP_EPEER, "what the other owner has sent in step %llu is no number",
                         (unsigned long long)r->at);
    }
    return status;
}

/* ---- steps ---- */

static dp_status advance(split_run *r, dp_error *err)
{
    const dpi_split_terms *t = r->o->terms;
    bool finite = true;
    for (size_t j = 0; j < r->n; j++) {
        r->velocity[j] =
            t->momentum * r->velocity[j] - r->gradient[j] / (double)r->m + t->ridge * r->theta[j];
        r->theta[j] -= t->step * r->velocity[j];
        finite = finite && isfinite(r->theta[j]);
    }
    if (!finite)
        return too_long(r, "parameters", err);
    dp_split_set(r->o->half, r->theta);
    return DP_OK;
}

static dp_status do_step(split_run *r, const dpi_silo_step *s, dp_error *err)
{
    const char *name = r->o->part->registers[s->out].name;
    switch (s->kind) {
    case DPI_SILO_EMBED:
        dp_split_embed(r->o->half, r->m, r->index, r->told);
        return DP_OK;
    case DPI_SILO_ADJOINT:
        dp_split_adjoint(r->o->half, r->m, r->index, r->came, r->told, r->gradient);
        return DP_OK;
    case DPI_SILO_SLOPE: /* found with the adjoint, of the same letter */
        return DP_OK;
    case DPI_SILO_PULLBACK:
        dp_split_pull_back(r->o->half, r->m, r->index, r->came, r->gradient);
        return DP_OK;
    case DPI_SILO_ADVANCE:
        return advance(r, err);
    case DPI_SILO_SEND:
        return send(r, s, name, err);
    case DPI_SILO_RECV:
        return receive(r, s, name, err);
    default:
        return dpi_fail(err, DP_EUNSUPPORTED, "split learning has no step %s",
                        dpi_silo_step_name(s->kind));
    }
}

static dp_status do_round(split_run *r, dp_error *err)
{
    const dpi_silo_part *part = r->o->part;
    dp_status status = choose_rows(r, err);
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++)
        status = do_step(r, &part->steps[j], err);
    return status;
}

/* ---- the whole ---- */

static dp_status make_room(split_run *r, dp_error *err)
{
    r->velocity = dpi_alloc(r->n + 1, sizeof *r->velocity);
    r->gradient = dpi_alloc(r->n + 1, sizeof *r->gradient);
    r->told = dpi_alloc(r->batch, r->width * sizeof *r->told);
    r->came = dpi_alloc(r->batch, r->width * sizeof *r->came);
    r->bytes = dpi_alloc(r->batch, r->width * sizeof(double));
    r->order = dpi_alloc(r->o->rows, sizeof *r->order);
    r->index = dpi_alloc(r->batch, sizeof *r->index);
    if (r->velocity == NULL || r->gradient == NULL || r->told == NULL || r->came == NULL ||
        r->bytes == NULL || r->order == NULL || r->index == NULL)
        return dpi_fail_nomem(err);
    memset(r->velocity, 0, r->n * sizeof *r->velocity);
    for (size_t i = 0; i < r->o->rows; i++)
        r->order[i] = i;
    return DP_OK;
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

static void end(split_run *r)
{
    const size_t row = r->width * sizeof(double);
    wipe(r->velocity, r->n * sizeof *r->velocity);
    wipe(r->gradient, r->n * sizeof *r->gradient);
    wipe(r->told, r->batch * row);
    wipe(r->came, r->batch * row);
    wipe(r->bytes, r->batch * row);
    dpi_free(r->order);
    dpi_free(r->index);
}

dp_status dpi_split_run(const dpi_split_run_opts *opts, double *theta, dp_error *err)
{
    const size_t batch = opts->terms->batch;
    split_run r = {.o = opts,
                   .n = dp_split_numbers(opts->half, opts->part->party),
                   .width = dp_split_width(opts->half),
                   .batch = batch == 0 || batch > opts->rows ? opts->rows : batch,
                   .theta = theta};
    dp_status status = make_room(&r, err);
    if (status == DP_OK)
        dp_split_set(opts->half, theta);
    for (r.at = 1; r.at <= opts->terms->steps && status == DP_OK; r.at++)
        status = do_round(&r, err);
    end(&r);
    if (status != DP_OK)
        memset(theta, 0, r.n * sizeof *theta);
    return status;
}
