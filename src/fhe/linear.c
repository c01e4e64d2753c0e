/* Diagonals are encoded when the matrix is made; products with one raised vector are added up
 * before anything is rescaled or turned. */
#include "fhe/linear.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

struct dpi_ckks_matrix {
    const dpi_ckks *c;
    size_t level, places, made, baby, giant; /* made = baby giant diagonals */
    double norm;                             /* the largest sum of a row's magnitudes */
    dpi_ckks_plain *diagonal;                /* [made]; row NULL: zeros */
};

static size_t power_of_two(size_t n)
{
    size_t p = 1;
    while (p < n)
        p *= 2;
    return p;
}

/* ---- making it ---- */

/* e_k, turned back by the giant step that it is of; whether any of it is not 0. */
static bool fill(const dpi_ckks_matrix *m, size_t rows, size_t columns, const double *w, size_t k,
                 double *e)
{
    const size_t back = k / m->baby * m->baby;
    bool any = false;
    for (size_t i = 0; i < m->places; i++) {
        const size_t at = (i + m->places - back) % m->places, row = at % m->made;
        const size_t column = (at + k) % m->places;
        e[i] = row < rows && column < columns ? w[row * columns + column] : 0;
        any = any || e[i] != 0;
    }
    return any;
}

static dp_status encode_all(dpi_ckks_matrix *m, size_t rows, size_t columns, const double *w,
                            dpi_ckks_room *room, dp_error *err)
{
    double *e = dpi_alloc(m->places, sizeof *e);
    dp_status status = e != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t k = 0; k < m->made && status == DP_OK; k++) {
        if (!fill(m, rows, columns, w, k, e))
            continue;
        status = dpi_ckks_plain_new(m->c, m->level, &m->diagonal[k], err);
        if (status == DP_OK)
            status =
                dpi_ckks_encode(m->c, m->level, 0, m->places, e, NULL, room, &m->diagonal[k], err);
    }
    dpi_free(e);
    return status;
}

static double largest_row(size_t rows, size_t columns, const double *w)
{
    double most = 0;
    for (size_t i = 0; i < rows; i++) {
        double sum = 0;
        for (size_t j = 0; j < columns; j++)
            sum += fabs(w[i * columns + j]);
        most = fmax(most, sum);
    }
    return most;
}

dp_status dpi_ckks_matrix_new(const dpi_ckks *c, size_t rows, size_t columns, const double *w,
                              size_t level, dpi_ckks_room *room, dpi_ckks_matrix **to,
                              dp_error *err)
{
    const size_t made = power_of_two(rows), wide = power_of_two(columns);
    dpi_ckks_matrix *m = *to = dpi_alloc(1, sizeof *m);
    if (m == NULL)
        return dpi_fail_nomem(err);
    *m = (dpi_ckks_matrix){.c = c,
                           .level = level,
                           .places = made > wide ? made : wide,
                           .made = made,
                           .baby = 1,
                           .norm = largest_row(rows, columns, w),
                           .diagonal = dpi_alloc(made, sizeof *m->diagonal)};
    while (m->baby * m->baby < made)
        m->baby *= 2;
    m->giant = made / m->baby;
    if (rows == 0 || columns == 0 || m->places > c->n / 2 || level == 0 || level >= c->levels)
        dpi_misuse(__func__, "a matrix has 1 to n / 2 rows and columns, and a level below it");
    dp_status status = m->diagonal != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        memset(m->diagonal, 0, made * sizeof *m->diagonal);
        status = encode_all(m, rows, columns, w, room, err);
    }
    if (status == DP_OK)
        return DP_OK;
    dpi_ckks_matrix_free(m);
    *to = NULL;
    return status;
}

void dpi_ckks_matrix_free(dpi_ckks_matrix *m)
{
    if (m == NULL)
        return;
    for (size_t k = 0; m->diagonal != NULL && k < m->made; k++)
        dpi_ckks_plain_free(&m->diagonal[k]);
    dpi_free(m->diagonal);
    dpi_free(m);
}

size_t dpi_ckks_matrix_places(const dpi_ckks_matrix *m)
{
    return m->places;
}

size_t dpi_ckks_matrix_made(const dpi_ckks_matrix *m)
{
    return m->made;
}

/* ---- turns ---- */

static bool has_baby(const dpi_ckks_matrix *m, size_t i)
{
    bool any = false;
    for (size_t j = 0; j < m->giant; j++)
        any = any || m->diagonal[j * m->baby + i].row != NULL;
    return any;
}

static bool has_giant(const dpi_ckks_matrix *m, size_t j)
{
    bool any = false;
    for (size_t i = 0; i < m->baby; i++)
        any = any || m->diagonal[j * m->baby + i].row != NULL;
    return any;
}

