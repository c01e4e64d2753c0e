/* Which values go into which sketch.
 *
 *   a column of numbers   the hash of each value
 *   a block of columns    the hash of the sum of the values' hashes of each record
 *   the records           the same over all columns
 *
 * A sum does not know the order of what is added: columns may be renamed and rotated.  All three
 * hash alike, so that a block is recognised as the records of a table that holds nothing else, and
 * a column as those of a table of one column.
 *
 * Numbers of rows, dates in sequence and other lists are the same in unrelated data sets.  A column
 * is taken for a list, and left out of everything, when its values have one step, or lie on so
 * coarse a lattice (of decimals) that independent ones would repeat, and do not (is_list).  Hence
 * two passes: columns first, then records without the lists.  Blocks of more than WIDEST numbers,
 * such as images, and tables of more than MOST_COLUMNS have no sketches of single columns, and no
 * lists. */
#include "ledger/survey.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "ledger/fields.h"
#include "ledger/hash.h"

enum {
    ROW_ITEMS = 16384,
    BLOCK_ITEMS = 4096,
    COLUMN_ITEMS = 1024,
    ITEMS_IN_ALL = 65536, /* of columns, and of blocks */
    LEAST_ITEMS = 64,
    MOST_COLUMNS = 1024,
    WIDEST = 64,
    MOST_DECIMALS = 4,
    SEEN = 3 /* different numbers that make records varied */
};

/* What tells a list. */
typedef struct column_range {
    double least, most, last, step;
    int decimals; /* above MOST_DECIMALS: not a lattice */
    bool steady;
    uint64_t n;
} column_range;

typedef struct surveyor {
    dpi_fields fields;
    unsigned char key[DPI_FIELD_KEY]; /* of hashes of sums */
    size_t n_columns;                 /* with sketches of their own: all, or 0 */
    dpi_sketcher *columns;            /* [n_columns] */
    column_range *ranges;             /* [n_columns] */
    bool *left_out;                   /* [n_columns] */
    size_t n_blocks;
    size_t *ends; /* [n_blocks] fields before the end of each block */
    dpi_sketcher *blocks;
    dpi_sketcher rows;
    uint64_t seen[SEEN];
    size_t n_seen;
} surveyor;

static uint64_t keyed(const surveyor *s, uint64_t sum)
{
    unsigned char in[8], out[crypto_shorthash_BYTES];
    uint64_t hash = 0;
    for (int i = 0; i < 8; i++)
        in[i] = (unsigned char)(sum >> (8 * i));
    (void)crypto_shorthash(out, in, sizeof in, s->key);
    for (int i = 0; i < 8; i++)
        hash |= (uint64_t)out[i] << (8 * i);
    return hash;
}

/* ---- columns ---- */

/* Decimals after the point; more than MOST_DECIMALS for a number without end. */
static int decimals_of(double x)
{
    double scaled = fabs(x);
    for (int k = 0; k <= MOST_DECIMALS; k++, scaled *= 10)
        if (scaled < 0x1p53 && fabs(scaled - nearbyint(scaled)) <= 1e-9 * fmax(1, scaled))
            return k;
    return MOST_DECIMALS + 1;
}

static void widen(column_range *r, double x)
{
    int decimals = decimals_of(x); /* of NaN, which texts are: too many */
    r->decimals = decimals > r->decimals ? decimals : r->decimals;
    if (r->n == 0)
        *r = (column_range){.least = x, .most = x, .decimals = decimals, .steady = true};
    r->least = fmin(r->least, x);
    r->most = fmax(r->most, x);
    double step = x - r->last;
    if (r->n == 1)
        r->step = step;
    if (r->n > 0 && !(fabs(step - r->step) <= 1e-9 * fabs(step) + 0x1p-48 * fabs(x)))
        r->steady = false;
    r->last = x;
    r->n++;
}

