/* Scales in decimals, as PP-Stream chooses them (ICDE 2024): all parameters are rounded to 0, 1,
 * 2, ... decimals until as good a share of the training records is answered right as before.
 *
 * Only real stages are looked at; numbers of records are compared, so that no quotient decides. */
#include <math.h>
#include <string.h>

#include "program/program.h"

enum { MOST_DECIMALS = 15, SHARE = 10000 /* a change below one in so many stops the search */ };

/* ---- rounding ---- */

static void round_all(double unit, size_t n, const double *from, double *to)
{
    for (size_t i = 0; i < n; i++)
        to[i] = nearbyint(from[i] * unit) / unit;
}

/* The real stages of a program with other weights and biases; all else is shared with it. */
typedef struct rounded {
    dp_program program; /* which only runs */
    double *numbers;    /* its own; NULL where nothing is rounded */
} rounded;

static void close_rounded(rounded *r)
{
    if (r->numbers != NULL)
        dpi_free(r->program.stages);
    dpi_free(r->numbers);
}

/* decimals < 0: as they are.  False: no memory. */
static bool open_rounded(const dp_program *p, int decimals, rounded *r)
{
    size_t room = 1;
    *r = (rounded){.program = *p};
    r->program.fixed = true;
    if (decimals < 0)
        return true;
    for (size_t k = 0; k < p->n_stages; k++)
        room += p->stages[k].n_bias > 0 ? p->stages[k].n_weights + p->stages[k].n_bias : 0;
    dp_stage *stages = r->program.stages = dpi_alloc(p->n_stages, sizeof *stages);
    double *at = r->numbers = stages != NULL ? dpi_alloc(room, sizeof *at) : NULL;
    if (at == NULL) {
        dpi_free(stages);
        return false;
    }
    memcpy(stages, p->stages, p->n_stages * sizeof *stages);
    for (dp_stage *s = stages; s < stages + p->n_stages; s++) {
        if (s->n_bias == 0)
            continue;
        round_all(pow(10, decimals), s->n_weights, s->real_weights, at);
        round_all(pow(10, decimals), s->n_bias, s->real_bias, at + s->n_weights);
        s->real_weights = at;
        s->real_bias = at + s->n_weights;
        at += s->n_weights + s->n_bias;
    }
    return true;
}

/* ---- counting ---- */

static int32_t class_of(const dp_program *p, size_t m, const double *y)
{
    size_t best = 0;
    if (p->stages[p->n_stages - 1].kind == DP_STAGE_ARGMAX)
        return (int32_t)y[0];
    for (size_t k = 1; k < m; k++)
        best = y[k] > y[best] ? k : best;
    return m == 1 ? y[0] > 0 : (int32_t)best;
}

/* Records that are answered right; decimals < 0: nothing is rounded. */
static dp_status count_right(const dp_program *p, int decimals, const dp_labelled *r, size_t *right,
                             dp_error *err)
{
    rounded q;
    const size_t m = dp_program_outputs(p);
    double *y = dpi_alloc(r->n, m * sizeof *y);
    if (y == NULL || !open_rounded(p, decimals, &q)) {
        dpi_free(y);
        return dpi_fail_nomem(err);
    }
    dp_status status = dp_program_run(&q.program, r->n, r->x, y, err);
    *right = 0;
    for (size_t i = 0; status == DP_OK && i < r->n; i++)
        *right += class_of(p, m, y + i * m) == r->label[i];
    close_rounded(&q);
    dpi_free(y);
    return status;
}

/* ---- public ---- */

static dp_status check(const dp_program *p, const dp_labelled *r, dp_error *err)
{
    if (p->err.status != DP_OK)
        return dpi_fail(err, p->err.status, "%s", p->err.text);
    if (p->sheet || p->n_stages < 2)
        return dpi_fail(err, DP_ESTATE,
                        p->sheet ? "the sheet of a program has no weights; ask its provider"
                                 : "the program has no stage but the input");
    if (p->draws > 1)
        return dpi_fail(err, DP_EUNSUPPORTED,
                        "%zu posterior draws side by side say no class; lower the fit without "
                        "draws",
                        p->draws);
    if (r->n == 0)
        return dpi_fail(err, DP_EDATA, "of no records there is no share that is right");
    return DP_OK;
}

dp_status dp_program_accuracy(const dp_program *p, int decimals, const dp_labelled *records,
                              double *share, dp_error *err)
{
    size_t right;
    *share = NAN;
    dp_status status = check(p, records, err);
    if (status == DP_OK && decimals > MOST_DECIMALS)
        return dpi_fail(err, DP_EINVAL, "%d decimals are more than the %d that are allowed",
                        decimals, MOST_DECIMALS);
    if (status == DP_OK)
        status = count_right(p, decimals, records, &right, err);
    if (status == DP_OK)
        *share = (double)right / (double)records->n;
    return status;
}

static bool is_near(uint64_t a, uint64_t b, size_t n)
{
    return (a > b ? a - b : b - a) * SHARE < n;
}

dp_status dp_program_decimals(const dp_program *p, const dp_labelled *records, int *decimals,
                              dp_error *err)
{
    size_t exact, right;
    *decimals = -1;
    dp_status status = check(p, records, err);
    if (status == DP_OK)
        status = count_right(p, -1, records, &exact, err);
    int f = 0;
    for (; status == DP_OK && f < DP_PROGRAM_DECIMALS; f++) {
        status = count_right(p, f, records, &right, err);
        if (status == DP_OK && is_near(right, exact, records->n))
            break;
    }
    if (status == DP_OK)
        *decimals = f;
    return status;
}

int dp_program_decimal_bits(const dp_program *p, int decimals)
{
    int most = 2;
    for (size_t k = 1; k < p->n_stages; k++) {
        const dp_stage *s = &p->stages[k];
        for (size_t i = 0; s->real_weights != NULL && i < s->n_weights; i++) {
            const double integer = nearbyint(fabs(s->real_weights[i]) * pow(10, decimals));
            const int bits = integer < ldexp(1, DPI_PROGRAM_MOST_BITS) ? dpi_bits((int64_t)integer)
                                                                       : DPI_PROGRAM_MOST_BITS;
            most = bits > most ? bits : most;
        }
    }
    return most;
}
