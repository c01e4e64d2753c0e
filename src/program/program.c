/* Reading programs, and what all of the module needs. */
#include "program/program.h"

#include <math.h>
#include <string.h>

dp_program *dp_program_new(void)
{
    dp_program *p = dpi_alloc(1, sizeof *p);
    if (p != NULL)
        p->draws = 1;
    return p;
}

void dp_program_free(dp_program *p)
{
    if (p == NULL)
        return;
    dpi_arena_free(&p->arena);
    dpi_free(p);
}

const char *dp_stage_name(dp_stage_kind kind)
{
    static const char *const names[] = {
#define STAGE_NAME(name, text) [name] = text,
        DP_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
    };
    return (unsigned)kind < DP_N_STAGE_KINDS ? names[kind] : "?";
}

const char *dpi_stage_words(const dp_program *p, size_t k, char words[DPI_STAGE_WORDS])
{
    (void)snprintf(words, DPI_STAGE_WORDS, "stage %zu (%s)", k, dp_stage_name(p->stages[k].kind));
    return words;
}

size_t dp_program_stages(const dp_program *p)
{
    return p->n_stages;
}

const dp_stage *dp_program_stage(const dp_program *p, size_t k)
{
    if (k >= p->n_stages)
        dpi_misuse("dp_program_stage", "there are not so many stages");
    return &p->stages[k];
}

size_t dp_program_inputs(const dp_program *p)
{
    return p->n_stages > 0 ? p->stages[0].size : 0;
}

size_t dp_program_outputs(const dp_program *p)
{
    return p->n_stages > 0 ? p->stages[p->n_stages - 1].size : 0;
}

dp_program_number dp_program_number_at(const dp_program *p, size_t k)
{
    if (k >= dp_program_inputs(p))
        dpi_misuse("dp_program_number_at", "the input has not so many numbers");
    if (p->numbers != NULL)
        return p->numbers[k];
    dp_program_number number = p->common;
    number.factor[0].element = k;
    return number;
}

dp_link dp_program_link(const dp_program *p)
{
    return p->link;
}

size_t dp_program_draws(const dp_program *p)
{
    return p->draws;
}

int dp_program_bits(const dp_program *p)
{
    int most = 0;
    for (size_t k = 0; k < p->n_stages; k++)
        most = p->stages[k].bits > most ? p->stages[k].bits : most;
    return most;
}

int dpi_exponent(double x)
{
    int e;
    double mantissa = frexp(fabs(x), &e); /* in [.5, 1), or 0 */
    return mantissa == 0.5 ? e - 1 : e;
}

int dpi_bits(int64_t x)
{
    uint64_t size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    int bits = 0;
    while (bits < 64 && size >> bits != 0)
        bits++;
    return bits;
}

int64_t dpi_round_shift(int64_t v, int shift)
{
    if (shift == 0)
        return v;
    const int64_t half = (int64_t)1 << (shift - 1), unit = (int64_t)1 << shift;
    int64_t up = v + half, quotient = up / unit;
    return quotient - (up % unit < 0); /* division rounds to zero; the floor is meant */
}

static double apply_link(dp_link link, double x)
{
    switch (link) {
    case DP_LINK_LOGISTIC:
        return 1 / (1 + exp(-x));
    case DP_LINK_EXP:
        return exp(x);
    default:
        return x;
    }
}

/* Mean and sum of squares are updated draw by draw (Welford). */
void dp_program_decode(const dp_program *p, const int64_t *y, double *mean, double *sd)
{
    const dp_stage *last = dp_program_stage(p, p->n_stages - 1);
    size_t m = last->size / p->draws;
    for (size_t i = 0; i < m; i++)
        mean[i] = 0;
    if (sd != NULL)
        memset(sd, 0, m * sizeof *sd);
    for (size_t d = 0; d < p->draws; d++) {
        const int64_t *of = y + d * m;
        double most = -INFINITY, sum = 0;
        for (size_t i = 0; i < m; i++)
            most = fmax(most, ldexp((double)of[i], -last->fraction));
        for (size_t i = 0; i < m; i++)
            sum += exp(ldexp((double)of[i], -last->fraction) - most);
        for (size_t i = 0; i < m; i++) {
            double x = ldexp((double)of[i], -last->fraction);
            x = p->link == DP_LINK_SOFTMAX ? exp(x - most) / sum : apply_link(p->link, x);
            double away = x - mean[i];
            mean[i] += away / (double)(d + 1);
            if (sd != NULL)
                sd[i] += away * (x - mean[i]);
        }
    }
    for (size_t i = 0; sd != NULL && i < m; i++)
        sd[i] = p->draws > 1 ? sqrt(sd[i] / (double)(p->draws - 1)) : 0;
}
