/* What ends at the level where it began is made where it is to be; what goes down, in a room. */
#include "cluster/cards.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fhe/ckks-parts.h"

/* At the head of a value; its two polynomials follow. */
typedef struct card_head {
    uint64_t level;
    double scale, size, noise;
    uint64_t spare[4];
} card_head;

typedef struct card_room {
    dpi_ckks_room *room;
    dpi_ckks_cipher low[2]; /* inputs that are lowered */
    dpi_ckks_cipher made;
} card_room;

struct dpi_cards {
    dpi_card_keys keys;
    size_t workers;
    card_room *of; /* [workers] */
};

/* ---- values ---- */

static size_t row_words(const dpi_cards *cards, size_t level)
{
    return (level + 1) * dpi_ckks_n(cards->keys.c);
}

static size_t level_of(const dpi_cards *cards, uint32_t down)
{
    if (down > cards->keys.top)
        dpi_misuse(__func__, "the plan goes down more levels than there are");
    return cards->keys.top - down;
}

static size_t bytes(const void *self, uint32_t down)
{
    const dpi_cards *cards = self;
    return sizeof(card_head) + 2 * row_words(cards, level_of(cards, down)) * sizeof(uint64_t);
}

/* The ciphertext that lies there, without a copy; the third part is lent. */
static dpi_ckks_cipher view(const dpi_cards *cards, const void *value, size_t level,
                            uint64_t *third)
{
    const card_head *h = value;
    const size_t words = row_words(cards, level);
    uint64_t *rows = (uint64_t *)(uintptr_t)(h + 1);
    return (dpi_ckks_cipher){.level = level,
                             .scale = h->scale,
                             .size = h->size,
                             .noise = h->noise,
                             .part = {rows, rows + words, third},
                             .room = words};
}

static void write_head(const dpi_ckks_cipher *x, void *value)
{
    card_head *h = value;
    *h = (card_head){.level = x->level, .scale = x->scale, .size = x->size, .noise = x->noise};
}

void dpi_card_write(const dpi_cards *cards, const dpi_ckks_cipher *x, void *value)
{
    const size_t size = row_words(cards, x->level) * sizeof(uint64_t);
    write_head(x, value);
    for (size_t k = 0; k < 2; k++)
        memcpy((char *)value + sizeof(card_head) + k * size, x->part[k], size);
}

void dpi_card_read(const dpi_cards *cards, const void *value, dpi_ckks_cipher *x)
{
    const card_head *h = value;
    const dpi_ckks_cipher from = view(cards, value, (size_t)h->level, NULL);
    dpi_ckks_copy(cards->keys.c, &from, x);
}

/* ---- steps ---- */

typedef struct card_task {
    const dpi_cards *cards;
    const dpi_card_keys *keys;
    card_room *at;
    const dpi_plan *p;
    const dpi_step *s;
    const void *const *in;
    size_t level;
} card_task;

/* Input k at the step's level, for which low[which] is room. */
static dpi_ckks_cipher input(const card_task *t, size_t k, size_t which)
{
    const card_head *h = t->in[k];
    dpi_ckks_cipher x = view(t->cards, h, (size_t)h->level, NULL), *low = &t->at->low[which];
    if (x.level == t->level)
        return x;
    if (x.level < t->level)
        dpi_misuse(__func__, "an input is at a lower level than the plan says");
    dpi_ckks_copy(t->keys->c, &x, low);
    dpi_ckks_lower(t->keys->c, t->level, t->at->room, low);
    return *low;
}

static void rotate(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks_cipher x = input(t, 0, 0);
    const dpi_ckks_switch *key = dpi_ckks_turns_key(&t->keys->turns, t->s->argument);
    dpi_ckks_rotate(t->keys->c, &x, key, t->at->room, to);
}

static void multiply(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks_cipher x = input(t, 0, 0), y = input(t, 1, 1);
    dpi_ckks_multiply(t->keys->c, &x, &y, t->keys->square, t->at->room, to);
}

static void times(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks_cipher x = input(t, 0, 0);
    dpi_ckks_multiply_plain(t->keys->c, &x, &t->keys->plain[t->s->argument], to);
}

static void add(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks_cipher x = input(t, 0, 0), y = input(t, 1, 1);
    dpi_ckks_add(t->keys->c, &x, &y, to);
}

static void rescale(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks_cipher x = input(t, 0, 0);
    dpi_ckks_copy(t->keys->c, &x, to);
    dpi_ckks_rescale(t->keys->c, t->at->room, to);
}

static void twice(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks *c = t->keys->c;
    multiply(t, to);
    dpi_ckks_add(c, to, to, to);
    dpi_ckks_rescale(c, t->at->room, to);
    if (t->s->n_in == 2) {
        dpi_ckks_add_number(c, -1, to);
    } else {
        const dpi_ckks_cipher less = input(t, 2, 0);
        dpi_ckks_cipher *low = &t->at->low[0];
        if (low->part[0] != less.part[0])
            dpi_ckks_copy(c, &less, low);
        dpi_ckks_lower(c, to->level, t->at->room, low);
        dpi_ckks_subtract(c, to, low, to);
    }
    to->size = 1;
}

