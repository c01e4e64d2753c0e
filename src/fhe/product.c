/* The levels: sigma; the columns of phi, beside which y is lowered and tau applied; the products.
 *
 * phi^k(A) is A turned by k where j + k < d, and A turned by k - d elsewhere.  With A' = A turned
 * by -d and m_k the columns below k it is A + m_k (A' - A), turned by k: one rotation and one key
 * for two, as that by -d is psi's of d (d - 1). */
#include "fhe/product.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "fhe/ckks-parts.h"

struct dpi_ckks_product {
    const dpi_ckks *c;
    size_t d, level;
    dpi_ckks_matrix *sigma, *tau;
    dpi_ckks_plain *mask; /* [d] 1 in columns below k; none of 0 */
};

typedef enum which { SIGMA, TAU } which;

static void must_be_side(size_t d)
{
    if (d < 2 || d > DPI_CKKS_MOST_SIDE || (d & (d - 1)) != 0)
        dpi_misuse(__func__, "products are of 2, 4 ... 128 rows and columns");
}

static dp_status make_map(size_t d, which is, dpi_ckks_map *map, dp_error *err)
{
    *map =
        (dpi_ckks_map){.places = d * d, .made = d * d, .term = dpi_alloc(d * d, sizeof *map->term)};
    if (map->term == NULL)
        return dpi_fail_nomem(err);
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            const size_t k = (i + j) % d, from = is == SIGMA ? i * d + k : k * d + j;
            map->term[map->n++] =
                (dpi_ckks_term){.to = (uint32_t)(i * d + j), .from = (uint32_t)from, .w = 1};
        }
    return DP_OK;
}

/* ---- turns ---- */

/* steps[n] with another, if it is another; how many. */
static size_t add_step(int *steps, size_t n, int step)
{
    for (size_t k = 0; k < n; k++)
        if (steps[k] == step)
            return n;
    steps[n] = step;
    return n + 1;
}

/* Of a map's steps, of which there are no more than places. */
static dp_status add_map(size_t d, which is, int *own, int *steps, size_t *n, dp_error *err)
{
    dpi_ckks_map map;
    size_t many = 0;
    dp_status status = make_map(d, is, &map, err);
    if (status == DP_OK)
        status = dpi_ckks_map_turns(&map, &many, own, err);
    for (size_t k = 0; k < many; k++)
        *n = add_step(steps, *n, own[k]);
    dpi_ckks_map_free(&map);
    return status;
}

dp_status dpi_ckks_product_turns(size_t d, size_t *n, int *to, dp_error *err)
{
    must_be_side(d);
    int *steps = dpi_alloc(2 * d * d, sizeof *steps); /* each is below d^2; and those of a map */
    dp_status status = steps != NULL ? DP_OK : dpi_fail_nomem(err);
    size_t many = 0;
    for (size_t k = 1; k < d && status == DP_OK; k++) {
        many = add_step(steps, many, (int)k);
        many = add_step(steps, many, (int)(d * k));
    }
    if (status == DP_OK)
        status = add_map(d, SIGMA, steps + d * d, steps, &many, err);
    if (status == DP_OK)
        status = add_map(d, TAU, steps + d * d, steps, &many, err);
    *n = status == DP_OK ? many : 0;
    if (status == DP_OK && to != NULL)
        memcpy(to, steps, many * sizeof *to);
    dpi_free(steps);
    return status;
}

/* ---- making it ---- */

static dp_status make_matrix(const dpi_ckks_product *p, which is, size_t level, dpi_ckks_room *room,
                             dpi_ckks_matrix **m, dp_error *err)
{
    dpi_ckks_map map;
    dp_status status = make_map(p->d, is, &map, err);
    if (status == DP_OK)
        status = dpi_ckks_matrix_map(p->c, &map, level, room, m, err);
    dpi_ckks_map_free(&map);
    return status;
}

