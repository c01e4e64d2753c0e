/* How a layer is computed: digits of its weights, and the method and window of least work.
 *
 * A weight is sign times sum_j d_j 2^{c j} with digits in -2^{c-1} + 1 ... 2^{c-1}, those of |w|
 * with the sign put on afterwards: the digits of two's complement lose a carry at the ends.  For T
 * terms an output, D digits and B = 2^{c-1},
 *
 *   buckets (Pippenger)  D (T + 2 B) + c (D - 1) products
 *   tables (Straus)      D T + c (D - 1), and 2 (B - 1) for each input once
 *
 * (the names: Bernstein, Doumen, Lange and Oosterwijk, Indocrypt 2012). */
#include "crypto/dense-plan.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { WIDEST = 12, LARGE_TABLE = 1 << 15 /* residues, 32 MB at 3072 bits */ };

static size_t count_windows(unsigned bits, unsigned window)
{
    return (bits + 1 + window - 1) / window;
}

/* Products for each output. */
static double cost_of(const dpi_dense_layer *l, double terms, dpi_dense_method method,
                      unsigned window)
{
    double digits = (double)count_windows(l->weight_bits, window);
    double largest = (double)((size_t)1 << (window - 1)), squarings = window * (digits - 1);
    if (method == DPI_DENSE_BUCKETS)
        return digits * (terms + 2 * largest) + squarings;
    if (2 * largest * (double)l->inputs > LARGE_TABLE && window > 1)
        return INFINITY;
    return digits * terms + squarings + 2 * (largest - 1) * (double)l->inputs / (double)l->outputs;
}

/* The cost of an output with the method and window that are asked for, or the best, which are
 * set. */
static double choose(const dpi_dense_layer *l, dpi_dense_method method, unsigned window,
                     dpi_dense *d)
{
    double terms =
        l->begin == NULL ? (double)l->inputs : (double)l->begin[l->outputs] / (double)l->outputs;
    double least = INFINITY;
    for (int way = DPI_DENSE_BUCKETS; way <= DPI_DENSE_TABLES; way++)
        for (unsigned c = 1; c <= WIDEST; c++) {
            double cost = cost_of(l, terms, (dpi_dense_method)way, c);
            if ((method != DPI_DENSE_BEST && method != (dpi_dense_method)way) ||
                (window != 0 && window != c) || !(cost < least))
                continue;
            least = cost;
            d->method = (dpi_dense_method)way;
            d->window = c;
        }
    return least;
}

/* Inputs are brought into form and inverted by four products each, on one thread. */
double dpi_dense_cost(const dpi_dense_layer *layer)
{
    dpi_dense d;
    size_t eights = (layer->outputs + DPI_LANES - 1) / DPI_LANES;
    double each = choose(layer, DPI_DENSE_BEST, 0, &d), calls = (double)((eights + 1) / 2);
    return 4 * ceil((double)layer->inputs / DPI_LANES) + calls * each;
}

static dp_status check_terms(const dpi_dense_layer *l, dp_error *err)
{
    if (l->begin == NULL) {
        size_t expected;
        if (!dpi_mul(l->inputs, l->outputs, &expected) || expected != l->n_weights)
            return dpi_fail(err, DP_EINVAL, "a layer of %zu inputs and %zu outputs has %zu weights",
                            l->inputs, l->outputs, l->n_weights);
        return DP_OK;
    }
    bool good = l->begin[0] == 0;
    for (size_t o = 0; o < l->outputs; o++)
        good = good && l->begin[o] <= l->begin[o + 1];
    for (size_t t = 0; good && t < l->begin[l->outputs]; t++)
        good = l->input[t] < l->inputs && l->weight[t] < l->n_weights;
    return good ? DP_OK
                : dpi_fail(err, DP_EINVAL, "a term of a layer is beyond its inputs or weights");
}

static uint64_t magnitude_of(int32_t weight)
{
    return weight < 0 ? (uint64_t)0 - (uint64_t)(int64_t)weight : (uint64_t)weight;
}

