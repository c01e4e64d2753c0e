/* Reading a plan.  Keys stand in one order, each on a line of its own; what was read is written
 * again and compared, so that there is no second way to say a thing, and nothing in the file that
 * was not understood. */
#include <errno.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/error.h"
#include "base/name.h"
#include "base/plain.h"
#include "silo/columns-sum.h"
#include "silo/describe.h"
#include "silo/keys.h"
#include "silo/plan.h"
#include "silo/trio.h"

enum { MOST_PLAN = 16 * 1024 * 1024, MOST_NUMBERS = 1 << 24 /* of a round: state.c */ };

typedef struct silo_plan_reader {
    const char *at, *end, *name;
    size_t line; /* of the last that was taken, from 1 */
    char *text;  /* that line, in the arena */
    size_t length;
    bool no_memory;
    dp_silo_plan *p;
    dp_error *err;
} silo_plan_reader;

static dp_status fail(const silo_plan_reader *r, const char *what)
{
    if (r->no_memory)
        return dpi_fail_nomem(r->err);
    return dpi_fail(r->err, DP_EDATA, "%.100s:%zu: %s", r->name, r->line, what);
}

static dp_status fail_changed(const silo_plan_reader *r)
{
    return dpi_fail(r->err, DP_EDATA,
                    "%.100s: the plan was changed after it was made, or made by another version; "
                    "get it again from whoever made it",
                    r->name);
}

/* Takes the next line; false at the end, of one with control characters, or where there is no
 * memory. */
static bool next(silo_plan_reader *r)
{
    const char *stop = r->at < r->end ? memchr(r->at, '\n', (size_t)(r->end - r->at)) : NULL;
    if (stop == NULL)
        return false;
    r->length = (size_t)(stop - r->at);
    r->text = dpi_arena_alloc(&r->p->arena, r->length + 1, 1);
    r->no_memory = r->text == NULL;
    if (r->no_memory)
        return false;
    memcpy(r->text, r->at, r->length);
    r->text[r->length] = '\0';
    r->at = stop + 1;
    r->line++;
    for (size_t i = 0; i < r->length; i++)
        if (dpi_is_control(r->text + i, r->length - i))
            return false;
    return true;
}

/* Whether the next line is of that key; it is taken then, and *value is what follows. */
static bool take(silo_plan_reader *r, const char *key, const char **value)
{
    size_t n = strlen(key), left = (size_t)(r->end - r->at);
    if (left < n + 3 || memcmp(r->at, key, n) != 0 || memcmp(r->at + n, " = ", 3) != 0 || !next(r))
        return false;
    *value = r->text + n + 3;
    return true;
}

static bool real_of(const char *text, double *value)
{
    size_t n;
    *value = dpi_plain_real(text, &n);
    return n > 0 && text[n] == '\0' && isfinite(*value) && *value >= 0;
}

static bool whole_of(const char *text, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    *value = read;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && read <= most;
}

static bool take_real(silo_plan_reader *r, const char *key, double *value)
{
    const char *text;
    return take(r, key, &text) && real_of(text, value);
}

static bool take_whole(silo_plan_reader *r, const char *key, uint64_t most, uint64_t *value)
{
    const char *text;
    return take(r, key, &text) && whole_of(text, most, value);
}

static bool take_size(silo_plan_reader *r, const char *key, size_t most, size_t *value)
{
    uint64_t whole = 0;
    bool ok = take_whole(r, key, most, &whole);
    *value = (size_t)whole;
    return ok;
}

static bool take_source(silo_plan_reader *r)
{
    dp_fit_source *s = &r->p->source;
    if (!take(r, "formula", &s->formula))
        return true;
    r->p->opts.source = s;
    if (!take(r, "family", &s->family))
        return false;
    (void)take(r, "priors", &s->priors);
    return true;
}

/* "10 1.7 2.5" */
static bool take_block(silo_plan_reader *r, int k)
{
    dp_silo_columns *c = &r->p->columns;
    const char *value;
    uint64_t n;
    char *left = NULL;
    if (!take(r, "block", &value))
        return false;
    char *text = r->text + (value - r->text);
    const char *columns = strtok_r(text, " ", &left), *row = strtok_r(NULL, " ", &left);
    const char *addend = strtok_r(NULL, " ", &left);
    bool ok = columns != NULL && row != NULL && addend != NULL &&
              whole_of(columns, MOST_NUMBERS, &n) && real_of(row, &c->row_most[k]) &&
              real_of(addend, &c->addend_most[k]);
    c->columns[k] = ok ? (size_t)n : 0;
    return ok;
}

