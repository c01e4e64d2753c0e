/* Masked numbers: the product is exact in every order, each layer serves once, and what is sent is
 * uniform whatever it hides. */
#include <stdlib.h>
#include <string.h>

#include "serve/masks.h"
#include "tests/serve/scene.h"

typedef struct both {
    dp_program *p;
    dpi_serve_plan plan;
    dpi_masks *client, *provider;
    dpi_rlwe_stream random;
    int64_t *x, *y, *d, *share, *expected; /* [most] */
    uint32_t *order, *back, *next;
    unsigned char *up, *down;
    int bits;
} both;

static void *room(size_t n, size_t size)
{
    void *made = calloc(n, size);
    assert_non_null(made);
    return made;
}

static void start_both(both *b, int bits)
{
    static const unsigned char seed[DPI_RLWE_SEED] = {7};
    dp_error err = {0};
    *b = (both){.p = network(), .bits = bits};
    assert_ok(dpi_serve_plan_make(b->p, DPI_MODE_PERMUTE, &b->plan, &err), err.text);
    assert_ok(dpi_masks_new(&b->plan, bits, DPI_MASKS_CLIENT, &b->client, &err), err.text);
    assert_ok(dpi_masks_new(&b->plan, bits, DPI_MASKS_PROVIDER, &b->provider, &err), err.text);
    dpi_rlwe_start(&b->random, seed, "masks");
    const size_t most = b->plan.most;
    b->x = room(most, sizeof *b->x);
    b->y = room(most, sizeof *b->y);
    b->d = room(most, sizeof *b->d);
    b->share = room(most, sizeof *b->share);
    b->expected = room(most, sizeof *b->expected);
    b->order = room(most, sizeof *b->order);
    b->back = room(most, sizeof *b->back);
    b->next = room(most, sizeof *b->next);
    b->up = room(dpi_masks_bytes(bits, most), 1);
    b->down = room(dpi_masks_bytes(bits, most), 1);
}

static void end_both(both *b)
{
    dpi_masks_free(b->client);
    dpi_masks_free(b->provider);
    dpi_rlwe_end(&b->random);
    dp_program_free(b->p);
    free(b->x), free(b->y), free(b->d), free(b->share), free(b->expected);
    free(b->order), free(b->back), free(b->next), free(b->up), free(b->down);
}

/* y = W x in the given orders, modulo 2^64, with the bias or without. */
static void in_order(const dpi_serve_map *map, const dpi_serve_order_pair *order, size_t sent,
                     const int64_t *x, bool biased, int64_t *y)
{
    for (size_t i = 0; i < sent; i++) {
        const size_t o = order->output != NULL ? order->output[i] : i;
        uint64_t sum = biased ? (uint64_t)map->bias[o] : 0;
        for (size_t j = 0; j < map->inputs; j++) {
            const size_t input = order->input != NULL ? order->input[j] : j;
            int64_t w = map->begin == NULL ? map->weights[o * map->inputs + input] : 0;
            for (size_t t = map->begin == NULL ? 0 : map->begin[o];
                 map->begin != NULL && t < map->begin[o + 1]; t++)
                w += map->input[t] == input ? map->weights[map->weight[t]] : 0;
            sum += (uint64_t)w * (uint64_t)x[j];
        }
        y[i] = (int64_t)sum;
    }
}

/* A preparation of layer k, in the clear where the lattice has ciphertexts. */
static void prepare(both *b, size_t k, const dpi_serve_map *map, const dpi_serve_order_pair *order)
{
    const size_t sent = b->plan.layer[k].sent;
    const int64_t *masks = dpi_masks_draw(b->client, k, &b->random);
    dpi_masks_begin(b->provider, k, order, &b->random, b->share);
    in_order(map, order, sent, masks, false, b->d);
    for (size_t i = 0; i < sent; i++)
        b->d[i] = (int64_t)((uint64_t)b->d[i] + (uint64_t)b->share[i]);
    dpi_masks_keep(b->client, k, b->d);
}

static void layer_is_exact(both *b, size_t k)
{
    const dpi_serve_layer *l = &b->plan.layer[k];
    const dpi_serve_order_pair order = {.input = k > 0 ? b->back : NULL,
                                        .output = l->hidden ? b->order : NULL};
    dp_error err = {0};
    dpi_serve_map map;
    assert_ok(dpi_serve_map_make(b->p, l->stage, &map, &err), err.text);
    if (l->hidden)
        assert_ok(dpi_serve_order(&b->plan, l, b->order, b->next, &err), err.text);
    for (size_t j = 0; j < l->inputs; j++)
        b->x[j] = (int64_t)(j * 2654435761U % 4095) - 2047;
    prepare(b, k, &map, &order);
    in_order(&map, &order, l->sent, b->x, true, b->expected);
    assert_ok(dpi_masks_send(b->client, k, b->x, b->up, &err), err.text);
    assert_ok(dpi_masks_answer(b->provider, k, &map, b->up, b->down, NULL, 1, &err), err.text);
    assert_ok(dpi_masks_open(b->client, k, b->down, b->y, &err), err.text);
    assert_memory_equal(b->y, b->expected, l->sent * sizeof *b->y);
    /* Each layer serves once. */
    assert_fails(dpi_masks_send(b->client, k, b->x, b->up, &err), DP_ESTATE, &err, "not prepared");
    assert_fails(dpi_masks_open(b->client, k, b->down, b->y, &err), DP_ESTATE, &err, "prepared");
    assert_fails(dpi_masks_answer(b->provider, k, &map, b->up, b->down, NULL, 1, &err), DP_ESTATE,
                 &err, "not prepared");
    dpi_serve_map_free(&map);
}

