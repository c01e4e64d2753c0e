/* Sums of encrypted columns: a picture with a channel a row and a number a column, to which the
 * other side applies one filter of 1 x 1, its numbers. */
#include "silo/columns-sum.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

static dp_status plan(dpi_columns_sum *c, const dpi_lattice_shape *shape, double bits,
                      dp_error *err)
{
    dpi_bfv_spec spec;
    dp_status status = dpi_lattice_choose(1, shape, DPI_COLUMNS_SUM_BITS, bits, &spec, err);
    if (status == DP_OK)
        status = dpi_bfv_new(&spec, &c->f, err);
    if (status == DP_OK)
        status = dpi_lattice_plan_make(c->f, shape, &c->plan, err);
    if (status == DP_OK)
        c->offer_bytes = dpi_bfv_cipher_size(c->f) + c->plan.query_bytes;
    return status;
}

dp_status dpi_columns_sum_new(size_t rows, size_t columns, int64_t s_most, double bits,
                              dpi_columns_sum **sum, dp_error *err)
{
    *sum = NULL;
    if (columns < 1 || columns > DPI_COLUMNS_SUM_MOST || rows < 1 || rows > 1 << 20 || s_most < 1 ||
        s_most > 1 << 30)
        return dpi_fail(err, DP_ESHAPE,
                        "%zu rows of %zu columns and numbers up to %lld; there may be 2^20, %d and "
                        "2^30",
                        rows, columns, (long long)s_most, (int)DPI_COLUMNS_SUM_MOST);
    const dpi_lattice_shape shape = {rows, 1, columns, 1, 1, 1, 1, 0, s_most};
    dpi_columns_sum *c = dpi_alloc(1, sizeof *c);
    dp_status status = c != NULL ? plan(c, &shape, bits, err) : dpi_fail_nomem(err);
    if (status == DP_OK)
        *sum = c;
    else
        dpi_columns_sum_free(c);
    return status;
}

void dpi_columns_sum_free(dpi_columns_sum *c)
{
    if (c == NULL)
        return;
    if (c->secret != NULL)
        dpi_bfv_secret_free(c->secret);
    dpi_lattice_queries_free(c->columns);
    if (c->key != NULL)
        dpi_bfv_cipher_free(c->key);
    dpi_bfv_free(c->f);
    dpi_free(c);
}

dp_status dpi_columns_sum_offer(dpi_columns_sum *c, const int64_t *x, dpi_rlwe_stream *random,
                                unsigned char *to, dp_error *err)
{
    if (c->secret != NULL || c->columns != NULL)
        return dpi_fail(err, DP_ESTATE, "columns are offered once, by their owner");
    dpi_bfv_cipher *key = NULL;
    dp_status status = dpi_bfv_secret_new(c->f, random, &c->secret, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_new(c->f, &key, err);
    if (status == DP_OK)
        status = dpi_bfv_encrypt(c->f, c->secret, NULL, random, key, err);
    if (status == DP_OK) {
        dpi_bfv_cipher_write(c->f, key, to);
        status =
            dpi_lattice_query(&c->plan, c->secret, x, random, to + dpi_bfv_cipher_size(c->f), err);
    }
    if (key != NULL)
        dpi_bfv_cipher_free(key);
    if (status != DP_OK)
        memset(to, 0, c->offer_bytes);
    return status;
}

dp_status dpi_columns_sum_take(dpi_columns_sum *c, size_t n_bytes, const unsigned char *from,
                               dp_error *err)
{
    if (c->columns != NULL || c->secret != NULL)
        return dpi_fail(err, DP_ESTATE, "columns are taken once, and not by their owner");
    if (n_bytes != c->offer_bytes)
        return dpi_fail(err, DP_EPEER, "columns of %zu bytes came, of %zu were expected", n_bytes,
                        c->offer_bytes);
    const size_t size = dpi_bfv_cipher_size(c->f);
    dpi_lattice_queries *columns = NULL;
    dp_status status = c->key != NULL ? DP_OK : dpi_bfv_cipher_new(c->f, &c->key, err);
    if (status == DP_OK)
        status = dpi_bfv_cipher_read(c->f, size, from, c->key, err);
    if (status == DP_OK)
        status = dpi_lattice_queries_new(c->f, c->plan.queries, &columns, err);
    if (status == DP_OK)
        status = dpi_lattice_read(&c->plan, 0, c->plan.queries, from + size, columns, err);
    if (status == DP_OK)
        c->columns = columns;
    else
        dpi_lattice_queries_free(columns);
    return status;
}

dp_status dpi_columns_sum_answer(dpi_columns_sum *c, const int32_t *s, const int64_t *added,
                                 dpi_rlwe_stream *random, unsigned char *to, dp_error *err)
{
    if (c->columns == NULL)
        return dpi_fail(err, DP_ESTATE, "there are no columns yet to answer for");
    dpi_lattice_layer *layer;
    dp_status status = dpi_lattice_layer_new(&c->plan, s, &layer, err);
    if (status != DP_OK)
        return status;
    const dpi_lattice_ask ask = {layer, c->columns, c->key, added};
    status = dpi_lattice_answer_some(&ask, 0, c->plan.answers, random, to, err);
    if (status != DP_OK)
        memset(to, 0, c->plan.answer_bytes);
    dpi_lattice_layer_free(layer);
    return status;
}

dp_status dpi_columns_sum_open(dpi_columns_sum *c, size_t n_bytes, const unsigned char *from,
                               int64_t *result, dp_error *err)
{
    if (c->secret != NULL)
        return dpi_lattice_open(&c->plan, c->secret, n_bytes, from, result, err);
    memset(result, 0, c->plan.outputs * sizeof *result);
    return dpi_fail(err, DP_ESTATE, "only who has offered columns opens answers");
}
