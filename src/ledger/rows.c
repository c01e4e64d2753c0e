/* Rows of the ledger: numbers as text, ranges, seals. */
#include "ledger/rows.h"

#include <math.h>
#include <string.h>

const char dpi_data_columns[] =
    "id, name, path, hash, epsilon, delta, adjacency, unit, added, updated, overlap, seal";
const char dpi_entry_columns[] =
    "id, data, made, settled, label, columns, model, print, owner, seal";
const char dpi_part_columns[] =
    "place, sampling, noise, adjacency, sigma, rate, epoch, records, cap, unit_rows, categories,"
    " jumps, chances, planned, reserved, begun";

void dpi_real_text(double value, char text[DPI_REAL_TEXT])
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 16; i++)
        text[i] = "0123456789abcdef"[bits >> (60 - 4 * i) & 15];
    text[16] = 0;
}

/* 16 digits, followed by anything. */
static bool parse_digits(const char *text, double *value)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t bits = 0;
    for (int i = 0; i < 16; i++) {
        const char *digit = text[i] != 0 ? strchr(digits, text[i]) : NULL;
        if (digit == NULL)
            return false;
        bits = bits << 4 | (uint64_t)(digit - digits);
    }
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool dpi_real_parse(const char *text, double *value)
{
    return text != NULL && strlen(text) == 16 && parse_digits(text, value);
}

static const char *copy(dpi_query *q, int column, dpi_arena *arena, bool *nomem)
{
    const char *text = dpi_row_text(q, column);
    char *copied = text != NULL ? dpi_arena_strdup(arena, text) : NULL;
    *nomem = *nomem || (text != NULL && copied == NULL);
    return copied;
}

bool dpi_data_row(dpi_query *q, dpi_arena *arena, dpi_data *data, bool *nomem)
{
    *data = (dpi_data){.id = dpi_row_number(q, 0),
                       .name = copy(q, 1, arena, nomem),
                       .path = copy(q, 2, arena, nomem),
                       .added = dpi_row_number(q, 8),
                       .updated = dpi_row_number(q, 9),
                       .overlap_allowed = dpi_row_number(q, 10) != 0};
    dp_budget *b = &data->budget;
    int64_t adjacency = dpi_row_number(q, 6);
    b->adjacency = adjacency == DP_REPLACE_ONE ? DP_REPLACE_ONE : DP_ADD_REMOVE;
    b->unit = copy(q, 7, arena, nomem);
    return dpi_row_bytes(q, 3, data->hash, sizeof data->hash) && data->name != NULL &&
           dpi_real_parse(dpi_row_text(q, 4), &b->epsilon) &&
           dpi_real_parse(dpi_row_text(q, 5), &b->delta) && b->epsilon > 0 &&
           isfinite(b->epsilon) && b->delta > 0 && b->delta < 1 && adjacency == b->adjacency;
}

bool dpi_entry_row(dpi_query *q, dpi_arena *arena, dpi_entry *entry, bool *nomem)
{
    *entry = (dpi_entry){.id = (uint64_t)dpi_row_number(q, 0),
                         .data = dpi_row_number(q, 1),
                         .made = dpi_row_number(q, 2),
                         .settled = dpi_row_number(q, 3),
                         .label = copy(q, 4, arena, nomem),
                         .columns = copy(q, 5, arena, nomem),
                         .model = copy(q, 6, arena, nomem)};
    bool print = dpi_row_bytes(q, 7, entry->print, sizeof entry->print);
    return dpi_row_bytes(q, 8, entry->owner, sizeof entry->owner) && print;
}

/* A list of at most 64 numbers, 16 digits each. */
static bool read_numbers(const char *text, dpi_arena *arena, const double **list, size_t *n,
                         bool *nomem)
{
    size_t length = text != NULL ? strlen(text) : 1;
    *n = length / 16;
    *list = NULL;
    if (length % 16 != 0 || *n > DPI_MOST_JUMPS)
        return false;
    double *values = *n > 0 ? dpi_arena_alloc(arena, *n, sizeof *values) : NULL;
    if (*n > 0 && values == NULL) {
        *nomem = true;
        return false;
    }
    for (size_t i = 0; i < *n; i++)
        if (!parse_digits(text + 16 * i, &values[i]))
            return false;
    *list = values;
    return true;
}

/* A count: not negative, or the reading fails. */
static uint64_t counted(dpi_query *q, int column, bool *good)
{
    int64_t value = dpi_row_number(q, column);
    *good = *good && value >= 0;
    return (uint64_t)value;
}

