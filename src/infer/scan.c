/* Passes: chunks of records go to threads, each of which adds to integers of its own. */
#include "infer/scan.h"

#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "infer/opened.h"
#include "random/grid.h"
#include "svi/check.h"

/* Steps of the grid of one owner. */
static const double grid = 0x1p36;
enum { MOST_NUMBERS = 1 << 14, MOST_RECORDS = 1 << 26 };

/* Values of a node for the records of a chunk: [m][size], or [size] where all share them. */
typedef struct column {
    dpi_id node;
    size_t size;
    bool per_record;
    double *values;
} column;

typedef struct dpi_scanner {
    dpi_run *run; /* the first one's is the run, the others' are clones */
    column y, arg[DPI_MAX_ARGS];
    column *slope; /* [n_reads][k] */
    column *index; /* [n_plates] */
    double *dense, *own, *white, *gamma;
    size_t *member;
    double *room;
    int64_t *sum;
    size_t laid; /* records of the room whose slopes that all records share are there */
} scanner;

typedef struct scan_job {
    dpi_scan *s;
    const dpi_pass *pass;
    pthread_mutex_t lock;
    size_t next; /* first record that is not taken; under the lock */
} scan_job;

/* ---- making ---- */

static bool make_column(dpi_scan *s, dpi_id node, column *c)
{
    *c = (column){.node = node};
    if (node == DPI_NONE)
        return true;
    const dpi_shape *shape = &dpi_get(&s->view->objective.graph, node)->shape;
    c->size = dpi_shape_size(shape);
    c->per_record = shape->per_record;
    c->values = dpi_arena_alloc(&s->arena, (c->per_record ? DPI_SCAN_CHUNK : 1) * c->size,
                                sizeof *c->values);
    return c->values != NULL;
}

static bool make_columns(dpi_scan *s, scanner *t)
{
    const dpi_model_view *r = s->view;
    bool ok = make_column(s, r->seen->value, &t->y);
    t->slope = dpi_arena_alloc(&s->arena, r->n_reads * r->k, sizeof *t->slope);
    t->index = dpi_arena_alloc(&s->arena, r->n_plates + 1, sizeof *t->index);
    ok = ok && t->slope != NULL && t->index != NULL;
    for (int a = 0; a < r->seen->family->n_args && ok; a++)
        ok = make_column(s, r->seen->arg[a], &t->arg[a]);
    for (size_t i = 0, plate = 0; i < r->n_reads && ok; i++) {
        for (size_t j = 0; j < r->k && ok; j++)
            ok = make_column(s, r->reads[i].slope[j], &t->slope[i * r->k + j]);
        if (ok && r->reads[i].members > 0)
            ok = make_column(s, r->reads[i].index, &t->index[plate++]);
    }
    return ok;
}

static bool make_room(dpi_scan *s, scanner *t)
{
    const dpi_model_view *r = s->view;
    size_t rows = DPI_SCAN_CHUNK * r->k;
    t->dense = dpi_arena_alloc(&s->arena, rows * r->p + 1, sizeof *t->dense);
    t->own = dpi_arena_alloc(&s->arena, rows * (r->local - r->p) + 1, sizeof *t->own);
    t->white = dpi_arena_alloc(&s->arena, rows * r->local, sizeof *t->white);
    t->gamma = dpi_arena_alloc(&s->arena, rows * r->k, sizeof *t->gamma);
    t->member = dpi_arena_alloc(&s->arena, DPI_SCAN_CHUNK * r->n_plates + 1, sizeof *t->member);
    t->room = dpi_arena_alloc(&s->arena, s->most_room + 1, sizeof *t->room);
    t->sum = dpi_arena_alloc(&s->arena, s->most, sizeof *t->sum);
    return t->dense != NULL && t->own != NULL && t->white != NULL && t->gamma != NULL &&
           t->member != NULL && t->room != NULL && t->sum != NULL;
}

