/* Writing a model down.
 *
 * One walk writes into memory or into a hash, so that the fingerprint covers what the bytes hold:
 * all fields of all attributes (graph/attr.h), whether the operation reads them or not. */
#include "model/store.h"

#include <sodium.h>
#include <string.h>

#include "graph/op.h"
#include "model/store-form.h"

const char *const dpi_site_kinds[] = {[DPI_LATENT] = "latent",
                                      [DPI_OBSERVED] = "observed",
                                      [DPI_PARAM] = "parameter",
                                      [DPI_DETERMINISTIC] = "deterministic",
                                      [DPI_FACTOR] = "factor"};
const size_t dpi_n_site_kinds = sizeof dpi_site_kinds / sizeof dpi_site_kinds[0];

/* Where to: one of the two. */
typedef struct sink {
    dpi_bytes *bytes;
    crypto_generichash_state *hash; /* without places */
} sink;

static void put(sink *s, const void *from, size_t n)
{
    if (s->bytes != NULL)
        dpi_bytes_add(s->bytes, from, n);
    else
        (void)crypto_generichash_update(s->hash, from, n);
}

static void put_number(sink *s, uint64_t number)
{
    unsigned char bytes[8];
    dpi_put_number(bytes, number);
    put(s, bytes, sizeof bytes);
}

static void put_text(sink *s, const char *text)
{
    static const unsigned char zeros[8];
    size_t length = text != NULL ? strlen(text) : 0;
    put_number(s, text != NULL ? length : UINT64_MAX);
    put(s, text != NULL ? text : "", length);
    put(s, zeros, (8 - length % 8) % 8);
}

static void put_place(sink *s, const dpi_where *where)
{
    if (s->bytes == NULL)
        return;
    put_text(s, where->file);
    put_number(s, (uint64_t)(int64_t)where->line);
}

static void put_shape(sink *s, const dpi_shape *shape)
{
    put_number(s, shape->per_record);
    put_number(s, (uint64_t)(int64_t)shape->n_dims);
    for (int i = 0; i < shape->n_dims; i++) {
        put_number(s, shape->dim[i]);
        put_number(s, (uint64_t)(int64_t)shape->plate[i]);
    }
}

/* A field of zeros, or an array that is not there, is left out. */
static bool is_put(const dpi_field *field, const dpi_attr *attr)
{
    if (field->kind == DPI_FIELD_ARRAY)
        return attr->array != NULL;
    for (size_t i = 0; i < field->count; i++)
        if (dpi_field_get(field, attr, i) != 0)
            return true;
    return false;
}

/* The set of fields that are there, then their elements. */
static void put_attr(sink *s, const dpi_attr *attr)
{
    uint64_t fields = 0;
    for (size_t k = 0; k < dpi_n_attr_fields; k++)
        if (is_put(&dpi_attr_fields[k], attr))
            fields |= (uint64_t)1 << k;
    put_number(s, fields);
    for (size_t k = 0; k < dpi_n_attr_fields; k++) {
        const dpi_field *field = &dpi_attr_fields[k];
        size_t n = (fields >> k & 1) != 0 ? dpi_field_size(field, attr) : 0;
        for (size_t i = 0; i < n; i++)
            put_number(s, dpi_field_get(field, attr, i));
    }
}

static void put_node(sink *s, const dpi_node *node)
{
    put_text(s, node->op->name);
    put_text(s, node->name);
    put_place(s, &node->where);
    put_number(s, (uint64_t)(int64_t)node->in[0]);
    put_number(s, (uint64_t)(int64_t)node->in[1]);
    put_shape(s, &node->shape);
    put_attr(s, &node->attr);
}

static void put_site(sink *s, const dpi_site *site)
{
    int n_args = site->family != NULL ? site->family->n_args : 0;
    put_text(s, dpi_site_kinds[site->kind]);
    put_text(s, site->name);
    put_place(s, &site->where);
    put_number(s, (uint64_t)(int64_t)site->value);
    put_text(s, site->family != NULL ? site->family->name : NULL);
    put_number(s, (uint64_t)n_args);
    for (int k = 0; k < n_args; k++)
        put_number(s, (uint64_t)(int64_t)site->arg[k]);
    put_number(s, (uint64_t)site->start.init.rule);
    put_number(s, dpi_bits_of(site->start.init.value));
    put_number(s, site->start.init.places);
    put_number(s, site->start.seed);
}

static void put_model(sink *s, const dp_model *m)
{
    put_number(s, DPI_MODEL_MAGIC);
    put_number(s, DPI_MODEL_VERSION);
    put_number(s, m->of != NULL);
    put_number(s, m->n_plates);
    put_number(s, m->graph.n_nodes);
    put_number(s, m->n_sites);
    for (size_t i = 0; i < m->n_plates; i++) {
        put_text(s, m->plates[i].name);
        put_number(s, m->plates[i].size);
    }
    for (size_t i = 0; i < m->graph.n_nodes; i++)
        put_node(s, dpi_get(&m->graph, (dpi_id)i));
    for (size_t i = 0; i < m->n_sites; i++)
        put_site(s, &m->sites[i]);
}

dp_status dpi_model_store(const dp_model *m, dpi_bytes *out, dp_error *err)
{
    if (m->err.status != DP_OK)
        return dpi_fail(err, m->err.status, "%s", m->err.text);
    sink s = {.bytes = out};
    put_model(&s, m);
    return out->failed ? dpi_fail_nomem(err) : DP_OK;
}

void dp_model_hash(const dp_model *m, unsigned char hash[DP_MODEL_HASH])
{
    dpi_model_print(m, hash);
}

void dpi_model_print(const dp_model *model, unsigned char print[DPI_PRINT])
{
    crypto_generichash_state hash;
    memset(print, 0, DPI_PRINT);
    if (model == NULL)
        return;
    (void)crypto_generichash_init(&hash, NULL, 0, DPI_PRINT);
    sink s = {.hash = &hash};
    put_model(&s, model);
    (void)crypto_generichash_final(&hash, print, DPI_PRINT);
}
