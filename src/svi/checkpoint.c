/* The form of a checkpoint: 16 bytes "tacit-checkpoint", a version, the fields in one order, each
 * number 8 bytes with the little end first, and the BLAKE2b-256 hash of everything before it.  One
 * walk over the fields writes, reads and counts, so the three cannot differ.
 *
 * The hash tells damage, not an attacker, who can compute it too: everything read is checked. */
#include "svi/checkpoint.h"

#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const char magic[] = "tacit-checkpoint"; /* 16 bytes and a NUL that is not written */
enum { VERSION = 4, MAGIC = 16, HASH = 32, NAME = 32 };
static const uint64_t most_theta = (uint64_t)1 << 40;
static const size_t most_bytes = (size_t)1 << 40;

/* ---- the walk ---- */

typedef struct walker {
    unsigned char *out;      /* writing: where to */
    const unsigned char *in; /* reading: where from */
    size_t left;             /* reading: bytes left */
    size_t count;            /* bytes walked so far */
    bool bad;
} walker;

static void walk_bytes(walker *w, void *bytes, size_t n)
{
    if (w->in != NULL && (w->bad || w->left < n)) {
        w->bad = true;
        memset(bytes, 0, n);
        return;
    }
    if (w->out != NULL)
        memcpy(w->out + w->count, bytes, n);
    if (w->in != NULL) {
        memcpy(bytes, w->in + w->count, n);
        w->left -= n;
    }
    w->count += n;
}

static void walk_count(walker *w, uint64_t *value)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(*value >> (8 * i));
    walk_bytes(w, bytes, sizeof bytes);
    *value = 0;
    for (int i = 0; i < 8; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
}

static void walk_real(walker *w, double *value)
{
    uint64_t bits;
    memcpy(&bits, value, sizeof bits);
    walk_count(w, &bits);
    memcpy(value, &bits, sizeof bits);
}

/* A choice of an enumeration, as far as an int goes. */
static int walk_choice(walker *w, int value)
{
    uint64_t number = (uint64_t)value;
    walk_count(w, &number);
    if (number > 1000)
        w->bad = true;
    return w->bad ? 0 : (int)number;
}

static void walk_options(walker *w, dp_svi_opts *o)
{
    uint64_t batch = o->batch, threads = o->threads;
    o->mode = (dp_mode)walk_choice(w, (int)o->mode);
    walk_real(w, &o->epsilon);
    walk_real(w, &o->delta);
    walk_real(w, &o->sigma);
    walk_real(w, &o->clip);
    o->sampling = (dp_sampling)walk_choice(w, (int)o->sampling);
    walk_real(w, &o->rate);
    walk_count(w, &batch);
    o->batch = (size_t)batch;
    w->bad = w->bad || o->batch != batch;
    walk_count(w, &o->cap);
    walk_count(w, &o->epoch);
    walk_count(w, &o->steps);
    o->form = (dp_form)walk_choice(w, (int)o->form);
    o->optimizer = (dp_optimizer)walk_choice(w, (int)o->optimizer);
    o->schedule = (dp_schedule)walk_choice(w, (int)o->schedule);
    walk_real(w, &o->step_size);
    walk_real(w, &o->momentum);
    walk_real(w, &o->beta2);
    walk_real(w, &o->average);
    walk_real(w, &o->init_scale);
    walk_count(w, &o->loss_every);
    walk_real(w, &o->loss_clip);
    walk_real(w, &o->loss_sigma);
    walk_real(w, &o->clip_quantile);
    walk_real(w, &o->clip_sigma);
    walk_real(w, &o->clip_speed);
    walk_count(w, &o->public_units);
    o->precision = (dp_precision)walk_choice(w, (int)o->precision);
    walk_count(w, &o->seed);
    walk_count(w, &threads);
    o->threads = (size_t)threads;
    w->bad = w->bad || o->threads != threads;
}

/* All but magic, vectors and hash. */
static void walk_head(walker *w, dpi_checkpoint *c)
{
    uint64_t version = VERSION;
    walk_count(w, &version);
    w->bad = w->bad || version != VERSION;
    walk_bytes(w, c->model, sizeof c->model);
    walk_bytes(w, c->guide, sizeof c->guide);
    walk_options(w, &c->opts);
    walk_count(w, &c->ledgered);
    walk_bytes(w, c->ledger, sizeof c->ledger);
    walk_count(w, &c->entry);
    walk_count(w, &c->done);
    walk_count(w, &c->loss_step);
    walk_real(w, &c->loss);
    walk_real(w, &c->below);
    walk_count(w, &c->n_theta);
}

/* A name in 32 bytes, zeros behind it; one that is read must be the one expected. */
static void walk_name(walker *w, const char *name)
{
    char bytes[NAME] = {0}, expected[NAME] = {0};
    memcpy(expected, name, strlen(name) < NAME ? strlen(name) : NAME - 1);
    memcpy(bytes, expected, NAME);
    walk_bytes(w, bytes, NAME);
    w->bad = w->bad || memcmp(bytes, expected, NAME) != 0;
}

static void walk_vectors(walker *w, dpi_checkpoint *c)
{
    for (size_t k = 0; k < c->n_vectors; k++) {
        walk_name(w, c->vector[k].name);
        for (uint64_t i = 0; i < c->n_theta; i++) {
            double x = w->in != NULL ? 0 : dpi_state_get(&c->vector[k], i);
            walk_real(w, &x);
            if (w->in != NULL)
                dpi_state_set(&c->vector[k], i, x);
        }
    }
}

