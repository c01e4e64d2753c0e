/* What each number of a stage lies between, by exact integer arithmetic.
 *
 * A weight meets the end of an interval that its sign chooses.  Every other stage but a square
 * grows with each number that it reads, so that its ends are what it makes of the ends, once it is
 * known that no sum of them can overflow. */
#include "program/program.h"

/* *sum += w x; false when that leaves DPI_PROGRAM_MOST_BITS. */
static bool add_product(int64_t w, int64_t x, int64_t *sum)
{
    const int64_t most = ((int64_t)1 << DPI_PROGRAM_MOST_BITS) - 1;
    int64_t size = x < 0 ? -x : x;
    if (w != 0 && size > most / (w < 0 ? -w : w))
        return false;
    *sum += w * x; /* both within 2^62 */
    return *sum <= most && *sum >= -most;
}

static bool add_term(int64_t w, const int64_t ends[2], int64_t sum[2])
{
    return add_product(w, ends[w < 0], &sum[0]) && add_product(w, ends[w >= 0], &sum[1]);
}

static bool dense_range(const dp_program *p, const dp_stage *s, int64_t *low, int64_t *high)
{
    const int64_t *a = p->low[s->in[0]], *b = p->high[s->in[0]];
    size_t n = s->n_weights / s->n_bias;
    for (size_t o = 0; o < s->n_bias; o++) {
        int64_t sum[2] = {s->bias[o], s->bias[o]};
        for (size_t i = 0; i < n; i++)
            if (!add_term(s->weights[o * n + i], (const int64_t[2]){a[i], b[i]}, sum))
                return false;
        low[o] = sum[0];
        high[o] = sum[1];
    }
    return true;
}

/* Of output o at a stop. */
static bool stop_range(const dp_program *p, const dp_stage *s, size_t stop, size_t o,
                       int64_t sum[2])
{
    const int64_t *a = p->low[s->in[0]], *b = p->high[s->in[0]];
    size_t places = s->window.size[0] * s->window.size[1], n = s->n_weights / s->n_bias;
    size_t channels = n / places;
    sum[0] = sum[1] = s->bias[o];
    for (size_t k = 0; k < places; k++) {
        size_t pixel = dp_window_pixel(&s->window, stop, k);
        for (size_t c = 0; pixel != SIZE_MAX && c < channels; c++) {
            const int64_t ends[2] = {a[pixel * channels + c], b[pixel * channels + c]};
            if (!add_term(s->weights[o * n + k * channels + c], ends, sum))
                return false;
        }
    }
    return true;
}

static bool convolution_range(const dp_program *p, const dp_stage *s, int64_t *low, int64_t *high)
{
    for (size_t i = 0; i < s->size; i++) {
        int64_t sum[2];
        if (!stop_range(p, s, i / s->n_bias, i % s->n_bias, sum))
            return false;
        low[i] = sum[0];
        high[i] = sum[1];
    }
    return true;
}

static int input_bits(const dp_program *p, int stage)
{
    return stage < 0 ? 0 : p->stages[stage].bits;
}

/* Bits that a stage which is not linear in signed weights can need at most. */
static int most_bits(const dp_program *p, const dp_stage *s)
{
    int a = input_bits(p, s->in[0]) + s->lift[0], b = input_bits(p, s->in[1]) + s->lift[1];
    if (s->kind == DP_STAGE_ADD)
        return 1 + (a > b ? a : b);
    if (s->kind == DP_STAGE_SQUARE)
        return 2 * (a - s->shift + 1);
    if (s->kind == DP_STAGE_AVERAGE_POOL)
        return a + dpi_bits(s->weights[0]) +
               dpi_bits((int64_t)(s->window.size[0] * s->window.size[1]));
    return a;
}

/* Squares of two ends: the least is 0 where these are on two sides of it. */
static void order_squares(size_t n, const int64_t *from, const int64_t *to, int64_t *low,
                          int64_t *high)
{
    for (size_t i = 0; i < n; i++) {
        const int64_t a = low[i], b = high[i];
        high[i] = a > b ? a : b;
        low[i] = from[i] < 0 && to[i] > 0 ? 0 : a < b ? a : b;
    }
}

bool dpi_program_range(const dp_program *p, size_t k, int64_t *low, int64_t *high)
{
    const dp_stage *s = &p->stages[k];
    if (s->kind == DP_STAGE_DENSE)
        return dense_range(p, s, low, high);
    if (s->kind == DP_STAGE_CONVOLUTION)
        return convolution_range(p, s, low, high);
    if (s->kind == DP_STAGE_ARGMAX) {
        low[0] = 0;
        high[0] = (int64_t)p->stages[s->in[0]].size - 1;
        return true;
    }
    if (most_bits(p, s) > DPI_PROGRAM_MOST_BITS)
        return false;
    bool two = s->in[1] >= 0;
    dpi_stage_run(p, k, p->low[s->in[0]], two ? p->low[s->in[1]] : NULL, low);
    dpi_stage_run(p, k, p->high[s->in[0]], two ? p->high[s->in[1]] : NULL, high);
    if (s->kind == DP_STAGE_SQUARE)
        order_squares(s->size, p->low[s->in[0]], p->high[s->in[0]], low, high);
    return true;
}