static void products_are_exact_in_every_order_and_serve_once(void **state)
{
    (void)state;
    static const int all_bits[] = {36, 37, 48, 63};
    for (size_t i = 0; i < sizeof all_bits / sizeof *all_bits; i++) {
        both b;
        start_both(&b, all_bits[i]);
        for (size_t k = 0; k < b.plan.n_layers; k++) {
            layer_is_exact(&b, k);
            uint32_t *kept = b.back;
            b.back = b.next;
            b.next = kept;
        }
        end_both(&b);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    both b;
    dp_error err = {0};
    dpi_serve_map map;
    start_both(&b, 63);
    const dpi_serve_layer *l = &b.plan.layer[0];
    assert_ok(dpi_serve_map_make(b.p, l->stage, &map, &err), err.text);
    assert_ok(dpi_serve_order(&b.plan, l, b.order, b.next, &err), err.text);
    /* 84 numbers of 63 bits leave 4 bits of the last byte. */
    const dpi_serve_order_pair order = {.output = b.order};
    prepare(&b, 0, &map, &order);
    assert_ok(dpi_masks_send(b.client, 0, b.x, b.up, &err), err.text);
    b.up[dpi_masks_bytes(63, l->inputs) - 1] |= 0x80;
    assert_fails(dpi_masks_answer(b.provider, 0, &map, b.up, b.down, NULL, 1, &err), DP_EPEER, &err,
                 "behind the last");
    /* Numbers just within the layer's bits, and just beyond. */
    for (int beyond = 0; beyond < 4; beyond++) {
        const int64_t least = (int64_t)1 << l->bits;
        memset(b.down, 0, dpi_masks_bytes(63, l->sent));
        memset(b.d, 0, l->sent * sizeof *b.d);
        b.d[2] = (beyond & 1 ? -1 : 1) * (least - (beyond < 2));
        (void)dpi_masks_draw(b.client, 0, &b.random);
        dpi_masks_keep(b.client, 0, b.d);
        b.y[2] = 1;
        dp_status status = dpi_masks_open(b.client, 0, b.down, b.y, &err);
        if (beyond < 2)
            assert_ok(status, err.text);
        else
            assert_fails(status, DP_EPEER, &err, "beyond what the program");
        assert_true(b.y[2] == (beyond < 2 ? b.d[2] : 0));
    }
    dpi_serve_map_free(&map);
    end_both(&b);
}

/* ---- what is sent is uniform ---- */

enum { CELLS = 16, SENT = 20000 };

/* Chi-square of 15 degrees of freedom; above 80 with a probability of 6e-11. */
static double chi_square(const size_t *count, size_t n)
{
    double sum = 0;
    for (int c = 0; c < CELLS; c++) {
        const double less = (double)count[c] - (double)n / CELLS;
        sum += less * less * CELLS / (double)n;
    }
    return sum;
}

typedef struct tally {
    size_t n, high[CELLS], low[CELLS], same;
    uint64_t before;
} tally;

static void count(tally *t, uint64_t number, int bits)
{
    t->n++;
    t->high[number >> (bits - 4) & 15]++;
    t->low[number & 15]++;
    t->same += number == t->before;
    t->before = number;
}

/* Layer 1 (27 numbers to 6) with the same record again and again. */
static void what_is_sent_is_uniform(void **state)
{
    (void)state;
    enum { BITS = 40 };
    const uint64_t below = ((uint64_t)1 << BITS) - 1;
    both b;
    dp_error err = {0};
    tally up = {0}, share = {0};
    start_both(&b, BITS);
    const dpi_serve_layer *l = &b.plan.layer[1];
    const dpi_serve_order_pair none = {0};
    while (up.n < SENT) {
        (void)dpi_masks_draw(b.client, 1, &b.random);
        memset(b.d, 0, l->sent * sizeof *b.d);
        dpi_masks_keep(b.client, 1, b.d);
        assert_ok(dpi_masks_send(b.client, 1, b.x, b.up, &err), err.text);
        for (size_t i = 0; i + 8 <= dpi_masks_bytes(BITS, l->inputs); i += 5) { /* 40 bits each */
            uint64_t number = 0;
            memcpy(&number, b.up + i, 5); /* the order of bytes does not matter */
            count(&up, number & below, BITS);
        }
        dpi_masks_begin(b.provider, 1, &none, &b.random, b.share);
        for (size_t i = 0; i < l->sent; i++)
            count(&share, (uint64_t)b.share[i] & below, BITS);
    }
    assert_true(chi_square(up.high, up.n) < 80 && chi_square(up.low, up.n) < 80);
    assert_true(chi_square(share.high, share.n) < 80 && chi_square(share.low, share.n) < 80);
    assert_true(up.same + share.same == 0);
    end_both(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_exact_in_every_order_and_serve_once),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(what_is_sent_is_uniform),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