/* "10 100 0.9 embedding", of scheme split, or none. */
static bool take_cut(silo_plan_reader *r)
{
    dp_silo_columns *c = &r->p->columns;
    const char *value;
    uint64_t width = 0, batch = 0;
    char *left = NULL;
    if (!take(r, "cut", &value))
        return !r->no_memory;
    char *text = r->text + (value - r->text);
    const char *numbers = strtok_r(text, " ", &left), *rows = strtok_r(NULL, " ", &left);
    const char *momentum = strtok_r(NULL, " ", &left);
    if (momentum == NULL || !whole_of(numbers, DP_SPLIT_WIDTH, &width) ||
        !whole_of(rows, DPI_COLUMNS_ROWS, &batch) || !real_of(momentum, &c->momentum))
        return false;
    c->width = (size_t)width;
    c->batch = (size_t)batch;
    c->cut = left != NULL && *left != '\0' ? left : NULL;
    return true;
}

/* Two lines "age,livch", or none; and whether coefficients are told. */
static bool take_held(silo_plan_reader *r)
{
    dp_silo_columns *c = &r->p->columns;
    const char *what;
    if (take(r, "held", &c->held[0]) && !take(r, "held", &c->held[1]))
        return false;
    c->told = take(r, "told", &what);
    return !r->no_memory && (!c->told || strcmp(what, "coefficients") == 0);
}

/* "logistic 1 25 2 0.01", and a block of each owner */
static bool take_columns(silo_plan_reader *r)
{
    dp_silo_columns *c = &r->p->columns;
    const char *value;
    uint64_t outcome;
    char *left = NULL;
    if (!take(r, "regression", &value))
        return true;
    r->p->opts.columns = c;
    char *text = r->text + (value - r->text);
    const char *loss = strtok_r(text, " ", &left), *owner = strtok_r(NULL, " ", &left);
    const char *steps = strtok_r(NULL, " ", &left), *step = strtok_r(NULL, " ", &left);
    const char *ridge = strtok_r(NULL, " ", &left);
    if (ridge == NULL || !whole_of(owner, 1, &outcome) || !whole_of(steps, 100000, &c->steps) ||
        !real_of(step, &c->step) || !real_of(ridge, &c->ridge))
        return false;
    c->logistic = strcmp(loss, "logistic") == 0;
    c->outcome = (size_t)outcome;
    return take_block(r, 0) && take_block(r, 1) && take_cut(r) && take(r, "ids", &c->ids) &&
           take_held(r);
}

/* "10 0 1.7" */
static bool take_party(silo_plan_reader *r, int k)
{
    dp_silo_trio *c = &r->p->trio;
    const char *value;
    uint64_t columns = 0, rows = 0;
    char *left = NULL;
    if (!take(r, "party", &value))
        return false;
    char *text = r->text + (value - r->text);
    const char *n = strtok_r(text, " ", &left), *m = strtok_r(NULL, " ", &left);
    const char *norm = strtok_r(NULL, " ", &left);
    const bool ok = norm != NULL && whole_of(n, DPI_SILO_TRIO_COLUMNS, &columns) &&
                    whole_of(m, DPI_SILO_TRIO_ROWS, &rows) && real_of(norm, &c->row_most[k]);
    c->columns[k] = (size_t)columns;
    c->rows_of[k] = (size_t)rows;
    return ok;
}

/* Three lines "age,livch", "-" of who helps, or none; and whether coefficients are told. */
static bool take_held_by_three(silo_plan_reader *r)
{
    const char **held = r->p->opts.trio_held, *what;
    const bool any = take(r, "held", &held[0]);
    for (int k = 1; any && k < DP_SILO_TRIO; k++)
        if (!take(r, "held", &held[k]))
            return false;
    for (int k = 0; any && k < DP_SILO_TRIO; k++)
        held[k] = strcmp(held[k], "-") == 0 ? NULL : held[k];
    r->p->trio.told = take(r, "told", &what);
    return !r->no_memory && (!r->p->trio.told || strcmp(what, "coefficients") == 0);
}