static dp_status make_run(dpi_scan *s, const dp_dataset *data, dp_error *err)
{
    const dpi_model_view *r = s->view;
    const dpi_objective *o = &r->objective;
    size_t n = 0, most = o->n_blocks + 1 + DPI_MAX_ARGS + r->n_reads * (r->k + 1);
    dpi_id *wanted = dpi_arena_alloc(&s->arena, most, sizeof *wanted);
    if (wanted == NULL)
        return dpi_fail_nomem(err);
    for (size_t b = 0; b < o->n_blocks; b++)
        wanted[n++] = o->blocks[b].node;
    wanted[n++] = r->seen->value;
    for (int a = 0; a < r->seen->family->n_args; a++)
        wanted[n++] = r->seen->arg[a];
    for (const dpi_read *d = r->reads; d < r->reads + r->n_reads; d++) {
        for (size_t j = 0; j < r->k; j++)
            if (d->slope[j] != DPI_NONE)
                wanted[n++] = d->slope[j];
        if (d->members > 0)
            wanted[n++] = d->index;
    }
    dpi_run_spec spec = {
        .graph = &o->graph, .wanted = wanted, .n_wanted = n, .data = data, .chunk = DPI_SCAN_CHUNK};
    dp_status status = dpi_check_observations(o, data, err);
    if (status == DP_OK)
        status = dpi_run_new(&spec, &s->scanners[0].run, err);
    if (status == DP_OK && dpi_run_draws(s->scanners[0].run))
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a column is drawn afresh for each use, and an automatic fit looks at "
                        "records many times; fit the model by dp_svi_new, or give the chances as "
                        "real numbers");
    return status;
}

static dp_status check(const dpi_scan_spec *spec, dp_error *err)
{
    if (spec->data->err.status != DP_OK)
        return dpi_fail(err, spec->data->err.status, "%s", spec->data->err.text);
    if (spec->data->unit != NULL)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "a column names the units, and an automatic fit takes single records; fit "
                        "the model by dp_svi_new");
    if (spec->data->n > MOST_RECORDS)
        return dpi_fail(err, DP_EUNSUPPORTED, "an automatic fit takes at most 2^26 records");
    if (spec->most > MOST_NUMBERS)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "%zu numbers would be released at once, and an automatic fit takes at most "
                        "%d; fit the model by dp_svi_new",
                        spec->most, MOST_NUMBERS);
    return DP_OK;
}

static dp_status make(dpi_scan *s, const dpi_scan_spec *spec, dp_error *err)
{
    dp_status status = check(spec, err);
    if (status != DP_OK)
        return status;
    s->scanners = dpi_arena_alloc(&s->arena, s->threads, sizeof *s->scanners);
    s->total = dpi_arena_alloc(&s->arena, s->most, sizeof *s->total);
    s->whole = dpi_arena_alloc(&s->arena, s->most, sizeof *s->whole);
    s->out = dpi_arena_alloc(&s->arena, s->most, sizeof *s->out);
    s->paid = spec->paid != NULL ? dpi_arena_alloc(&s->arena, s->n_paid, sizeof *s->paid) : NULL;
    if (s->scanners == NULL || s->total == NULL || s->whole == NULL || s->out == NULL ||
        (spec->paid != NULL && s->paid == NULL))
        return dpi_fail_nomem(err);
    for (size_t k = 0; s->paid != NULL && k < s->n_paid; k++)
        s->paid[k] = spec->paid[k];
    status = make_run(s, spec->data, err);
    for (size_t k = 0; k < s->threads && status == DP_OK; k++) {
        if (!make_columns(s, &s->scanners[k]) || !make_room(s, &s->scanners[k]))
            return dpi_fail_nomem(err);
        if (k > 0)
            status = dpi_run_clone(s->scanners[0].run, &s->scanners[k].run, err);
    }
    if (status == DP_OK)
        status = dpi_release_init(&s->release, s->most, 0, &s->arena, err);
    if (status == DP_OK && s->threads > 1)
        status = dpi_pool_new(s->threads, &s->pool, err);
    return status;
}

