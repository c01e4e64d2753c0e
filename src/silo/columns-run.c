/* The steps of a part, one after the other, round after round: what was signed is what runs.
 *
 * Registers are arrays whose kind follows from the step that makes them:
 *
 *   x, w           double [n][d], [d]       b              int64 [n][d]
 *   addends        int32 [n]                parts, opened  int64 [d]
 *   encrypted      bytes, of this owner; of the other, what has come in a letter
 *
 * What is done once is there in the first round, and stays.
 *
 * Random numbers are of streams that belong to one purpose in one step, to the numbers that they
 * hide, and to all letters before (dpi_columns_state_key): whoever does a step again does the same,
 * and what differs in anything is hidden by other numbers.  A share of noise in one's own block is
 * drawn when the other's answer has come: where that were another, so is the share, and nobody sees
 * two sums with one share, the difference of which has none. */
#include "silo/columns.h"

#include <math.h>
#include <sodium.h>
#include <string.h>

#include <tacit/random.h>

#include "base/alloc.h"
#include "base/error.h"
#include "silo/columns-sum.h"

typedef struct column_value {
    void *own;            /* owned by the run, but of inputs */
    unsigned char *came;  /* of the other, owned */
    size_t n_own, n_came; /* bytes */
    bool borrowed;
} column_value;

typedef struct columns_run {
    const dpi_columns_run_opts *o;
    const dpi_columns_terms *t;
    dpi_columns_grid grid;
    size_t self, other, d; /* d: columns of one's own */
    dpi_columns_sum *mine, *theirs;
    column_value *values; /* [n_registers] */
    int64_t *share;       /* [greatest number of columns] */
    int32_t *limb;        /* [2 rows] */
    uint64_t at;          /* step, from 1 */
} columns_run;

/* What a step reads, and where its result goes. */
typedef struct column_step {
    const column_value *in[DPI_SILO_ARGS];
    void *out;
} column_step;

typedef dp_status columns_kernel(columns_run *r, const column_step *s, dp_error *err);

/* ---- random numbers ---- */

/* What a stream belongs to. */
typedef struct column_use {
    const char *purpose;
    size_t n;
    const void *bytes; /* [n] what is hidden by it */
} column_use;

static void start_random(const columns_run *r, const column_use *of, dpi_rlwe_stream *random)
{
    unsigned char seed[DPI_RLWE_SEED];
    dpi_columns_state_key(r->o->state, of->purpose, r->at, of->n, of->bytes, seed);
    dpi_rlwe_start(random, seed, "tacit columns");
    sodium_memzero(seed, sizeof seed);
}

/* share[n]: this owner's, rounded to what is kept of it: to floor(2^-dropped K + 1/2). */
static dp_status draw_share(columns_run *r, const column_use *of, size_t n, dp_error *err)
{
    const int dropped = r->grid.dropped;
    unsigned char key[DP_NOISE_KEY];
    dpi_columns_state_key(r->o->state, of->purpose, r->at, of->n, of->bytes, key);
    dp_status status = dp_noise_shares_from(key, n, r->share, err);
    sodium_memzero(key, sizeof key);
    for (size_t j = 0; j < n && status == DP_OK && dropped > 0; j++) {
        const int64_t unit = (int64_t)1 << dropped, up = r->share[j] + unit / 2;
        r->share[j] = (up - (int64_t)((uint64_t)up & (uint64_t)(unit - 1))) / unit;
    }
    return status;
}

/* ---- kernels ---- */

static dp_status bound(columns_run *r, const column_step *s, dp_error *err)
{
    const double *x = s->in[0]->own;
    int64_t *b = s->out;
    (void)err;
    for (size_t i = 0; i < r->o->rows; i++)
        dpi_columns_bound(r->d, x + i * r->d, r->grid.x_scale, r->t->row_most[r->self],
                          r->grid.x_most[r->self], b + i * r->d);
    return DP_OK;
}

/* Of a linear regression x w - y; of a logistic one x w / 4 - y / 2. */
static dp_status addend(columns_run *r, const column_step *s, dp_error *err)
{
    const double *w = s->in[0]->own, *y = r->self == r->t->outcome ? r->o->y : NULL;
    const int64_t *b = s->in[1]->own;
    const double of_score = r->t->logistic ? .25 : 1, of_outcome = r->t->logistic ? .5 : 1;
    int32_t *to = s->out;
    (void)err;
    for (size_t i = 0; i < r->o->rows; i++) {
        double score = 0;
        for (size_t j = 0; j < r->d; j++)
            score += (double)b[i * r->d + j] * w[j];
        const double a = of_score * score / r->grid.x_scale - (y != NULL ? of_outcome * y[i] : 0);
        to[i] = dpi_columns_addend(a, r->grid.s_scale, r->grid.s_most[r->self]);
    }
    return DP_OK;
}