/* "logistic 1 25 2 0.01", "1 4", and a line of each party */
static bool take_three(silo_plan_reader *r)
{
    dp_silo_trio *c = &r->p->trio;
    const char *value;
    uint64_t outcome = 0;
    char *left = NULL;
    if (!take(r, "three", &value))
        return !r->no_memory;
    r->p->opts.trio = c;
    char *text = r->text + (value - r->text);
    const char *loss = strtok_r(text, " ", &left), *owner = strtok_r(NULL, " ", &left);
    const char *steps = strtok_r(NULL, " ", &left), *step = strtok_r(NULL, " ", &left);
    const char *ridge = strtok_r(NULL, " ", &left);
    if (ridge == NULL || !whole_of(owner, DP_SILO_TRIO - 1, &outcome) ||
        !whole_of(steps, DPI_SILO_TRIO_STEPS, &c->steps) || !real_of(step, &c->step) ||
        !real_of(ridge, &c->ridge) || !take(r, "most", &value))
        return false;
    c->logistic = strcmp(loss, "logistic") == 0;
    c->outcome = (size_t)outcome;
    text = r->text + (value - r->text);
    left = NULL;
    const char *most = strtok_r(text, " ", &left), *residual = strtok_r(NULL, " ", &left);
    if (residual == NULL || !real_of(most, &c->outcome_most) ||
        !real_of(residual, &c->residual_most))
        return false;
    for (int k = 0; k < DP_SILO_TRIO; k++)
        if (!take_party(r, k))
            return false;
    (void)take(r, "ids", &c->ids);
    return !r->no_memory && take_held_by_three(r);
}

/* A line, or none. */
static bool take_local_steps(silo_plan_reader *r)
{
    const char *value;
    return !take(r, "local-steps", &value)
               ? !r->no_memory
               : whole_of(value, DP_OWNERS_LOCAL_STEPS, &r->p->opts.local_steps);
}

static bool take_numbers(silo_plan_reader *r)
{
    dp_silo_opts *o = &r->p->opts;
    return take_real(r, "epsilon", &o->epsilon) && take_real(r, "delta", &o->delta) &&
           take_whole(r, "rounds", 1000, &o->rounds) && take_size(r, "draws", 1000000, &o->draws) &&
           take_local_steps(r) && take_size(r, "colluders", DP_OWNERS_MOST, &o->colluders) &&
           take_size(r, "dropouts", DP_OWNERS_MOST, &o->dropouts) &&
           take_whole(r, "records", (uint64_t)1 << 26, &o->most_records) &&
           take_whole(r, "seed", UINT64_MAX, &o->seed) && o->seed != 0;
}

/* "north tacit-owner:..." */
static bool take_owners(silo_plan_reader *r)
{
    dp_silo_opts *o = &r->p->opts;
    const char *value;
    while (take(r, "owner", &value)) {
        char *blank = strchr(value, ' ');
        if (blank == NULL || o->n_owners == DP_OWNERS_MOST)
            return false;
        *blank = '\0';
        r->p->owners[o->n_owners++] = (dp_silo_owner){value, blank + 1};
    }
    o->owners = r->p->owners;
    return o->n_owners > 0;
}

/* "16 52 23.66 main"; those of owners alone come first. */
static bool take_openings(silo_plan_reader *r)
{
    const char *value;
    for (bool alone; (alone = take(r, "own", &value)) || take(r, "opening", &value);) {
        dp_opening *to = &r->p->openings[r->p->n_openings];
        char *left = NULL, *text = r->text + (value - r->text);
        if (r->p->n_openings++ == DP_OPENINGS)
            return false;
        const char *times = strtok_r(text, " ", &left), *numbers = strtok_r(NULL, " ", &left);
        const char *sigma = strtok_r(NULL, " ", &left);
        uint64_t n;
        to->phase = left;
        if (times == NULL || numbers == NULL || sigma == NULL || left == NULL || *left == '\0' ||
            !whole_of(times, 100000, &to->times) || !whole_of(numbers, MOST_NUMBERS, &n) ||
            n == 0 || !real_of(sigma, &to->sigma))
            return false;
        to->numbers = (size_t)n;
        to->alone = alone;
    }
    return r->p->n_openings > 0;
}

/* The lines of a block, joined; *text is in the arena. */
static bool take_lines(silo_plan_reader *r, const char *key, const char **text)
{
    size_t n = strlen(key), used = 0;
    if ((size_t)(r->end - r->at) < n + 2 || memcmp(r->at, key, n) != 0 ||
        memcmp(r->at + n, ":\n", 2) != 0 || !next(r))
        return false;
    char *all = dpi_arena_alloc(&r->p->arena, (size_t)(r->end - r->at) + 1, 1);
    r->no_memory = all == NULL;
    while (all != NULL && r->end - r->at >= 2 && memcmp(r->at, "| ", 2) == 0 && next(r)) {
        memcpy(all + used, r->text + 2, r->length - 2);
        used += r->length - 2;
        all[used++] = '\n';
    }
    if (all != NULL)
        all[used] = '\0';
    *text = all;
    return all != NULL;
}