size_t dpi_ckks_matrix_turns(const dpi_ckks_matrix *m, int *steps)
{
    size_t n = 0;
    for (size_t i = 1; i < m->baby; i++)
        if (has_baby(m, i)) {
            if (steps != NULL)
                steps[n] = (int)i;
            n++;
        }
    for (size_t j = 1; j < m->giant; j++)
        if (has_giant(m, j)) {
            if (steps != NULL)
                steps[n] = (int)(j * m->baby);
            n++;
        }
    for (size_t by = m->made; by < m->places; by *= 2) {
        if (steps != NULL)
            steps[n] = (int)by;
        n++;
    }
    return n;
}

static const dpi_ckks_switch *key_of(const dpi_ckks_turns *turns, size_t steps)
{
    for (size_t k = 0; k < turns->n; k++)
        if (turns->steps[k] == (int)steps)
            return turns->key[k];
    dpi_misuse(__func__, "a rotation that the matrix needs has no key");
}

/* ---- applying it ---- */

typedef struct application {
    const dpi_ckks *c;
    const dpi_ckks_matrix *m;
    const dpi_ckks_turns *turns;
    dpi_ckks_room *room;
    dpi_ckks_cipher *x;  /* [baby] x turned by each baby step; room NULL where it is not needed */
    dpi_ckks_cipher sum; /* of one giant step */
} application;

static dp_status turn_babies(application *a, const dpi_ckks_cipher *x, dp_error *err)
{
    dp_status status = DP_OK;
    for (size_t i = 0; i < a->m->baby && status == DP_OK; i++)
        if (i == 0 || has_baby(a->m, i))
            status = dpi_ckks_cipher_new(a->c, a->m->level, &a->x[i], err);
    if (status != DP_OK)
        return status;
    dpi_ckks_raise(a->c, x->level, x->part[1], a->room);
    for (size_t i = 0; i < a->m->baby; i++)
        if (a->x[i].part[0] != NULL)
            dpi_ckks_turn_raised(a->c, x, i == 0 ? NULL : key_of(a->turns, i), a->room, &a->x[i]);
    return DP_OK;
}

/* sum = the sum of its diagonals times x turned. */
static void add_up(application *a, size_t j)
{
    const dpi_ckks *c = a->c;
    dpi_ckks_cipher *sum = &a->sum;
    const size_t row = (a->m->level + 1) * c->n * sizeof(uint64_t);
    memset(sum->part[0], 0, row);
    memset(sum->part[1], 0, row);
    sum->level = a->m->level;
    sum->size = sum->noise = 0;
    for (size_t i = 0; i < a->m->baby; i++) {
        const dpi_ckks_plain *p = &a->m->diagonal[j * a->m->baby + i];
        if (p->row != NULL)
            dpi_ckks_multiply_add_plain(c, &a->x[i], p, sum);
    }
}

static void apply(application *a, dpi_ckks_cipher *to)
{
    bool begun = false;
    for (size_t j = 0; j < a->m->giant; j++) {
        if (!has_giant(a->m, j))
            continue;
        add_up(a, j);
        if (j > 0)
            dpi_ckks_rotate(a->c, &a->sum, key_of(a->turns, j * a->m->baby), a->room, &a->sum);
        if (begun)
            dpi_ckks_add(a->c, to, &a->sum, to);
        else
            dpi_ckks_copy(a->c, &a->sum, to);
        begun = true;
    }
    if (!begun) { /* zeros */
        add_up(a, 0);
        a->sum.scale = a->c->scale[a->m->level] * a->c->scale[a->m->level];
        dpi_ckks_copy(a->c, &a->sum, to);
    }
    dpi_ckks_rescale(a->c, a->room, to);
    for (size_t by = a->m->made; by < a->m->places; by *= 2) {
        dpi_ckks_rotate(a->c, to, key_of(a->turns, by), a->room, &a->sum);
        dpi_ckks_add(a->c, to, &a->sum, to);
    }
}

dp_status dpi_ckks_matrix_apply(const dpi_ckks *c, const dpi_ckks_matrix *m,
                                const dpi_ckks_cipher *x, const dpi_ckks_turns *turns,
                                dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err)
{
    application a = {
        .c = c, .m = m, .turns = turns, .room = room, .x = dpi_alloc(m->baby, sizeof *a.x)};
    const double size = m->norm * x->size;
    dpi_ckks_must_be_of(c, m->c);
    if (x->level != m->level)
        dpi_misuse(__func__, "the vector is at another level than the matrix");
    if (a.x == NULL)
        return dpi_fail_nomem(err);
    memset(a.x, 0, m->baby * sizeof *a.x);
    dp_status status = dpi_ckks_cipher_new(c, m->level, &a.sum, err);
    if (status == DP_OK)
        status = turn_babies(&a, x, err);
    if (status == DP_OK) {
        apply(&a, to);
        to->size = size;
    }
    for (size_t i = 0; i < m->baby; i++)
        dpi_ckks_cipher_free(&a.x[i]);
    dpi_ckks_cipher_free(&a.sum);
    dpi_free(a.x);
    return status;
}