/* ---- writing ---- */

dp_status dpi_checkpoint_write(const dpi_checkpoint *c, unsigned char **bytes, size_t *n,
                               dp_error *err)
{
    dpi_checkpoint copy = *c;
    walker counting = {.count = MAGIC};
    walk_head(&counting, &copy);
    walk_vectors(&counting, &copy);
    *n = counting.count + HASH;
    *bytes = dpi_alloc(*n, 1);
    if (*bytes == NULL)
        return dpi_fail_nomem(err);
    walker writing = {.out = *bytes, .count = MAGIC};
    memcpy(*bytes, magic, MAGIC);
    walk_head(&writing, &copy);
    walk_vectors(&writing, &copy);
    (void)crypto_generichash(*bytes + writing.count, HASH, *bytes, writing.count, NULL, 0);
    return DP_OK;
}

/* ---- reading ---- */

static dp_status damaged(dp_error *err)
{
    return dpi_fail(err, DP_EDATA,
                    "the checkpoint is damaged, or of another version of Tacit; take an intact "
                    "one, or start the run anew");
}

static bool all_finite(const double *values, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static dp_status read_vectors(walker *w, dpi_arena *arena, dpi_checkpoint *c, dp_error *err)
{
    size_t n = (size_t)c->n_theta;
    for (size_t k = 0; k < c->n_vectors; k++)
        if ((c->vector[k].at = dpi_arena_alloc(arena, n, sizeof(double))) == NULL)
            return dpi_fail_nomem(err);
    walk_vectors(w, c);
    for (size_t k = 0; k < c->n_vectors; k++)
        w->bad = w->bad || !all_finite(c->vector[k].at, n);
    return w->bad ? damaged(err) : DP_OK;
}

/* The vectors that an optimiser has, still without numbers. */
static void name_vectors(dpi_checkpoint *c)
{
    const char *name[DPI_OPTIMIZER_VECTORS];
    c->n_vectors = dpi_optimizer_names(c->opts.optimizer, name);
    for (size_t k = 0; k < c->n_vectors; k++)
        c->vector[k].name = name[k];
}

/* What the steps done have released beside the gradient, by the options. */
static bool extras_are_sound(const dpi_checkpoint *c)
{
    uint64_t every = c->opts.loss_every, step = every > 0 ? c->done - c->done % every : 0;
    bool counts = c->opts.clip_quantile > 0 && c->done > 0;
    /* Without privacy a loss may overflow. */
    bool is_loss = c->opts.mode == DP_NO_PRIVACY ? !isnan(c->loss) : isfinite(c->loss);
    return c->loss_step == step && (step > 0 ? is_loss : isnan(c->loss)) &&
           (counts ? c->below >= 0 && c->below <= 1 : isnan(c->below));
}

dp_status dpi_checkpoint_parse(const unsigned char *bytes, size_t n, dpi_arena *arena,
                               dpi_checkpoint *c, dp_error *err)
{
    unsigned char hash[HASH];
    *c = (dpi_checkpoint){.done = 0};
    if (n < MAGIC || memcmp(bytes, magic, MAGIC) != 0)
        return dpi_fail(err, DP_EDATA, "this file is no checkpoint of Tacit; check the path");
    if (n < MAGIC + HASH)
        return damaged(err);
    (void)crypto_generichash(hash, HASH, bytes, n - HASH, NULL, 0);
    walker w = {.in = bytes, .left = n - HASH - MAGIC, .count = MAGIC};
    walk_head(&w, c);
    name_vectors(c);
    if (memcmp(hash, bytes + n - HASH, HASH) != 0 || w.bad || c->ledgered > 1 ||
        c->n_theta > most_theta || c->n_vectors == 0 ||
        w.left != c->n_vectors * (NAME + sizeof(double) * c->n_theta) || c->done > c->opts.steps ||
        !extras_are_sound(c))
        return damaged(err);
    return read_vectors(&w, arena, c, err);
}

static dp_status read_file(FILE *file, dpi_arena *arena, unsigned char **bytes, size_t *n,
                           dp_error *err)
{
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size < 0 || (unsigned long)size > most_bytes || fseek(file, 0, SEEK_SET) != 0)
        return dpi_fail(err, DP_EIO, "the checkpoint cannot be read; check that it is a file");
    *n = (size_t)size;
    *bytes = dpi_arena_alloc(arena, *n, 1);
    if (*bytes == NULL)
        return dpi_fail_nomem(err);
    return fread(*bytes, 1, *n, file) == *n
               ? DP_OK
               : dpi_fail(err, DP_EIO, "the checkpoint cannot be read; check the disk");
}

dp_status dpi_checkpoint_read(const char *path, dpi_arena *arena, dpi_checkpoint *c, dp_error *err)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    *c = (dpi_checkpoint){.done = 0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return dpi_fail(err, DP_EIO, "cannot open the checkpoint %.200s; check the path", path);
    dp_status status = read_file(file, arena, &bytes, &n, err);
    (void)fclose(file);
    return status != DP_OK ? status : dpi_checkpoint_parse(bytes, n, arena, c, err);
}