static dp_status inner(columns_run *r, const column_step *s, dp_error *err)
{
    const int64_t *b = s->in[0]->own;
    const int32_t *a = s->in[1]->own;
    int64_t *to = s->out;
    (void)err;
    memset(to, 0, r->d * sizeof *to);
    for (size_t i = 0; i < r->o->rows; i++)
        for (size_t j = 0; j < r->d; j++)
            to[j] += b[i * r->d + j] * a[i];
    return DP_OK;
}

static dp_status add_share(columns_run *r, const column_step *s, dp_error *err)
{
    const int64_t *sum = s->in[0]->own;
    int64_t *to = s->out;
    const column_use own = {"share of one's own block", r->d * sizeof *sum, sum};
    dp_status status = draw_share(r, &own, r->d, err);
    for (size_t j = 0; j < r->d && status == DP_OK; j++)
        to[j] = sum[j] + r->share[j];
    sodium_memzero(r->share, r->d * sizeof *r->share);
    return status;
}

static dp_status encrypt(columns_run *r, const column_step *s, dp_error *err)
{
    const column_use own = {"columns", s->in[0]->n_own, s->in[0]->own};
    dpi_rlwe_stream random;
    start_random(r, &own, &random);
    dp_status status = dpi_columns_sum_offer(r->mine, s->in[0]->own, &random, s->out, err);
    dpi_rlwe_end(&random);
    return status;
}

static dp_status take(columns_run *r, const column_value *columns, dp_error *err)
{
    return r->theirs->columns == NULL
               ? dpi_columns_sum_take(r->theirs, columns->n_came, columns->came, err)
               : DP_OK;
}

/* A digit of an addend, between -half and half; *rest is what is left of it, shifted. */
static int32_t cut_digit(int32_t *rest, bool last)
{
    const int32_t base = 1 << DPI_COLUMNS_LIMB, half = base / 2;
    int32_t digit = last ? *rest : ((*rest % base) + base + half) % base - half;
    *rest = (*rest - digit) / base;
    return digit;
}

/* One answer a digit, the least first. */
static dp_status answer(columns_run *r, const column_step *s, dp_error *err)
{
    const size_t n = r->o->rows, bytes = r->theirs->plan.answer_bytes;
    const int32_t *a = s->in[1]->own;
    int32_t *digit = r->limb, *rest = r->limb + n;
    const column_use whole = {"answer", n * sizeof *a, a};
    dpi_rlwe_stream random;
    dp_status status = take(r, s->in[0], err);
    start_random(r, &whole, &random);
    memset(r->share, 0, r->t->columns[r->other] * sizeof *r->share);
    memcpy(rest, a, n * sizeof *rest);
    for (int k = 0; k < DPI_COLUMNS_LIMBS && status == DP_OK; k++) {
        for (size_t i = 0; i < n; i++)
            digit[i] = cut_digit(&rest[i], k == DPI_COLUMNS_LIMBS - 1);
        status = dpi_columns_sum_answer(r->theirs, digit, r->share, &random,
                                        (unsigned char *)s->out + (size_t)k * bytes, err);
    }
    dpi_rlwe_end(&random);
    return status;
}

static dp_status veil(columns_run *r, const column_step *s, dp_error *err)
{
    const size_t n = r->t->columns[r->other];
    const column_use noise = {"share of the other's block", s->in[1]->n_own, s->in[1]->own};
    const column_use whole = {"answer", s->in[1]->n_own, s->in[1]->own};
    dpi_rlwe_stream random;
    dp_status status = take(r, s->in[0], err);
    if (status == DP_OK)
        status = draw_share(r, &noise, n, err);
    start_random(r, &whole, &random);
    if (status == DP_OK)
        status = dpi_columns_sum_answer(r->theirs, s->in[1]->own, r->share, &random, s->out, err);
    dpi_rlwe_end(&random);
    sodium_memzero(r->share, n * sizeof *r->share);
    return status;
}