static dp_status make_masks(dpi_ckks_product *p, dpi_ckks_room *room, dp_error *err)
{
    const size_t d = p->d, level = p->level - 1;
    double *e = dpi_alloc(d * d, sizeof *e);
    dp_status status = e != NULL ? DP_OK : dpi_fail_nomem(err);
    for (size_t k = 1; k < d && status == DP_OK; k++) {
        for (size_t i = 0; i < d * d; i++)
            e[i] = i % d < k;
        status = dpi_ckks_plain_new(p->c, level, &p->mask[k], err);
        if (status == DP_OK)
            status = dpi_ckks_encode(p->c, level, 0, d * d, e, NULL, room, &p->mask[k], err);
    }
    dpi_free(e);
    return status;
}

dp_status dpi_ckks_product_new(const dpi_ckks *c, size_t d, size_t level, dpi_ckks_room *room,
                               dpi_ckks_product **to, dp_error *err)
{
    *to = NULL;
    must_be_side(d);
    if (d * d > c->n / 2)
        dpi_misuse(__func__, "a matrix has at most n / 2 places");
    if (level < DPI_CKKS_PRODUCT_LEVELS || level > c->spec.depth)
        dpi_misuse(__func__, "a product takes three levels, of those where products are taken");
    dpi_ckks_product *p = dpi_alloc(1, sizeof *p);
    if (p == NULL)
        return dpi_fail_nomem(err);
    *p = (dpi_ckks_product){.c = c, .d = d, .level = level, .mask = dpi_alloc(d, sizeof *p->mask)};
    dp_status status = p->mask != NULL ? DP_OK : dpi_fail_nomem(err);
    if (status == DP_OK) {
        memset(p->mask, 0, d * sizeof *p->mask);
        status = make_matrix(p, SIGMA, level, room, &p->sigma, err);
    }
    if (status == DP_OK)
        status = make_matrix(p, TAU, level - 1, room, &p->tau, err);
    if (status == DP_OK)
        status = make_masks(p, room, err);
    if (status == DP_OK)
        *to = p;
    else
        dpi_ckks_product_free(p);
    return status;
}

void dpi_ckks_product_free(dpi_ckks_product *p)
{
    if (p == NULL)
        return;
    for (size_t k = 0; p->mask != NULL && k < p->d; k++)
        dpi_ckks_plain_free(&p->mask[k]);
    dpi_free(p->mask);
    dpi_ckks_matrix_free(p->sigma);
    dpi_ckks_matrix_free(p->tau);
    dpi_free(p);
}

/* ---- applying it ---- */

typedef struct multiplication {
    const dpi_ckks_product *p;
    const dpi_ckks_turns *turns;
    dpi_ckks_room *room;
    dpi_ckks_cipher a;       /* sigma(x), two levels below x */
    dpi_ckks_cipher behind;  /* what lies d places before in it, less it, a level above */
    dpi_ckks_cipher shifted; /* phi^k of it */
    dpi_ckks_cipher *row;    /* [d] psi^k(tau(y)) */
} multiplication;

static void free_room(multiplication *w)
{
    dpi_ckks_give(w->room, &w->a);
    dpi_ckks_give(w->room, &w->behind);
    dpi_ckks_give(w->room, &w->shifted);
    for (size_t k = 0; w->row != NULL && k < w->p->d; k++)
        dpi_ckks_give(w->room, &w->row[k]);
    dpi_free(w->row);
}

static dp_status make_room(multiplication *w, dp_error *err)
{
    const dpi_ckks_product *p = w->p;
    w->row = dpi_alloc(p->d, sizeof *w->row);
    if (w->row == NULL)
        return dpi_fail_nomem(err);
    memset(w->row, 0, p->d * sizeof *w->row);
    dp_status status = dpi_ckks_take(w->room, p->level, &w->a, err);
    if (status == DP_OK)
        status = dpi_ckks_take(w->room, p->level - 1, &w->behind, err);
    if (status == DP_OK)
        status = dpi_ckks_take(w->room, p->level, &w->shifted, err);
    for (size_t k = 0; k < p->d && status == DP_OK; k++)
        status = dpi_ckks_take(w->room, p->level - (k == 0 ? 1 : 2), &w->row[k], err);
    return status;
}

