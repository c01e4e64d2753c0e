/* Linear stages and maxima, for numbers of one type; included once for each, with
 *
 *   NUMBER     the type of the numbers, double or int64_t
 *   NAME(f)    the name of a function of that type
 *   WEIGHTS    the member of dp_stage that has the weights, BIAS that which has the bias
 *
 * Arrays as in tacit/program.h: a what the stage reads, y[size] what it makes. */

static void NAME(dense)(const dp_stage *s, const NUMBER *a, NUMBER *y)
{
    size_t n = s->n_weights / s->n_bias;
    for (size_t o = 0; o < s->n_bias; o++) {
        NUMBER sum = s->BIAS[o];
        for (size_t i = 0; i < n; i++)
            sum += (NUMBER)s->WEIGHTS[o * n + i] * a[i];
        y[o] = sum;
    }
}

static void NAME(convolution)(const dp_stage *s, const NUMBER *a, NUMBER *y)
{
    const dp_window *w = &s->window;
    size_t places = w->size[0] * w->size[1], out = s->n_bias, n = s->n_weights / out;
    size_t channels = n / places, stops = s->shape[0] * s->shape[1];
    for (size_t stop = 0; stop < stops; stop++, y += out) {
        for (size_t o = 0; o < out; o++)
            y[o] = s->BIAS[o];
        for (size_t k = 0; k < places; k++) {
            size_t pixel = dp_window_pixel(w, stop, k);
            if (pixel == SIZE_MAX)
                continue;
            const NUMBER *x = a + pixel * channels;
            for (size_t o = 0; o < out; o++)
                for (size_t c = 0; c < channels; c++)
                    y[o] += (NUMBER)s->WEIGHTS[o * n + k * channels + c] * x[c];
        }
    }
}

/* Sums of what the window sees, times `weight`. */
static void NAME(sum_pool)(const dp_stage *s, NUMBER weight, const NUMBER *a, NUMBER *y)
{
    const dp_window *w = &s->window;
    size_t channels = s->shape[2], stops = s->shape[0] * s->shape[1];
    for (size_t stop = 0; stop < stops; stop++, y += channels)
        for (size_t c = 0; c < channels; c++) {
            NUMBER sum = 0;
            for (size_t k = 0; k < w->size[0] * w->size[1]; k++) {
                size_t pixel = dp_window_pixel(w, stop, k);
                sum += pixel == SIZE_MAX ? 0 : a[pixel * channels + c];
            }
            y[c] = weight * sum;
        }
}

static void NAME(max_pool)(const dp_stage *s, const NUMBER *a, NUMBER *y)
{
    const dp_window *w = &s->window;
    size_t channels = s->shape[2], stops = s->shape[0] * s->shape[1];
    for (size_t stop = 0; stop < stops; stop++, y += channels)
        for (size_t c = 0; c < channels; c++) {
            bool first = true;
            for (size_t k = 0; k < w->size[0] * w->size[1]; k++) {
                size_t pixel = dp_window_pixel(w, stop, k);
                if (pixel == SIZE_MAX)
                    continue;
                NUMBER x = a[pixel * channels + c];
                y[c] = first || x > y[c] ? x : y[c];
                first = false;
            }
        }
}

static NUMBER NAME(largest)(size_t n, const NUMBER *a)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        best = a[i] > a[best] ? i : best;
    return (NUMBER)best;
}