/* Answers the other gives in a step. */
static size_t limbs(const columns_run *r)
{
    return r->t->z > 0 ? 1 : DPI_COLUMNS_LIMBS;
}

static dp_status unveil(columns_run *r, const column_step *s, dp_error *err)
{
    const int64_t *own = s->in[0]->own;
    const size_t bytes = r->mine->plan.answer_bytes;
    int64_t *to = s->out;
    dp_status status = DP_OK;
    memcpy(to, own, r->d * sizeof *to);
    for (size_t k = 0; k < limbs(r) && status == DP_OK; k++) {
        status = dpi_columns_sum_open(r->mine, bytes, s->in[1]->came + k * bytes, r->share, err);
        for (size_t j = 0; j < r->d; j++)
            to[j] += r->share[j] * ((int64_t)1 << (k * DPI_COLUMNS_LIMB));
    }
    sodium_memzero(r->share, r->d * sizeof *r->share);
    if (status == DP_OK && r->o->opened != NULL)
        r->o->opened(r->o->of, r->at, &r->grid, r->d, to);
    return status;
}

static dp_status advance(columns_run *r, const column_step *s, dp_error *err)
{
    const double *w = s->in[0]->own, unit = r->grid.x_scale * r->grid.s_scale * (double)r->o->rows;
    const int64_t *h = s->in[1]->own;
    double *to = s->out;
    (void)err;
    for (size_t j = 0; j < r->d; j++)
        to[j] = w[j] - r->t->step * ((double)h[j] / unit + r->t->ridge * w[j]);
    return DP_OK;
}

static columns_kernel *const kernels[DPI_SILO_N_STEPS] = {
    [DPI_SILO_BOUND] = bound,      [DPI_SILO_ADDEND] = addend,   [DPI_SILO_INNER] = inner,
    [DPI_SILO_DGAUSS] = add_share, [DPI_SILO_ENCRYPT] = encrypt, [DPI_SILO_ANSWER] = answer,
    [DPI_SILO_VEIL] = veil,        [DPI_SILO_UNVEIL] = unveil,   [DPI_SILO_ADVANCE] = advance};

/* ---- registers ---- */

/* Bytes of what a step makes. */
static size_t made_by(const columns_run *r, dpi_silo_step_kind kind)
{
    switch (kind) {
    case DPI_SILO_BOUND:
        return r->o->rows * r->d * sizeof(int64_t);
    case DPI_SILO_ADDEND:
        return r->o->rows * sizeof(int32_t);
    case DPI_SILO_ENCRYPT:
        return r->mine->offer_bytes;
    case DPI_SILO_ANSWER:
    case DPI_SILO_VEIL:
        return limbs(r) * r->theirs->plan.answer_bytes;
    case DPI_SILO_ADVANCE:
        return r->d * sizeof(double);
    default:
        return r->d * sizeof(int64_t);
    }
}

static dp_status make_room(columns_run *r, const dpi_silo_step *s, dp_error *err)
{
    column_value *v = &r->values[s->out];
    if (s->kind == DPI_SILO_SEND)
        return DP_OK;
    if (s->kind == DPI_SILO_RECV) {
        v->n_came = s->once ? r->theirs->offer_bytes : limbs(r) * r->mine->plan.answer_bytes;
        v->came = dpi_alloc(v->n_came, 1);
        return v->came != NULL ? DP_OK : dpi_fail_nomem(err);
    }
    if (kernels[s->kind] == NULL)
        return dpi_fail(err, DP_EUNSUPPORTED, "a part of columns has no step %s",
                        dpi_silo_step_name(s->kind));
    v->n_own = made_by(r, s->kind);
    v->own = dpi_alloc(v->n_own, 1);
    return v->own != NULL ? DP_OK : dpi_fail_nomem(err);
}

static dp_status make_registers(columns_run *r, double *w, dp_error *err)
{
    const dpi_silo_part *part = r->o->part;
    size_t most = r->t->columns[0] > r->t->columns[1] ? r->t->columns[0] : r->t->columns[1];
    dp_status status = DP_OK;
    r->share = dpi_alloc(most, sizeof *r->share);
    r->limb = dpi_alloc(r->o->rows, 2 * sizeof *r->limb);
    r->values = dpi_alloc(part->n_registers, sizeof *r->values);
    if (r->share == NULL || r->limb == NULL || r->values == NULL)
        return dpi_fail_nomem(err);
    memset(r->values, 0, part->n_registers * sizeof *r->values);
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++) {
        const dpi_silo_step *s = &part->steps[j];
        column_value *in = &r->values[s->in[0]];
        if (s->kind == DPI_SILO_BOUND) /* what is not written is not const either */
            *in = (column_value){.own = (void *)(uintptr_t)r->o->x, .borrowed = true};
        else if (s->kind == DPI_SILO_ADDEND)
            *in = (column_value){.own = w, .borrowed = true};
        status = make_room(r, s, err);
    }
    return status;
}