bool dpi_entry_part_row(dpi_query *q, dpi_arena *arena, dpi_entry_part *part, bool *nomem)
{
    bool good = true;
    uint64_t sampling = counted(q, 1, &good), noise = counted(q, 2, &good),
             adjacency = counted(q, 3, &good);
    *part = (dpi_entry_part){.planned = counted(q, 13, &good), .begun = counted(q, 15, &good)};
    dp_mechanism *m = &part->mechanism;
    m->epoch = counted(q, 6, &good);
    m->records = counted(q, 7, &good);
    m->cap = counted(q, 8, &good);
    uint64_t rows = counted(q, 9, &good), categories = counted(q, 10, &good);
    m->steps = counted(q, 14, &good);
    if (!good || sampling > DP_SAMPLING_SHUFFLE || noise > DP_NOISE_ALL_OR_NOTHING ||
        adjacency > DP_REPLACE_ONE || rows > UINT32_MAX || categories > UINT32_MAX)
        return false;
    m->sampling = (dp_sampling)sampling;
    m->noise = (dp_noise_law)noise;
    m->adjacency = (dp_adjacency)adjacency;
    m->rows = (uint32_t)rows;
    m->categories = (uint32_t)categories;
    size_t n_chances;
    return dpi_real_parse(dpi_row_text(q, 4), &m->sigma) &&
           dpi_real_parse(dpi_row_text(q, 5), &m->rate) &&
           read_numbers(dpi_row_text(q, 11), arena, &m->jumps, &m->n_jumps, nomem) &&
           read_numbers(dpi_row_text(q, 12), arena, &m->chances, &n_chances, nomem) &&
           n_chances == m->n_jumps && part->begun <= m->steps;
}

void dpi_data_seal(const dp_ledger *ledger, const dpi_data *data, unsigned char seal[DPI_HASH])
{
    crypto_generichash_state h;
    dpi_hash_begin(&h, ledger, "row of data");
    dpi_hash_number(&h, (uint64_t)data->id);
    dpi_hash_text(&h, data->name);
    dpi_hash_text(&h, data->path);
    dpi_hash_bytes(&h, data->hash, sizeof data->hash);
    dpi_hash_real(&h, data->budget.epsilon);
    dpi_hash_real(&h, data->budget.delta);
    dpi_hash_number(&h, (uint64_t)data->budget.adjacency);
    dpi_hash_text(&h, data->budget.unit);
    dpi_hash_number(&h, (uint64_t)data->added);
    dpi_hash_number(&h, (uint64_t)data->updated);
    if (data->overlap_allowed) /* else as before format 4 */
        dpi_hash_text(&h, "overlap allowed");
    dpi_hash_end(&h, seal);
}

/* All but the steps. */
static void hash_mechanism(crypto_generichash_state *h, const dp_mechanism *m)
{
    dpi_hash_number(h, (uint64_t)m->sampling);
    dpi_hash_number(h, (uint64_t)m->noise);
    dpi_hash_number(h, (uint64_t)m->adjacency);
    dpi_hash_real(h, m->sigma);
    dpi_hash_real(h, m->rate);
    dpi_hash_number(h, m->epoch);
    dpi_hash_number(h, m->records);
    dpi_hash_number(h, m->cap);
    dpi_hash_number(h, m->rows);
    dpi_hash_number(h, m->categories);
    dpi_hash_number(h, m->n_jumps);
    for (size_t i = 0; i < m->n_jumps; i++) {
        dpi_hash_real(h, m->jumps[i]);
        dpi_hash_real(h, m->chances[i]);
    }
}

static void hash_part(crypto_generichash_state *h, const dpi_entry_part *part)
{
    hash_mechanism(h, &part->mechanism);
    dpi_hash_number(h, part->planned);
    dpi_hash_number(h, part->mechanism.steps);
    dpi_hash_number(h, part->begun);
}

void dpi_entry_seal(const dp_ledger *ledger, const dpi_entry *entry, unsigned char seal[DPI_HASH])
{
    crypto_generichash_state h;
    dpi_hash_begin(&h, ledger, "row of entry");
    dpi_hash_number(&h, entry->id);
    dpi_hash_number(&h, (uint64_t)entry->data);
    dpi_hash_number(&h, (uint64_t)entry->made);
    dpi_hash_number(&h, (uint64_t)entry->settled);
    dpi_hash_text(&h, entry->label);
    dpi_hash_text(&h, entry->columns);
    dpi_hash_text(&h, entry->model);
    dpi_hash_bytes(&h, entry->print, sizeof entry->print);
    dpi_hash_bytes(&h, entry->owner, sizeof entry->owner);
    dpi_hash_number(&h, entry->n);
    for (size_t i = 0; i < entry->n; i++)
        hash_part(&h, &entry->parts[i]);
    dpi_hash_end(&h, seal);
}

void dpi_data_version(const dp_ledger *ledger, const dpi_data *data, const dpi_entry *entry,
                      unsigned char version[DPI_HASH])
{
    crypto_generichash_state h;
    unsigned char seal[DPI_HASH];
    dpi_hash_begin(&h, ledger, "version");
    dpi_data_seal(ledger, data, seal);
    dpi_hash_bytes(&h, seal, sizeof seal);
    dpi_hash_number(&h, data->n);
    for (size_t i = 0; i < data->n; i++) {
        dpi_hash_number(&h, data->entries[i].n);
        for (size_t k = 0; k < data->entries[i].n; k++) {
            const dp_mechanism *m = &data->entries[i].parts[k].mechanism;
            hash_mechanism(&h, m);
            dpi_hash_number(&h, m->steps);
        }
    }
    if (entry != NULL) {
        dpi_entry_seal(ledger, entry, seal);
        dpi_hash_bytes(&h, seal, sizeof seal);
    }
    dpi_hash_end(&h, version);
}
