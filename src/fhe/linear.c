/* Diagonals are encoded when the matrix is made; products with one raised vector are added up
 * before anything is rescaled or turned. */
#include "fhe/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

/* Of the diagonals that there are, by g: which rotations are needed. */
typedef struct step_set {
    size_t baby, giant; /* g, and how many times */
    bool *is_baby, *is_giant;
} step_set;

struct dpi_ckks_matrix {
    const dpi_ckks *c;
    size_t level, places, made;
    step_set s;
    double norm;              /* the largest sum of a row's magnitudes */
    dpi_ckks_plain *diagonal; /* [baby giant]; row NULL: zeros */
};

/* ---- maps ---- */

static size_t diagonal_of(const dpi_ckks_map *map, const dpi_ckks_term *t)
{
    return (t->from + map->places - t->to) % map->places;
}

/* Row i is at each place that is i modulo m': at the one of these from which the column is less than
 * m' away. */
static dp_status map_of(size_t rows, size_t columns, const double *w, dpi_ckks_map *map,
                        dp_error *err)
{
    const size_t made = dpi_power_of_two(rows),
                 places = dpi_power_of_two(rows > columns ? rows : columns);
    *map = (dpi_ckks_map){
        .places = places, .made = made, .term = dpi_alloc(rows * columns, sizeof *map->term)};
    if (map->term == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const double v = w[i * columns + j];
            const size_t k = (j + places - i) % made;
            if (v != 0)
                map->term[map->n++] = (dpi_ckks_term){
                    .to = (uint32_t)((j + places - k) % places), .from = (uint32_t)j, .w = v};
        }
    return DP_OK;
}

void dpi_ckks_map_free(dpi_ckks_map *map)
{
    dpi_free(map->term);
    *map = (dpi_ckks_map){0};
}

static size_t count(size_t n, const bool *is)
{
    size_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += is[i];
    return all;
}

static void free_steps(step_set *s)
{
    dpi_free(s->is_baby);
    dpi_free(s->is_giant);
}

/* By steps of g. */
static dp_status mark(const dpi_ckks_map *map, size_t g, step_set *s, dp_error *err)
{
    *s = (step_set){.baby = g,
                    .giant = map->places / g,
                    .is_baby = dpi_alloc(g, sizeof *s->is_baby),
                    .is_giant = dpi_alloc(map->places / g, sizeof *s->is_giant)};
    if (s->is_baby == NULL || s->is_giant == NULL) {
        free_steps(s);
        *s = (step_set){0};
        return dpi_fail_nomem(err);
    }
    memset(s->is_baby, 0, g * sizeof *s->is_baby);
    memset(s->is_giant, 0, s->giant * sizeof *s->is_giant);
    for (size_t t = 0; t < map->n; t++) {
        const size_t k = diagonal_of(map, &map->term[t]);
        s->is_baby[k % g] = s->is_giant[k / g] = true;
    }
    return DP_OK;
}

/* Rotations of one raising take two thirds of others (bench/ckks). */
static dp_status choose_steps(const dpi_ckks_map *map, step_set *best, dp_error *err)
{
    dp_status status = mark(map, 1, best, err);
    for (size_t g = 2; g <= map->places && status == DP_OK; g *= 2) {
        step_set s;
        status = mark(map, g, &s, err);
        if (status != DP_OK)
            break;
        const bool better =
            2 * count(g, s.is_baby) + 3 * count(s.giant, s.is_giant) <
            2 * count(best->baby, best->is_baby) + 3 * count(best->giant, best->is_giant);
        step_set *worse = better ? best : &s;
        free_steps(worse);
        *best = better ? s : *best;
    }
    if (status != DP_OK) {
        free_steps(best);
        *best = (step_set){0};
    }
    return status;
}

static size_t list_steps(const step_set *s, size_t made, size_t places, int *to)
{
    size_t n = 0;
    for (size_t k = 1; k < s->baby + s->giant; k++) {
        const bool is = k < s->baby ? s->is_baby[k] : k > s->baby && s->is_giant[k - s->baby];
        if (is && to != NULL)
            to[n] = (int)(k < s->baby ? k : (k - s->baby) * s->baby);
        n += is;
    }
    for (size_t by = made; by < places; by *= 2) {
        bool there = by < s->baby ? s->is_baby[by] : s->is_giant[by / s->baby];
        if (!there && to != NULL)
            to[n] = (int)by;
        n += !there;
    }
    return n;
}