dp_status dpi_scan_init(dpi_scan *s, const dpi_scan_spec *spec, dp_error *err)
{
    *s = (dpi_scan){.view = spec->view,
                    .n_records = spec->data->n,
                    .most = spec->most,
                    .most_room = spec->most_room,
                    .threads = spec->threads > 0 ? spec->threads : 1,
                    .noise = spec->noise,
                    .n_paid = spec->n_paid,
                    .owners = spec->owners,
                    .progress = spec->progress,
                    .keeper = spec->keeper};
    dp_status status = make(s, spec, err);
    if (status != DP_OK)
        dpi_scan_free(s);
    return status;
}

static void wipe_column(const column *c)
{
    if (c->values != NULL)
        sodium_memzero(c->values,
                       (c->per_record ? DPI_SCAN_CHUNK : 1) * c->size * sizeof *c->values);
}

/* Values of records, as the run gave them.  What is missing was never made. */
static void wipe_columns(const dpi_scan *s, const scanner *t)
{
    const dpi_model_view *r = s->view;
    wipe_column(&t->y);
    for (int a = 0; a < DPI_MAX_ARGS; a++)
        wipe_column(&t->arg[a]);
    for (size_t i = 0; t->slope != NULL && i < r->n_reads * r->k; i++)
        wipe_column(&t->slope[i]);
    for (size_t i = 0; t->index != NULL && i < r->n_plates; i++)
        wipe_column(&t->index[i]);
}

static void wipe_room(void *room, size_t n, size_t size)
{
    if (room != NULL)
        sodium_memzero(room, n * size);
}

/* What a pass has made of records. */
static void wipe(const dpi_scan *s, const scanner *t)
{
    const dpi_model_view *r = s->view;
    size_t rows = DPI_SCAN_CHUNK * r->k;
    wipe_room(t->dense, rows * r->p, sizeof *t->dense);
    wipe_room(t->own, rows * (r->local - r->p), sizeof *t->own);
    wipe_room(t->white, rows * r->local, sizeof *t->white);
    wipe_room(t->gamma, rows * r->k, sizeof *t->gamma);
    wipe_room(t->member, DPI_SCAN_CHUNK * r->n_plates, sizeof *t->member);
    wipe_room(t->room, s->most_room, sizeof *t->room);
    wipe_room(t->sum, s->most, sizeof *t->sum);
}

void dpi_scan_free(dpi_scan *s)
{
    dpi_pool_free(s->pool);
    for (size_t k = 0; s->scanners != NULL && k < s->threads; k++) {
        wipe(s, &s->scanners[k]);
        wipe_columns(s, &s->scanners[k]);
        if (k > 0)
            dpi_run_free(s->scanners[k].run);
    }
    if (s->scanners != NULL)
        dpi_run_free(s->scanners[0].run);
    dpi_arena_free(&s->arena);
    *s = (dpi_scan){.n_records = 0};
}

/* ---- running ---- */

static void read_column(const scanner *t, const column *c, size_t m)
{
    if (c->node != DPI_NONE && (c->per_record || m == 0))
        dpi_run_read(t->run, c->node, 0, (c->per_record ? m : 1) * c->size, c->values);
}

/* The numbers of record i. */
static const double *of_record(const column *c, size_t i)
{
    return c->per_record ? c->values + i * c->size : c->values;
}

/* Reads what the chunk of m records has; m = 0: what all records share. */
static void read_columns(const dpi_scan *s, scanner *t, size_t m)
{
    const dpi_model_view *r = s->view;
    read_column(t, &t->y, m);
    for (int a = 0; a < r->seen->family->n_args; a++)
        read_column(t, &t->arg[a], m);
    for (size_t i = 0; i < r->n_reads * r->k; i++)
        read_column(t, &t->slope[i], m);
    for (size_t i = 0; i < r->n_plates; i++)
        read_column(t, &t->index[i], m);
}