static bool take_columns(void *user, const dpi_record_value *fields, size_t n)
{
    surveyor *s = user;
    for (size_t i = 0; i < n && i < s->n_columns; i++) {
        widen(&s->ranges[i], fields[i].number);
        dpi_sketcher_add(&s->columns[i], keyed(s, fields[i].hash));
    }
    return true;
}

/* With n independent values on a lattice of M points at least n - M (1 - (1 - 1/M)^n) repeat one
 * that was there before, as expected: as many if all points are equally likely, else more.  A list
 * has less than a quarter, and the sample of values that is kept would show eight. */
static bool is_list(const column_range *r, const dpi_sketch *s)
{
    double n = (double)r->n, kept = 0;
    if (r->steady && r->n > 2 && r->step != 0)
        return true;
    if (r->decimals > MOST_DECIMALS)
        return false;
    for (size_t i = 0; i < s->n_items; i++)
        kept += s->items[i].count;
    double points = (r->most - r->least) * pow(10, r->decimals) + 1;
    double expected = (n - points * -expm1(-n / points)) * kept / n;
    return expected >= 8 && kept - (double)s->n_items < expected / 4;
}

static dp_status end_columns(surveyor *s, dpi_sketches *made, dp_error *err)
{
    bool good = true;
    for (size_t i = 0; i < s->n_columns; i++) {
        dpi_sketch *sketch = &made->list[made->n];
        bool kept = dpi_sketcher_end(&s->columns[i], &made->arena, sketch);
        good = good && kept;
        s->left_out[i] = kept && s->ranges[i].n > 0 && is_list(&s->ranges[i], sketch);
        made->n += kept && !s->left_out[i];
    }
    return good ? DP_OK : dpi_fail_nomem(err);
}

/* ---- records and blocks ---- */

static void see(surveyor *s, uint64_t hash)
{
    for (size_t i = 0; i < s->n_seen; i++)
        if (s->seen[i] == hash)
            return;
    s->seen[s->n_seen++] = hash;
}

static bool take_records(void *user, const dpi_record_value *fields, size_t n)
{
    surveyor *s = user;
    uint64_t sum = 0, before = 0;
    size_t block = 0, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (i >= s->n_columns || !s->left_out[i]) {
            sum += fields[i].hash;
            used++;
            if (s->n_seen < SEEN)
                see(s, fields[i].hash);
        }
        if (block < s->n_blocks && i + 1 == s->ends[block]) {
            dpi_sketcher_add(&s->blocks[block++], keyed(s, sum - before));
            before = sum;
        }
    }
    if (used > 0)
        dpi_sketcher_add(&s->rows, keyed(s, sum));
    return true;
}

static dp_status end_records(surveyor *s, dpi_sketches *made, dp_error *err)
{
    bool good = dpi_sketcher_end(&s->rows, &made->arena, &made->list[0]);
    made->list[0].rows = true;
    made->list[0].varied = s->n_seen == SEEN;
    for (size_t k = 0; k < s->n_blocks; k++)
        if (dpi_sketcher_end(&s->blocks[k], &made->arena, &made->list[made->n]))
            made->n++;
        else
            good = false;
    return good ? DP_OK : dpi_fail_nomem(err);
}

/* ---- the whole ---- */

static size_t share(size_t n, size_t most)
{
    size_t items = n > 0 ? ITEMS_IN_ALL / n : most;
    return items < LEAST_ITEMS ? LEAST_ITEMS : items < most ? items : most;
}

/* Which columns have sketches, and where blocks end: adjacent columns of a data set in memory. */
static dp_status lay_out(surveyor *s, dpi_arena *arena, dp_error *err)
{
    const dp_dataset *r = s->fields.records;
    bool wide = s->fields.width > MOST_COLUMNS;
    size_t end = 0;
    s->ends = dpi_arena_alloc(arena, MOST_COLUMNS, sizeof *s->ends);
    if (s->ends == NULL)
        return dpi_fail_nomem(err);
    for (size_t c = 0; r != NULL && c < r->n_columns; c++) {
        size_t size = r->columns[c].size;
        wide = wide || size > WIDEST;
        if (size > DPI_MOST_FIELDS - end)
            break;
        end += size;
        if (r->n_columns > 1 && s->n_blocks < MOST_COLUMNS)
            s->ends[s->n_blocks++] = end;
    }
    if (end == s->n_blocks) /* every block is one column */
        s->n_blocks = wide ? s->n_blocks : 0;
    s->n_columns = wide ? 0 : s->fields.width;
    return DP_OK;
}