dp_status dpi_ckks_map_turns(const dpi_ckks_map *map, size_t *n, int *to, dp_error *err)
{
    step_set s;
    dp_status status = choose_steps(map, &s, err);
    *n = 0;
    if (status != DP_OK)
        return status;
    *n = list_steps(&s, map->made, map->places, to);
    free_steps(&s);
    return DP_OK;
}

/* ---- making a matrix ---- */

static int by_diagonal(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Diagonal k, turned back by the giant step that it is of, of terms order[first ...]; how many. */
static size_t fill(const dpi_ckks_matrix *m, const dpi_ckks_map *map, const uint64_t *order,
                   size_t first, double *e)
{
    const size_t k = (size_t)(order[first] >> 32), back = k / m->s.baby * m->s.baby;
    size_t n = 0;
    memset(e, 0, m->places * sizeof *e);
    for (; first + n < map->n && order[first + n] >> 32 == k; n++) {
        const dpi_ckks_term *t = &map->term[order[first + n] & UINT32_MAX];
        e[(t->to + back) % m->places] = t->w;
    }
    return n;
}

static dp_status encode_all(dpi_ckks_matrix *m, const dpi_ckks_map *map, dpi_ckks_room *room,
                            dp_error *err)
{
    double *e = dpi_alloc(m->places, sizeof *e);
    uint64_t *order = dpi_alloc(map->n + 1, sizeof *order); /* diagonal and term */
    dp_status status = e != NULL && order != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t t = 0; t < map->n && status == DP_OK; t++)
        order[t] = (uint64_t)diagonal_of(map, &map->term[t]) << 32 | t;
    if (status == DP_OK)
        qsort(order, map->n, sizeof *order, by_diagonal);
    for (size_t t = 0; t < map->n && status == DP_OK;) {
        dpi_ckks_plain *to = &m->diagonal[order[t] >> 32];
        t += fill(m, map, order, t, e);
        status = dpi_ckks_plain_new(m->c, m->level, to, err);
        if (status == DP_OK)
            status = dpi_ckks_encode(m->c, m->level, 0, m->places, e, NULL, room, to, err);
    }
    dpi_free(e);
    dpi_free(order);
    return status;
}

static dp_status largest_row(const dpi_ckks_map *map, double *norm, dp_error *err)
{
    double *sum = dpi_alloc(map->made, sizeof *sum);
    if (sum == NULL)
        return dpi_fail_nomem(err);
    memset(sum, 0, map->made * sizeof *sum);
    for (size_t t = 0; t < map->n; t++)
        sum[map->term[t].to % map->made] += fabs(map->term[t].w);
    for (size_t i = 0; i < map->made; i++)
        *norm = fmax(*norm, sum[i]);
    dpi_free(sum);
    return DP_OK;
}

dp_status dpi_ckks_matrix_map(const dpi_ckks *c, const dpi_ckks_map *map, size_t level,
                              dpi_ckks_room *room, dpi_ckks_matrix **to, dp_error *err)
{
    dpi_ckks_matrix *m = *to = dpi_alloc(1, sizeof *m);
    if (m == NULL)
        return dpi_fail_nomem(err);
    *m = (dpi_ckks_matrix){.c = c,
                           .level = level,
                           .places = map->places,
                           .made = map->made,
                           .diagonal = dpi_alloc(map->places, sizeof *m->diagonal)};
    if (map->places > c->n / 2 || level == 0 || level >= c->levels)
        dpi_misuse(__func__, "a matrix has 1 to n / 2 places, and a level below it");
    dp_status status = m->diagonal != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        memset(m->diagonal, 0, map->places * sizeof *m->diagonal);
        status = largest_row(map, &m->norm, err);
    }
    if (status == DP_OK)
        status = choose_steps(map, &m->s, err);
    if (status == DP_OK)
        status = encode_all(m, map, room, err);
    if (status == DP_OK)
        return DP_OK;
    dpi_ckks_matrix_free(m);
    *to = NULL;
    return status;
}