/* Few numbers, for which a call of memcpy is much. */
static void copy(size_t n, const double *from, double *restrict to)
{
    for (size_t e = 0; e < n; e++)
        to[e] = from[e];
}

/* Whether number j has slopes that are a record's own. */
static bool has_own_slopes(const dpi_scan *s, const scanner *t, size_t j)
{
    for (size_t e = 0; e < s->view->n_reads; e++) {
        const column *c = &t->slope[e * s->view->k + j];
        if (c->node != DPI_NONE && c->per_record)
            return true;
    }
    return false;
}

/* The slopes of record i's number j, and the members that it belongs to. */
static void lay_slopes(const dpi_scan *s, scanner *t, size_t i, size_t j)
{
    const dpi_model_view *r = s->view;
    double *dense = t->dense + (i * r->k + j) * r->p;
    double *own = t->own + (i * r->k + j) * (r->local - r->p);
    for (size_t e = 0; e < r->n_reads; e++) {
        const dpi_read *d = &r->reads[e];
        const column *c = &t->slope[e * r->k + j];
        double *to = dense + d->at;
        if (c->node == DPI_NONE) {
            for (size_t l = 0; l < d->size; l++)
                to[l] = 0;
        } else if (c->size > 1) {
            copy(d->size, of_record(c, i), to);
        } else {
            const double all = of_record(c, i)[0];
            for (size_t l = 0; l < d->size; l++)
                to[l] = all;
        }
        if (d->members > 0)
            copy(d->size, to, own + d->local - r->p);
    }
}

static void lay_members(const dpi_scan *s, scanner *t, size_t i)
{
    const dpi_model_view *r = s->view;
    for (size_t p = 0; p < r->n_plates; p++) {
        const dpi_read *plate = &r->reads[r->n_reads - r->n_plates + p];
        double number = of_record(&t->index[p], i)[0];
        bool inside = number >= 0 && number < (double)plate->members;
        t->member[i * r->n_plates + p] = inside ? (size_t)number : 0;
    }
}

/* The record's place in the thread's room; y and what its arguments are, if they are its own. */
static void turn_to(const dpi_scan *s, const scanner *t, size_t i, dpi_record *record)
{
    const dpi_model_view *r = s->view;
    record->y = of_record(&t->y, i)[0];
    record->dense = t->dense + i * r->k * r->p;
    record->own = t->own + i * r->k * (r->local - r->p);
    record->member = t->member + i * r->n_plates;
    record->white = t->white + i * r->k * r->local;
    record->gamma = t->gamma + i * r->k * r->k;
    for (int a = 0; a < r->seen->family->n_args; a++)
        record->arg[a] = of_record(&t->arg[a], i);
}

/* Adds a chunk of m records. */
static void add_chunk(const dpi_scan *s, scanner *t, const dpi_pass *pass, size_t m)
{
    const dpi_model_view *r = s->view;
    dpi_record record = {.arg_size = 1};
    for (int a = 0; a < r->seen->family->n_args; a++)
        record.arg_size = t->arg[a].size > record.arg_size ? t->arg[a].size : record.arg_size;
    for (size_t j = 0; j < r->k; j++)
        for (size_t i = has_own_slopes(s, t, j) ? 0 : t->laid; i < m; i++)
            lay_slopes(s, t, i, j);
    t->laid = m > t->laid ? m : t->laid;
    for (size_t i = 0; i < m && r->n_plates > 0; i++)
        lay_members(s, t, i);
    if (pass->metric != NULL)
        dpi_metric_apply(pass->metric, m, t->dense, t->own, t->white, t->gamma);
    for (size_t i = 0; i < m; i++) {
        turn_to(s, t, i, &record);
        pass->add(pass->of, &record, t->room, t->sum);
    }
}

static size_t take(scan_job *job)
{
    if (job->s->pool != NULL)
        (void)pthread_mutex_lock(&job->lock);
    size_t mine = job->next;
    job->next += DPI_SCAN_CHUNK;
    if (job->s->pool != NULL)
        (void)pthread_mutex_unlock(&job->lock);
    return mine;
}