static dp_status turn_columns(multiplication *w, const dpi_ckks_cipher *x, dp_error *err)
{
    const dpi_ckks_product *p = w->p;
    const dpi_ckks_switch *back = dpi_ckks_turns_key(w->turns, p->d * (p->d - 1));
    dp_status status = dpi_ckks_matrix_apply(p->c, p->sigma, x, w->turns, w->room, &w->a, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_rotate(p->c, &w->a, back, w->room, &w->behind);
    dpi_ckks_subtract(p->c, &w->behind, &w->a, &w->behind);
    dpi_ckks_lower(p->c, p->level - 2, w->room, &w->a);
    return DP_OK;
}

static dp_status turn_rows(multiplication *w, const dpi_ckks_cipher *y, dp_error *err)
{
    const dpi_ckks_product *p = w->p;
    dpi_ckks_cipher *low = &w->shifted, *b = &w->row[0];
    dpi_ckks_copy(p->c, y, low);
    dpi_ckks_lower(p->c, p->level - 1, w->room, low);
    dp_status status = dpi_ckks_matrix_apply(p->c, p->tau, low, w->turns, w->room, b, err);
    if (status != DP_OK)
        return status;
    dpi_ckks_raise(p->c, b->level, b->part[1], w->room);
    for (size_t k = 1; k < p->d; k++)
        dpi_ckks_turn_raised(p->c, b, dpi_ckks_turns_key(w->turns, p->d * k), w->room, &w->row[k]);
    return DP_OK;
}

/* What has places of the one or the other of two is no larger than they. */
static void shift_columns(multiplication *w, size_t k)
{
    const dpi_ckks *c = w->p->c;
    dpi_ckks_multiply_plain(c, &w->behind, &w->p->mask[k], &w->shifted);
    dpi_ckks_rescale(c, w->room, &w->shifted);
    dpi_ckks_add(c, &w->shifted, &w->a, &w->shifted);
    w->shifted.size = w->a.size;
    dpi_ckks_rotate(c, &w->shifted, dpi_ckks_turns_key(w->turns, k), w->room, &w->shifted);
}

static void add_products(multiplication *w, const dpi_ckks_switch *square, dpi_ckks_cipher *to)
{
    const dpi_ckks *c = w->p->c;
    const size_t level = w->a.level;
    dpi_ckks_must_hold(c, to->room, level);
    for (size_t i = 0; i < 3; i++)
        memset(to->part[i], 0, (level + 1) * c->n * sizeof(uint64_t));
    to->level = level;
    to->scale = w->a.scale * w->row[0].scale;
    to->size = to->noise = 0;
    to->seeded = false;
    dpi_ckks_multiply_add(c, &w->a, &w->row[0], to);
    for (size_t k = 1; k < w->p->d; k++) {
        shift_columns(w, k);
        dpi_ckks_multiply_add(c, &w->shifted, &w->row[k], to);
    }
    dpi_ckks_relinearise(c, square, w->room, to);
    dpi_ckks_rescale(c, w->room, to);
}

dp_status dpi_ckks_product_apply(const dpi_ckks_product *p, const dpi_ckks_cipher *x,
                                 const dpi_ckks_cipher *y, const dpi_ckks_turns *turns,
                                 const dpi_ckks_switch *square, dpi_ckks_room *room,
                                 dpi_ckks_cipher *to, dp_error *err)
{
    multiplication w = {.p = p, .turns = turns, .room = room};
    if (x->level != p->level || y->level != p->level)
        dpi_misuse(__func__, "a matrix is at another level than the product");
    dp_status status = make_room(&w, err);
    if (status == DP_OK)
        status = turn_columns(&w, x, err);
    if (status == DP_OK)
        status = turn_rows(&w, y, err);
    if (status == DP_OK)
        add_products(&w, square, to);
    free_room(&w);
    return status;
}