static void combine(const card_task *t, dpi_ckks_cipher *to)
{
    const dpi_ckks *c = t->keys->c;
    const double *a = t->p->number + t->s->argument;
    dpi_ckks_zero_product(c, t->level, to);
    for (size_t k = 0; k < t->s->n_in; k++) {
        if (a[k + 1] == 0)
            continue;
        const dpi_ckks_cipher x = input(t, k, 0);
        dpi_ckks_multiply_add_number(c, &x, a[k + 1], t->at->room, to);
    }
    dpi_ckks_rescale(c, t->at->room, to);
    dpi_ckks_add_number(c, a[0], to);
}

/* Numbers of a sum that are none, or do not fit. */
static dp_status check_numbers(const card_task *t, dp_error *err)
{
    for (size_t k = 0; k <= t->s->n_in; k++) {
        const double a = t->p->number[t->s->argument + k];
        if (!(fabs(a) * dpi_ckks_scale(t->keys->c, t->level) < 0x1p59))
            return dpi_fail(err, DP_EDOMAIN,
                            "a plan multiplies by %g, which is no number, or too large", a);
    }
    return DP_OK;
}

static const struct {
    void (*compute)(const card_task *t, dpi_ckks_cipher *to);
    bool goes_down, has_numbers;
} arithmetic[DPI_OPS] = {
    [DPI_OP_ROTATE] = {rotate},         [DPI_OP_MULTIPLY] = {multiply},
    [DPI_OP_TIMES] = {times},           [DPI_OP_ADD] = {add},
    [DPI_OP_RESCALE] = {rescale, true}, [DPI_OP_TWICE] = {twice, true},
    [DPI_OP_COMBINE] = {combine, true, true},
};

static dp_status compute(void *self, size_t worker, const dpi_plan *p, const dpi_step *s,
                         const void *const *in, void *out, dp_error *err)
{
    const dpi_cards *cards = self;
    card_room *at = cards->of + worker;
    const card_task t = {.cards = cards,
                         .keys = &cards->keys,
                         .at = at,
                         .p = p,
                         .s = s,
                         .in = in,
                         .level = level_of(cards, s->level)};
    if (worker >= cards->workers)
        dpi_misuse(__func__, "there are not as many rooms as workers");
    if (arithmetic[s->op].compute == NULL)
        dpi_misuse(__func__, "a step that is no arithmetic");
    if (arithmetic[s->op].has_numbers && check_numbers(&t, err) != DP_OK)
        return DP_EDOMAIN;
    if (arithmetic[s->op].goes_down) {
        arithmetic[s->op].compute(&t, &at->made);
        dpi_card_write(cards, &at->made, out);
        return DP_OK;
    }
    dpi_ckks_cipher to = view(cards, out, t.level, at->made.part[2]);
    arithmetic[s->op].compute(&t, &to);
    write_head(&to, out);
    return DP_OK;
}

dpi_card_kind dpi_cards_kind(dpi_cards *cards)
{
    return (dpi_card_kind){.self = cards, .bytes = bytes, .compute = compute};
}

/* ---- rooms ---- */

static dp_status room_new(const dpi_card_keys *keys, card_room *at, dp_error *err)
{
    dp_status status = dpi_ckks_room_new(keys->c, &at->room, err);
    for (size_t k = 0; k < 2 && status == DP_OK; k++)
        status = dpi_ckks_cipher_new(keys->c, keys->top, &at->low[k], err);
    return status == DP_OK ? dpi_ckks_cipher_new(keys->c, keys->top, &at->made, err) : status;
}

dp_status dpi_cards_new(const dpi_card_keys *keys, size_t workers, dpi_cards **out, dp_error *err)
{
    dpi_cards *cards = dpi_alloc(1, sizeof *cards);
    *out = NULL;
    if (cards == NULL)
        return dpi_fail_nomem(err);
    *cards = (dpi_cards){.keys = *keys, .of = dpi_alloc(workers, sizeof *cards->of)};
    dp_status status = cards->of == NULL ? dpi_fail_nomem(err) : DP_OK;
    while (status == DP_OK && cards->workers < workers) {
        card_room *at = &cards->of[cards->workers++];
        memset(at, 0, sizeof *at);
        status = room_new(keys, at, err);
    }
    if (status == DP_OK)
        *out = cards;
    else
        dpi_cards_free(cards);
    return status;
}

void dpi_cards_free(dpi_cards *cards)
{
    if (cards == NULL)
        return;
    for (size_t i = 0; i < cards->workers; i++) {
        dpi_ckks_room_free(cards->of[i].room);
        dpi_ckks_cipher_free(&cards->of[i].low[0]);
        dpi_ckks_cipher_free(&cards->of[i].low[1]);
        dpi_ckks_cipher_free(&cards->of[i].made);
    }
    dpi_free(cards->of);
    dpi_free(cards);
}