static void work(void *user, size_t k)
{
    scan_job *job = user;
    dpi_scan *s = job->s;
    scanner *t = &s->scanners[k];
    read_columns(s, t, 0);
    t->laid = 0;
    for (size_t first = take(job); first < s->n_records; first = take(job)) {
        size_t left = s->n_records - first, m = left < DPI_SCAN_CHUNK ? left : DPI_SCAN_CHUNK;
        dpi_run_records(t->run, m, NULL, first);
        read_columns(s, t, m);
        add_chunk(s, t, job->pass, m);
    }
}

double dpi_scan_share(const dpi_pass *pass)
{
    double n = (double)pass->n, rounding = sqrt(n) * 0x1p-37 + 0x1p-17;
    if (pass->shares > 0)
        return 1 - sqrt(n) / 2 / dpi_scan_steps(pass) - 0x1p-16;
    return pass->sigma > 0 ? 1 - rounding - dpi_release_share(pass->sigma, pass->n) : 1;
}

/* Less than this is nothing to be clipped to.  Noise that the accountant finds for a budget leaves
 * more. */
static const double least_share = 0.5;

static dp_status check_noise(const dpi_pass *pass, dp_error *err)
{
    if (dpi_scan_share(pass) < least_share)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "noise of %g times what a record adds, on %zu numbers, needs a finer grid "
                        "than there is; raise epsilon",
                        pass->sigma, pass->n);
    return DP_OK;
}

double dpi_scan_steps(const dpi_pass *pass)
{
    double steps = DPI_GRID_SCALE * sqrt((double)pass->shares) / pass->sigma;
    return pass->shares == 0 || pass->sigma == 0 ? grid : fmin(steps, 0x1p50);
}

int64_t dpi_scan_grid(double steps, double x)
{
    return fabs(x) <= 1 ? llrint(x * steps) : 0;
}

/* What is added to a number of at most 2^51 steps so that its last bit is one of them. */
static const double onto_grid = 0x1.8p52;

/* Rounding is the addition's own, as llrint's. */
DPI_LOOPS static void add_numbers(double steps, size_t n, double factor, const double *x,
                                  int64_t *restrict sum)
{
    int64_t none;
    memcpy(&none, &onto_grid, sizeof none);
    for (size_t e = 0; e < n; e++) {
        double number = factor * x[e], on = (fabs(number) <= 1 ? number : 0) * steps + onto_grid;
        int64_t bits;
        memcpy(&bits, &on, sizeof bits);
        sum[e] += bits - none;
    }
}

void dpi_scan_add_grid(double steps, size_t n, double factor, const double *x, int64_t *sum)
{
    add_numbers(steps, n, factor, x, sum);
}

/* Adds up the threads' integers, exactly, and wipes them. */
static void add_up(dpi_scan *s, size_t n)
{
    for (size_t e = 0; e < n; e++) {
        int64_t sum = 0;
        for (size_t k = 0; k < s->threads; k++)
            sum += s->scanners[k].sum[e];
        s->whole[e] = sum;
    }
    for (size_t k = 0; k < s->threads; k++)
        wipe(s, &s->scanners[k]);
}

static dp_status release(dpi_scan *s, const dpi_pass *pass, double *out, dp_error *err)
{
    dpi_release *r = &s->release;
    for (size_t e = 0; e < pass->n; e++)
        s->total[e] = (double)s->whole[e] / grid;
    sodium_memzero(s->whole, pass->n * sizeof *s->whole);
    if (pass->sigma == 0) {
        memcpy(out, s->total, pass->n * sizeof *out);
        return DP_OK;
    }
    r->n = pass->n;
    r->noisy = true;
    r->sd = pass->sigma;
    r->rate = 1;
    r->sum = s->total;
    r->out = s->out;
    dp_status status = dpi_release_begin(r, s->noise, err);
    if (status != DP_OK) {
        sodium_memzero(s->total, pass->n * sizeof *s->total);
        return status;
    }
    for (size_t b = 0; b < dpi_release_blocks(r->n); b++)
        dpi_release_block(r, b, NULL, NULL);
    dpi_release_end(r);
    memcpy(out, s->out, pass->n * sizeof *out);
    return DP_OK;
}