static void wipe(void *bytes, size_t n)
{
    if (bytes != NULL)
        sodium_memzero(bytes, n);
    dpi_free(bytes);
}

static void end(columns_run *r)
{
    for (size_t k = 0; r->values != NULL && k < r->o->part->n_registers; k++) {
        if (!r->values[k].borrowed)
            wipe(r->values[k].own, r->values[k].n_own);
        dpi_free(r->values[k].came);
    }
    dpi_free(r->values);
    dpi_free(r->share);
    wipe(r->limb, r->o->rows * 2 * sizeof *r->limb);
    dpi_columns_sum_free(r->mine);
    dpi_columns_sum_free(r->theirs);
}

/* ---- rounds ---- */

static dp_status do_step(columns_run *r, const dpi_silo_step *s, dp_error *err)
{
    column_value *v = &r->values[s->out];
    const char *name = r->o->part->registers[s->out].name;
    if (s->kind == DPI_SILO_SEND)
        return dpi_post_send(r->o->post, s->peer, r->at, 0, name, v->n_own, v->own, err);
    if (s->kind == DPI_SILO_RECV)
        return dpi_post_receive(r->o->post, s->peer, r->at, 0, name, 0, v->n_came, v->came, err);
    column_step step = {.out = v->own};
    for (int a = 0; a < dpi_silo_step_args(s->kind); a++)
        step.in[a] = &r->values[s->in[a]];
    dp_status status = kernels[s->kind](r, &step, err);
    if (status == DP_OK && s->kind == DPI_SILO_ADVANCE)
        memcpy(step.in[0]->own, v->own, v->n_own); /* then w is w' */
    return status;
}

static dp_status do_round(columns_run *r, dp_error *err)
{
    const dpi_silo_part *part = r->o->part;
    dp_status status = DP_OK;
    for (size_t j = 0; j < part->n_steps && status == DP_OK; j++)
        if (!part->steps[j].once || r->at == 1)
            status = do_step(r, &part->steps[j], err);
    return status;
}

static dp_status make_sums(columns_run *r, dp_error *err)
{
    const double bits = dpi_columns_bits(r->t->steps * limbs(r));
    const int64_t digit = (int64_t)2 << DPI_COLUMNS_LIMB;
    const bool noisy = r->t->z > 0;
    dp_status status = dpi_columns_sum_new(
        r->o->rows, r->d, noisy ? r->grid.s_most[r->other] : digit, bits, &r->mine, err);
    if (status == DP_OK)
        status =
            dpi_columns_sum_new(r->o->rows, r->t->columns[r->other],
                                noisy ? r->grid.s_most[r->self] : digit, bits, &r->theirs, err);
    return status;
}

dp_status dpi_columns_run(const dpi_columns_run_opts *opts, double *w, dp_error *err)
{
    columns_run r = {.o = opts,
                     .t = opts->terms,
                     .self = opts->part->party,
                     .other = 1 - opts->part->party,
                     .d = opts->terms->columns[opts->part->party]};
    memset(w, 0, r.d * sizeof *w);
    dp_status status = dpi_columns_grid_make(r.t, opts->rows, &r.grid, err);
    if (status == DP_OK)
        status = make_sums(&r, err);
    if (status == DP_OK)
        status = make_registers(&r, w, err);
    for (r.at = 1; r.at <= r.t->steps && status == DP_OK; r.at++)
        status = do_round(&r, err);
    for (size_t j = 0; j < r.d && status == DP_OK; j++)
        if (!isfinite(w[j]))
            status = dpi_fail(err, DP_EACCURACY,
                              "coefficients left all numbers: steps of %g are too long for these "
                              "columns; plan for shorter ones, or columns of smaller norm",
                              r.t->step);
    if (status != DP_OK)
        memset(w, 0, r.d * sizeof *w);
    end(&r);
    return status;
}