/* "north 5f3c..." */
static dp_status take_signatures(silo_plan_reader *r)
{
    const char *value;
    unsigned char statement[DPI_SILO_SIGNED];
    dpi_silo_plan_statement(r->p, statement);
    while (take(r, "signed", &value)) {
        char *hex = strchr(value, ' ');
        size_t k = 0, n = 0;
        if (hex == NULL)
            return fail(r, "a signature is: signed = OWNER and 128 hexadecimal digits");
        *hex++ = '\0';
        while (k < r->p->opts.n_owners && strcmp(r->p->names[k], value) != 0)
            k++;
        if (k == r->p->opts.n_owners || r->p->is_signed[k])
            return fail(r, "a signature of nobody, or a second one of the same owner");
        if (sodium_hex2bin(r->p->signature[k], DPI_SILO_SIGNATURE, hex, strlen(hex), NULL, &n,
                           NULL) != 0 ||
            n != DPI_SILO_SIGNATURE || strlen(hex) != 2 * DPI_SILO_SIGNATURE)
            return fail(r, "a signature is 128 hexadecimal digits");
        if (crypto_sign_verify_detached(r->p->signature[k], statement, sizeof statement,
                                        r->p->keys[k]) != 0)
            return fail(r, "this signature is not of this plan; have its owner sign anew");
        r->p->is_signed[k] = true;
    }
    return r->at == r->end ? DP_OK : fail(r, "what stands here belongs to no plan");
}

static dp_status read_plan(silo_plan_reader *r)
{
    dp_silo_plan *p = r->p;
    const char *model = "", *program, *start = r->at;
    size_t n = 0;
    if (!next(r) || strcmp(r->text, "tacit silo plan 1") != 0)
        return fail(r, "this is no plan of several owners, or of another version");
    bool ok = take(r, "plan", &p->opts.name) && take(r, "scheme", &p->opts.scheme) &&
              take(r, "model", &model) && take_source(r) && take_columns(r) && take_three(r) &&
              take_numbers(r) && take_owners(r) && take_openings(r);
    if (ok && p->opts.source != NULL)
        ok = take_lines(r, "schema", &p->source.schema);
    ok = ok && sodium_hex2bin(p->model, sizeof p->model, model, strlen(model), NULL, &n, NULL) == 0;
    if (!ok || n != DP_MODEL_HASH || !take_lines(r, "program", &program))
        return fail(r, "the line after this is not what a plan has there");
    p->opts.trusting = p->opts.colluders == 0;
    dp_status status = dpi_silo_plan_check(p, r->err);
    if (status == DP_OK)
        status = dpi_silo_plan_write(p, r->err);
    if (status != DP_OK)
        return status;
    if ((size_t)(r->at - start) != p->body.n - 1 || memcmp(start, p->body.at, p->body.n - 1) != 0)
        return fail_changed(r);
    status = take_signatures(r);
    if (status == DP_OK)
        status = dpi_silo_plan_finish(p, r->err);
    if (status == DP_OK && ((size_t)(r->end - start) != p->text.n - 1 ||
                            memcmp(start, p->text.at, p->text.n - 1) != 0))
        status = fail_changed(r); /* signatures in another order, or in capitals */
    return status;
}

dp_status dp_silo_plan_parse(const char *text, size_t n, const char *name, dp_silo_plan **plan,
                             dp_error *err)
{
    dp_silo_plan *p = dpi_alloc(1, sizeof *p);
    *plan = NULL;
    if (p == NULL)
        return dpi_fail_nomem(err);
    silo_plan_reader r = {.at = text, .end = text + n, .name = name, .p = p, .err = err};
    dp_status status = sodium_init() < 0 ? dpi_fail(err, DP_EENTROPY, "libsodium cannot be started")
                       : n > MOST_PLAN   ? fail(&r, "a plan has 16 MiB at most")
                                         : read_plan(&r);
    if (status == DP_OK)
        *plan = p;
    else
        dp_silo_plan_free(p);
    return status;
}

dp_status dp_silo_plan_load(const char *path, dp_silo_plan **plan, dp_error *err)
{
    FILE *in = fopen(path, "rb");
    unsigned char piece[4096];
    dpi_bytes all = {NULL, 0, 0, false};
    size_t some = sizeof piece;
    *plan = NULL;
    if (in == NULL)
        return dpi_fail(err, DP_EIO, "cannot open %.200s: %s", path, strerror(errno));
    while (some == sizeof piece && all.n <= MOST_PLAN && !all.failed) {
        some = fread(piece, 1, sizeof piece, in);
        dpi_bytes_add(&all, piece, some);
    }
    bool bad = ferror(in) != 0;
    (void)fclose(in);
    dp_status status =
        all.failed ? dpi_fail_nomem(err)
        : bad      ? dpi_fail(err, DP_EIO, "cannot read %.200s", path)
              : dp_silo_plan_parse(all.n > 0 ? (const char *)all.at : "", all.n, path, plan, err);
    dpi_bytes_free(&all);
    return status;
}