void dpi_scan_place(dpi_scan *s, const double *theta)
{
    const dpi_objective *o = &s->view->objective;
    for (size_t b = 0; b < o->n_blocks; b++)
        if (dpi_run_numbers(s->scanners[0].run, o->blocks[b].node) > 0)
            dpi_run_write(s->scanners[0].run, o->blocks[b].node, 0, o->blocks[b].size,
                          theta + o->blocks[b].offset);
    dpi_run_globals(s->scanners[0].run);
    read_columns(s, &s->scanners[0], 0);
}

const double *dpi_scan_shared_arg(const dpi_scan *s, int a)
{
    const column *c = &s->scanners[0].arg[a];
    return c->per_record ? NULL : c->values;
}

const double *dpi_scan_shared_slope(const dpi_scan *s, const dpi_read *read, size_t j)
{
    const column *c = &s->scanners[0].slope[(size_t)(read - s->view->reads) * s->view->k + j];
    return c->node == DPI_NONE || c->per_record || c->size != read->size ? NULL : c->values;
}

/* Takes a release off what is accounted for; which one it was. */
static size_t pay(dpi_scan *s, const dpi_pass *pass)
{
    if (pass->sigma == 0 || s->paid == NULL)
        return 0;
    for (size_t k = 0; k < s->n_paid; k++)
        if (s->paid[k].sigma == pass->sigma && s->paid[k].steps > 0) {
            s->paid[k].steps--;
            return k;
        }
    dpi_misuse("dpi_scan_run", "a release that is not accounted for");
}

/* The sum over all records, to s->total. */
static void run_records(dpi_scan *s, const dpi_pass *pass)
{
    scan_job job = {.s = s, .pass = pass};
    if (s->pool != NULL) {
        (void)pthread_mutex_init(&job.lock, NULL); /* with default attributes this cannot fail */
        dpi_pool_run(s->pool, work, &job);
        (void)pthread_mutex_destroy(&job.lock);
    } else {
        work(&job, 0);
    }
    add_up(s, pass->n);
}

static dpi_journal_release kept_as(const dpi_pass *pass, size_t phase)
{
    dpi_journal_release what = {.phase = phase, .n = pass->n, .sigma = pass->sigma};
    memcpy(what.question, pass->question, sizeof what.question);
    return what;
}

dp_status dpi_scan_run(dpi_scan *s, const double *theta, const dpi_pass *pass, double *out,
                       dp_error *err)
{
    if (pass->n > s->most || pass->room > s->most_room || (s->noise == NULL) != (pass->sigma == 0))
        dpi_misuse(__func__, "a pass that there is no room for, or with the wrong noise");
    dp_status status = check_noise(pass, err);
    if (status != DP_OK)
        return status;
    size_t which = pay(s, pass);
    const dpi_journal_release what = kept_as(pass, which);
    dpi_scan_place(s, theta);
    bool made = dpi_keeper_is_ahead(s->keeper);
    if (!made)
        run_records(s, pass);
    else
        memset(s->whole, 0, pass->n * sizeof *s->whole);
    /* A seeded source goes on behind the noise of what was made before. */
    if (!made || s->keeper->seeded)
        status =
            s->owners != NULL ? dpi_opened_release(s, pass, out, err) : release(s, pass, out, err);
    if (status != DP_OK)
        return status;
    status = made ? dpi_journal_read(s->keeper->journal, &what, out, err)
                  : dpi_keeper_keep(s->keeper, &what, out, err);
    if (status != DP_OK)
        sodium_memzero(out, pass->n * sizeof *out);
    return status == DP_OK ? dpi_progress_release(s->progress, which, err) : status;
}