static dp_status begin(surveyor *s, dpi_arena *arena, dp_error *err)
{
    dp_status status = lay_out(s, arena, err);
    if (status != DP_OK)
        return status;
    s->columns = dpi_arena_alloc(arena, s->n_columns, sizeof *s->columns);
    s->ranges = dpi_arena_alloc(arena, s->n_columns, sizeof *s->ranges);
    s->left_out = dpi_arena_alloc(arena, s->n_columns, sizeof *s->left_out);
    s->blocks = dpi_arena_alloc(arena, s->n_blocks, sizeof *s->blocks);
    if (s->columns == NULL || s->ranges == NULL || s->left_out == NULL || s->blocks == NULL) {
        s->n_columns = s->n_blocks = 0;
        return dpi_fail_nomem(err);
    }
    status = dpi_sketcher_begin(&s->rows, ROW_ITEMS, err);
    for (size_t i = 0; i < s->n_columns && status == DP_OK; i++)
        status = dpi_sketcher_begin(&s->columns[i], share(s->n_columns, COLUMN_ITEMS), err);
    for (size_t i = 0; i < s->n_blocks && status == DP_OK; i++)
        status = dpi_sketcher_begin(&s->blocks[i], share(s->n_blocks, BLOCK_ITEMS), err);
    return status;
}

static dp_status pass_twice(surveyor *s, dpi_sketches *made, dp_error *err)
{
    dp_status status = DP_OK;
    made->list = dpi_arena_alloc(&made->arena, 1 + s->n_columns + s->n_blocks, sizeof *made->list);
    if (made->list == NULL)
        return dpi_fail_nomem(err);
    made->n = 1;
    if (s->n_columns > 0)
        status = dpi_fields_walk(&s->fields, take_columns, s, err);
    if (status == DP_OK)
        status = end_columns(s, made, err);
    if (status == DP_OK)
        status = dpi_fields_walk(&s->fields, take_records, s, err);
    return status == DP_OK ? end_records(s, made, err) : status;
}

dp_status dpi_survey(const dp_ledger *ledger, const dp_ledger_source *source,
                     dpi_sketches *sketches, dp_error *err)
{
    surveyor s = {.fields = {.records = source->records, .path = source->path}};
    dpi_arena arena = {NULL};
    crypto_generichash_state h;
    unsigned char keys[DPI_HASH];
    *sketches = (dpi_sketches){.n = 0};
    dpi_hash_begin(&h, ledger, "sketch");
    dpi_hash_end(&h, keys);
    memcpy(s.fields.key, keys, sizeof s.fields.key);
    memcpy(s.key, keys + sizeof s.fields.key, sizeof s.key);
    dp_status status = dpi_fields_open(&s.fields, err);
    if (status == DP_OK && s.fields.width > 0) {
        status = begin(&s, &arena, err);
        if (status == DP_OK)
            status = pass_twice(&s, sketches, err);
        for (size_t i = 0; i < s.n_columns; i++)
            (void)dpi_sketcher_end(&s.columns[i], NULL, NULL);
        for (size_t i = 0; i < s.n_blocks; i++)
            (void)dpi_sketcher_end(&s.blocks[i], NULL, NULL);
        (void)dpi_sketcher_end(&s.rows, NULL, NULL);
    }
    if (status != DP_OK)
        dpi_sketches_free(sketches);
    sodium_memzero(keys, sizeof keys);
    sodium_memzero(&s, sizeof s);
    dpi_arena_free(&arena);
    return status;
}