static dp_status check_layer(const dpi_dense_layer *l, unsigned window, dp_error *err)
{
    if (l->inputs == 0 || l->outputs == 0 || l->weight_bits < 1 || l->weight_bits > 32 ||
        window > WIDEST)
        return dpi_fail(err, DP_EINVAL,
                        "a layer of %zu inputs, %zu outputs and weights of %u bits in windows of "
                        "%u; at least 1, 1, and 1 to 32, at most %d",
                        l->inputs, l->outputs, l->weight_bits, window, (int)WIDEST);
    for (size_t w = 0; w < l->n_weights; w++)
        if (magnitude_of(l->weights[w]) >> l->weight_bits != 0)
            return dpi_fail(err, DP_EDOMAIN,
                            "a weight of a layer has more than the %u bits that were declared",
                            l->weight_bits);
    return check_terms(l, err);
}

static void write_digits(const dpi_dense *d, int32_t weight, int16_t *digits)
{
    uint64_t left = magnitude_of(weight), mask = ((uint64_t)1 << d->window) - 1;
    for (size_t j = 0; j < d->windows; j++) {
        int digit = (int)(left & mask);
        left >>= d->window;
        if ((size_t)digit > d->largest) {
            digit -= (int)mask + 1;
            left++;
        }
        digits[j] = (int16_t)(weight < 0 ? -digit : digit);
    }
}

/* A copy of n items, or NULL of NULL; *failed is set when memory is out. */
static void *copy_of(const void *from, size_t n, size_t size, bool *failed)
{
    if (from == NULL)
        return NULL;
    void *copy = dpi_alloc(n, size);
    if (copy == NULL)
        *failed = true;
    else
        memcpy(copy, from, n * size);
    return copy;
}

dp_status dpi_dense_new(const dpi_dense_layer *layer, dpi_dense_method method, unsigned window,
                        dpi_dense **dense, dp_error *err)
{
    *dense = NULL;
    dp_status status = check_layer(layer, window, err);
    if (status != DP_OK)
        return status;
    dpi_dense *d = dpi_alloc(1, sizeof *d);
    if (d == NULL)
        return dpi_fail_nomem(err);
    bool failed = false;
    size_t terms = layer->begin == NULL ? 0 : layer->begin[layer->outputs], cells = 0;
    *d = (dpi_dense){.inputs = layer->inputs,
                     .outputs = layer->outputs,
                     .slots = layer->slots,
                     .method = DPI_DENSE_BUCKETS,
                     .window = 1};
    (void)choose(layer, method, window, d);
    d->windows = count_windows(layer->weight_bits, d->window);
    d->largest = (size_t)1 << (d->window - 1);
    d->powers = d->method == DPI_DENSE_BUCKETS ? 1 : d->largest;
    d->begin = copy_of(layer->begin, layer->outputs + 1, sizeof *d->begin, &failed);
    d->input =
        layer->begin == NULL ? NULL : copy_of(layer->input, terms, sizeof *d->input, &failed);
    d->weight =
        layer->begin == NULL ? NULL : copy_of(layer->weight, terms, sizeof *d->weight, &failed);
    d->bias = copy_of(layer->bias, layer->outputs, sizeof *d->bias, &failed);
    failed = !dpi_mul(layer->n_weights, d->windows, &cells) || failed;
    d->digits = dpi_alloc(cells, sizeof *d->digits);
    if (failed || d->digits == NULL) {
        dpi_dense_free(d);
        return dpi_fail_nomem(err);
    }
    for (size_t w = 0; w < layer->n_weights; w++)
        write_digits(d, layer->weights[w], d->digits + w * d->windows);
    *dense = d;
    return DP_OK;
}

void dpi_dense_free(dpi_dense *dense)
{
    if (dense == NULL)
        return;
    dpi_free(dense->begin);
    dpi_free(dense->input);
    dpi_free(dense->weight);
    dpi_free(dense->bias);
    dpi_free(dense->digits);
    dpi_free(dense);
}

dpi_dense_method dpi_dense_how(const dpi_dense *dense, unsigned *window)
{
    *window = dense->window;
    return dense->method;
}