dp_status dpi_ckks_matrix_new(const dpi_ckks *c, size_t rows, size_t columns, const double *w,
                              size_t level, dpi_ckks_room *room, dpi_ckks_matrix **to,
                              dp_error *err)
{
    dpi_ckks_map map;
    *to = NULL;
    if (rows == 0 || columns == 0 || rows > c->n / 2 || columns > c->n / 2)
        dpi_misuse(__func__, "a matrix has 1 to n / 2 rows and columns");
    dp_status status = map_of(rows, columns, w, &map, err);
    if (status == DP_OK)
        status = dpi_ckks_matrix_map(c, &map, level, room, to, err);
    dpi_ckks_map_free(&map);
    return status;
}

void dpi_ckks_matrix_free(dpi_ckks_matrix *m)
{
    if (m == NULL)
        return;
    for (size_t k = 0; m->diagonal != NULL && k < m->places; k++)
        dpi_ckks_plain_free(&m->diagonal[k]);
    dpi_free(m->diagonal);
    free_steps(&m->s);
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

size_t dpi_ckks_matrix_turns(const dpi_ckks_matrix *m, int *to)
{
    return list_steps(&m->s, m->made, m->places, to);
}

const dpi_ckks_switch *dpi_ckks_turns_key(const dpi_ckks_turns *turns, size_t steps)
{
    for (size_t k = 0; k < turns->n; k++)
        if (turns->steps[k] == (int)steps)
            return turns->key[k];
    dpi_misuse(__func__, "a rotation that is needed has no key");
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
    for (size_t i = 0; i < a->m->s.baby && status == DP_OK; i++)
        if (i == 0 || a->m->s.is_baby[i])
            status = dpi_ckks_take(a->room, a->m->level, &a->x[i], err);
    if (status != DP_OK)
        return status;
    dpi_ckks_raise(a->c, x->level, x->part[1], a->room);
    for (size_t i = 0; i < a->m->s.baby; i++)
        if (a->x[i].part[0] != NULL)
            dpi_ckks_turn_raised(a->c, x, i == 0 ? NULL : dpi_ckks_turns_key(a->turns, i), a->room,
                                 &a->x[i]);
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
    for (size_t i = 0; i < a->m->s.baby; i++) {
        const dpi_ckks_plain *p = &a->m->diagonal[j * a->m->s.baby + i];
        if (p->row != NULL)
            dpi_ckks_multiply_add_plain(c, &a->x[i], p, sum);
    }
}

static void apply(application *a, dpi_ckks_cipher *to)
{
    bool begun = false;
    for (size_t j = 0; j < a->m->s.giant; j++) {
        if (!a->m->s.is_giant[j])
            continue;
        add_up(a, j);
        if (j > 0)
            dpi_ckks_rotate(a->c, &a->sum, dpi_ckks_turns_key(a->turns, j * a->m->s.baby), a->room,
                            &a->sum);
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
        dpi_ckks_rotate(a->c, to, dpi_ckks_turns_key(a->turns, by), a->room, &a->sum);
        dpi_ckks_add(a->c, to, &a->sum, to);
    }
}

dp_status dpi_ckks_matrix_apply(const dpi_ckks *c, const dpi_ckks_matrix *m,
                                const dpi_ckks_cipher *x, const dpi_ckks_turns *turns,
                                dpi_ckks_room *room, dpi_ckks_cipher *to, dp_error *err)
{
    application a = {
        .c = c, .m = m, .turns = turns, .room = room, .x = dpi_alloc(m->s.baby, sizeof *a.x)};
    const double size = m->norm * x->size;
    dpi_ckks_must_be_of(c, m->c);
    if (x->level != m->level)
        dpi_misuse(__func__, "the vector is at another level than the matrix");
    if (a.x == NULL)
        return dpi_fail_nomem(err);
    memset(a.x, 0, m->s.baby * sizeof *a.x);
    dp_status status = dpi_ckks_take(room, m->level, &a.sum, err);
    if (status == DP_OK)
        status = turn_babies(&a, x, err);
    if (status == DP_OK) {
        apply(&a, to);
        to->size = size;
    }
    for (size_t i = 0; i < m->s.baby; i++)
        dpi_ckks_give(room, &a.x[i]);
    dpi_ckks_give(room, &a.sum);
    dpi_free(a.x);
    return status;
}
