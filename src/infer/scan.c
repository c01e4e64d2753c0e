/* Passes: chunks of records go to threads, each of which adds to integers of its own. */
#include "infer/scan.h"

#include <math.h>
#include <pthread.h>
#include <sodium.h>
#include <string.h>

#include "base/compiler.h"
#include "base/hosts.h"
#include "infer/opened.h"
#include "infer/scanner.h"
#include "random/grid.h"

/* Steps of the grid of one owner. */
static const double grid = 0x1p36;

typedef struct scan_job {
    dpi_scan *s;
    const dpi_pass *pass;
    pthread_mutex_t lock;
    size_t next; /* first record that is not taken; under the lock */
} scan_job;

static void read_column(const dpi_scan_thread *t, const dpi_scan_column *c, size_t m)
{
    if (c->node != DPI_NONE && (c->per_record || m == 0))
        dpi_run_read(t->run, c->node, 0, (c->per_record ? m : 1) * c->size, c->values);
}

/* The numbers of record i. */
static const double *of_record(const dpi_scan_column *c, size_t i)
{
    return c->per_record ? c->values + i * c->size : c->values;
}

/* Reads what the chunk of m records has; m = 0: what all records share. */
static void read_columns(const dpi_scan *s, dpi_scan_thread *t, size_t m)
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
static bool has_own_slopes(const dpi_scan *s, const dpi_scan_thread *t, size_t j)
{
    for (size_t e = 0; e < s->view->n_reads; e++) {
        const dpi_scan_column *c = &t->slope[e * s->view->k + j];
        if (c->node != DPI_NONE && c->per_record)
            return true;
    }
    return false;
}

/* The slopes of record i's number j, and the members that it belongs to. */
static void lay_slopes(const dpi_scan *s, dpi_scan_thread *t, size_t i, size_t j)
{
    const dpi_model_view *r = s->view;
    double *dense = t->dense + (i * r->k + j) * r->p;
    double *own = t->own + (i * r->k + j) * (r->local - r->p);
    for (size_t e = 0; e < r->n_reads; e++) {
        const dpi_read *d = &r->reads[e];
        const dpi_scan_column *c = &t->slope[e * r->k + j];
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

static void lay_members(const dpi_scan *s, dpi_scan_thread *t, size_t i)
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
static void turn_to(const dpi_scan *s, const dpi_scan_thread *t, size_t i, dpi_record *record)
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
static void add_chunk(const dpi_scan *s, dpi_scan_thread *t, const dpi_pass *pass, size_t m)
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
    dpi_scan_thread *t = &s->scanners[k];
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
    if (pass->shares > 0 && pass->sigma > 0)
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
        dpi_scan_thread_wipe(s, &s->scanners[k]);
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
    const dpi_scan_column *c = &s->scanners[0].arg[a];
    return c->per_record ? NULL : c->values;
}

const double *dpi_scan_shared_slope(const dpi_scan *s, const dpi_read *read, size_t j)
{
    const dpi_scan_column *c =
        &s->scanners[0].slope[(size_t)(read - s->view->reads) * s->view->k + j];
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

/* That all ranks of the owner are there for this pass; whether it was made before. */
static dp_status meet(dpi_scan *s, const dpi_pass *pass, bool *made, dp_error *err)
{
    dpi_hosts_meeting at = {
        .question = pass->question, .made = dpi_keeper_is_ahead(s->keeper), .units = s->n_records};
    dp_status status = dpi_hosts_meet(s->owners, DP_OK, &at, err);
    s->n_all = (size_t)at.units;
    *made = at.made;
    return status;
}

/* The release of s->whole, or what the journal has in its place. */
static dp_status have(dpi_scan *s, const dpi_pass *pass, size_t which, bool made, double *out,
                      dp_error *err)
{
    const dpi_journal_release what = kept_as(pass, which);
    const bool gate = dpi_hosts_gate(s->owners);
    dp_status status = DP_OK;
    /* A seeded source goes on behind the noise of what was made before. */
    if (!made || (gate && s->keeper->seeded))
        status = s->owners != NULL ? dpi_opened_release(s, pass, made, out, err)
                                   : release(s, pass, out, err);
    if (status == DP_OK && gate) {
        status = made ? dpi_journal_read(s->keeper->journal, &what, out, err)
                      : dpi_keeper_keep(s->keeper, &what, out, err);
        if (status != DP_OK)
            sodium_memzero(out, pass->n * sizeof *out);
    }
    return dpi_hosts_give(s->owners, status, pass->n, out, s->whole, err);
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
    bool made;
    status = meet(s, pass, &made, err);
    if (status != DP_OK)
        return status;
    dpi_scan_place(s, theta);
    if (!made)
        run_records(s, pass);
    else
        memset(s->whole, 0, pass->n * sizeof *s->whole);
    status = have(s, pass, which, made, out, err);
    return status == DP_OK ? dpi_progress_release(s->progress, which, err) : status;
}
